"""The queue of nodes that jobs share, that differ, or that partitions have in common: promises that name their nodes.

For one promise a partition, which is counted, see `hopperkit.traces._queues.shared_backfill`.

For each node, the profile lists the instants at which its free resources change, from running jobs and from promises to
jobs earlier in the queue. A promise takes, of the nodes that have room, those that were idle for the shortest time
before, so that the others stay free for who comes between. Sets of nodes are whole numbers, a bit each.

For speed, promises are computed only if a later job finds enough idle nodes, nodes without promises are counted as
bits, and profiles are never modified: each is followed by another one that reuses its results.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from heapq import heappop, heappush, merge
from itertools import accumulate, chain, islice
from operator import ge, or_
from typing import NamedTuple

from hopperkit.traces.cluster import NodeResources
from hopperlib.scheduling._free_nodes import ChosenFit, Contiguous, FirstFit, positions_in
from hopperlib.scheduling._simulation.pool_queue import FOREVER, PlanningQueue, Run, Wanted
from hopperlib.scheduling._simulation.profile import GUARD, Amounts, Profile, packed
from hopperlib.scheduling._simulation.waiting import JOB
from hopperlib.scheduling.downtimes import Downtime

# Node with unknown cores or memory.
_ENOUGH = 1 << 40
_RUNS = re.compile("1+")
_MOST_KEPT, _FEW = 64, 16


def capacity(node: NodeResources) -> Amounts:
    """Return the cores, GPUs and memory of a node."""
    return node.cores or _ENOUGH, node.gpus, node.memory_mb or _ENOUGH


def suffices(amounts: Amounts, wanted: Wanted) -> bool:
    """Whether a node with this left would do for a job of a kind."""
    return all(map(ge, amounts, wanted[1:]))


def runs_in(nodes: int) -> list[int]:
    """Return a set of nodes as the bounds of its runs."""
    # As binary digits, last first: searching a string is much faster than shifting a number of thousands of bits.
    return list(chain.from_iterable(run.span() for run in _RUNS.finditer(bin(nodes)[:1:-1])))


def _nodes_in(nodes: int) -> list[int]:
    """Return the nodes of a set, quickly where they are few."""
    if nodes.bit_count() > _FEW:
        return list(positions_in(runs_in(nodes)))
    found = []
    while nodes:
        node = nodes.bit_length() - 1
        found.append(node)
        nodes ^= 1 << node
    return found


def _set_of(nodes: Iterable[int]) -> int:
    """Return nodes as a set."""
    return reduce(or_, map((1).__lshift__, nodes), 0)


def bits_of(bounds: Sequence[int]) -> int:
    """Return runs, by their bounds, as a set."""
    ends = iter(bounds)
    return sum((1 << high) - (1 << low) for low, high in zip(ends, ends, strict=True))


class _Promise(NamedTuple):
    """When a blocked job has its nodes, from when on each of them has room for it by then, the same of others that have room
    by then, how many nodes may have room at once before then, and in which look that was found.
    """

    at: int
    since: dict[int, int]
    others: dict[int, int]
    most: int
    look: int


class _Kind:
    """Availability for one kind of job: nodes on which it may start now, and the time from which each node is free of
    running jobs.
    """

    def __init__(self) -> None:
        self.idle = 0
        self.since: dict[int, int] = {}
        # Nodes by instant; the sorted instants, with the nodes that become available by each.
        self.at: dict[int, int] = {}
        self.times: list[int] = []
        self.by_then: list[int] = []
        # Position in the change log up to which availability now, and later, is current.
        self.seen_idle = self.seen = -1

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


def _planned(downtimes: Iterable[Downtime], everywhere: int) -> list[tuple[Downtime, int]]:
    """Return the outages known in advance, with their nodes, and those of some nodes for the jobs of a queue."""
    return [
        (each, everywhere if each.last_node is None else bits_of((each.first_node or 0, each.last_node)))
        for each in downtimes
        if each.drained or (each.queue and each.last_node is not None)
    ]


class ReservationQueue(PlanningQueue):
    """A pool in which the first blocked jobs of each partition are promised a time and nodes, in the order of the queue."""

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
        self.whole = [packed(capacity(node)) for node in nodes]
        self.left = [amounts + GUARD for amounts in self.whole]
        # Jobs of each node, with expected end and resources.
        self.jobs: list[dict[int, tuple[int, int]]] = [{} for _ in nodes]
        # Nodes removed, those of them that return at a planned time, and nodes that accept no new job.
        self.away = self.coming_back = self.draining = 0
        everywhere = (1 << len(nodes)) - 1
        switch = nodes_per_switch or len(nodes)
        self.switches = [(((1 << switch) - 1) << low) & everywhere for low in range(0, len(nodes), switch)]
        self.per_switch = nodes_per_switch
        ways = free([])
        # Slurm rounds the times of its plans down, and nothing may end just when one begins.
        self.grid = run.backfill.resolution_s if run.backfill else 1
        self.beyond = int(self.grid > 1)
        # Slurm plans a start on the nodes that it would take, not on those that come free last.
        self.together = bool(nodes_per_switch) or isinstance(ways, Contiguous) or run.backfill is not None
        # Whether jobs get the first free nodes, and whether some wait for neighboring nodes.
        self.in_order, self.patient = type(ways) is FirstFit, isinstance(ways, ChosenFit)
        self.known = _planned(downtimes, everywhere)
        # Nodes on which something began or ended, one after the other: what kinds of job find is mended there.
        self.log: list[int] = []
        self.kinds: dict[Wanted, _Kind] = {}
        # Free resources by running jobs, and with promises.
        self.base: dict[int, Profile] = {}
        self.lines: dict[int, Profile] = {}
        self.reserved = 0
        # How long the log was when the queue was last planned, and how often it was.
        self.seen, self.passes = -1, 1
        self.promises: dict[int, _Promise] = {}
        # Nodes changed since the same job's last turn, and those changed in earlier passes.
        self.changed = 0
        self.changed_before = deque[int](maxlen=_MOST_KEPT)

    def forget(self) -> None:
        self.base, self.seen, self.promises, self.planned = {}, -1, {}, False

    def note(self, nodes: Iterable[int]) -> None:
        """Note that something began or ended on some nodes."""
        self.planned = False
        for node in nodes:
            self.log.append(node)
            self.base.pop(node, None)

    def share(self, wanted: Wanted, node: int) -> int:
        """Return the resources that a job of a kind takes on a node."""
        return packed(wanted[1:]) if wanted[1] else self.whole[node]

    def changed_since(self, wanted: Wanted, seen: int) -> Iterable[int]:
        """Return the nodes of a partition on which something began or ended since the log was that long; all of them for -1."""
        mine, members = self.partitions[wanted[0]], self.members[wanted[0]]
        return mine if seen < 0 else [node for node in set(self.log[seen:]) if members >> node & 1]

    def idle_for(self, wanted: Wanted) -> int:
        """Return the nodes with room now for a kind of job, regardless of promises and planned outages."""
        kind = self.kinds.get(wanted)
        if kind is None:
            kind = self.kinds[wanted] = _Kind()
        if kind.seen_idle < len(self.log):
            idle, left, whole, gone = kind.idle, self.left, self.whole, self.gone
            share = packed(wanted[1:]) if wanted[1] else 0
            for node in self.changed_since(wanted, kind.seen_idle):
                bit = 1 << node
                if (left[node] - (share or whole[node])) & GUARD == GUARD and not gone & bit:
                    idle |= bit
                else:
                    idle &= ~bit
            kind.idle, kind.seen_idle = idle, len(self.log)
        return kind.idle

    def kind(self, wanted: Wanted) -> _Kind:
        """Return availability for a kind of job, now and later."""
        self.idle_for(wanted)
        kind = self.kinds[wanted]
        if kind.seen < len(self.log):
            for node in self.changed_since(wanted, kind.seen):
                kind.settle(node, self.fits_from(self.share(wanted, node), node))
            kind.seen = len(self.log)
        return kind

    @property
    def gone(self) -> int:
        """The nodes that are out of service with no known end."""
        return self.away & ~self.coming_back | self.draining

    def fits_from(self, share: int, node: int) -> int:
        """Return from when a share fits on a node at the latest; 0 if it does now."""
        if self.gone >> node & 1:
            return FOREVER
        free = self.left[node] - share
        if free & GUARD == GUARD:
            return 0
        for end, held in sorted(self.jobs[node].values()):
            free += held
            if free & GUARD == GUARD:
                return max(1, end)
        return FOREVER

    def line(self, node: int, now: int) -> Profile:
        """Return a node's free resources over time, from running jobs only."""
        line = self.base.get(node)
        if line is None:
            times, lefts, left = [0], [GUARD if self.gone >> node & 1 else self.left[node]], self.left[node]
            for end, held in () if self.gone >> node & 1 else sorted(self.jobs[node].values()):
                left += held
                # Jobs past their limit still run: their resources are free in the next second at the earliest.
                if max(end, now + 1) > times[-1]:
                    times.append(max(end, now + 1))
                    lefts.append(left)
                lefts[-1] = left
            line = self.base[node] = Profile(times, lefts)
        return line

    def reserve(self, job: int, nodes: Iterable[int], at: int, now: int) -> None:
        """Reserve nodes for a job from a given time on."""
        wanted, end, grid = self.run.wanted[job], max(at, now) + max(1, self.limits[job]), self.grid
        if grid > 1 and at:
            at = at // grid * grid
            end = max(end // grid * grid, at + grid)
            at = at if at > now else 0
        share, lines = packed(wanted[1:]) if wanted[1] else 0, self.lines
        for node in nodes:
            lines[node] = (lines.get(node) or self.line(node, now)).after(share or self.whole[node], at, end)
            self.reserved |= 1 << node

    def free_for(self, job: int, nodes: int, at: int, end: int) -> int:
        """Return the nodes that no planned outage blocks for a job between two times."""
        queue = self.run.workload.word("queue", job) if self.known else ""
        for each, kept in self.known:
            if each.queue and each.queue == queue:
                nodes &= kept
            elif each.start_s < end and at < each.end_s and (each.drained or each.start_s <= at):
                nodes &= ~kept
        return nodes

    def pick(self, nodes: int, width: int) -> int:
        """Return the requested number of nodes according to the allocation method; 0 if they do not suffice."""
        if width <= self.per_switch:
            nodes = next((mine for group in self.switches if (mine := nodes & group).bit_count() >= width), 0)
        if nodes.bit_count() < width:
            return 0
        if self.in_order and width <= _FEW:
            left = nodes
            for _ in range(width):
                left &= left - 1
            return nodes ^ left
        free = self.free(runs_in(nodes))
        return bits_of(free.take(width)) if width <= free.room else 0

    def idle(self, job: int, now: int) -> int:
        """Return the nodes on which a job may start now, regardless of promises."""
        return self.free_for(job, self.idle_for(self.run.wanted[job]), now, now + max(1, self.limits[job]))

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
            self.left[node] -= share
        self.note(positions_in(bounds))

    def finish(self, job: int, bounds: list[int]) -> None:
        for node in positions_in(bounds):
            self.left[node] += self.jobs[node].pop(job)[1]
        self.note(positions_in(bounds))

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
        self.note(positions_in(bounds))
        return bounds

    def end_outage(self, bounds: list[int]) -> None:
        self.away &= ~bits_of(bounds)
        self.coming_back &= self.away
        self.note(positions_in(bounds))

    def drain(self, spans: Sequence[tuple[int, int]]) -> None:
        before, self.draining = self.draining, 0
        for span in spans:
            self.draining |= bits_of(span)
        self.note(positions_in(runs_in(before ^ self.draining)))

    def schedule_pass(self, now: int) -> Iterator[int]:
        looks = super().schedule_pass(now)
        self.lines, self.reserved = {}, 0
        self.changed_before.append(self.changed)
        self.changed, self.passes = _set_of(set(self.log[self.seen :])), self.passes + 1
        self.seen = len(self.log)
        return looks

    def most_idle(self, wanted: Wanted) -> int:
        idle = self.idle_for(wanted)
        return self.free(runs_in(idle)).room if self.together else idle.bit_count()

    def withdraw(self, job: int) -> None:
        """Take the promise to a job back, if it had one."""
        if promise := self.promises.pop(job, None):
            self.changed |= _set_of(promise.since)

    def try_to_start(self, key: int, now: int) -> bool:
        """Start a job if enough nodes are idle and it breaks no promise; return whether later jobs may pass it."""
        job = key & JOB
        wanted, width, span = self.run.wanted[job], self.widths[job], max(1, self.limits[job]) + self.beyond
        lines, whole, share = self.lines, self.whole, packed(wanted[1:]) if wanted[1] else 0
        idle, promised = self.idle(job, now), self.reserved
        while True:
            short = [
                1 << node for node in _nodes_in(idle & promised) if lines[node].until(share or whole[node]) < now + span
            ]
            idle ^= sum(short)
            if idle.bit_count() < width:
                self.tight[wanted] = self.limits[job], idle.bit_count()
                return False
            if not self.unplanned:
                break
            # Each promise only takes nodes away: once too few are left, the others need not be worked out.
            promised = self.plan(self.unplanned.popleft(), now)
        if self.patient and self.waits_for_near(job, self.free(runs_in(idle)), now):
            return self.depth > 0
        taken = self.pick(idle, width)
        if taken:
            self.reserve(job, _nodes_in(taken & self.reserved), 0, now)
            self.start(key, runs_in(taken), now)
        return bool(taken)

    def plan(self, job: int, now: int) -> int:
        """Promise a blocked job the earliest time at which it finds enough nodes, if it ever does; return these."""
        promise = self.promises.get(job)
        more = -1 if promise is None else self.stands(job, promise, now)
        if promise is None or more < 0:
            before, promise, more = promise, _Promise(*self.earliest(job, now), self.passes), 0
            if promise.at > self.horizon_s(now):
                self.withdraw(job)
                return 0
            # Later promises find the same where this one has the same nodes at the same time as before.
            if before is None or before.at != promise.at:
                self.withdraw(job)
                self.changed |= _set_of(promise.since)
            else:
                self.changed |= _set_of(before.since) ^ _set_of(promise.since)
        at, since, others, most, _ = promise
        self.promises[job] = _Promise(at, since, others, most + more, self.passes)
        self.reserve(job, since, at, now)
        return _set_of(since)

    def stands(self, job: int, promise: _Promise, now: int) -> int:
        """Return -1 if a recomputed promise may differ from a promise, else how many nodes more may have room before it.

        It is the same if changes since then free no nodes that suffice earlier, nor more on its nodes.
        """
        at, since, _, most, look = promise
        if self.together or not since or at <= now or self.passes - look > len(self.changed_before):
            return -1
        # Jobs planned in the passes between are ahead of this job in the queue, as its turn did not come.
        changed = reduce(or_, islice(reversed(self.changed_before), max(0, self.passes - look - 1)), self.changed)
        wanted, span = self.run.wanted[job], max(1, self.limits[job])
        share, whole, lines = packed(wanted[1:]) if wanted[1] else 0, self.whole, self.lines
        spare, more = max(0, self.widths[job] - 1 - most), 0
        # Of nodes that have room by then, those that are free later are taken first.
        lowest, base = min(since.values()), self.base
        lowest *= lowest > now
        for node in _nodes_in(changed & self.members[wanted[0]]):
            line = lines.get(node) or base.get(node) or self.line(node, now)
            kind = share or whole[node], span
            openings = line.found.get(kind) or line.openings(*kind)
            if openings or node in since:
                found = _as_found(openings, promise, node, now, lowest)
                more += found
                if found < 0 or more > spare:
                    return -1
        return more

    def openings(self, job: int, now: int) -> list[tuple[int, int, int]]:
        """Return the promised nodes: from when and until when a job may start on each, and the node."""
        wanted, span = self.run.wanted[job], max(1, self.limits[job]) + self.beyond
        members, share, whole = self.members[wanted[0]], packed(wanted[1:]) if wanted[1] else 0, self.whole
        found: list[tuple[int, int, int]] = []
        for node, line in self.lines.items():
            if members >> node & 1:
                kind = share or whole[node], span
                for since, last in line.found.get(kind) or line.openings(*kind):
                    if last >= now:
                        found.append((since, last, node))
        return found

    def earliest(self, job: int, now: int) -> tuple[int, dict[int, int], dict[int, int], int]:
        """Return when a blocked job finds enough nodes, and which, each with from when on it has room, which others have, and how many at most had before; none if it never does."""
        width, span = self.widths[job], max(1, self.limits[job])
        kind, plain, openings = self.kind(self.run.wanted[job]), ~self.reserved, self.openings(job, now)
        openings.sort()
        times, by_then = kind.steps()
        # No sooner than if nobody were promised anything.
        step = min(bisect_left(by_then, width, key=int.bit_count), len(times) - 1)
        opened: list[tuple[int, int, int]] = []
        others: dict[int, int] = {}
        most = sum(map(int.bit_count, by_then[max(0, step - 1) : step]))
        instant, place, ends = times[step], 0, iter(self.known_ends(times[step]))
        known = next(ends, FOREVER)
        while instant < FOREVER:
            # A job past its limit ends in the next second at the earliest.
            at = max(instant, now + bool(instant))
            while step < len(times) and times[step] <= at:
                step += 1
            while place < len(openings) and openings[place][0] <= at:
                since, last, node = openings[place]
                heappush(opened, (last, since, node))
                place += 1
            while opened and opened[0][0] < at:
                heappop(opened)
            while known <= at:
                known = next(ends, FOREVER)
            nodes = by_then[step - 1] & plain
            count = nodes.bit_count() + len(opened)
            if count >= width:
                nodes = self.free_for(job, nodes | sum(1 << node for *_, node in opened), at, at + span)
                if self.together:
                    found = dict.fromkeys(_nodes_in(self.pick(nodes, width)), 0)
                else:
                    found, others = self.latest(kind, nodes, width, at, now, opened)
                if found:
                    return at, found, others, most
            most = max(most, count)
            instant = min(
                times[step] if step < len(times) else FOREVER,
                openings[place][0] if place < len(openings) else FOREVER,
                known,
            )
        return 0, {}, {}, most

    def known_ends(self, soonest: int) -> list[int]:
        """Return when planned outages end, or begin for a queue, from an instant on, in order."""
        instants = [each.end_s for each, _ in self.known] + [each.start_s for each, _ in self.known if each.queue]
        return sorted(instant for instant in instants if instant >= soonest)

    def latest(
        self, kind: _Kind, nodes: int, width: int, at: int, now: int, opened: Sequence[tuple[int, int, int]]
    ) -> tuple[dict[int, int], dict[int, int]]:
        """Return the requested number of nodes, shortest idle first, and the rest; none if there are too few."""
        if nodes.bit_count() < width:
            return {}, {}
        kept: dict[int, int] = {}
        for _, instant, node in opened:
            since = instant if instant > now else 0
            kept[since] = kept.get(since, 0) | 1 << node
        for each, blocked in self.known:
            if now < each.end_s <= at:
                kept[each.end_s] = kept.get(each.end_s, 0) | blocked
        plain, places, missing = ~self.reserved, kind.at, width
        taken: dict[int, int] = {}
        others: dict[int, int] = {}
        # Those that are free latest come first.
        for instant in merge(reversed(kind.times), sorted(kept, reverse=True), reverse=True):
            mine = (places.get(instant, 0) & plain | kept.get(instant, 0)) & nodes if instant <= at else 0
            if not mine:
                continue
            nodes ^= mine
            if missing:
                first = _first_of(mine, min(missing, mine.bit_count()))
                taken |= dict.fromkeys(first, instant)
                missing -= len(first)
                mine ^= _set_of(first)
            if mine:
                others |= dict.fromkeys(_nodes_in(mine), instant)
            if not nodes:
                break
        return taken, others


def _as_found(openings: Sequence[tuple[int, int]], promise: _Promise, node: int, now: int, lowest: int) -> int:
    """Return -1 if what a node offers at a promised time may change which nodes are taken; else whether it offers more before."""
    at, promised, offers, sooner = promise.at, promise.since.get(node, -1), False, 0
    for begin, last in openings:
        if begin > at:
            break
        if last < now:
            continue
        if last < at:
            sooner = 1
            continue
        if begin < promised:
            return -1
        if promised < 0 and begin != (before := promise.others.get(node)):
            if (begin if begin > now else 0) >= lowest:
                return -1
            if begin < at and (before is None or begin < before):
                sooner = 1
        offers = True
    return sooner if offers or promised < 0 else -1


def _first_of(nodes: int, count: int) -> list[int]:
    """Return the first of some nodes."""
    if count > _FEW:
        return list(positions_in(FirstFit(runs_in(nodes)).take(count)))
    found = []
    for _ in range(count):
        found.append((nodes & -nodes).bit_length() - 1)
        nodes &= nodes - 1
    return found
