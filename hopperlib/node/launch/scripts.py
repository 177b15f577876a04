"""Launch lines found in a text: a bare line, a shell session, a job script.

The text is walked from top to bottom as the shell would, variables are
remembered, and every aprun or srun is reported with the environment it would
see. Conditions and loops are not worked out: each launch line counts once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal, cast

from hopperlib.node.launch.components import LauncherKind, LaunchError
from hopperlib.node.launch.shell import Statement, split
from hopperlib.node.launch.shell_words import RawWord, Unknown, Word, assignment, expand, joined, literal_words

__all__ = ["Directives", "Invocation", "find_directives", "find_invocations", "tidy"]

# Longest text taken. A job script is a few thousand characters.
_MOST_CHARACTERS = 500_000

_LAUNCHERS = ("aprun", "srun")

# Words that may stand in front of a command without changing what runs.
_PREFIXES = {
    *("do", "then", "else", "elif", "if", "while", "until", "{", "!", "time", "nohup", "exec", "env", "nice"),
    *("timeout", "stdbuf", "command", "eval", "ccmrun", "numactl", "taskset"),
}

_PROMPT = re.compile(r"^[ \t]*(?:[\w.@:~/\[\]()-]*[$%>]+[ \t]+)(?=(?:\S*/)?(?:aprun|srun)\b)", re.MULTILINE)
_DIRECTIVE = re.compile(r"#(PBS|SBATCH)(?:[ \t]+(.*))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """What a job script says to the batch system.

    Parameters
    ----------
    batch : str
        ``"pbs"`` or ``"slurm"``.
    words : tuple of Word
        Words of all ``#PBS`` or ``#SBATCH`` lines, in order.
    notes : tuple of str
        Directives that do not count, in plain sentences.
    """

    batch: Literal["pbs", "slurm"]
    words: tuple[Word, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call of a launcher, with what the shell would hand to it.

    Parameters
    ----------
    launcher : str
        ``"aprun"`` or ``"srun"``.
    words : tuple of Word
        What follows the launcher's name.
    text : str
        The line, on one line, variables replaced.
    environment : mapping
        Variables that the launcher sees.
    unexported : mapping
        Variables that are set but that it does not see.
    background : bool
        Whether the line ends in ``&``.
    """

    launcher: LauncherKind
    words: tuple[Word, ...]
    text: str
    environment: Mapping[str, str | Unknown]
    unexported: Mapping[str, str | Unknown]
    background: bool


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
        raise LaunchError(flag="text", value="", rule=rule)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")
    text = re.sub(r"^[ \t]*```.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"^[ \t]*`([^`\n]*)`[ \t]*$", r"\1", text, flags=re.MULTILINE)
    return _PROMPT.sub("", text)


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
    >>> found = find_directives(script)
    >>> found.batch, [word.text for word in found.words]
    ('slurm', ['-N', '4'])
    >>> found.notes
    ('"#SBATCH -N 16" stands behind the first command, where it no longer counts.',)
    """
    batches: dict[str, list[Word]] = {}
    notes: list[str] = []
    commands_began = False
    for line in text.split("\n"):
        found = _DIRECTIVE.fullmatch(line)
        if not found:
            commands_began = commands_began or (bool(line.strip()) and not line.lstrip().startswith("#"))
        elif commands_began:
            notes.append(f'"{line.strip()[:60]}" stands behind the first command, where it no longer counts.')
        else:
            words = batches.setdefault({"PBS": "pbs", "SBATCH": "slurm"}[found[1]], [])
            for statement in split(found[2] or ""):
                for raw in statement.words:
                    words += expand(raw, {})
    if len(batches) > 1:
        raise LaunchError(flag="#PBS", value="", rule="and #SBATCH stand in one script; only one batch system reads it")
    for batch, words in batches.items():
        return Directives(batch=cast(Literal["pbs", "slurm"], batch), words=tuple(words), notes=tuple(notes))
    return None


def find_invocations(text: str, variables: Mapping[str, str | Unknown]) -> tuple[Invocation, ...]:
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
    >>> found = find_invocations(script, {})[0]
    >>> found.launcher, found.text, found.environment["OMP_NUM_THREADS"]
    ('aprun', 'aprun -n 4 -d 6 ./a.out', '6')
    """
    shell = _Shell(dict(variables), set(variables))
    return tuple(invocation for statement in split(text) for invocation in shell.run(statement))


@dataclass(slots=True)
class _Shell:
    """Variables as they stand while a text is walked through."""

    variables: dict[str, str | Unknown]
    exported: set[str]
    depth: int = field(default=0)

    def run(self, statement: Statement) -> Iterator[Invocation]:
        """Take one statement: remember what it sets, report the launch line it is."""
        words = list(statement.words)
        ahead: dict[str, str | Unknown] = {}
        while words and (found := assignment(words[0])):
            ahead[found[0]] = self._assigned(found[0], found[1], found[2], ahead)
            words.pop(0)
        if not words:
            self.variables |= ahead
            return
        if self._set_variables(words):
            return
        yield from self._launch(words, ahead, background=statement.background)

    def _assigned(self, name: str, appends: bool, value: RawWord, ahead: Mapping[str, str | Unknown]) -> str | Unknown:
        """Return the value that an assignment gives."""
        new = joined(value, {**self.variables, **ahead})
        if not appends or isinstance(new, Unknown):
            return new
        old = self.variables.get(name, "")
        return old if isinstance(old, Unknown) else old + new

    def _set_variables(self, words: list[RawWord]) -> bool:
        """Remember what a built-in command sets; False if it is no such command."""
        first = words[0].raw
        rest = words[1:]
        if first in ("export", "declare", "typeset", "local", "readonly"):
            exports = first == "export" or any(word.raw.startswith("-") and "x" in word.raw for word in rest)
            self._declare(rest, exports=exports)
        elif first == "setenv" and rest:
            self._assign(rest[0].raw, rest[1:2], exports=True)
        elif first == "set" and len(rest) > 1 and rest[1].raw == "=":
            self._assign(rest[0].raw, rest[2:3], exports=False)
        elif first == "set" and rest and assignment(rest[0]):
            self._declare(rest, exports=False)
        elif first in ("unset", "unsetenv"):
            for word in rest:
                self.variables.pop(word.raw, None)
                self.exported.discard(word.raw)
        elif first in ("for", "foreach", "select") and rest:
            self.variables[rest[0].raw] = Unknown("is set anew by a loop; write the value")
        elif first in ("read", "let", "@", "mapfile") and rest:
            for word in rest:
                self.variables[word.raw.partition("=")[0]] = Unknown("is worked out by the script; write the value")
        else:
            return False
        return True

    def _declare(self, words: list[RawWord], *, exports: bool) -> None:
        """Take ``NAME=value`` and ``NAME`` words of export and its kin."""
        for word in words:
            found = assignment(word)
            name = found[0] if found else word.raw
            if found:
                self.variables[name] = self._assigned(name, found[1], found[2], {})
            if exports:
                self.exported.add(name)

    def _assign(self, name: str, values: list[RawWord], *, exports: bool) -> None:
        """Take a name and its value given as words of their own."""
        self.variables[name] = joined(values[0], self.variables) if values else ""
        if exports:
            self.exported.add(name)

    def _launch(
        self, raw_words: list[RawWord], ahead: Mapping[str, str | Unknown], *, background: bool
    ) -> Iterator[Invocation]:
        """Report a launch line; what is in front of it, such as time or env, is passed over."""
        words = [word for raw in raw_words for word in expand(raw, self.variables)]
        at = 0
        ahead = dict(ahead)
        while at < len(words) and _name_of(words[at]) not in _LAUNCHERS:
            if at == 0 and _name_of(words[0]) == "eval" and self.depth < 3:
                yield from self._evaluated(words[1:], ahead, background=background)
                return
            if not _may_stand_ahead(words[at], is_first=at == 0):
                return
            for found in map(assignment, literal_words([words[at].text])):
                if found:
                    ahead[found[0]] = joined(found[2], {})
            at += 1
        if at == len(words):
            return
        environment = {name: value for name, value in self.variables.items() if name in self.exported} | ahead
        yield Invocation(
            launcher=cast(LauncherKind, _name_of(words[at])),
            words=tuple(words[at + 1 :]),
            text=" ".join(word.text for word in words[at:]),
            environment=environment,
            unexported={name: value for name, value in self.variables.items() if name not in environment},
            background=background,
        )

    def _evaluated(
        self, words: list[Word], ahead: Mapping[str, str | Unknown], *, background: bool
    ) -> Iterator[Invocation]:
        """Take the words of eval as a new statement."""
        self.depth += 1
        for statement in split(" ".join(word.text for word in words)):
            yield from self._launch(statement.words, ahead, background=background)
        self.depth -= 1


def _name_of(word: Word) -> str:
    """Return the name of a program without its folders."""
    return PurePosixPath(word.text).name if word.text and not word.unknown else ""


def _may_stand_ahead(word: Word, *, is_first: bool) -> bool:
    """Whether a word may stand in front of a launcher's name."""
    if _name_of(word) in _PREFIXES:
        return True
    return not is_first and bool(re.match(r"-|[0-9]|[A-Za-z_][A-Za-z0-9_]*=", word.text))
