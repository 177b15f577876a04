"""Groups whose jobs may have priority over all others: those whose jobs waited least, compared with similar jobs of the same days."""

from collections.abc import Iterator, Sequence
from statistics import fmean, stdev

from hopperkit.traces.rules.correlation import ranks
from hopperkit.traces.rules.evidence import Evidence
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

_DAY_S = HOURS_PER_DAY * SECONDS_PER_HOUR
# So many jobs of a group waited, if it is to be tried as preferred.
_GROUP = 20
# A user, QOS or queue is a candidate only if Student's t for its waits against those of similar jobs on the same days
# is below this, over at least this many days with both.
_NAMED_T, _NAMED_DAYS = -4.0, 8
# Largest number of candidate groups: each needs a simulation.
_TRIED = 3


def preferred_groups(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield the QOS, queues and users that may have priority: those whose jobs waited least by rank.

    Parameters
    ----------
    evidence : Evidence
        Evidence from the log.

    Examples
    --------
    >>> from hopperkit.traces.rules.clock import Clock
    >>> from hopperlib.scheduling.workload import Workload
    >>> list(preferred_groups(Evidence(Workload(), 4, Clock(0))))
    []
    """
    workload, waited = evidence.workload, evidence.waited
    order = ranks([evidence.waits[job] for job in waited])
    place = {job: at for at, job in enumerate(waited)}
    against = _against_others(evidence, dict(zip(waited, order, strict=True)))
    found = []
    for per in ("qos", "queue", "user"):
        of_group: dict[str, list[int]] = {}
        for job in waited:
            user = workload.user[job]
            name = workload.users.get(user, str(user)) if per == "user" else workload.word(per, job)
            of_group.setdefault(name, []).append(job)
        if len(of_group) > 1:
            found += [
                (fmean(order[place[job]] for job in mine), per, name)
                for name, mine in of_group.items()
                if name and len(mine) >= _GROUP and _waits_less(evidence, mine, against)
            ]
    for mean_rank, per, name in sorted(found)[:_TRIED]:
        if mean_rank < len(waited) / 2:
            yield per, name


def _against_others(evidence: Evidence, order: dict[int, float]) -> dict[int, float]:
    """Return the difference of each wait's rank from the mean rank of similar jobs of the same day."""
    workload = evidence.workload
    like: dict[tuple[int, ...], list[int]] = {}
    for job in order:
        kind = (
            workload.arrival_s[job] // _DAY_S,
            workload.queue_number[job],
            workload.nodes[job].bit_length(),
        )
        like.setdefault(kind, []).append(job)
    return {
        job: order[job] - fmean(order[other] for other in mine)
        for mine in like.values()
        if len(mine) > 1
        for job in mine
    }


def _waits_less(evidence: Evidence, jobs: Sequence[int], against: dict[int, float]) -> bool:
    """Whether some jobs waited less than like jobs of the same day, day after day: waits of one day depend on each other."""
    of_day: dict[int, list[float]] = {}
    for job in jobs:
        if job in against:
            of_day.setdefault(evidence.workload.arrival_s[job] // _DAY_S, []).append(against[job])
    means = [fmean(mine) for mine in of_day.values()]
    if len(means) < _NAMED_DAYS:
        return False
    spread = stdev(means) / len(means) ** 0.5
    return fmean(means) < 0 and (not spread or fmean(means) / spread < _NAMED_T)
