"""Expected start of a waiting job: running and waiting jobs are simulated, and the result is calibrated on past jobs."""

from collections.abc import Sequence
from typing import NamedTuple

from hopperkit.traces.backtest import interval_of_alike, learned_waits
from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.scheduler import infeasible_jobs
from hopperlib.errors import InputError
from hopperlib.scheduling.schedule import NOT_STARTED
from hopperlib.scheduling.workload import Job, Workload
from hopperlib.units import plain_number

_FEWEST = 200
# So many past jobs at most, of whole nodes and of shared ones, are learned from and tested on.
_LAST, _LAST_SHARING = 5000, 2000


class Expected(NamedTuple):
    """When a waiting job starts. [s]

    Parameters
    ----------
    now_s : int
        The last moment of the log.
    waited_s : int
        From submission until now.
    start_s : int
        As simulated: nobody new comes, and what runs ends as early as past jobs did.
    low_s, high_s : int or None
        Interval in which 95 % of the past jobs started with a similar simulated wait that had not started by now;
        None where those are too few.
    past : int
        How many these are.
    """

    now_s: int
    waited_s: int
    start_s: int
    low_s: int | None
    high_s: int | None
    past: int


def last_started(workload: Workload, nodes: int | Cluster) -> Workload:
    """Return the last jobs that started: recent rules apply to the next job, and the answer must be quick.

    Parameters
    ----------
    workload : Workload
        The jobs.
    nodes : int or Cluster
        Number of exclusive nodes, or the cluster.

    Examples
    --------
    >>> len(last_started(Workload([Job(1, 0, 1, 60, 60), Job(2, 0, 1, 60, 60, observed_start_s=0)]), 4))
    1
    """
    nodes = plain_number(nodes)
    most = _LAST if isinstance(nodes, int) else _LAST_SHARING
    return workload.of([job for job, start in enumerate(workload.observed_start_s) if start >= 0][-most:])


def expected_start(
    workload: Workload, unfinished: Sequence[Job], which: int, nodes: int | Cluster, clock: Clock, rules: Learned
) -> Expected:
    """Return when a waiting job starts.

    Parameters
    ----------
    workload : Workload
        Of the past, with observed starts.
    unfinished : sequence of Job
        Running jobs (with an observed start; their run time is the time elapsed) and waiting jobs.
    which : int
        Place of the job among these.
    nodes : int or Cluster
        Of the machine.
    clock : Clock
    rules : Learned

    Raises
    ------
    InputError
        If the job runs already, or is wider than the machine.

    Examples
    --------
    One job runs for another 50 s by its limit, and the one that waits needs its node:

    >>> now = [Job(1, 0, 1, 10, 60, observed_start_s=0), Job(2, 10, 1, 0, 60)]
    >>> expected_start(Workload(), now, 1, 1, Clock(0), Learned()).start_s
    60
    """
    nodes = plain_number(nodes)
    job = unfinished[which]
    if job.observed_start_s is not None:
        raise InputError("the job runs already")
    if infeasible_jobs(Workload([job]), nodes):
        most = nodes if isinstance(nodes, int) else len(nodes.nodes)
        raise InputError(f"the job requests nodes={job.nodes}, more than the {most:,} of the machine")
    now = _now(workload, unfinished)
    start = _simulated_start(workload, unfinished, which, nodes, clock, rules, now)
    waited = max(0, now - job.submit_time_s)
    known = [row for row, begun in enumerate(workload.observed_start_s) if begun >= 0]
    low = high = None
    past = 0
    if len(known) >= _FEWEST:
        log = workload.of(known)
        observed = [max(0, begun - at) for begun, at in zip(log.observed_start_s, log.arrival_s, strict=True)]
        simulated = learned_waits(log, nodes, clock, rules)
        # Those only that waited as long as this one has.
        pairs = [(predicted, wait) for predicted, wait in zip(simulated, observed, strict=True) if wait >= waited]
        past = len(pairs)
        if past >= _FEWEST:
            least, most = interval_of_alike(pairs, max(0, start - job.submit_time_s))
            low, high = (job.submit_time_s + max(waited, wait) for wait in (least, most))
    return Expected(now, waited, start, low, high, past)


def _now(workload: Workload, unfinished: Sequence[Job]) -> int:
    """Return the last moment of the log."""
    ends = (
        begun + run for begun, run in zip(workload.observed_start_s, workload.run_time_s, strict=True) if begun >= 0
    )
    running = (job.observed_start_s + job.run_time_s for job in unfinished if job.observed_start_s is not None)
    return max(*(job.submit_time_s for job in unfinished), 0, max(ends, default=0), max(running, default=0))


def _simulated_start(
    workload: Workload,
    unfinished: Sequence[Job],
    which: int,
    nodes: int | Cluster,
    clock: Clock,
    rules: Learned,
    now: int,
) -> int:
    """Return when the simulation starts a job, with what runs and waits now."""
    whole = sum(workload.run_time_s) / max(1, sum(workload.requested_time_s)) if len(workload) else 1.0
    jobs = []
    # Running jobs come first so that they keep their nodes; the others follow in order of submission.
    order = sorted(
        range(len(unfinished)), key=lambda at: (unfinished[at].observed_start_s is None, unfinished[at].submit_time_s)
    )
    for at in order:
        job = unfinished[at]
        if infeasible_jobs(Workload([job]), nodes):
            continue
        left = max(1, job.requested_time_s - job.run_time_s)
        run = max(1, min(left, round(whole * job.requested_time_s) - job.run_time_s))
        since = max(now, job.eligible_time_s or 0) if job.observed_start_s is None else now
        jobs.append(
            job._replace(job=at, submit_time_s=now, eligible_time_s=since, run_time_s=run, requested_time_s=left)
        )
    schedule = rules.run(Workload(jobs), nodes, clock)
    place = list(schedule.workload.job).index(which)
    if schedule.status[place] == NOT_STARTED:
        raise InputError("the job never starts under the rules that were learned")
    return schedule.start_s[place]
