"""Logs with one planted corruption each: silent changes of a log by a reader, a clock or a site."""

from collections.abc import Callable

from hopperkit.traces.rules.absences import Absence
from hopperkit.traces.rules.clock import ClosedHours
from hopperkit.traces.rules.site import Learned
from hopperlib.scheduling.rules import Limit
from hopperlib.scheduling.workload import Job, Workload
from tests.traces.planted import CLOCK, HOUR_S, NODES, machine, planted_log

DAY_S = 24 * HOUR_S


def _each(log: Workload, change: Callable[[Job], Job]) -> Workload:
    return Workload(change(job) for job in log)


def _started(log: Workload, rules: Learned, structure: str) -> Workload:
    """A log of a scheduler with undocumented rules."""
    starts = rules.run(log, machine(structure), CLOCK).start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(log, starts, strict=True))


def _busiest(log: Workload) -> int:
    """A moment in the middle half of the log at which most nodes are in use. [s]"""
    first, last = log.arrival_s[0], log.arrival_s[-1]
    moments = range(first + (last - first) // 4, last - (last - first) // 4, HOUR_S)

    def used(at: int) -> int:
        ends = zip(log.observed_start_s, log.run_time_s, log.nodes, strict=True)
        return sum(nodes for start, run, nodes in ends if start <= at < start + run)

    return max(moments, key=used)


def doubled_hour(structure: str, seed: int) -> Workload:
    """From one moment on, the clock is an hour late, as in autumn: one hour is in the log twice."""
    log = planted_log(structure, "none", seed)
    moment = _busiest(log)

    def behind(at: int) -> int:
        return at - HOUR_S * (at >= moment)

    return _each(
        log,
        lambda job: job._replace(
            submit_time_s=behind(job.submit_time_s), observed_start_s=behind(job.observed_start_s or 0)
        ),
    )


def missing_limits(structure: str, seed: int) -> Workload:
    """The column of limits is lost: the reader takes run times for them."""
    return _each(planted_log(structure, "none", seed), lambda job: job._replace(requested_time_s=job.run_time_s))


def clock_ahead(structure: str, seed: int) -> Workload:
    """From half of the log on starts are recorded five hours late."""
    log = planted_log(structure, "none", seed)
    middle = (log.arrival_s[0] + log.arrival_s[-1]) // 2
    return _each(
        log,
        lambda job: job._replace(
            observed_start_s=(job.observed_start_s or 0) + 5 * HOUR_S * (job.submit_time_s > middle)
        ),
    )


def clock_behind(structure: str, seed: int) -> Workload:
    """From half of the log on starts are recorded two hours early."""
    log = planted_log(structure, "none", seed)
    middle = (log.arrival_s[0] + log.arrival_s[-1]) // 2
    return _each(
        log,
        lambda job: job._replace(
            observed_start_s=max(0, (job.observed_start_s or 0) - 2 * HOUR_S * (job.submit_time_s > middle))
        ),
    )


def merged_partitions(structure: str, seed: int) -> Workload:
    """Two partitions with separate nodes, whose column is lost."""
    assert structure == "apart"
    return _each(planted_log("apart", "none", seed), lambda job: job._replace(queue=""))


def hidden_reservation(structure: str, seed: int) -> Workload:
    """Nodes are kept for others: a third of them for eight days, or with an odd seed all of them at night."""
    log = planted_log(structure, "none", seed, load=0.8)
    if seed % 2:
        return _started(log, Learned(closed=(ClosedHours("all days", 0, 6, 0),)), structure)
    middle = (log.arrival_s[0] + log.arrival_s[-1]) // 2 // DAY_S * DAY_S
    return _started(log, Learned(absent=(Absence(middle, middle + 8 * DAY_S, NODES // 3),)), structure)


def hidden_limit(structure: str, seed: int) -> Workload:
    """One running job of user 2, or with an odd seed two of account a1."""
    log = planted_log(structure, "none", seed)
    limit = Limit(per="account", of="a1", jobs=2) if seed % 2 else Limit(per="user", of="2", jobs=1)
    return _started(log, Learned(limits=(limit,)), structure)


#: Twenty corruptions, each with the codes or names of findings that name it.
CORRUPTIONS = [
    *(
        (doubled_hour, structure, seed, {"repeated-hour"})
        for structure, seed in (("one", 21), ("one", 22), ("apart", 21))
    ),
    *((missing_limits, structure, 21, {"limits-missing"}) for structure in ("one", "apart", "nested")),
    *((clock_ahead, structure, 21, {"date"}) for structure in ("one", "apart")),
    *((clock_behind, structure, 21, {"date", "starts-before-submission"}) for structure in ("one", "nested")),
    *((merged_partitions, "apart", seed, {"hidden-partitions"}) for seed in (21, 22, 23)),
    *((hidden_reservation, "one", seed, {"absent", "closed", "date"}) for seed in (21, 22, 23, 24)),
    *((hidden_limit, "one", seed, {"limit", "user 2", "account a1"}) for seed in (21, 22, 23)),
]
