"""Words and numbers in sentences: where one unit gives way to the next."""

import pytest

from hopperlib.text import duration


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
