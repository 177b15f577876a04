"""A machine that has run for a while: free runs, and the placement of a probe."""

from itertools import pairwise

import pytest

from hopperkit.traces.scheduler import simulate
from hopperlib.network.torus.maps import holders
from hopperlib.scheduling.aging import aged_machine, free_runs, probe
from hopperlib.scheduling.workload import Job, Workload

DAY = 86_400


@pytest.mark.parametrize("allocation", ["first", "contiguous", "random"])
def test_free_runs_are_what_nobody_holds(allocation):
    aged = aged_machine("early", nodes=600, days=2, load=0.8, allocation=allocation)
    for instant in (0, DAY // 2, DAY + 7):
        held = holders(aged, instant)
        runs = free_runs(aged, instant)
        free = [position for low, high in runs for position in range(low, high)]
        assert free == [position for position in range(600) if position not in held]
        assert all(a[1] < b[0] for a, b in pairwise(runs))  # free runs are never adjacent


def test_a_probe_waits_for_nodes_and_takes_them_as_told():
    # Free at 5: 2-4 and 7-9 of 10. Job 1 frees 0-1 at 20, job 2 frees 5-6 at 30.
    jobs = [Job(1, 0, 2, 20, 20), Job(2, 0, 3, 1, 9), Job(3, 0, 2, 30, 30)]
    schedule = simulate(Workload(jobs), 10)
    assert free_runs(schedule, 5) == [(2, 5), (7, 10)]
    assert probe(schedule, 5, 4) == (5, [(2, 5), (7, 8)])
    assert probe(schedule, 5, 4, allocation="contiguous") == (20, [(0, 4)])
    assert probe(schedule, 5, 10, allocation="best") == (30, [(0, 10)])
    assert sum(high - low for low, high in probe(schedule, 5, 6, allocation="random").runs) == 6


def test_refusals():
    schedule = simulate(Workload([Job(1, 0, 2, 20, 20)]), 4)
    with pytest.raises(ValueError, match="probe_nodes=5 must be from 1 to 4"):
        probe(schedule, 0, 5)
    with pytest.raises(ValueError, match="allocation='worst' must be one of"):
        probe(schedule, 0, 2, allocation="worst")
