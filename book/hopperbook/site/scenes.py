"""Interactive mechanisms: the models' results for each position of a handle, for the pages' script to draw."""

from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from hopperbook.site.html import data_block, tables
from hopperbook.site.renderers import raw_html
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import FileSystem, Machine, NodeKind
from hopperlib.network.rank_order import block_order, neighbor_count, off_node_pairs
from hopperlib.network.runtime.overlap import overlapped_s
from hopperlib.placement.models.bandwidth import task_bandwidth_gb_s
from hopperlib.storage.lustre.dumps import barriered_dump, osts_with_slow
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_MIB

# So few that each can be drawn, and followed by eye.
_OSTS, _PIECES, _VARIABLES, _SIZE_GB = 8, 24, 3, 96
_COMPUTE_S, _COMMUNICATION_S = 10, 6
_GRID, _CORES = (8, 8, 1), 8


@cache
def _hopper() -> tuple[Machine, NodeKind, FileSystem]:
    machine = Machine.load("hopper")
    return machine, machine.node(), machine.file_systems[0]


def _stripe() -> dict[str, Any]:
    """Where each mebibyte of a file goes, and how long a dump takes, for 1 to 8 OSTs."""
    rate_gb_s = _hopper()[2].ost_peak_gb_s
    counts = []
    for count in range(1, _OSTS + 1):
        layout = Layout(stripe_count=count, stripe_size_bytes=BYTES_PER_MIB, osts=_OSTS)
        dealt = [layout.ost_of(piece * BYTES_PER_MIB) for piece in range(_PIECES)]
        counts.append({"osts": dealt, "seconds": barriered_dump(_SIZE_GB, [rate_gb_s] * count, variables=1).time_s})
    return {"osts": _OSTS, "gb": _SIZE_GB, "settings": counts}


def _slow_ost() -> dict[str, Any]:
    """The times at which the variables of a dump are complete, for a slow OST with a fifth of the normal rate up to all of it."""
    healthy_gb_s = _hopper()[2].ost_peak_gb_s
    settings = []
    for tenths in range(2, 11):
        rates = osts_with_slow(_OSTS, healthy_gb_s, slow=1, slow_rate_gb_s=tenths / 10 * healthy_gb_s)
        dump = barriered_dump(_SIZE_GB, rates, variables=_VARIABLES)
        phases = [[phase.start_s, phase.first_ost_s, phase.last_ost_s] for phase in dump.phases]
        times = {"seconds": dump.time_s, "idle": 100 * dump.idle_fraction}
        settings.append({"percent": 10 * tenths, "phases": phases, **times})
    return {"osts": _OSTS, "settings": settings}


def _overlap() -> dict[str, Any]:
    """Time of a step for no to full overlap."""
    seconds = [overlapped_s(_COMPUTE_S, _COMMUNICATION_S, tenth / 10) for tenth in range(11)]
    return {"compute": _COMPUTE_S, "communication": _COMMUNICATION_S, "settings": seconds}


def _rank_order() -> dict[str, Any]:
    """Ranks of a grid on nodes, in boxes of each shape; the first is the order of their numbers."""
    orders = {block: block_order(_GRID, block) for block in ((8, 1, 1), (4, 2, 1), (2, 4, 1), (1, 8, 1))}
    settings = [{"block": box, "order": of, "cut": off_node_pairs(of, _GRID, _CORES)} for box, of in orders.items()]
    return {"grid": _GRID, "cores": _CORES, "pairs": neighbor_count(_GRID), "settings": settings}


def _placement() -> dict[str, Any]:
    """Bandwidth of a task next to others, and the location of twelve tasks packed and spread."""
    machine, kind, _ = _hopper()
    placed = {
        name: [task.cores[0] for task in place_tasks(read_launch(line, machine), machine).nodes[0].tasks]
        for name, line in (("packed", "aprun -n 12 -N 12 a.out"), ("spread", "aprun -n 12 -N 12 -S 3 a.out"))
    }
    each = [task_bandwidth_gb_s(kind, tasks) for tasks in range(1, kind.cores_per_numa_node + 1)]
    node = {"dies": kind.numa_nodes, "cores": kind.cores_per_numa_node, "gb_s": kind.numa_bandwidth_gb_s}
    return {**node, "each": each, **placed}


# : Name -> the function for its data.
SCENES: dict[str, Callable[[], dict[str, Any]]] = {
    "stripe": _stripe,
    "slow-ost": _slow_ost,
    "overlap": _overlap,
    "rank-order": _rank_order,
    "placement": _placement,
}


def scene(name: str) -> str:
    """Return a mechanism as HTML: its title, its description, and its data for the script.

    Examples
    --------
    >>> "hopper-data-block" in scene("overlap"), "16 s one after the other" in scene("overlap")
    (True, True)
    """
    data, kind = SCENES[name](), _hopper()[1]
    words, cap_gb_s = tables()["scenes"][name], kind.core_bandwidth_cap_gb_s
    caption = words["told"].format(**data, size_gb=_SIZE_GB, variables=_VARIABLES, cap_gb_s=cap_gb_s)
    block = data_block({"title": words["title"], "told": caption, **data})
    return (
        f'<figure class="hopper-scene" id="scene-{name}" data-scene="{name}"><figcaption>{escape(words["title"])}</figcaption>'
        f'<p class="hopper-machine-told">{escape(caption)}</p>{block}</figure>'
    )


class SceneDirective(SphinxDirective):
    """Shows a mechanism of `SCENES`.

    ::

        ```{scene} stripe
        ```
    """

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the figure; an invalid name stops the build."""
        return [*raw_html(scene(self.arguments[0]))]
