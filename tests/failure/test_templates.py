"""Which lines are suspicious, and what they have in common."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.failure.templates import suspicion, template


@pytest.mark.parametrize(
    "line",
    [
        b" Q-Chem fatal error occurred in module ../qchem/stvman/mkSTV.C, line 246:",
        b"FATAL ERROR: Periodic cell has become too small for original patch grid!",
        b" *** ERROR: negative density in cell 88123",
        b"ERROR: Lost atoms: original 32000 current 31985",
        b"ERROR STOP 2",
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
    assert suspicion(line) in ("fatal", "error", "")
