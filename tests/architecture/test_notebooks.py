"""Imports of the notebooks: tools that their readers know, and public modules of the packages."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from hopperbook.cells.plain import code_of

# A longer cell reads as a program. Questions to the reader and lists of documented values are words, not code.
LONGEST_CELL = 15
WORDS = ("NumberCheck", "ChoiceCheck", "CurveCheck", "GoalCheck", "documented_table")


def _code(notebook: Path) -> list[ast.Module]:
    """Return the code cells that a notebook's page runs, parsed."""
    return [ast.parse(code) for code in code_of(notebook)]


def _imports(cells: list[ast.Module]) -> set[str]:
    """Return the modules that are imported."""
    nodes = [node for cell in cells for node in ast.walk(cell)]
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def _names(cells: list[ast.Module]) -> set[str]:
    """Return the names whose attributes are used."""
    nodes = [node for cell in cells for node in ast.walk(cell) if isinstance(node, ast.Attribute)]
    return {node.value.id for node in nodes if isinstance(node.value, ast.Name)}


@pytest.fixture(scope="module")
def notebooks(root):
    paths = [*sorted((root / "notebooks").glob("*/*.ipynb")), *sorted((root / "book").glob("*.ipynb"))]
    return {path.relative_to(root).as_posix(): _code(path) for path in paths}


def test_most_use_pandas_and_plotly(notebooks):
    """Not imported alone: a function of each is called."""
    wanted, called = {"pandas", "plotly.express"}, {"pd", "px"}
    using = [name for name, cells in notebooks.items() if wanted <= _imports(cells) and called <= _names(cells)]
    assert len(using) >= 20, using


def test_none_imports_what_is_private(notebooks):
    private = {name: {each for each in _imports(cells) if "._" in each} for name, cells in notebooks.items()}
    assert {name: modules for name, modules in private.items() if modules} == {}


def test_studies_begin_with_what_their_readers_know(notebooks):
    first = ["import hopperkit", "import pandas as pd", "import plotly.express as px"]
    studies = {
        name: cells for name, cells in notebooks.items() if name.startswith("notebooks/") and "/own/" not in name
    }
    missing = [
        name for name, cells in studies.items() if not set(first) <= {ast.unparse(line) for line in cells[0].body[:4]}
    ]
    assert missing == []


def test_cells_are_short(notebooks):
    long = []
    for name, cells in notebooks.items():
        for cell in cells:
            if not cell.body:
                continue
            last = cell.body[-1]
            call = last.value if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) else None
            said = call is not None and getattr(call.func, "id", "") in WORDS
            texts = isinstance(cell.body[0], ast.Assign) and isinstance(cell.body[0].value, ast.List)
            program = [each for each in cell.body if not isinstance(each, ast.Import | ast.ImportFrom)]
            lines = sum(bool(line.strip()) for each in program for line in ast.unparse(each).splitlines())
            if not said and not texts and lines > LONGEST_CELL:
                long.append(f"{name}: {ast.unparse(cell)[:60]!r} has {lines} lines")
    assert not long, "\n".join(long)
