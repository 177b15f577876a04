"""Words and numbers in sentences: where one unit gives way to the next."""

import re

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


def test_a_percent_sign_has_a_space_before_it_in_every_sentence(root):
    """Python's format writes 25%, and the book 25 %: `share` writes both shares and their sign."""
    sources = [path for part in ("hopperlib", "hopperkit", "book/hopperbook") for path in (root / part).rglob("*.py")]
    assert len(sources) > 300
    # Samples of code for readers, and texts of the data files, which `with_numbers` mends.
    apart = {"boxes.py", "study.py", "checks.py"}
    found = [
        f"{path.relative_to(root)}: {text}"
        for path in sources
        if path.name not in apart
        for text in re.findall(r"\{[^{}]*:[^{}]*%\}", path.read_text(encoding="utf-8"))
    ]
    assert found == []
