"""Every command of the workflows runs here, in the same words: one that only a workflow runs may fail unseen for months.

Long parts of a command are shortened from outside, by variables that `make` and pip read, never by other words.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# The other steps of a workflow are actions; these of their inputs are files of the repository.
FILE_INPUTS = ("cache-dependency-path", "environment-file")
TAG = "v0.0.1"


def _steps():
    for file in WORKFLOWS:
        for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values():
            yield from job.get("steps", [])


COMMANDS = sorted({line.strip() for step in _steps() for line in step.get("run", "").splitlines() if line.strip()})


def _run(command, folder=ROOT, **more):
    """Run the words of a workflow as it does, in Bash that ends at the first error, with this Python first on the path."""
    bash = shutil.which("bash")
    assert bash, "bash is not installed"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "MAKE", "MFLAGS"))}
    path = os.pathsep.join([str(Path(sys.prefix) / "bin"), os.environ["PATH"]])
    words = [bash, "-eo", "pipefail", "-c", command]
    return subprocess.run(
        words, cwd=folder, env={**kept, "PATH": path, **more}, capture_output=True, text=True, check=False, timeout=240
    )


def _make(command, **variables):
    """Run a `make` command with more variables, each of which its words may set otherwise."""
    given = {"VENV": sys.prefix, **variables}
    flags = " ".join(f"{name}={value}".replace(" ", "\\ ") for name, value in given.items())
    environment = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "a-site/book"}
    done = _run(command, MAKEFLAGS=flags, CONDA_PREFIX=sys.prefix, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _tests(command, _folder):
    """Run the tests of one file only."""
    assert " passed" in _make(command, ARGS="-n 0 -p no:cacheprovider tests/test_units.py")


def _search(command, _folder):
    """Collect the property tests of one file: new examples would make this run another one each time."""
    cut = f"-n 0 -p no:cacheprovider --collect-only -q -k test_units --ignore-glob={ROOT}/tests/*/*"
    assert "tests/test_units.py::" in _make(command, ARGS=cut)


def _html(command, folder):
    """Let the build read its arguments; the tests of the site check that it builds."""
    arguments = _make(command, RUN="echo")
    assert arguments.startswith("-m hopperbook.build"), arguments
    done = _run(f"python {arguments.strip()} --root {shlex.quote(str(folder))}")
    assert "holds no book" in done.stderr, done.stderr


def _gate(command, _folder):
    """It runs this test: here it is only read, and the targets of the Makefile that it runs exist."""
    assert _run(command.replace("bash ", "bash -n ", 1)).returncode == 0
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    targets = [line for line in lines if line.startswith("make ")]
    assert {"make lint", "make test"} <= set(targets)
    for line in targets:
        assert _run(f"{line} --dry-run", MAKEFLAGS=f"VENV={sys.prefix}").returncode == 0, line


def _install(command, folder):
    """Install into a folder, without the network; the commands are those of the package."""
    # pip reads a 0 here as the flag's effect: no isolation.
    cut = {"PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0", "PIP_TARGET": str(folder)}
    done = _run(command, **cut)
    assert done.returncode == 0, done.stderr
    assert (folder / "bin" / "hopper").exists()


def _answers(command, folder):
    """Answer outside the repository, as an installed package does."""
    done = _run(command, folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of the tracked files, with an environment and a small site, in which packages may be made."""
    folder = tmp_path_factory.mktemp("checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.split("\0")[:-1]:
        # The packages are made of these; data of the book and tests are most of the rest.
        if not name.startswith(("tests/", "data/", "notebooks/")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "_build" / "html").mkdir(parents=True)
    (folder / "_build" / "html" / "index.html").write_text("<p>The book</p>", encoding="utf-8")
    (folder / "artifacts").mkdir()
    (folder / "artifacts" / "hopper.whl").touch()
    return folder


def _packages(command, folder):
    done = _run(command, folder)
    assert done.returncode == 0, done.stderr
    assert {made.suffix for made in (folder / "dist").iterdir()} == {".whl", ".gz"}


def _zipped(command, folder):
    done = _run(command, folder, GITHUB_REF_NAME=TAG)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(folder / f"hopper-book-{TAG}.zip") as archive:
        assert any(name.endswith("index.html") for name in archive.namelist())


def _release(command, folder):
    """`gh` is not installed everywhere: a program that prints its words is in its place, and the files they name exist."""
    programs = folder / "programs"
    programs.mkdir()
    program = programs / "gh"
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\"\n", encoding="utf-8")
    program.chmod(0o755)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    words = _run(command, folder, GITHUB_REF_NAME=TAG, PATH=path).stdout.splitlines()
    assert words[:4] == ["release", "create", TAG, "artifacts/hopper.whl"]
    assert (folder / words[words.index("--notes-file") + 1]).read_text(encoding="utf-8").strip()


# Each command of a workflow, word for word, and what runs it here.
RUN_HERE = {
    'make test PYTHON="$(command -v python)"': _tests,
    'make search PYTHON="$(command -v python)"': _search,
    'make html VENV="$CONDA_PREFIX"': _html,
    'make html REPOSITORY="$GITHUB_SERVER_URL/$GITHUB_REPOSITORY"': _html,
    "bash .ci/run": _gate,
    "python -m pip install .": _install,
    'python -m hopperkit place "aprun -n 384 -N 12 vasp" || test $? -eq 1': _answers,
    "hopper machine list && hopper memory --need 2GB --tasks 384": _answers,
    ".venv/bin/python -m hatchling build -d dist": _packages,
    '.venv/bin/python -m zipfile -c "hopper-book-${GITHUB_REF_NAME}.zip" _build/html/': _zipped,
    'gh release create "$GITHUB_REF_NAME" artifacts/* --title "$GITHUB_REF_NAME" --notes-file CHANGELOG.md --verify-tag': _release,
}
IN_A_CHECKOUT = (_packages, _zipped, _release)


def test_every_command_of_the_workflows_runs_here():
    """A new one needs a line in `RUN_HERE`, and a removed one leaves none."""
    assert sorted(RUN_HERE) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_workflows_works(command, tmp_path, request):
    run = RUN_HERE[command]
    run(command, request.getfixturevalue("checkout") if run in IN_A_CHECKOUT else tmp_path)


@pytest.mark.parametrize(("right", "wrong"), [("make search ", "make hunt "), ("hopper memory", "hopper recall")])
def test_a_command_that_does_not_exist_is_noticed(right, wrong, tmp_path):
    command = next(each for each in COMMANDS if right in each)
    with pytest.raises(AssertionError):
        RUN_HERE[command](command.replace(right, wrong), tmp_path)


def test_files_that_actions_read_exist():
    named = [step["with"][key] for step in _steps() for key in FILE_INPUTS if key in step.get("with", {})]
    assert named
    assert [name for name in named if not (ROOT / name).is_file()] == []
