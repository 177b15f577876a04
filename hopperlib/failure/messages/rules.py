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

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

__all__ = [
    "STAGED",
    "Actor",
    "Fault",
    "Link",
    "RankWindow",
    "Role",
    "Rule",
    "Strength",
    "load_rules",
    "read_rules",
    "rule",
    "rule_texts",
    "staged_rules",
]

Role = Literal["cause", "symptom", "cascade", "noise", "info"]
Strength = Literal["strong", "plain", "weak"]
Fault = Literal["user", "system", "either"]
Actor = Literal["user", "staff", "vendor"]
RankWindow = Literal["any", "same", "other"]

# Name of the form that a build stages beside the models of the pages.
STAGED = "rules.json"

_DIGITS = str.maketrans("", "", "0123456789")


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


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a text or a list of texts as texts."""
    value = table.get(key, ())
    return (value,) if isinstance(value, str) else tuple(value)


def _links(table: Mapping[str, Any], key: str) -> tuple[Link, ...]:
    """Return links, each a code or a table with a code and windows."""
    return tuple(Link(code=item) if isinstance(item, str) else Link(**item) for item in table.get(key, ()))


def _rule(table: Mapping[str, Any]) -> Rule:
    """Build one rule; what it holds was checked before."""
    role, strength = table["role"], table.get("strength", "plain")
    return Rule(
        code=table["code"],
        title=table["title"],
        fault=table["class"],
        nersc_class=table.get("nersc_class"),
        role=role,
        strength=strength,
        anchors=_texts(table, "anchors"),
        digits=_texts(table, "digits"),
        regex=_texts(table, "regex"),
        explains=_links(table, "explains"),
        explained_by=_links(table, "explained_by"),
        refutes=_links(table, "refutes"),
        requires=_texts(table, "requires"),
        success=table.get("success", False),
        fatal=table.get("fatal", role in ("symptom", "cascade") or strength == "strong"),
        general=table.get("general", False),
        who=table["who"],
        confirm=table["confirm"],
        advice=_texts(table, "advice"),
        source=table["source"],
        positive=_texts(table, "positive"),
        negative=_texts(table, "negative"),
    )


def _in_order(tables: Iterable[Mapping[str, Any]]) -> tuple[Rule, ...]:
    """Build rules, in the order in which a line is tried on them."""
    return tuple(sorted(map(_rule, tables), key=lambda made: (made.precedence, made.general)))


def read_rules(texts: Iterable[str]) -> tuple[Rule, ...]:
    """Read rules out of TOML texts and check them, in the order in which a line is tried on them.

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
    hopperlib.failure.messages.rule_checks.RuleError: rule 'no good': code must be upper-case words joined by -
    """
    from hopperlib.failure.messages.rule_checks import check_rules

    tables = _tables(texts)
    check_rules(tables)
    return _in_order(tables)


def _tables(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the tables of TOML texts."""
    import tomllib

    return [table for text in texts for table in tomllib.loads(text).get("rule", [])]


def rule_texts() -> list[str]:
    """Return the TOML texts of the rules that come with the library.

    Examples
    --------
    >>> len(read_rules(rule_texts())) == len(load_rules())
    True
    """
    found = sorted((file for file in _folder().iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return [file.read_text(encoding="utf-8") for file in found]


def staged_rules() -> str:
    """Return the library's rules as JSON: the form that a page reads, in a twentieth of the time.

    Examples
    --------
    >>> staged_rules().startswith('[{"code":')
    True
    """
    return json.dumps(_tables(rule_texts()), separators=(",", ":"))


@cache
def load_rules() -> tuple[Rule, ...]:
    """Return the rules that come with the library, in the order in which they are tried.

    They are not checked here, which would take longer than a diagnosis: the
    tests read them with `read_rules`.

    Returns
    -------
    tuple of Rule

    Examples
    --------
    >>> len(load_rules()) > 100
    True
    """
    staged = _folder() / STAGED
    return _in_order(json.loads(staged.read_text(encoding="utf-8")) if staged.is_file() else _tables(rule_texts()))


def _folder() -> Traversable:
    return files("hopperlib.failure") / "rules"


def rule(code: str) -> Rule:
    """Return a rule by its code.

    Raises
    ------
    ValueError
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
    raise ValueError(f"there is no rule {code!r}; `hopper diagnose --list` prints all codes")
