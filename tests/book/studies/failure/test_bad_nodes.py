"""The study of bad nodes: the numbers are the printed ones, and the claims are true."""

from __future__ import annotations

import random

import pytest

from hopperbook.studies.failure.bad_nodes import (
    BAD_NODES,
    HEALTH_CHECK_GB,
    HERO_CORES,
    HUNG_CORE_HOURS,
    SORTED_BY_HAND_GB,
    model,
)


def test_printed_numbers():
    assert (BAD_NODES, HUNG_CORE_HOURS, HERO_CORES) == (8, 13.5e6, 100_000)
    assert (HEALTH_CHECK_GB, SORTED_BY_HAND_GB) == (29, 30)


def test_users_by_hand():
    # Half the hours and half as many jobs a user: as many users. All jobs as likely: many small ones.
    usual = {"run_hours": 12, "jobs_a_user": 4}
    users, twice = (model(each, random.Random(1))["hung-users"] for each in (usual, usual | {"run_hours": 24}))
    assert users == pytest.approx(2 * twice)
    assert model(usual, random.Random(1), by_size=False)["hung-users"] > 10 * users


def test_what_is_claimed_holds(scored):
    assert {row.verdict for row in scored("bad-nodes").values()} == {"input", "not modelled", "too wide"}
