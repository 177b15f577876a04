"""The explorer of twenty thousand files: default, the same seed, refusals, corners."""

import json

import pytest

from hopperkit.questions.storage.trillion import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError

FEW = {"files": 2000}


def test_the_default_shows_that_both_are_not_met():
    result = QUESTION.run()
    assert "not met together" in result.summary
    assert result.facts["rate_gb_s"] == pytest.approx(28.2, abs=0.3)
    assert result.facts["shared_rate_gb_s"] == pytest.approx(25.8, abs=0.05)
    assert QUESTION.heavy


def test_the_same_seed_answers_the_same():
    one, other, third = (QUESTION.run(**FEW, seed=seed).to_dict() for seed in (3, 3, 4))
    assert one == other
    assert one != third


def test_round_robin_needs_one_deal():
    result = QUESTION.run(allocator="round-robin", **FEW)
    assert result.facts["repetitions"] == 1
    # 2000 over 156: 12.82 on average, 13 on the fullest
    assert result.facts["rate_gb_s"] == pytest.approx(35 * 12.8205 / 13, abs=0.001)


def test_wide_files_are_dealt_less_often():
    result = QUESTION.run(stripe_count=16)
    assert result.facts["repetitions"] < 50


@pytest.mark.parametrize(
    ("values", "control", "message"),
    [
        ({"stripe_count": 8, "osts": 4}, "stripe_count", "stripe_count=8 must be from 1 to 4"),
    ],
)
def test_refusals_point_at_their_control(values, control, message):
    with pytest.raises(InputError) as error:
        QUESTION.run(**FEW, **values)
    assert error.value.name == control
    assert message in str(error.value)


@pytest.mark.parametrize("allocator", ["random", "round-robin", "weighted"])
@pytest.mark.parametrize("corner", [{"files": 1}, {"osts": 6, "stripe_count": 6}, {"variables": 64, "spread_s": 120.0}])
def test_corners_give_plain_json(allocator, corner):
    values = {**FEW, "allocator": allocator, **corner}
    answer = json.loads(answer_json("trillion", json.dumps(values)))
    assert answer["ok"]


def test_one_ost_is_always_full():
    result = QUESTION.run(osts=1, **FEW)
    assert result.facts["rate_gb_s"] == pytest.approx(35)
    assert result.facts["spread_s"] == 0
