"""Exact convex hull of points with integer coordinates. One routine serves the browser and the analysis. All decisions
use integers, so no point is ever on the wrong side. Flat sets, for which library routines fail, have a hull too: a
polygon has no volume and two sides, a line or a point has neither volume nor surface.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from hopperlib.errors import InputError

Point = tuple[int, int, int]
# Faces as triangles (a, b, c) with the outward normal and the offset of the plane.
Faces = dict[tuple[Point, Point, Point], tuple[Point, int]]


class Hull(NamedTuple):
    """Volume and surface of a convex hull, in units of the grid."""

    volume: float
    surface: float


def _minus(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _dot(a: Point, b: Point) -> int:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _length(a: Point) -> float:
    return math.sqrt(_dot(a, a))


def _extremes(points: set[Point]) -> list[Point]:
    """Return the lowest and the highest point of each line along z: the others are inside."""
    lines: dict[tuple[int, int], tuple[int, int]] = {}
    for x, y, z in points:
        low, high = lines.get((x, y), (z, z))
        lines[x, y] = (min(low, z), max(high, z))
    return sorted({(x, y, z) for (x, y), pair in lines.items() for z in pair})


def _flat_surface(points: list[Point], normal: Point) -> float:
    """Return the area of both sides of the hull of points in one plane."""
    # The projection along the axis closest to the plane's normal keeps most of the polygon's area.
    axis = max(range(3), key=lambda i: abs(normal[i]))
    flat = sorted({tuple(part for i, part in enumerate(point) if i != axis) for point in points})

    def chain(line: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
        kept: list[tuple[int, ...]] = []
        for p in line:
            while len(kept) > 1 and (kept[-1][0] - kept[-2][0]) * (p[1] - kept[-2][1]) <= (
                kept[-1][1] - kept[-2][1]
            ) * (p[0] - kept[-2][0]):
                kept.pop()
            kept.append(p)
        return kept[:-1]

    ring = chain(flat) + chain(reversed(flat))
    # Twice the area of the projection counts both sides; the ratio is the cosine of its angle to the plane.
    twice = abs(sum(p[0] * q[1] - q[0] * p[1] for p, q in zip(ring, ring[1:] + ring[:1], strict=True)))
    return twice * _length(normal) / abs(normal[axis])


def _face(a: Point, b: Point, c: Point) -> Faces:
    """Return a triangle with its normal, and the distance of its plane."""
    out = _cross(_minus(b, a), _minus(c, a))
    return {(a, b, c): (out, _dot(out, a))}


def _body(corners: tuple[Point, Point, Point, Point]) -> Faces:
    """Return the faces of four corners that are not in one plane."""
    faces: Faces = {}
    for i in range(4):
        a, b, c = (corners[j] for j in range(4) if j != i)
        # The fourth corner is inside: a normal that points away from it points outwards.
        outward = _dot(_cross(_minus(b, a), _minus(c, a)), _minus(corners[i], a)) < 0
        faces |= _face(a, b, c) if outward else _face(a, c, b)
    return faces


def _raise_corner(faces: Faces, p: Point) -> None:
    """Replace the faces visible from an outside point by new faces up to that point."""
    seen = [face for face, (out, offset) in faces.items() if _dot(out, p) > offset]
    # The horizon: edges of visible faces whose other face is not visible. A point in line with such an edge would be in
    # the plane of the visible face and not see it, so no face has area zero.
    edges = {edge for a, b, c in seen for edge in ((a, b), (b, c), (c, a))}
    for face in seen:
        del faces[face]
    for a, b in edges:
        # Faces have consistent orientation, so an edge between two visible faces occurs in both directions.
        if (b, a) not in edges:
            faces |= _face(a, b, p)


def convex_hull(points: Iterable[Point]) -> Hull:
    """Return volume and surface of the convex hull of points.

    Parameters
    ----------
    points : iterable of (int, int, int)
        Points; repeated ones count once.

    Returns
    -------
    Hull
        Volume (exact up to the division by six) and surface. Both sides of a polygon count, as the limit of a thin
        body.

    Raises
    ------
    InputError
        If there are no points.

    Examples
    --------
    A cube of side 2, a square, a line:

    >>> cube = [(x, y, z) for x in (0, 2) for y in (0, 2) for z in (0, 2)]
    >>> convex_hull(cube)
    Hull(volume=8.0, surface=24.0)
    >>> convex_hull(cube[:4])
    Hull(volume=0.0, surface=8.0)
    >>> convex_hull(cube[:2])
    Hull(volume=0.0, surface=0.0)
    """
    kept = _extremes(set(points))
    if not kept:
        raise InputError("a convex hull needs at least one point")
    first = kept[0]
    # Three corners that are not on one line span a plane; otherwise all points are one point or a line.
    second = next((p for p in kept if p != first), first)
    along = _minus(second, first)
    third = next((p for p in kept if any(_cross(along, _minus(p, first)))), None)
    if third is None:
        return Hull(0.0, 0.0)
    normal = _cross(along, _minus(third, first))
    # A fourth point outside the plane makes the first body; otherwise all points form a polygon.
    fourth = next((p for p in kept if _dot(normal, _minus(p, first))), None)
    if fourth is None:
        return Hull(0.0, _flat_surface(kept, normal))
    faces = _body((first, second, third, fourth))
    for p in kept:
        _raise_corner(faces, p)
    # Tetrahedra from one corner to every face: six times each volume is an integer, so nothing is rounded before the
    # end.
    six_volumes = sum(_dot(_cross(_minus(a, first), _minus(b, first)), _minus(c, first)) for a, b, c in faces)
    return Hull(six_volumes / 6, sum(_length(out) for out, _ in faces.values()) / 2)
