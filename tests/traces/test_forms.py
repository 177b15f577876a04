"""Logs of other forms: jobcomp/filetxt, PBS, LSF, GPU clusters, and those without submissions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.questions.network.simulate import Simulation, simulated
from hopperkit.questions.network.traces.answer import result_of
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.jobs.sacct import array_elements
from hopperkit.readers.jobs.slurm_config import read_slurm_config
from hopperkit.readers.networks.ibnetdiscover import read_ibnetdiscover
from hopperlib.errors import InputError
from hopperlib.scheduling.backfill import Backfill

FIELD = Path(__file__).parent / "field"
WLCG = "JobID,JobName,User,Account,Start,End,Elapsed,CPUTimeRAW,Partition,NCPUS,NNodes,NodeList,MaxRSS,MaxVMSize,State"


def test_finished_jobs_of_a_site_without_slurmdbd():
    trace = read_job_trace(FIELD / "F14.txt")
    jobs = {job.job: job for job in trace.workload}
    # Job 3: submitted 14:16:09, begun 14:16:10, ended 14:19:39, limit 5 min; job 2 came 16 s before it.
    assert (jobs[3].submit_time_s, jobs[3].observed_start_s, jobs[3].run_time_s) == (16, 17, 209)
    assert (jobs[3].requested_time_s, jobs[3].nodes, jobs[3].node_list) == (300, 3, "n[06-08]")
    assert (trace.scheduler, trace.has_waits, trace.users[jobs[3].user]) == ("slurm", True, "u")


def test_a_job_name_that_looks_like_fields_is_passed_over():
    line = (FIELD / "F14.txt").read_text().splitlines()[0]
    assert read_job_trace([line.replace("Name=wrap", "Name=a NodeCnt=99 JobId=7 b")]).workload[0][:3] == (3, 0, 3)


def test_pbs_accounting():
    trace = read_job_trace(FIELD / "L8.txt")
    # Job 4: queued 1510709028, begun 10 s later, ended after 600 s; job 5: queued 100 s later, begun when 4 ended.
    rows = [
        (job.job, job.submit_time_s, job.observed_start_s, job.run_time_s, job.nodes, job.cores)
        for job in trace.workload
    ]
    assert rows == [(4, 0, 10, 600, 2, 16), (5, 100, 610, 1000, 1, 8)]
    assert [job.requested_time_s for job in trace.workload] == [3600, 3600]
    assert trace.scheduler == "pbs"


def test_records_of_pbs_that_are_no_ends_are_passed_over_and_torn_ones_counted():
    ended = (FIELD / "L8.txt").read_text().splitlines()[0]
    lines = [
        ended,
        ended.replace(";E;", ";S;"),
        ended.replace(";4.pbs;", ";strange;"),
        ended.replace(";4.pbs;", ";9[3].pbs;"),
    ]
    trace = read_job_trace(lines)
    assert [trace.names.get(job.job, str(job.job)) for job in trace.workload] == ["4", "9_3"]
    assert trace.skips.messages() == ["1 job skipped, not a record of PBS accounting (first at line 3)"]


def lsf(**fields: str) -> str:
    """A record of lsb.acct."""
    values = {"time": "1510709638", "job": "7", "start": "1510709038", "hosts": '2 "n1" "n2"', "state": "64"} | fields
    return (
        f'"JOB_FINISH" "10.1" {values["time"]} {values["job"]} 1001 33554438 2 1510709028 0 0 {values["start"]} "ann" "normal" '
        f'"select[mem>1] ""x""" "" "" "login" "/home/a b" "" "out" "" "file" 1 "n1" {values["hosts"]} {values["state"]} 60.0 '
        f'"a name" "sleep 600" {"0.1 " * 19}"" "proj" 0 2 "/bin/bash" "" 0'
    )


def test_lsf_accounting():
    trace = read_job_trace(
        [lsf(), lsf(job="8", state="32"), lsf(job="9", start="0", hosts="0", state="32"), '"JOB_FINISH" "10.1" 7']
    )
    rows = [
        (job.job, job.observed_start_s, job.run_time_s, job.nodes, job.queue, job.account, job.state)
        for job in trace.workload
    ]
    assert rows == [(7, 10, 600, 2, "normal", "proj", "COMPLETED"), (8, 10, 600, 2, "normal", "proj", "FAILED")]
    assert (trace.scheduler, trace.skips.total) == ("lsf", 2)


def test_headings_of_gpu_clusters():
    trace = read_job_trace(FIELD / "F12.csv")
    job = trace.workload[0]
    # Submitted 00:00, begun 00:10 (queue 600), ended 01:00.
    assert (job.observed_start_s, job.run_time_s, job.nodes, job.cores, job.gpus, job.queue) == (
        600,
        3000,
        1,
        32,
        8,
        "vc1",
    )


@pytest.mark.parametrize(("name", "columns"), [("L2.txt", WLCG), ("L6.csv", "")])
def test_without_submissions_waits_are_not_in_the_log(name, columns):
    trace = read_job_trace(FIELD / name, columns=columns)
    assert not trace.has_waits
    assert trace.to_frame()["wait"].isna().all()
    assert "no-submit" in [note.code for note in trace.account()]
    result = result_of(simulated(trace, Simulation()))
    assert result.summary.endswith("Waits are not in this log.")
    assert "wait" not in " ".join(value.label.lower() for value in result.values)
    assert result.facts["node_hours"] == trace.workload.node_seconds / 3600


def test_a_table_with_neither_submission_nor_start_is_refused():
    with pytest.raises(InputError, match="lacks submit_time or start_time"):
        read_job_trace(["job,wall_s,nodes", "1,60,4"])
    with pytest.raises(InputError, match="it lacks Submit"):
        read_job_trace(["JobID|State|Elapsed|NNodes", "1|COMPLETED|00:10:00|4"])


def test_a_waiting_array_is_as_many_jobs_as_it_has_elements():
    lines = [
        "JobID|State|Submit|Start|Elapsed|Timelimit|NNodes",
        "1|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|00:10:00|01:00:00|1",
        "77_[9201-10000%500]|PENDING|2024-01-01T00:00:00|Unknown|00:00:00|01:00:00|1",
    ]
    trace = read_job_trace(lines)
    assert len(trace.unfinished) == 800
    assert (trace.unfinished[0][0], trace.unfinished[-1][0]) == ("77_9201", "77_10000")
    assert trace.skips.messages() == ["800 jobs skipped, not started yet (first at line 3)"]


@given(st.sets(st.integers(0, 300), min_size=1, max_size=40), st.sampled_from(["", "%5"]))
def test_elements_of_arrays_are_those_that_were_written(numbers, most):
    ordered, parts = sorted(numbers), []
    for number in ordered:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    text = ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)
    assert list(array_elements(f"5_[{text}{most}]")) == [f"5_{number}" for number in ordered]


def test_a_huge_array_is_bounded():
    lines = [
        "JobID|State|Submit|Start|Elapsed|Timelimit|NNodes",
        "1|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:00:00|00:10:00|01:00:00|1",
        "77_[0-999999999]|PENDING|2024-01-01T00:00:00|Unknown|00:00:00|01:00:00|1",
    ]
    assert len(read_job_trace(lines).unfinished) == 200_000


@pytest.mark.parametrize(
    "noise",
    [
        "",
        "Chassis 1 (guid 0x8f10400411f56)",
        "Spine Nodes",
        "ibwarn: [4242] _do_madrpc: recv failed: Connection timed out",
        "src/query_smp.c:197; umad (DR path slid 0; dlid 0; 0,1 Attr 0x11:0) bad status 110; Connection timed out",
    ],
)
def test_ibnetdiscover_as_its_manual_prints_it(noise):
    text = (FIELD / "F03.topo").read_text()
    tree = read_ibnetdiscover(f"{noise}\n{text}")
    assert tree == read_ibnetdiscover(text.replace("Non-Chassis Nodes\n", ""))
    assert tree.node_names == ("node1", "node2")


def test_other_lines_are_still_refused():
    with pytest.raises(InputError, match="line 1: 'hello' is not a line of ibnetdiscover"):
        read_ibnetdiscover("hello\n" + (FIELD / "F03.topo").read_text())


def test_settings_of_slurm():
    settings = read_slurm_config(
        "SchedulerType = sched/backfill\nSchedulerParameters = bf_interval=60,bf_window=2880,bf_max_job_test=50,defer\n"
        "PriorityType = priority/multifactor\nPriorityWeightAge = 1000\nPriorityWeightJobSize=500\nPriorityFavorSmall = Yes\n"
        "PriorityMaxAge = 1-12:00:00\nPriorityDecayHalfLife = 00:00:00\n"
    )
    assert settings.policy == Backfill(depth=50, interval_s=60, window_s=172_800)
    assert (settings.order, settings.rules.age, settings.rules.size) == ("multifactor", 1000, -500)
    assert settings.rules.max_age_days == 1.5
    assert read_slurm_config("SchedulerType=sched/builtin").policy == "fcfs"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ClusterName=x", "no SchedulerType"),
        ("SchedulerParameters=bf_interval=x", "bf_interval='x' must be a whole number"),
        ("PriorityType=priority/multifactor\nPriorityMaxAge=soon", "PriorityMaxAge='soon' must be a time"),
    ],
)
def test_settings_of_slurm_that_cannot_be_read(text, message):
    with pytest.raises(InputError, match=message):
        read_slurm_config(text)
