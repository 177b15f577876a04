"""Build and link: flags and modules that failed together, their bugs, and the modules that everybody gets.

Documented: versions, flags, bug numbers, days, and which default was chosen.
The rules on builds were written from them, so most rows are inputs. Predicted
is one thing: the range in which a bug number without a day must lie, from the
days of the bugs before and after it. Checked as shapes is what the rules give
for programs that no sentence of the report puts together.
"""

from datetime import date
from itertools import pairwise
from typing import NamedTuple

from hopperlib.documented import documented, printed
from hopperlib.failure.builds.default_modules import OPTIONS, WORKS, outcomes
from hopperlib.failure.builds.rules import build_rule, load_build_rules
from hopperlib.studies.study import Prediction, Study, Value


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
    low, high = (
        bug_number_on(day) for code in ("PGI-MP-NONUMA", "PGI-MP-OPTIONS-FTN") if (day := build_rule(code).fixed)
    )
    return low, high


def _breaks(option: str) -> dict[str, set[str]]:
    """Return what an option does to the programs with MPI or SHMEM, and to static or dynamic ones."""
    problems = outcomes(option)
    kinds = ("MPI", "SHMEM", "static", "dynamic")
    return {kind: {code for program, code in problems.items() if kind in program.split(", ")} for kind in kinds}


def _values() -> dict[str, Value]:
    # Of the rules' bugs and releases those that the report prints.
    rows: dict[str, Value] = {}
    for rule in load_build_rules():
        rows |= {name: rule.bug or 0 for name in rule.documented if name in ("gnu-bug", "openmp-bug", "libsci-bug")}
        rows |= {name: rule.fixed_in for name in rule.documented if name.endswith("-fixed-version")}
    gnu, pgi = float(build_rule("GNU-CXX-FORTRAN").bug or 0), float(build_rule("PGI-MP-NONUMA").bug or 0)
    options = {f"option-{option.lower()}": "; ".join(modules) for option, modules in OPTIONS.items()}
    # Of each option: does it break the programs, all of them and no others, that the report says it breaks?
    a, b, c = map(_breaks, OPTIONS)
    return rows | {
        "openmp-options-bug": Prediction(*options_bug_range(), rival=(pgi, gnu)),
        "mpt-successors option-c": options.pop("option-c"),
        **options,
        "mpt-successor-count": len(OPTIONS["C"]),
        "option-a-breaks-dynamic": WORKS not in a["dynamic"] and a["static"] == {WORKS},
        "option-b-breaks-shmem": WORKS not in b["SHMEM"] and b["MPI"] == {WORKS},
        "option-c-breaks-some-dynamic": c["static"] == {WORKS} and c["dynamic"] == {"MPICH2-SHMEM-DYNAMIC"},
    }


STUDY = Study.read("build-and-link", _values)
