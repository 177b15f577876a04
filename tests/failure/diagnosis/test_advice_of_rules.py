"""The advice of every rule, tried on its positive samples: it holds no open place and contradicts no line."""

from __future__ import annotations

import re

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages.rules import load_rules

CAUSES = [rule for rule in load_rules() if rule.role == "cause" and rule.advice]
# Places that a reader fills in: no text of one message holds them.
FILLED_BY_READER = {
    "alternative", "command", "conda", "core", "file", "folder", "image", "job", "library", "list", "module", "name", "node", "nodes",
    "pid", "place", "program", "script", "script_line", "url", "version", "host", "path", "group", "environment", "package", "cell",
}  # fmt: skip


def advised(rule):
    """Return the advice for each positive sample that the diagnosis answers with this rule."""
    for sample in rule.positive:
        found = diagnose([("job.err", f"{sample}\nsrun: error: n1: task 0: Exited with exit code 1\n")])
        for cause in found.causes:
            if cause.code == rule.code:
                yield sample, " ".join(cause.advice)


@pytest.mark.parametrize("rule", CAUSES, ids=lambda rule: rule.code)
def test_no_place_is_left_open_that_the_text_could_fill(rule):
    for sample, advice in advised(rule):
        left = set(re.findall(r"<(\w+)>", advice))
        groups = set(re.findall(r"\?P<(\w+)>", " ".join(rule.regex)))
        assert left <= FILLED_BY_READER | groups, (sample, advice)


@pytest.mark.parametrize("rule", CAUSES, ids=lambda rule: rule.code)
def test_each_number_of_the_advice_is_printed_or_stands_in_the_rule(rule):
    said = " ".join(rule.advice)
    for sample, advice in advised(rule):
        for number in re.findall(r"(?<![\w.-])\d{3,}(?![\w.-])", advice):
            assert number in sample or number in said, (sample, advice)


def test_advice_speaks_of_the_scheduler_that_prints_the_message():
    """An option of srun helps nobody under PBS, LSF or Flux."""
    wrong = {
        "FLUX-": r"\b(?:srun|sbatch|qsub|bsub)\b",
        "PBS-": r"\b(?:srun|sbatch)\b",
        "LSF-": r"\b(?:srun|sbatch|qsub)\b",
    }
    for rule in CAUSES:
        for prefix, words in wrong.items():
            assert not (rule.code.startswith(prefix) and re.search(words, " ".join(rule.advice))), rule.code


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("salloc: error: Unable to allocate resources: Connection timed out", "correct the option"),
        ("FATAL:   container creation failed: fuse: failed to exec fusermount3: No such file or directory", "correct the path"),
        ("(GTL DEBUG: 1) cuIpcOpenMemHandle: invalid argument, CUDA_ERROR_INVALID_VALUE, line no 360\nFatal error in PMPI_Waitall: Invalid count, error stack:", "Print the count"),
        ("srun: error: JobId=125452 failed to distribute tasks (bind_type:threads,mask_cpu) - this should never happen", "--exclude"),
    ],
)  # fmt: skip
def test_advice_does_not_contradict_the_line(line, wrong):
    found = diagnose([("job.err", line + "\n")])
    assert found.cause
    assert found.cause.advice
    assert wrong not in " ".join(found.cause.advice)
