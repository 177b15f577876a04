"""Words and expressions that lines are read by: what ``words.toml`` holds of them."""

import re
from functools import cache
from typing import Any

from hopperlib.package_data import read_beside


@cache
def _tables() -> dict[str, Any]:
    return read_beside(__file__, "words.toml")


def words(name: str) -> tuple[bytes, ...]:
    """Return a list of words, or of pieces that may hold spaces."""
    listed = _tables()[name]
    return tuple(word.encode() for word in (listed.split() if isinstance(listed, str) else listed))


def expression(name: str) -> re.Pattern[bytes]:
    """Return the expression of a table that heeds case: any of its alternatives."""
    return re.compile("|".join(_tables()[name]["cased"]).encode())


def says(name: str, line: bytes, lowered: bytes) -> bool:
    """Whether a line matches the expression of a table: only alternatives are tried whose piece of text it holds."""
    for cased, piece, alternatives in _by_piece(name):
        text = line if cased else lowered
        if piece in text and _compiled(alternatives).search(text):
            return True
    return False


_compiled = cache(re.compile)


@cache
def _by_piece(name: str) -> tuple[tuple[bool, bytes, bytes], ...]:
    """Return the alternatives of a table by the piece of text that each of them needs; those for any case in lower case."""
    grouped: dict[tuple[bool, str], list[str]] = {}
    for text in _tables()[name].get("any_case", ()):
        lowered = re.sub(r"\\.|[A-Z]", lambda part: part[0] if part[0][0] == "\\" else part[0].lower(), text)
        grouped.setdefault((False, _piece(lowered)), []).append(lowered)
    for text in _tables()[name].get("cased", ()):
        grouped.setdefault((True, _piece(text)), []).append(text)
    return tuple((cased, piece.encode(), "|".join(texts).encode()) for (cased, piece), texts in grouped.items())


def _piece(text: str) -> str:
    """Return the longest piece of text without which an expression matches nothing."""
    text = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "\0", text)
    for _ in range(text.count("(")):
        text = re.sub(r"\([^()]*\)", "\0", text)
    text = re.sub(r".(?:[?*]|\{0?,\d+\})", "\0", text)
    return "" if "|" in text else max(re.findall(r"[A-Za-z' ]*", text), key=len)
