"""The machine of a log: partitions that are apart, alike or nested, hours that a clock repeats, and logs of whole nodes."""

import random
from functools import cache
from pathlib import Path

import pytest

from hopperkit.readers.jobs import read_job_trace
from hopperkit.traces.capacity.levels import held_level
from hopperkit.traces.capacity.machine import Excess, excesses, machine_of, nodes_in_use, scheduled_on
from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.learn import learn
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload

FIELD = Path(__file__).parent / "field"
DAY = 86_400
STRUCTURES = {
    "alike": {"a": range(64), "b": range(64)},
    "apart": {"a": range(32), "b": range(32, 64)},
    "nested": {"a": range(64), "b": range(24)},
    "of different sizes": {"a": range(48), "b": range(48, 64)},
}


@cache
def log(structure: str, seed: int, load: float = 0.9, jobs: int = 600) -> Workload:
    """A log that a scheduler has made on partitions of known nodes, which it does not name."""
    rng = random.Random(seed)
    parts = {name: tuple(nodes) for name, nodes in STRUCTURES[structure].items()}
    drawn, names = [], list(parts)
    for number in range(jobs):
        queue = names[int(rng.random() * len(names))]
        width = min(len(parts[queue]), 2 ** int(5 * rng.random()))
        limit = 3600 * (1, 2, 4, 8, 12)[int(5 * rng.random())]
        drawn.append(Job(number, 0, width, int(limit * (0.1 + 0.9 * rng.random())), limit, queue=queue))
    span = sum(job.nodes * job.run_time_s for job in drawn) / 64 / load
    made = Workload(job._replace(submit_time_s=int(span * rng.random())) for job in drawn)
    cluster = Cluster(
        nodes=(NodeResources(),) * 64,
        partitions={name: Partition(nodes=nodes, exclusive=True) for name, nodes in parts.items()},
    )
    starts = simulate(made, cluster, policy="conservative").start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(made, starts, strict=True))


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_a_machine_is_as_large_as_it_is(structure, seed):
    machine = machine_of(log(structure, seed))
    assert len(machine.nodes) == pytest.approx(64, rel=0.05)
    apart = len(machine.parts()) == 2
    assert apart == (structure in ("apart", "of different sizes"))


def test_waits_on_two_partitions_of_the_same_nodes():
    jobs = log("alike", 1)
    schedule = simulate(jobs, scheduled_on(jobs), policy="conservative")
    seen = sum(jobs.observed_start_s) - sum(jobs.arrival_s)
    assert sum(schedule.start_s) - sum(jobs.arrival_s) == pytest.approx(seen, rel=0.05)


def test_an_hour_that_is_repeated_doubles_no_node():
    # The jobs of one hour are recorded as of the hour before too: one node, one job after the other for ten days.
    jobs = [Job(number, 0, 1, 3600, 3600, observed_start_s=3600 * number) for number in range(240)]
    jobs.append(Job(240, 0, 1, 3600, 3600, observed_start_s=3600 * 100 + 600))
    workload = Workload(jobs)
    assert nodes_in_use(workload) == scheduled_on(workload) == 1
    assert excesses(workload, 1) == [Excess(360_600, 364_200, 2)]


def test_levels_that_are_held():
    # Two occasions that lie days apart count, however short; in a log of three days its peak does.
    long = [(0, 1), (10 * DAY, -1)]
    twice = [(DAY, 1), (DAY + 60, -1), (4 * DAY, 1), (4 * DAY + 60, -1)]
    assert held_level([*long, *twice]) == 2
    assert held_level([*long, *twice[:2]]) == 1
    assert held_level([(0, 1), (3 * DAY, -1), (10, 1), (20, -1)]) == 2
    assert held_level([]) == 0


def test_a_machine_holds_its_widest_job():
    jobs = [Job(number, 0, 1, 3600, 3600, observed_start_s=3600 * number) for number in range(240)]
    assert nodes_in_use(Workload([*jobs, Job(240, 0, 7, 60, 60, observed_start_s=90)])) == 7


@pytest.mark.parametrize(("zone", "mean_s"), [("", 176_460), ("Europe/Berlin", 178_500)])
def test_the_autumn_hour_of_a_real_form(zone, mean_s):
    # 120 jobs of 50 min one after the other: job n waits n * 50 min, 2.07 days on average. Without its time zone the log
    # shows an hour less for those after the change.
    trace = read_job_trace(FIELD / "L20.txt", timezone=zone)
    workload = trace.workload
    waits = [start - submit for start, submit in zip(workload.observed_start_s, workload.submit_time_s, strict=True)]
    assert sum(waits) / 120 == mean_s
    room = scheduled_on(workload)
    assert room == 1
    simulated = simulate(workload, room).start_s
    assert sum(simulated) / 120 == pytest.approx(178_500)
    assert bool(excesses(workload, 1)) == (not zone)


def with_users(jobs: Workload, seed: int) -> Workload:
    """The same log with users who have nothing to do with the waits, most of whose jobs go to one partition."""
    rng = random.Random(seed)
    made = []
    for job in jobs:
        user = int(6 * rng.random()) + (6 if (job.queue == "b") != (rng.random() < 0.1) else 0)
        made.append(job._replace(user=user + 1, account=f"a{user % 3}"))
    return Workload(made)


@pytest.mark.parametrize("structure", ["apart", pytest.param("nested", marks=pytest.mark.nightly)])
def test_partitions_make_nobody_preferred_and_no_limit(structure):
    jobs = with_users(log(structure, 3), 3)
    rules, _ = learn(jobs, scheduled_on(jobs), Clock(1704067200), base=Learned(policy="conservative"))
    assert (rules.preferred, rules.limits) == (None, ())
