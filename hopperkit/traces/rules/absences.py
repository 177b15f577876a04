"""Nodes that were away for days, as a log shows them: never all in use although a job waited that would have fitted into the rest."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from hopperlib.scheduling.workload import Workload
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

_DAY_S = HOURS_PER_DAY * SECONDS_PER_HOUR
# Assumed: fewer nodes than this part of the machine are not looked for, and a day shows them if for this part of it
# somebody waited who would have fitted. Error rate measured on logs with known rules
# (tests/scheduling/test_learned.py).
_LEAST, _WAITED = 0.05, 0.5


class Absence(NamedTuple):
    """Nodes that were away, from and to. [s, s, nodes]"""

    start_s: int
    end_s: int
    nodes: int


def _states(workload: Workload) -> Iterator[tuple[int, int, int, int]]:
    """Yield spans of the log: from, to, the nodes in use, and the width of the narrowest job that waits (0: nobody)."""
    starts, runs = workload.observed_start_s, workload.run_time_s
    events = []
    for job, start in enumerate(starts):
        events += [(workload.arrival_s[job], 1, job), (start, 2, job), (start + runs[job], 0, job)]
    events.sort()
    busy, waiting = 0, Counter[int]()
    for (now, kind, job), (until, *_) in pairwise(events):
        width = workload.nodes[job]
        if kind == 1:
            waiting[width] += 1
        else:
            busy += width if kind else -width
        if kind == 2:
            waiting[width] -= 1
            if not waiting[width]:
                del waiting[width]
        if until > now:
            yield now, until, busy, min(waiting, default=0)


def absences(workload: Workload, nodes: int) -> list[Absence]:
    """Return runs of whole days with idle nodes that waiting jobs could have used, largest first.

    Parameters
    ----------
    workload : Workload
        All with observed starts.
    nodes : int
        Of the machine.

    Examples
    --------
    Three of four nodes are in use, and a job of one node waits for two days:

    >>> from hopperlib.scheduling.workload import Job
    >>> day = 86_400
    >>> jobs = [Job(1, 0, 3, 2 * day, 2 * day, observed_start_s=0), Job(2, 0, 1, day, day, observed_start_s=2 * day)]
    >>> absences(Workload(jobs), 4)
    [Absence(start_s=0, end_s=172800, nodes=1)]
    """
    most, waited = Counter[int](), Counter[int]()
    for begin, end, busy, narrowest in _states(workload):
        for day in range(begin // _DAY_S, -(-end // _DAY_S)):
            most[day] = max(most[day], busy)
            if 0 < narrowest <= nodes - busy:
                waited[day] += min(end, (day + 1) * _DAY_S) - max(begin, day * _DAY_S)
    least = max(1, round(_LEAST * nodes))
    shown = [day for day in sorted(most) if nodes - most[day] >= least and waited[day] >= _WAITED * _DAY_S]
    found = []
    # Days that follow on each other have the same distance from their place.
    for _, group in groupby(enumerate(shown), key=lambda pair: pair[1] - pair[0]):
        days = [day for _, day in group]
        # Jobs running at the start were allowed to finish: use may have been higher on the first days.
        away = round(nodes - median(most[day] for day in days))
        found.append(Absence(days[0] * _DAY_S, (days[-1] + 1) * _DAY_S, away))
    return sorted(found, key=lambda each: (each.start_s - each.end_s) * each.nodes)
