"""The study of builds: its bugs, versions and days are the printed ones, and the shapes hold."""

from __future__ import annotations

from hopperbook.score import rows


def test_what_is_claimed_holds():
    assert {row.verdict for row in rows("build-and-link")} <= {"holds", "input", "not modelled"}
