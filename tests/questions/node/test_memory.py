"""The memory explorer: its sentence, warnings, charts and facts agree with the model."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hopperkit.questions.node.memory import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError
from hopperlib.machine import Machine


def test_the_printed_memory_of_a_task():
    for machine, text in (("hopper", "1.29"), ("franklin", "1.88")):
        packed = QUESTION.run(machine=machine, need_gb=1.0).values[0]
        assert packed.label.startswith("Memory per task of a full ")
        assert (packed.text, packed.badge) == (text, "predicted")


def test_the_table_ends_after_twelve_rows_and_says_how_many_there_are():
    table = QUESTION.run(need_gb=2.0, tasks=384).tables[0]
    caption = "63 layouts that fit, the requested ones first, the cheapest on top, one for each number of nodes"
    assert (len(table.rows), table.caption) == (12, caption)
    assert len({row[:2] + row[3:4] for row in table.rows}) == 12
    assert table.rows[table.marked[0]][:3] == ("standard", 26, 15)


def test_two_gigabytes_on_hopper():
    result = QUESTION.run(need_gb=2.0, tasks=384)
    facts = result.facts
    # 384 tasks, 15 per node: 26 nodes; nodes with more memory hold 24 tasks, so 16 do.
    assert (facts["best_kind"], facts["best_nodes"], facts["best_cost"]) == ("standard", 26, 1.625)
    assert result.summary.endswith(
        "16 node-hours in place of 26: 24 tasks per node on 16 large-memory nodes, if the queue has such nodes."
    )
    assert (facts["plain_tasks_per_node"], facts["plain_nodes"], facts["plain_cost"]) == (15, 26, 1.625)


def test_ordinary_nodes_only():
    result = QUESTION.run(need_gb=2.0, kind="standard")
    assert {row[0] for row in result.tables[0].rows} == {"standard"}
    assert (result.facts["best_tasks_per_node"], result.facts["best_threads"]) == (15, 1)
    assert result.copyables[0].text == "aprun -n 384 -N 15 -S 4 ./a.out"


def test_memory_that_is_not_near_is_said():
    codes = [notice.code for notice in QUESTION.run(need_gb=2.0).findings]
    assert codes == ["memory-not-local"]
    # twelve tasks of 2.5 GB are three on each NUMA node: 7.5 of 7.75 GB
    assert QUESTION.run(need_gb=2.5, kind="standard").findings == ()


def test_what_does_not_fit_is_a_problem_with_a_way_out():
    result = QUESTION.run(need_gb=70.0, tasks=16)
    assert [(notice.code, notice.level) for notice in result.findings] == [("no-layout", "problem")]
    assert "at least 2 times as many tasks" in result.summary
    assert result.facts["fits"] is False
    assert len(result.figures) == 1
    assert result.tables == ()


def test_memory_that_is_near_in_no_layout():
    # 29 GB fit on a node of 31 GB, on none of its four NUMA nodes of 7.75 GB
    result = QUESTION.run(need_gb=29.0, tasks=4, kind="standard")
    assert [row[2:4] for row in result.tables[0].rows] == [(1, 1), (1, 6)]
    assert (result.facts["fits"], result.facts["best_local"], result.facts["plain_local"]) == (True, False, False)
    assert [finding.code for finding in result.findings] == ["memory-not-local"]
    # A few MB more than the node has, and nothing fits.
    assert QUESTION.run(need_gb=31.01, tasks=4, kind="standard").facts["fits"] is False


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


@given(st.floats(0.01, 4096), st.integers(1, 1_000_000), st.sampled_from(Machine.names()))
@example(need_gb=29.0, tasks=4, machine="hopper")
def test_every_setting_has_an_answer_that_is_json(need_gb, tasks, machine):
    values = {"need_gb": need_gb, "tasks": tasks, "machine": machine}
    answer = json.loads(answer_json("memory", json.dumps(values)))
    assert answer["ok"]
    result = answer["result"]
    assert result["facts"]["fits"] == bool(result["tables"])


def test_examples_answer():
    for tried in QUESTION.examples:
        assert QUESTION.run(**tried.values).summary


def test_other_nodes_come_before_threads_that_the_program_may_not_have():
    # 480 GB hold 12 tasks of 40 GB, so 64 tasks need 6 nodes with 11 each; 240 GB hold 6 tasks: 11 nodes.
    summary = QUESTION.run(need_gb=40.0, tasks=64, machine="archer2").summary
    assert "6 node-hours in place of 11: 11 tasks per node on 6 highmem nodes, if the queue has such nodes." in summary
