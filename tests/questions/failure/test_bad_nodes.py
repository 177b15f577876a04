"""The bad-nodes explorer: its numbers by hand, and when a check does not pay."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperkit.questions.failure.bad_nodes import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError


def test_one_node_of_hopper():
    result = QUESTION.run(bad=8, job_nodes=1)
    # 8 of 6,384 nodes
    assert result.facts["chance"] == pytest.approx(8 / 6384)
    assert result.summary.startswith("A job on 1 node of Hopper hits a bad node with a probability of 0.1 %")
    assert [notice.code for notice in result.findings] == ["no-gain"]


def test_what_is_lost_by_hand():
    # One bad node: the chance is 4167 / 6384, and all 24 hours on 4,167 nodes are lost.
    facts = QUESTION.run(bad=1, job_nodes=4167, run_hours=24, check_minutes=6, found_fraction=0.5).facts
    lost = 4167 / 6384 * 4167 * 24
    assert facts["waste_node_hours"] == pytest.approx(lost)
    # Half of it is found, for a tenth of an hour on each node.
    assert facts["gain_node_hours"] == pytest.approx(lost / 2 - 416.7)


def test_the_notice_names_the_chance_from_which_a_check_pays():
    # 15 minutes are half of the half hour; with 0.8 found the chance must be above 0.5 / 0.8.
    result = QUESTION.run(bad=1, job_nodes=64, run_hours=0.5, check_minutes=15)
    assert result.facts["worth_from_chance"] == pytest.approx(0.625)
    assert "62.50 %" in result.findings[0].message


def test_a_check_that_finds_nothing_never_pays():
    assert "never pays" in QUESTION.run(found_fraction=0.0).findings[0].message


def test_a_check_longer_than_the_run_never_pays():
    result = QUESTION.run(run_hours=0.1, check_minutes=60, job_nodes=6384)
    assert (result.facts["worth_from_chance"], result.facts["chance"]) == (None, 1.0)


def test_no_bad_node():
    result = QUESTION.run(bad=0)
    assert result.summary == "No node is bad, so a check can only cost."
    assert result.values[0].text == "0.00"


@pytest.mark.parametrize(("control", "value"), [("job_nodes", 6385), ("bad", 6385)])
def test_more_than_the_machine_has(control, value):
    with pytest.raises(InputError, match=r"must be at most 6,384, the nodes of Hopper") as caught:
        QUESTION.run(**{control: value})
    assert caught.value.name == control


@settings(max_examples=settings.default.max_examples // 2)
@given(
    bad=st.integers(0, 40) | st.just(3072),
    job_nodes=st.integers(1, 3072),
    run_hours=st.floats(0.01, 1e4),
    check_minutes=st.floats(0, 1440),
    lost_fraction=st.floats(0, 1),
    found_fraction=st.floats(0, 1),
)
def test_any_setting_gets_an_answer(**values):
    answer = json.loads(answer_json("bad-nodes", json.dumps(values | {"machine": "perlmutter"})))
    assert answer["ok"]
    assert 0 <= answer["result"]["facts"]["chance"] <= 1
