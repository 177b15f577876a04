"""Summary of a schedule: waits and runs by hand, none if nothing started."""

import pytest

from hopperkit.traces.scheduler import simulate
from hopperlib.errors import InputError
from hopperlib.scheduling.schedule import mean_wait_h, summarize
from hopperlib.scheduling.workload import Job, Workload

# Four nodes. Job 3 lies on both sides of job 2, and starts at once.
JOBS = Workload([Job(1, 0, 1, 50, 50), Job(2, 0, 1, 99, 99), Job(3, 60, 3, 20, 20), Job(4, 61, 4, 10, 10)])


def test_waits_and_pieces():
    summary = summarize(simulate(JOBS, 4))
    # Job 4 waits for job 2: 99 - 61 s. Node-seconds: 50 + 99 + 60 + 40 of 4 x 109.
    assert (summary.jobs, summary.span_s, summary.max_wait_s, summary.median_wait_s) == (4, 109, 38, 0)
    assert summary.utilization == 249 / 436
    assert (summary.mean_runs, summary.contiguous_fraction) == (1.25, 0.75)


def test_some_jobs():
    assert summarize(simulate(JOBS, 4), [3]).mean_wait_s == 38
    assert mean_wait_h(simulate(JOBS, 4), from_nodes=4) == 38 / 3600
    assert mean_wait_h(simulate(JOBS, 4), from_s=61) == 38 / 3600


def test_nothing_started():
    with pytest.raises(InputError, match="no job started"):
        summarize(simulate(Workload(), 4))


def test_jobs_that_take_no_time_use_no_share_of_it():
    summary = summarize(simulate(Workload([Job(1, 5, 1, 0, 60)]), 4))
    assert (summary.span_s, summary.utilization) == (0, None)
