"""The twin of a log: its simulation, with named causes for the differences.

Before a change is simulated, the simulation of the unchanged log must be right. Errors of a log show in different
places: a repeated hour puts more on the machine than it has; limits equal to run times leave the scheduler nothing to
plan with; a clock change starts jobs before their submission, or lengthens all waits from one day on; and limits,
reservations or partitions missing from the log keep jobs waiting while nodes are idle.
"""

from collections.abc import Iterator
from typing import NamedTuple

from hopperkit.traces.calibration import Break, break_text, breaks
from hopperkit.traces.capacity.machine import cause_of, count_of, excesses
from hopperkit.traces.cluster import Cluster
from hopperkit.traces.observed import found_idle, passed_by_like
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.site import Learned
from hopperlib.finding import Finding
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Workload
from hopperlib.text import count, listed, share

# Limits are just run times if this share of them is; the clock is wrong if this share of starts precedes submission.
_SAME_LIMITS, _BEFORE = 0.9, 0.005
# Overtaking among similar jobs, and idle nodes while jobs wait, are more than chance if this many times as frequent as
# simulated.
_PASSED, _IDLE = 0.05, 0.1
_MOST_BREAKS, _MOST_DATES = 3, 3


class Twin(NamedTuple):
    """The simulation of a log, and the causes of differences from it."""

    schedule: Schedule
    findings: tuple[Finding, ...]


def twin(
    workload: Workload, room: int | Cluster, clock: Clock, rules: Learned, *, schedule: Schedule | None = None
) -> Twin:
    """Simulate a log without changes, and name where they disagree.

    Parameters
    ----------
    workload : Workload
        Jobs whose starts are not known are left out.
    room : int or Cluster
        Of the machine.
    clock : Clock
    rules : Learned
    schedule : Schedule or None
        That simulation, where it is at hand.

    Examples
    --------
    A job that started a minute before it was submitted:

    >>> from hopperlib.scheduling.workload import Job
    >>> jobs = Workload([Job(1, 60, 1, 60, 90, observed_start_s=0), Job(2, 100, 1, 60, 90, observed_start_s=100)])
    >>> [finding.code for finding in twin(jobs, 1, Clock(0), Learned()).findings]
    ['starts-before-submission']
    """
    log = workload.of([job for job, start in enumerate(workload.observed_start_s) if start >= 0])
    schedule = schedule or rules.run(log, room, clock)
    waits = [max(0, start - at) for start, at in zip(schedule.start_s, log.arrival_s, strict=True)]
    found = [*_clocks(log, room, clock), *_limits(log)]
    broken = breaks(log, waits, lambda at: clock.of_week(clock.hour(at)) % 24)
    found += [_broken(each, clock) for each in broken[:_MOST_BREAKS]]
    if not broken:
        found += _hidden(schedule, room)
    return Twin(schedule, tuple(found))


def _broken(found: Break, clock: Clock) -> Finding:
    message = f"{break_text(found, clock.date)}: a change is not simulated right there."
    return Finding("simulation-breaks", message, "advice", found._asdict())


def _clocks(log: Workload, room: int | Cluster, clock: Clock) -> Iterator[Finding]:
    """Yield hours that are in the log twice, and starts before submissions."""
    doubled = [each for part, nodes in _parts(log, room) for each in excesses(part, nodes)]
    if doubled:
        dates = listed(list(dict.fromkeys(clock.date(each.start_s) for each in doubled))[:_MOST_DATES], "and")
        jobs = sum(each.jobs for each in doubled)
        yield Finding(
            "repeated-hour",
            f"On {dates} more nodes are in use than the machine has, for up to 3 h, in which {count(jobs, 'job')} started: "
            f"{cause_of(doubled)}.",
            "advice",
            {"dates": dates, "jobs": jobs},
        )
    early = [start for start, at in zip(log.observed_start_s, log.submit_time_s, strict=True) if start < at]
    if len(early) > _BEFORE * len(log):
        yield Finding(
            "starts-before-submission",
            f"{count(len(early), 'job')} started before they were submitted, the first on {clock.date(min(early))}: two clocks "
            "wrote this log, or one was moved.",
            "advice",
            {"jobs": len(early), "first_s": min(early)},
        )


def _parts(log: Workload, room: int | Cluster) -> Iterator[tuple[Workload, int]]:
    """Yield the jobs of each part of a machine that shares no node with others, and its nodes; none where jobs share nodes."""
    if isinstance(room, int):
        yield log, room
        return
    for names in room.parts():
        if all(room.partitions[name].exclusive for name in names):
            mine = [job for job in range(len(log)) if room.partition(log.word("queue", job)) in names]
            yield log.of(mine), len({node for name in names for node in room.partitions[name].nodes})


def _limits(log: Workload) -> Iterator[Finding]:
    """Yield a finding if limits are only the run times: the scheduler planned with other limits."""
    same = sum(limit == max(1, run) for limit, run in zip(log.requested_time_s, log.run_time_s, strict=True))
    if len(log) and same > _SAME_LIMITS * len(log):
        yield Finding(
            "limits-missing",
            f"{share(same / len(log))} of the limits are the run times themselves: the log lacks the limits by which its "
            "scheduler planned (Timelimit of sacct), so backfill is simulated with a knowledge that it did not have.",
            "advice",
            {"share": same / len(log)},
        )


def _hidden(schedule: Schedule, room: int | Cluster) -> Iterator[Finding]:
    """Yield a finding if jobs wait while nodes are idle, or overtake similar jobs, and no group of jobs explains it."""
    cluster = None if isinstance(room, int) else room
    idle, usual = found_idle(schedule, cluster)
    passed, expected = passed_by_like(schedule)
    if idle > usual + _IDLE or passed > expected + _PASSED:
        yield Finding(
            "hidden-partitions",
            f"{share(passed)} of the jobs passed one of the same queue, width and limit that came before (simulated "
            f"{share(expected)}), and {share(idle)} of those that waited saw enough idle nodes half-way (simulated "
            f"{share(usual)}), of no one user, account or hour: partitions, reservations or priorities that the log does not "
            f"name on the {count_of(room):,} nodes.",
            "advice",
            {"passed": passed, "passed_simulated": expected, "idle": idle, "idle_simulated": usual},
        )
