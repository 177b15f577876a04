"""One run of a scheduler over partitions, shared nodes, changing priorities and limits, by the rules of `scheduler`.

It gives what the loop for whole nodes of one pool gives, where both can run;
that one is several times faster, this one knows more. Pools that have nothing
in common but the clock each have a queue of their own, a lane.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

from hopperlib.errors import InputError
from hopperlib.network.scheduling._pools import FOREVER, Promise, SharedNodes, Wanted, WholeNodes
from hopperlib.network.scheduling.rules import Limit, Rules
from hopperlib.network.scheduling.schedule import FINISHED, KILLED_AT_LIMIT, Schedule
from hopperlib.network.scheduling.workload import Job

__all__ = ["Policy", "Pool", "PoolLoop", "View"]

_SHIFT, _JOB = 32, (1 << 32) - 1
_DAY = 86_400

Pool = WholeNodes | SharedNodes
Policy = Callable[["View"], Sequence[Job]]


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

    def __init__(self, loop: PoolLoop, lane: _Lane, now: int) -> None:
        self._loop, self._lane = loop, lane
        self.now_s = now
        workload = loop.workload
        self._indices = {workload.job[entry[1]]: entry[1] for entry in lane.waiting}
        self.waiting = tuple(workload[entry[1]] for entry in lane.waiting)
        self.running = tuple(
            (workload[job], loop.schedule.start_s[job] + workload.requested_time_s[job]) for job in loop.held
        )

    def room(self, job: Job) -> int:
        """Return how many nodes a job of this kind would find now."""
        index = self._indices[job.job]
        return self._loop.pool_of(index).room(self._loop.wanted[index])


class _Lane:
    """The queue of some pools: (-priority, job), sorted, and the promises to the blocked heads of the partitions."""

    def __init__(self, alone: bool = False) -> None:
        #: Whether it is the queue of one partition of whole nodes, without limits.
        self.alone = alone
        self.waiting: list[tuple[float, int]] = []
        # By partition, and by pool.
        self.promises: dict[str, Promise] = {}
        self.kept: dict[int, list[Promise]] = {}
        # The last in the queue to whom something is promised.
        self.last: tuple[float, int] = (-float("inf"), -1)
        self.counted_s = -FOREVER


class PoolLoop:
    """One run of the simulation."""

    def __init__(
        self, schedule: Schedule, jobs: Sequence[int], pools: dict[str, Pool], wanted: Sequence[Wanted], fixed: Sequence[float], rules: Rules,
        *, policy: Policy | None, depth: int, keep: bool,
    ) -> None:  # fmt: skip
        self.schedule, self.workload, self.jobs, self.pools = schedule, schedule.workload, jobs, pools
        self.wanted, self.fixed, self.rules = wanted, fixed, rules
        self.policy, self.depth, self.keep = policy, depth, keep
        self.ends: list[int] = []
        self.held: dict[int, list[int]] = {}
        # Limits of users and accounts, and fair shares, hold across all pools: then there is one lane for all.
        common = _Lane() if rules.limits or policy else None
        lanes = {id(pool): common or _Lane(isinstance(pool, WholeNodes)) for pool in pools.values()}
        self.lanes = {name: lanes[id(pool)] for name, pool in pools.items()}
        self.running: dict[tuple[int, object], list[int]] = {}
        self.keys = {job: self.counted(job) for job in jobs} if rules.limits else {}
        self.usage: dict[object, float] = {}
        self.load: dict[object, int] = {}
        self.factors: dict[object, float] = {}
        self.oldest_s = round(_DAY * rules.max_age_days)
        self.used_until = 0
        self.sharers = set(map(self.sharer, jobs)) if rules.fair_share else set()
        self.cost = (
            [max(cores, nodes) for cores, nodes in zip(self.workload.cores, self.workload.nodes, strict=True)]
            if rules.fair_share
            else []
        )

    def pool_of(self, job: int) -> Pool:
        """Return the pool that a job runs in."""
        return self.pools[self.wanted[job][0]]

    def run(self, progress: Callable[[int], object] | None, until_s: int) -> None:
        """Walk through the events until none is left."""
        arrivals, jobs, ends = self.workload.arrival_s, self.jobs, self.ends
        come, count = 0, len(jobs)
        while come < count or ends:
            next_end = ends[0] >> _SHIFT if ends else FOREVER
            next_arrival = arrivals[jobs[come]] if come < count else FOREVER
            now = min(next_end, next_arrival)
            if now >= until_s:
                break
            freed: dict[int, _Lane] = {}
            while ends and ends[0] >> _SHIFT == now:
                job = heappop(ends) & _JOB
                self.finish(job, now)
                lane = self.lanes[self.wanted[job][0]]
                freed[id(lane)] = lane
            first = come
            while come < count and arrivals[jobs[come]] == now:
                come += 1
            new: dict[int, tuple[_Lane, list[tuple[float, int]]]] = {}
            for job in jobs[first:come]:
                lane = self.lanes[self.wanted[job][0]]
                new.setdefault(id(lane), (lane, []))[1].append((-self.priority(job, now), job))
            for number, (lane, entries) in new.items():
                alone = number not in freed and self.tries_alone(lane, min(entries), now)
                for entry in sorted(entries) if alone else entries:
                    insort(lane.waiting, entry)
                if alone:
                    self.look(lane, sorted(entries), now)
                else:
                    freed[number] = lane
            for lane in freed.values():
                if lane.waiting:
                    self.look_at_all(lane, now)
            if progress is not None and come // 1000 > first // 1000 and progress(come):
                self.schedule.stopped_s = now
                break

    def tries_alone(self, lane: _Lane, first: tuple[float, int], now: int) -> bool:
        """Whether newcomers can be looked at alone: nothing fell free, and they come behind all that something is promised to."""
        return first > lane.last and self.depth < 2 and not (self.keep or self.policy or self.is_stale(lane, now))

    def is_stale(self, lane: _Lane, now: int) -> bool:
        """Whether the order of the queue is to be worked out anew."""
        if not self.rules.changes or now - lane.counted_s < self.rules.period_s:
            return False
        # While no job has reached the greatest age, all grow older alike.
        grown = now - self.oldest_s
        return bool(self.rules.fair_share) or any(self.workload.arrival_s[job] <= grown for _, job in lane.waiting)

    def look_at_all(self, lane: _Lane, now: int) -> None:
        """Start what can start, with the whole queue in view."""
        if self.is_stale(lane, now):
            lane.counted_s = now
            self.use(now)
            lane.waiting = sorted((-self.priority(job, now), job) for _, job in lane.waiting)
        lane.promises, lane.kept, lane.last = {}, {}, (-float("inf"), -1)
        if self.policy is not None:
            self.ask(lane, now)
        elif self.depth > 1:
            self.reserve(lane, now)
        else:
            self.look(lane, list(lane.waiting), now)

    def look(self, lane: _Lane, entries: list[tuple[float, int]], now: int) -> None:
        """Start whom the promises let start; promise the first that cannot, of each partition, its nodes."""
        wanted, widths, limits, promises = (
            self.wanted,
            self.workload.nodes,
            self.workload.requested_time_s,
            lane.promises,
        )
        rooms: dict[Wanted, int] = {}
        rest = iter(entries)
        for entry in rest:
            job = entry[1]
            want, width = wanted[job], widths[job]
            blocked = want[0] in promises
            if blocked:
                # Within one look room only shrinks: who found too little at its begin finds too little now.
                room = rooms.get(want)
                if room is None:
                    room = rooms[want] = self.pools[want[0]].room(want)
                if width > room or not self.depth:
                    continue
            if self.rules.limits and self.over(job):
                continue
            pool = self.pools[want[0]]
            bounds = pool.place(want, width, now + limits[job], lane.kept.get(id(pool), ()))
            if bounds is not None:
                self.start(lane, entry, bounds, now)
            elif not blocked:
                promises[want[0]] = promise = pool.promise(want, width, now) if self.depth else Promise(FOREVER, 0)
                lane.kept.setdefault(id(pool), []).append(promise)
                lane.last = max(lane.last, entry)
                if lane.alone:
                    # Nothing but widths and limits counts: most of the queue is passed over at once.
                    room, spare, left = pool.room(want) if self.depth else 0, promise.spare, promise.at - now
                    others = [
                        other for other in rest
                        if (width := widths[other[1]]) <= room and (width <= spare or limits[other[1]] <= left)
                    ]  # fmt: skip
                    for other in others:
                        bounds = pool.place(want, widths[other[1]], now + limits[other[1]], (promise,))
                        if bounds is not None:
                            self.start(lane, other, bounds, now)
                    return

    def reserve(self, lane: _Lane, now: int) -> None:
        """Give each of the first blocked jobs the earliest time at which it delays none before it; start those whose time is now."""
        widths, limits = self.workload.nodes, self.workload.requested_time_s
        plans: dict[str, tuple[list[int], list[int]]] = {}
        reserved: dict[str, int] = {}
        for entry in list(lane.waiting):
            job = entry[1]
            name, width, limit = self.wanted[job][0], widths[job], max(1, limits[job])
            if self.rules.limits and self.over(job):
                continue
            pool = self.pools[name]
            assert isinstance(pool, WholeNodes)
            if name not in plans:
                plans[name] = pool.steps(now)
            times, free = plans[name]
            step = _earliest(times, free, width, limit, only_now=reserved.get(name, 0) >= self.depth)
            if step is None:
                continue
            if step:
                reserved[name] = reserved.get(name, 0) + 1
            else:
                bounds = pool.place(self.wanted[job], width, 0, ())
                assert bounds is not None
                self.start(lane, entry, bounds, now)
            _take(times, free, step, times[step] + limit, width)

    def ask(self, lane: _Lane, now: int) -> None:
        """Start whom a policy of one's own names."""
        assert self.policy is not None
        entries = {self.workload.job[entry[1]]: entry for entry in lane.waiting}
        for job in self.policy(View(self, lane, now)):
            entry = entries.pop(getattr(job, "job", -1), None)
            if entry is None:
                raise InputError(f"the policy names {job!r} at {now} s, which is no waiting job", name="policy")
            index = entry[1]
            bounds = self.pool_of(index).place(self.wanted[index], self.workload.nodes[index], now, ())
            if bounds is None or self.over(index):
                raise InputError(
                    f"the policy starts job {job.job} at {now} s, for which there is no room", name="policy"
                )
            self.start(lane, entry, bounds, now)

    def start(self, lane: _Lane, entry: tuple[float, int], bounds: list[int], now: int) -> None:
        """Start a job on its nodes."""
        job, schedule = entry[1], self.schedule
        del lane.waiting[bisect_left(lane.waiting, entry)]
        run, limit = self.workload.run_time_s[job], self.workload.requested_time_s[job]
        schedule.status[job] = FINISHED
        if run > limit and not self.keep:
            run = limit
            schedule.status[job] = KILLED_AT_LIMIT
        schedule.start_s[job], schedule.end_s[job] = now, now + run
        schedule.first_bound[job], schedule.run_count[job] = len(schedule.bounds), len(bounds) >> 1
        schedule.bounds.fromlist(bounds)
        self.held[job] = bounds
        if self.rules.fair_share:
            self.load_with(job, self.cost[job], now)
        heappush(self.ends, (now + run << _SHIFT) + job)
        self.pool_of(job).start(job, self.wanted[job], self.workload.nodes[job], bounds, now + limit)
        for key in self.keys.get(job, ()):
            counts = self.running.setdefault(key, [0, 0])
            counts[0] += 1
            counts[1] += self.workload.nodes[job]

    def finish(self, job: int, now: int) -> None:
        """End a job."""
        if self.rules.fair_share:
            self.load_with(job, -self.cost[job], now)
        expected = self.schedule.start_s[job] + self.workload.requested_time_s[job]
        self.pool_of(job).finish(job, self.held.pop(job), expected)
        for key in self.keys.get(job, ()):
            self.running[key][0] -= 1
            self.running[key][1] -= self.workload.nodes[job]

    def counted(self, job: int) -> list[tuple[int, object]]:
        """Return what a job counts for among the limits."""
        return [
            (number, who) for number, limit in enumerate(self.rules.limits) if (who := self.who(limit, job)) is not None
        ]

    def who(self, limit: Limit, job: int) -> object:
        """Return the user, account, QOS or queue of a job that a limit holds for, or None."""
        if limit.per == "user":
            user = self.workload.user[job]
            return user if limit.of in ("", str(user)) else None
        word = self.workload.word(limit.per, job)
        return word if limit.of in ("", word) else None

    def over(self, job: int) -> bool:
        """Whether a job is beyond what its user, account, QOS or queue may run now."""
        for number, who in self.keys.get(job, ()):
            limit, (jobs, nodes) = self.rules.limits[number], self.running.get((number, who), (0, 0))
            if limit.jobs is not None and jobs >= limit.jobs:
                return True
            if limit.nodes is not None and nodes + self.workload.nodes[job] > limit.nodes:
                return True
        return False

    def priority(self, job: int, now: int) -> float:
        """Return a job's priority, less what its age would add had it been eligible at time 0: that is alike for all."""
        rules, priority = self.rules, self.fixed[job]
        if rules.age:
            priority -= rules.age / self.oldest_s * max(self.workload.arrival_s[job], now - self.oldest_s)
        if rules.fair_share:
            priority += rules.fair_share * self.fair_factor(self.sharer(job))
        return priority

    def fair_factor(self, who: object) -> float:
        """Return the fair-share factor of a user or account, for usage as it is."""
        if who not in self.factors:
            shares, total = self.rules.shares, sum(self.usage.values())
            share = shares.get(str(who), 0.0) / (sum(shares.values()) or 1.0) if shares else 1 / len(self.sharers)
            used = self.usage.get(who, 0.0) / total if total else 0.0
            self.factors[who] = 2 ** (-used / share) if share else 0.0
        return self.factors[who]

    def sharer(self, job: int) -> object:
        """Return whose usage counts: the job's account if accounts have shares, else its user."""
        return self.workload.word("account", job) if self.rules.shares else self.workload.user[job]

    def use(self, now: int) -> None:
        """Let usage fade up to now, and add what ran."""
        span = now - self.used_until
        if self.rules.fair_share and span:
            fade = 0.5 ** (span / (_DAY * self.rules.half_life_days))
            self.usage = {who: used * fade + self.load.get(who, 0) * span for who, used in self.usage.items()}
            self.used_until, self.factors = now, {}

    def load_with(self, job: int, cost: int, now: int) -> None:
        """Count a job that starts, or with a negative cost ends, as running from here on."""
        who = self.sharer(job)
        self.load[who] = self.load.get(who, 0) + cost
        # As if it had run, or not, since usage was last worked out.
        self.usage[who] = self.usage.get(who, 0.0) - cost * (now - self.used_until)


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
