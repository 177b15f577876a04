"""Controls: reading, refusing, plain data."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.questions.controls import Choice, FileText, Number, Slider, Switch, Text
from hopperlib.errors import InputError

TASKS = Slider(name="tasks", label="Tasks", low=1, high=24, step=1, default=12)
CAP = Number(name="cap_gb_s", label="Cap", unit="GB/s", low=0.5, high=50.0, step=0.1, default=5.0)
ORDER = Choice(name="order", label="Order", options=(("nid", "NID"), ("xyz", "xyz")), default="nid")
STRICT = Switch(name="strict", label="-ss", default=False)
LINE = Text(name="line", label="Launch line", default="aprun -n 1 a.out", max_length=20)


@pytest.mark.parametrize(
    ("control", "value", "expected"),
    [
        (TASKS, 6, 6),
        (TASKS, "6", 6),
        (TASKS, " 6.0 ", 6),
        (TASKS, 1, 1),
        (TASKS, 24, 24),
        (CAP, 7, 7.0),
        (CAP, "7.1", 7.1),
        (ORDER, "xyz", "xyz"),
        (STRICT, True, True),
        (STRICT, "on", True),
        (STRICT, "False", False),
        (STRICT, 1, True),
        (LINE, "", ""),
    ],
)
def test_values_are_converted(control, value, expected):
    read = control.read(value)
    assert read == expected
    assert type(read) is type(expected)


@pytest.mark.parametrize(
    ("control", "value", "message"),
    [
        (TASKS, 25, "tasks=25 must be from 1 to 24, the range of this control"),
        (TASKS, 99999.0, "tasks=99999 must be from 1 to 24, the range of this control"),
        (TASKS, 0, "tasks=0 must be from 1 to 24, the range of this control"),
        (TASKS, 1.5, "tasks=1.5 must be a whole number"),
        (TASKS, "many", "tasks='many' must be a number"),
        (TASKS, float("nan"), "tasks=nan must be from 1 to 24, the range of this control"),
        (TASKS, True, "tasks=True must be a number"),
        (TASKS, None, "tasks=None must be a number"),
        (CAP, 60, "cap_gb_s=60 GB/s must be from 0.5 to 50, the range of this control"),
        (ORDER, "random", "order='random' must be one of: nid, xyz"),
        (ORDER, None, "order=None must be one of: nid, xyz"),
        (STRICT, "perhaps", "strict='perhaps' must be true or false"),
        (LINE, 3, "line=3 must be text"),
        (LINE, "x" * 21, "line holds 21 characters; at most 20 are allowed on this page"),
    ],
)
def test_refusals_name_the_control_the_value_and_the_rule(control, value, message):
    with pytest.raises(InputError) as error:
        control.read(value)
    assert str(error.value) == message
    assert error.value.name == control.name


def test_a_long_value_is_shortened_in_the_message():
    with pytest.raises(InputError) as error:
        ORDER.read("x" * 500)
    assert len(str(error.value)) < 120


@pytest.mark.parametrize(
    "make",
    [
        lambda: Slider(name="n", label="n", low=1, high=2, step=1, default=3),
        lambda: Choice(name="n", label="n", options=(("a", "A"),), default="b"),
    ],
)
def test_a_default_out_of_range_is_refused_when_the_control_is_made(make):
    with pytest.raises(InputError):
        make()


@given(st.one_of(st.integers(), st.floats(), st.text(), st.none(), st.booleans()))
def test_any_value_is_read_or_refused(value):
    for control in (TASKS, CAP, ORDER, STRICT, LINE):
        try:
            control.read(value)
        except InputError as error:
            assert error.name == control.name  # noqa: PT017


def test_what_a_reader_types_is_never_put_into_an_address():
    assert not LINE.to_dict()["shareable"]
    assert not FileText(name="log", label="Log", default="").to_dict()["shareable"]
    assert TASKS.to_dict()["shareable"]


def test_plain_data_carries_what_a_form_needs():
    assert TASKS.to_dict() == {
        "kind": "slider",
        "name": "tasks",
        "label": "Tasks",
        "unit": "",
        "help": "",
        "advanced": False,
        "assumed": "",
        "shareable": True,
        "low": 1,
        "high": 24,
        "step": 1,
        "default": 12,
    }
    assert ORDER.to_dict()["options"] == [["nid", "NID"], ["xyz", "xyz"]]
    assert FileText(name="log", label="Log", default="", accept=".txt").to_dict()["accept"] == ".txt"


def test_a_decimal_comma_is_refused_and_thousands_are_read():
    nodes = Number(name="nodes", label="Nodes", low=0.0, high=1e6, step=0.1, default=1.0)
    assert nodes.read("153,216") == 153216.0
    with pytest.raises(InputError, match=r"nodes='1,29' must be a number, with a point before its decimals"):
        nodes.read("1,29")
