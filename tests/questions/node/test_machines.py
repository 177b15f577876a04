"""The machines explorer: figures side by side, drawings."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from hopperkit.questions.node.machines import QUESTION
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.machine.derived import FIGURES


def test_hopper_has_a_little_over_four_times_the_cores_of_franklin():
    result = QUESTION.run()
    # 153,216 / 38,288
    assert result.facts["ratio"] == pytest.approx(4.0017, abs=5e-5)
    assert "Hopper has 4.002 times what Franklin has" in result.summary
    assert [value.badge for value in result.values] == ["documented", "documented", "assumed"]


def test_the_table_has_a_column_a_machine():
    table = QUESTION.run().tables[0]
    assert [column.title for column in table.columns[1::2]] == ["Hopper", "Franklin", "Bassi", "Hopper / Franklin"]
    assert len(table.rows) == len(FIGURES)
    assert table.rows[table.marked[0]][0] == "Cores"


@pytest.mark.parametrize("figure", FIGURES)
def test_every_figure_can_be_drawn(figure):
    result = QUESTION.run(figure=figure)
    assert result.facts["figure"] == figure
    assert FIGURES[figure].label in result.figures[0].alt


def test_far_apart_numbers_get_a_logarithmic_scale():
    assert QUESTION.run(figure="cores").figures[0].layout["yaxis"]["type"] == "log"
    assert "type" not in QUESTION.run(figure="memory_per_core_gb", third="none").figures[0].layout["yaxis"]


def test_what_no_file_tells():
    result = QUESTION.run(first="bassi", second="none", third="none", figure="scratch_peak_gb_s")
    assert result.summary == "Peak of one scratch file system: in no machine file."
    assert (result.values, result.figures) == ((), ())


def test_a_machine_beside_itself_is_shown_once():
    result = QUESTION.run(first="hopper", second="hopper", third="hopper")
    assert result.facts["machines"] == len(result.drawings) == 1
    assert "ratio" not in result.facts


def test_every_machine_has_an_answer():
    for first, second in pairwise((*Machine.names(), Machine.names()[0])):
        answer = json.loads(answer_json("machines", json.dumps({"first": first, "second": second})))
        assert answer["ok"]


def test_a_machine_file_of_ones_own():
    text = (
        Machine.load("toy")
        .to_toml()
        .replace('name = "toy"', 'name = "mine"')
        .replace('title = "Toy"', 'title = "Mine"')
    )
    result = QUESTION.run(machine_file=text)
    assert result.facts["first"] == "mine"
    assert Machine.from_toml(result.downloads[0].text).title == "Mine"
    with pytest.raises(InputError, match="machine file"):
        QUESTION.run(machine_file="nodes = 3")


def test_drawings_show_the_nodes():
    titles = [drawing.title for drawing in QUESTION.run().drawings]
    assert titles == ["A node of Hopper: 24 cores", "A node of Franklin: 4 cores"]


def test_examples_answer():
    for example in QUESTION.examples:
        assert QUESTION.run(**example.values).summary
