"""The policy with which a log is simulated: its scheduler's, unless the log shows another."""

from datetime import UTC, datetime
from statistics import fmean

import pytest

from hopperkit.analysis.reports import report
from hopperkit.traces.policies import SLURM, policy_of
from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling.workload import Workload
from tests.traces.planted import CLOCK, NODES, planted_log


def log_of(policy: str, seed: int, *, jobs: int = 250) -> Workload:
    """A log that was made under a policy."""
    drawn = planted_log("one", "none", seed, jobs=jobs, load=0.8)
    starts = simulate(drawn, NODES, policy=policy).start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(drawn, starts, strict=True))


@pytest.mark.parametrize("scheduler", ["slurm", "pbs", ""])
@pytest.mark.parametrize("seed", range(2))
def test_a_log_without_backfill_is_simulated_so(scheduler, seed):
    choice = policy_of(scheduler, log_of("fcfs", seed), NODES, CLOCK)
    assert (choice.policy, choice.shown) == ("fcfs", "no backfill")


@pytest.mark.parametrize("seed", range(2))
def test_slurms_backfill_stays_the_default_of_its_logs(seed):
    assert policy_of("slurm", log_of("slurm", seed), NODES, CLOCK).policy == SLURM


def test_others_are_simulated_with_what_they_show():
    assert [policy_of("pbs", log_of(policy, 1), NODES, CLOCK).policy for policy in ("easy", "conservative")] == [
        "easy",
        "conservative",
    ]


@pytest.mark.parametrize("form", ["swf", "sacct"])
def test_a_report_says_that_a_log_shows_no_backfill_and_has_its_waits(form, tmp_path):
    log = log_of("fcfs", 2)
    path = tmp_path / "jobs.txt"
    if form == "swf":
        rows = (
            f"{job.job} {job.submit_time_s} {job.observed_start_s - job.submit_time_s} {job.run_time_s} {job.nodes} -1 -1 "
            f"{job.nodes} {job.requested_time_s} -1 1 {job.user} -1 -1 -1 -1 -1 -1"
            for job in log
        )
        path.write_text("\n".join(rows) + "\n")
    else:
        path.write_text(_sacct(log))
    result = report("jobs", [str(path)], nodes=NODES)
    assert "; simulated with no backfill, as the log shows, " in result.summary
    waits = [job.observed_start_s - job.submit_time_s for job in log]
    (group,) = [group for group in result.facts["groups"] if group["name"] == "all"]
    assert group["simulated_wait_mean_s"] == pytest.approx(fmean(waits), rel=0.02)


def _sacct(log: Workload) -> str:
    """The log as sacct prints it."""

    def moment(second: int) -> str:
        return datetime.fromtimestamp(1704067200 + second, UTC).strftime("%Y-%m-%dT%H:%M:%S")

    rows = ["JobID|User|Submit|Start|End|NNodes|TimelimitRaw|State"]
    for job in log:
        start = job.observed_start_s
        rows.append(
            f"{job.job}|u{job.user}|{moment(job.submit_time_s)}|{moment(start)}|{moment(start + job.run_time_s)}|"
            f"{job.nodes}|{job.requested_time_s // 60}|COMPLETED"
        )
    return "\n".join(rows) + "\n"
