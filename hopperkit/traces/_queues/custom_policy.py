"""The queue under a custom policy: a function that chooses which waiting jobs start."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from hopperlib.errors import InputError
from hopperlib.scheduling._simulation.pool_queue import PoolQueue, Run
from hopperlib.scheduling._simulation.waiting import JOB
from hopperlib.scheduling._simulation.whole import WholeNodeQueue
from hopperlib.scheduling.workload import Job


class CustomPolicyQueue(PoolQueue):
    """The queue of all partitions under a custom policy; other queues manage the nodes."""

    def __init__(self, run: Run, partitions: Mapping[str, PoolQueue], policy: "Policy") -> None:
        super().__init__(run)
        self.partitions, self.policy, self.now = partitions, policy, 0
        #: The jobs that wait or run, by their place in the workload.
        self.jobs: dict[int, _WaitingJob] = {}

    @property
    def pools(self) -> Sequence[PoolQueue]:
        return tuple(dict.fromkeys(self.partitions.values()))

    def pool(self, job: int) -> PoolQueue:
        """Return the pool that a job runs in."""
        return self.partitions[self.run.wanted[job][0]]

    def most(self, job: int) -> int:
        """Return the width of the widest job like this one that could start now."""
        kept = self.run.limited and self.run.limits.reason_blocked(job) is not None
        return 0 if kept else self.pool(job).room(job, self.now)

    def add(self, newcomers: Sequence[int], now: int) -> None:
        for job in newcomers:
            self.jobs[job] = _WaitingJob(*self.run.workload[job])
            self.jobs[job].place = job
        super().add(newcomers, now)

    def hold(self, job: int, bounds: list[int], end: int) -> None:
        self.pool(job).hold(job, bounds, end)

    def finish(self, job: int, bounds: list[int]) -> None:
        self.pool(job).finish(job, bounds)
        del self.jobs[job]

    def free_bounds(self) -> list[list[int]]:
        return [bounds for pool in self.pools for bounds in pool.free_bounds()]

    def schedule_pass(self, now: int) -> Iterator[int]:
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
        self.now, nodes = now, self.run.schedule.nodes
        room = max(pool.free.free if isinstance(pool, WholeNodeQueue) else nodes for pool in self.pools)
        if not self.waiting.queue or self.waiting.widths[0] > room:
            # No job can start: skip the call of the policy, the slowest step.
            return
        for job in self.policy(View(self, now, room)):
            index = getattr(job, "place", -1)
            if index not in self.jobs or index in self.run.held:
                raise InputError(f"the policy names {job!r} at {now} s, which is not a waiting job", name="policy")
            key = next(key for key in self.waiting.queue if key & JOB == index)
            yield key
            bounds = self.pool(index).place(index, now) if self.most(index) else None
            if bounds is None:
                raise InputError(
                    f"the policy starts job {job.job} at {now} s, for which there is no room", name="policy"
                )
            self.start(key, bounds, now)


class _WaitingJob(Job):
    """A job with its position in the workload, as job numbers may repeat."""

    place: int


class _Waiters(Sequence[Job]):
    """Waiting jobs, built on demand: of thousands, most policies look only at the first."""

    def __init__(self, keys: list[int], jobs: Mapping[int, Job]) -> None:
        self._keys, self._jobs = keys, jobs

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Job]:
        return (self._jobs[key & JOB] for key in self._keys)

    def __getitem__(self, place: Any) -> Any:
        keys = self._keys[place]
        return _Waiters(keys, self._jobs) if isinstance(keys, list) else self._jobs[keys & JOB]


class View:
    """State that a custom policy sees when it is called.

    Parameters
    ----------
    now_s : int
        [s]
    """

    def __init__(self, queue: CustomPolicyQueue, now: int, widest: int) -> None:
        self._queue, self.now_s, self._widest = queue, now, widest

    @cached_property
    def waiting(self) -> Sequence[Job]:
        """All that wait, in the order of the queue."""
        return _Waiters(self._queue.waiting.queue[:], self._queue.jobs)

    @cached_property
    def fitting(self) -> tuple[Job, ...]:
        """Jobs that could start now, each considered alone, in queue order: few even if many wait."""
        queue, waiting = self._queue, self._queue.waiting
        narrow = waiting.widths[: bisect_right(waiting.widths, self._widest)]
        jobs = [key & JOB for key in sorted(key for width in narrow for key in waiting.of_width[width])]
        return tuple(queue.jobs[job] for job in jobs if queue.widths[job] <= queue.most(job))

    @cached_property
    def running(self) -> tuple[tuple[Job, int], ...]:
        """Those that run, each with the time by which it will have ended by its limit. [s]"""
        queue = self._queue
        return tuple((queue.jobs[job], queue.starts[job] + queue.limits[job]) for job in queue.run.held)

    def room(self, job: Job) -> int:
        """Return the number of nodes that are free for a job of this kind; 0 if a limit keeps it waiting."""
        assert isinstance(job, _WaitingJob)
        return self._queue.most(job.place)


# : A custom scheduling policy: returns the waiting jobs that start now.
Policy = Callable[[View], Sequence[Job]]
