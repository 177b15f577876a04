"""Sustained performance: the printed sums, and its laws."""

from __future__ import annotations

import pytest

from hopperbook.documented import printed
from hopperlib.errors import InputError
from hopperlib.monitoring.ssp import Rate, Suite, improvement, rate, speedup_term

CODES = ("ft", "mg", "sp", "cam", "gtc", "paratec")


def test_hopper_by_its_definition():
    # NERSC, "SSP", Trinity / NERSC-8 benchmarks: reference counts, seconds, and rates a node on 2,048 nodes.
    for operations, time_s, expected in (
        (1065, 92.4, "0.00563"),
        (3350, 96.0, "0.0170"),
        (1365, 151, "0.00441"),
        (18409, 1263, "0.00712"),
    ):
        places = len(expected.partition(".")[2])
        assert rate(operations, time_s, 2048) == pytest.approx(float(expected), abs=0.5 * 10**-places)


def test_bassi_by_its_table():
    # The geometric means of the printed rows: (670 800 480 493 650 4400)^(1/6) and (822 1345 572 554 753 4794)^(1/6).
    suite = Suite(
        rates=tuple(
            Rate(
                name=code,
                rate=printed(f"acceptance.ssp-{code}-current"),
                commitment=printed(f"acceptance.ssp-{code}-commitment"),
            )
            for code in CODES
        )
    )
    assert suite.committed == pytest.approx(844.5, abs=0.05)
    assert suite.ssp == pytest.approx(1039.9, abs=0.05)
    assert suite.passes


def test_a_machine_multiplies():
    rates = (Rate(name="a", rate=3.0),)
    assert Suite(rates=rates, processors=100).ssp == pytest.approx(300)
    assert Suite(rates=rates).passes is None


def test_one_short_benchmark_fails_the_suite():
    suite = Suite(rates=(Rate(name="a", rate=10, commitment=1), Rate(name="b", rate=0.9, commitment=1)))
    assert suite.ssp > suite.committed
    assert not suite.passes
    assert suite.rates[1].margin == pytest.approx(-0.1)


@pytest.mark.parametrize(
    ("value", "message"), [(0, "rate=0 must be above 0"), (float("nan"), "rate=nan must be above 0")]
)
def test_refuses(value, message):
    with pytest.raises(InputError, match=message):
        Rate(name="a", rate=value)


def test_an_empty_suite_is_refused():
    with pytest.raises(InputError, match="a suite needs at least one benchmark"):
        Suite(rates=())


def test_improvement_by_hand():
    # Four times the problem in half the time on a tenth of a machine twice as large: 4 x 2 x (10 x 2) = 160.
    term = speedup_term(speedup=2, nodes=10, nodes_reference=100, machine=200, machine_reference=100, capability=4)
    assert term == 160
    assert improvement([160, 10], [1, 3]) == pytest.approx((160 * 10**3) ** 0.25)
    with pytest.raises(InputError, match=r"speedup=0\.5 must be at least 1"):
        speedup_term(speedup=0.5, nodes=1, nodes_reference=1, machine=1, machine_reference=1)


@pytest.mark.parametrize("processors", [0, -1, float("inf"), float("nan")])
def test_refuses_a_number_of_processors(processors):
    with pytest.raises(InputError, match=r"processors=.* must be above 0"):
        Suite(rates=(Rate(name="a", rate=1.0),), processors=processors)
