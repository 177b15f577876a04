"""Options of a launcher line: a table of what there is, and two ways of reading them.

aprun takes short options of one or two letters (``-n``, ``-sn``), their value
behind them or glued on. srun and sbatch follow GNU getopt: ``-n4``, ``-n 4``,
``--ntasks=4``, and any unmistakable beginning of a long name.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from hopperlib.node.launch.components import LaunchError
from hopperlib.node.launch.shell_words import Word

__all__ = ["Given", "Option", "find", "last_of", "read_aprun_options", "read_getopt_options"]


class Option(NamedTuple):
    """One option of a launcher.

    Parameters
    ----------
    names : tuple of str
        Spellings, the one used in reports first.
    value : str
        ``none``, ``required`` or ``optional`` (glued on or behind ``=`` only).
    bears : bool
        Whether it bears on where tasks run.
    refused : str
        Why it cannot be read; empty if it can.
    """

    names: tuple[str, ...]
    value: Literal["none", "required", "optional"] = "required"
    bears: bool = False
    refused: str = ""


class Given(NamedTuple):
    """An option on a line: its name in reports, as it was typed, its value."""

    name: str
    typed: str
    value: str
    bears: bool


def find(table: Iterable[Option], typed: str) -> Option | None:
    """Return the option with this spelling, if there is one.

    Examples
    --------
    >>> find([Option(("-n", "--ntasks"))], "--ntasks").names[0]
    '-n'
    """
    return next((option for option in table if typed in option.names), None)


def last_of(given: Sequence[Given], name: str) -> Given | None:
    """Return the last option of that name: where one is repeated, the last holds.

    Examples
    --------
    >>> given = [Given("-n", "-n", "4", True), Given("-n", "--ntasks", "8", True)]
    >>> last_of(given, "-n").value
    '8'
    """
    return next((option for option in reversed(given) if option.name == name), None)


def read_aprun_options(
    words: Sequence[Word], table: Sequence[Option], known: Sequence[str], *, where: str
) -> tuple[list[Given], Sequence[Word]]:
    """Return the options in front of an aprun command, and the words of the command.

    Parameters
    ----------
    words : sequence of Word
        What follows ``aprun``, up to the next ``:``.
    table : sequence of Option
        Options that can be read.
    known : sequence of str
        Options that this machine's aprun knows.
    where : str
        Whose options they are, for messages: ``aprun on Hopper``.

    Raises
    ------
    LaunchError
        For an option that is not known, or lacks its value.

    Examples
    --------
    >>> words = [Word(text=text) for text in ("-n384", "-N", "12", "vasp", "-x")]
    >>> given, command = read_aprun_options(words, [Option(("-n",)), Option(("-N",))], ["-n", "-N"], where="aprun")
    >>> [(option.name, option.value) for option in given], [word.text for word in command]
    ([('-n', '384'), ('-N', '12')], ['vasp', '-x'])
    """
    given: list[Given] = []
    at = 0
    while at < len(words) and _is_option(words[at]):
        typed, glued = _part_glued(words[at].text, known, table)
        at += 1
        option = _known_option(typed, table, known, where=where, value=glued, behind=words[at : at + 1])
        value = glued
        if option.value == "required" and not glued:
            value, at = _next_value(words, at, option, typed)
        given.append(Given(option.names[0], typed, value, option.bears))
    return given, words[at:]


def read_getopt_options(
    words: Sequence[Word], table: Sequence[Option], known: Sequence[str] | None, *, where: str
) -> tuple[list[Given], Sequence[Word]]:
    """Return the options in front of a command in GNU style, and the words of the command.

    Parameters
    ----------
    words : sequence of Word
        What follows ``srun``, or the words of an ``#SBATCH`` line.
    table : sequence of Option
        Options that can be read.
    known : sequence of str or None
        Options that this machine's launcher knows, one spelling of each is enough; None for all of the table.
    where : str
        Whose options they are, for messages: ``srun on Perlmutter``.

    Raises
    ------
    LaunchError
        For an option that is not known or stands for several, or that lacks its value.

    Examples
    --------
    >>> table = [Option(("-n", "--ntasks")), Option(("-c", "--cpus-per-task")), Option(("-l", "--label"), value="none")]
    >>> words = [Word(text=text) for text in ("-ln4", "--cpus=6", "./a.out", "-n")]
    >>> given, command = read_getopt_options(words, table, None, where="srun")
    >>> [(option.name, option.value) for option in given], [word.text for word in command]
    ([('-l', ''), ('-n', '4'), ('-c', '6')], ['./a.out', '-n'])
    """
    given: list[Given] = []
    at = 0
    while at < len(words) and _is_option(words[at]):
        text = words[at].text
        at += 1
        if text == "--":
            break
        if text.startswith("--"):
            typed, equals, value = text.partition("=")
            option = _long_option(typed, table, known, where=where, value=value, behind=words[at : at + 1])
            if equals and option.value == "none":
                raise LaunchError(flag=typed, value=value, rule="takes no value")
            if option.value == "required" and not equals:
                value, at = _next_value(words, at, option, typed)
            _refuse_unknown(words[at - 1], option, typed)
            given.append(Given(option.names[0], typed, value, option.bears))
            continue
        letters = text[1:]
        while letters:
            typed, letters = f"-{letters[0]}", letters[1:]
            option = _known_option(typed, table, known, where=where, value=letters, behind=words[at : at + 1])
            value = ""
            if option.value != "none":
                value, letters = letters, ""
                if option.value == "required" and not value:
                    value, at = _next_value(words, at, option, typed)
            given.append(Given(option.names[0], typed, value, option.bears))
    return given, words[at:]


def _is_option(word: Word) -> bool:
    """Whether a word is an option; one that is not known but begins like one is refused."""
    starts = word.text.startswith("-") and len(word.text) > 1
    if starts and word.unknown and not word.text.startswith("--"):
        raise LaunchError(flag=word.text, value="", rule=word.unknown)
    return starts


def _refuse_unknown(word: Word, option: Option, typed: str) -> None:
    """Refuse a value that only the running script knows, if it bears on the placement."""
    if word.unknown and option.bears:
        raise LaunchError(flag=typed, value=word.text.removeprefix(f"{typed}="), rule=word.unknown)


def _next_value(words: Sequence[Word], at: int, option: Option, typed: str) -> tuple[str, int]:
    """Return the value that stands in the next word, and the position behind it."""
    if at >= len(words):
        raise LaunchError(flag=typed, value="", rule="needs a value behind it")
    _refuse_unknown(words[at], option, typed)
    return words[at].text, at + 1


def _part_glued(text: str, known: Sequence[str], table: Sequence[Option]) -> tuple[str, str]:
    """Return an aprun option and the value glued to it; the longest option that fits holds."""
    names = set(known) | {name for option in table for name in option.names}
    for end in range(min(len(text), 3), 1, -1):
        if text[:end] in names:
            option = find(table, text[:end])
            if end == len(text) or option is None or option.value == "required":
                return text[:end], text[end:].removeprefix("=")
    return text.partition("=")[0], ""


def _known_option(
    typed: str,
    table: Sequence[Option],
    known: Sequence[str] | None,
    *,
    where: str,
    value: str,
    behind: Sequence[Word],
) -> Option:
    """Return the option of that spelling, or refuse it by name and value: the glued one, or the word behind it."""
    option = find(table, typed)
    names = () if option is None else option.names
    if option is not None and option.value == "required" and not value and behind:
        value = behind[0].text
    if known is not None and typed not in known and not any(name in known for name in names):
        option = None
    if option is None:
        raise LaunchError(
            flag=typed, value=value, rule=_not_an_option(typed, table, known, where=where), says_value=False
        )
    if option.refused:
        raise LaunchError(flag=typed, value=value, rule=option.refused, says_value=False)
    return option


def _long_option(
    typed: str,
    table: Sequence[Option],
    known: Sequence[str] | None,
    *,
    where: str,
    value: str,
    behind: Sequence[Word],
) -> Option:
    """Return the option with this long name or the only one that begins so."""
    if find(table, typed) is None and len(typed) > 2:
        usable = [option for option in table if known is None or any(name in known for name in option.names)]
        fitting = [(option, name) for option in usable for name in option.names if name.startswith(typed)]
        if len({option.names[0] for option, _ in fitting}) > 1:
            said = ", ".join(sorted(name for _, name in fitting))
            rule = f"may stand for {said}; write more of the name"
            raise LaunchError(flag=typed, value=value, rule=rule, says_value=False)
        if fitting:
            typed = fitting[0][1]
    return _known_option(typed, table, known, where=where, value=value, behind=behind)


def _not_an_option(typed: str, table: Sequence[Option], known: Sequence[str] | None, *, where: str) -> str:
    """Say that an option is not known, with the nearest one that is."""
    names = [name for option in table for name in option.names] if known is None else list(known)
    # A letter in the wrong case is the nearest of all; difflib would not see it.
    swapped = [name for name in names if name.lower() == typed.lower()]
    near = swapped or difflib.get_close_matches(typed, names, n=1, cutoff=0.6)
    hint = f"; did you mean {near[0]}?" if near else ""
    shown = f"; it knows {' '.join(sorted(names))}" if len(names) <= 30 and not near else ""
    return f"is not an option of {where}{hint}{shown}"
