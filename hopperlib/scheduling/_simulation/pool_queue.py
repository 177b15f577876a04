"""Shared parts of all queues of a simulated scheduler: the running jobs, and a queue for each pool of nodes.

A scheduling pass is a generator that yields each job before it is tried: queues with common limits take turns, in
priority order, by merging their passes.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heappush

from hopperlib.scheduling._free_nodes import ChosenFit, FirstFit
from hopperlib.scheduling._simulation.waiting import JOB, SHIFT, Limits, Order, Waiting
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.schedule import FINISHED, KILLED_AT_LIMIT, Schedule

FOREVER = 1 << 62
# A job's request: partition, and cores, GPUs and memory per node (0 cores: the whole node).
Wanted = tuple[str, int, int, int]


class Run:
    """State shared by the queues of a simulation: running jobs, the order of the queue, and the limits."""

    def __init__(
        self,
        schedule: Schedule,
        order: Order,
        limits: Limits,
        wanted: Sequence[Wanted],
        *,
        keep: bool,
        requeue: bool,
        backfill: Backfill | None = None,
    ) -> None:
        self.schedule, self.workload, self.order, self.limits = schedule, schedule.workload, order, limits
        self.wanted, self.keep, self.requeue = wanted, keep, requeue
        # Where backfill runs at intervals: how, and whether this is such a pass or only the head of the queue may start.
        self.backfill, self.heads_only = backfill, False
        self.fair, self.limited = bool(order.rules.fair_share), bool(limits)
        # When jobs really end: a heap of (end, job). Their nodes, as bounds of runs.
        self.ends: list[int] = []
        self.held: dict[int, list[int]] = {}
        # Jobs that waited for nodes that lie near.
        self.near_until: set[int] = set()
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
        run_time, limit = run_times[job], limits[job]
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


class PoolQueue:
    """A pool of nodes and its queue."""

    def __init__(self, run: Run) -> None:
        self.run, self.waiting = run, Waiting(run.order)
        self.widths, self.limits, self.starts = run.workload.nodes, run.workload.requested_time_s, run.schedule.start_s

    @property
    def pools(self) -> Sequence["PoolQueue"]:
        """The queues whose nodes the jobs use."""
        return (self,)

    def room(self, job: int, now: int) -> int:
        """Return the width of the widest job like this one that finds its nodes now."""
        raise NotImplementedError

    def place(self, job: int, now: int) -> list[int] | None:
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

    def take_idle(self, first: int, last: int, *, planned: bool) -> list[int]:
        """Take the idle nodes from first to last (exclusive), optionally as planned, and return the bounds."""
        raise NotImplementedError

    def end_outage(self, bounds: list[int]) -> None:
        """Give nodes back that were taken away."""
        raise NotImplementedError

    def drain(self, spans: Sequence[tuple[int, int]]) -> None:
        """Count on no node of these spans (from, to not included) to be free again."""
        raise NotImplementedError

    def schedule_pass(self, now: int) -> Iterator[int]:
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
        deque(self.schedule_pass(now), maxlen=0)

    def start(self, key: int, bounds: list[int], now: int) -> None:
        """Start a job that waits on its nodes."""
        self.waiting.remove(key)
        self.hold(key & JOB, bounds, self.run.start(key & JOB, bounds, now))

    def waits_for_near(self, job: int, free: FirstFit, now: int) -> bool:
        """Whether a job that could start waits for nearby nodes; it is reconsidered when it no longer does."""
        run, patience_s = self.run, free.patience_s(self.widths[job]) if isinstance(free, ChosenFit) else 0
        until_s = run.workload.arrival_s[job] + patience_s
        if until_s <= now:
            return False
        if job not in run.near_until:
            # The end of a job that does not run ends nothing: it is a look at the queue.
            run.near_until.add(job)
            heappush(run.ends, (until_s << SHIFT) + job)
        return True

    def is_over(self, key: int) -> bool:
        """Whether a limit keeps a waiting job from running, which is then put aside."""
        reason = self.run.limits.reason_blocked(key & JOB)
        if reason is not None:
            self.waiting.remove(key)
            self.waiting.hold(key, reason)
        return reason is not None


class PlanningQueue(PoolQueue):
    """A queue whose first blocked jobs are promised a start time, computed only if a later job finds enough idle nodes."""

    #: For how many blocked jobs of a partition a start is reserved.
    depth: int
    # : Whether promises are up to date.
    planned = False

    def most_idle(self, wanted: Wanted) -> int:
        """Return the width of the widest job of a kind that fits now, regardless of promises."""
        raise NotImplementedError

    def try_to_start(self, key: int, now: int) -> bool:
        """Start a job if enough nodes are idle and no promise is broken; return whether later jobs may pass it."""
        raise NotImplementedError

    def withdraw(self, job: int) -> None:
        """Take the promise to a job back, if it had one."""

    def update(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        run, waiting = self.run, self.waiting
        keys, last = run.order.keys(newcomers, now), waiting.queue[-1] if waiting.queue else -1
        same = self.planned and not (changed or run.keep or run.limited or run.backfill or waiting.is_stale(now))
        for key in keys:
            waiting.add(key)
        # While promises remain valid, only jobs after all others are tried.
        deque(self.look_at(keys, now) if same and keys and keys[0] > last else self.schedule_pass(now), maxlen=0)

    def start_heads(self, now: int) -> Iterator[int]:
        """Start jobs in the order of the queue until one does not fit, which blocks all later ones."""
        for key in list(self.waiting.queue):
            job = key & JOB
            yield key
            if self.run.limited and self.is_over(key):
                continue
            bounds = self.place(job, now) if self.widths[job] <= self.most_idle(self.run.wanted[job]) else None
            if bounds is None:
                return
            self.start(key, bounds, now)

    def schedule_pass(self, now: int) -> Iterator[int]:
        stale = self.waiting.is_stale(now)
        if stale:
            self.waiting.sort(now)
        if stale or self.run.keep:
            # Where a job runs over its limit, its end moves with the clock.
            self.forget()
        # Number of blocked jobs in each partition, and those of them not yet promised a time.
        self.blocked: dict[str, int] = {}
        self.unplanned: deque[int] = deque()
        # For a kind of job in this pass: jobs of this length find at most this many nodes.
        self.tight: dict[Wanted, tuple[int, int]] = {}
        self.planned = True
        if self.run.heads_only:
            self.planned = False
            return self.start_heads(now)
        return self.look_at(self.waiting.queue[: self.depth] if self.run.backfill else list(self.waiting.queue), now)

    def horizon_s(self, now: int) -> int:
        """Return until when starts are planned."""
        return now + self.run.backfill.window_s if self.run.backfill else FOREVER

    def look_at(self, keys: Sequence[int], now: int) -> Iterator[int]:
        """Start whom the promises let start; promise the first that cannot, of each partition, a time."""
        run, blocked, wanted, depth = self.run, self.blocked, self.run.wanted, self.depth
        widths, limits = self.widths, self.limits
        rooms: dict[Wanted, int] = {}
        for key in keys:
            job = key & JOB
            want, width = wanted[job], widths[job]
            ahead = blocked.get(want[0], 0)
            # Within one look room only shrinks: who found too little at its begin finds too little now.
            room = rooms.get(want)
            if room is None:
                room = rooms[want] = self.most_idle(want)
            is_first = ahead < depth or not ahead
            longest, most = self.tight.get(want, (FOREVER, 0))
            if width > most and limits[job] >= longest:
                room = 0
            if is_first or (depth and width <= room):
                yield key
                is_first &= not ((run.limited and self.is_over(key)) or (width <= room and self.try_to_start(key, now)))
            if is_first:
                blocked[want[0]] = ahead + 1
                if depth:
                    self.unplanned.append(job)
            else:
                self.withdraw(job)
