"""A compile or link line: which driver, which flags, which libraries and inputs.

Parses a line for the rules, and writes it with a flag removed, replaced or moved. The line is never run.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal, NamedTuple

from hopperlib.package_data import load_toml_resource
from hopperlib.schema import key, read_record

# Longest line that is read. [characters]
_LONGEST = 20_000
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,80})=(.{0,2000})", re.ASCII | re.DOTALL)

Language = Literal["c", "fortran"]


class Driver(NamedTuple):
    """A compiler's command: its kind, its language, and its family if the name shows it."""

    kind: str
    language: str
    family: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commands:
    """Commands of one family for C, C++ and Fortran."""

    kind: Literal["wrapper", "mpi", "native"]
    family: str = key(blank=True)
    c: tuple[str, ...]
    cxx: tuple[str, ...] = key(name="c++")
    fortran: tuple[str, ...]

    def drivers(self) -> Iterator[tuple[str, Driver]]:
        """Yield each compiler command with its properties."""
        for language, names in (("c", self.c), ("c++", self.cxx), ("fortran", self.fortran)):
            for name in names:
                yield name, Driver(self.kind, language, self.family)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """Flags that take the next word as an argument, and flags whose argument is attached."""

    take_a_word: tuple[str, ...]
    joined: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilers:
    """Contents of ``compilers.toml``: commands, modules and compiler family of each, and rules for link lines."""

    families: tuple[_Commands, ...] = key(name="commands")
    environments: Mapping[str, str]
    modules: Mapping[str, str]
    line: _Line
    endings: Mapping[Language, tuple[str, ...]]
    libraries: Mapping[Language, tuple[str, ...]]


@cache
def compilers() -> Compilers:
    """Return the known compilers."""
    return read_record(Compilers, load_toml_resource(__file__, "compilers.toml"), name="compilers.toml")


@cache
def drivers() -> dict[str, Driver]:
    """Return the properties of each command."""
    return {name: driver for family in compilers().families for name, driver in family.drivers()}


class Word(NamedTuple):
    """One word of the line, normalized and as typed, and whether it is a flag."""

    text: str
    typed: tuple[str, ...]
    is_flag: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkLine:
    """A line split into words.

    Parameters
    ----------
    command : str
        The driver as typed; empty if no line was given.
    words : tuple of Word
        The next word.
    variables : dict of str to str
        Variables set before the command.
    """

    command: str
    words: tuple[Word, ...]
    variables: dict[str, str]

    @property
    def driver(self) -> Driver | None:
        """The properties of the command; None for an empty line."""
        return drivers().get(_base(self.command))

    @property
    def name(self) -> str:
        """The command without folder and version."""
        return _base(self.command)

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags, joined with their separate arguments: ``-homp`` for ``-h omp``."""
        return tuple(word.text for word in self.words if word.is_flag)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Sources, objects and libraries by file name."""
        return tuple(word.text for word in self.words if not word.is_flag)

    def matching(self, patterns: Iterable[str]) -> tuple[str, ...]:
        """Return the flags that match any of the patterns."""
        patterns = tuple(patterns)
        return tuple(flag for flag in self.flags if any(fnmatchcase(flag, pattern) for pattern in patterns))

    @property
    def mixes_languages(self) -> bool | None:
        """Whether C or C++ is mixed with Fortran; None if the language of the objects is unknown."""
        driver = self.driver
        language = driver.language if driver else ""
        if (language == "fortran" or self._has("fortran")) and (language in ("c", "c++") or self._has("c")):
            return True
        endings = tuple(ending for language in compilers().endings.values() for ending in language)
        # An object file does not show its source language.
        return None if any(not name.endswith(endings) for name in self.inputs) else False

    def _has(self, language: Language) -> bool:
        """Whether the line has a source file or a library of a language."""
        endings = tuple(compilers().endings[language])
        libraries = self.matching(compilers().libraries[language])
        return bool(libraries) or any(name.endswith(endings) for name in self.inputs)

    @property
    def text(self) -> str:
        """The rewritten line."""
        if not self.command:
            return ""
        before = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        typed = [shlex.quote(part) for word in self.words for part in word.typed]
        return " ".join([*before, self.command, *typed])

    def without(self, patterns: Iterable[str]) -> "LinkLine":
        """Return the line without the flags that match."""
        flags = self.matching(patterns)
        return replace(self, words=tuple(word for word in self.words if not (word.is_flag and word.text in flags)))


def _base(command: str) -> str:
    """Return a command without its folder and version."""
    return re.sub(r"-\d{1,3}(?:\.\d{1,3}){0,3}$", "", command.rpartition("/")[2])


def _words(parts: list[str]) -> tuple[Word, ...]:
    """Join flags with their arguments."""
    known, words = compilers().line, list[Word]()
    place = 0
    while place < len(parts):
        part = parts[place]
        place += 1
        if part in known.take_a_word and place < len(parts):
            words.append(Word(part + parts[place] if part in known.joined else part, (part, parts[place]), True))
            place += 1
        else:
            words.append(Word(part, (part,), part.startswith("-")))
    return tuple(words)


def _commands(text: str) -> Iterable[list[str]]:
    """Yield the commands of a text as words."""
    for line in text.replace("\\\n", " ").split("\n"):
        try:
            lexer = shlex.shlex(line.strip().removeprefix("$ "), posix=True, punctuation_chars=";&|")
            lexer.whitespace_split = True
            parts = list(lexer)
        except ValueError as error:
            raise ValueError(f"line={line.strip()[:60]!r} cannot be cut into words: {str(error).lower()}") from None
        command: list[str] = []
        for part in parts:
            if part and set(part) <= set(";&|"):
                yield command
                command = []
            else:
                command.append(part)
        yield command


def read_line(text: str) -> LinkLine:
    """Read a compile or link line; of several commands the last one whose driver is known."""
    if len(text) > _LONGEST:
        raise ValueError(f"line holds {len(text):,} characters and may hold {_LONGEST:,}")
    parsed = LinkLine(command="", words=(), variables={})
    if not text.strip():
        return parsed
    for command in _commands(text.replace("\r", "\n").replace("\0", " ")):
        variables: dict[str, str] = {}
        start = 0
        while start < len(command) and (set_before := _ASSIGNMENT.fullmatch(command[start])):
            variables[set_before[1]] = set_before[2]
            start += 1
        if start < len(command) and _base(command[start]) in drivers():
            parsed = LinkLine(command=command[start], words=_words(command[start + 1 :]), variables=variables)
    if not parsed.command:
        shown = " ".join(text.split())[:60]
        raise ValueError(f"line={shown!r} holds no compiler that is known, such as cc, CC, ftn, mpicc, gcc or ifx")
    return parsed
