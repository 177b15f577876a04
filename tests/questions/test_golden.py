"""Every answer at its defaults and examples, as `hopper NAME --all` prints it, stands in one reviewed file.

A change of a word or a number shows in the diff of ``answers.txt``; ``make answers`` writes the file anew.
"""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from textwrap import fill

from hopperlib.errors import InputError
from hopperlib.questions.catalogue import QUESTIONS
from hopperlib.questions.question import load
from hopperlib.render.text import result_text

FILE = Path(__file__).with_name("answers.txt")
MOST_SHOWN = 60


def answers() -> str:
    """Return all answers as one text, and of each question the names of its facts, which notebooks and programs read."""
    parts = []
    for name in QUESTIONS:
        question = load(name)
        settings = {"as it starts": {}, **{example.label: example.values for example in question.examples}}
        facts: set[str] = set()
        for label, values in settings.items():
            # Some examples show what a launcher does not take.
            try:
                result = question.run(**values)
                text = result_text(result, show_all=True).rstrip()
                facts |= set(result.facts or ())
            except InputError as error:
                text = f"refused: {error}"
            parts.append(f"##### {name}: {label}\n\n{text}\n")
        parts.append(f"##### {name}: facts\n\n{fill(', '.join(sorted(facts)), 120)}\n")
    return "\n".join(parts)


def test_all_answers_are_as_reviewed():
    old, new = FILE.read_text(encoding="utf-8").splitlines(), answers().splitlines()
    changes = list(difflib.unified_diff(old, new, "answers.txt", "now", lineterm="", n=1))
    assert not changes, "\n".join(["`make answers` writes them anew:", *changes[:MOST_SHOWN]])


if __name__ == "__main__":
    FILE.write_text(answers(), encoding="utf-8")
    sys.stdout.write(f"{FILE} written\n")
