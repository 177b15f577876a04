"""Build and link: flags and modules that failed together, their bugs, and the modules that everybody gets.

Documented: versions, flags, bug numbers, days, and which default was chosen.
The rules on builds were written from them, so most rows are inputs. Predicted
is one thing: the range in which a bug number without a day must lie, from the
days of the bugs before and after it. Checked as shapes is what the rules give
for programs that no sentence of the report puts together.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple

from hopperlib.documented import documented
from hopperlib.failure.builds.default_modules import OPTIONS, WORKS, outcomes
from hopperlib.failure.builds.rules import build_rule
from hopperlib.studies.study import Check, Study

__all__ = ["STUDY", "DatedBug", "bug_number_on", "bugs_a_day", "dated_bugs", "options_bug_range", "orphans_bug"]


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
    number = documented("scheduling-trouble.orphans-bug").number
    day = documented("scheduling-trouble.orphans-reported").note
    assert number is not None
    return DatedBug("ALPS-ORPHANED", int(number), date.fromisoformat(day))


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


def _checks() -> tuple[Check, ...]:
    gnu, pgi = build_rule("GNU-CXX-FORTRAN"), build_rule("PGI-MP-NONUMA")
    ftn, c = build_rule("PGI-MP-OPTIONS-FTN"), build_rule("PGI-MP-OPTIONS-C")
    libsci = build_rule("LIBSCI-DYNAMIC-FFTW3")
    rule = "a condition in a rule"
    day = "a date in a rule"
    release = "no rule asks for the system's release"
    fftw = "a preference; no build fails of it"
    broken = WORKS not in _touched("A", "dynamic") and _touched("A", "static") == {WORKS}
    shmem = WORKS not in _touched("B", "SHMEM") and _touched("B", "MPI") == {WORKS}
    some = _touched("C", "static") == {WORKS} and _touched("C", "dynamic") == {"MPICH2-SHMEM-DYNAMIC"}
    return (
        Check(id="build-and-link.franklin-cle", role="not modelled", reason=release),
        Check(id="build-and-link.hopper-cle", role="not modelled", reason=release),
        Check(id="build-and-link.gnu-reporters", role="not modelled", reason="a count of people"),
        Check(id="build-and-link.gnu-crash", role="input", reason=rule),
        Check(id="build-and-link.gnu-broken-version", role="input", reason=rule),
        Check(id="build-and-link.gnu-bug", role="input", reproduced=float(gnu.bug or 0)),
        Check(id="build-and-link.gnu-reported", role="input", reason=day),
        Check(id="build-and-link.gnu-cause", role="input", reason=rule),
        Check(id="build-and-link.gnu-fixed-version", role="input", reproduced=gnu.fixed_in),
        Check(id="build-and-link.gnu-fixed", role="input", reason=day),
        Check(id="build-and-link.openmp-flag", role="input", reason=rule),
        Check(id="build-and-link.openmp-only-pgi-wrappers", role="input", reason=rule),
        Check(id="build-and-link.openmp-broken-version", role="input", reason=rule),
        Check(id="build-and-link.openmp-reported", role="input", reason=day),
        Check(id="build-and-link.openmp-bug", role="input", reproduced=float(pgi.bug or 0)),
        Check(id="build-and-link.openmp-fixed-version", role="input", reproduced=pgi.fixed_in),
        Check(id="build-and-link.openmp-fixed", role="input", reason=day),
        Check(
            id="build-and-link.openmp-fix-flags",
            role="input",
            reason="the rule on plain -mp, which is possible at most: the report names the same flag as fault and as cure",
        ),
        Check(id="build-and-link.openmp-options-lost", role="input", reason=rule),
        Check(
            id="build-and-link.openmp-options-bug",
            role="predicted",
            reproduced=options_bug_range(),
            reason="numbers of the days from 16 December 2010 to 20 January 2011, at the rate between the bugs of October and February",
        ),
        Check(id="build-and-link.openmp-fortran-fixed-version", role="input", reproduced=ftn.fixed_in),
        Check(id="build-and-link.openmp-fortran-fixed", role="input", reason=day),
        Check(id="build-and-link.openmp-all-fixed-version", role="input", reproduced=c.fixed_in),
        Check(id="build-and-link.openmp-all-fixed", role="input", reason=day),
        Check(id="build-and-link.libsci-flag", role="input", reason=rule),
        Check(id="build-and-link.libsci-undefined-fftw3", role="input", reason=rule),
        Check(id="build-and-link.libsci-broken-version", role="input", reason=rule),
        Check(id="build-and-link.libsci-load-fftw3", role="input", reason=rule),
        Check(id="build-and-link.libsci-good-version", role="input", reason=rule),
        Check(id="build-and-link.libsci-bug", role="input", reproduced=float(libsci.bug or 0)),
        Check(id="build-and-link.libsci-reported", role="input", reason=day),
        Check(id="build-and-link.fftw-default", role="not modelled", reason=fftw),
        Check(id="build-and-link.fftw-suggested", role="not modelled", reason=fftw),
        Check(id="build-and-link.fftw2-distributed", role="not modelled", reason=fftw),
        Check(id="build-and-link.fftw-products", role="not modelled", reason=fftw),
        Check(id="build-and-link.libsci-variable", role="input", reason=rule),
        Check(id="build-and-link.libsci-variable-version", role="input", reason=rule),
        Check(id="build-and-link.mpt-successors", role="input", reproduced="; ".join(OPTIONS["C"])),
        Check(
            id="build-and-link.mpt-successor-count",
            role="identity",
            reproduced=float(len(OPTIONS["C"])),
            reason="the modules of option C, which load all of what xt-mpt was",
        ),
        Check(id="build-and-link.mpt-links-both", role="input", reason="why both libraries meet in one program"),
        Check(id="build-and-link.dmapp-line", role="input", reason="the message, which the diagnosis knows too"),
        Check(id="build-and-link.dmapp-unload-shmem", role="input", reason="the rule's way out"),
        Check(id="build-and-link.option-a", role="input", reproduced="; ".join(OPTIONS["A"])),
        Check(id="build-and-link.option-b", role="input", reproduced="; ".join(OPTIONS["B"])),
        Check(id="build-and-link.option-c", role="input", reproduced="; ".join(OPTIONS["C"])),
        Check(
            id="build-and-link.option-chosen",
            role="not modelled",
            reason="a choice rests on weights, which nobody printed; the page shows which weights lead to it",
        ),
        Check(id="build-and-link.option-a-continuity", role="input", reason="A asks nobody to change a script"),
        Check(
            id="build-and-link.option-a-breaks-dynamic",
            role="shape",
            reproduced=broken,
            reason="the rules on four kinds of program: both dynamic ones stop, both static ones build",
        ),
        Check(
            id="build-and-link.option-b-breaks-shmem",
            role="shape",
            reproduced=shmem,
            reason="the rules on four kinds of program: both of MPI work, both of SHMEM fail",
        ),
        Check(
            id="build-and-link.option-c-breaks-some-dynamic",
            role="shape",
            reproduced=some,
            reason="the rules on four kinds of program: both static ones work, both dynamic ones may fail when run",
        ),
        Check(
            id="build-and-link.option-c-fewest-users",
            role="input",
            reason="how many build what is not printed; taken as true, it says that fewer programs failed at run time than used SHMEM",
        ),
        Check(
            id="build-and-link.survey-compilers", role="not modelled", reason="what users told; no build fails of it"
        ),
        Check(
            id="build-and-link.advice-compilers",
            role="not modelled",
            reason="advice; which compiler is fast is not modelled",
        ),
    )


STUDY = Study(
    name="build-and-link",
    title="Build and link",
    part="failure",
    question="Which modules and flags are known to fail together, how is it mended, and which modules should everybody get?",
    checks=_checks,
    assumptions=(
        "Where the report prints the version with a fault and the one that mended it, those between count as possible, not as known.",
        "The vendor gave out bug numbers evenly in time between October 2010 and February 2011.",
        "The shares of users who link dynamically, use SHMEM, or name a version of xt-mpt are guesses, and controls.",
        "SHMEM is as common among those who link dynamically as among the others.",
        "How bad each kind of trouble is, is the reader's to say; the weights are controls.",
        "A program that uses both MPI and SHMEM is given a static link as its way out; the report names none.",
        "Rules marked as ours, for today, come from manuals of other systems, and no row of the data stands for them.",
    ),
)
