"""One run of a simulated scheduler, by the rules of `hopperlib.network.scheduling.scheduler`: the events, one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, merge
from itertools import chain

from hopperlib.network.scheduling._free_nodes import FirstFit, joined, length_of, pairs
from hopperlib.network.scheduling._lanes import Lane, Run, WholeLane
from hopperlib.network.scheduling._pools import FOREVER
from hopperlib.network.scheduling._waiting import JOB, SHIFT
from hopperlib.network.scheduling.downtimes import Downtime
from hopperlib.network.scheduling.schedule import KILLED_BY_OUTAGE, NOT_STARTED, Sample

__all__ = ["Loop"]

_NONE: set[Lane] = set()


class Loop:
    """One run of the simulation.

    Parameters
    ----------
    run : Run
    lanes : sequence of Lane
        The queues.
    lane_of : sequence of Lane
        That of each job.
    downtimes : sequence of Downtime
        Where there are any, all lanes are of whole nodes.
    requeue : bool
    """

    def __init__(
        self, run: Run, lanes: Sequence[Lane], lane_of: Sequence[Lane], downtimes: Sequence[Downtime], *, requeue: bool
    ) -> None:
        self.run_state, self.lanes, self.lane_of, self.requeue = run, lanes, lane_of, requeue
        self.schedule, self.workload, self.ends = run.schedule, run.workload, run.ends
        run.alone = len(lanes) == 1
        run.together = run.limited and not run.alone
        # What each downtime holds now of each lane, and the downtimes that take nodes as they fall free.
        self.down: dict[tuple[int, WholeLane], list[int]] = {}
        self.drains: list[int] = []
        self.downtimes = downtimes
        # What happens to the machine, the next one last: (instant, 0 end or 1 begin, number of the downtime).
        self.changes = sorted(
            (
                event
                for number, downtime in enumerate(downtimes)
                for event in ((downtime.end_s, 0, number), (downtime.start_s, 1, number))
            ),
            reverse=True,
        )
        self.plan()

    def whole_lanes(self) -> Iterable[WholeLane]:
        """Return the lanes of whole nodes."""
        return (lane for lane in self.lanes if isinstance(lane, WholeLane))

    def plan(self) -> None:
        """Look ahead to the next change of the machine, and to the next one that is drained for."""
        self.change_s = self.changes[-1][0] if self.changes else FOREVER
        drain_s = min(
            (now for now, begins, number in self.changes if begins and self.downtimes[number].drained), default=FOREVER
        )
        for lane in self.whole_lanes():
            lane.drain_s = drain_s

    def run(self, progress: Callable[[int], object] | None, sample_every_s: int | None, until_s: int) -> None:
        """Walk through the events until no job is left."""
        submits, count, submitted = self.workload.arrival_s, len(self.workload), 0
        ends, lanes, lane_of = self.ends, self.lanes, self.lane_of
        alone = lanes[0] if len(lanes) == 1 else None
        next_submit = submits[0] if count else FOREVER
        next_sample = FOREVER if sample_every_s is None else next_submit
        while submitted < count or ends or any(lane.waiting for lane in lanes):
            other = next_submit if next_submit < self.change_s else self.change_s
            ended = bool(ends) and ends[0] < (other + 1) << SHIFT
            now = ends[0] >> SHIFT if ended else other
            if now >= until_s:
                break
            while next_sample < now:
                self.sample(next_sample)
                next_sample += sample_every_s or 0
            changed = self.complete(now) if ended else _NONE
            if now == self.change_s:
                self.change(now)
                changed = set(lanes)
            first = submitted
            if now == next_submit:
                while submitted < count and submits[submitted] == now:
                    submitted += 1
                next_submit = submits[submitted] if submitted < count else FOREVER
            if alone is not None:
                if looks := alone.tries(range(first, submitted), now, bool(changed)):
                    deque(looks, maxlen=0)
            else:
                if self.run_state.together:
                    # A start in one lane may keep the head of another from running, and let those behind it pass.
                    for lane in changed.symmetric_difference(lanes):
                        lane.before_ends()
                    changed = set(lanes)
                newcomers: dict[Lane, list[int]] = {lane: [] for lane in changed}
                for job in range(first, submitted):
                    newcomers.setdefault(lane_of[job], []).append(job)
                # Who is earlier in the queue is tried first, in whatever lane: limits may hold for several.
                tries = [lane.tries(jobs, now, lane in changed) for lane, jobs in newcomers.items()]
                deque(merge(*tries) if len(tries) > 1 else chain(*tries), maxlen=0)
            if progress is not None and submitted // 1000 > first // 1000 and progress(submitted):
                self.schedule.stopped_s = now
                break

    def complete(self, now: int) -> set[Lane]:
        """End every job that ends by now; return the lanes in which anything changed."""
        ends, until = self.ends, (now + 1) << SHIFT
        changed: set[Lane] = set()
        held, end_s = self.run_state.held, self.schedule.end_s
        while ends and ends[0] < until:
            key = heappop(ends)
            job = key & JOB
            # An outage may have ended it already, and it may run again since.
            if job in held and end_s[job] == key >> SHIFT:
                lane = self.lane_of[job]
                if lane not in changed:
                    lane.before_ends()
                    changed.add(lane)
                if back := self.end(lane, job, now):
                    changed.update(back)
        return changed

    def end(self, lane: Lane, job: int, now: int) -> Iterable[Lane]:
        """Give the nodes of a job back; return the lanes in which jobs wait for it by a limit."""
        run = self.run_state
        if run.fair:
            run.order.load_with(job, -1, now)
        lane.finish(job, run.held.pop(job))
        if self.drains:
            for number in self.drains:
                self.take_more(number)
        return self.bring_back(run.limits.count(job, -1)) if run.limited else ()

    def bring_back(self, reasons: Sequence[tuple[int, int]]) -> list[Lane]:
        """Let the jobs wait again that were put aside for some reasons; return their lanes."""
        lanes = [lane for lane in self.lanes if lane.waiting.bring_back(reasons)]
        for lane in lanes:
            if isinstance(lane, WholeLane):
                lane.forget()
        return lanes

    def change(self, now: int) -> None:
        """Take nodes away or give them back, open or close queues."""
        while self.change_s == now:
            _, begins, number = self.changes.pop()
            downtime = self.downtimes[number]
            if downtime.queue:
                self.bring_back(self.run_state.limits.reserve(downtime.queue if begins else ""))
            elif begins:
                self.take_down(number, downtime, now)
            else:
                self.give_back(number)
            self.plan()
        # Nothing that was counted or tried holds any longer.
        for lane in self.whole_lanes():
            lane.pool.counted, lane.pool.have = 0, lane.pool.free.free
            lane.forget()

    def give_back(self, number: int) -> None:
        """Give the nodes of a downtime back, but for those that another one wants until later."""
        if number in self.drains:
            self.drains.remove(number)
            self.count_freed()
        for lane in self.whole_lanes():
            runs = self.down.pop((number, lane))
            lane.pool.free.release(runs, length_of(runs))
        for other in dict.fromkeys(number for number, _ in self.down):
            if self.downtimes[other].kind != "orphan":
                self.take_more(other)

    def take_more(self, number: int) -> None:
        """Take what is free by now of the nodes of a downtime."""
        for lane in self.whole_lanes():
            taken = self.down.get((number, lane), []) + lane.pool.free.take_positions(*self.span(number))
            self.down[number, lane] = joined(chain.from_iterable(map(range, taken[::2], taken[1::2])))

    def count_freed(self) -> None:
        """Count what each running job will free: the nodes that no drain wants."""
        for job, runs in self.run_state.held.items():
            free, lane = FirstFit(0), self.lane_of[job]
            free.fill(list(runs))
            for number in self.drains:
                free.take_positions(*self.span(number))
            assert isinstance(lane, WholeLane)
            lane.pool.count_freed(job, self.schedule.start_s[job] + self.workload.requested_time_s[job], free.free)

    def span(self, number: int) -> tuple[int, int]:
        """Return the positions of a downtime, from and to (not included)."""
        first, last = self.downtimes[number].first_node or 0, self.downtimes[number].last_node
        return first, self.schedule.nodes if last is None else min(last, self.schedule.nodes)

    def take_down(self, number: int, downtime: Downtime, now: int) -> None:
        """Take the nodes of a downtime, and end the jobs on them unless it takes free nodes only."""
        (first, last), schedule = self.span(number), self.schedule
        if downtime.kind == "drain":
            self.drains.append(number)
            self.count_freed()
        elif downtime.kind != "orphan":
            held = self.run_state.held.items()
            for job in [job for job, runs in held if any(a < last and first < b for a, b in pairs(runs))]:
                self.end(self.lane_of[job], job, now)
                schedule.end_s[job] = now
                schedule.status[job] = KILLED_BY_OUTAGE
                if self.requeue:
                    schedule.lost.append((job, schedule.start_s[job], now))
                    schedule.status[job] = NOT_STARTED
                    self.lane_of[job].waiting.add(*self.run_state.order.keys([job], now))
        self.take_more(number)
        taken = sum(length_of(runs) for (other, _), runs in self.down.items() if other == number)
        schedule.unavailable.append((downtime.start_s, downtime.end_s, taken))

    def sample(self, now: int) -> None:
        """Record the machine as it was at this instant."""
        # Where the free runs of two lanes touch, both bounds go.
        bounds: set[int] = set()
        for lane in self.lanes:
            for pool in lane.all_pools():
                bounds.symmetric_difference_update(pool.free_bounds())
        runs = [high - low for low, high in pairs(sorted(bounds))]
        down, free = sum(map(length_of, self.down.values())), sum(runs)
        jobs, nodes = map(sum, zip(*(lane.waiting.totals() for lane in self.lanes), strict=True))
        busy = self.schedule.nodes - free - down
        self.schedule.samples.append(Sample(now, free, max(runs, default=0), len(runs), busy, jobs, nodes, down))
