"""One reviewed file holds every answer at its defaults and examples, as `hopper NAME --all` prints it.

A change of a word or a number shows in the diff of ``answers.txt``; ``make answers`` rewrites the file.
"""

from __future__ import annotations

import difflib
import json
import sys
from functools import cache
from pathlib import Path
from textwrap import fill

import pytest

from hopperbook.questions import QUESTIONS, load
from hopperkit.questions.result import Result
from hopperkit.render.answer import answer_json
from hopperkit.render.text import result_text
from hopperlib.errors import InputError

FILE = Path(__file__).with_name("answers.txt")
MOST_SHOWN = 60


# Answers that are longer than most, and why.
LONGER = {
    # Browsing the book's tables is what they are for; the reader says how many rows.
    "documented": {"rows"},
    "errata": {"rows"},
    "scorecard": {"rows"},
    # Waits by queue, held against those observed, and by width: both are asked for.
    "simulate": {"tables"},
    # A Darshan log: where its time went, and the rate of each OST.
    "io-log": {"figures"},
    # The messages, and all lines as the ranker orders them.
    "diagnose": {"tables"},
    "identify": {"tables"},
    # What was compared, the effects of all columns together, and the sizes of what was not found.
    "runs": {"tables"},
    # A chart for each of four series: what changed, and what did not beside it.
    "watch": {"figures"},
}
# Each of their examples takes seconds: they are answered at night, and as they start in every run.
HEAVY = ("fragmentation", "scheduling")
MOST = {"values": 3, "figures": 1, "tables": 1, "rows": 12}


@cache
def results(name: str, *, whole: bool = True) -> dict[str, Result | InputError]:
    """Return the answers of a question at its defaults and examples, by label; some examples show refusals."""
    question, found = load(name), {}
    examples = question.examples if whole or name not in HEAVY else ()
    settings = {"as it starts": {}, **{example.label: example.values for example in examples}}
    for label, values in settings.items():
        try:
            found[label] = question.run(**values)
        except InputError as error:
            found[label] = error
    return found


def answers(*, whole: bool = True) -> str:
    """Return all answers as one text, and of each question the names of its facts, which notebooks and programs read.

    Unless all are requested, examples that take seconds are left out, with the facts of their questions.
    """
    parts = []
    for name in QUESTIONS:
        facts: set[str] = set()
        for label, result in results(name, whole=whole).items():
            if isinstance(result, Result):
                text = result_text(result, show_all=True).rstrip()
                facts |= set(result.facts or ())
            else:
                text = f"refused: {result}"
            parts.append(f"##### {name}: {label}\n\n{text}\n")
        if whole or name not in HEAVY:
            parts.append(f"##### {name}: facts\n\n{fill(', '.join(sorted(facts)), 120)}\n")
    return "\n".join(parts)


def left_out(part: str) -> bool:
    """Whether a part of the file is of an example that takes seconds."""
    name, _, label = part.partition("\n")[0].partition(": ")
    return name in HEAVY and label != "as it starts"


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_all_answers_are_as_reviewed(whole):
    text = FILE.read_text(encoding="utf-8")
    head, *parts = text.split("##### ")
    kept = "##### ".join([head, *(part for part in parts if whole or not left_out(part))])
    assert whole or {name for name in HEAVY if f"##### {name}: as it starts" in kept} == set(HEAVY)
    old, new = kept.splitlines(), answers(whole=whole).splitlines()
    changes = list(difflib.unified_diff(old, new, "answers.txt", "now", lineterm="", n=1))
    assert not changes, "\n".join(["`make answers` rewrites them:", *changes[:MOST_SHOWN]])


def test_longer_answers_are_of_questions():
    assert set(LONGER) - set(QUESTIONS) == set()


@pytest.mark.parametrize(
    ("name", "whole"),
    [*((name, False) for name in QUESTIONS), *(pytest.param(name, True, marks=pytest.mark.nightly) for name in HEAVY)],
)
def test_answers_are_short(name, whole):
    longer = set()
    for answer in results(name, whole=whole).values():
        if isinstance(answer, Result):
            sizes = {part: len(getattr(answer, part)) for part in ("values", "figures", "tables")}
            sizes["rows"] = max((len(table.rows) for table in answer.tables), default=0)
            longer |= {part for part, size in sizes.items() if size > MOST[part]}
    assert longer == LONGER.get(name, set()), f"{name} is longer than {MOST} in {longer}; LONGER says where it may be"


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_worker_gets_what_is_answered_as_json(name):
    first = results(name, whole=False)["as it starts"]
    assert isinstance(first, Result)
    answer = json.loads(answer_json(name, "{}", load=load))
    assert answer["ok"]
    assert answer["result"]["summary"] == first.summary


if __name__ == "__main__":
    FILE.write_text(answers(), encoding="utf-8")
    sys.stdout.write(f"{FILE} written\n")
