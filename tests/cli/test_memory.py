"""`hopper memory`: text and JSON, what fits and what does not, and one message for each mistake."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.cli import hopper
from hopperkit.questions.result import Facts

JOB = ("--need", "2GB", "--tasks", "384")
CONTRACT = {"nodes", "tasks_per_node", "threads_per_task", "memory_per_task_gb", "cost_factor", "cheapest"}


def memory(*words):
    return CliRunner().invoke(hopper, ["memory", *words], prog_name="hopper")


def _layouts(*words):
    return json.loads(memory(*words, "--json").output)["layouts"]


def test_text_for_people():
    result = memory(*JOB)
    assert result.exit_code == 0
    assert result.output.startswith("Cheapest on Hopper: 15 tasks per node on 26 standard nodes, cost factor 1.625.")
    marked = [line for line in result.output.splitlines() if "<- the cheapest" in line]
    assert len(marked) == 1
    assert marked[0].split()[:4] == ["standard", "26", "15", "1"]
    assert "The cheapest layout:\n  aprun -n 384 -N 15 -S 4 ./a.out" in result.output
    assert len(result.output.splitlines()) <= 24
    assert "\x1b" not in result.output


def test_the_numbers_and_the_chart_on_demand():
    short, full = memory(*JOB).output, memory(*JOB, "--all").output
    assert "(--all prints " in short
    assert "--all" not in full
    assert "aprun -n 384 -N 15 -S 4 ./a.out" in full
    assert "Memory per task of a full standard node: 1.29 GB (predicted)" in full


def test_every_layout_as_data():
    assert len(_layouts(*JOB)) == 63


def test_json_keeps_the_contract():
    found = _layouts(*JOB)
    assert all(set(one) >= CONTRACT for one in found)
    assert [one["cheapest"] for one in found].count(True) == 1
    assert found[0]["cheapest"] is True
    assert any(one["threads_per_task"] > 1 for one in found)


def test_the_half_packed_run_is_charged_twice():
    half = next(
        one
        for one in _layouts(*JOB, "--kind", "standard")
        if (one["tasks_per_node"], one["threads_per_task"]) == (12, 1)
    )
    # 384 / 12 nodes; 31 / 12 GB; 32 x 24 cores for 384 tasks
    assert (half["nodes"], half["cost_factor"], half["core_hours"], half["node_hours"]) == (32, 2.0, 768.0, 32.0)
    assert round(half["memory_per_task_gb"], 2) == 2.58


def test_threads_of_each_task():
    found = _layouts(*JOB, "--threads", "6", "--hours", "2")
    assert {one["threads_per_task"] for one in found} == {6}
    assert (found[0]["nodes"], found[0]["tasks_per_node"], found[0]["node_hours"]) == (96, 4, 192.0)


@pytest.mark.parametrize("size", ["2 GB", "2097152K"])
def test_sizes_of_one_meaning(size):
    assert _layouts("--need", size, "--tasks", "384") == _layouts(*JOB)


def test_another_machine():
    result = memory("--machine", "perlmutter", "--need", "6GB", "--tasks", "1024")
    assert result.exit_code == 0
    assert "srun -N" in result.output


def test_a_machine_without_a_launcher_gets_no_line():
    result = memory("--machine", "bassi", "--need", "2GB", "--tasks", "16")
    assert result.exit_code == 0
    assert "The cheapest layout" not in result.output


@pytest.mark.parametrize(
    ("words", "reason", "remedy"),
    [
        (("--need", "70GB", "--tasks", "4"), "fits on no node of Hopper", "at least 2 times as many tasks"),
        (("--need", "2GB", "--tasks", "100000", "--threads", "1"), "need 6,667 standard nodes", "at most 90,000 tasks"),
    ],
)
def test_what_does_not_fit_is_said_with_what_would(words, reason, remedy):
    result = memory(*words)
    assert result.exit_code == 1
    assert reason in result.output
    assert remedy in result.output
    data = json.loads(memory(*words, "--json").output)
    assert data["layouts"] == []
    assert reason in data["reason"]
    assert remedy in data["remedy"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--need", "lots", "--tasks", "4"), "--need lots must be a number"),
        (("--need", "2parsecs", "--tasks", "4"), "--need 2parsecs must be a number in GB"),
        (("--need", "-2GB", "--tasks", "4"), "--need -2GB must be from 0.01 to 4,096"),
        (("--need", "0GB", "--tasks", "4"), "--need 0GB must be from 0.01 to 4,096"),
        (("--need", "2GB", "--tasks", "4", "--threads", "25"), "--threads 25 must be from 1 to 24"),
        (("--need", "2GB", "--tasks", "4", "--machine", "hoper"), "machine='hoper' is neither a machine"),
        (("--need", "2GB", "--tasks", "4", "--kind", "tiny"), "--kind tiny is not a kind of node of hopper"),
    ],
)
def test_one_message_for_each_mistake(words, message):
    result = memory(*words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("hopper: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    as_data = memory(*words, "--json")
    assert as_data.exit_code == 2
    assert message in json.loads(as_data.stdout)["error"]["message"]


@pytest.mark.parametrize(
    "words", [(), ("--need", "2GB"), ("--need", "2GB", "--tasks", "0"), ("--need", "2GB", "--tasks", "x")]
)
def test_missing_and_impossible_options(words):
    assert memory(*words).exit_code == 2


@given(st.text(max_size=12), st.integers(-5, 10**10))
def test_nothing_brings_a_traceback(need, tasks):
    result = memory(f"--need={need}", f"--tasks={tasks}")
    assert result.exit_code in (0, 1, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_people_do_not_wait_for_the_lines_of_all_layouts(monkeypatch):
    """They are among the large facts, which `--json` alone prints."""

    def made(facts):
        raise AssertionError("the large facts were made")

    monkeypatch.setattr(Facts, "_made", made)
    assert memory("--need", "6GB", "--tasks", "1024").exit_code == 0
