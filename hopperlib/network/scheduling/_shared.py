"""The queue of nodes that jobs share, or that partitions have in common: what each node has left, and when it will have more."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from operator import add, ge, sub

from hopperlib.network.scheduling._free_nodes import joined, positions_in
from hopperlib.network.scheduling._lanes import FOREVER, Lane, Run, Wanted
from hopperlib.network.scheduling._waiting import JOB
from hopperlib.network.scheduling.cluster import NodeResources

# Of a node whose cores or memory nobody told.
_ENOUGH = 1 << 40
Amounts = tuple[int, ...]


def capacity(node: NodeResources) -> Amounts:
    """Return the cores, GPUs and memory of a node."""
    return node.cores or _ENOUGH, node.gpus, node.memory_mb or _ENOUGH


def suffices(amounts: Amounts, wanted: Wanted) -> bool:
    """Whether a node with this left would do for a job of a kind."""
    return all(map(ge, amounts, wanted[1:]))


class Promise:
    """When a blocked job will have its nodes at the latest, on which it could be (a bit each), and how many of them it can spare."""

    def __init__(self, at: int, spare: int = 0, nodes: int = 0, wanted: Wanted = ("", 0, 0, 0)) -> None:
        self.at, self.spare, self.nodes, self.wanted = at, spare, nodes, wanted


class SharedLane(Lane):
    """A pool in which each partition has its own head.

    What each kind of job finds is kept and mended where nodes have changed
    since it was last asked for: `log` lists those, one after the other.
    """

    def __init__(
        self, run: Run, nodes: Sequence[NodeResources], partitions: Mapping[str, Sequence[int]], *, easy: bool
    ) -> None:
        super().__init__(run)
        self.easy, self.partitions = easy, partitions
        self.members = {name: frozenset(nodes) for name, nodes in partitions.items()}
        self.whole = [capacity(node) for node in nodes]
        self.left = list(self.whole)
        # Of each node its jobs, each with its expected end and what it holds there.
        self.jobs: list[dict[int, tuple[int, Amounts]]] = [{} for _ in nodes]
        self.log: list[int] = []
        # Of each kind of job the nodes on which it may start now, a bit each, and from when on it may start on each
        # node; with the length of the log up to which they are mended.
        self.fitting_now: dict[Wanted, tuple[int, int]] = {}
        self.fitting_at: dict[Wanted, tuple[dict[int, int], int]] = {}
        # What is promised in each partition; and the last in the queue to whom something is.
        self.promises: dict[str, Promise] = {}
        self.last = -1

    def fits(self, wanted: Wanted, node: int) -> bool:
        """Whether a job of this kind may start on a node now."""
        return (
            suffices(self.left[node], wanted)
            if wanted[1]
            else not self.jobs[node] and suffices(self.whole[node], wanted)
        )

    def fitting(self, wanted: Wanted) -> int:
        """Return the nodes, a bit each, on which a job of this kind may start now."""
        nodes, members = self.partitions[wanted[0]], self.members[wanted[0]]
        known, seen = self.fitting_now.get(wanted, (0, -1))
        changed: Sequence[int] = self.log[seen:]
        # Only nodes on which something began or ended since may fit otherwise now; where these are very many, all are
        # looked at.
        if seen < 0 or len(changed) > len(nodes):
            known, changed = 0, nodes
        for node in changed:
            if node in members:
                known = known | (1 << node) if self.fits(wanted, node) else known & ~(1 << node)
        self.fitting_now[wanted] = known, len(self.log)
        return known

    def room(self, wanted: Wanted) -> int:
        return self.fitting(wanted).bit_count()

    def place(self, wanted: Wanted, width: int, end: int = 0) -> list[int] | None:
        """Take the first nodes that a job may have until an instant, by what is promised; None if there are too few."""
        fitting = self.fitting(wanted)
        if fitting.bit_count() < width:
            return None
        kept = [promise for promise in self.promises.values() if end > promise.at and promise.nodes & fitting]
        spare = [promise.spare for promise in kept]
        harmed = [0] * len(kept)
        taken: list[int] = []
        while fitting and len(taken) < width:
            # The lowest bit that is set: the first node that is left.
            bit = fitting & -fitting
            fitting ^= bit
            node = bit.bit_length() - 1
            # A promise loses this node if its job would no longer find room here then.
            loses = [n for n, promise in enumerate(kept) if promise.nodes & bit and self.harms(promise, wanted, node)]
            if all(spare[n] for n in loses):
                for n in loses:
                    spare[n] -= 1
                    harmed[n] |= bit
                taken.append(node)
        if len(taken) < width:
            return None
        for promise, left, lost in zip(kept, spare, harmed, strict=True):
            promise.spare, promise.nodes = left, promise.nodes & ~lost
        return joined(taken)

    def harms(self, promise: Promise, wanted: Wanted, node: int) -> bool:
        """Whether a job on a node at the promised time leaves too little of it for the promised one."""
        if not (wanted[1] and promise.wanted[1]):
            return True
        left: Amounts = tuple(map(sub, self.whole[node], wanted[1:]))
        for end, share in self.jobs[node].values():
            if end > promise.at:
                left = tuple(map(sub, left, share))
        return not suffices(left, promise.wanted)

    def hold(self, job: int, bounds: list[int], end: int) -> None:
        wanted = self.run.wanted[job]
        for node in positions_in(bounds):
            share = wanted[1:] if wanted[1] else self.whole[node]
            self.jobs[node][job] = end, share
            self.left[node] = tuple(map(sub, self.left[node], share))
            self.log.append(node)

    def finish(self, job: int, bounds: list[int]) -> None:
        for node in positions_in(bounds):
            self.left[node] = tuple(map(add, self.left[node], self.jobs[node].pop(job)[1]))
            self.log.append(node)

    def promise(self, wanted: Wanted, width: int, now: int) -> Promise:
        """Return the promise to a job that cannot start now."""
        since, seen = self.fitting_at.get(wanted, ({}, -1))
        for node in self.partitions[wanted[0]] if seen < 0 else self.members[wanted[0]].intersection(self.log[seen:]):
            since[node] = self.fits_from(wanted, node)
        self.fitting_at[wanted] = since, len(self.log)
        # When as many nodes as the job needs are free for it, the soonest first.
        at = sorted(since.values())[width - 1]
        if at == FOREVER:
            return Promise(FOREVER)
        at = max(at, now)
        could = sum(1 << node for node, instant in since.items() if instant <= at)
        return Promise(at, could.bit_count() - width, could, wanted)

    def fits_from(self, wanted: Wanted, node: int) -> int:
        """Return from when a job of this kind fits on a node at the latest; 0 if it does now."""
        if self.fits(wanted, node):
            return 0
        if not suffices(self.whole[node], wanted):
            return FOREVER
        ends, free = sorted(self.jobs[node].values()), self.left[node]
        if not wanted[1]:
            # A job of whole nodes needs the last of the others to end.
            return ends[-1][0]
        for end, share in ends:
            free = tuple(map(add, free, share))
            if suffices(free, wanted):
                return end
        return FOREVER

    def free_bounds(self) -> list[list[int]]:
        nodes = frozenset().union(*self.members.values())
        return [joined(node for node in nodes if not self.jobs[node])]

    def update(self, newcomers: Sequence[int], now: int, changed: bool) -> None:
        run, waiting = self.run, self.waiting
        keys = run.order.keys(newcomers, now)
        # Those behind all that something is promised to are looked at alone, if nothing fell free.
        alone = not (changed or run.keep or run.limited or waiting.is_stale(now)) and keys and keys[0] > self.last
        for key in keys:
            waiting.add(key)
        deque(self.look_at(keys, now) if alone else self.look(now), maxlen=0)

    def look(self, now: int) -> Iterator[int]:
        if self.waiting.is_stale(now):
            self.waiting.sort(now)
        self.promises, self.last = {}, -1
        return self.look_at(list(self.waiting.queue), now)

    def look_at(self, keys: Sequence[int], now: int) -> Iterator[int]:
        """Start whom the promises let start; promise the first that cannot, of each partition, its nodes."""
        run, promises, wanted, widths = self.run, self.promises, self.run.wanted, self.widths
        rooms: dict[Wanted, int] = {}
        for key in keys:
            job = key & JOB
            want, width = wanted[job], widths[job]
            blocked = want[0] in promises
            if blocked:
                # Within one look room only shrinks: who found too little at its begin finds too little now.
                room = rooms.get(want)
                if room is None:
                    room = rooms[want] = self.room(want)
                if width > room or not self.easy:
                    continue
            yield key
            if run.limited and self.is_over(key):
                continue
            bounds = self.place(want, width, now + self.limits[job])
            if bounds is not None:
                self.start(key, bounds, now)
            elif not blocked:
                promises[want[0]] = self.promise(want, width, now) if self.easy else Promise(FOREVER)
                self.last = max(self.last, key)
