"""A strict type checker accepts the code of the notebooks, and rejects thirty wrong uses of the public API."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from hopperbook.cells.plain import code_of

OPTIONS = ("--strict", "--allow-redefinition", "--untyped-calls-exclude=IPython", "--no-error-summary", "--config-file")


def _checked(root, files):
    """Return what mypy says of files, as line and file of each error; its cache is that of `make lint`."""
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


@pytest.mark.slow
def test_notebooks_are_typed(root, tmp_path):
    notebooks = [
        *root.glob("notebooks/*/*.ipynb"),
        *root.glob("book/*.ipynb"),
        *root.glob("tests/notebooks/**/*.ipynb"),
    ]
    assert len(notebooks) > 30
    files = []
    for notebook in notebooks:
        files.append(tmp_path / f"{notebook.stem.replace('-', '_')}.py")
        files[-1].write_text(_code(notebook), encoding="utf-8")
    assert _checked(root, files) == []


@pytest.mark.slow
def test_wrong_uses_are_rejected(root, tmp_path):
    text = (root / "tests" / "api" / "wrong_uses.txt").read_text(encoding="utf-8")
    file = tmp_path / "wrong_uses.py"
    file.write_text(text, encoding="utf-8")
    lines = text.splitlines()
    rejected = {int(found[1]) for error in _checked(root, [file]) if (found := re.search(r"\.py:(\d+):", error))}
    wrong = {
        number
        for number, line in enumerate(lines, start=1)
        if "no_such" in line or line.startswith(("hopperkit.", "memory_per_task("))
    }
    assert len(wrong) == 30
    assert wrong - rejected == set(), [lines[number - 1] for number in sorted(wrong - rejected)]
    assert rejected - wrong == set()
