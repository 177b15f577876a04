"""One run of a simulated scheduler, by the rules of `hopperlib.scheduling.scheduler`: the events, one after the other."""

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from heapq import heappop, merge

from hopperlib.scheduling._free_nodes import FirstFit, length_of, pairs
from hopperlib.scheduling._simulation.pool_queue import FOREVER, PoolQueue, Run
from hopperlib.scheduling._simulation.waiting import JOB, SHIFT
from hopperlib.scheduling._simulation.whole import WholeNodeQueue
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Closure
from hopperlib.scheduling.schedule import KILLED_BY_OUTAGE, NOT_STARTED, Sample

_NONE: set[PoolQueue] = set()


class Loop(Run):
    """The events of one run of the simulation."""

    def run(
        self,
        queues: Sequence[PoolQueue],
        queue_of: Sequence[PoolQueue],
        downtimes: Sequence[Downtime],
        closures: Sequence[Closure],
        progress: Callable[[int], object] | None,
        sample_every_s: int | None,
        until_s: int,
    ) -> Generator[None, int]:
        """Run through the events until no job is left.

        Stops at an instant, until it is sent a later one.
        """
        self.prepare(queues, queue_of, downtimes, closures, sample_every_s)
        submits, count, submitted, ends = [*self.workload.arrival_s, FOREVER], len(self.workload), 0, self.ends
        next_submit = submits[0]
        while submitted < count or ends or self.has_waiting():
            # Ends come before other events in the same second, so new jobs find the nodes free. A key of `ends` is the
            # second above the job's index: events due by a second are below the first key of the next.
            other = min(next_submit, self.change_s, self.pass_s)
            ended = bool(ends) and ends[0] < (other + 1) << SHIFT
            now = ends[0] >> SHIFT if ended else other
            while now >= until_s:
                until_s = yield
            self.sample_before(now, sample_every_s)
            changed = self.complete(now) if ended else _NONE
            if now == self.change_s:
                self.change(now)
                changed = set(queues)
            if self.backfill:
                changed = self.begin_pass(now) or changed
            running = len(self.held)
            first = submitted
            if now == next_submit:
                submitted = bisect_right(submits, now, first)
                next_submit = submits[submitted]
            self.update(range(first, submitted), now, changed)
            if self.backfill:
                self.plan_pass(now, running)
            if progress is not None and submitted // 1000 > first // 1000:
                progress(submitted)

    def prepare(
        self,
        queues: Sequence[PoolQueue],
        queue_of: Sequence[PoolQueue],
        downtimes: Sequence[Downtime],
        closures: Sequence[Closure],
        sample_every_s: int | None,
    ) -> None:
        """Schedule the machine events, and the first sample, before the first job arrives."""
        self.next_sample_s = next(iter(self.workload.arrival_s), FOREVER) if sample_every_s else FOREVER
        self.pass_s = FOREVER
        self.queues, self.queue_of, self.downtimes, self.closures = queues, queue_of, downtimes, closures
        # Nodes of each queue held by each downtime, and the downtimes that take nodes as they become free.
        self.down: dict[tuple[int, PoolQueue], list[int]] = {}
        self.drains: list[int] = []
        self.pools = [pool for queue in queues for pool in queue.pools]
        # Machine events, the next one last: (instant, 0 end or 1 begin, number of the downtime or, after all downtimes,
        # of the closure).
        spans: list[Downtime | Closure] = [*downtimes, *closures]
        events = [((each.end_s, 0, number), (each.start_s, 1, number)) for number, each in enumerate(spans)]
        self.changes = sorted((event for both in events for event in both), reverse=True)
        self.plan()

    def begin_pass(self, now: int) -> set[PoolQueue]:
        """Let a backfill pass that is due look at all queues, and discard the plans of the one before; else only their heads."""
        self.heads_only = now < self.pass_s
        if self.heads_only:
            return _NONE
        for queue in self.queues:
            queue.forget()
        return set(self.queues)

    def plan_pass(self, now: int, running: int) -> None:
        """Set when the next backfill pass is: passes keep their interval, and one is left out if nothing changed since the last."""
        assert self.backfill is not None
        every, changed = self.backfill.interval_s, self.heads_only or len(self.held) > running
        self.pass_s = (now // every + 1) * every if changed and self.has_waiting() else FOREVER

    def has_waiting(self) -> bool:
        """Whether any job waits."""
        return any(queue.waiting for queue in self.queues)

    def sample_before(self, now: int, every_s: int | None) -> None:
        """Take the samples due by now: nothing happens between two events, so a late sample shows the state at its
        time.
        """
        while self.next_sample_s < now:
            self.sample(self.next_sample_s)
            self.next_sample_s += every_s or 0

    def update(self, newcomers: Sequence[int], now: int, changed: set[PoolQueue]) -> None:
        """Let the queues accept jobs, and start those that can start."""
        if len(self.queues) == 1:
            self.queues[0].update(newcomers, now, bool(changed))
            return
        of_queue: dict[PoolQueue, list[int]] = {queue: [] for queue in changed}
        for job in newcomers:
            of_queue.setdefault(self.queue_of[job], []).append(job)
        if not self.limited:
            for queue, jobs in of_queue.items():
                queue.update(jobs, now, queue in changed)
            return
        # Limits may span several queues: a start in one may block the head of another, and let later jobs pass it.
        # Earlier jobs are therefore tried first, in any queue.
        for queue, jobs in of_queue.items():
            queue.add(jobs, now)
        for queue in self.queues:
            queue.forget()
        # A queue yields the key of a job before it tries it, so merging tries jobs in the order of the whole queue;
        # starts are side effects, and the keys are not used.
        deque(merge(*(queue.schedule_pass(now) for queue in self.queues)), maxlen=0)

    def complete(self, now: int) -> set[PoolQueue]:
        """End every job that ends by now; return the queues that changed."""
        ends, until, held, end_s = self.ends, (now + 1) << SHIFT, self.held, self.schedule.end_s
        changed: set[PoolQueue] = set()
        while ends and ends[0] < until:
            key = heappop(ends)
            job = key & JOB
            # An outage may have ended it already, and it may run again since.
            if job in held and end_s[job] == key >> SHIFT:
                changed.add(self.queue_of[job])
                changed.update(self.end(job, now))
            elif job in self.near_until:
                changed.add(self.queue_of[job])
        return changed

    def end(self, job: int, now: int) -> Iterable[PoolQueue]:
        """Release the nodes of a job; return the queues with jobs that waited for it because of a limit."""
        if self.fair:
            self.order.load_with(job, -1, now)
        self.queue_of[job].finish(job, self.held.pop(job))
        for number in self.drains:
            self.drain_free_nodes(number)
        return self.release(self.limits.count(job, -1)) if self.limited else ()

    def release(self, reasons: Sequence[tuple[int, int]]) -> list[PoolQueue]:
        """Requeue the jobs that were held for some reasons; return their queues."""
        queues = [queue for queue in self.queues if queue.waiting.release(reasons)]
        for queue in queues:
            queue.forget()
        return queues

    def plan(self) -> None:
        """Look ahead to the next change of the machine, and to the next one that is drained for."""
        self.change_s = self.changes[-1][0] if self.changes else FOREVER
        known, all_downtimes = len(self.downtimes), self.downtimes
        drained = (
            now for now, begins, number in self.changes if begins and number < known and all_downtimes[number].drained
        )
        drain_s = min(drained, default=FOREVER) if known else FOREVER
        for pool in self.pools:
            if isinstance(pool, WholeNodeQueue):
                pool.drain_s = drain_s

    def change(self, now: int) -> None:
        """Take nodes away or give them back, open or close queues."""
        while self.change_s == now:
            _, begins, number = self.changes.pop()
            if number >= len(self.downtimes):
                closure = self.closures[number - len(self.downtimes)]
                self.release(self.limits.close(closure.over_s, 1 if begins else -1))
                self.plan()
                continue
            downtime = self.downtimes[number]
            if downtime.queue:
                alone = downtime.first_node is None
                self.release(self.limits.reserve(downtime.queue if begins else "", alone=alone))
            elif begins:
                self.begin_outage(number, downtime, now)
            else:
                self.end_outage(number)
            self.plan()
        # Nothing that was counted or tried holds any longer.
        for queue in (*self.queues, *self.pools):
            queue.forget()

    def end_outage(self, number: int) -> None:
        """Return the nodes of a downtime, except for those that another one still needs."""
        if number in self.drains:
            self.drains.remove(number)
            self.count_freed()
        for pool in self.pools:
            pool.end_outage(self.down.pop((number, pool)))
        for other in dict.fromkeys(number for number, _ in self.down):
            if self.downtimes[other].kind != "orphan":
                self.drain_free_nodes(other)

    def drain_free_nodes(self, number: int) -> None:
        """Take the nodes of a downtime that are free by now."""
        for pool in self.pools:
            taken = pool.take_idle(*self.span(number), planned=self.downtimes[number].drained)
            down = FirstFit(self.down.get((number, pool), []))
            down.release(taken, length_of(taken))
            self.down[number, pool] = down.bounds

    def count_freed(self) -> None:
        """Exclude nodes that are to be drained."""
        for pool in self.pools:
            pool.drain([self.span(number) for number in self.drains])

    def span(self, number: int) -> tuple[int, int]:
        """Return the positions of a downtime, from and to (not included)."""
        first, last = self.downtimes[number].first_node or 0, self.downtimes[number].last_node
        return first, self.schedule.nodes if last is None else min(last, self.schedule.nodes)

    def begin_outage(self, number: int, downtime: Downtime, now: int) -> None:
        """Take the nodes of a downtime, and end the jobs on them unless it takes free nodes only."""
        (first, last), schedule = self.span(number), self.schedule
        if downtime.kind == "drain":
            self.drains.append(number)
            self.count_freed()
        elif downtime.kind != "orphan":
            held = self.held.items()
            for job in [job for job, runs in held if any(a < last and first < b for a, b in pairs(runs))]:
                self.end(job, now)
                schedule.end_s[job] = now
                schedule.status[job] = KILLED_BY_OUTAGE
                if self.requeue:
                    schedule.lost.append((job, schedule.start_s[job], now))
                    schedule.status[job] = NOT_STARTED
                    self.queue_of[job].add([job], now)
        self.drain_free_nodes(number)
        taken = [run for (other, _), runs in self.down.items() if other == number for run in pairs(runs)]
        schedule.unavailable.append((downtime.start_s, downtime.end_s, sum(high - low for low, high in taken)))
        schedule.unavailable_runs.append(taken)

    def sample(self, now: int) -> None:
        """Record the machine's state at this instant."""
        # If free runs of two queues are adjacent, drop both bounds.
        bounds: set[int] = set()
        for queue in self.queues:
            for of_pool in queue.free_bounds():
                bounds.symmetric_difference_update(of_pool)
        runs = [high - low for low, high in pairs(sorted(bounds))]
        down, free = sum(map(length_of, self.down.values())), sum(runs)
        jobs, nodes = map(sum, zip(*(queue.waiting.totals() for queue in self.queues), strict=True))
        busy = self.schedule.nodes - free - down
        self.schedule.samples.append(Sample(now, free, max(runs, default=0), len(runs), busy, jobs, nodes, down))
