"""The explorer contract: checking, answering, JSON for a worker, notebooks."""

import json

import pytest

from hopperkit.questions import question as contract
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.controls import Slider, Text
from hopperkit.questions.question import Example, Question, load
from hopperkit.questions.result import Facts, Result
from hopperkit.render.answer import answer_json
from hopperlib.errors import InputError


def halve(*, x, note):
    """Answer, or refuse an odd number as a model would."""
    if x % 2:
        raise ValueError(f"x={x} must be even")
    if note == "bad":
        raise InputError("note is bad", name="note")
    return Result(summary=f"Half of {x} is {x // 2}.")


def half(**changes):
    parts = {
        "name": "half",
        "title": "Halves",
        "question": "What is half?",
        "controls": (
            Slider(name="x", label="x", low=0, high=9, step=1, default=4),
            Text(name="note", label="Note", default=""),
        ),
        "answer": halve,
    }
    return Question(**(parts | changes))


def test_a_name_of_the_catalogue_without_a_module_is_told_with_the_nearest(monkeypatch):
    monkeypatch.setitem(QUESTIONS, "overlop", "hopperkit.questions.network.overlop")
    with pytest.raises(ModuleNotFoundError, match="network has not; did you mean 'overlap'"):
        load("overlop")


def test_defaults_fill_what_is_not_given():
    assert half().run().summary == "Half of 4 is 2."
    assert half().run(x="8").summary == "Half of 8 is 4."
    assert half().defaults == {"x": 4, "note": ""}


def test_the_same_question_may_start_elsewhere():
    question = half()
    assert question.starting(x=6).run().summary == "Half of 6 is 3."
    assert question.defaults["x"] == 4
    with pytest.raises(InputError, match="x=10 must be from 0 to 9"):
        question.starting(x=10)


@pytest.mark.parametrize(
    ("values", "message", "control"),
    [
        ({"x": 10}, "x=10 must be from 0 to 9, the range of this control", "x"),
        ({"x": 3}, "x=3 must be even", None),
        ({"note": "bad"}, "note is bad", "note"),
        ({"y": 1}, "y=1 is not a control of 'half'; there are: x, note", "y"),
    ],
)
def test_a_refusal_is_one_message(values, message, control):
    with pytest.raises(InputError) as error:
        half().run(**values)
    assert (str(error.value), error.value.name) == (message, control)


def test_a_misspelled_control_of_an_example_gets_the_nearest():
    with pytest.raises(InputError, match="nte='a' is not a control of 'half'; did you mean 'note'"):
        half(examples=(Example(label="slip", values={"nte": "a"}),))


def test_two_controls_of_one_name_are_refused():
    twice = (half().controls[0], half().controls[0])
    with pytest.raises(ValueError, match=r"question 'half' has two controls of one name: \['x', 'x'\]"):
        half(controls=twice)


def test_an_example_that_does_not_fit_is_refused_by_its_label():
    with pytest.raises(InputError, match="example 'far' of question 'half': x=99 must be from 0 to 9"):
        half(examples=(Example(label="far", values={"x": 99}),))


def test_a_form_gets_everything_as_json():
    data = json.loads(json.dumps(half(examples=(Example(label="two", values={"x": 2}),)).to_dict()))
    assert [control["name"] for control in data["controls"]] == ["x", "note"]
    assert data["examples"] == [{"label": "two", "values": {"x": 2}}]
    assert data["heavy"] is False


def test_the_book_gets_the_name_alone(monkeypatch):
    monkeypatch.setenv("HOPPERLIB_RENDER", "book")
    bundle = half()._repr_mimebundle_()
    assert bundle == {contract.MIME_TYPE: {"name": "half"}, "text/plain": "Question: Halves"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("plcae", "there is no question 'plcae'; did you mean 'place'?"),
        ("zzz", "there is no question 'zzz'; there are: " + ", ".join(QUESTIONS)),
    ],
)
def test_an_unknown_name_gets_the_nearest(name, message):
    with pytest.raises(InputError) as error:
        load(name)
    assert str(error.value) == message


def test_a_worker_gets_json_for_a_refusal_too():
    answer = json.loads(answer_json("place", '{"line": "aprun -n nine a.out"}'))
    assert answer["ok"] is False
    assert answer["error"]["control"] == "line"


def test_json_that_is_broken_is_a_defect_of_the_page():
    with pytest.raises(json.JSONDecodeError):
        answer_json("place", "{")


@pytest.mark.parametrize("name", ["build", "diagnose", "memory", "place", "preflight", "stripe"])
def test_what_programs_read_is_not_hidden_by_a_fact_of_the_same_name(name):
    facts = load(name).run().facts
    assert isinstance(facts, Facts)
    assert {key: facts[key] for key in facts} == {**facts.named, **facts._rest()}
