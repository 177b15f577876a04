"""sacct --parsable2: columns in any order, steps, states, strange lines, refusals."""

import json

import pytest

from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.jobs.sacct import read_sacct
from hopperlib.errors import InputError

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
    with pytest.raises(InputError, match=reason):
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
    assert read_sacct([HEADER, GOOD.replace("00:30:00", "Partition_Limit")]).workload[0].requested_time_s == 600


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1-00:00:00", 86400), ("00:00:01", 1), ("05:07.123", 307), ("2-03", 183600), ("Partition_Limit", 600), ("", 600)],
)
def test_limits(text, seconds):
    # Without a limit that can be read, the run time of ten minutes stands in.
    assert read_sacct([HEADER, GOOD.replace("00:30:00", text)]).workload[0].requested_time_s == seconds


def test_refusals():
    with pytest.raises(InputError, match="it is empty"):
        read_sacct([])
    with pytest.raises(InputError, match=r"line 1 is not a usable header of sacct .* lacks Submit, Elapsed, NNodes"):
        read_sacct(["JobID|State"])
    with pytest.raises(InputError, match="it is empty"):
        read_sacct([HEADER])


def test_without_a_header():
    export = "81|81|c1|gpu|normal|phys|grp|100|ann|1000|2024-03-01T10:00:00|2024-03-01T10:00:05|2024-03-01T10:02:00|2024-03-01T10:12:00|00:10:00|0:0|COMPLETED|2|8|8|4Gn|cpu=8|cpu=8,gres/gpu:a100=2,gres/gpu=4,mem=8G|00:30:00|g[1-2]|a|b"
    job = read_sacct([export]).workload[0]
    assert (job.nodes, job.cores, job.gpus, job.memory_mb, job.queue, job.qos, job.account) == (
        2,
        8,
        4,
        8192,
        "gpu",
        "normal",
        "phys",
    )
    assert (job.eligible_time_s, job.observed_start_s, job.run_time_s, job.node_list) == (5, 120, 600, "g[1-2]")
    # An older export: no QOS, GRES beside the TRES.
    fields = export.split("|")
    older = [*fields[:4], *fields[5:21], "gpu:2", *fields[21:-2], "name"]
    assert read_sacct(["|".join(older)]).workload[0][:7] == job[:7]
    named = read_sacct([GOOD], columns="jobid,user,jobname%20,partition,state,submit,elapsed,timelimit,nnodes")
    assert named.workload[0].queue == "debug"
    with pytest.raises(InputError, match="line 1 is a job, and no line names the columns"):
        read_sacct([GOOD])


def entry(**changes):
    return {
        "job_id": 7, "user": "ann", "account": "phys", "partition": "gpu", "qos": "high", "nodes": "g1", "allocation_nodes": 1,
        "state": {"current": ["COMPLETED"]}, "array": {"job_id": 0, "task_id": {"set": False, "number": 0}}, "het": {"job_id": 0},
        "time": {"submission": 1700000000, "eligible": 1700000005, "start": 1700000100, "end": 1700000700, "elapsed": 600,
                 "limit": {"set": True, "infinite": False, "number": 30}},
        "tres": {"allocated": [{"type": "cpu", "name": "", "count": 8}, {"type": "mem", "name": "", "count": 2048},
                               {"type": "gres", "name": "gpu", "count": 2}]},
    } | changes  # fmt: skip


@pytest.mark.parametrize("indent", [None, 1])
def test_json(indent):
    text = json.dumps(
        {"meta": {"plugin": {}}, "jobs": [entry(), entry(job_id=8, state={"current": "PENDING"})], "errors": []},
        indent=indent,
    )
    trace = read_job_trace(text)
    job = trace.workload[0]
    assert (job.job, job.nodes, job.cores, job.gpus, job.memory_mb) == (7, 1, 8, 2, 2048)
    assert (job.eligible_time_s, job.observed_start_s, job.run_time_s, job.requested_time_s) == (5, 100, 600, 1800)
    assert (job.queue, job.account, job.qos, job.state, job.node_list) == ("gpu", "phys", "high", "COMPLETED", "g1")
    assert trace.skips.counts == {"not started yet": 1}
    assert read_job_trace(text[: len(text) - 40]).skips.total >= 1
    for bad in ("{", '{"jobs": 3}', '{"jobs": ' + "[" * 10_000):
        with pytest.raises(InputError):
            read_job_trace(bad)


def test_parts_of_a_heterogeneous_job_start_together():
    lines = [GOOD.replace("71|", f"71+{part}|") for part in (0, 1)] + [
        GOOD.replace("71|", "72+0|").replace("debug", "gpu")
    ]
    trace = read_sacct([HEADER, *lines, GOOD.replace("71|", "72+1|")])
    assert sorted((job.nodes, job.queue) for job in trace.workload) == [(4, "debug"), (4, "gpu"), (8, "debug")]
    assert {note.code: note.count for note in trace.notes} == {"het-joined": 1, "het-apart": 2}


def test_what_is_not_modelled_is_counted():
    header = HEADER + "|Licenses|Reservation|Start|Eligible"
    line = (
        GOOD.replace("COMPLETED", "PREEMPTED").replace("00:30:00", "00:05:00")
        + "|matlab:1|maint|2024-03-01T10:00:00|2024-03-01T10:05:00"
    )
    trace = read_sacct([header, line])
    assert {note.code for note in trace.notes} == {
        "licences",
        "reservation",
        "preempted",
        "over-limit",
        "held",
        "late-start",
    }
    assert len(repr(trace)) < 1000


def test_no_limit_is_endless_and_said():
    trace = read_sacct([HEADER, GOOD.replace("00:30:00", "UNLIMITED")])
    assert trace.workload[0].requested_time_s == 10**10
    assert [(note.code, note.count) for note in trace.notes] == [("endless", 1)]


@pytest.mark.parametrize(("printed", "nodes"), [("1K", 1024), ("1.50K", 1536), ("9.27K", 9492), ("2M", 2097152)])
def test_counts_with_the_suffixes_of_slurm(printed, nodes):
    assert read_sacct([HEADER, GOOD[:-1] + printed]).workload[0].nodes == nodes


def test_a_run_that_was_requeued_is_a_run():
    # The row of 10 minutes held four nodes; the row without any run time has nothing to tell.
    first, again = GOOD.replace("COMPLETED", "REQUEUED"), GOOD.replace("10:00:00", "10:10:00")
    trace = read_sacct([HEADER, first, again, first.replace("00:10:00", "00:00:00")])
    assert [job.run_time_s for job in trace.workload] == [600, 600]
    assert trace.skips.messages() == ["1 job skipped, not started yet (first at line 4)"]


def test_jobs_that_run_or_wait_are_kept_beside_the_others():
    header = HEADER + "|Start"
    done = GOOD + "|2024-03-01T10:05:00"
    runs = done.replace("71|", "72|").replace("COMPLETED", "RUNNING")
    waits = (
        GOOD.replace("71|", "73_[1-4]|").replace("COMPLETED", "PENDING").replace("00:10:00", "00:00:00") + "|Unknown"
    )
    trace = read_sacct([header, done, runs, waits])
    kept = [(name, job.state, job.run_time_s, job.observed_start_s) for name, job in trace.unfinished]
    assert kept == [("72", "RUNNING", 600, 300), *((f"73_{number}", "PENDING", 0, None) for number in range(1, 5))]
    assert len(trace.workload) == 1


def test_suspended_time_is_said():
    trace = read_sacct([HEADER + "|Suspended", GOOD + "|00:05:00", GOOD.replace("71|", "72|") + "|00:00:00"])
    assert [(note.code, note.count) for note in trace.notes] == [("suspended", 1)]


def test_a_clock_that_goes_to_summer_time():
    # Berlin, 2024-03-31: from 02:00 the clock shows 03:00, so that an hour and a half by the clock is half an hour.
    header = "JobID|State|Submit|Start|Elapsed|Timelimit|NNodes"
    line = "1|COMPLETED|2024-03-31T01:45:00|2024-03-31T03:15:00|00:10:00|01:00:00|1"
    waits = {
        zone: read_sacct([header, line], timezone=zone).workload[0].observed_start_s for zone in ("", "Europe/Berlin")
    }
    assert waits == {"": 5400, "Europe/Berlin": 1800}
    with pytest.raises(InputError, match="must be a time zone known to this computer"):
        read_sacct([header, line], timezone="Europe/Nowhere")


def test_offsets_in_time_stamps_hold():
    # As pandas prints times with a zone: an hour after 10:00 universal time.
    first, second = (GOOD.replace("10:00:00", clock) for clock in ("10:00:00+00:00", "13:00:00+02:00"))
    assert [job.submit_time_s for job in read_sacct([HEADER, first, second]).workload] == [0, 3600]
