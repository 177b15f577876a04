"""Drawings of nodes as SVG: every core labelled, every task by its number.

Nothing is told by color alone. A drawing is laid out 360 units wide, so that
its text is legible on a phone. Its colors are custom properties with values to
fall back on: a page sets ``--hopper-paper``, ``--hopper-ink`` and the rest (or
lets the theme's own apply), and `standalone_svg` puts the values in for
programs that know no custom properties.
"""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from hopperlib.machine import NodeKind
from hopperlib.node.launch.ranges import as_ranges
from hopperlib.node.placement import NodePlacement
from hopperlib.node.review.text_drawing import numa_devices
from hopperlib.questions.result import Drawing

__all__ = ["node_drawing", "standalone_svg"]

_PAPER = "var(--hopper-paper, var(--pst-color-background, #ffffff))"
_PANEL = "var(--hopper-panel, var(--pst-color-surface, #f3f4f6))"
_INK = "var(--hopper-ink, var(--pst-color-text-base, #1c2024))"
_MUTED = "var(--hopper-muted, var(--pst-color-text-muted, #4d5660))"
# Light tints that dark text stands on (8:1 or more), so that they serve on a light and on a dark page.
_TINTS = ("#8fc7ee", "#f2b76a", "#74ccae", "#e6a9cb", "#e9df7a", "#c3b8f5")
_ON_TINT = "#14181e"
# Under a task's number, a line that tells neighbors apart without color: dash patterns, in units.
_MARKS = ("", "3 3", "9 3", "1 4")

_WIDTH = 360.0
_EDGE = 6.0
# Where the bar beside the words about memory starts.
_BAR = 200.0
_PER_LINE = 8


class _Cell(NamedTuple):
    """One hardware thread of a core: where it is drawn, and who may run there."""

    core: int
    cpu: int
    x: float
    y: float
    width: float
    height: float


class _Sheet:
    """The growing drawing: elements gathered by the look they share."""

    def __init__(self) -> None:
        self.layers: dict[str, list[str]] = defaultdict(list)

    def rect(self, layer: str, x: float, y: float, width: float, height: float, *, tip: str = "") -> None:
        """Add a rectangle; `tip` shows when the pointer rests on it."""
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="2"'
        self.layers[layer].append(f"<rect {place}><title>{escape(tip)}</title></rect>" if tip else f"<rect {place}/>")

    def text(self, layer: str, x: float, y: float, text: str, *, size: float | None = None) -> None:
        """Add a line of text."""
        font = f' font-size="{size:g}"' if size else ""
        self.layers[layer].append(f'<text x="{x:g}" y="{y:g}"{font}>{escape(text)}</text>')


def _cells_per_line(kind: NodeKind) -> int:
    """Return how many cores of a NUMA node stand side by side: all if few, else an even split."""
    lines = -(-kind.cores_per_numa_node // _PER_LINE)
    return -(-kind.cores_per_numa_node // lines)


def _numa_cells(kind: NodeKind, numa_node: int, top: float) -> list[_Cell]:
    """Return the cells of one NUMA node, its first line at `top`."""
    per_line = _cells_per_line(kind)
    pitch = min((_WIDTH - 4 * _EDGE) / per_line, 60.0)
    height = _line_height(kind)
    cells = []
    for position, core in enumerate(kind.cores_of(numa_node)):
        x = 2 * _EDGE + pitch * (position % per_line)
        y = top + (height + 3) * (position // per_line)
        for thread in range(kind.threads_per_core):
            offset = 13 + thread * 20
            cells.append(_Cell(core, kind.cpu(core, thread), round(x, 2), y + offset, round(pitch - 3, 2), 19.0))
    return cells


def _line_height(kind: NodeKind) -> float:
    """Return the height of one line of cores: label, then a cell for each hardware thread."""
    return 13.0 + 20.0 * kind.threads_per_core


def _seats_by_cpu(placed: NodePlacement | None) -> dict[int, list[int]]:
    """Return which seats (positions in the node's list of tasks) may run on each CPU."""
    seats: dict[int, list[int]] = defaultdict(list)
    for seat, binding in enumerate(placed.pattern if placed else ()):
        for cpu in binding.cpus:
            seats[cpu].append(seat)
    return seats


def _thread_of(placed: NodePlacement, seat: int, core: int) -> int | None:
    """Return which thread of a task with several is tied to this core alone; None if none is."""
    threads = placed.pattern[seat].thread_cores
    alone = [number for number, cores in enumerate(threads) if cores == (core,)]
    return alone[0] if len(threads) > 1 and len(alone) == 1 else None


def _who(tasks: Sequence[int]) -> str:
    """Return the tasks of a cell in a few characters: 7, or 0-11, or 12 tasks."""
    short = as_ranges(tasks)
    return short if len(short) <= 7 else f"{len(tasks)} tasks"


def _draw_cell(
    sheet: _Sheet, cell: _Cell, placed: NodePlacement | None, seats: Sequence[int], one_cpu: bool, kept: bool
) -> None:
    """Draw one hardware thread: idle, kept for the system, with one task, or with several."""
    place = f"core {cell.core}" if one_cpu else f"core {cell.core}, CPU {cell.cpu}"
    if placed is None or not seats:
        state = "kept for the system" if kept else "idle"
        sheet.rect("idle", cell.x, cell.y, cell.width, cell.height, tip=f"{place}: {state}")
        if placed is not None:
            sheet.text("idle-word", cell.x + cell.width / 2, cell.y + 13, "x" if kept else "idle")
        return
    tasks = [placed.task_numbers[seat] for seat in seats]
    layer = f"tint{seats[0] % len(_TINTS)}" if len(seats) == 1 else "shared"
    thread = _thread_of(placed, seats[0], cell.core) if len(seats) == 1 else None
    said = "task " + str(tasks[0]) if len(tasks) == 1 else "tasks " + as_ranges(tasks, separator=", ")
    tip = f"{place}: {said}" + (f", thread {thread}" if thread is not None else "")
    sheet.rect(layer, cell.x, cell.y, cell.width, cell.height, tip=tip)
    text = _who(tasks)
    size = min(14.0, (cell.width - 3) / (0.6 * len(text)))
    sheet.text(
        "number" if len(seats) == 1 else "several", cell.x + cell.width / 2, cell.y + 13.5, text, size=round(size, 1)
    )
    if thread is not None and cell.cpu == cell.core:
        sheet.text("thread", cell.x + cell.width - 1, cell.y - 3, f"t{thread}")
    dash = _MARKS[seats[0] // len(_TINTS) % len(_MARKS)]
    if len(seats) == 1 and dash:
        line = f'<path d="M{cell.x + 3:g} {cell.y + 16.7:g}h{cell.width - 6:g}" stroke-dasharray="{dash}"/>'
        sheet.layers["mark"].append(line)


# Looks of the layers, in the order in which they are painted.
# Characters of a line of devices that fit the width.
_DEVICE_CHARACTERS = 58
_LAYERS: tuple[tuple[str, str], ...] = (
    ("socket", f'fill="{_PAPER}" stroke="{_MUTED}" stroke-width="1.5"'),
    ("numa", f'fill="{_PANEL}" stroke="{_MUTED}" stroke-width="0.75"'),
    ("idle", f'fill="{_PAPER}" stroke="{_MUTED}" stroke-width="1" stroke-dasharray="2 2"'),
    *((f"tint{number}", f'fill="{tint}" stroke="{_INK}" stroke-width="0.75"') for number, tint in enumerate(_TINTS)),
    ("shared", f'fill="#ffffff" stroke="{_ON_TINT}" stroke-width="2"'),
    ("need", f'fill="{_MUTED}"'),
    ("room", f'fill="none" stroke="{_MUTED}" stroke-width="0.75"'),
    ("mark", f'fill="none" stroke="{_ON_TINT}" stroke-width="1.6"'),
    ("label", f'fill="{_INK}" font-size="12"'),
    ("core", f'fill="{_MUTED}" font-size="10"'),
    ("thread", f'fill="{_MUTED}" font-size="10" text-anchor="end"'),
    ("idle-word", f'fill="{_MUTED}" font-size="10" text-anchor="middle"'),
    ("number", f'fill="{_ON_TINT}" font-weight="bold" text-anchor="middle"'),
    ("several", f'fill="{_ON_TINT}" text-anchor="middle"'),
)


def _draw_memory(sheet: _Sheet, kind: NodeKind, need_gb: float, top: float) -> None:
    """Draw how much of a NUMA node's memory its own tasks want."""
    room_gb = kind.usable_memory_gb / kind.numa_nodes
    words = f"memory: {need_gb:.1f} of {room_gb:.1f} GB" + (", too much" if need_gb > room_gb + 1e-9 else "")
    sheet.text("core", 2 * _EDGE, top + 9, words)
    width = _WIDTH - 2 * _EDGE - _BAR
    sheet.rect("need", _BAR, top + 2, round(min(need_gb / room_gb, 1.0) * width, 1), 7)
    sheet.rect("room", _BAR, top + 2, width, 7)


def _numa_words(kind: NodeKind, placed: NodePlacement | None, numa_node: int) -> str:
    """Return a NUMA node's heading: its number and its tasks."""
    if placed is None:
        return f"NUMA node {numa_node}"
    pairs = zip(placed.task_numbers, placed.pattern, strict=True)
    tasks = [number for number, binding in pairs if numa_node in binding.numa_nodes]
    if not tasks:
        return f"NUMA node {numa_node}: idle"
    numbers = as_ranges(tasks, separator=", ")
    if len(numbers) > 34:
        return f"NUMA node {numa_node}: {len(tasks)} tasks"
    free = "" if any(binding.bound for binding in placed.pattern) else "free to move, "
    return f"NUMA node {numa_node}: {free}{'task' if len(tasks) == 1 else 'tasks'} {numbers}"


# One drawing from top to bottom: each part stands where the last one ends.
def node_drawing(
    kind: NodeKind,
    placed: NodePlacement | None = None,
    *,
    title: str = "",
    memory_need_gb: Sequence[float] | None = None,
) -> Drawing:
    """Return the drawing of one node with its sockets, NUMA nodes, cores and tasks.

    Parameters
    ----------
    kind : NodeKind
        The node's geometry.
    placed : NodePlacement or None
        The tasks on it; None draws the bare node.
    title : str
        What stands above it; made from the rest if empty.
    memory_need_gb : sequence of float or None
        Memory that the tasks of each NUMA node want. [GB]

    Raises
    ------
    ValueError
        If `memory_need_gb` has not one value a NUMA node.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> drawing = node_drawing(Machine.load("toy").node())
    >>> drawing.svg.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img"')
    True
    """
    if memory_need_gb is not None and len(memory_need_gb) != kind.numa_nodes:
        raise ValueError(
            f"memory_need_gb={list(memory_need_gb)} has {len(memory_need_gb)} values "
            f"and must have {kind.numa_nodes}, one a NUMA node"
        )
    sheet = _Sheet()
    seats = _seats_by_cpu(placed)
    lines = -(-kind.cores_per_numa_node // _cells_per_line(kind))
    memory = 13.0 if memory_need_gb is not None else 0.0
    devices = [
        textwrap.wrap("   ".join(numa_devices(kind, placed, numa_node)), _DEVICE_CHARACTERS)
        for numa_node in range(kind.numa_nodes)
    ]
    beside = 13.0 * max(map(len, devices))
    box = 19.0 + lines * (_line_height(kind) + 3) + memory + beside + 2
    if not title:
        busy = len({kind.core_of(cpu) for cpu in seats})
        title = (
            f"A node: {kind.cores} cores"
            if placed is None
            else f"Node {placed.node}: {busy} of {kind.cores} cores in use"
        )
    y = 2.0
    headings = []
    for socket in range(kind.sockets):
        sheet.rect("socket", 1.5, y, _WIDTH - 3, 20 + kind.numa_nodes_per_socket * (box + 5))
        sheet.text("label", _EDGE, y + 14, f"Socket {socket}")
        y += 20
        for numa_node in range(socket * kind.numa_nodes_per_socket, (socket + 1) * kind.numa_nodes_per_socket):
            sheet.rect("numa", _EDGE, y, _WIDTH - 2 * _EDGE, box)
            headings.append(_numa_words(kind, placed, numa_node))
            sheet.text("label", 2 * _EDGE, y + 14, headings[-1])
            if memory_need_gb is not None:
                _draw_memory(sheet, kind, memory_need_gb[numa_node], y + 19)
            for row, words in enumerate(devices[numa_node]):
                sheet.text("core", 2 * _EDGE, y + 28 + memory + 13 * row, words)
            for cell in _numa_cells(kind, numa_node, y + 19 + memory + beside):
                if cell.cpu == kind.cpu(cell.core):
                    sheet.text("core", cell.x + 1, cell.y - 3, f"c{cell.core}")
                _draw_cell(
                    sheet,
                    cell,
                    placed,
                    seats.get(cell.cpu, ()),
                    kind.threads_per_core == 1,
                    cell.core in kind.reserved_cores,
                )
            y += box + 5
        y += 6
    legend = ["c: core" + ("; bold: task; t: thread of the task" if placed is not None else "")]
    if kind.threads_per_core > 1:
        legend.append(f"{kind.threads_per_core} boxes a core: its hardware threads")
    for line in legend:
        sheet.text("core", _EDGE, y + 8, line)
        y += 13
    alt = ". ".join(
        heading + (f" ({'; '.join(numa_devices(kind, placed, numa_node))})" if devices[numa_node] else "")
        for numa_node, heading in enumerate(headings)
    )
    alt += "."
    return Drawing(title=title, alt=alt, svg=_svg(sheet, y + 2, title, alt))


def _svg(sheet: _Sheet, height: float, title: str, alt: str) -> str:
    """Return the whole SVG: title, description, then the layers."""
    groups = "".join(
        f'<g class="hopper-node-{name}" {look}>{"".join(sheet.layers[name])}</g>'
        for name, look in _LAYERS
        if sheet.layers[name]
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="hopper-node" viewBox="0 0 {_WIDTH:g} {height:g}" '
        f'width="100%" aria-label="{escape(title)}" font-family="system-ui, sans-serif">'
        f"<title>{escape(title)}</title><desc>{escape(alt)}</desc>{groups}</svg>"
    )


def standalone_svg(drawing: Drawing) -> str:
    """Return a drawing's SVG as a file of its own: fixed colors on white.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> "var(" in standalone_svg(node_drawing(Machine.load("toy").node()))
    False
    """
    svg = drawing.svg
    # From the inside out: each round replaces the custom properties that hold no other.
    for _ in range(2):
        svg = re.sub(r"var\(--[\w-]+, ([^()]+)\)", r"\1", svg)
    opened, rest = svg.split(">", 1)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{opened}><rect width="100%" height="100%" fill="#ffffff"/>{rest}\n'
