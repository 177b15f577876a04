"""Share of its imports that a study runs: the measure of a small library.

For each documented study, its scorecard rows, the cells of its notebook and its explorers at their defaults run in a
separate process, and every executed line of `hopperlib` is recorded. The study's *imports* are all modules of
`hopperlib` loaded at the end. The share is the lines run over the code lines of these modules: function bodies and
module level, docstrings and comments apart. Moving code between modules of one study cannot raise the share; splitting
off code that the study does not need can.

    python -m hopperbook.minimality                rewrite data/minimality.csv and data/functions-run.csv
    python -m hopperbook.minimality NAME OUT.json  trace one study
"""

import ast
import contextlib
import csv
import io
import json
import re
import subprocess
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import hopperlib
from hopperbook.cells.plain import code_of

ROOT = Path(str(hopperlib.__file__)).resolve().parent.parent
LIBRARY = ROOT / "hopperlib"
# A function with lines that never run is not traced forever: its first calls suffice.
_CALLS = 200


class Share(NamedTuple):
    """Share of its imports that a study runs.

    Parameters
    ----------
    study : str
    modules : int
        Modules of `hopperlib` that it loads.
    lines : int
        Code lines of these modules.
    run : int
        Those of them that run.
    """

    study: str
    modules: int
    lines: int
    run: int

    @property
    def share(self) -> float:
        """Lines run over lines imported. [fraction]"""
        return self.run / self.lines if self.lines else 0.0


class Function(NamedTuple):
    """A function of `hopperlib`: where it is, and how many of its code lines there are."""

    module: str
    name: str
    line: int
    lines: frozenset[int]


@cache
def code_lines(module: str) -> frozenset[int]:
    """Return the numbers of the lines of a module that hold code: not docstrings, comments or blank lines.

    Examples
    --------
    >>> len(code_lines("hopperlib")), len(code_lines("hopperlib.units")) > 20
    (1, True)
    """
    text = _path(module).read_text(encoding="utf-8")
    tree = ast.parse(text)
    docstrings = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    return frozenset(_lines_of(compile(text, module, "exec", dont_inherit=True)) - docstrings)


def _lines_of(code: CodeType) -> set[int]:
    """Return the lines of a code object and of those inside it."""
    lines = {line for _, _, line in code.co_lines() if line}
    return lines.union(*(_lines_of(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _path(module: str) -> Path:
    path = ROOT / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@cache
def functions(module: str) -> tuple[Function, ...]:
    """Return the functions and methods of a module, in reading order.

    Examples
    --------
    >>> functions("hopperlib.student")[0].name != ""
    True
    """
    found = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                inside = range(child.body[0].lineno, (child.end_lineno or 0) + 1)
                lines = frozenset(code_lines(module).intersection(inside))
                found.append(Function(module, prefix + child.name, child.lineno, lines))
            elif isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")

    visit(ast.parse(_path(module).read_text(encoding="utf-8")), "")
    return tuple(found)


class Tracer:
    """Notes which lines of `hopperlib` run."""

    def __init__(self) -> None:
        self.lines: defaultdict[str, set[int]] = defaultdict(set)
        self._calls: defaultdict[CodeType, int] = defaultdict(int)
        self._whole: dict[CodeType, int] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Watch a call, unless it is of another package or all its lines are known."""
        code = frame.f_code
        calls = self._calls[code] = self._calls[code] + 1
        if calls > _CALLS or not code.co_filename.startswith(f"{LIBRARY}/"):
            self._calls[code] = _CALLS
            return None
        seen = self.lines[code.co_filename]
        seen.add(frame.f_lineno)

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            seen.add(frame.f_lineno)
            return line

        return line

    def by_module(self) -> dict[str, list[int]]:
        """Return the lines that ran, by module; those without code are left out."""
        found = {}
        for file, lines in self.lines.items():
            parts = Path(file).relative_to(ROOT).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[module] = sorted(lines & code_lines(module))
        return found


def _cells(study: str, part: str) -> Iterator[str]:
    """Yield the code cells of a study's notebook."""
    cells = code_of(ROOT / "notebooks" / part / f"{study}.ipynb")
    # A Python exercise computes its values with models of other studies too: it is not part of the study.
    yield from (cell for cell in cells if "hopperbook.exercises" not in cell)


def trace(study: str) -> dict[str, Any]:
    """Run a study, its scorecard rows, the cells of its notebook and its explorers; return the lines that ran and the modules that were loaded.

    Raises
    ------
    RuntimeError
        If a cell or the study fails: a trace that is cut short would flatter.
    """
    assert not [name for name in sys.modules if name.startswith("hopperlib.")], "start in a separate process"
    tracer = Tracer()
    sys.settrace(tracer)
    from hopperbook.questions import QUESTIONS, load
    from hopperbook.score import all_rows
    from hopperbook.studies import load as load_study

    one = load_study(study)
    one.values(), one.sums(), all_rows(study)
    cells = list(_cells(study, one.texts["part"]))
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in cells:
            exec(compile(cell, f"{study}.ipynb", "exec"), names)
    for name in dict.fromkeys(re.findall(r"\bload\(\"([a-z-]+)\"|explorer=\"([a-z-]+)\"", "\n".join(cells))):
        question = next(filter(None, name))
        if question in QUESTIONS:
            load(question).run()
    sys.settrace(None)
    loaded = sorted(name for name in sys.modules if name.split(".")[0] == "hopperlib")
    return {"study": study, "loaded": loaded, "run": tracer.by_module()}


def share_of(traced: Mapping[str, Any]) -> Share:
    """Return the share of its imports that a traced study runs.

    Examples
    --------
    >>> share_of({"study": "x", "loaded": ["hopperlib"], "run": {"hopperlib": [22]}}).lines
    1
    """
    lines = sum(len(code_lines(module)) for module in traced["loaded"])
    run = sum(len(traced["run"].get(module, ())) for module in traced["loaded"])
    return Share(traced["study"], len(traced["loaded"]), lines, run)


def functions_run(traced: Mapping[str, Any]) -> Iterator[tuple[str, str, str, int, int]]:
    """Yield study, module, function, its lines that ran and all of them, in reading order, for functions that ran."""
    for module in traced["loaded"]:
        ran = set(traced["run"].get(module, ()))
        for each in functions(module):
            if each.lines & ran:
                yield traced["study"], module, each.name, len(each.lines & ran), len(each.lines)


def main(arguments: list[str]) -> None:
    """Trace one study, or all of them and write the tables."""
    if len(arguments) == 2:
        warnings.simplefilter("ignore")
        Path(arguments[1]).write_text(json.dumps(trace(arguments[0])), encoding="utf-8")
        return
    from hopperbook.studies.study import study_texts

    folder = ROOT / "_build" / "minimality"
    folder.mkdir(parents=True, exist_ok=True)
    traced = []
    for study in study_texts():
        out = folder / f"{study}.json"
        subprocess.run([sys.executable, "-m", "hopperbook.minimality", study, str(out)], check=True, cwd=ROOT)
        traced.append(json.loads(out.read_text(encoding="utf-8")))
        print(share_of(traced[-1]), f"{share_of(traced[-1]).share:.2f}", flush=True)
    _write(
        "minimality.csv",
        ("study", "modules", "lines", "run", "share"),
        [(*one, f"{one.share:.3f}") for one in map(share_of, traced)],
    )
    rows = [row for one in traced for row in functions_run(one)]
    _write("functions-run.csv", ("study", "module", "function", "lines_run", "lines"), rows)


def _write(name: str, head: tuple[str, ...], rows: list[Any]) -> None:
    with (ROOT / "data" / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
