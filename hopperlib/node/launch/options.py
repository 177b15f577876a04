"""Options of a launcher line: the table of what there is, and two ways of reading them.

aprun takes short options of one or two letters (``-n``, ``-sn``), their value
behind them or glued on. srun and sbatch follow GNU getopt: ``-n4``, ``-n 4``,
``--ntasks=4``, and any unmistakable beginning of a long name.

The table is ``options.csv``. aprun's options are those of NERSC's pages for
Hopper and what CLE 4.1 adds to them [1]_; names, short forms and values of
srun's and sbatch's are those of Slurm 23.11, and so are the variables from
which srun takes an option that the line does not have [2]_.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and the aprun man page, web pages for Hopper.
.. [2] SchedMD, Slurm 23.11, srun and sbatch man pages; ``src/common/slurm_opt.c``; ``src/srun/opt.c`` (environment).
"""

from __future__ import annotations

import csv
import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from hopperlib.node.launch.components import LaunchError
from hopperlib.node.launch.option_values import whole_number
from hopperlib.node.launch.shell import Word

__all__ = ["Given", "Option", "count_of", "option_table", "programs", "read_aprun_options", "read_getopt_options"]

_NOT_SBATCH = "is an option of srun, not of sbatch; write it on the srun line"


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
    variables : tuple of str
        Variables of the environment that stand for it.
    """

    names: tuple[str, ...]
    value: str = "required"
    bears: bool = False
    refused: str = ""
    variables: tuple[str, ...] = ()


class Given(NamedTuple):
    """An option on a line: its name in reports, as it was typed, its value, whether it bears on where tasks run."""

    name: str
    typed: str
    value: str
    bears: bool = True

    @property
    def inherited(self) -> bool:
        """Whether it stands in the environment and not on the line."""
        return not self.typed.startswith("-")

    def refusal(self, rule: str, words: str | None = None) -> LaunchError:
        """Return the error of this option's value."""
        return LaunchError(self.typed, self.value, rule, words=words)


def count_of(
    options: Mapping[str, Given], name: str, *, high: int | None = None, bound: str = "", low: int = 1
) -> int | None:
    """Return the whole number that an option gives; None without the option.

    Parameters
    ----------
    options : mapping
        Options by name.
    name : str
    high, bound, low : int, str, int
        As for `hopperlib.node.launch.option_values.whole_number`.

    Raises
    ------
    LaunchError
        If the value is no whole number or is out of bounds.

    Examples
    --------
    >>> count_of({"-n": Given("-n", "--ntasks", "8")}, "-n")
    8
    """
    option = options.get(name)
    return None if option is None else whole_number(option.typed, option.value, low=low, high=high, bound=bound)


@cache
def option_table(program: str) -> tuple[Option, ...]:
    """Return the options of ``aprun``, ``srun`` or ``sbatch``.

    sbatch's table names those of srun alone too, to refuse them by name.

    Examples
    --------
    >>> [option.names for option in option_table("srun") if option.variables][:2]
    [('-n', '--ntasks'), ('-N', '--nodes')]
    """
    own, others = [], []
    for row in _rows():
        names, variables = tuple(row["names"].split()), tuple(row["variables"].split())
        option = Option(names, row["value"], row["bears"] == "yes", row["refused"], variables)
        if program in row["programs"].split():
            own.append(option)
        elif program == "sbatch" and row["programs"] == "srun":
            others.append(option._replace(refused=_NOT_SBATCH))
    # The first of a name holds: sbatch has a --wait of its own.
    return (*own, *others)


@cache
def _rows() -> tuple[dict[str, str], ...]:
    """Return the lines of the table."""
    with open(os.path.join(os.path.dirname(__file__), "options.csv"), encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def programs(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words of each program of a line, parted by colons.

    Examples
    --------
    >>> [[word.text for word in part] for part in programs([Word(text="./a"), Word(text=":"), Word(text="./b")])]
    [['./a'], ['./b']]
    """
    parts: list[list[Word]] = [[]]
    for word in words:
        if word.text == ":" and not word.unknown:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


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
    >>> given, command = read_aprun_options(words, option_table("aprun"), ["-n", "-N"], where="aprun")
    >>> [(option.name, option.value) for option in given], [word.text for word in command]
    ([('-n', '384'), ('-N', '12')], ['vasp', '-x'])
    """
    line = _Line(words, table, known, where)
    names = {*known, *(name for option in table for name in option.names)}
    while text := line.next_option():
        typed, value = text.partition("=")[0], ""
        # The longest option that fits holds: -sn2 is -sn with a value, -S3 is -S.
        for end in range(min(len(text), 3), 1, -1):
            option = line.find(text[:end])
            if text[:end] in names and (end == len(text) or option is None or option.value == "required"):
                typed, value = text[:end], text[end:].removeprefix("=")
                break
        line.take(line.known_option(typed, value), typed, value, attached=bool(value))
    return line.given, line.words[line.at :]


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
    >>> words = [Word(text=text) for text in ("-ln4", "--cpus-per-t=6", "./a.out", "-n")]
    >>> given, command = read_getopt_options(words, option_table("srun"), None, where="srun")
    >>> [(option.name, option.value) for option in given], [word.text for word in command]
    ([('-l', ''), ('-n', '4'), ('-c', '6')], ['./a.out', '-n'])
    """
    line = _Line(words, table, known, where)
    while (text := line.next_option()) and text != "--":
        if text.startswith("--"):
            typed, equals, value = text.partition("=")
            option = line.long_option(typed, value)
            if option is None:
                line.take_unknown(typed, value, attached=bool(equals))
                continue
            if equals and option.value == "none":
                raise LaunchError(typed, value, "takes no value")
            line.take(option, typed, value, attached=bool(equals))
            continue
        letters = text[1:]
        while letters:
            typed, letters = f"-{letters[0]}", letters[1:]
            option = line.known_option(typed, letters)
            # Flags may be written together; the first option with a value takes the rest of the word.
            value, letters = ("", letters) if option.value == "none" else (letters, "")
            line.take(option, typed, value, attached=bool(value))
    return line.given, line.words[line.at :]


@dataclass(slots=True)
class _Line:
    """The words of a line while its options are read."""

    words: Sequence[Word]
    table: Sequence[Option]
    known: Sequence[str] | None
    where: str
    at: int = 0
    given: list[Given] = field(default_factory=list)

    def find(self, typed: str) -> Option | None:
        """Return the option with this spelling, if there is one."""
        return next((option for option in self.table if typed in option.names), None)

    def is_known(self, option: Option, typed: str) -> bool:
        """Whether this machine's launcher knows an option."""
        return self.known is None or typed in self.known or any(name in self.known for name in option.names)

    def next_option(self) -> str:
        """Return the next word if it is an option, else nothing."""
        word = self.words[self.at] if self.at < len(self.words) else Word(text="")
        if not word.text.startswith("-") or len(word.text) < 2:
            return ""
        if word.unknown and not word.text.startswith("--"):
            raise LaunchError(word.text, "", word.unknown)
        self.at += 1
        return word.text

    def take(self, option: Option, typed: str, value: str, *, attached: bool) -> None:
        """Note an option; a value that it needs and that is not attached to it is the next word."""
        word = self.words[self.at - 1]
        if option.value == "required" and not attached:
            if self.at == len(self.words):
                raise LaunchError(typed, "", "needs a value behind it")
            word = self.words[self.at]
            value = word.text
            self.at += 1
        if word.unknown and option.bears:
            raise LaunchError(typed, word.text.removeprefix(f"{typed}="), word.unknown)
        self.given.append(Given(option.names[0], typed, value, option.bears))

    def known_option(self, typed: str, value: str) -> Option:
        """Return the option of that spelling, or refuse it by name and value: the attached one, or the next word."""
        option = self.find(typed)
        if option and option.value == "required" and not value and self.at < len(self.words):
            value = self.words[self.at].text
        if option is None or not self.is_known(option, typed):
            raise LaunchError(typed, value, self._not_an_option(typed), shown="")
        if option.refused:
            raise LaunchError(typed, value, option.refused, shown="")
        return option

    def take_unknown(self, typed: str, value: str, *, attached: bool) -> None:
        """Note an option that a site may have added; a word behind it is its value if a command can follow."""
        behind = [word.text for word in self.words[self.at : self.at + 2]]
        if not attached and len(behind) == 2 and not behind[0].startswith(("-", ".", "/")):
            value = behind[0]
            self.at += 1
        self.given.append(Given(typed, typed, value, bears=False))

    def long_option(self, typed: str, value: str) -> Option | None:
        """Return the option with this long name or the only one that begins so; None if it may be one of the site's."""
        if self.find(typed) is None and len(typed) > 2:
            usable = [option for option in self.table if self.is_known(option, option.names[0])]
            fitting = {name: option for option in usable for name in option.names if name.startswith(typed)}
            if len({option.names[0] for option in fitting.values()}) > 1:
                rule = f"may stand for {', '.join(sorted(fitting))}; write more of the name"
                raise LaunchError(typed, value, rule, shown="")
            typed = next(iter(fitting), typed)
        if self.find(typed) is None and not self._slip_of(typed):
            return None
        return self.known_option(typed, value)

    def _slip_of(self, typed: str) -> str:
        """Return the known option that a name is a slip of the pen for; empty if it is a name of its own."""
        import difflib

        names = [name for option in self.table for name in option.names if name.startswith("--")]
        # A letter in the wrong case is the nearest of all; difflib would not see it.
        swapped = [name for name in names if name.lower() == typed.lower()]
        return next(iter(swapped or difflib.get_close_matches(typed, names, n=1, cutoff=0.85)), "")

    def _not_an_option(self, typed: str) -> str:
        """Say that an option is not known, with the nearest one that is."""
        import difflib

        names = [name for option in self.table for name in option.names] if self.known is None else list(self.known)
        # A letter in the wrong case is the nearest of all; difflib would not see it.
        swapped = [name for name in names if name.lower() == typed.lower()]
        near = swapped or difflib.get_close_matches(typed, names, n=1, cutoff=0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        shown = f"; it knows {' '.join(sorted(names))}" if len(names) <= 30 and not near else ""
        return f"is not an option of {self.where}{hint}{shown}"
