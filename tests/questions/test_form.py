"""What no type checker sees of a question: fields agree with their controls, every field is used, answers are short."""

from __future__ import annotations

import ast
import inspect
import sys
from contextlib import suppress
from typing import get_type_hints

import pytest

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.questions import ask
from hopperlib.questions.catalogue import QUESTIONS
from hopperlib.questions.controls import Choice, Control, MachineChoice, Number, Slider, Switch
from hopperlib.questions.question import load


def _setting(name: str) -> type[ask.Setting]:
    """Return the setting of a question: the one class of its module that declares its controls."""
    question = load(name)
    module = sys.modules[QUESTIONS[name]]
    names = [control.name for control in question.controls]
    found = [
        kind
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, ask.Setting) and list(kind.controls()) == names
    ]
    assert found, f"{name} has no setting with its controls {names}"
    return found[0]


def _expected(control: Control) -> object:
    """Return the type that the field of a control must have."""
    if isinstance(control, MachineChoice):
        return Machine | None if control.none else Machine
    if isinstance(control, Switch):
        return bool
    if isinstance(control, Slider | Number):
        return int if control.whole else float
    return str


@pytest.mark.parametrize("name", QUESTIONS)
def test_fields_have_the_types_of_their_controls(name):
    setting = _setting(name)
    # A module that answers at once may know the machine as a name only.
    hints = get_type_hints(setting, localns={"Machine": Machine})
    for control in setting.controls().values():
        if isinstance(control, Choice) and control.functions:
            continue
        assert hints[control.name] == _expected(control), f"{setting.__name__}.{control.name}: {hints[control.name]}"


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_field_is_used(name):
    modules = {kind.__module__ for kind in _setting(name).__mro__ if kind.__module__.startswith("hopperlib.questions.")}
    trees = [ast.parse(inspect.getsource(sys.modules[module])) for module in modules - {ask.__name__}]
    used = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    unused = {control.name for control in load(name).controls} - used - {"machine_file"}
    assert not unused, f"{name}: controls that no line of its answer reads: {sorted(unused)}"


@pytest.mark.parametrize("name", QUESTIONS)
def test_refusals_name_controls(name):
    """A refusal points at the control that is to be mended; a slip in its name would point at none."""
    tree = ast.parse(inspect.getsource(sys.modules[_setting(name).__module__]))
    named = set()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        match getattr(call.func, "id", ""), call.args:
            case "refusal", [ast.Constant(value=at), *_]:
                named.add(at)
            case "InputError", _:
                named |= {
                    word.value.value for word in call.keywords if word.arg == "name" and hasattr(word.value, "value")
                }
    assert named <= {control.name for control in load(name).controls}


# Answers that are longer than most, and why.
LONGER = {
    # Browsing the book's tables is what they are for; the reader says how many rows.
    "documented": {"rows"},
    "errata": {"rows"},
    "scorecard": {"rows"},
    # Every quantity of the machine files that can be drawn, each a row to compare.
    "machines": {"rows"},
    # One job against its threads, and where on any machine a number of threads is the fastest.
    "hybrid": {"figures"},
    # Where the job lies, and how the pieces came about over days.
    "fragmentation": {"figures"},
    # The times of the runs, and the metric of their placement that may explain them.
    "variability": {"figures"},
    # Waits by queue, held against those observed, and by width: both are asked for.
    "simulate": {"tables"},
    # A Darshan log: the rate of each OST and the bytes over time; the job and what other stripe counts would give.
    "io-log": {"figures", "tables"},
    # A chart for each of four series: what changed, and what did not beside it.
    "watch": {"figures"},
}
MOST = {"values": 3, "figures": 1, "tables": 1, "rows": 12}


@pytest.mark.parametrize("name", QUESTIONS)
def test_answers_are_short(name):
    question, longer = load(name), set()
    for values in ({}, *(example.values for example in question.examples)):
        # Some examples show what is refused.
        with suppress(InputError):
            answer = question.run(**values)
            sizes = {part: len(getattr(answer, part)) for part in ("values", "figures", "tables")}
            sizes["rows"] = max((len(table.rows) for table in answer.tables), default=0)
            longer |= {part for part, size in sizes.items() if size > MOST[part]}
    assert longer == LONGER.get(name, set())
