"""A simulated schedule in the Standard Workload Format: the writer of the bundled jobs."""

from collections.abc import Iterator

from hopperlib.scheduling.schedule import FINISHED, NOT_STARTED, Schedule

_STATUS = {FINISHED: 1, NOT_STARTED: 5}


def write_swf(schedule: Schedule, *, cores_per_node: int = 1) -> Iterator[str]:
    """Yield the lines; killed jobs are written as failed (status 0), those that never started as cancelled (5)."""
    yield "; Version: 2.2\n"
    yield f"; MaxNodes: {schedule.nodes}\n"
    yield f"; MaxProcs: {schedule.nodes * cores_per_node}\n"
    yield "; Note: written by a simulation, not by a machine\n"
    for index, job in enumerate(schedule.workload):
        processors = job.nodes * cores_per_node
        status = schedule.status[index]
        user = job.user or -1
        queue = job.queue if job.queue.isdigit() else "-1"
        if status == NOT_STARTED:
            wait, run, given = -1, -1, -1
        else:
            wait = schedule.start_s[index] - job.submit_time_s
            run, given = schedule.end_s[index] - schedule.start_s[index], processors
        yield (
            f"{job.job} {job.submit_time_s} {wait} {run} {given} -1 -1 {processors} {job.requested_time_s} -1 "
            f"{_STATUS.get(status, 0)} {user} -1 -1 {queue} -1 -1 -1\n"
        )
