"""The core is the standard library alone, knows no machine, and has no long functions."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.conftest import PARTS

# Not to be had in the browser, or not worth their seconds there.
ABSENT = {"asyncio", "concurrent", "multiprocessing", "socket", "ssl", "subprocess", "threading", "urllib", "http"}
# Reads a format that only its own library knows; the browser leaves it out.
# A DataFrame, or a figure of plotly's, is made only where somebody asks for one.
EXCEPTIONS = {
    ("hopperkit.readers.darshan", "darshan"),
    ("hopperkit.readers.darshan", "subprocess"),
    ("hopperkit.frames", "pandas"),
    ("hopperkit.questions.result", "plotly"),
}
MODELS = ("machine", "launchers", "placement", "scheduling", "network", "storage", "failure", "monitoring")
LONGEST = 60


def test_imports_the_standard_library_alone(core):
    offenders = [
        f"{source.name}, line {line}, imports {top}"
        for source in core
        for top, line in ((name.split(".")[0], line) for name, line in source.imports())
        if top not in PARTS
        and (source.name, top) not in EXCEPTIONS
        and (top not in sys.stdlib_module_names or top in ABSENT)
    ]
    assert not offenders, "\n".join(offenders)


def _code_lines(function, lines):
    """Return how many lines of code a function has, its docstring and comments apart."""
    doc = function.body[0] if ast.get_docstring(function) else None
    skipped = range(doc.lineno - 1, doc.end_lineno) if doc else ()
    numbers = (number for number in range(function.lineno - 1, function.end_lineno) if number not in skipped)
    return sum(bool(lines[number].strip()) and not lines[number].lstrip().startswith("#") for number in numbers)


def test_no_function_is_long_without_saying_why(sources):
    """A comment above its head is the reason."""
    offenders = []
    for source in sources:
        lines = source.path.read_text(encoding="utf-8").splitlines()
        for function in (node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef)):
            head = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
            if _code_lines(function, lines) > LONGEST and not lines[head - 2].lstrip().startswith("#"):
                offenders.append(f"{source.name}.{function.name}")
    assert not offenders, "\n".join(offenders)


# Each module is loaded as if it were the first: one that leans on another having been loaded shows. The first line shows
# that no package can be had. Reading all machine files takes longer than most answers: none is opened.
LOAD_EACH = """
import importlib, importlib.util, os, sys, traceback
assert importlib.util.find_spec("numpy") is None
sys.path.insert(0, {root!r})
import hopperkit
# The public functions are there at once, and nothing that they call.
print(*[name for name in sys.modules if name.startswith(("hopperlib.", "hopperkit.")) and not name.startswith("hopperkit.api")])
machines = os.path.join({root!r}, "hopperlib", "machines", "")
sys.addaudithook(lambda event, values: print(values[0]) if event == "open" and str(values[0]).startswith(machines) else None)
for name in {names!r}:
    for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] in ("hopperlib", "hopperkit")]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except Exception:
        print(name, traceback.format_exc())
"""


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.nightly)])
def test_loads_where_no_package_is_installed_and_reads_no_machine(core, root, every):
    """Each module alone at night, every sixth in every run."""
    program = LOAD_EACH.format(root=str(root), names=[source.name for source in core][::every])
    # Neither a package nor an installed hopperlib can be found (-S and -I).
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.strip()) == (0, "", "")


def _numbers(value):
    """Every number in a machine file's tables."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in _numbers(item)]
    if isinstance(value, list):
        return [number for item in value for number in _numbers(item)]
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []


def _tells_a_machine(number):
    """Whether a number is odd enough to come from one machine: 6384 is, 100 and 4096 are not."""
    return number > 100 and number % 10 != 0 and (number != int(number) or int(number) & (int(number) - 1) != 0)


def test_models_know_no_machine(core, root):
    """Neither a machine's name, nor a number that can only be Hopper's."""
    table = tomllib.loads((root / "hopperlib" / "machines" / "hopper.toml").read_text(encoding="utf-8"))
    telling = {number for number in _numbers(table) if _tells_a_machine(number)} | {6384, 6528, 153216, 3264}
    telling |= {file.stem for file in (root / "hopperlib" / "machines").glob("*.toml")}
    offenders = []
    for source in (source for source in core if source.part in MODELS):
        docstrings = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
        # 24 cores, 4 NUMA nodes of 6: the models of a node take them from the machine. Pairs such as (24, 11) are releases.
        pairs = {id(item) for node in ast.walk(source.tree) if isinstance(node, ast.Tuple) for item in node.elts}
        for node in (node for node in ast.walk(source.tree) if isinstance(node, ast.Constant)):
            of_a_node = source.part in ("launchers", "placement") and node.value == 24 and id(node) not in pairs
            known = isinstance(node.value, int | float | str) and node.value in telling and node.value is not True
            if id(node) not in docstrings and (of_a_node or known):
                offenders.append(f"{source.name}, line {node.lineno}: {node.value!r} belongs into a machine file")
    assert not offenders, "\n".join(offenders)


def test_no_module_of_the_pages_imports_one_that_stays_behind(library, root):
    """The part of the package in the pages' Python is sufficient; imports inside functions may need more."""
    pages = tomllib.loads((root / "book" / "hopperbook" / "site" / "pages.toml").read_text(encoding="utf-8"))
    parts = [root / part for part in pages["browser"]["parts"]]
    there = {part.stem for part in parts}
    sent = [source for source in library if any(part in (source.path, *source.path.parents) for part in parts)]
    assert len(sent) > 100
    missing = [
        f"{source.name} imports {statement.module}"
        for source in sent
        for statement in source.tree.body
        if isinstance(statement, ast.ImportFrom) and statement.module.startswith("hopperkit.")
        if statement.module.split(".")[1]
        not in there | ({"render"} if Path(source.path).parent.name == "render" else set())
    ]
    assert not missing, "\n".join(missing)
