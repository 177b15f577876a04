"""Jobs for the scheduler, kept in columns.

A year of a big machine is a million jobs. As one object each they would fill
hundreds of megabytes; as columns of whole numbers they take a few dozen bytes
a job. Times are whole seconds, so that a run gives the same bytes everywhere.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hopperlib.errors import InputError

__all__ = ["Job", "Workload"]


class Job(NamedTuple):
    """One batch job.

    Parameters
    ----------
    job : int
        Its number, as the trace gives it.
    submit_time_s, run_time_s, requested_time_s : int
        When it was submitted, how long it runs if left alone, and the limit
        it asked for. [s]
    nodes : int
        Whole nodes.
    user : int
        Number of its user; 0 if unknown.
    queue : str
        Its queue; empty if unknown.
    """

    job: int
    submit_time_s: int
    nodes: int
    run_time_s: int
    requested_time_s: int
    user: int = 0
    queue: str = ""


class Workload:
    """Jobs in order of submission; equal submissions keep the order in which they were given.

    Parameters
    ----------
    jobs : iterable of Job

    Raises
    ------
    InputError
        If a job has no nodes or a negative time; the message names the job.

    Examples
    --------
    >>> workload = Workload([Job(1, 60, 4, 100, 200), Job(2, 0, 1, 50, 50)])
    >>> len(workload), [job.job for job in workload], workload.node_seconds
    (2, [2, 1], 450)
    """

    def __init__(self, jobs: Iterable[Job] = ()) -> None:
        self.job = array("q")
        self.submit_time_s = array("q")
        self.nodes = array("i")
        self.run_time_s = array("q")
        self.requested_time_s = array("q")
        self.user = array("i")
        self.queue_number = array("i")
        self.queues: list[str] = []
        numbers: dict[str, int] = {}
        previous = 0
        in_order = True
        for job in jobs:
            if job.nodes < 1:
                raise InputError(f"job {job.job}: nodes={job.nodes} must be at least 1")
            if min(job.submit_time_s, job.run_time_s, job.requested_time_s) < 0:
                raise InputError(
                    f"job {job.job}: submit_time_s={job.submit_time_s}, run_time_s={job.run_time_s} and "
                    f"requested_time_s={job.requested_time_s} must not be negative"
                )
            if job.submit_time_s < previous:
                in_order = False
            previous = job.submit_time_s
            self.job.append(job.job)
            self.submit_time_s.append(previous)
            self.nodes.append(job.nodes)
            self.run_time_s.append(job.run_time_s)
            self.requested_time_s.append(job.requested_time_s)
            self.user.append(job.user)
            if job.queue not in numbers:
                numbers[job.queue] = len(numbers)
                self.queues.append(job.queue)
            self.queue_number.append(numbers[job.queue])
        self.sorted_on_entry = in_order
        if not in_order:
            self._sort()

    def _sort(self) -> None:
        """Put the columns in order of submission; Python's sort keeps equal ones in place."""
        order = sorted(range(len(self.job)), key=self.submit_time_s.__getitem__)
        for name in ("job", "submit_time_s", "nodes", "run_time_s", "requested_time_s", "user", "queue_number"):
            column = getattr(self, name)
            setattr(self, name, array(column.typecode, [column[i] for i in order]))

    def __len__(self) -> int:
        return len(self.job)

    def __getitem__(self, index: int) -> Job:
        return Job(
            self.job[index],
            self.submit_time_s[index],
            self.nodes[index],
            self.run_time_s[index],
            self.requested_time_s[index],
            self.user[index],
            self.queues[self.queue_number[index]],
        )

    def __iter__(self) -> Iterator[Job]:
        return (self[index] for index in range(len(self)))

    @property
    def node_seconds(self) -> int:
        """Node-seconds of all jobs, if each runs its full time. [s]"""
        return sum(nodes * run for nodes, run in zip(self.nodes, self.run_time_s, strict=True))
