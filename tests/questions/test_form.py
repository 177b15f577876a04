"""Properties of a question that no type checker sees: fields agree with their controls, every field is used, answers are short."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import get_type_hints

import pytest

from hopperbook.questions import QUESTIONS, load
from hopperkit.questions import ask
from hopperkit.questions.controls import Choice, Control, MachineChoice, Number, Slider, Switch
from hopperlib.machine import Machine


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
    modules = {kind.__module__ for kind in _setting(name).__mro__ if ".questions." in kind.__module__}
    trees = [ast.parse(inspect.getsource(sys.modules[module])) for module in modules - {ask.__name__}]
    used = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    unused = {control.name for control in load(name).controls} - used - {"machine_file"}
    assert not unused, f"{name}: controls that no line of its answer reads: {sorted(unused)}"


@pytest.mark.parametrize("name", QUESTIONS)
def test_refusals_name_controls(name):
    """A refusal points at the invalid control; a misspelled name would point at none."""
    tree = ast.parse(inspect.getsource(sys.modules[_setting(name).__module__]))
    named = set()
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        match getattr(call.func, "id", ""), call.args:
            case "refusal", [ast.Constant(value=at), *_]:
                named.add(at)
            case "InputError", _:
                named |= {
                    word.value.value
                    for word in call.keywords
                    if word.arg == "name" and isinstance(word.value, ast.Constant)
                }
    assert named <= {control.name for control in load(name).controls}
