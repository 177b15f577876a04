"""Workloads: order, errors, sums."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.scheduling.workload import Job, Workload


@given(st.lists(st.integers(0, 5), max_size=20))
def test_sorted_by_submission_and_stable(submits):
    workload = Workload(Job(number, submit, 1, 1, 1) for number, submit in enumerate(submits))
    found = [(job.submit_time_s, job.job) for job in workload]
    assert found == sorted(found)
    assert workload.sorted_on_entry == (submits == sorted(submits))


@pytest.mark.parametrize(
    ("job", "message"),
    [
        (Job(3, 0, 0, 1, 1), "job 3: nodes=0 must be at least 1"),
        (Job(3, -1, 1, 1, 1), "job 3: submit_time_s=-1"),
        (Job(3, 0, 1, -5, 1), "run_time_s=-5"),
    ],
)
def test_refusals(job, message):
    with pytest.raises(ValueError, match=message):
        Workload([job])


def test_node_seconds():
    # 2 nodes x 50 s + 1 x 100 s.
    workload = Workload([Job(1, 0, 2, 50, 60, 7, "debug"), Job(2, 100, 1, 100, 100)])
    assert workload.node_seconds == 200
    assert workload[0] == Job(1, 0, 2, 50, 60, 7, "debug")
