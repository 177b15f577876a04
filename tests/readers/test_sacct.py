"""sacct --parsable2: columns in any order, steps, states, strange lines, refusals."""

import pytest

from hopperlib.readers.sacct import read_sacct
from hopperlib.readers.trace import TraceError

HEADER = "JobID|User|JobName|Partition|State|Submit|Elapsed|Timelimit|NNodes"
GOOD = "71|ann|milc|debug|COMPLETED|2024-03-01T10:00:00|00:10:00|00:30:00|4"


def test_jobs_count_from_the_first_submission():
    later = GOOD.replace("71|ann", "72|bob").replace("10:00:00", "10:01:00")
    trace = read_sacct([HEADER, later, GOOD])
    assert [(job.job, job.submit_time_s, job.user) for job in trace.workload] == [(71, 0, 2), (72, 60, 1)]
    assert trace.epoch_s == 1709287200  # 2024-03-01 10:00:00 as if universal
    assert trace.workload[0].requested_time_s == 1800


def test_steps_and_repeated_headers_are_no_jobs():
    trace = read_sacct([HEADER, GOOD, GOOD.replace("71|", "71.batch|"), GOOD.replace("71|", "71.0|"), HEADER])
    assert len(trace.workload) == 1
    assert trace.skips.total == 0


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (GOOD.replace("COMPLETED", "CANCELLED by 5").replace("00:10:00", "00:00:00"), "cancelled before it started"),
        (GOOD.replace("COMPLETED", "PENDING"), "not started yet"),
        (GOOD.replace("COMPLETED", "RUNNING"), "still running"),
        (GOOD.replace("00:10:00", ""), "run time unknown"),
        (GOOD.replace("2024-03-01T10:00:00", "Unknown"), "submit time unknown"),
        (GOOD[:-1] + "0", "nodes unknown"),
        (GOOD[:-1] + "-4", "nodes unknown"),
        (GOOD.replace("71|", "x71|"), "JobID is none"),
        (GOOD.rpartition("|")[0], "its fields do not fit the header"),
    ],
)
def test_what_cannot_be_taken_is_counted_with_its_line(line, reason):
    trace = read_sacct([HEADER, GOOD, line])
    assert trace.skips.messages() == [f"1 job skipped, {reason} (first at line 3)"]
    with pytest.raises(TraceError, match=reason):
        read_sacct([HEADER, line])


def test_a_delimiter_in_a_job_name():
    assert read_sacct([HEADER, GOOD.replace("milc", "a|b||c")]).workload[0].nodes == 4


def test_other_columns_for_the_same():
    header = "State|JobIDRaw|JobID|Submit|Start|End|TimelimitRaw|AllocNodes|ReqNodes"
    line = "TIMEOUT|9|8_[1-3]|2024-03-01T10:00:00|2024-03-01T11:00:00|2024-03-01T12:00:00|60|0|16"
    trace = read_sacct([header.replace("|", ";"), line.replace("|", ";")], delimiter=";")
    job = trace.workload[0]
    assert (job.nodes, job.run_time_s, job.requested_time_s) == (16, 3600, 3600)
    assert trace.names[job.job] == "8_[1-3]"


def test_without_a_limit_the_run_time_stands_in():
    assert read_sacct([HEADER, GOOD.replace("00:30:00", "UNLIMITED")]).workload[0].requested_time_s == 600


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1-00:00:00", 86400), ("00:00:01", 1), ("05:07.123", 307), ("2-03", 183600), ("Partition_Limit", 600), ("", 600)],
)
def test_limits(text, seconds):
    # Without a limit that can be read, the run time of ten minutes stands in.
    assert read_sacct([HEADER, GOOD.replace("00:30:00", text)]).workload[0].requested_time_s == seconds


def test_refusals():
    with pytest.raises(TraceError, match="it is empty"):
        read_sacct([])
    with pytest.raises(TraceError, match=r"line 1 is no header of sacct .* lacks Submit, Elapsed, NNodes"):
        read_sacct(["JobID|State"])
    with pytest.raises(TraceError, match="it has none"):
        read_sacct([HEADER])
