"""The jobs that wait: in the order of the queue, by width, and those set aside."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.workload import Workload

__all__ = ["JOB", "SHIFT", "WaitingJobs"]

# Two whole numbers in one, which sorts by the first, then by the second: (first << SHIFT) + second.
SHIFT = 32
JOB = (1 << SHIFT) - 1


class WaitingJobs:
    """The waiting jobs of a simulation.

    A job's rank is its place in the order in which the queue would stand if all
    jobs waited at once. It is known before the run: priority is fixed, and with
    aging a job is as well placed as one of the next better priority that came so
    much later, so that two waiting jobs never change places. An order goes within priority,
    the larger first.

    Set aside are jobs whose user runs as many as the queue allows, and jobs of a
    queue that is closed for now. They come back to their place.
    """

    def __init__(
        self, workload: Workload, queues: Sequence[Queue], reserved: Sequence[str] = (), aging_s: int | None = None,
        order: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        by_name = {queue.name: queue for queue in queues}
        known = [by_name.get(name) for name in workload.queues]
        priorities = [queue.priority if queue else 0 for queue in known]
        self._workload = workload
        self._run_limit = [queue.run_limit if queue else None for queue in known]
        self._running: dict[tuple[int, int], int] = {}
        self._reserved = set(reserved)
        self._closed = {number for number, name in enumerate(workload.queues) if name in self._reserved}
        self._aside: list[int] = []
        #: Whether a user may run only so many jobs of a queue.
        self.limited = any(limit is not None for limit in self._run_limit)
        #: Whether no job ever stands aside.
        self.steady = not self.limited and not self._reserved
        #: Whether a newcomer always goes to the end of the queue.
        self.simple = len(set(priorities)) < 2 and order is None
        #: The job of each rank, and the rank of each job.
        self.jobs: Sequence[int] = range(len(workload))
        self.ranks: Sequence[int] = self.jobs
        #: Width and limit of each rank.
        self.widths: Sequence[int] = workload.nodes
        self.limits: Sequence[int] = workload.requested_time_s
        if not self.simple:
            number, submit = workload.queue_number, workload.arrival_s
            self.jobs = sorted(
                self.jobs,
                # The sort keeps the order of submission among equals.
                key=lambda job: (
                    priorities[number[job]] * (aging_s or 1) + (submit[job] if aging_s else 0),
                    0 if order is None else -order[job],
                ),
            )
            self.ranks = sorted(range(len(workload)), key=self.jobs.__getitem__)
            self.widths = [workload.nodes[job] for job in self.jobs]
            self.limits = [workload.requested_time_s[job] for job in self.jobs]
        #: Ranks of those that wait, sorted.
        self.queue: list[int] = []
        #: (width, rank) in one number, sorted; and beside each the limit it asked for.
        self.narrow: list[int] = []
        self.asked: list[int] = []

    def __bool__(self) -> bool:
        return bool(self.queue or self._aside)

    def add(self, job: int) -> None:
        """Put a job into the queue or aside."""
        rank = self.ranks[job]
        if not self.steady and self._stands_aside(job):
            self._aside.append(rank)
            return
        key = (self.widths[rank] << SHIFT) + rank
        place = bisect_left(self.narrow, key)
        self.narrow.insert(place, key)
        self.asked.insert(place, self.limits[rank])
        insort(self.queue, rank)

    def remove(self, rank: int) -> None:
        """Take a job out of the queue."""
        del self.queue[bisect_left(self.queue, rank)]
        place = bisect_left(self.narrow, (self.widths[rank] << SHIFT) + rank)
        del self.narrow[place], self.asked[place]

    def _stands_aside(self, job: int) -> bool:
        return self._workload.queue_number[job] in self._closed or self.is_over_limit(job)

    def is_over_limit(self, job: int) -> bool:
        """Whether the job's user has as many running in this queue as allowed."""
        number = self._workload.queue_number[job]
        limit = self._run_limit[number]
        return limit is not None and self._running.get((self._workload.user[job], number), 0) >= limit

    def enter(self, job: int) -> None:
        """Count a job that starts; at the limit, its user's other jobs stand aside."""
        key = (self._workload.user[job], self._workload.queue_number[job])
        self._running[key] = self._running.get(key, 0) + 1
        if self.is_over_limit(job):
            self._sort_out()

    def leave(self, job: int) -> None:
        """Count a job that ends; its user's other jobs may come back."""
        was_over = self.is_over_limit(job)
        self._running[self._workload.user[job], self._workload.queue_number[job]] -= 1
        if was_over:
            self._sort_out()

    def reserve(self, queue: str) -> None:
        """Open one queue and close the others; with no name, open all but those that wait for their hours."""
        names = enumerate(self._workload.queues)
        self._closed = {number for number, name in names if (name != queue if queue else name in self._reserved)}
        self._sort_out()

    def _sort_out(self) -> None:
        """Put every job where it belongs now."""
        everyone = [self.jobs[rank] for rank in sorted([*self.queue, *self._aside])]
        self._aside, self.queue, self.narrow, self.asked = [], [], [], []
        for job in everyone:
            self.add(job)

    def totals(self) -> tuple[int, int]:
        """Return how many jobs wait, and how many nodes they ask for."""
        ranks = [*self.queue, *self._aside]
        return len(ranks), sum(self.widths[rank] for rank in ranks)
