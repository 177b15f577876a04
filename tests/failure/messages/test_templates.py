"""Suspicious lines, and their templates."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.failure.messages._expressions import _tables
from hopperlib.failure.messages._templates import is_exit_report, suspicion, template

# Words from all branches of the four expressions, and possible surroundings.
PIECES = (
    *(
        "fatal",
        "non-fatal",
        "PANIC",
        "abort",
        "aborting loop",
        "abort_on",
        "abort+0x",
        "unrecoverable",
        "critical error",
    ),
    *(
        "severe",
        "error stop",
        "ERROR",
        "Error:",
        "Error ABCD",
        "err!",
        "error!",
        "program will exit",
        "program is stop",
    ),
    *(
        "stopping now",
        "terminating due",
        "exiting with error",
        "cannot continue",
        "giving up",
        "internal error",
        "STOP x",
    ),
    *(
        "*** ERROR",
        "3 errors",
        "failed",
        "failure",
        "no failures",
        "zero errors",
        "0 exceptions",
        "exception",
        "cannot",
    ),
    *("can not", "unable to", "invalid", "illegal", "denied", "killed", "terminated normally", "normal termination"),
    *(
        "not found",
        "exceeds",
        "corrupt",
        "diverged",
        "ValueError",
        "stopped",
        "stop criteria",
        "INFO",
        "DEBUG:",
        "[TRACE",
    ),
    *("errors = 0", "fail: 0", "error = 1.5", "max error", "rms errors", "error norm", "-Werror", "errno = 0", "erf("),
    *(
        "if it fails",
        "stop time",
        "stop_",
        "fail-safe",
        "failover",
        "a.err",
        "kill time",
        "error file",
        "l2_error =",
        "warning",
    ),
    *("on_error", "x", " ", "  ", "7", ":", "[", "\t"),
)


@pytest.mark.parametrize(
    "line",
    [
        b" Q-Chem fatal error occurred in module ../qchem/stvman/mkSTV.C, line 246:",
        b"FATAL ERROR: Periodic cell has become too small for original patch grid!",
        b" *** ERROR: negative density in cell 88123",
        b"ERROR: Lost atoms: original 32000 current 31985",
        b" ZBRENT: fatal error in bracketing",
        b"STOP negative pressure",
        b" VERY BAD NEWS! internal error in subroutine IBZKPT:",
    ],
)
def test_words_of_an_end(line):
    assert suspicion(line) == "fatal"


@pytest.mark.parametrize(
    "line",
    [
        b"make[1]: *** [run] Error 2",
        b" Error termination via Lnk1e in /opt/g16/l101.exe",
        b"ERROR STOP 2",
        b"[0] called CmiAbort",
        b"*** ABORT ***",
        b"model run failed with status",
        b"returned non-zero exit status 3",
    ],
)
def test_words_that_say_only_that_it_ended(line):
    assert suspicion(line) == "end"


@pytest.mark.parametrize(
    "line",
    [
        b"ERROR: NaNs or INFs in input",
        b"Error: information on the inflow is missing",
        b"E R R O R in subroutine setup",
        b"ABOR1 called",
        b"FAIL in step 7",
        b"STOP no such species",
    ],
)
def test_words_that_were_called_harmless_or_missed(line):
    assert suspicion(line) == "fatal"


@pytest.mark.parametrize(
    "line", [b"err=GNI_RC_ERROR_RESOURCE", b"we can't allocate", b"server refused the request", b"abandoning the step"]
)
def test_words_in_names_and_contractions(line):
    assert suspicion(line) == "error"


@pytest.mark.parametrize(
    "line",
    [
        b" LAPACK: Routine ZPOTRF failed!",
        b"could not open: permission denied",
        b"3 errors found",
        b"java.lang.OutOfMemoryError: heap",
    ],
)
def test_words_of_an_error(line):
    assert suspicion(line) == "error"


@pytest.mark.parametrize(
    "line",
    [
        b"L2 error = 1.2e-5",
        b" error norm 3.1",
        b"max error: 0.001",
        b"0 errors, 2 warnings",
        b"finished without errors",
        b"errors: 0",
        b"relative error of the energy 1e-9",
        b"-------- aborting loop because EDIFF is reached --------",
        b"kinetic energy error for atom=    0.0389",
        b"error handler installed",
        b"compiled with -Wall -Werror",
        b"2024-03-05 INFO train: validation error: 0.41",
        b"Normal termination of Gaussian",
        b"abort_on_error = true",
        b"non-fatal error in cache, going on",
        b"mirror terrorism",
        b"writing log to run.err",
        b"WARNING: error bars are large",
        b"",
    ],
)
def test_harmless_lines(line):
    assert suspicion(line) == ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"rank 12 on nid00123: cannot read '/scratch/u/a.dat' at 0x7f3a", b"rank # on #: cannot read # at #"),
        (b"node012 lost 17 messages", b"# lost # messages"),
        (b'bad value "abc" in cell 3.14e-5', b"bad value # in cell #"),
        (b"write /gpfs/u/c100: failed", b"write #: failed"),
        (b"two   spaces", b"two spaces"),
    ],
)
def test_templates(line, expected):
    assert template(line) == expected


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_do_not_tell_lines_apart(one, other):
    assert template(b"solver %d failed on block %d" % (one, other)) == b"solver # failed on block #"


@given(st.binary(max_size=2000))
def test_any_bytes_have_a_template(line):
    assert len(template(line)) <= 240
    assert suspicion(line) in ("fatal", "error", "end", "hint", "")


@cache
def expression(name):
    """All alternatives of a table in one expression."""
    table = getattr(_tables(), name)
    any_case, cased = "|".join(table.any_case), table.cased
    return re.compile("|".join((f"(?i:{any_case})", *cased)).encode())


def ungated(line):
    """The verdict with all expressions, regardless of the pieces in the line."""
    if expression("never").search(line):
        return ""
    warned = expression("warned").search(line)
    if not warned and expression("end").search(line):
        return "end"
    if not warned and expression("fatal").search(line):
        return "fatal"
    if expression("error").search(line):
        return "" if expression("harmless").search(line) else "error"
    return "hint" if expression("hint").search(line) else ""


@given(st.lists(st.sampled_from(PIECES), max_size=5), st.booleans(), st.sampled_from((" ", "")))
def test_what_is_left_out_would_not_have_matched(pieces, upper, between):
    line = between.join(pieces)
    line = (line.upper() if upper else line).encode()
    assert suspicion(line) == ungated(line)


def test_each_word_is_judged_as_by_all_expressions():
    lines = [line for piece in PIECES for line in (piece, piece.upper(), f"  {piece} failed", f"x {piece}")]
    assert [line for line in lines if suspicion(line.encode()) != ungated(line.encode())] == []


@pytest.mark.parametrize(
    "line",
    [
        "NOTE: Process `ALIGN (chr1)` terminated with an error exit status (137) -- Execution is retried (1)",
        "Exiting because a job execution failed. Look above for error message",
        "MPT ERROR: MPI_COMM_WORLD rank 10 has terminated without calling MPI_Finalize()",
        "SLURM Job_id=68 Name=run_1 Ended, Run time 6-00:33:39, FAILED, ExitCode 28",
        "[WARN] PLE 0608 plexec One of MPI processes was aborted.(rank=0)(CODE=1903,256)(DETAIL=N/A)",
        "Process 3 exit with status code 250.",
        "command 'set -e; tool a b | sort > c' returned non-zero exit status 1",
    ],
)
def test_a_line_of_endings_and_parts_of_a_job_only_tells(line):
    assert is_exit_report(line.encode())


@pytest.mark.parametrize(
    "line",
    [
        "FATAL: task 0: start failed: stress: No such file or directory",
        "job preempted (node failure)",
        "node memory failed",
        "Process 3 exit with status code 250: grid is empty",
        "Fatal error:",
        "rank 3 of 8 is fine",
    ],
)
def test_a_line_with_a_word_of_its_own_says_more(line):
    assert not is_exit_report(line.encode())


def test_a_loud_word_within_a_warning_ends_nothing():
    assert suspicion(b"CRITICAL ERROR: grid is empty") == "fatal"
    assert suspicion(b"WARNING: CRITICAL ERROR in the last step, trying again") == ""
    assert suspicion(b"12:00:01 io - WARNING - abort of transfer 3") == ""
