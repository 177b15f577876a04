"""The story of the page on placement: where VASP's tasks land on a node, and what that does to its memory channels."""

from collections.abc import Sequence

from hopperbook.documented import printed
from hopperbook.site.stories.drawing import Axis, Drawing
from hopperbook.site.stories.story import Step, Story
from hopperbook.studies.node.placement import BETTER_LINE, NAIVE_LINE
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.launch_line import read_launch_line
from hopperlib.placement.models.bandwidth import slowdown, task_bandwidth_gb_s
from hopperlib.placement.placement import place_tasks
from hopperlib.placement.slowdown import placement_cost
from hopperlib.text import count

# Tasks that are moved to an idle NUMA node.
_MOVED = 1
_GROUP, _CORE = 104, 30


def counts_of(line: str) -> tuple[int, ...]:
    """Return the tasks of a launch line on each NUMA node of Hopper's first node.

    Examples
    --------
    >>> counts_of(NAIVE_LINE), counts_of(BETTER_LINE)
    ((6, 6, 0, 0), (3, 3, 3, 3))
    """
    machine = Machine.load("hopper")
    placed = place_tasks(read_launch_line(line, machine), machine)
    return tuple(len(tasks) for tasks in placed.tasks_by_numa_node(0))


def rates_of(kind: NodeKind, counts: Sequence[int]) -> list[float]:
    """Return the memory bandwidth of a task on each NUMA node; 0 without tasks. [GB/s]

    Examples
    --------
    >>> [round(rate, 2) for rate in rates_of(Machine.load("hopper").node(), (6, 3, 1, 0))]
    [2.08, 4.17, 5.0, 0.0]
    """
    return [task_bandwidth_gb_s(kind, tasks) if tasks else 0.0 for tasks in counts]


def _node(counts: Sequence[int], title: str, *, rates: bool = True) -> str:
    """Draw a node: its NUMA nodes with their cores, and below each how full its memory channels are."""
    kind = Machine.load("hopper").node()
    drawing, up, descriptions = Drawing(), Axis(0, 1, 318, 232), []
    first = 0
    for number, (tasks, rate) in enumerate(zip(counts, rates_of(kind, counts), strict=True)):
        left = 12 + number * _GROUP
        drawing.box(left, 34, _GROUP - 8, 150, "empty")
        drawing.words(left + 4, 24, f"NUMA node {number}", "strong" if tasks else "muted")
        for core in range(kind.cores_per_numa_node):
            x, y = left + 10 + core % 2 * 42, 44 + core // 2 * 46
            drawing.box(x, y, 34, 36, "job" if core < tasks else "empty")
            drawing.words(x + 17, y + 23, str(first + core), "on-color" if core < tasks else "muted", anchor="middle")
        first += kind.cores_per_numa_node
        full = tasks * rate / kind.numa_bandwidth_gb_s
        drawing.box(left, up.at(1), _GROUP - 8, 86, "empty")
        drawing.box(left, up.at(full), _GROUP - 8, up.at(0) - up.at(full), "others")
        if rates:
            drawing.words(left + 48, 338, f"{rate:.1f} GB/s each" if tasks else "idle", anchor="middle")
        held = f"{count(tasks, 'task')} with {rate:.1f} GB/s each" if tasks else "no task, and its channels are idle"
        descriptions.append(f"NUMA node {number} has {held}")
    drawing.words(12, 214, f"memory channels, {kind.numa_bandwidth_gb_s:g} GB/s each", "muted")
    return drawing.svg(title, f"One node of Hopper: {'; '.join(descriptions)}.")


def _ratio() -> str:
    """Draw the ratio of run times packed over spread, by memory-bound share."""
    ratio = packed_ratio()
    drawing, across, up = Drawing(), Axis(0, 1, 60, 410), Axis(1, 2, 288, 70)
    up.up_the_side(drawing, 60, [(1, "1.0"), (1.5, "1.5"), (2, "2.0")], "time packed over time spread")
    across.along_the_bottom(
        drawing, 288, (0, 0.25, 0.5, 0.75, 1), "share of the spread run that waits for memory", form=".2f"
    )
    drawing.path([(across.at(part / 20), up.at(slowdown(part / 20, ratio))) for part in range(21)], "curve")
    drawing.words(396, up.at(ratio) - 12, f"{ratio:.2f} times", "strong", anchor="end")
    return drawing.svg(
        "What packing costs",
        f"A line rises from 1 where nothing waits for memory to {ratio:.2f} where all of the run does.",
    )


def packed_ratio() -> float:
    """Return the ratio of the memory-bound time with the first line to that with the better one.

    Examples
    --------
    >>> round(packed_ratio(), 2)
    2.0
    """
    machine = Machine.load("hopper")
    return placement_cost(place_tasks(read_launch_line(NAIVE_LINE, machine), machine)).worst.ratio


def story() -> Story:
    """Return the story.

    Examples
    --------
    >>> len(story().steps)
    6
    """
    kind = Machine.load("hopper").node()
    packed, spread = counts_of(NAIVE_LINE), counts_of(BETTER_LINE)
    full, half = (rates_of(kind, counts)[0] for counts in (packed, spread))
    # One task goes from the first NUMA node to the first idle one.
    moved = (packed[0] - _MOVED, *packed[1:2], _MOVED, *packed[3:])
    fewer, alone = rates_of(kind, moved)[0], rates_of(kind, moved)[2]
    tasks = f"{printed('placement.vasp-tasks-per-node'):.0f}"
    steps = (
        Step(
            "An empty node",
            f"A node of Hopper has {kind.numa_nodes} NUMA nodes of {kind.cores_per_numa_node} cores. Each has memory channels that deliver {kind.numa_bandwidth_gb_s:g} GB/s, "
            f"measured by the maker. `{NAIVE_LINE}` puts {tasks} tasks on it.",
            _node((0, 0, 0, 0), "An empty node", rates=False),
            ("documented",),
        ),
        Step(
            "The first six",
            f"`aprun` fills core after core. Six tasks are on NUMA node 0. Together they need more than its channels deliver: each gets {full:.1f} GB/s, "
            f"where a task alone would draw {kind.core_bandwidth_cap_gb_s:g} (assumed).",
            _node((packed[0], 0, 0, 0), "Six tasks on the first NUMA node"),
            ("documented", "predicted", "assumed"),
        ),
        Step(
            f"All {tasks} tasks",
            "The other six follow on NUMA node 1. Half of the node is empty, and so are half of its memory channels, while twelve tasks wait for the other half.",
            _node(packed, "Twelve tasks packed"),
            ("documented", "predicted"),
        ),
        Step(
            "One task moved",
            f"Move one task to NUMA node 2. It now gets {alone:.1f} GB/s, and the five that it left get {fewer:.1f} instead of {full:.1f}. No task lost anything.",
            _node(moved, "One task moved"),
            ("predicted", "assumed"),
        ),
        Step(
            "Three on each",
            f"`-S 3` puts three tasks on each NUMA node. All channels are in use, and each task gets {half:.1f} GB/s: {half / full:.1f} times as much, on as many cores. The line has one more option.",
            _node(spread, "Twelve tasks spread"),
            ("documented", "predicted"),
        ),
        Step(
            "What it costs",
            f"How much faster is the run? That depends on the share of it that waits for memory. If none does, nothing changes; if all of it does, the packed run takes {packed_ratio():.2f} times as long. "
            "The paper calls the effect on VASP dramatic; its two run times are lost.",
            _ratio(),
            ("predicted", "assumed"),
        ),
    )
    return Story("Twelve tasks on one node", steps)
