"""Open MPI 5.0's placement of the ranks of a node: its mapper, ranking and binding, step by step.

Open MPI 5.0 maps, binds and ranks in PRRTE. A rank is bound as soon as it is mapped, so earlier ranks affect where
later ones are mapped.

References
----------
PRRTE 3.0, ``src/mca/rmaps`` (round robin and ppr mappers, binding, ranking), ``src/mca/schizo/ompi`` (options).
"""

from collections.abc import Iterator
from typing import NamedTuple

from hopperkit.launchers.mapping.openmpi import OpenMpiRequest, number_pieces
from hopperkit.launchers.mapping.topology import Topology
from hopperlib.placement.components import LaunchError

_DEPTHS = {"none": 1, "socket": 2, "numa": 3, "l3": 4, "l2": 5, "l1": 6, "core": 7, "hwthread": 8}
_OBJECTS = tuple(_DEPTHS)[1:]


class Rank(NamedTuple):
    """A mapped rank: the object that it was mapped to, and its mask; 0 where it is not bound."""

    place: int
    mask: int


class _Policy(NamedTuple):
    """A request with all defaults filled in."""

    unit: str
    rank: str
    bind: str
    bind_given: bool
    hwthreads: bool
    width: int


def place_openmpi5(request: OpenMpiRequest, node: Topology, slots: int, ranks: int, total: int) -> list[int]:
    """Return the mask of each rank on one node, in the order of ranks; 0 where it is not bound.

    Parameters
    ----------
    request : OpenMpiRequest
    node : Topology
    slots, ranks, total : int
        Slots of the node, its ranks, and the ranks of the job, by which defaults are chosen.

    Raises
    ------
    LaunchError
        If Open MPI refuses the line.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.mapping.topology import topology_of
    >>> from hopperkit.launchers.mapping.openmpi import read_openmpi
    >>> request = read_openmpi([("-map-by", "socket"), ("-bind-to", "core")], 5)
    >>> masks = place_openmpi5(request, topology_of(Machine.load("cluster").node()), 32, 3, 3)
    >>> [mask.bit_length() - 1 for mask in masks]
    [0, 1, 16]
    """
    if len(node.units["hwthread"]) == len(node.units["core"]):
        # Without a second hardware thread in any core, Open MPI treats a core as its thread.
        request = request.with_threads_for_cores()
    policy = _policy(request, total)
    if ranks > slots and not request.oversubscribe:
        raise LaunchError("-n", str(ranks), f"is more than the {slots} slots of the node")
    if ranks > slots and not policy.bind_given:
        policy = policy._replace(bind="none")
    mapper = _Mapper(request, policy, node, slots, ranks)
    mapped = mapper.map()
    return [rank.mask for rank in _ranked(mapped, policy, node)]


def _policy(request: OpenMpiRequest, ranks: int) -> _Policy:
    """Return the policies after defaults; incompatible combinations are refused."""
    # In one piece: unit, ranking and binding in this order, because each default and each refusal depends on the ones before.
    hwthreads = request.hwthreads or (request.unit == "hwthread" and not request.per_unit)
    unit, width = request.unit or _default_unit(request, hwthreads), request.width
    if width > 1 and not request.per_unit and (unit == "hwthread" or (unit == "core" and not hwthreads)):
        raise LaunchError("--map-by", f"PE={width}", "requests several CPUs of a unit that has one")
    rank = request.rank or _default_rank(request, unit)
    if rank in ("fill", "span") and unit not in _OBJECTS:
        raise LaunchError("--rank-by", rank, f"needs a mapping to objects such as numa, and the line maps by {unit}")
    bind = request.bind or _default_bind(request, unit, ranks, hwthreads)
    depth = _DEPTHS.get(unit, 1)
    if bind != "none" and depth > _DEPTHS[bind]:
        raise LaunchError("--bind-to", bind, f"is wider than the {unit} that ranks are mapped to, which 5.0 refuses")
    if width > 1 or request.ordered:
        hwthreads = _several_are_hwthreads(request, hwthreads)
        return _Policy(unit, rank, "hwthread" if hwthreads else "core", True, hwthreads, width)
    return _Policy(unit, rank, bind, bool(request.bind), hwthreads, width)


def _several_are_hwthreads(request: OpenMpiRequest, hwthreads: bool) -> bool:
    """Whether a rank that is bound to several CPUs, or to listed ones, gets hardware threads rather than cores."""
    if request.bind and request.bind not in ("core", "hwthread"):
        raise LaunchError("--bind-to", request.bind, "is incompatible with PE= of --map-by, which binds a rank to CPUs")
    return request.bind == "hwthread" if request.bind else hwthreads


def _default_unit(request: OpenMpiRequest, hwthreads: bool) -> str:
    """Return the default mapping unit."""
    if request.width > 1:
        return "slot"
    if request.bind:
        return "slot" if request.bind == "none" else request.bind
    return "hwthread" if hwthreads else "core"


def _default_rank(request: OpenMpiRequest, unit: str) -> str:
    """Return the default ranking."""
    if unit == "node" and not request.per_unit:
        return "node"
    if request.span and unit != "slot":
        return "span"
    return "slot" if request.per_unit or unit in ("slot", "list") else "fill"


def _default_bind(request: OpenMpiRequest, unit: str, ranks: int, hwthreads: bool) -> str:
    """Return the default binding."""
    cpu = "hwthread" if hwthreads else "core"
    if request.oversubscribe:
        return "none"
    if request.width_given or unit == "list":
        return cpu
    if unit in _OBJECTS:
        return unit
    return cpu if ranks <= 2 else "numa"


class _Mapper:
    """One node while ranks are mapped to it."""

    def __init__(self, request: OpenMpiRequest, policy: _Policy, node: Topology, slots: int, ranks: int) -> None:
        self.request, self.policy, self.node, self.slots, self.ranks = request, policy, node, slots, ranks
        self.available = node.everything
        self.allowed = _listed(request.cpu_list, node, policy.hwthreads) if request.cpu_list else node.everything
        self.pieces = request.cpu_list.split(",") if request.cpu_list else []
        self.cpu = "hwthread" if policy.hwthreads else "core"
        self.target = self.free = 0
        self.bind = policy.bind
        self.mapped: list[Rank] = []

    def map(self) -> list[Rank]:
        """Map all ranks; those that do not find a place are refused."""
        if self.request.per_unit:
            self._by_pattern()
        elif self.policy.unit in ("slot", "node"):
            self._by_slot()
        elif self.policy.unit == "list":
            self._by_list()
        else:
            self._by_object()
        if len(self.mapped) < self.ranks:
            each = f"{self.policy.width} {self.cpu}s" if self.policy.width > 1 else f"a {self.cpu}"
            raise LaunchError(
                "-n", str(self.ranks), f"does not fit: not every rank finds {each} where the line maps it"
            )
        return self.mapped

    def _cpus(self, mask: int) -> int:
        """Return the number of free CPUs in a mask; store them as the target of the next binding."""
        self.free = self.available & self.allowed & mask
        return self.node.count_inside(self.free, self.cpu)

    def _is_available(self, place: int, wanted: int) -> int:
        """Return the number of ranks that fit in a place; 0 for none."""
        if not self.request.oversubscribe and len(self.mapped) >= self.slots:
            return 0
        if self.bind == "none":
            self.target = self.allowed if self.request.cpu_list else 0
            return wanted
        room = self._cpus(place) // self.policy.width
        self.target = self.free
        if self.request.per_unit:
            return wanted if self.request.per_unit <= room else 0
        if wanted <= room or self.request.overload:
            return wanted
        return room

    @property
    def _full(self) -> bool:
        """Whether every slot is taken and no more ranks are allowed."""
        return not self.request.oversubscribe and len(self.mapped) == self.slots

    def _unbind_overloaded(self, wanted: int) -> None:
        """Give up a default binding where there are more ranks than CPUs, though not than slots."""
        room = self.slots - len(self.mapped)
        if wanted > self._cpus(self.node.everything) and wanted <= room and not self.policy.bind_given:
            self.bind = "none"

    def _by_slot(self) -> None:
        """Map to consecutive slots; a second pass takes those left by the first."""
        for second in (False, True):
            left = self.ranks - len(self.mapped)
            room = self.slots - len(self.mapped)
            wanted = left if second or self.policy.unit == "node" else room
            if not self.request.oversubscribe:
                wanted = min(wanted, room)
            self._unbind_overloaded(wanted)
            for _ in range(min(left, self._is_available(self.node.everything, wanted))):
                if not self._take(self.node.everything, whole_node=True) or self._full:
                    break
            if len(self.mapped) == self.ranks:
                return

    def _by_list(self) -> None:
        """Map to the CPUs that the line lists: one after the other, or all ranks to all of them."""
        in_order = self.request.ordered or not self.request.overload
        wanted = len(self.pieces) if in_order else self.slots
        for second in (False, True):
            if second:
                if not self.request.oversubscribe:
                    break
                wanted = self.ranks - len(self.mapped)
                self.pieces = self.request.cpu_list.split(",")
            if not self.request.oversubscribe:
                wanted = min(wanted, self.slots - len(self.mapped))
            self._unbind_overloaded(wanted)
            for _ in range(min(self.ranks - len(self.mapped), self._is_available(self.node.everything, wanted))):
                self._bind_to_list()

    def _by_object(self) -> None:
        """Map to objects in turn until no object has room."""
        places, before = self.node.units[self.policy.unit], -1
        while before < len(self.mapped) < self.ranks and not self._full:
            before = len(self.mapped)
            for place in places:
                if len(self.mapped) == self.ranks or self._full:
                    break
                if self._cpus(place) < self.policy.width and not self.request.overload:
                    continue
                if self._is_available(place, 1) and not self._take(place):
                    raise LaunchError(
                        "-n", str(self.ranks), f"finds no free {self.policy.bind} of a {self.policy.unit}"
                    )

    def _by_pattern(self) -> None:
        """Map this many ranks to each object, as ppr requests."""
        each = self.request.per_unit or 1
        whole = self.policy.unit == "node"
        places = (self.node.everything,) if whole else self.node.units[self.policy.unit]
        wanted = each * len(places)
        room = self.slots - len(self.mapped)
        cpus = self._cpus(self.node.everything)
        if wanted * self.policy.width > cpus and wanted <= room and not self.policy.bind_given:
            self.bind = "none"
        for place in places:
            if len(self.mapped) >= self.ranks:
                break
            if not self._is_available(place, each):
                continue
            for _ in range(min(each, self.ranks - len(self.mapped)) if whole else each):
                if not self._take(place, whole_node=whole):
                    raise LaunchError(
                        "-n", str(self.ranks), f"finds no free {self.policy.bind} of a {self.policy.unit}"
                    )
                if self._full:
                    break

    def _take(self, place: int, *, whole_node: bool = False) -> bool:
        """Map one more rank to a place and bind it; False if no CPU is left to bind it to."""
        if self.bind == "none":
            mask: int | None = 0
        elif self.policy.width > 1:
            mask = self._bind_to_several(place, whole_node)
        else:
            mask = self._bind_to_object(place)
        if mask is None:
            return False
        self.mapped.append(Rank(place, mask))
        return True

    def _bind_to_object(self, place: int) -> int | None:
        """Bind to the first object in a place with a free CPU, and take that CPU."""
        base = self.target & place
        for each in self.node.units[self.bind]:
            free = self.available & each & base
            if self.node.count_inside(free, self.cpu):
                self.available &= ~next(self.node.inside(free, self.cpu))
                if not self.available and self.request.overload:
                    self.available = self.allowed
                return each
        return None if self.policy.bind_given else 0

    def _bind_to_several(self, place: int, whole_node: bool) -> int | None:
        """Bind to the next free CPUs of a place; on a node, all on one socket."""
        base = self.target & place & self.available
        if whole_node:
            spots = (base & socket for socket in self.node.units["socket"])
            enough = (spot for spot in spots if self.node.count_inside(spot, self.cpu) >= self.policy.width)
            found = next(enough, None)
            if found is None:
                return None
            base = found
        taken = 0
        for number, each in enumerate(self.node.inside(base, self.cpu)):
            if number < self.policy.width:
                taken |= each
        self.available &= ~taken
        self.target &= ~taken
        return taken or None

    def _bind_to_list(self) -> None:
        """Bind to the next CPU of a list, or to all of them; those must be on one socket."""
        if not self.pieces:
            raise LaunchError("-n", str(self.ranks), "is more than the CPUs that the line lists")
        first = number_pieces(self.pieces.pop(0))[0]
        cpus = self.node.units[self.cpu]
        if first >= len(cpus) and self.request.ordered:
            raise LaunchError("--map-by", self.request.cpu_list, f"names CPU {first}; the node has {len(cpus)}")
        mask = cpus[first] if self.request.ordered else self.target
        if not any(mask & socket == mask for socket in self.node.units["socket"]):
            raise LaunchError(
                "--map-by", self.request.cpu_list, "names CPUs of two sockets, and 5.0 binds a rank to one"
            )
        if first < len(cpus):
            self.available &= ~cpus[first]
        self.mapped.append(Rank(self.node.everything, mask))


def _listed(text: str, node: Topology, hwthreads: bool) -> int:
    """Return the mask of a list of CPUs, which counts cores or hardware threads as hwloc does."""
    cpus = node.units["hwthread" if hwthreads else "core"]
    mask = 0
    for piece in text.split(","):
        first, last = number_pieces(piece)
        for number in range(first, min(last, len(cpus) - 1) + 1):
            mask |= cpus[number]
    return mask


def _ranked(mapped: list[Rank], policy: _Policy, node: Topology) -> Iterator[Rank]:
    """Yield mapped ranks in the order of their numbers."""
    if policy.rank in ("slot", "node"):
        yield from mapped
        return
    places = node.units[policy.unit]
    left = {place: [rank for rank in mapped if rank.place == place] for place in places}
    if policy.rank == "fill":
        for place in places:
            yield from left[place]
        return
    while any(left.values()):
        for place in places:
            if left[place]:
                yield left[place].pop(0)
