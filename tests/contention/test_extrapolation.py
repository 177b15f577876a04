"""Extrapolated curves: hand-derived cases, laws, and public curves with each source left out in turn."""

from __future__ import annotations

import math
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.contention.extrapolation import _SPREAD, continued, continued_range
from hopperlib.contention.saturation import throughput
from hopperlib.data_files import rows


def _left_out():
    """Yield kind, source, curve, whether it is far, and measured over estimated throughput, from every third point on."""
    for row in rows("contention-curves.csv"):
        users, values = ([float(each) for each in row[name].split()] for name in ("users", "values"))
        if users[0] != 1:
            continue
        for last in range(2, len(users) - 1):
            if users[last] > 16:
                break
            points = dict(zip(users[: last + 1], values, strict=False))
            for place in range(last + 1, len(users)):
                if 2 <= users[place] / users[last] <= 16:
                    far = users[place] > 4 * users[last]
                    yield row["kind"], row["source"], row["curve"], far, values[place] / continued(points, users[place])


def _quantiles(factors):
    """Quantiles at 10, 50 and 90 %, with all curves weighted equally."""
    curves = defaultdict(list)
    for curve, factor in factors:
        curves[curve].append(factor)
    ranked = sorted((factor, 1 / len(each)) for each in curves.values() for factor in each)
    found, total = [], 0.0
    for factor, weight in ranked:
        total += weight / len(curves)
        while len(found) < 3 and total >= (0.1, 0.5, 0.9)[len(found)] - 1e-9:
            found.append(factor)
    return found


def test_the_stated_factors_are_those_of_the_curves():
    points = list(_left_out())
    for kind, ends in _SPREAD.items():
        for far in (False, True):
            chosen = [(curve, factor) for k, _, curve, f, factor in points if k == kind and f == far]
            if len({curve for curve, _ in chosen}) >= 3:
                assert _quantiles(chosen) == pytest.approx(ends[far], abs=0.03), (kind, far)


def test_intervals_hold_four_of_five_points_of_sources_left_out():
    """The factors come from the other sources of the same kind; a kind with only one source is not checked."""
    points, inside, weights = list(_left_out()), 0.0, 0.0
    curves = defaultdict(list)
    for kind, source, curve, far, factor in points:
        curves[kind, source, far, curve].append(factor)
    for (kind, source, far, _), factors in curves.items():
        others = [(c, v) for k, s, c, f, v in points if (k, f) == (kind, far) and s != source]
        if len({curve for curve, _ in others}) < 5:
            continue
        low, _, high = _quantiles(others)
        inside += sum(low <= factor <= high for factor in factors) / len(factors)
        weights += 1
    assert weights > 100
    assert 0.70 <= inside / weights <= 0.90


@given(st.floats(0.1, 100), st.floats(1.01, 50), st.integers(2, 8), st.integers(1, 30))
def test_between_the_two_laws(one, room, many, more):
    """Points on the law itself: the estimate is between the law and the closed queue through the same points."""
    ceiling = one * room
    points = {1.0: one, float(many): throughput(many, one, ceiling)}
    users = many + more
    found, law = continued(points, users), throughput(users, one, ceiling)
    assert found >= law * (1 - 1e-6)
    assert found <= users * one * (1 + 1e-9)
    assert found >= points[float(many)] * (1 - 1e-9)


def test_a_straight_line_goes_on():
    assert continued({1: 2.0, 4: 8.0}, 12) == pytest.approx(24.0)


def test_by_hand():
    """From 1 to 1.5 at two users. Closed queue: 1/P = 2/1.5 - 1 ... at 4: 1 / (1/4 + 3/4 * 1/3) = 2; p = 2.5 below
    that.
    """
    queue = 2.0
    room = (1.5**-2.5 - 2**-2.5) / (1 - 2**-2.5)
    sharp = (4**-2.5 + (1 - 4**-2.5) * room) ** -0.4
    assert continued({1: 1.0, 2: 1.5}, 4) == pytest.approx(math.sqrt(queue * sharp))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: continued({1: 1.0}, 2), "at least two"),
        (lambda: continued({1: 1.0, 2: 2.0}, 1), "must be at least 2"),
        (lambda: continued({1: 1.0, 2: 0.0}, 3), "throughput"),
        (lambda: continued_range({1: 1.0, 2: 2.0}, 3, "tape"), "must be one of"),
    ],
)
def test_errors_name_the_value_and_the_rule(call, text):
    with pytest.raises(ValueError, match=text):
        call()
