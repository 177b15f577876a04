"""The explorer of one node's writes: default, examples, refusals, plain JSON."""

import json

import pytest

from hopperkit.questions.storage.io_node import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError


def test_the_default_shows_both_machines():
    result = QUESTION.run()
    assert result.summary == (
        "24 tasks write 1.66 GB/s from 1 node of Hopper (within 5 % of that from 15 tasks on) and 4.23 GB/s from 6 of "
        "Franklin. They are within 20 % of each other up to 9 tasks."
    )
    badges = {value.label: value.badge for value in result.values}
    assert badges["Ceiling of a Hopper node"] == "documented"
    assert badges["Ceiling of a Franklin node"] == "documented"
    assert QUESTION.run(first="toy").values[0].badge == "assumed"


def test_the_tension_is_an_example():
    result = QUESTION.run(task_rate_mb_s=267.5)
    # Eight tasks are 1.63 GB/s on two Franklin nodes and 1.43 on one of Hopper, 12 % apart; nine are 22 % apart.
    assert result.facts["divergence_point"] == 9


def test_more_nodes_take_the_ceiling_away():
    result = QUESTION.run(nodes=6)
    # Six nodes of four tasks: 0.2125 of 1.7 each, (0.85^-p + (1 - 4^-p) 1.7^-p)^(-1/p), p = 2.5.
    assert result.facts["first_rate_gb_s"] == pytest.approx(
        6 * (0.85**-2.5 + (1 - 4**-2.5) * 1.7**-2.5) ** -0.4, rel=0.01
    )
    assert result.facts["divergence_point"] == 0


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
