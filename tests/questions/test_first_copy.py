"""The first thing to copy is the thing to do: what the sentence recommends comes first."""

from __future__ import annotations

import re

import pytest

from hopperbook.questions import QUESTIONS, load
from hopperlib.errors import InputError

LIGHT = [name for name in QUESTIONS if not load(name).heavy]


def _answers(name):
    question = load(name)
    for values in ({}, *(example.values for example in question.examples)):
        try:
            yield values, question.run(**values)
        except InputError:
            continue


@pytest.mark.parametrize("name", LIGHT)
def test_the_first_copy_is_what_the_sentence_recommends(name):
    for values, answer in _answers(name):
        recommended = re.search(r"\b(?:Better|Recommended): (.+?)(?:$|(?<=\S)\. [A-Z])", answer.summary)
        if recommended and answer.copyables:
            line = recommended[1].rstrip(".")
            assert line in answer.copyables[0].text, (values, answer.summary, answer.copyables[0])


def test_some_answers_recommend():
    found = [
        name for name in LIGHT for _, answer in _answers(name) if re.search(r"\b(Better|Recommended): ", answer.summary)
    ]
    assert {"place", "stripe"} <= set(found)
