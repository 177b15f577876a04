"""Rate of each OST, and whether one of them is slow, from the files of a Darshan log.

A log records how long a task waited for a file, and the OSTs of that file; nothing about OSTs themselves. So an OST can
be judged only by files that are on it and not on others. Files over all OSTs are uninformative, and OSTs that always
share the same files cannot be separated.

An OST is slow if two tests of significance agree. The logarithms of the rates of healthy OSTs scatter, with a deviation
of 0.19 in a real log of 2,048 files, and here of up to 0.6 is allowed for. The lowest rate is compared with the others,
then the next lowest with the rest, and so on (Rosner's test for several outliers [1]_, one-sided; the standard
deviation is shrunk towards 0.6 if few OSTs determine it). The rate of an OST is the median of its files, since one in
fifty may be several times slower on any OST. As two of these can meet on one OST, a rank test must also show that three
quarters of its files are slower than chance allows, for any distribution of the noise. With too few files the log is inconclusive,
unless all of several files are far slower than such stragglers. At most one healthy log in a thousand is blamed;
``benchmarks/README.md`` lists how many files are needed to detect an OST that is twice as slow.

References
----------
.. [1] B. Rosner, Percentage points for a generalized ESD many-outlier procedure,
   Technometrics 25 (1983) 165.
"""

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import NormalDist, fmean, median
from typing import Any, NamedTuple

from hopperkit.iologs.darshan_log import DarshanLog, FileRecord, Traffic
from hopperlib.units import BYTES_PER_MIB

_LEAST_BYTES = BYTES_PER_MIB
LEAST_OSTS = 3
# Chance that a healthy log is blamed in one direction; the other has as much.
_FALSE_ALARM = 0.0005
# Log-sigma of healthy rates that is allowed for, and as how many OSTs it counts.
_HEALTHY_SIGMA, _PRIOR_OSTS = 0.6, 4
# Variance of a median relative to that of a mean.
_OF_A_MEDIAN = math.pi / 2
# A smaller factor does not justify a report.
SLOW_FACTOR = 1.5
# Slower files are not stragglers: these were up to 7.4 times slower, and with a log-sigma of 0.6, 1 in 20 of them
# exceeds that by as much again.
_NO_STRAGGLER = 20.0
# Largest share of the OSTs that can be slow.
_SLOW_SHARE = 0.25


class OstRate(NamedTuple):
    """Rate of one task on an OST, over the files that identify it.

    Parameters
    ----------
    osts : tuple of int
        One OST; several if they always share their files.
    files : int
    moved_bytes : float
        Bytes of these files on it. [bytes]
    rate_mb_s : float
        Bytes by time of a task, the median of its files; for striped files the best any of them got. [MB/s]
    delivered_mb_s : float or None
        Bytes over the time from the first call to the last: the OST's rate for all tasks. [MB/s]
    """

    osts: tuple[int, ...]
    files: int
    moved_bytes: float
    rate_mb_s: float
    delivered_mb_s: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as a dictionary for a summary."""
        parts = {"osts": list(self.osts), "rate_mb_s": round(self.rate_mb_s, 4)}
        return parts | {"files": self.files, "bytes": round(self.moved_bytes)}


class SlowOst(NamedTuple):
    """An OST that is slower than the others, and by what factor."""

    rate: OstRate
    factor: float
    reference_mb_s: float


class Verdict(NamedTuple):
    """Whether OSTs are slow in one direction.

    Parameters
    ----------
    direction : str
        ``read`` or ``write``.
    rates : tuple of OstRate
        Slowest first.
    slow : tuple of SlowOst
        Slowest first.
    unknown : str
        Why the log is inconclusive; otherwise empty.
    suspect : SlowOst or None
        One that would be slow if its few files were no chance.
    """

    direction: str
    rates: tuple[OstRate, ...] = ()
    slow: tuple[SlowOst, ...] = ()
    unknown: str = ""
    suspect: SlowOst | None = None


def judge_osts(log: DarshanLog, direction: str) -> Verdict:
    """Return the rate of each OST and which of them are slow.

    Two rates must agree: that of a task, which also falls when many tasks share an OST, and that of the OST over all
    tasks, which also falls when few use it. The smaller of the two factors is tested and named.

    Parameters
    ----------
    log : DarshanLog
    direction : str
        ``read`` or ``write``.

    Raises
    ------
    ValueError
        If the direction is another.

    Examples
    --------
    >>> from hopperkit.iologs.darshan_log import FileRecord, StripeLayout
    >>> def file(ost, seconds):
    ...     layout = StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(ost,))
    ...     return FileRecord(path=f"f{ost}", bytes_written=10**9, write_s=seconds, layout=layout)
    >>> log = DarshanLog(executable=None, job_id=1, tasks=4, run_time_s=40.0, modules=(), files=tuple(
    ...     file(ost, 40.0 if ost == 2 else 4.0) for ost in range(24) for _ in range(4)))
    >>> [(slow.rate.osts, slow.factor) for slow in judge_osts(log, "write").slow]
    [((2,), 10.0)]
    """
    if direction not in ("read", "write"):
        raise ValueError(f"direction={direction!r} must be read or write")
    if direction not in log.judged:
        log.judged[direction] = _judge(log, direction)
    verdict: Verdict = log.judged[direction]
    return verdict


def _judge(log: DarshanLog, direction: str) -> Verdict:
    """Return the verdict from the files of one direction."""
    used = [file for file in log.files if file.layout and file.moved(direction).moved_bytes > 0]
    if not used:
        return Verdict(direction=direction, unknown=f"no {direction} of a file whose OSTs are in the log")
    placed = [file for file in used if file.osts]
    files = [(file.osts, traffic) for file, traffic in telling_files(placed, direction)]
    if not files:
        return Verdict(direction=direction, unknown="no file moved a mebibyte an OST, or the log holds no times")
    rates = _rates(files)
    unknown = _why_unknown({frozenset(osts) for osts, _ in files}, len(rates))
    if unknown:
        return Verdict(direction=direction, rates=() if len(rates) == 1 else rates, unknown=unknown)
    slow, suspect = _slow(files)
    if slow or suspect is None:
        return Verdict(direction=direction, rates=rates, slow=slow)
    return Verdict(direction=direction, rates=rates, unknown=_doubt(suspect), suspect=suspect)


def _doubt(suspect: SlowOst) -> str:
    """Return the suspicion against an OST with too few files to be sure."""
    osts, files = suspect.rate.osts, suspect.rate.files
    name = f"OST {osts[0]}" if len(osts) == 1 else f"one of the OSTs {', '.join(map(str, osts))}"
    few = f"{files:,} files are" if files > 1 else "1 file is"
    return (
        f"{name} seems {suspect.factor:.1f} times slower, but {few} too few to be sure: "
        "one file in fifty is slow on any OST"
    )


# OSTs of a file, and its bytes.
_File = tuple[tuple[int, ...], Traffic]


def telling_files(files: Iterable[FileRecord], direction: str) -> list[tuple[FileRecord, Traffic]]:
    """Return the files whose rates are informative about their OSTs and tasks, with their traffic.

    Parameters
    ----------
    files : iterable of FileRecord
        Records of the files.
    direction : str
        ``read`` or ``write``.

    Examples
    --------
    >>> files = [FileRecord(path="/a", bytes_read=10**9, read_s=2.0), FileRecord(path="/b", bytes_read=10**3, read_s=1.0)]
    >>> [file.path for file, _ in telling_files(files, "read")]
    ['/a']
    """
    telling = []
    for file in files:
        traffic = file.moved(direction)
        # Below a mebibyte an OST a file shows caches and latency.
        least = _LEAST_BYTES * (file.layout.stripe_count if file.layout else 1)
        if traffic.time_s > 0 and traffic.moved_bytes >= least:
            telling.append((file, traffic))
    # A few small files next to large ones show the effect of caches.
    typical = median(traffic.moved_bytes for _, traffic in telling) if telling else 0
    return [(file, traffic) for file, traffic in telling if traffic.moved_bytes >= 0.1 * typical]


def _rates(files: Sequence[_File]) -> tuple[OstRate, ...]:
    """Return the rates of OSTs, slowest first; OSTs that no file separates are grouped."""
    on: dict[int, list[int]] = defaultdict(list)
    for number, (osts, _) in enumerate(files):
        for ost in osts:
            on[ost].append(number)
    together: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for ost, numbers in on.items():
        # OSTs with identical files cannot be separated.
        together[tuple(numbers)].append(ost)
    rates = [_rate(tuple(sorted(osts)), [files[number] for number in numbers]) for numbers, osts in together.items()]
    return tuple(sorted(rates, key=lambda rate: (rate.rate_mb_s, -rate.files, rate.osts)))


def _rate(osts: tuple[int, ...], files: Sequence[_File]) -> OstRate:
    """Return the rate of one OST, or of a group."""
    alone = [traffic for on, traffic in files if len(on) == 1]
    if alone:
        rate = median(traffic.moved_bytes / traffic.time_s for traffic in alone) / 1e6
    else:
        # A striped file is as slow as its slowest OST: its rate is a lower bound for all of them.
        rate = max(traffic.moved_bytes / len(on) / traffic.time_s / 1e6 for on, traffic in files)
    moved = sum(traffic.moved_bytes / len(on) for on, traffic in files)
    spans = [traffic.span_s for _, traffic in files if traffic.span_s is not None]
    passed = max(end for _, end in spans) - min(start for start, _ in spans) if len(spans) == len(files) else None
    return OstRate(osts, len(files), moved, rate, moved / passed / 1e6 if passed else None)


def _why_unknown(sets: set[frozenset[int]], groups: int) -> str:
    """Return why the OSTs of files cannot be separated; empty if they can."""
    count = len(frozenset().union(*sets))
    if count < LEAST_OSTS:
        return f"all data are on {count} OST{'s' if count > 1 else ''}: too few to compare"
    if len(sets) == 1:
        return f"every file is striped over the same {count} OSTs, so the log cannot separate them"
    if groups < LEAST_OSTS:
        return f"the files separate only {groups} groups of the {count} OSTs: too few to compare"
    return ""


def _slow(files: Sequence[_File]) -> tuple[tuple[SlowOst, ...], SlowOst | None]:
    """Return the slow OSTs, slowest first, and a possible one: the files of each are removed before the next is sought."""
    slowest: list[SlowOst] = []
    slow, suspect = 0, None
    rates = _rates(files)
    most = max(1, int(len(rates) * _SLOW_SHARE))
    reference = median(rate.rate_mb_s for rate in rates)
    delivered = [rate.delivered_mb_s for rate in rates if rate.delivered_mb_s]
    usual = median(delivered) if len(delivered) == len(rates) else None
    while len(rates) >= LEAST_OSTS and len(slowest) < most:
        judged = [SlowOst(rate, _factor(rate, reference, usual), reference) for rate in rates]
        worst = max(judged, key=lambda slow: (slow.factor, slow.rate.files))
        if worst.factor < SLOW_FACTOR:
            break
        slowest.append(worst)
        if _chance(worst, [other for other in judged if other is not worst]) < _FALSE_ALARM:
            if _no_chance_of_ranks(files, worst.rate, len(rates)):
                # Those before it are worse: they masked each other.
                slow = len(slowest)
            suspect = suspect or worst
        files, rates = _without(files, rates, worst.rate)
    return tuple(slowest[:slow]), suspect


def _no_chance_of_ranks(files: Sequence[_File], rate: OstRate, groups: int) -> bool:
    """Whether the files of an OST are slower than chance deals files to it, or than any straggler is.

    If all OSTs are alike, the files on one are drawn from all: the number of them among the slowest is hypergeometric, for
    any distribution of the rates.
    """
    known = set(rate.osts)
    each = [(traffic.moved_bytes / len(on) / traffic.time_s, not known.isdisjoint(on)) for on, traffic in files]
    of_all = sorted(value for value, _ in each)
    part_ranks = sorted(value for value, here in each if here)
    if len(part_ranks) > 1 and median(of_all) >= _NO_STRAGGLER * part_ranks[-1]:
        return True
    # All of its files, or all but a quarter that may be as fast as others, from a cache.
    ways = {len(part_ranks), len(part_ranks) - len(part_ranks) // 4}
    chances = (
        chance_of_slowest(len(of_all), bisect_right(of_all, part_ranks[way - 1]), len(part_ranks), way) for way in ways
    )
    return groups * len(ways) * min(chances) < _FALSE_ALARM


def chance_of_slowest(files: int, slowest: int, own: int, needed: int) -> float:
    """Return the probability that this many of an OST's files are among the slowest.

    Parameters
    ----------
    files : int
        Number of files.
    slowest : int
        Number of slowest files.
    own : int
        Number of the OST's files.
    needed : int
        Number of them among the slowest.

    Examples
    --------
    Both files of an OST among the slowest two of four: one way of six.

    >>> round(chance_of_slowest(4, 2, 2, 2), 4)
    0.1667
    """
    return math.fsum(
        math.exp(_log_ways(slowest, found) + _log_ways(files - slowest, own - found) - _log_ways(files, own))
        for found in range(max(needed, own - (files - slowest)), min(own, slowest) + 1)
    )


def _log_ways(of: int, chosen: int) -> float:
    """Return the logarithm of the number of ways to choose that many of some."""
    return math.lgamma(of + 1) - math.lgamma(chosen + 1) - math.lgamma(of - chosen + 1)


def _without(
    files: Sequence[_File], rates: Sequence[OstRate], taken: OstRate
) -> tuple[Sequence[_File], tuple[OstRate, ...]]:
    """Return the files that use none of the removed OSTs, and their rates."""
    left = [(osts, traffic) for osts, traffic in files if not set(osts) & set(taken.osts)]
    # Files on other OSTs too take their part of these away.
    alone = len(files) - len(left) == taken.files and all(len(osts) == 1 for osts, _ in files)
    return left, tuple(rate for rate in rates if rate is not taken) if alone else _rates(left)


def _chance(worst: SlowOst, others: Sequence[SlowOst]) -> float:
    """Return the probability that the slowest of several healthy OSTs is this far below the others."""
    values = [-math.log(other.factor) for other in others]
    files = fmean(other.rate.files for other in others)
    mean, count = fmean(values), len(values)
    # A prior of this many OSTs with the usual spread, since a few say little about it; the mean of several files varies
    # less.
    prior = _PRIOR_OSTS * _HEALTHY_SIGMA**2 / files * (_OF_A_MEDIAN if files > 2 else 1)
    degrees = _PRIOR_OSTS + count - 1
    deviation = math.sqrt((prior + math.fsum((value - mean) ** 2 for value in values)) / degrees)
    # A rate of fewer files than the others' scatters more.
    scale = deviation * math.sqrt(max(1.0, files / worst.rate.files) + 1 / count)
    student = (mean + math.log(worst.factor)) / scale
    # Student's t as a normal deviate (Wallace 1959): right to a few percent in the tail.
    normal = (8 * degrees + 1) / (8 * degrees + 3) * math.sqrt(degrees * math.log1p(student**2 / degrees))
    # Each of them might have been the slowest by chance.
    return (count + 1) * NormalDist().cdf(-normal) if student > 0 else 1.0


def _factor(rate: OstRate, reference_mb_s: float, usual_mb_s: float | None) -> float:
    """Return the slowdown of an OST, by the more favorable of the two rates."""
    factor = reference_mb_s / rate.rate_mb_s
    return min(factor, usual_mb_s / rate.delivered_mb_s) if usual_mb_s and rate.delivered_mb_s else factor
