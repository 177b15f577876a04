"""Duration of a job's writes to a Lustre file system, and the limit.

Data flow through a series of limits: the tasks that write, their nodes (less to one file than to many), the OSTs in
use, their servers and the network to them, and the peak of the whole file system. Tasks share their node and nodes
share the storage by the law of `hopperlib.contention.saturation`, so the rate bends before the lowest ceiling. Four
costs are added, in time:

- metadata: every file is created, at the rate of the metadata servers, and every object of a file is opened and locked
  for the first time;
- calls: a small cost for the caller, regardless of the size;
- exchange: aggregators receive the data before they write them, or pass on the data they read
  (`hopperlib.storage.lustre.node_rates`);
- locks: if several clients write to one object of a shared file, each piece takes the lock from another client, and the
  OST waits meanwhile. With as many aggregators as stripes, each writing whole stripes, every object has one writer and
  no lock changes hands [1]_. If this number cannot keep the OSTs busy, more aggregators write, and locks of whole
  stripes are transferred.

The cost of a lock is calibrated: public IO500 runs whose shared file has a known
number of objects have a median of 2 ms (``benchmarks/README.md``, with the error
on runs that were held out). An object costs 4 ms: on two public systems each additional object took a single client 3.7
and 4.3 ms. Readers share their locks, but each of their nodes requests one from each object. The file creation rate is
that of the machine file, otherwise the median of public IO500 results on Lustre with all files in one folder. The costs
of a call and of a request are assumptions. No task of a public run exceeded 3.7 GB/s.

Separate files are distributed round-robin over the OSTs, as by Lustre's allocator while the OSTs are about equally full
[2]_.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III-A (alignment, aggregators) and III-B.
.. [2] Lustre Operations Manual, Managing Free Space, round-robin allocator.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from hopperlib.contention.saturation import TYPICAL_FACTOR
from hopperlib.errors import above, at_least, refusal
from hopperlib.machine import FileSystem
from hopperlib.storage.lustre.node_rates import (
    AGGREGATORS_PER_NODE,
    clients_rate_gb_s,
    exchange_s,
    node_rate_gb_s,
    one_file_gb_s,
)
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_GB

_PATTERNS = ("shared", "collective", "file-per-process")
# The best rate of one task through POSIX or MPI-IO in public IO500 runs; default if a machine file has none.
_TASK_CEILING_GB_S = 3.7
# Files created per second in one folder, the median of 95 public IO500 results on Lustre (``benchmarks/README.md``).
PUBLIC_CREATES_PER_S = 48_000.0
# More aggregators must save a larger share of the time than the typical error of the saturation law: smaller gains are
# uncertain. On Hopper any share of at least 6 % keeps one aggregator for each of the 144 stripes.
_WORTH = 1 / TYPICAL_FACTOR


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Costs of files, calls, locks and objects. The costs of a call and a request are assumed; the others are
    calibrated.

    Parameters
    ----------
    creates_per_s : float or None
        Files created per second; None uses the file system's record, otherwise the public median. [1/s]
    call_s : float
        One call. [s]
    lock_s : float
        Taking a lock of a piece from another client. [s]
    object_s : float
        Opening one more object of a file. [s]
    request_s : float
        Granting a reading node a lock of an object. [s]
    """

    creates_per_s: float | None = None
    call_s: float = 0.00005
    lock_s: float = 0.002
    object_s: float = 0.004
    request_s: float = 0.0001

    def __post_init__(self) -> None:
        if self.creates_per_s is not None:
            above(0, creates_per_s=self.creates_per_s)
        at_least(0, call_s=self.call_s, lock_s=self.lock_s, object_s=self.object_s, request_s=self.request_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """Description of a job's writes.

    Parameters
    ----------
    size_bytes : int
        Total size of the data. [bytes]
    writers, nodes : int
        Tasks that hold the data, and their nodes.
    pattern : {"shared", "collective", "file-per-process"}
        One file that every task writes to; one file that aggregators write to for all; or one file per task.
    block_bytes : int
        Bytes that a task writes in one call; in a shared file the tasks' blocks alternate. Aggregators write whole
        stripes. [bytes]
    reading : bool
        Whether the data are read: readers share their locks.
    aggregators : int or None
        Tasks that write a shared file for all others; None selects the number that is worthwhile.
    """

    size_bytes: int
    writers: int
    nodes: int
    pattern: str = "shared"
    block_bytes: int = 1 << 20
    reading: bool = False
    aggregators: int | None = None

    def __post_init__(self) -> None:
        if self.aggregators is not None and not 1 <= self.aggregators <= self.writers:
            raise refusal("aggregators", self.aggregators, f"must be from 1 to {self.writers:,}, the writers")
        if self.pattern not in _PATTERNS:
            raise refusal("pattern", self.pattern, f"must be one of: {', '.join(_PATTERNS)}")
        if not 1 <= self.nodes <= self.writers:
            raise refusal("nodes", self.nodes, f"must be from 1 to {self.writers:,}, the writers")
        at_least(1, size_bytes=self.size_bytes, block_bytes=self.block_bytes)


class Estimate(NamedTuple):
    """Estimated write time of a job.

    Parameters
    ----------
    time_s, rate_gb_s : float
        Time and rate for all data. [s], [GB/s]
    ceilings_gb_s : dict
        Limits imposed by tasks, clients (their nodes), their writes to one file, OSTs, servers, network and file
        system. [GB/s]
    limit : str
        The lowest ceiling.
    moving_s, metadata_s, calls_s, locks_s, exchange_s : float
        Parts of the time. [s]
    callers : int
        Tasks that write: aggregators, if any.
    """

    time_s: float
    rate_gb_s: float
    ceilings_gb_s: dict[str, float]
    limit: str
    moving_s: float
    metadata_s: float
    calls_s: float
    locks_s: float
    exchange_s: float
    callers: int

    @property
    def parts_s(self) -> dict[str, float]:
        """Parts of the time, by name. [s]"""
        names = ("moving the data", "creating files and objects", "calls", "locks", "exchange between tasks")
        parts = (self.moving_s, self.metadata_s, self.calls_s, self.locks_s, self.exchange_s)
        return dict(zip(names, parts, strict=True))


def pieces_per_call(block_bytes: int, stripe_size_bytes: int) -> float:
    """Number of objects that a call touches, averaged over consecutive calls. [objects] A call that ends inside a
    stripe leaves the rest of the stripe to the next call.

    Parameters
    ----------
    block_bytes : int
        Size of a block. [bytes]
    stripe_size_bytes : int
        Stripe size. [bytes]

    Raises
    ------
    InputError
        If a size is not positive.

    Examples
    --------
    Blocks of one stripe touch one object, blocks of a stripe and a half two:

    >>> pieces_per_call(1 << 20, 1 << 20), pieces_per_call(3 << 19, 1 << 20), pieces_per_call(1 << 18, 1 << 20)
    (1.0, 2.0, 1.0)
    """
    at_least(1, block_bytes=block_bytes, stripe_size_bytes=stripe_size_bytes)
    # Ends of calls and ends of stripes cut the file; where both fall together they cut once.
    common = math.gcd(block_bytes, stripe_size_bytes)
    return (stripe_size_bytes + block_bytes - common) / stripe_size_bytes


class _Parts(NamedTuple):
    """Parts of the time. [s]"""

    moving_s: float
    metadata_s: float
    calls_s: float
    locks_s: float
    exchange_s: float


class Pace:
    """Time of one kind of writing for any stripe count and size: `estimate` without texts, for trying many layouts.

    Parameters
    ----------
    writing : Writing
    system : FileSystem
    costs : Costs or None

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> pace = Pace(Writing(size_bytes=10**12, writers=64, nodes=16), Machine.load("toy").file_systems[0])
    >>> pace.time_s(1, 1 << 20) > pace.time_s(12, 1 << 20)
    True
    """

    def __init__(self, writing: Writing, system: FileSystem, costs: Costs | None = None) -> None:
        self.writing, self.system, self.costs = writing, system, costs or Costs()
        self.ost_gb_s = system.ost_peak_gb_s
        self.task_gb_s = system.task_write_ceiling_gb_s or _TASK_CEILING_GB_S
        self.node_gb_s = system.node_write_ceiling_gb_s
        self.creates_per_s = self.costs.creates_per_s or system.creates_per_s or PUBLIC_CREATES_PER_S
        self.own_files = writing.pattern == "file-per-process"
        self.collective = writing.pattern == "collective"
        # No source gives a ceiling for reads from one file.
        one_file = not self.own_files and not writing.reading
        self.one_file_gb_s = one_file_gb_s(system) if one_file else math.inf
        # Nodes and write rate of a number of tasks without a storage limit.
        self._unlimited: dict[int, tuple[int, float]] = {}

    def storage_gb_s(self, count: int, stripe_bytes: int) -> dict[str, float]:
        """Return the limit on the file system's side for a layout. [GB/s]

        Parameters
        ----------
        count : int
            Stripe count.
        stripe_bytes : int
            Stripe size. [bytes]
        """
        system, size = self.system, self.writing.size_bytes
        objects = count * (self.writing.writers if self.own_files else 1)
        if self.own_files:
            osts = self.ost_gb_s * objects / math.ceil(objects / system.osts)
        else:
            # The first object is the largest: full rounds and its part of the last one.
            turns, rest = divmod(size, stripe_bytes * count)
            osts = self.ost_gb_s * size / (turns * stripe_bytes + min(rest, stripe_bytes))
            osts = min(osts, self.ost_gb_s * (system.useful_stripe_count or count))
        most = {"osts": osts, "file system": system.peak_gb_s}
        if system.server_write_ceiling_gb_s:
            most["servers"] = min(objects, system.servers) * system.server_write_ceiling_gb_s
        if system.network_gb_s:
            most["network"] = system.network_gb_s
        return most

    def parts_s(self, count: int, stripe_bytes: int, most_gb_s: float) -> tuple[int, _Parts]:
        """Return the number of tasks that write, and the parts of the time.

        For a shared file with aggregators, the smallest number with nearly the best time is used.

        Parameters
        ----------
        count : int
            Stripe count.
        stripe_bytes : int
            Stripe size. [bytes]
        most_gb_s : float
            Limit on the file system's side. [GB/s]
        """
        writing = self.writing
        if not self.collective:
            return writing.writers, self._parts_of(count, stripe_bytes, writing.writers, most_gb_s)
        # Each aggregator moves whole stripes: more aggregators than stripes would be idle.
        pieces = -(-writing.size_bytes // stripe_bytes)
        # More aggregators per node gain nothing, and one may write several stripes.
        most = min(writing.writers, pieces, AGGREGATORS_PER_NODE * writing.nodes)
        fewest = writing.aggregators or min(count, most)
        if writing.aggregators:
            return fewest, self._parts_of(count, stripe_bytes, fewest, most_gb_s)
        # Multiples, so that every stripe has the same number of aggregators: one, two, four, ...
        steps = range((most // fewest).bit_length())
        choices = {
            each: self._parts_of(count, stripe_bytes, each, most_gb_s)
            for each in sorted({most, *(fewest << step for step in steps)})
        }
        least = min(map(sum, choices.values()))
        return next((each, of) for each, of in choices.items() if sum(of) * _WORTH <= least)

    def clients_gb_s(self, callers: int) -> dict[str, float]:
        """Return the bandwidth of some tasks, of their nodes, and of these nodes in one file. [GB/s]

        Parameters
        ----------
        callers : int
            Tasks that write.
        """
        nodes = min(callers, self.writing.nodes)
        most = {"tasks": callers * self.task_gb_s, "clients": nodes * self.node_gb_s}
        return most if math.isinf(self.one_file_gb_s) else most | {"one file": nodes * self.one_file_gb_s}

    def moving_gb_s(self, callers: int, most_gb_s: float) -> float:
        """Return the rate at which some tasks move data to the storage. [GB/s]

        Parameters
        ----------
        callers : int
            Tasks that write.
        most_gb_s : float
            Limit on the file system's side. [GB/s]
        """
        if callers not in self._unlimited:
            nodes = min(callers, self.writing.nodes)
            ceiling = min(self.node_gb_s, self.one_file_gb_s)
            each, over = divmod(callers, nodes)
            clients = (nodes - over) * node_rate_gb_s(each, self.task_gb_s, ceiling)
            if over:
                clients += over * node_rate_gb_s(each + 1, self.task_gb_s, ceiling)
            self._unlimited[callers] = nodes, clients
        nodes, clients = self._unlimited[callers]
        return clients_rate_gb_s(clients, nodes, most_gb_s)

    def _parts_of(self, count: int, stripe_bytes: int, callers: int, most_gb_s: float) -> _Parts:
        """Return the parts of the time if this number of tasks writes."""
        writing, costs = self.writing, self.costs
        size = writing.size_bytes
        block = stripe_bytes if self.collective else writing.block_bytes
        moving = size / BYTES_PER_GB / self.moving_gb_s(callers, most_gb_s)
        files = writing.writers if self.own_files else 1
        # Tasks open the objects of their separate files at the same time.
        metadata = files / self.creates_per_s + count * costs.object_s
        exchange = 0.0
        if self.collective and writing.writers > 1:
            exchange = exchange_s(size, aggregators=callers, tasks=writing.writers, buffer_bytes=stripe_bytes)
        locks = self._locks_s(count, block, stripe_bytes, callers)
        return _Parts(moving, metadata, size / block / callers * costs.call_s, locks, exchange)

    def _locks_s(self, count: int, block_bytes: int, stripe_bytes: int, callers: int) -> float:
        """Return the lock cost of one file for a number of writing or reading tasks. [s]"""
        clients = min(callers, self.writing.nodes)
        if self.own_files or clients == 1:
            return 0.0
        if self.writing.reading:
            # The objects grant their locks in parallel.
            return clients * self.costs.request_s
        if self.collective and callers <= count:
            return 0.0
        # Number of pieces into which blocks and stripes cut the file. A block's data on one object are contiguous, and
        # its lock covers them: there are no more locks than objects.
        pieces = 1.0 if block_bytes == stripe_bytes else min(pieces_per_call(block_bytes, stripe_bytes), count)
        return self.writing.size_bytes / block_bytes * pieces / count * self.costs.lock_s

    def time_s(self, count: int, stripe_bytes: int) -> float:
        """Return the time of all data with a layout. [s]

        Parameters
        ----------
        count : int
            Stripe count.
        stripe_bytes : int
            Stripe size. [bytes]
        """
        most = min(self.storage_gb_s(count, stripe_bytes).values())
        return sum(self.parts_s(count, stripe_bytes, most)[1])

    def estimate(self, count: int, stripe_bytes: int) -> Estimate:
        """Return the full estimate of a layout.

        Parameters
        ----------
        count : int
            Stripe count.
        stripe_bytes : int
            Stripe size. [bytes]
        """
        storage = self.storage_gb_s(count, stripe_bytes)
        callers, parts = self.parts_s(count, stripe_bytes, min(storage.values()))
        ceilings = {**self.clients_gb_s(callers), **storage}
        rate = self.writing.size_bytes / BYTES_PER_GB / sum(parts)
        limit = min(ceilings, key=ceilings.__getitem__)
        return Estimate(sum(parts), rate, ceilings, limit, *parts, callers)

    def curve(self, layout: Layout, counts: Iterable[int]) -> dict[int, Estimate]:
        """Estimate the writes for several stripe counts, including the layout's and the maximum. Counts above the
        maximum for a file are omitted.

        Parameters
        ----------
        layout : Layout
            Striping of the file, or of each file.
        counts : iterable of int
            Stripe counts to compare.

        Examples
        --------
        >>> from hopperlib.machine import Machine
        >>> toy = Machine.load("toy").file_systems[0]
        >>> pace = Pace(Writing(size_bytes=10**12, writers=64, nodes=16, pattern="collective"), toy)
        >>> curve = pace.curve(Layout(stripe_count=5, stripe_size_bytes=1 << 20, osts=toy.osts), (1, 2, 50))
        >>> list(curve), round(curve[5].rate_gb_s / curve[1].rate_gb_s)
        ([1, 2, 5, 12], 5)
        """
        most = self.system.max_stripe_count
        wanted = sorted({*(count for count in counts if count < most), layout.stripe_count, most})
        return {count: self.estimate(count, layout.stripe_size_bytes) for count in wanted}


def estimate(
    writing: Writing,
    layout: Layout,
    system: FileSystem,
    *,
    costs: Costs | None = None,
) -> Estimate:
    """Estimate the time of the writes.

    Parameters
    ----------
    writing : Writing
    layout : Layout
        Striping of the file, or of each file.
    system : FileSystem
        File system with its peak, OSTs and ceilings.
    costs : Costs or None

    Raises
    ------
    InputError
        If the layout is for another number of OSTs.

    Examples
    --------
    The documented dump to one shared file comes close to the peak before its barriers:

    >>> from hopperlib.machine import Machine
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> writing = Writing(size_bytes=31_300 * 10**9, writers=20_000, nodes=5_000, pattern="collective")
    >>> tuned = estimate(writing, Layout(stripe_count=144, stripe_size_bytes=64 << 20, osts=156), scratch)
    >>> default = estimate(writing, Layout(stripe_count=2, stripe_size_bytes=1 << 20, osts=156), scratch)
    >>> tuned.limit, round(tuned.rate_gb_s, 1), round(default.rate_gb_s, 2)
    ('osts', 30.2, 0.36)
    """
    if layout.osts != system.osts:
        raise refusal("layout.osts", layout.osts, f"must be {system.osts}, the OSTs of {system.name!r}")
    return Pace(writing, system, costs).estimate(layout.stripe_count, layout.stripe_size_bytes)
