"""The commands that README and CONTRIBUTING promise: they exist, and they work with old tools."""

from __future__ import annotations

import doctest
import re
import shlex
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from hopperkit.cli import NAMES, hopper

# Syntax that GNU make learned after 3.81, the version that macOS has.
NEWER_MAKE = (
    r"\.ONESHELL",
    r"\.RECIPEPREFIX",
    r"\$\((file|let|intcmp|guile)\b",
    r"^\S+ *!=",
    r"::=",
    r"&:",
    r"^(undefine|private) ",
    r"^load ",
)


@pytest.fixture(scope="module")
def targets(root):
    """Targets of the Makefile that are not files."""
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    return set(re.search(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE)[1].split())


def _console_lines(text):
    """Commands after a prompt in the console blocks of a page."""
    blocks = re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_make_commands_exist(root, targets, page):
    text = (root / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z]+)", text))
    named |= {shlex.split(line)[1] for line in _console_lines(text) if line.startswith("make ")}
    assert named
    assert named <= targets


def test_make_help_lists_what_people_use(root, targets):
    make = shutil.which("make")
    assert make, "make is not installed"
    listed = subprocess.run([make, "-s", "help"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^make (\w+)", listed, flags=re.MULTILINE)) == targets - {"python", "browser"}


def test_makefile_needs_no_new_make(root):
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    for pattern in NEWER_MAKE:
        assert not re.search(pattern, makefile, flags=re.MULTILINE), f"GNU make 3.81 does not know {pattern}"


def test_hopper_commands_of_the_readme_exist(root):
    lines = [
        line for line in _console_lines((root / "README.md").read_text(encoding="utf-8")) if line.startswith("hopper ")
    ]
    assert lines
    for line in lines:
        # A file alone is asked what it is.
        first = shlex.split(line)[1]
        assert first in NAMES or "." in first, line


def test_hopper_commands_of_the_readme_run(root):
    """Those that name none of the reader's files."""
    for line in _console_lines((root / "README.md").read_text(encoding="utf-8")):
        if line.startswith("hopper ") and not re.search(r"\.(sh|out|err|csv)\b", line):
            result = CliRunner().invoke(hopper, shlex.split(line)[1:], catch_exceptions=False)
            assert result.exit_code in (0, 1), f"{line}: {result.output}"
            assert result.output.strip(), line


@pytest.mark.parametrize("page", ["README.md", "hopperlib/README.md", "hopperkit/README.md"])
def test_python_of_the_readme_runs(root, page):
    blocks = re.findall(r"```python\n(.*?)```", (root / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    example = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page, page, 0)
    result = doctest.DocTestRunner().run(example)
    assert result.failed == 0
    assert result.attempted >= 2


def test_links_to_files_lead_somewhere(root):
    """Relative links of the pages that are read on the code host."""
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (root / page).read_text(encoding="utf-8")):
            assert (root / target).exists(), f"{page} links to {target}"


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_file_that_a_page_names_exists(root, page):
    text = (root / page).read_text(encoding="utf-8").replace("PART/NAME.py", "").replace("PART/", "")
    linked = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    named = re.findall(
        r"`((?:hopperlib|hopperkit|hopperbook|book|notebooks|data|scripts|tests|benchmarks)/[\w./-]*)`", text
    )
    assert linked
    assert named
    assert [file for file in (*linked, *named) if not (root / file).exists()] == []
