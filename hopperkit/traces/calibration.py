"""Where a simulation of a log breaks: in which partition, for whose jobs, or from which date its waits differ from the observed ones.

Waits are compared as logarithms, so that a wait half as long counts as much as one twice as long. A group of jobs is named
if its difference from all others is large and holds day after day, as waits of one day depend on each other.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median, stdev
from typing import NamedTuple

from hopperlib.scheduling.workload import Workload
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

_DAY_S = HOURS_PER_DAY * SECONDS_PER_HOUR
# Waits up to this count alike. [s]
_SMALL_S = 300
# Thresholds for reporting a group: the factor between its waits and those of other jobs, t, days, and its share of the
# jobs.
_FACTOR, _T, _DAYS, _PART = 2.0, 5.0, 6, 0.02
# Minimum number of days before and after a possible change of the log.
_EACH_SIDE = 5
_MOST_GROUPS = 200


class Break(NamedTuple):
    """A group of jobs whose simulated waits are off.

    Parameters
    ----------
    what : str
        "partition", "user", "account", "hour" or "date".
    name : str
    factor : float
        Ratio of observed to simulated waits, relative to that of the other jobs; above 1 if they wait longer than
        simulated.
    jobs : int
    t : float
        Student's t of the difference over days.
    """

    what: str
    name: str
    factor: float
    jobs: int
    t: float


def breaks(
    workload: Workload, simulated_s: Sequence[float], hour_of: Callable[[int], int] | None = None
) -> list[Break]:
    """Groups of jobs for which a simulation of the log is off, the clearest first.

    Parameters
    ----------
    workload : Workload
        All with observed starts.
    simulated_s : sequence of float
        Simulated wait of each job. [s]
    hour_of : callable or None
        Hour of the day of a second of the log; without it hours are not looked at.

    Examples
    --------
    User 2 waits four times as long as simulated, on ten days; user 1 as simulated:

    >>> from hopperlib.scheduling.workload import Job
    >>> rows = [(day * 86_400, user) for day in range(10) for user in (1, 2, 1, 2)]
    >>> jobs = Workload(Job(n, at, 1, 60, 60, user, observed_start_s=at + (4000 if user == 2 else 1000)) for n, (at, user) in enumerate(rows))
    >>> [(each.what, each.name, round(each.factor, 1)) for each in breaks(jobs, [1000.0] * len(jobs)) if each.factor > 1]
    [('user', '2', 3.3)]
    """
    off = [
        math.log((max(0, start - at) + _SMALL_S) / (wait + _SMALL_S))
        for start, at, wait in zip(workload.observed_start_s, workload.arrival_s, simulated_s, strict=True)
    ]
    days = [at // _DAY_S for at in workload.arrival_s]
    found = []
    for what, groups in _groups(workload, hour_of):
        for name, rows in groups.items():
            each = _against_the_rest(off, days, rows)
            if each is not None:
                found.append(Break(what, name, each[0], len(rows), each[1]))
    found += _change(off, days)
    clear = [each for each in found if abs(math.log(each.factor)) >= math.log(_FACTOR) and abs(each.t) >= _T]
    return sorted(clear, key=lambda each: -abs(each.t))


def _groups(workload: Workload, hour_of: Callable[[int], int] | None) -> Iterator[tuple[str, dict[str, list[int]]]]:
    """Jobs by partition, account, user and hour of submission, where there are several."""
    named: list[tuple[str, Callable[[int], str]]] = [
        ("partition", lambda job: workload.word("queue", job)),
        ("account", lambda job: workload.word("account", job)),
        ("user", lambda job: workload.users.get(workload.user[job], str(workload.user[job]))),
    ]
    if hour_of is not None:
        of = hour_of
        named.append(("hour", lambda job: f"{of(workload.arrival_s[job]):02d}:00"))
    least = max(2, _PART * len(workload))
    for what, name_of in named:
        groups: dict[str, list[int]] = {}
        for job in range(len(workload)):
            groups.setdefault(name_of(job), []).append(job)
        large = {name: rows for name, rows in groups.items() if name and least <= len(rows) < len(workload)}
        if len(groups) > 1 and len(large) <= _MOST_GROUPS:
            yield what, large


def _against_the_rest(off: Sequence[float], days: Sequence[int], rows: Sequence[int]) -> tuple[float, float] | None:
    """Factor by which a group's waits differ from those of other jobs of the same days, and t; None for too few days."""
    mine, others, members = dict[int, list[float]](), dict[int, list[float]](), set(rows)
    for job, day in enumerate(days):
        (mine if job in members else others).setdefault(day, []).append(off[job])
    differences = [fmean(mine[day]) - fmean(others[day]) for day in mine if day in others]
    return _factor(differences) if len(differences) >= _DAYS else None


def _factor(differences: Sequence[float]) -> tuple[float, float]:
    """Median of differences of logarithms as a factor, and Student's t."""
    spread = stdev(differences) / len(differences) ** 0.5
    middle = fmean(differences)
    return math.exp(median(differences)), middle / spread if spread > 1e-9 else math.copysign(1e3, middle)


def _change(off: Sequence[float], days: Sequence[int]) -> list[Break]:
    """The day from which on waits are off otherwise than before, if there is one."""
    of_day: dict[int, list[float]] = {}
    for value, day in zip(off, days, strict=True):
        of_day.setdefault(day, []).append(value)
    order = sorted(of_day)
    means = [fmean(of_day[day]) for day in order]
    best: Break | None = None
    for at in range(_EACH_SIDE, len(means) - _EACH_SIDE + 1):
        before, after = means[:at], means[at:]
        spread = (stdev(before) ** 2 / len(before) + stdev(after) ** 2 / len(after)) ** 0.5
        step = fmean(after) - fmean(before)
        t = step / spread if spread > 1e-9 else math.copysign(1e3, step) if abs(step) > 1e-9 else 0.0
        if best is None or abs(t) > abs(best.t):
            jobs = sum(len(of_day[day]) for day in order[at:])
            best = Break("date", str(order[at]), math.exp(step), jobs, t)
    # Choosing the best of all times makes t larger by chance.
    return [best._replace(t=best.t / 1.5)] if best else []


def break_text(found: Break, date: Callable[[int], str]) -> str:
    """A break in words.

    Parameters
    ----------
    found : Break
    date : callable
        Date of a second of the log in words.

    Examples
    --------
    >>> break_text(Break("partition", "gpu", 3.0, 120, 9.0), str)
    'The simulation breaks in partition gpu: its 120 jobs wait 3.0 times as long as others do against the simulation'
    >>> break_text(Break("date", "2", 0.5, 120, 9.0), str)
    'The simulation breaks at 172800: from then on jobs wait 0.50 times as long against the simulation as before'
    """
    factor = f"{found.factor:.1f}" if found.factor >= 1 else f"{found.factor:.2f}"
    if found.what == "date":
        return f"The simulation breaks at {date(int(found.name) * _DAY_S)}: from then on jobs wait {factor} times as long against the simulation as before"
    where = (
        f"in the hour from {found.name}"
        if found.what == "hour"
        else f"in {found.what} {found.name}"
        if found.what == "partition"
        else f"with {found.what} {found.name}"
    )
    return f"The simulation breaks {where}: its {found.jobs:,} jobs wait {factor} times as long as others do against the simulation"
