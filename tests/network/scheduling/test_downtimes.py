"""Downtimes: their order, what they do, and what is read from a file."""

import pytest

from hopperlib.errors import InputError
from hopperlib.network.scheduling.downtimes import Downtime, read_downtimes
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.workload import Job, Workload


def test_what_ends_comes_before_what_begins():
    # Both orphans take what is free of the same two nodes: the second finds them given back in the instant it comes.
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
