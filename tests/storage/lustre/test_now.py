"""A time compared with its range, and gains from changes: hand-derived cases, and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.filesystems.measured import Range
from hopperkit.filesystems.now import Change, stand

EXPECTED = Range(100.0, 200.0, 400.0)


@pytest.mark.parametrize(
    ("seconds", "verdict"), [(99.0, "faster"), (100.0, "expected"), (400.0, "expected"), (401.0, "slower")]
)
def test_beside_the_range(seconds, verdict):
    assert stand(seconds, EXPECTED, []).verdict == verdict


def test_what_a_change_wins_by_hand():
    # Factors 0.5, 0.5 and 0.75: of 300 s a quarter is sure, and the fast end is 50 s.
    change = Change("more stripes", "lfs setstripe -c 8 DIRECTORY", Range(50.0, 100.0, 300.0))
    (gain,) = stand(300.0, EXPECTED, [change]).gains
    assert (gain.low_s, gain.high_s) == (75.0, 250.0)
    # A time beyond the range has another cause: nothing is sure.
    (gain,) = stand(1000.0, EXPECTED, [change]).gains
    assert (gain.low_s, gain.high_s) == (0.0, 950.0)
    # A change that is slower even at its fast end is not advice.
    assert stand(40.0, EXPECTED, [change]).gains == ()


ranges = st.tuples(st.floats(1, 1e3), st.floats(1, 10), st.floats(1, 10)).map(
    lambda parts: Range(parts[0], parts[0] * parts[1], parts[0] * parts[1] * parts[2])
)


@given(st.floats(0.1, 1e6), ranges, st.lists(ranges, max_size=4))
def test_no_more_is_won_than_there_is_and_the_first_is_the_surest(seconds, expected, times):
    gains = stand(seconds, expected, [Change(str(time), "", time) for time in times]).gains
    assert all(0 <= gain.low_s <= gain.high_s <= seconds for gain in gains)
    assert [gain.low_s for gain in gains] == sorted((gain.low_s for gain in gains), reverse=True)


def test_refusal():
    with pytest.raises(ValueError, match="now_s=0 must be above 0"):
        stand(0, EXPECTED, [])
