"""Outputs with a known cause, and what the diagnosis says of them: python -m benchmarks.labelled_cases > data/diagnosis/answers.csv.

``data/diagnosis`` holds outputs that were composed for this book, with their
labels. Three numbers count:

=======================  ====================================================
first-cause accuracy     of the outputs with a cause, how many have it first
no-cause accuracy        of those without one, how many are said to have none
                         (outputs of good runs must be said to be good)
wrong and confident      wrong causes that were called certain or likely
=======================  ====================================================

Kept apart, in its folder ``real``, are outputs of small programs that were run
and made to fail.

Two simple methods stand beside it: take the first line with a word of trouble,
or take the last line. They are given the same rules to read their line with.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hopperlib.documented import data_folder
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.tables import read_records, read_toml

__all__ = ["METHODS", "LabelledCase", "Method", "Outcome", "answers", "judge", "labelled_cases", "real_cases"]

Method = Literal["diagnosis", "first suspicious line", "last line"]
METHODS: tuple[Method, ...] = ("diagnosis", "first suspicious line", "last line")

_TROUBLE = re.compile(
    r"error|fail|fatal|abort|kill|exception|cannot|exceeded|denied|terminat|segmentation", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledCase:
    """An output with a known cause.

    Parameters
    ----------
    name, title : str
    files : tuple of str
    expected : str
        Code of the cause, ``no-cause`` or ``succeeded``.
    also : tuple of str
        Codes that are right too.
    machine, launch : str
        What was known beside the output, where something was.
    where : str
        Where the cause stands: early, late, other rank, interleaved, absent, success; or that the output is real.
    hard : bool
        Whether it was composed to be hard.
    second : bool
        Whether it was composed after the rules had been fitted to the others.
    words : str
        For APPLICATION-MESSAGE: what the line that tells holds.
    """

    name: str
    title: str
    files: tuple[str, ...]
    expected: str
    also: tuple[str, ...] = ()
    machine: str = ""
    launch: str = ""
    where: Literal["early", "late", "other rank", "interleaved", "absent", "success", "real"]
    hard: bool = False
    second: bool = False
    words: str = ""

    @property
    def has_cause(self) -> bool:
        """Whether the output holds a cause."""
        return self.expected not in ("no-cause", "succeeded")

    def outputs(self) -> tuple[tuple[str, bytes], ...]:
        """Return name and content of each file."""
        cases = data_folder() / "diagnosis" / ("real" if self.where == "real" else "") / "cases"
        return tuple((name, (cases / name).read_bytes()) for name in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one method said of one output.

    Parameters
    ----------
    case : LabelledCase
    answer : str
        Code of the cause it named, ``no-cause`` or ``succeeded``.
    confidence : str
        Empty for the simple methods.
    right : bool
    """

    case: LabelledCase
    answer: str
    confidence: str
    right: bool


def labelled_cases() -> tuple[LabelledCase, ...]:
    """Return the outputs that were composed for the book.

    Examples
    --------
    >>> len(labelled_cases()) >= 60
    True
    """
    return _cases("index.toml")


def real_cases() -> tuple[LabelledCase, ...]:
    """Return the outputs that were not composed: small programs, run and made to fail.

    Examples
    --------
    >>> {case.where for case in real_cases()}
    {'real'}
    """
    return _cases("real/index.toml")


def _cases(index: str) -> tuple[LabelledCase, ...]:
    """Read an index."""
    text = (data_folder() / "diagnosis" / index).read_text(encoding="utf-8")
    return read_records(LabelledCase, read_toml(text, name=index), "case", name=index)


def judge(case: LabelledCase, method: Method = "diagnosis") -> Outcome:
    """Let a method answer for one output, and say whether it is right.

    Parameters
    ----------
    case : LabelledCase
    method : {"diagnosis", "first suspicious line", "last line"}

    Examples
    --------
    >>> late = next(case for case in labelled_cases() if case.name == "slurm-oom-other-node")
    >>> judge(late).answer, judge(late, "last line").answer
    ('SLURM-OOM', 'SLURM-TASK-EXIT')
    """
    confidence, quoted = "", ""
    if method == "diagnosis":
        found = diagnose(case.outputs())
        answer = found.cause.code if found.cause else found.verdict
        confidence = found.cause.confidence if found.cause else ""
        quoted = "\n".join(hit.text for hit in found.cause.hits) if found.cause else ""
    else:
        quoted = _simple_line(case, method)
        answer = _meaning(quoted)
    right = answer in (case.expected, *case.also)
    if case.words:
        # Only the program's own words tell: the line that holds them must be shown.
        right = case.words in quoted
    elif method != "diagnosis" and not case.has_cause:
        # A method of one line cannot tell a good run from one without a cause.
        right = answer == "no-cause"
    return Outcome(case=case, answer=answer, confidence=confidence, right=right)


def _simple_line(case: LabelledCase, method: Method) -> str:
    """Return the line that a simple method takes; empty if none."""
    lines = [
        line for _, content in case.outputs() for line in content.decode(errors="replace").splitlines() if line.strip()
    ]
    if method == "last line":
        return lines[-1] if lines else ""
    return next((line for line in lines if _TROUBLE.search(line)), "")


def _meaning(line: str) -> str:
    """Return the code of the rule that knows a line, or ``no-cause``; any unknown line of trouble names something."""
    found = diagnose([("line", line)])
    messages = list(found.evidence.messages)
    if messages:
        return messages[0]
    return "unknown line" if _TROUBLE.search(line) else "no-cause"


def answers() -> Iterator[list[str]]:
    """Yield the rows of ``data/diagnosis/answers.csv``: what each method says of each output."""
    yield ["set", "name", "title", "where", "expected", "method", "answer", "confidence", "right"]
    for group, cases in (("composed", labelled_cases()), ("real", real_cases())):
        for case in cases:
            for method in METHODS:
                said = judge(case, method)
                right = "yes" if said.right else "no"
                label = [group, case.name, case.title, case.where, case.expected]
                yield [*label, method, said.answer, said.confidence, right]


if __name__ == "__main__":
    csv.writer(sys.stdout, lineterminator="\n").writerows(answers())
