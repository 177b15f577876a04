"""Memory of one node under the combined effects of page size, first touch, NUMA nodes and messages. These effects
cannot be added one by one: large pages save translations, but they also make first touch coarser, so data may be on the
wrong NUMA node and the channels of one NUMA node serve all cores. Here one rate follows from all of them:

==========================  ==================================================================================
`Placement`                 share of the data on each NUMA node, from who touches it first and the page size
`core_rate_gb_s`            rate of one core, reduced by remote memory and TLB misses
`read_rate_gb_s`            rate of all cores, limited by cores, channels and links together
`stream_by_threads`         the same by number of threads, spread over the NUMA nodes or packed
`first_touch_s`             time to map and clear new memory, page by page
`page_size_ratio`           run time with large pages over small ones, including messages
==========================  ==================================================================================

Cores, channels and links are combined by `hopperlib.contention.saturation.soft_minimum`: random requests wait for each
other before a channel is saturated [1]_. Not modeled: caches, replicas of pages, migration by the kernel, and page
tables on remote NUMA nodes.

References
----------
.. [1] `hopperlib.contention.saturation`, with the public curves that set its sharpness.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hopperlib.contention.saturation import SHARPNESS, soft_minimum
from hopperlib.errors import above, at_least, refusal, within
from hopperlib.machine import NodeKind
from hopperlib.placement.models.pages import paged_bandwidth_gb_s

_PAGE_BYTES = 4096


class MemorySystem(NamedTuple):
    """Cores and memory of a node.

    Parameters
    ----------
    numa_nodes, cores : int
        NUMA nodes, and cores of each.
    channels_gb_s : float
        Attainable bandwidth of the channels of one NUMA node. [GB/s]
    core_gb_s : float
        Bandwidth of one core alone on its local NUMA node. [GB/s]
    far_fraction : float
        Bandwidth of one core on a remote NUMA node's memory over that on its local one. [0-1]
    link_gb_s : float or None
        Bandwidth out of a NUMA node to all others together; None does not limit. [GB/s]
    """

    numa_nodes: int
    cores: int
    channels_gb_s: float
    core_gb_s: float
    far_fraction: float = 0.6
    link_gb_s: float | None = None

    @classmethod
    def of(cls, kind: NodeKind) -> "MemorySystem":
        """The memory system of a kind of node in a machine file.

        Parameters
        ----------
        kind : NodeKind
            Kind of node.
        """
        link = kind.numa_link_gb_s
        return cls(
            numa_nodes=kind.numa_nodes,
            cores=kind.cores_per_numa_node,
            channels_gb_s=kind.numa_bandwidth_gb_s,
            core_gb_s=kind.core_bandwidth_cap_gb_s,
            far_fraction=kind.remote_bandwidth_fraction,
            link_gb_s=None if link is None else link * (kind.numa_nodes - 1),
        )


class Placement(NamedTuple):
    """Location of a parallel program's data.

    Parameters
    ----------
    shares : tuple of float
        Share of all data on each NUMA node; they add up to 1.
    far : float
        Share of a thread's accesses that go to another NUMA node. [0-1]
    """

    shares: tuple[float, ...]
    far: float

    @classmethod
    def interleaved(cls, numa_nodes: int) -> "Placement":
        """Pages interleaved over all NUMA nodes.

        Parameters
        ----------
        numa_nodes : int
            NUMA nodes of the node.

        Examples
        --------
        >>> Placement.interleaved(4).far
        0.75
        """
        return cls((1 / numa_nodes,) * numa_nodes, 1 - 1 / numa_nodes)

    @classmethod
    def on_one_numa_node(cls, numa_nodes: int) -> "Placement":
        """All data on the NUMA node of the single thread that touched it first.

        Parameters
        ----------
        numa_nodes : int
            NUMA nodes of the node.

        Examples
        --------
        >>> Placement.on_one_numa_node(4).shares
        (1.0, 0.0, 0.0, 0.0)
        """
        return cls((1.0, *(0.0,) * (numa_nodes - 1)), 1 - 1 / numa_nodes)

    @classmethod
    def first_touched_in_pieces(cls, numa_nodes: int, piece_bytes: float, page_bytes: int) -> "Placement":
        """Every thread touches the data that it will use, in contiguous pieces; a page goes to the NUMA node of the
        thread that touches it first. A piece of many pages has one edge page, half of which belongs to another thread.
        A page with several pieces serves them all from one NUMA node.

        Parameters
        ----------
        numa_nodes : int
        piece_bytes : float
            Contiguous data of one thread. [bytes, above 0]
        page_bytes : int
            [bytes, above 0]

        Raises
        ------
        InputError
            If a size is not above 0.

        Examples
        --------
        Pieces of 64 KB on four NUMA nodes: small pages are placed correctly except at the edges, pages of 2 MB hardly
        at all:

        >>> [round(Placement.first_touched_in_pieces(4, 65536, page).far, 3) for page in (4096, 2 << 20)]
        [0.023, 0.738]
        """
        above(0, piece_bytes=piece_bytes, page_bytes=page_bytes)
        pages = piece_bytes / page_bytes
        # Pieces begin anywhere in a page. In a piece of many pages, half of one edge page belongs to another thread; in
        # a page of many pieces, all pieces but one do.
        wrong = 1 / (2 * pages) if pages >= 1 else 1 - pages / 2
        return cls((1 / numa_nodes,) * numa_nodes, (1 - 1 / numa_nodes) * wrong)


class Translation(NamedTuple):
    """Cost of TLB misses.

    Parameters
    ----------
    walk_ns : float
        Time of one page walk that is not overlapped. [ns]
    entries : int
        TLB entries of a core for a page size.
    bytes_per_access : float
        Data used per access, such as a cache line of 64 bytes. [bytes, above 0]
    working_set_bytes : float
        Memory range of a core's accesses. [bytes, above 0]
    is_stream : bool
        Whether accesses are consecutive, so that each page is used from end to end.
    """

    walk_ns: float
    entries: int
    bytes_per_access: float
    working_set_bytes: float
    is_stream: bool = False

    def cost_ns_per_byte(self, page_bytes: int) -> float:
        """Time of page walks per byte of data. [ns/B]

        Parameters
        ----------
        page_bytes : int
            Page size. [bytes]

        Examples
        --------
        Random lines in 1 GB: with small pages every access misses; 1,536 large pages cover all of it:

        >>> table = Translation(20.0, 1536, 64, 1 << 30)
        >>> round(table.cost_ns_per_byte(4096), 3), table.cost_ns_per_byte(2 << 20)
        (0.311, 0.0)
        """
        missing = max(1 - self.entries * page_bytes / self.working_set_bytes, 0.0)
        # A stream uses a whole page before moving to the next, so larger pages need fewer walks.
        used = max(self.bytes_per_access, page_bytes) if self.is_stream else self.bytes_per_access
        return missing * self.walk_ns / used


def core_rate_gb_s(
    node: MemorySystem, placement: Placement, *, page_bytes: int = _PAGE_BYTES, translation: Translation | None = None
) -> float:
    """Rate of one core, given its share of remote memory and its page walks. [GB/s]

    Parameters
    ----------
    node : MemorySystem
    placement : Placement
    page_bytes : int
        [bytes]
    translation : Translation or None
        None ignores page walks.

    Examples
    --------
    >>> node = MemorySystem(2, 8, 40.0, 10.0, far_fraction=0.5)
    >>> core_rate_gb_s(node, Placement((0.5, 0.5), 0.0)), round(core_rate_gb_s(node, Placement.interleaved(2)), 2)
    (10.0, 6.67)
    """
    ns_per_byte = (1 - placement.far + placement.far / node.far_fraction) / node.core_gb_s
    if translation:
        ns_per_byte += translation.cost_ns_per_byte(page_bytes)
    return 1 / ns_per_byte


def read_rate_gb_s(
    node: MemorySystem,
    placement: Placement,
    *,
    threads: int | None = None,
    page_bytes: int = _PAGE_BYTES,
    translation: Translation | None = None,
    sharpness: float = SHARPNESS,
) -> float:
    """Combined rate of all threads, spread over the NUMA nodes and reading equal amounts. [GB/s]

    Parameters
    ----------
    node : MemorySystem
    placement : Placement
    threads : int or None
        None puts one thread on every core.
    page_bytes : int
        [bytes]
    translation : Translation or None
    sharpness : float
        As in `hopperlib.contention.saturation.soft_minimum`.

    Raises
    ------
    InputError
        If there are more threads than cores, or the number of shares is not the number of NUMA nodes.

    Examples
    --------
    Four NUMA nodes of 20 GB/s, with all data on one of them, and interleaved over all:

    >>> node = MemorySystem(4, 8, 20.0, 10.0)
    >>> [round(read_rate_gb_s(node, where(4))) for where in (Placement.on_one_numa_node, Placement.interleaved)]
    [20, 77]
    """
    cores = node.numa_nodes * node.cores
    count = cores if threads is None else threads
    within(1, cores, ", the cores of the node", threads=count)
    if len(placement.shares) != node.numa_nodes:
        raise refusal("shares", placement.shares, f"must be {node.numa_nodes}, one for each NUMA node")
    fullest = max(placement.shares)
    rate = count * core_rate_gb_s(node, placement, page_bytes=page_bytes, translation=translation)
    rate = soft_minimum(rate, node.channels_gb_s / fullest, sharpness)
    if node.link_gb_s is not None and placement.far > 0:
        # The links of the NUMA node with the most data carry the reads of the others.
        rate = soft_minimum(rate, node.link_gb_s / (fullest * placement.far), sharpness)
    return rate


def stream_by_threads(
    node: MemorySystem, threads: Sequence[int], *, packed: bool = False, sharpness: float = SHARPNESS
) -> list[float]:
    """Rate of STREAM for several numbers of threads with local memory, spread over the NUMA nodes or packed. [GB/s]

    Parameters
    ----------
    node : MemorySystem
    threads : sequence of int
        [1 to the cores of the node]
    packed : bool
        Whether threads fill one NUMA node before the next; the rate is then the sum over the NUMA nodes.
    sharpness : float

    Raises
    ------
    InputError
        If there are more threads than cores.

    Examples
    --------
    Two sockets of eight cores: with packed threads, the second socket's channels are idle until the first socket is
    full.

    >>> node = MemorySystem(2, 8, 40.0, 10.0)
    >>> [[round(rate) for rate in stream_by_threads(node, (1, 8, 16), packed=packed)] for packed in (False, True)]
    [[10, 61, 75], [10, 37, 75]]
    """
    rates = []
    for count in threads:
        within(1, node.numa_nodes * node.cores, ", the cores of the node", threads=count)
        if packed:
            full, rest = divmod(count, node.cores)
            parts = [node.cores] * full + [rest] * bool(rest)
        else:
            least, more = divmod(count, node.numa_nodes)
            parts = [least + (place < more) for place in range(node.numa_nodes)]
        rates.append(sum(soft_minimum(part * node.core_gb_s, node.channels_gb_s, sharpness) for part in parts if part))
    return rates


def first_touch_s(memory_bytes: float, page_bytes: int, *, fault_us: float, clear_gb_s: float) -> float:
    """Time to map new memory: one page fault per page, and the clearing of its bytes. [s]

    Reading memory that was never written maps a shared page of zeros without clearing: use an infinite rate.

    Parameters
    ----------
    memory_bytes : float
        [bytes, at least 0]
    page_bytes : int
        [bytes, above 0]
    fault_us : float
        Cost of one fault without clearing. [us, at least 0]
    clear_gb_s : float
        Rate of clearing. [GB/s, above 0]

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    4 GiB in pages of 4 KB take a million faults; in pages of 2 MB only the clearing counts:

    >>> [round(first_touch_s(4 << 30, page, fault_us=0.2, clear_gb_s=10.0), 2) for page in (4096, 2 << 20)]
    [0.64, 0.43]
    """
    at_least(0, memory_bytes=memory_bytes, fault_us=fault_us)
    above(0, page_bytes=page_bytes, clear_gb_s=clear_gb_s)
    return memory_bytes / page_bytes * fault_us * 1e-6 + memory_bytes / clear_gb_s * 1e-9


class PageRun(NamedTuple):
    """A run's use of memory and messages; shares are of its time with small pages, and may add up to less than 1.

    Parameters
    ----------
    memory_share, message_share, mapping_share : float
        Shares of time spent waiting for memory, on messages between nodes, and mapping new memory. [0-1]
    """

    memory_share: float
    message_share: float = 0.0
    mapping_share: float = 0.0


def page_size_ratio(
    run: PageRun,
    node: MemorySystem,
    *,
    piece_bytes: float,
    large_bytes: int = 2 << 20,
    small_bytes: int = _PAGE_BYTES,
    translation: Sequence[Translation] | None = None,
    messages: tuple[float, float] | None = None,
    clear_share: float = 0.5,
) -> float:
    """Run time with large pages over that with small ones. [ratio]

    Parameters
    ----------
    run : PageRun
    node : MemorySystem
    piece_bytes : float
        Contiguous data that one thread touches first and uses. [bytes]
    large_bytes, small_bytes : int
        [bytes]
    translation : sequence of Translation or None
        For small and for large pages, as a core holds a different number of each; None ignores page walks.
    messages : tuple of float or None
        Bandwidth of messages without page costs, and cost of a page in the interface. [GB/s, us]
    clear_share : float
        Share of the mapping time spent clearing, which does not change. [0-1]

    Raises
    ------
    InputError
        If shares are below 0 or add up to more than 1.

    Examples
    --------
    With large pieces and random accesses, large pages are faster. With small pieces on eight NUMA nodes and streams,
    they are slower.

    >>> node = MemorySystem(8, 16, 40.0, 10.0, far_fraction=0.5)
    >>> tables = [Translation(30.0, entries, 64, 1 << 30) for entries in (1536, 1536)]
    >>> run = PageRun(memory_share=0.6)
    >>> round(page_size_ratio(run, node, piece_bytes=1 << 30, translation=tables), 2)
    0.77
    >>> page_size_ratio(run, node, piece_bytes=65536) > 1
    True
    """
    parts = (run.memory_share, run.message_share, run.mapping_share)
    if min(parts) < 0 or sum(parts) > 1:
        raise refusal("run", tuple(run), "must be shares of the run time, none below 0, that add up to at most 1")
    within(0, 1, clear_share=clear_share)
    tables = translation or (None, None)
    small, large = (
        read_rate_gb_s(
            node,
            Placement.first_touched_in_pieces(node.numa_nodes, piece_bytes, page),
            page_bytes=page,
            translation=table,
        )
        for page, table in zip((small_bytes, large_bytes), tables, strict=True)
    )
    # Each share of the run time is scaled by what page size does to it; clearing and the rest are not scaled.
    message = 1.0
    if messages:
        link_gb_s, cost_us = messages
        message = paged_bandwidth_gb_s(small_bytes, large_gb_s=link_gb_s, page_cost_us=cost_us) / paged_bandwidth_gb_s(
            large_bytes, large_gb_s=link_gb_s, page_cost_us=cost_us
        )
    mapping = clear_share + (1 - clear_share) * small_bytes / large_bytes
    return 1 - sum(parts) + run.memory_share * small / large + run.message_share * message + run.mapping_share * mapping
