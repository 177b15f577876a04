"""Open MPI 4.1's placement of the ranks of a node: its mapper, ranking and binding, step by step.

Ranks are mapped to places first, then numbered, then bound in the order in which they were mapped. Each unit counts
the ranks that are bound to it; the least used one of a place comes next.

References
----------
Open MPI 4.1, ``orte/mca/rmaps`` (round robin and ppr mappers, ranking, binding), ``orte/orted/orted_submit.c``.
"""

from collections.abc import Iterator
from typing import NamedTuple

from hopperkit.launchers.mapping.openmpi import OpenMpiRequest
from hopperkit.launchers.mapping.topology import Topology
from hopperlib.placement.components import LaunchError

_OBJECTS = ("numa", "socket", "l3", "l2", "l1", "core", "hwthread")


class _Policy(NamedTuple):
    """A request with all defaults filled in."""

    unit: str
    rank: str
    bind: str
    bind_given: bool
    hwthreads: bool


class _Overload(Exception):
    """A default binding would put more ranks on a unit than it has CPUs, so nothing is bound."""


def place_openmpi4(request: OpenMpiRequest, node: Topology, slots: int, ranks: int, total: int) -> list[int]:
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
    >>> request = read_openmpi([("-map-by", "socket"), ("-bind-to", "core")], 4)
    >>> masks = place_openmpi4(request, topology_of(Machine.load("cluster").node()), 32, 3, 3)
    >>> [mask.bit_length() - 1 for mask in masks]
    [0, 16, 1]
    """
    policy = _policy(request, total)
    if ranks > slots and not request.oversubscribe:
        raise LaunchError("-n", str(ranks), f"is more than the {slots} slots of the node")
    places = _mapped(request, policy, node, ranks, slots)
    if ranks > slots and not policy.bind_given:
        policy = policy._replace(bind="none")
    order = list(_ranked(places, policy, node, request))
    if policy.bind == "none":
        return [0] * ranks
    if policy.unit in _OBJECTS and not request.per_unit:
        # Before binding, the places are dealt out again in turn, regardless of SPAN.
        units = node.units[policy.unit]
        places = [units[number % len(units)] for number in range(ranks)]
    try:
        masks = _bound(request, policy, node, places)
    except _Overload:
        return [0] * ranks
    return [masks[at] for at in order]


def _policy(request: OpenMpiRequest, ranks: int) -> _Policy:
    """Return the policies after defaults; incompatible combinations are refused."""
    # In one piece: the rules in the order of Open MPI 4.1, where each default depends on the ones before it.
    mapped = "" if request.per_unit else request.unit
    hwthreads = request.hwthreads or "hwthread" in (mapped, request.bind)
    cpu = "hwthread" if hwthreads else "core"
    bind, given = request.bind, bool(request.bind)
    if request.width_given and request.width > 0:
        if given and bind not in (cpu, "none"):
            raise LaunchError("--bind-to", bind, f"is incompatible with PE= of --map-by, which binds a rank to {cpu}s")
        bind, given = bind or cpu, True
    unit = request.unit
    if request.width > 1:
        if mapped == "hwthread" or (mapped == "core" and not hwthreads):
            raise LaunchError("--map-by", f"PE={request.width}", "requests several CPUs of a unit that has one")
        unit = unit or "numa"
    small = ranks <= 2
    if not unit:
        unit = "socket" if request.only_modifiers else cpu if small else "numa"
    if not bind:
        bind = mapped if mapped in _OBJECTS else cpu if small else "numa"
    return _Policy(unit, _rank_policy(request), bind, given, hwthreads)


def _rank_policy(request: OpenMpiRequest) -> str:
    """Return the ranking policy: as given, otherwise derived from the mapping."""
    if request.rank:
        return request.rank
    return request.unit if request.unit in _OBJECTS and not request.per_unit else "slot"


def _cpus(mask: int, policy: _Policy, node: Topology) -> int:
    """Return the CPUs of a unit: cores, or hardware threads where they count as CPUs."""
    return mask.bit_count() if policy.hwthreads else node.count_inside(mask, "core")


def _by_pattern(request: OpenMpiRequest, policy: _Policy, node: Topology, ranks: int, slots: int) -> list[int]:
    """Return the places of ranks that are mapped by a number per unit (ppr)."""
    places = (node.everything,) if policy.unit == "node" else node.units[policy.unit]
    found = [place for place in places for _ in range(request.per_unit or 0)][:ranks]
    if len(found) < ranks:
        raise LaunchError("-n", str(ranks), f"is more than the {len(found)} ranks that the pattern of the line gives")
    if len(found) > slots and not request.oversubscribe:
        raise LaunchError("-n", str(ranks), f"is more than the {slots} slots of the node")
    return found


def _mapped(request: OpenMpiRequest, policy: _Policy, node: Topology, ranks: int, slots: int) -> list[int]:
    """Return the place that each rank is mapped to, in the order in which they are mapped."""
    if request.per_unit:
        return _by_pattern(request, policy, node, ranks, slots)
    if policy.unit in ("slot", "node"):
        return [node.everything] * ranks
    places = node.units[policy.unit]
    narrow = next((place for place in places if _cpus(place, policy, node) < request.width), None)
    if narrow is not None:
        has = f"{_cpus(narrow, policy, node)} CPUs of a {policy.unit}"
        raise LaunchError("--map-by", f"PE={request.width}", f"is more than the {has}")
    if request.span:
        each, more = divmod(ranks, len(places))
        each, more = (1, 0) if each == 0 else (each, more)
        spread = (place for number, place in enumerate(places) for _ in range(each + (number < more)))
        return list(spread)[:ranks]
    return [places[number % len(places)] for number in range(ranks)]


def _ranked(places: list[int], policy: _Policy, node: Topology, request: OpenMpiRequest) -> Iterator[int]:
    """Yield the positions of mapped ranks in the order of their numbers."""
    if policy.rank not in _OBJECTS:
        yield from range(len(places))
        return
    left = list(range(len(places)))
    units = node.units[policy.rank]
    while left:
        before = len(left)
        for unit in units:
            fitting = [at for at in left if places[at] & unit]
            for at in fitting if request.rank_fill else fitting[:1]:
                left.remove(at)
                yield at
        if len(left) == before:
            raise LaunchError("--rank-by", policy.rank, "finds ranks that are on no such unit")


def _bound(request: OpenMpiRequest, policy: _Policy, node: Topology, places: list[int]) -> list[int]:
    """Return the mask of each mapped rank."""
    units = node.units[policy.bind]
    used = [0] * len(units)
    if policy.bind == policy.unit:
        return [units[_in_place(request, policy, node, used, units.index(place))] for place in places]
    return [_downward(request, policy, node, used, place) for place in places]


def _in_place(request: OpenMpiRequest, policy: _Policy, node: Topology, used: list[int], at: int) -> int:
    """Return the unit for a rank mapped to a unit of the same kind: that unit, or the next with room."""
    units = node.units[policy.bind]
    room = [_cpus(unit, policy, node) > bound for unit, bound in zip(units, used, strict=True)]
    if not room[at]:
        elsewhere = [*range(at + 1, len(units)), *range(at - 1, -1, -1)]
        found = next((other for other in elsewhere if room[other]), None)
        if found is None:
            _check_overload(request, policy)
        else:
            at = found
    used[at] += 1
    return at


def _downward(request: OpenMpiRequest, policy: _Policy, node: Topology, used: list[int], place: int) -> int:
    """Return the mask of a rank that is bound to the least used units of its place, or of those after it."""
    units = node.units[policy.bind]
    fitting = [at for at, unit in enumerate(units) if unit & place]
    if not fitting:
        raise LaunchError("--bind-to", policy.bind, "names no unit of the place that a rank is mapped to")
    at = min(fitting, key=lambda number: used[number])
    mask = cpus = 0
    while True:
        if at == len(units):
            raise LaunchError("--map-by", f"PE={request.width}", "needs more CPUs than are left after a rank's first")
        used[at] += 1
        own = _cpus(units[at], policy, node)
        if own < used[at] and not request.overload:
            _check_overload(request, policy)
        mask |= units[at]
        cpus += own
        at += 1
        if cpus >= request.width:
            return mask


def _check_overload(request: OpenMpiRequest, policy: _Policy) -> None:
    """Reject more ranks on a unit than it has CPUs if the line sets the binding; otherwise nothing is bound."""
    if request.overload:
        return
    if policy.bind_given:
        raise LaunchError("--bind-to", policy.bind, "would put more ranks on a unit than it has CPUs")
    raise _Overload
