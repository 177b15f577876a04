"""A strict type checker accepts the code of the notebooks, and rejects thirty wrong uses of the public API."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from hopperbook.cells.plain import code_of

WRONG = "wrong_uses.py"
OPTIONS = ("--strict", "--allow-redefinition", "--untyped-calls-exclude=IPython", "--no-error-summary", "--config-file")


def _checked(root, files):
    """Return mypy's errors in files, as line and file; its cache is that of `make lint`."""
    command = [sys.executable, "-m", "mypy", *OPTIONS, str(root / "pyproject.toml"), *map(str, files)]
    paths = os.pathsep.join([str(root), str(root / "book")])
    done = subprocess.run(
        command, cwd=root, env={**os.environ, "MYPYPATH": paths}, capture_output=True, text=True, check=False
    )
    assert not done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]


def _code(path):
    # Commands of IPython are no Python.
    return "\n".join(re.sub(r"^[%!].*", "pass", text, flags=re.MULTILINE) for text in code_of(path)) + "\n"


@pytest.fixture(scope="module")
def errors(root, tmp_path_factory):
    """Mypy's errors in the notebooks and in the wrong uses, in one run, because reading the packages takes longest."""
    folder = tmp_path_factory.mktemp("typed")
    notebooks = [
        *root.glob("notebooks/*/*.ipynb"),
        *root.glob("book/*.ipynb"),
        *root.glob("tests/notebooks/**/*.ipynb"),
    ]
    assert len(notebooks) > 30
    texts = {f"{notebook.stem.replace('-', '_')}.py": _code(notebook) for notebook in notebooks}
    texts[WRONG] = (root / "tests" / "api" / "wrong_uses.txt").read_text(encoding="utf-8")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return _checked(root, [folder / name for name in texts])


@pytest.mark.slow
def test_notebooks_are_typed(errors):
    assert [error for error in errors if WRONG not in error] == []


@pytest.mark.slow
def test_wrong_uses_are_rejected(root, errors):
    text = (root / "tests" / "api" / "wrong_uses.txt").read_text(encoding="utf-8")
    lines = text.splitlines()
    rejected = {int(found[1]) for error in errors if (found := re.search(rf"{WRONG}:(\d+):", error))}
    wrong = {
        number
        for number, line in enumerate(lines, start=1)
        if "no_such" in line or line.startswith(("hopperkit.", "memory_per_task("))
    }
    assert len(wrong) == 30
    assert wrong - rejected == set(), [lines[number - 1] for number in sorted(wrong - rejected)]
    assert rejected - wrong == set()
