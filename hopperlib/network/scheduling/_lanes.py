"""The queues of a simulated scheduler, a lane for each pool of nodes, and how each looks for jobs to start.

A look is a generator that names each job before it is tried: lanes that have limits in common take turns, in the order
of the queue, by merging their looks.

How whole nodes are fast: the free nodes are a few runs, whatever their number. What the running jobs are expected to
free is a sorted list, along which the place where the head finds its nodes moves by a step or two. The waiting jobs are
also sorted by width, so that only those that fit are looked at, and of them only those that were not tried in vain
before: while nothing ends, the newcomers alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappush
from itertools import chain

from hopperlib.errors import InputError
from hopperlib.network.scheduling._free_nodes import Contiguous, pairs
from hopperlib.network.scheduling._pools import FOREVER, Promise, SharedNodes, Wanted, WholeNodes
from hopperlib.network.scheduling._waiting import JOB, SHIFT, Limits, Order, Waiting
from hopperlib.network.scheduling.schedule import FINISHED, KILLED_AT_LIMIT, Schedule
from hopperlib.network.scheduling.workload import Job

__all__ = ["Lane", "OwnLane", "PlanLane", "Policy", "Pool", "Run", "SharedLane", "View", "WholeLane"]

_UNKNOWN = -1
Policy = Callable[["View"], Sequence[Job]]
Pool = WholeNodes | SharedNodes


class Run:
    """What the lanes of a simulation share: the jobs that run, the order of the queue, and the limits."""

    def __init__(
        self, schedule: Schedule, order: Order, limits: Limits, wanted: Sequence[Wanted], *, keep: bool,
        runtime: Callable[[int, list[int]], int] | None,
    ) -> None:  # fmt: skip
        self.schedule, self.workload, self.order, self.limits, self.wanted = (
            schedule,
            schedule.workload,
            order,
            limits,
            wanted,
        )
        self.keep, self.runtime, self.fair = keep, runtime, bool(order.rules.fair_share)
        self.limited = bool(limits)
        #: Whether there is one lane only; and whether limits hold across lanes, so that these are looked at together.
        self.alone = self.together = False
        # When jobs really end: a heap of (end, job). Their nodes, as bounds of runs.
        self.ends: list[int] = []
        self.held: dict[int, list[int]] = {}
        workload = schedule.workload
        self.columns = (
            workload.requested_time_s, workload.run_time_s, schedule.start_s, schedule.end_s, schedule.status,
            schedule.first_bound, schedule.run_count, schedule.bounds,
        )  # fmt: skip

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
        heappush(self.ends, ((now + run_time) << SHIFT) + job)
        if self.limited:
            self.limits.count(job, 1)
        if self.fair:
            self.order.load_with(job, 1, now)
        return now + limit


class Lane:
    """The queue of a pool of nodes."""

    def __init__(self, run: Run, pool: Pool) -> None:
        self.run, self.pool, self.waiting = run, pool, Waiting(run.order)
        self.widths, self.limits, self.starts = run.workload.nodes, run.workload.requested_time_s, run.schedule.start_s

    def all_pools(self) -> Iterable[Pool]:
        """Return the pools of this queue."""
        return [self.pool]

    def before_ends(self) -> None:
        """Hear that jobs of this lane end now."""

    def finish(self, job: int, bounds: list[int]) -> None:
        """Give the nodes of a job back."""
        self.pool.finish(job, self.widths[job], bounds, self.starts[job] + self.limits[job])

    def start(self, key: int, bounds: list[int], now: int) -> None:
        """Start a job that waits on its nodes."""
        job, run = key & JOB, self.run
        self.waiting.remove(key)
        self.pool.start(job, run.wanted[job], run.workload.nodes[job], bounds, run.start(job, bounds, now))

    def is_over(self, key: int) -> bool:
        """Whether a limit keeps a waiting job from running, which is then put aside."""
        reason = self.run.limits.blocking(key & JOB)
        if reason is not None:
            self.waiting.remove(key)
            self.waiting.put_aside(key, reason)
        return reason is not None

    def tries(self, newcomers: Sequence[int], now: int, changed: bool) -> Iterable[int]:
        """Take jobs in, and start what can start; yield the key of each job that is tried, before it is."""
        for key in self.run.order.keys(newcomers, now):
            self.waiting.add(key)
        return self.look(now)

    def look(self, now: int) -> Iterator[int]:
        """Start what can start, with the whole queue in view."""
        raise NotImplementedError


class WholeLane(Lane):
    """The queue of nodes of which each runs one job: the head is promised a time, others may pass it.

    A look at the queue, step by step. The head starts if it fits; else it is
    promised the instant (the "shadow time") at which the running jobs will have
    freed enough by their limits. Then come those who may pass it, in the order of
    the queue: whoever ends by that instant takes nothing from the head, and
    whoever runs on may have the nodes that the head leaves over then, once.
    """

    pool: WholeNodes

    def __init__(self, run: Run, pool: WholeNodes, *, easy: bool) -> None:
        super().__init__(run, pool)
        self.easy, self.contiguous = easy, isinstance(pool.free, Contiguous)
        # The promise to the head of the queue: when it starts at the latest, or _UNKNOWN if nobody asked since something
        # ended; the widest job that may use nodes beyond that instant; and the run that the head is to have, if it needs one.
        self.at, self.spare = _UNKNOWN, 0
        self.place: tuple[int, int] | None = None
        # Of a head that needs one run: its key and its instant, until it starts or nodes go.
        self.known = _UNKNOWN, 0
        # What was tried in vain since the head is head: every other waiting job is wider than `tried`, which was free
        # then, or it is too long and wider than `passed`, which the head left over then. The promise never moves away,
        # so that two kinds only can pass now: those wider than `tried`, if so much is free by now, and those wider than
        # `passed`, if so much is left over by now. The rest of the queue need not be looked at.
        self.tried = self.passed = 0
        #: The next planned downtime, which nothing may run into. [s]
        self.drain_s = FOREVER

    def forget(self) -> None:
        """Try everybody again."""
        self.at, self.tried, self.passed, self.known, self.place = _UNKNOWN, 0, 0, (_UNKNOWN, 0), None

    def before_ends(self) -> None:
        # A job over its limit is expected to end at every moment, so that the promise moves with the clock.
        if self.at != _UNKNOWN and not self.run.keep and not self.contiguous:
            self.tried, self.passed = self.pool.free.free, self.spare
        self.at, self.place = _UNKNOWN, None

    def begin(self, job: int, now: int, late: bool = False) -> None:
        """Start a job that fits; a late one may end after the promised time, on nodes that the head leaves over."""
        run, pool, width = self.run, self.pool, self.widths[job]
        bounds = pool.free.take(width, self.place if late else None)
        pool.start(job, run.wanted[job], width, bounds, run.start(job, bounds, now))
        if self.place is not None:
            self.spare = pool.free.largest_beside(self.place)
        elif late:
            self.spare -= width

    def tries(self, newcomers: Sequence[int], now: int, changed: bool) -> Iterable[int]:
        """Take jobs in; newcomers that come after the head are looked at alone, since the others could not start before."""
        run, waiting = self.run, self.waiting
        order, queue = run.order, waiting.queue
        if not newcomers:
            return self.look(now) if queue else ()
        keys = newcomers if order.simple else order.keys(newcomers, now)
        alone = not run.keep and (order.simple or bool(queue and not changed and keys[0] > queue[0]))
        if alone and order.changes:
            alone = not waiting.is_stale(now)
        if alone and run.limited and queue:
            # Whoever passed the head may have brought its user to a limit.
            alone = not run.together and run.limits.blocking(queue[0] & JOB) is None
        if not alone:
            for key in keys:
                waiting.add(key)
            self.tried = self.passed = 0
            return self.look(now)
        first = self.look(now) if changed and queue else ()
        if not run.alone:
            return chain(first, self.look_at(keys, now))
        deque(first, maxlen=0)
        for key in keys:
            self.take_in(key, now)
        return ()

    # Long, since it runs once an event and its steps share a dozen values that are dear to fetch.
    def look(self, now: int) -> Iterator[int]:
        waiting, free, run = self.waiting, self.pool.free, self.run
        shift, widths, limits = waiting.shift, self.widths, self.limits
        horizon, limited, mask = self.drain_s - now, run.limited, (1 << waiting.shift) - 1
        self.at, self.place = _UNKNOWN, None
        if run.order.changes and waiting.is_stale(now):
            waiting.sort(now)
            self.tried, self.passed, self.known = 0, 0, (_UNKNOWN, 0)
        while waiting.queue:
            key = waiting.queue[0]
            job = key & JOB
            yield key
            over = limited and self.is_over(key)
            if not over and (widths[job] > free.room or limits[job] > horizon):
                break
            # For another head everything is tried again.
            self.tried, self.passed, self.known = 0, 0, (_UNKNOWN, 0)
            if not over:
                waiting.remove(key)
                self.begin(job, now)
        narrow, asked, room = waiting.narrow, waiting.asked, free.room
        if not self.easy or not narrow or narrow[0] >> shift > room:
            return
        self.promise(now)
        left = min(self.at - now, horizon)
        tried, passed, spare = self.tried, self.passed, self.spare
        # Of what fits now and did not before: those that end in time, and those narrow enough not to matter.
        low = bisect_left(narrow, (tried + 1) << shift)
        high = bisect_left(narrow, (room + 1) << shift, low)
        over_spare = (spare + 1) << shift
        candidates = [
            entry & mask
            for entry, limit in zip(narrow[low:high], asked[low:high], strict=True)
            if limit <= left or entry < over_spare
        ]
        least = widths[candidates[0] & JOB] if candidates else room
        # Of what fitted before, but was too long: those that more is left over for now.
        if spare > passed < tried:
            low = bisect_left(narrow, (passed + 1) << shift)
            high = bisect_left(narrow, (min(spare, tried) + 1) << shift, low)
            candidates += [entry & mask for entry in narrow[low:high]]
            least = passed + 1
        candidates.sort()
        for key in candidates:
            job = key & JOB
            width, limit = widths[job], limits[job]
            late = limit > left
            if width > room or (late and (width > spare or limit > horizon)):
                continue
            yield key
            if limited and self.is_over(key):
                continue
            waiting.remove(key)
            self.begin(job, now, late)
            room, spare = free.room, self.spare
            if room < least:
                break

    def look_at(self, keys: Iterable[int], now: int) -> Iterator[int]:
        """Look at new jobs alone: nothing has ended since the others could not start."""
        for key in keys:
            yield key
            self.take_in(key, now)

    def take_in(self, key: int, now: int) -> None:
        """Start a new job, or put it into the queue."""
        run, waiting, job = self.run, self.waiting, key & JOB
        width, limit = self.widths[job], self.limits[job]
        if run.limited and (reason := run.limits.blocking(job)) is not None:
            waiting.put_aside(key, reason)
            return
        if width <= self.pool.free.room and now + limit <= self.drain_s and (self.easy or not waiting.queue):
            if waiting.queue and self.at == _UNKNOWN:
                self.promise(now)
            late = bool(waiting.queue) and now + limit > self.at
            if not late or width <= self.spare:
                self.begin(job, now, late)
                return
        waiting.add(key)

    def promise(self, now: int) -> None:
        """Find when the head of the queue can start at the latest, what it leaves over, and where it will lie."""
        head = self.waiting.queue[0]
        width, limit = self.run.workload.nodes[head & JOB], self.run.workload.requested_time_s[head & JOB]
        if self.contiguous:
            self.at, self.place = self.promised_run(now, head, width)
            self.spare = 0 if self.place is None else self.pool.free.largest_beside(self.place)
        else:
            self.at, self.spare = self.pool.promise(width, now)
        if self.at + limit > self.drain_s:
            # It will not run before the planned downtime; until then anything may that ends in time.
            self.at, self.spare, self.place = self.drain_s, 0, None

    def promised_run(self, now: int, head: int, width: int) -> tuple[int, tuple[int, int] | None]:
        """Return when so many nodes are free in one run at the latest, and where."""
        expected = self.pool.expected
        if self.known[0] == head:
            # As long as it stays head the time never moves away. Mostly it does not come nearer either.
            at = max(now, self.known[1])
            if at == now or self.run_after(bisect_left(expected, at << SHIFT), width) is None:
                run = self.run_after(bisect_left(expected, (at + 1) << SHIFT), width)
                if run is not None:
                    return at, run
        if self.run_after(len(expected), width) is None:
            return FOREVER, None
        # The fewest expected ends that leave one run long enough: more of them leave no less, so halving finds them.
        fewest = bisect_left(range(len(expected)), True, key=lambda ends: self.run_after(ends, width) is not None)
        at = max(now, expected[fewest - 1] >> SHIFT) if fewest else now
        self.known = head, at
        return at, self.run_after(bisect_left(expected, (at + 1) << SHIFT), width)

    def run_after(self, ends: int, width: int) -> tuple[int, int] | None:
        """Return the first place for a job of this width once so many expected ends have come."""
        bounds = set(self.pool.free.bounds)
        for key in self.pool.expected[:ends]:
            # Where a run ends and another begins, both bounds go.
            bounds.symmetric_difference_update(self.run.held[key & JOB])
        return next(((low, low + width) for low, high in pairs(sorted(bounds)) if high - low >= width), None)


class PlanLane(Lane):
    """The queue of whole nodes in which the first blocked jobs all have a time that nobody behind may delay."""

    pool: WholeNodes

    def __init__(self, run: Run, pool: WholeNodes, depth: int) -> None:
        super().__init__(run, pool)
        self.depth = depth

    def look(self, now: int) -> Iterator[int]:
        widths, limits = self.run.workload.nodes, self.run.workload.requested_time_s
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
        times, free = self.pool.steps(now)
        reserved = 0
        for key in list(self.waiting.queue):
            width, limit = widths[key & JOB], max(1, limits[key & JOB])
            yield key
            if self.run.limited and self.is_over(key):
                continue
            step = _earliest(times, free, width, limit, only_now=reserved >= self.depth)
            if step is None:
                continue
            if step:
                reserved += 1
            else:
                self.start(key, self.pool.free.take(width), now)
            _take(times, free, step, times[step] + limit, width)


def _earliest(times: list[int], free: list[int], width: int, limit: int, *, only_now: bool) -> int | None:
    """Return the first step from which on so many nodes are free for so long, or None."""
    step = 0
    while step < len(times):
        end, other = times[step] + limit, step
        while other < len(times) and times[other] < end and free[other] >= width:
            other += 1
        if other == len(times) or times[other] >= end:
            return step
        if only_now:
            return None
        step = other + 1
    return None


def _take(times: list[int], free: list[int], step: int, end: int, width: int) -> None:
    """Take nodes from a step until an instant."""
    last = bisect_left(times, end)
    if last == len(times) or times[last] != end:
        times.insert(last, end)
        free.insert(last, free[last - 1])
    for other in range(step, last):
        free[other] -= width


class SharedLane(Lane):
    """The queue of nodes that jobs share, or that partitions have in common: each partition has its own head."""

    pool: SharedNodes

    def __init__(self, run: Run, pool: SharedNodes, *, easy: bool) -> None:
        super().__init__(run, pool)
        self.easy = easy
        # By partition. And the last in the queue to whom something is promised.
        self.promises: dict[str, Promise] = {}
        self.last = _UNKNOWN

    def tries(self, newcomers: Sequence[int], now: int, changed: bool) -> Iterable[int]:
        """Take jobs in; those that come behind all that something is promised to are looked at alone, if nothing fell free."""
        keys, waiting, run = self.run.order.keys(newcomers, now), self.waiting, self.run
        alone = not (changed or run.keep or run.limited or waiting.is_stale(now)) and keys and keys[0] > self.last
        for key in keys:
            waiting.add(key)
        return self.look_at(keys, now) if alone else self.look(now)

    def look(self, now: int) -> Iterator[int]:
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
        self.promises, self.last = {}, _UNKNOWN
        return self.look_at(list(self.waiting.queue), now)

    def look_at(self, keys: Sequence[int], now: int) -> Iterator[int]:
        """Start whom the promises let start; promise the first that cannot, of each partition, its nodes."""
        run, promises, pool = self.run, self.promises, self.pool
        wanted, widths, limits = run.wanted, run.workload.nodes, run.workload.requested_time_s
        rooms: dict[Wanted, int] = {}
        for key in keys:
            job = key & JOB
            want, width = wanted[job], widths[job]
            blocked = want[0] in promises
            if blocked:
                # Within one look room only shrinks: who found too little at its begin finds too little now.
                room = rooms.get(want)
                if room is None:
                    room = rooms[want] = pool.room(want)
                if width > room or not self.easy:
                    continue
            yield key
            if run.limited and self.is_over(key):
                continue
            bounds = pool.place(want, width, now + limits[job], list(promises.values()))
            if bounds is not None:
                self.start(key, bounds, now)
            elif not blocked:
                promises[want[0]] = pool.promise(want, width, now) if self.easy else Promise(FOREVER, 0)
                self.last = max(self.last, key)


class OwnLane(Lane):
    """The queue of all partitions, under a policy of one's own."""

    def __init__(self, run: Run, pools: Mapping[str, Pool], policy: Policy) -> None:
        super().__init__(run, next(iter(pools.values())))
        self.pools, self.policy = pools, policy

    def all_pools(self) -> Iterable[Pool]:
        return {id(pool): pool for pool in self.pools.values()}.values()

    def finish(self, job: int, bounds: list[int]) -> None:
        self.pool = self.pools[self.run.wanted[job][0]]
        super().finish(job, bounds)

    def look(self, now: int) -> Iterator[int]:
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
        run, view = self.run, View(self, now)
        keys = {run.workload.job[key & JOB]: key for key in self.waiting.queue}
        for job in self.policy(view):
            key = keys.pop(getattr(job, "job", -1), None)
            if key is None:
                raise InputError(f"the policy names {job!r} at {now} s, which is no waiting job", name="policy")
            yield key
            index = key & JOB
            self.pool = self.pools[run.wanted[index][0]]
            bounds = self.pool.place(run.wanted[index], run.workload.nodes[index], now, ())
            if bounds is None or run.limits.blocking(index) is not None:
                raise InputError(
                    f"the policy starts job {job.job} at {now} s, for which there is no room", name="policy"
                )
            self.start(key, bounds, now)


class View:
    """What a policy of one's own sees when it is asked whom to start.

    Parameters
    ----------
    now_s : int
        [s]
    waiting : tuple of Job
        In the order of the queue.
    running : tuple of (Job, int)
        Each with the time by which it will have ended by its limit. [s]
    """

    def __init__(self, lane: OwnLane, now: int) -> None:
        self._lane, self.now_s = lane, now
        workload, starts = lane.run.workload, lane.run.schedule.start_s
        self._indices = {workload.job[key & JOB]: key & JOB for key in lane.waiting.queue}
        self.waiting = tuple(workload[key & JOB] for key in lane.waiting.queue)
        self.running = tuple((workload[job], starts[job] + workload.requested_time_s[job]) for job in lane.run.held)

    def room(self, job: Job) -> int:
        """Return how many nodes a job of this kind would find now."""
        want = self._lane.run.wanted[self._indices[job.job]]
        return self._lane.pools[want[0]].room(want)
