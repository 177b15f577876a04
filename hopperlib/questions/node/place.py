"""Question: where the tasks of a launch line land, what is wrong, which line is better."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from hopperlib.errors import refusal
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.node.bandwidth import memory_bound_fraction
from hopperlib.node.launch.ranges import as_ranges
from hopperlib.node.placement import NodePlacement, Placement
from hopperlib.node.review.as_data import numa_rows, placement_data, task_rows
from hopperlib.node.review.binding_lists import cc_list, common_pattern, map_cpu, mask_cpu, rank_file, rank_order
from hopperlib.node.review.equivalent import equivalent_line
from hopperlib.node.review.review import Review, review_lines
from hopperlib.node.review.slowdown import Cost, memory_need
from hopperlib.node.review.text_drawing import headline, node_picture
from hopperlib.node.slurm.layout import place_steps
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.machine_choice import badge_of, chosen_machine
from hopperlib.questions.node.drawings import node_drawing, standalone_svg
from hopperlib.questions.node.machine_of_text import offered_instead
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Copyable, Download, Drawing, Facts, Figure, Result, Table, Value

__all__ = ["QUESTION", "answers"]

# A page must stay small whatever is typed: longer tables are cut and say so, larger files are not offered.
_MOST_ROWS = 96
_MOST_TASKS_IN_A_FILE = 2_000
_FRACTIONS = tuple(step / 10 for step in range(11))


def answers(
    *,
    line: str,
    machine: str | Machine,
    machine_file: str,
    kind: str,
    threads: int,
    memory_per_task_gb: float,
    memory_bound_low: float,
    memory_bound_high: float,
    node: int,
    launch: int,
    core_cap_gb_s: float,
    measured_s: float,
    measured_spread_s: float,
) -> tuple[tuple[Review, Result], ...]:
    r"""Return what is to be said of each launch line of a text, lines that are alike once. Zeros stand for not given.

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
    low, high = memory_bound_low, memory_bound_high
    if low > high:
        raise refusal("memory_bound_low", low, f"must not be above memory_bound_high={high:g}")
    if not line.strip():
        raise refusal("line", line, "is empty: type a launch line, such as: aprun -n 24 ./a.out")
    reviews = review_lines(
        line,
        chosen_machine(machine, machine_file),
        threads=threads or None,
        kind=kind or None,
        core_cap_gb_s=core_cap_gb_s or None,
        memory_per_task_gb=memory_per_task_gb or None,
    )
    if launch > len(reviews):
        raise refusal("launch", launch, f"must be from 1 to {len(reviews)}, the launch lines of this text")
    if launch:
        reviews = reviews[launch - 1 : launch]
    instead = offered_instead(line, reviews[0].placement.machine)
    offer = (Finding(code="other-machine", message=instead, level="note"),) if instead else ()
    answered = []
    for number, review in enumerate({id(review): review for review in reviews}.values()):
        drawing = _drawing(review, node if number == 0 else 0)
        result = Result(
            summary=_summary(review, low, high),
            findings=(*review.advice, *offer),
            values=(
                *_values(review, low, high, cap_given=bool(core_cap_gb_s)),
                *_measured(review.cost, measured_s, measured_spread_s),
            ),
            drawings=(drawing,),
            figures=(_figure(review, low, high),),
            copyables=tuple(_copyables(review)),
            tables=tuple(_tables(review.placement)),
            downloads=tuple(_downloads(review, low, high, drawing)),
            facts=Facts(
                _facts(review, low, high, node), rest=partial(placement_data, review, memory_bound_fraction=(low, high))
            ),
        )
        answered.append((review, result))
    return tuple(answered)


def _answer(**settings: Any) -> Result:
    """Answer for one launch line: the first of a text, or the one asked for."""
    return answers(**settings)[0][1]


def _shown(placement: Placement, number: int) -> NodePlacement:
    """Return the node to draw."""
    if number >= len(placement.nodes):
        raise refusal("node", number, f"must be from 0 to {len(placement.nodes) - 1}, the nodes of this job")
    return placement.nodes[number]


def _drawing(review: Review, number: int) -> Drawing:
    """Return the drawing of a node of the job, and the same made of characters."""
    placement = review.placement
    placed = _shown(placement, number)
    memory_gb = review.cost.memory_per_task_gb[placed.component]
    need = memory_need(placed.pattern, placement.node_kind, memory_gb) if memory_gb else None
    count = f"Node {placed.node} of {len(placement.nodes):,}" if len(placement.nodes) > 1 else "The node"
    tasks = len(placed.pattern)
    title = f"{count}: {tasks} {'task' if tasks == 1 else 'tasks'}"
    drawing = node_drawing(placement.node_kind, placed, title=title, memory_need_gb=need)
    return replace(drawing, text=node_picture(placement.node_kind, placed))


def _facts(review: Review, low: float, high: float, node: int) -> dict[str, Any]:
    """Return named numbers for self-checks."""
    placement, cost = review.placement, review.cost
    least, most = cost.slowdown_range(low, high)
    counts = [len(tasks) for tasks in placement.tasks_by_numa_node(min(node, len(placement.nodes) - 1))]
    return {
        "tasks": placement.launch.tasks,
        "nodes": len(placement.nodes),
        "tasks_by_numa_node": counts,
        "most_tasks_on_a_numa_node": max(counts),
        "idle_numa_nodes": counts.count(0),
        "ratio": cost.worst.ratio,
        "slowdown_low": least,
        "slowdown_high": most,
        "remote_fraction": cost.worst.memory.remote_fraction,
        "problems": len(review.problems),
        "codes": [finding.code for finding in review.advice],
    }


def _summary(review: Review, low: float, high: float) -> str:
    """Return the answer in a sentence or two."""
    text = headline(review.placement)
    if review.placement.doubts:
        return f"Cannot tell: {review.placement.doubts[0]} Shown: {text}"
    least, most = review.cost.slowdown_range(low, high)
    # What a program does on GPUs waits for other memory than the node's.
    on_gpus = any(seat.gpus for seat in review.placement.nodes[0].pattern)
    if most > 1.005 and not on_gpus and review.placement.launch.steps == 1:
        text += f" It may take {least:.2f} to {most:.2f} times as long as the same tasks spread evenly."
    if review.suggestion.better is not None:
        return f"{text} Better: {review.suggestion.better.line}"
    return f"{text} {review.problems[0].message if review.problems else 'No better line was found.'}"


def _values(review: Review, low: float, high: float, *, cap_given: bool) -> list[Value]:
    """Return the numbers of the bandwidth model; a cap that the reader set is an assumption of theirs."""
    placement, cost = review.placement, review.cost
    kind, worst = placement.node_kind, cost.worst
    path = f"node.{kind.name}"
    least, most = cost.slowdown_range(low, high)
    note = f"for a memory-bound fraction from {low:g} to {high:g}; no line says which"
    label = "Run time over that of the same tasks spread evenly"
    values = [Value(label, most, "predicted", decimals=2, low=least, high=most, note=note)]
    gain = review.gain_range(low, high)
    if gain is not None:
        note, label = "memory bandwidth and shared cores alone", "Run time over that of the better line"
        values.append(Value(label, gain[1], "predicted", decimals=2, low=gain[0], high=gain[1], note=note))
    limit_note = (
        "a limit of this model, no bound on real runs: shared caches can push past it"
        if worst.slowdown(1) <= worst.channel_ratio
        else "shared channels alone; other causes, such as remote memory, add to it"
    )
    rate_note = f"min(cap, B / {max(worst.load.threads):.3g}) on the fullest NUMA node, before remote memory"
    spread_note = f"with {max(worst.spread.threads):.3g} on the fullest NUMA node"
    cap_badge, cap_note = badge_of(placement.machine, f"{path}.core_bandwidth_cap_gb_s")
    if cap_given:
        cap_badge, cap_note = "assumed", "as set above"
    numa_badge, numa_note = badge_of(placement.machine, f"{path}.numa_bandwidth_gb_s")
    values += [
        Value("Limit of the memory channels alone", worst.channel_ratio, "predicted", decimals=2, note=limit_note),
        Value("Memory rate of the slowest thread", worst.rate_gb_s, "predicted", "GB/s", 2, note=rate_note),
        Value("The same, spread evenly", worst.spread_rate_gb_s, "predicted", "GB/s", 2, note=spread_note),
        Value("Most that one core draws", cost.core_cap_gb_s, cap_badge, "GB/s", 1, note=cap_note),
        Value("Bandwidth B of a NUMA node", kind.numa_bandwidth_gb_s, numa_badge, "GB/s", 1, note=numa_note),
    ]
    if any(cost.memory_per_task_gb):
        remote = worst.memory.remote_fraction
        note = "what does not fit is shared out evenly over the free memory: assumed"
        values.append(Value("Share of the memory on other NUMA nodes", remote, "predicted", decimals=2, note=note))
        badge, note = badge_of(placement.machine, f"{path}.remote_bandwidth_fraction")
        label = "What is left of a core's rate on such memory"
        values.append(Value(label, kind.remote_bandwidth_fraction, badge, decimals=2, note=note))
    return values


def _measured(cost: Cost, packed_s: float, spread_s: float) -> list[Value]:
    """Return the memory-bound fraction that explains two measured run times, if both are given."""
    if not packed_s or not spread_s:
        return []
    label = "Memory-bound fraction that explains the two run times"
    try:
        fraction = memory_bound_fraction(packed_s, spread_s, cost.worst.ratio)
    except ValueError as error:
        return [Value(label, "none", "predicted", note=str(error))]
    return [Value(label, fraction, "predicted", decimals=2, note="of the spread run, by this model")]


def _figure(review: Review, low: float, high: float) -> Figure:
    """Return the chart of the slowdown against the memory-bound fraction."""
    worst, better = review.cost.worst, review.suggestion.better
    series = [Series(name="this line", x=_FRACTIONS, y=[worst.slowdown(part) for part in _FRACTIONS])]
    alt = (
        f"Run time over that of the same tasks spread evenly, against the memory-bound fraction. "
        f"This line goes from {worst.slowdown(0):.2f} at 0 to {worst.slowdown(1):.2f} at 1"
    )
    if better is not None:
        slowdown = better.cost.worst.slowdown
        series.append(Series(name="better line", x=_FRACTIONS, y=[slowdown(part) for part in _FRACTIONS]))
        alt += f", the better line from {slowdown(0):.2f} to {slowdown(1):.2f}"
    limit = worst.channel_ratio
    alone = (
        f"limit it to {limit:.2f}" if worst.slowdown(1) <= limit else f"would give {limit:.2f}; other causes add to it"
    )
    top = max([limit, *(max(line.y) for line in series)])
    shade = {"type": "rect", "xref": "x", "yref": "paper", "x0": low, "x1": high, "y0": 0, "y1": 1}
    shade |= {"fillcolor": "rgba(122,122,122,0.15)", "line": {"width": 0}, "layer": "below"}
    bottom, top = min(0.9, 1 - (top - 1) / 10), max(top * 1.05, 1.3)
    return chart(
        title="What waiting for memory costs",
        alt=f"{alt}. The memory channels alone {alone}. Shaded: the fractions from {low:g} to {high:g}.",
        x=Axis(title="Memory-bound fraction of the spread run", low=0, high=1, decimals=2),
        y=Axis(title="Run time / spread run time", low=bottom, high=top, decimals=3),
        series=series,
        references=[Reference(name=f"channel limit {limit:.2f}", y=limit)],
        shapes=[shade],
    )


def _copyables(review: Review) -> list[Copyable]:
    """Return the lines and lists to copy."""
    placement, better = review.placement, review.suggestion.better
    other = "srun" if placement.launch.launcher == "aprun" else "aprun"
    general = placement.machine.launcher(other).assumed
    note = f"The same task on the same cores, checked by placing it. {general or ''}".strip()
    copyables = []
    if better is not None:
        copyables.append(Copyable("The better line", better.line, headline(better.placement)))
        text = equivalent_line(better.placement)
        if text is not None:
            copyables.append(Copyable(f"The better line for {other}", text, note))
    if review.suggestion.equivalent is not None:
        copyables.append(Copyable(f"This line for {other}", review.suggestion.equivalent, note))
    note = "The cores of each task of a node, as this line places them."
    for number in range(len(placement.launch.components)):
        of = f" of program {number + 1}" if len(placement.launch.components) > 1 else ""
        for title, maker in (("-cc list", cc_list), ("map_cpu", map_cpu), ("mask_cpu", mask_cpu)):
            try:
                text = maker(common_pattern(placement, number))
            except ValueError:
                continue
            copyables.append(Copyable(f"{title}{of}", text, note))
    return copyables


def _tables(placement: Placement) -> list[Table]:
    """Return the tables by NUMA node and by task, cut where they are long."""
    rows = numa_rows(placement)
    cut = f" (the first {_MOST_ROWS} of {len(rows):,} rows)" if len(rows) > _MOST_ROWS else ""
    by_numa = Table(
        caption=f"Tasks by NUMA node{cut}; equal nodes share their rows",
        columns=tuple(map(Column, ("Nodes", "NUMA node", "Tasks", "Which", "Cores they may use"))),
        rows=[tuple(cell if cell != "" else None for cell in row) for row in rows[:_MOST_ROWS]],
    )
    tasks = placement.launch.tasks
    cut = f" (the first {_MOST_ROWS} of {tasks:,}; `hopper place --json` has all)" if tasks > _MOST_ROWS else ""
    one_program = len(placement.launch.components) == 1
    columns = tuple(map(Column, ("Task", "Program", "Node", "Cores", "NUMA nodes", "Bound")))
    by_task = Table(
        caption=f"Every task{cut}",
        columns=columns[:1] + columns[2:] if one_program else columns,
        rows=[
            (task, *rest) if one_program else (task, component + 1, *rest)
            for task, component, *rest in task_rows(placement, _MOST_ROWS)
        ],
    )
    return [by_numa, by_task, *_steps_table(placement)]


def _steps_table(placement: Placement) -> list[Table]:
    """Return the table of the steps that run beside this one, where they share one node."""
    launch = placement.launch
    alone = len(placement.nodes) == 1 and (launch.reservation is None or launch.reservation.nodes == 1)
    if launch.launcher != "srun" or launch.steps == 1 or not alone or len(launch.components) > 1:
        return []
    steps = (*launch.before, *launch.components, *launch.after)
    placed = place_steps(steps[:_MOST_ROWS], placement.node_kind, placement.machine)
    return [
        Table(
            caption="Steps that run together, in the order in which they are started; the others wait"
            if len(placed) < len(steps[:_MOST_ROWS])
            else "Steps that run together, in the order in which they are started",
            columns=tuple(map(Column, ("Step", "Tasks", "Cores", "GPUs"))),
            rows=[
                (
                    number,
                    len(bindings),
                    as_ranges(sorted({core for binding in bindings for core in binding.cores})),
                    as_ranges(sorted({gpu for binding in bindings for gpu in binding.gpus or ()})) or None,
                )
                for number, bindings in enumerate(placed, start=1)
            ],
            marked=(len(launch.before),) if len(launch.before) < len(placed) else (),
            marked_label="this line",
        )
    ]


def _json(review: Review, low: float, high: float) -> str:
    """Return the placement as JSON."""
    import json

    return json.dumps(placement_data(review, memory_bound_fraction=(low, high)))


def _downloads(review: Review, low: float, high: float, drawing: Drawing) -> list[Download]:
    """Return the files to save; those with a line a task only for jobs of moderate size."""
    placement = review.placement
    downloads = [
        Download("node.svg", partial(standalone_svg, drawing), "image/svg+xml"),
        Download("MPICH_RANK_ORDER", partial(rank_order, placement)),
    ]
    if placement.launch.tasks <= _MOST_TASKS_IN_A_FILE:
        downloads.insert(0, Download("placement.json", partial(_json, review, low, high), "application/json"))
        downloads.append(Download("rankfile.txt", partial(rank_file, placement)))
    return downloads


QUESTION = declared(__name__, _answer)
