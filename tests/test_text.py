"""Words and numbers in sentences: where one unit gives way to the next."""

import pytest

from hopperlib.text import duration, share


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.999, "999 ms"),
        (1, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3599, "60 min"),
        (3600, "1 h"),
        (172_799, "48 h"),
        (172_800, "2 days"),
    ],
)
def test_a_duration_changes_its_unit_at_the_whole_unit(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (0.999, "99.9 %"),
        (0.99999, "99.999 %"),
        (0.999_999_9, "more than 99.999 %"),
        (0.000_01, "0.001 %"),
        (0.000_000_1, "less than 0.001 %"),
        (0, "0 %"),
        (1, "100 %"),
    ],
)
def test_a_share_that_is_nearly_all_is_not_said_to_be_all(part, text):
    assert share(part) == text
