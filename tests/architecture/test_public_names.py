"""What a module offers has a docstring, and each public function an example that runs."""

from __future__ import annotations

import ast
import doctest

# Read by people at a prompt. The rest is reached through pages and commands.
WITHOUT_EXAMPLES = (
    "hopperkit.cli",
    "hopperkit.render",
    "hopperlib.package_data",
    "hopperkit.questions.ask",
    "hopperlib.schema.fields",
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
    """What has no leading underscore is public: a list of such names would say it twice."""
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
