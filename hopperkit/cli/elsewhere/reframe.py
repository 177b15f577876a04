"""Write references into the source of ReFrame tests, as a patch."""

import ast
import difflib
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from hopperkit.histories.references import Reference
from hopperkit.readers.reframe import Variable


def reference_patch(references: Mapping[Variable, Reference], false_alarm: float) -> tuple[str, list[str]]:
    """Return a patch (``patch -p0``, from this folder) that writes references into the tests, and the references that
    could not be placed.

    Parameters
    ----------
    references : mapping
        Location of a performance variable -> its new reference.
    false_alarm : float
        Expected share of good runs that fail, for the comment.

    Examples
    --------
    >>> from hopperkit.histories.references import Reference
    >>> reference_patch({}, 0.001)
    ('', [])
    """
    files: dict[str, dict[str, dict[Variable, Reference]]] = defaultdict(lambda: defaultdict(dict))
    for variable, reference in references.items():
        files[variable.file][variable.test][variable] = reference
    parts: list[str] = []
    left: list[str] = []
    for file, tests in files.items():
        try:
            before = after = Path(file).read_text(encoding="utf-8")
            ast.parse(before)
        except (OSError, ValueError, SyntaxError) as error:
            left.append(f"{file}: {error}")
            continue
        for test, own in tests.items():
            changed = _with_references(after, test, own, false_alarm)
            left += [] if changed else [f"{file}: no class {test} with a plain `reference`"]
            after = changed or after
        name = os.path.relpath(file)
        parts += difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, name)
    return "".join(parts), left


def _with_references(text: str, test: str, references: Mapping[Variable, Reference], false_alarm: float) -> str:
    """Return the source with references in the class of a test; None if they cannot be placed."""
    classes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef) and node.name == test]
    if len(classes) != 1:
        return ""
    body = classes[0].body
    old = next(
        (node for node in body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "reference"), None
    )
    entries = _entries(old)
    if entries is None:
        return ""
    for variable, reference in references.items():
        entries.setdefault(variable.system, {})[variable.name] = _entry(variable, reference, false_alarm)
    block, rows = _assignment(entries, " " * body[0].col_offset), text.splitlines(True)
    if old:
        return "".join([*rows[: old.lineno - 1], block, *rows[old.end_lineno :]])
    # After the docstring, before the decorators of the next definition.
    first = body[int(ast.get_docstring(classes[0]) is not None and len(body) > 1)]
    at = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))]) - 1
    return "".join([*rows[:at], block, *rows[at:]])


def _entries(old: ast.Assign | None) -> dict[str, dict[str, str]] | None:
    """Return the entries in a test's references, by system and variable; None if they are not a plain table."""
    try:
        systems = ast.literal_eval(old.value) if old else {}
        return {system: {name: f"{each!r}," for name, each in named.items()} for system, named in systems.items()}
    except (ValueError, AttributeError):
        return None


def _assignment(entries: Mapping[str, Mapping[str, str]], indent: str) -> str:
    """Return the lines that give the entries of each system, by name of the variable."""
    lines = [f"{indent}reference = {{\n"]
    for system, named in entries.items():
        inner = [f"{indent}        {name!r}: {entry}\n" for name, entry in named.items()]
        lines += [f"{indent}    {system!r}: {{\n", *inner, f"{indent}    }},\n"]
    return "".join([*lines, f"{indent}}}\n"])


def _entry(variable: Variable, reference: Reference, false_alarm: float) -> str:
    """Return the entry of a performance variable, with its uncertainty."""
    return (
        f"({reference.value:g}, {reference.lower}, {reference.upper}, {variable.unit!r}),"
        f"  # {false_alarm:.2g} of good runs fail, if lognormal; {reference.failed} of {reference.runs} did: "
        f"at most {reference.most_failures:.2g} (95 %)"
    )
