"""Ranking of messages: the rules one by one, on short texts."""

from __future__ import annotations

import io
import itertools
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hopperlib.failure.diagnosis._ranking import rank
from hopperlib.failure.messages.rules import load_rules
from hopperlib.failure.messages.scanner import Scanner

SEGV = "srun: error: n12: task 3: Segmentation fault"
KILLED = "srun: error: n12: task 3: Killed"
OOM = "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=7.0 cgroup."
TIME = "slurmstepd: error: *** JOB 7 ON n12 CANCELLED AT 2024-03-05T14:22:33 DUE TO TIME LIMIT ***"
QUOTA = "write error: Disk quota exceeded"
EXIT = "srun: error: n12: task 3: Exited with exit code 1"
DONE = "   JOB DONE."
LIB = "./tool: error while loading shared libraries: libx.so.1: cannot open shared object file"
PEER = "recv(161) failed: Connection reset by peer (104)"
# Rows of accounting in the output of a job are of that job: rows of several are a list of jobs, and no output.
SAMPLES = [re.sub(r"^\d{6,}(?=\|)", "4231907", sample) for made in load_rules() for sample in made.positive]


def ranked(*files, record_failed=None):
    scanner = Scanner()
    for number, file in enumerate(files):
        text = file if isinstance(file, str) else "\n".join(file)
        scanner.read(f"file{number}", io.BytesIO(text.encode()))
    return rank(scanner.evidence, record_failed=record_failed)


def codes(*files, **options):
    return [cause.code for cause in ranked(*files, **options).causes]


@pytest.mark.parametrize("order", list(itertools.permutations([SEGV, OOM, EXIT])))
def test_specific_beats_generic_in_any_order(order):
    assert codes(order)[0] == "SLURM-OOM"


@pytest.mark.parametrize("order", list(itertools.permutations([SEGV, PEER, EXIT])))
def test_cause_beats_cascade_in_any_order(order):
    found = ranked(order)
    assert [cause.code for cause in found.causes] == ["SEGV"]
    assert set(found.causes[0].explains) == {"OMPI-PEER-GONE", "SLURM-TASK-EXIT"}


def test_the_cause_may_stand_in_another_file():
    assert codes([KILLED, EXIT], [OOM]) == codes([OOM], [KILLED, EXIT]) == ["SLURM-OOM"]


def test_first_in_time_beats_later():
    late = "Rank 12 [Tue May  5 19:30:28 2020] [c9-2c0s1n2] Caught signal 8 (Floating point exception)"
    early = "Rank 700 [Tue May  5 19:30:24 2020] [c7-1c0s4n1] double free or corruption (out)"
    assert codes([late, early])[0] == "HEAP-CORRUPTION"
    assert codes([early, late])[0] == "HEAP-CORRUPTION"


def test_without_times_the_first_in_the_file_comes_first():
    one, other = "double free or corruption (out)", "Program received signal SIGFPE: Floating-point exception"
    assert codes([one, other]) == ["HEAP-CORRUPTION", "FPE"]
    assert codes([other, one]) == ["FPE", "HEAP-CORRUPTION"]


def test_of_one_message_the_earliest_task_is_named():
    text = [
        f"Rank {task} [Tue May  5 19:30:{second} 2020] [c9-2c0s1n2] Caught signal 11"
        for task, second in ((5, 28), (700, 24), (6, 26))
    ]
    assert ranked(text).causes[0].fields["rank"] == "700"


def test_what_came_a_minute_before_is_not_explained():
    early = "[NID 00146] 2011-05-01 18:00:18 Apid 15379: initiated application termination"
    late = "[NID 00147] 2011-05-01 19:00:18 Apid 15380: OOM killer terminated this process."
    assert ranked([early, late]).causes[0].explains == []
    assert ranked([early.replace("18:00:18", "18:59:50"), late]).causes[0].explains == ["ALPS-INITIATED"]


def test_a_time_limit_is_explained_by_what_made_the_job_hang():
    assert codes(["KeyError: 'rank1017'", TIME]) == ["PY-EXCEPTION"]
    assert codes([TIME]) == ["SLURM-TIME-LIMIT"]


def test_a_job_that_reached_its_limit_had_started():
    found = ranked([LIB, "step 1", TIME])
    assert [cause.code for cause in found.causes] == ["SLURM-TIME-LIMIT"]
    assert "LIB-MISSING" in found.set_aside


def test_an_end_stands_before_what_ends_nothing():
    assert codes([SEGV, QUOTA]) == ["SEGV", "IO-QUOTA"]
    # In the reverse order, the quota explains the end.
    assert codes([QUOTA, "srun: error: n12: task 3: Bus error"]) == ["IO-QUOTA"]


@pytest.mark.parametrize(
    ("lines", "confidence"),
    [
        ([OOM], "certain"),
        ([OOM, SEGV], "certain"),
        (["double free or corruption (out)"], "likely"),
        ([SEGV], "possible"),
        (["double free or corruption (out)", "Program received signal SIGFPE: x"], "possible"),
        ([OOM, LIB.replace("tool", "a.out"), "FATAL:   container creation failed: mount"], "certain"),
        (["solver: fatal error in module x"], "guess"),
    ],
)
def test_confidence_in_words(lines, confidence):
    assert ranked(lines).causes[0].confidence == confidence


def test_a_message_that_needs_another_is_set_aside_alone():
    """Misleading words: memory at the limit does not end a job by itself."""
    once = "slurmstepd: error: Exceeded step memory limit at some point."
    assert codes([once, DONE]) == []
    assert codes([once, KILLED]) == ["SLURM-MEMORY-ONCE"]
    assert ranked([once, KILLED]).causes[0].confidence == "possible"
    assert codes([once]) == []


def test_137_is_not_memory_by_itself():
    found = ranked(["srun: error: n12: task 0: Exited with exit code 137"])
    assert (found.causes, found.failed) == ((), True)


@pytest.mark.parametrize(
    ("lines", "succeeded"),
    [
        ([DONE], True),
        ([DONE, "./opt: warning: x"], True),
        ([EXIT, DONE], False),
        ([DONE, KILLED], False),
        ([SEGV, DONE], False),
        (["OSError: [Errno 24] Too many open files: 'x'", DONE], False),
        (["OSError: [Errno 24] Too many open files: 'x'", "layer one is written", DONE], True),
        ([DONE, "OSError: [Errno 24] Too many open files: 'x'"], False),
        (["KeyError: 'x'", DONE], False),
        (["Application 7 resources: utime ~6s, stime ~1s, Rss ~8, inblocks ~2, outblocks ~4"], True),
        (
            [
                "Application 7 exit codes: 1",
                "Application 7 resources: utime ~6s, stime ~1s, Rss ~8, inblocks ~2, outblocks ~4",
            ],
            False,
        ),
        (
            ["SCF fatal error", "Application 7 resources: utime ~6s, stime ~1s, Rss ~8, inblocks ~2, outblocks ~4"],
            False,
        ),
        ([], False),
        (["hello"], False),
    ],
)
def test_when_a_job_succeeded(lines, succeeded):
    assert ranked(lines).succeeded is succeeded


def test_the_record_outweighs_words():
    # A record of exit status 0 is that of the script's last command: it clears no exception.
    assert not ranked(["KeyError: 'x'"], record_failed=False).succeeded
    assert ranked(["hello"], record_failed=False).succeeded
    assert not ranked([DONE], record_failed=True).succeeded
    assert ranked(["hello"], record_failed=True).failed


class TestLastWords:
    """The proposed cause if no rule matches."""

    def test_the_block_before_the_failure(self):
        found = ranked(
            [
                "step 1",
                " SCF fatal error in mkS.C, line 246:",
                "",
                " Negative eigenvalue. Tighten!",
                "",
                "Application 4 exit codes: 1",
            ]
        )
        (cause,) = found.causes
        assert (cause.code, cause.confidence, cause.rule) == ("APPLICATION-MESSAGE", "guess", None)
        assert [(hit.line, hit.text.strip()) for hit in cause.hits] == [
            (2, "SCF fatal error in mkS.C, line 246:"),
            (4, "Negative eigenvalue. Tighten!"),
        ]

    def test_lines_that_lead_to_it_are_shown_too(self):
        found = ranked(["ERROR in check: nx=512 is not divisible", "ERROR in check: giving up", EXIT])
        assert [hit.line for hit in found.causes[0].hits[:2]] == [1, 2]

    def test_what_follows_the_failure_is_aftermath(self):
        assert codes([EXIT, "cleanup failed: no such step"]) == []

    def test_a_rule_that_knows_comes_first(self):
        assert codes(["solver: fatal error", OOM])[0] == "SLURM-OOM"

    def test_an_error_far_from_the_end_is_not_offered(self):
        assert codes(["lookup failed: cache", *["step"] * 500]) == []
        assert codes([*["step"] * 500, "lookup failed: cache"]) == ["APPLICATION-MESSAGE"]


@given(st.lists(st.sampled_from(SAMPLES), max_size=12), st.sampled_from([None, True, False]))
def test_laws_of_ranking(lines, record_failed):
    """Laws: causes are unique, no cause explains itself, the first one explains no better one, success has no cause."""
    found = ranked([line.replace("\n", " ") for line in lines], record_failed=record_failed)
    names = [cause.code for cause in found.causes]
    assert len(set(names)) == len(names)
    for cause in found.causes:
        assert cause.code not in cause.explains
        assert not set(cause.explains) & set(names) - {"APPLICATION-MESSAGE"}
        assert cause.confidence in ("certain", "likely", "possible", "guess")
        assert cause.hits
    assert not (found.succeeded and (found.causes or found.failed))
    assert not set(found.set_aside) & set(names) or not found.failed


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=8), st.integers(2, 5))
@example(
    lines=[
        "[NID 00146] 2011-05-01 19:00:18 Apid 15379: OOM killer terminated this process.",
        "Sender: LSF System <lsfadmin@node03>",
    ],
    times=2,
)
@example(
    lines=[
        "[NID 00146] 2011-05-01 19:00:18 Apid 15379: OOM killer terminated this process.",
        "srun: Job 4231907 step creation temporarily disabled, retrying (Requested nodes are busy)",
    ],
    times=2,
)
def test_many_tasks_that_say_the_same_change_nothing(lines, times):
    """Law: a text in which every line is printed several times has the same cause."""
    text = [line.replace("\n", " ") for line in lines]
    repeated = [line for line in text for _ in range(times)]
    assert codes(repeated)[:1] == codes(text)[:1]
