"""Sensitivity of an answer: each row of the table is the answer with that input changed."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from hopperbook.questions import load
from hopperkit.cli import hopper
from hopperkit.questions.sensitivity import numbers_of, sensitivity, shares, tables
from hopperlib.machine import Machine

LINE = {"line": "aprun -n 384 -N 12 vasp"}
ASKED = [("place", LINE), ("hybrid", {}), ("stripe", {"stripe_count": 4}), ("memory", {}), ("io-node", {})]


@pytest.mark.parametrize(("name", "values"), ASKED)
def test_changing_each_input_gives_what_the_table_says(name, values):
    """By the way of a user: a machine file written with the other number, or the control set to it."""
    question = load(name)
    labels = {control.label for control in question.controls}
    moved = sensitivity(question, values)
    assert moved
    for one in moved:
        for value, number in ((one.low, one.at_low), (one.value, one.at), (one.high, one.at_high)):
            asked = value
            if one.input not in labels:
                machine = Machine.load(question.defaults[one.control])
                whole = isinstance(machine.provenance[one.input].value, int)
                changed = machine.with_value(one.input, int(value) if whole else value, assumed="a test")
                asked = Machine.from_toml(changed.to_toml())
            assert numbers_of(question.run(**values, **{one.control: asked}))[one.number] == pytest.approx(number), one


def test_the_numbers_of_the_front_page_rest_on_what_is_counted_and_measured():
    """Twelve tasks on twelve cores saturate their memory: what one core draws, which is assumed, does not matter there."""
    assert {one.status for one in sensitivity(load("place"), LINE)} == {"documented", "measured"}
    # Three tasks on a NUMA node do not saturate it.
    assert "assumed" in {one.status for one in sensitivity(load("place"), {"line": "aprun -n 8 -N 8 vasp"})}


def test_shares_add_up_to_one():
    parts = shares(sensitivity(load("hybrid"), {}))
    assert len(parts) > 1
    for of in parts.values():
        assert sum(of.values()) == pytest.approx(1)


def test_what_nothing_moves_has_no_table():
    assert tables(sensitivity(load("documented"), {})) == ()


def test_a_number_in_a_file_of_the_reader_counts_as_the_file_says():
    text = Machine.load("hopper").with_value("node.standard.numa_bandwidth_gb_s", 12.0, assumed="a guess").to_toml()
    statuses = {one.input: one.status for one in sensitivity(load("place"), {**LINE, "machine_file": text})}
    assert statuses["node.standard.numa_bandwidth_gb_s"] == "assumed"


def test_everything_prints_them_and_the_short_answer_does_not():
    shown = CliRunner().invoke(hopper, ["place", LINE["line"], "--all"])
    assert "What the numbers depend on" in shown.stdout
    assert "node.standard.numa_bandwidth_gb_s  " in shown.stdout
    assert "rest on" not in CliRunner().invoke(hopper, ["place", LINE["line"]]).stdout
    assert "creates_per_s" in CliRunner().invoke(hopper, ["small-files", "--all"]).stdout
