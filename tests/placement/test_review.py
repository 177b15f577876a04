"""From a text to the findings about it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.review import review_line
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

HOPPER = Machine.load("hopper")


def test_vasp():
    review = review_line("aprun -n 384 -N 12 vasp", HOPPER)
    assert [len(tasks) for tasks in review.placement.tasks_by_numa_node(0)] == [6, 6, 0, 0]
    assert [one.code for one in review.problems] == ["idle-numa-nodes"]
    assert review.better.line == "aprun -n 384 -N 12 -S 3 vasp"
    assert [len(tasks) for tasks in review.better.placement.tasks_by_numa_node(0)] == [3, 3, 3, 3]


def test_a_better_line_by_its_launcher():
    lines = review_line("aprun -n 24 -N 12 a.out", HOPPER).suggested_lines()
    assert lines == {"aprun": "aprun -n 24 -N 12 -S 3 a.out", "srun": None}


def test_what_is_given_reaches_the_model():
    review = review_line("aprun -n 12 -N 12 a.out", HOPPER, threads=1, kind="large-memory", memory_per_task_gb=2)
    assert review.placement.node_kind.name == "large-memory"
    assert review.cost.memory_per_task_gb == (2,)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"kind": "huge"}, "kind='huge' is not a kind of node of hopper"),
        ({"memory_per_task_gb": 0}, "memory_per_task_gb=0 must be above 0"),
    ],
)
def test_other_arguments_out_of_bounds(options, text):
    with pytest.raises(ValueError, match=text):
        review_line("aprun -n 12 a.out", HOPPER, **options)


@given(st.one_of(st.text(), st.text(alphabet="aprunS -NndcsLm0123456789:,.\n").map("aprun ".__add__)))
def test_any_text_is_reviewed_or_refused_by_name(text):
    try:
        review = review_line(text, HOPPER)
    except LaunchError as error:
        said = error.message and error.rule
    else:
        said = review.placement.nodes
    assert said
