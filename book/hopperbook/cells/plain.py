"""Notebooks in plain Markdown, and as the pages of the book have them.

A notebook is read in many programs that know no directive and no role. The source therefore has none; tags and links
define the form of a cell on the pages:

=================================  =============================================
in the notebook                    on the page
=================================  =============================================
a cell tagged ``exercise:NAME``    a numbered exercise; the cell is a block quote
that begins ``> **Exercise.**``
a cell tagged ``solution:NAME``    its solution, folded; the cell is a
                                   ``<details>`` whose Python is run there
``[words](.../glossary.md#ID)``    a term, whose entry shows on hover
``[A, 2011](.../sources.bib#KEY)`` a citation
a cell tagged ``install``          nothing: the book is installed where it is built
=================================  =============================================
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]

_EXERCISE, _SOLUTION, INSTALL = "exercise:", "solution:", "install"
_QUOTED = re.compile(r"> \*\*Exercise\.\*\* (.*)", re.DOTALL)
_FOLDED = re.compile(r"<details>\n<summary>Solution</summary>\n\n(.*)\n\n</details>\s*", re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)\n```$", re.DOTALL | re.MULTILINE)
_RAW = re.compile(r"\{[\w:+-]+\}`|(?m:^[> ]*(?:`{3,}|~{3,}|:{3,})[ \t]*(?=\{)\{[^}\n]*\}|^[> ]*:{3,}|^\([\w-]+\)=$)")
_TERM = re.compile(r"\[([^\]]+)\]\([^()\s]*\bglossary\.md#(term-[\w.-]+)\)")
_CITATION = re.compile(r"\[[^\]]+\]\([^()\s]*\bsources\.bib#([\w-]+)\)")


def anchor_of(term: str) -> str:
    """Return the anchor that a term of the glossary has on its page.

    Examples
    --------
    >>> anchor_of("NUMA node")
    'term-NUMA-node'
    """
    return "term-" + re.sub(r"[^a-zA-Z0-9._]+", "-", term).strip("-")


@cache
def glossary() -> Mapping[str, str]:
    """Return the terms of the glossary by their anchors.

    Examples
    --------
    >>> glossary()["term-huge-page"]
    'huge page'
    """
    text = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8").split("```{glossary}")[1]
    return {anchor_of(term): term for term in re.findall(r"(?m)^(?![ `:])(\S.*)$", text)}


def tagged(cell: Mapping[str, Any], prefix: str) -> str:
    """Return the name in a cell's tag that begins so; empty if it has none.

    Examples
    --------
    >>> tagged({"metadata": {"tags": ["exercise:memory-three"]}}, "exercise:")
    'memory-three'
    """
    tags = cell.get("metadata", {}).get("tags", ())
    return next((tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)), "")


def raw_markers(text: str) -> list[str]:
    r"""Return the marks of roles, directives and targets in a text, which a program without MyST shows unchanged.

    Examples
    --------
    >>> raw_markers("A {term}`torus`. See [it](x.md).\n```{note}\nOne.\n```\n:::\n(here)=")
    ['{term}`', '```{note}', ':::', '(here)=']
    """
    return _RAW.findall(text)


def exercise_text(text: str) -> str:
    r"""Return the text of an exercise without the marks of its block quote.

    Raises
    ------
    ValueError
        If the cell is more, or something else, than one block quote that begins with its name.

    Examples
    --------
    >>> exercise_text("> **Exercise.** How many?\n>\n> And why?")
    'How many?\n\nAnd why?'
    """
    text = text.strip()
    match = _QUOTED.fullmatch(text)
    if match is None or not all(line.startswith(">") for line in text.splitlines()):
        raise ValueError(f"an exercise is a block quote that begins '> **Exercise.** ', not {text[:40]!r}")
    return re.sub(r"(?m)^> ?", "", match[1])


def solution_parts(text: str) -> list[tuple[str, str]]:
    r"""Return the parts of a solution in order: pairs of "markdown" or "code" and a text.

    Raises
    ------
    ValueError
        If the cell is not one closed block that is called a solution.

    Examples
    --------
    >>> solution_parts("<details>\n<summary>Solution</summary>\n\nSix.\n\n```python\n2 * 3\n```\n\n</details>")
    [('markdown', 'Six.'), ('code', '2 * 3')]
    """
    match = _FOLDED.fullmatch(text.strip())
    if match is None or "<details" in match[1]:
        raise ValueError(f"a solution is '<details>', '<summary>Solution</summary>', an empty line, not {text[:40]!r}")
    pieces = [piece.strip("\n") for piece in _PYTHON.split(match[1])]
    kinds = ["code" if number % 2 else "markdown" for number in range(len(pieces))]
    return [(kind, piece) for kind, piece in zip(kinds, pieces, strict=True) if piece]


def with_roles(text: str) -> str:
    """Return a text whose links to the glossary and to sources are terms and citations.

    Raises
    ------
    ValueError
        If the glossary does not have the term.

    Examples
    --------
    >>> with_roles("A [torus](../../book/glossary.md#term-torus) has [hops](../../book/glossary.md#term-hop).")
    'A {term}`torus` has {term}`hops <hop>`.'
    >>> with_roles("On it [Antypas and He, 2011](../../data/sources.bib#antypas2011).")
    'On it {cite:p}`antypas2011`.'
    """

    def term(match: re.Match[str]) -> str:
        entry = glossary().get(match[2])
        if entry is None:
            raise ValueError(f"the glossary has no term with the anchor {match[2]!r}")
        return f"{{term}}`{match[1]}`" if match[1] == entry else f"{{term}}`{match[1]} <{entry}>`"

    return _CITATION.sub(r"{cite:p}`\1`", _TERM.sub(term, text))


def page_cells(cell: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the page's form of a cell.

    Raises
    ------
    ValueError
        If a tagged cell does not have the form of its tag, or a term is unknown.

    Examples
    --------
    >>> list(page_cells({"cell_type": "code", "source": "pip()", "metadata": {"tags": ["install"]}}))
    []
    """
    text = "".join(cell["source"])
    if INSTALL in cell["metadata"].get("tags", ()):
        return
    if cell["cell_type"] != "markdown":
        yield dict(cell)
    elif name := tagged(cell, _EXERCISE):
        body = with_roles(exercise_text(text))
        yield {**cell, "source": f"```{{exercise-start}}\n:label: {name}\n```\n{body}\n```{{exercise-end}}\n```"}
    elif name := tagged(cell, _SOLUTION):
        yield from _solution_cells(cell, name, solution_parts(text))
    else:
        yield {**cell, "source": with_roles(text)}


def _solution_cells(cell: Mapping[str, Any], name: str, parts: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield a solution as gated cells, between which code is run."""
    start, end = f"```{{solution-start}} {name}\n:class: dropdown\n```", "```{solution-end}\n```"
    parts = parts if parts[0][0] == "markdown" else [("markdown", ""), *parts]
    parts = [("markdown", f"{start}\n{parts[0][1]}"), *parts[1:], ("markdown", end)]
    for number, (kind, text) in enumerate(parts):
        made = {"cell_type": kind, "id": f"{cell['id']}-{number}", "metadata": {}}
        if kind == "code":
            yield {**made, "source": text, "outputs": [], "execution_count": None}
        else:
            yield {**made, "source": with_roles(text)}


def for_page(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Return a notebook as its page has it: with exercises, solutions, terms and citations, its solutions' code as cells.

    Parameters
    ----------
    notebook : mapping
        A notebook as JSON.

    Raises
    ------
    ValueError
        If a tagged cell does not have the form of its tag, or a term is unknown.

    Examples
    --------
    >>> cell = {"id": "a", "cell_type": "markdown", "metadata": {"tags": ["exercise:one"]}, "source": "> **Exercise.** Why?"}
    >>> print(for_page({"cells": [cell]})["cells"][0]["source"])
    ```{exercise-start}
    :label: one
    ```
    Why?
    ```{exercise-end}
    ```
    """
    return {**notebook, "cells": [made for cell in notebook["cells"] for made in page_cells(cell)]}


def page_of(path: Path) -> dict[str, Any]:
    """Return a notebook's file as its page has it.

    Examples
    --------
    >>> page = page_of(ROOT / "notebooks" / "node" / "memory.ipynb")
    >>> any("{solution-start} memory-three" in cell["source"] for cell in page["cells"])
    True
    """
    return for_page(json.loads(path.read_text(encoding="utf-8")))


def code_of(path: Path) -> list[str]:
    """Return the code that a notebook's page runs, cell by cell, including that of its solutions.

    Examples
    --------
    >>> any("most_tasks_per_node(" in code for code in code_of(ROOT / "notebooks" / "node" / "memory.ipynb"))
    True
    """
    return ["".join(cell["source"]) for cell in page_of(path)["cells"] if cell["cell_type"] == "code"]
