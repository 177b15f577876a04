"""Downtimes: order, effects, and reading from a file."""

import pytest

from hopperkit.traces.scheduler import simulate
from hopperlib.errors import InputError
from hopperlib.scheduling.downtimes import Downtime, read_downtimes
from hopperlib.scheduling.workload import Job, Workload


def test_what_ends_comes_before_what_begins():
    # Both orphans take the free ones of the same two nodes: the second one begins when the first one releases them.
    first = Downtime(start_s=5, end_s=10, first_node=0, last_node=2, kind="orphan")
    second = Downtime(start_s=10, end_s=20, first_node=0, last_node=2, kind="orphan")
    schedule = simulate(Workload([Job(1, 0, 1, 1, 1), Job(2, 6, 4, 5, 5)]), 4, downtimes=[second, first])
    assert schedule.unavailable == [(5, 10, 2), (10, 20, 2)]
    assert list(schedule.start_s) == [0, 20]


def test_a_reboot_frees_everything_and_downed_nodes_stay_away():
    jobs = [Job(1, 0, 1, 90, 90), Job(2, 0, 1, 90, 90), Job(3, 1, 4, 5, 5)]
    reboot = Downtime(start_s=10, end_s=12)
    assert list(simulate(Workload(jobs), 4, downtimes=[reboot]).start_s) == [0, 0, 12]
    # Node 0 goes down at 5 and kills job 1; job 3 needs all four and waits for node 0, though job 2 ends before.
    down = Downtime(start_s=5, end_s=200, first_node=0, last_node=1, kind="down")
    schedule = simulate(Workload(jobs), 4, downtimes=[down])
    assert (schedule.end_s[0], schedule.start_s[2]) == (5, 200)


def test_every_kind_is_read():
    lines = [
        "kind,start_s,end_s,first_node,last_node,drained,queue",
        "outage,1,2,,,,",
        "",
        "outage,3,4,,,yes,",
        "down,5,6,0,2,no,",
        "orphan,7,8,1,3,,",
        "reservation,9,10,,,,big",
    ]
    found = read_downtimes(lines)
    assert [one.kind for one in found] == ["outage", "outage", "down", "orphan", "reservation"]
    assert [one.drained for one in found] == [False, True, False, False, False]
    assert (found[2].first_node, found[2].last_node, found[4].queue) == (0, 2, "big")


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "line 1: the columns are none"),
        (["kind,start_s"], "kind, start_s and end_s are needed"),
        (["kind,start_s,end_s,why", "outage,1,2,x"], "the columns are kind, start_s, end_s, why"),
        (["kind,start_s,end_s", "fire,1,2"], "line 2: kind='fire' must be one of: outage"),
        (["kind,start_s,end_s", "", "outage,1"], "line 3: end_s='' must be a whole number"),
        (["kind,start_s,end_s", "outage,-1,2"], "line 2: start_s='-1' must be a whole number, not negative"),
        (["kind,start_s,end_s", "outage,4,2"], "line 2: a downtime must end after it starts"),
        (["kind,start_s,end_s,drained", "outage,1,2,maybe"], "line 2: drained='maybe' must be yes or no"),
        (["kind,start_s,end_s,first_node,last_node", "down,1,2,5,5"], "line 2: first_node=5 must be from 0 to below"),
    ],
)
def test_files_that_are_none(lines, message):
    with pytest.raises(InputError, match=message):
        read_downtimes(lines)


def test_downtimes_that_overlap_hold_their_nodes_to_their_end():
    down = [Downtime(start_s=100, end_s=150), Downtime(start_s=120, end_s=1000, first_node=0, last_node=5)]
    schedule = simulate(
        Workload([Job(1, 200, 5, 10, 10), Job(2, 300, 6, 10, 10)]), 10, downtimes=down, sample_every_s=50
    )
    assert schedule.runs(0) == [(5, 10)]
    # Six nodes are available only after the second downtime.
    assert list(schedule.start_s) == [200, 1000]
    assert {sample.unavailable_nodes for sample in schedule.samples if 200 <= sample.time_s < 1000} == {5}


def test_a_drain_takes_nodes_as_they_fall_free_and_ends_no_job():
    drain = Downtime(start_s=10, end_s=100, first_node=0, last_node=3, kind="drain")
    jobs = [Job(1, 0, 2, 30, 30), Job(2, 20, 1, 5, 5), Job(3, 35, 2, 5, 5), Job(4, 40, 3, 5, 5)]
    schedule = simulate(Workload(jobs), 4, downtimes=[drain])
    # Free are 2 and 3 at 10, of which 2 goes; job 1 runs on to 30, and its nodes go too: only node 3 is left until 100.
    assert schedule.status[0] == 1
    assert list(schedule.start_s) == [0, 20, 100, 105]
    assert schedule.runs(1) == [(3, 4)]


def test_a_job_that_an_outage_ends_queues_again_at_its_old_place():
    jobs = [Job(1, 0, 4, 50, 60), Job(2, 5, 4, 10, 10), Job(3, 20, 4, 10, 10)]
    outage = [Downtime(start_s=15, end_s=40)]
    assert list(simulate(Workload(jobs), 4, downtimes=outage).start_s) == [0, 40, 50]
    again = simulate(Workload(jobs), 4, downtimes=outage, requeue=True)
    assert list(again.start_s) == [40, 90, 100]
    assert again.lost == [(0, 0, 15)]
