"""What is free in a pool of nodes, now and once running jobs will have ended: whole nodes by count, shared ones one by one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from hopperlib.network.scheduling._free_nodes import FirstFit, joined
from hopperlib.network.scheduling._waiting import SHIFT
from hopperlib.network.scheduling.cluster import NodeResources

__all__ = ["FOREVER", "Promise", "SharedNodes", "Wanted", "WholeNodes"]

FOREVER = 1 << 62
# What a job wants: partition, cores, GPUs and memory of each node (0 cores: the whole node).
Wanted = tuple[str, int, int, int]


class Promise:
    """When a blocked job will have its nodes at the latest, on which it could be (a bit each), and how many of them it can spare."""

    def __init__(self, at: int, spare: int, nodes: int = 0, wanted: Wanted = ("", 0, 0, 0)) -> None:
        self.at, self.spare, self.nodes, self.wanted = at, spare, nodes, wanted


class WholeNodes:
    """Nodes of which each runs one job: they are counted, since one is as good as another."""

    def __init__(self, free: FirstFit) -> None:
        self.free = free
        # When the running jobs are expected to end: (end, job), sorted; and beside each what it will free.
        self.expected: list[int] = []
        self.freed: list[int] = []
        # So many nodes are free once the first `counted` of the expected ends have come. The place where the head
        # finds its nodes moves by a step or two from one event to the next, so it is moved along, not summed anew.
        self.counted, self.have = 0, free.free

    def room(self, wanted: Wanted) -> int:
        """Return the width of the widest job that fits now."""
        return self.free.room

    def place(self, wanted: Wanted, width: int, end: int, promises: Sequence[Promise]) -> list[int] | None:
        """Take nodes for a job, and return their bounds; None if there are too few."""
        return self.free.take(width) if width <= self.free.room else None

    def start(self, job: int, wanted: Wanted, width: int, bounds: list[int], end: int) -> None:
        """Note a job that has its nodes, and when it is expected to end."""
        key = (end << SHIFT) + job
        place = bisect_left(self.expected, key)
        self.expected.insert(place, key)
        self.freed.insert(place, width)
        if place < self.counted:
            self.counted += 1
        else:
            self.have -= width

    def finish(self, job: int, width: int, bounds: list[int], end: int) -> None:
        """Give the nodes of a job back."""
        place = bisect_left(self.expected, (end << SHIFT) + job)
        del self.expected[place]
        freed = self.freed.pop(place)
        if place < self.counted:
            self.counted -= 1
        else:
            self.have += freed
        self.free.release(bounds, width)

    def count_freed(self, job: int, end: int, width: int) -> None:
        """Count on a running job to free so many nodes."""
        self.freed[bisect_left(self.expected, (end << SHIFT) + job)] = width

    def promise(self, width: int, now: int) -> tuple[int, int]:
        """Return when so many nodes are free at the latest, and how many more are free then."""
        freed, counted, have = self.freed, self.counted, self.have
        while have < width and counted < len(freed):
            have += freed[counted]
            counted += 1
        while counted and have - freed[counted - 1] >= width:
            counted -= 1
            have -= freed[counted]
        self.counted, self.have = counted, have
        if have < width:
            return FOREVER, 0
        if not counted:
            return now, have - width
        at = max(self.expected[counted - 1] >> SHIFT, now)
        # All that end by that instant count.
        same = bisect_left(self.expected, (at + 1) << SHIFT, counted)
        return at, have - width + sum(freed[counted:same])

    def steps(self, now: int) -> tuple[list[int], list[int]]:
        """Return the free nodes from each instant on at which, as expected, they change."""
        times, free = [now], [self.free.free]
        for key, freed in zip(self.expected, self.freed, strict=True):
            # What runs over its limit is still there: its nodes come in the next second at the soonest.
            at = max(now + 1, key >> SHIFT)
            if at > times[-1]:
                times.append(at)
                free.append(free[-1])
            free[-1] += freed
        return times, free

    def free_bounds(self) -> list[int]:
        """Return the bounds of the runs of free nodes."""
        return self.free.bounds


class SharedNodes:
    """Nodes that jobs may share, and that partitions may have in common.

    What each kind of job finds is kept and mended where nodes have changed
    since it was last asked for: `log` lists those, one after the other.
    """

    def __init__(self, nodes: Sequence[NodeResources], partitions: dict[str, Sequence[int]]) -> None:
        self.partitions = partitions
        unknown = 1 << 40
        self.whole = [(node.cores or unknown, node.gpus, node.memory_mb or unknown) for node in nodes]
        self.left = list(self.whole)
        # Of each node its jobs, each with its expected end and what it holds there.
        self.jobs: list[dict[int, tuple[int, int, int, int]]] = [{} for _ in nodes]
        self.log: list[int] = []
        self._fits: dict[Wanted, tuple[int, int]] = {}
        self._ready: dict[Wanted, tuple[dict[int, int], int]] = {}

    def could(self, wanted: Wanted, node: int) -> bool:
        """Whether a node would do if it were empty."""
        return all(map(int.__ge__, self.whole[node], wanted[1:]))

    def share(self, wanted: Wanted, node: int) -> tuple[int, int, int]:
        """Return what a job takes of a node."""
        return wanted[1:] if wanted[1] else self.whole[node]

    def fits(self, wanted: Wanted, node: int) -> bool:
        """Whether a job of this kind may start on a node now."""
        _, cores, gpus, memory = wanted
        if not cores:
            return not self.jobs[node] and self.could(wanted, node)
        free = self.left[node]
        return free[0] >= cores and free[1] >= gpus and free[2] >= memory

    def fitting(self, wanted: Wanted) -> int:
        """Return the nodes, a bit each, on which a job of this kind may start now."""
        nodes = self.partitions[wanted[0]]
        known, seen = self._fits.get(wanted, (0, -1))
        changed: Sequence[int] = nodes if seen < 0 or len(self.log) - seen > len(nodes) else self.log[seen:]
        if changed is nodes:
            known = 0
        members = self._members(wanted[0])
        for node in changed:
            if node in members:
                known = known | (1 << node) if self.fits(wanted, node) else known & ~(1 << node)
        self._fits[wanted] = known, len(self.log)
        return known

    def _members(self, partition: str) -> set[int]:
        """Return the nodes of a partition as a set, made once."""
        nodes = self.partitions[partition]
        if not isinstance(nodes, _Members):
            nodes = self.partitions[partition] = _Members(nodes)
        return nodes.set

    def room(self, wanted: Wanted) -> int:
        """Return how many nodes a job of this kind may start on now."""
        return self.fitting(wanted).bit_count()

    def place(self, wanted: Wanted, width: int, end: int, promises: Sequence[Promise]) -> list[int] | None:
        """Take the first nodes that a job may have, and return their bounds; None if there are too few."""
        fitting = self.fitting(wanted)
        if fitting.bit_count() < width:
            return None
        kept = [promise for promise in promises if end > promise.at and promise.nodes & fitting]
        spare = [promise.spare for promise in kept]
        harmed = [0] * len(kept)
        taken: list[int] = []
        for node in _bits(fitting):
            # A promise loses this node if its job would no longer find room here then.
            loses = [
                n for n, promise in enumerate(kept) if promise.nodes >> node & 1 and self._harms(promise, wanted, node)
            ]
            if all(spare[n] for n in loses):
                for n in loses:
                    spare[n] -= 1
                    harmed[n] |= 1 << node
                taken.append(node)
                if len(taken) == width:
                    break
        else:
            return None
        for promise, left, lost in zip(kept, spare, harmed, strict=True):
            promise.spare, promise.nodes = left, promise.nodes & ~lost
        return joined(taken)

    def _harms(self, promise: Promise, wanted: Wanted, node: int) -> bool:
        """Whether a job on a node at the promised time leaves too little of it for the promised one."""
        if not (wanted[1] and promise.wanted[1]):
            return True
        still = [held[1:] for held in self.jobs[node].values() if held[0] > promise.at]
        return any(
            whole - sum(held[kind] for held in still) - mine < promised
            for kind, (whole, mine, promised) in enumerate(
                zip(self.whole[node], wanted[1:], promise.wanted[1:], strict=True)
            )
        )

    def start(self, job: int, wanted: Wanted, width: int, bounds: list[int], end: int) -> None:
        """Note a job that has its nodes, and when it is expected to end."""
        for node in _positions(bounds):
            share = self.share(wanted, node)
            self.jobs[node][job] = (end, *share)
            cores, gpus, memory = self.left[node]
            self.left[node] = cores - share[0], gpus - share[1], memory - share[2]
            self.log.append(node)

    def finish(self, job: int, width: int, bounds: list[int], end: int) -> None:
        """Give the nodes of a job back."""
        for node in _positions(bounds):
            _, *share = self.jobs[node].pop(job)
            cores, gpus, memory = self.left[node]
            self.left[node] = cores + share[0], gpus + share[1], memory + share[2]
            self.log.append(node)

    def promise(self, wanted: Wanted, width: int, now: int) -> Promise:
        """Return the promise to a job that cannot start now."""
        nodes = self.partitions[wanted[0]]
        ready, seen = self._ready.get(wanted, ({}, -1))
        members = self._members(wanted[0])
        for node in nodes if seen < 0 else set(self.log[seen:]) & members:
            ready[node] = self._ready_at(wanted, node)
        self._ready[wanted] = ready, len(self.log)
        at = sorted(ready.values())[width - 1]
        if at == FOREVER:
            return Promise(FOREVER, 0)
        at = max(at, now)
        could = sum(1 << node for node, since in ready.items() if since <= at)
        return Promise(at, could.bit_count() - width, could, wanted)

    def _ready_at(self, wanted: Wanted, node: int) -> int:
        """Return from when a job of this kind fits on a node at the latest; 0 if it does now."""
        if self.fits(wanted, node):
            return 0
        if not self.could(wanted, node):
            return FOREVER
        _, cores, gpus, memory = wanted
        free = self.left[node]
        ends = sorted(self.jobs[node].values())
        if not cores:
            return ends[-1][0]
        for end, *share in ends:
            free = free[0] + share[0], free[1] + share[1], free[2] + share[2]
            if free[0] >= cores and free[1] >= gpus and free[2] >= memory:
                return end
        return FOREVER

    def free_bounds(self) -> list[int]:
        """Return the bounds of the runs of nodes that run no job."""
        nodes = {node for nodes in self.partitions.values() for node in nodes}
        return joined(sorted(node for node in nodes if not self.jobs[node]))


class _Members(list[int]):
    """Nodes in order, and as a set."""

    def __init__(self, nodes: Sequence[int]) -> None:
        super().__init__(nodes)
        self.set = set(nodes)


def _bits(mask: int) -> Iterator[int]:
    """Yield the places of the bits that are set, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _positions(bounds: Sequence[int]) -> Iterator[int]:
    """Yield the positions in runs."""
    for start, end in zip(bounds[::2], bounds[1::2], strict=True):
        yield from range(start, end)
