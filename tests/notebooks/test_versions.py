"""Versions of the notebooks for who teaches and who learns, and the page that JupyterLab opens."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

from hopperbook.self_checks import ChoiceCheck, Option


@pytest.fixture(scope="module")
def versions(root: Path) -> Any:
    """The script, loaded by its path."""
    spec = importlib.util.spec_from_file_location("notebook_versions", root / "scripts" / "notebook_versions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _cell(text: str, kind: str = "markdown", **metadata: Any) -> dict[str, Any]:
    return {"cell_type": kind, "id": "x", "metadata": metadata, "source": text.splitlines(keepends=True)}


SOLUTION = "<details>\n<summary>Solution</summary>\n\nTwice three.\n\n```python\n2 * 3\n```\n\n</details>"


@pytest.fixture
def toy() -> dict[str, Any]:
    """A notebook with an exercise, its solution in words and code, and a self-check."""
    return {
        "metadata": {"hopper": {"minutes": 20}},
        "cells": [
            _cell("# Toy"),
            _cell("## Predict first\n\nHow many sit on NUMA node 3?"),
            _cell("> **Exercise.** How many?", tags=["exercise:toy-one"]),
            _cell(SOLUTION, tags=["solution:toy-one"]),
            _cell("Behind it."),
            _cell('ChoiceCheck(name="toy", question=f"What of {n}?", options=(Option("Six", right=True),))', "code")
            | {"id": "asked"},
        ],
    }


CHECKS = {
    "asked": ChoiceCheck(
        name="toy",
        question="What of 6?",
        explanation="Twice three.",
        options=(
            Option(text="All of them", feedback="No, some of them stay idle."),
            Option(text="Six", feedback="Six.", right=True),
        ),
    ).to_dict()
}


def test_a_students_version_tells_no_answer(versions: Any, toy: dict[str, Any]) -> None:
    made = versions.student(toy, CHECKS)
    text = "\n".join(_source(cell) for cell in made["cells"])
    assert "How many?" in text
    assert "Behind it." in text
    assert "**Question.** What of 6?\n\n- All of them\n- Six" in text
    for answer in ("Twice three.", "2 * 3", "right=True", "stay idle", "ChoiceCheck"):
        assert answer not in text


def test_an_instructors_version_tells_all(versions: Any, toy: dict[str, Any]) -> None:
    versions.hide_answers(toy)
    made = versions.instructor(versions.opened(toy), CHECKS)
    lead = "".join(made["cells"][1]["source"])
    for words in ("Minutes: 20.", "How many sit on NUMA node 3?", "**What of 6?**", "*Answer:* Six", ": No, some of"):
        assert words in lead
    text = "\n".join(_source(cell) for cell in made["cells"])
    assert "Twice three." in text
    assert "<details>" not in text
    assert next(_source(cell) for cell in made["cells"] if cell["cell_type"] == "code") == "2 * 3"
    assert not any("jupyter" in cell["metadata"] for cell in made["cells"])


def test_answers_are_folded(versions: Any, toy: dict[str, Any]) -> None:
    assert versions.hide_answers(toy)
    assert [cell["metadata"].get("jupyter") for cell in toy["cells"] if cell["cell_type"] == "code"] == [
        {"source_hidden": True}
    ]
    assert not versions.hide_answers(toy)


# Kernels that run a whole notebook, twice: at night.
@pytest.mark.nightly
def test_a_notebook_has_both_executed_and_without_holes(versions: Any, root: Path, tmp_path: Path) -> None:
    for kind in ("student", "instructor"):
        assert versions.main([kind, str(tmp_path / kind), "node/memory"]) == 0
    student = (tmp_path / "student" / "node" / "memory.ipynb").read_text(encoding="utf-8")
    assert not re.search(r"solution:|<details>|(Number|Choice|Order|Goal)Check\(", student)
    teacher = json.loads((tmp_path / "instructor" / "node" / "memory.ipynb").read_text(encoding="utf-8"))
    lead = "".join(teacher["cells"][1]["source"])
    source = json.loads((root / "notebooks" / "node" / "memory.ipynb").read_text(encoding="utf-8"))
    questions = sum(versions.check_call(cell) is not None for cell in source["cells"])
    assert lead.count("\n*Answer:* ") == questions
    before = lead.partition("before anybody runs a cell")[2].partition("### ")[0]
    assert "1.29 GB" in before
    assert "explorer" not in before
    for answer in ("11,520 core-hours", "✓ Fewer tasks on each node", "Memory per task `1.9` GB"):
        assert answer in lead
    # 31 of 32 GB can be allocated: a number that the cells compute.
    assert "About 31 of the 32 GB" in lead
    assert all(
        cell["outputs"] for cell in teacher["cells"] if cell["cell_type"] == "code" and versions.check_call(cell)
    )
    assert not any(cell["outputs"] for cell in json.loads(student)["cells"] if cell["cell_type"] == "code")
    assert versions.main(["student", str(tmp_path), "node/no-such"]) == 2


def test_the_page_to_start_from_links_notebooks_that_are_there(versions: Any, tmp_path: Path) -> None:
    file = tmp_path / "lab" / "start.ipynb"
    assert versions.main(["start", str(file)]) == 0
    text = "".join(json.loads(file.read_text(encoding="utf-8"))["cells"][0]["source"])
    links = re.findall(r"\]\(([^)]+\.ipynb)\)", text)
    assert len(links) > 20
    assert all((file.parent / link).exists() for link in links)
    assert "{route}" not in text
    assert versions.main(["teacher"]) == 2
