"""The queues of whole nodes that are alike: counting them is enough, and fast enough for years.

For speed, free nodes are stored as a few runs, however many nodes there are. Nodes that running jobs are expected to free are
a sorted list, along which the position where the head fits moves by a step or two. Waiting jobs are also indexed by
width, so that of those that fit only the first of each width is tried, and only widths that have not already failed:
until a job ends, only new ones.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence

from hopperlib.scheduling._free_nodes import FirstFit, length_of, pairs
from hopperlib.scheduling._simulation.pool_queue import FOREVER, PlanningQueue, PoolQueue, Run, Wanted
from hopperlib.scheduling._simulation.profile import Profile
from hopperlib.scheduling._simulation.waiting import JOB, SHIFT

_UNKNOWN = -1


class WholeNodeQueue(PoolQueue):
    """The queue of exclusive nodes: the head is promised a time, others may pass it.

    A look at the queue, step by step. The head starts if it fits; else it is
    promised the instant (the "shadow time") at which the running jobs will have
    freed enough by their limits. Then come those who may pass it, in the order of
    the queue: a job that ends by that instant takes nothing from the head, and
    one that runs longer may use the nodes that the head will leave over, once.
    """

    def __init__(self, run: Run, free: FirstFit, *, easy: bool) -> None:
        super().__init__(run)
        self.free, self.easy = free, easy
        self.plain = run.order.simple and not run.keep and not run.limited
        # Expected ends of running jobs: (end, job), sorted; with the nodes each will free.
        self.expected: list[int] = []
        self.freed: list[int] = []
        # This many nodes are free once the first `counted` of the expected ends have come. The position where the head
        # fits moves by a step or two from one event to the next, so it is updated, not recomputed.
        self.counted, self.have = 0, free.free
        # The promise to the head of the queue: its latest start, or _UNKNOWN if not computed since the last end; and
        # the widest job that may use nodes beyond that time.
        self.at, self.spare = _UNKNOWN, 0
        # Widths already tried since the head became head: every other waiting job is wider than `tried`, for which
        # there was no room, or it is too long and wider than `passed`, the remainder at that time. The promise never
        # moves later, so only two kinds of jobs can pass now: those wider than `tried`, if enough is free by now, and
        # those wider than `passed`, if enough remains by now. The rest of the queue need not be looked at.
        self.tried = self.passed = 0
        #: The next planned downtime, which nothing may run into. [s]
        self.drain_s = FOREVER

    def room(self, job: int, now: int) -> int:
        return self.free.room if now + self.limits[job] <= self.drain_s else 0

    def place(self, job: int, now: int) -> list[int] | None:
        return self.free.take(self.widths[job]) if self.widths[job] <= self.room(job, now) else None

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
        self.at = _UNKNOWN

    def drain(self, spans: Sequence[tuple[int, int]]) -> None:
        for place, key in enumerate(self.expected):
            free = FirstFit(list(self.run.held[key & JOB]))
            for span in spans:
                free.take_positions(*span)
            self.freed[place] = free.free

    def take_idle(self, first: int, last: int, *, planned: bool) -> list[int]:
        return self.free.take_positions(first, last)

    def end_outage(self, bounds: list[int]) -> None:
        self.free.release(bounds, length_of(bounds))

    def free_bounds(self) -> list[list[int]]:
        return [self.free.bounds]

    def forget(self) -> None:
        self.counted, self.have = 0, self.free.free
        self.at, self.tried, self.passed = _UNKNOWN, 0, 0

    def begin(self, job: int, now: int, late: bool = False) -> None:
        """Start a job that fits; a late one may end after the promised time, on nodes that the head leaves over."""
        width = self.widths[job]
        bounds = self.free.take(width)
        self.hold(job, bounds, self.run.start(job, bounds, now))
        if late:
            self.spare -= width

    def update(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        waiting, order = self.waiting, self.run.order
        keys = newcomers if order.simple else order.keys(newcomers, now)
        if keys and not self.plain and not self.newcomers_only(keys[0], now, changed):
            for key in keys:
                waiting.add(key)
            self.tried = self.passed = 0
            deque(self.schedule_pass(now), maxlen=0)
            return
        if changed and waiting.queue:
            deque(self.schedule_pass(now), maxlen=0)
        for key in keys:
            self.enqueue(key, now)

    def newcomers_only(self, key: int, now: int, changed: bool) -> bool:
        """Whether the first newcomer comes after the head, so that the new are looked at alone: the others could not start before."""
        run, queue = self.run, self.waiting.queue
        # A job over its limit is expected to end at every moment, so that the promise moves with the clock.
        if run.keep or self.waiting.is_stale(now):
            return False
        if not run.order.simple and (changed or not queue or key < queue[0]):
            return False
        # A job that passed the head may have brought its user to a limit.
        return not (run.limited and queue) or run.limits.reason_blocked(queue[0] & JOB) is None

    def schedule_pass(self, now: int) -> Iterator[int]:
        waiting, free, run = self.waiting, self.free, self.run
        horizon = self.drain_s - now
        self.at = _UNKNOWN
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
        if not run.keep:
            self.tried, self.passed = free.room, self.spare

    def first_to_pass(self, left: int, horizon: int) -> int | None:
        """Return the first job of the queue that may pass the head, among those not already tried."""
        waiting, limits, room, spare = self.waiting, self.limits, self.free.room, self.spare
        widths, first = waiting.widths, None
        fit = widths[bisect_right(widths, self.tried) : bisect_right(widths, room)]
        if spare > self.passed < self.tried:
            # They fitted before, but were too long; more is left over for them now.
            fit += widths[bisect_right(widths, self.passed) : bisect_right(widths, min(spare, self.tried, room))]
        for width in fit:
            longest = horizon if width <= spare else left
            for key in waiting.of_width[width]:
                # The keys of a width are sorted: after one that is too late, all are later.
                if first is not None and key >= first:
                    break
                if limits[key & JOB] <= longest:
                    first = key
                    break
        return first

    def enqueue(self, key: int, now: int) -> None:
        """Start a new job, or put it into the queue."""
        waiting, job = self.waiting, key & JOB
        width, end = self.widths[job], now + self.limits[job]
        if self.run.limited and (reason := self.run.limits.reason_blocked(job)) is not None:
            waiting.hold(key, reason)
            return
        # `tried` and `passed` are lowered below the width of a job that has to wait, so that a later pass tries it.
        if width > self.free.room:
            self.tried = min(self.tried, width - 1)
        elif end <= self.drain_s and not waiting.queue:
            self.begin(job, now)
            return
        elif end <= self.drain_s and self.easy:
            # EASY promises nodes to the head of the queue alone: a new job may start if it ends before the head's start,
            # or fits into the nodes that the head leaves over then.
            if self.at == _UNKNOWN:
                self.promise(now)
            if end <= self.at or width <= self.spare:
                self.begin(job, now, end > self.at)
                return
            self.passed = min(self.passed, width - 1)
        waiting.add(key)

    def promise(self, now: int) -> None:
        """Compute the latest start of the queue's head and the nodes left then."""
        head = self.waiting.queue[0]
        width = self.widths[head & JOB]
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
            self.at, self.spare = self.drain_s, 0


class ContiguousQueue(WholeNodeQueue):
    """The queue of whole nodes for contiguous allocations: the head is promised a run, and others may pass next to it."""

    def __init__(self, run: Run, free: FirstFit, *, easy: bool) -> None:
        super().__init__(run, free, easy=easy)
        self.run_kept: tuple[int, int] | None = None
        # The promise to the head, valid until a job ends that was expected to stay as long.
        self.known: tuple[int, int, tuple[int, int] | None] = _UNKNOWN, _UNKNOWN, None

    def finish(self, job: int, bounds: list[int]) -> None:
        super().finish(job, bounds)
        self.run_kept = None
        if self.starts[job] + self.limits[job] >= self.known[1]:
            self.known = _UNKNOWN, _UNKNOWN, None

    def forget(self) -> None:
        super().forget()
        self.run_kept, self.known = None, (_UNKNOWN, _UNKNOWN, None)

    def begin(self, job: int, now: int, late: bool = False) -> None:
        bounds = self.free.take(self.widths[job], self.run_kept if late else None)
        self.hold(job, bounds, self.run.start(job, bounds, now))
        if self.run_kept is not None:
            self.spare = self.free.largest_outside(self.run_kept)

    def schedule_pass(self, now: int) -> Iterator[int]:
        self.run_kept = None
        yield from super().schedule_pass(now)
        # The longest run may grow again when nothing ends: nothing counts as tried.
        self.tried = self.passed = 0

    def promise(self, now: int) -> None:
        head = self.waiting.queue[0]
        if self.known[0] != head or self.known[1] <= now:
            self.known = head, *self.promised_run(now, self.widths[head & JOB])
        _, self.at, self.run_kept = self.known
        self.spare = 0 if self.run_kept is None else self.free.largest_outside(self.run_kept)
        if self.at + self.limits[head & JOB] > self.drain_s:
            self.at, self.spare, self.run_kept = self.drain_s, 0, None

    def promised_run(self, now: int, width: int) -> tuple[int, tuple[int, int] | None]:
        """Return when that many nodes are free in one run at the latest, and the first place for them then."""
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


class NodeCountQueue(PlanningQueue, WholeNodeQueue):
    """The queue of identical whole nodes, for which counting nodes gives the start of the first blocked jobs."""

    def __init__(self, run: Run, free: FirstFit, depth: int) -> None:
        super().__init__(run, free, easy=False)
        self.depth = depth
        self.profile: Profile | None = None

    def forget(self) -> None:
        self.planned = False

    def schedule_pass(self, now: int) -> Iterator[int]:
        self.profile = None
        return super().schedule_pass(now)

    def most_idle(self, wanted: Wanted) -> int:
        return self.free.free

    def try_to_start(self, key: int, now: int) -> bool:
        job = key & JOB
        width, end = self.widths[job], now + max(1, self.limits[job])
        if self.profile is None:
            self.profile = self.expected_free(now)
        while (left := self.profile.least(end)) >= width:
            if self.unplanned:
                self.profile.promise(
                    self.widths[ahead := self.unplanned.popleft()], max(1, self.limits[ahead]), now, self.horizon_s(now)
                )
                continue
            if self.waits_for_near(job, self.free, now):
                return self.depth > 0
            self.start(key, self.free.take(width), now)
            self.profile.take(width, 0, end)
            return True
        self.tight[self.run.wanted[job]] = self.limits[job], left
        return False

    def expected_free(self, now: int) -> Profile:
        """Return the free nodes from each instant at which they are expected to change."""
        times, left = [0], [self.free.free]
        for key, freed in zip(self.expected, self.freed, strict=True):
            # Jobs past their limit still run: their nodes become free in the next second at the earliest.
            at = max(now + 1, key >> SHIFT)
            if at > times[-1]:
                times.append(at)
                left.append(left[-1])
            left[-1] += freed
        return Profile(times, left)
