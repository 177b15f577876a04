"""Levels of resource use over time: those reached repeatedly, and those caused only by an hour repeated at a clock
change.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from hopperlib.scheduling.workload import Workload
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

_DAY_S = HOURS_PER_DAY * SECONDS_PER_HOUR
# A level counts as reached if it holds for this long altogether, or on some days: an hour that a clock repeats, once a year, does
# neither. Each node that changes hands while jobs run across the change counts twice for an hour, so that a few nodes too many
# hold for some hours. In logs of up to three days the peak counts. [s, days, s]
_HELD_S, _DAYS, _SHORT_S = 12 * SECONDS_PER_HOUR, 2, 3 * _DAY_S
_YEAR_S = 365 * _DAY_S


def steps(changes: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Instants at which a sum of (instant, change) changes, and the sum from each of them on.

    Parameters
    ----------
    changes : Iterable[tuple[int, int]]
        Pairs of instant and change.

    Examples
    --------
    >>> steps([(0, 2), (10, -2), (10, 3), (20, -3)])
    ([0, 10, 20], [2, 3, 0])
    """
    of: dict[int, int] = {}
    for instant, change in changes:
        of[instant] = of.get(instant, 0) + change
    times = sorted(of)
    return times, list(accumulate(of[instant] for instant in times))


def held_level(changes: Iterable[tuple[int, int]]) -> int:
    """Highest level that a sum of (instant, change) reaches repeatedly.

    A level counts if it holds for twelve hours in all, or on two days that do not follow on each other; for each year of the
    log as much more is wanted. In logs of up to three days the peak counts.

    Parameters
    ----------
    changes : Iterable[tuple[int, int]]
        Pairs of instant and change.

    Examples
    --------
    Two nodes for ten days, and for one hour four:

    >>> held_level([(0, 2), (864_000, -2), (90_000, 2), (93_600, -2)])
    2
    """
    times, levels = steps(changes)
    if not times:
        return 0
    peak, span = max(levels), times[-1] - times[0]
    if span <= _SHORT_S:
        return peak
    years = 1 + span // _YEAR_S
    of_level: dict[int, list[tuple[int, int]]] = {}
    for (begin, end), level in zip(pairwise(times), levels, strict=False):
        of_level.setdefault(level, []).append((begin, end))
    total, days = 0, set[int]()
    for level in sorted(of_level, reverse=True):
        for begin, end in of_level[level]:
            total += end - begin
            # Every second day is one occasion, so that midnight makes no two of one.
            days.add(begin // (2 * _DAY_S))
        if total >= years * _HELD_S or len(days) > years * (_DAYS - 1) + (max(days) - min(days) == 1):
            return level
    return peak


def usage(workload: Workload, jobs: Iterable[int], amount: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Changes in resource use, as (instant, change), at observed starts and ends.

    Parameters
    ----------
    workload : Workload
        The jobs.
    jobs : iterable of int
        Indices of the jobs.
    amount : sequence of int
        Amount used by each job of the workload.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = Workload([Job(1, 0, 3, 60, 60, observed_start_s=5)])
    >>> list(usage(jobs, [0], jobs.nodes))
    [(5, 3), (65, -3)]
    """
    starts, runs = workload.observed_start_s, workload.run_time_s
    for job in jobs:
        if runs[job] and amount[job]:
            yield starts[job], amount[job]
            yield starts[job] + runs[job], -amount[job]


def started_jobs(workload: Workload) -> list[int]:
    """Indices of the jobs whose start is known.

    Parameters
    ----------
    workload : Workload
        Jobs with observed starts.

    Examples
    --------
    >>> from hopperlib.scheduling.workload import Job
    >>> started_jobs(Workload([Job(1, 0, 3, 60, 60, observed_start_s=5), Job(2, 0, 1, 60, 60)]))
    [0]
    """
    return [job for job, start in enumerate(workload.observed_start_s) if start >= 0]
