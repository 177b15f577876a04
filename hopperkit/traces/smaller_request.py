"""Requests that would have started a job earlier: a shorter limit, fewer nodes, or another partition.

The jobs around it are simulated under the rules of the log with the original and with each alternative request, several
times with submissions delayed by up to five seconds: noise alone moves the start of a job.
"""

import random
from collections.abc import Iterator
from math import ceil
from statistics import median
from typing import NamedTuple

from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.scheduler import infeasible_jobs
from hopperlib.scheduling.schedule import NOT_STARTED
from hopperlib.scheduling.workload import Job, Workload
from hopperlib.text import count, duration
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

# Jobs that ended before this are left out; runs of each request; largest delay of submissions.
_BEFORE_S, _RUNS, _JITTER_S = 3 * HOURS_PER_DAY * SECONDS_PER_HOUR, 3, 6
# Less of the wait is not worth a change. [fraction, s]
_GAIN, _LEAST_S = 0.1, 60
_MOST_PARTITIONS = 4


class Request(NamedTuple):
    """A request that starts a job earlier, with its wait and that of the original request. [s]"""

    text: str
    wait_s: int
    wait_before_s: int


def smaller_request(
    workload: Workload, index: int, room: int | Cluster, clock: Clock, rules: Learned
) -> Request | None:
    """Smallest change of a job's request that starts it clearly earlier; None if none of those tried does.

    Parameters
    ----------
    workload : Workload
        With observed starts.
    index : int
        Of the job.
    room : int or Cluster
        Of the machine.
    clock : Clock
    rules : Learned

    Examples
    --------
    Job 1 has three of four nodes for ten hours. Job 2 needs four of them; job 3 would fit next to job 1 but for its
    limit:

    >>> hour = 3600
    >>> jobs = [Job(1, 0, 3, 10 * hour, 10 * hour, observed_start_s=0), Job(2, 60, 4, hour, hour, observed_start_s=10 * hour)]
    >>> log = Workload([*jobs, Job(3, 120, 1, hour, 24 * hour, observed_start_s=11 * hour)])
    >>> smaller_request(log, 2, 4, Clock(0), Learned()).text
    'a limit of 6 h instead of 24 h'
    """
    jobs, place = _around(workload, index)
    job = jobs[place]
    before = _waits(jobs, place, room, clock, rules)
    if before is None:
        return None
    better = []
    for text, changed in _requests(job, room):
        waits = _waits([*jobs[:place], changed, *jobs[place + 1 :]], place, room, clock, rules)
        # Its worst run is earlier than the best run of the original request.
        if (
            waits is not None
            and max(waits) < min(before)
            and median(before) - median(waits) >= max(_LEAST_S, _GAIN * median(before))
        ):
            better.append(Request(text, round(median(waits)), round(median(before))))
    if not better:
        return None
    best = min(each.wait_s for each in better)
    half = [each for each in better if each.wait_before_s - each.wait_s >= (each.wait_before_s - best) / 2]
    return half[0]


def _around(workload: Workload, index: int) -> tuple[list[Job], int]:
    """Jobs that ran or waited around a job's wait, in order of submission, and its position in that order."""
    arrival, start = workload.arrival_s[index], workload.observed_start_s[index]
    rows = [
        row
        for row, (begun, run) in enumerate(zip(workload.observed_start_s, workload.run_time_s, strict=True))
        if row == index or (workload.arrival_s[row] <= start and begun + run > arrival - _BEFORE_S and begun >= 0)
    ]
    return [workload[row]._replace(memory_mb=0) for row in rows], rows.index(index)


def _requests(job: Job, room: int | Cluster) -> Iterator[tuple[str, Job]]:
    """Changed requests in words, the smaller changes first of each kind."""
    # Whole minutes: Slurm keeps limits in minutes.
    wanted = (job.requested_time_s / 2, job.requested_time_s / 4, 1.1 * job.run_time_s)
    for limit in (60 * ceil(seconds / 60) for seconds in wanted):
        if max(60, job.run_time_s) <= limit < job.requested_time_s:
            text = f"a limit of {duration(limit)} instead of {duration(job.requested_time_s)}"
            yield text, job._replace(requested_time_s=limit)
    for nodes in (3 * job.nodes // 4, job.nodes // 2, job.nodes // 4):
        if 1 <= nodes < job.nodes:
            part = job._replace(nodes=nodes, cores=job.cores * nodes // job.nodes, gpus=job.gpus * nodes // job.nodes)
            yield f"{count(nodes, 'node')} instead of {job.nodes}, for as long", part
    if isinstance(room, Cluster):
        for name in list(room.partitions)[:_MOST_PARTITIONS]:
            other = job._replace(queue=name)
            if name != job.queue and not infeasible_jobs(Workload([other]), room):
                yield f"partition {name or 'default'} instead of {job.queue or 'default'}", other


def _waits(
    jobs: list[Job], place: int, room: int | Cluster, clock: Clock, rules: Learned, runs: int = _RUNS
) -> list[int] | None:
    """Waits of a job in simulations with submissions up to five seconds later; None if it never starts. [s]"""
    waits = []
    for seed in range(runs):
        rng = random.Random(seed)
        late = [
            job._replace(job=number, submit_time_s=job.submit_time_s + int(_JITTER_S * rng.random()))
            for number, job in enumerate(jobs)
        ]
        schedule = rules.run(Workload(late), room, clock)
        at = list(schedule.workload.job).index(place)
        if schedule.status[at] == NOT_STARTED:
            return None
        waits.append(schedule.start_s[at] - schedule.workload.arrival_s[at])
    return waits
