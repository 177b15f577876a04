"""What a table of a rule file must hold: checked when rules are written, not when they are used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from hopperlib.failure.messages.rules import Actor, Fault, Link, RankWindow, Role, Strength

__all__ = ["NERSC_CLASSES", "RuleError", "check_rules"]

# What NERSC's staff called the classes of failures in their job completion reports.
NERSC_CLASSES = frozenset(
    [
        "APEXIT",
        "APNOENT",
        "APRESOURCE",
        "APWRAP",
        "CCERUNTIME",
        "PATHRUNTIME",
        "MPIABORT",
        "MPIENV",
        "MPIFATAL",
        "MPIIO",
        "PGFIO",
        "PTLUSER",
        "SIGSEGV",
        "SIGTERM",
        "XBIGOUT",
        "DISKQUOTA",
        "OOM",
        "NIDTERM",
        "LUSTREIO",
        "NODEFAIL",
        "PTLSYS",
        "SHMEMATOMIC",
        "IDENTERM",
        "JOBSTART",
        "JOBPROLOG",
        "JOBREQUEUE",
        "JOBCOPY",
        "JOBWALLTIME",
        "NOBARRIER",
    ]
)

_WORDS = ("code", "title", "class", "role", "who", "confirm", "source")
_LISTS = ("anchors", "regex", "advice", "positive", "negative")
_OPTIONAL_LISTS = ("digits", "requires")
_FLAGS = ("success", "general", "fatal")
_LINKS = ("explains", "explained_by", "refutes")
_REQUIRED = {*_WORDS, *_LISTS}
_OPTIONAL = {*_OPTIONAL_LISTS, *_FLAGS, *_LINKS, "nersc_class", "strength"}

_CLASSES_AND_ESCAPES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_UNBOUNDED = re.compile(r"[*+]|\{\d+,\}")
_BOUNDS = re.compile(r"\{\d+(?:,\d+)?\}|\d-\d")


class RuleError(ValueError):
    """A rule that cannot be used: its code, the key and what is wrong with it."""


def _fail(code: object, rule: str) -> RuleError:
    return RuleError(f"rule {code!r}: {rule}")


def check_rules(tables: Iterable[Mapping[str, Any]]) -> None:
    """Refuse tables that make no good set of rules.

    Parameters
    ----------
    tables : iterable of mapping
        As read from TOML.

    Raises
    ------
    RuleError
        If a table is wrong, two share a code, or a link names no rule.

    Examples
    --------
    >>> check_rules([{"code": "no good"}])
    Traceback (most recent call last):
    hopperlib.failure.messages.rule_checks.RuleError: rule 'no good': code must be upper-case words joined by -
    """
    known: set[str] = set()
    named: list[tuple[str, str]] = []
    for table in tables:
        code = table.get("code")
        if not isinstance(code, str) or not re.fullmatch(r"[A-Z0-9]+(?:-[A-Z0-9]+)*", code):
            raise _fail(code, "code must be upper-case words joined by -")
        _check_table(code, table)
        if code in known:
            raise _fail(code, "code must be unique")
        known.add(code)
        named += [(code, other) for key in _LINKS for other in _linked(code, table, key)]
        named += [(code, other) for other in table.get("requires", []) if other != "@failure"]
    for code, other in named:
        link = Link(code=other)
        if not any(map(link.names, known)):
            raise _fail(code, f"code {other!r} in its links names no rule")


def _check_table(code: str, table: Mapping[str, Any]) -> None:
    """Check one table, its links apart."""
    missing, unknown = _REQUIRED - set(table), set(table) - _REQUIRED - _OPTIONAL
    if missing or unknown:
        raise _fail(code, f"keys missing: {sorted(missing)}; keys not known: {sorted(unknown)}")
    for key in _WORDS:
        if not isinstance(table[key], str) or not table[key].strip():
            raise _fail(code, f"{key} must be a text")
    for key in _FLAGS:
        if not isinstance(table.get(key, False), bool):
            raise _fail(code, f"{key}={table[key]!r} must be true or false")
    nersc_class = table.get("nersc_class")
    if nersc_class is not None and nersc_class not in NERSC_CLASSES:
        raise _fail(code, f"nersc_class={nersc_class!r} must be one of NERSC's: {', '.join(sorted(NERSC_CLASSES))}")
    texts = {key: _texts(code, table, key) for key in (*_LISTS, *_OPTIONAL_LISTS)}
    for key in _LISTS:
        if not texts[key]:
            raise _fail(code, f"{key} must not be empty")
    for anchor in texts["anchors"]:
        if not re.search(r"[A-Za-z]{3}", re.sub(r"[0-9]", "", anchor)):
            raise _fail(code, f"anchor {anchor!r} must hold a word of at least 3 letters")
    for text in texts["regex"]:
        _check_regex(code, text, [*texts["anchors"], *texts["digits"]])
    for key, kind in (("role", Role), ("strength", Strength), ("class", Fault), ("who", Actor)):
        _check_choice(code, key, table.get(key, "plain"), kind)


def _texts(code: str, table: Mapping[str, Any], key: str) -> list[str]:
    """Return a text or a list of texts."""
    value = table.get(key, [])
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise _fail(code, f"{key} must be a text or a list of texts")
    return value


def _linked(code: str, table: Mapping[str, Any], key: str) -> list[str]:
    """Return the codes of links, each a code or a table with a code and windows."""
    codes = []
    for item in table.get(key, []):
        entry = {"code": item} if isinstance(item, str) else item
        if not isinstance(entry, dict) or "code" not in entry or set(entry) - {"code", "lines", "seconds", "rank"}:
            raise _fail(code, f"{key}={item!r} must be a code, or a table of code, lines, seconds, rank")
        _check_choice(code, f"{key}.rank", entry.get("rank", "any"), RankWindow)
        codes.append(entry["code"])
    return codes


def _check_choice(code: str, key: str, value: object, kind: Any) -> None:
    """Refuse a word that is none of a few."""
    if value not in get_args(kind):
        raise _fail(code, f"{key}={value!r} must be one of: {', '.join(get_args(kind))}")


def _check_regex(code: str, text: str, pieces: list[str]) -> None:
    """Refuse what cannot be compiled, and quantifiers without an upper bound.

    With bounds, the time for a line grows no faster than its length, whatever
    the line holds. Digits in an expression must stand in a piece of text too,
    because the scanner takes lines that differ only in digits for the same.
    """
    try:
        re.compile(text.encode())
    except re.error as error:
        raise _fail(code, f"regex={text!r} cannot be compiled: {error}") from None
    if _UNBOUNDED.search(_CLASSES_AND_ESCAPES.sub("x", text)):
        raise _fail(
            code, f"regex={text!r} holds *, + or {{n,}}; every quantifier needs an upper bound, such as {{1,80}}"
        )
    if re.search(r"\d", _BOUNDS.sub("", text)) and not any(re.search(r"\d", piece) for piece in pieces):
        raise _fail(
            code, f"regex={text!r} asks for certain digits, so an anchor or `digits` must hold them; else write \\d"
        )
