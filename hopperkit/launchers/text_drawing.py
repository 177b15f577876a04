"""A placement in words and as text: a sentence, and a box a core with the number of its task inside."""

import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence

from hopperkit.launchers.placing import NodePlacement, Placement
from hopperkit.launchers.ranges import as_ranges
from hopperlib.machine import NodeKind
from hopperlib.text import count, listed

# Across, down; left, joint and right of the upper and of the lower edge; idle.
_DRAWN = ("─", "│", "┌┬┐", "└┴┘", "·")
_LINE_WIDTH = 100
# A picture of more lines leaves no room for the findings on a screen.
_MOST_LINES = 16
# Longest list of tasks in such a line. [characters]
_LONGEST_LIST = 25


def _boxes(placed: NodePlacement) -> dict[int, str]:
    """Return the text in the box of each CPU in use."""
    tasks: dict[int, list[int]] = defaultdict(list)
    for number, binding in placed.seats():
        for cpu in binding.cpus:
            tasks[cpu].append(number)
    words = {}
    for cpu, numbers in tasks.items():
        short = as_ranges(numbers)
        words[cpu] = short if len(short) <= 7 else f"{len(numbers)}x"
    return words


def numa_devices(kind: NodeKind, placed: NodePlacement | None, numa_node: int) -> list[str]:
    """Return the text next to the cores of a NUMA node: GPUs with their tasks, caches, reserved cores.

    Parameters
    ----------
    kind : NodeKind
        Kind of node.
    placed : NodePlacement or None
        Tasks of the node; None for none.
    numa_node : int
        Number of the NUMA node.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> numa_devices(Machine.load("frontier").node(), None, 0)
    ['GPU 4', 'GPU 5', 'L3 caches: cores 0-7 | 8-15', 'kept for the system (x): cores 0, 8']
    """
    own = kind.cores_of(numa_node)
    near = [gpu for gpu in range(kind.gpus) if min(kind.cores_near_gpu(gpu)) in own]
    devices = [_gpu_text(kind, gpu, placed) for gpu in near]
    if kind.cores_per_l3 and kind.cores_per_l3 < len(own):
        caches = (range(first, first + kind.cores_per_l3) for first in range(own.start, own.stop, kind.cores_per_l3))
        devices.append("L3 caches: cores " + " | ".join(as_ranges(cores) for cores in caches))
    kept = [core for core in _kept_cores(kind, placed) if core in own]
    return [*devices, f"kept for the system (x): cores {', '.join(map(str, kept))}"] if kept else devices


def _gpu_text(kind: NodeKind, gpu: int, placed: NodePlacement | None) -> str:
    """Return a GPU with the tasks that are known to see it."""
    name = f"GPU {kind.gpu_numbering[gpu] if kind.gpu_numbering else gpu}"
    seats = list(placed.seats()) if placed else []
    if not seats or any(binding.gpus is None for _, binding in seats):
        return name
    users = as_ranges(number for number, binding in seats if gpu in (binding.gpus or ()))
    return f"{name}: task {users}" if users else f"{name}: no task"


def _kept_cores(kind: NodeKind, placed: NodePlacement | None) -> tuple[int, ...]:
    """Return the reserved cores, except those used by tasks."""
    used = {core for binding in (placed.pattern if placed else ()) for core in binding.cores}
    return tuple(core for core in kind.reserved_cores if core not in used)


def node_picture(kind: NodeKind, placed: NodePlacement) -> str:
    """Return a node as text, a row of boxes for each NUMA node.

    Parameters
    ----------
    kind : NodeKind
    placed : NodePlacement

    Returns
    -------
    str
        Lines, the last one ended. If the boxes would fill a screen, a NUMA node that looks like an earlier one is
        described in one line. A box lists the tasks that may run there; ``12x`` means twelve that do not fit, a dot
        none.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.reader import read_launch
    >>> from hopperkit.launchers.placing import place_tasks
    >>> hopper = Machine.load("hopper")
    >>> placement = place_tasks(read_launch("aprun -n 4 -S 1 a.out", hopper), hopper)
    >>> print(node_picture(hopper.node(), placement.nodes[0]), end="")
    socket 0
      NUMA node 0  cores 0-5
        ┌───┬───┬───┬───┬───┬───┐
        │ 0 │ · │ · │ · │ · │ · │
        └───┴───┴───┴───┴───┴───┘
      NUMA node 1  cores 6-11
        ┌───┬───┬───┬───┬───┬───┐
        │ 1 │ · │ · │ · │ · │ · │
        └───┴───┴───┴───┴───┴───┘
    socket 1
      NUMA node 2  cores 12-17
        ┌───┬───┬───┬───┬───┬───┐
        │ 2 │ · │ · │ · │ · │ · │
        └───┴───┴───┴───┴───┴───┘
      NUMA node 3  cores 18-23
        ┌───┬───┬───┬───┬───┬───┐
        │ 3 │ · │ · │ · │ · │ · │
        └───┴───┴───┴───┴───┴───┘
    """
    words = _boxes(placed)
    words |= {
        kind.cpu(core, thread): "x" for core in _kept_cores(kind, placed) for thread in range(kind.threads_per_core)
    }
    width = max((len(word) for word in words.values()), default=1)
    per_line = max(1, min(kind.cores_per_numa_node, (_LINE_WIDTH - 5) // (width + 3)))
    # An even split over the lines looks better than a full line and a remainder.
    per_line = -(-kind.cores_per_numa_node // -(-kind.cores_per_numa_node // per_line))
    shapes = [_shape(kind, words, numa_node) for numa_node in range(kind.numa_nodes)]
    # Boxes equal to those of an earlier NUMA node are described in words if all would not fit a screen.
    box = (kind.threads_per_core + 2) * -(-kind.cores_per_numa_node // per_line) + 1
    folds = kind.numa_nodes * box > _MOST_LINES
    lines = []
    for numa_node in range(kind.numa_nodes):
        socket, first = divmod(numa_node, kind.numa_nodes_per_socket)
        if first == 0:
            lines.append(_socket_heading(socket, kind.sockets_per_numa_node))
        cores = list(kind.cores_of(numa_node))
        lines.append(f"  NUMA node {numa_node}  cores {as_ranges(cores)}")
        like = shapes.index(shapes[numa_node])
        devices = numa_devices(kind, placed, numa_node)
        if folds and like < numa_node:
            there = sorted({number for number, seat in placed.seats() if set(seat.cores) & set(cores)})
            gpus = "".join(f"   {each}" for each in devices if each.startswith("GPU"))
            lines += textwrap.wrap(
                f"{lines.pop()}: as NUMA node {like}, {_tasks_in_words(there)}{gpus}",
                _LINE_WIDTH,
                subsequent_indent="    ",
                drop_whitespace=False,
            )
            continue
        if line := "   ".join(devices):
            lines += textwrap.wrap(line, _LINE_WIDTH, initial_indent="    ", subsequent_indent="    ")
        for start in range(0, len(cores), per_line):
            lines += _row_of_boxes(kind, cores[start : start + per_line], words, width)
    return "\n".join(lines) + "\n"


def _socket_heading(socket: int, shared: int) -> str:
    """Return the heading of a socket, or of several that share a NUMA node."""
    return f"socket {socket}" if shared == 1 else f"sockets {socket * shared}-{socket * shared + shared - 1}"


def _row_of_boxes(kind: NodeKind, cores: Sequence[int], words: Mapping[int, str], width: int) -> list[str]:
    """Return the lines of a row of boxes, one box per core and one line per hardware thread."""
    across, down, top, bottom, dot = _DRAWN
    inside = [
        [f" {words.get(kind.cpu(core, thread), dot):>{width}} " for core in cores]
        for thread in range(kind.threads_per_core)
    ]
    boxes = [across * (width + 2)] * len(cores)
    return [
        "    " + top[0] + top[1].join(boxes) + top[2],
        *("    " + down + down.join(thread) + down for thread in inside),
        "    " + bottom[0] + bottom[1].join(boxes) + bottom[2],
    ]


def _tasks_in_words(numbers: list[int]) -> str:
    """Return task numbers; for a long list, the first and the last."""
    listed_numbers = as_ranges(numbers)
    if not numbers or len(listed_numbers) <= _LONGEST_LIST:
        return f"task{'s' * (len(numbers) > 1)} {listed_numbers}" if numbers else "no task"
    return f"{len(numbers)} tasks from {numbers[0]} to {numbers[-1]}"


def _shape(kind: NodeKind, words: dict[int, str], numa_node: int) -> tuple[int | str, ...]:
    """Return the pattern of a NUMA node's boxes, with tasks numbered in order of appearance."""
    seen: dict[str, int] = {}
    shape: list[int | str] = []
    for core in kind.cores_of(numa_node):
        for thread in range(kind.threads_per_core):
            word = words.get(kind.cpu(core, thread), "")
            shape.append(word if word in ("", "x") else seen.setdefault(word, len(seen)))
    return tuple(shape)


def _per_numa_node(placed: NodePlacement, kind: NodeKind) -> str:
    """Return the distribution of a node's tasks over its NUMA nodes, in words."""
    if kind.numa_nodes == 1:
        return ""
    free = sum(not binding.bound for binding in placed.pattern)
    if free == len(placed.pattern):
        return ", free to move between cores"
    counts = [
        sum(numa_node in binding.numa_nodes for binding in placed.pattern) for numa_node in range(kind.numa_nodes)
    ]
    if sum(counts) > len(placed.pattern):
        if len(placed.pattern) == 1:
            return f", over {sum(counts)} of {kind.numa_nodes} NUMA nodes"
        across = sum(len(binding.numa_nodes) > 1 for binding in placed.pattern)
        return f", {across} of them over more than one NUMA node"
    if len(set(counts)) == 1:
        return f", {counts[0]} on each of {kind.numa_nodes} NUMA nodes"
    if sum(map(bool, counts)) == 1:
        return f", all on NUMA node {next(at for at, count in enumerate(counts) if count)} of {kind.numa_nodes}"
    return f", {listed(counts)} on the {kind.numa_nodes} NUMA nodes"


def headline(placement: Placement) -> str:
    """Return in a sentence how many tasks run where.

    Parameters
    ----------
    placement : Placement
        Placement to describe.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.reader import read_launch
    >>> from hopperkit.launchers.placing import place_tasks
    >>> hopper = Machine.load("hopper")
    >>> headline(place_tasks(read_launch("aprun -n 384 -N 12 vasp", hopper), hopper))
    '384 tasks on 32 nodes: 12 per node, 6, 6, 0 and 0 on the 4 NUMA nodes.'
    """
    parts = []
    for number, component in enumerate(placement.launch.components):
        nodes = placement.nodes_of(number)
        first, last = nodes[0], nodes[-1]
        text = f"{count(component.tasks, 'task')} on {count(len(nodes), 'node')}"
        if len(nodes) > 1:
            text += f": {len(first.pattern)} per node"
        text += _per_numa_node(first, placement.node_kind)
        if len(last.pattern) != len(first.pattern):
            text += f"; {len(last.pattern)} on the last node"
        if len(placement.launch.components) > 1:
            text = f"{component.command[0] if component.command else f'program {number + 1}'}: {text}"
        parts.append(text)
    return "; ".join(parts) + "."
