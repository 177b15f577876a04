"""Edits of a script by line, directive, variable or option, for tentative changes."""

import re
from collections.abc import Iterator

from hopperkit.launchers.line_writer import Changes, edit_options, option_text, read_line_options
from hopperkit.launchers.scripts import Directive, LaunchLine, Script
from hopperkit.launchers.words.shell import Edit
from hopperlib.placement.components import DIRECTIVES, LauncherKind


def difference(before: str, after: str) -> Edit:
    """Return the one edit that makes a text into another.

    Examples
    --------
    >>> difference("aprun -n 4 ./a", "srun -n 4 ./a")
    Edit(start=0, end=2, text='s')
    """
    start = _alike(before, after)
    same = _alike(before[start:][::-1], after[start:][::-1])
    return Edit(start, len(before) - same, after[start : len(after) - same])


def _alike(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


def line_range(script: Script, number: int) -> tuple[int, int]:
    """Return the start and end of a line in the text, without its line ending."""
    start = 0
    for _ in range(number - 1):
        start = script.text.index("\n", start) + 1
    end = script.text.find("\n", start)
    return start, end if end >= 0 else len(script.text)


def text_of_line(script: Script, number: int) -> str:
    """Return a line of the text."""
    start, end = line_range(script, number)
    return script.text[start:end]


def replace_line(script: Script, number: int, text: str) -> tuple[Edit, ...]:
    """Return the edit that replaces the text of a line."""
    return (Edit(*line_range(script, number), text),)


def remove_line(script: Script, number: int) -> tuple[Edit, ...]:
    """Return the edit that takes a whole line away."""
    start, end = line_range(script, number)
    return (Edit(start, min(end + 1, len(script.text)), ""),)


def insert_line(script: Script, number: int, text: str) -> tuple[Edit, ...]:
    """Return the edit that inserts a line before another."""
    start, _ = line_range(script, number)
    return (Edit(start, start, f"{text}\n"),)


def replace_in_line(script: Script, number: int, pattern: str, new: str) -> tuple[Edit, ...]:
    """Return the edit of the first match of a pattern on a line; none without a match."""
    start, end = line_range(script, number)
    match = re.search(pattern, script.text[start:end])
    return (Edit(start + match.start(), start + match.end(), match.expand(new)),) if match else ()


def set_value(script: Script, directive: Directive, value: str) -> tuple[Edit, ...]:
    """Return the edit that gives the option of a directive another value; None if the line does not contain it as
    parsed.
    """
    if not directive.line or not directive.value:
        return ()
    option, old = re.escape(directive.option), re.escape(directive.value)
    pattern = rf"(?<!\S)({option}(?:=|[ \t]*)[\"']?){old}(?![\w.])"
    return replace_in_line(script, directive.line, pattern, rf"\g<1>{_escaped(value)}")


def remove_directive(script: Script, directive: Directive) -> tuple[Edit, ...]:
    """Return the edit that removes one option from the directives, with its line if nothing else is on it."""
    if not directive.line:
        return ()
    others = [each for each in script.directives if each.line == directive.line and each is not directive]
    if not others:
        return remove_line(script, directive.line)
    option, value = re.escape(directive.option), re.escape(directive.value)
    return replace_in_line(script, directive.line, rf"[ \t]{option}(?:=|[ \t]*)[\"']?{value}[\"']?(?!\S)", "")


def add_directive(script: Script, option: str) -> tuple[Edit, ...]:
    """Return the edit that adds a directive after the last one; none in a script without any."""
    last = script.directives[-1] if script.directives else None
    if last is None or not last.line:
        return ()
    _, end = line_range(script, last.line)
    return (Edit(end, end, f"\n{DIRECTIVES[last.system]} {option}"),)


def set_option(script: Script, names: tuple[str, ...], value: str) -> tuple[Edit, ...]:
    """Return the edit that sets an option of the job: where it is typed, otherwise on a line after the last directive."""
    typed = [each for each in script.directives if each.option in names]
    return set_value(script, typed[-1], value) if typed else add_directive(script, option_text(names[-1], value))


def set_variable(script: Script, name: str, value: str | None, line: int) -> tuple[Edit, ...]:
    """Return the edit that gives a variable another value where it is set, or that takes the setting away (None)."""
    if not 1 <= line <= script.text.count("\n") + 1:
        return ()
    old = r"(?:\"[^\"]*\"|'[^']*'|[^\s;\"']*)"
    if value is not None:
        return replace_in_line(script, line, rf"\b({name}(?:=|[ \t]+)){old}", rf"\g<1>{_escaped(value)}")
    whole = rf"[ \t]*(?:export[ \t]+|setenv[ \t]+)?{name}(?:=|[ \t]+){old}[ \t]*(?:#.*)?"
    if re.fullmatch(whole, text_of_line(script, line)):
        return remove_line(script, line)
    return replace_in_line(script, line, rf"\b{name}={old}[ \t]*", "")


def change_line(script: Script, line: LaunchLine, changes: Changes, launcher: LauncherKind) -> tuple[Edit, ...]:
    """Return the edits that change options of the first program of a launch line; None if impossible."""
    read = read_line_options(line, launcher)
    if not read:
        return ()
    return edit_options(line, read, [changes, *({} for _ in read[1:])], launcher) or ()


def values_of(script: Script, names: tuple[str, ...]) -> Iterator[Directive]:
    """Yield the directives with one of some options."""
    yield from (each for each in script.directives if each.option in names)


def _escaped(value: str) -> str:
    """Return a value for a template of a regular expression."""
    return value.replace("\\", "\\\\")
