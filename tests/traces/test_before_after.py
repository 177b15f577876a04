"""A change at a date is distinguished from other jobs; use is counted by any column."""

import pytest

from hopperkit.analysis.job_report import jobs_by
from hopperkit.questions.network.traces.change import change_result, second_of
from hopperkit.readers.jobs import read_job_trace
from hopperkit.traces.changes.before_after import before_after
from hopperkit.traces.rules.absences import Absence
from hopperkit.traces.rules.site import Learned
from hopperlib.errors import InputError
from hopperlib.scheduling.workload import Workload
from tests.traces.planted import CLOCK, NODES, planted_log

WEEK_S = 7 * 86_400


def slow_log(seed: int, away: int) -> tuple[Workload, int]:
    """A log of six weeks or so, of whose nodes some are away from its middle on; and that moment. [s]"""
    log = planted_log("one", "none", seed, jobs=1200, load=0.75)
    jobs = Workload(
        job._replace(**{name: 4 * getattr(job, name) for name in ("submit_time_s", "run_time_s", "requested_time_s")})
        for job in log
    )
    middle = (jobs.arrival_s[0] + jobs.arrival_s[-1]) // 2
    rules = Learned(absent=(Absence(middle, 2 * jobs.arrival_s[-1], away),) if away else ())
    starts = rules.run(jobs, NODES, CLOCK).start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(jobs, starts, strict=True)), middle


def test_fewer_nodes_from_a_date_on_are_a_change_and_other_jobs_are_none():
    log, middle = slow_log(5, 16)
    found = before_after(log, NODES, CLOCK, middle)
    assert found.low is not None
    assert found.low > 0
    assert found.after.wait_s > 2 * found.after.simulated_s
    log, middle = slow_log(5, 0)
    found = before_after(log, NODES, CLOCK, middle)
    assert found.low <= 0 <= found.high
    assert "no change can be shown" in change_result("2024-01-20", found).summary


def test_a_side_with_few_jobs_is_refused():
    log, _ = slow_log(5, 0)
    with pytest.raises(InputError, match="0 jobs with known starts were submitted before that date: 100 are needed"):
        before_after(log, NODES, CLOCK, 0)


ROWS = [
    "JobID|User|Account|State|Submit|Start|Elapsed|NNodes|AllocCPUS|AllocTRES",
    "8|ann|x|COMPLETED|2026-03-01T08:00:00|2026-03-01T09:30:00|02:00:00|4|64|billing=64,cpu=64,gres/gpu=8,node=4",
    "9|bob|x|COMPLETED|2026-03-01T08:00:00|2026-03-01T08:00:00|01:00:00|1|16|billing=16,cpu=16,node=1",
]


def test_dates_are_of_the_logs_clock():
    log = read_job_trace([*ROWS, ROWS[2].replace("9|", "10|", 1).replace("T08:00", "T20:00")], timezone="Europe/Berlin")
    # Submissions from 08:00 local time on.
    assert second_of("2026-03-01T10:00", log) == 7200
    with pytest.raises(InputError, match="date='soon' must be a date such as 2026-03-01"):
        second_of("soon", log)
    with pytest.raises(
        InputError, match="must be in the log, which has submissions from 2026-03-01T08:00 to 2026-03-01T20:00"
    ):
        second_of("2027-01-01", log)


def test_core_and_gpu_hours_by_any_column():
    jobs = read_job_trace(ROWS).to_frame()
    by_user = jobs_by(jobs, "user")
    # Ann: four nodes, 64 cores and 8 GPUs for two hours.
    assert by_user.loc["ann", ["node_h", "core_h", "gpu_h"]].tolist() == [8, 128, 16]
    assert by_user.loc["bob", ["node_h", "core_h"]].tolist() == [1, 16]
    assert jobs_by(jobs, "account").loc["x", "core_h"] == 144
    with pytest.raises(InputError, match="column='shoe' must be a column of the jobs"):
        jobs_by(jobs, "shoe")
