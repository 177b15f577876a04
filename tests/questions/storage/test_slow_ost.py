"""The explorer of slow OSTs: documented dumps, refusals, corners."""

import json

import pytest

from hopperkit.questions.storage.slow_ost import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError


def test_the_default_is_the_dump_of_35_minutes():
    result = QUESTION.run()
    # 36 TB over 144 OSTs are 250 GB each; at 119 MB/s 2,101 s
    assert result.facts["minutes"] == pytest.approx(35.0, abs=0.05)
    assert (round(result.facts["explaining_low_mb_s"]), round(result.facts["explaining_high_mb_s"])) == (99, 139)
    assert result.facts["power"] > 0.9
    assert "exclude" in result.facts["codes"]
    badges = {value.label: value.badge for value in result.values}
    assert badges["Slowest OST that explains the measured time"] == "calibrated"


def test_without_slow_osts_nothing_is_to_be_left_out():
    result = QUESTION.run(slow=0)
    assert result.facts["minutes"] == result.facts["minutes_without"]
    assert "exclude" not in result.facts["codes"]
    assert len(result.figures[0].data) == 1


def test_a_time_that_healthy_osts_explain():
    assert "no-slow-ost-needed" in QUESTION.run(measured_min=20.0).facts["codes"]
    assert "faster-than-healthy" in QUESTION.run(measured_min=5.0).facts["codes"]


@pytest.mark.parametrize(
    ("values", "control", "message"),
    [
        ({"osts": 4, "slow": 4}, "slow", "slow=4 must be from 0 to 3"),
        ({"slow_mb_s": 300.0}, "slow_mb_s", "slow_mb_s=300.0 must not be above healthy_mb_s=243"),
    ],
)
def test_refusals_point_at_their_control(values, control, message):
    with pytest.raises(InputError) as error:
        QUESTION.run(**values)
    assert error.value.name == control
    assert message in str(error.value)


@pytest.mark.parametrize("slow", [0, 24])
@pytest.mark.parametrize("size", [1.0, 60.0])
@pytest.mark.parametrize("variables", [1, 64])
@pytest.mark.parametrize("noise", [0.05, 1.0])
def test_corners_give_plain_json(slow, size, variables, noise):
    values = {"slow": slow, "size_tb": size, "variables": variables, "noise": noise, "slow_mb_s": 5.0}
    assert json.loads(answer_json("slow-ost", json.dumps(values)))["ok"]
