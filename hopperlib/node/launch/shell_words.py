"""Words of a shell text: as typed, and after variables were put in.

What only the running script can know (arithmetic, the output of a command, a
variable set elsewhere) is kept as an unknown with its reason, and refused only
where a value is needed.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = [
    "BROKEN_LINE",
    "Part",
    "RawWord",
    "Unknown",
    "Variables",
    "Word",
    "assignment",
    "expand",
    "joined",
    "literal_words",
]

BROKEN_LINE = "does not continue the line, because a blank follows it; take the blank away"
"""Why a backslash at the end of a line does nothing."""


class Unknown(NamedTuple):
    """A value that the text does not hold, and why."""

    reason: str


Variables = Mapping[str, "str | Unknown"]


class Part(NamedTuple):
    """A piece of a word: literal text, a variable with an optional default, or an opaque piece with its reason."""

    kind: str
    text: str
    quoted: bool
    default: str | None = None


@dataclass(slots=True)
class RawWord:
    """A word before variables are put in."""

    raw: str = ""
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of a statement after variables were put in.

    Parameters
    ----------
    text : str
        The word; as typed where it is not known.
    unknown : str
        Why it is not known; empty if it is.
    typed : str
        How it stood in the text, where a shell reads that as this one word; else empty.
    """

    text: str
    unknown: str = ""
    typed: str = field(default="", compare=False)

    @property
    def shell(self) -> str:
        """The word as a shell must be given it: as typed where that is at hand, else quoted.

        Examples
        --------
        >>> Word(text="$i", unknown="is set by the loop", typed="$i").shell, Word(text="a b").shell
        ('$i', "'a b'")
        """
        return self.typed or shlex.quote(self.text)


def expand(word: RawWord, variables: Variables) -> list[Word]:
    """Return the words that a word becomes: more than one if a variable outside quotes holds blanks.

    Examples
    --------
    >>> from hopperlib.node.launch.shell import split
    >>> words = split("$RUN ./a.out '$RUN' $((2 * 3))")[0].words
    >>> [word.text for raw in words for word in expand(raw, {"RUN": "aprun -n 4"})]
    ['aprun', '-n', '4', './a.out', '$RUN', '$((2 * 3))']
    >>> expand(words[3], {})[0].unknown
    'is arithmetic that only the shell works out; write the number'
    """
    pieces: list[tuple[str, bool]] = []
    for part in word.parts:
        value = _value_of(part, variables)
        if isinstance(value, Unknown):
            return [Word(text=word.raw, unknown=value.reason, typed=word.raw)]
        pieces.append((value, part.quoted or part.kind == "text"))
    texts = [""]
    started = any(part.quoted for part in word.parts)
    for value, whole in pieces:
        if whole:
            texts[-1] += value
            started = started or bool(value)
            continue
        for index, piece in enumerate(re.split(r"[ \t\n]+", value)):
            if index:
                texts.append("")
            texts[-1] += piece
    if all(part.kind == "text" for part in word.parts) and len(texts) == 1 and texts[0]:
        return [Word(text=texts[0], typed=_whole(word.raw))]
    words = [Word(text=piece) for piece in texts if piece]
    return words or ([Word(text="")] if started else [])


def _whole(raw: str) -> str:
    """Return a word as typed if it stands by itself: on one line, with both of each pair of quotes; else nothing."""
    try:
        return raw if "\n" not in raw and len(shlex.split(raw)) == 1 else ""
    except ValueError:
        return ""


def _value_of(part: Part, variables: Variables) -> str | Unknown:
    """Return what a piece of a word stands for."""
    if part.kind == "text":
        return part.text
    if part.kind == "opaque":
        return Unknown(part.text)
    value = variables.get(part.text)
    if value is not None and (value or part.default is None):
        return value
    if part.default is not None:
        return part.default
    return Unknown(f"takes ${part.text}, which this text does not set; write the value")


def assignment(word: RawWord) -> tuple[str, bool, RawWord] | None:
    """Return name, whether it appends, and value of a word ``NAME=value``; None for any other word.

    Examples
    --------
    >>> name, appends, value = assignment(*literal_words(["OMP_NUM_THREADS=6"]))
    >>> name, appends, value.raw
    ('OMP_NUM_THREADS', False, '6')
    """
    if not word.parts or word.parts[0].kind != "text" or word.parts[0].quoted:
        return None
    found = re.match(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=", word.parts[0].text)
    if not found:
        return None
    rest = word.parts[0]._replace(text=word.parts[0].text[found.end() :])
    return found[1], bool(found[2]), RawWord(raw=word.raw[found.end() :], parts=[rest, *word.parts[1:]])


def joined(word: RawWord, variables: Variables) -> str | Unknown:
    """Return the value of a word as one string, as in an assignment, where blanks do not part it.

    Examples
    --------
    >>> from hopperlib.node.launch.shell import split
    >>> joined(split("$A$B")[0].words[0], {"A": "-n 4", "B": " -d 6"})
    '-n 4 -d 6'
    """
    texts: list[str] = []
    for part in word.parts:
        value = _value_of(part, variables)
        if isinstance(value, Unknown):
            return value
        texts.append(value)
    return "".join(texts)


def literal_words(texts: Iterable[str]) -> list[RawWord]:
    """Return literal words.

    Examples
    --------
    >>> [word.raw for word in literal_words(["a", "$b"])]
    ['a', '$b']
    """
    return [RawWord(raw=text, parts=[Part("text", text, False)]) for text in texts]
