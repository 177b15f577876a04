"""Networks drawn: groups as circles with links by load, a fat tree as levels."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import cos, pi, sin
from typing import Any

from hopperkit.questions.result import Drawing
from hopperlib.network.fabrics.dragonfly import Dragonfly
from hopperlib.network.fabrics.fabric import Fabric
from hopperlib.network.fabrics.rates import RoutedTraffic
from hopperlib.network.fabrics.tree import SwitchTree
from hopperlib.text import count
from hopperlib.text import share as percent

_SIZE = 360
# More lines than these cannot be distinguished.
_MOST_LINES = 120
_MOST_LEAVES = 60
_MOST_ROWS = 12
_EMPTY = "#f4f7f9"
# On filled areas, light on light and dark pages alike.
_INK = "#12303f"
# : How full a link is: from, and how it is drawn. The width repeats the information of the color.
_FULL = ((0.9, "#b2182b", 3.0), (0.5, "#ef8a62", 2.0), (0.1, "#7fb3d5", 1.2), (0.0, "#9aa5ad", 0.5))


def drawings_of(fabric: Fabric, places: Sequence[int], laid: RoutedTraffic, share: float) -> tuple[Drawing, ...]:
    """Return the network with a job in it and its link loads; empty for a torus, which has a separate page.

    Parameters
    ----------
    fabric : Fabric
    places : sequence of int
        Nodes of the job.
    laid : RoutedTraffic
        The traffic on its links.
    share : float
        Of messages that take the second way of routing. [fraction]

    Examples
    --------
    >>> from hopperlib.network.fabrics.fabric import Traffic
    >>> from hopperlib.network.fabrics.rates import lay
    >>> small = Dragonfly(groups=3, rows=1, columns=2, nodes_per_switch=2, links_per_pair=1)
    >>> laid = lay(small, [Traffic.between(small, [0, 4], {(0, 1): 1.0})], [1.0])
    >>> drawings_of(small, [0, 4], laid, 0.0)[0].alt
    '2 nodes in 2 of 3 groups; the fullest link between two groups is 100 % full.'
    """
    if isinstance(fabric, Dragonfly):
        return (_groups(fabric, places, laid.busy(share)),)
    if isinstance(fabric, SwitchTree):
        return (_levels(fabric, places, laid.busy(share)),)
    return ()


def _groups(fabric: Dragonfly, places: Sequence[int], busy: Mapping[int, float]) -> Drawing:
    """Return the groups around a circle, switches inside, and the fullest links between them."""
    nodes, switches = Counter(map(fabric.group_of, places)), Counter(map(fabric.switch_of, places))
    between: dict[tuple[int, int], float] = {}
    for number, link in fabric.links():
        if link.kind == "global" and number in busy:
            pair = min(link.start, link.end), max(link.start, link.end)
            between[pair] = max(between.get(pair, 0.0), busy[number])
    fullest = max(between.values(), default=0.0)
    title = "Groups of switches, and how full the links between them are"
    return Drawing(
        title=title,
        alt=f"{count(len(places), 'node')} in {len(nodes)} of {count(fabric.groups, 'group')}; the fullest link between "
        f"two groups is {percent(fullest)} full.",
        svg=lambda: _groups_svg(title, fabric, nodes, switches, between),
        text=_listed(f"group {group:>3}  {count(nodes[group], 'node')}" for group in sorted(nodes)),
    )


def _listed(lines: Iterable[str]) -> str:
    """Return the first lines as text, and how many more there are."""
    rows = list(lines)
    more = [f"and {len(rows) - _MOST_ROWS} more"] if len(rows) > _MOST_ROWS else []
    return "\n".join(rows[:_MOST_ROWS] + more)


def _groups_svg(
    title: str,
    fabric: Dragonfly,
    nodes: Counter[int],
    switches: Counter[int],
    between: Mapping[tuple[int, int], float],
) -> str:
    """Return the groups as SVG."""
    middle, radius = _SIZE / 2, 0.40 * _SIZE
    size = min(24.0, 0.8 * pi * radius / fabric.groups)
    around = [2 * pi * group / fabric.groups - pi / 2 for group in range(fabric.groups)]
    at = [(middle + radius * cos(angle), middle + radius * sin(angle)) for angle in around]
    lines = sorted(between.items(), key=lambda item: (item[1], item[0]))[-_MOST_LINES:]
    parts = [_line(at[a], at[b], share, f"groups {a} and {b}") for (a, b), share in lines]
    per_group = fabric.switches * fabric.nodes_per_switch
    for group, (x, y) in enumerate(at):
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="{_shade(nodes[group] / per_group)}" '
            f'stroke="{_INK}" stroke-width="0.6"><title>group {group}: {nodes[group]} of {per_group} nodes'
            "</title></circle>"
        )
        parts += _switch_dots(fabric, group, (x, y), size, switches)
    return _svg(title, parts, _SIZE)


def _switch_dots(
    fabric: Dragonfly, group: int, center: tuple[float, float], size: float, switches: Counter[int]
) -> Iterable[str]:
    """Yield the switches of a group as dots, those with nodes of the job filled; none where they would run together."""
    if size < 8:
        return
    dot = min(2.2, 0.45 * pi * size / fabric.switches)
    for place in range(fabric.switches):
        angle = 2 * pi * place / fabric.switches
        x, y = center[0] + 0.72 * size * cos(angle), center[1] + 0.72 * size * sin(angle)
        fill = _INK if switches[group * fabric.switches + place] else "none"
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{dot:.1f}" fill="{fill}" stroke="{_INK}" stroke-width="0.3"/>'


def _levels(fabric: SwitchTree, places: Sequence[int], busy: Mapping[int, float]) -> Drawing:
    """Return a tree as levels: switches by height, and how full the links upwards are."""
    nodes = Counter(fabric.switch_of(node) for node in places)
    fullest: dict[int, float] = {}
    for number, link in fabric.links():
        lower = link.start if link.kind == "up" else link.end
        fullest[lower] = max(fullest.get(lower, 0.0), busy.get(number, 0.0))
    most = max(fullest.values(), default=0.0)
    title = "Levels of switches, and how full the links upwards are"
    return Drawing(
        title=title,
        alt=f"{count(len(places), 'node')} on {count(len(nodes), 'switch')}; the fullest link upwards is {percent(most)} full.",
        svg=lambda: _levels_svg(title, fabric, nodes, fullest),
        text=_listed(
            f"switch {switch:>4}  {count(nodes[switch], 'node')}, links upwards {percent(fullest.get(switch, 0.0))} full"
            for switch in sorted(nodes)
        ),
    )


def _levels_svg(title: str, fabric: SwitchTree, nodes: Counter[int], fullest: Mapping[int, float]) -> str:
    """Return the levels as SVG; with many leaves, those of the job come first."""
    leaves = sorted(set(fabric.leaf_of), key=lambda leaf: (leaf not in nodes, leaf))[:_MOST_LEAVES]
    shown: list[list[int]] = [sorted(leaves)]
    while above := sorted({parent for switch in shown[-1] if (parent := fabric.parents[switch]) is not None}):
        shown.append(above)
    at = {}
    for level, switches in enumerate(shown):
        for place, switch in enumerate(switches):
            at[switch] = (
                _SIZE * (place + 0.5) / len(switches),
                _SIZE * 0.5 * (1 - level / max(1, len(shown) - 1)) + 24,
            )
    parts = []
    for switch, (x, y) in at.items():
        parent = fabric.parents[switch]
        if parent in at and parent is not None:
            parts.append(_line((x, y), at[parent], fullest.get(switch, 0.0), f"switch {switch} upwards"))
    per_leaf = max(Counter(fabric.leaf_of).values())
    for switch, (x, y) in at.items():
        name = fabric.switch_names[switch] if fabric.switch_names else f"switch {switch}"
        parts.append(
            f'<rect x="{x - 2.5:.1f}" y="{y - 4:.1f}" width="5" height="8" fill="{_shade(nodes[switch] / per_leaf)}" '
            f'stroke="{_INK}" stroke-width="0.6"><title>{escape(name)}: {nodes[switch]} nodes</title></rect>'
        )
    return _svg(title, parts, 230)


def _line(start: tuple[float, float], end: tuple[float, float], share: float, name: str) -> str:
    """Return a link as SVG, by how full it is."""
    color, width = next((color, width) for least, color, width in _FULL if share >= least)
    (ax, ay), (bx, by) = start, end
    return (
        f'<line x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}" stroke="{color}" stroke-width="{width}">'
        f"<title>{name}: {percent(share)} full</title></line>"
    )


def _shade(part: float) -> str:
    """Return a color from nearly white to blue, the same in light and dark, so that dark digits are legible on it."""
    if not part:
        return _EMPTY
    return "#" + "".join(
        f"{round(255 + (0.15 + 0.85 * min(1.0, part)) * (end - 255)):02x}" for end in (0x8F, 0xC7, 0xEE)
    )


def _svg(title: str, parts: Sequence[Any], height: float) -> str:
    """Return an SVG with a legend of how full links are."""
    legend = []
    for place, (least, color, width) in enumerate(reversed(_FULL)):
        # The first word is the shortest.
        x = 62 + 97 * (place - 1) if place else 4
        words = f"from {percent(least)}" if least else "less"
        legend.append(
            f'<line x1="{x}" y1="{height + 8}" x2="{x + 22}" y2="{height + 8}" stroke="{color}" stroke-width="{width}"/>'
            f'<text x="{x + 25}" y="{height + 13}" font-size="14" fill="currentColor">{words}</text>'
        )
    return (
        f'<svg viewBox="0 0 {_SIZE} {height + 18:.0f}" role="img" xmlns="http://www.w3.org/2000/svg" '
        f'font-family="sans-serif"><title>{title}</title>{"".join(parts)}{"".join(legend)}</svg>'
    )
