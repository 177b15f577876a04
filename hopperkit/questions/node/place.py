"""Question: the cores of a launch line's tasks, problems, and a better line."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import Any

from hopperkit.launchers.as_data import placement_data
from hopperkit.launchers.filling.srun_layout import place_steps
from hopperkit.launchers.judging.gpu_helper import helper_script
from hopperkit.launchers.judging.job import PlacedLine
from hopperkit.launchers.judging.job_checks import check_job
from hopperkit.launchers.judging.pricing import priced
from hopperkit.launchers.placing import Placement
from hopperkit.launchers.ranges import as_ranges
from hopperkit.launchers.reader import read_launches, runs_by_itself
from hopperkit.launchers.review import Review, review_lines
from hopperkit.launchers.scripts import read_script
from hopperkit.launchers.text_drawing import headline, node_picture
from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Reference, Series, band, chart
from hopperkit.questions.machine_choice import badge_of, suggest_machine
from hopperkit.questions.node._unknown_node import sized_machine, unknown_node, without_launch_line
from hopperkit.questions.node.drawings import node_drawing
from hopperkit.questions.result import Drawing, Facts, Figure, Result, Snippet, Table, Value, table
from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.placement.binding import bound_to
from hopperlib.placement.components import LaunchError
from hopperlib.text import count

MAX_ROWS = 12
# A slowdown that rounds to 1.00 is not reported.
LEAST_SLOWDOWN = 1.005
_FRACTIONS = tuple(step / 10 for step in range(11))


class Lines(ask.Setting):
    """Settings for the launch lines of a text; zeros mean not given."""

    line: str = ask.text(
        "Launch line or batch script",
        "aprun -n 384 -N 12 vasp",
        argument=True,
        required=True,
        rows=2,
        placeholder="aprun -n 24 ./a.out",
        help="A line of aprun, srun, mpiexec or mpirun, or the whole job script around it.",
    )
    machine: Machine = ask.machine()
    kind: str = ask.text(
        "Kind of node",
        max_length=60,
        placeholder="large-memory",
        help="Its name in the machine file; empty for the ordinary kind.",
        advanced=True,
    )
    threads: int = ask.whole(
        "OpenMP threads per task",
        0,
        (0, 1024),
        help="0: from the script (OMP_NUM_THREADS), or one per core of a task.",
    )
    memory_per_task_gb: float = ask.number(
        "Memory per task",
        0.0,
        (0.0, 4096.0, 0.01),
        unit="GB",
        binary=True,
        option="memory_per_task",
        help="0: unknown. The line's memory request is used, otherwise all memory is assumed to be local.",
    )
    memory_bound_high: float = ask.fraction(
        "Memory-bound fraction, at most",
        1.0,
        help="Share of the run, with tasks spread evenly, that waits for memory. It cannot be read from the line.",
        advanced=True,
    )
    node: int = ask.whole(
        "Node to draw", 0, (0, 100_000), help="Counted from 0, in the order of the job's nodes.", advanced=True
    )
    launch: int = ask.whole(
        "Launch line of a script", 0, (0, 100_000), help="Counted from 1; 0 takes the first line.", advanced=True
    )
    machine_file: str = ask.machine_file()
    doubt = ""
    """Why it is not known for which machine the text is; empty where it is."""
    evidence = ""
    """The words of the text that named the machine; empty where a person did."""

    def check(self) -> None:
        """Reject an empty text."""
        if not self.line.strip():
            raise refusal("line", self.line, "is empty: type a launch line, such as: aprun -n 24 ./a.out")

    @property
    def fractions(self) -> tuple[float, float]:
        """The least and the greatest memory-bound fraction."""
        return 0.0, self.memory_bound_high

    @cached_property
    def reviews(self) -> tuple[Review, ...]:
        """Reviews of each line, or of the selected one; identical lines once."""
        reviews = review_lines(
            self.line,
            self.machine,
            threads=self.threads or None,
            kind=self.kind or None,
            memory_per_task_gb=self.memory_per_task_gb or None,
        )
        if self.launch > len(reviews):
            raise refusal("launch", self.launch, f"must be from 1 to {len(reviews)}, the launch lines of this text")
        if self.launch:
            return (reviews[self.launch - 1],)
        # Lines that are alike share one review.
        return tuple({id(review): review for review in reviews}.values())

    def refusal_with_partitions(self, error: InputError) -> InputError:
        """Return a rejection that begins with the script's unknown partitions: a site checks these first, too."""
        unknown = [
            each.message for each in check_job(read_script(self.line), self.machine) if each.code == "asks-unknown"
        ]
        return InputError(" ".join((*unknown, str(error))), name=error.name) if unknown else error

    @cached_property
    def runs_by_itself(self) -> bool:
        """Whether the text is a job script without a launch line, and no line of it was named."""
        return not self.launch and runs_by_itself(read_script(self.line))

    def answer_without_node(self) -> Result:
        """Return the answer for an unknown machine; a line that no launcher accepts is rejected."""
        script = read_script(self.line)
        if self.launch > len(script.lines) > 0:
            rule = f"must be from 1 to {len(script.lines)}, the launch lines of this text"
            raise refusal("launch", self.launch, rule)
        try:
            read_launches(script, sized_machine(script), threads=self.threads or None, kind=self.kind or None)
        except LaunchError as error:
            # Findings that depend on the size of a node are unknown; those that depend on the words of the line remain.
            in_words = any(word in str(error) for word in (self.machine.title, " node", " socket", " cache", " cores"))
            # The slots of a job are in its directives.
            of_job = "not enough slots" in (error.words or "")
            if error.name in ("line", "script") or not in_words or of_job or "is not an option" in str(error):
                raise
        return unknown_node(script, priced(self.job_findings, script), self.doubt)

    @cached_property
    def job_findings(self) -> tuple[Finding, ...]:
        """Findings about the whole script; fewer if one of its lines would be rejected, or for an unknown machine."""
        placed: list[PlacedLine] = []
        if self.doubt:
            return check_job(read_script(self.line), self.machine, known=False)
        with suppress(InputError):
            placed = [PlacedLine(review.line, review.placement) for review in self.reviews]
        settings = {"kind": self.kind or None, "threads": self.threads or None}
        return check_job(read_script(self.line), self.machine, placed, known=not self.doubt, **settings)  # type: ignore[arg-type]


def answer(settings: Lines) -> Result:
    """Answer for one launch line: the first of a text, or the selected one.

    Parameters
    ----------
    settings : Lines
        Settings for the launch lines of a text.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Lines(line='aprun -n 384 -N 12 vasp')).facts['tasks_by_numa_node']
    [6, 6, 0, 0]
    """
    return answers(settings)[0]


def run_lines(values: Mapping[str, Any], *, doubt: str = "", evidence: str = "") -> Result:
    """Return the answer for parsed values, for a known machine.

    Parameters
    ----------
    values : mapping
        Fields of `Lines`.
    doubt : str
        Why the machine is not known.
    evidence : str
        Words of the text that named it.

    Examples
    --------
    >>> run_lines({"line": "srun -n 4 ./a"}, doubt="The text names no machine.").facts["requested"]
    {'tasks': 4}
    """
    settings = Lines(**values)
    settings.doubt, settings.evidence = doubt, evidence
    return answer(settings)


def answers(settings: Lines) -> list[Result]:
    r"""Return an answer for each of `Lines.reviews`.

    Parameters
    ----------
    settings : Lines
        Launch lines, and the machine.

    Raises
    ------
    InputError
        If a value does not fit, or a launcher would refuse a line.

    Examples
    --------
    >>> lines = Lines(line="aprun -n 24 a\naprun -n 12 b\naprun -n 24 a")
    >>> [answer.facts["tasks"] for answer in answers(lines)]
    [24, 12]
    """
    if settings.runs_by_itself:
        script = read_script(settings.line)
        machine = None if settings.doubt else settings.machine.name
        return [without_launch_line(script, priced(settings.job_findings, script), machine)]
    if settings.doubt:
        return [settings.answer_without_node()]
    try:
        reviews = settings.reviews
    except InputError as error:
        raise settings.refusal_with_partitions(error) from error
    # The node to draw is one of the first line's job.
    # Findings about the whole script are shown with its first line.
    return [
        _answer(settings, review, 0 if number else settings.node, () if number else settings.job_findings)
        for number, review in enumerate(reviews)
    ]


def _answer(settings: Lines, review: Review, node: int, job: tuple[Finding, ...]) -> Result:
    drawings = [_drawing(review.placement, node, "before" if review.better else "")]
    if better := review.better:
        # A better line may need fewer nodes.
        drawings.append(_drawing(better.placement, min(node, len(better.placement.nodes) - 1), "after"))
    data = partial(placement_data, review, memory_bound_fraction=settings.fractions)
    reserved = review.placement.launch.reservation
    nodes = reserved.nodes if reserved else len(review.placement.nodes)
    findings = priced((*job, *_findings(settings, review)), review.script, nodes)
    return Result(
        summary=_summary(settings, review, findings),
        findings=findings,
        values=tuple(_values(settings, review)),
        drawings=tuple(drawings),
        figures=(_slowdown(settings, review),),
        copyables=tuple(_copyables(review)),
        tables=tuple(_steps(review.placement)),
        facts=Facts(_facts(settings, review, node, findings), rest=data),
    )


def _summary(settings: Lines, review: Review, findings: Sequence[Finding]) -> str:
    """Return the placement and the costliest finding, which comes first if the better line does not fix it."""
    placement, better = review.placement, review.better
    sentence = _where(settings, review)
    worst = next((each for each in findings if each.level in _COUNTED and each.code not in _SUMMED_UP), None)
    cured = worst is not None and worst.code in review.won
    # In one piece: all combinations of a better line, a remaining finding and a doubt: their order is the rule.
    if better:
        sentence += f" Better: {better.line}"
    elif worst is None and not placement.doubts:
        if costly := _costly_note(review, findings):
            return f"{sentence} {costly.message}"
        return f"{sentence} No better line was found."
    if worst is None or cured:
        return sentence
    of_line = any(each.code == worst.code for each in review.advice)
    if worst.level == "problem" and not of_line:
        return f"{worst.message} {sentence}"
    if better or placement.doubts:
        return f"{worst.message} {sentence}" if worst.level == "problem" else sentence
    none = " No line was found that cures it." if of_line and review.searched and not worst.advice else ""
    return f"{sentence} {worst.message}{none}"


def _costly_note(review: Review, findings: Sequence[Finding]) -> Finding | None:
    """Return the note about idle resources for which a job is charged several times its use; None without one."""
    explained = _on_gpus(review.placement) or any(review.cost.memory_per_task_gb)
    costly = (each for each in findings if each.evidence.get("times", 1.0) >= _MANY_TIMES)
    return None if explained else next(costly, None)


# A job charged this many times what it uses is worth a sentence, whatever the reason.
_MANY_TIMES = 4.0
# Findings that may end the summary, and those that repeat it.
_COUNTED = ("problem", "advice")
_SUMMED_UP = ("better-line", "other-machine")


def _where(settings: Lines, review: Review) -> str:
    """Return the placement of the tasks, and the possible increase in run time."""
    placement = review.placement
    title = placement.machine.title
    if placement.doubts:
        return f"{title}: cannot tell: {placement.doubts[0]} Shown: {headline(placement)}"
    low, high = review.cost.slowdown_range(*settings.fractions)
    sentence = f"{title}: {headline(placement)}"
    if high > LEAST_SLOWDOWN and not _on_gpus(placement) and placement.launch.steps == 1:
        times = f"{high:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
        sentence += f" It may take {times} times as long as the same tasks spread evenly."
    return sentence


def _on_gpus(placement: Placement) -> bool:
    """Whether tasks compute on GPUs, where they wait for memory other than the node's."""
    return any(seat.gpus for seat in placement.nodes[0].pattern)


def _findings(settings: Lines, review: Review) -> Iterator[Finding]:
    yield from (finding for finding in review.advice if finding.level in ("problem", "advice"))
    if better := review.better:
        assumed = [finding.message for finding in review.advice if finding.code == "assumed"]
        rests = " ".join(assumed) or f"It rests on the file of {review.placement.machine.title} alone."
        if "gpus-all-visible" in review.won:
            rests += (
                " A task no longer sees its neighbours' GPUs, which GPU-aware MPI between tasks of a node may need."
            )
        faults, cured = sum(finding.level in ("problem", "advice") for finding in review.advice), len(review.won)
        cures = ("this" if faults == 1 else "all of this") if cured >= faults else f"{cured} of these {faults}"
        cures = f"The better line cures {cures}"
        if (then := better.placement.launch.launcher) != review.placement.launch.launcher:
            cures = f"The better line is the same job for {'mpiexec' if then == 'pals' else then}"
        message = f"{cures}: {headline(better.placement)} {rests}{_of_the_grant(better.placement)}"
        yield Finding("better-line", message)
    yield from (finding for finding in review.advice if finding.level not in ("problem", "advice"))
    if instead := suggest_machine(settings.line, settings.machine):
        yield Finding("other-machine", instead, "note")


def _of_the_grant(placement: Placement) -> str:
    """Return the condition on a job's CPUs where a line takes more of them than the script requests; empty without one."""
    launch = placement.launch
    reserved, each = launch.reservation, max(component.threads_per_task for component in launch.components)
    if launch.launcher != "srun" or reserved is None or reserved.batch != "slurm":
        return ""
    whole = {"--exclusive", "--mem"} & {name for name, value in reserved.options if name != "--mem" or value == "0"}
    # A file that says which jobs share nodes says that the others do not.
    if whole or placement.node_kind.shared_by or each <= (reserved.threads_per_task or 1):
        return ""
    return f" Where jobs share nodes, the job must request the CPUs too: #SBATCH --cpus-per-task={each}."


def _values(settings: Lines, review: Review) -> Iterator[Value]:
    """Yield two numbers: how much longer it may take, and where its memory is or how fast."""
    cost = review.cost
    low, high = cost.slowdown_range(*settings.fractions)
    note = "for a memory-bound fraction from {:g} to {:g}; it cannot be read from the line".format(*settings.fractions)
    if high < LEAST_SLOWDOWN:
        note = "to spread the tasks evenly would not make it faster"
    if not _on_gpus(review.placement):
        yield Value("Run time relative to an even spread", high, "predicted", "", 2, low, high, note=note)
    if any(cost.memory_per_task_gb):
        note = "what does not fit is shared out evenly over the free memory: assumed"
        yield Value(
            "Share of the memory on other NUMA nodes", cost.worst.memory.remote_fraction, "predicted", "", 2, note=note
        )
    else:
        yield _slowest_rate(review)


def _slowest_rate(review: Review) -> Value:
    """Return the memory bandwidth of the slowest thread, and its basis."""
    kind, machine, worst = review.placement.node_kind, review.placement.machine, review.cost.worst
    cap, _ = badge_of(machine, f"node.{kind.name}.core_bandwidth_cap_gb_s")
    numa, _ = badge_of(machine, f"node.{kind.name}.numa_bandwidth_gb_s")
    note = (
        f"{worst.spread_rate_gb_s:.2f} GB/s spread evenly; at most {review.cost.core_cap_gb_s:.1f} GB/s a core ({cap}) "
        f"and {kind.numa_bandwidth_gb_s:.1f} GB/s a NUMA node ({numa})"
    )
    return Value("Memory bandwidth of the slowest thread", worst.rate_gb_s, "predicted", "GB/s", 2, note=note)


def _drawing(placement: Placement, number: int, which: str) -> Drawing:
    """Return the drawing of a node of the job, and the same in characters."""
    kind = placement.node_kind
    if number >= len(placement.nodes):
        raise refusal("node", number, f"must be from 0 to {len(placement.nodes) - 1}, the nodes of this job")
    placed = placement.nodes[number]
    several = len(placement.nodes) > 1
    name = f"Node {placed.node} of {len(placement.nodes):,}" if several else "The node"
    title = f"{name}: {count(len(placed.pattern), 'task')}{f', {which}' if which else ''}"
    return node_drawing(kind, placed, title=title, text=node_picture(kind, placed))


def _slowdown(settings: Lines, review: Review) -> Figure:
    """Return the chart of the slowdown against the memory-bound fraction."""
    worst, better = review.cost.worst, review.better
    compared = {"this line": worst} | ({"better line": better.cost.worst} if better else {})
    series = [
        Series(name=name, x=_FRACTIONS, y=[cost.slowdown(fraction) for fraction in _FRACTIONS])
        for name, cost in compared.items()
    ]
    drawn = "; ".join(f"{line.name} from {line.y[0]:.2f} at 0 to {line.y[-1]:.2f} at 1" for line in series)
    top = max([worst.channel_ratio, *(max(line.y) for line in series)])
    return chart(
        title="Slowdown from memory contention",
        alt="Run time relative to an even spread, against the memory-bound fraction: "
        f"{drawn}. The memory channels alone give at most {worst.channel_ratio:.2f}. "
        "Shaded: the fractions from {:g} to {:g}.".format(*settings.fractions),
        x=Axis(title="Memory-bound fraction of the spread run", low=0, high=1, decimals=2),
        y=Axis(
            title="Run time / spread run time", low=min(0.9, 1 - (top - 1) / 10), high=max(top * 1.05, 1.3), decimals=3
        ),
        series=series,
        references=[Reference(f"memory channels alone {worst.channel_ratio:.2f}", worst.channel_ratio)],
        shapes=[band(*settings.fractions)],
    )


def _copyables(review: Review) -> Iterator[Snippet]:
    """Yield the better line and its change of the script, where the machine has the launcher of this line."""
    placement, better = review.placement, review.better
    typed = placement.launch.launcher
    # A launcher that is only assumed never ran on the machine.
    owned = {launcher.kind for launcher in placement.machine.launchers if launcher.assumed is None} or {typed}
    if better and better.placement.launch.launcher in owned:
        yield Snippet("The better line", better.line, headline(better.placement))
        before, after = (script.text.rstrip("\n") for script in (review.script, better.script))
        if "\n" in before and before != after:
            yield Snippet("The change of the script", after, "The whole script is copied.", before)
    # The line that will run: of the machine's launcher where another one was typed.
    final = better.placement if better else placement
    shared = any(finding.code in ("gpus-all-visible", "gpus-far") for finding in review.advice)
    if shared and final.launch.launcher not in ("aprun", "srun"):
        pattern, title = final.nodes[0].pattern, "A helper script that gives each task a GPU"
        if options := _binding_to_write(final):
            width = int(options.split()[1])
            starts = range(0, width * len(pattern), width)
            cores = sorted(final.node_kind.usable_cores)
            pattern = tuple(bound_to(cores[start : start + width], final.node_kind) for start in starts)
            title += f", for a line with {options}"
        script = helper_script(final.node_kind, final.launch.launcher, pattern)
        yield Snippet(title, script, "Write it in front of the program.")


def _binding_to_write(placement: Placement) -> str:
    """Return the options that bind tasks of PALS where the line has none, so that a choice of GPUs can fit their cores."""
    launch, tasks = placement.launch, len(placement.nodes[0].pattern)
    room = len(placement.node_kind.usable_cores) // tasks
    if launch.launcher != "pals" or len(launch.components) > 1 or not placement.doubts or not room:
        return ""
    return "" if launch.components[0].given("--cpu-bind") else f"--depth {room} --cpu-bind depth"


def _steps(placement: Placement) -> Iterator[Table]:
    """Yield the table of simultaneous steps, if they share one node."""
    launch = placement.launch
    if launch.launcher != "srun" or launch.steps == 1 or not _share_a_node(placement):
        return
    steps = (*launch.before, *launch.components, *launch.after)
    placed = place_steps(steps, placement.node_kind, placement.machine)
    waiting = "; the others wait" if len(placed) < len(steps) else ""
    cut = f"; the first {MAX_ROWS} of {len(placed)}" if len(placed) > MAX_ROWS else ""
    yield table(
        f"Steps that run together, in the order in which they are started{cut}{waiting}",
        list(enumerate(placed, start=1))[:MAX_ROWS],
        {
            "Step": lambda step: step[0],
            "Tasks": lambda step: len(step[1]),
            "Cores": lambda step: as_ranges(sorted({core for seat in step[1] for core in seat.cores})),
            "GPUs": lambda step: as_ranges(sorted({gpu for seat in step[1] for gpu in seat.gpus or ()})) or None,
        },
        marked=(len(launch.before),) if len(launch.before) < min(len(placed), MAX_ROWS) else (),
        marked_label="this line",
    )


def _share_a_node(placement: Placement) -> bool:
    """Whether simultaneous steps share one node, with separate parts of it."""
    launch = placement.launch
    job_nodes = launch.reservation.nodes if launch.reservation else 1
    alone = len(launch.components) == 1 and launch.components[0].given("--overlap") is None
    return alone and len(placement.nodes) == job_nodes == 1


def _facts(settings: Lines, review: Review, node: int, findings: Sequence[Finding]) -> dict[str, Any]:
    placement, worst = review.placement, review.cost.worst
    low, high = review.cost.slowdown_range(*settings.fractions)
    counts = [len(tasks) for tasks in placement.tasks_by_numa_node(node)]
    return {
        "tasks": placement.launch.tasks,
        "nodes": len(placement.nodes),
        "tasks_by_numa_node": counts,
        "most_tasks_on_a_numa_node": max(counts),
        "idle_numa_nodes": counts.count(0),
        "ratio": worst.ratio,
        "slowdown_low": low,
        "slowdown_high": high,
        "remote_fraction": worst.memory.remote_fraction,
        "problems": sum(finding.level == "problem" for finding in findings),
        "codes": [finding.code for finding in findings],
        **({"machine_named_by": settings.evidence} if settings.evidence else {}),
    }


QUESTION = ask.declared(
    Lines,
    answer,
    title="Where do the tasks land?",
    examples={
        "Today: GPUs on Perlmutter": {
            "line": "#SBATCH -C gpu -G 8\nsrun -n 8 -c 32 --gpus-per-task=1 ./a.out",
            "machine": "perlmutter",
        },
        "Today: low-noise cores of Frontier": {
            "line": "#SBATCH -N 2\nsrun -N 2 -n 16 -c 7 --gpus-per-task=1 --gpu-bind=closest ./a.out",
            "machine": "frontier",
        },
        "VASP spread with -S 3": {"line": "aprun -n 384 -N 12 -S 3 vasp", "machine": "hopper"},
        "Hybrid, 6 threads per task": {"line": "aprun -n 4 -S 1 -d 6 ./a.out", "machine": "hopper", "threads": 6},
        "A line that aprun refuses": {"line": "aprun -n 24 -S 7 ./a.out", "machine": "hopper"},
    },
)
