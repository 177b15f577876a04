"""Drawings of nodes as SVG: every core labelled, every task by its number.

Color is never the only distinction. A drawing is 360 units wide, so that its text is legible on a phone. Its colors are
custom properties with fallback values: a page sets ``--hopper-paper``, ``--hopper-ink`` and the rest, or uses those of
its theme. `_sheet` draws it.
"""

from functools import partial
from typing import Any

from hopperkit.launchers.placing import NodePlacement
from hopperkit.launchers.ranges import as_ranges
from hopperkit.launchers.text_drawing import numa_devices
from hopperkit.questions.result import Drawing
from hopperlib.machine import NodeKind


def _heading(placed: NodePlacement | None, numa_node: int) -> str:
    """Return a NUMA node's heading: its number and its tasks."""
    name = f"NUMA node {numa_node}"
    if placed is None:
        return name
    pairs = zip(placed.task_numbers, placed.pattern, strict=True)
    tasks = [number for number, binding in pairs if numa_node in binding.numa_nodes]
    numbers = as_ranges(tasks, separator=", ")
    if not tasks or len(numbers) > 34:
        return f"{name}: {f'{len(tasks)} tasks' if tasks else 'idle'}"
    free = "" if any(binding.bound for binding in placed.pattern) else "free to move, "
    return f"{name}: {free}{'task' if len(tasks) == 1 else 'tasks'} {numbers}"


def node_drawing(kind: NodeKind, placed: NodePlacement | None = None, *, title: str = "", text: str = "") -> Drawing:
    """Return the drawing of one node with its sockets, NUMA nodes, cores and tasks.

    Parameters
    ----------
    kind : NodeKind
        The node's geometry.
    placed : NodePlacement or None
        The tasks on it; None draws the bare node.
    title : str
        Title above it; generated if empty.
    text : str
        The same drawing, in characters.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> drawing = node_drawing(Machine.load("toy").node())
    >>> drawing.svg.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img"')
    True
    """
    parts = [(_heading(placed, node), numa_devices(kind, placed, node)) for node in range(kind.numa_nodes)]
    if not title:
        busy = len({kind.core_of(cpu) for binding in (placed.pattern if placed else ()) for cpu in binding.cpus})
        in_use = f"Node {placed.node}: {busy} of {kind.cores} cores in use" if placed is not None else ""
        title = in_use or f"A node: {kind.cores} cores"
    alt = ". ".join(heading + (f" ({'; '.join(devices)})" if devices else "") for heading, devices in parts) + "."
    drawn = partial(_svg, kind, placed, words=(title, alt), parts=parts)
    return Drawing(title=title, alt=alt, svg=drawn, text=text)


def _svg(*drawn: Any, **parts: Any) -> str:
    """Return the drawing; the code for it is imported on demand."""
    from hopperkit.questions.node._sheet import node_svg

    return node_svg(*drawn, **parts)
