"""Which helpers of the diagnosis do labeled outputs need? `python scripts/ablate_diagnosis.py FOLDER ...`

Each private function of the modules that judge is switched off in turn: it returns what says nothing (False, an empty
list, None). A table says in how many outputs verdict, first line or confidence change, how many answers become wrong and
how many right. A helper that changes nothing is a candidate for deletion; so is one without which more answers are right.
"""

import csv
import inspect
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from hopperlib.failure.diagnosis import _behind, _fallback, _ranking, steps, voices
from hopperlib.failure.diagnosis.diagnosis import Diagnosis, diagnosis_of
from hopperlib.failure.messages.evidence import Evidence
from hopperlib.failure.messages.scanner import Scanner

MODULES = (_ranking, _fallback, _behind, steps, voices)
Labeled = tuple[Evidence, str, str]
_QUOTED = 8


def labeled(folders: Sequence[str]) -> Iterator[Labeled]:
    """Yield the evidence, the expected verdict and the true pieces of each output."""
    for folder in map(Path, folders):
        with (folder / "labels.csv").open(encoding="utf-8") as table:
            for row in csv.DictReader(table):
                files = [folder / name for name in re.split(r"[ ;+]+", row["files"])]
                if all(file.exists() for file in files):
                    scanner = Scanner()
                    for file in files:
                        scanner.read(file.name, io.BytesIO(file.read_bytes()))
                    yield scanner.evidence, row["expect"], row["true_cause"]


def silent(helper: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a function that says nothing in place of a helper; None for one whose result has no such value."""
    kind = str(inspect.signature(helper).return_annotation)
    values: dict[str, Any] = {"bool": False, "list": [], "dict": {}, "set": set(), "tuple": (), "int": 0}
    if kind.endswith("None") or "| None" in kind:
        return lambda *_, **__: None
    name = re.search(r"\b(bool|list|dict|set|tuple|int)\b", kind)
    return (lambda *_, **__: values[name[1]]) if name else None


def helpers() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the helpers by name."""
    for module in MODULES:
        for name, helper in inspect.getmembers(module, inspect.isfunction):
            if helper.__module__ == module.__name__:
                yield name, helper


def answer(found: Diagnosis) -> tuple[Any, ...]:
    """Return what of a diagnosis a reader sees first."""
    cause = found.cause if found.verdict == "cause" else None
    return found.verdict, cause and (cause.code, cause.confidence, cause.hits[0].line)


def is_right(found: Diagnosis, expected: str, true: str) -> bool:
    """Whether an answer agrees with its label."""
    if expected != "cause":
        return found.verdict != "cause"
    quoted = " ".join(" ".join(hit.text for hit in cause.hits[:_QUOTED]) for cause in found.causes[:1])
    return any(" ".join(key.split()).lower() in " ".join(quoted.split()).lower() for key in true.split(" || "))


def switched_off(name: str, helper: Callable[..., Any], other: Callable[..., Any]) -> list[tuple[ModuleType, str]]:
    """Put another function in the place of a helper wherever a module uses it; return the places."""
    places = [module for module in MODULES if getattr(module, name, None) is helper]
    for module in places:
        setattr(module, name, other)
    return [(module, name) for module in places]


def main(folders: list[str]) -> int:
    """Print the table; return the exit status."""
    outputs = list(labeled(folders))
    before = [diagnosis_of(evidence) for evidence, _, _ in outputs]
    answers = list(map(answer, before))
    right = [is_right(found, *label) for found, (_, *label) in zip(before, outputs, strict=True)]
    print(f"{sum(right)} of {len(outputs)} answers are right with all helpers")
    print(f"{'helper':<24} changed  worse  better")
    for name, helper in helpers():
        other = silent(helper)
        if other is None:
            continue
        places = switched_off(name, helper, other)
        try:
            after = [diagnosis_of(evidence) for evidence, _, _ in outputs]
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            print(f"{name:<24} needed: nothing works without it")
            continue
        finally:
            for module, place in places:
                setattr(module, place, helper)
        now = [is_right(found, *label) for found, (_, *label) in zip(after, outputs, strict=True)]
        changed = sum(answer(found) != old for found, old in zip(after, answers, strict=True))
        pairs = list(zip(right, now, strict=True))
        print(f"{name:<24} {changed:7}  {pairs.count((True, False)):5}  {pairs.count((False, True)):6}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
