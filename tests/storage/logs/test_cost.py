"""Cost of I/O: call times divided into waiting, metadata and transfer, and the resulting levels. Logs are synthetic."""

import pytest

from hopperkit.iologs._judging.access import in_file
from hopperkit.iologs._judging.stakes import staked, weighed
from hopperkit.iologs.cost import cost_of, headline, slowest_s
from hopperkit.iologs.darshan_findings import findings
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord, StripeLayout
from hopperkit.iologs.darshan_summary import cost_sums, job_row
from hopperlib.finding import Finding


def log(*files, tasks=100, run_time_s=1000.0, upper=(), user=None):
    return DarshanLog(
        executable="a.out", job_id=1, tasks=tasks, run_time_s=run_time_s, modules=("POSIX",), files=files,
        upper=tuple(upper), user=user,
    )  # fmt: skip


def shared(path="/s/a", interface="POSIX", **more):
    values = {"path": path, "interface": interface, "tasks": 100, "shared": True}
    return FileRecord(**(values | more))


def test_time_in_mpi_io_without_the_posix_calls_under_it_is_waiting():
    # 90,000 s in MPI-IO, 3,000 in POSIX of which 500 are metadata: 87,000 s of waiting, 25 task-hours in all.
    job = log(
        shared(busy_s=3000.0, meta_s=500.0, slowest_s=40.0),
        upper=[shared(interface="MPI-IO", busy_s=90_000.0, slowest_s=905.0)],
    )
    cost = cost_of(job)
    assert (cost.transfer_s, cost.metadata_s, cost.waiting_s) == (2500.0, 500.0, 87_000.0)
    assert (cost.task_s, cost.seconds, cost.share, cost.slowest_s) == (90_000.0, 900.0, 0.9, 905.0)
    assert headline(cost) == (
        "I/O took 900 of 1,000 s (90 %), 25 task-hours; 97 % of it is tasks that wait for each other or exchange data."
    )
    (waiting,) = [finding for finding in findings(job) if finding.code == "waiting"]
    # 87 % of the run's task-hours.
    assert waiting.level == "problem"
    # The slowest needs 40 s below MPI-IO, for which 100 tasks wait less what they read and wrote: 4,000 - 3,000 s.
    assert waiting.evidence["storage_task_s"] == 1000.0
    assert waiting.evidence["win_high_task_s"] == 86_000.0
    assert "barrier before each collective call" in waiting.advice


def test_waiting_for_the_slowest_writer_is_told_from_waiting_for_each_other():
    # One aggregator writes for 900 s: 100 tasks x 900 s less its own 900.
    job = log(
        shared(busy_s=900.0, write_busy_s=900.0, slowest_s=900.0),
        upper=[shared(interface="MPI-IO", busy_s=90_000.0)],
    )
    (waiting,) = [finding for finding in findings(job) if finding.code == "waiting"]
    assert waiting.evidence["storage_task_s"] == 89_100.0
    assert "more stripes and aggregators" in waiting.advice


def test_little_waiting_is_no_finding():
    # 1 s per task of 1,000 s.
    job = log(shared(busy_s=10.0), upper=[shared(interface="MPI-IO", busy_s=110.0)])
    assert "waiting" not in {finding.code for finding in findings(job)}


def test_waiting_above_a_minute_is_a_finding_in_a_run_of_a_day():
    job = log(shared(busy_s=10.0), upper=[shared(interface="MPI-IO", busy_s=7000.0)], run_time_s=86_400.0)
    assert "waiting" in {finding.code for finding in findings(job)}


def test_daos_names_its_files_otherwise():
    job = log(shared("42", "DFS", busy_s=80.0), upper=[shared("/a", "MPI-IO", busy_s=100.0)])
    assert cost_of(job).waiting_s == 20.0


def test_files_of_one_task_add_up_for_the_slowest():
    files = [FileRecord(path=f"/{n}", busy_s=3.0, written_by={n % 2: 1}) for n in range(10)]
    files += [FileRecord(path="/b", busy_s=1.0, read_by={0: 5})]
    # Task 0 has five files of 3 s and one of 1 s.
    assert slowest_s(files) == 16.0


def test_more_time_than_the_run_has_is_said_and_has_no_share():
    cost = cost_of(log(shared(busy_s=200_000.0)))
    assert cost.impossible
    assert cost.share is None
    assert "more than they ran" in headline(cost)


@pytest.mark.parametrize(
    ("task_s", "slowest", "run_time_s", "level"),
    [
        (80.0, 0.0, 39_213.0, "note"),  # 0.8 s of 39,213 s
        (80.0, 61.0, 39_213.0, "note"),  # one task has a minute of it: no share of the task-hours
        (6_100.0, 0.0, 39_213.0, "note"),  # a minute of each, 0.2 %
        (61_000.0, 0.0, 39_213.0, "advice"),  # ten minutes of each
        (78_000.0, 0.0, 39_213.0, "advice"),  # 1.99 %, and ten minutes
        (150.0, 0.0, 20.0, "advice"),  # 1.5 s of 20 s are 8 %
        (900.0, 0.0, 20.0, "advice"),  # 45 %, but 9 s
        (9_000.0, 0.0, 200.0, "problem"),  # 45 %, and 90 s
        (5.0, 0.0, 2.0, "note"),  # 0.05 s needs no repair, however short the run
        (80.0, 0.0, None, "advice"),  # the log does not contain the run time
    ],
)
def test_a_finding_that_costs_next_to_nothing_is_a_note(task_s, slowest, run_time_s, level):
    finding = Finding("stdio", "Much.", evidence=staked(task_s, slowest=slowest, won=task_s))
    assert weighed([finding], log(run_time_s=run_time_s))[0].level == level


def test_a_finding_without_times_stays_as_it_is():
    finding = Finding("stdio", "Much.")
    assert weighed([finding], log()) == (finding,)


def test_a_row_tells_cost_user_and_what_is_known_of_osts():
    layout = StripeLayout(stripe_count=2, stripe_size_bytes=1 << 20, osts=(1, 2))
    job = log(shared(busy_s=7200.0, bytes_written=10**9, write_s=72.0, layout=layout), user=7)
    row = job_row("a.darshan", job, findings(job))
    assert (row["io_task_hours"], row["io_share"], row["user"]) == (2.0, 0.072, 7)
    # Two OSTs that share one file cannot be told apart, which is no finding.
    assert row["slow_ost"] == "cannot tell"
    assert "slow-ost" not in row["findings"]
    assert job_row("b", log(shared()), ())["slow_ost"] is None


def test_sums_by_program_are_sums_of_the_jobs():
    jobs = [{"executable": name, "io_task_hours": hours} for name, hours in (("a", 1.0), ("b", 3.0), ("a", 2.5))]
    assert [(row["executable"], row["io_task_hours"]) for row in cost_sums(jobs, "executable")] == [
        ("a", 3.5),
        ("b", 3.0),
    ]


def test_most_is_said_of_more_than_half_alone():
    assert in_file(0.51, "/a") == "most are in /a"
    assert in_file(0.2, "/a") == "the largest part, 20 %, is in /a"
