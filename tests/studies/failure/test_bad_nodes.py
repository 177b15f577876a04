"""The study of bad nodes: the numbers are the printed ones, and what is claimed holds."""

from __future__ import annotations

from hopperlib.scoring import rows
from hopperlib.studies.failure.bad_nodes import (
    BAD_NODES,
    HEALTH_CHECK_GB,
    HERO_CORES,
    HUNG_CORE_HOURS,
    SORTED_BY_HAND_GB,
)


def test_printed_numbers():
    assert (BAD_NODES, HUNG_CORE_HOURS, HERO_CORES) == (8, 13.5e6, 100_000)
    assert (HEALTH_CHECK_GB, SORTED_BY_HAND_GB) == (29, 30)


def test_what_is_claimed_holds():
    assert {row.verdict for row in rows("bad-nodes")} == {"by construction", "input", "not modelled"}
