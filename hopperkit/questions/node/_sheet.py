"""The SVG of a node, made only when it is displayed, which a terminal never does."""

import textwrap
from collections import defaultdict
from collections.abc import Sequence
from html import escape
from itertools import groupby

from hopperkit.launchers.placing import NodePlacement
from hopperkit.launchers.ranges import as_ranges
from hopperlib.machine import NodeKind

# Light tints with a contrast of 8:1 or more to dark text, for use on light and dark pages.
_TINTS = ("#8fc7ee", "#f2b76a", "#74ccae", "#e6a9cb", "#e9df7a", "#c3b8f5")
_ON_TINT = "#14181e"
# Underlines of task numbers that separate neighbors without color: dash patterns, in units.
_MARKS = ("", "3 3", "9 3", "1 4")

# The colors of the page, each with the theme's variable and a fixed fallback.
_PAPER = "var(--hopper-paper, var(--pst-color-background, #ffffff))"
_PANEL = "var(--hopper-panel, var(--pst-color-surface, #f3f4f6))"
_INK = "var(--hopper-ink, var(--pst-color-text-base, #1c2024))"
_MUTED = "var(--hopper-muted, var(--pst-color-text-muted, #4d5660))"
# The looks of the layers, in the order in which they are painted.
_LAYERS = {
    "socket": f'fill="{_PAPER}" stroke="{_MUTED}" stroke-width="1.5"',
    "numa": f'fill="{_PANEL}" stroke="{_MUTED}" stroke-width="0.75"',
    "idle": f'fill="{_PAPER}" stroke="{_MUTED}" stroke-width="1" stroke-dasharray="2 2"',
    **{f"tint{at}": f'fill="{tint}" stroke="{_INK}" stroke-width="0.75"' for at, tint in enumerate(_TINTS)},
    "shared": f'fill="#ffffff" stroke="{_ON_TINT}" stroke-width="2"',
    "outline": f'fill="none" stroke="{_INK}" stroke-width="0.9"',
    "mark": f'fill="none" stroke="{_ON_TINT}" stroke-width="1.6"',
    "label": f'fill="{_INK}" font-size="12"',
    # At a width of 240 pixels, beside another drawing, these are nine pixels high.
    "core": f'fill="{_MUTED}" font-size="13.5"',
    "thread": f'fill="{_MUTED}" font-size="13.5" text-anchor="end"',
    "idle-word": f'fill="{_MUTED}" font-size="13.5" text-anchor="middle"',
    "number": f'fill="{_ON_TINT}" font-weight="bold" text-anchor="middle"',
    "several": f'fill="{_ON_TINT}" text-anchor="middle"',
}

_WIDTH, _EDGE = 360.0, 6.0
_PER_LINE = 8
# Characters of a line of devices that fit the width.
_DEVICE_CHARACTERS, _DEVICE_LETTER = 46, 12

# A node with more cores than this per NUMA node is drawn in bands: one line holds up to this many cores, hardware
# threads are thin, common properties of neighbors are labeled once, and no letter is smaller than this: at a width of
# 290 pixels it is nine pixels high. [units]
_MANY, _PER_BAND, _LETTER = 12, 18, 11.5
_THIN, _THICK = 8.0, 14.0
_BAND_CHARACTERS = 50


class _Sheet:
    """The growing drawing of a node: elements gathered by the look they share."""

    def __init__(self, kind: NodeKind, placed: NodePlacement | None) -> None:
        self.kind, self.placed = kind, placed
        self.layers: dict[str, list[str]] = defaultdict(list)
        # All cores of a NUMA node side by side if they are few, else an even split.
        self.lines = -(-kind.cores_per_numa_node // _PER_LINE)
        self.per_line = -(-kind.cores_per_numa_node // self.lines)
        # A line of cores: the label, then a cell for each hardware thread.
        self.line_height = 13.0 + 20.0 * kind.threads_per_core
        # Which seats (positions in the node's list of tasks) may run on each CPU.
        self.seats: dict[int, list[int]] = defaultdict(list)
        for seat, binding in enumerate(placed.pattern if placed else ()):
            for cpu in binding.cpus:
                self.seats[cpu].append(seat)
        self.banded = kind.cores_per_numa_node > _MANY
        # A hardware thread that differs from the others of its core needs room for a number.
        alike = all(
            len({tuple(self.seats.get(cpu, ())) for cpu in self._cpus(core)}) == 1 for core in range(kind.cores)
        )
        self.thickness = _THIN if alike and kind.threads_per_core > 1 else _THICK
        if self.banded:
            self.lines = -(-kind.cores_per_numa_node // _PER_BAND)
            self.per_line = -(-kind.cores_per_numa_node // self.lines)
            self.line_height = self.thickness * kind.threads_per_core

    def _cpus(self, core: int) -> list[int]:
        """The hardware threads of a core."""
        return [self.kind.cpu(core, thread) for thread in range(self.kind.threads_per_core)]

    def rect(
        self, layer: str, x: float, y: float, width: float, height: float, *, tip: str = "", bare: bool = False
    ) -> None:
        """Add a rectangle, `bare` without a line around it; `tip` shows when the pointer rests on it."""
        look = 'stroke="none"' if bare else 'rx="2"'
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" {look}'
        self.layers[layer].append(f"<rect {place}><title>{escape(tip)}</title></rect>" if tip else f"<rect {place}/>")

    def text(self, layer: str, x: float, y: float, text: str, *, size: float | None = None) -> None:
        """Add a line of text."""
        font = f' font-size="{size:g}"' if size else ""
        self.layers[layer].append(f'<text x="{x:g}" y="{y:g}"{font}>{escape(text)}</text>')

    def draw_cores(self, numa_node: int, top: float) -> None:
        """Draw the cores of a NUMA node, the first line at `top`."""
        pitch = min((_WIDTH - 4 * _EDGE) / self.per_line, 60.0)
        for position, core in enumerate(self.kind.cores_of(numa_node)):
            x = round(2 * _EDGE + pitch * (position % self.per_line), 2)
            y = top + (self.line_height + 3) * (position // self.per_line) + 13
            self.text("core", x + 1, y - 3, f"c{core}")
            for thread in range(self.kind.threads_per_core):
                self.draw_cell(core, self.kind.cpu(core, thread), x, y + thread * 20, round(pitch - 3, 2))

    def draw_bands(self, numa_node: int, top: float) -> None:
        """Draw the cores of a NUMA node as bands, the first line at `top`."""
        pitch = (_WIDTH - 4 * _EDGE) / self.per_line
        cores = list(self.kind.cores_of(numa_node))
        for line in range(self.lines):
            y = top + (self.line_height + 3) * line
            shown = cores[line * self.per_line : (line + 1) * self.per_line]
            for at, core in enumerate(shown):
                for thread, cpu in enumerate(self._cpus(core)):
                    x = 2 * _EDGE + pitch * at
                    self._band_cell(core, cpu, x, y + thread * self.thickness, pitch)
            threads = range(self.kind.threads_per_core) if self.thickness == _THICK else (0,)
            for thread in threads:
                self._band_words(shown, thread, pitch, y + thread * self.thickness)

    def _band_cell(self, core: int, cpu: int, x: float, y: float, width: float) -> None:
        """Draw one hardware thread as part of a band."""
        place = f"core {core}" if self.kind.threads_per_core == 1 else f"core {core}, CPU {cpu}"
        seats, placed = self.seats.get(cpu, []), self.placed
        kept = core in self.kind.reserved_cores
        layer, seat_text = "idle", "kept for the system" if kept else "idle"
        if placed is not None and seats:
            tasks = [placed.task_numbers[seat] for seat in seats]
            layer = "shared" if len(seats) > 1 else f"tint{seats[0] % len(_TINTS)}"
            seat_text = f"tasks {as_ranges(tasks, separator=', ')}" if len(seats) > 1 else f"task {tasks[0]}"
        self.rect(layer, round(x, 2), y, round(width, 2), self.thickness, tip=f"{place}: {seat_text}", bare=True)

    def _band_words(self, cores: Sequence[int], thread: int, pitch: float, y: float) -> None:
        """Write what neighboring cores have in common over the middle of them, where it has room."""
        if self.placed is None:
            return

        def held(core: int) -> tuple[int, ...] | str:
            seats = self.seats.get(self.kind.cpu(core, thread), [])
            return tuple(seats) or ("x" if core in self.kind.reserved_cores else "idle")

        height = self.thickness if self.thickness == _THICK else self.line_height
        at = 0
        for content, group in groupby(cores, held):
            size = len(list(group))
            left, room = 2 * _EDGE + pitch * at, pitch * size
            middle = left + room / 2
            at += size
            self.rect("outline", round(left + 0.5, 2), y + 0.5, round(room - 1, 2), height - 1)
            # Core boundaries: above and below the text.
            for x in (round(left + pitch * core, 2) for core in range(1, size)):
                self.layers["outline"].append(f'<path d="M{x:g} {y:g}v2.5M{x:g} {y + height:g}v-2.5"/>')
            tasks = [] if isinstance(content, str) else [self.placed.task_numbers[seat] for seat in content]
            words = as_ranges(tasks) if tasks else str(content)
            if 0.6 * _LETTER * len(words) > room and len(tasks) > 1:
                words = f"{len(tasks)}"
            # Three figures have room on one core, but not in bold.
            if 0.57 * _LETTER * len(words) <= room:
                layer = "idle-word" if not tasks else "number" if len(tasks) == 1 and len(words) < 3 else "several"
                self.text(layer, round(middle, 2), y + height / 2 + 4, words, size=_LETTER)

    def draw_cell(self, core: int, cpu: int, x: float, y: float, width: float) -> None:
        """Draw one hardware thread: idle, kept for the system, with one task, or with several."""
        place = f"core {core}" if self.kind.threads_per_core == 1 else f"core {core}, CPU {cpu}"
        seats, placed = self.seats.get(cpu, []), self.placed
        if placed is None or not seats:
            kept = core in self.kind.reserved_cores
            self.rect("idle", x, y, width, 19.0, tip=f"{place}: {'kept for the system' if kept else 'idle'}")
            if placed is not None:
                self.text("idle-word", x + width / 2, y + 13, "x" if kept else "idle")
            return
        tasks = [placed.task_numbers[seat] for seat in seats]
        # 7, or 0-11, or 12 tasks.
        short = as_ranges(tasks)
        short = short if len(short) <= 7 else f"{len(tasks)} tasks"
        size = round(min(14.0, (width - 3) / (0.6 * len(short))), 1)
        if len(seats) > 1:
            self.rect("shared", x, y, width, 19.0, tip=f"{place}: tasks {as_ranges(tasks, separator=', ')}")
            self.text("several", x + width / 2, y + 13.5, short, size=size)
            return
        thread = _thread_of(placed, seats[0], core)
        tip = f"{place}: task {tasks[0]}" + (f", thread {thread}" if thread is not None else "")
        self.rect(f"tint{seats[0] % len(_TINTS)}", x, y, width, 19.0, tip=tip)
        self.text("number", x + width / 2, y + 13.5, short, size=size)
        if thread is not None and cpu == core:
            self.text("thread", x + width - 1, y - 3, f"t{thread}")
        if dash := _MARKS[seats[0] // len(_TINTS) % len(_MARKS)]:
            line = f'<path d="M{x + 3:g} {y + 16.7:g}h{width - 6:g}" stroke-dasharray="{dash}"/>'
            self.layers["mark"].append(line)

    def svg(self, height: float, title: str, alt: str) -> str:
        """Return the whole SVG: title, description, then the layers."""
        groups = "".join(
            f'<g class="hopper-node-{name}" {look}>{"".join(self.layers[name])}</g>'
            for name, look in _LAYERS.items()
            if name in self.layers
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" class="hopper-node{" hopper-banded" * self.banded}" viewBox="0 0 {_WIDTH:g} {height:g}" '
            f'width="100%" aria-label="{escape(title)}" font-family="system-ui, sans-serif">'
            f"<title>{escape(title)}</title><desc>{escape(alt)}</desc>{groups}</svg>"
        )


def _thread_of(placed: NodePlacement, seat: int, core: int) -> int | None:
    """Return which thread of a multithreaded task is bound to this core alone; None if there is none."""
    threads = placed.pattern[seat].thread_cores
    alone = [number for number, cores in enumerate(threads) if cores == (core,)]
    return alone[0] if len(threads) > 1 and len(alone) == 1 else None


def node_svg(
    kind: NodeKind,
    placed: NodePlacement | None,
    *,
    words: tuple[str, str],
    parts: Sequence[tuple[str, Sequence[str]]],
) -> str:
    """Return the drawing from top to bottom, from its title and description, and heading and devices of NUMA nodes."""
    sheet = _Sheet(kind, placed)
    if sheet.banded:
        return _banded_svg(sheet, words=words, parts=parts)
    wrapped = [textwrap.wrap("   ".join(devices), _DEVICE_CHARACTERS) for _, devices in parts]
    above = 19 + 13.0 * max(map(len, wrapped))
    box = above + sheet.lines * (sheet.line_height + 3) + 2
    y = 2.0
    for numa_node, (heading, _) in enumerate(parts):
        socket, place = divmod(numa_node, kind.numa_nodes_per_socket)
        if place == 0:
            y += 6 * (socket > 0)
            sheet.rect("socket", 1.5, y, _WIDTH - 3, 20 + kind.numa_nodes_per_socket * (box + 5))
            sheet.text("label", _EDGE, y + 14, _socket_name(socket, kind.sockets_per_numa_node))
            y += 20
        sheet.rect("numa", _EDGE, y, _WIDTH - 2 * _EDGE, box)
        sheet.text("label", 2 * _EDGE, y + 14, heading)
        for row, line in enumerate(wrapped[numa_node]):
            sheet.text("core", 2 * _EDGE, y + 28 + 13 * row, line, size=_DEVICE_LETTER)
        sheet.draw_cores(numa_node, y + above)
        y += box + 5
    y += 6
    legend = ["c: core" + ("; bold: task; t: thread of the task" if placed is not None else "")]
    if kind.threads_per_core > 1:
        legend.append(f"{kind.threads_per_core} boxes a core: its hardware threads")
    for line in legend:
        sheet.text("core", _EDGE, y + 9, line, size=_DEVICE_LETTER)
        y += 14
    return sheet.svg(y + 2, *words)


def _socket_name(socket: int, shared: int) -> str:
    """Return the name of a socket, or of several that share a NUMA node."""
    return f"Sockets {socket * shared}-{socket * shared + shared - 1}" if shared > 1 else f"Socket {socket}"


def _banded_svg(sheet: _Sheet, *, words: tuple[str, str], parts: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return the drawing of a node of many cores, with a band of cores for each NUMA node."""
    kind, placed = sheet.kind, sheet.placed
    # The legend shows which cores share a cache, and reserved cores have crosses.
    shown = [[each for each in devices if not each.startswith(("L3 caches", "kept"))] for _, devices in parts]
    wrapped = [textwrap.wrap("   ".join(devices), _BAND_CHARACTERS) for devices in shown]
    above = 15 + 13.0 * max(map(len, wrapped))
    box = above + sheet.lines * (sheet.line_height + 3)
    y = 2.0
    for numa_node, (heading, _) in enumerate(parts):
        socket, place = divmod(numa_node, kind.numa_nodes_per_socket)
        if place == 0:
            y += 4 * (socket > 0)
            sheet.rect("socket", 1.5, y, _WIDTH - 3, 17 + kind.numa_nodes_per_socket * (box + 3))
            sheet.text("label", _EDGE, y + 12, _socket_name(socket, kind.sockets_per_numa_node))
            y += 16
        sheet.rect("numa", _EDGE, y, _WIDTH - 2 * _EDGE, box)
        cores = kind.cores_of(numa_node)
        name, _, rest = heading.partition(":")
        sheet.text("label", 2 * _EDGE, y + 12, f"{name}, cores {cores[0]}-{cores[-1]}{f':{rest}' if rest else ''}")
        for row, line in enumerate(wrapped[numa_node]):
            sheet.text("core", 2 * _EDGE, y + 25 + 13 * row, line, size=_LETTER)
        sheet.draw_bands(numa_node, y + above)
        y += box + 3
    legend = [
        *(["number: task"] if placed is not None else []),
        *([f"{kind.threads_per_core} hardware threads/core"] if kind.threads_per_core > 1 else []),
        *(
            [f"L3: {kind.cores_per_l3} cores"]
            if kind.cores_per_l3 and kind.cores_per_l3 < kind.cores_per_numa_node
            else []
        ),
    ]
    if legend:
        sheet.text("core", _EDGE, y + 13, "; ".join(legend), size=_LETTER)
        y += 17
    return sheet.svg(y + 2, *words)
