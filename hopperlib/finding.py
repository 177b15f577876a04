"""A finding: one thing to know about what was given, how much it matters, and what to do."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache
from string import Formatter
from typing import Any, Literal, get_args

from hopperlib.package_data import read_beside
from hopperlib.records import dataclass
from hopperlib.units import size_text

Level = Literal["problem", "advice", "note", "unknown", "ok"]
LEVELS: tuple[Level, ...] = get_args(Level)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know.

    Parameters
    ----------
    code : str
        Stable short name, such as ``idle-numa-nodes``.
    message : str
        What it is and why it matters, with its number.
    level : {"problem", "advice", "note", "unknown", "ok"}
        How much it matters: it breaks or slows the run, it could be better,
        it is good to know, it cannot be told from what was given, or it was
        looked at and is fine.
    evidence : mapping
        The numbers behind it.
    advice : str
        What to do, with the command; empty if the message says it or nothing is to be done.

    Examples
    --------
    >>> Finding(code="one-ost", message="All data lie on one OST.", level="problem").level
    'problem'
    >>> Finding(code="x", message="y", level="bad")
    Traceback (most recent call last):
    ValueError: level='bad' must be one of: problem, advice, note, unknown, ok
    """

    code: str
    message: str
    level: Level = "advice"
    evidence: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"level={self.level!r} must be one of: {', '.join(LEVELS)}")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data; what is empty is left out."""
        data: dict[str, Any] = {"code": self.code, "message": self.message, "level": self.level}
        if self.evidence:
            data["evidence"] = dict(self.evidence)
        if self.advice:
            data["advice"] = self.advice
        return data


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by level, those of one level in the order they were found.

    Examples
    --------
    >>> pair = [Finding(code="a", message="-", level="note"), Finding(code="b", message="-", level="problem")]
    >>> [finding.code for finding in worst_first(pair)]
    ['b', 'a']
    """
    return tuple(sorted(findings, key=lambda finding: LEVELS.index(finding.level)))


# What stands between the items of a list.
_JOINTS = {"list": ", ", "and": " and ", "then": ", then ", "also": "; "}
# Decimals of a percentage that are worth showing, where a share is nearly nothing or nearly all.
_MOST_DECIMALS = 3


def _share(share: float, form: str) -> str:
    """Return a share in percent: one that is nearly nothing, or nearly all, with as many decimals as show that it is not."""
    for tried in (form, *(f".{decimals}" for decimals in range(1, _MOST_DECIMALS + 1))):
        text = f"{100 * share:{tried}f}"
        if not 0 < share < 1 or float(text) not in (0, 100):
            return f"{text} %"
    return f"less than {10.0**-_MOST_DECIMALS:g} %" if share < 0.5 else f"more than {100 - 10.0**-_MOST_DECIMALS:g} %"


class Words(Formatter):
    """Text in braces, with sizes for people (``:size``), counted nouns, shares and lists.

    Sizes are ``:size``, nouns ``:n file``, with the plural where it is more than an s (``:n task writes/tasks write``),
    shares ``:.1%`` or ``:+.1%``, lists ``:list``, ``:and``, ``:then`` or ``:also``, and
    ``:capital`` begins a sentence.

    Examples
    --------
    >>> Words().format("{0:.1%} of {1:n file}; {2:and}", 0.05, 1, ["a", "b"])
    '5.0 % of 1 file; a and b'
    """

    def format_field(self, value: Any, format_spec: str) -> str:
        """Return a value as text, or what stands after a bar in the place of None."""
        format_spec, _, absent = format_spec.partition("|")
        if value is None and absent:
            return absent
        if format_spec == "size":
            return size_text(value)
        if format_spec.startswith("n "):
            singular, _, plural = format_spec[2:].partition("/")
            return f"{value:,} {singular if value == 1 else plural or f'{singular}s'}"
        if format_spec == "capital":
            return f"{value[:1].upper()}{value[1:]}"
        if format_spec in _JOINTS:
            return _JOINTS[format_spec].join(map(str, value))
        if format_spec.endswith("%"):
            return _share(value, format_spec.rstrip(" %"))
        text = str(format(value, format_spec))
        # Nobody reads 1.23e+03.
        return f"{value:,.0f}" if format_spec.endswith("g") and "e+" in text else text


@cache
def _texts(package: str) -> dict[str, dict[str, Any]]:
    """Return the texts of a package by code."""
    return read_beside(str(sys.modules[package].__file__), "findings.toml")


def levels(package: str) -> dict[str, Level]:
    """Return the level of each code of a package, in the order of its ``findings.toml``.

    Examples
    --------
    >>> import hopperlib.storage
    >>> levels("hopperlib.storage")["open-burst"]
    'note'
    """
    return {code: said.get("level", "advice") for code, said in _texts(package).items()}


def worded(
    package: str, code: str, evidence: Mapping[str, Any] | None = None, *, level: Level | None = None, **words: Any
) -> Finding:
    """Return a finding in the words of ``findings.toml`` in a package: level, message and advice by code.

    Parameters
    ----------
    package, code : str
    evidence : mapping or None
        Numbers of the finding, which its texts may name in braces.
    level : str or None
        None for that of the file, which is ``advice`` if nothing is said.
    **words
        What else the texts name, before the evidence of the same name; `text` is the name under which
        they stand if that is not the code.

    Examples
    --------
    >>> burst = worded("hopperlib.storage", "open-burst", {"opens": 5000, "files": 7})
    >>> burst.level, burst.message[:42]
    ('note', '5,000 files are opened within a second: a ')
    """
    said, numbers = _texts(package)[words.pop("text", "") or code], dict(evidence or {})
    message, advice = (Words().vformat(said.get(part, ""), (), numbers | words) for part in ("message", "advice"))
    level = level or said.get("level", "advice")
    return Finding(code=code, level=level, message=message, evidence=numbers, advice=advice)
