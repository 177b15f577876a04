"""The question on threads: its sentence, findings and facts agree with the model."""

from __future__ import annotations

import pytest

from hopperkit.questions.node.hybrid import QUESTION
from hopperlib.errors import InputError


def test_the_fastest_as_the_table_marks_it():
    result = QUESTION.run()
    row = result.tables[0].rows[result.tables[0].marked[0]]
    assert result.summary.startswith(
        f"Fastest with {row[0]} threads per task, {row[1]} tasks per node: {row[2]:.2f} of"
    )
    assert row[2] == min(line[2] for line in result.tables[0].rows) == result.facts["best_time"]
    assert result.copyables[0].text.endswith("aprun -n 4 -N 4 -d 6 ./a.out")


def test_perfect_first_touch_mends_the_wide_runs():
    poor, perfect = QUESTION.run().facts["times"], QUESTION.run(elsewhere=0.0).facts["times"]
    assert poor["6"] == perfect["6"]
    assert poor["24"] > 2 * perfect["24"]


def test_spread_moves_nothing_on_full_nodes():
    assert "spread-moves-nothing" in {finding.code for finding in QUESTION.run(spread=False).findings}
    half = QUESTION.run(spread=False, cores=12)
    assert "spread-moves-nothing" not in {finding.code for finding in half.findings}
    assert half.facts["times"]["3"] > QUESTION.run(cores=12).facts["times"]["3"]


def test_a_gpu_node_has_a_task_for_each():
    times = QUESTION.run(machine="perlmutter", kind="gpu", tasks=16384).facts["times"]
    assert list(times) == ["1", "2", "4", "8", "16"]


def test_a_kind_of_node_that_is_not_there():
    with pytest.raises(InputError, match="is not a kind of node of hopper; there are: standard, large-memory"):
        QUESTION.run(kind="gpu")
