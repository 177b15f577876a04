"""The first code cell of every notebook, in a Python that has nothing installed and reaches no network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

CELL = "book/hopperbook/cells/install.py"
# Stands for pip: it writes down what it is called with.
FAKE_PIP = "import os, sys\nopen(os.environ['CALLS'], 'a').write(repr(sys.argv[1:]) + '\\n')\n"
AFTER = "\nimport json\nprint(json.dumps([bool(importlib.util.find_spec(name)) for name in ('hopperlib', 'hopperkit', 'hopperbook')]))\n"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python without any package; its pip is a fake."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False)
    pip = next((folder / "lib").glob("python*/site-packages")) / "pip"
    pip.mkdir()
    (pip / "__init__.py").touch()
    (pip / "__main__.py").write_text(FAKE_PIP, encoding="utf-8")
    return folder / "bin" / "python"


def _run(python: Path, code: str, folder: Path, calls: Path, **more: str) -> tuple[list[bool], list[str]]:
    """Run the cell in a folder; return which packages it then finds, and the calls of pip."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HOPPER"))}
    environment = kept | more | {"CALLS": str(calls)}
    done = subprocess.run(
        [python, "-c", code + AFTER],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), calls.read_text(
        encoding="utf-8"
    ).splitlines() if calls.exists() else []


def _wanted(source: Path) -> list[str]:
    quiet = ["install", "--quiet"]
    commands = [[*quiet, "--editable", f"{source}[notebooks]"], [*quiet, "--no-deps", "--editable", f"{source}/book"]]
    return [repr(command) for command in commands]


def test_a_bare_python_installs_the_repository_of_the_notebook(root: Path, bare: Path, tmp_path: Path) -> None:
    code = (root / CELL).read_text(encoding="utf-8")
    found, calls = _run(bare, code, root / "notebooks" / "node", tmp_path / "calls")
    assert calls == _wanted(root)
    assert found == [True, True, True]


def test_a_notebook_alone_gets_a_copy_of_the_repository_once(root: Path, bare: Path, tmp_path: Path) -> None:
    origin, folder = tmp_path / "origin", tmp_path / "alone"
    folder.mkdir()
    for package in ("hopperlib", "hopperkit", "book/hopperbook"):
        (origin / package).mkdir(parents=True)
        (origin / package / "__init__.py").touch()
    git = ["git", "-C", str(origin), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "one"]):
        subprocess.run([*git, *command], check=True)
    code = (root / CELL).read_text(encoding="utf-8")
    for number in (1, 2):
        found, calls = _run(bare, code, folder, tmp_path / "calls", HOPPER_REPOSITORY=f"file://{origin}")
        assert calls == _wanted(folder / "hopper-book") * number
        assert found == [True, True, True]


def test_where_it_is_installed_nothing_is_run(root: Path, tmp_path: Path) -> None:
    code = "import subprocess\nsubprocess.run = None\n" + (root / CELL).read_text(encoding="utf-8")
    found, calls = _run(Path(sys.executable), code, tmp_path, tmp_path / "calls")
    assert (found, calls) == ([True, True, True], [])
