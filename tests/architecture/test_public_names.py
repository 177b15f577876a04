"""Public names have docstrings, and each public function an example that runs."""

from __future__ import annotations

import ast
import doctest
import re

# Packages whose docstrings are complete: every parameter, every error.
DOCUMENTED = ("hopperlib",)
# Functions of `hopperlib.errors` that raise an error for a value out of range.
CHECKS = ("at_least", "above", "within")

# Read by people at a prompt. The rest is reached through pages and commands.
WITHOUT_EXAMPLES = (
    "hopperkit.cli",
    "hopperkit.render",
    "hopperlib.package_data",
    "hopperkit.questions.ask",
    "hopperkit.__main__",
    "hopperbook.site",
    "hopperbook.build",
    "hopperbook.serve",
    "hopperbook.minimality",
    "hopperbook.self_checks.form",
    "hopperbook.self_checks.notebook",
)


def _named(source):
    """Yield the public functions and classes that a module defines."""
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in source.exported:
            yield node


def test_all_that_is_public_says_what_it_is(sources):
    silent = [source.name for source in sources if not ast.get_docstring(source.tree)]
    silent += [
        f"{source.name}.{node.name}"
        for source in sources
        for node in _named(source)
        if isinstance(node, ast.ClassDef) and not ast.get_docstring(node)
    ]
    assert not silent, "\n".join(silent)


def test_public_functions_have_examples(sources):
    without = [
        f"{source.name}.{node.name}"
        for source in sources
        # Modules with a leading underscore only serve their own folder.
        if not source.is_question and not source.name.startswith(WITHOUT_EXAMPLES) and "._" not in source.name
        for node in _named(source)
        if isinstance(node, ast.FunctionDef)
        if not doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
    ]
    assert not without, "\n".join(without)


def _callables(source):
    """Yield the public functions of a module, and the public methods of its public classes, with their names."""
    for node in _named(source):
        inner = node.body if isinstance(node, ast.ClassDef) else ()
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        for method in inner:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                yield f"{node.name}.{method.name}", method


def _raises(function):
    """Whether a function raises an error, or calls a check of `hopperlib.errors` that does."""
    for node in ast.walk(function):
        if isinstance(node, ast.Raise) and node.exc is not None:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CHECKS:
            return True
    return False


def _section(docstring, title):
    """Return the text of a section of a docstring; empty if it is missing."""
    _, found, rest = docstring.partition(f"\n{title}\n{'-' * len(title)}\n")
    return re.split(r"\n\n\w+\n-{3,}\n", rest)[0] if found else ""


def test_public_functions_document_every_parameter(sources):
    """Each parameter has an entry with its type in the table."""
    missing = []
    for source in sources:
        if source.name.startswith(DOCUMENTED) and "._" not in source.name:
            for name, function in _callables(source):
                table = _section(ast.get_docstring(function) or "", "Parameters")
                heads = re.findall(r"^([*\w, ]+)(?: : .+)?$", table, re.MULTILINE)
                documented = {one.strip(" *") for head in heads for one in head.split(",")}
                arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
                wanted = {one.arg for one in arguments if one.arg not in ("self", "cls")}
                missing += [f"{source.name}.{name}: {one}" for one in sorted(wanted - documented)]
    assert not missing, "\n".join(missing)


def test_public_functions_document_their_errors(sources):
    missing = [
        f"{source.name}.{name}"
        for source in sources
        if source.name.startswith(DOCUMENTED) and "._" not in source.name
        for name, function in _callables(source)
        if _raises(function) and not _section(ast.get_docstring(function) or "", "Raises")
    ]
    assert not missing, "\n".join(missing)


def _defined(tree):
    """Return every name that a module defines or imports."""
    defined = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                defined.add(name)
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                defined |= {alias.asname or alias.name for alias in aliases}
    return defined


def test_only_what_hands_names_on_states_them_and_each_exists(sources):
    """Names without a leading underscore are public: a list of them would be redundant."""
    faults = []
    for source in sources:
        states = any(
            isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" for node in source.tree.body
        )
        own = {node.name for node in source.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        if states and source.path.stem != "__init__" and not set(source.exported) - own:
            faults.append(f"{source.name}: __all__ repeats what is defined")
        if states and (
            set(source.exported) - _defined(source.tree) or len(set(source.exported)) < len(source.exported)
        ):
            faults.append(f"{source.name}: __all__ names what is not there, or something twice")
        faults += [
            f"{source.name}: __all__ names {name}"
            for name in source.exported
            if name.startswith("_") and name != "__version__"
        ]
    assert not faults, "\n".join(faults)
