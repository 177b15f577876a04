"""What a module offers has a docstring, types and an example that runs."""

from __future__ import annotations

import ast
import doctest

# Read by people at a prompt. The rest (site, widgets, cli) is reached through pages and commands.
LIBRARY = {
    "packed",
    "units",
    "errors",
    "finding",
    "frames",
    "tables",
    "documented",
    "machine",
    "node",
    "network",
    "storage",
    "failure",
    "monitoring",
    "readers",
    "questions",
    "analysis",
    "studies",
    "scoring",
}


def _is_public(source):
    """Whether a module is for others: private ones (``_name.py``) only serve their own folder."""
    return source.part in LIBRARY and (source.path.stem == "__init__" or not source.path.stem.startswith("_"))


def _public_functions(source):
    """The functions that a module names in ``__all__``."""
    for node in source.tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in source.exported:
            yield node


def _examples(node):
    """Examples in one docstring."""
    return doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")


def test_module_says_what_it_is(source):
    assert ast.get_docstring(source.tree), f"{source.path.name} has no docstring"


def test_exported_names_exist_and_are_public(source):
    if source.name == "hopperlib":
        # Imported when asked for: tests/test_front_door.py.
        return
    defined = set()
    for node in ast.walk(source.tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                defined.add(name)
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                defined |= {alias.asname or alias.name for alias in aliases}
    for name in source.exported:
        assert name in defined, f"__all__ names {name}, which the module does not define"
        assert not name.startswith("_"), f"__all__ names {name}, which is private"
    assert len(set(source.exported)) == len(source.exported), "__all__ names something twice"


def test_only_a_module_that_hands_names_on_states_them(source):
    """What has no leading underscore is public: a list of such names would say it twice."""
    states = any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__" for node in source.tree.body
    )
    own = {node.name for node in source.tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert not states or source.path.stem == "__init__" or set(source.exported) - own, "__all__ repeats what is defined"


def test_public_functions_have_types(source):
    for function in _public_functions(source):
        spelled = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        bare = [argument.arg for argument in spelled if argument.annotation is None]
        assert not bare, f"{function.name}: no type for {', '.join(bare)}"
        assert function.returns is not None, f"{function.name}: no type for what it returns"


def test_public_functions_have_examples(source):
    if not _is_public(source):
        return
    for function in _public_functions(source):
        assert ast.get_docstring(function), f"{function.name}, line {function.lineno}, has no docstring"
        assert _examples(function), f"{function.name}, line {function.lineno}, has no example (>>>)"


def test_public_classes_have_docstrings(source):
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef) and node.name in source.exported:
            assert ast.get_docstring(node), f"{node.name}, line {node.lineno}, has no docstring"


def test_examples_are_tried_somewhere_in_each_public_module(source):
    if not _is_public(source) or not any(True for _ in _public_functions(source)):
        return
    documented = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert sum(len(_examples(node)) for node in documented) > 0
