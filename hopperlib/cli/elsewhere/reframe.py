"""References of ReFrame's tests, written into their source as a patch."""

import ast
import difflib
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hopperlib.monitoring.references import Reference
from hopperlib.readers.reframe import Variable


def reference_patch(references: Mapping[Variable, Reference], false_alarm: float) -> tuple[str, list[str]]:
    """Return a patch (``patch -p0``, from this folder) that writes references into the tests, and what has no place there.

    Parameters
    ----------
    references : mapping
        Where a performance variable is declared -> what to write.
    false_alarm : float
        Share of the good runs that fail, for the comment.
    """
    files: dict[str, dict[Variable, Reference]] = defaultdict(dict)
    for variable, reference in references.items():
        files[variable.file][variable] = reference
    parts: list[str] = []
    left: list[str] = []
    for file, own in files.items():
        try:
            before = Path(file).read_text(encoding="utf-8")
            ast.parse(before)
        except (OSError, ValueError, SyntaxError) as error:
            left.append(f"{file}: {error}")
            continue
        after = before
        for variable, reference in own.items():
            changed = _with_reference(after, variable, reference, false_alarm)
            left += [] if changed else [f"{file}: no class {variable.test} with a plain `reference`"]
            after = changed or after
        name = os.path.relpath(file)
        parts += difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, name)
    return "".join(parts), left


def _with_reference(text: str, variable: Variable, reference: Reference, false_alarm: float) -> str:
    """Return the source with one reference in it; nothing where there is no place for it."""
    tests = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef) and node.name == variable.test
    ]
    if len(tests) != 1:
        return ""
    written = f"({reference.value:g}, {reference.lower}, {reference.upper}, {variable.unit!r})"
    note = (
        f"  # {false_alarm:.2g} of good runs fail, if lognormal; {reference.failed} of {reference.runs} did: "
        f"at most {reference.most_failures:.2g} (95 %)"
    )
    entry = f"{variable.name!r}: {written},{note}\n"
    systems = next(_references(tests[0]), None)
    indent = " " * (tests[0].body[0].col_offset)
    if systems is None:
        docstring = ast.get_docstring(tests[0]) is not None
        first = tests[0].body[int(docstring and len(tests[0].body) > 1)]
        block = f"{indent}reference = {{\n{indent}    {variable.system!r}: {{\n{indent}        {entry}{indent}    }},\n{indent}}}\n"
        return _inserted(
            text, min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))]) - 1, 0, block
        )
    if not isinstance(systems, ast.Dict):
        return ""
    variables = _value(systems, [variable.system])
    if variables is None:
        return _inserted(
            text,
            systems.lineno - 1,
            systems.col_offset + 1,
            f"\n{indent}    {variable.system!r}: {{\n{indent}        {entry}{indent}    }},",
        )
    if not isinstance(variables, ast.Dict):
        return ""
    old = _value(variables, [variable.name])
    if old is None:
        return _inserted(
            text, variables.lineno - 1, variables.col_offset + 1, f"\n{indent}        {entry}{indent}        "
        )
    # The comment goes to the end of the line, if nothing stands there.
    lines = text.splitlines(True)
    last, end = lines[(old.end_lineno or 1) - 1], old.end_col_offset or 0
    rest = last.encode()[end:].decode()
    rest = f"{rest.rstrip()}{note}\n" if "#" not in rest else rest
    head = lines[old.lineno - 1].encode()[: old.col_offset].decode()
    return "".join([*lines[: old.lineno - 1], head + written + rest, *lines[old.end_lineno or 1 :]])


def _references(test: ast.ClassDef) -> Iterator[ast.expr]:
    """Yield what the class body calls ``reference``."""
    for node in test.body:
        names = [getattr(target, "id", "") for target in getattr(node, "targets", ())]
        if isinstance(node, ast.Assign) and names == ["reference"]:
            yield node.value


def _value(table: ast.Dict, names: Sequence[str]) -> ast.expr | None:
    """Return the value of a key that is spelled out."""
    pairs = zip(table.keys, table.values, strict=True)
    return next((value for key, value in pairs if isinstance(key, ast.Constant) and key.value in names), None)


def _inserted(text: str, line: int, column: int, what: str) -> str:
    """Return a text with something at a line from 0 and a column in bytes."""
    lines = text.splitlines(True)
    row = lines[line].encode()
    return "".join([*lines[:line], row[:column].decode() + what + row[column:].decode(), *lines[line + 1 :]])
