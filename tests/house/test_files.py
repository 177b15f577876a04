"""Rules for every file of the repository."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
import yaml

# Written so that the patterns do not find themselves.
REGISTRIES = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(org|com)|yarnpkg\.com|anaconda\.org|crates\.io|"
    r"proxy\.golang\.org|maven\.org|deb\.debian\.org"
)
MACHINE_PATHS = re.compile(r"(^|[^A-Za-z0-9_.])/(work|root|farm)/")
LARGEST_BYTES = 1 << 20


@pytest.fixture(scope="module")
def files(root):
    """Paths of the tracked files; without git (an unpacked archive) of all that a build does not make."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True)
        paths = [root / name for name in listed.stdout.split("\0") if name]
    else:
        made = {".venv", "node_modules", "_build", "dist", "__pycache__"}
        paths = [path for path in root.rglob("*") if not made & set(path.relative_to(root).parts)]
    return [path for path in paths if path.is_file()]


@pytest.fixture(scope="module")
def texts(files):
    """Text files and their content."""
    found = {}
    for path in files:
        content = path.read_bytes()
        if b"\0" not in content:
            found[path] = content.decode("utf-8")
    return found


def test_no_registry_is_named(texts, root):
    """Which registry answers is the reader's configuration: a mirror must work as well."""
    named = [
        f"{path.relative_to(root)}: {match[0]}" for path, text in texts.items() if (match := REGISTRIES.search(text))
    ]
    assert not named


def test_no_path_of_one_machine(texts, root):
    named = [
        f"{path.relative_to(root)}: {match[0]}" for path, text in texts.items() if (match := MACHINE_PATHS.search(text))
    ]
    assert not named


def test_what_a_page_is_asked_until_it_holds_is_a_function(texts, root):
    """A page's policy lets it evaluate a function, but no string: the second evaluation of a string ends the wait with an error."""
    told = [
        f"{path.relative_to(root)}: {match[0]}"
        for path, text in texts.items()
        for match in re.finditer(r"wait_for_function\(\s*\"+(?!\"|(async )?(\w+|\(\w*\)) =>).*", text)
    ]
    assert not told


def test_files_are_small(files, root):
    large = [
        f"{path.relative_to(root)}: {path.stat().st_size:,} bytes"
        for path in files
        if path.stat().st_size > LARGEST_BYTES
    ]
    assert not large


def test_text_files_end_their_lines(texts, root):
    """A newline at the end and no Windows line ends, so that tools compare content."""
    wrong = [
        str(path.relative_to(root)) for path, text in texts.items() if "\r\n" in text or (text and text[-1] != "\n")
    ]
    wrong = [name for name in wrong if not name.startswith(("data/samples/", "tests/"))]
    assert not wrong


def _check_outputs(root, *arguments):
    """Run the check of the notebooks, as `make lint` does."""
    command = [sys.executable, str(root / "scripts" / "notebook_outputs.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_notebooks_have_no_outputs(root):
    done = _check_outputs(root, root / "notebooks", root / "book")
    assert done.returncode == 0, done.stdout


def test_outputs_are_found_and_cleared(root, tmp_path):
    notebook = {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["Text"]},
            {
                "cell_type": "code",
                "execution_count": 1,
                "metadata": {"tags": ["kept"]},
                "outputs": [{"output_type": "stream", "name": "stdout", "text": ["2\n"]}],
                "source": ["print(1 + 1)"],
            },
        ],
        "metadata": {"kernelspec": {"name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    file = tmp_path / "sum.ipynb"
    file.write_text(json.dumps(notebook), encoding="utf-8")

    assert _check_outputs(root, file).returncode == 1
    assert _check_outputs(root, "--clear", file).returncode == 0
    assert _check_outputs(root, file).returncode == 0

    cleared = json.loads(file.read_text(encoding="utf-8"))
    assert cleared["cells"][1]["outputs"] == []
    assert cleared["cells"][1]["metadata"] == {"tags": ["kept"]}
    assert cleared["metadata"] == notebook["metadata"]


def test_licenses_are_the_ones_named(root):
    assert (root / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause License")
    text = (root / "LICENSE-CC-BY").read_text(encoding="utf-8")
    assert "Creative Commons Attribution 4.0 International" in text
    assert "Section 8" in text


def test_workflows_ask_for_little(root):
    """Each starts with the right to read only, or none, and names each action that it uses by its digest."""
    workflows = sorted((root / ".github" / "workflows").glob("*.yml"))
    assert workflows
    for file in workflows:
        workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
        assert workflow["permissions"] in ({"contents": "read"}, {}), file.name
        for job in workflow["jobs"].values():
            assert "uses" in job or job["timeout-minutes"] <= 60, file.name
            for step in job.get("steps", []):
                action = step.get("uses", f"a/b@{'0' * 40}")
                assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), f"{file.name}: {action}"
