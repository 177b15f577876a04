"""The explorer of buffered I/O: documented cases, refusals, plain JSON."""

import json

import pytest

from hopperkit.questions.storage.iobuf import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError


def test_the_default_is_the_case_it_is_calibrated_on():
    result = QUESTION.run()
    assert result.facts["write_gain_percent"] == pytest.approx(11.0)
    assert result.facts["memory_mib"] == 96
    assert result.copyables[0].text == "export IOBUF_PARAMS='*:size=2M:count=2'"
    badges = {value.label: value.badge for value in result.values}
    assert badges["Cost of a call"] == "calibrated"
    # The very gain that the cost of a call was fitted to, and the other one.
    assert badges["Gain of writes"] == "calibrated"
    assert badges["Gain of reads"] == "predicted"
    reads = QUESTION.run(transfer_bytes=1 << 20, direction="read")
    assert {value.badge for value in reads.values if value.label == "Gain of reads"} == {"calibrated"}
    elsewhere = QUESTION.run(tasks=100)
    assert {value.badge for value in elsewhere.values if value.label == "Gain of writes"} == {"predicted"}


def test_buffers_smaller_than_a_call_merge_nothing():
    result = QUESTION.run(transfer_bytes=1 << 20, buffer_kib="1024", direction="read")
    assert result.facts["codes"] == ["buffer-too-small"]
    assert result.copyables[0].text == "export IOBUF_PARAMS='*:size=1M:count=2:prefetch=1'"


def test_a_machine_without_iobuf_is_told_what_does_the_same():
    result = QUESTION.run(buffer_kib="4096", machine="perlmutter")
    assert "no-iobuf" in result.facts["codes"]
    assert result.copyables[0].text == "setvbuf(file, NULL, _IOFBF, 4194304);"


@pytest.mark.parametrize("transfer", [1, 16])
@pytest.mark.parametrize("machine", ["hopper", "perlmutter"])
def test_small_calls_gain_orders_of_magnitude_with_their_range(transfer, machine):
    """One task of one node that writes a byte, or 16, for each call."""
    result = QUESTION.run(transfer_bytes=transfer, tasks=1, tasks_per_node=1, machine=machine)
    facts = result.facts
    assert facts["gain_percent"] > 100 * 100
    assert 100 * 20 < facts["gain_low_percent"] < facts["gain_percent"] < facts["gain_high_percent"]
    assert "times as fast" in result.summary
    (note,) = (finding for finding in result.findings if finding.code == "extrapolated")
    assert note.level == "advice"
    assert "30 to more than 100 times" in note.message


def test_gains_fall_with_the_size_of_a_call_without_a_cap():
    gains = [QUESTION.run(transfer_bytes=size, tasks=1).facts["gain_percent"] for size in (1, 64, 1024, 9_999, 10_000)]
    assert gains == sorted(gains, reverse=True)
    assert gains[3] == pytest.approx(gains[4], rel=0.01)


def test_large_writes_gain_nothing():
    result = QUESTION.run(transfer_bytes=1 << 20)
    assert "little-to-gain" in result.facts["codes"]


@pytest.mark.parametrize(
    ("values", "control", "message"),
    [
        ({"files": 1000}, "files", "the buffers take 93.8 GB of each node for 24 tasks with 1,000 open files each"),
        ({"transfer_bytes": 0}, "transfer_bytes", "must be from 1"),
    ],
)
def test_refusals_point_at_their_control(values, control, message):
    with pytest.raises(InputError) as error:
        QUESTION.run(**values)
    assert error.value.name == control
    assert message in str(error.value)


@pytest.mark.parametrize("transfer", [1, 1 << 30])
@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.parametrize("tasks", [1560, 1_000_000])
def test_corners_give_plain_json(transfer, direction, tasks):
    values = {"transfer_bytes": transfer, "direction": direction, "tasks": tasks}
    assert json.loads(answer_json("iobuf", json.dumps(values)))["ok"]
