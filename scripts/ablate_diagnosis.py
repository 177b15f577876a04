"""Which helpers of the diagnosis do labeled outputs need? `python scripts/ablate_diagnosis.py FOLDER ...`

Each private function of the modules that judge is switched off in turn: it returns the empty value of its type (an empty
list, None), False and then True if it is a condition, or its first argument unchanged if it is a filter. Only outputs in
which it returned something else are judged again. The table counts outputs whose answer changes (verdict, code,
confidence, first line), and names those that become wrong or right. A helper that no output needs is a candidate for
deletion; so is one without which more answers are right.

A folder holds outputs and a ``labels.csv`` (files, expect, true_cause). Without ``labels.csv`` every file of the folder
is treated as the output of a successful run or, with ``--failed FOLDER``, of a failed one.
"""

import argparse
import csv
import functools
import inspect
import io
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from hopperlib.failure.diagnosis import _behind, _fallback, _quoting, _ranking, _steps, _voices, diagnosis
from hopperlib.failure.diagnosis.diagnosis import FAILED, Diagnosis, diagnosis_of
from hopperlib.failure.messages._lines import LineReader
from hopperlib.failure.messages.evidence import Evidence
from hopperlib.failure.messages.scanner import Scanner
from hopperlib.failure.ranker.ranking import RankedLine, ranked_lines

MODULES: tuple[ModuleType, ...] = (_ranking, _quoting, _fallback, _behind, _steps, _voices, diagnosis)
_QUOTED = 8


@dataclass(frozen=True, slots=True)
class Output:
    """One labeled output: the result of its scan, its verdict, and pieces of the true lines."""

    name: str
    evidence: Evidence
    expect: str
    true_cause: str

    def is_right(self, found: Diagnosis) -> bool:
        """Whether an answer agrees with the label."""
        if self.expect == "cause":
            quoted = " | ".join(hit.text for cause in found.causes[:1] for hit in cause.hits[:_QUOTED])
            return any(squeezed(key) in squeezed(quoted) for key in self.true_cause.split(" || ") if key.strip())
        return found.verdict in FAILED if self.expect == "unknown" else found.verdict not in FAILED


@dataclass(slots=True)
class Effect:
    """Effect on the answers of switching one helper off."""

    changed: int = 0
    worse: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)


def squeezed(text: str) -> str:
    """Return a text without differences of blanks and case."""
    return " ".join(text.split()).lower()


def scanned(files: Sequence[Path]) -> Evidence:
    """Return the scan of the files of one job."""
    scanner = Scanner()
    for file in files:
        scanner.read(file.name, io.BytesIO(file.read_bytes()))
    return scanner.evidence


def outputs_of(folder: Path, expect_of_all: str = "none") -> Iterator[Output]:
    """Yield the outputs of a folder."""
    labels = folder / "labels.csv"
    if not labels.exists():
        for file in sorted(path for path in folder.iterdir() if path.is_file() and path.suffix != ".csv"):
            yield Output(f"{folder.name}/{file.name}", scanned([file]), expect_of_all, "")
        return
    with labels.open(encoding="utf-8") as table:
        for row in csv.DictReader(table):
            files = [folder / name for name in re.split(r"[ ;+]+", row["files"])]
            if all(file.exists() for file in files):
                yield Output(f"{folder.name}/{row['files']}", scanned(files), row["expect"], row["true_cause"])


def off_states(helper: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Return replacement functions for a helper, by their return value; empty if there is no such value."""
    signature = inspect.signature(helper)
    kind = str(signature.return_annotation)
    if kind.endswith("None") or "None" in kind.split(" | "):
        return {"None": lambda *_, **__: None}
    name = re.match(r"(?:<class ')?(?:collections\.abc\.)?(bool|list|dict|set|tuple|int|str|Iterator)\b", kind)
    if not name:
        return {}
    if name[1] == "bool":
        return {"False": lambda *_, **__: False, "True": lambda *_, **__: True}
    empty: dict[str, Callable[[], Any]] = {
        "list": list,
        "dict": dict,
        "set": set,
        "tuple": tuple,
        "int": int,
        "str": str,
    }
    empty["Iterator"] = tuple
    states: dict[str, Callable[..., Any]] = {"nothing": lambda *_, **__: empty[name[1]]()}
    first = next(iter(signature.parameters.values()), None)
    if first and name[1] == "list" and re.sub(r"^[\w.]+", "", str(first.annotation)) == re.sub(r"^\w+", "", kind):
        states["its argument"] = lambda given, *_, **__: list(given)
    return states


def helpers() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the helpers by name."""
    for module in MODULES:
        for name, helper in inspect.getmembers(module, inspect.isfunction):
            if helper.__module__ == module.__name__:
                yield name, helper


def put(name: str, helper: Callable[..., Any], other: Callable[..., Any]) -> None:
    """Put another function in the place of a helper wherever a module uses it."""
    for module in MODULES:
        if getattr(module, name, None) is helper:
            setattr(module, name, other)


def answer(found: Diagnosis) -> tuple[Any, ...]:
    """Return the part of a diagnosis that a reader sees first."""
    cause = found.cause if found.verdict == "cause" else None
    return found.verdict, cause and (cause.code, cause.confidence, cause.hits[0].line, cause.hits[0].text)


def judged(outputs: Sequence[Output]) -> tuple[list[Diagnosis], dict[tuple[str, str], set[int]]]:
    """Judge all outputs; return the answers and, by helper and state, the outputs in which it returned something else."""
    used: dict[tuple[str, str], set[int]] = defaultdict(set)
    current = 0

    def watched(name: str, helper: Callable[..., Any]) -> Callable[..., Any]:
        states = off_states(helper)

        @functools.wraps(helper)
        def call(*values: Any, **named: Any) -> Any:
            result = helper(*values, **named)
            for state, off in states.items():
                if isinstance(result, Iterator) or result != off(*values, **named):
                    used[name, state].add(current)
            return result

        return call

    watchers = [(name, helper, watched(name, helper)) for name, helper in helpers()]
    for name, helper, watcher in watchers:
        put(name, helper, watcher)
    answers = []
    for current, output in enumerate(outputs):  # noqa: B007 - the watchers read it
        answers.append(diagnosis_of(output.evidence))
    for name, helper, watcher in watchers:
        put(name, watcher, helper)
    return answers, used


def effect(
    name: str,
    helper: Callable[..., Any],
    off: Callable[..., Any],
    outputs: Sequence[Output],
    before: Sequence[Diagnosis],
    used: set[int],
) -> Effect | None:
    """Disable a helper and diagnose again the outputs that used it; None if nothing works without it."""
    found = Effect()
    put(name, helper, off)
    try:
        for place in sorted(used):
            output, now = outputs[place], diagnosis_of(outputs[place].evidence)
            found.changed += answer(now) != answer(before[place])
            right = output.is_right(before[place]), output.is_right(now)
            if right == (True, False):
                found.worse.append(output.name)
            elif right == (False, True):
                found.better.append(output.name)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None
    finally:
        put(name, off, helper)
    return found


def remember_ranks() -> None:
    """Rank the lines of each output once: the ranker uses none of the helpers."""
    ranks: dict[int, list[RankedLine]] = {}

    def remembered(files: Sequence[LineReader]) -> list[RankedLine]:
        # The readers live as long as the evidence that holds them.
        if id(files[0]) not in ranks:
            ranks[id(files[0])] = ranked_lines(files)
        return ranks[id(files[0])]

    diagnosis.ranked_lines = remembered  # type: ignore[attr-defined]


def table(outputs: Sequence[Output], only: Sequence[str] = ()) -> None:
    """Print the table."""
    before, used = judged(outputs)
    right = sum(output.is_right(found) for output, found in zip(outputs, before, strict=True))
    print(f"{right} of {len(outputs)} answers are right with all helpers")
    print(f"{'helper':<24} {'returns':<12}  used  changed  worse  better  outputs that need it")
    for name, helper in helpers():
        if only and name not in only:
            continue
        for state, off in off_states(helper).items():
            places = used[name, state]
            found = effect(name, helper, off, outputs, before, places)
            line = f"{name:<24} {state:<12} {len(places):5}"
            if found is None:
                print(f"{line}  nothing works without it")
                continue
            named = ", ".join(found.worse[:3]) + (" ..." if len(found.worse) > 3 else "")
            print(f"{line} {found.changed:8}  {len(found.worse):5}  {len(found.better):6}  {named}")


def main(arguments: Sequence[str]) -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+", type=Path, help="labeled outputs, or outputs of runs that ended well")
    parser.add_argument("--failed", nargs="*", type=Path, default=[], help="folders of outputs of runs that failed")
    parser.add_argument("--only", nargs="*", default=[], metavar="HELPER", help="helpers to switch off; default: all")
    given = parser.parse_args(arguments)
    outputs = [output for folder in given.folder for output in outputs_of(folder)]
    outputs += [output for folder in given.failed for output in outputs_of(folder, "unknown")]
    remember_ranks()
    table(outputs, given.only)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
