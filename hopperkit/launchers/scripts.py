"""A batch script, a shell session or a bare launch line, read once.

`read_script` cuts the text into statements as a shell does and walks over them from top to bottom: directives,
variables, modules and every launch line with the environment that it would see. Conditions and loops are not evaluated:
each launch line counts once, with the conditions and loops around it. No machine is needed;
`hopperkit.launchers.reader` interprets a line for one.
"""

import math
import re
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from posixpath import basename
from typing import NamedTuple

from hopperkit.launchers.words.embedded import embedded_text
from hopperkit.launchers.words.shell import (
    Edit,
    Part,
    RawWord,
    Statement,
    Unknown,
    Variables,
    Word,
    apply_edits,
    expand,
    joined,
    split,
)
from hopperlib.placement.components import DIRECTIVES, BatchSystem, LaunchError

# Longest text taken. A job script is a few thousand characters.
_MAX_CHARACTERS = 500_000
# Total limit on characters in its variables and the words expanded from them.
_MAX_GROWTH = 2_000_000

_MPIEXEC = ("mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun", "prun")
_LAUNCHERS = ("aprun", "srun", *_MPIEXEC, "ibrun", "flux")
_MAX_EVAL_DEPTH = 3

# Words that may precede a command without changing the program.
_PREFIXES = {
    *("do", "then", "else", "elif", "if", "while", "until", "{", "!", "time", "nohup", "exec", "env", "nice"),
    *("timeout", "stdbuf", "command", "eval", "ccmrun", "numactl", "taskset"),
}

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
# A prompt ends in a dollar or percent sign and a blank, which no shell word does; one with > is accepted only before a
# launcher, or after a word with a host name.
_PROMPT = re.compile(
    r"^[ \t]*(?:\([^()\n]*\)[ \t]*)?(?:\[[^\[\]\n]*\]|[\w.@:~/-]*(?:[ \t][\w~/.-]*\])?)[$%][ \t]+(?=\S)"
    r"|^\++[ \t]+(?=\S)|^[ \t]*[\w.-]+@[\w.-]+(?::[\w~/.-]*)?[ \t]?[>#][ \t]+(?=\S)"
    r"|^[ \t]*(?:[\w.@:~/\[\]()-]*[$%>][ \t]*)*[\w.@:~/\[\]()-]*(?:[$%>]|\++)[ \t]+(?=(?:\S*/)?(?:aprun|srun|mpiexec|mpirun)\b)",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"#(PBS|SBATCH|BSUB|COBALT|[Ff][Ll][Uu][Xx]:)(?:[ \t]+(.*))?")
_SYSTEMS = {begin.upper(): system for system, begin in DIRECTIVES.items()}


class Directive(NamedTuple):
    """An option that a script gives to the batch system.

    Parameters
    ----------
    system : str
        ``"pbs"``, ``"slurm"``, ``"lsf"``, ``"cobalt"`` or ``"flux"``.
    option, value : str
        As typed: ``--nodes`` and ``2``; an empty value for a flag.
    line : int
        Line of the text, from 1.
    words : tuple of Word
        Its words.
    """

    system: BatchSystem
    option: str
    value: str
    line: int
    words: tuple[Word, ...] = ()


class Variable(NamedTuple):
    """A variable of a script: name, value (None if known only at run time), line, whether it is exported."""

    name: str
    value: str | None
    line: int
    exported: bool


class Module(NamedTuple):
    """A module that a script names, and the line of the text."""

    name: str
    line: int


class LaunchLine(NamedTuple):
    """One call of a launcher, with its arguments after shell expansion.

    Parameters
    ----------
    launcher : str
        ``"aprun"``, ``"srun"`` or a name of mpiexec.
    words : tuple of Word
        Words after the launcher's name.
    text : str
        The line, on one line, variables replaced.
    environment : mapping
        Variables that the launcher sees.
    unexported : mapping
        Variables that are set but not visible to it.
    line : int
        Line of the text on which it begins, from 1.
    redirections : tuple of str
        ``>out``, ``2>&1``.
    inside : tuple of str
        The loops and conditions around it, the outermost first, as typed.
    background : bool
        Whether the script continues without waiting for it.
    times : int
        How often the loops around it run it, as far as that can be read.
    group : int
        Number of its group: lines started in the background run with the others up to the next ``wait``.
    span : (int, int) or None
        Its position in the text, from the launcher's name to its last word; None inside ``eval``.
    places : tuple of (int, int)
        Where the launcher's name and each of the words were typed; words out of one variable share its place.
    """

    launcher: str
    words: tuple[Word, ...]
    text: str
    environment: Variables
    unexported: Variables
    line: int = 1
    redirections: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    background: bool = False
    times: int = 1
    group: int = 0
    span: tuple[int, int] | None = None
    places: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Script:
    r"""A text that has been read, without any machine.

    Parameters
    ----------
    raw : tuple of str
        The original lines.
    text : str
        The text without shell prompts and Markdown fences, line for line.
    directives : tuple of Directive
        Options of the ``#PBS``, ``#SBATCH``, ``#BSUB``, ``#COBALT`` and ``#flux:`` lines in front of the first command.
    late_directives : tuple of (int, str)
        Directives after the first command, which are ignored: line and text.
    variables : tuple of Variable
        Variables that it sets, in order.
    modules : tuple of Module
    lines : tuple of LaunchLine
        Its launch lines, in order.
    statements : tuple of Statement
        The statements of the shell text.
    job_variables : mapping
        Variables that the batch system sets, where they are known.

    Examples
    --------
    >>> job = "#SBATCH -N 2\nexport OMP_NUM_THREADS=4\nfor i in 1 2; do\n  time srun -c 4 vasp >log\ndone"
    >>> script = read_script(job)
    >>> script.directives[0][:4], script.variables[0][:3]
    (('slurm', '-N', '2', 1), ('OMP_NUM_THREADS', '4', 2))
    >>> line = script.lines[0]
    >>> line.text, line.line, line.redirections, line.inside, line.times
    ('srun -c 4 vasp', 4, ('>log',), ('for i in 1 2',), 2)
    """

    raw: tuple[str, ...]
    text: str
    directives: tuple[Directive, ...]
    late_directives: tuple[tuple[int, str], ...]
    variables: tuple[Variable, ...]
    modules: tuple[Module, ...]
    lines: tuple[LaunchLine, ...]
    statements: tuple[Statement, ...]
    job_variables: Mapping[str, str] = field(default_factory=dict)

    def in_job(self, variables: Mapping[str, str]) -> "Script":
        """Return the script as it runs in a job, for which the batch system sets some variables.

        Examples
        --------
        >>> script = read_script("srun -n $SLURM_NTASKS ./a.out")
        >>> script.in_job({"SLURM_NTASKS": "8"}).lines[0].text
        'srun -n 8 ./a.out'
        """
        # Only a text that may read one of them (PBS_, SLURM_, nvidia-smi) needs a second walk over its statements.
        if any(re.split("(?<=_)| ", name)[0] in self.text for name in variables):
            lines = _lines_of(self.text, self.statements, _Shell(variables))
        else:
            lines = tuple(line._replace(environment={**variables, **line.environment}) for line in self.lines)
        return replace(self, lines=lines, job_variables=variables)

    def edited(self, edits: Sequence[Edit]) -> "Script":
        r"""Return the script with some characters of its text replaced, read again.

        Examples
        --------
        >>> from hopperkit.launchers.words.shell import Edit
        >>> script = read_script("#SBATCH -N 2\ntime srun -n 8 ./a.out >log &\nwait\n")
        >>> script.edited([Edit(27, 27, " -c 4")]).line_as_typed(0)
        'time srun -n 8 -c 4 ./a.out >log &'
        """
        changed = apply_edits(self.text, edits)
        statements = tuple(split(changed))
        lines = _lines_of(changed, statements, _Shell(self.job_variables))
        return replace(self, text=changed, statements=statements, lines=lines)

    def line_as_typed(self, number: int) -> str:
        """Return the lines of the text that form a launch line, with its wrappers, redirections and pipes."""
        line = self.lines[number]
        first, last = line.span or (0, 0)
        end = self.text.find("\n", last)
        return self.text[self.text.rfind("\n", 0, first) + 1 : end if end >= 0 else None].strip() if last else line.text


def read_script(text: str) -> Script:
    r"""Parse a batch script, a shell session or a launch line, without a machine.

    Parameters
    ----------
    text : str
        The text, with prompts, Markdown fences and Windows line ends as people paste it.

    Raises
    ------
    LaunchError
        If the text is far too long for a job script.

    Examples
    --------
    >>> from hopperkit.launchers import read_script
    >>> script = read_script("#PBS -l mppwidth=48\nexport OMP_NUM_THREADS=6\naprun -n 8 -d 6 ./a.out &\nwait\n")
    >>> [(directive.option, directive.value) for directive in script.directives]
    [('-l', 'mppwidth=48')]
    >>> [(line.line, line.text, line.background) for line in script.lines]
    [(3, 'aprun -n 8 -d 6 ./a.out', True)]

    References
    ----------
    POSIX.1-2017, "Shell Command Language"; SchedMD, Slurm 23.11, sbatch man page (where directives count).
    """
    tidied = _tidy(text)
    directives, late = _read_directives(tidied)
    statements = tuple(split(tidied))
    shell = _Shell({})
    lines = _lines_of(tidied, statements, shell)
    inner = "" if directives or not lines else embedded_text(tidied)
    if inner and "<<" in tidied:
        # A here-document passed to sbatch is a script with separate directives.
        directives, late = _read_directives(inner)
    return Script(
        raw=tuple(text.splitlines()),
        text=tidied,
        directives=tuple(directives),
        late_directives=late,
        variables=tuple(shell.settings),
        modules=tuple(shell.modules),
        lines=lines,
        statements=statements,
    )


def _lines_of(text: str, statements: Sequence[Statement], shell: "_Shell") -> tuple[LaunchLine, ...]:
    """Return the launch lines of a text; without any, those in its here-documents or its strings."""
    lines = tuple(shell.walk(statements))
    inner = "" if lines else embedded_text(text)
    return tuple(shell.walk(split(inner))) if inner else lines


def _tidy(text: str) -> str:
    """Return the text with plain line ends, without shell prompts and Markdown fences; every line stays where it was."""
    if len(text) > _MAX_CHARACTERS:
        rule = f"holds {len(text):,} characters; a job script has at most {_MAX_CHARACTERS:,} here"
        raise LaunchError("text", "", rule)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")
    text = re.sub(r"^[ \t]*```.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]*`([^`\n]*)`[ \t]*$", r"\1", text, flags=re.MULTILINE)
    return _PROMPT.sub("", text)


def _read_directives(text: str) -> tuple[list[Directive], tuple[tuple[int, str], ...]]:
    """Return the directives before the first command, and the lines of those after it, which batch systems ignore."""
    directives: list[Directive] = []
    late: list[tuple[int, str]] = []
    commands_began = False
    for number, line in enumerate(text.split("\n"), start=1):
        match = _DIRECTIVE.fullmatch(line)
        if not match:
            commands_began |= bool(line.strip()) and not line.lstrip().startswith("#")
        elif commands_began:
            late.append((number, line.strip()))
        else:
            typed = match[2] or ""
            # No shell reads these lines: -C gpu&hbm80g is one word, with or without quotes.
            typed = typed if "'" in typed or '"' in typed else re.sub(r"([&|;()<>])", r"\\\1", typed)
            raw_words = [raw for statement in split(typed) for raw in statement]
            # Dots are placeholders for the reader, and (1) is a footnote mark of the page that showed the script.
            typed_words = [word for raw in raw_words for word in expand(raw, {})]
            words = [word for word in typed_words if not re.fullmatch(r"[.…]*|\(\d{1,2}\)!?", word.text)]
            directives += _as_directives(_SYSTEMS[f"#{match[1].upper()}"], words, number)
    return directives, tuple(late)


def _as_directives(system: BatchSystem, words: Sequence[Word], line: int) -> list[Directive]:
    """Return the words of a directive line, an option with its value at a time; one empty directive for a line without words."""
    groups: list[list[Word]] = []
    for word in words:
        if groups and not word.text.startswith("-") and len(groups[-1]) == 1 and "=" not in groups[-1][0].text:
            groups[-1].append(word)
        else:
            groups.append([word])
    directives = []
    for first, *rest in groups or [[Word(text="")]]:
        option, _, value = first.text.partition("=")
        # LSF has whole names after one dash; the others take a value attached to their letter.
        if system != "lsf" and re.match(r"-[A-Za-z].", first.text):
            option, value = first.text[:2], first.text[2:].removeprefix("=")
        value = rest[0].text if rest else value
        directives.append(Directive(system, option, value, line, (first, *rest) if groups else ()))
    return directives


LOOPS = ("for", "foreach", "while", "until")
"""Words that begin a loop."""


class _Shell:
    """Variables, loops and conditions at the current statement of a text."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables: dict[str, str | Unknown] = dict(variables)
        self.exported = set(variables)
        self.settings: list[Variable] = []
        self.modules: list[Module] = []
        # Loops and conditions around a statement, with the rounds of a loop, and the condition before its "then".
        self.blocks: list[tuple[str, int]] = []
        self.condition = ""
        self.depth = self.group = 0
        self.found = False
        # Characters expanded from variables.
        self.grown = 0

    def walk(self, statements: Sequence[Statement]) -> Iterator[LaunchLine]:
        """Process statements in order: store the variables they set, yield their launch lines."""
        for statement in statements:
            self._enter_or_leave(statement)
            words = list(statement)
            ahead: dict[str, str | Unknown] = {}
            while words and self._assigns(words[0], ahead):
                words.pop(0)
            if not words:
                self._set(ahead, statement.line)
            elif built_in := _BUILT_INS.get(words[0].raw):
                built_in(self, words[1:], statement.line)
            else:
                yield from self._launches(statement, words, ahead)
        if not self.found:
            yield from self._in_variables()

    def _in_variables(self) -> Iterator[LaunchLine]:
        """Yield the launch lines that are values of variables, which a program of the script runs."""
        self.depth += 1
        for setting in self.settings:
            if setting.value and re.match(r"\s*(?:\S*/)?(?:aprun|srun|mpiexec|mpirun)\s+\S", setting.value):
                for statement in split(setting.value):
                    for line in self._launch(statement, {}):
                        yield line._replace(line=setting.line)
        self.depth -= 1

    def _enter_or_leave(self, statement: Statement) -> None:
        """Follow the loops and conditions that a statement begins or ends, and ``wait``."""
        first, typed = statement[0].raw, " ".join(word.raw for word in statement)
        if first in LOOPS:
            self.blocks.append((typed, _rounds(statement)))
        elif first in ("done", "end"):
            self._leave(*LOOPS)
        elif first == "then":
            self.blocks.append((self.condition or "if", 1))
        elif first == "case":
            self.blocks.append((typed, 1))
        elif first in ("fi", "endif", "else", "elif"):
            self._leave("if", "elif", "else")
        elif first == "esac":
            self._leave("case")
        elif first == "wait":
            self.group += 1
        if first in ("if", "elif", "else"):
            self.condition = typed
        if first == "else" and [word.raw for word in statement[1:2]] != ["if"]:
            self.blocks.append(("else", 1))

    def _leave(self, *openers: str) -> None:
        """Leave the innermost block that one of these words opened."""
        for at in reversed(range(len(self.blocks))):
            if self.blocks[at][0].partition(" ")[0] in openers:
                del self.blocks[at:]
                return

    def _launches(self, statement: Statement, words: Sequence[RawWord], ahead: Variables) -> Iterator[LaunchLine]:
        """Yield the launch lines of a statement with their context."""
        for line in self._launch(words, ahead):
            yield line._replace(
                line=statement.line,
                redirections=tuple(statement.redirections),
                inside=tuple(typed for typed, _ in self.blocks),
                background=statement.background,
                times=math.prod(rounds for _, rounds in self.blocks),
                group=self.group,
            )
            self.found = True
            # A foreground command ends before the next begins.
            self.group += not statement.background

    def _set(self, values: Mapping[str, str | Unknown], line: int, *, export: bool = False) -> None:
        """Remember values of variables."""
        self.variables |= values
        self.exported |= set(values) if export else set()
        for name, value in values.items():
            known = None if isinstance(value, Unknown) else value
            self._grow(len(known or ""))
            self.settings.append(Variable(name, known, line, name in self.exported))

    def _assigns(self, word: RawWord, into: dict[str, str | Unknown]) -> bool:
        """Process a word ``NAME=value`` or ``NAME+=value``; False if it has another form."""
        first = word.parts[0] if word.parts else None
        match = _ASSIGNMENT.match(first.text) if first and first.kind == "text" and not first.quoted else None
        if not match or not first:
            return False
        known = ChainMap(into, self.variables)
        if word.parts[-1].kind == "list":
            entries = [entry for statement in split(word.parts[-1].text) for entry in statement]
            into |= {f"{match[1]}[{number}]": joined(entry, known) for number, entry in enumerate(entries)}
        value = RawWord(parts=[first._replace(text=first.text[match.end() :]), *word.parts[1:]])
        if match[2]:
            # NAME+=value is NAME=$NAME followed by it.
            value.parts.insert(0, Part("variable", match[1], default="", raw=f"${match[1]}"))
        into[match[1]] = joined(value, known)
        return True

    def _declare(self, words: Sequence[RawWord], line: int, *, export: bool = False) -> None:
        """Take ``NAME=value`` and ``NAME`` words of export and its kin."""
        export = export or any(word.raw.startswith("-") and "x" in word.raw for word in words)
        for word in words:
            declared: dict[str, str | Unknown] = {}
            self._assigns(word, declared)
            if export and not declared:
                self.exported.add(word.raw)
            self._set(declared, line, export=export)

    def _export(self, words: Sequence[RawWord], line: int) -> None:
        """Process the words after ``export``."""
        self._declare(words, line, export=True)

    def _setenv(self, words: Sequence[RawWord], line: int) -> None:
        """Process the name and the value after csh's ``setenv``."""
        if words:
            value = joined(words[1], self.variables) if len(words) > 1 else ""
            self._set({words[0].raw: value}, line, export=True)

    def _csh_set(self, words: Sequence[RawWord], line: int) -> None:
        """Process the words after csh's ``set``: ``NAME = value`` or ``NAME=value``; in other shells, set changes
        flags.
        """
        if [word.raw for word in words[1:2]] == ["="]:
            self._set({words[0].raw: joined(words[2], self.variables) if len(words) > 2 else ""}, line)
        elif words and self._assigns(words[0], {}):
            for word in words:
                declared: dict[str, str | Unknown] = {}
                self._assigns(word, declared)
                self._set(declared, line)

    def _unset(self, words: Sequence[RawWord], line: int) -> None:
        """Forget variables."""
        for word in words:
            self.variables.pop(word.raw, None)
            self.exported.discard(word.raw)

    def _loop_variable(self, words: Sequence[RawWord], line: int) -> None:
        """Make the variable of a loop unknown."""
        for word in words[:1]:
            self._set({word.raw: Unknown("is changed by a loop; write the value")}, line)

    def _compute(self, words: Sequence[RawWord], line: int) -> None:
        """Make variables unknown that the running script reads or works out."""
        for word in words:
            self._set({word.raw.partition("=")[0]: Unknown("is worked out by the script; write the value")}, line)

    def _module(self, words: Sequence[RawWord], line: int) -> None:
        """Remember the modules that ``module load a b`` and ``ml a b`` name."""
        typed = [word.text for raw in words for word in self._expand(raw)]
        names = typed[1:] if typed[:1] and typed[0] in _MODULE_ACTIONS else typed
        self.modules += [Module(name, line) for name in names if not name.startswith("-")]

    def _launch(self, raw_words: Sequence[RawWord], ahead: Variables) -> Iterator[LaunchLine]:
        """Yield the launch line in some words; a prefix such as time or env is skipped."""
        expanded = [self._expand(raw) for raw in raw_words]
        words = [word for each in expanded for word in each]
        set_in_front: dict[str, str | Unknown] = dict(ahead)
        for at, word in enumerate(words):
            name = _program_name(word)
            if name == "flux" and not _is_flux_run(words[at + 1 :]):
                return
            if name in _LAUNCHERS:
                skipped = _words_of_launcher(name, words[at + 1 :])
                line = self._launch_line(words, at, set_in_front)._replace(words=tuple(words[at + skipped :]))
                yield line if self.depth else _with_places(line, raw_words, expanded, at, skipped)
                return
            # eval parses its words again as a line: a limit, so that no text causes endless recursion.
            if at == 0 and name == "eval" and self.depth < _MAX_EVAL_DEPTH:
                yield from self._evaluated(words[1:], ahead)
                return
            if not _may_stand_ahead(word, is_first=at == 0):
                return
            if match := _ASSIGNMENT.match(word.text):
                set_in_front[match[1]] = word.text[match.end() :]

    def _evaluated(self, words: Sequence[Word], ahead: Variables) -> Iterator[LaunchLine]:
        """Yield the launch lines in the words of eval, which are parsed again."""
        self.depth += 1
        for statement in split(" ".join(word.text for word in words)):
            yield from self._launch(statement, ahead)
        self.depth -= 1

    def _expand(self, raw: RawWord) -> list[Word]:
        """Return the words that a word becomes; a text whose expansion does not end is refused."""
        words = expand(raw, self.variables)
        self._grow(sum(len(word.text) + 1 for word in words))
        return words

    def _grow(self, characters: int) -> None:
        """Count the stored characters; a text that grows without limit is rejected."""
        self.grown += characters
        if self.grown > _MAX_GROWTH:
            rule = f"grows past {_MAX_GROWTH:,} characters as its variables are put in, which no job script needs"
            raise LaunchError("script", "", rule)

    def _launch_line(self, words: Sequence[Word], at: int, set_in_front: Variables) -> LaunchLine:
        """Return the launch line whose launcher is at this index of the words."""
        exported = {name: value for name, value in self.variables.items() if name in self.exported}
        environment = {**exported, **set_in_front}
        return LaunchLine(
            launcher=_program_name(words[at]),
            words=tuple(words[at + 1 :]),
            text=" ".join(word.text for word in words[at:]),
            environment=environment,
            unexported={name: value for name, value in self.variables.items() if name not in environment},
        )


# Built-in commands that set something, by name.
_BUILT_INS: dict[str, Callable[[_Shell, Sequence[RawWord], int], None]] = {
    "export": _Shell._export,
    **dict.fromkeys(("declare", "typeset", "local", "readonly"), _Shell._declare),
    "setenv": _Shell._setenv,
    "set": _Shell._csh_set,
    **dict.fromkeys(("unset", "unsetenv"), _Shell._unset),
    **dict.fromkeys(("for", "foreach", "select"), _Shell._loop_variable),
    **dict.fromkeys(("read", "let", "@", "mapfile"), _Shell._compute),
    **dict.fromkeys(("module", "ml", "spack"), _Shell._module),
}
_MODULE_ACTIONS = (
    *("load", "add", "try-load", "switch", "swap", "unload", "rm", "del", "use", "purge", "list", "restore"),
)


def _rounds(words: Sequence[RawWord]) -> int:
    """Return the number of iterations of a loop with an explicit list; otherwise 1."""
    listed = words[3:] if len(words) > 3 and words[2].raw == "in" else []
    rounds = 0
    for word in listed:
        match = re.fullmatch(r"\{(\d{1,6})\.\.(\d{1,6})\}|(?:\$\(|`)seq (?:(\d{1,6}) )?(\d{1,6})(?:\)|`)", word.raw)
        if match:
            first, last = int(match[1] or match[3] or 1), int(match[2] or match[4])
            rounds += abs(last - first) + 1
        else:
            rounds += not any(letter in word.raw for letter in "$`*")
    return rounds or 1


def _with_places(
    line: LaunchLine, raw_words: Sequence[RawWord], expanded: Sequence[Sequence[Word]], at: int, skipped: int
) -> LaunchLine:
    """Return a line with its position in the text, and that of each word after the launcher's name."""
    places = [(raw.start, raw.end) for raw, each in zip(raw_words, expanded, strict=True) for _ in each][at:]
    span = (places[0][0], raw_words[-1].end)
    return line._replace(span=span, places=(places[0], *places[skipped:]))


def _is_flux_run(words: Sequence[Word]) -> bool:
    """Whether the words after ``flux`` start tasks: ``run``, or ``mini run`` of releases before 0.48."""
    typed = [word.text for word in words[:2]]
    return typed[:1] == ["run"] or typed == ["mini", "run"]


def _program_name(word: Word) -> str:
    """Return the name of a program without its folders."""
    return basename(word.text) if word.text and not word.unknown else ""


def _words_of_launcher(name: str, others: Sequence[Word]) -> int:
    """Return the number of words that name a launcher: one, but for Flux also its command and options before it."""
    return 1 if name != "flux" else 2 if others[0].text == "run" else 3


def _may_stand_ahead(word: Word, *, is_first: bool) -> bool:
    """Whether a word may precede a launcher's name."""
    if _program_name(word) in _PREFIXES:
        return True
    return not is_first and bool(re.match(r"-|[0-9]|[A-Za-z_][A-Za-z0-9_]*=", word.text))
