"""Rules for every notebook of the book, as a list of its problems.

    python tests/notebooks/checker.py notebooks/node/placement.ipynb

prints the problems of one notebook; without a name, of all.

A number with a unit must not be typed into prose: it comes from the model
through an f-string, or from a source through a table. prose.py lists where it
may be typed; an exercise and its solution may state what is given; besides,
a cell's metadata can excuse a number with a reason:
``"hopper": {"bare": {"32 GB": "why"}}``.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import re
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import nbformat

from hopperbook.cells import plain

ROOT = Path(__file__).resolve().parent.parent.parent

KINDS = ("study", "concept", "tool")
PARTS = ("node", "network", "storage", "failure", "monitoring", "own")

LONGEST_CELL = 25
LONGEST_MEDIAN = 8
LONGEST_FUNCTION = 5

# Packages that a notebook leaves to hopperlib and plotly, whose figures carry a description.
NOT_IMPORTED = ("matplotlib", "seaborn", "bokeh", "altair", "ipywidgets")
CHECKS = ("NumberCheck", "ChoiceCheck", "CurveCheck", "GoalCheck")
CHECK_TEXTS = ("question", "explanation", "wrong", "hints", "misconceptions", "items", "mistakes", "text", "feedback")


def _prose_module() -> Any:
    """Return prose.py next to this file: tests are no package, so it is loaded by its path."""
    spec = importlib.util.spec_from_file_location("prose", Path(__file__).with_name("prose.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


prose = _prose_module()


class Cell:
    """One cell: its place, counted from 1, its kind, its text, and its metadata."""

    def __init__(self, number: int, kind: str, text: str, metadata: dict[str, Any] | None = None) -> None:
        self.number, self.kind, self.text, self.metadata = number, kind, text, metadata or {}

    @cached_property
    def tree(self) -> ast.Module:
        """The cell's code; empty if it is not plain Python, which is a separate problem."""
        try:
            return ast.parse(self.text if self.kind == "code" else "")
        except SyntaxError:
            return ast.Module(body=[], type_ignores=[])

    @cached_property
    def markdown(self) -> Any:
        """The cell's text as `prose.Markdown`; empty for a code cell."""
        return prose.Markdown(self.text if self.kind == "markdown" else "")


def _prose(cells: Sequence[Cell]) -> str:
    return "\n".join(part for cell in cells for part in cell.markdown.prose)


def _calls(cells: Sequence[Cell]) -> list[ast.Call]:
    """Return all calls in the code of some cells."""
    return [node for cell in cells for node in ast.walk(cell.tree) if isinstance(node, ast.Call)]


def _called(call: ast.Call) -> str:
    """Return the last part of the name that is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _items(cells: Sequence[Cell]) -> int:
    """Return how many items the lists at the left edge have."""
    return sum(cell.markdown.items for cell in cells)


def _links(cells: Sequence[Cell]) -> bool:
    """Whether there is a link, a citation or a bibliography."""
    return any(
        one.links or "bibliography" in [each.name for each in one.directives]
        for one in [cell.markdown for cell in cells]
    )


def _explores(cells: Sequence[Cell]) -> bool:
    """Whether an explorer is shown."""
    return any(_called(call) == "load" for call in _calls(cells)) or any("QUESTION" in cell.text for cell in cells)


def _code(cells: Sequence[Cell]) -> bool:
    """Whether something is computed."""
    return any(cell.kind == "code" for cell in cells)


def _words(cells: Sequence[Cell]) -> bool:
    """Whether something is said, or the study's list of assumptions is."""
    return len(_prose(cells).split()) >= 10 or any(_called(call) == "assumptions" for call in _calls(cells))


class Section(NamedTuple):
    """A section of the template: its heading, its required contents, and their description."""

    heading: str
    holds: Callable[[Sequence[Cell]], bool]
    in_words: str


# The template, in order. A study has exactly these headings of the second level; after a colon each may say what it finds.
SECTIONS = (
    Section(
        "The question",
        lambda cells: bool(re.search(r"\?.*[.!]", _prose(cells), re.DOTALL)),
        "a question, then the answer",
    ),
    Section("You will be able to", lambda cells: 3 <= _items(cells) <= 5, "a list of three to five abilities"),
    Section("Before you start", _links, "links to what helps"),
    Section("Predict first", lambda cells: "?" in _prose(cells), "a question to predict the answer of"),
    Section("Explore", _explores, 'the explorer: a code cell with load("name")'),
    Section("The documented study", _code, "a code cell that shows the table of documented values"),
    Section("Model and documents", _code, "a code cell that shows the figure"),
    Section("Residuals", _code, "a code cell that shows them"),
    Section("Assumptions", _words, "the assumptions, in words"),
    Section("What the model leaves out", _words, "what it leaves out, in words"),
    Section("Exercises", lambda cells: True, "two exercises and a self-check (see below)"),
    Section("On your machine today", _words, "the same question for a current machine, in words"),
    Section("Key points", lambda cells: 3 <= _items(cells) <= 5, "a list of three to five points"),
    Section("Next", _links, "a link to the next page"),
    Section("References", _links, "links or citations"),
)


def _cells(data: dict[str, Any]) -> list[Cell]:
    """Return a notebook's cells; after a solution the code in it, which the book runs, with the solution's number."""
    cells = []
    for number, one in enumerate(data["cells"], start=1):
        text = "".join(one["source"])
        cells.append(Cell(number, one["cell_type"], text, one.get("metadata", {})))
        if plain.tagged(one, "solution:"):
            with contextlib.suppress(ValueError):
                cells += [Cell(number, kind, part) for kind, part in plain.solution_parts(text) if kind == "code"]
    return cells


def problems(path: Path) -> list[str]:
    """Return the problems of a notebook, one sentence each, led by the number of the cell at fault."""
    data = json.loads(path.read_text(encoding="utf-8"))
    try:
        nbformat.validate(data)
    except nbformat.ValidationError as error:
        return [f"is no valid notebook: {error.message}"]
    metadata, cells = data["metadata"], _cells(data)
    found = [
        *_saved_state(data),
        *_metadata(metadata, path),
        *_title(metadata.get("hopper", {}), cells),
        *_short_code(cells),
        *_figures(cells),
        *_numbers(cells),
        *_plain(cells),
        *_installs(cells),
    ]
    if metadata.get("hopper", {}).get("kind") == "study":
        found += _sections(cells)
    return found


def _saved_state(data: dict[str, Any]) -> Iterator[str]:
    """No results of a run are saved."""
    for number, cell in enumerate(data["cells"], start=1):
        if cell["cell_type"] == "code" and cell["outputs"]:
            yield f"cell {number}: has outputs; clear them before you save"
        if cell["cell_type"] == "code" and cell["execution_count"] is not None:
            yield f"cell {number}: has an execution count; clear the outputs before you save"
    if "widgets" in data["metadata"]:
        yield "metadata: holds the state of widgets; clear the outputs before you save"


def _metadata(metadata: dict[str, Any], path: Path) -> Iterator[str]:
    """Kind, minutes, part and study, and the kernel that everybody has."""
    hopper = metadata.get("hopper")
    if not isinstance(hopper, dict):
        yield 'metadata: needs "hopper": {"kind", "minutes", "part", "study"}'
        return
    if hopper.get("kind") not in KINDS:
        yield f"metadata: kind={hopper.get('kind')!r} must be one of: {', '.join(KINDS)}"
    minutes = hopper.get("minutes")
    if not isinstance(minutes, int) or isinstance(minutes, bool) or not 5 <= minutes <= 180:
        yield f"metadata: minutes={minutes!r} must be a whole number from 5 to 180"
    if hopper.get("part") not in PARTS or hopper.get("part") != path.parent.name:
        yield f"metadata: part={hopper.get('part')!r} must be the notebook's folder, one of: {', '.join(PARTS)}"
    if hopper.get("kind") == "study" and hopper.get("study") != path.stem:
        yield f"metadata: study={hopper.get('study')!r} must be the name of the file, {path.stem!r}"
    if metadata.get("kernelspec", {}).get("name") != "python3":
        yield "metadata: kernelspec must be python3, which every installation has"


def _title(hopper: dict[str, Any], cells: Sequence[Cell]) -> Iterator[str]:
    """One title, with kind and minutes under it."""
    first = cells[0] if cells else Cell(1, "markdown", "")
    if first.kind != "markdown" or not re.match(r"# \S", first.text):
        yield "cell 1: must begin with the title, # ..."
    titles = [cell.number for cell in cells for marks, _ in cell.markdown.headings if marks == "#"]
    if len(titles) > 1:
        yield f"cell {titles[1]}: has a second title; sections begin with ##"
    kind, minutes = str(hopper.get("kind", "")), hopper.get("minutes")
    if not re.search(rf"^\W*{kind}\b.*\b{minutes} minutes\b", first.text, re.MULTILINE | re.IGNORECASE):
        yield f'cell 1: needs a line such as "{kind.capitalize()} · {minutes} minutes" under the title, as in the metadata'


def _sections(cells: Sequence[Cell]) -> Iterator[str]:
    """The sections of the template, in order, each with its required contents."""
    starts = [
        (cell, heading.partition(":")[0])
        for cell in cells
        for marks, heading in cell.markdown.headings
        if marks == "##"
    ]
    names = [heading for _, heading in starts]
    wanted = [section.heading for section in SECTIONS]
    for cell, heading in starts:
        if heading not in wanted:
            yield f"cell {cell.number}: '## {heading}' is no section of the template; use ### below one of its sections"
        elif not re.match(r"## ", cell.text):
            yield f"cell {cell.number}: '## {heading}' must be the first line of its cell"
    missing = [heading for heading in wanted if heading not in names]
    yield from (f"needs the section '## {heading}'" for heading in missing)
    present = [heading for heading in names if heading in wanted]
    if not missing and present != wanted:
        yield f"has its sections in another order than the template: {', '.join(present)}"
    numbers = [cell.number for cell, _ in starts] + [cells[-1].number + 1]
    for place, (_, heading) in enumerate(starts):
        inside = [cell for cell in cells if numbers[place] <= cell.number < numbers[place + 1]]
        section = next((one for one in SECTIONS if one.heading == heading), None)
        if section is not None and not section.holds(inside):
            yield f"'## {heading}' must hold {section.in_words}"
        if heading == "Exercises":
            yield from _exercises(inside)


def _exercises(cells: Sequence[Cell]) -> Iterator[str]:
    """Two exercises or more, each with a solution whose code is run, and a self-check."""
    tags = [plain.tagged({"metadata": cell.metadata}, "exercise:") for cell in cells]
    solved = [plain.tagged({"metadata": cell.metadata}, "solution:") for cell in cells]
    names = [name for name in tags if name]
    if len(names) < 2:
        yield f"'## Exercises' needs two exercises, each a cell tagged exercise:NAME, and has {len(names)}"
    yield from (
        f"'## Exercises': exercise {name!r} has no cell tagged solution:{name}" for name in names if name not in solved
    )
    if not any(_called(call) in CHECKS for call in _calls(cells)):
        yield f"'## Exercises' needs a self-check: one of {', '.join(CHECKS)}"


def _plain(cells: Sequence[Cell]) -> Iterator[str]:
    """Markdown that any program displays correctly: no directives and roles, exercises and solutions in their form."""
    for cell in cells:
        if cell.kind == "markdown":
            for marker in plain.raw_markers(cell.text):
                yield f"cell {cell.number}: {marker!r} is shown as it is outside the book; see hopperbook.cells.plain"
            try:
                list(
                    plain.page_cells(
                        {"id": "", "cell_type": "markdown", "metadata": cell.metadata, "source": cell.text}
                    )
                )
            except ValueError as error:
                yield f"cell {cell.number}: {error}"


def _installs(cells: Sequence[Cell]) -> Iterator[str]:
    """The first code cell, and no other, installs the book where it is not installed."""
    code = [cell for cell in cells if cell.kind == "code"]
    install = (ROOT / "book" / "hopperbook" / "cells" / "install.py").read_text(encoding="utf-8").rstrip("\n")
    if not code or code[0].text != install or plain.INSTALL not in code[0].metadata.get("tags", ()):
        yield "needs hopperbook/cells/install.py as its first code cell, tagged install and remove-cell"
    yield from (
        f"cell {cell.number}: only the first code cell is tagged install"
        for cell in code[1:]
        if plain.INSTALL in cell.metadata.get("tags", ())
    )


def _short_code(cells: Sequence[Cell]) -> Iterator[str]:
    """Short cells of plain Python that define almost nothing; the one that installs is the same in all."""
    code = [cell for cell in cells if cell.kind == "code" and plain.INSTALL not in cell.metadata.get("tags", ())]
    lengths = [len(cell.text.strip().splitlines()) for cell in code]
    for cell, length in zip(code, lengths, strict=True):
        if length == 0:
            yield f"cell {cell.number}: is empty"
        if length > LONGEST_CELL:
            yield f"cell {cell.number}: has {length} lines and may have {LONGEST_CELL}; move what it does to the package"
        try:
            ast.parse(cell.text)
        except SyntaxError as error:
            yield f"cell {cell.number}: is no plain Python: {error.msg}"
        for node in ast.walk(cell.tree):
            if isinstance(node, ast.ClassDef):
                yield f"cell {cell.number}: defines class {node.name}; move it to the package"
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    yield (
                        f"cell {cell.number}: defines {node.name} in {lines} lines and may use {LONGEST_FUNCTION}; "
                        "move it to the package, where it is tested"
                    )
    if lengths and statistics.median(lengths) > LONGEST_MEDIAN:
        yield f"has code cells of {statistics.median(lengths):g} lines in the median; {LONGEST_MEDIAN} are allowed"


def _figures(cells: Sequence[Cell]) -> Iterator[str]:
    """Figures come from hopperlib, with their description; pictures have alt texts."""
    for cell in cells:
        if cell.kind == "markdown" and re.search(r"^(?:Markdown|Table|chart)\($", cell.text, re.MULTILINE):
            yield f"cell {cell.number}: is text and reads like code"
        for alt in cell.markdown.pictures:
            if len(alt.split()) < 3:
                yield f"cell {cell.number}: has a picture that needs a description, not {alt!r}"
        for node in ast.walk(cell.tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                if name.split(".")[0] in NOT_IMPORTED:
                    yield f"cell {cell.number}: imports {name}; show a figure of plotly or hopperlib, which carries its description"
        drawn = [call for call in _calls([cell]) if ast.unparse(call.func).startswith("px.")]
        if drawn and not any(keyword.arg == "meta" for call in _calls([cell]) for keyword in call.keywords):
            yield f"cell {cell.number}: draws with plotly and gives no description: figure.update_layout(meta=...)"
        for node in ast.walk(cell.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "show":
                yield f"cell {cell.number}: calls .show(); end the cell with the Figure instead"


def _numbers(cells: Sequence[Cell]) -> Iterator[str]:
    """Numbers with a unit come from the model or a source."""
    for cell in cells:
        found = [*prose.bare_numbers(cell.markdown), *_bare_in_checks(cell)]
        if cell.number == 1:
            # The line under the title says the minutes of the metadata, and is held to them.
            found = [number for number in found if not number.endswith("minutes")]
        if any(plain.tagged({"metadata": cell.metadata}, tag) for tag in ("exercise:", "solution:")):
            found = []
        excused = cell.metadata.get("hopper", {}).get("bare", {})
        for number in found:
            if not str(excused.get(number, "")).strip():
                yield f"cell {cell.number}: {number!r} stands bare; take it from the model, with an f-string"
        for number in excused:
            if number not in found:
                yield f"cell {cell.number}: excuses {number!r}, which does not stand bare in it"


def _bare_in_checks(cell: Cell) -> list[str]:
    """Return the numbers with a unit that are typed into the texts of self-checks."""
    keywords = [
        one for call in _calls([cell]) if _called(call) in (*CHECKS, "Option", "Condition") for one in call.keywords
    ]
    texts = [
        node.value
        for one in keywords
        if one.arg in CHECK_TEXTS
        for node in ast.walk(one.value)
        if isinstance(node, ast.Constant)
    ]
    return [number for text in texts if isinstance(text, str) for number in prose.bare_numbers(prose.Markdown(text))]


def self_check_names(path: Path) -> list[str]:
    """Return the names of a notebook's self-checks, under which readers' results are kept."""
    return [
        str(keyword.value.value)
        for call in _calls(_cells(json.loads(path.read_text(encoding="utf-8"))))
        if _called(call) in CHECKS
        for keyword in call.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    ]


def all_notebooks() -> list[Path]:
    """Return the notebooks of the book."""
    return sorted(path for path in (ROOT / "notebooks").glob("*/*.ipynb"))


def main(names: Sequence[str]) -> int:
    """Print the problems of some notebooks, or of all; return 1 if there are any."""
    count = 0
    for path in [Path(name) for name in names] or all_notebooks():
        for problem in problems(path):
            count += 1
            print(f"{path}: {problem}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
