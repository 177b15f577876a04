"""Write other versions of the notebooks: for who teaches with them, and for who learns; and a page to start from.

    python scripts/notebook_versions.py instructor OUT [NOTEBOOK ...]    executed, solutions open, minutes, what to ask
    python scripts/notebook_versions.py student OUT [NOTEBOOK ...]       no solutions, no answers of self-checks
    python scripts/notebook_versions.py start FILE                       the routes of the book as a notebook of links

All are made from the notebooks of the book; nothing is written twice. The folder OUT gets a copy of each, or of those
named, such as node/memory. Each is run, as its questions hold numbers that its cells compute.
"""

import ast
import json
import os
import re
import sys
from pathlib import Path

from hopperbook.cells.plain import solution_parts, tagged

ROOT = Path(__file__).resolve().parent.parent
CHECKS = ("NumberCheck", "ChoiceCheck", "CurveCheck", "GoalCheck", "exercise")


def text_of(cell: dict) -> str:
    """Return the source of a cell."""
    return "".join(cell["source"])


def with_text(cell: dict, text: str) -> dict:
    """Return a cell with another source."""
    return cell | {"source": text.splitlines(keepends=True)}


def check_call(cell: dict) -> ast.Call | None:
    """Return the call that creates the self-check at the end of a cell; None if there is none."""
    if cell["cell_type"] != "code":
        return None
    body = ast.parse(text_of(cell)).body
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    named = isinstance(last, ast.Call) and getattr(last.func, "id", getattr(last.func, "attr", "")) in CHECKS
    return last if named else None


# Appended to a notebook: its self-checks as plain data, by the number of the cell that showed them.
_TELL = """
import json

from hopperbook.self_checks import Check

print(json.dumps({number: shown.to_dict() for number, shown in Out.items() if isinstance(shown, Check)}))
"""


def executed(notebook: dict, folder: Path) -> tuple[dict, dict[str, dict]]:
    """Run a notebook as a kernel in a folder does; return it with its outputs, and the texts of its self-checks by cell."""
    import nbformat
    from nbclient import NotebookClient

    told = {"cell_type": "code", "id": "told", "metadata": {}, "source": _TELL, "outputs": [], "execution_count": None}
    run = nbformat.reads(json.dumps(notebook | {"cells": [*notebook["cells"], told]}), as_version=4)
    NotebookClient(run, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    texts = json.loads(
        "".join(output["text"] for output in run["cells"].pop()["outputs"] if output.get("name") == "stdout")
    )
    cells = {str(cell["execution_count"]): cell["id"] for cell in run["cells"] if cell["cell_type"] == "code"}
    return run, {cells[number]: check for number, check in texts.items()}


def hide_answers(notebook: dict) -> bool:
    """Collapse code that reveals an answer: self-checks. Return whether anything changed."""
    changed = False
    for cell in notebook["cells"]:
        if check_call(cell) or "hide-input" in cell["metadata"].get("tags", ()):
            changed |= cell["metadata"].get("jupyter") != {"source_hidden": True}
            cell["metadata"]["jupyter"] = {"source_hidden": True}
    return changed


def student(notebook: dict, checks: dict[str, dict]) -> dict:
    """Return a notebook without solutions and outputs; a self-check is replaced by its question."""
    cells = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cells += [] if tagged(cell, "solution:") else [cell]
        else:
            asked = checks.get(cell["id"])
            cells.append(question_cell(cell, asked) if asked else cell | {"outputs": [], "execution_count": None})
    return notebook | {"cells": cells}


def opened(notebook: dict) -> dict:
    """Return a notebook whose solutions are open: their words, and their code as cells that run."""
    cells = []
    for cell in notebook["cells"]:
        parts = solution_parts(text_of(cell)) if tagged(cell, "solution:") else []
        cells += [] if parts else [cell]
        for number, (kind, text) in enumerate(parts):
            made = {"cell_type": kind, "id": f"{cell['id']}-{number}", "metadata": {}, "source": text.splitlines(True)}
            cells.append(made | ({"outputs": [], "execution_count": None} if kind == "code" else {}))
    return notebook | {"cells": cells}


def question_cell(cell: dict, check: dict) -> dict:
    """Return the question of a self-check as text, with what there is to choose from."""
    choices = [option["text"] for option in check.get("options", ())]
    lines = [f"**Question.** {check['question']}", "", *(f"- {choice}" for choice in choices)]
    lines += ["", "```python", *check["start"].splitlines(), "```"] if check["kind"] == "code" else []
    lines += ["", "*Your answer:*"]
    return {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": "\n".join(lines).splitlines(True)}


def instructor(notebook: dict, checks: dict[str, dict]) -> dict:
    """Return a notebook with its solutions open, led by a cell for who teaches with it."""
    cells = []
    for cell in notebook["cells"]:
        metadata = {name: value for name, value in cell["metadata"].items() if name != "jupyter"}
        cells.append(cell | {"metadata": metadata})
    return notebook | {"cells": [cells[0], teaching_cell(notebook, checks), *cells[1:]]}


def teaching_cell(notebook: dict, checks: dict[str, dict]) -> dict:
    """Return the sheet of the instructor (`hopperbook.teaching.sheet`) as a cell."""
    from hopperbook.teaching.sheet import sheet

    sections = by_section(notebook)
    first = sections.get("Predict first", [])
    asked = [cell["id"] for cell in first]
    outcomes = [
        item
        for cell in sections.get("You will be able to", ())
        for item in re.findall(r"^- (.*)$", text_of(cell), re.MULTILINE)
    ]
    text = sheet(
        minutes=notebook["metadata"]["hopper"]["minutes"],
        outcomes=[plain(outcome) for outcome in outcomes],
        setting=plain("\n\n".join(filter(None, map(shown_text, first)))),
        predictions=[check for cell, check in checks.items() if cell in asked],
        checks=[check for cell, check in checks.items() if cell not in asked],
    )
    text = "# For who teaches with it\n\n" + text
    # The title of the notebook stays the first.
    text = re.sub(r"^(#+ )", r"#\1", text, flags=re.MULTILINE)
    return {"cell_type": "markdown", "id": "for-teachers", "metadata": {}, "source": text.splitlines(True)}


def by_section(notebook: dict) -> dict[str, list[dict]]:
    """Return the cells of each section of the second level, beginning with its heading."""
    sections: dict[str, list[dict]] = {}
    heading = ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown" and (found := re.match(r"## (.*)", text_of(cell))):
            heading = found[1].strip()
        sections.setdefault(heading, []).append(cell)
    return sections


def shown_text(cell: dict) -> str:
    """Return a cell's text: a Markdown cell without its heading, or the Markdown made by a code cell."""
    if cell["cell_type"] == "markdown":
        return re.sub(r"^## .*\n?", "", text_of(cell)).strip()
    made = [output.get("data", {}).get("text/markdown", "") for output in cell.get("outputs", ())]
    return "\n\n".join("".join(text) for text in made if text)


def plain(text: str) -> str:
    """Return Markdown without links, whose targets are elsewhere for a sheet."""
    return re.sub(r"(?<!!)\[([^]]*)\]\([^)]*\)", r"\1", text)


def start(file: Path) -> None:
    """Write the routes of the book as a notebook of links, relative to the file."""
    routes = (ROOT / "book" / "routes.md").read_text(encoding="utf-8")

    def links(match: re.Match) -> str:
        items = []
        for name in match[1].split():
            path = ROOT / f"{name}.ipynb"
            if path.exists():
                data = json.loads(path.read_text(encoding="utf-8"))
                title = text_of(data["cells"][0]).splitlines()[0].lstrip("# ")
                address = Path(os.path.relpath(path, file.resolve().parent)).as_posix()
                minutes = data["metadata"].get("hopper", {}).get("minutes")
                items.append(f"- [{title}]({address})" + (f", {minutes} minutes" if minutes else ""))
        return "\n".join(items)

    text = re.sub(r"```\{route\}\n(.*?)```", links, routes, flags=re.DOTALL)
    top = Path(os.path.relpath(ROOT, file.resolve().parent)).as_posix()
    text = text.replace("](../notebooks/", f"]({top}/notebooks/")
    # Pages of the book are not notebooks: JupyterLab would open their source.
    text = re.sub(r"\[([^]]*)\]\((?!http)[^)]*\.md\)", r"\1", text)
    cell = {"cell_type": "markdown", "id": "routes", "metadata": {}, "source": text.splitlines(True)}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    write(file, {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def write(file: Path, notebook: dict) -> None:
    """Write a notebook."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write one version of all notebooks, or of some; return the exit status."""
    versions = {"instructor": instructor, "student": student}
    if len(arguments) < 2 or arguments[0] not in (*versions, "start"):
        print(__doc__)
        return 2
    kind, out, *names = arguments
    if kind == "start":
        start(Path(out))
        return 0
    folder = ROOT / "notebooks"
    paths = [folder / f"{name}.ipynb" for name in names] or sorted(folder.glob("*/*.ipynb"))
    for path in paths:
        if not path.is_file():
            print(f"{path.relative_to(folder)}: there is no such notebook; there is {', '.join(_known(folder))}")
            return 2
        notebook = json.loads(path.read_text("utf-8"))
        if kind == "instructor":
            notebook = opened(notebook)
        write(Path(out) / path.relative_to(folder), versions[kind](*executed(notebook, path.parent)))
    return 0


def _known(folder: Path) -> list[str]:
    """Return the names of the notebooks."""
    return sorted(path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.ipynb"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
