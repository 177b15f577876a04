"""The explorer of buffered I/O: documented cases, refusals, plain JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.questions.storage.iobuf import QUESTION
from hopperlib.render.answer import answer_json


def test_the_default_is_the_case_it_is_calibrated_on():
    result = QUESTION.run()
    assert result.facts["write_gain_percent"] == pytest.approx(11.0)
    assert result.facts["memory_mib"] == 96
    assert result.copyables[0].text == "export IOBUF_PARAMS='*:size=2M:count=2'"
    badges = {value.label: value.badge for value in result.values}
    assert badges["Cost of a call"] == "calibrated"
    assert badges["Gain of writes"] == "predicted"


def test_calls_of_unknown_size():
    result = QUESTION.run(transfer_bytes=0)
    assert result.summary == "The buffers take 96 MiB of each node. Give the size of a call to learn what they buy."
    assert result.facts["rules"][0]["gain_fraction"] is result.facts["transfer_bytes"] is None


def test_every_pattern_of_a_setting():
    result = QUESTION.run(params="*.dat,%stdout:size=64k", tasks_per_node=0, machine="perlmutter")
    # Perlmutter's nodes have 128 cores: 4 buffers of 1 MiB, and of 64 KiB, for each of their tasks.
    assert [rule["memory_per_node_bytes"] >> 20 for rule in result.facts["rules"]] == [512, 32]
    assert result.facts["machine"] == "perlmutter"


def test_large_writes_gain_nothing():
    result = QUESTION.run(transfer_bytes=1 << 20)
    assert "little-to-gain" in result.facts["codes"]


@pytest.mark.parametrize(
    ("values", "control", "message"),
    [
        ({"params": ""}, "params", "IOBUF_PARAMS is empty"),
        ({"params": "*:count=x"}, "params", "count=x"),
        ({"transfer_bytes": -1}, "transfer_bytes", "must be from 0"),
    ],
)
def test_refusals_point_at_their_control(values, control, message):
    with pytest.raises(InputError) as error:
        QUESTION.run(**values)
    assert error.value.name == control
    assert message in str(error.value)


@pytest.mark.parametrize("transfer", [0, 1, 1 << 30])
@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.parametrize("tasks", [1560, 1_000_000])
def test_corners_give_plain_json(transfer, direction, tasks):
    values = {"transfer_bytes": transfer, "direction": direction, "tasks": tasks}
    assert json.loads(answer_json("iobuf", json.dumps(values)))["ok"]


@given(st.text(alphabet="*%abc:,=0123456789kMsizecountverbose'\" ", max_size=50))
def test_whatever_is_typed_is_answered_or_refused(text):
    answer = json.loads(answer_json("iobuf", json.dumps({"params": text})))
    assert answer["ok"] or answer["error"]["control"] == "params"
