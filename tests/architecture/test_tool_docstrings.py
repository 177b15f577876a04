"""Docstrings of the tool's public functions: every parameter in a table, and a section on errors if they raise any."""

from __future__ import annotations

import ast
import re

import pytest

# Functions without an example: they end the process, draw in a notebook, wrap a command, or depend on this computer.
_WITHOUT_EXAMPLE = {
    "hopperkit.cli.hopper",
    "hopperkit.cli.main",
    "hopperkit.cli.common.refusing",
    "hopperkit.cli.common.write_page",
    "hopperkit.cli.elsewhere.prometheus.save_metrics",
    "hopperkit.cli.elsewhere.prometheus.write_metrics",
    "hopperkit.cli.network.trace.trace",
    "hopperkit.cli.node.here.machine_here",
    "hopperkit.cli.node.machine.machine",
    "hopperkit.cli.question.question_command",
    "hopperkit.cli.question.refuse",
    "hopperkit.cli.question.styled",
    "hopperkit.cli.question.takes_boxes",
    "hopperkit.render.widgets.show_explorer",
    "hopperkit.render.widgets.show_figure",
}


def _functions(sources):
    """Yield the public functions of the tool's public modules."""
    for source in sources:
        if source.name.startswith("hopperkit") and "._" not in source.name:
            for node in source.tree.body:
                if not isinstance(node, ast.FunctionDef) or node.name not in source.exported or _is_command(node):
                    continue
                yield f"{source.name}.{node.name}", node


def _is_command(node):
    """Whether a function is a command: its options have help texts."""
    return any("command(" in ast.unparse(decorator) for decorator in node.decorator_list)


def undescribed(node):
    """Return the parameters that a docstring's table lacks."""
    given = node.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    _, found, table = (ast.get_docstring(node) or "").partition("Parameters\n----------\n")
    heads = " ".join(re.findall(r"^(\S[^:\n]*)(?: :|$)", re.split(r"\n\n\w+\n-{4,}\n", table)[0], re.MULTILINE))
    return [name for name in names if not found or not re.search(rf"\b{name}\b", heads)]


def raises_unsaid(node):
    """Whether a function raises an error that it does not catch, and its docstring has no section on errors."""
    caught = {
        inner
        for part in ast.walk(node)
        if isinstance(part, ast.Try)
        for inner in (raised for statement in part.body for raised in ast.walk(statement))
        if isinstance(inner, ast.Raise)
        and any(handler.type and ast.unparse(handler.type) in ast.unparse(inner) for handler in part.handlers)
    }
    raised = {inner for inner in ast.walk(node) if isinstance(inner, ast.Raise)}
    return bool(raised - caught) and "Raises\n------" not in (ast.get_docstring(node) or "")


def _parsed(text):
    return ast.parse(text).body[0]


@pytest.mark.parametrize(
    ("text", "lacking"),
    [
        ('def f(a, b): "Add."', ["a", "b"]),
        ('def f(a, *, b=1): """Add.\n\nParameters\n----------\na : int\n    A number, not b.\n"""', ["b"]),
        ('def f(a, b): """Add.\n\nParameters\n----------\na, b : int\n\nRaises\n------\nValueError\n"""', []),
    ],
)
def test_a_parameter_outside_the_table_is_seen(text, lacking):
    assert undescribed(_parsed(text)) == lacking


def test_an_error_without_its_section_is_seen():
    assert raises_unsaid(_parsed('def f():\n    "Fail."\n    raise ValueError'))
    assert not raises_unsaid(
        _parsed("def f():\n    try:\n        raise ValueError\n    except ValueError:\n        pass")
    )
    assert not raises_unsaid(
        _parsed('def f():\n    """Fail.\n\n    Raises\n    ------\n    ValueError\n    """\n    raise ValueError')
    )


def test_parameters_have_a_table(sources):
    functions = list(_functions(sources))
    assert len(functions) > 300
    assert [f"{name}: {', '.join(lacking)}" for name, node in functions if (lacking := undescribed(node))] == []


def test_errors_have_a_section(sources):
    assert [name for name, node in _functions(sources) if raises_unsaid(node)] == []


def test_functions_have_an_example(sources):
    functions = dict(_functions(sources))
    without = {name for name, node in functions.items() if ">>>" not in (ast.get_docstring(node) or "")}
    assert without == _WITHOUT_EXAMPLE & functions.keys()
