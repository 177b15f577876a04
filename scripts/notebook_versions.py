"""Write other versions of the notebooks: for who teaches with them, and for who learns; and a page to start from.

    python scripts/notebook_versions.py instructor OUT    solutions open, minutes, what to ask, what goes wrong
    python scripts/notebook_versions.py student OUT       no solutions, no answers of self-checks
    python scripts/notebook_versions.py start FILE        the routes of the book as a notebook of links

All are made from the notebooks of the book; nothing is written twice. The folder OUT gets a copy of each.
"""

import ast
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKS = ("NumberCheck", "ChoiceCheck", "OrderCheck", "CurveCheck", "GoalCheck")
_SOLUTION = re.compile(r"```\{solution-start\}.*?```\n?", re.DOTALL)
_SOLUTION_END = re.compile(r"```\{solution-end\}\s*```\n?")


def text_of(cell: dict) -> str:
    """Return the source of a cell."""
    return "".join(cell["source"])


def with_text(cell: dict, text: str) -> dict:
    """Return a cell with another source."""
    return cell | {"source": text.splitlines(keepends=True)}


def check_call(cell: dict) -> ast.Call | None:
    """Return the call that makes the self-check at the end of a cell; None if there is none."""
    if cell["cell_type"] != "code":
        return None
    body = ast.parse(text_of(cell)).body
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    named = isinstance(last, ast.Call) and getattr(last.func, "id", getattr(last.func, "attr", "")) in CHECKS
    return last if named else None


def words(node: ast.AST | None) -> list[str]:
    """Return the texts in a part of a program, values that are computed as three dots."""
    if isinstance(node, ast.JoinedStr):
        return ["".join(str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values)]
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.BinOp):
        return ["".join(words(node.left) + words(node.right))]
    return [text for child in ast.iter_child_nodes(node) for text in words(child)] if node else []


def argument(call: ast.Call, name: str) -> list[str]:
    """Return the texts of an argument."""
    return words(next((keyword.value for keyword in call.keywords if keyword.arg == name), None))


def hide_answers(notebook: dict) -> bool:
    """Fold away what gives an answer: the code of self-checks and of solutions. Return whether anything changed."""
    changed, solving = False, False
    for cell in notebook["cells"]:
        text = text_of(cell)
        if cell["cell_type"] == "markdown":
            solving = text.rfind("{solution-start}") > text.rfind("{solution-end}") or (
                solving and "{solution-end}" not in text
            )
        elif solving or check_call(cell) or "hide-input" in cell["metadata"].get("tags", ()):
            wanted = {"source_hidden": True} | ({"outputs_hidden": True} if solving else {})
            changed |= cell["metadata"].get("jupyter") != wanted
            cell["metadata"]["jupyter"] = wanted
    return changed


def student(notebook: dict) -> dict:
    """Return a notebook without solutions; of a self-check its question stands there."""
    cells, solving = [], False
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            text, solving = without_solutions(text_of(cell), solving=solving)
            if text.strip():
                cells.append(with_text(cell, text))
        elif not solving:
            call = check_call(cell)
            cells.append(question_cell(cell, call) if call else cell)
    return notebook | {"cells": cells}


def without_solutions(text: str, *, solving: bool) -> tuple[str, bool]:
    """Return what of a text is no solution, and whether one goes on behind it."""
    kept = ""
    while text:
        if solving:
            end = _SOLUTION_END.search(text)
            if end is None:
                return kept, True
            text, solving = text[end.end() :], False
        else:
            start = _SOLUTION.search(text)
            kept += text[: start.start()] if start else text
            text, solving = (text[start.end() :], True) if start else ("", False)
    return kept, solving


def question_cell(cell: dict, call: ast.Call) -> dict:
    """Return the question of a self-check as text, with what there is to choose from."""
    lines = [f"**Question.** {' '.join(argument(call, 'question'))}", ""]
    options = next((keyword.value for keyword in call.keywords if keyword.arg in ("options", "items")), None)
    for item in options.elts if isinstance(options, ast.List | ast.Tuple) else ():
        first = next((arg for arg in item.args), None) if isinstance(item, ast.Call) else item
        named = (argument(item, "text") if isinstance(item, ast.Call) else []) or words(first)
        lines += [f"- {named[0]}"] if named else []
    lines += ["", "*Your answer:*"]
    return {"cell_type": "markdown", "id": cell["id"], "metadata": {}, "source": "\n".join(lines).splitlines(True)}


def instructor(notebook: dict) -> dict:
    """Return a notebook with its solutions open, led by a cell for who teaches with it."""
    cells = []
    for cell in notebook["cells"]:
        metadata = {name: value for name, value in cell["metadata"].items() if name != "jupyter"}
        text = text_of(cell)
        if cell["cell_type"] == "markdown":
            text = text.replace(":class: dropdown\n", "")
        cells.append(with_text(cell | {"metadata": metadata}, text))
    return notebook | {"cells": [cells[0], teaching_cell(notebook), *cells[1:]]}


def teaching_cell(notebook: dict) -> dict:
    """Return minutes, questions to ask, and the mistakes that the self-checks know."""
    texts = [text_of(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    predict = next((text.partition("\n")[2].strip() for text in texts if text.startswith("## Predict first")), "")
    calls = [call for cell in notebook["cells"] if (call := check_call(cell))]
    exercises = [title for text in texts for title in re.findall(r"\{exercise-start\}[^`]*?:label: *(\S+)", text)]
    lines = ["## For who teaches with it", "", f"- Minutes: {notebook['metadata']['hopper']['minutes']}."]
    lines += [f"- Exercises: {'; '.join(exercises)}."] if exercises else []
    lines += ["", "Ask, before anybody runs a cell:", "", predict] if predict else []
    for call in calls:
        lines += ["", f"**{' '.join(argument(call, 'question'))}** {' '.join(argument(call, 'explanation'))}", ""]
        mistakes = [text for name in ("misconceptions", "mistakes", "options") for text in argument(call, name)]
        # Labels and values are among them; what explains a mistake is a sentence.
        lines += [f"- {mistake}" for mistake in mistakes if mistake.count(" ") > 3]
    return {"cell_type": "markdown", "id": "for-teachers", "metadata": {}, "source": "\n".join(lines).splitlines(True)}


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
    # Pages of the book are no notebooks: JupyterLab would open their source.
    text = re.sub(r"\[([^]]*)\]\((?!http)[^)]*\.md\)", r"\1", text)
    cell = {"cell_type": "markdown", "id": "routes", "metadata": {}, "source": text.splitlines(True)}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    write(file, {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


def write(file: Path, notebook: dict) -> None:
    """Write a notebook."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write one version of all notebooks; return the exit status."""
    versions = {"instructor": instructor, "student": student}
    if len(arguments) != 2 or arguments[0] not in (*versions, "start"):
        print(__doc__)
        return 2
    kind, out = arguments[0], Path(arguments[1])
    if kind == "start":
        start(out)
        return 0
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        if ".ipynb_checkpoints" not in path.parts:
            made = versions[kind](json.loads(path.read_text(encoding="utf-8")))
            write(out / path.relative_to(ROOT / "notebooks"), made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
