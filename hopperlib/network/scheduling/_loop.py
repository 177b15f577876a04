"""One run of a simulated scheduler, by the rules of `hopperlib.network.scheduling.scheduler`.

How it is fast: the free nodes are a few runs, whatever their number. What the
running jobs are expected to free is a sorted list, along which the place where
the head finds its nodes moves by a step or two. The waiting jobs are also sorted
by width, so that only those that fit are looked at, and of them only those that
were not tried in vain before: while nothing ends, the newcomers alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import chain

from hopperlib.network.scheduling._free_nodes import Contiguous, FirstFit, joined, length_of, pairs
from hopperlib.network.scheduling._waiting import JOB, SHIFT, WaitingJobs
from hopperlib.network.scheduling.downtimes import Downtime
from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.schedule import (
    FINISHED,
    KILLED_AT_LIMIT,
    KILLED_BY_OUTAGE,
    NOT_STARTED,
    Sample,
    Schedule,
)
from hopperlib.network.scheduling.workload import Workload

__all__ = ["FOREVER", "Loop"]

FOREVER = 1 << 62
_UNKNOWN = -1


class Loop:
    """One run of the simulation.

    A look at the queue, step by step. The head starts if it fits; else it is
    promised the instant (the "shadow time") at which the running jobs will have
    freed enough by their limits. Then come those who may pass it, in the order of
    the queue: whoever ends by that instant takes nothing from the head, and
    whoever runs on may have the nodes that the head leaves over then, once.
    """

    def __init__(
        self, workload: Workload, nodes: int, free: FirstFit, queues: Sequence[Queue], downtimes: Sequence[Downtime],
        aging_s: int | None, *, easy: bool, keep: bool, requeue: bool, runtime: Callable[[int, list[int]], int] | None,
        order: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        self.workload = workload
        self.schedule = schedule = Schedule(workload, nodes)
        self.columns = (
            workload.nodes, workload.requested_time_s, workload.run_time_s, schedule.start_s, schedule.end_s,
            schedule.status, schedule.first_bound, schedule.run_count, schedule.bounds,
        )  # fmt: skip
        self.free, self.easy, self.keep, self.requeue, self.runtime = free, easy, keep, requeue, runtime
        self.contiguous = isinstance(free, Contiguous)
        self.waiting = WaitingJobs(
            workload, queues, [downtime.queue for downtime in downtimes if downtime.queue], aging_s, order
        )
        # Whether a job that could not start still cannot while nothing ends. A job over its limit is expected to end
        # at every moment, so that the promise moves with the clock; and who stands aside may come back.
        self.orderly = self.waiting.steady and not keep
        self.limited = self.waiting.limited
        # When jobs really end: a heap of (end, job). Their nodes, as bounds of runs.
        self.ends: list[int] = []
        self.held: dict[int, list[int]] = {}
        # When the scheduler expects them to: (end, job), sorted; and beside each its nodes.
        self.expected: list[int] = []
        self.freed: list[int] = []
        # So many nodes are free once the first `counted` of the expected ends have come. The place where the head
        # finds its nodes moves by a step or two from one event to the next, so it is moved along, not summed anew.
        self.counted, self.have = 0, free.free
        # The promise to the head of the queue: when it starts at the latest, or _UNKNOWN if nobody asked since something
        # ended; the widest job that may use nodes beyond that instant; and the run that the head is to have, if it needs one.
        self.at, self.spare = _UNKNOWN, 0
        self.place: tuple[int, int] | None = None
        # Of a head that needs one run: its rank and its instant, until it starts or nodes go.
        self.known = _UNKNOWN, 0
        # What was tried in vain since the head is head: every other waiting job is wider than `tried`, which was free
        # then, or it is too long and wider than `passed`, which the head left over then. The promise never moves away,
        # so that two kinds only can pass now: those wider than `tried`, if so much is free by now, and those wider than
        # `passed`, if so much is left over by now. The rest of the queue need not be looked at.
        self.tried = self.passed = 0
        self.down: dict[int, list[int]] = {}  # the nodes that each downtime holds now
        self.drains: list[int] = []  # the downtimes that take nodes as they fall free
        self.downtimes = downtimes
        # What happens to the machine, the next one last: (instant, 0 end or 1 begin, number of the downtime).
        self.changes = sorted(
            (
                *((downtime.end_s, 0, number) for number, downtime in enumerate(downtimes)),
                *((downtime.start_s, 1, number) for number, downtime in enumerate(downtimes)),
            ),
            reverse=True,
        )
        self.plan()

    def plan(self) -> None:
        """Look ahead to the next change of the machine, and to the next one that is drained for."""
        self.change_s = self.changes[-1][0] if self.changes else FOREVER
        self.drain_s = min(
            (now for now, begins, number in self.changes if begins and self.downtimes[number].drained), default=FOREVER
        )

    def run(self, progress: Callable[[int], object] | None, sample_every_s: int | None, until_s: int) -> None:
        """Walk through the events until no job is left."""
        submits, count, submitted = self.workload.arrival_s, len(self.workload), 0
        ends, waiting = self.ends, self.waiting
        next_submit = submits[0] if count else FOREVER
        next_sample = FOREVER if sample_every_s is None else next_submit
        while submitted < count or ends or waiting:
            other = next_submit if next_submit < self.change_s else self.change_s
            changed = bool(ends) and ends[0] < (other + 1) << SHIFT
            now = ends[0] >> SHIFT if changed else other
            if now >= until_s:
                break
            while next_sample < now:
                self.sample(next_sample)
                next_sample += sample_every_s or 0
            if changed:
                self.complete(now)
            if now == self.change_s:
                self.change(now)
                changed = True
            if now != next_submit:
                if waiting.queue:
                    self.look(now)
                continue
            first = submitted
            while submitted < count and submits[submitted] == now:
                submitted += 1
            next_submit = submits[submitted] if submitted < count else FOREVER
            self.submit(range(first, submitted), now, changed)
            if progress is not None and submitted // 1000 > first // 1000 and progress(submitted):
                self.schedule.stopped_s = now
                break

    def complete(self, now: int) -> None:
        """End every job that ends by now."""
        if self.at != _UNKNOWN and self.orderly and not self.contiguous:
            self.tried, self.passed = self.free.free, self.spare
        self.at, self.place = _UNKNOWN, None
        ends, until = self.ends, (now + 1) << SHIFT
        while ends and ends[0] < until:
            key = heappop(ends)
            job = key & JOB
            # An outage may have ended it already, and it may run again since.
            if job in self.held and self.schedule.end_s[job] == key >> SHIFT:
                self.end(job)

    def place_of(self, job: int) -> int:
        """Return the place of a running job among the expected ends."""
        return bisect_left(
            self.expected, ((self.schedule.start_s[job] + self.workload.requested_time_s[job]) << SHIFT) + job
        )

    def end(self, job: int) -> None:
        """Give the nodes of a job back."""
        place = self.place_of(job)
        del self.expected[place]
        width = self.freed.pop(place)
        if place < self.counted:
            self.counted -= 1
        else:
            self.have += width
        if self.drains:
            runs = self.held.pop(job)
            self.free.release(runs, length_of(runs))
            self.drain()
        else:
            self.free.release(self.held.pop(job), width)
        if self.limited:
            self.waiting.leave(job)

    def start(self, job: int, now: int, late: bool = False) -> None:
        """Start a job that fits; a late one may end after the promised time, on nodes that the head leaves over."""
        widths, limits, run_times, start_s, end_s, status, first_bound, run_count, bounds = self.columns
        width, limit = widths[job], limits[job]
        runs = self.free.take(width, self.place if late else None)
        run_time = run_times[job] if self.runtime is None else self.runtime(job, runs)
        status[job] = FINISHED
        if run_time > limit and not self.keep:
            run_time = limit
            status[job] = KILLED_AT_LIMIT
        end = now + run_time
        start_s[job] = now
        end_s[job] = end
        first_bound[job] = len(bounds)
        run_count[job] = len(runs) >> 1
        bounds.fromlist(runs)
        self.held[job] = runs
        heappush(self.ends, (end << SHIFT) + job)
        expected = ((now + limit) << SHIFT) + job
        place = bisect_left(self.expected, expected)
        self.expected.insert(place, expected)
        self.freed.insert(place, width)
        if place < self.counted:
            self.counted += 1
        else:
            self.have -= width
        if self.place is not None:
            self.spare = self.free.largest_beside(self.place)
        elif late:
            self.spare -= width
        if self.limited:
            self.waiting.enter(job)

    def submit(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        """Take jobs in, and start what can start."""
        waiting, orderly = self.waiting, self.orderly
        if orderly and not waiting.simple:
            ranks = waiting.ranks
            newcomers = sorted(newcomers, key=ranks.__getitem__)
            orderly = not changed and bool(waiting.queue) and ranks[newcomers[0]] > waiting.queue[0]
        if orderly:
            # They come after the head, and the others could not start before: each newcomer is looked at alone.
            if changed and waiting.queue:
                self.look(now)
            for job in newcomers:
                self.look_at(job, now)
            return
        for job in newcomers:
            waiting.add(job)
        self.tried = self.passed = 0
        self.look(now)

    # Long, since it runs once an event and its steps share a dozen values that are dear to fetch.
    def look(self, now: int) -> None:
        """Start what can start, with the whole queue in view."""
        waiting, free = self.waiting, self.free
        widths, limits, jobs, horizon = waiting.widths, waiting.limits, waiting.jobs, self.drain_s - now
        self.at, self.place = _UNKNOWN, None
        while waiting.queue:
            rank = waiting.queue[0]
            if widths[rank] > free.room or limits[rank] > horizon:
                break
            # For another head everything is tried again.
            self.tried, self.passed, self.known = 0, 0, (_UNKNOWN, 0)
            waiting.remove(rank)
            self.start(jobs[rank], now)
        narrow, asked, room = waiting.narrow, waiting.asked, free.room
        if not self.easy or not narrow or narrow[0] >> SHIFT > room:
            return
        self.promise(now)
        left = min(self.at - now, horizon)
        tried, passed, spare = self.tried, self.passed, self.spare
        # Of what fits now and did not before: those that end in time, and those narrow enough not to matter.
        low = bisect_left(narrow, (tried + 1) << SHIFT)
        high = bisect_left(narrow, (room + 1) << SHIFT, low)
        over = (spare + 1) << SHIFT
        candidates = [
            key & JOB
            for key, limit in zip(narrow[low:high], asked[low:high], strict=True)
            if limit <= left or key < over
        ]
        least = widths[candidates[0]] if candidates else room
        # Of what fitted before, but was too long: those that more is left over for now.
        if spare > passed < tried:
            low = bisect_left(narrow, (passed + 1) << SHIFT)
            high = bisect_left(narrow, (min(spare, tried) + 1) << SHIFT, low)
            candidates += [key & JOB for key in narrow[low:high]]
            least = passed + 1
        candidates.sort()
        for rank in candidates:
            width = widths[rank]
            if width > room:
                continue
            limit = limits[rank]
            late = limit > left
            if late and (width > spare or limit > horizon):
                continue
            job = jobs[rank]
            if self.limited and waiting.is_over_limit(job):
                continue
            waiting.remove(rank)
            self.start(job, now, late)
            room, spare = free.room, self.spare
            if room < least:
                break

    def look_at(self, job: int, now: int) -> None:
        """Look at one new job alone: nothing has ended since the others could not start."""
        widths, limits = self.columns[:2]
        width, limit = widths[job], limits[job]
        if width <= self.free.room and now + limit <= self.drain_s:
            if not self.waiting.queue:
                self.start(job, now)
                return
            if self.easy:
                if self.at == _UNKNOWN:
                    self.promise(now)
                late = now + limit > self.at
                if not late or width <= self.spare:
                    self.start(job, now, late)
                    return
        self.waiting.add(job)

    def promise(self, now: int) -> None:
        """Find when the head of the queue can start at the latest, what it leaves over, and where it will lie."""
        head = self.waiting.queue[0]
        width, limit = self.waiting.widths[head], self.waiting.limits[head]
        if self.contiguous:
            self.at, self.place = self.promised_run(now, head, width)
            self.spare = 0 if self.place is None else self.free.largest_beside(self.place)
        else:
            freed, counted, have = self.freed, self.counted, self.have
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
        if self.at + limit > self.drain_s:
            # It will not run before the planned downtime; until then anything may that ends in time.
            self.at, self.spare, self.place = self.drain_s, 0, None

    def promised_run(self, now: int, head: int, width: int) -> tuple[int, tuple[int, int] | None]:
        """Return when so many nodes are free in one run at the latest, and where."""
        expected = self.expected
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
        bounds = set(self.free.bounds)
        for key in self.expected[:ends]:
            # Where a run ends and another begins, both bounds go.
            bounds.symmetric_difference_update(self.held[key & JOB])
        return next(((low, low + width) for low, high in pairs(sorted(bounds)) if high - low >= width), None)

    def change(self, now: int) -> None:
        """Take nodes away or give them back, open or close queues."""
        while self.change_s == now:
            _, begins, number = self.changes.pop()
            downtime = self.downtimes[number]
            if downtime.queue:
                self.waiting.reserve(downtime.queue if begins else "")
            elif begins:
                self.take_down(number, downtime, now)
            else:
                self.bring_back(number)
            self.plan()
        # Nothing that was counted or tried holds any longer.
        self.counted, self.have = 0, self.free.free
        self.at, self.tried, self.passed, self.known = _UNKNOWN, 0, 0, (_UNKNOWN, 0)

    def bring_back(self, number: int) -> None:
        """Give the nodes of a downtime back, but for those that another one wants until later."""
        if number in self.drains:
            self.drains.remove(number)
            self.count_freed()
        runs = self.down.pop(number)
        self.free.release(runs, length_of(runs))
        for other in self.down:
            if self.downtimes[other].kind != "orphan":
                self.take_more(other)

    def take_more(self, number: int) -> None:
        """Take what is free by now of the nodes of a downtime."""
        taken = self.down[number] + self.free.take_positions(*self.span(number))
        self.down[number] = joined(chain.from_iterable(map(range, taken[::2], taken[1::2])))

    def count_freed(self) -> None:
        """Count what each running job will free: the nodes that no drain wants."""
        for job, runs in self.held.items():
            free = FirstFit(0)
            free.fill(list(runs))
            for number in self.drains:
                free.take_positions(*self.span(number))
            self.freed[self.place_of(job)] = free.free

    def drain(self) -> None:
        """Let the drains take the nodes that fell free."""
        for number in self.drains:
            self.take_more(number)

    def span(self, number: int) -> tuple[int, int]:
        """Return the positions of a downtime, from and to (not included)."""
        first, last = self.downtimes[number].first_node or 0, self.downtimes[number].last_node
        return first, self.schedule.nodes if last is None else min(last, self.schedule.nodes)

    def take_down(self, number: int, downtime: Downtime, now: int) -> None:
        """Take the nodes of a downtime, and end the jobs on them unless it takes free nodes only."""
        first, last = self.span(number)
        if downtime.kind == "drain":
            self.drains.append(number)
            self.count_freed()
        elif downtime.kind != "orphan":
            for job in [job for job, runs in self.held.items() if any(a < last and first < b for a, b in pairs(runs))]:
                self.end(job)
                self.schedule.end_s[job] = now
                self.schedule.status[job] = KILLED_BY_OUTAGE
                if self.requeue:
                    self.schedule.lost.append((job, self.schedule.start_s[job], now))
                    self.schedule.status[job] = NOT_STARTED
                    self.waiting.add(job)
        runs = self.free.take_positions(first, last)
        self.down[number] = runs
        self.schedule.unavailable.append((downtime.start_s, downtime.end_s, length_of(runs)))

    def sample(self, now: int) -> None:
        """Record the machine as it was at this instant."""
        free = self.free
        down = sum(map(length_of, self.down.values()))
        jobs, nodes = self.waiting.totals()
        busy = self.schedule.nodes - free.free - down
        self.schedule.samples.append(Sample(now, free.free, free.largest_run, free.runs, busy, jobs, nodes, down))
