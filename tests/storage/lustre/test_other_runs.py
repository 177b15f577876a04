"""Estimates from one measured run for another: fitted powers, laws, and accuracy on systems left out."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from hopperkit.filesystems import other_runs
from hopperkit.filesystems.other_runs import (
    ESTIMATES,
    NODES,
    READ_BY_WRITE,
    Power,
    fit,
    held_out,
    of_nodes,
    of_rates,
    rate_at,
)
from hopperlib.errors import InputError

PAGE = Path(__file__).parents[3] / "book" / "part-storage.md"


def test_the_constants_are_those_of_the_table():
    fitted = [fit(of_nodes(phase), through_one=True) for phase in NODES]
    fitted.append(fit(of_rates("easy_write", "easy_read"), through_one=False))
    for constant, power in zip((*NODES.values(), READ_BY_WRITE), fitted, strict=True):
        assert constant == pytest.approx(power, rel=0.01)


def test_the_page_says_how_the_estimates_held():
    """Every number of the page's table is recomputed, with each system left out in turn."""
    page = PAGE.read_text(encoding="utf-8")
    for name, held in other_runs.table():
        row = f"| {name} | {held.rows} | {held.systems} | {held.typical_factor:.2f} | {100 * held.held:.0f} % |"
        assert row in page, row


def test_estimates_from_a_run_of_the_system_hold_as_wanted():
    """At least 60 rows of 12 systems, a typical factor of at most 2, and 8 of 10 within the range."""
    from_a_run = [held_out(points(), through_one=one) for name, (points, one) in ESTIMATES.items() if "one run" in name]
    assert sum(each.rows for each in from_a_run) >= 60
    assert all(each.systems >= 12 and each.typical_factor <= 2 and 0.7 <= each.held <= 0.9 for each in from_a_run)


def test_a_power_is_found_again_where_it_is_known():
    points = [(f"s{n % 7}", 0.1 * n, 0.5 * 0.1 * n + 1) for n in range(40)]
    power = fit(points, through_one=False)
    assert power == pytest.approx(Power(0.5, 10.0, 1.0, 1.0))
    # A system with many results has the same weight as one with few.
    heavy = [*points, *[("s0", 1.0, 9.0)] * 500]
    assert fit(heavy, through_one=False).exponent < 3


def test_more_nodes_are_never_slower_and_the_same_nodes_give_the_same():
    rates = [rate_at(10.0, 16, nodes).usual for nodes in (1, 4, 16, 64, 256)]
    assert rates == sorted(rates)
    assert math.isclose(rates[2], 10.0)
    # There and back again returns to the start.
    assert math.isclose(rate_at(rate_at(10.0, 16, 64).usual, 64, 16).usual, 10.0)


@pytest.mark.parametrize("wrong", [(0.0, 1, 2), (1.0, 0, 2), (1.0, 1, 0)])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(InputError, match=re.compile("must be")):
        rate_at(*wrong)
