"""Known problems of builds as data: conditions on modules, versions and flags, and what to do.

A rule is one table of ``failure/builds/problems.toml`` with a sample that it must know
and one that it must not; a new problem takes one table and no code. Rules of the
era ``report`` come from the report on Hopper, those of ``today`` are ours.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from hopperlib.failure.builds.versions import in_range, in_ranges, version_key

__all__ = [
    "BuildRule",
    "BuildRuleError",
    "Repair",
    "Versions",
    "build_rule",
    "first_gcc",
    "load_build_rules",
    "newest_glibcxx",
    "read_build_rules",
]

Era = Literal["report", "today"]
Level = Literal["problem", "advice"]
Stage = Literal["build", "run"]

_REQUIRED = {"code", "era", "level", "title", "symptom", "stage", "advice", "source", "when", "positive", "negative"}
_OPTIONAL = {"bug", "reported", "fixed_in", "fixed", "doubt", "documented", "repairs"}
# Condition -> what its value must be.
_CONDITIONS: dict[str, type] = {
    "kinds": list, "drivers": list, "compilers": list, "flags": list, "all_flags": list, "no_flags": list,
    "inputs": list, "modules": list, "all_modules": list, "no_modules": list, "two_of": list, "not_default": list,
    "variables": list, "no_variables": list, "linking": str, "no_linking": str, "mixed": bool, "shmem": bool,
    "early_library": bool, "glibcxx": bool, "versions": dict,
}  # fmt: skip
# What a repair does -> the keys it needs.
_REPAIRS: dict[str, set[str]] = {
    "load": {"module"},
    "unload": {"module"},
    "swap": {"module", "to"},
    "drop": {"flags"},
    "replace": {"flags", "by"},
    "add": {"flag"},
    "set": {"variable", "to"},
    "libraries-last": set(),
}
_REPAIR_OPTIONAL = {"do", "note", "documented", "unless_shmem"}


class BuildRuleError(ValueError):
    """A rule that cannot be used: its code, the key and what is wrong with it."""


class Versions:
    """For which versions of a module a source says that a problem is there, and for which that it is not.

    Parameters
    ----------
    known, free : sequence of str
        Ranges, as in `hopperlib.failure.builds.versions.in_range`.

    Examples
    --------
    >>> libsci = Versions(known=["==10.4.5"], free=["<10.4.5", ">=10.5.0"])
    >>> [libsci.holds(version) for version in ("10.4.5", "10.4.4", "10.4.6")]
    [True, False, None]
    """

    def __init__(self, *, known: list[str], free: list[str]) -> None:
        self.known, self.free = tuple(known), tuple(free)
        for bounds in self.known + self.free:
            in_range("0", bounds)

    def holds(self, version: str) -> bool | None:
        """Whether a version has the problem; None if no source says."""
        if in_ranges(version, self.known):
            return True
        return False if in_ranges(version, self.free) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One way out: what it does to modules, line or variables.

    Parameters
    ----------
    do : str
        load, unload, swap, drop, replace, add, set or libraries-last.
    target, to : str
        The module, flag or variable, and what takes its place.
    flags : tuple of str
        Patterns of flags to drop or replace.
    documented : bool
        Whether the source of the rule prints this way out.
    unless_shmem : bool
        Whether it is no way out for a program that uses SHMEM.
    note : str
    """

    do: str
    target: str
    to: str
    flags: tuple[str, ...]
    documented: bool
    unless_shmem: bool
    note: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BuildRule:
    """One known problem.

    Parameters
    ----------
    code : str
        Stable name, such as ``LIBSCI-DYNAMIC-FFTW3``.
    era : {"report", "today"}
        Whether it comes from the report on Hopper, or is ours.
    level : {"problem", "advice"}
    title, symptom : str
        What is wrong, and what one sees of it.
    stage : {"build", "run"}
        When it shows.
    bug : int or None
        The vendor's bug number.
    reported, fixed : datetime.date or None
        Day of the report, and of the release that fixed it.
    fixed_in : str
        That release.
    doubt : str
        Why the source leaves it open, so that it never counts as known.
    advice : tuple of str
    source : str
    documented : tuple of str
        Rows of the study in ``data/documented.csv``.
    when : mapping
        Conditions by name; all must be met.
    versions : dict of str to Versions
        Conditions on versions, by module.
    repairs : tuple of Repair
        Ways out, the first one that fits is taken.
    positive, negative : tuple of (str, str)
        Modules and line that the rule must know, and that it must not.
    """

    code: str
    era: Era
    level: Level
    title: str
    symptom: str
    stage: Stage
    bug: int | None
    reported: datetime.date | None
    fixed: datetime.date | None
    fixed_in: str
    doubt: str
    advice: tuple[str, ...]
    source: str
    documented: tuple[str, ...]
    when: Mapping[str, Any]
    versions: Mapping[str, Versions]
    repairs: tuple[Repair, ...]
    positive: tuple[str, str]
    negative: tuple[str, str]

    @property
    def days_open(self) -> int | None:
        """Days from report to the release that fixed it, where both are printed. [days]"""
        return (self.fixed - self.reported).days if self.fixed and self.reported else None

    def to_dict(self) -> dict[str, Any]:
        """Return what a program needs to know of the rule."""
        texts = {name: getattr(self, name) for name in ("code", "era", "level", "title", "symptom", "stage", "bug")}
        dates = {name: str(day) if (day := getattr(self, name)) else None for name in ("reported", "fixed")}
        return texts | dates | {"fixed_in": self.fixed_in or None, "advice": list(self.advice), "source": self.source}


def _fail(code: object, rule: str) -> BuildRuleError:
    return BuildRuleError(f"build rule {code!r}: {rule}")


def _choice(table: Mapping[str, Any], key: str, kind: Any) -> Any:
    """Read one of a few words."""
    if table[key] not in get_args(kind):
        raise _fail(table["code"], f"{key}={table[key]!r} must be one of: {', '.join(get_args(kind))}")
    return table[key]


def _repair(code: str, table: Mapping[str, Any]) -> Repair:
    """Build one repair, checked."""
    do = table.get("do")
    if do not in _REPAIRS:
        raise _fail(code, f"repair do={do!r} must be one of: {', '.join(_REPAIRS)}")
    missing, unknown = _REPAIRS[do] - set(table), set(table) - _REPAIRS[do] - _REPAIR_OPTIONAL
    if missing or unknown:
        raise _fail(code, f"repair {do!r}: keys missing: {sorted(missing)}; keys not known: {sorted(unknown)}")
    return Repair(
        do=do,
        target=table.get("module", table.get("variable", table.get("flag", ""))),
        to=table.get("to", table.get("by", "")),
        flags=tuple(table.get("flags", ())),
        documented=bool(table.get("documented", False)),
        unless_shmem=bool(table.get("unless_shmem", False)),
        note=table.get("note", ""),
    )


def _sample(table: Mapping[str, Any], key: str) -> tuple[str, str]:
    """Read a sample: modules and line."""
    sample = table[key]
    if not isinstance(sample, dict) or set(sample) != {"modules", "line"}:
        raise _fail(table["code"], f"{key}={sample!r} must be a table of modules and line")
    return sample["modules"], sample["line"]


def _rule(table: Mapping[str, Any]) -> BuildRule:
    """Build one rule, checked."""
    code = table.get("code")
    missing, unknown = _REQUIRED - set(table), set(table) - _REQUIRED - _OPTIONAL
    if missing or unknown:
        raise _fail(code, f"keys missing: {sorted(missing)}; keys not known: {sorted(unknown)}")
    when = dict(table["when"])
    for name, value in when.items():
        if name not in _CONDITIONS:
            raise _fail(code, f"condition {name!r} must be one of: {', '.join(_CONDITIONS)}")
        if not isinstance(value, _CONDITIONS[name]):
            raise _fail(code, f"condition {name}={value!r} must be of type {_CONDITIONS[name].__name__}")
    if not when:
        raise _fail(code, "when must hold a condition")
    try:
        versions = {module: Versions(**ranges) for module, ranges in when.pop("versions", {}).items()}
    except (TypeError, ValueError) as error:
        raise _fail(code, f"versions: {error}") from None
    return BuildRule(
        code=str(code),
        era=_choice(table, "era", Era),
        level=_choice(table, "level", Level),
        title=table["title"],
        symptom=table["symptom"],
        stage=_choice(table, "stage", Stage),
        bug=table.get("bug"),
        reported=table.get("reported"),
        fixed=table.get("fixed"),
        fixed_in=table.get("fixed_in", ""),
        doubt=table.get("doubt", ""),
        advice=tuple(table["advice"]),
        source=table["source"],
        documented=tuple(table.get("documented", ())),
        when=when,
        versions=versions,
        repairs=tuple(_repair(str(code), repair) for repair in table.get("repairs", ())),
        positive=_sample(table, "positive"),
        negative=_sample(table, "negative"),
    )


def read_build_rules(text: str) -> tuple[BuildRule, ...]:
    """Read rules out of TOML, in the order of the file.

    Raises
    ------
    BuildRuleError
        If a rule is wrong, or two share a code.

    Examples
    --------
    >>> read_build_rules('[[rule]]' + chr(10) + 'code = "HALF"')
    Traceback (most recent call last):
    hopperlib.failure.builds.rules.BuildRuleError: build rule 'HALF': keys missing: ['advice', 'era', 'level', 'negative', 'positive', 'source', 'stage', 'symptom', 'title', 'when']; keys not known: []
    """
    rules: dict[str, BuildRule] = {}
    for table in tomllib.loads(text).get("rule", []):
        made = _rule(table)
        if made.code in rules:
            raise _fail(made.code, "code must be unique")
        rules[made.code] = made
    return tuple(rules.values())


@cache
def _text() -> str:
    """Return the file of the rules."""
    return (files("hopperlib.failure.builds") / "problems.toml").read_text(encoding="utf-8")


@cache
def load_build_rules() -> tuple[BuildRule, ...]:
    """Return the rules that come with the library.

    Examples
    --------
    >>> [made.bug for made in load_build_rules() if made.bug][:2]
    [769872, 765956]
    """
    return read_build_rules(_text())


def build_rule(code: str) -> BuildRule:
    """Return a rule by its code, in any case.

    Raises
    ------
    BuildRuleError
        If there is none.

    Examples
    --------
    >>> build_rule("gnu-cxx-fortran").days_open
    31
    """
    for made in load_build_rules():
        if made.code == code.upper():
            return made
    raise BuildRuleError(f"there is no build rule {code!r}; `hopper build --list` prints all codes")


@cache
def _glibcxx() -> dict[str, str]:
    """Return the newest GLIBCXX by release of GCC, from old to new."""
    return dict(tomllib.loads(_text())["glibcxx"])


def newest_glibcxx(gcc: str) -> str | None:
    """Return the newest version of GLIBCXX that the C++ library of a GCC has; None for one older than the table.

    Parameters
    ----------
    gcc : str
        Version of GCC. One newer than the table has at least what is returned.

    Examples
    --------
    >>> newest_glibcxx("11.3.0"), newest_glibcxx("10.2"), newest_glibcxx("3.3")
    ('3.4.29', '3.4.28', None)
    """
    found = [label for release, label in _glibcxx().items() if version_key(release) <= version_key(gcc)]
    return found[-1] if found else None


def first_gcc(glibcxx: str) -> str | None:
    """Return the first GCC whose C++ library has a version of GLIBCXX; None if the table ends before it.

    Examples
    --------
    >>> first_gcc("3.4.29"), first_gcc("3.4.16"), first_gcc("3.4.99")
    ('11.1.0', '4.6.1', None)
    """
    return next((gcc for gcc, label in _glibcxx().items() if version_key(label) >= version_key(glibcxx)), None)
