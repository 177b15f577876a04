"""Question: from loaded modules and a link line to known problems and a repaired line. Both stay on the page."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.question import is_sample
from hopperkit.questions.result import Facts, Result, Snippet, Table, Value, table
from hopperlib.errors import InputError
from hopperlib.failure.builds.known_problems import Build, KnownProblem, Repaired, check_build, read_build, repaired
from hopperlib.failure.builds.rules import BuildRule
from hopperlib.finding import Finding
from hopperlib.text import capital, count

_ANSWERS = {"line": None, "yes": True, "no": False}
_LONGEST_UNREAD = 60
_MAX_ROWS = 12
_YES_NO = {"line": "from the line", "yes": "yes", "no": "no"}
_PGI = """\
Currently Loaded Modulefiles:
  1) PrgEnv-pgi/3.1.61    4) xt-mpich2/5.1.4
  2) xt-asyncpe/4.5       5) fftw/2.1.5
  3) xt-libsci/10.4.5
"""
_PGI_LINE = "ftn -mp=nonuma -dynamic -o solver solver.o"
_DEFAULTS = """\
Currently Loaded Modulefiles:
  1) PrgEnv-gnu/3.1.61    3) xt-mpich2/5.2.0
  2) xt-asyncpe/4.9       4) xt-shmem/5.2.0
"""
_TWO_MPI = """\
Currently Loaded Modules:
  1) gcc/12.2.0   2) openmpi/4.1.5   3) intel-oneapi-mpi/2021.10
"""


class Given(ask.Setting):
    """Loaded modules, and a link line."""

    modules: str = ask.text(
        "What is loaded",
        _PGI,
        rows=7,
        placeholder="Paste what `module list` prints, or the module lines of your script",
        help="What `module list` prints, `module load` lines, variables such as CRAYPE_LINK_TYPE=dynamic. "
        "It stays on this page.",
    )
    line: str = ask.text(
        "Compile or link line",
        _PGI_LINE,
        argument=True,
        rows=2,
        placeholder="ftn -o solver solver.o",
        help="The line is only read, never executed.",
    )
    mixed: str = ask.choice("C or C++ together with Fortran I/O", "line", _YES_NO)
    shmem: str = ask.choice("The program uses SHMEM", "line", _YES_NO, advanced=True)

    @cached_property
    def build(self) -> Build:
        """The build as read."""
        try:
            return read_build(self.modules, self.line, mixed=_ANSWERS[self.mixed], shmem=_ANSWERS[self.shmem])
        except ValueError as error:
            raise InputError(str(error), name="line") from error

    @cached_property
    def problems(self) -> list[KnownProblem]:
        """Findings of the rules."""
        return list(check_build(self.build))

    @property
    def known(self) -> list[BuildRule]:
        """Problems that are certain."""
        return [each.rule for each in self.problems if each.certainty == "known" and each.rule.level == "problem"]

    @property
    def advised(self) -> list[BuildRule]:
        """Advice that certainly applies."""
        return [each.rule for each in self.problems if each.certainty == "known" and each.rule.level == "advice"]

    @property
    def possible(self) -> list[BuildRule]:
        """Problems with unknown conditions."""
        return [each.rule for each in self.problems if each.certainty == "possible"]

    @cached_property
    def repaired(self) -> Repaired:
        """The build, fixed as far as possible."""
        return repaired(self.build, tuple(each.rule for each in self.problems))

    @property
    def repaired_line(self) -> str:
        """The link line after the fix."""
        return self.repaired.build.line.text


def answer(given: Given) -> Result:
    """Return the answer.

    Parameters
    ----------
    given : Given
        Loaded modules, and a link line.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Given()).facts['known']
    ['PGI-MP-NONUMA', 'LIBSCI-DYNAMIC-FFTW3']
    """
    return Result(
        summary=_summary(given),
        findings=tuple(_findings(given)),
        values=tuple(_values(given)),
        copyables=tuple(_lines(given)),
        tables=(_problems(given) if given.problems else _modules(given),),
        facts=_facts(given),
    )


def _summary(given: Given) -> str:
    known, possible, done = given.known, len(given.possible), given.repaired
    if not (given.build.environment.modules or given.build.line.command):
        return "Nothing to check yet: give the loaded modules, a link line, or both."
    if not known:
        more = f"; {count(possible, 'possible one')}" if possible else ""
        return f"No known problem{more}. That is no guarantee: only reported problems are known."
    text = f"{count(len(known), 'known problem')}: {known[0].title}."
    if possible:
        text += f" {possible} more may be."
    if done.left:
        return f"{text} How to handle {' and '.join(done.left)} is your choice; see below."
    steps = f"Type {', then '.join(done.commands)}" if done.commands else "Take the line below"
    return f"{text} {steps}, and rebuild."


def _findings(given: Given) -> Iterator[Finding]:
    yield from map(_problem, given.problems)
    if unread := given.build.environment.unread:
        text = f"{count(len(unread), 'line')} named no module and set no variable; the first is: "
        yield Finding("unread", text + unread[0][:_LONGEST_UNREAD])
    if is_sample(QUESTION, "modules", given.modules):
        text = "This example is made up from printed versions: replace it with yours."
        yield Finding("made-up", text, "note")


def _problem(problem: KnownProblem) -> Finding:
    """Describe one problem: its symptom, remedy and versions."""
    rule, possible = problem.rule, problem.certainty == "possible"
    shows = "the program runs" if rule.stage == "run" else "you build"
    text = f"{'Possible: ' if possible else ''}{rule.title}. It shows when {shows}: {rule.symptom.removesuffix('.')}."
    if possible:
        text += f" Unknown, because {'; also '.join(problem.doubts)}."
    dates = capital(", ".join(_dates(rule)))
    advice = " ".join(rule.advice)
    return Finding(
        rule.code.lower(), f"{text} {advice}{f' ({dates}.)' if dates else ''}", "note" if possible else rule.level
    )


def _dates(rule: BuildRule) -> Iterator[str]:
    if rule.bug:
        yield f"bug {rule.bug}"
    if rule.reported:
        yield f"reported {rule.reported}"
    if rule.fixed_in:
        yield f"fixed in {rule.fixed_in}" + (f" of {rule.fixed}" if rule.fixed else "")


def _values(given: Given) -> Iterator[Value]:
    note = "from your text"
    yield Value("Compiler", given.build.compiler or "not given", "documented", note=note)
    yield Value("Linking", given.build.linking or "not given", "documented", note=note)
    yield Value("Known problems", len(given.known), "predicted", note="from the rules applied to your text")


def _lines(given: Given) -> Iterator[Snippet]:
    done = given.repaired
    if done.commands or given.repaired_line != given.build.line.text:
        steps = "Steps that are not in the report are ours; the table lists the source of each rule."
        text = "\n".join(filter(None, [*done.commands, given.repaired_line]))
        yield Snippet("The repaired build", text, " ".join([*done.notes, steps]))


def _problems(given: Given) -> Table:
    shown = given.problems[:_MAX_ROWS]
    of = f", {len(shown)} of {len(given.problems)}" if len(shown) < len(given.problems) else ""
    marked = tuple(at for at, problem in enumerate(shown) if problem.rule in given.known)
    return table(
        f"Results of the rules{of}",
        shown,
        {
            "Code": lambda each: each.rule.code,
            "Certainty": lambda each: each.certainty if each.rule.level == "problem" else "advice",
            "Bug": lambda each: str(each.rule.bug) if each.rule.bug else None,
            "Reported": lambda each: str(each.rule.reported) if each.rule.reported else None,
            "Fixed in": lambda each: each.rule.fixed_in or None,
            "Rule from": _source,
        },
        marked=marked,
        marked_label="known to fail" if marked else "",
    )


def _source(problem: KnownProblem) -> str:
    """Return the source of a rule, and whether it is ours."""
    rule = problem.rule
    return rule.source if rule.era == "report" else f"ours, for today; {rule.source.removeprefix('ours: ')}"


def _modules(given: Given) -> Table:
    modules = given.build.environment.modules
    of = f", {_MAX_ROWS} of {len(modules)}" if len(modules) > _MAX_ROWS else ""
    return table(
        f"Modules as read{of}",
        modules[:_MAX_ROWS],
        {"Module": lambda module: module.name, "Version": lambda module: module.version or None},
    )


def _facts(given: Given) -> Facts:
    done, line = given.repaired, given.repaired_line
    return Facts(
        {
            "known": [rule.code for rule in given.known],
            "possible": [rule.code for rule in given.possible],
            "advice": [rule.code for rule in given.advised],
            "problems": len(given.known),
            "repaired_line": line,
            "commands": list(done.commands),
            "left": done.left,
            "modules": [module.text for module in given.build.environment.modules],
        },
        rest=lambda: _contract(given),
    )


def _contract(given: Given) -> dict[str, Any]:
    """Return the additional output of `hopper build --json`; its keys are stable."""
    done = given.repaired
    return {
        "compiler": given.build.compiler,
        "linking": given.build.linking,
        "findings": [problem.to_dict() for problem in given.problems],
        "repair": {"commands": done.commands, "line": given.repaired_line, "left": done.left},
        "unread": given.build.environment.unread,
    }


QUESTION = ask.declared(
    Given,
    answer,
    title="Is this build known to fail?",
    examples={
        "PGI: no threads, no link": {"modules": _PGI, "line": _PGI_LINE, "mixed": "line"},
        "The default modules, a dynamic program": {
            "modules": _DEFAULTS,
            "line": "cc -dynamic -o ring ring.o",
            "mixed": "line",
        },
        "GNU: C++ with Fortran": {
            "modules": "PrgEnv-gnu/3.1.61\nxt-asyncpe/4.7\nxt-mpich2/5.2.0\n",
            "line": "CC -o coupled main.cpp ocean.f90",
            "mixed": "line",
        },
        "The same, a version that no source mentions": {
            "modules": "PrgEnv-gnu/3.1.61\nxt-asyncpe/4.8\nxt-mpich2/5.2.0\n",
            "line": "CC -o coupled main.cpp ocean.f90",
            "mixed": "line",
        },
        "Today: two MPI libraries": {
            "modules": _TWO_MPI,
            "line": "mpicc -lmpich -lfftw3 -o ring ring.c",
            "mixed": "line",
        },
    },
)
