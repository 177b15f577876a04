"""Measured performance of a file system, as ranges: rates of OSTs and nodes, file creation rate, cost of a lock.

A site's runs are used where available; otherwise the spread of public IO500 results on Lustre [1]_. Two more results
follow from these data: the rate of file creation grows with the write rate (a line in logarithms), and transferring a
lock costs 2 ms in the median. Each range should contain nine of ten results. The loss of jobs relative to the best rate
of a shared file system is documented for ARCHER2: regular runs with one file per task reach 30 of at most 170 GiB/s at
the lower quartile [2]_.

References
----------
.. [1] IO500, submissions of 2018 to 2025 whose file system is Lustre (``python -m benchmarks.io500_rates FOLDER``).
.. [2] ARCHER2 documentation, I/O performance and tuning, Typical I/O performance.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import NamedTuple

from hopperlib.errors import InputError, above
from hopperlib.machine import FileSystem
from hopperlib.storage.lustre.node_rates import one_file_ceiling, one_file_over_task
from hopperlib.storage.lustre.rates import PUBLIC_CREATES_PER_S, Costs, Pace, Writing, pieces_per_call

# Share of the results that a range should contain.
HELD = 0.9
# Lower quartile of ARCHER2's regular runs relative to the best.
_REACHED_AT_LEAST = 30 / 170
# The worst of ARCHER's 60 repeats with one node relative to their median (benchio, one shared file).
_ONE_FILE_REPEATED = 0.7
# With at least this many runs, their observed spread is used.
_ENOUGH_RUNS = 5
# The shared file of small blocks of IO500, with its stripe size unchanged.
_HARD_BLOCK_BYTES, _STRIPE_BYTES = 47_008, 1 << 20


class Range(NamedTuple):
    """A measured quantity: its lowest and highest likely values, and the usual one."""

    low: float
    usual: float
    high: float

    def times(self, factor: float) -> "Range":
        """Return the range times a factor.

        Examples
        --------
        >>> Range(1.0, 2.0, 4.0).times(0.5)
        Range(low=0.5, usual=1.0, high=2.0)
        """
        return Range(factor * self.low, factor * self.usual, factor * self.high)


class Relation(NamedTuple):
    """A line in logarithms, with the factors that contain nine of ten results.

    Parameters
    ----------
    slope, intercept : float
        Slope and intercept of log10 y over log10 x.
    low, high : float
        Factors about the line.
    """

    slope: float
    intercept: float
    low: float
    high: float

    def predict(self, x: float) -> Range:
        """Return y for an x.

        Examples
        --------
        >>> Relation(1.0, 0.0, 0.5, 2.0).predict(10.0)
        Range(low=5.0, usual=10.0, high=20.0)
        """
        usual: float = 10 ** (self.slope * math.log10(x) + self.intercept)
        return Range(self.low, 1.0, self.high).times(usual)


def spread(values: Iterable[float]) -> Range:
    """Return the 80 % prediction interval and the median; for few values, their extremes.

    Parameters
    ----------
    values : iterable of float
        At least one value, in any unit.

    Examples
    --------
    Of 19 values, the ends are the smallest and the largest, because a 20th is equally likely to have any rank:

    >>> spread(range(1, 20)), spread([3.0])
    (Range(low=1, usual=10, high=19), Range(low=3.0, usual=3.0, high=3.0))
    """
    ordered = sorted(values)
    beyond = max(0, math.floor((1 - HELD) / 2 * (len(ordered) + 1)) - 1)
    return Range(ordered[beyond], median(ordered), ordered[-1 - beyond])


# Of 95 public results of 57 systems (see the reference above), each system once: files created per second by many tasks
# in one folder, by the write rate with one file per task, in GiB/s.
ONE_FOLDER = Relation(0.661, 3.397, 0.225, 5.22)
# Files created per second in one folder, whatever the write rate; cost of transferring a lock. [1/s], [s]
CREATES_PER_S = Range(3_400.0, PUBLIC_CREATES_PER_S, 466_000.0)
LOCK_S = Range(0.00017, 0.002, 0.015)
# Interval of 90 % of further results of the same system, relative to a known one.
REPEATED = Range(0.25, 1.0, 4.0)


class Measurement(NamedTuple):
    """One measured quantity of a file system.

    Parameters
    ----------
    quantity : str
        ``write`` (all tasks together, one file per task or large blocks) [GB/s], ``ost`` (lower bound for one OST)
        [GB/s], ``creates`` [1/s] or ``lock`` [s].
    value : float
    nodes : int or None
        Nodes that wrote.
    """

    quantity: str
    value: float
    nodes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRates:
    """Fitted performance of a file system; None where there is no data.

    Parameters
    ----------
    write_gb_s, node_gb_s, ost_gb_s : Range or None
        [GB/s]
    creates_per_s, lock_s : Range or None
        [1/s], [s]
    runs : mapping
        Number of values for each.
    most_nodes : Measurement or None
        The measured write with the most nodes, where nodes are known.
    """

    write_gb_s: Range | None = None
    node_gb_s: Range | None = None
    ost_gb_s: Range | None = None
    creates_per_s: Range | None = None
    lock_s: Range | None = None
    runs: dict[str, int] = field(default_factory=dict)
    most_nodes: Measurement | None = None


def fit_rates(measurements: Iterable[Measurement]) -> SiteRates:
    """Fit the performance of a file system to its runs.

    For rates, the best run shows the possible rate and, with at least five runs, their spread shows the expected range;
    with fewer, the range is widened by contention observed elsewhere. Unmeasured create rates are estimated from write
    rates.

    Parameters
    ----------
    measurements : iterable of Measurement
        Measurements on one file system.

    Raises
    ------
    InputError
        If nothing was measured.

    Examples
    --------
    >>> rates = fit_rates([Measurement("write", 40.0, nodes=10), Measurement("creates", 50_000.0)])
    >>> rates.node_gb_s.high, rates.creates_per_s.usual, rates.runs
    (4.0, 50000.0, {'write': 1, 'creates': 1})
    """
    by_quantity: dict[str, list[Measurement]] = {}
    for each in measurements:
        above(0, **{each.quantity: each.value})
        by_quantity.setdefault(each.quantity, []).append(each)
    if not by_quantity:
        raise InputError("contains no rate that describes the file system", name="measured")
    values = {quantity: [each.value for each in found] for quantity, found in by_quantity.items()}
    nodes = [each.value / each.nodes for each in by_quantity.get("write", []) if each.nodes]
    write = _rate(values.get("write", []))
    creates = _repeated(values.get("creates", []))
    if creates is None and write is not None:
        creates = ONE_FOLDER.predict(write.high * 1e9 / 2**30)
    return SiteRates(
        write_gb_s=write,
        node_gb_s=_rate(nodes),
        ost_gb_s=_rate(values.get("ost", [])),
        creates_per_s=creates,
        lock_s=_repeated(values.get("lock", [])),
        runs={quantity: len(found) for quantity, found in by_quantity.items()},
        most_nodes=max(
            (each for each in by_quantity.get("write", []) if each.nodes),
            key=lambda each: each.nodes or 0,
            default=None,
        ),
    )


def _rate(values: Sequence[float]) -> Range | None:
    """Return the range of a rate: up to the best."""
    if not values:
        return None
    if len(values) >= _ENOUGH_RUNS:
        return spread(values)
    return Range(_REACHED_AT_LEAST * max(values), median(values), max(values))


def _repeated(values: Sequence[float]) -> Range | None:
    """Return the range for another run."""
    if not values:
        return None
    if len(values) >= _ENOUGH_RUNS:
        return spread(values)
    return Range(min(values) * REPEATED.low, median(values), max(values) * REPEATED.high)


def lock_cost_s(large_gib_s: float, small_gib_s: float, objects: int) -> float:
    """Return the lock cost that explains the rate of small unaligned blocks in one file relative to that of large ones.
    [s]

    Parameters
    ----------
    large_gib_s, small_gib_s : float
        ior-easy-write and ior-hard-write of IO500. [GiB/s]
    objects : int
        Objects of the shared file.

    Raises
    ------
    InputError
        If small blocks are not slower.

    Examples
    --------
    >>> round(1000 * lock_cost_s(10.0, 0.1, 4), 3)
    1.659
    """
    if not 0 < small_gib_s < large_gib_s:
        raise InputError(f"small_gib_s={small_gib_s:g} must be above 0 and below large_gib_s={large_gib_s:g}")
    pieces = pieces_per_call(_HARD_BLOCK_BYTES, _STRIPE_BYTES)
    return (1 / small_gib_s - 1 / large_gib_s) / 2**30 * _HARD_BLOCK_BYTES / pieces * objects


def _at(system: FileSystem, rates: SiteRates, end: int) -> FileSystem:
    """Return a file system with rates at one end of their ranges: 0 for low, 2 for high."""
    # Without measurements, a shared file system provides between a documented share of its peak and all of it.
    share = (_REACHED_AT_LEAST, 1.0, 1.0)[end]
    peak = (
        (rates.ost_gb_s or Range(1.0, 1.0, 1.0)).times(system.osts)[end] if rates.ost_gb_s else share * system.peak_gb_s
    )
    if rates.write_gb_s and not rates.ost_gb_s:
        # Measured rates are achievable; others may be.
        peak = rates.write_gb_s[end] if end == 0 else max(rates.write_gb_s[end], system.peak_gb_s)
    node = rates.node_gb_s[end] if rates.node_gb_s and end == 0 else system.node_write_ceiling_gb_s
    return replace(
        system,
        peak_gb_s=peak,
        node_write_ceiling_gb_s=min(node, peak),
        one_file_write_ceiling_gb_s=_one_file_gb_s(system, end),
    )


def _one_file_gb_s(system: FileSystem, end: int) -> float:
    """Return one node's rate to one file at one end of its range: that of public systems, or of repeats. [GB/s]"""
    if measured := system.one_file_write_ceiling_gb_s:
        return measured * (_ONE_FILE_REPEATED, 1.0, 1 / _ONE_FILE_REPEATED)[end]
    usual, low, high, _ = one_file_ceiling()
    # A task's rate shifts the median; the spread over systems is unchanged, as only three give the ratio.
    moved = one_file_over_task() * system.task_write_ceiling_gb_s / usual if system.task_write_ceiling_gb_s else 1.0
    return (low, usual, high)[end] * moved


def _costs_at(costs: Costs, system: FileSystem, rates: SiteRates, end: int) -> Costs:
    """Return costs at one end of their ranges: 0 for slow, 2 for fast."""
    creates = rates.creates_per_s or CREATES_PER_S
    if costs.creates_per_s or (system.creates_per_s and not rates.creates_per_s):
        known = costs.creates_per_s or system.creates_per_s or 0.0
        creates = REPEATED.times(known)
    lock = rates.lock_s or LOCK_S.times(costs.lock_s / LOCK_S.usual)
    return replace(costs, creates_per_s=creates[end], lock_s=lock[2 - end])


def time_range_s(
    writing: Writing,
    count: int,
    stripe_bytes: int,
    system: FileSystem,
    *,
    costs: Costs | None = None,
    rates: SiteRates | None = None,
) -> Range:
    """Return the range of write times: with all parameters at their fast ends, at their slow ends, and at their values.
    [s]

    Parameters
    ----------
    writing : Writing
    count, stripe_bytes : int
        The layout.
    system : FileSystem
    costs : Costs or None
    rates : SiteRates or None
        Measurements on this system.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> writing = Writing(size_bytes=10**12, writers=100, nodes=100, pattern="file-per-process")
    >>> low, usual, high = time_range_s(writing, 1, 1 << 20, scratch)
    >>> low <= usual < high, round(high / usual, 1)
    (True, 5.6)
    """
    costs, rates = costs or Costs(), rates or SiteRates()
    ends = [Pace(writing, _at(system, rates, end), _costs_at(costs, system, rates, end)) for end in (2, 0)]
    fast, slow = (pace.time_s(count, stripe_bytes) for pace in ends)
    usual = Pace(writing, system, costs).time_s(count, stripe_bytes)
    return Range(min(fast, usual), usual, max(slow, usual))
