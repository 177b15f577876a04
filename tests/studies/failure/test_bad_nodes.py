"""The study of bad nodes: every row has a role, and the numbers are the printed ones."""

from __future__ import annotations

from hopperlib.documented import by_study
from hopperlib.studies.failure.bad_nodes import (
    BAD_NODES,
    HEALTH_CHECK_GB,
    HERO_CORES,
    HUNG_CORE_HOURS,
    SORTED_BY_HAND_GB,
    STUDY,
)


def test_every_row_has_a_role():
    assert sorted(check.id for check in STUDY.checks()) == sorted(row.id for row in by_study("bad-nodes"))


def test_printed_numbers():
    assert (BAD_NODES, HUNG_CORE_HOURS, HERO_CORES) == (8, 13.5e6, 100_000)
    assert (HEALTH_CHECK_GB, SORTED_BY_HAND_GB) == (29, 30)


def test_what_is_claimed_holds():
    assert [check.id for check in STUDY.checks() if check.reproduced is False] == []
