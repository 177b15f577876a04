"""Build and link: flags and modules that failed together, their bugs, and the modules that everybody gets.

Documented: versions, flags, bug numbers, days, and which default was chosen.
The rules on builds were written from them, so most rows are inputs. Checked as shapes is what the
rules give for programs that no sentence of the report puts together.
"""

from hopperbook.studies.study import Study, Value
from hopperlib.failure.builds.default_modules import OPTIONS, WORKS, outcomes
from hopperlib.failure.builds.rules import load_build_rules


def _breaks(option: str) -> dict[str, set[str]]:
    """Return what an option does to the programs with MPI or SHMEM, and to static or dynamic ones."""
    problems = outcomes(option)
    kinds = ("MPI", "SHMEM", "static", "dynamic")
    return {kind: {code for program, code in problems.items() if kind in program.split(", ")} for kind in kinds}


def _values() -> dict[str, Value]:
    # Of the rules' bugs and releases those that the report prints.
    bugs = ("gnu-bug", "openmp-bug", "openmp-options-bug", "libsci-bug")
    rows: dict[str, Value] = {}
    for rule in load_build_rules():
        rows |= {name: rule.bug or 0 for name in rule.documented if name in bugs}
        rows |= {name: rule.fixed_in for name in rule.documented if name.endswith("-fixed-version")}
    options = {f"option-{option.lower()}": "; ".join(modules) for option, modules in OPTIONS.items()}
    # Of each option: does it break the programs, all of them and no others, that the report says it breaks?
    a, b, c = map(_breaks, OPTIONS)
    return rows | {
        "mpt-successors option-c": options.pop("option-c"),
        **options,
        "mpt-successor-count": len(OPTIONS["C"]),
        "option-a-breaks-dynamic": WORKS not in a["dynamic"] and a["static"] == {WORKS},
        "option-b-breaks-shmem": WORKS not in b["SHMEM"] and b["MPI"] == {WORKS},
        "option-c-breaks-some-dynamic": c["static"] == {WORKS} and c["dynamic"] == {"MPICH2-SHMEM-DYNAMIC"},
    }


STUDY = Study("build-and-link", _values)
