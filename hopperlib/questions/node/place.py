"""Question: where the tasks of a launch line land, what is wrong, which line is better."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from hopperlib.errors import refusal
from hopperlib.finding import Finding
from hopperlib.node.bandwidth import memory_bound_fraction
from hopperlib.node.launch.ranges import as_ranges
from hopperlib.node.placement import Placement
from hopperlib.node.review.as_data import numa_rows, placement_data, task_rows
from hopperlib.node.review.binding_lists import cc_list, common_pattern, map_cpu, mask_cpu, rank_file, rank_order
from hopperlib.node.review.review import Review, review_lines
from hopperlib.node.review.slowdown import Cost, memory_need
from hopperlib.node.review.suggestions import equivalent_line
from hopperlib.node.review.text_drawing import headline, node_picture
from hopperlib.node.slurm.layout import place_steps
from hopperlib.questions.figures import Series, band
from hopperlib.questions.machine_choice import badge_of, chosen_machine, offered_instead
from hopperlib.questions.node.drawings import node_drawing, standalone_svg
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Copyable, Download, Drawing, Facts, Figure, Result, Table
from hopperlib.questions.wording import Said

# A page must stay small whatever is typed: longer tables are cut and say so, larger files are not offered.
_MOST_ROWS = 96
_MOST_TASKS_IN_A_FILE = 2_000
_FRACTIONS = tuple(step / 10 for step in range(11))


class _Lines(Asked):
    """What was asked of the launch lines of a text; zeros stand for not given."""

    def check(self) -> None:
        """Refuse no line, and a range that ends before it begins."""
        low, high = self.fractions
        if low > high:
            raise refusal("memory_bound_low", low, f"must not be above memory_bound_high={high:g}")
        if not self.line.strip():
            raise refusal("line", self.line, "is empty: type a launch line, such as: aprun -n 24 ./a.out")

    @property
    def fractions(self) -> tuple[float, float]:
        """The least and the greatest memory-bound fraction."""
        return self.memory_bound_low, self.memory_bound_high

    def reviews(self) -> list[Review]:
        """Return what is to be said of each line, or of the one asked for; lines that are alike once."""
        given = {
            name: getattr(self, name) or None for name in ("threads", "kind", "core_cap_gb_s", "memory_per_task_gb")
        }
        reviews = review_lines(self.line, chosen_machine(self.machine, self.machine_file), **given)
        if self.launch > len(reviews):
            raise refusal("launch", self.launch, f"must be from 1 to {len(reviews)}, the launch lines of this text")
        if self.launch:
            reviews = reviews[self.launch - 1 : self.launch]
        # Lines that are alike share one review.
        return list({id(review): review for review in reviews}.values())

    def said_of(self, review: Review, node: int) -> Said:
        """Return the words on one line."""
        placement, cost, better = review.placement, review.cost, review.suggestion.better
        worst, slowdown = cost.worst, cost.slowdown_range(*self.fractions)
        # What a program does on GPUs waits for other memory than the node's.
        on_gpus = any(seat.gpus for seat in placement.nodes[0].pattern)
        other = "srun" if placement.launch.launcher == "aprun" else "aprun"
        badges = {
            name: badge_of(placement.machine, f"node.{placement.node_kind.name}.{field}")
            for name, field in (
                ("cap", "core_bandwidth_cap_gb_s"),
                ("numa", "numa_bandwidth_gb_s"),
                ("left", "remote_bandwidth_fraction"),
            )
        }
        counts = [len(tasks) for tasks in placement.tasks_by_numa_node(min(node, len(placement.nodes) - 1))]
        return self.said(
            **badges | ({"cap": ("assumed", "as set above")} if self.core_cap_gb_s else {}),
            review=review,
            placement=placement,
            nodes=len(placement.nodes),
            node_kind=placement.node_kind,
            cost=cost,
            worst=worst,
            fullest=max(worst.load.threads),
            fullest_spread=max(worst.spread.threads),
            past_limit=worst.slowdown(1) > worst.channel_ratio,
            slowdown=slowdown,
            slower=slowdown[1] > 1.005 and not on_gpus and placement.launch.steps == 1,
            gain=review.gain_range(*self.fractions),
            with_memory=any(cost.memory_per_task_gb),
            measured=self._measured(cost),
            headline=headline(placement),
            better=better,
            better_headline=headline(better.placement) if better else "",
            better_equivalent=equivalent_line(better.placement) if better else None,
            # Where advice stands below, it is the better line.
            problem=next(
                (f" {f.message}" if f.level == "problem" else "" for f in review.advice if f.level != "note"), None
            ),
            other=other,
            general=placement.machine.launcher(other).assumed,
            counts=counts,
            most_on_a_numa_node=max(counts),
            idle_numa_nodes=counts.count(0),
            problems=len(review.problems),
            codes=[finding.code for finding in review.advice],
        )

    def _measured(self, cost: Cost) -> tuple[Any, str] | None:
        """Return the memory-bound fraction that explains two measured run times, if both are given, and a note."""
        if not self.measured_s or not self.measured_spread_s:
            return None
        try:
            fraction = memory_bound_fraction(self.measured_s, self.measured_spread_s, cost.worst.ratio)
        except ValueError as error:
            return "none", str(error)
        return fraction, "of the spread run, by this model"


def answers(**settings: Any) -> tuple[tuple[Review, Result], ...]:
    r"""Return what is to be said of each launch line of a text, lines that are alike once. Zeros stand for not given.

    Parameters
    ----------
    **settings
        Values of all controls.

    Raises
    ------
    InputError
        If a value does not fit, or a launcher would refuse a line.

    Examples
    --------
    >>> settings = QUESTION.read({"line": "aprun -n 24 a\naprun -n 12 b\naprun -n 24 a"})
    >>> [review.placement.launch.tasks for review, _ in answers(**settings)]
    [24, 12]
    """
    asked = _Lines(**settings)
    reviews = asked.reviews()
    instead = offered_instead(asked.line, reviews[0].placement.machine)
    offer = (Finding(code="other-machine", message=instead, level="note"),) if instead else ()
    answered = []
    for number, review in enumerate(reviews):
        said = asked.said_of(review, asked.node)
        drawing = _drawing(review, said, asked.node if number == 0 else 0)
        data = partial(placement_data, review, memory_bound_fraction=asked.fractions)
        result = said.result(
            summary=said.text("doubtful" if review.placement.doubts else "summary"),
            findings=(*review.advice, *offer),
            drawings=(drawing,),
            figures=(_figure(review, said),),
            copyables=(*said.copyables, *_lists(review.placement, said)),
            tables=tuple(_tables(review.placement, said)),
            downloads=tuple(_downloads(review.placement, data, drawing)),
            facts=Facts(said.facts, rest=data),
        )
        answered.append((review, result))
    return tuple(answered)


def _answer(**settings: Any) -> Result:
    """Answer for one launch line: the first of a text, or the one asked for."""
    return answers(**settings)[0][1]


def _drawing(review: Review, said: Said, number: int) -> Drawing:
    """Return the drawing of a node of the job, and the same made of characters."""
    placement = review.placement
    if number >= len(placement.nodes):
        raise refusal("node", number, f"must be from 0 to {len(placement.nodes) - 1}, the nodes of this job")
    placed = placement.nodes[number]
    memory_gb = review.cost.memory_per_task_gb[placed.component]
    need = memory_need(placed.pattern, placement.node_kind, memory_gb) if memory_gb else None
    title = said.text("node", placed=placed, tasks=len(placed.pattern), several=len(placement.nodes) > 1)
    kind = placement.node_kind
    return node_drawing(kind, placed, title=title, memory_need_gb=need, text=node_picture(kind, placed))


def _figure(review: Review, said: Said) -> Figure:
    """Return the chart of the slowdown against the memory-bound fraction."""
    worst, better = review.cost.worst, review.suggestion.better
    series = [
        Series(name=name, x=_FRACTIONS, y=[slowdown(part) for part in _FRACTIONS])
        for name, slowdown in (
            ("this line", worst.slowdown),
            *([("better line", better.cost.worst.slowdown)] if better is not None else []),
        )
    ]
    top = max([worst.channel_ratio, *(max(line.y) for line in series)])
    low, high = said["fractions"]
    figure = said.chart(
        "slowdown",
        series,
        bottom=min(0.9, 1 - (top - 1) / 10),
        top=max(top * 1.05, 1.3),
        low=low,
        high=high,
    )
    return replace(figure, layout=figure.layout | {"shapes": [band(low, high)]})


def _lists(placement: Placement, said: Said) -> Iterator[Copyable]:
    """Yield the lists of cores that launchers take, of each program that has the same on all nodes."""
    for number in range(len(placement.launch.components)):
        of = f" of program {number + 1}" if len(placement.launch.components) > 1 else ""
        for title, maker in (
            ("For aprun: -cc", cc_list),
            ("For srun: map_cpu", map_cpu),
            ("For srun: mask_cpu", mask_cpu),
        ):
            try:
                text = maker(common_pattern(placement, number))
            except ValueError:
                continue
            yield Copyable(f"{title}{of}", text, said.text("list_note"))


def _tables(placement: Placement, said: Said) -> Iterator[Table]:
    """Yield the tables by NUMA node and by task, cut where they are long."""
    rows, tasks = numa_rows(placement), placement.launch.tasks
    said = said.also(most=_MOST_ROWS, rows=len(rows), tasks=tasks, long=len(rows) > _MOST_ROWS, many=tasks > _MOST_ROWS)
    yield said.table("numa", [tuple(cell if cell != "" else None for cell in row) for row in rows[:_MOST_ROWS]])
    if len(placement.launch.components) == 1:
        yield said.table("tasks", [(row[0], *row[2:]) for row in task_rows(placement, _MOST_ROWS)])
    else:
        numbered = [(task, program + 1, *rest) for task, program, *rest in task_rows(placement, _MOST_ROWS)]
        yield said.table("tasks_of_programs", numbered)
    yield from _steps_table(placement, said)


def _steps_table(placement: Placement, said: Said) -> Iterator[Table]:
    """Yield the table of the steps that run beside this one, where they share one node."""
    launch = placement.launch
    alone = len(placement.nodes) == 1 and (launch.reservation is None or launch.reservation.nodes == 1)
    if launch.launcher != "srun" or launch.steps == 1 or not alone or len(launch.components) > 1:
        return
    steps = (*launch.before, *launch.components, *launch.after)[:_MOST_ROWS]
    placed = place_steps(steps, placement.node_kind, placement.machine)
    rows = []
    for number, bindings in enumerate(placed, start=1):
        cores, gpus = ({core for seat in bindings for core in getattr(seat, part) or ()} for part in ("cores", "gpus"))
        rows.append((number, len(bindings), as_ranges(sorted(cores)), as_ranges(sorted(gpus)) or None))
    marked = (len(launch.before),) if len(launch.before) < len(placed) else ()
    yield said.table("steps", rows, marked=marked, waiting=len(placed) < len(steps))


def _json(data: partial[dict[str, Any]]) -> str:
    """Return the placement as JSON."""
    import json

    return json.dumps(data())


def _downloads(placement: Placement, data: partial[dict[str, Any]], drawing: Drawing) -> Iterator[Download]:
    """Yield the files to save; those with a line a task only for jobs of moderate size."""
    moderate = placement.launch.tasks <= _MOST_TASKS_IN_A_FILE
    if moderate:
        yield Download("placement.json", partial(_json, data), "application/json")
    yield Download("node.svg", partial(standalone_svg, drawing), "image/svg+xml")
    yield Download("MPICH_RANK_ORDER", partial(rank_order, placement))
    if moderate:
        yield Download("rankfile.txt", partial(rank_file, placement))


QUESTION = declared(__name__, _answer)
