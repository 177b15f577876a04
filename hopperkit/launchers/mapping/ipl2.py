"""How Intel MPI 2021.15 and later pin the ranks of a node.

Ranks are distributed evenly over sockets; those of a socket over its NUMA nodes if every socket can do so, otherwise
over its cores. ``scatter`` and ``spread`` go down unit by unit and leave room between ranks. Measured with 2021.19 on
about 1,700 lines; Intel documents only the rule for NUMA nodes.

References
----------
Intel MPI Library 2021.19, Developer Reference for Linux, "Process Pinning" and "Interoperability with OpenMP API".
"""

from collections.abc import Sequence
from itertools import zip_longest

from hopperkit.launchers.mapping.intelmpi import (
    UNITS,
    IntelRequest,
    first_thread_of_each_core,
    listed_cpus,
    shares,
)
from hopperkit.launchers.mapping.openmpi import CannotTellError
from hopperkit.launchers.mapping.topology import Topology, bits

_LEVELS = ("socket", "numa", "l3", "core")


def place_ipl2(request: IntelRequest, node: Topology, ranks: int) -> list[int]:
    """Return the mask of each rank on one node.

    Parameters
    ----------
    request : IntelRequest
    node : Topology
    ranks : int

    Raises
    ------
    CannotTellError
        Where it is not known how Intel MPI pins.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.mapping.topology import topology_of
    >>> from hopperkit.launchers.mapping.intelmpi import read_intelmpi
    >>> request = read_intelmpi({"I_MPI_PIN_DOMAIN": "4"})
    >>> masks = place_ipl2(request, topology_of(Machine.load("cluster").node()), 2)
    >>> [mask.bit_length() for mask in masks]
    [4, 20]
    """
    threads = len(node.numbers) // len(node.units["core"])
    several = threads > 1
    few = ranks <= len(node.units["socket"])
    shared = len(node.units["numa"]) < len(node.units["socket"])
    core_by_core = request.cores_only or request.processors == "allcores"
    if few and ((shared and core_by_core) or (request.layout and request.domain.isdigit())):
        raise CannotTellError("How Intel MPI 2021.15 and later pin a rank or two of this kind is not known.")
    if request.processors and not request.processors.startswith("all"):
        return _listed(request, node, ranks)
    if request.processors == "allcores":
        return _all_cores(node, ranks, several=several)
    request = _with_layout(request)
    masks = _domains(request, node, ranks, threads)
    if request.cores_only and several:
        return [first_thread_of_each_core(mask, node) for mask in masks]
    return masks


def _with_layout(request: IntelRequest) -> IntelRequest:
    """Return the request with a layout read: it replaces the order, and makes a named unit an even share."""
    if request.domain.startswith("["):
        if "0x" in request.domain:
            raise CannotTellError("How Intel MPI 2021.15 and later read masks with 0x is not followed.")
        # Without 0x the list is ignored, and the default applies.
        request = request._replace(domain="auto")
    order = "bunch" if request.order == "range" else request.order
    if request.layout:
        order = "bunch" if request.layout == "platform" else request.layout
    named = request.domain in UNITS and request.layout
    return request._replace(order=order, domain="auto" if named or request.domain == "cache" else request.domain)


def _domains(request: IntelRequest, node: Topology, ranks: int, threads: int) -> list[int]:
    """Return the mask of each rank before cells are cores."""
    cores = len(node.units["core"])
    scale = threads if request.cores_only else 1
    if request.domain == "omp" and request.threads:
        size = request.threads * scale
    elif request.domain.isdigit():
        fits_threads = cores < int(request.domain) * ranks <= cores * threads
        if request.layout and request.cores_only and fits_threads:
            raise CannotTellError(
                "How Intel MPI sizes domains with a layout and I_MPI_PIN_CELL=core is not known here."
            )
        if request.layout and not fits_threads:
            scale = threads
        size = int(request.domain) * scale
    elif request.domain in UNITS:
        return _units(node, ranks, UNITS[request.domain], request.order)
    else:
        return _even_shares(node, ranks, request.order)
    if request.cores_only and threads > 1 and request.order == "scatter" and ranks == cores:
        raise CannotTellError("In which order Intel MPI numbers as many ranks as cores is not known here.")
    return _sized(node, ranks, size, request.order)


def _sort_by_socket(places: list[int], node: Topology) -> None:
    """Sort CPUs by socket, in the order in which the list first names one, then by number."""
    sockets = node.units["socket"]
    socket_of = {place: next(at for at, mask in enumerate(sockets) if mask >> place & 1) for place in places}
    order = list(dict.fromkeys(socket_of[place] for place in places))
    places.sort(key=lambda place: (order.index(socket_of[place]), place))


def _listed(request: IntelRequest, node: Topology, ranks: int) -> list[int]:
    """Return one hardware thread for each rank from a list."""
    places = listed_cpus(request.processors, node)
    threads = len(node.numbers) > len(node.units["core"])
    single_range = "," not in request.processors
    if len(places) == ranks and not (single_range and threads and request.cores_only):
        return [1 << place for place in places]
    if not single_range or len(places) > ranks or request.order != "bunch" or (threads and request.cores_only):
        raise CannotTellError("How Intel MPI deals out a list of more or fewer CPUs than ranks is not followed.")
    _sort_by_socket(places, node)
    # With fewer CPUs than ranks, only the first one of each core is used.
    kept: dict[int, int] = {}
    for place in places:
        kept.setdefault(next(core for core in node.units["core"] if core >> place & 1), place)
    used = list(kept.values())
    return [1 << used[rank % len(used)] for rank in range(ranks)]


def _all_cores(node: Topology, ranks: int, *, several: bool) -> list[int]:
    """Return the first hardware thread of one core after the other."""
    cores = node.units["core"]
    if not several or ranks > len(cores):
        raise CannotTellError("What Intel MPI does with I_MPI_PIN_PROCESSOR_LIST=allcores here is not known.")
    return [core & -core for core in cores[:ranks]]


def _inside(node: Topology, mask: int, unit: str) -> list[int]:
    """Return the units in a mask."""
    return list(node.inside(mask, unit))


def _join(units: Sequence[int], ranks: int, *, spread: bool) -> list[int]:
    """Return units joined to a share for each rank: the larger ones first, or wherever rounding down puts them."""
    each, more = divmod(len(units), ranks)
    found = []
    for rank in range(ranks):
        if spread:
            first, last = rank * len(units) // ranks, (rank + 1) * len(units) // ranks
        else:
            first, last = rank * each + min(rank, more), (rank + 1) * each + min(rank + 1, more)
        found.append(sum(units[first:last]))
    return found


def _spread_shares(ranks: int, places: int) -> list[int]:
    """Return the ranks of each place where rank i goes to place i x places / ranks, rounded down."""
    return [-(-(place + 1) * ranks // places) - -(-place * ranks // places) for place in range(places)]


def _per_socket(node: Topology, ranks: int) -> list[tuple[int, int]]:
    """Return the sockets that have ranks, with how many."""
    sockets = node.units["socket"]
    return [(socket, count) for socket, count in zip(sockets, shares(ranks, len(sockets)), strict=True) if count]


def _interleaved(parts: list[list[int]]) -> list[int]:
    """Return the first of each part, then the second ones."""
    return [mask for each in zip_longest(*parts) for mask in each if mask is not None]


def _even_shares(node: Topology, ranks: int, order: str) -> list[int]:
    """Return an even share of the node for each rank."""
    # In one piece: a decision table of Intel MPI, in which the first case that applies decides.
    total = len(node.numbers)
    if ranks > total:
        masks = _even_shares(node, total, order)
        return [masks[rank % total] for rank in range(ranks)]
    if order == "compact":
        unit = next(unit for unit in ("socket", "numa", "l3", "core", "hwthread") if ranks <= len(node.units[unit]))
        return _join(node.units[unit], ranks, spread=False)
    if ranks == 1:
        return [node.everything]
    whole = next((node.units[unit] for unit in ("l3", "core", "hwthread") if ranks == len(node.units[unit])), None)
    if whole and ranks != len(node.units["numa"]):
        return list(whole)
    if order == "bunch":
        return [mask for region, count in _regions(node, ranks, "") for mask in _split(node, region, count)]
    parts = [_spread(node, socket, count) for socket, count in _per_socket(node, ranks)]
    return _interleaved(parts) if order == "scatter" else [mask for part in parts for mask in part]


def _regions(node: Topology, ranks: int, scarce: str) -> list[tuple[int, int]]:
    """Return the regions for the ranks, with the number in each: NUMA nodes if every socket's ranks divide evenly.

    They also are NUMA nodes where a socket has fewer than two of the units `scarce` for each rank.
    """
    found: list[tuple[int, int]] = []
    sockets = _per_socket(node, ranks)
    even = all(count % max(1, len(_inside(node, socket, "numa"))) == 0 for socket, count in sockets)
    for socket, count in sockets:
        nodes = _inside(node, socket, "numa")
        tight = bool(scarce) and len(_inside(node, socket, scarce)) // count < 2
        if len(nodes) > 1 and (even or tight):
            found += [pair for pair in zip(nodes, shares(count, len(nodes)), strict=True) if pair[1]]
        else:
            found.append((socket, count))
    return found


def _split(node: Topology, mask: int, ranks: int) -> list[int]:
    """Return the even shares of a socket or a NUMA node, of the widest units that are enough."""
    cores, caches, nodes = (_inside(node, mask, unit) for unit in ("core", "l3", "numa"))
    if len(nodes) > 1 and ranks <= len(nodes):
        return _join(nodes, ranks, spread=False)
    if len(nodes) > 1 and (ranks <= len(caches) or len(cores) // ranks < 2):
        parts = zip(nodes, shares(ranks, len(nodes)), strict=True)
        return [share for part, count in parts if count for share in _split(node, part, count)]
    units = next((units for units in (caches, cores) if ranks <= len(units)), None)
    return _join(units or _inside(node, mask, "hwthread"), ranks, spread=False)


def _spread(node: Topology, mask: int, ranks: int) -> list[int]:
    """Return the shares of ranks that are spread: unit by unit from the widest on."""
    for unit in _LEVELS:
        units = _inside(node, mask, unit)
        if len(units) > 1:
            if ranks <= len(units):
                return _join(units, ranks, spread=True)
            parts = zip(units, _spread_shares(ranks, len(units)), strict=True)
            return [share for part, count in parts if count for share in _spread(node, part, count)]
    return _join(_inside(node, mask, "hwthread"), ranks, spread=True)


def _starts(node: Topology, mask: int, ranks: int) -> list[int]:
    """Return the hardware thread at which each of some ranks begins that are spread over a unit."""
    for unit in ("socket", "numa", "l3"):
        units = _inside(node, mask, unit)
        if len(units) > 1:
            parts = zip(units, _spread_shares(ranks, len(units)), strict=True)
            return [start for part, count in parts if count for start in _starts(node, part, count)]
    cores = _inside(node, mask, "core")
    if ranks <= len(cores):
        return [next(bits(cores[rank * len(cores) // ranks])) for rank in range(ranks)]
    found = []
    for core, count in zip(cores, _spread_shares(ranks, len(cores)), strict=True):
        threads = list(bits(core))
        found += [threads[rank * len(threads) // count] for rank in range(count)]
    return found


def _ring(first: int, size: int, total: int) -> int:
    """Return a mask of this many hardware threads, wrapping around."""
    mask = ((1 << size) - 1) << first
    return (mask | mask >> total) & ((1 << total) - 1)


def _sized(node: Topology, ranks: int, size: int, order: str) -> list[int]:
    """Return domains of this many hardware threads; if there are too few, they wrap around the node."""
    total = len(node.numbers)
    if size >= total:
        return [node.everything] * ranks
    if ranks * size > total or order == "compact":
        return [_ring(rank * size % total, size, total) for rank in range(ranks)]
    if order == "bunch":
        found = []
        for region, count in _regions(node, ranks, "hwthread"):
            first = next(bits(region))
            width = region.bit_count()
            found += [_ring(rank * size % width, min(size, width), width) << first for rank in range(count)]
        return found
    parts = []
    for socket, count in _per_socket(node, ranks):
        starts = _starts(node, socket, count)
        ends = [*starts[1:], socket.bit_length()]
        pairs = zip(starts, ends, strict=True)
        parts.append([((1 << min(size, end - first)) - 1) << first for first, end in pairs])
    return _interleaved(parts) if order == "scatter" else [mask for part in parts for mask in part]


def _units(node: Topology, ranks: int, unit: str, order: str) -> list[int]:
    """Return one unit of a kind for each rank."""
    # In one piece: a decision table of Intel MPI, in which the first case that applies decides.
    spread = order in ("spread", "scatter")
    if unit == "machine":
        return [node.everything] * ranks
    if unit == "numa" and spread:
        unit = "core"
    units = node.units[unit]
    if ranks > len(units):
        if spread:
            raise CannotTellError(f"How Intel MPI spreads more ranks than {unit} units is not known.")
        return [units[rank % len(units)] for rank in range(ranks)]
    if unit == "l1" or order == "compact" or ranks == len(units):
        return list(units[:ranks])
    if not spread:
        regions = _regions(node, ranks, "core")
        return [inside for region, count in regions for inside in [each for each in units if each & region][:count]]
    parts = _spread_over_sockets(node, ranks, units)
    return _interleaved(parts) if order == "scatter" else [mask for part in parts for mask in part]


def _spread_over_sockets(node: Topology, ranks: int, units: Sequence[int]) -> list[list[int]]:
    """Return the units at the starts of equal shares of each socket."""
    return [
        [next(each for each in units if each >> start & 1) for start in _starts(node, socket, count)]
        for socket, count in _per_socket(node, ranks)
    ]
