"""The explorer of one node's writes: default, examples, refusals, plain JSON."""

import json

import pytest

from hopperkit.questions.storage.io_node import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError


def test_the_default_shows_both_machines():
    result = QUESTION.run()
    assert result.summary == (
        "24 tasks write 1.70 GB/s from 1 node of Hopper (level from 8 tasks) and 5.10 GB/s from 6 of Franklin. "
        "They are within 5 % of each other up to 8 tasks."
    )
    badges = {value.label: value.badge for value in result.values}
    assert badges["Ceiling of a Hopper node"] == "documented"
    assert badges["Ceiling of a Franklin node"] == "documented"
    assert QUESTION.run(first="toy").values[0].badge == "assumed"


def test_the_tension_is_an_example():
    result = QUESTION.run(task_rate_mb_s=267.5)
    # Four tasks of 0.2675 fill a Franklin node; seven ask 1.87 of Hopper's 1.7, which is 9 % apart.
    assert result.facts["parting_point"] == 7


def test_more_nodes_take_the_ceiling_away():
    result = QUESTION.run(nodes=6)
    assert result.facts["first_rate_gb_s"] == pytest.approx(5.1)
    assert result.facts["parting_point"] == 0


def test_too_many_tasks_for_the_nodes():
    with pytest.raises(InputError, match="nodes=1 must be from 2, which 48 tasks need") as error:
        QUESTION.run(tasks=48, nodes=1)
    assert error.value.name == "nodes"


@pytest.mark.parametrize("machine", ["hopper", "franklin", "perlmutter", "toy"])
@pytest.mark.parametrize("tasks", [1, 96])
@pytest.mark.parametrize("rate", [20.0, 1000.0])
def test_corners_give_plain_json(machine, tasks, rate):
    values = {"first": machine, "second": "hopper", "tasks": tasks, "task_rate_mb_s": rate}
    answer = json.loads(answer_json("io-node", json.dumps(values)))
    assert answer["ok"]
    assert len(answer["result"]["figures"][0]["table"]["csv"].splitlines()) == tasks + 1
