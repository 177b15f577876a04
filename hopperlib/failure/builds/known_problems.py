"""Known problems of a build: from the loaded modules and the link line to problems and a repaired line.

Each condition of a rule is met, not met, or unknown. A problem is *known* if all are met; it is *possible* if some are
unknown, none fails, and at least as many are met as unknown. The report on Hopper often names the version with a fault
and the version without it, but none between: a version between them makes a problem possible, never known. Advice is
given only if all its conditions are met.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

from hopperlib.failure.builds._environment import Environment, Module, read_environment
from hopperlib.failure.builds._link_line import LinkLine, compilers, read_line
from hopperlib.failure.builds.rules import BuildRule, Repair, load_build_rules

Words = tuple[str, ...]

_SHMEM_LIBRARIES = ("-lsma", "-lsmma")


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """Everything known about one build.

    Parameters
    ----------
    environment : Environment
    line : LinkLine
        With no command if no line was given.
    mixed : bool or None
        Whether C or C++ and Fortran are mixed; None takes it from the line.
    shmem : bool or None
        Whether the program uses SHMEM; None takes it from the line.
    """

    environment: Environment
    line: LinkLine
    mixed: bool | None = None
    shmem: bool | None = None

    @property
    def variables(self) -> dict[str, str]:
        """Variables of the environment and of the line; the line takes precedence."""
        return self.environment.variables | self.line.variables

    @property
    def settings(self) -> list[str]:
        """Variables in the form used by rules: ``NAME`` and ``NAME=value``."""
        return [text for name, value in self.variables.items() for text in (name, f"{name}={value}")]

    @property
    def compiler(self) -> str | None:
        """Vendor of the compiler; None if it is unknown or ambiguous."""
        driver = self.line.driver
        if driver and driver.family:
            return driver.family
        for names in (compilers().environments, compilers().modules):
            loaded = {compiler for name, compiler in names.items() if self.environment.loaded(name)}
            # GNU's environment is often loaded in addition to another one, for its libraries.
            loaded -= {"gnu"} if len(loaded) > 1 else set()
            if loaded:
                return loaded.pop() if len(loaded) == 1 else None
        return None

    @property
    def linking(self) -> str | None:
        """Static or dynamic linking, if the line or a variable sets it."""
        for flag in reversed(self.line.flags):
            if flag in ("-static", "-dynamic"):
                return flag[1:]
        return self.variables.get("CRAYPE_LINK_TYPE")

    @property
    def mixes_languages(self) -> bool | None:
        """Whether C or C++ and Fortran are mixed, as declared or according to the line; None if unknown."""
        return self.line.mixes_languages if self.mixed is None else self.mixed

    @property
    def uses_shmem(self) -> bool:
        """Whether the program is declared to use SHMEM, or links its library."""
        return self.shmem if self.shmem is not None else bool(self.line.matching(_SHMEM_LIBRARIES))


def read_build(modules: str, line: str, *, mixed: bool | None = None, shmem: bool | None = None) -> Build:
    """Read a build from two texts.

    Parameters
    ----------
    modules : str
        Output of ``module list``, or lines that load modules and set variables.
    line : str
        The compile or link line; may be empty.
    mixed, shmem : bool or None
        As in `Build`.

    Raises
    ------
    ValueError
        If the line contains no known compiler.

    Examples
    --------
    >>> build = read_build("PrgEnv-pgi/3.1.61 xt-libsci/10.4.5", "ftn -dynamic a.o")
    >>> build.compiler, build.linking
    ('pgi', 'dynamic')
    """
    return Build(environment=read_environment(modules), line=read_line(line), mixed=mixed, shmem=shmem)


def _fitting(texts: Iterable[str], patterns: Words) -> bool:
    """Whether any of the texts matches any of the patterns."""
    return any(fnmatchcase(text, pattern) for text in texts for pattern in patterns)


# Name of a condition -> the input that decides it, and whether it is met.
_CONDITIONS: dict[str, tuple[str, Callable[[Build, Any], bool]]] = {
    "kinds": ("line", lambda build, kinds: build.line.driver is not None and build.line.driver.kind in kinds),
    "drivers": ("line", lambda build, names: build.line.name in names),
    "flags": ("line", lambda build, patterns: bool(build.line.matching(patterns))),
    "no_flags": ("line", lambda build, patterns: not build.line.matching(patterns)),
    "modules": ("modules", lambda build, specs: bool(build.environment.loaded(*specs))),
    "all_modules": ("modules", lambda build, specs: all(build.environment.loaded(spec) for spec in specs)),
    "no_modules": ("modules", lambda build, specs: not build.environment.loaded(*specs)),
    "two_of": ("modules", lambda build, specs: len({module.name for module in build.environment.loaded(*specs)}) > 1),
    "compilers": ("compiler", lambda build, families: build.compiler in families),
    "linking": ("linking", lambda build, wanted: build.linking == wanted),
    "mixed": ("languages", lambda build, wanted: build.mixes_languages == wanted),
    "no_variables": ("", lambda build, patterns: not _fitting(build.settings, patterns)),
    "shmem": ("", lambda build, wanted: build.uses_shmem == wanted),
}
_NO_LINE, _NO_MODULES = "no link line was given", "no modules were given"


def _doubt(build: Build, decides: str) -> str:
    """Return the reason why the input of a condition is unknown; empty if it is known."""
    match decides:
        case "modules" if not build.environment.modules:
            return _NO_MODULES
        case "compiler" if not build.compiler:
            return "the programming environment is not given"
        case "languages" if build.mixes_languages is None:
            return "the objects do not show whether C or C++ and Fortran are mixed"
        case "line" | "linking" | "languages" if not build.line.command:
            known = {"line": None, "linking": build.linking, "languages": build.mixed}[decides]
            return _NO_LINE if known is None else ""
    return ""


def _conditions(build: Build, rule: BuildRule) -> Iterator[bool | str]:
    """Yield for each condition of a rule whether it is met, or why that is unknown."""
    for name, value in rule.when.given().items():
        decides, is_met = _CONDITIONS[name]
        yield _doubt(build, decides) or is_met(build, value)
    for module, versions in rule.when.versions.items():
        loaded = build.environment.loaded(module)
        if not loaded:
            yield _doubt(build, "modules") or False
        elif not loaded[-1].version:
            yield f"the version of {module} is not given"
        else:
            held = versions.holds(loaded[-1].version)
            yield f"no source describes {loaded[-1].text}" if held is None else held


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProblem:
    """A problem of a build.

    Parameters
    ----------
    rule : BuildRule
    certainty : {"known", "possible"}
    doubts : tuple of str
        The conditions that are unknown.
    """

    rule: BuildRule
    doubts: tuple[str, ...]

    @property
    def certainty(self) -> Literal["known", "possible"]:
        """Whether all conditions are known to be met."""
        return "possible" if self.doubts else "known"

    def to_dict(self) -> dict[str, Any]:
        """Return the problem as plain data."""
        return {"certainty": self.certainty, "doubts": list(self.doubts)} | self.rule.to_dict()


def check_build(build: Build, rules: tuple[BuildRule, ...] | None = None) -> tuple[KnownProblem, ...]:
    """Return the known problems of a build: known before possible, problems before advice, then as in the file.

    Parameters
    ----------
    build : Build
    rules : tuple of BuildRule or None
        Default: the rules of the library.

    Examples
    --------
    >>> build = read_build("PrgEnv-pgi/3.1.61 xt-libsci/10.4.6 fftw/2.1.5", "ftn -mp=nonuma -dynamic a.o")
    >>> for found in check_build(build):
    ...     print(found.certainty, found.rule.code, *found.doubts)
    known LIBSCI-DYNAMIC-FFTW3
    possible PGI-MP-NONUMA no source describes xt-libsci/10.4.6
    known DYNAMIC-SLOW-START
    """
    problems = []
    for rule in load_build_rules() if rules is None else rules:
        decided: list[bool | str] = []
        for met in _conditions(build, rule):
            decided.append(met)
            # One failed condition decides; the others are not evaluated.
            if met is False:
                break
        # If less than half is known, a rule would match almost any build.
        if decided[-1] is False or 2 * decided.count(True) < len(decided):
            continue
        doubts = [met for met in decided if isinstance(met, str)]
        doubts += [rule.doubt] if rule.doubt else []
        # Advice that may not apply is noise.
        if doubts and rule.level == "advice":
            continue
        problems.append(KnownProblem(rule=rule, doubts=tuple(dict.fromkeys(doubts))))
    return tuple(
        sorted(problems, key=lambda problem: (problem.rule.level == "advice", problem.certainty == "possible"))
    )


class Repaired(NamedTuple):
    """A repaired build.

    Parameters
    ----------
    commands : tuple of str
        Module commands to type first.
    build : Build
        The build after the repairs.
    notes : tuple of str
        Notes on the steps.
    left : tuple of str
        Codes of problems without a known repair.
    """

    commands: tuple[str, ...]
    build: Build
    notes: tuple[str, ...]
    left: tuple[str, ...]


def _with_module(build: Build, gone: str, come: str) -> Build:
    """Return the build with one module replaced by another."""
    old = build.environment
    kept = [module for module in old.modules if not (gone and module.fits(gone))]
    if come:
        name, slash, version = come.rpartition("/")
        kept.append(Module(name, version) if slash else Module(come, ""))
    return replace(build, environment=replace(old, modules=tuple(kept)))


def _apply(build: Build, repair: Repair) -> tuple[Build, str]:
    """Return the build after a repair, and the command to type for it, if one is needed."""
    what, to = repair.what[0], repair.to
    match repair.do:
        case "swap":
            command = f"module swap {what} {to}" if build.environment.loaded(what) else f"module load {to}"
            return _with_module(build, what, to), command
        case "load":
            return _with_module(build, "", what), f"module load {what}"
        case "unload":
            return _with_module(build, what, ""), f"module unload {what}"
    return replace(build, line=build.line.without(repair.what)), ""


def _fits(build: Build, repair: Repair) -> bool:
    """Whether a repair applies to this build."""
    if repair.unless_shmem and build.uses_shmem:
        return False
    return repair.do != "drop" or bool(build.line.matching(repair.what))


def repaired(build: Build, rules: tuple[BuildRule, ...] | None = None) -> Repaired:
    """Return the build with the first repair of each known problem applied, one after the other.

    Possible problems, and advice that needs more than one step, are not applied.

    Parameters
    ----------
    build : Build
    rules : tuple of BuildRule or None
        Problems to repair; None for all.

    Examples
    --------
    >>> result = repaired(read_build("PrgEnv-pgi/3.1.61 xt-mpt/5.1.4", "cc -dynamic -o ring ring.o"))
    >>> result.commands, result.build.line.text
    (('module swap xt-mpt xt-mpich2',), 'cc -dynamic -o ring ring.o')
    """
    commands: list[str] = []
    notes: list[str] = []
    tried: list[str] = []
    while True:
        # Checked again after each repair, which may solve or cause another problem; each rule is tried once, so this
        # terminates.
        known = [problem.rule for problem in check_build(build, rules) if problem.certainty == "known"]
        rule = next((rule for rule in known if rule.repairs and rule.code not in tried), None)
        if rule is None:
            break
        tried.append(rule.code)
        repair = next((repair for repair in rule.repairs if _fits(build, repair)), None)
        if repair is None:
            continue
        build, command = _apply(build, repair)
        commands += [command] if command else []
        notes += [f"{rule.code}: {repair.note}"] if repair.note else []
    left = [rule.code for rule in known if rule.level == "problem"]
    return Repaired(tuple(dict.fromkeys(commands)), build, tuple(notes), tuple(left))
