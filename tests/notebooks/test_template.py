"""Every notebook of the book follows the template, and the checker finds planted problems in toy notebooks."""

from __future__ import annotations

import copy
import importlib.util
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def _checker() -> Any:
    """Return checker.py next to this file: tests are no package, so it is loaded by its path."""
    spec = importlib.util.spec_from_file_location("checker", Path(__file__).with_name("checker.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


checker = _checker()


def test_every_notebook_keeps_the_template(root: Path) -> None:
    notebooks = checker.all_notebooks()
    assert notebooks, "there are no notebooks"
    found = [f"{path.relative_to(root)}: {problem}" for path in notebooks for problem in checker.problems(path)]
    assert not found, "\n".join(found)


def test_names_of_self_checks_are_unique() -> None:
    names = Counter(name for path in checker.all_notebooks() for name in checker.self_check_names(path))
    assert [name for name, count in names.items() if count > 1] == []


# A toy study that keeps every rule. Sections whose content matters for a rule carry it; the others say ten words.

INSTALL = (Path(__file__).parents[2] / "book/hopperbook/cells/install.py").read_text(encoding="utf-8").rstrip("\n")


def _solution(text: str) -> str:
    """Return a solution as a folded block."""
    return f"<details>\n<summary>Solution</summary>\n\n{text}\n\n</details>"


TEN_WORDS = "One two three four five six seven eight nine ten."
ITEMS = "- place tasks\n- read a line\n- say what is wrong"
LINK = "See [the next page](../node/memory.ipynb)."
EXERCISES = [
    "## Exercises",
    {"text": "> **Exercise.** How many?", "tag": "exercise:one"},
    {"text": _solution("```python\n12 // 2\n```"), "tag": "solution:one"},
    {"text": "> **Exercise.** Why?", "tag": "exercise:two"},
    {"text": _solution("So."), "tag": "solution:two"},
    {"code": 'NumberCheck(name="toy-tasks", question="?", answer=6, explanation="!")'},
]
CONTENT: dict[str, list[Any]] = {
    "The question": ["Where do tasks land? On NUMA node 0 first."],
    "You will be able to": [ITEMS],
    "Before you start": [LINK],
    "Predict first": ["How many sit on NUMA node 3?"],
    "Explore": [{"code": 'load("place")'}],
    "The documented study": [{"code": "documented"}],
    "Model and documents": [{"code": "figure"}],
    "Residuals": [{"code": "residuals"}],
    "Assumptions": [TEN_WORDS],
    "What the model leaves out": [TEN_WORDS],
    "On your machine today": [TEN_WORDS],
    "Key points": [ITEMS],
    "Next": [LINK],
    "References": ["[Antypas and He, 2011](../../data/sources.bib#antypas2011)"],
}


def _cell(content: Any) -> dict[str, Any]:
    if isinstance(content, dict) and "tag" in content:
        return {"cell_type": "markdown", "source": content["text"], "metadata": {"tags": [content["tag"]]}}
    if isinstance(content, dict):
        return {"cell_type": "code", "source": content["code"], "metadata": {}, "outputs": [], "execution_count": None}
    return {"cell_type": "markdown", "source": content, "metadata": {}}


def _toy() -> dict[str, Any]:
    """Return a toy study without problems."""
    cells: list[Any] = ["# Where tasks land\n\n*Study · 20 minutes*", {"code": INSTALL}]
    for section in checker.SECTIONS:
        if section.heading == "Exercises":
            cells += EXERCISES
            continue
        first, *rest = CONTENT[section.heading]
        cells += [f"## {section.heading}\n\n{first}"] if isinstance(first, str) else [f"## {section.heading}", first]
        cells += rest
    made = [_cell(one) | {"id": f"cell-{number}"} for number, one in enumerate(cells)]
    made[1]["metadata"] = {"tags": ["install", "remove-cell"]}
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {
            "hopper": {"kind": "study", "minutes": 20, "part": "node", "study": "toy"},
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        },
        "cells": made,
    }


def _problems(notebook: dict[str, Any], folder: Path) -> list[str]:
    """Return the problems of a notebook written to node/toy.ipynb."""
    path = folder / "node" / "toy.ipynb"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")
    found: list[str] = checker.problems(path)
    return found


def _with_prose(text: str, **metadata: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change that adds a paragraph to the assumptions."""

    def change(notebook: dict[str, Any]) -> None:
        cell = next(one for one in notebook["cells"] if one["source"].startswith("## Assumptions"))
        cell["source"] += f"\n\n{text}"
        cell["metadata"] |= metadata

    return change


def _with_code(code: str) -> Callable[[dict[str, Any]], None]:
    """Return a change that puts code in place of the figure's."""

    def change(notebook: dict[str, Any]) -> None:
        next(one for one in notebook["cells"] if one["source"] == "figure")["source"] = code

    return change


def _with_text(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Return a change of the text of cells."""

    def change(notebook: dict[str, Any]) -> None:
        assert any(old in one["source"] for one in notebook["cells"])
        for one in notebook["cells"]:
            one["source"] = one["source"].replace(old, new)

    return change


def _with_tag(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Return a change of a cell's tag."""

    def change(notebook: dict[str, Any]) -> None:
        tags = next(cell["metadata"]["tags"] for cell in notebook["cells"] if old in cell["metadata"].get("tags", ()))
        tags[tags.index(old)] = new

    return change


def _with_metadata(**metadata: Any) -> Callable[[dict[str, Any]], None]:
    """Return a change of the notebook's metadata."""

    def change(notebook: dict[str, Any]) -> None:
        notebook["metadata"]["hopper"] |= metadata

    return change


def _without(heading: str) -> Callable[[dict[str, Any]], None]:
    """Return a change that takes a section's heading away."""
    return _with_text(f"## {heading}", "Words")


def test_toy_has_no_problems(tmp_path: Path) -> None:
    assert _problems(_toy(), tmp_path) == []


@pytest.mark.parametrize("heading", [section.heading for section in checker.SECTIONS])
def test_each_section_is_needed(heading: str, tmp_path: Path) -> None:
    toy = _toy()
    _without(heading)(toy)
    assert f"needs the section '## {heading}'" in _problems(toy, tmp_path)


def _swap(notebook: dict[str, Any]) -> None:
    _with_text("## Next", "## X")(notebook)
    _with_text("## Key points", "## Next")(notebook)
    _with_text("## X", "## Key points")(notebook)


def _output(notebook: dict[str, Any]) -> None:
    cell = next(one for one in notebook["cells"] if one["cell_type"] == "code")
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "6"}]
    cell["execution_count"] = 3


def _empty_code(notebook: dict[str, Any]) -> None:
    notebook["cells"].append(_cell({"code": "\n"}) | {"id": "empty"})


def _without_code_after(heading: str) -> Callable[[dict[str, Any]], None]:
    def change(notebook: dict[str, Any]) -> None:
        place = [one["source"] for one in notebook["cells"]].index(f"## {heading}")
        notebook["cells"][place + 1] = _cell("Words.") | {"id": "words"}

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_swap, "has its sections in another order than the template: "),
        (_with_text("## Next", "## Onwards"), "'## Onwards' is no section of the template; use ###"),
        (_with_text("## Next", "Words.\n\n## Next"), "'## Next' must be the first line of its cell"),
        (_with_text("- read a line\n", ""), "'## Key points' must hold a list of three to five points"),
        (_with_text(LINK, "Words."), "'## Before you start' must hold links to what helps"),
        (
            _with_text("[Antypas and He, 2011](../../data/sources.bib#antypas2011)", "Words."),
            "'## References' must hold links or citations",
        ),
        (_with_text("How many sit on NUMA node 3?", "Guess."), "'## Predict first' must hold a question"),
        (_with_text(" On NUMA node 0 first.", ""), "'## The question' must hold a question, then the answer"),
        (_with_text('load("place")', "6"), "'## Explore' must hold the explorer"),
        (_without_code_after("The documented study"), "'## The documented study' must hold a code cell"),
        (_without_code_after("Model and documents"), "'## Model and documents' must hold a code cell"),
        (_without_code_after("Residuals"), "'## Residuals' must hold a code cell"),
        (_with_text(TEN_WORDS, "Few words."), "'## What the model leaves out' must hold"),
        (_with_text("# Where tasks land", "Where tasks land"), "cell 1: must begin with the title, # ..."),
        (_with_text("## Next", "# Next"), "has a second title; sections begin with ##"),
        (_with_text("20 minutes", "30 minutes"), 'cell 1: needs a line such as "Study · 20 minutes" under the title'),
        (_with_text("Study ·", "Tool ·"), 'cell 1: needs a line such as "Study · 20 minutes" under the title'),
        (_with_metadata(kind="story"), "metadata: kind='story' must be one of: study, concept, tool"),
        (_with_metadata(minutes=True), "metadata: minutes=True must be a whole number from 5 to 180"),
        (_with_metadata(part="network"), "metadata: part='network' must be the notebook's folder"),
        (_with_metadata(study="other"), "metadata: study='other' must be the name of the file, 'toy'"),
        (lambda toy: toy["metadata"].pop("hopper"), 'metadata: needs "hopper"'),
        (lambda toy: toy["metadata"].pop("kernelspec"), "metadata: kernelspec must be python3"),
        (lambda toy: toy["metadata"].update(widgets={}), "metadata: holds the state of widgets"),
        (lambda toy: toy["cells"][0].pop("source"), "is no valid notebook: 'source' is a required property"),
        (_output, "has outputs; clear them"),
        (_output, "has an execution count; clear"),
        (_empty_code, "is empty"),
        (_with_code("x = 1\n" * 26), "has 26 lines and may have 25; move what it does to the package"),
        (_with_code("%timeit 6"), "is no plain Python: invalid syntax"),
        (_with_code("class Node:\n    cores = 24"), "defines class Node; move it to the package"),
        (_with_code("def f(x):\n" + "    x += 1\n" * 5), "defines f in 6 lines and may use 5; move it to the package"),
        (_with_code("px.bar(x=[1], y=[2])"), "draws with plotly and gives no description"),
        (_with_code("from matplotlib import pyplot"), "imports matplotlib; show a figure of plotly or hopperlib"),
        (_with_code("figure.show()"), "calls .show(); end the cell with the Figure instead"),
        (_with_prose('Markdown(\n    f"{tasks} tasks"\n)'), "is text and reads like code"),
        (_with_prose("![](node.svg)"), "has a picture that needs a description, not ''"),
        (_with_prose('<img src="node.svg" alt="node">'), "has a picture that needs a description, not 'node'"),
        (_with_prose("```{figure} node.svg\n:width: 5\n```"), "has a picture that needs a description, not ''"),
        (
            _with_prose("A node has 32 GB."),
            "'32 GB' stands bare; take it from the model, with an f-string",
        ),
        (_with_prose("Words.", hopper={"bare": {"32 GB": "why"}}), "excuses '32 GB', which does not stand bare in it"),
        (_with_prose("32 GB.", hopper={"bare": {"32 GB": " "}}), "'32 GB' stands bare"),
        (_with_text('explanation="!"', 'explanation="It has 32 GB."'), "'32 GB' stands bare"),
        (_with_text('explanation="!"', 'hints=(f"{x} of 32 GB",)'), "'32 GB' stands bare"),
        (_with_text('NumberCheck(name="toy-tasks"', 'print("toy-tasks"'), "'## Exercises' needs a self-check"),
        (_with_tag("exercise:two", "exercise"), "needs two exercises, each a cell tagged exercise:NAME, and has 1"),
        (_with_tag("solution:two", "solution:three"), "exercise 'two' has no cell tagged solution:two"),
        (_with_text("> **Exercise.** Why?", "Why?"), "an exercise is a block quote that begins '> **Exercise.** '"),
        (_with_text("Why?", "Why?\n\nSay it."), "an exercise is a block quote that begins '> **Exercise.** '"),
        (_with_text("So.\n\n</details>", "So."), "a solution is '<details>', '<summary>Solution</summary>'"),
        (_with_text("12 // 2", "class Node: pass"), "defines class Node; move it to the package"),
        (_with_prose("A [torus](../../book/glossary.md#term-tours)."), "has no term with the anchor 'term-tours'"),
        (_with_prose("A {term}`torus`."), "'{term}`' is shown as it is outside the book"),
        (_with_prose("```{note}\nWords.\n```"), "'```{note}' is shown as it is outside the book"),
        (_with_prose(":::{note}\nWords.\n:::"), "':::{note}' is shown as it is outside the book"),
        (_with_text(INSTALL, "import hopperkit"), "needs hopperbook/cells/install.py as its first code cell"),
        (_with_tag("install", "installs"), "needs hopperbook/cells/install.py as its first code cell"),
    ],
)
def test_problem_is_found(change: Callable[[dict[str, Any]], Any], problem: str, tmp_path: Path) -> None:
    toy = _toy()
    change(toy)
    found = _problems(toy, tmp_path)
    assert [one for one in found if problem in one], found


def test_half_of_the_cells_are_short(tmp_path: Path) -> None:
    toy = _toy()
    for cell in toy["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] += "\nx = 1" * 8
    assert "has code cells of 9 lines in the median; 8 are allowed" in _problems(toy, tmp_path)


def test_excused_number_is_no_problem(tmp_path: Path) -> None:
    toy = _toy()
    _with_prose("About **32** GB.", hopper={"bare": {"32 GB": "an example of a size, not of this machine"}})(toy)
    assert _problems(toy, tmp_path) == []


def test_computed_number_in_a_self_check_is_no_problem(tmp_path: Path) -> None:
    toy = _toy()
    _with_text('explanation="!"', 'explanation=f"{memory:.2f} GB, from `-m 2 GB`."')(toy)
    assert _problems(toy, tmp_path) == []


def test_a_tool_needs_no_sections(tmp_path: Path) -> None:
    toy = _toy()
    toy["metadata"]["hopper"] = {"kind": "tool", "minutes": 10, "part": "node", "study": None}
    toy["cells"] = [_cell("# Your trace\n\nTool · 10 minutes") | {"id": "only"}, toy["cells"][1]]
    assert _problems(toy, tmp_path) == []


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("A node has 32 GB and 1,700 MB/s.", ["32 GB", "1,700 MB/s"]),
        ("A 2.1GHz clock, -5 % or 3.5\u00a0GB/s/node", ["2.1GHz", "-5 %", "3.5\u00a0GB/s"]),
        ("It took 20 minutes, 5 s, a 30-minute run.", ["20 minutes", "5 s", "30-minute"]),
        ("**31** GB of *32 GB*", ["31 GB", "32 GB"]),
        ("# A heading of 5 GB", ["5 GB"]),
        ("| memory |\n| --- |\n| 32 GB |", ["32 GB"]),
        ("```{note}\nOnly 31 GB are left.\n```", ["31 GB"]),
        (":::{note}\nOnly 31 GB are left.\n:::", ["31 GB"]),
        ("````{note}\nOnly 31 GB.\n```bash\nfree # 32 GB\n```\n````", ["31 GB"]),
        ("<p>32 GB</p>", ["32 GB"]),
        ("384 tasks on 32 nodes, 12 of 24 cores, in the 2010s, version 3.2", []),
        ("`aprun -m 32 GB`, {glue:text}`memory` GB, {glue:text}`x:.2f` s", []),
        ("$32\\,$GB and $m = 32$ GB", []),
        ("[a page of 32 GB](x.md)", []),
        ("```\n32 GB\n```\n\n```{code-block} bash\nfree # 32 GB\n```", []),
        ("<!-- 32 GB -->", []),
        ("c0-3c1s5n1, 2011-06-25, 1e5", []),
    ],
)
def test_what_stands_bare(text: str, numbers: list[str]) -> None:
    assert checker.prose.bare_numbers(checker.prose.Markdown(text)) == numbers


def test_names_of_self_checks_are_read_from_the_code(tmp_path: Path) -> None:
    path = tmp_path / "toy.ipynb"
    path.write_text(json.dumps(_toy()), encoding="utf-8")
    assert checker.self_check_names(path) == ["toy-tasks"]


def test_command_prints_problems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    toy = _toy()
    _problems(toy, tmp_path)
    path = tmp_path / "node" / "toy.ipynb"
    assert checker.main([str(path)]) == 0
    bad = copy.deepcopy(toy)
    bad["metadata"]["widgets"] = {}
    _problems(bad, tmp_path)
    assert checker.main([str(path)]) == 1
    assert (
        capsys.readouterr().out == f"{path}: metadata: holds the state of widgets; clear the outputs before you save\n"
    )
