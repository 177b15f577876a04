"""The free nodes of a machine, as runs of positions in its node list, and ways to take from them.

=============  ===================================================================
`FirstFit`     the first free positions of the list, as Hopper's scheduler did
`BestFit`      the smallest run that holds the whole job; else the largest runs first
`Contiguous`   one run only: a job waits until there is one long enough
`RandomFit`    positions at random
=============  ===================================================================

Runs are kept as their bounds in one flat sorted list: from, to (not included),
from, to, ... Runs never touch, so the list strictly increases, and giving back
a run changes one place of it. A job's nodes are such a list too.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

__all__ = ["ALLOCATIONS", "BestFit", "Contiguous", "FirstFit", "RandomFit", "pairs"]

ALLOCATIONS: tuple[str, ...] = ("first", "best", "contiguous", "random")


def pairs(bounds: Sequence[int]) -> list[tuple[int, int]]:
    """Return a flat list of bounds as runs (from, to).

    Examples
    --------
    >>> pairs([0, 3, 5, 6])
    [(0, 3), (5, 6)]
    """
    return list(zip(bounds[::2], bounds[1::2], strict=True))


class FirstFit:
    """Free positions; a job takes the first ones.

    Parameters
    ----------
    nodes : int
        Positions of the list, all free at first.

    Examples
    --------
    >>> free = FirstFit(10)
    >>> first, second = free.take(3), free.take(2)
    >>> free.release(first)
    >>> free.take(4), free.bounds
    ([0, 3, 5, 6], [6, 10])
    """

    __slots__ = ("bounds", "free")

    def __init__(self, nodes: int) -> None:
        self.bounds = [0, nodes] if nodes else []
        self.free = nodes

    @property
    def runs(self) -> int:
        """How many free runs there are."""
        return len(self.bounds) // 2

    @property
    def largest_run(self) -> int:
        """Length of the longest free run; 0 if nothing is free. [nodes]"""
        return max((end - start for start, end in pairs(self.bounds)), default=0)

    def fits(self, width: int) -> bool:
        """Whether a job of this width could start now."""
        return width <= self.free

    def take(self, width: int) -> list[int]:
        """Take positions for a job that fits, and return their bounds."""
        bounds = self.bounds
        self.free -= width
        start, split = bounds[0], bounds[0] + width
        if split < bounds[1]:
            bounds[0] = split
            return [start, split]
        i = 0
        while True:
            width -= bounds[i + 1] - bounds[i]
            i += 2
            if width <= 0:
                break
        taken = bounds[:i]
        if width:
            # The last run is split: its front goes to the job.
            split = taken[-1] + width
            taken[-1] = split
            i -= 2
            bounds[i] = split
        del bounds[:i]
        return taken

    def release(self, taken: Sequence[int]) -> None:
        """Give positions back, joining them with free neighbors."""
        bounds = self.bounds
        size = len(bounds)
        bounds.append(-1)  # A sentinel, so that the bound after the last can be read.
        freed = i = 0
        ends = iter(taken)
        for start, end in zip(ends, ends, strict=True):
            freed += end - start
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
        self.free += freed
        bounds.pop()

    def take_positions(self, start: int, end: int) -> list[int]:
        """Take whatever is free of the positions from start to end (not included)."""
        taken: list[int] = []
        for low, high in pairs(self.bounds):
            if max(start, low) < min(end, high):
                taken += (max(start, low), min(end, high))
        self._cut(taken)
        return taken

    def _cut(self, taken: Sequence[int]) -> None:
        """Take runs that lie inside free runs."""
        for start, end in pairs(taken):
            i = bisect_right(self.bounds, start) - 1
            low, high = self.bounds[i], self.bounds[i + 1]
            self.bounds[i : i + 2] = [
                bound for pair in ((low, start), (end, high)) if pair[0] < pair[1] for bound in pair
            ]
            self.free -= end - start


class BestFit(FirstFit):
    """Free positions; a job takes the smallest run that holds it, else the largest runs first.

    Examples
    --------
    >>> free = BestFit(20)
    >>> a, b, c = free.take(4), free.take(6), free.take(3)
    >>> free.release(a)
    >>> free.take(3)
    [0, 3]
    """

    __slots__ = ()

    def take(self, width: int) -> list[int]:
        """Take positions for a job that fits, and return their bounds."""
        lengths = [(end - start, start) for start, end in pairs(self.bounds)]
        whole = min((pair for pair in lengths if pair[0] >= width), default=None)
        if whole is not None:
            taken = [whole[1], whole[1] + width]
        else:
            parts: list[tuple[int, int]] = []
            for length, start in sorted(lengths, key=lambda pair: (-pair[0], pair[1])):
                part = min(length, width)
                insort(parts, (start, start + part))
                width -= part
                if width == 0:
                    break
            taken = [bound for part in parts for bound in part]
        self._cut(taken)
        return taken


class Contiguous(FirstFit):
    """Free positions; a job takes the first run that holds it whole, or waits.

    Examples
    --------
    Six are free, but no four of them lie together:

    >>> free = Contiguous(9)
    >>> a, b, c = free.take(3), free.take(3), free.take(3)
    >>> free.release(a)
    >>> free.release(c)
    >>> free.free, free.fits(4), free.take(3)
    (6, False, [0, 3])
    """

    __slots__ = ()

    def fits(self, width: int) -> bool:
        """Whether some free run holds the job."""
        return width <= self.free and self.first_run(width) is not None

    def first_run(self, width: int, avoid: tuple[int, int] | None = None) -> tuple[int, int] | None:
        """Return the first place for a job, outside a run to avoid; None if there is none."""
        bounds = self.bounds
        for i in range(0, len(bounds), 2):
            start, end = bounds[i], bounds[i + 1]
            if end - start < width:
                continue
            if avoid is None or end <= avoid[0] or avoid[1] <= start:
                return start, start + width
            for low, high in ((start, avoid[0]), (avoid[1], end)):
                if high - low >= width:
                    return low, low + width
        return None

    def largest_beside(self, avoid: tuple[int, int]) -> int:
        """Length of the longest free run outside a run to avoid. [nodes]"""
        low, high = avoid
        return max(
            (
                end - start if end <= low or high <= start else max(low - start, end - high)
                for start, end in pairs(self.bounds)
            ),
            default=0,
        )

    def take(self, width: int, avoid: tuple[int, int] | None = None) -> list[int]:
        """Take one run for a job that fits."""
        run = self.first_run(width, avoid)
        if run is None:
            raise ValueError(f"width={width} fits no free run: the longest holds {self.largest_run}")
        self._cut(run)
        return list(run)


class RandomFit(FirstFit):
    """Free positions; a job takes some at random.

    Parameters
    ----------
    nodes : int
    rng : random.Random
        Only its ``random()`` is used, so that every Python gives the same placements.

    Examples
    --------
    >>> import random
    >>> free = RandomFit(6, random.Random(1))
    >>> sum(end - start for start, end in pairs(free.take(4))), free.free
    (4, 2)
    """

    __slots__ = ("_places", "_rng")

    def __init__(self, nodes: int, rng: random.Random) -> None:
        self._rng = rng
        # In no order: what is picked changes places with the last.
        self._places = list(range(nodes))
        self.free = nodes

    @property
    def bounds(self) -> list[int]:
        """Bounds of the free runs, put together when somebody asks."""
        return _joined(sorted(self._places))

    @bounds.setter
    def bounds(self, bounds: Sequence[int]) -> None:
        self._places = [position for start, end in pairs(bounds) for position in range(start, end)]

    def take(self, width: int) -> list[int]:
        """Take positions at random and return their bounds."""
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
        taken.sort()
        return _joined(taken)

    def release(self, taken: Sequence[int]) -> None:
        """Give positions back."""
        for start, end in pairs(taken):
            self._places.extend(range(start, end))
        self.free = len(self._places)

    def _cut(self, taken: Sequence[int]) -> None:
        """Take runs that lie inside free runs."""
        gone = {position for start, end in pairs(taken) for position in range(start, end)}
        self._places = [position for position in self._places if position not in gone]
        self.free = len(self._places)


def _joined(positions: Sequence[int]) -> list[int]:
    """Return sorted positions as a flat list of the bounds of their runs."""
    bounds: list[int] = []
    for position in positions:
        if bounds and bounds[-1] == position:
            bounds[-1] = position + 1
        else:
            bounds += (position, position + 1)
    return bounds
