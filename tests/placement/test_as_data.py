"""The JSON contract of ``hopper place`` and the rows of its tables."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperkit.launchers.as_data import placement_data
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperkit.launchers.review import review_line
from hopperlib.machine import Machine

HOPPER = Machine.load("hopper")


def placed(line):
    return place_tasks(read_launch(line, HOPPER), HOPPER)


def test_the_contract_key_by_key():
    data = placement_data(review_line("aprun -n 384 -N 12 vasp in.dat", HOPPER), memory_bound_fraction=(0.2, 0.8))
    assert list(data) == ["launcher", "machine", "components", "certainty", "warnings", "suggestion", "slowdown"]
    assert (data["launcher"], data["machine"]) == ("aprun", "hopper")
    (component,) = data["components"]
    assert list(component) == ["command", "nodes"]
    assert component["command"] == ["vasp", "in.dat"]
    assert [node["node"] for node in component["nodes"]] == list(range(32))
    assert component["nodes"][1]["tasks"][6] == {"task": 18, "cores": [6], "cpus": [6], "numa_nodes": [1], "gpus": []}
    assert [list(warning) for warning in data["warnings"]] == [["code", "message"]] * len(data["warnings"])
    assert data["warnings"][0]["code"] == "idle-numa-nodes"
    assert data["suggestion"] == {
        "aprun": "aprun -n 384 -N 12 -S 3 vasp in.dat",
        "srun": None,
    }
    slowdown = data["slowdown"]
    assert list(slowdown) == ["basis", "memory_bound_fraction", "ratio", "core_cap_gb_s"]
    assert (slowdown["basis"], slowdown["memory_bound_fraction"], slowdown["core_cap_gb_s"]) == (
        "spread",
        [0.2, 0.8],
        5.0,
    )
    # 1 - f + 2 f at 0.2 and 0.8.
    assert slowdown["ratio"] == pytest.approx([1.2, 1.8])


def test_a_spotless_line_has_nothing_to_suggest():
    data = placement_data(review_line("aprun -n 24 a.out", HOPPER))
    assert data["suggestion"]["aprun"] is None
    assert data["warnings"] == []
    assert data["slowdown"]["ratio"] == [1, 1]


def test_programs_of_a_line_have_nodes_of_their_own():
    data = placement_data(review_line("aprun -n 25 ocean : -n 2 ice", HOPPER))
    assert [[node["node"] for node in part["nodes"]] for part in data["components"]] == [[0, 1], [2]]
    assert [task["task"] for task in data["components"][1]["nodes"][0]["tasks"]] == [25, 26]


@settings(max_examples=settings.default.max_examples // 2)
@given(st.integers(1, 80), st.integers(1, 24), st.sampled_from([(0.0, 1.0), (0.25, 0.25), (1.0, 1.0)]))
def test_json_is_stable_and_complete(tasks, per_node, fractions):
    line = f"aprun -n {tasks} -N {per_node} a.out"
    once, again = (
        json.dumps(placement_data(review_line(line, HOPPER), memory_bound_fraction=fractions)) for _ in range(2)
    )
    assert once == again
    data = json.loads(once)
    placed_tasks = [task["task"] for node in data["components"][0]["nodes"] for task in node["tasks"]]
    assert placed_tasks == list(range(tasks))
    low, high = data["slowdown"]["ratio"]
    assert 1 <= low <= high
