"""What a schedule tells: runs, waits, utilization, and one word for all of it."""

import pytest

from hopperlib.network.scheduling.aging import aged_machine
from hopperlib.network.scheduling.downtimes import Downtime
from hopperlib.network.scheduling.schedule import NOT_STARTED
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.workload import Job, Workload


def test_a_job_that_never_starts():
    schedule = simulate(Workload([Job(1, 0, 2, 50, 50), Job(2, 5, 4, 9, 9)]), 4, until_s=20)
    assert (schedule.status[1], schedule.runs(1), schedule.wait_time_s(1)) == (NOT_STARTED, [], None)
    assert list(schedule.finished()) == [0]
    # Job 1 alone: 2 nodes for 20 of the 20 s, of 4.
    assert schedule.utilization(0, 20) == 0.5


def test_spans_cut_jobs_and_downtimes():
    schedule = simulate(
        Workload([Job(1, 0, 2, 10, 10), Job(2, 25, 1, 1, 1)]), 4, downtimes=[Downtime(start_s=12, end_s=20)]
    )
    # From 5 on: 2 nodes x 5 s of 4 x 15.
    assert schedule.utilization(5, 20) == 10 / 60
    with pytest.raises(ValueError, match="end_s=5 must be after start_s=5"):
        schedule.utilization(5, 5)


# Two days of Hopper from one seed. Any Python gives these, of any version and on any system; that the browser does is
# seen where its answers are compared: the digest is part of the fragmentation explorer's.
DIGESTS = {
    ("production", "first"): "849974f58e7d37ecaef524291911555fdc70c0c851b2796e38a79608e00bf03d",
    ("early", "best"): "551852b6aee4d889df23abe168b05ae8b3f473c7bf05cc7ecacb4b916e9640eb",
    ("early", "contiguous"): "fb58c87d21e30fc35cc563366cf191b7d7694af22f5360e743ffc6e599feda95",
    ("production", "random"): "d274ef4a1d6fbcafd62f381f6316d807cea08493b770a66fef284a2323060e59",
}


@pytest.mark.parametrize(("mix", "allocation"), DIGESTS)
def test_same_seed_same_bytes(mix, allocation):
    aged = aged_machine(mix, nodes=6384, days=2, load=0.95, seed=7, allocation=allocation)
    assert aged.digest() == DIGESTS[mix, allocation]
