"""A week of jobs on the machine of a pack, from the book's scheduler, in the form of ``sacct``."""

import random
from datetime import datetime, timedelta

from hopperlib.scheduling.generator import SizeClass, draw_workload
from hopperlib.scheduling.scheduler import simulate
from hopperlib.units import SECONDS_PER_HOUR

FIRST_DAY = datetime(2026, 3, 2)
DAYS = 7
PARTITIONS = ("batch", "large", "long")
FILE = "jobs/sacct.txt"
_HEADER = "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|NNodes"


def jobs(nodes: int, rng: random.Random) -> str:
    """Return the jobs that were submitted in the week, each with its wait and its end.

    Parameters
    ----------
    nodes : int
        Nodes of the machine.
    rng : random.Random

    Examples
    --------
    >>> text = jobs(48, random.Random(1))
    >>> text.splitlines()[0].split("|")[:4]
    ['JobID', 'User', 'Partition', 'State']
    """
    classes = (
        SizeClass(1, max(2, nodes // 16), 0.35, 24),
        SizeClass(nodes // 16 + 1, nodes // 4, 0.40, 12),
        SizeClass(nodes // 4 + 1, nodes // 2, 0.25, 6),
    )
    load = 0.82 + 0.12 * rng.random()
    workload = draw_workload(classes, nodes=nodes, days=DAYS, load=load, rng=rng)
    schedule = simulate(workload, nodes)
    # Which partition takes which jobs differs from pack to pack.
    wide, lengthy, usual = (name for _, name in sorted((rng.random(), name) for name in PARTITIONS))
    lines = [_HEADER]
    for index in range(len(workload)):
        job, wait_s = workload[index], schedule.wait_time_s(index)
        if wait_s is None:
            raise ValueError(f"job {job.job} never starts: the schedule ends before it")
        partition = (
            wide if job.nodes > nodes // 4 else lengthy if job.requested_time_s > 8 * SECONDS_PER_HOUR else usual
        )
        ran_s = min(job.run_time_s, job.requested_time_s)
        state = "TIMEOUT" if job.run_time_s >= job.requested_time_s else "COMPLETED"
        submit = FIRST_DAY + timedelta(seconds=job.submit_time_s)
        start = submit + timedelta(seconds=wait_s)
        end = start + timedelta(seconds=ran_s)
        times = "|".join(moment.isoformat() for moment in (submit, start, end))
        user = f"u{1 + int(rng.random() * 24)}"
        fields = (job.job, user, partition, state, times, ran_s, _clock(job.requested_time_s), job.nodes)
        lines.append("|".join(map(str, fields)))
    return "\n".join(lines) + "\n"


def _clock(seconds: int) -> str:
    """Return a duration as Slurm writes it: days-hours:minutes:seconds."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{f'{days}-' if days else ''}{hours:02d}:{minutes:02d}:{rest:02d}"
