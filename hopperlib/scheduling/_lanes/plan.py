"""The queue of nodes that jobs share or that partitions have in common, of which the first blocked job is promised a time.

What each node has left, and when it will have more, is kept node by node; sets of nodes are whole numbers, a bit a node.
The promise does not name its nodes: it holds as long as enough are left of those on which the job could be.
"""

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from operator import add, ge, or_, sub

from hopperlib.scheduling._free_nodes import Contiguous, FirstFit, positions_in
from hopperlib.scheduling._lanes.lane import FOREVER, Lane, Run, Wanted
from hopperlib.scheduling._lanes.waiting import JOB
from hopperlib.scheduling.cluster import NodeResources
from hopperlib.scheduling.downtimes import Downtime

# Of a node whose cores or memory nobody told.
_ENOUGH = 1 << 40
_RUNS = re.compile("1+")
Amounts = tuple[int, ...]


def capacity(node: NodeResources) -> Amounts:
    """Return the cores, GPUs and memory of a node."""
    return node.cores or _ENOUGH, node.gpus, node.memory_mb or _ENOUGH


def suffices(amounts: Amounts, wanted: Wanted) -> bool:
    """Whether a node with this left would do for a job of a kind."""
    return all(map(ge, amounts, wanted[1:]))


def runs_in(nodes: int) -> list[int]:
    """Return a set of nodes, a bit each, as the bounds of its runs."""
    # As digits, the last first: searching a text takes a fraction of what shifting a number of thousands of bits does.
    return list(chain.from_iterable(run.span() for run in _RUNS.finditer(bin(nodes)[:1:-1])))


def bits_of(bounds: Sequence[int]) -> int:
    """Return runs, by their bounds, as a set with a bit for each node."""
    ends = iter(bounds)
    return sum((1 << high) - (1 << low) for low, high in zip(ends, ends, strict=True))


def _first(nodes: int, width: int) -> int:
    """Return the first that many nodes of a set."""
    return bits_of(FirstFit(runs_in(nodes)).take(width)) if width else 0


class Promise:
    """The time that a blocked job has, from and to, the nodes on which it could be then, and how many of them it can spare."""

    def __init__(self, at: int, end: int, wanted: Wanted, nodes: int, spare: int) -> None:
        self.at, self.end, self.wanted, self.nodes, self.spare = at, end, wanted, nodes, spare

    def overlaps(self, at: int, end: int) -> bool:
        """Whether a job that runs from and to would run beside it."""
        return self.at < end and at < self.end


class _Kind:
    """What one kind of job finds: from when on it may start on each node, by the running jobs alone."""

    def __init__(self) -> None:
        self.since: dict[int, int] = {}
        # The nodes for each such instant; the instants, and beside each the nodes that it may have by then.
        self.at: dict[int, int] = {}
        self.times: list[int] = []
        self.by_then: list[int] = []
        # Up to where the log of changes is in this.
        self.seen = -1

    def settle(self, node: int, instant: int) -> None:
        """Note from when on a job may start on a node."""
        if node in self.since:
            self.at[self.since[node]] ^= 1 << node
        self.since[node] = instant
        self.at[instant] = self.at.get(instant, 0) | 1 << node
        self.times = []

    def steps(self) -> tuple[list[int], list[int]]:
        """Return the instants at which there are more nodes, and the nodes that there are by then."""
        if not self.times:
            self.at = {instant: nodes for instant, nodes in self.at.items() if nodes}
            self.times = sorted(self.at)
            self.by_then = list(accumulate((self.at[instant] for instant in self.times), or_))
        return self.times, self.by_then


class PlanLane(Lane):
    """A pool in which each partition promises a time to its first blocked job; partitions do not count each other's promises."""

    def __init__(
        self,
        run: Run,
        nodes: Sequence[NodeResources],
        partitions: Mapping[str, Sequence[int]],
        *,
        depth: int,
        free: Callable[[list[int]], FirstFit] = FirstFit,
        nodes_per_switch: int = 0,
        downtimes: Iterable[Downtime] = (),
    ) -> None:
        super().__init__(run)
        self.depth, self.free, self.partitions = depth, free, partitions
        self.members = {name: sum(1 << node for node in mine) for name, mine in partitions.items()}
        self.whole = [capacity(node) for node in nodes]
        self.left = list(self.whole)
        # Of each node its jobs, each with its expected end and what it holds there.
        self.jobs: list[dict[int, tuple[int, Amounts]]] = [{} for _ in nodes]
        # The nodes that are taken away, those of them that come back when a plan says so, and those that take no new job.
        self.away = self.coming_back = self.draining = 0
        everywhere = (1 << len(nodes)) - 1
        switch = nodes_per_switch or len(nodes)
        self.switches = [(((1 << switch) - 1) << low) & everywhere for low in range(0, len(nodes), switch)]
        self.per_switch = nodes_per_switch
        self.together = bool(nodes_per_switch) or isinstance(free([]), Contiguous)
        # What is known beforehand: from when, to when, and on which nodes nothing else may run than jobs of the queue.
        self.known = [
            (each, everywhere if each.last_node is None else bits_of((each.first_node or 0, each.last_node)))
            for each in downtimes
            if each.drained or (each.queue and each.last_node is not None)
        ]
        # Nodes on which something began or ended, one after the other: what kinds of job find is mended there.
        self.log: list[int] = []
        self.kinds: dict[Wanted, _Kind] = {}
        # How many jobs are blocked in each partition, those that were not promised a time yet, and the promises.
        self.blocked: dict[str, int] = {}
        self.unplanned: list[int] = []
        self.promises: dict[str, Promise] = {}
        # The last in the queue of those who are to have a promise.
        self.last = -1

    def share(self, wanted: Wanted, node: int) -> Amounts:
        """Return what a job of a kind takes of a node."""
        return wanted[1:] if wanted[1] else self.whole[node]

    def kind(self, wanted: Wanted) -> _Kind:
        """Return what a kind of job finds."""
        kind = self.kinds.get(wanted)
        if kind is None:
            kind = self.kinds[wanted] = _Kind()
        if kind.seen < len(self.log):
            members = self.members[wanted[0]]
            changed = self.partitions[wanted[0]] if kind.seen < 0 else set(self.log[kind.seen :])
            for node in changed:
                if members >> node & 1:
                    kind.settle(node, self.fits_from(wanted, node))
            kind.seen = len(self.log)
        return kind

    def fits_from(self, wanted: Wanted, node: int) -> int:
        """Return from when a job of this kind fits on a node at the latest; 0 if it does now."""
        if not suffices(self.whole[node], wanted) or (self.away & ~self.coming_back | self.draining) >> node & 1:
            return FOREVER
        free, share = self.left[node], self.share(wanted, node)
        if all(map(ge, free, share)):
            return 0
        for end, held in sorted(self.jobs[node].values()):
            free = tuple(map(add, free, held))
            if all(map(ge, free, share)):
                return max(1, end)
        return FOREVER

    def free_for(self, job: int, nodes: int, at: int, end: int) -> int:
        """Return those of some nodes that nothing which is known beforehand keeps from a job that runs from and to."""
        queue = self.run.workload.word("queue", job) if self.known else ""
        for each, kept in self.known:
            if each.queue and each.queue == queue:
                nodes &= kept
            elif each.start_s < end and at < each.end_s and (each.drained or each.start_s <= at):
                nodes &= ~kept
        return nodes

    def harmed(self, nodes: int, wanted: Wanted, at: int, promise: Promise) -> int:
        """Return the nodes on which a job that starts at an instant leaves too little for the promised one."""
        both = nodes & promise.nodes
        if not wanted[1]:
            return both
        instant = max(at, promise.at)
        return sum(1 << node for node in positions_in(runs_in(both)) if self.is_full(node, wanted, instant, promise))

    def is_full(self, node: int, wanted: Wanted, instant: int, promise: Promise) -> bool:
        """Whether a job beside a promised one is too much for a node at some instant."""
        left: Amounts = tuple(map(sub, self.whole[node], wanted[1:]))
        left = tuple(map(sub, left, self.share(promise.wanted, node)))
        for end, held in self.jobs[node].values():
            if end > instant:
                left = tuple(map(sub, left, held))
        return min(left) < 0

    def choose(self, job: int, nodes: int, at: int) -> int:
        """Return the nodes that a job takes of some, from an instant on; 0 if there are too few that no promise needs."""
        end = at + self.limits[job]
        harms = [
            (promise, harm)
            for promise in self.promises.values()
            if promise.overlaps(at, end) and (harm := self.harmed(nodes, self.run.wanted[job], at, promise))
        ]
        harmful = 0
        for _, harm in harms:
            harmful |= harm
        taken = self.pick(nodes & ~harmful | _spared(harmful, harms), self.widths[job])
        for promise, harm in harms if taken else ():
            promise.spare -= (lost := taken & harm).bit_count()
            promise.nodes &= ~lost
        return taken

    def pick(self, nodes: int, width: int) -> int:
        """Return that many of some nodes, by the way to allocate; 0 if they do not do."""
        if width <= self.per_switch:
            nodes = next((mine for group in self.switches if (mine := nodes & group).bit_count() >= width), 0)
        if nodes.bit_count() < width:
            return 0
        free = self.free(runs_in(nodes))
        return bits_of(free.take(width)) if width <= free.room else 0

    def idle(self, job: int, now: int) -> int:
        """Return the nodes on which a job may start now, whatever is promised."""
        fitting = self.kind(self.run.wanted[job]).at.get(0, 0)
        return self.free_for(job, fitting, now, now + max(1, self.limits[job])) if self.known else fitting

    def room(self, job: int, now: int) -> int:
        idle = self.idle(job, now)
        return self.free(runs_in(idle)).room if idle else 0

    def place(self, job: int, now: int) -> list[int] | None:
        return runs_in(self.pick(self.idle(job, now), self.widths[job])) or None

    def hold(self, job: int, bounds: list[int], end: int) -> None:
        wanted = self.run.wanted[job]
        for node in positions_in(bounds):
            share = self.share(wanted, node)
            self.jobs[node][job] = end, share
            self.left[node] = tuple(map(sub, self.left[node], share))
            self.log.append(node)

    def finish(self, job: int, bounds: list[int]) -> None:
        for node in positions_in(bounds):
            self.left[node] = tuple(map(add, self.left[node], self.jobs[node].pop(job)[1]))
            self.log.append(node)

    def free_bounds(self) -> list[list[int]]:
        nodes = 0
        for mine in self.members.values():
            nodes |= mine
        idle = (1 << node for node in positions_in(runs_in(nodes & ~self.away)) if not self.jobs[node])
        return [runs_in(sum(idle))]

    def take_idle(self, first: int, last: int, *, planned: bool) -> list[int]:
        bounds = FirstFit(self.free_bounds()[0]).take_positions(first, last)
        self.away |= bits_of(bounds)
        self.coming_back |= bits_of(bounds) if planned else 0
        self.log += positions_in(bounds)
        return bounds

    def give_back(self, bounds: list[int]) -> None:
        self.away &= ~bits_of(bounds)
        self.coming_back &= self.away
        self.log += positions_in(bounds)

    def drain(self, spans: Sequence[tuple[int, int]]) -> None:
        before, self.draining = self.draining, 0
        for span in spans:
            self.draining |= bits_of(span)
        self.log += positions_in(runs_in(before ^ self.draining))

    def update(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        run, waiting = self.run, self.waiting
        keys = run.order.keys(newcomers, now)
        # Those behind all that something is promised to are looked at alone, if nothing fell free.
        alone = not (changed or run.keep or run.limited or waiting.is_stale(now)) and keys and keys[0] > self.last
        for key in keys:
            waiting.add(key)
        deque(self.look_at(keys, now) if alone else self.schedule_pass(now), maxlen=0)

    def schedule_pass(self, now: int) -> Iterator[int]:
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
        self.blocked, self.unplanned, self.promises, self.last = {}, [], {}, -1
        return self.look_at(list(self.waiting.queue), now)

    def look_at(self, keys: Sequence[int], now: int) -> Iterator[int]:
        """Start whom the promises let start; promise the first that cannot, of each partition, a time."""
        run, blocked, wanted, widths = self.run, self.blocked, self.run.wanted, self.widths
        rooms: dict[Wanted, int] = {}
        for key in keys:
            job = key & JOB
            want, width = wanted[job], widths[job]
            ahead = blocked.get(want[0], 0)
            # Within one look room only shrinks: who found too little at its begin finds too little now.
            room = rooms.get(want)
            if room is None:
                idle = self.kind(want).at.get(0, 0)
                room = rooms[want] = self.free(runs_in(idle)).room if self.together else idle.bit_count()
            if ahead and (not self.depth or width > room):
                continue
            yield key
            if run.limited and self.is_over(key):
                continue
            if width <= room and self.try_to_start(key, now):
                continue
            if not ahead:
                blocked[want[0]], self.last = 1, max(self.last, key)
                # Nobody behind is let pass without a plan, which only they need.
                self.unplanned.append(job)

    def try_to_start(self, key: int, now: int) -> bool:
        """Start a job if enough nodes are idle and no promise is broken; return whether it has started."""
        job = key & JOB
        idle = self.idle(job, now)
        if idle.bit_count() < self.widths[job]:
            return False
        if self.depth:
            for ahead in self.unplanned:
                self.plan(ahead, now)
            self.unplanned.clear()
        taken = self.choose(job, idle, now)
        if taken:
            self.start(key, runs_in(taken), now)
        return bool(taken)

    def plan(self, job: int, now: int) -> None:
        """Promise a blocked job the earliest time at which enough nodes have room by the limits of those that run."""
        wanted, width, span = self.run.wanted[job], self.widths[job], max(1, self.limits[job])
        times, by_then = self.kind(wanted).steps()
        # No time before that many nodes have room for it by those that run.
        first = bisect_left(by_then, width, key=int.bit_count)
        if first == len(times) or times[first] == FOREVER:
            return
        soonest = max(now, times[first])
        later = [each.end_s for each, _ in self.known] + [each.start_s for each, _ in self.known if each.queue]
        for at in sorted({soonest, *(time for time in (*times[first:], *later) if soonest < time < FOREVER)}):
            nodes = self.free_for(job, by_then[bisect_right(times, at) - 1], at, at + span)
            if taken := self.pick(nodes, width):
                # Who needs nodes that lie together keeps those that it found.
                nodes = taken if self.together else nodes
                self.promises[wanted[0]] = Promise(at, at + span, wanted, nodes, nodes.bit_count() - width)
                return


def _spared(harmful: int, harms: list[tuple[Promise, int]]) -> int:
    """Return the first of the harmful nodes that all whom their loss harms can spare."""
    if not harmful:
        return 0
    if len(harms) == 1:
        return _first(harmful, min(harms[0][0].spare, harmful.bit_count()))
    left, spared = [promise.spare for promise, _ in harms], 0
    for node in positions_in(runs_in(harmful)):
        loses = [number for number, (_, harm) in enumerate(harms) if harm >> node & 1]
        if all(left[number] for number in loses):
            spared |= 1 << node
            for number in loses:
                left[number] -= 1
        if not any(left):
            break
    return spared
