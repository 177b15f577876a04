"""The free nodes of a machine, as runs of positions in its node list, and ways to take from them.

Runs are kept as their bounds in one flat sorted list: from, to (not included), from, to, ... Runs never touch, so the
list strictly increases and each bound occurs once: freeing a run looks up one bound, and joins, extends or inserts a
run there. The cost depends on the number of runs, not of nodes. A job's nodes are such a list too.
"""

import random
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from operator import sub
from typing import NamedTuple

from hopperlib.errors import refusal

ALLOCATIONS: tuple[str, ...] = ("first", "best", "contiguous", "random")


class NodeChoice(NamedTuple):
    """A site's policy for picking nodes, which may consider switches.

    Parameters
    ----------
    pick : callable
        ``pick(free positions in order, nodes) -> positions`` of a job that fits.
    near_room : callable
        ``near_room(free positions) -> nodes`` of the widest job that fits into nearby nodes now.
    widest_near : int
        Nodes of the widest job that fits into nearby nodes on an empty machine. [nodes]
    wait_s : int
        How long a job waits for nearby nodes, while others may pass it; then it takes any nodes. [s]
    """

    pick: Callable[[Sequence[int], int], Iterable[int]]
    near_room: Callable[[Sequence[int]], int] = len
    widest_near: int = 0
    wait_s: int = 0


def pairs(bounds: Sequence[int]) -> list[tuple[int, int]]:
    """Return a flat list of bounds as runs (from, to)."""
    return list(zip(bounds[::2], bounds[1::2], strict=True))


def length_of(bounds: Sequence[int]) -> int:
    """Return the number of positions in the runs of a flat list of bounds."""
    return sum(bounds[1::2]) - sum(bounds[::2])


def positions_in(bounds: Sequence[int]) -> Iterator[int]:
    """Yield the positions in the runs of a flat list of bounds."""
    return chain.from_iterable(map(range, bounds[::2], bounds[1::2]))


def _longest_of(bounds: Sequence[int]) -> int:
    """Return the length of the longest run of a flat list of bounds; 0 if there are none."""
    return max(map(sub, bounds[1::2], bounds[::2]), default=0)


def _outside(bounds: list[int], avoid: tuple[int, int]) -> list[int]:
    """Return a flat list of bounds with a run taken out of it."""
    low, high = bisect_left(bounds, avoid[0]), bisect_right(bounds, avoid[1])
    # An odd place is within a run, whose part on that side is kept.
    return bounds[:low] + [avoid[0]] * (low % 2) + [avoid[1]] * (high % 2) + bounds[high:]


def joined(positions: Iterable[int]) -> list[int]:
    """Return positions as a flat list of the bounds of their runs."""
    bounds: list[int] = []
    for position in sorted(set(positions)):
        if bounds and bounds[-1] == position:
            bounds[-1] = position + 1
        else:
            bounds += (position, position + 1)
    return bounds


class FirstFit:
    """Free positions; a job takes the first ones, as Hopper's scheduler did.

    Examples
    --------
    >>> free = FirstFit([0, 10])
    >>> first, second = free.take(3), free.take(2)
    >>> free.release(first, 3)
    >>> free.take(4), free.bounds
    ([0, 3, 5, 6], [6, 10])
    """

    def __init__(self, bounds: list[int]) -> None:
        self.bounds = bounds
        #: How many positions are free.
        self.free = length_of(bounds)

    @property
    def room(self) -> int:
        """Width of the widest job that could start now. [nodes]"""
        return self.free

    def largest_outside(self, avoid: tuple[int, int]) -> int:
        """Length of the longest free run outside a run to avoid. [nodes]"""
        return _longest_of(_outside(self.bounds, avoid))

    def take(self, width: int, avoid: tuple[int, int] | None = None) -> list[int]:
        """Take positions for a job that fits, and return their bounds; who needs one run can keep off a run."""
        bounds = self.bounds
        self.free -= width
        # Where the first run is long enough only its lower bound moves, and the list need not be cut.
        start, split = bounds[0], bounds[0] + width
        if split < bounds[1]:
            bounds[0] = split
            return [start, split]
        i = 0
        while width > 0:
            width -= bounds[i + 1] - bounds[i]
            i += 2
        taken = bounds[:i]
        if width:
            # Excess: the last run is split, and only its front goes to the job.
            split = taken[-1] + width
            taken[-1] = split
            i -= 2
            bounds[i] = split
        del bounds[:i]
        return taken

    def release(self, taken: Sequence[int], width: int) -> None:
        """Give that many positions back, joining them with free neighbors."""
        bounds = self.bounds
        size = len(bounds)
        bounds.append(-1)  # A sentinel, so that the bound after the last can be read.
        i = 0
        # A job's runs are in order, so each search starts after the previous run. One iterator, taken from twice, gives
        # their bounds in pairs.
        ends = iter(taken)
        for start, end in zip(ends, ends, strict=True):
            # Where the run begins in the list. If its start is in the list, a free run ends there: extend that one. If
            # its end is in the list, a free run begins there. If both do, the two become one and both bounds go.
            i = bisect_left(bounds, start, i, size)
            if bounds[i] == start:
                if bounds[i + 1] == end:
                    del bounds[i : i + 2]
                    size -= 2
                else:
                    bounds[i] = end
            elif bounds[i] == end:
                bounds[i] = start
            else:
                bounds[i:i] = (start, end)
                size += 2
        self.free += width
        bounds.pop()

    def take_positions(self, start: int, end: int) -> list[int]:
        """Take all free positions from start to end (exclusive)."""
        clipped = ((max(start, low), min(end, high)) for low, high in pairs(self.bounds))
        taken = [bound for low, high in clipped if low < high for bound in (low, high)]
        self.cut(taken)
        return taken

    def cut(self, taken: Sequence[int]) -> None:
        """Take runs that are parts of free runs."""
        for start, end in pairs(taken):
            # The last bound at or below the start begins its free run, since each cut is inside one.
            i = bisect_right(self.bounds, start) - 1
            low, high = self.bounds[i], self.bounds[i + 1]
            self.bounds[i : i + 2] = [bound for a, b in ((low, start), (end, high)) if a < b for bound in (a, b)]
        self.free -= length_of(taken)


class _BestFit(FirstFit):
    """Free positions; a job takes the smallest run that holds it, else the largest runs first."""

    def take(self, width: int, avoid: tuple[int, int] | None = None) -> list[int]:
        lengths = [(end - start, start) for start, end in pairs(self.bounds)]
        # Pairs of length and start: the least is the shortest run that holds the job, and of several the first.
        whole = min((pair for pair in lengths if pair[0] >= width), default=None)
        parts: list[tuple[int, int]] = []
        for length, start in [whole] if whole else sorted(lengths, key=lambda pair: (-pair[0], pair[1])):
            part = min(length, width)
            insort(parts, (start, start + part))
            width -= part
            if width == 0:
                break
        taken = [bound for run in parts for bound in run]
        self.cut(taken)
        return taken


class Contiguous(FirstFit):
    """Free positions; a job takes the first run that holds it whole, or waits."""

    @property
    def room(self) -> int:
        return _longest_of(self.bounds)

    def take(self, width: int, avoid: tuple[int, int] | None = None) -> list[int]:
        bounds = self.bounds if avoid is None else _outside(self.bounds, avoid)
        run = next([low, low + width] for low, high in pairs(bounds) if high - low >= width)
        self.cut(run)
        return run


class _RandomFit(FirstFit):
    """Free positions; a job takes some at random. Only the generator's ``random()`` is used."""

    def __init__(self, bounds: list[int], rng: random.Random) -> None:
        self._rng = rng
        # Unordered: a picked position is swapped with the last.
        self._places = list(positions_in(bounds))
        self.free = len(self._places)

    @property
    def bounds(self) -> list[int]:  # type: ignore[override]
        """Bounds of the free runs, assembled on request."""
        return joined(self._places)

    def take(self, width: int, avoid: tuple[int, int] | None = None) -> list[int]:
        places, draw = self._places, self._rng.random
        left = len(places)
        taken = []
        for _ in range(width):
            i = int(draw() * left)
            left -= 1
            last = places.pop()
            if i < left:
                taken.append(places[i])
                places[i] = last
            else:
                taken.append(last)
        self.free = left
        return joined(taken)

    def release(self, taken: Sequence[int], width: int) -> None:
        self._places.extend(positions_in(taken))
        self.free += width

    def cut(self, taken: Sequence[int]) -> None:
        removed = set(positions_in(taken))
        self._places = [position for position in self._places if position not in removed]
        self.free = len(self._places)


class ChosenFit(FirstFit):
    """Free positions; a job takes those that a choice picks."""

    def __init__(self, bounds: list[int], choice: NodeChoice) -> None:
        super().__init__(bounds)
        self.choice = choice
        # The widest job that could lie near now, by the free positions that it was worked out for.
        self._near: tuple[list[int], int] = [], 0

    def take(self, width: int, avoid: tuple[int, int] | None = None) -> list[int]:
        taken = joined(self.choice.pick(list(positions_in(self.bounds)), width))
        self.cut(taken)
        return taken

    def patience_s(self, width: int) -> int:
        """Return the time that a job waits for nearby nodes: zero if it finds them now, or never can. [s]"""
        if width > self.choice.widest_near:
            return 0
        if self._near[0] != self.bounds:
            self._near = self.bounds[:], self.choice.near_room(list(positions_in(self.bounds)))
        return self.choice.wait_s if width > self._near[1] else 0


def free_list(allocation: str | NodeChoice, bounds: list[int], rng: random.Random | None = None) -> FirstFit:
    """Return free positions for an allocation method, by the bounds of their runs; `InputError` if there is none of
    that name.
    """
    if isinstance(allocation, NodeChoice):
        return ChosenFit(bounds, allocation)
    if allocation == "random":
        if rng is None:
            raise refusal("allocation", allocation, "needs a random generator: rng=random.Random(seed)")
        return _RandomFit(bounds, rng)
    kinds: dict[str, type[FirstFit]] = {"first": FirstFit, "best": _BestFit, "contiguous": Contiguous}
    if allocation not in kinds:
        raise refusal("allocation", allocation, f"must be one of: {', '.join(ALLOCATIONS)}")
    return kinds[allocation](bounds)
