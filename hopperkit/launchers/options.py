"""Options of launch lines: their table, and one parser for all launchers.

Their syntax differs. aprun takes short options of one or two letters (``-n``, ``-sn``), with the value after or
attached. srun and sbatch follow GNU getopt: ``-n4``, ``-n 4``, ``--ntasks=4``, and any unique prefix of a long name.
mpiexec takes whole names after one dash or two.

The table is ``options.csv``. aprun's options are those of NERSC's pages for Hopper and CLE 4.1's additions [1]_; names,
short forms and values of srun's and sbatch's are those of Slurm 23.11, as are the environment variables that provide
defaults for srun's options [2]_. mpiexec's are those of the manuals that `hopperkit.launchers.filling.mpiexec_layout`
names. `field` is the field of `Component` that an option sets directly, `most` the upper limit of a number.

References
----------
.. [1] NERSC, "Job Launch Command: aprun" and the aprun man page, web pages for Hopper.
.. [2] SchedMD, Slurm 23.11, srun and sbatch man pages; ``src/common/slurm_opt.c``; ``src/srun/opt.c`` (environment).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

from hopperkit.launchers.option_values import whole_number
from hopperkit.launchers.words.shell import Word
from hopperlib.package_data import load_csv_resource
from hopperlib.placement.components import Component, LaunchError
from hopperlib.schema import read_rows

_NOT_SBATCH = "is an option of srun, not of sbatch; write it on the srun line"
# Options whose value may be the next word.
_WITH_VALUE = ("required", "pair")
# Option syntax; sbatch and srun use GNU's, all others mpiexec's.
_STYLES = {"aprun": "aprun", "srun": "gnu", "sbatch": "gnu", "flux": "gnu"}


_Program = Literal["aprun", "srun", "sbatch", "pals", "openmpi", "mpich", "intelmpi", "ibrun", "flux"]
_Field = Literal[
    "node_list", "numa_nodes_per_node", "overcommit", "strict_memory", "tasks", "tasks_per_core", "tasks_per_node",
    "tasks_per_numa_node", "tasks_per_socket", "threads_per_core", "threads_per_task",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Option:
    """One option of a launcher, a row of ``options.csv``.

    Parameters
    ----------
    programs : tuple of str
        Launchers and batch systems that have it.
    names : tuple of str
        Spellings, the one used in reports first.
    value : str
        ``none``, ``required``, ``optional`` (attached or after ``=`` only) or ``pair`` (two words).
    bears : bool
        Whether it affects where tasks run.
    refused : str
        Why it cannot be read; empty if it can.
    variables : tuple of str
        Equivalent environment variables.
    field, most : str
        Field of a component that it sets directly, and the upper limit of a number, by name.
    """

    programs: tuple[_Program, ...]
    names: tuple[str, ...]
    value: Literal["none", "required", "optional", "pair"]
    bears: bool = False
    refused: str = ""
    variables: tuple[str, ...] = ()
    field: _Field | None = None
    most: Literal["cores", "cores_per_numa_node", "numa_nodes", "threads_per_core"] | None = None


class Given(NamedTuple):
    """An option on a line: its name in reports, its typed form, its value, and whether it affects where tasks run.

    `words` are the first of the words that it was read from and the one after the last; (0, 0) for none.
    """

    name: str
    typed: str
    value: str
    bears: bool = True
    words: tuple[int, int] = (0, 0)

    @property
    def inherited(self) -> bool:
        """Whether it comes from the environment instead of the line."""
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
        As for `hopperkit.launchers.option_values.whole_number`.

    Raises
    ------
    LaunchError
        If the value is not a whole number or is out of bounds.

    Examples
    --------
    >>> count_of({"-n": Given("-n", "--ntasks", "8")}, "-n")
    8
    """
    option = options.get(name)
    return None if option is None else whole_number(option.typed, option.value, low=low, high=high, bound=bound)


@cache
def option_table(program: str) -> tuple[Option, ...]:
    """Return the options of ``aprun``, ``srun``, ``sbatch``, or of the mpiexec of ``pals``, ``openmpi``, ``mpich`` or ``intelmpi``.

    sbatch's table also lists options of srun alone, so that errors can name them.

    Parameters
    ----------
    program : str
        Name of the program, such as ``srun``.

    Examples
    --------
    >>> [option.names for option in option_table("srun") if option.variables][:2]
    [('-n', '--ntasks'), ('-N', '--nodes')]
    """
    options = _options(program)
    if program != "sbatch":
        return options
    # The first row of a name applies: sbatch has a different --wait.
    others = (option for option in _options("srun") if option.programs == ("srun",))
    return (*options, *(replace(option, refused=_NOT_SBATCH) for option in others))


@cache
def _options(program: str) -> tuple[Option, ...]:
    """Return the rows of a program; reading those of others would take longer than parsing a line."""
    rows = load_csv_resource(__file__, "options.csv")
    return read_rows(Option, rows, name="options.csv", chosen=lambda row: program in row["programs"].split())


def programs(words: Sequence[Word]) -> list[list[Word]]:
    """Return the words of each program of a line, separated by colons.

    Parameters
    ----------
    words : sequence of Word
        Words of a command.

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


def read_fields(
    options: Mapping[str, Given], program: str, bounds: Mapping[str, tuple[int, str]] | None = None
) -> dict[str, Any]:
    """Return the fields of a component that options set directly: numbers and flags.

    Parameters
    ----------
    options : mapping
        Options by name.
    program : str
        As for `option_table`.
    bounds : mapping or None
        The most that a number may be, and where that comes from, by the name in the table.

    Raises
    ------
    LaunchError
        If a number is invalid or out of bounds.

    Examples
    --------
    >>> read_fields({"-n": Given("-n", "-n", "8"), "-O": Given("-O", "-O", "")}, "srun")
    {'tasks': 8, 'overcommit': True}
    """
    fields: dict[str, Any] = {}
    for option in option_table(program):
        given = options.get(option.names[0])
        if given is None or not option.field:
            continue
        if option.value == "none":
            fields[option.field] = True
        else:
            high, bound = (bounds or {}).get(option.most or "", (None, ""))
            fields[option.field] = whole_number(given.typed, given.value, high=high, bound=bound)
    return fields


def component_of(options: Iterable[Given], command: Sequence[Word], fields: Mapping[str, Any]) -> Component:
    """Return a component with its command, its options and their values.

    Parameters
    ----------
    options : iterable of Given
        Options of the line.
    command : sequence of Word
        Words of the program and its arguments.
    fields : mapping of str to Any
        Values of the component's fields, by name.

    Examples
    --------
    >>> component_of([Given("-n", "-n", "4")], [Word(text="./a.out")], {"tasks": 4}).options
    (('-n', '4'),)
    """
    given = tuple(options)
    return Component(
        command=tuple(word.text for word in command),
        shell=" ".join(word.shell for word in command),
        options=tuple((option.name, option.value) for option in given),
        idle_options=tuple(option.name for option in given if not option.bears),
        **fields,
    )


def read_options(
    words: Sequence[Word],
    table: Sequence[Option] | str,
    known: Sequence[str] | None = None,
    *,
    where: str,
    style: str = "",
    site: Sequence[str] | None = None,
) -> tuple[list[Given], Sequence[Word]]:
    """Return the options in front of a command, and the words of the command.

    Parameters
    ----------
    words : sequence of Word
        The words after the launcher's name, up to the next ``:``, or the words of an ``#SBATCH`` line.
    table : sequence of Option or str
        Options that can be read, or whose they are, as for `option_table`.
    known : sequence of str or None
        Options of this machine's launcher, one spelling of each; None for the whole table.
    where : str
        Whose options they are, for messages: ``srun on Perlmutter``.
    style : str
        Their syntax, ``aprun``, ``gnu`` or ``mpiexec``; default: that of the program named in `table`.
    site : sequence of str or None
        Long options that a site adds to Slurm's; None where the machine is not known, so that any name may be one.

    Raises
    ------
    LaunchError
        For an option that is unknown, ambiguous or lacks its value; for an unset variable among the options.

    Examples
    --------
    >>> def read(program, *texts):
    ...     given, command = read_options([Word(text=text) for text in texts], program, where=program)
    ...     return [(option.name, option.value) for option in given], [word.text for word in command]
    >>> read("aprun", "-n384", "-N", "12", "vasp", "-x")
    ([('-n', '384'), ('-N', '12')], ['vasp', '-x'])
    >>> read("srun", "-ln4", "--cpus-per-t=6", "./a.out", "-n")
    ([('-l', ''), ('-n', '4'), ('-c', '6')], ['./a.out', '-n'])
    >>> read("openmpi", "-np", "4", "--bind-to", "core", "./a.out")
    ([('-n', '4'), ('-bind-to', 'core')], ['./a.out'])
    """
    if isinstance(table, str):
        style, table = _STYLES.get(table, "mpiexec"), option_table(table)
    line = _Line(words, table, known, where, site)
    while (text := line.next_option()) and not (style == "gnu" and text == "--"):
        if style == "gnu" and text.startswith("--"):
            line.take_long(text)
        elif style == "gnu":
            line.take_letters(text[1:])
        else:
            typed, value = line.cut_glued(text) if style == "aprun" else text.partition("=")[::2]
            name = typed if style == "aprun" else f"-{typed.lstrip('-')}"
            line.take(line.known_option(name, value, typed), typed, value, attached=bool(value))
    command = line.words[line.at :]
    if where and command and command[0].unknown and _holds_options(command, table, known, style):
        rule = f"is at the position of an option, and {command[0].unknown}"
        raise LaunchError(command[0].text, "", rule)
    return line.given, command


def _holds_options(command: Sequence[Word], table: Sequence[Option], known: Sequence[str] | None, style: str) -> bool:
    """Whether unknown words before a command belong to the line and not to a program: by their name, or because options
    and a program follow.
    """
    if len(command) > 1 and re.search(r"(arg|opt|option|flag)s?\}?$", command[0].text, re.IGNORECASE):
        return True
    with suppress(LaunchError):
        given, program = read_options(command[1:], table, known, where="", style=style, site=())
        return bool(given and program and not program[0].unknown)
    return False


def read_programs(
    words: Sequence[Word],
    program: str,
    known: Sequence[str] | None = None,
    *,
    where: str,
    site: Sequence[str] | None = None,
) -> Iterator[tuple[list[Given], Sequence[Word]]]:
    """Yield the options and the command of each program of a line; the arguments are those of `read_options`.

    Parameters
    ----------
    words : sequence of Word
        Words of the line after the launcher.
    program : str
        Launcher.
    known : sequence of str or None
        Options that it has; None for all.
    where : str
        Name of the line for messages.
    site : sequence of str or None
        Options defined by the site.

    Raises
    ------
    LaunchError
        As there, and for a colon without a program next to it.

    Examples
    --------
    >>> line = [Word(text=text) for text in ("-n", "4", "./a", ":", "-n", "2", "./b")]
    >>> [given[0].value for given, _ in read_programs(line, "srun", where="srun")]
    ['4', '2']
    """
    parts = programs(words)
    for part in parts:
        given, command = read_options(part, program, known, where=where, site=site)
        if len(parts) > 1 and not command:
            raise LaunchError(":", "", "separates two programs, but one side of it has no program")
        yield given, command


class _Line:
    """The words of a line while its options are read."""

    def __init__(
        self,
        words: Sequence[Word],
        table: Sequence[Option],
        known: Sequence[str] | None,
        where: str,
        site: Sequence[str] | None,
    ) -> None:
        self.words, self.known, self.where, self.site, self.at = words, known, where, site, 0
        # Where the option begins that is being read.
        self.begin = 0
        self.given: list[Given] = []
        # The first of a name applies.
        self.options = {name: option for option in reversed(table) for name in option.names}

    def is_known(self, option: Option) -> bool:
        """Whether this machine's launcher has an option."""
        return self.known is None or any(name in self.known for name in option.names)

    def next_option(self) -> str:
        """Return the next word if it is an option, otherwise None."""
        word = self.words[self.at] if self.at < len(self.words) else Word(text="")
        if not word.text.startswith("-") or len(word.text) < 2:
            return ""
        if word.unknown and not word.text.startswith("--"):
            raise LaunchError(word.text, "", word.unknown)
        self.begin = self.at
        self.at += 1
        return word.text

    def cut_glued(self, text: str) -> tuple[str, str]:
        """Return an option of aprun and its attached value; the longest match applies: -sn2 is -sn, -S3 is -S."""
        names = {*(self.known or ()), *self.options}
        for end in range(min(len(text), 3), 1, -1):
            option = self.options.get(text[:end])
            if text[:end] in names and (end == len(text) or option is None or option.value == "required"):
                return text[:end], text[end:].removeprefix("=")
        return text.partition("=")[0], ""

    def take_letters(self, letters: str) -> None:
        """Read letters after one dash: flags may be combined, and the first option with a value takes the rest."""
        while letters:
            typed, letters = f"-{letters[0]}", letters[1:]
            option = self.known_option(typed, letters)
            value, letters = ("", letters) if option.value == "none" else (letters, "")
            self.take(option, typed, value, attached=bool(value))

    def take_long(self, text: str) -> None:
        """Read the option with this long name or the only one that begins with it; otherwise one that a site may have
        added.
        """
        typed, equals, value = text.partition("=")
        name = typed
        if typed not in self.options:
            fitting = {name: own for name, own in self.options.items() if name.startswith(typed) and self.is_known(own)}
            if len({option.names[0] for option in fitting.values()}) > 1:
                rule = f"is ambiguous: {', '.join(sorted(fitting))}; write more of the name"
                raise LaunchError(typed, value, rule, shown="")
            name = next(iter(fitting), typed)
        if name not in self.options and self.may_be_the_sites(typed):
            self.take_sites(typed, value, attached=bool(equals))
            return
        option = self.known_option(name, value, name)
        if equals and option.value == "none":
            raise LaunchError(typed, value, "takes no value")
        self.take(option, typed, value, attached=bool(equals))

    def take_sites(self, typed: str, value: str, *, attached: bool) -> None:
        """Read a site option; the next word is its value if a command can follow."""
        following = [word.text for word in self.words[self.at : self.at + 2]]
        if not attached and len(following) == 2 and not following[0].startswith(("-", ".", "/")):
            value = following[0]
            self.at += 1
        self.given.append(Given(typed, typed, value, bears=False, words=(self.begin, self.at)))

    def may_be_the_sites(self, typed: str) -> bool:
        """Whether a long name may be an option that the site added; if the machine is unknown, unless it is a typing error."""
        if self.site is not None:
            return typed in self.site
        return not _did_you_mean(typed, [option for option in self.options if option[1] == "-"], 0.85)

    def take(self, option: Option, typed: str, value: str, *, attached: bool) -> None:
        """Note an option; a value that it needs and that is not attached to it is the next word, or the next two."""
        word = self.words[self.at - 1]
        if option.value in _WITH_VALUE and not attached:
            if self.at == len(self.words):
                raise LaunchError(typed, "", "needs a value")
            word = self.words[self.at]
            value = word.text
            self.at += 1
            if option.value == "pair" and "=" not in value and self.at < len(self.words):
                value += f"={self.words[self.at].text}"
                self.at += 1
        if word.unknown and option.bears:
            raise LaunchError(typed, word.text.removeprefix(f"{typed}="), word.unknown)
        self.given.append(Given(option.names[0], typed, value, option.bears, (self.begin, self.at)))

    def known_option(self, name: str, value: str, typed: str = "") -> Option:
        """Return the option of that name, or refuse it as typed with its value: the attached one, or the next word."""
        option, typed = self.options.get(name), typed or name
        if option and option.value in _WITH_VALUE and not value and self.at < len(self.words):
            value = self.words[self.at].text
        if option is None or not (self.is_known(option) or name in (self.known or ())):
            raise LaunchError(typed, value, self._not_an_option(typed), shown="")
        if option.refused:
            raise LaunchError(typed, value, option.refused, shown="")
        return option

    def _not_an_option(self, typed: str) -> str:
        """Say that an option is not known, with the nearest one that is."""
        names = list(self.options) if self.known is None else list(self.known)
        near = _did_you_mean(typed, names, 0.6)
        hint = f"; did you mean {near[0]}?" if near else ""
        shown = f"; it has {' '.join(sorted(names))}" if len(names) <= 30 and not near else ""
        return f"is not an option of {self.where}{hint}{shown}"


def _did_you_mean(typed: str, names: Sequence[str], cutoff: float) -> list[str]:
    """Return the name of which this is a misspelling, if any."""
    import difflib

    # A letter in the wrong case is the nearest of all; difflib would not see it.
    swapped = [name for name in names if name.lower() == typed.lower()]
    return swapped or difflib.get_close_matches(typed, names, n=1, cutoff=cutoff)
