"""The core is the standard library alone: it runs unchanged in the reader's browser."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib

import pytest

# Not to be had in the browser, or not worth their seconds there.
ABSENT = {"asyncio", "concurrent", "multiprocessing", "socket", "ssl", "subprocess", "threading", "urllib", "http"}
# Reads a format that only its own library knows; the browser leaves it out.
# A DataFrame is made only where somebody asks for one.
EXCEPTIONS = {
    ("hopperlib.readers.darshan", "darshan"),
    ("hopperlib.readers.darshan", "subprocess"),
    ("hopperlib.frames", "pandas"),
}
BELOW_READERS = ("units", "packed", "documented", "machine", "node", "network", "storage", "failure", "monitoring")


def test_imports_only_the_standard_library(core_source):
    for imported in core_source.imports():
        top = imported.name.split(".")[0]
        if top == "hopperlib" or (core_source.name, top) in EXCEPTIONS:
            continue
        assert top in sys.stdlib_module_names, f"line {imported.line} imports {top}, which is a package"
        assert top not in ABSENT, f"line {imported.line} imports {top}, which the browser does not have"


LONGEST = 60


def test_no_function_is_long_without_saying_why(source):
    """Lines of code of a function, its docstring and comments apart; a comment above its head is the reason."""
    lines = source.path.read_text(encoding="utf-8").splitlines()
    for function in ast.walk(source.tree):
        if isinstance(function, ast.FunctionDef):
            doc = function.body[0] if ast.get_docstring(function) else None
            skipped = range(doc.lineno - 1, doc.end_lineno) if doc else ()
            code = [
                number
                for number in range(function.lineno - 1, function.end_lineno)
                if number not in skipped and lines[number].strip() and not lines[number].lstrip().startswith("#")
            ]
            head = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
            assert len(code) <= LONGEST or lines[head - 2].lstrip().startswith("#"), (
                f"{function.name} has {len(code)} lines of code and may have {LONGEST} without a comment above that says why"
            )


def _bare_python(program):
    """Run a program where neither a package nor an installed hopperlib can be found (-S and -I)."""
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# Each module is loaded as if it were the first: one that leans on another having been loaded shows.
LOAD_EACH = """
import importlib, sys, traceback
sys.path.insert(0, {root!r})
for name in {names!r}:
    for loaded in [loaded for loaded in sys.modules if loaded.split(".")[0] == "hopperlib"]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except Exception:
        print(name, traceback.format_exc())
"""


def test_loads_where_no_package_is_installed(sources, root):
    names = [source.name for source in sources if source.is_core]
    done = _bare_python(LOAD_EACH.format(root=str(root), names=names))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


OPENED = """
import importlib, os, sys
sys.path.insert(0, {root!r})
folder = os.path.join({root!r}, "hopperlib", "machines", "")
sys.addaudithook(lambda event, values: print(values[0]) if event == "open" and str(values[0]).startswith(folder) else None)
for name in {names!r}:
    importlib.import_module(name)
"""


def test_loading_reads_no_machine_file(sources, root):
    """Reading them all takes longer than most answers."""
    names = [source.name for source in sources if source.is_core]
    done = _bare_python(OPENED.format(root=str(root), names=names))
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_the_block_above_blocks():
    """Without it the test above could pass for a module that imports numpy."""
    assert "ModuleNotFoundError" in _bare_python("import numpy").stderr


def test_loading_the_package_loads_nothing_else(root):
    program = (
        f"import sys; sys.path.insert(0, {str(root)!r}); import hopperlib;"
        "print([name for name in sys.modules if name.startswith('hopperlib.')])"
    )
    assert _bare_python(program).stdout.strip() == "[]"


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


@pytest.fixture(scope="module")
def telling_numbers(root):
    """Numbers of Hopper that mean Hopper wherever they stand, and the products that are quoted most."""
    table = tomllib.loads((root / "hopperlib" / "machines" / "hopper.toml").read_text(encoding="utf-8"))
    found = {number for number in _numbers(table) if _tells_a_machine(number)}
    return found | {6384, 6528, 153216, 3264}


def _code_constants(source):
    """Constants in the code of a module, docstrings left out."""
    texts = {id(node.value) for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and id(node) not in texts:
            yield node


def test_knows_no_number_of_hopper(core_source, telling_numbers):
    if core_source.part not in BELOW_READERS:
        return
    for node in _code_constants(core_source):
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            assert node.value not in telling_numbers, f"line {node.lineno}: {node.value} belongs into a machine file"


def test_knows_no_machine_by_name(core_source, root):
    if core_source.part not in BELOW_READERS:
        return
    names = {file.stem for file in (root / "hopperlib" / "machines").glob("*.toml")}
    for node in _code_constants(core_source):
        assert node.value not in names, f"line {node.lineno} names a machine: {node.value!r}"


def test_knows_no_node_of_24_cores(core_source):
    """24 cores, 4 NUMA nodes of 6: the models of a node take them from the machine."""
    if core_source.part != "node":
        return
    # Pairs such as (24, 11) are releases of Slurm.
    pairs = {id(item) for node in ast.walk(core_source.tree) if isinstance(node, ast.Tuple) for item in node.elts}
    for node in _code_constants(core_source):
        assert node.value != 24 or id(node) in pairs, f"line {node.lineno}: 24 is the cores of one kind of node"
