"""The memory explorer: its sentence, warnings, charts and facts agree with the model."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.questions.node.memory import QUESTION
from hopperlib.render.answer import answer_json


def test_the_printed_memory_of_a_task():
    for machine, text in (("hopper", "1.29"), ("franklin", "1.88")):
        packed = QUESTION.run(machine=machine, need_gb=1.0).values[1]
        assert (packed.label, packed.text, packed.badge) == ("For each task of a full node", text, "predicted")


def test_two_gigabytes_on_hopper():
    facts = QUESTION.run(need_gb=2.0, tasks=384).facts
    assert (facts["best_kind"], facts["best_nodes"], facts["best_cost"]) == ("large-memory", 16, 1.0)
    assert (facts["plain_tasks_per_node"], facts["plain_nodes"], facts["plain_cost"]) == (15, 26, 1.625)


def test_ordinary_nodes_only():
    result = QUESTION.run(need_gb=2.0, every_kind=False)
    assert {row[0] for row in result.tables[0].rows} == {"standard"}
    assert (result.facts["best_tasks_per_node"], result.facts["best_threads"]) == (12, 2)
    assert result.copyables[0].text == "aprun -n 384 -N 12 -d 2 ./a.out"


def test_what_the_reader_sets_is_assumed():
    result = QUESTION.run(need_gb=1.0, usable_gb=24.0)
    assert (result.values[0].text, result.values[0].badge) == ("24", "assumed")
    assert result.facts["full_node_gb"] == 1.0


def test_buffers_count():
    # 1.29 GB fits 24 times into 31 GB (30.96); with 4 MB more it does not (31.06)
    assert QUESTION.run(need_gb=1.29, every_kind=False).facts["plain_tasks_per_node"] == 24
    assert QUESTION.run(need_gb=1.29, every_kind=False, files=1).facts["plain_tasks_per_node"] == 23


def test_memory_that_is_not_near_is_said():
    codes = [notice.code for notice in QUESTION.run(need_gb=2.0).findings]
    assert codes == ["larger-nodes", "memory-not-local"]
    # twelve tasks of 2.5 GB are three on each NUMA node: 7.5 of 7.75 GB
    assert QUESTION.run(need_gb=2.5, every_kind=False).findings == ()


def test_what_does_not_fit_is_a_problem_with_a_way_out():
    result = QUESTION.run(need_gb=70.0, tasks=16)
    assert [(notice.code, notice.level) for notice in result.findings] == [("no-layout", "problem")]
    assert "at least 2 times as many tasks" in result.summary
    assert result.facts["fits"] is False
    assert len(result.figures) == 1
    assert [table.caption[:12] for table in result.tables] == ["Tasks merged"]


def test_memory_that_is_near_in_no_layout():
    # 29 GB fit on a node of 31 GB, on none of its four NUMA nodes of 7.75 GB
    result = QUESTION.run(need_gb=29.0, tasks=4, every_kind=False)
    assert [row[2:4] for row in result.tables[0].rows] == [(1, 6), (1, 1)]
    assert (result.facts["fits"], result.facts["best_local"], result.facts["plain_local"]) == (True, False, False)
    assert [finding.code for finding in result.findings] == ["memory-not-local"]
    # A few MB more than the node has, and nothing fits.
    assert QUESTION.run(need_gb=31.01, tasks=4, every_kind=False).facts["fits"] is False


def test_merged_tasks():
    rows = {row[0]: row for row in QUESTION.run(need_gb=2.0, copied_fraction=0.5).tables[1].rows}
    # six tasks of 2 GB, half of it copies: 1 + 6 x 1 = 7 GB of 31 / 4; 42.5 % would do
    assert rows[6][1:] == (4, 7.75, 7.0, True, "42.5 %")
    assert rows[1][4:] == (False, "never fits")
    assert QUESTION.run(need_gb=1.0).tables[1].rows[0][5] == "fits anyhow"


def test_threads_asked_for():
    facts = QUESTION.run(need_gb=2.0, threads=6).facts
    assert (facts["best_threads"], facts["best_tasks_per_node"], facts["best_nodes"]) == (6, 4, 96)


def test_a_machine_file_takes_the_place_of_the_machine():
    result = QUESTION.run(machine="hopper", machine_file=Machine.load("toy").to_toml(), need_gb=1.0, tasks=12)
    assert result.facts["machine"] == "toy"


@pytest.mark.parametrize(
    ("values", "message", "control"),
    [
        ({"need_gb": 0}, "need_gb=0 GB must be from 0.01 to 4,096", "need_gb"),
        ({"threads": 25}, "threads=25 must be from 1 to 24, the cores of a node of Hopper", "threads"),
        ({"machine_file": "title = 3"}, "machine file: title = 3: must be text", "machine_file"),
    ],
)
def test_refusals(values, message, control):
    with pytest.raises(InputError, match=message) as caught:
        QUESTION.run(**values)
    assert caught.value.name == control


@given(
    st.floats(0.01, 4096),
    st.integers(1, 1_000_000),
    st.sampled_from(Machine.names()),
    st.booleans(),
    st.floats(0, 1),
    st.floats(0, 1),
)
@example(need_gb=29.0, tasks=4, machine="hopper", every_kind=False, efficiency=1.0, copied=0.5)
def test_every_setting_has_an_answer_that_is_json(need_gb, tasks, machine, every_kind, efficiency, copied):
    values = {"need_gb": need_gb, "tasks": tasks, "machine": machine, "every_kind": every_kind}
    values |= {"thread_efficiency": efficiency, "copied_fraction": copied}
    answer = json.loads(answer_json("memory", json.dumps(values)))
    assert answer["ok"]
    result = answer["result"]
    assert result["facts"]["fits"] == (result["tables"][0]["caption"].startswith("Layouts"))


def test_examples_answer():
    for tried in QUESTION.examples:
        assert QUESTION.run(**tried.values).summary
