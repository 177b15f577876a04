"""A line's request to its launcher, ready to bind the ranks of a node of any kind."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from hopperkit.launchers.mapping.hydra import place_hydra
from hopperkit.launchers.mapping.intelmpi import IntelRequest, read_intelmpi
from hopperkit.launchers.mapping.ipl import place_ipl
from hopperkit.launchers.mapping.ipl2 import place_ipl2
from hopperkit.launchers.mapping.openmpi import CannotTellError, read_openmpi
from hopperkit.launchers.mapping.openmpi4 import place_openmpi4
from hopperkit.launchers.mapping.openmpi5 import place_openmpi5
from hopperkit.launchers.mapping.topology import Topology, topology_of
from hopperlib.machine import NodeKind
from hopperlib.placement.components import LaunchError

# More ranks for each hardware thread of a node are not placed one by one.
_MOST_PER_CPU = 64


class Bound(NamedTuple):
    """The CPUs of each rank of a node, empty if unbound, and why they may be unknown."""

    cpus: list[tuple[int, ...]]
    doubt: str = ""


def _numbered(masks: list[int], node: Topology) -> list[tuple[int, ...]]:
    """Return masks in Linux numbering; a mask of all CPUs of the node means unbound."""
    numbers = {mask: tuple(sorted(node.cpu_numbers(mask))) for mask in set(masks)}
    return [numbers[mask] for mask in masks]


def _checked(kind: NodeKind, ranks: int) -> Topology:
    """Return the topology of a node; more ranks than are placed one by one are refused."""
    node = topology_of(kind)
    most = _MOST_PER_CPU * len(node.numbers)
    if ranks > most:
        rule = f"puts {ranks:,} tasks on a node; at most {most:,} are placed, {_MOST_PER_CPU} for each hardware thread"
        raise LaunchError("-n", str(ranks), rule)
    return node


def _agreed(ways: Sequence[Callable[[], list[int]]], node: Topology, ranks: int, doubt: str) -> Bound:
    """Return the result if all releases agree; otherwise one of the results and the doubt."""
    answers: list[list[int]] = []
    error: LaunchError | None = None
    reason = ""
    for way in ways:
        try:
            answers.append(way())
        except LaunchError as refusal:
            error = refusal
        except CannotTellError as unknown:
            reason = str(unknown)
    if error and not answers and not reason:
        raise error
    if not answers:
        return Bound([()] * ranks, reason)
    agree = len(answers) == len(ways) and all(answer == answers[0] for answer in answers)
    return Bound(_numbered(answers[0], node), "" if agree else reason if len(ways) == 1 else doubt)


def ranks_of_line(options: Sequence[tuple[str, str]], release: int, kind: NodeKind) -> int | None:
    """Return the ranks that Open MPI starts on a node for a line without ``-n``; None: one for each slot.

    Parameters
    ----------
    options : sequence
        Options of the line.
    release : int
        Release of the MPI library.
    kind : NodeKind
        Kind of node.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> ranks_of_line([("-map-by", "ppr:2:socket")], 5, Machine.load("cluster").node())
    4
    """
    request = read_openmpi(options, release)
    node = topology_of(kind)
    if request.per_unit and (release >= 5 or request.unit in ("node", "socket")):
        return request.per_unit * len(node.units["machine" if request.unit == "node" else request.unit])
    if release < 5:
        return None
    if request.cpu_list:
        return len(request.cpu_list.split(","))
    if request.width > 1:
        return max(1, len(node.units["hwthread" if request.hwthreads else "core"]) // request.width)
    return None


class OpenMpiMapper(NamedTuple):
    """Open MPI: single-dash options of a line, the release if known, and the ranks of the job."""

    options: tuple[tuple[str, str], ...]
    release: int | None
    total: int

    @property
    def doubt_on_several_nodes(self) -> str:
        """Why the ranks of several nodes cannot be distinguished; empty if they can."""
        values = dict(self.options)
        if "-rank-by" in values or "span" in values.get("-map-by", "").lower():
            return "How Open MPI numbers ranks of several nodes with --rank-by or SPAN is not followed."
        return ""

    def bind(self, kind: NodeKind, ranks: int) -> Bound:
        """Return the CPUs of the ranks of one node.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> mapper = OpenMpiMapper((("-map-by", "socket"), ("-bind-to", "core")), 4, 4)
        >>> mapper.bind(Machine.load("cluster").node(), 4).cpus
        [(0,), (16,), (1,), (17,)]
        """
        node = _checked(kind, ranks)
        slots = len(node.units["core"])
        releases = [4, 5] if self.release is None else [5 if self.release >= 5 else 4]
        ways = [partial(self._placed, node, slots, ranks, release) for release in releases]
        return _agreed(
            ways,
            node,
            ranks,
            "Open MPI's handling of this line depends on the release: shown is that of one of 4.1 and 5.0, and the other "
            "does something else or refuses it. Load its module with its release in the text. "
            "Run mpirun with --report-bindings to see.",
        )

    def _placed(self, node: Topology, slots: int, ranks: int, release: int) -> list[int]:
        """Return the masks as a release sets them."""
        request = read_openmpi(self.options, release)
        place = place_openmpi5 if release >= 5 else place_openmpi4
        masks = place(request, node, slots, ranks, self.total)
        if len(masks) > ranks:
            pattern = f"maps {len(masks)} ranks where the line has {ranks}"
            raise CannotTellError(
                f"Open MPI 5.0 {pattern}, because each unit gets the full number of ppr; how many it starts is unknown."
            )
        return masks


class HydraMapper(NamedTuple):
    """MPICH: ``-bind-to`` and ``-map-by``."""

    bind_to: str
    map_by: str
    doubt_on_several_nodes: str = ""

    def bind(self, kind: NodeKind, ranks: int) -> Bound:
        """Return the CPUs of the ranks of one node.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> HydraMapper("core:2", "").bind(Machine.load("cluster").node(), 2).cpus
        [(0, 1), (2, 3)]
        """
        node = _checked(kind, ranks)
        return Bound(_numbered(place_hydra(self.bind_to, self.map_by, node, ranks), node))


class IntelMapper(NamedTuple):
    """Intel MPI: its variables, whether the line has options of other launchers, and the release if known."""

    variables: tuple[tuple[str, str], ...]
    foreign: str
    release: tuple[int, int] | None
    doubt_on_several_nodes: str = ""

    def bind(self, kind: NodeKind, ranks: int) -> Bound:
        """Return the CPUs of the ranks of one node.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> IntelMapper((), "", (2021, 19)).bind(Machine.load("cluster").node(), 2).cpus[1][0]
        16
        """
        node = _checked(kind, ranks)
        try:
            request = read_intelmpi(dict(self.variables))
        except CannotTellError as unknown:
            return Bound([()] * ranks, f"{unknown} Set I_MPI_DEBUG=4 to see.")
        if request is None and not self.foreign:
            return Bound([()] * ranks)
        ways = [partial(self._placed, way, request, node, ranks) for way in self._ways()]
        bound = _agreed(
            ways,
            node,
            ranks,
            "How Intel MPI pins these ranks depends on its release, which changed with 2021.12 and 2021.15. Load its module "
            "with its release in the text.",
        )
        return bound._replace(doubt=f"{bound.doubt} Set I_MPI_DEBUG=4 to see." if bound.doubt else "")

    def _ways(self) -> list[str]:
        """Return the ways to pin that the release may have."""
        if self.release is None or self.release in ((2021, 10), (2021, 11)):
            return ["9", "13", "15"] if self.release is None else ["9", "13"]
        if self.release >= (2021, 15):
            return ["15"]
        return ["13" if self.release >= (2021, 13) else "12"] if self.release >= (2021, 12) else ["9"]

    def _check_early(self, request: IntelRequest, node: Topology, ranks: int) -> None:
        """Report as unknown where 2021.15 to 2021.18 were observed to differ from 2021.19."""
        if self.release is None or self.release >= (2021, 19):
            return
        listed = [int(number) for number in request.processors.split(",") if number.isdigit()]
        cores = len(node.units["core"])
        scarce = request.domain in ("auto", "cache") and cores < 2 * ranks and cores % ranks > 0
        scarce = scarce and not request.processors[:1].isdigit() and request.order != "compact"
        shared = len(node.units["numa"]) < len(node.units["socket"])
        if listed != sorted(listed) or (request.layout and request.order == "spread"):
            raise CannotTellError("What Intel MPI 2021.15 to 2021.18 makes of this list or layout is not known.")
        if self.release == (2021, 15) and (scarce or shared):
            raise CannotTellError(
                "How Intel MPI 2021.15 deals out ranks with fewer than two cores each, or where sockets share memory, is not known."
            )

    def _placed(self, way: str, request: IntelRequest | None, node: Topology, ranks: int) -> list[int]:
        """Return the masks as releases of one kind set them."""
        if self.foreign and way == "13":
            raise LaunchError(self.foreign, "", "is an option that Intel MPI 2021.13 and 2021.14 do not have")
        if request is None:
            return [0] * ranks
        if way == "15":
            self._check_early(request, node, ranks)
            return place_ipl2(request, node, ranks)
        return place_ipl(request, node, ranks, by_numa_node=way != "9")
