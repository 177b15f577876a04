"""Python names in prose exist: each dotted name of the three packages in pages, notebooks, READMEs and docstrings."""

from __future__ import annotations

import importlib
import json
import re
import subprocess

import pytest

# A dotted name that is neither part of a path or an address nor followed by a file's ending.
_NAME = re.compile(r"(?<![\w/.-])(hopper(?:lib|kit|book)(?:\.[A-Za-z_]\w*)+)(?![\w/]|\.\w)")
_FILES = re.compile(r"\.(?:toml|md|py|ipynb|json|csv|txt|cfg|zip|html)$")


def _texts(root):
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    for name in listed:
        if name.endswith((".md", ".ipynb", ".py", ".toml", ".yml")) and not name.startswith(("tests/", "CHANGELOG")):
            text = (root / name).read_text(encoding="utf-8")
            if name.endswith(".ipynb"):
                text = "\n".join("".join(cell["source"]) for cell in json.loads(text)["cells"])
            yield name, text


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            # A field of a record is a name too, without a value on its class.
            if part in getattr(thing, "__annotations__", {}):
                return part == parts[-1]
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("hopperlib.placement.placement.place_tasks", True),
        ("hopperkit.Machine.load", True),
        ("hopperkit.no_such_name", False),
        ("hopperlib.no_such_module.name", False),
    ],
)
def test_a_name_is_found_or_not(name, there):
    assert resolves(name) is there


def test_every_python_name_in_prose_exists(root):
    named = {(file, name) for file, text in _texts(root) for name in _NAME.findall(text) if not _FILES.search(name)}
    assert len(named) > 300
    assert sorted(f"{file}: {name}" for file, name in named if not resolves(name)) == []
