"""A center's tool pages: their explorers, commands and limits, without the notebooks' use of the book's samples.

A notebook of `notebooks/own` continues in Python with samples of other machines. On a center's site its page keeps

==================  ================================================================================================
a section with an   up to the last explorer, with the words before it
explorer
a section without   whole
Python
any other           nothing, or its words if it is the first: the rest is in the notebook, which JupyterLab opens
==================  ================================================================================================

The rest names no other machine: a command names the site's file, and sentences about other machines are removed.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Any

from sphinx.application import Sphinx

from hopperbook.site.centers.own import beside, load_site
from hopperbook.site.centers.questions import foreign_words
from hopperlib.machine import Machine

Cell = dict[str, Any]

_FOLDER, _SLIDES = "notebooks/own/", "book/slides"
_EXPLORER = re.compile(r"^hopperkit\.load\(\"[\w-]+\"\)\s*$", re.MULTILINE)
_HEADING = re.compile(r"^#{2,3} ", re.MULTILINE)
_FENCE = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_MACHINE = re.compile(r"(--machine |\bmachine=|-p MACHINE(?:_NAME)? )[\w.]+")
_SENTENCE = re.compile(r"(?<=[.?!:]) +(?=[A-Z`\[{*])")
# A center's site has no menu of machines.
_MENU = re.compile(r"Choose your machine(?: first)?, (?:and|then) (\w)")
# A slide that shows Hopper: a comment of Markdown, which no page prints.
_OF_HOPPER = re.compile(r"^## (?:(?!^## ).)*?^% Of Hopper.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
# Words about the samples, which are not there.
_SAMPLE = re.compile(r"\b(sample|samples|JupyterLab|papermill)\b")


def _text(cell: Cell) -> str:
    return "".join(cell["source"])


def _is_explorer(cell: Cell) -> bool:
    return cell["cell_type"] == "code" and bool(_EXPLORER.search(_text(cell)))


def _alone(text: str) -> str:
    """Return the code of an explorer with the one import that it needs: what else a cell imports was for the rest of the page."""
    found = _EXPLORER.search(text)
    return f"import hopperkit\n\n{found[0].strip()}" if found else text


def _sections(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells of a page by its headings; a cell belongs to the last of them above it."""
    begins = accumulate(cell["cell_type"] == "markdown" and bool(_HEADING.search(_text(cell))) for cell in cells)
    for _, numbered in groupby(zip(begins, cells, strict=True), key=lambda pair: pair[0]):
        yield [cell for _, cell in numbered]


def _kept(section: Sequence[Cell]) -> Sequence[Cell]:
    """Return the part of a section that a center's page keeps."""
    explorers = [at for at, cell in enumerate(section) if _is_explorer(cell)]
    if explorers:
        shown = section[: explorers[-1] + 1]
        return [cell for cell in shown if cell["cell_type"] == "markdown" or _is_explorer(cell)]
    if not any(cell["cell_type"] == "code" for cell in section):
        return section
    # The introduction of a page is before its first heading.
    return [] if _HEADING.search(_text(section[0])) else [cell for cell in section if cell["cell_type"] == "markdown"]


def _commands(text: str, machine: Machine) -> str:
    """Return a block of commands for the site's machine, without those for samples or another machine."""
    text = _MACHINE.sub(rf"\g<1>{machine.name}.toml", text)
    lines = [line for line in text.splitlines() if not (_SAMPLE.search(line) or foreign_words(line, machine))]
    return "\n".join(lines) if len(lines) > 2 else ""


def _words(text: str, machine: Machine) -> str:
    """Return prose without its sentences about samples or other machines."""
    lines = []
    text = _MENU.sub(lambda found: found[1].upper(), text)
    for line in text.split("\n"):
        sentences = _SENTENCE.split(line)
        kept = [each for each in sentences if not (_SAMPLE.search(each) or foreign_words(each, machine))]
        if kept or not line:
            lines.append(" ".join(kept))
    return "\n".join(lines)


def for_machine(text: str, machine: Machine) -> str:
    r"""Return Markdown that is about one machine.

    Examples
    --------
    >>> frontier = Machine.load("frontier")
    >>> for_machine("Drop a file. It opens with a sample. Hopper had 24 cores.", frontier)
    'Drop a file.'
    >>> print(for_machine("```console\n$ hopper place --machine perlmutter job.sh\n$ papermill a.ipynb\n```", frontier))
    ```console
    $ hopper place --machine frontier.toml job.sh
    ```
    """
    parts = _FENCE.split(_OF_HOPPER.sub("", text))

    def about(part: str) -> str:
        if part.startswith("```"):
            return _commands(part, machine) if part.startswith("```console") else part
        return _words(part, machine)

    return "".join(map(about, parts))


def for_site(docname: str, notebook: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the notebook of a page for a center's site; unchanged in the book, and if it has no explorer.

    Parameters
    ----------
    docname : str
    notebook : mapping
        As `hopperbook.cells.plain.for_page` returns it.

    Examples
    --------
    >>> for_site("notebooks/node/memory", {"cells": []})
    {'cells': []}
    """
    path = beside()
    if path is None or not docname.startswith(_FOLDER) or not any(map(_is_explorer, notebook["cells"])):
        return notebook
    machine = load_site(path)[0]
    kept = [cell for section in _sections(notebook["cells"]) for cell in _kept(section)]
    changed = [
        cell | {"source": for_machine(_text(cell), machine)}
        if cell["cell_type"] == "markdown"
        else cell | {"source": _alone(_text(cell)), "metadata": cell["metadata"] | {"tags": ["hide-input"]}}
        for cell in kept
    ]
    return {**notebook, "cells": [cell for cell in changed if cell["cell_type"] == "code" or _text(cell).strip()]}


def _read(app: Sphinx, docname: str, source: list[str]) -> None:
    path = beside()
    if path and docname.startswith(_FOLDER):
        source[0] = json.dumps(for_site(docname, json.loads(source[0])))
    elif path and docname.startswith(_SLIDES):
        source[0] = for_machine(source[0], load_site(path)[0])


def setup(app: Sphinx) -> None:
    """Connect the event, after those that make pages of notebooks."""
    app.connect("source-read", _read)
