"""Build and link: flags and modules that failed together, their bugs, and the modules that everybody gets.

Documented: versions, flags, bug numbers, days, and which default was chosen.
The rules on builds were written from them, so most rows are inputs. Predicted
is one thing: the range in which a bug number without a day must lie, from the
days of the bugs before and after it. Checked as shapes is what the rules give
for programs that no sentence of the report puts together.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import NamedTuple

from hopperlib.documented import documented, printed
from hopperlib.failure.builds.default_modules import OPTIONS, WORKS, outcomes
from hopperlib.failure.builds.rules import build_rule
from hopperlib.studies.study import Prediction, Study, Value

__all__ = [
    "STUDY",
    "DatedBug",
    "bug_number_on",
    "bugs_a_day",
    "dated_bugs",
    "options_bug_range",
    "orphans_bug",
    "orphans_bug_range",
]


class DatedBug(NamedTuple):
    """A bug with a printed number and a printed day of its report."""

    code: str
    number: int
    reported: date


def dated_bugs() -> tuple[DatedBug, ...]:
    """Return the build bugs whose number and day are both printed, by day.

    Examples
    --------
    >>> [(bug.number, str(bug.reported)) for bug in dated_bugs()]
    [(761427, '2010-06-15'), (765956, '2010-10-19'), (769872, '2011-02-14')]
    """
    rules = [build_rule(code) for code in ("LIBSCI-DYNAMIC-FFTW3", "PGI-MP-NONUMA", "GNU-CXX-FORTRAN")]
    return tuple(DatedBug(rule.code, rule.bug, rule.reported) for rule in rules if rule.bug and rule.reported)


def orphans_bug() -> DatedBug:
    """Return a bug of another study, to try the rate on: the orphan reservations.

    Examples
    --------
    >>> orphans_bug().number
    770068
    """
    day = documented("scheduling-trouble.orphans-reported").note
    return DatedBug("ALPS-ORPHANED", int(printed("scheduling-trouble.orphans-bug")), date.fromisoformat(day))


def bugs_a_day(first: DatedBug, last: DatedBug) -> float:
    """Bug numbers given out a day between two bugs. [1/day]

    Examples
    --------
    >>> _, october, february = dated_bugs()
    >>> round(bugs_a_day(october, february), 1)
    33.2
    """
    return (last.number - first.number) / (last.reported - first.reported).days


def bug_number_on(day: date) -> float:
    """Bug number to be expected on a day, if numbers are given out evenly between October 2010 and February 2011.

    Examples
    --------
    >>> round(bug_number_on(date(2010, 10, 19)))
    765956
    """
    _, october, february = dated_bugs()
    return october.number + (day - october.reported).days * bugs_a_day(october, february)


def orphans_bug_range() -> tuple[float, float]:
    """Numbers that the bug of the orphan reservations may have: days after the last dated one, at the rate of either half.

    Examples
    --------
    >>> [round(number) for number in orphans_bug_range()]
    [770337, 770375]
    """
    *earlier, last = dated_bugs()
    days = (date.fromisoformat(documented("scheduling-trouble.orphans-reported").note) - last.reported).days
    rates = [bugs_a_day(*pair) for pair in pairwise((*earlier, last))]
    return last.number + days * min(rates), last.number + days * max(rates)


def options_bug_range() -> tuple[float, float]:
    """Numbers that the bug of the broken options may have: after the release that broke them, before the one that mended.

    Examples
    --------
    >>> [round(number) for number in options_bug_range()]
    [767881, 769042]
    """
    broken, mended = build_rule("PGI-MP-NONUMA").fixed, build_rule("PGI-MP-OPTIONS-FTN").fixed
    assert broken is not None
    assert mended is not None
    return bug_number_on(broken), bug_number_on(mended)


def _touched(option: str, ending: str) -> set[str]:
    """Return what an option does to the programs whose kind ends or begins with a word."""
    return {
        code for program, code in outcomes(option).items() if program.endswith(ending) or program.startswith(ending)
    }


def _values() -> dict[str, Value]:
    gnu, pgi = build_rule("GNU-CXX-FORTRAN"), build_rule("PGI-MP-NONUMA")
    ftn, c = build_rule("PGI-MP-OPTIONS-FTN"), build_rule("PGI-MP-OPTIONS-C")
    libsci = build_rule("LIBSCI-DYNAMIC-FFTW3")
    # Of each option: does it break the programs, all of them and no others, that the report says it breaks?
    breaks_dynamic = WORKS not in _touched("A", "dynamic") and _touched("A", "static") == {WORKS}
    breaks_shmem = WORKS not in _touched("B", "SHMEM") and _touched("B", "MPI") == {WORKS}
    breaks_some = _touched("C", "static") == {WORKS} and _touched("C", "dynamic") == {"MPICH2-SHMEM-DYNAMIC"}
    return {
        "gnu-bug": gnu.bug or 0,
        "gnu-fixed-version": gnu.fixed_in,
        "openmp-bug": pgi.bug or 0,
        "openmp-fixed-version": pgi.fixed_in,
        "openmp-options-bug": Prediction(*options_bug_range(), rival=(float(pgi.bug or 0), float(gnu.bug or 0))),
        "openmp-fortran-fixed-version": ftn.fixed_in,
        "openmp-all-fixed-version": c.fixed_in,
        "libsci-bug": libsci.bug or 0,
        "mpt-successors option-c": "; ".join(OPTIONS["C"]),
        "mpt-successor-count": len(OPTIONS["C"]),
        "option-a": "; ".join(OPTIONS["A"]),
        "option-b": "; ".join(OPTIONS["B"]),
        "option-a-breaks-dynamic": breaks_dynamic,
        "option-b-breaks-shmem": breaks_shmem,
        "option-c-breaks-some-dynamic": breaks_some,
    }


STUDY = Study.read("build-and-link", _values)
