"""Study pages stay as short as after editing; words.csv lists the words of each before and after."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

# A correction may take a few words more; a new section replaces another.
ROOM = 1.04


def words(path: Path) -> int:
    """Number of words of a notebook's text: code, formulas in fences, addresses of links and markup are not counted."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    text = re.sub(r"```.*?```|<!--.*?-->|<[^>]*>", " ", text, flags=re.DOTALL)
    return len(re.findall(r"[^\W_]+(?:['’.,-][^\W_]+)*", re.sub(r"\]\([^)]*\)", "] ", text)))


def counts() -> dict[str, tuple[int, int]]:
    """Words of each study page before and after it was edited by reading it aloud."""
    with Path(__file__).with_name("words.csv").open(encoding="utf-8") as file:
        return {row["page"]: (int(row["before"]), int(row["after"])) for row in csv.DictReader(file)}


def test_all_study_pages_are_listed(root: Path) -> None:
    pages = {path for path in (root / "notebooks").glob("*/*.ipynb") if path.parent.name != "own"}
    assert {str(path.relative_to(root / "notebooks").with_suffix("")) for path in pages} == set(counts())


def test_pages_together_lost_a_fifth() -> None:
    before, after = (sum(each) for each in zip(*counts().values(), strict=True))
    assert after <= before * 4 / 5


@pytest.mark.parametrize("page", counts())
def test_a_page_has_not_grown_again(root: Path, page: str) -> None:
    assert words(root / "notebooks" / f"{page}.ipynb") <= ROOM * counts()[page][1]


def test_what_counts_as_a_word(tmp_path: Path) -> None:
    source = "Read **it**'s [first touch](../book/a-b.md#c), 1,024 bytes.\n```python\nx = 1\n```\n<span data-a='b c'>so many</span>"
    path = tmp_path / "page.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "markdown", "source": [source]}]}), encoding="utf-8")
    assert words(path) == 9
