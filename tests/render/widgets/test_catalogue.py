"""Every explorer of the book has a form in JupyterLab that answers its starting settings and accepts its examples."""

from __future__ import annotations

import pytest

from hopperbook.questions import QUESTIONS, load
from hopperkit.render.widgets.explorer import ExplorerView
from hopperkit.render.widgets.inputs import make_input


@pytest.mark.parametrize("name", QUESTIONS)
def test_starting_settings_are_answered(name: str) -> None:
    view = ExplorerView(load(name))
    assert view.result is not None
    assert {one: box.control.read(box.read()) for one, box in view.inputs.items()} == load(name).defaults


@pytest.mark.parametrize("name", QUESTIONS)
def test_widgets_hold_the_examples_to_the_last_digit(name: str) -> None:
    explorer = load(name)
    for control in explorer.controls:
        one = make_input(control)
        for example in explorer.examples:
            if control.name in example.values:
                one.write(example.values[control.name])
                assert control.read(one.read()) == example.values[control.name], example.label
