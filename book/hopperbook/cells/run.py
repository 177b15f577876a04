"""Runs a reader's Python: its output, its errors, and whether its values match the model.

The same on a page, where Python runs in a worker of the browser, and in a
notebook. Standard library only.
"""

import ast
import contextlib
import io
import json
import math
import traceback
from collections.abc import Mapping
from typing import Any, NamedTuple

# File name of the reader's text in tracebacks, and the part of its output that is kept.
_FILE = "<your code>"
_MOST_CHARACTERS = 20_000
_MOST_SHOWN = 200
_LONGEST_EXPRESSION = 60


class Ran(NamedTuple):
    """Result of a reader's code.

    Parameters
    ----------
    output : str
        Its output, and the value of its last line.
    error : str
        The error, with the line number; empty if there is none.
    wrong : str
        The first value that is not the model's; empty if all are, or none were wanted.

    Examples
    --------
    >>> Ran("6", "", "").wrong
    ''
    """

    output: str
    error: str
    wrong: str


class _Output(io.TextIOBase):
    """Collects output, up to a limit."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.left = _MOST_CHARACTERS

    def write(self, text: str, /) -> int:
        """Keep a text as far as there is room."""
        if self.left > 0:
            self.parts.append(text[: self.left])
            self.left -= len(text)
        return len(text)

    def text(self) -> str:
        """Return the stored text."""
        return "".join(self.parts) + ("\n... the rest is not shown" if self.left < 0 else "")


def _shown(value: Any) -> str:
    """Return a value as a short text; a number with enough digits to distinguish it."""
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def same(got: Any, wanted: Any) -> bool:
    """Return whether a reader's value is the model's: numbers to a millionth, sequences part by part.

    Examples
    --------
    >>> same((6, 2.0000000001), [6, 2]), same(True, 1), same("6", 6)
    (True, False, False)
    """
    if isinstance(wanted, (list, tuple)):
        alike = isinstance(got, (list, tuple)) and len(got) == len(wanted)
        return alike and all(same(one, other) for one, other in zip(got, wanted, strict=True))
    if isinstance(wanted, bool) or isinstance(got, bool) or not isinstance(wanted, (int, float)):
        return type(got) is type(wanted) and bool(got == wanted)
    return isinstance(got, (int, float)) and math.isclose(got, wanted, rel_tol=1e-6, abs_tol=1e-12)


def _problem(error: BaseException) -> str:
    """Return an error in one line, with the line of the reader's text in which it arose."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _FILE]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    if isinstance(error, MemoryError):
        words = "this needs more memory than there is here"
    return f"{f'Line {line}: ' if line else ''}{type(error).__name__}{f': {words}' if words else ''}"


def _execute(source: str, names: dict[str, Any]) -> None:
    """Run a text, and print the value of its last line as a notebook does."""
    tree = ast.parse(source, _FILE)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, _FILE, "exec"), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), _FILE, "eval"), names)
        if value is not None:
            print(_shown(value))


def run(source: str, values: Mapping[str, Any] | None = None) -> Ran:
    r"""Run a reader's code and compare some of its values with the model's.

    Parameters
    ----------
    source : str
    values : mapping of str to object
        Expressions, and their required values: numbers, texts, and lists of them.

    Examples
    --------
    >>> run("def half(x):\n    return x / 3", {"half(3)": 1.5}).wrong
    '`half(3)` gives 1; the model gives 1.5.'
    >>> run("x = 1\nprint(y)").error
    "Line 2: NameError: name 'y' is not defined"
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    output, error, wrong = _Output(), "", ""
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            _execute(source, names)
        # Whatever a reader's code raises is theirs to read, SystemExit too.
        except BaseException as raised:
            error = _problem(raised)
        for expression, wanted in () if error else (values or {}).items():
            wrong = _compared(expression, wanted, names)
            if wrong:
                break
    return Ran(output.text(), error, wrong)


def _compared(expression: str, wanted: Any, names: dict[str, Any]) -> str:
    """Return in words how the value of an expression differs from the model's; nothing if it does not."""
    told = expression if len(expression) <= _LONGEST_EXPRESSION else f"{expression[:_LONGEST_EXPRESSION]}..."
    try:
        got = eval(compile(expression, _FILE, "eval"), names)
    except BaseException as raised:
        return f"`{told}` cannot be worked out. {_problem(raised)}"
    return "" if same(got, wanted) else f"`{told}` gives {_shown(got)}; the model gives {_shown(wanted)}."


def run_json(source: str, values_json: str = "{}") -> str:
    r"""Run a reader's code for a page: `run` with texts of JSON.

    Examples
    --------
    >>> run_json("6 * 4")
    '{"output": "24\\n", "error": "", "wrong": ""}'
    """
    ran = run(source, json.loads(values_json))
    return json.dumps(ran._asdict())
