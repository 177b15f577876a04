"""Changes of the machine: small hand-derived cases, a hidden cap, and coverage of intervals."""

import random

import pytest

from hopperkit.traces.changes.intervals import difference_range
from hopperkit.traces.changes.scenario import Scenario, simulated_waits, together
from hopperkit.traces.changes.what_if import what_if
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.scheduler import simulate
from hopperlib.errors import InputError
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Limit
from hopperlib.scheduling.workload import Job, Workload

CLOCK = Clock(1704067200)  # 2024-01-01, a Monday, universal time
CAP = Learned(limits=(Limit(per="user", jobs=2),))
NODES = 32


def waits(jobs, room, **change):
    return simulated_waits(Workload(jobs), room, CLOCK, Learned(), Scenario(name="it", **change))[0]


def test_more_nodes_and_depth():
    # Two nodes of four are busy until 10; the head wants four; a job of one node for 20 s would delay it.
    jobs = [Job(0, 0, 2, 10, 10), Job(1, 0, 4, 5, 5), Job(2, 0, 1, 20, 20), Job(3, 0, 1, 9, 9)]
    assert waits(jobs, 4) == [0, 10, 15, 0]
    assert waits(jobs, 4, nodes=8) == [0, 0, 0, 0]
    assert waits(jobs, 4, depth=0) == [0, 10, 15, 15]


def test_a_longest_walltime_makes_pieces_that_queue_again():
    # One node. Job 0 requests 30 s at once; with at most 10 s it is split into three, and job 1 (at 1 s) runs in
    # between.
    jobs = [Job(0, 0, 1, 30, 30), Job(1, 1, 1, 5, 5)]
    assert waits(jobs, 1) == [0, 29]
    # Pieces run from 0 to 10, 15 to 25 and 25 to 35; job 1 from 10 to 15.
    assert waits(jobs, 1, max_walltime_s=10) == [5, 9]


def test_a_split_partition_and_shared_nodes():
    # Node 0 for limits up to 10 s: the two long jobs wait for each other on node 1, and the short one starts at once.
    jobs = [Job(0, 0, 1, 60, 60, cores=2), Job(1, 0, 1, 60, 60, cores=2), Job(2, 1, 1, 5, 5, cores=2)]
    assert waits(jobs, 2) == [0, 0, 59]
    assert waits(jobs, 2, split=(10, 1)) == [0, 60, 0]
    assert waits(jobs, 1, shared_cores=6) == [0, 0, 0]
    with pytest.raises(InputError, match="a split must leave nodes on both sides: 2 of 2"):
        waits(jobs, 2, split=(10, 2))
    # Two of three nodes are for limits up to 10 s; a long job of two nodes has them too. One of three has nodes of both
    # sides once the two long jobs before it have ended on the third node.
    assert waits([*jobs, Job(3, 2, 2, 60, 60)], 3, split=(10, 2))[3] == 4
    assert waits([*jobs, Job(3, 2, 3, 5, 5)], 3, split=(10, 2)) == [0, 60, 0, 118]
    with pytest.raises(InputError, match="it: job 3, of nodes=4, finds no room any more"):
        waits([*jobs, Job(3, 2, 4, 5, 5)], 3, split=(10, 2))


def test_a_drain_of_some_nodes_ends_no_job():
    down = (Downtime(start_s=5, end_s=50, first_node=0, last_node=1, kind="drain"),)
    jobs = [Job(0, 0, 1, 20, 20), Job(1, 10, 2, 5, 5)]
    assert waits(jobs, 2, downtimes=down) == [0, 40]
    both = together([Scenario(name="a", downtimes=down), Scenario(name="b", nodes=3)])
    assert simulated_waits(Workload(jobs), 2, CLOCK, Learned(), both)[0] == [0, 0]


def capped(seed, jobs):
    """Return a log that a scheduler with a cap of two running jobs per user has made."""
    rng, made, now = random.Random(seed), [], 0.0
    for number in range(jobs):
        now += rng.expovariate(1) * 2000
        limit = rng.choice((1800, 3600, 14400, 28800, 43200))
        run = max(1, round(limit * rng.betavariate(0.8, 1.1)))
        made.append(
            Job(number, int(now), rng.choice((1, 2, 4, 8, 16)), run, limit, min(int(rng.expovariate(1) * 3), 9))
        )
    workload = Workload(made)
    starts = CAP.run(workload, NODES, CLOCK).start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(workload, starts, strict=True))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))])
def test_the_interval_holds_the_truth_even_where_a_cap_is_hidden(seed):
    log, more = capped(seed, 3000), Scenario(name="more", nodes=round(1.1 * NODES))
    before, after = (simulated_waits(log, NODES, CLOCK, CAP, change)[0] for change in (Scenario(name="as it is"), more))
    truth = sum(after) / sum(before) - 1
    told, hidden = (what_if(log, NODES, CLOCK, rules, [more]).effects[0] for rules in (CAP, Learned()))
    # With the cap the simulation reproduces the log, and so the truth; without it the result is far off, and labeled
    # so. The mean of runs with later submissions: the truth is one run.
    assert told.difference == pytest.approx(truth, abs=0.02)
    assert told.low <= truth <= told.high
    assert hidden.difference < truth - 0.05
    assert hidden.low <= truth <= hidden.high
    assert hidden.high - hidden.low > 1.5 * (told.high - told.low)


def test_seven_weeks_are_too_few():
    log = capped(1, 250)
    effect = what_if(log, NODES, CLOCK, CAP, [Scenario(name="more", nodes=64)]).effects[0]
    assert (effect.low, effect.high) == (None, None)
    assert sum(each.jobs for each in effect.classes) == 250
    with pytest.raises(InputError, match="this log has no start times"):
        what_if(Workload([Job(1, 0, 1, 9, 9)]), 4, CLOCK, CAP, [])


@pytest.mark.nightly
@pytest.mark.parametrize(("seed", "gap"), [(5, 5000), (6, 3600)])
def test_intervals_hold_95_percent_of_resampled_truths(seed, gap):
    # Weeks of a long log, with and without backfill; logs of 12 of these weeks, drawn 1,000 times. The truth is that of
    # all. The second site is overloaded: a tenth of its weeks has a third of the waiting.
    rng, made, now = random.Random(seed), [], 0.0
    for number in range(12_000):
        now += rng.expovariate(1) * gap
        limit = rng.choice((3600, 14400, 28800))
        made.append(Job(number, int(now), rng.choice((1, 2, 4, 8, 16, 24)), round(limit * rng.random()), limit))
    jobs = Workload(made)
    starts = [simulate(jobs, 32, policy=policy).start_s for policy in ("fcfs", "easy")]
    weeks = {}
    for at, before, after in zip(jobs.arrival_s, *starts, strict=True):
        changed, waited, _ = weeks.get(at // 604_800, (0, 0, 0))
        weeks[at // 604_800] = changed + after - before, waited + before - at, 0
    population = list(weeks.values())
    truth = sum(changed for changed, *_ in population) / sum(waited for _, waited, _ in population)
    inside = 0
    for _ in range(1000):
        low, high = difference_range([population[int(rng.random() * len(population))] for _ in range(12)])
        inside += low <= truth <= high
    assert 0.90 <= inside / 1000 <= 0.98, inside


def test_few_weeks_and_a_misfit_reach_farther_out():
    weeks = [(-10 - week, 100, 0) for week in range(8)]
    spans = [high - low for low, high in map(difference_range, (weeks, 3 * weeks))]
    assert spans[0] > 1.7 * spans[1]
    # A simulation that errs by 30 % reaches 0.95 of that farther.
    assert difference_range([(-10, 100, 30)] * 8) == (pytest.approx(-0.1 - 0.285), pytest.approx(-0.1 + 0.285))
