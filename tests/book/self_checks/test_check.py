"""Common parts of self-checks, and the written-out cases that the published page must pass too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hopperbook.self_checks import MIME_TYPE, Check, NumberCheck, Verdict

# cases.json holds checks as a page receives them, with answers and how they must be marked.
CASES = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))


def test_cases_cover_each_kind(checks: dict[str, Check]) -> None:
    assert [case["check"]["name"] for case in CASES] == list(checks)
    assert {case["check"]["kind"] for case in CASES} == {"number", "choice", "curve", "goal"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["check"]["name"])
def test_page_receives_what_is_written_out(case: dict[str, Any], checks: dict[str, Check]) -> None:
    assert json.loads(json.dumps(checks[case["check"]["name"]].to_dict(), allow_nan=False)) == case["check"]


@pytest.mark.parametrize(
    ("name", "answer"),
    [(case["check"]["name"], answer) for case in CASES for answer in case["answers"]],
    ids=lambda part: part if isinstance(part, str) else repr(part["answer"]),
)
def test_answers_are_marked_as_written_out(name: str, answer: dict[str, Any], checks: dict[str, Check]) -> None:
    verdict = Verdict(right=answer["right"], feedback=answer["feedback"], readable=answer["readable"])
    assert checks[name].grade(answer["answer"]) == verdict


def test_book_gets_data(checks: dict[str, Check], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPPERLIB_RENDER", "book")
    for check in checks.values():
        assert check._repr_mimebundle_() == {
            MIME_TYPE: check.to_dict(),
            "text/plain": f"Self-check: {check.question}",
        }


@pytest.mark.parametrize("name", ["", "Task", "task memory", "task_memory", "-task", "task--memory", "tâche"])
def test_name_is_a_key(name: str) -> None:
    with pytest.raises(ValueError, match="must be lower-case words joined by hyphens: results are kept under it"):
        NumberCheck(name=name, question="?", explanation="!", answer=1)


@pytest.mark.parametrize("part", ["question", "explanation", "wrong"])
def test_texts_are_needed(part: str) -> None:
    texts: dict[str, Any] = {"question": "Which first?", "explanation": "Because.", "wrong": "No."} | {part: " "}
    with pytest.raises(ValueError, match=f"^check 'first' needs a text for {part}$"):
        NumberCheck(name="first", answer=1, **texts)
