"""Functions of at most 15 branches, unless a comment in them says why they are in one piece.

The count is McCabe's, with boolean operators, conditional expressions and comprehensions, which ruff's C901 leaves out.
"""

from __future__ import annotations

import ast

import pytest

MOST = 15
REASON = "# In one piece"
#: Functions with a reason; a new one needs a better reason than its length.
MOST_REASONS = 12


def branches(function):
    """Return the number of branches of a function, without those of the functions in it."""
    number, parts = 1, list(ast.iter_child_nodes(function))
    while parts:
        part = parts.pop()
        if isinstance(part, ast.BoolOp):
            number += len(part.values) - 1
        elif isinstance(
            part,
            ast.If
            | ast.IfExp
            | ast.For
            | ast.While
            | ast.ExceptHandler
            | ast.Assert
            | ast.comprehension
            | ast.match_case,
        ):
            number += 1
        if not isinstance(part, ast.FunctionDef | ast.ClassDef):
            parts.extend(ast.iter_child_nodes(part))
    return number


def _long_functions(sources):
    """Yield the functions above the limit, each with whether a comment gives the reason."""
    for source in sources:
        lines = source.path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef) and (number := branches(node)) > MOST:
                body = lines[node.lineno : node.end_lineno]
                yield f"{source.name}.{node.name}: {number}", any(line.strip().startswith(REASON) for line in body)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("def f(): pass", 1),
        ("def f(a):\n    if a: pass\n    elif not a: pass", 3),
        ("def f(a, b, c): return a and b and c", 3),
        ("def f(a): return [b for b in a if b]", 2),
        ("def f(a):\n    def g(): return 1 if a else 2\n    return g", 1),
        ("def f(a):\n    try: pass\n    except ValueError: pass\n    while a: assert a", 4),
    ],
)
def test_branches_are_counted(text, number):
    assert branches(ast.parse(text).body[0]) == number


def test_long_functions_say_why(sources):
    found = dict(_long_functions(sources))
    assert [name for name, has_reason in found.items() if not has_reason] == []
    assert len(found) <= MOST_REASONS
