"""Performance of a different run, from a measured one: more or fewer nodes, reads instead of writes.

A file system is slower than the sum of its parts, and public results show by how much: IO500 prints the same four
phases for every system, and many systems ran it more than once [1]_. Between two runs of one system the rate grows with
a power of the number of nodes, far below 1: often the servers, not the clients, set the limit. The accuracy of such an
estimate is measured with each system left out in turn (`held_out`).

References
----------
.. [1] IO500, submissions of 2018 to 2025 (github.com/IO500/submission-data), one row for each result with its nodes in
   ``io500-results.csv``.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from hopperkit.filesystems.measured import Range
from hopperlib.errors import above, at_least
from hopperlib.package_data import load_csv_resource

# : Share of further runs that a range should contain.
HELD = 0.8
# Runs with nearly the same number of nodes repeat each other. [log10]
_OTHER_NODES = 0.1
PHASES = ("easy_write", "easy_read", "hard_write", "hard_read")


class Result(NamedTuple):
    """One result of IO500: system, file system, year, nodes, and its four rates. [GiB/s]"""

    system: str
    year: int
    nodes: int
    easy_write: float | None
    easy_read: float | None
    hard_write: float | None
    hard_read: float | None


class Power(NamedTuple):
    """A rate that scales with a power, and the factors around it that contain 8 of 10 new runs.

    Parameters
    ----------
    exponent, factor : float
        y = factor * x ** exponent.
    low, high : float
        Factors about y.
    """

    exponent: float
    factor: float
    low: float
    high: float

    def at(self, x: float) -> Range:
        """Return y.

        Examples
        --------
        >>> Power(0.5, 1.0, 0.5, 2.0).at(4.0)
        Range(low=1.0, usual=2.0, high=4.0)
        """
        return Range(self.low, 1.0, self.high).times(self.factor * x**self.exponent)


class HeldOut(NamedTuple):
    """Accuracy of an estimate on systems outside its fit: rows, systems, the median factor, and the share within the
    range.
    """

    rows: int
    systems: int
    typical_factor: float
    held: float


# A value of a system: x and y, as logarithms.
_Point = tuple[str, float, float]

# : Ratio of another run's rate to the measured one on the same system, by the ratio of nodes: fitted to all results.
NODES = {
    "easy_write": Power(0.349, 1.0, 0.397, 2.11),
    "easy_read": Power(0.441, 1.0, 0.467, 2.08),
}
# : Read rate with one file per task, relative to the write rate. [GiB/s]
READ_BY_WRITE = Power(0.992, 1.163, 0.611, 2.01)


@cache
def results() -> tuple[Result, ...]:
    """Return the public results.

    Examples
    --------
    >>> len(results()), len({each.system for each in results()})
    (301, 192)
    """
    return tuple(
        Result(
            f"{row['system']}, {row['file_system']}",
            int(row["year"]),
            int(row["nodes"]),
            *(float(row[f"{phase}_gib_s"]) if row[f"{phase}_gib_s"] else None for phase in PHASES),
        )
        for row in load_csv_resource(__file__, "io500-results.csv")
    )


def rate_at(rate: float, nodes: int, other_nodes: int, *, phase: str = "easy_write") -> Range:
    """Return the rate of another run on the same file system, in the unit of the measured one.

    Parameters
    ----------
    rate : float
        Measured rate, with one file per task or large blocks.
    nodes, other_nodes : int
        Client nodes of the measured run and of the other one.
    phase : {"easy_write", "easy_read"}
        Whether both write or both read.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> low, usual, high = rate_at(10.0, 10, 40)
    >>> low < usual < high, 10.0 < usual < 40.0
    (True, True)
    """
    above(0, rate=rate)
    at_least(1, nodes=nodes, other_nodes=other_nodes)
    return NODES[phase].at(other_nodes / nodes).times(rate)


def fit(points: Sequence[_Point], *, through_one: bool) -> Power:
    """Return the power that fits points of several systems, each system with the same weight.

    Parameters
    ----------
    points : sequence of (str, float, float)
        System, log10 x, log10 y.
    through_one : bool
        Whether y is 1 where x is 1, as for ratios of two runs on one system.

    Examples
    --------
    >>> fit([("a", 1.0, 0.5), ("b", 2.0, 1.0)], through_one=True)
    Power(exponent=0.5, factor=1.0, low=1.0, high=1.0)
    """
    count = Counter(system for system, _, _ in points)
    weighted = [(1 / count[system], x, y) for system, x, y in points]
    total = math.fsum(w for w, _, _ in weighted)
    mean_x, mean_y = (
        (0.0, 0.0)
        if through_one
        else (sum(w * x for w, x, _ in weighted) / total, sum(w * y for w, _, y in weighted) / total)
    )
    exponent = sum(w * (x - mean_x) * (y - mean_y) for w, x, y in weighted) / sum(
        w * (x - mean_x) ** 2 for w, x, _ in weighted
    )
    rest = sorted((y - exponent * x, w) for w, x, y in weighted)
    middle = 0.0 if through_one else _quantile(rest, 0.5)
    low, high = (_quantile(rest, share) - middle for share in ((1 - HELD) / 2, (1 + HELD) / 2))
    return Power(exponent, 10**middle, 10**low, 10**high)


def _quantile(values: Sequence[tuple[float, float]], share: float) -> float:
    """Return the quantile of sorted values with weights."""
    left = share * math.fsum(weight for _, weight in values)
    for value, weight in values:
        left -= weight
        if left <= 0:
            return value
    return values[-1][0]


def of_nodes(phase: str) -> list[_Point]:
    """Return ratios of consecutive runs on the same system, by their ratio of nodes, if that is far from 1.

    Parameters
    ----------
    phase : str
        Phase of the benchmark.

    Examples
    --------
    >>> len(of_nodes("easy_write"))
    45
    """
    ratios = (
        (one.system, math.log10(other.nodes / one.nodes), math.log10(getattr(other, phase) / getattr(one, phase)))
        for one, other in _followed(phase)
    )
    return [ratio for ratio in ratios if abs(ratio[1]) > _OTHER_NODES]


def _followed(phase: str) -> Iterator[tuple[Result, Result]]:
    """Yield each result of a system with the next one: by year, then by nodes."""
    by_system = defaultdict(list)
    for each in results():
        if getattr(each, phase):
            by_system[each.system].append(each)
    for runs in by_system.values():
        yield from pairwise(sorted(runs, key=lambda run: (run.year, run.nodes)))


def of_rates(x: str, y: str) -> list[_Point]:
    """Return one rate over another of the same result, or over the nodes if x is "nodes".

    Parameters
    ----------
    x : str
        Name of a rate, or "nodes".
    y : str
        Name of a rate.

    Examples
    --------
    >>> len(of_rates("nodes", "easy_write"))
    301
    """
    return [
        (each.system, math.log10(getattr(each, x)), math.log10(getattr(each, y)))
        for each in results()
        if getattr(each, x) and getattr(each, y)
    ]


def held_out(points: Sequence[_Point], *, through_one: bool) -> HeldOut:
    """Return the accuracy of the power law for each system, when fitted to all others.

    Parameters
    ----------
    points : sequence of (str, float, float)
    through_one : bool
        As for `fit`.

    Examples
    --------
    >>> held_out([("a", 1.0, 0.5), ("b", 2.0, 1.0)], through_one=True)
    HeldOut(rows=2, systems=2, typical_factor=1.0, held=1.0)
    """
    factors: list[float] = []
    held = 0
    systems = sorted({system for system, _, _ in points})
    for system in systems:
        power = fit([one for one in points if one[0] != system], through_one=through_one)
        for _, x, y in (one for one in points if one[0] == system):
            low, usual, high = power.at(10**x)
            held += low <= 10**y <= high
            factors.append(max(10**y / usual, usual / 10**y))
    factors.sort()
    return HeldOut(len(points), len(systems), factors[len(factors) // 2], held / len(points))


# : The estimated quantity and its predictor, as shown on the page.
ESTIMATES: dict[str, tuple[Callable[[], list[_Point]], bool]] = {
    "write rate with another number of nodes, from one run of the same system": (lambda: of_nodes("easy_write"), True),
    "read rate with another number of nodes, from one run of the same system": (lambda: of_nodes("easy_read"), True),
    "read rate, from the write rate of the same run": (lambda: of_rates("easy_write", "easy_read"), False),
    "write rate of an unmeasured system, from its nodes": (lambda: of_rates("nodes", "easy_write"), False),
    "write rate of small unaligned blocks in one file, from that of a file per task": (
        lambda: of_rates("easy_write", "hard_write"),
        False,
    ),
}


def table() -> Iterable[tuple[str, HeldOut]]:
    """Yield each estimate and its accuracy.

    Examples
    --------
    >>> name, held = next(iter(table()))
    >>> held.rows, held.systems
    (45, 32)
    """
    for name, (points, through_one) in ESTIMATES.items():
        yield name, held_out(points(), through_one=through_one)
