"""Throughput of more users than were measured, from a curve's first points.

The last two measured points show how much growth has slowed. Two laws continue from there: one that assumes an ordinary
ceiling (`SHARPNESS`), and the closed queue, which bends more slowly. The estimate is their geometric mean. For points
of 142 public curves [1]_ at 2 to 16 times the last point given, the errors are the factors of `_SPREAD`: a few points
say little about a distant ceiling, so the intervals are wide. Where a ceiling was measured, use
`hopperlib.contention.saturation.throughput_range` instead.

References
----------
.. [1] ``data/contention-curves.csv``; ``tests/contention/test_extrapolation.py`` computes the factors again, each
   source left out in turn.
"""

import math
from collections.abc import Mapping

from hopperlib.contention.saturation import KINDS, NOMINAL_SHARPNESS, SHARPNESS, Kind, Throughput
from hopperlib.errors import InputError, above, refusal

# Measured over estimated throughput, 10, 50 and 90 % of the points of the public curves of a kind, all curves weighted
# equally: up to four times the users of the last point, and beyond. Kinds with fewer than three curves of this length
# use the factors of all kinds.
_FAR_OF_ALL = (0.34, 0.85, 2.67)
_SPREAD: dict[Kind, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "own-files": ((0.71, 1.05, 1.63), (0.49, 1.04, 2.71)),
    "shared-file": ((0.56, 0.91, 1.65), (0.44, 1.03, 3.71)),
    "device": ((0.83, 1.02, 1.26), _FAR_OF_ALL),
    "metadata": ((0.50, 0.90, 1.48), (0.33, 0.74, 2.78)),
    "memory": ((0.61, 0.94, 1.30), (0.31, 0.69, 1.61)),
    "link": ((0.82, 1.00, 1.06), (0.59, 0.83, 0.91)),
    "ring": ((0.76, 1.09, 1.77), _FAR_OF_ALL),
    "all-to-all": ((0.78, 1.12, 1.76), _FAR_OF_ALL),
}
_NEAR = 4.0


def continued(points: Mapping[float, float], users: float) -> float:
    """Throughput with more users than at the last point, by the mean of both laws, in the unit of the points.

    Parameters
    ----------
    points : mapping
        Users -> throughput, at least two points. [above 0]
    users : float
        [at least those of the last point]

    Raises
    ------
    InputError
        If there are fewer than two points, or a number is out of range.

    Examples
    --------
    If two users get twice as much as one, growth stays linear; after a loss of a quarter, sixteen users get far less
    than sixteen times as much:

    >>> continued({1: 1.0, 2: 2.0}, 16), round(continued({1: 1.0, 2: 1.5}, 16), 2)
    (16.0, 2.2)
    """
    if len(points) < 2:
        raise InputError(f"points={dict(points)} must be at least two: one cannot show a bend")
    (few, low), (many, high) = sorted(points.items())[-2:]
    above(0, users=few, throughput=min(low, high))
    if users < many:
        raise refusal("users", users, f"must be at least {many:g}, those of the last point")
    together = [_one_law(many / few, low, high, users / few, sharpness) for sharpness in (SHARPNESS, NOMINAL_SHARPNESS)]
    return math.sqrt(together[0] * together[1])


def _one_law(ratio: float, low: float, high: float, users: float, sharpness: float) -> float:
    """Throughput of `users` times the first of two points, by the law of `throughput` through both."""
    # X^-p = n^-p one^-p + (1 - n^-p) P^-p, with the first point as one user: the second gives P^-p.
    room = math.pow(high, -sharpness) - math.pow(ratio * low, -sharpness)
    if room <= 0:
        return users * low
    ceiling = room / (1 - math.pow(ratio, -sharpness))
    less = math.pow(users, -sharpness)
    return math.pow(less * math.pow(low, -sharpness) + (1 - less) * ceiling, -1 / sharpness)


def continued_range(points: Mapping[float, float], users: float, kind: Kind) -> Throughput:
    """Throughput of more users than were measured, with the interval that public curves of its kind give.

    Parameters
    ----------
    points : mapping
        Users -> throughput, at least two points. [above 0]
    users : float
        [more than those of the last point]
    kind : {"own-files", "shared-file", "device", "metadata", "memory", "link", "ring", "all-to-all"}
        As in `hopperlib.contention.saturation.throughput_range`.

    Raises
    ------
    InputError
        If a number is out of range or the kind unknown.

    Examples
    --------
    >>> found = continued_range({1: 1.0, 2: 1.9, 4: 3.0}, 16, "memory")
    >>> found.low < found.usual < found.high
    True
    """
    if kind not in KINDS:
        raise refusal("kind", kind, f"must be one of: {', '.join(KINDS)}")
    middle = continued(points, users)
    low, usual, high = _SPREAD[kind][users > _NEAR * max(points)]
    return Throughput(usual * middle, low * middle, high * middle)
