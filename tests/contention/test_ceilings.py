"""Measured ceilings: each system left out in turn, a hand-computed interval, errors."""

from __future__ import annotations

import math
from collections import defaultdict

import pytest
from scipy.stats import t

from hopperlib.contention.ceilings import _student, ceiling, interval, measured_ceilings
from hopperlib.errors import InputError

GROUPS = defaultdict(list)
for row in measured_ceilings():
    GROUPS[row.quantity, row.group].append(row)
LARGE = {name: rows for name, rows in GROUPS.items() if len(rows) >= 5}


def _held(rows) -> int:
    """Return the values that are within the interval of all others in their group."""
    values = [row.value for row in rows]
    ends = (interval(values[:place] + values[place + 1 :]) for place in range(len(values)))
    return sum(each.low <= value <= each.high for value, each in zip(values, ends, strict=True))


def test_each_system_left_out():
    """The intervals for 80 % contain 80 % of the systems left out, within ten points."""
    held, values = sum(map(_held, LARGE.values())), sum(map(len, LARGE.values()))
    assert (held, values) == (175, 212)
    assert 0.7 <= held / values <= 0.9


@pytest.mark.parametrize("name", LARGE)
def test_no_group_is_far_from_its_word(name):
    rows = LARGE[name]
    assert 0.65 <= _held(rows) / len(rows) <= 0.95


def test_one_client_in_one_shared_file_is_known_within_a_factor_of_two():
    """Each system left out: the network of ARCHER2 is ten years newer than most and is off by 2.3."""
    rows = GROUPS["client-shared-write", "lustre"]
    assert len(rows) == 7
    for row in rows:
        usual = ceiling("client-shared-write", "lustre", without=[row.system]).usual
        factor = max(usual / row.value, row.value / usual)
        assert factor < (2.4 if row.system == "ARCHER2" else 1.45)


def test_interval_by_hand():
    # Logarithms 0, 1, 2: mean 1, standard deviation 1, t(0.9, 2) = 1.886, sqrt(1 + 1/3).
    usual, low, high, systems = interval([1, math.e, math.e**2])
    assert usual == pytest.approx(math.e)
    assert systems == 3
    assert high == pytest.approx(math.exp(1 + 1.886 * math.sqrt(4 / 3)), rel=0.02)
    assert low * high == pytest.approx(usual**2)


def test_no_spread_no_width():
    assert interval([2.0] * 4) == (2.0, 2.0, 2.0, 4)


@pytest.mark.parametrize("freedom", [2, 3, 5, 25, 1000])
def test_quantile_of_student(freedom):
    assert _student(freedom) == pytest.approx(t.ppf(0.9, freedom), rel=0.01)


def test_every_row_names_its_source():
    for row in measured_ceilings():
        assert all((row.source, row.place, row.system))
        assert row.value > 0
        assert row.unit in ("GB/s", "ratio")
    keys = [(row.quantity, row.group, row.system) for row in measured_ceilings()]
    assert len(keys) == len(set(keys))


def test_refusals():
    with pytest.raises(InputError, match="no measured ceiling 'client-shared-write of zfs'; did you mean"):
        ceiling("client-shared-write", "zfs")
    with pytest.raises(InputError, match="2 measured systems are too few for a spread; there must be at least 3"):
        interval([1.0, 2.0])
    with pytest.raises(InputError, match="value=0 must be above 0"):
        interval([1.0, 2.0, 0.0])
