"""Facts that notebooks read from an answer exist: a misspelled one is found here, before the book is built."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from hopperbook.cells.plain import code_of
from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.question import load

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def _trees(notebook: Path) -> Iterator[ast.Module]:
    """Yield the code cells that are plain Python."""
    for source in code_of(notebook):
        if not source.lstrip().startswith(("%", "!")):
            yield ast.parse(source)


def _asked(node: ast.AST) -> str:
    """Return the question of an expression: by ``load("NAME")``, ``explorer="NAME"`` or ``hopperkit.NAME(...)``."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Name(id="load"), args=[ast.Constant(value=str(name))]):
                return name
            case ast.keyword(arg="explorer", value=ast.Constant(value=str(name))):
                return name
            case ast.Attribute(value=ast.Name(id="hopperkit"), attr=name) if name.replace("_", "-") in QUESTIONS:
                return name.replace("_", "-")
    return ""


def _read(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the facts that a cell reads, each with its question."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="GoalCheck")):
                for part in ast.walk(node):
                    match part:
                        case ast.keyword(arg="fact", value=ast.Constant(value=str(fact))):
                            yield _asked(node), fact
            case ast.Subscript(value=ast.Attribute(attr="facts"), slice=ast.Constant(value=str(fact))):
                yield _asked(node), fact


def test_facts_that_notebooks_read_exist():
    read = {
        (notebook.name, name, fact)
        for notebook in sorted(NOTEBOOKS.glob("*/*.ipynb"))
        for tree in _trees(notebook)
        for name, fact in _read(tree)
    }
    assert len(read) > 40
    answered = {name: load(name).run().facts for _, name, _ in read if name}
    # A fact of a variable is that of a report, which its own cell reads when the notebook runs.
    missing = [entry for entry in sorted(read) if entry[1] and entry[2] not in answered[entry[1]]]
    assert not missing
