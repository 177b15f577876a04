"""The queues of a simulated scheduler, a lane for each pool of nodes, and how each looks for jobs to start.

A look is a generator that names each job before it is tried: lanes that have limits in common take turns, in the order
of the queue, by merging their looks.

How whole nodes are fast: the free nodes are a few runs, whatever their number. What the running jobs are expected to
free is a sorted list, along which the place where the head finds its nodes moves by a step or two. The waiting jobs
also stand by width, so that of those that fit the first of each width is looked at, and only of widths that were not
tried in vain before: while nothing ends, the newcomers alone.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappush
from typing import Any

from hopperlib.errors import InputError
from hopperlib.network.scheduling._free_nodes import Contiguous, FirstFit, pairs
from hopperlib.network.scheduling._waiting import JOB, SHIFT, Limits, Order, Waiting
from hopperlib.network.scheduling.schedule import FINISHED, KILLED_AT_LIMIT, Schedule
from hopperlib.network.scheduling.workload import Job

FOREVER = 1 << 62
_UNKNOWN = -1
Policy = Callable[["View"], Sequence[Job]]
# What a job wants: partition, cores, GPUs and memory of each node (0 cores: the whole node).
Wanted = tuple[str, int, int, int]


class Run:
    """What the lanes of a simulation share: the jobs that run, the order of the queue, and the limits."""

    def __init__(
        self,
        schedule: Schedule,
        order: Order,
        limits: Limits,
        wanted: Sequence[Wanted],
        *,
        keep: bool,
        runtime: Callable[[int, list[int]], int] | None,
        requeue: bool,
    ) -> None:
        self.schedule, self.workload, self.order, self.limits = schedule, schedule.workload, order, limits
        self.wanted, self.keep, self.runtime, self.requeue = wanted, keep, runtime, requeue
        self.fair, self.limited = bool(order.rules.fair_share), bool(limits)
        # When jobs really end: a heap of (end, job). Their nodes, as bounds of runs.
        self.ends: list[int] = []
        self.held: dict[int, list[int]] = {}
        self.columns = (
            self.workload.requested_time_s,
            self.workload.run_time_s,
            schedule.start_s,
            schedule.end_s,
            schedule.status,
            schedule.first_bound,
            schedule.run_count,
            schedule.bounds,
        )

    def start(self, job: int, bounds: list[int], now: int) -> int:
        """Note that a job starts on some nodes; return when it is expected to end."""
        limits, run_times, start_s, end_s, status, first_bound, run_count, all_bounds = self.columns
        run_time, limit = run_times[job] if self.runtime is None else self.runtime(job, bounds), limits[job]
        status[job] = FINISHED
        if run_time > limit and not self.keep:
            run_time = limit
            status[job] = KILLED_AT_LIMIT
        start_s[job], end_s[job] = now, now + run_time
        first_bound[job], run_count[job] = len(all_bounds), len(bounds) >> 1
        all_bounds.fromlist(bounds)
        self.held[job] = bounds
        # One number holds the second and, in its last bits, the job: it sorts as the pair would, and faster.
        heappush(self.ends, ((now + run_time) << SHIFT) + job)
        if self.limited:
            self.limits.count(job, 1)
        if self.fair:
            self.order.load_with(job, 1, now)
        return now + limit


class Lane:
    """A pool of nodes and its queue."""

    def __init__(self, run: Run) -> None:
        self.run, self.waiting = run, Waiting(run.order)
        self.widths, self.limits, self.starts = run.workload.nodes, run.workload.requested_time_s, run.schedule.start_s

    def room(self, wanted: Wanted) -> int:
        """Return the width of the widest job of a kind that finds its nodes now."""
        raise NotImplementedError

    def place(self, wanted: Wanted, width: int) -> list[int] | None:
        """Take nodes for a job, and return their bounds; None if there are too few."""
        raise NotImplementedError

    def hold(self, job: int, bounds: list[int], end: int) -> None:
        """Note a job that has its nodes, and when it is expected to end."""
        raise NotImplementedError

    def finish(self, job: int, bounds: list[int]) -> None:
        """Give the nodes of a job back."""
        raise NotImplementedError

    def free_bounds(self) -> list[list[int]]:
        """Return the bounds of the runs of nodes that run no job, pool by pool."""
        raise NotImplementedError

    def look(self, now: int) -> Iterator[int]:
        """Start what can start, with the whole queue in view; yield the key of each job that is tried, before it is."""
        raise NotImplementedError

    def forget(self) -> None:
        """Try everybody again."""

    def add(self, newcomers: Sequence[int], now: int) -> None:
        """Put jobs into the queue."""
        for key in self.run.order.keys(newcomers, now):
            self.waiting.add(key)

    def update(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        """Take jobs in, and start what can start."""
        self.add(newcomers, now)
        deque(self.look(now), maxlen=0)

    def start(self, key: int, bounds: list[int], now: int) -> None:
        """Start a job that waits on its nodes."""
        self.waiting.remove(key)
        self.hold(key & JOB, bounds, self.run.start(key & JOB, bounds, now))

    def is_over(self, key: int) -> bool:
        """Whether a limit keeps a waiting job from running, which is then put aside."""
        reason = self.run.limits.blocking(key & JOB)
        if reason is not None:
            self.waiting.remove(key)
            self.waiting.put_aside(key, reason)
        return reason is not None


class WholeLane(Lane):
    """The queue of nodes of which each runs one job: the head is promised a time, others may pass it.

    A look at the queue, step by step. The head starts if it fits; else it is
    promised the instant (the "shadow time") at which the running jobs will have
    freed enough by their limits. Then come those who may pass it, in the order of
    the queue: whoever ends by that instant takes nothing from the head, and
    whoever runs on may have the nodes that the head leaves over then, once.
    """

    def __init__(self, run: Run, free: FirstFit, *, easy: bool) -> None:
        super().__init__(run)
        self.free, self.easy, self.contiguous = free, easy, isinstance(free, Contiguous)
        self.plain = run.order.simple and not run.keep and not run.limited
        # When the running jobs are expected to end: (end, job), sorted; and beside each what it will free.
        self.expected: list[int] = []
        self.freed: list[int] = []
        # So many nodes are free once the first `counted` of the expected ends have come. The place where the head
        # finds its nodes moves by a step or two from one event to the next, so it is moved along, not summed anew.
        self.counted, self.have = 0, free.free
        # The promise to the head of the queue: when it starts at the latest, or _UNKNOWN if nobody asked since something
        # ended; the widest job that may use nodes beyond that instant; and the run that the head is to have, if it needs one.
        self.at, self.spare = _UNKNOWN, 0
        self.run_kept: tuple[int, int] | None = None
        # Of a head that needs one run what it was promised, which holds until somebody ends who was to stay as long.
        self.known: tuple[int, int, tuple[int, int] | None] = _UNKNOWN, _UNKNOWN, None
        # What was tried in vain since the head is head: every other waiting job is wider than `tried`, for which there
        # was no room, or it is too long and wider than `passed`, which the head left over then. The promise never moves
        # away, so that two kinds only can pass now: those wider than `tried`, if so much is free by now, and those wider
        # than `passed`, if so much is left over by now. The rest of the queue need not be looked at.
        self.tried = self.passed = 0
        #: The next planned downtime, which nothing may run into. [s]
        self.drain_s = FOREVER

    def room(self, wanted: Wanted) -> int:
        return self.free.room

    def place(self, wanted: Wanted, width: int) -> list[int] | None:
        return self.free.take(width) if width <= self.free.room else None

    def hold(self, job: int, bounds: list[int], end: int) -> None:
        # Nodes that come back among the ends that are counted are free again there: `have` stays. Those that stay
        # away longer are missing there.
        key, width = (end << SHIFT) + job, self.widths[job]
        place = bisect_left(self.expected, key)
        self.expected.insert(place, key)
        self.freed.insert(place, width)
        if place < self.counted:
            self.counted += 1
        else:
            self.have -= width

    def finish(self, job: int, bounds: list[int]) -> None:
        end = self.starts[job] + self.limits[job]
        place = bisect_left(self.expected, (end << SHIFT) + job)
        del self.expected[place]
        freed = self.freed.pop(place)
        if place < self.counted:
            self.counted -= 1
        else:
            self.have += freed
        self.free.release(bounds, self.widths[job])
        self.at, self.run_kept = _UNKNOWN, None
        if end >= self.known[1]:
            self.known = _UNKNOWN, _UNKNOWN, None

    def count_freed(self, job: int, width: int) -> None:
        """Count on a running job to free so many nodes."""
        self.freed[bisect_left(self.expected, ((self.starts[job] + self.limits[job]) << SHIFT) + job)] = width

    def free_bounds(self) -> list[list[int]]:
        return [self.free.bounds]

    def forget(self) -> None:
        self.counted, self.have = 0, self.free.free
        self.at, self.tried, self.passed, self.run_kept = _UNKNOWN, 0, 0, None
        self.known = _UNKNOWN, _UNKNOWN, None

    def begin(self, job: int, now: int, late: bool = False) -> None:
        """Start a job that fits; a late one may end after the promised time, on nodes that the head leaves over."""
        width = self.widths[job]
        bounds = self.free.take(width, self.run_kept if late else None)
        self.hold(job, bounds, self.run.start(job, bounds, now))
        if self.run_kept is not None:
            self.spare = self.free.largest_beside(self.run_kept)
        elif late:
            self.spare -= width

    def update(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        waiting, order = self.waiting, self.run.order
        keys = newcomers if order.simple else order.keys(newcomers, now)
        if keys and not self.plain and not self.is_behind(keys[0], now, changed):
            for key in keys:
                waiting.add(key)
            self.tried = self.passed = 0
            deque(self.look(now), maxlen=0)
            return
        if changed and waiting.queue:
            deque(self.look(now), maxlen=0)
        for key in keys:
            self.take_in(key, now)

    def is_behind(self, key: int, now: int, changed: bool) -> bool:
        """Whether the first newcomer comes after the head, so that the new are looked at alone: the others could not start before."""
        run, queue = self.run, self.waiting.queue
        # A job over its limit is expected to end at every moment, so that the promise moves with the clock.
        if run.keep or self.waiting.is_stale(now):
            return False
        if not run.order.simple and (changed or not queue or key < queue[0]):
            return False
        # Whoever passed the head may have brought its user to a limit.
        return not (run.limited and queue) or run.limits.blocking(queue[0] & JOB) is None

    def look(self, now: int) -> Iterator[int]:
        waiting, free, run = self.waiting, self.free, self.run
        horizon = self.drain_s - now
        self.at, self.run_kept = _UNKNOWN, None
        if waiting.is_stale(now):
            waiting.sort(now)
            self.tried = self.passed = 0
        while waiting.queue:
            key = waiting.queue[0]
            job = key & JOB
            yield key
            over = run.limited and self.is_over(key)
            if not over and (self.widths[job] > free.room or self.limits[job] > horizon):
                break
            # For another head everything is tried again.
            self.tried = self.passed = 0
            if not over:
                waiting.remove(key)
                self.begin(job, now)
        if not self.easy or not waiting.queue or waiting.widths[0] > free.room:
            return
        self.promise(now)
        while (passing := self.first_to_pass(min(self.at - now, horizon), horizon)) is not None:
            job = passing & JOB
            yield passing
            if not (run.limited and self.is_over(passing)):
                waiting.remove(passing)
                self.begin(job, now, self.limits[job] > self.at - now)
        if not run.keep and not self.contiguous:
            self.tried, self.passed = free.room, self.spare

    def first_to_pass(self, left: int, horizon: int) -> int | None:
        """Return the first of the queue that may pass the head, of what was not tried in vain."""
        waiting, limits, room, spare = self.waiting, self.limits, self.free.room, self.spare
        widths, first = waiting.widths, None
        fit = widths[bisect_right(widths, self.tried) : bisect_right(widths, room)]
        if spare > self.passed < self.tried:
            # They fitted before, but were too long; more is left over for them now.
            fit += widths[bisect_right(widths, self.passed) : bisect_right(widths, min(spare, self.tried, room))]
        for width in fit:
            longest = horizon if width <= spare else left
            for key in waiting.of_width[width]:
                # The keys of a width are sorted: behind one that is too late are only later ones.
                if first is not None and key >= first:
                    break
                if limits[key & JOB] <= longest:
                    first = key
                    break
        return first

    def take_in(self, key: int, now: int) -> None:
        """Start a new job, or put it into the queue."""
        waiting, job = self.waiting, key & JOB
        width, end = self.widths[job], now + self.limits[job]
        if self.run.limited and (reason := self.run.limits.blocking(job)) is not None:
            waiting.put_aside(key, reason)
            return
        if width > self.free.room:
            self.tried = min(self.tried, width - 1)
        elif end <= self.drain_s and not waiting.queue:
            self.begin(job, now)
            return
        elif end <= self.drain_s and self.easy:
            if self.at == _UNKNOWN:
                self.promise(now)
            if end <= self.at or width <= self.spare:
                self.begin(job, now, end > self.at)
                return
            self.passed = min(self.passed, width - 1)
        waiting.add(key)

    def promise(self, now: int) -> None:
        """Find when the head of the queue can start at the latest, what it leaves over, and where it will lie."""
        head = self.waiting.queue[0]
        width = self.widths[head & JOB]
        if self.contiguous:
            if self.known[0] != head or self.known[1] <= now:
                self.known = head, *self.promised_run(now, width)
            _, self.at, self.run_kept = self.known
            self.spare = 0 if self.run_kept is None else self.free.largest_beside(self.run_kept)
        else:
            freed, counted, have = self.freed, self.counted, self.have
            # Along the expected ends until the head has its nodes, then back to where it has them first.
            while have < width and counted < len(freed):
                have += freed[counted]
                counted += 1
            while counted and have - freed[counted - 1] >= width:
                counted -= 1
                have -= freed[counted]
            self.counted, self.have = counted, have
            self.at, self.spare = now, have - width
            if have < width:
                self.at, self.spare = FOREVER, 0
            elif counted:
                self.at = max(self.expected[counted - 1] >> SHIFT, now)
                # All that end by that instant count.
                same = bisect_left(self.expected, (self.at + 1) << SHIFT, counted)
                self.spare += sum(freed[counted:same])
        if self.at + self.limits[head & JOB] > self.drain_s:
            # It will not run before the planned downtime; until then anything may that ends in time.
            self.at, self.spare, self.run_kept = self.drain_s, 0, None

    def promised_run(self, now: int, width: int) -> tuple[int, tuple[int, int] | None]:
        """Return when so many nodes are free in one run at the latest, and the first place for them then."""
        # Where the run ends that begins at a bound, and the other way round; runs that come to touch become one.
        end_of = dict(pairs(self.free.bounds))
        begin_of = {high: low for low, high in end_of.items()}
        at, places = now, [low for low, high in end_of.items() if high - low >= width]
        for key in self.expected:
            end = key >> SHIFT
            if places and end > at:
                break
            # With one run allowed, each job has one.
            low, high = self.run.held[key & JOB]
            low, high = begin_of.pop(low, low), end_of.pop(high, high)
            end_of[low], begin_of[high] = high, low
            if high - low >= width:
                at = max(at, end)
                places.append(low)
        return (at, (min(places), min(places) + width)) if places else (FOREVER, None)


class PlanLane(WholeLane):
    """The queue of whole nodes in which the first blocked jobs all have a time that nobody behind may delay."""

    def __init__(self, run: Run, free: FirstFit, depth: int) -> None:
        super().__init__(run, free, easy=False)
        self.depth = depth

    update = Lane.update

    def look(self, now: int) -> Iterator[int]:
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
        # The free nodes from each instant on at which, as expected, they change.
        times, free = [now], [self.free.free]
        for key, freed in zip(self.expected, self.freed, strict=True):
            # What runs over its limit is still there: its nodes come in the next second at the soonest.
            at = max(now + 1, key >> SHIFT)
            if at > times[-1]:
                times.append(at)
                free.append(free[-1])
            free[-1] += freed
        reserved = 0
        for key in list(self.waiting.queue):
            width, limit = self.widths[key & JOB], max(1, self.limits[key & JOB])
            yield key
            if self.run.limited and self.is_over(key):
                continue
            step = _earliest(times, free, width, limit, only_now=reserved >= self.depth)
            if step is None:
                continue
            if step:
                reserved += 1
            else:
                self.start(key, self.free.take(width), now)
            end = times[step] + limit
            last = bisect_left(times, end)
            if last == len(times) or times[last] != end:
                times.insert(last, end)
                free.insert(last, free[last - 1])
            free[step:last] = [left - width for left in free[step:last]]


def _earliest(times: list[int], free: list[int], width: int, limit: int, *, only_now: bool) -> int | None:
    """Return the first step from which on so many nodes are free for so long, or None."""
    step = 0
    while step < len(times):
        other, last = step, bisect_left(times, times[step] + limit)
        while other < last and free[other] >= width:
            other += 1
        if other == last:
            return step
        if only_now:
            return None
        # Where too few are free, no start before it lasts: the search goes on behind it.
        step = other + 1
    return None


class OwnLane(Lane):
    """The queue of all partitions, under a policy of one's own; the nodes are those of other lanes."""

    def __init__(self, run: Run, pools: Mapping[str, Lane], policy: Policy) -> None:
        super().__init__(run)
        self.pools, self.policy = pools, policy
        #: The jobs that wait or run, by their place in the workload.
        self.jobs: dict[int, _WaitingJob] = {}

    def pool(self, job: int) -> Lane:
        """Return where a job runs."""
        return self.pools[self.run.wanted[job][0]]

    def most(self, job: int) -> int:
        """Return the width of the widest job like this one that could start now."""
        kept = self.run.limited and self.run.limits.blocking(job) is not None
        return 0 if kept else self.pool(job).room(self.run.wanted[job])

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
        return [bounds for pool in dict.fromkeys(self.pools.values()) for bounds in pool.free_bounds()]

    def look(self, now: int) -> Iterator[int]:
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
        pools, nodes = self.pools.values(), self.run.schedule.nodes
        room = max(pool.free.room if isinstance(pool, WholeLane) else nodes for pool in pools)
        if not self.waiting.queue or self.waiting.widths[0] > room:
            # Nobody can start: the function, which takes longer than all else, need not be asked.
            return
        for job in self.policy(View(self, now, room)):
            index = getattr(job, "place", -1)
            if index not in self.jobs or index in self.run.held:
                raise InputError(f"the policy names {job!r} at {now} s, which is no waiting job", name="policy")
            key = next(key for key in self.waiting.queue if key & JOB == index)
            yield key
            bounds = self.pool(index).place(self.run.wanted[index], self.widths[index]) if self.most(index) else None
            if bounds is None:
                raise InputError(
                    f"the policy starts job {job.job} at {now} s, for which there is no room", name="policy"
                )
            self.start(key, bounds, now)


class _WaitingJob(Job):
    """A job that knows its place in the workload: numbers of jobs may come twice."""

    place: int


class _Waiters(Sequence[Job]):
    """Jobs that wait, each looked up when it is asked for: where thousands wait, many a policy looks at the first."""

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
    """What a policy of one's own sees when it is asked whom to start.

    Parameters
    ----------
    now_s : int
        [s]
    """

    def __init__(self, lane: OwnLane, now: int, widest: int) -> None:
        self._lane, self.now_s, self._widest = lane, now, widest

    @cached_property
    def waiting(self) -> Sequence[Job]:
        """All that wait, in the order of the queue."""
        return _Waiters(self._lane.waiting.queue[:], self._lane.jobs)

    @cached_property
    def fitting(self) -> tuple[Job, ...]:
        """Those that find room now, each by itself, in the order of the queue: few where many wait."""
        lane, waiting = self._lane, self._lane.waiting
        narrow = waiting.widths[: bisect_right(waiting.widths, self._widest)]
        jobs = [key & JOB for key in sorted(key for width in narrow for key in waiting.of_width[width])]
        return tuple(lane.jobs[job] for job in jobs if lane.widths[job] <= lane.most(job))

    @cached_property
    def running(self) -> tuple[tuple[Job, int], ...]:
        """Those that run, each with the time by which it will have ended by its limit. [s]"""
        lane = self._lane
        return tuple((lane.jobs[job], lane.starts[job] + lane.limits[job]) for job in lane.run.held)

    def room(self, job: Job) -> int:
        """Return how many nodes a job of this kind would find now; none where a limit keeps it waiting."""
        assert isinstance(job, _WaitingJob)
        return self._lane.most(job.place)
