"""Changes of options in a launch line: a few edits of its text, with everything else unchanged.

Each option keeps the words from which it was read, and each word its position. To set an option is to replace its value
there; to remove one is to cut its words and the blanks before them; a new one goes after the last option of its
program. Repeated options, quotes, continued lines, redirections and comments are never written again.
"""

import re
import shlex
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from hopperkit.launchers.options import Given, option_table, programs, read_options
from hopperkit.launchers.scripts import LaunchLine
from hopperkit.launchers.words.shell import Edit, Word
from hopperlib.placement.components import LauncherKind, LaunchError

Changes = Mapping[str, "str | None"]
"""Options and their new values; None removes one."""


class ProgramOptions(NamedTuple):
    """Options of one program of a line, and the place of its first word among the words of the line."""

    first: int
    given: tuple[Given, ...]

    def effective(self, changes: Changes, launcher: LauncherKind) -> dict[str, str | None]:
        """Return the changes that change something, by the option's name in reports.

        Parameters
        ----------
        changes : mapping
            Any spelling of an option, and its new value or None.
        launcher : str

        Examples
        --------
        >>> program = ProgramOptions(0, (Given("-n", "--ntasks", "8"),))
        >>> program.effective({"-n": "8", "-c": "4", "-m": None}, "srun")
        {'-c': '4'}
        """
        now = {given.name: given.value for given in self.given}
        named = {_report_name(name, launcher): value for name, value in changes.items()}
        return {name: value for name, value in named.items() if now.get(name) != value}


def _report_name(name: str, launcher: LauncherKind) -> str:
    """Return the name in reports of an option in any spelling."""
    spelled = name if launcher in ("aprun", "srun", "flux") else f"-{name.lstrip('-')}"
    return next((option.names[0] for option in option_table(launcher) if spelled in option.names), name)


def read_line_options(line: LaunchLine, launcher: LauncherKind) -> tuple[ProgramOptions, ...] | None:
    """Return the options typed on a line, by program; None if unknown.

    Parameters
    ----------
    line : LaunchLine
    launcher : str

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> (line,) = read_script("aprun -n 4 ./a : -n 2 ./b").lines
    >>> [(program.first, len(program.given)) for program in read_line_options(line, "aprun")]
    [(0, 1), (4, 1)]
    """
    if line.words and line.words[0].unknown and line.words[0].text.startswith("$"):
        return None
    read, first = [], 0
    for part in programs(line.words):
        try:
            read.append(ProgramOptions(first, tuple(read_options(part, launcher, where="")[0])))
        except LaunchError:
            return None
        first += len(part) + 1
    return tuple(read)


def edit_options(
    line: LaunchLine, read: Sequence[ProgramOptions], changes: Sequence[Changes], launcher: LauncherKind
) -> tuple[Edit, ...] | None:
    """Return the edits of a script that change options of one of its lines; None if the line cannot be edited in place.

    Parameters
    ----------
    line : LaunchLine
    read : sequence of ProgramOptions
        What `read_line_options` returns for it.
    changes : sequence of mapping
        Changes to each program, in order.
    launcher : str

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> script = read_script("aprun -n 16 -d1 -e A=1 -e B='x y' ./a")
    >>> (line,) = script.lines
    >>> edits = edit_options(line, read_line_options(line, "aprun"), [{"-d": "4", "-S": "2", "-n": "16"}], "aprun")
    >>> script.edited(edits).text
    "aprun -n 16 -d4 -e A=1 -e B='x y' -S 2 ./a"
    """
    if len(line.places) != len(line.words) + 1:
        return None
    words = _Words(line.words)
    for program, change in zip(read, changes, strict=True):
        for name, value in program.effective(change, launcher).items():
            typed = [given for given in program.given if given.name == name]
            if value is None:
                for given in typed:
                    words.remove(program, given)
            elif typed and (typed[-1].value or len(_words_of(program, typed[-1])) > 1):
                words.set_value(program, typed[-1], value)
            else:
                words.add(program, option_text(_spelling(name, launcher), value))
    return words.edits(line.places)


def _spelling(name: str, launcher: LauncherKind) -> str:
    """Return the spelling of a new option; mpiexec's long names are documented with two dashes."""
    if launcher in ("aprun", "srun", "flux", "ibrun"):
        return name
    names = next((option.names for option in option_table(launcher) if name == option.names[0]), (name,))
    long = next((each for each in names if len(each) > 2), "")
    return f"-{long}" if long else name


def option_text(name: str, value: str) -> str:
    """Return an option as typed; aprun's options have one dash, and their value follows after a space.

    Parameters
    ----------
    name : str
        Name of the option.
    value : str
        Its value; None for an option without one.

    Examples
    --------
    >>> option_text("-n", "4"), option_text("--exact", ""), option_text("--comment", "of $USER today")
    ('-n 4', '--exact', '--comment="of $USER today"')
    """
    if not value:
        return name
    return f"{name}={_quoted(value)}" if name.startswith("--") else f"{name} {_quoted(value)}"


def _quoted(value: str) -> str:
    """Return a value quoted for a shell; values known only at run time stay expandable."""
    if "'" in value or not re.search(r"[$`]", value):
        return shlex.quote(value)
    plain = re.fullmatch(r"[A-Za-z0-9_./{}:%+=,@$-]+", value) or value.startswith('"')
    return value if plain else f'"{value}"'


def _words_of(program: ProgramOptions, given: Given) -> range:
    """Return the places among the words of the line from which an option was read."""
    first, end = given.words
    return range(program.first + first, program.first + end)


class _Words:
    """Words of a line (from 0, the launcher's name being -1) while options of it are changed."""

    def __init__(self, words: Sequence[Word]) -> None:
        self.words = words
        # New text of a word, None to delete it; text inserted after a word.
        self.new: dict[int, str | None] = {}
        self.added: defaultdict[int, list[str]] = defaultdict(list)
        # New values that are glued to their option, by word; letters that go from words with several.
        self.glued: dict[int, str] = {}
        self.removed: set[Given] = set()

    def set_value(self, program: ProgramOptions, given: Given, value: str) -> None:
        """Replace the value of an option, keeping how it is spelled."""
        at = _words_of(program, given)
        if len(at) > 1:
            self.new[at[1]] = _quoted(value)
        else:
            self.glued[at[0]] = value
            self._rewrite(program, at[0])

    def remove(self, program: ProgramOptions, given: Given) -> None:
        """Cut the words of an option; of letters written together, only its letter and its value."""
        first, *others = _words_of(program, given)
        self.new |= dict.fromkeys(others)
        self.removed.add(given)
        self._rewrite(program, first)

    def _rewrite(self, program: ProgramOptions, at: int) -> None:
        """Set the new text of a word with one option, or with letters written together, the last perhaps with its value."""
        together = [each for each in program.given if program.first + each.words[0] == at]
        kept = [each for each in together if each not in self.removed]
        last, head = together[-1], self.words[at].text
        value = last.value if len(_words_of(program, last)) == 1 else ""
        head = head.removesuffix(value)
        if len(kept) < len(together):
            head = "-" + "".join(each.typed[1:] for each in kept)
        value = self.glued.get(at, value)
        self.new[at] = head + (_quoted(value) if value and last in kept else "") if kept else None

    def add(self, program: ProgramOptions, text: str) -> None:
        """Add an option after the last one of a program."""
        last = program.given[-1].words[1] if program.given else 0
        self.added[program.first + last - 1].append(text)

    def edits(self, places: Sequence[tuple[int, int]]) -> tuple[Edit, ...] | None:
        """Return the edits of the text; words from one variable are written out if one of them changes."""
        edits = []
        for (start, end), group in groupby(range(-1, len(self.words)), key=lambda at: places[at + 1]):
            ats = list(group)
            last = self.added.get(ats[-1], [])
            if any(at in self.new for at in ats) or any(at in self.added for at in ats[:-1]):
                if -1 in ats:
                    # The variable that holds the launcher may hold a wrapper in front of it too.
                    return None
                pieces: list[str] = []
                for at in ats:
                    text = self.new.get(at, self.words[at].shell)
                    pieces += () if text is None else (text,)
                    pieces += self.added.get(at, ()) if at != ats[-1] else ()
                edits.append(Edit(start, end, " ".join(pieces)))
            # A new option includes its blank: blanks before a deleted word are deleted with it.
            edits += [Edit(end, end, "".join(f" {text}" for text in last))] if last else []
        return tuple(edits)


def one_task_a_node(launcher: LauncherKind, nodes: int) -> str:
    """Return the start of a line that runs a command once on each node of a job.

    Parameters
    ----------
    launcher : str
    nodes : int
        Nodes of the job.

    Examples
    --------
    >>> one_task_a_node("aprun", 16), one_task_a_node("pals", 16)
    ('aprun -n 16 -N 1', 'mpiexec -n 16 --ppn 1')
    """
    lines = {
        "aprun": f"aprun -n {nodes} -N 1",
        "srun": "srun --ntasks-per-node=1",
        "pals": f"mpiexec -n {nodes} --ppn 1",
        "openmpi": "mpirun --map-by ppr:1:node",
        # As many tasks as the job has: one on each node where it requests them so.
        "ibrun": "ibrun",
        "flux": f"flux run -N {nodes} --tasks-per-node=1",
    }
    return lines.get(launcher, f"mpiexec -n {nodes} -ppn 1")
