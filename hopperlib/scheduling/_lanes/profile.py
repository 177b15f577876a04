"""The queue of nodes that are shared or differ, in which more than one blocked job is promised a time.

The profile: for each node the instants at which what it has left changes, by the running jobs, what is known
beforehand, and the promises to those before in the queue. A promise names its nodes: those of the machine that were
idle for the shortest time before, so that the others stay free for who comes between. The queue is planned in its order
whenever something changes, but a promise is searched for again only where it lies on a node on which anything is other
than it was at its turn, or where such a node may serve it.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from heapq import heappop, heappush
from typing import Any, NamedTuple

from hopperlib.scheduling._free_nodes import FirstFit, joined
from hopperlib.scheduling._lanes.lane import FOREVER, Wanted
from hopperlib.scheduling._lanes.plan import Amounts, PlanLane, bits_of
from hopperlib.scheduling._lanes.waiting import JOB

# Cores, GPUs and memory in one whole number, each below a bit that a difference borrows from if it falls below zero.
_FIELD = 44
_GUARD = sum(1 << _FIELD * place + _FIELD - 1 for place in range(3))
# The instants at which what a node has left changes, the first of them 0 for now, and what it has left from each on.
_Line = tuple[list[int], list[int]]


@cache
def _packed(amounts: Amounts) -> int:
    """Return amounts as one number."""
    return sum(amount << _FIELD * place for place, amount in enumerate(amounts))


class _Promise(NamedTuple):
    """When a job is to start, its nodes, each since when it has room, less than zero, and what all nodes offered it."""

    at: int
    nodes: dict[int, int]
    offers: "_Offers"


# From when to when a job may start on each node.
_Offers = dict[int, list[tuple[int, int]]]


def _reserve(line: _Line, share: int, at: int, end: int) -> None:
    """Take a share of a node from an instant to another; the whole of it where the share is 0."""
    times, left = line
    places = []
    for instant in (at, end):
        place = bisect_left(times, instant)
        if place == len(times) or times[place] != instant:
            times.insert(place, instant)
            left.insert(place, left[place - 1])
        places.append(place)
    for place in range(*places):
        left[place] = left[place] - share if share else _GUARD


def _openings(line: _Line, share: int, span: int, now: int) -> list[tuple[int, int]]:
    """Return from when to when a job may start on a node; from 0 if it may now."""
    found, since = [], -1
    for instant, left in zip(*line, strict=True):
        if (left - share) & _GUARD == _GUARD:
            if since < 0:
                since = instant
        elif since >= 0:
            if instant - (since or now) >= span:
                found.append((since, instant - span))
            since = -1
    if since >= 0:
        found.append((since, FOREVER))
    return found


class ProfileLane(PlanLane):
    """A pool in which the first blocked jobs of each partition are promised a time, all of them in the order of the queue."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.packed = [_packed(amounts) for amounts in self.whole]
        self.first_fit = not self.together and type(self.free([])) is FirstFit
        self.windows = [(each, kept) for each, kept in self.known if each.queue]
        # By the running jobs alone; and with the promises to all that were planned so far.
        self.base: list[_Line] = [([0], [_GUARD]) for _ in self.whole]
        self.lines: list[_Line] = []
        self.kept: dict[int, _Promise] = {}
        # Up to where the log of changes is in the base, and whether nothing of it holds any longer.
        self.seen, self.stale = 0, True
        # For a kind of job: how long each node has room for it from now on, the longest first.
        self.rooms: dict[Wanted, list[tuple[int, int]]] = {}
        self.forget()

    def forget(self) -> None:
        self.kept, self.stale = {}, True

    def update(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        run, queue = self.run, self.waiting.queue
        keys = run.order.keys(newcomers, now)
        last = queue[-1] if queue else -1
        same = self.lines and self.seen == len(self.log) and not (self.stale or changed or run.keep or run.limited)
        alone = same and keys and keys[0] > last and not self.waiting.is_stale(now)
        for key in keys:
            self.waiting.add(key)
        if alone:
            self.rooms = {}
            deque(self.look_at(keys, now), maxlen=0)
        elif self.waiting.queue:
            deque(self.schedule_pass(now), maxlen=0)

    def schedule_pass(self, now: int) -> Iterator[int]:
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
            self.forget()
        # Where a job runs over its limit, its end moves with the clock.
        late = range(len(self.jobs)) if self.stale else self.late(now)
        self.dirty = {*self.log[self.seen :], *late}
        self.seen, self.stale = len(self.log), False
        for node in self.dirty:
            self.base[node] = self.line_of(node, now)
        self.lines = [(times[:], left[:]) for times, left in self.base]
        self.blocked, self.rooms = {}, {}
        return self.look_at(list(self.waiting.queue), now)

    def late(self, now: int) -> list[int]:
        """Return the nodes of the jobs that run over their limit."""
        jobs = enumerate(self.jobs) if self.run.keep else ()
        return [node for node, mine in jobs if any(end <= now for end, _ in mine.values())]

    def line_of(self, node: int, now: int) -> _Line:
        """Return what a node has left by the running jobs and what is known beforehand."""
        if (self.away & ~self.coming_back | self.draining) >> node & 1:
            return [0], [_GUARD]
        left = self.packed[node] + _GUARD - sum(_packed(share) for _, share in self.jobs[node].values())
        line = [0], [left]
        for end, share in sorted(self.jobs[node].values()):
            # What runs over its limit is still there: its share comes in the next second at the soonest.
            left += _packed(share)
            _set(line, max(end, now + 1), left)
        for each, kept in self.known:
            if each.drained and kept >> node & 1 and each.end_s > now:
                _reserve(line, 0, each.start_s if each.start_s > now else 0, each.end_s)
        return line

    def look_at(self, keys: Sequence[int], now: int) -> Iterator[int]:
        """Plan in the order of the queue, and start those whose time has come."""
        run, blocked, wanted = self.run, self.blocked, self.run.wanted
        for key in keys:
            job = key & JOB
            ahead, before = blocked.get(wanted[job][0], 0), self.kept.pop(key, None)
            promise = None
            if ahead < self.depth or self.may_start(job, now):
                yield key
                if not (run.limited and self.is_over(key)):
                    promise = self.promised(job, before, now, only_now=ahead >= self.depth)
            if promise is not before:
                for each in (before, promise):
                    self.dirty.update(each.nodes if each else ())
            if promise is None:
                continue
            end = max(promise.at, now) + max(1, self.limits[job])
            for node in promise.nodes:
                _reserve(self.lines[node], self.of_node(wanted[job], node), promise.at if promise.at > now else 0, end)
            self.rooms = {}
            if promise.at <= now:
                self.start(key, joined(promise.nodes), now)
            else:
                self.kept[key] = promise
                blocked[wanted[job][0]] = ahead + 1

    def of_node(self, wanted: Wanted, node: int) -> int:
        """Return what a job of a kind takes of a node, as one number."""
        return _packed(wanted[1:]) if wanted[1] else self.packed[node]

    def may_start(self, job: int, now: int) -> bool:
        """Whether enough nodes have room from now on for as long as a job may run."""
        wanted, width = self.run.wanted[job], self.widths[job]
        rooms = self.rooms.get(wanted)
        if rooms is None:
            rooms = self.rooms[wanted] = []
            for node in self.partitions[wanted[0]]:
                opening = _openings(self.lines[node], self.of_node(wanted, node), 1, now)
                if opening and not opening[0][0]:
                    rooms.append((opening[0][1] + 1, node))
            rooms.sort(reverse=True)
        return width <= len(rooms) and rooms[width - 1][0] >= now + max(1, self.limits[job])

    def offers(self, job: int, nodes: Iterable[int], now: int) -> _Offers:
        """Return from when to when a job may start on some nodes, queues that have them for themselves counted."""
        wanted, span, lines = self.run.wanted[job], max(1, self.limits[job]), self.lines
        found = {node: _openings(lines[node], self.of_node(wanted, node), span, now) for node in nodes}
        queue = self.run.workload.word("queue", job) if self.windows else ""
        for each, kept in self.windows:
            for node, openings in found.items():
                mine = bool(kept >> node & 1)
                if each.queue == queue and not mine:
                    found[node] = []
                elif each.queue != queue and mine:
                    parts = [((a, min(b, each.start_s - 1)), (max(a, each.end_s), b)) for a, b in openings]
                    found[node] = [(a, b) for both in parts for a, b in both if (a or now) <= b]
        return found

    def promised(self, job: int, before: _Promise | None, now: int, *, only_now: bool) -> _Promise | None:
        """Return when and where a job is to start, which is as before where nothing changed that it may use."""
        name = self.run.wanted[job][0]
        if before is None:
            offers = self.offers(job, self.partitions[name], now)
        else:
            mine = [node for node in self.dirty if self.members[name] >> node & 1]
            offers, renewed = before.offers, self.offers(job, mine, now)
            stands = before.at > now and not only_now and self.first_fit
            if stands and all(_alike(offers[node], openings, before.at) for node, openings in renewed.items()):
                return before
            offers.update(renewed)
        found = self.earliest(job, offers, now)
        if found is None or (only_now and found.at > now):
            return None
        return before if before and found[:2] == before[:2] else found

    def earliest(self, job: int, offers: _Offers, now: int) -> _Promise | None:
        """Return the earliest time at which a job finds its nodes; None if it never does."""
        width = self.widths[job]
        spans = sorted((first, last, node) for node, openings in offers.items() for first, last in openings)
        # Those that are open, the one that closes first on top.
        opened: list[tuple[int, int, int]] = []
        for place, (first, last, node) in enumerate(spans):
            at = max(first, now)
            if last >= at:
                heappush(opened, (last, first, node))
            if len(opened) < width or (place + 1 < len(spans) and spans[place + 1][0] == first):
                continue
            while opened and opened[0][0] < at:
                heappop(opened)
            if len(opened) >= width and (chosen := self.chosen(opened, width, at == now)):
                return _Promise(at, chosen, offers)
        return None

    def chosen(self, opened: list[tuple[int, int, int]], width: int, is_now: bool) -> dict[int, int]:
        """Return the nodes that a job has of those that it may have; none if they do not do."""
        places = sorted((-first, node) for _, first, node in opened)
        if not self.first_fit and (is_now or self.together):
            nodes = self.pick(bits_of(joined(node for _, node in places)), width)
            return {node: since for since, node in places if nodes >> node & 1}
        return {node: since for since, node in places[:width]}


def _alike(before: list[tuple[int, int]], openings: list[tuple[int, int]], at: int) -> bool:
    """Whether a node offers the same as before, up to an instant."""
    return before == openings or [each for each in before if each[0] <= at] == [
        each for each in openings if each[0] <= at
    ]


def _set(line: _Line, instant: int, left: int) -> None:
    """Note what a node has left from an instant on, which is the last so far."""
    times, lefts = line
    if times[-1] == instant:
        lefts[-1] = left
    else:
        times.append(instant)
        lefts.append(left)
