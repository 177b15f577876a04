"""The scheduler's record of a job."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.jobs.accounting import memory_gb, read_record
from hopperlib.errors import InputError

PARSABLE = """JobID|JobName|State|ExitCode|Elapsed|Timelimit|MaxRSS|ReqMem|NodeList
11|first|COMPLETED|0:0|00:01:00|01:00:00||4000Mc|n1
11.batch|batch|COMPLETED|0:0|00:01:00||231092K||n1
12|second|FAILED|0:0|00:02:00|01:00:00||64G|n[1-2]
12.batch|batch|FAILED|139:0|00:02:00||1M||n1
12.extern|extern|COMPLETED|0:0|00:02:00||2M||n1
12.0|a.out|OUT_OF_MEMORY|0:125|00:02:00||3145728K||n2
"""
TABLE = """JobID           JobName  Partition    Account  AllocCPUS      State ExitCode
------------ ---------- ---------- ---------- ---------- ---------- --------
990133              lmp     normal     proj01        128 OUT_OF_ME+    0:125
990133.batch      batch                proj01        128 OUT_OF_ME+    0:125
990133.0            lmp                proj01        128  COMPLETED      0:0
"""


def test_the_last_job_is_read_with_its_steps():
    record = read_record(PARSABLE)
    assert (record.job, record.state, record.failed) == ("12", "FAILED", True)
    # 3145728 K = 3 GB, the largest of the steps.
    assert record.max_rss_gb == 3.0
    assert (record.requested_memory, record.elapsed, record.time_limit, record.nodes) == (
        "64G",
        "00:02:00",
        "01:00:00",
        "n[1-2]",
    )


def test_a_job_is_chosen_by_its_number():
    record = read_record(PARSABLE, job="11")
    assert (record.state, record.failed, record.exit_code, record.signal) == ("COMPLETED", False, 0, 0)


def test_the_exit_code_is_that_of_what_failed_first():
    table = PARSABLE.replace("12|second|FAILED", "12|second|COMPLETED")
    record = read_record(table)
    assert (record.state, record.failed, record.exit_code) == ("COMPLETED", True, 139)


def test_the_table_for_people():
    record = read_record(TABLE)
    assert (record.job, record.state, record.signal, record.max_rss_gb) == ("990133", "OUT_OF_MEMORY", 125, None)


def test_lines_of_other_jobs_are_left_empty_in_their_places():
    lines = read_record(PARSABLE).text.decode().split("\n")
    assert lines[3].startswith("12|")
    assert lines[:3] == ["", "", ""]


@pytest.mark.parametrize(
    ("state", "failed"),
    [("RUNNING", None), ("PENDING", None), ("COMPLETED", False), ("CANCELLED by 1001", True), ("TIMEOUT", True)],
)
def test_what_a_state_means(state, failed):
    assert read_record(f"JobID|State\n7|{state}\n").failed is failed


@pytest.mark.parametrize(
    ("text", "job", "message"),
    [
        (
            "hello",
            None,
            "this is not output of sacct: it has no header with JobID and State; produce it with sacct --parsable2 -j <job>",
        ),
        ("JobID|State\n", None, "the output of sacct has no job"),
        (PARSABLE, "13", "job '13' is not in the output of sacct, which holds: 11, 12"),
        ("JobID State\nno dashes\n", None, "this is not output of sacct"),
    ],
)
def test_what_is_no_record_is_refused(text, job, message):
    with pytest.raises(InputError) as raised:
        read_record(text, job=job)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("16G", 16.0),
        ("1T", 1024.0),
        ("2.5Gn", 2.5),
        ("1024M", 1.0),
        ("1073741824", 1.0),
        ("", None),
        ("?", None),
        ("12Q", None),
    ],
)
def test_sizes(text, size):
    assert memory_gb(text) == size


@given(st.text(max_size=400))
def test_any_text_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        read_record(text)


@given(st.text(max_size=200))
def test_any_text_behind_a_header_is_read_or_refused(text):
    with contextlib.suppress(InputError):
        read_record("JobID|State|ExitCode|MaxRSS\n" + text)
