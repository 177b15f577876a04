"""Known problems of builds as data: conditions on modules, versions and flags, and what to do.

A rule is one table of ``failure/builds/problems.toml`` with a sample that it must match and one that it must not; a new
problem needs one table and no code. Rules that name documented rows come from the report on Hopper, the others are
ours.
"""

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal

from hopperlib.errors import InputError, did_you_mean
from hopperlib.failure.builds.versions import in_range
from hopperlib.package_data import load_text_resource
from hopperlib.schema import key, read_record, read_toml


@dataclass(frozen=True, slots=True, kw_only=True)
class _Versions:
    """Versions of a module that have a problem, and versions that do not, according to a source.

    Parameters
    ----------
    known, free : tuple of str
        Ranges, as in `hopperlib.failure.builds.versions.in_range`.

    Examples
    --------
    >>> libsci = _Versions(known=("==10.4.5",), free=("<10.4.5", ">=10.5.0"))
    >>> [libsci.holds(version) for version in ("10.4.5", "10.4.4", "10.4.6")]
    [True, False, None]
    """

    known: tuple[str, ...]
    free: tuple[str, ...] = ()

    def holds(self, version: str) -> bool | None:
        """Whether a version has the problem; None if no source covers it."""
        if any(in_range(version, bounds) for bounds in self.known):
            return True
        return False if any(in_range(version, bounds) for bounds in self.free) else None

    def broken_rules(self) -> Iterator[str]:
        """Yield the ranges that cannot be read."""
        for bounds in self.known + self.free:
            try:
                in_range("0", bounds)
            except ValueError as error:
                yield f"{bounds!r}: {error}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conditions:
    """Conditions of a rule; None means no condition.

    Parameters
    ----------
    kinds, drivers, compilers : tuple of str or None
        One of these compiler commands, by kind, name or family.
    flags, no_flags : tuple of str or None
        Patterns of words on the line.
    modules, all_modules, no_modules, two_of : tuple of str or None
        Modules that are loaded, by name, pattern or bound.
    no_variables : tuple of str or None
        Patterns of ``NAME`` or ``NAME=value``.
    linking : {"static", "dynamic"} or None
    mixed, shmem : bool or None
    versions : mapping of str to _Versions
        By module.
    """

    kinds: tuple[str, ...] | None = None
    drivers: tuple[str, ...] | None = None
    compilers: tuple[str, ...] | None = None
    flags: tuple[str, ...] | None = None
    no_flags: tuple[str, ...] | None = None
    modules: tuple[str, ...] | None = None
    all_modules: tuple[str, ...] | None = None
    no_modules: tuple[str, ...] | None = None
    two_of: tuple[str, ...] | None = None
    no_variables: tuple[str, ...] | None = None
    linking: Literal["static", "dynamic"] | None = None
    mixed: bool | None = None
    shmem: bool | None = None
    versions: Mapping[str, _Versions] = key(dict)

    def given(self) -> dict[str, Any]:
        """Return the conditions that are set, except those on versions."""
        named = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "versions"}
        return {name: value for name, value in named.items() if value is not None}

    def broken_rules(self) -> Iterator[str]:
        """Yield the missing keys."""
        if not self.given() and not self.versions:
            yield "kinds: is missing, and so is every other condition"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """One repair: changes to modules or to the line.

    Parameters
    ----------
    do : str
        load, unload, swap or drop.
    what : tuple of str
        The module to act on, or patterns of flags.
    to : str
        The replacement module.
    unless_shmem : bool
        Whether the repair does not work for programs that use SHMEM.
    note : str
    """

    do: Literal["load", "unload", "swap", "drop"]
    what: tuple[str, ...] = key((), single=True)
    to: str = ""
    unless_shmem: bool = False
    note: str = ""

    def broken_rules(self) -> Iterator[str]:
        """Yield keys that are missing or unknown for this repair."""
        needed = {"what": True, "to": self.do == "swap"}
        for name, is_needed in needed.items():
            if bool(getattr(self, name)) != is_needed:
                yield f"{name}: {'is required' if is_needed else 'is not a key'} for the repair {self.do!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """Loaded modules and a line."""

    modules: str = key(blank=True)
    line: str = key(blank=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRule:
    """One known problem.

    Parameters
    ----------
    code : str
        Stable name, such as ``LIBSCI-DYNAMIC-FFTW3``.
    level : {"problem", "advice"}
    title, symptom : str
        The problem and its symptoms.
    stage : {"build", "run"}
        When the problem appears.
    bug : int or None
        The vendor's bug number.
    reported, fixed : datetime.date or None
        Day of the report, and of the release that fixed it.
    fixed_in : str
        The release that fixed it.
    doubt : str
        Why the source is inconclusive; such a problem never counts as known.
    advice : tuple of str
    source : str
    documented : tuple of str
        Rows of the study in ``data/documented.csv``.
    when : _Conditions
        Conditions, all of which must be met.
    repairs : tuple of Repair
        Repairs; the first one that fits is used.
    positive, negative : _Sample
        Modules and line that the rule must match, and that it must not.
    """

    code: str = key(pattern="[A-Z0-9]+(?:-[A-Z0-9]+)*", form="upper-case words joined by -")
    level: Literal["problem", "advice"] = "problem"
    title: str
    symptom: str
    stage: Literal["build", "run"] = "build"
    bug: int | None = None
    reported: datetime.date | None = None
    fixed: datetime.date | None = None
    fixed_in: str = ""
    doubt: str = ""
    advice: tuple[str, ...]
    source: str
    documented: tuple[str, ...] = ()
    when: _Conditions
    repairs: tuple[Repair, ...] = ()
    positive: _Sample
    negative: _Sample

    def __hash__(self) -> int:
        # The code identifies the rule; hashing all fields at every lookup would be slow.
        return hash(self.code)

    @property
    def era(self) -> Literal["report", "today"]:
        """Whether the rule comes from the report on Hopper, whose rows it names, and not from the authors of this
        library.
        """
        return "report" if self.documented else "today"

    @property
    def days_open(self) -> int | None:
        """Days from the report to the release with the fix, where both dates are printed. [days]"""
        return (self.fixed - self.reported).days if self.fixed and self.reported else None

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a dictionary."""
        texts = {name: getattr(self, name) for name in ("code", "era", "level", "title", "symptom", "stage", "bug")}
        dates = {name: str(day) if (day := getattr(self, name)) else None for name in ("reported", "fixed")}
        return texts | dates | {"fixed_in": self.fixed_in or None, "advice": list(self.advice), "source": self.source}


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildProblems:
    """Contents of ``problems.toml``."""

    rules: tuple[BuildRule, ...] = key(name="rule", least=1)


def read_build_rules(text: str) -> tuple[BuildRule, ...]:
    """Read rules from TOML, in the order of the file.

    Parameters
    ----------
    text : str
        Contents of a TOML file with ``[[rule]]`` tables.

    Raises
    ------
    TableError
        If a rule is invalid, or two rules share a code; `problems` lists all errors.

    Examples
    --------
    >>> read_build_rules('[[rule]]' + chr(10) + 'code = "HALF"')
    Traceback (most recent call last):
    hopperlib.schema.reading.TableError: rule.HALF.title: is missing (and 6 more)
    """
    return read_record(BuildProblems, read_toml(text, name="rules"), name="").rules


@cache
def load_build_rules() -> tuple[BuildRule, ...]:
    """Return the rules that come with the library.

    Examples
    --------
    >>> [made.bug for made in load_build_rules() if made.bug][:2]
    [769872, 765956]
    """
    return read_build_rules(load_text_resource(__file__, "problems.toml"))


def build_rule(code: str) -> BuildRule:
    """Return a rule by its code, ignoring case.

    Parameters
    ----------
    code : str
        Code of the rule.

    Raises
    ------
    ValueError
        If there is no such rule.

    Examples
    --------
    >>> build_rule("gnu-cxx-fortran").days_open
    31
    """
    for made in load_build_rules():
        if made.code == code.upper():
            return made
    known = did_you_mean(code.upper(), [made.code for made in load_build_rules()])
    raise InputError(f"there is no build rule {code!r}{known}", name="code", value=code)
