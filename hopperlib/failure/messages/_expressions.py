"""Word lists for judging lines, read from ``words.toml``."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from hopperlib.package_data import load_toml_resource
from hopperlib.schema import read_record


@dataclass(frozen=True, slots=True, kw_only=True)
class _Expressions:
    """Alternatives of a regular expression, ignoring case and case-sensitive."""

    any_case: tuple[str, ...]
    cased: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Contents of ``words.toml``."""

    looked_for: str
    inside: tuple[str, ...]
    frequent: str
    endings: str
    parts: str
    named: str
    grammar: str
    never: _Expressions
    end: _Expressions
    fatal: _Expressions
    error: _Expressions
    harmless: _Expressions
    hint: _Expressions
    handled: _Expressions
    expected: _Expressions
    warned: _Expressions
    announces: _Expressions
    missed: _Expressions
    is_exit_report: _Expressions
    points_above: _Expressions
    hollow: _Expressions


@cache
def _tables() -> Words:
    return read_record(Words, load_toml_resource(__file__, "words.toml"), name="words.toml")


def words(
    name: Literal["looked_for", "inside", "frequent", "endings", "parts", "named", "grammar"],
) -> tuple[bytes, ...]:
    """Return a list of words, or of pieces that may contain spaces."""
    listed = getattr(_tables(), name)
    return tuple(word.encode() for word in (listed.split() if isinstance(listed, str) else listed))


def matches_words(name: str, line: bytes, lowered: bytes) -> bool:
    """Whether a line matches the expression of a table: only alternatives whose piece of text it contains are tried."""
    any_case, cased = _by_piece(name)
    for text, pieces in ((lowered, any_case), (line, cased)):
        for piece, expression in pieces:
            if piece in text and _compiled(expression).search(text):
                return True
    return False


_compiled = cache(re.compile)
_Pieces = tuple[tuple[bytes, bytes], ...]


@cache
def _by_piece(name: str) -> tuple[_Pieces, _Pieces]:
    """Return the alternatives of a table by the piece of text that each of them needs: for any case in lower case, and
    as written.
    """
    alternatives: _Expressions = getattr(_tables(), name)
    lowered = (
        re.sub(r"\\.|[A-Z]", lambda part: part[0] if part[0][0] == "\\" else part[0].lower(), text)
        for text in alternatives.any_case
    )
    return _grouped(lowered), _grouped(alternatives.cased)


def _grouped(texts: Iterable[str]) -> _Pieces:
    """Return expressions joined by the piece of text that each of them needs."""
    grouped: dict[str, list[str]] = {}
    for text in texts:
        grouped.setdefault(_piece(text), []).append(text)
    return tuple((piece.encode(), "|".join(joined).encode()) for piece, joined in grouped.items())


def _piece(text: str) -> str:
    """Return the longest piece of text without which an expression matches nothing."""
    text = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "\0", text)
    for _ in range(text.count("(")):
        text = re.sub(r"\([^()]*\)", "\0", text)
    text = re.sub(r".(?:[?*]|\{0?,\d+\})", "\0", text)
    return "" if "|" in text else max(re.findall(r"[A-Za-z' !_-]*", text), key=len)
