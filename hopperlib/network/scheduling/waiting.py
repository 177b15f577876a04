"""The jobs that wait: in the order of the queue, by width, and those set aside.

A waiting job's rank sorts the queue: its priority, then its place in the
workload, in one whole number. With aging, priority counts as time: a job is as
well placed as one of the next better priority that came so much later. Every
job ages alike, so two waiting jobs never change places and the rank stays what it
was at submission. Set aside are jobs whose user runs as many as the
queue allows, and jobs of a queue that is closed for now; they are no part of
the order until they come back to their place in it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.workload import Workload

__all__ = ["WaitingJobs"]

_SHIFT = 32
_JOB = (1 << _SHIFT) - 1


class WaitingJobs:
    """The waiting jobs of a simulation.

    Parameters
    ----------
    workload : Workload
    queues : sequence of Queue
        Priorities and limits by name; other queues have priority 0 and no limit.
    reserved : sequence of str
        Queues that are open only while the machine is kept for them.
    aging_s : int or None
        How long a job waits to gain one step of priority; None for no aging. [s]

    Examples
    --------
    >>> from hopperlib.network.scheduling.workload import Job
    >>> jobs = Workload([Job(1, 0, 4, 60, 60, queue="low"), Job(2, 0, 2, 60, 60, queue="debug")])
    >>> waiting = WaitingJobs(jobs, [Queue(name="low", priority=5), Queue(name="debug", priority=1)])
    >>> waiting.add(0)
    >>> waiting.add(1)
    >>> [rank & _JOB for rank in waiting.queue], [width for width, _, _ in waiting.narrow]
    ([1, 0], [2, 4])
    """

    __slots__ = (
        "_aging", "_aside", "_closed", "_level", "_reserved", "_run_limit", "_running", "_workload", "limited", "narrow", "queue", "simple",
        "steady",
    )  # fmt: skip

    def __init__(
        self, workload: Workload, queues: Sequence[Queue], reserved: Sequence[str] = (), aging_s: int | None = None,
    ) -> None:  # fmt: skip
        by_name = {queue.name: queue for queue in queues}
        known = [by_name.get(name) for name in workload.queues]
        priorities = [queue.priority if queue else 0 for queue in known]
        levels = {priority: level for level, priority in enumerate(sorted(set(priorities)))}
        self._workload = workload
        self._aging = aging_s is not None
        steps = [levels[one] if aging_s is None else (one - min(levels)) * aging_s for one in priorities]
        self._level = [step << _SHIFT for step in steps]
        self._run_limit = [queue.run_limit if queue else None for queue in known]
        self._running: dict[tuple[int, int], int] = {}
        self._reserved = set(reserved)
        self._closed = {number for number, name in enumerate(workload.queues) if name in self._reserved}
        self._aside: list[int] = []
        #: Whether a user may run only so many jobs of a queue.
        self.limited = any(limit is not None for limit in self._run_limit)
        #: Whether no job ever stands aside.
        self.steady = not self.limited and not self._reserved
        #: Whether moreover a newcomer always goes to the end of the queue.
        self.simple = self.steady and len(levels) < 2
        #: Ranks, sorted.
        self.queue: list[int] = []
        #: (width, rank, limit), sorted.
        self.narrow: list[tuple[int, int, int]] = []

    def __bool__(self) -> bool:
        return bool(self.queue or self._aside)

    def rank(self, index: int) -> int:
        """Return what sorts a job in the queue."""
        rank = self._level[self._workload.queue_number[index]] + index
        return rank + (self._workload.submit_time_s[index] << _SHIFT) if self._aging else rank

    def add(self, index: int) -> None:
        """Put a job into the queue, behind those of its priority, or aside."""
        workload = self._workload
        rank = self.rank(index)
        if not self.simple and self._stands_aside(index):
            self._aside.append(rank)
            return
        insort(self.queue, rank)
        insort(self.narrow, (workload.nodes[index], rank, workload.requested_time_s[index]))

    def remove(self, rank: int, width: int, limit: int) -> None:
        """Take a job out of the queue."""
        queue, narrow = self.queue, self.narrow
        del queue[bisect_left(queue, rank)]
        del narrow[bisect_left(narrow, (width, rank, limit))]

    def _stands_aside(self, index: int) -> bool:
        return self._workload.queue_number[index] in self._closed or (self.limited and self.is_over_limit(index))

    def is_over_limit(self, index: int) -> bool:
        """Whether the job's user has as many running in this queue as allowed."""
        number = self._workload.queue_number[index]
        limit = self._run_limit[number]
        return limit is not None and self._running.get((self._workload.user[index], number), 0) >= limit

    def enter(self, index: int) -> None:
        """Count a job that starts; at the limit, its user's other jobs stand aside."""
        key = (self._workload.user[index], self._workload.queue_number[index])
        self._running[key] = self._running.get(key, 0) + 1
        if self.is_over_limit(index):
            self._sort_out()

    def leave(self, index: int) -> None:
        """Count a job that ends; its user's other jobs may come back."""
        key = (self._workload.user[index], self._workload.queue_number[index])
        was_over = self.is_over_limit(index)
        self._running[key] -= 1
        if was_over:
            self._sort_out()

    def reserve(self, queue: str) -> None:
        """Open one queue and close the others; with no name, open all but those that wait for their hours."""
        names = enumerate(self._workload.queues)
        self._closed = {number for number, name in names if (name != queue if queue else name in self._reserved)}
        self._sort_out()

    def _sort_out(self) -> None:
        """Put every job where it belongs now."""
        workload = self._workload
        ranks = sorted([*self.queue, *self._aside])
        self._aside = [rank for rank in ranks if self._stands_aside(rank & _JOB)]
        self.queue = [rank for rank in ranks if not self._stands_aside(rank & _JOB)]
        self.narrow = sorted(
            (workload.nodes[rank & _JOB], rank, workload.requested_time_s[rank & _JOB]) for rank in self.queue
        )

    def totals(self) -> tuple[int, int]:
        """Return how many jobs wait, and how many nodes they ask for."""
        ranks = [*self.queue, *self._aside]
        return len(ranks), sum(self._workload.nodes[rank & _JOB] for rank in ranks)
