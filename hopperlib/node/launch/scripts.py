"""Launch lines found in a text: a bare line, a shell session, a job script.

The text is walked from top to bottom as the shell would, variables are
remembered, and every aprun or srun is reported with the environment it would
see. Conditions and loops are not worked out: each launch line counts once.
"""

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from posixpath import basename
from typing import NamedTuple

from hopperlib.node.launch.components import BatchSystem, LaunchError
from hopperlib.node.launch.shell import RawWord, Statement, Unknown, Variables, Word, expand, joined, split

# Longest text taken. A job script is a few thousand characters.
_MOST_CHARACTERS = 500_000

_MPIEXEC = ("mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun", "prun")
_LAUNCHERS = ("aprun", "srun", *_MPIEXEC)
_DEEPEST_EVAL = 3

# Words that may stand in front of a command without changing what runs.
_PREFIXES = {
    *("do", "then", "else", "elif", "if", "while", "until", "{", "!", "time", "nohup", "exec", "env", "nice"),
    *("timeout", "stdbuf", "command", "eval", "ccmrun", "numactl", "taskset"),
}

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
# A prompt ends in a dollar or percent sign and a blank, which no shell word does; with > it is taken for one only in
# front of a launcher or a word with a host in it.
_PROMPT = re.compile(
    r"^[ \t]*(?:\([^()\n]*\)[ \t]*)?(?:\[[^\[\]\n]*\]|[\w.@:~/-]*(?:[ \t][\w~/.-]*\])?)[$%][ \t]+(?=\S)"
    r"|^\++[ \t]+(?=\S)|^[ \t]*[\w.-]+@[\w.-]+(?::[\w~/.-]*)?[ \t]?[>#][ \t]+(?=\S)"
    r"|^[ \t]*(?:[\w.@:~/\[\]()-]*[$%>][ \t]*)*[\w.@:~/\[\]()-]*(?:[$%>]|\++)[ \t]+(?=(?:\S*/)?(?:aprun|srun|mpiexec|mpirun)\b)",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"#(PBS|SBATCH|BSUB|COBALT|[Ff][Ll][Uu][Xx]:)(?:[ \t]+(.*))?")
_BATCHES: dict[str, BatchSystem] = {"PBS": "pbs", "SBATCH": "slurm", "BSUB": "lsf", "COBALT": "cobalt", "FLUX:": "flux"}


class Directives(NamedTuple):
    """What a job script says to the batch system.

    Parameters
    ----------
    batch : str
        ``"pbs"``, ``"slurm"``, ``"lsf"``, ``"cobalt"`` or ``"flux"``.
    words : tuple of Word
        Words of all its lines, in order.
    notes : tuple of str
        Directives that do not count, in plain sentences.
    """

    batch: BatchSystem
    words: tuple[Word, ...]
    notes: tuple[str, ...] = ()


class Invocation(NamedTuple):
    """One call of a launcher, with what the shell would hand to it.

    Parameters
    ----------
    launcher : str
        ``"aprun"``, ``"srun"`` or a name of mpiexec.
    words : tuple of Word
        What follows the launcher's name.
    text : str
        The line, on one line, variables replaced.
    environment : mapping
        Variables that the launcher sees.
    unexported : mapping
        Variables that are set but that it does not see.
    background : bool
        Whether the script goes on without waiting for it.
    times : int
        How often the loops around it run it, as far as that can be read.
    group : int
        Number of its group: what is started in the background runs with the others up to the next ``wait``.
    """

    launcher: str
    words: tuple[Word, ...]
    text: str
    environment: Variables
    unexported: Variables
    background: bool = False
    times: int = 1
    group: int = 0


def tidy(text: str) -> str:
    r"""Return the text with plain line ends, without shell prompts and Markdown fences.

    Raises
    ------
    LaunchError
        If the text is far too long for a job script.

    Examples
    --------
    >>> tidy("nid00012:~> aprun -n 4 ./a.out\r\n")
    'aprun -n 4 ./a.out\n'
    """
    if len(text) > _MOST_CHARACTERS:
        rule = f"holds {len(text):,} characters; a job script has at most {_MOST_CHARACTERS:,} here"
        raise LaunchError("text", "", rule)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")
    text = re.sub(r"^[ \t]*```.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]*`([^`\n]*)`[ \t]*$", r"\1", text, flags=re.MULTILINE)
    return _submitted(_PROMPT.sub("", text))


_SUBMITS = re.compile(r"^[ \t]*(?:sbatch|salloc)[ \t]((?:[^\n\\]|\\\n|\\.)*)$", re.MULTILINE)


def _submitted(text: str) -> str:
    r"""Return the text with what ``sbatch --wrap`` and ``salloc`` say turned into directives, where it has none.

    Examples
    --------
    >>> _submitted('sbatch -N 2 --wrap="srun -n 8 ./a"\n')
    '#SBATCH -N 2\nsrun -n 8 ./a\n'
    """
    if re.search(r"^#SBATCH", text, re.MULTILINE):
        return text
    for submission in _SUBMITS.finditer(text):
        try:
            words = shlex.split(submission[1].replace("\\\n", " "), comments=True)
        except ValueError:
            continue
        # A command behind the options is no option, nor is the one to be wrapped.
        end = next((at for at, word in enumerate(words) if basename(word) in _LAUNCHERS), len(words))
        options, command = words[:end], shlex.join(words[end:])
        at = next((at for at, word in enumerate(options) if word.startswith("--wrap")), None)
        if at is not None:
            glued = "=" in words[at]
            command = words[at].partition("=")[2] if glued else " ".join(words[at + 1 : at + 2])
            options = words[:at] + words[at + (1 if glued else 2) :]
        # What stands behind the last option and its value is the script and its arguments.
        while (
            len(options) > 1
            and not options[-1].startswith("-")
            and ("=" in options[-2] or not options[-2].startswith("-"))
        ):
            options.pop()
        if options and (len(options) > 1 or options[0].startswith("-")):
            return f"#SBATCH {shlex.join(options)}\n{text[: submission.start()]}{command}{text[submission.end() :]}"
        break
    return text


def find_directives(text: str) -> Directives | None:
    r"""Return what the ``#PBS`` or ``#SBATCH`` lines say; None if there are none.

    Both batch systems stop reading them at the first command.

    Parameters
    ----------
    text : str
        A text out of `tidy`.

    Raises
    ------
    LaunchError
        If a script has directives of both.

    Examples
    --------
    >>> script = "#!/bin/bash\n#SBATCH -N 4  # four nodes\n##SBATCH -N 8\nsrun ./a.out\n#SBATCH -N 16\n"
    >>> directives = find_directives(script)
    >>> directives.batch, [word.text for word in directives.words]
    ('slurm', ['-N', '4'])
    >>> directives.notes
    ('"#SBATCH -N 16" stands behind the first command, where it no longer counts.',)
    """
    batches: dict[BatchSystem, list[Word]] = {}
    notes: list[str] = []
    commands_began = False
    for line in text.split("\n"):
        directive = _DIRECTIVE.fullmatch(line)
        if not directive:
            commands_began |= bool(line.strip()) and not line.lstrip().startswith("#")
        elif commands_began:
            notes.append(f'"{line.strip()[:60]}" stands behind the first command, where it no longer counts.')
        else:
            words = batches.setdefault(_BATCHES[directive[1].upper()], [])
            raw_words = [raw for statement in split(directive[2] or "") for raw in statement]
            # Dots stand for what a reader is to fill in.
            words += [word for raw in raw_words for word in expand(raw, {}) if word.text.strip(".…")]
    if len(batches) > 1:
        first, second, *_ = (f"#{name.rstrip(':')}" for name, batch in _BATCHES.items() if batch in batches)
        raise LaunchError(first, "", f"and {second} stand in one script; only one batch system reads it")
    for batch, words in batches.items():
        return Directives(batch=batch, words=tuple(words), notes=tuple(notes))
    return None


def find_invocations(text: str, variables: Variables) -> tuple[Invocation, ...]:
    r"""Return every aprun and srun line of a text.

    Parameters
    ----------
    text : str
        A text out of `tidy`.
    variables : mapping
        What the batch system puts into the environment.

    Examples
    --------
    >>> script = "export OMP_NUM_THREADS=6\nN=4\ntime aprun -n $N -d 6 ./a.out | tee log\n"
    >>> invocation = find_invocations(script, {})[0]
    >>> invocation.launcher, invocation.text, invocation.environment["OMP_NUM_THREADS"]
    ('aprun', 'aprun -n 4 -d 6 ./a.out', '6')
    """
    shell = _Shell(variables)
    return tuple(invocation for statement in split(text) for invocation in shell.run(statement))


class _Shell:
    """Variables as they stand while a text is walked through."""

    def __init__(self, variables: Variables) -> None:
        self.variables = dict(variables)
        self.exported = set(variables)
        self.loops: list[int] = []
        self.depth = self.group = 0

    def run(self, statement: Sequence[RawWord]) -> Iterator[Invocation]:
        """Take one statement: remember what it sets, report the launch line it is."""
        words = list(statement)
        first = words[0].raw if words else ""
        if first in ("for", "foreach", "while", "until"):
            self.loops.append(_rounds(words))
        elif first in ("done", "end") and self.loops:
            self.loops.pop()
        elif first == "wait":
            self.group += 1
        ahead: dict[str, str | Unknown] = {}
        while words and self._assigns(words[0], ahead):
            words.pop(0)
        if not words:
            self.variables |= ahead
        elif not self._set_variables(words):
            background = isinstance(statement, Statement) and statement.background
            for invocation in self._launch(words, ahead):
                yield invocation._replace(background=background, times=math.prod(self.loops), group=self.group)
                # What runs in the foreground is done before the next begins.
                self.group += not background

    def _assigns(self, word: RawWord, into: dict[str, str | Unknown]) -> bool:
        """Take a word ``NAME=value`` or ``NAME+=value``; False if it is no such word."""
        first = word.parts[0] if word.parts else None
        match = _ASSIGNMENT.match(first.text) if first and first.kind == "text" and not first.quoted else None
        if not match or not first:
            return False
        known = {**self.variables, **into}
        if word.parts[-1].kind == "list":
            entries = [entry for statement in split(word.parts[-1].text) for entry in statement]
            into |= {f"{match[1]}[{number}]": joined(entry, known) for number, entry in enumerate(entries)}
        value = RawWord(parts=[first._replace(text=first.text[match.end() :]), *word.parts[1:]])
        new = joined(value, known)
        old = self.variables.get(match[1], "") if match[2] else ""
        # What is added to an unknown value, or is one, makes the whole unknown.
        into[match[1]] = new if isinstance(new, Unknown) else old if isinstance(old, Unknown) else old + new
        return True

    def _set_variables(self, words: Sequence[RawWord]) -> bool:
        """Remember what a built-in command sets; False if it is no such command."""
        first, rest = words[0].raw, words[1:]
        names = [word.raw for word in rest]
        if first in ("export", "declare", "typeset", "local", "readonly"):
            exports = first == "export" or any(name.startswith("-") and "x" in name for name in names)
            self._declare(rest, exports=exports)
        elif first == "setenv" and rest:
            self.variables[names[0]] = joined(rest[1], self.variables) if len(rest) > 1 else ""
            self.exported.add(names[0])
        elif first == "set" and names[1:2] == ["="]:
            self.variables[names[0]] = joined(rest[2], self.variables) if len(rest) > 2 else ""
        elif first == "set" and rest and self._assigns(rest[0], {}):
            self._declare(rest, exports=False)
        elif first in ("unset", "unsetenv"):
            for name in names:
                self.variables.pop(name, None)
                self.exported.discard(name)
        elif first in ("for", "foreach", "select") and rest:
            self.variables[names[0]] = Unknown("is set anew by a loop; write the value")
        elif first in ("read", "let", "@", "mapfile") and rest:
            for name in names:
                self.variables[name.partition("=")[0]] = Unknown("is worked out by the script; write the value")
        else:
            return False
        return True

    def _declare(self, words: Sequence[RawWord], *, exports: bool) -> None:
        """Take ``NAME=value`` and ``NAME`` words of export and its kin."""
        for word in words:
            declared: dict[str, str | Unknown] = {}
            self._assigns(word, declared)
            self.variables |= declared
            if exports:
                self.exported |= set(declared) or {word.raw}

    def _launch(self, raw_words: Sequence[RawWord], ahead: Variables) -> Iterator[Invocation]:
        """Report a launch line; what is in front of it, such as time or env, is passed over."""
        words = [word for raw in raw_words for word in expand(raw, self.variables)]
        environment = {name: value for name, value in self.variables.items() if name in self.exported} | {**ahead}
        for at, word in enumerate(words):
            name = _program_name(word)
            if name in _LAUNCHERS:
                yield Invocation(
                    launcher=name,
                    words=tuple(words[at + 1 :]),
                    text=" ".join(word.text for word in words[at:]),
                    environment=environment,
                    unexported={name: value for name, value in self.variables.items() if name not in environment},
                )
                return
            # eval reads its words as a line once more: a bound, so that no text makes it go on for ever.
            if at == 0 and name == "eval" and self.depth < _DEEPEST_EVAL:
                self.depth += 1
                for statement in split(" ".join(word.text for word in words[1:])):
                    yield from self._launch(statement, ahead)
                self.depth -= 1
                return
            if not _may_stand_ahead(word, is_first=at == 0):
                return
            if match := _ASSIGNMENT.match(word.text):
                environment[match[1]] = word.text[match.end() :]


def _rounds(words: Sequence[RawWord]) -> int:
    """Return how often a loop runs, where its list is spelled out; else once."""
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


def _program_name(word: Word) -> str:
    """Return the name of a program without its folders."""
    return basename(word.text) if word.text and not word.unknown else ""


def _may_stand_ahead(word: Word, *, is_first: bool) -> bool:
    """Whether a word may stand in front of a launcher's name."""
    if _program_name(word) in _PREFIXES:
        return True
    return not is_first and bool(re.match(r"-|[0-9]|[A-Za-z_][A-Za-z0-9_]*=", word.text))
