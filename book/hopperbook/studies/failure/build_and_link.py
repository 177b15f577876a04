"""Build and link: flags and modules that failed together, their bugs, and the modules that everybody gets.

Documented: versions, flags, bug numbers, days, and which default was chosen. The rules on builds were written from
them, so most rows are inputs. Shapes check the rules' results for combinations that no sentence of the report mentions.
"""

from hopperbook.studies.study import Study, Value
from hopperlib.failure.builds.default_modules import OPTIONS
from hopperlib.failure.builds.rules import load_build_rules


def _values() -> dict[str, Value]:
    # Of the rules' bugs and releases those that the report prints.
    bugs = ("gnu-bug", "openmp-bug", "openmp-options-bug", "libsci-bug")
    rows: dict[str, Value] = {}
    for rule in load_build_rules():
        rows |= {name: rule.bug or 0 for name in rule.documented if name in bugs}
        rows |= {name: rule.fixed_in for name in rule.documented if name.endswith("-fixed-version")}
    options = {f"option-{option.lower()}": "; ".join(modules) for option, modules in OPTIONS.items()}
    return rows | {
        "mpt-successors option-c": options.pop("option-c"),
        **options,
        "mpt-successor-count": len(OPTIONS["C"]),
    }


STUDY = Study("build-and-link", _values)
