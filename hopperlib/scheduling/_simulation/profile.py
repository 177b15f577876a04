"""The availability profile: free resources from each instant at which they are expected to change.

There is one kind. For a pool of identical whole nodes it counts nodes, and one profile suffices for the pool; nodes
that are shared, differ or belong to several partitions each have a profile of their cores, GPUs and memory. Both return
when a share is free for a given time, and a promise subtracts its share from them. At depth 0 and 1 at most one promise
is needed, from the running jobs alone: a prefix sum (`whole`) or the order in which nodes become free (`sparing`) is
faster.
"""

from bisect import bisect_left
from functools import cache

from hopperlib.scheduling._simulation.pool_queue import FOREVER

# Cores, GPUs and memory in one whole number, each below a bit that a difference borrows from if it falls below zero.
_FIELD = 44
GUARD = sum(1 << _FIELD * place + _FIELD - 1 for place in range(3))
_MOST_KEPT = 64
Amounts = tuple[int, ...]


@cache
def packed(amounts: Amounts) -> int:
    """Return amounts as one number."""
    return sum(amount << _FIELD * place for place, amount in enumerate(amounts))


class Profile:
    """Free resources from each of some instants on, the first of them 0 for now."""

    __slots__ = ("_after", "_until", "found", "left", "times")

    def __init__(self, times: list[int], left: list[int]) -> None:
        self.times, self.left = times, left
        self._after: dict[tuple[int, int, int], Profile] = {}
        # What `openings` has returned.
        self.found: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._until: dict[int, int] = {}

    def take(self, share: int, at: int, end: int) -> None:
        """Subtract a share between two instants; only for a profile whose `openings` or `until` has not been used."""
        times, left, places = self.times, self.left, []
        for instant in (at, end):
            place = bisect_left(times, instant)
            if place == len(times) or times[place] != instant:
                times.insert(place, instant)
                left.insert(place, left[place - 1])
            places.append(place)
        first, last = places
        left[first:last] = [amounts - share for amounts in left[first:last]]

    def after(self, share: int, at: int, end: int) -> "Profile":
        """Return the profile with a share taken of it from an instant to another."""
        profile = self._after.get((share, at, end))
        if profile is None:
            profile = Profile(self.times[:], self.left[:])
            profile.take(share, at, end)
            if len(self._after) > _MOST_KEPT:
                self._after.clear()
            self._after[share, at, end] = profile
        return profile

    def promise(self, nodes: int, span: int, now: int, latest: int = FOREVER) -> None:
        """Take a number of nodes, where these are counted, for a span from the first instant at which they are left, if it is not too late."""
        times, left, step = self.times, self.left, 0
        while step < len(times):
            end = (times[step] or now) + span
            other, last = step, bisect_left(times, end)
            while other < last and left[other] >= nodes:
                other += 1
            if other == last:
                if times[step] <= latest:
                    self.take(nodes, times[step], end)
                return
            # If too few are free, no earlier start lasts: continue the search after it.
            step = other + 1

    def least(self, end: int) -> int:
        """Return the fewest nodes, where these are counted, that are left at any moment until an instant."""
        return min(self.left[: bisect_left(self.times, end)])

    def until(self, share: int) -> int:
        """Return until when a share that is free now stays free; 0 if it is not."""
        until = self._until.get(share)
        if until is None:
            until = self._until[share] = next(
                (at for at, left in zip(self.times, self.left, strict=True) if (left - share) & GUARD != GUARD), FOREVER
            )
        return until

    def openings(self, share: int, span: int) -> list[tuple[int, int]]:
        """Return from when to when a job may start that takes a share for a span."""
        found = self.found.get((share, span))
        if found is None:
            found, since = [], -1
            for instant, left in zip(self.times, self.left, strict=True):
                # Cores, GPUs and memory are fields of one integer: a guard bit that the subtraction borrows shows that
                # its resource does not suffice.
                if (left - share) & GUARD == GUARD:
                    since = instant if since < 0 else since
                elif since >= 0:
                    if instant - span >= since:
                        found.append((since, instant - span))
                    since = -1
            if since >= 0:
                found.append((since, FOREVER - span))
            self.found[share, span] = found
        return found
