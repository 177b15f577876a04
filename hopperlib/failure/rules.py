"""Messages as data: what a line means, whose fault it is, what to do.

A rule is one table of a file in ``failure/rules``; a new message takes one
table and two sample lines, and no code. A rule's role says how far its
message can be trusted:

=========  ====================================================================
cause      names what went wrong; `strength` says how surely
symptom    shows that something went wrong, not what: exit codes, tracebacks
cascade    one task or node tells that another one went away
noise      looks like an error and is none
info       marks the course of a job, such as its end
=========  ====================================================================

``strong`` causes say by themselves what happened (a time limit), ``plain``
ones mostly do, ``weak`` ones are generic: a segmentation fault is true and
explains little. What a message explains is written as links between codes,
with windows in lines, seconds and ranks.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

__all__ = ["Link", "Role", "Rule", "RuleError", "load_rules", "read_rules", "rule"]

Role = Literal["cause", "symptom", "cascade", "noise", "info"]
Strength = Literal["strong", "plain", "weak"]
Fault = Literal["user", "system", "either"]
Actor = Literal["user", "staff", "vendor"]
RankWindow = Literal["any", "same", "other"]

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

REQUIRED = {
    "code", "title", "class", "role", "anchors", "regex", "who", "confirm", "advice", "source", "positive", "negative",
}  # fmt: skip
OPTIONAL = {
    "nersc_class",
    "strength",
    "explains",
    "explained_by",
    "requires",
    "success",
    "general",
    "digits",
    "fatal",
    "refutes",
}

_DIGITS = str.maketrans("", "", "0123456789")
_CLASSES_AND_ESCAPES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]")
_UNBOUNDED = re.compile(r"[*+]|\{\d+,\}")
_BOUNDS = re.compile(r"\{\d+(?:,\d+)?\}|\d-\d")


class RuleError(ValueError):
    """A rule that cannot be used: its code, the key and what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One message explains another.

    Parameters
    ----------
    code : str
        The other rule's code; ``*`` at its end stands for any rest.
    lines : int or None
        Lines of one file that may lie between them, None for any number.
    seconds : float or None
        Seconds that may lie between them where both carry a time. [s]
    rank : {"any", "same", "other"}
        Whether both must come from the same task, or from different ones,
        where both name it.
    """

    code: str
    lines: int | None = None
    seconds: float | None = None
    rank: RankWindow = "any"

    def names(self, code: str) -> bool:
        """Whether the link speaks of a code."""
        return code.startswith(self.code[:-1]) if self.code.endswith("*") else code == self.code


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """One message: how it reads and what it means.

    Parameters
    ----------
    code : str
        Stable name, such as ``ALPS-OOM``.
    title : str
        What happened, in plain words.
    fault : {"user", "system", "either"}
        Whose fault it is; ``class`` in the file.
    nersc_class : str or None
        The class of NERSC's job completion reports, where there is one.
    role, strength : str
        How far the message can be trusted (see the module).
    anchors : tuple of str
        Pieces of text of which a line must hold one, in any case. They begin
        and end with whole words; digits in them count only as said for `digits`.
    digits : tuple of str
        Pieces of text with digits. To the scanner lines that differ only in
        digits are the same, unless one holds such a piece, or an anchor with digits.
    regex : tuple of str
        Regular expressions of which a line must match one. Their named
        groups become the fields of a finding. Every quantifier is bounded.
    explains, explained_by : tuple of Link
        Messages that it explains, or that explain it.
    refutes : tuple of Link
        Messages that cannot be the cause where this one stands: a job that
        reached its time limit had started.
    requires : tuple of str
        Codes of which one must be found too for this message to count;
        ``@failure`` is any sign of failure. Else it is taken for noise.
    success : bool
        Whether the message says that the work was done.
    fatal : bool
        Whether a program that says so has ended. Symptoms, cascades and
        strong causes have, unless their rule says otherwise.
    general : bool
        Whether it is tried after all others of the same role and strength.
    who : {"user", "staff", "vendor"}
        Who acts.
    confirm : str
        What would confirm it.
    advice : tuple of str
        What to do, in steps.
    source : str
        Where this verbatim message is documented.
    positive, negative : tuple of str
        Lines that the rule must know, and similar lines that it must not.
    """

    code: str
    title: str
    fault: Fault
    nersc_class: str | None
    role: Role
    strength: Strength
    anchors: tuple[str, ...]
    digits: tuple[str, ...]
    regex: tuple[str, ...]
    explains: tuple[Link, ...]
    explained_by: tuple[Link, ...]
    refutes: tuple[Link, ...]
    requires: tuple[str, ...]
    success: bool
    fatal: bool
    general: bool
    who: Actor
    confirm: str
    advice: tuple[str, ...]
    source: str
    positive: tuple[str, ...]
    negative: tuple[str, ...]

    @property
    def keys(self) -> tuple[bytes, ...]:
        """The anchors as the scanner looks for them: lower case, without digits."""
        return tuple(anchor.lower().translate(_DIGITS).encode() for anchor in self.anchors)

    @property
    def digit_keys(self) -> tuple[bytes, ...]:
        """Pieces of text that make the digits of a line matter, in lower case."""
        return tuple(text.lower().encode() for text in self.anchors + self.digits if re.search(r"\d", text))

    @property
    def precedence(self) -> int:
        """Place in the order in which rules are tried on a line, first is 0.

        Noise comes first, for its rules are written for lines that look like
        something else; then the more a message says, the earlier.
        """
        if self.role == "cause":
            return 1 + get_args(Strength).index(self.strength)
        return {"noise": 0, "cascade": 4, "symptom": 5, "info": 6}[self.role]


def _fail(code: object, rule: str) -> RuleError:
    return RuleError(f"rule {code!r}: {rule}")


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Read a text or a list of texts."""
    value = table.get(key, [])
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise _fail(table.get("code"), f"{key} must be a text or a list of texts")
    return tuple(value)


def _links(table: Mapping[str, Any], key: str) -> tuple[Link, ...]:
    """Read links, each a code or a table with a code and windows."""
    links = []
    for item in table.get(key, []):
        entry = {"code": item} if isinstance(item, str) else item
        if not isinstance(entry, dict) or "code" not in entry or set(entry) - {"code", "lines", "seconds", "rank"}:
            raise _fail(table.get("code"), f"{key}={item!r} must be a code, or a table of code, lines, seconds, rank")
        links.append(Link(**entry))
    return tuple(links)


def _choice(table: Mapping[str, Any], key: str, kind: Any, default: str | None = None) -> Any:
    """Read one of a few words."""
    value = table.get(key, default)
    if value not in get_args(kind):
        raise _fail(table.get("code"), f"{key}={value!r} must be one of: {', '.join(get_args(kind))}")
    return value


def _check_regex(code: str, text: str, pieces: tuple[str, ...]) -> None:
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


def _rule(table: Mapping[str, Any]) -> Rule:
    """Build one rule, checked."""
    code = table.get("code")
    if not isinstance(code, str) or not re.fullmatch(r"[A-Z0-9]+(?:-[A-Z0-9]+)*", code):
        raise _fail(code, "code must be upper-case words joined by -")
    missing, unknown = REQUIRED - set(table), set(table) - REQUIRED - OPTIONAL
    if missing or unknown:
        raise _fail(code, f"keys missing: {sorted(missing)}; keys not known: {sorted(unknown)}")
    nersc_class = table.get("nersc_class")
    if nersc_class is not None and nersc_class not in NERSC_CLASSES:
        raise _fail(code, f"nersc_class={nersc_class!r} must be one of NERSC's: {', '.join(sorted(NERSC_CLASSES))}")
    texts = {
        key: _texts(table, key) for key in ("anchors", "digits", "regex", "requires", "advice", "positive", "negative")
    }
    for key in ("anchors", "regex", "advice", "positive", "negative"):
        if not texts[key]:
            raise _fail(code, f"{key} must not be empty")
    for anchor in texts["anchors"]:
        if not re.search(r"[A-Za-z]{3}", anchor.translate(_DIGITS)):
            raise _fail(code, f"anchor {anchor!r} must hold a word of at least 3 letters")
    for text in texts["regex"]:
        _check_regex(code, text, texts["anchors"] + texts["digits"])
    role, strength = _choice(table, "role", Role), _choice(table, "strength", Strength, "plain")
    return Rule(
        code=code,
        title=str(table["title"]),
        fault=_choice(table, "class", Fault),
        nersc_class=nersc_class,
        role=role,
        strength=strength,
        explains=_links(table, "explains"),
        explained_by=_links(table, "explained_by"),
        refutes=_links(table, "refutes"),
        success=bool(table.get("success", False)),
        fatal=bool(table.get("fatal", role in ("symptom", "cascade") or strength == "strong")),
        general=bool(table.get("general", False)),
        who=_choice(table, "who", Actor),
        confirm=str(table["confirm"]),
        source=str(table["source"]),
        **texts,
    )


def read_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Read rules out of TOML texts, in the order in which a line is tried on them.

    Parameters
    ----------
    texts : iterable of str
        TOML, each with ``[[rule]]`` tables.

    Returns
    -------
    tuple of Rule

    Raises
    ------
    RuleError
        If a rule is wrong, two share a code, or a link names no rule.

    Examples
    --------
    >>> read_rules(['[[rule]]' + chr(10) + 'code = "no good"'])
    Traceback (most recent call last):
    hopperlib.failure.rules.RuleError: rule 'no good': code must be upper-case words joined by -
    """
    rules: dict[str, Rule] = {}
    for text in texts:
        for table in tomllib.loads(text).get("rule", []):
            made = _rule(table)
            if made.code in rules:
                raise _fail(made.code, "code must be unique")
            rules[made.code] = made
    for made in rules.values():
        codes = [link.code for link in made.explains + made.explained_by + made.refutes]
        codes += [code for code in made.requires if code != "@failure"]
        for code in codes:
            if not any(Link(code=code).names(other) for other in rules):
                raise _fail(made.code, f"code {code!r} in its links names no rule")
    return tuple(sorted(rules.values(), key=lambda made: (made.precedence, made.general)))


@cache
def load_rules() -> tuple[Rule, ...]:
    """Return the rules that come with the library, in the order in which they are tried.

    Returns
    -------
    tuple of Rule

    Examples
    --------
    >>> len(load_rules()) > 100
    True
    """
    folder = files("hopperlib.failure") / "rules"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return read_rules(file.read_text(encoding="utf-8") for file in found)


def rule(code: str) -> Rule:
    """Return a rule by its code.

    Raises
    ------
    RuleError
        If there is none.

    Examples
    --------
    >>> rule("ALPS-OOM").nersc_class
    'OOM'
    >>> rule("alps-oom").code
    'ALPS-OOM'
    """
    for made in load_rules():
        if made.code == code.upper():
            return made
    raise RuleError(f"there is no rule {code!r}; `hopper diagnose --list` prints all codes")
