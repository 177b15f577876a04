"""Explorer: where the tasks of a launch line land, what is wrong, which line is better."""

from __future__ import annotations

from hopperlib.machine import Machine, MachineError
from hopperlib.node.launch.components import LaunchError
from hopperlib.node.placement import NodePlacement, Placement
from hopperlib.node.review.review import Review, review_line
from hopperlib.node.review.slowdown import memory_need
from hopperlib.questions.controls import Choice, FileText, InputError, Number, Slider, Text
from hopperlib.questions.explorer import Example, Explorer
from hopperlib.questions.node import placement_parts as parts
from hopperlib.questions.node.drawings import node_drawing, standalone_svg
from hopperlib.questions.result import Notice, Result

__all__ = ["EXPLORER"]


def _machine(name: str, text: str) -> Machine:
    """Return the chosen machine, or the one in the reader's file."""
    try:
        return Machine.from_toml(text) if text.strip() else Machine.load(name)
    except MachineError as error:
        raise InputError(str(error), control="machine_file") from error


def _review(line: str, machine: Machine, threads: int, core_cap_gb_s: float, memory_per_task_gb: float) -> Review:
    """Return the review of a line; a refusal points at the line. Zeros stand for what is not given."""
    if not line.strip():
        raise InputError("type a launch line, such as: aprun -n 24 ./a.out", control="line")
    try:
        return review_line(
            line,
            machine,
            threads=threads or None,
            core_cap_gb_s=core_cap_gb_s or None,
            memory_per_task_gb=memory_per_task_gb or None,
        )
    except LaunchError as error:
        raise InputError(error.message, control="line") from error


def _shown(placement: Placement, number: int) -> NodePlacement:
    """Return the node to draw."""
    if number >= len(placement.nodes):
        last = len(placement.nodes) - 1
        raise InputError(f"node={number} must be from 0 to {last}, the nodes of this job", control="node")
    return placement.nodes[number]


def _answer(
    *,
    line: str,
    machine: str,
    machine_file: str,
    threads: int,
    memory_per_task_gb: float,
    memory_bound_low: float,
    memory_bound_high: float,
    node: int,
    core_cap_gb_s: float,
    measured_s: float,
    measured_spread_s: float,
) -> Result:
    """Answer for one launch line."""
    if memory_bound_low > memory_bound_high:
        raise InputError(
            f"memory_bound_low={memory_bound_low:g} must not be above memory_bound_high={memory_bound_high:g}",
            control="memory_bound_low",
        )
    review = _review(line, _machine(machine, machine_file), threads, core_cap_gb_s, memory_per_task_gb)
    placement, cost = review.placement, review.cost
    kind, shown = placement.node_kind, _shown(placement, node)
    low, high = memory_bound_low, memory_bound_high
    each = cost.memory_per_task_gb[shown.component]
    need = memory_need(shown.pattern, kind, each) if each else None
    count = f"Node {shown.node} of {len(placement.nodes):,}" if len(placement.nodes) > 1 else "The node"
    tasks = len(shown.pattern)
    drawing = node_drawing(
        kind, shown, title=f"{count}: {tasks} {'task' if tasks == 1 else 'tasks'}", memory_need_gb=need
    )
    least, most = cost.slowdown_range(low, high)
    counts = [len(tasks) for tasks in placement.tasks_by_numa_node(node)]
    facts = {
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
        "codes": [one.code for one in review.advice],
    }
    return Result(
        summary=parts.summary(review, low, high),
        warnings=tuple(Notice(code=one.code, message=one.message, level=one.level) for one in review.advice),
        values=(
            *parts.values(review, low, high, cap_given=bool(core_cap_gb_s)),
            *parts.measured(cost, measured_s, measured_spread_s),
        ),
        drawings=(drawing,),
        figures=(parts.figure(review, low, high),),
        copyables=tuple(parts.copyables(review)),
        tables=tuple(parts.tables(placement)),
        downloads=tuple(parts.downloads(review, low, high, svg=standalone_svg(drawing))),
        facts=facts,
    )


EXPLORER = Explorer(
    name="placement",
    title="Where do the tasks land?",
    question="On which cores does a launch line put its tasks, what is wrong with that, and which line is better?",
    controls=(
        Text(
            name="line",
            label="Launch line or batch script",
            default="aprun -n 384 -N 12 vasp",
            rows=2,
            placeholder="aprun -n 24 ./a.out",
            help="An aprun or srun line, or the whole PBS or sbatch script around it.",
        ),
        Choice(
            name="machine",
            label="Machine",
            options=tuple((name, name.capitalize()) for name in Machine.names()),
            default="hopper",
        ),
        Number(
            name="threads",
            label="OpenMP threads of a task",
            low=0,
            high=1024,
            step=1,
            default=0,
            help="0: as the script says (OMP_NUM_THREADS), or else as many as the line gives each task cores.",
        ),
        Number(
            name="memory_per_task_gb",
            label="Memory of a task",
            unit="GB",
            low=0.0,
            high=4096.0,
            step=0.01,
            default=0.0,
            help="0: not known, all of it taken as local (or what the line asks for).",
        ),
        Slider(
            name="memory_bound_low",
            label="Memory-bound fraction, at least",
            low=0.0,
            high=1.0,
            step=0.05,
            default=0.0,
            advanced=True,
            help="Share of the spread run's time that waits for memory. Nothing is known of it from the line.",
        ),
        Slider(
            name="memory_bound_high",
            label="Memory-bound fraction, at most",
            low=0.0,
            high=1.0,
            step=0.05,
            default=1.0,
            advanced=True,
        ),
        Number(
            name="node",
            label="Node to draw",
            low=0,
            high=100_000,
            step=1,
            default=0,
            advanced=True,
            help="From 0, in the order of the job.",
        ),
        FileText(
            name="machine_file",
            label="Machine file of your own",
            default="",
            accept=".toml",
            advanced=True,
            help="TOML, as `hopper machine new` writes it; it takes the place of the machine above.",
        ),
        Number(
            name="core_cap_gb_s",
            label="Most that one core draws from memory",
            unit="GB/s",
            low=0.0,
            high=1000.0,
            step=0.1,
            default=0.0,
            advanced=True,
            help="0: as the machine file says.",
            assumed="No source prints it for Hopper: its file assumes 5 GB/s; 7.1 and more give the full limit of 2.",
        ),
        Number(
            name="measured_s",
            label="Measured run time of this line",
            unit="s",
            low=0.0,
            high=1e7,
            step=1.0,
            default=0.0,
            advanced=True,
            help="With the next one: which memory-bound fraction explains the two.",
        ),
        Number(
            name="measured_spread_s",
            label="Measured run time, spread evenly",
            unit="s",
            low=0.0,
            high=1e7,
            step=1.0,
            default=0.0,
            advanced=True,
        ),
    ),
    answer=_answer,
    examples=(
        Example(label="VASP as first tried", values={"line": "aprun -n 384 -N 12 vasp", "machine": "hopper"}),
        Example(label="VASP spread with -S 3", values={"line": "aprun -n 384 -N 12 -S 3 vasp", "machine": "hopper"}),
        Example(
            label="Hybrid, 6 threads a task",
            values={"line": "aprun -n 4 -S 1 -d 6 ./a.out", "machine": "hopper", "threads": 6},
        ),
        Example(label="A line that aprun refuses", values={"line": "aprun -n 24 -S 7 ./a.out", "machine": "hopper"}),
        Example(
            label="srun on Perlmutter",
            values={"line": "srun -N 2 -n 16 -c 32 --cpu-bind=cores ./a.out", "machine": "perlmutter"},
        ),
    ),
)
