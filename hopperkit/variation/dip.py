"""One group of values or two: Hartigan's dip, the least distance from any distribution with one peak.

A dip needs no bandwidth and no family. The unimodal distribution hardest to tell from a bimodal one is uniform, so
p-values are those among uniform values: for other distributions, including skewed ones, false alarms are rarer.

References
----------
J. A. Hartigan and P. M. Hartigan, "The dip test of unimodality," Annals of Statistics 13 (1985) 70-84.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from hopperlib.data_files import rows

# Fewer values cannot show two groups by their dip.
FEWEST = 4
# Simulated tail probabilities of the dip; smaller ones are not resolved.
_CHANCES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001)


def dip(values: Sequence[float]) -> float:
    """Dip of a sample: the largest distance between its distribution and the nearest one with a single peak. [fraction]

    The mode is somewhere in an interval that starts as the whole range. Within it, compute the greatest convex minorant
    and the least concave majorant; cut the interval where they are farthest apart, until that distance is smaller than
    the largest deviation in the part cut off.

    Parameters
    ----------
    values : sequence of float

    Examples
    --------
    Evenly spaced values dip least, two equal groups most:

    >>> dip([1, 2, 3, 4, 5, 6, 7, 8]), round(dip([0, 0.1, 0.2, 0.3, 9, 9.1, 9.2, 9.3]), 3)
    (0.0625, 0.242)
    """
    ordered = sorted(values)
    n = len(ordered)
    if n < 2 or ordered[0] == ordered[-1]:
        return 1 / (2 * n) if n else 0.0
    low, high, deepest = 0, n - 1, 1.0
    while True:
        minorant = _convex(ordered, low, high)
        majorant = _concave(ordered, low, high)
        apart, left, right = _farthest(ordered, minorant, majorant)
        if apart <= deepest:
            break
        deepest = max(deepest, _below(ordered, minorant, left), _above(ordered, majorant, right))
        if (left, right) == (low, high):
            break
        low, high = left, right
    return deepest / (2 * n)


def _convex(ordered: Sequence[float], low: int, high: int) -> list[int]:
    """Corners of the greatest convex curve below the steps of the distribution, from the left."""
    corners: list[int] = []
    for place in range(low, high + 1):
        while len(corners) > 1 and _turns(ordered, corners[-2], corners[-1], place) <= 0:
            corners.pop()
        corners.append(place)
    return corners


def _concave(ordered: Sequence[float], low: int, high: int) -> list[int]:
    """Corners of the least concave curve above the steps of the distribution, from the left."""
    corners: list[int] = []
    for place in range(low, high + 1):
        while len(corners) > 1 and _turns(ordered, corners[-2], corners[-1], place) >= 0:
            corners.pop()
        corners.append(place)
    return corners


def _turns(ordered: Sequence[float], a: int, b: int, c: int) -> float:
    """Above 0 if the curve through three places turns to the left, to steeper slopes."""
    return (c - b) * (ordered[b] - ordered[a]) - (b - a) * (ordered[c] - ordered[b])


def _height(ordered: Sequence[float], a: int, b: int, at: float) -> float:
    """Height of the line through two places, in values."""
    width = ordered[b] - ordered[a]
    return a + (b - a) * (at - ordered[a]) / width if width else float(b)


def _farthest(ordered: Sequence[float], minorant: Sequence[int], majorant: Sequence[int]) -> tuple[float, int, int]:
    """Largest distance between both curves, and the corners that bound it: one of each curve."""
    best = (0.0, minorant[0], majorant[-1])
    # Both curves are straight between corners, so the distance is largest at a corner of one of them.
    upper, lower = majorant, minorant
    place = 0
    for corner in lower:
        while upper[place + 1 :] and ordered[upper[place + 1]] < ordered[corner]:
            place += 1
        if place + 1 < len(upper):
            apart = _height(ordered, upper[place], upper[place + 1], ordered[corner]) - corner + 1
            best = max(best, (apart, corner, upper[place + 1]), key=lambda found: found[0])
    place = 0
    for corner in upper:
        while lower[place + 1 :] and ordered[lower[place + 1]] <= ordered[corner]:
            place += 1
        following = min(place + 1, len(lower) - 1)
        apart = corner - _height(ordered, lower[place], lower[following], ordered[corner]) + 1
        best = max(best, (apart, lower[place], corner), key=lambda found: found[0])
    return best


def _below(ordered: Sequence[float], minorant: Sequence[int], until: int) -> float:
    """Largest distance of the distribution above its convex curve, left of the interval."""
    deepest = 1.0
    for a, b in pairwise(minorant):
        if b > until:
            break
        for place in range(a, b + 1):
            deepest = max(deepest, place + 1 - _height(ordered, a, b, ordered[place]))
    return deepest


def _above(ordered: Sequence[float], majorant: Sequence[int], since: int) -> float:
    """Largest distance of the distribution below its concave curve, right of the interval."""
    deepest = 1.0
    for a, b in pairwise(majorant):
        if a < since:
            continue
        for place in range(a, b + 1):
            deepest = max(deepest, _height(ordered, a, b, ordered[place]) - place + 1)
    return deepest


@cache
def _table() -> tuple[tuple[float, tuple[float, ...], float], ...]:
    """By number of values: its logarithm, the dips times its root that are as rare as `_CHANCES`, the distance seen."""
    return tuple(
        (
            math.log(int(row["values"])),
            tuple(float(row[f"dip_{chance:g}"]) for chance in _CHANCES),
            float(row["apart_spreads"]),
        )
        for row in rows("chance-of-dip.csv")
    )


def _between(values: int) -> tuple[tuple[float, ...], float]:
    """The table's row for a number of values: between two rows on a line."""
    table, at = _table(), math.log(values)
    after = min(max(1, bisect_left(table, (at,))), len(table) - 1)
    (left, low, near), (right, high, far) = table[after - 1], table[after]
    share = min(1.0, max(0.0, (at - left) / (right - left)))
    return tuple(a + share * (b - a) for a, b in zip(low, high, strict=True)), near + share * (far - near)


def chance_of_dip(depth: float, values: int) -> float:
    """Chance that values of one group dip as deep. [fraction]

    Parameters
    ----------
    depth : float
        As `dip` returns it.
    values : int
        Number of values; at least `FEWEST`.

    Examples
    --------
    >>> chance_of_dip(0.24, 8) <= 0.001, chance_of_dip(0.0625, 8)
    (True, 1.0)
    """
    scaled = depth * math.sqrt(values)
    rare, _ = _between(values)
    if scaled < rare[0]:
        return 1.0
    for (common, near), (rarer, far) in pairwise(zip(rare, _CHANCES, strict=True)):
        if scaled < rarer:
            share = (scaled - common) / (rarer - common) if rarer > common else 1.0
            return math.exp(math.log(near) + share * math.log(far / near))
    return _CHANCES[-1]


def distance_seen(values: int) -> float:
    """Distance at which two equal groups are seen in 80 of 100 samples. [standard deviations of one group]

    Parameters
    ----------
    values : int
        Number of values.

    Examples
    --------
    >>> distance_seen(400) < distance_seen(40) < distance_seen(10)
    True
    """
    return _between(values)[1]
