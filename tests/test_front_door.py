"""The front door: every name is there, is shown to Tab, and answers as the command does."""

from __future__ import annotations

import inspect

import pytest

import hopperlib
from hopperlib.questions.result import Result


@pytest.mark.parametrize("name", hopperlib.__all__)
def test_every_name_is_there(name):
    assert callable(getattr(hopperlib, name))
    assert name in dir(hopperlib)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'hopperlib' has no attribute 'plcae'"):
        hopperlib.plcae  # noqa: B018


def test_a_question_is_a_function_with_its_controls():
    parameters = inspect.signature(hopperlib.memory).parameters
    assert parameters["need_gb"].default == 2.0
    assert "Memory of a task [GB]" in hopperlib.memory.__doc__


def test_an_answer_holds_what_programs_read():
    answer = hopperlib.memory(need_gb=2, tasks=384)
    assert isinstance(answer, Result)
    # 16 large-memory nodes of 24 tasks hold the 384 tasks with no core idle.
    assert (answer.facts["layouts"][0]["nodes"], answer.facts["layouts"][0]["cost_factor"]) == (16, 1.0)


def test_the_line_stands_without_a_name():
    assert hopperlib.place("aprun -n 384 -N 12 vasp", machine="hopper").facts["nodes"] == 32


def test_a_machine_is_named_by_its_object_or_its_path(tmp_path, root):
    file = tmp_path / "mine.toml"
    file.write_text((root / "hopperlib" / "machines" / "franklin.toml").read_text(encoding="utf-8"), encoding="utf-8")
    named, object_, path = (
        hopperlib.memory(need_gb=1, tasks=8, machine=machine).facts["full_node_gb"]
        for machine in ("franklin", hopperlib.Machine.load("franklin"), str(file))
    )
    assert named == object_ == path


def test_too_many_values_without_a_name_are_refused():
    with pytest.raises(TypeError, match="place takes 1 values without a name, not 2"):
        hopperlib.place("aprun -n 1 a.out", "hopper")
