"""Compactness of a job's nodes: the placement metrics of the variability study.

The study measured average and greatest distances, the same with Y weighted double, and volume and surface of the convex
hull of the coordinates [1]_. Every function takes coordinates; a node has the coordinates of its Gemini, so two nodes
of one Gemini are zero hops apart.

The mean distance is exact and needs no loop over pairs: see `_sum_of_ring_distances`.

References
----------
.. [1] NERSC, Application Performance Variability on Hopper, Data Analysis.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, product

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Coordinates, Link, Torus, link_bandwidth_gb_s
from hopperlib.network.torus.hull import Hull, convex_hull


def _sum_of_ring_distances(counts: Sequence[int]) -> int:
    """Sum of the ring distances of all pairs of points, given the number of points at each place. [hops]

    Move a window of half the ring, rounded down, once around. The number of positions where it contains the first of
    two points but not the second is their distance, and so is the number for the second but not the first. A window
    with k of n points separates k (n - k) pairs, so the sum over its positions is twice the result.
    """
    half = len(counts) // 2
    points = sum(counts)
    inside = sum(counts[:half])
    total = 0
    for leaving, entering in zip(counts, [*counts[half:], *counts[:half]], strict=True):
        total += inside * (points - inside)
        inside += entering - leaving
    return total // 2


def _mean_of_counts(counts: Sequence[int], torus: Torus) -> float:
    """Return the mean distance over all pairs of points, given the number of points at each place of x, then y, then
    z.
    """
    x_end, y_end = torus.dimensions[0], torus.dimensions[0] + torus.dimensions[1]
    axes = counts[:x_end], counts[x_end:y_end], counts[y_end:]
    points = sum(axes[0])
    if points < 2:
        return 0.0
    # A distance is the sum over the axes, and so is the sum over all pairs: pairs need not be enumerated.
    total = sum(weight * _sum_of_ring_distances(axis) for weight, axis in zip(torus.weights, axes, strict=True))
    return total / (points * (points - 1) / 2)


def mean_hop_distance(places: Iterable[Coordinates], torus: Torus) -> float:
    """Mean distance over all pairs of places, weighted as the torus specifies. [hops]

    Give every node's coordinates for the mean between nodes (two nodes of one
    Gemini count as a pair at distance 0), or each Gemini once for the mean
    between Geminis.

    Parameters
    ----------
    places : iterable of Coordinates
        Coordinates of the nodes.
    torus : Torus
        The torus.

    Examples
    --------
    >>> torus = Torus((17, 8, 24))
    >>> mean_hop_distance([(0, 0, 0), (0, 0, 1), (0, 2, 0)], torus)
    2.0
    >>> mean_hop_distance([(0, 0, 0), (0, 0, 1), (0, 2, 0)], Torus((17, 8, 24), weights=(1, 2, 1)))
    3.3333333333333335
    """
    x_size, y_size, z_size = torus.dimensions
    counts = [0] * (x_size + y_size + z_size)
    for x, y, z in places:
        counts[x] += 1
        counts[x_size + y] += 1
        counts[x_size + y_size + z] += 1
    return _mean_of_counts(counts, torus)


class PrefixCounts:
    """Running sums of the coordinates of an ordered node list, for fast measurement of jobs. A job is a few runs of
    positions in the list. The number of its nodes at each place of each axis is the difference of two running sums.

    Parameters
    ----------
    places : sequence of (int, int, int)
        Coordinates of the nodes, in the order of the list.
    torus : Torus

    Examples
    --------
    >>> torus = Torus((17, 8, 24))
    >>> counts = PrefixCounts([(0, 0, 0), (0, 0, 1), (5, 5, 5), (0, 2, 0)], torus)
    >>> counts.mean_hop_distance([(0, 2), (3, 4)])
    2.0
    """

    def __init__(self, places: Sequence[Coordinates], torus: Torus) -> None:
        self._torus = torus
        x_size, y_size, z_size = torus.dimensions
        # All counts of one prefix sum are stored in one integer, 32 bits each: lanes, as in a vector register. Adding a
        # node adds 1 to three lanes. No lane overflows, since it is at most the number of nodes; and none borrows,
        # since a later sum is not smaller in any lane. So one subtraction of big integers, which Python does in C,
        # subtracts 49 counts at once on Hopper's torus.
        steps = ((1 << 32 * x) + (1 << 32 * (x_size + y)) + (1 << 32 * (x_size + y_size + z)) for x, y, z in places)
        self._sums = list(accumulate(steps, initial=0))
        self._bytes = 4 * (x_size + y_size + z_size)

    def mean_hop_distance(self, runs: Iterable[tuple[int, int]]) -> float:
        """Mean distance over all pairs of nodes of a job. [hops]

        Parameters
        ----------
        runs : iterable of (int, int)
            Positions from (included) to (not included).
        """
        packed = sum(self._sums[end] - self._sums[start] for start, end in runs)
        # The bytes of the number are the lanes; on a little-endian host, the first lane comes first.
        counts = memoryview(packed.to_bytes(self._bytes, sys.byteorder)).cast("I").tolist()
        if sys.byteorder == "big":
            counts.reverse()
        return _mean_of_counts(counts, self._torus)


def max_hop_distance(places: Iterable[Coordinates], torus: Torus) -> float:
    """Greatest distance between two places, weighted as the torus specifies. [hops]

    Parameters
    ----------
    places : iterable of Coordinates
        Coordinates of the nodes.
    torus : Torus
        The torus.

    Examples
    --------
    >>> max_hop_distance([(0, 0, 0), (16, 4, 23)], Torus((17, 8, 24)))
    6.0
    """
    distinct = sorted(set(places))
    tables = [
        [weight * min(apart, size - apart) for apart in range(size)]
        for size, weight in zip(torus.dimensions, torus.weights, strict=True)
    ]
    dx, dy, dz = tables
    # Negative differences index the tables from their end, which is the same ring distance.
    return max(
        (float(dx[x - u] + dy[y - v] + dz[z - w]) for i, (x, y, z) in enumerate(distinct) for u, v, w in distinct[:i]),
        default=0.0,
    )


def _cuts(values: set[int], size: int) -> list[int]:
    """Return the places where a ring can be opened: after each of its widest gaps."""
    ring = sorted(values)
    # The gap of a single place is the whole ring.
    gaps = [(ring[i] - ring[i - 1]) % size or size for i in range(len(ring))]
    return [value for value, gap in zip(ring, gaps, strict=True) if gap == max(gaps)]


def _best_cuts(values: Sequence[int], size: int) -> list[int]:
    """Return the cuts that leave the values closest together; of several, the first by their counts in order."""
    counts = Counter(values)
    spreads: list[tuple[int, list[int], int]] = []
    for cut in _cuts(set(counts), size):
        opened = [counts[(cut + place) % size] for place in range(size)]
        total = sum(place * count for place, count in enumerate(opened))
        # The variance times the number of values squared is an integer, so that rounding does not decide between cuts.
        spread = len(values) * sum(place * place * count for place, count in enumerate(opened)) - total * total
        spreads.append((spread, opened, cut))
    least = min(spreads)[:2]
    return [cut for spread, opened, cut in spreads if (spread, opened) == least]


def hull_of_placement(places: Iterable[Coordinates], torus: Torus) -> Hull:
    """Volume and surface of the convex hull of a placement, in units of the torus.

    Each ring is first opened at its widest gap, so that a job across the seam of the torus is not treated as wide. Of
    equally wide gaps, the one that leaves the places closest together (the least variance along the axis) is used; in a
    tie, the one with the smallest hull. The result therefore does not change when the whole placement is shifted around
    the torus.

    Parameters
    ----------
    places : iterable of Coordinates
        Coordinates of the nodes.
    torus : Torus
        The torus.

    Raises
    ------
    InputError
        If there are no places.

    Examples
    --------
    The same bar, in the middle and across the seam:

    >>> torus = Torus((17, 8, 24))
    >>> bar = [(x, y, z) for x in (3, 4) for y in (3, 4) for z in (10, 11)]
    >>> across = [((x + 13) % 17, y, (z + 13) % 24) for x, y, z in bar]
    >>> hull_of_placement(bar, torus) == hull_of_placement(across, torus) == (1.0, 6.0)
    True
    """
    distinct = set(places)
    if not distinct:
        raise InputError("a placement needs at least one place")
    cuts = [_best_cuts([place[axis] for place in distinct], size) for axis, size in enumerate(torus.dimensions)]
    sx, sy, sz = torus.dimensions
    return min(
        convex_hull({((x - a) % sx, (y - b) % sy, (z - c) % sz) for x, y, z in distinct}) for a, b, c in product(*cuts)
    )


def bisection_bandwidth_gb_s(geminis: Iterable[Coordinates], machine: Machine) -> float:
    """Bandwidth of the links between the two halves of a placement. [GB/s]

    Along each axis the ring is opened at its widest gap and the Geminis are split where the halves are closest to
    equal. Only links between two Geminis of the job that cross the split count. The result is the value of the weakest
    axis; an axis along which all Geminis share one place cannot be split.

    Parameters
    ----------
    geminis : iterable of Coordinates
        Coordinates of the Geminis.
    machine : Machine
        The machine.

    Examples
    --------
    Two neighbors along x share one link of 9.375 GB/s; distant Geminis share none:

    >>> hopper = Machine.load("hopper")
    >>> bisection_bandwidth_gb_s([(0, 0, 0), (1, 0, 0)], hopper), bisection_bandwidth_gb_s([(0, 0, 0), (5, 0, 0)], hopper)
    (9.375, 0.0)
    """
    torus = Torus.of(machine)
    places = set(geminis)
    weakest: float | None = None
    for axis, size in enumerate(torus.dimensions):
        counts = Counter(place[axis] for place in places)
        if len(counts) < 2:
            continue
        start = _cuts(set(counts), size)[0]
        opened = sorted(counts, key=lambda value, start=start, size=size: (value - start) % size)  # type: ignore[misc]
        # Difference between the halves, and the last place of the lower one.
        filled, best = 0, (len(places), opened[0])
        for value in opened[:-1]:
            filled += counts[value]
            best = min(best, (abs(2 * filled - len(places)), value))
        low = {value for value in opened if (value - start) % size <= (best[1] - start) % size}
        crossing = 0.0
        for place in places:
            ahead = list(place)
            ahead[axis] = (place[axis] + 1) % size
            neighbor = (ahead[0], ahead[1], ahead[2])
            # A ring of two routers has one link, from 0 to 1.
            single = size == 2 and place[axis] == 1
            if neighbor in places and not single and (place[axis] in low) != (neighbor[axis] in low):
                crossing += link_bandwidth_gb_s(machine, Link(place, axis))
        weakest = crossing if weakest is None else min(weakest, crossing)
    return 0.0 if weakest is None else weakest
