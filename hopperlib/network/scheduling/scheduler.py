"""An event-driven batch scheduler that remembers which nodes every job had.

The rules are fixed, so that schedules compare:

- At one instant, completions come first, then what happens to the machine,
  then submissions, then one look at the queue.
- A job ends after its run time, or at its limit if that is shorter.
  ``overrun="keep"`` lets it run on; once over its limit, it is expected to
  end at every moment.
- The queue is in order of priority, then of submission. Only if asked for, waiting
  counts too: a job gains one step of priority for every so many seconds.
- ``fcfs``: the head starts as soon as it fits; nobody passes it.
- ``easy``: the head is promised the earliest time at which enough nodes are
  free by the limits of the running jobs, all ends up to that time counted.
  Others may pass it if they end by then by their own limit, or use nodes that
  the head leaves over at that time, which they use up.

Nodes are positions in a list. Where a position lies in the machine is decided
by a node order afterwards: with the default allocation the schedule does not
depend on it.

How it is fast: the free nodes are a few runs. What the running jobs are
expected to free is a sorted list, so that the promise is a walk along its
front. The waiting jobs are also sorted by width, so that only those that fit
are looked at. And while nothing ends, a job that could not start before cannot
start now: of the queue only the newcomers are looked at. The plain case goes through
`hopperlib.network.scheduling.first_fit_loop`, which is the same written out and remembers more.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush

from hopperlib.network.scheduling.downtimes import FOREVER, Calendar, Downtime
from hopperlib.network.scheduling.first_fit_loop import run_first_fit
from hopperlib.network.scheduling.free_nodes import ALLOCATIONS, BestFit, Contiguous, FirstFit, RandomFit, pairs
from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.schedule import (
    FINISHED,
    KILLED_AT_LIMIT,
    KILLED_BY_OUTAGE,
    Sample,
    Schedule,
    SchedulerError,
)
from hopperlib.network.scheduling.waiting import WaitingJobs
from hopperlib.network.scheduling.workload import Workload

__all__ = ["POLICIES", "simulate"]

POLICIES: tuple[str, ...] = ("easy", "fcfs")
# A time and a job in one whole number, which sorts by time, then by job: (time << _SHIFT) + job.
_SHIFT = 32
_JOB = (1 << _SHIFT) - 1


def _allocator(allocation: str, nodes: int, rng: random.Random | None) -> FirstFit:
    """Return the free list for an allocation policy."""
    if allocation == "random":
        if rng is None:
            raise SchedulerError("allocation='random' needs a random generator: rng=random.Random(seed)")
        return RandomFit(nodes, rng)
    kinds: Mapping[str, type[FirstFit]] = {"first": FirstFit, "best": BestFit, "contiguous": Contiguous}
    if allocation not in kinds:
        raise SchedulerError(f"allocation={allocation!r} must be one of: {', '.join(ALLOCATIONS)}")
    return kinds[allocation](nodes)


def simulate(
    workload: Workload,
    nodes: int,
    *,
    policy: str = "easy",
    allocation: str = "first",
    overrun: str = "kill",
    queues: Sequence[Queue] = (),
    aging_s: int | None = None,
    downtimes: Sequence[Downtime] = (),
    rng: random.Random | None = None,
    sample_every_s: int | None = None,
    runtime: Callable[[int, list[int]], int] | None = None,
    progress: Callable[[int], object] | None = None,
    until_s: int | None = None,
) -> Schedule:
    """Return the schedule of a workload on a machine.

    Parameters
    ----------
    workload : Workload
    nodes : int
        Nodes of the machine.
    policy : {"easy", "fcfs"}
    allocation : {"first", "best", "contiguous", "random"}
        How nodes are picked from the free ones (`hopperlib.network.scheduling.free_nodes`).
    overrun : {"kill", "keep"}
        What happens at a job's limit.
    queues : sequence of Queue
        Priorities and limits by name; jobs of other queues have priority 0.
    aging_s : int or None
        How long a job waits to gain one step of priority; None for no aging. [s]
    downtimes : sequence of Downtime
    rng : random.Random or None
        For random allocation; only its ``random()`` is used.
    sample_every_s : int or None
        Interval of the machine's records; None for none. [s]
    runtime : callable or None
        ``runtime(job index, bounds of its runs) -> seconds``: lets the placement feed back
        on the run time. One simulation then serves one node order only.
    progress : callable or None
        Called now and then with the number of jobs submitted so far; if it
        returns something true, the simulation stops there and says so in
        `Schedule.stopped_s`.
    until_s : int or None
        Stop looking at this instant; what runs then stays as it is expected to end.

    Returns
    -------
    Schedule

    Raises
    ------
    SchedulerError
        If a setting is unknown, or a job is wider than the machine or its queue allows.

    Examples
    --------
    Ten nodes. Job 2 waits for job 1; job 3 fits beside job 1 and ends in time, so it passes job 2:

    >>> from hopperlib.network.scheduling.workload import Job, Workload
    >>> jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)])
    >>> schedule = simulate(jobs, 10)
    >>> list(schedule.start_s), schedule.runs(2)
    ([0, 100, 2], [(6, 10)])
    >>> list(simulate(jobs, 10, policy="fcfs").start_s)
    [0, 100, 150]
    """
    if policy not in POLICIES:
        raise SchedulerError(f"policy={policy!r} must be one of: {', '.join(POLICIES)}")
    if overrun not in ("kill", "keep"):
        raise SchedulerError(f"overrun={overrun!r} must be kill or keep")
    if nodes < 1:
        raise SchedulerError(f"nodes={nodes} must be at least 1")
    if sample_every_s is not None and sample_every_s < 1:
        raise SchedulerError(f"sample_every_s={sample_every_s} must be at least 1 s")
    if aging_s is not None and aging_s < 1:
        raise SchedulerError(f"aging_s={aging_s} must be at least 1 s")
    _check(workload, nodes, queues)
    plain = allocation == "first" and overrun == "kill" and not queues and not downtimes
    if plain and sample_every_s is None and runtime is None and until_s is None:
        schedule = Schedule(workload, nodes)
        run_first_fit(schedule, easy=policy == "easy", progress=progress)
        return schedule
    loop = _Loop(workload, nodes, _allocator(allocation, nodes, rng), queues, downtimes, aging_s)
    loop.easy = policy == "easy"
    loop.keep = overrun == "keep"
    loop.runtime = runtime
    loop.run(progress, sample_every_s, FOREVER if until_s is None else until_s)
    return loop.schedule


def _check(workload: Workload, nodes: int, queues: Sequence[Queue]) -> None:
    """Refuse jobs that could never start."""
    if len(workload) and max(workload.nodes) > nodes:
        index = next(i for i, width in enumerate(workload.nodes) if width > nodes)
        raise SchedulerError(
            f"job {workload.job[index]} asks for nodes={workload.nodes[index]}, more than the {nodes} of the machine"
        )
    limits = {queue.name: queue for queue in queues}
    if not limits:
        return
    for job in workload:
        if job.queue in limits:
            limits[job.queue].check(job)


class _Loop:
    """One run of the simulation."""

    easy = True
    keep = False
    runtime: Callable[[int, list[int]], int] | None = None

    def __init__(
        self, workload: Workload, nodes: int, free: FirstFit, queues: Sequence[Queue], downtimes: Sequence[Downtime],
        aging_s: int | None = None,
    ) -> None:  # fmt: skip
        self.workload = workload
        self.schedule = schedule = Schedule(workload, nodes)
        self.columns = (
            workload.run_time_s, schedule.start_s, schedule.end_s, schedule.status,
            schedule.first_bound, schedule.run_count, schedule.bounds,
        )  # fmt: skip
        self.free = free
        self.contiguous = free if isinstance(free, Contiguous) else None
        self.waiting = WaitingJobs(workload, queues, [one.queue for one in downtimes if one.queue], aging_s)
        self.limited = self.waiting.limited
        self.calendar = Calendar(downtimes)
        # Nodes that each downtime holds now.
        self.down: dict[int, list[int]] = {}
        # When jobs really end: a heap of (end, job).
        self.ends: list[int] = []
        # When the scheduler expects them to: (end, job), sorted; and beside each its nodes.
        self.expected: list[int] = []
        self.freed: list[int] = []
        # The nodes of each running job, as bounds of runs.
        self.held: dict[int, list[int]] = {}
        # What the head of the queue was promised, for as long as nothing ends; None if nobody asked yet:
        # (instant, nodes that it leaves over then, the run it is to have if it needs one).
        self.promise: tuple[int, int, tuple[int, int] | None] | None = None
        # Of a head that needs one run: its rank and that instant, until it starts or nodes go.
        self.known: tuple[int, int] | None = None
        # Of the head for which the whole queue was tried: its rank; and what was free then, and left over.
        self.tried_head: int | None = None
        self.tried = self.passed = 0

    def run(self, progress: Callable[[int], object] | None, sample_every_s: int | None, until_s: int) -> None:
        """Walk through the events until no job is left."""
        submits, calendar, count, submitted = self.workload.submit_time_s, self.calendar, len(self.workload), 0
        ends, waiting = self.ends, self.waiting
        next_submit = submits[0] if count else FOREVER
        next_sample = FOREVER if sample_every_s is None else next_submit
        while submitted < count or ends or waiting:
            other = next_submit if next_submit < calendar.next_s else calendar.next_s
            changed = bool(ends) and ends[0] < (other + 1) << _SHIFT
            now = ends[0] >> _SHIFT if changed else other
            if now >= until_s:
                break
            while next_sample < now:
                self.sample(next_sample)
                next_sample += sample_every_s or 0
            if changed:
                self.remember()
                self.complete((now + 1) << _SHIFT)
            if now == calendar.next_s:
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

    def submit(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        """Take jobs in, and start what can start."""
        waiting, queue = self.waiting, self.waiting.queue
        alone = not self.keep and not (changed and queue)
        if alone and not waiting.simple:
            # They come after the head in any case: it waits, and what could not pass it before cannot now.
            newcomers = sorted(newcomers, key=waiting.rank)
            alone = waiting.steady and bool(queue) and waiting.rank(newcomers[0]) > queue[0]
        if alone:
            for index in newcomers:
                self.look_at(index, now)
        else:
            for index in newcomers:
                waiting.add(index)
            self.look(now, newcomers)

    def remember(self) -> None:
        """Before something ends: note what the waiting jobs were tried against."""
        self.tried = self.free.free
        self.passed = self.tried if self.promise is None else self.promise[1]

    def complete(self, until: int) -> None:
        """End every job whose end, as (end, job), comes before `until`."""
        ends, held, expected, freed = self.ends, self.held, self.expected, self.freed
        while ends and ends[0] < until:
            index = heappop(ends) & _JOB
            runs = held.pop(index, None)
            if runs is None:
                continue  # An outage has ended it already.
            self.free.release(runs)
            believed = self.schedule.start_s[index] + self.workload.requested_time_s[index]
            place = bisect_left(expected, (believed << _SHIFT) + index)
            del expected[place], freed[place]
            if self.limited:
                self.waiting.leave(index)

    def start(self, index: int, width: int, limit: int, now: int, runs: list[int]) -> None:
        """Start a job now on nodes that were taken for it."""
        run_times, start_s, end_s, status, first_bound, run_count, bounds = self.columns
        run_time = run_times[index] if self.runtime is None else self.runtime(index, runs)
        if run_time > limit and not self.keep:
            run_time = limit
            status[index] = KILLED_AT_LIMIT
        else:
            status[index] = FINISHED
        end = now + run_time
        start_s[index] = now
        end_s[index] = end
        first_bound[index] = len(bounds)
        run_count[index] = len(runs) >> 1
        bounds.fromlist(runs)
        self.held[index] = runs
        heappush(self.ends, (end << _SHIFT) + index)
        expected = ((now + limit) << _SHIFT) + index
        place = bisect_left(self.expected, expected)
        self.expected.insert(place, expected)
        self.freed.insert(place, width)
        if self.limited:
            self.waiting.enter(index)

    def look(self, now: int, newcomers: Sequence[int] = ()) -> None:
        """Start what can start, with the whole queue in view."""
        waiting, free, nodes = self.waiting, self.free, self.workload.nodes
        queue, horizon = waiting.queue, self.calendar.drain_s - now
        self.promise = None
        while queue:
            index = queue[0] & _JOB
            width, limit = nodes[index], self.workload.requested_time_s[index]
            if limit > horizon or not free.fits(width):
                break
            self.known = self.tried_head = None
            waiting.remove(queue[0], width, limit)
            self.start(index, width, limit, now, free.take(width))
            queue = waiting.queue
        if not queue or not self.easy:
            return
        head, before = queue[0], self.tried_head
        self.tried_head = head if waiting.steady and not self.keep else None
        narrow = waiting.narrow
        fitting = bisect_left(narrow, ((free.free if self.contiguous is None else free.largest_run) + 1,))
        if not fitting:
            return
        self.promise = at, spare, place = self.promised(now)
        until = min(at - now, horizon)
        if place is not None:
            self.pass_around(now, [(rank, width, limit) for width, rank, limit in narrow[:fitting] if rank != head])
            return
        if before == head and self.contiguous is None:
            # What is no wider than what was free before did not pass, unless more is left over now. See first_fit_loop.
            tried, passed = self.tried, self.passed
            seen = bisect_left(narrow, (tried + 1,))
            pick = narrow[seen:fitting]
            if spare > passed < tried:
                pick += narrow[bisect_left(narrow, (passed + 1,)) : bisect_left(narrow, (min(spare, tried) + 1,))]
            if newcomers:
                fresh = [(nodes[i], waiting.rank(i), self.workload.requested_time_s[i]) for i in newcomers]
                pick = [*{*pick, *(job for job in fresh if job[0] <= free.free)}]
        else:
            pick = narrow[:fitting]
        candidates = [
            (rank, width, limit)
            for width, rank, limit in pick
            if (limit <= until or (width <= spare and limit <= horizon)) and rank != head
        ]
        limited, whole, least = self.limited, self.contiguous, narrow[0][0]
        candidates.sort()
        for rank, width, limit in candidates:
            if free.free < least:
                break
            if width > free.free or (whole is not None and not whole.fits(width)):
                continue
            if limited and waiting.is_over_limit(rank & _JOB):
                continue
            if limit > until:
                if width > spare:
                    continue
                spare -= width
            waiting.remove(rank, width, limit)
            self.start(rank & _JOB, width, limit, now, free.take(width))
        self.promise = at, spare, place

    def look_at(self, index: int, now: int) -> None:
        """Look at one new job alone: nothing has ended since the others could not start."""
        width, limit = self.workload.nodes[index], self.workload.requested_time_s[index]
        if now + limit <= self.calendar.drain_s and self.free.fits(width):
            if not self.waiting.queue:
                self.start(index, width, limit, now, self.free.take(width))
                return
            if self.easy:
                at, spare, place = self.promise = self.promise or self.promised(now)
                if place is not None and self.contiguous is not None:
                    avoid = place if now + limit > at else None
                    if self.contiguous.first_run(width, avoid) is not None:
                        self.start(index, width, limit, now, self.contiguous.take(width, avoid))
                        return
                elif now + limit <= at or width <= spare:
                    if now + limit > at:
                        self.promise = at, spare - width, place
                    self.start(index, width, limit, now, self.free.take(width))
                    return
        self.waiting.add(index)

    def pass_around(self, now: int, candidates: list[tuple[int, int, int]]) -> None:
        """Start jobs before a head that is to have one certain run: in time, or beside that run."""
        assert self.promise is not None
        assert self.contiguous is not None
        at, _, place = self.promise
        assert place is not None
        whole, beside = self.contiguous.largest_run, self.contiguous.largest_beside(place)
        for rank, width, limit in sorted(candidates):
            late = now + limit > at
            if (
                width > (beside if late else whole)
                or now + limit > self.calendar.drain_s
                or (self.limited and self.waiting.is_over_limit(rank & _JOB))
            ):
                continue
            self.waiting.remove(rank, width, limit)
            self.start(rank & _JOB, width, limit, now, self.contiguous.take(width, place if late else None))
            whole, beside = self.contiguous.largest_run, self.contiguous.largest_beside(place)

    def promised(self, now: int) -> tuple[int, int, tuple[int, int] | None]:
        """Return when the head of the queue can start at the latest, what it leaves over, and where."""
        index = self.waiting.queue[0] & _JOB
        width, limit = self.workload.nodes[index], self.workload.requested_time_s[index]
        place = None
        if self.contiguous is not None:
            at, spare, place = self.promised_run(now, width)
        else:
            at, spare = now, self.free.free - width
            if spare < 0:
                at, spare = self.promised_count(now, spare)
        drain = self.calendar.drain_s
        if at + limit > drain:
            # It will not run before the planned downtime; until then anything may that ends in time.
            return drain, 0, None
        return at, spare, place

    def promised_count(self, now: int, spare: int) -> tuple[int, int]:
        """Return when `spare`, less than nothing now, is enough, and how much it is then."""
        for step, freed in enumerate(self.freed):  # noqa: B007
            spare += freed
            if spare >= 0:
                break
        else:
            return FOREVER, 0
        at = max(self.expected[step] >> _SHIFT, now)
        # All that end by that instant count.
        same = bisect_left(self.expected, (at + 1) << _SHIFT, step + 1)
        return at, spare + sum(self.freed[step + 1 : same])

    def promised_run(self, now: int, width: int) -> tuple[int, int, tuple[int, int] | None]:
        """As `promised`, for a head that needs one run: release in expected order until there is one."""
        assert self.contiguous is not None
        head, expected = self.waiting.queue[0], self.expected
        if self.known is not None and self.known[0] == head:
            # As long as it stays head the time never moves away. Mostly it does not come nearer either.
            at = max(now, self.known[1])
            if at == now or self.first_run_after(bisect_left(expected, at << _SHIFT), width) is None:
                found = self.first_run_after(bisect_left(expected, (at + 1) << _SHIFT), width)
                if found is not None:
                    return at, 0, found
        # The fewest expected ends that leave one run long enough: more of them leave no less.
        low, high = 0, len(expected)
        if self.first_run_after(high, width) is None:
            return FOREVER, 0, None
        while low < high:
            middle = (low + high) // 2
            if self.first_run_after(middle, width) is None:
                low = middle + 1
            else:
                high = middle
        at = max(now, expected[low - 1] >> _SHIFT) if low else now
        # All that end by that instant count.
        found = self.first_run_after(bisect_left(expected, (at + 1) << _SHIFT), width)
        self.known = head, at
        return at, 0, found

    def first_run_after(self, ends: int, width: int) -> tuple[int, int] | None:
        """Return the first place for a job of this width once so many expected ends have come."""
        assert self.contiguous is not None
        bounds = set(self.contiguous.bounds)
        for key in self.expected[:ends]:
            # Where a run ends and another begins, both bounds go.
            bounds.symmetric_difference_update(self.held[key & _JOB])
        joined = sorted(bounds)
        for start, end in zip(joined[::2], joined[1::2], strict=True):
            if end - start >= width:
                return start, start + width
        return None

    def change(self, now: int) -> None:
        """Take nodes away or give them back, open or close queues."""
        self.known = self.tried_head = None
        calendar = self.calendar
        while calendar.next_s == now:
            begins, number = calendar.pop()
            downtime = calendar.downtimes[number]
            if downtime.queue:
                self.waiting.reserve(downtime.queue if begins else "")
            elif begins:
                self.take_down(number, downtime, now)
            else:
                self.free.release(self.down.pop(number))

    def take_down(self, number: int, downtime: Downtime, now: int) -> None:
        """Take the nodes of a downtime, and end the jobs on them unless it takes free nodes only."""
        first = downtime.first_node or 0
        last = self.schedule.nodes if downtime.last_node is None else downtime.last_node
        if downtime.kind != "orphan":
            for index in [i for i, runs in self.held.items() if any(a < last and first < b for a, b in pairs(runs))]:
                self.kill(index, now)
        runs = self.free.take_positions(first, last)
        self.down[number] = runs
        taken = sum(runs[1::2]) - sum(runs[::2])
        self.schedule.unavailable.append((downtime.start_s, downtime.end_s, taken))

    def kill(self, index: int, now: int) -> None:
        """End a running job because its nodes go."""
        schedule = self.schedule
        self.free.release(self.held.pop(index))
        believed = schedule.start_s[index] + self.workload.requested_time_s[index]
        place = bisect_left(self.expected, (believed << _SHIFT) + index)
        del self.expected[place], self.freed[place]
        schedule.end_s[index] = now
        schedule.status[index] = KILLED_BY_OUTAGE
        if self.limited:
            self.waiting.leave(index)

    def sample(self, now: int) -> None:
        """Record the machine as it was at this instant."""
        free = self.free
        down = sum(sum(runs[1::2]) - sum(runs[::2]) for runs in self.down.values())
        jobs, nodes = self.waiting.totals()
        busy = self.schedule.nodes - free.free - down
        self.schedule.samples.append(Sample(now, free.free, free.largest_run, free.runs, busy, jobs, nodes, down))
