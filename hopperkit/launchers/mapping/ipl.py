"""How Intel MPI up to 2021.14 pins the ranks of a node.

A domain has as many hardware threads as each rank may use; NUMA nodes get domains in turn if they are large enough,
otherwise domains follow each other, split at NUMA nodes from 2021.12 on. Measured with 2021.9 and 2021.14 on about
1,500 lines each; cases without a known rule are reported as unknown.

References
----------
Intel MPI Library 2021.9 and 2021.14, Developer Reference for Linux, "Process Pinning" and "Interoperability with OpenMP
API".
"""

from hopperkit.launchers.mapping.intelmpi import UNITS, IntelRequest, listed_cpus, listed_masks, shares
from hopperkit.launchers.mapping.openmpi import CannotTellError
from hopperkit.launchers.mapping.topology import Topology, bits


def place_ipl(request: IntelRequest, node: Topology, ranks: int, *, by_numa_node: bool) -> list[int]:
    """Return the mask of each rank on one node.

    Parameters
    ----------
    request : IntelRequest
    node : Topology
    ranks : int
    by_numa_node : bool
        Whether uneven counts are distributed by NUMA node, as from 2021.12 on.

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
    >>> masks = place_ipl(request, topology_of(Machine.load("cluster").node()), 2, by_numa_node=True)
    >>> [mask.bit_length() for mask in masks]
    [4, 20]
    """
    if request.domain.startswith("["):
        masks = listed_masks(request.domain, node)
        return [masks[rank % len(masks)] for rank in range(ranks)]
    if request.processors:
        places = _listed(request, node)
        return [1 << places[rank % len(places)] for rank in range(ranks)]
    if request.cores_only and len(node.numbers) > len(node.units["core"]):
        reduced, places = _cores_alone(node)
        masks = _domains(request, reduced, ranks, by_numa_node=by_numa_node)
        return [sum(1 << places[bit] for bit in bits(mask)) for mask in masks]
    return _domains(request, node, ranks, by_numa_node=by_numa_node)


def _listed(request: IntelRequest, node: Topology) -> list[int]:
    """Return the hardware threads of ``I_MPI_PIN_PROCESSOR_LIST``, which ranks get in turn."""
    firsts = [next(bits(core)) for core in node.units["core"]]
    numbers = [node.numbers[place] for place in firsts]
    if request.processors in ("all", "allcores") and numbers == sorted(numbers):
        return firsts if request.processors == "allcores" else list(range(len(node.numbers)))
    if request.processors == "allsocks" and request.order == "bunch":
        return [next(bits(socket)) for socket in node.units["socket"]]
    return listed_cpus(request.processors, node)


def _cores_alone(node: Topology) -> tuple[Topology, list[int]]:
    """Return a node with the first hardware thread of each core alone, and where those are in the node."""
    places = [next(bits(core)) for core in node.units["core"]]
    at = {place: number for number, place in enumerate(places)}

    def reduced(mask: int) -> int:
        return sum(1 << at[bit] for bit in bits(mask) if bit in at)

    units = {name: tuple(map(reduced, masks)) for name, masks in node.units.items() if name != "hwthread"}
    return Topology(tuple(node.numbers[place] for place in places), {**units, "hwthread": units["core"]}), places


def _domains(request: IntelRequest, node: Topology, ranks: int, *, by_numa_node: bool) -> list[int]:
    """Return the mask of each rank; a cell is a hardware thread of this node."""
    if request.order in ("range", "spread"):
        raise CannotTellError(f"How Intel MPI up to 2021.14 pins with I_MPI_PIN_ORDER={request.order} is not followed.")
    if _has_unit_layout(request):
        return _units_of_one(request, node, ranks)
    domain = request.domain
    if domain in ("cache", "cache3") and _caches_are_hidden(node):
        raise CannotTellError("Which caches Intel MPI up to 2021.14 sees on this node is not known.")
    if request.order == "scatter":
        return _scattered(request, node, ranks)
    if request.order == "compact":
        return _compact(request, node, ranks)
    if domain == "omp" and not request.threads:
        return _omp_of_unknown_size(node, ranks, by_numa_node=by_numa_node)
    if domain == "auto":
        _check_auto(request, node, ranks, by_numa_node=by_numa_node)
        return _even_shares(node, ranks, by_numa_node=by_numa_node)
    if domain.isdigit() or domain == "omp":
        size = int(domain) if domain.isdigit() else request.threads or 1
        return _sized(node, ranks, size, by_numa_node=by_numa_node)
    return _units(node, ranks, "l3" if domain == "cache" else UNITS[domain])


def _has_unit_layout(request: IntelRequest) -> bool:
    """Whether a layout follows a named unit, or auto with an order; after numa it has no effect."""
    named = request.domain in (*UNITS, "cache") and request.domain != "numa"
    return bool(request.layout) and (named or (request.domain == "auto" and request.order != "bunch"))


def _units_of_one(request: IntelRequest, node: Topology, ranks: int) -> list[int]:
    """Return domains of one hardware thread, as which a named unit with a layout is read."""
    if request.order != "bunch" or request.domain == "auto" or ranks > len(node.numbers):
        raise CannotTellError("What Intel MPI up to 2021.14 does with this domain, its layout and order is not known.")
    return [1 << rank for rank in range(ranks)]


def _omp_of_unknown_size(node: Topology, ranks: int, *, by_numa_node: bool) -> list[int]:
    """Return the whole node for each rank: domains of omp without OMP_NUM_THREADS, up to 2021.9."""
    if by_numa_node:
        raise CannotTellError("How large Intel MPI 2021.12 to 2021.14 makes omp without OMP_NUM_THREADS is not known.")
    return [node.everything] * ranks


def _check_auto(request: IntelRequest, node: Topology, ranks: int, *, by_numa_node: bool) -> None:
    """Reject equal shares in 2021.9 that are not whole numbers of cores."""
    total, cores = len(node.numbers), len(node.units["core"])
    if by_numa_node:
        return
    if cores < ranks < total:
        raise CannotTellError("Which hardware threads Intel MPI 2021.9 takes for more ranks than cores is not known.")
    if request.cores_only and total // ranks == 1 and ranks < total:
        raise CannotTellError("Which cores Intel MPI 2021.9 leaves free is not known.")


def _caches_are_hidden(node: Topology) -> bool:
    """Whether NUMA nodes are within sockets and caches within NUMA nodes."""
    sockets, nodes, caches = (len(node.units[unit]) for unit in ("socket", "numa", "l3"))
    return nodes > sockets and caches != nodes


def _run(first: int, size: int) -> int:
    """Return a mask of this many consecutive hardware threads."""
    return ((1 << size) - 1) << first


def _in_turn(node: Topology, ranks: int, size: int) -> list[int]:
    """Return consecutive domains, restarting from the first when all are used."""
    domains = len(node.numbers) // size
    return [_run(rank % domains * size, size) for rank in range(ranks)]


def _in_units(parts: list[tuple[int, int]], size: int) -> list[int]:
    """Return domains of each unit, as many as its ranks."""
    return [_run(next(bits(unit)) + rank * size, size) for unit, count in parts for rank in range(count)]


def _even_shares(node: Topology, ranks: int, *, by_numa_node: bool) -> list[int]:
    """Return an even share of the node for each rank."""
    total = len(node.numbers)
    if ranks > total:
        masks = _even_shares(node, total, by_numa_node=by_numa_node)
        return [masks[rank % total] for rank in range(ranks)]
    return _sized(node, ranks, total // ranks, by_numa_node=by_numa_node)


def _sized(node: Topology, ranks: int, size: int, *, by_numa_node: bool) -> list[int]:
    """Return domains of this many hardware threads."""
    nodes = node.units["numa"]
    width = nodes[0].bit_count()
    if size >= len(node.numbers):
        return [node.everything] * ranks
    counts = shares(ranks, len(nodes))
    if size > width and ranks < len(nodes) and len(nodes) % ranks == 0:
        return _in_turn(node, ranks, size)
    if counts[0] * size <= width:
        return _in_units(list(zip(nodes, counts, strict=True)), size)
    if not by_numa_node:
        return _in_turn(node, ranks, size)
    if ranks * size > len(node.numbers):
        raise CannotTellError("What Intel MPI 2021.10 to 2021.14 does with more domains than fit is not known.")
    return _by_numa_node(node, ranks)


def _by_numa_node(node: Topology, ranks: int) -> list[int]:
    """Return domains as large as the NUMA node with the most ranks allows; sockets take their share of ranks in turn."""
    sockets, nodes = node.units["socket"], node.units["numa"]
    parts = [(nodes[0], ranks)]
    if len(nodes) >= len(sockets):
        most = -(-ranks // len(sockets))
        of_socket = [list(node.inside(socket, "numa")) for socket in sockets]
        parts = [part for region in of_socket for part in zip(region, shares(most, len(region)), strict=True)]
    size = nodes[0].bit_count() // max(count for _, count in parts)
    if not size:
        raise CannotTellError(
            "What Intel MPI 2021.10 to 2021.14 does with more ranks than hardware threads is not known."
        )
    return _in_units(parts, size)[:ranks]


def _domain_size(request: IntelRequest, total: int, ranks: int) -> int:
    """Return the hardware threads of a domain: a number, an equal share, or the threads of a rank; 0 if unknown."""
    if request.domain.isdigit():
        return int(request.domain)
    if request.domain == "omp":
        return request.threads or 0
    return total // ranks if request.domain == "auto" and total % ranks == 0 else 0


def _socket_domains(node: Topology, socket: int, size: int, width: int) -> list[int]:
    """Return the domains of one size in a socket: over its NUMA nodes in turn, or each over whole NUMA nodes."""
    nodes = list(node.inside(socket, "numa"))
    if size <= width and nodes:
        return [_run(next(bits(numa)) + rank * size, size) for rank in range(width // size) for numa in nodes]
    if size % width == 0 and socket.bit_count() % size == 0:
        first = next(bits(socket))
        return [_run(first + rank * size, size) for rank in range(socket.bit_count() // size)]
    return []


def _scattered(request: IntelRequest, node: Topology, ranks: int) -> list[int]:
    """Return domains socket by socket and NUMA node by NUMA node in turn."""
    total, width = len(node.numbers), node.units["numa"][0].bit_count()
    size, threads = _domain_size(request, total, ranks), total // len(node.units["core"])
    simple = len(node.units["l3"]) == len(node.units["numa"])
    if not simple or size % threads or not size or size * ranks > total:
        raise CannotTellError("How Intel MPI up to 2021.14 scatters these domains is not known.")
    parts = []
    for socket in node.units["socket"]:
        if domains := _socket_domains(node, socket, size, width):
            parts.append(domains)
    found = [mask for each in zip(*parts, strict=True) for mask in each]
    if len(found) < ranks or len(parts) < len(node.units["socket"]):
        raise CannotTellError("How Intel MPI up to 2021.14 scatters these domains is not known.")
    return found[:ranks]


def _compact(request: IntelRequest, node: Topology, ranks: int) -> list[int]:
    """Return consecutive domains."""
    total = len(node.numbers)
    if request.domain in (*UNITS, "cache"):
        units = node.units["l3" if request.domain == "cache" else UNITS[request.domain]]
        return [units[rank % len(units)] for rank in range(ranks)]
    size = int(request.domain) if request.domain.isdigit() else request.threads or 0
    size = total // ranks if request.domain == "auto" else size
    if not 1 <= size < total or size * ranks > total:
        raise CannotTellError("How Intel MPI up to 2021.14 packs domains that do not fit is not known.")
    return _in_turn(node, ranks, size)


def _units(node: Topology, ranks: int, unit: str) -> list[int]:
    """Return one unit of a kind for each rank."""
    units, nodes = node.units["core" if unit in ("l1", "l2") else unit], node.units["numa"]
    if unit == "machine":
        return [node.everything] * ranks
    if ranks > len(units):
        return [units[rank % len(units)] for rank in range(ranks)]
    if len(units) > len(nodes) and unit != "l3":
        parts = zip(nodes, shares(ranks, len(nodes)), strict=True)
        return [own for part, count in parts for own in list(node.inside(part, "core"))[:count]]
    return list(units[:ranks])
