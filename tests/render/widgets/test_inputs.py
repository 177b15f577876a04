"""Widgets of controls: they pass on the set values unchanged."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import ipywidgets
import pytest

from hopperkit.questions.controls import Choice, Control, FileText, Number, Slider, Switch, Text
from hopperkit.questions.question import Question
from hopperkit.render.widgets.inputs import make_input
from hopperlib.errors import InputError


def upload(one: Any, content: bytes) -> None:
    """Do as the front end does when a file is chosen."""
    button = one.box.children[1]
    assert isinstance(button, ipywidgets.FileUpload)
    picked = {"name": "a.log", "type": "text/plain", "size": len(content), "content": memoryview(content)}
    button.value = (picked | {"last_modified": datetime(2011, 5, 23, tzinfo=UTC)},)


def test_every_control_starts_at_its_default(explorer: Question) -> None:
    for control in explorer.controls:
        one = make_input(control)
        assert control.read(one.read()) == explorer.defaults[control.name]
        assert one.core.description == control.label


@pytest.mark.parametrize(
    ("control", "kind"),
    [
        (Slider(name="a", label="A", low=1, high=24, step=1, default=12), ipywidgets.IntSlider),
        (Slider(name="a", label="A", low=0.0, high=1.0, step=0.05, default=0.5), ipywidgets.FloatSlider),
        (Number(name="a", label="A", low=1, high=24, step=1, default=12), ipywidgets.FloatText),
        (Choice(name="a", label="A", options=(("x", "X"),), default="x"), ipywidgets.Dropdown),
        (Switch(name="a", label="A", default=True), ipywidgets.Checkbox),
        (Text(name="a", label="A", default="x"), ipywidgets.Text),
        (Text(name="a", label="A", default="x", rows=5), ipywidgets.Textarea),
        (FileText(name="a", label="A", default="x"), ipywidgets.Textarea),
    ],
)
def test_kind_of_widget(control: Control, kind: type) -> None:
    assert type(make_input(control).core) is kind


def test_unit_help_and_assumption_are_shown(explorer: Question) -> None:
    clock = make_input(explorer.controls[2])
    row, said = clock.box.children
    assert row.children[1].value == "GHz"
    assert said.value == '<p class="hopper-help">Assumed: No source prints it.</p>'
    tasks = make_input(explorer.controls[0])
    assert tasks.box.children[-1].value == '<p class="hopper-help">How many &lt;tasks&gt;.</p>'


def test_number_beyond_its_bounds_is_handed_on(explorer: Question) -> None:
    nodes = make_input(explorer.controls[1])
    nodes.write(7000)
    with pytest.raises(InputError, match=r"must be from 1 to 6,384"):
        nodes.control.read(nodes.read())


def test_heavy_explorer_answers_when_a_slider_is_let_go(explorer: Question) -> None:
    assert make_input(explorer.controls[0]).core.continuous_update is True
    assert make_input(explorer.controls[0], live=False).core.continuous_update is False


def test_file_is_read_into_the_text(explorer: Question) -> None:
    log, changes = make_input(explorer.controls[6]), []
    log.watch(lambda: changes.append(log.read()))
    upload(log, b"line \xff one\n")
    assert changes == ["line \ufffd one\n"]
    assert log.core.value == "line \ufffd one\n"


def test_file_too_long_is_refused_by_the_control_not_cut(explorer: Question) -> None:
    log, changes = make_input(explorer.controls[6]), []
    log.watch(lambda: changes.append(len(log.read())))
    upload(log, b"x" * 101)
    assert changes == [101]
    assert log.core.value == ""
    with pytest.raises(InputError, match=r"^log holds 101 characters; at most 100 are allowed on this page$"):
        log.control.read(log.read())
    # Typing, or setting the text, lets go of the file.
    log.core.value = "typed"
    assert (log.read(), changes) == ("typed", [101, 5])
    upload(log, b"y" * 200)
    log.write("written")
    assert log.read() == "written"


def test_same_file_after_one_too_long_is_a_change(explorer: Question) -> None:
    log, changes = make_input(explorer.controls[6]), []
    log.watch(lambda: changes.append(log.read()))
    for content in (b"short", b"x" * 101, b"short"):
        upload(log, content)
    assert [len(text) for text in changes] == [5, 101, 5]


def test_unknown_kind_of_control() -> None:
    with pytest.raises(TypeError, match=r"^there is no widget for a control of kind 'control'$"):
        make_input(Control(name="a", label="A"))
