"""The study of builds: its bugs, versions and days are the printed ones, and the shapes hold."""

from __future__ import annotations


def test_what_is_claimed_holds(scored):
    assert {row.verdict for row in scored("build-and-link").values()} <= {"holds", "input", "not modelled"}
