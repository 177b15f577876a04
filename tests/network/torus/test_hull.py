"""The exact hull against scipy, and flat sets by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull, QhullError

from hopperlib.network.torus.hull import convex_hull

POINTS = st.lists(st.tuples(*[st.integers(0, 12)] * 3), min_size=1, max_size=40)


@given(POINTS)
def test_against_scipy(points):
    ours = convex_hull(points)
    try:
        theirs = ConvexHull(points)
    except (QhullError, ValueError):
        assert ours.volume == 0  # flat, or too few points: no solid
        return
    assert ours.volume == pytest.approx(theirs.volume, rel=1e-9)
    assert ours.surface == pytest.approx(theirs.area, rel=1e-9)


@given(POINTS, st.permutations(range(3)), st.tuples(*[st.integers(-5, 5)] * 3))
def test_neither_order_nor_place_nor_axes_matter(points, axes, shift):
    moved = [tuple(point[axis] + by for axis, by in zip(axes, shift, strict=True)) for point in reversed(points)]
    assert convex_hull(moved) == pytest.approx(convex_hull(points))


def test_flat_sets():
    assert convex_hull([(1, 2, 3)]) == (0, 0)
    assert convex_hull([(0, 0, 0), (2, 2, 2), (5, 5, 5)]) == (0, 0)
    # A right triangle with legs 3 and 4, both sides: 2 * 6. The same, tilted: legs sqrt(2) and 2.
    assert convex_hull([(0, 0, 7), (3, 0, 7), (0, 4, 7)]) == (0, 12)
    assert convex_hull([(0, 0, 0), (1, 1, 0), (0, 0, 2)]).surface == pytest.approx(2 * 2**0.5)
    # A whole y plane of 17 x 24: 16 * 23 on each side.
    assert convex_hull([(x, 0, z) for x in range(17) for z in range(24)]) == (0, 2 * 16 * 23)


def test_no_point():
    with pytest.raises(ValueError, match="needs at least one point"):
        convex_hull([])
