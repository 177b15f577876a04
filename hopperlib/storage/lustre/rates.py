"""How long a job's writes to a Lustre file system take, and what limits them.

Data flow through three ceilings: what the clients pass on, what the OSTs in use
take, and the peak of the whole file system; the lowest sets the rate. Three
things come on top, and are paid in time:

- metadata: every file is created, one after the other;
- calls: each costs its caller a little, whatever its size;
- locks: where several clients write to one object of a shared file, each piece
  takes the lock away from somebody else, and the OST waits meanwhile. With as
  many aggregators as stripes, each writing whole stripes, every object has one
  writer and no lock changes hands [1]_.

The costs of a file, a call and a lock are printed nowhere: they are assumed.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III-A (alignment, aggregators) and III-B.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from hopperlib.errors import at_least, refusal
from hopperlib.machine import FileSystem
from hopperlib.storage.lustre.imbalance import expected_fullest
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_GB

__all__ = [
    "Costs",
    "Estimate",
    "Writing",
    "block_access_time_s",
    "estimate",
    "mean_ost_loads_gb",
    "pieces_per_call",
    "rate_curve",
]

_PATTERNS = ("shared", "collective", "file-per-process")


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What files, calls and locks cost. All assumed.

    Parameters
    ----------
    file_s : float
        Creating or opening one file on the metadata server. [s]
    call_s : float
        One call. [s]
    lock_s : float
        Taking a lock of a piece from another client. [s]
    """

    file_s: float = 0.0002
    call_s: float = 0.00005
    lock_s: float = 0.002

    def __post_init__(self) -> None:
        at_least(0, file_s=self.file_s, call_s=self.call_s, lock_s=self.lock_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """Who writes how much, and how.

    Parameters
    ----------
    size_bytes : int
        All data together. [bytes]
    writers, nodes : int
        Tasks that hold the data, and the nodes they run on.
    pattern : {"shared", "collective", "file-per-process"}
        One file that every task writes to; one file that aggregators write to
        for all; or one file a task.
    block_bytes : int
        What a task writes in one call; in a shared file the tasks' blocks
        take turns. Aggregators write whole stripes. [bytes]
    reading : bool
        Whether the data are read: readers share their locks.
    """

    size_bytes: int
    writers: int
    nodes: int
    pattern: str = "shared"
    block_bytes: int = 1 << 20
    reading: bool = False

    def __post_init__(self) -> None:
        if self.pattern not in _PATTERNS:
            raise refusal("pattern", self.pattern, f"must be one of: {', '.join(_PATTERNS)}")
        if not 1 <= self.nodes <= self.writers:
            raise refusal("nodes", self.nodes, f"must be from 1 to {self.writers:,}, the writers")
        at_least(1, size_bytes=self.size_bytes, block_bytes=self.block_bytes)


class Estimate(NamedTuple):
    """What a job's writes take.

    Parameters
    ----------
    time_s, rate_gb_s : float
        Of all data. [s], [GB/s]
    ceilings_gb_s : dict
        What clients, OSTs and file system would each allow. [GB/s]
    limit : str
        The lowest ceiling: ``clients``, ``osts`` or ``file system``.
    moving_s, metadata_s, calls_s, locks_s : float
        Parts of the time. [s]
    """

    time_s: float
    rate_gb_s: float
    ceilings_gb_s: dict[str, float]
    limit: str
    moving_s: float
    metadata_s: float
    calls_s: float
    locks_s: float

    @property
    def parts_s(self) -> dict[str, float]:
        """Where the time goes, by name. [s]"""
        return {
            "moving the data": self.moving_s,
            "creating files": self.metadata_s,
            "calls": self.calls_s,
            "locks": self.locks_s,
        }


def pieces_per_call(block_bytes: int, stripe_size_bytes: int) -> float:
    """Objects that a call touches, on average over calls one after the other. [pieces]

    A call that ends inside a stripe leaves the rest to the next one.

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


def _ost_ceiling(writing: Writing, layout: Layout, ost_rate_gb_s: float) -> float:
    """Return the rate at which the fullest OST is done with its share when all are. [GB/s]"""
    if writing.pattern == "file-per-process":
        objects = writing.writers * layout.stripe_count
        fullest = expected_fullest(writing.writers, layout.stripe_count, layout.osts)
        return ost_rate_gb_s * objects / fullest
    largest = max(layout.object_sizes_bytes(writing.size_bytes))
    return ost_rate_gb_s * writing.size_bytes / largest


def estimate(
    writing: Writing,
    layout: Layout,
    system: FileSystem,
    *,
    costs: Costs | None = None,
    other_load_fraction: float = 0.0,
) -> Estimate:
    """Return what the writes take.

    Parameters
    ----------
    writing : Writing
    layout : Layout
        Striping of the file, or of each of the files; those are taken to lie on OSTs at random.
    system : FileSystem
        Its peak, OSTs and client ceiling.
    costs : Costs or None
    other_load_fraction : float
        Share of every OST and of the peak that other jobs take. [fraction]

    Raises
    ------
    InputError
        If the layout is for another number of OSTs, or the share is not below 1.

    Examples
    --------
    The documented dump to one shared file comes close to the peak before its barriers:

    >>> from hopperlib.machine import Machine
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> writing = Writing(size_bytes=31_300 * 10**9, writers=20_000, nodes=5_000, pattern="collective")
    >>> tuned = estimate(writing, Layout(stripe_count=144, stripe_size_bytes=64 << 20, osts=156), scratch)
    >>> default = estimate(writing, Layout(stripe_count=2, stripe_size_bytes=1 << 20, osts=156), scratch)
    >>> tuned.limit, round(tuned.rate_gb_s, 1), round(default.rate_gb_s, 2)
    ('osts', 32.3, 0.44)
    """
    if layout.osts != system.osts:
        raise refusal("layout.osts", layout.osts, f"must be {system.osts}, the OSTs of {system.name!r}")
    if not 0 <= other_load_fraction < 1:
        raise refusal("other_load_fraction", other_load_fraction, "must be from 0 to below 1")
    costs = costs or Costs()
    free = 1 - other_load_fraction
    collective = writing.pattern == "collective"
    callers = min(layout.stripe_count, writing.writers) if collective else writing.writers
    block = layout.stripe_size_bytes if collective else writing.block_bytes
    # Aggregators are spread over the nodes.
    clients = min(callers, writing.nodes)
    ceilings = {
        "clients": clients * system.node_write_ceiling_gb_s,
        "osts": free * _ost_ceiling(writing, layout, system.ost_peak_gb_s),
        "file system": free * system.peak_gb_s,
    }
    limit = min(ceilings, key=ceilings.__getitem__)
    moving = writing.size_bytes / BYTES_PER_GB / ceilings[limit]
    files = writing.writers if writing.pattern == "file-per-process" else 1
    calls = writing.size_bytes / block / callers * costs.call_s
    contended = writing.pattern == "shared" and clients > 1 and not writing.reading
    # Blocks and stripes cut the file into so many pieces, and each takes a lock.
    pieces = writing.size_bytes / block * pieces_per_call(block, layout.stripe_size_bytes) if contended else 0.0
    locks = pieces / layout.stripe_count * costs.lock_s
    time_s = moving + files * costs.file_s + calls + locks
    return Estimate(
        time_s,
        writing.size_bytes / BYTES_PER_GB / time_s,
        ceilings,
        limit,
        moving,
        files * costs.file_s,
        calls,
        locks,
    )


def rate_curve(
    writing: Writing,
    layout: Layout,
    system: FileSystem,
    counts: Iterable[int],
    *,
    costs: Costs | None = None,
    other_load_fraction: float = 0.0,
) -> dict[int, Estimate]:
    """Return what the writes take for several stripe counts, that of the layout and the most there may be among them.

    Parameters
    ----------
    writing, layout, system, costs, other_load_fraction
        As for `estimate`.
    counts : iterable of int
        Those above the most that a file may have are left out.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> toy = Machine.load("toy").file_systems[0]
    >>> writing = Writing(size_bytes=10**12, writers=64, nodes=16, pattern="collective")
    >>> curve = rate_curve(writing, Layout(stripe_count=5, stripe_size_bytes=1 << 20, osts=toy.osts), toy, (1, 2, 50))
    >>> list(curve), round(curve[5].rate_gb_s / curve[1].rate_gb_s)
    ([1, 2, 5, 12], 5)
    """
    most = system.max_stripe_count
    return {
        count: estimate(
            writing,
            replace(layout, stripe_count=count),
            system,
            costs=costs,
            other_load_fraction=other_load_fraction,
        )
        for count in sorted({*(count for count in counts if count < most), layout.stripe_count, most})
    }


def mean_ost_loads_gb(writing: Writing, layout: Layout) -> list[float]:
    """How much lies on each OST; of files that fall on OSTs at random the mean. [GB]

    Examples
    --------
    >>> writing = Writing(size_bytes=3 * 10**9, writers=2, nodes=1)
    >>> mean_ost_loads_gb(writing, Layout(stripe_count=1, stripe_size_bytes=1 << 20, osts=3, first_ost=2))
    [0.0, 0.0, 3.0]
    """
    if writing.pattern == "file-per-process":
        return [writing.size_bytes / BYTES_PER_GB / layout.osts] * layout.osts
    return [load / BYTES_PER_GB for load in layout.ost_loads_bytes(writing.size_bytes)]


def block_access_time_s(
    accesses: float,
    block_bytes: float,
    *,
    stripe_count: int,
    system: FileSystem,
    tasks: int,
    nodes: int,
    access_s: float,
) -> float:
    """Time in which tasks read scattered blocks of one file, each access to the disks. [s]

    Parameters
    ----------
    accesses : float
        Block accesses of all tasks together.
    block_bytes : float
        Mean size of a block. [bytes]
    stripe_count : int
        OSTs of the file, over which the blocks scatter evenly.
    system : FileSystem
    tasks, nodes : int
        Tasks that share the accesses, and the nodes they run on.
    access_s : float
        What an access costs its task besides moving the data. [s]

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    A thousand blocks of a megabyte, on one OST and on all:

    >>> from hopperlib.machine import Machine
    >>> toy = Machine.load("toy").file_systems[0]
    >>> each = {"system": toy, "tasks": 10, "nodes": 10, "access_s": 0.01}
    >>> [round(block_access_time_s(1000, 1e6, stripe_count=count, **each), 2) for count in (1, 12)]
    [6.0, 1.42]
    """
    at_least(0, accesses=accesses, block_bytes=block_bytes, access_s=access_s)
    if not 1 <= stripe_count <= system.osts:
        raise refusal("stripe_count", stripe_count, f"must be from 1 to {system.osts}, the OSTs")
    if not 1 <= nodes <= tasks:
        raise refusal("nodes", nodes, f"must be from 1 to {tasks}, the tasks")
    rate = min(stripe_count * system.ost_peak_gb_s, nodes * system.node_write_ceiling_gb_s)
    return accesses * block_bytes / BYTES_PER_GB / rate + accesses * access_s / tasks
