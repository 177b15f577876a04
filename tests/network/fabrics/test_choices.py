"""Nodes by switch and by group under a scheduler: requested waits, and locations of a trace's jobs."""

import csv
import io
import random
from pathlib import Path

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper
from hopperkit.questions.question import load
from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.scheduler import simulate
from hopperlib.errors import InputError
from hopperlib.network.fabrics.choices import CHOICES, node_choice
from hopperlib.network.fabrics.tree import fat_tree
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Job, Workload

# Repetitions with other seeds run at night.
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 8))]
TREE = fat_tree(nodes_per_leaf=4, leaves_per_pod=3, leaf_uplinks=2, pods=2, pod_uplinks=4)


def workload(seed: int) -> Workload:
    rng, clock, jobs = random.Random(seed), 0, []
    for number in range(60):
        clock += rng.randint(0, 30)
        run = rng.randint(1, 120)
        jobs.append(Job(number, clock, rng.randint(1, 12), run, run + rng.randint(0, 60)))
    return Workload(jobs)


def switches(schedule: Schedule, job: int) -> int:
    return len({TREE.switch_of(node) for run in schedule.runs(job) for node in range(*run)})


def run(jobs: Workload, choice: str, **wait: int) -> Schedule:
    return simulate(jobs, 24, allocation=node_choice(TREE, choice, random.Random(1), nodes=24, **wait))


@pytest.mark.parametrize("seed", SEEDS)
def test_where_jobs_lie_changes_no_start_unless_they_wait_for_it(seed: int) -> None:
    jobs = workload(seed)
    first = simulate(jobs, 24)
    by_choice = {choice: run(jobs, choice) for choice in CHOICES}
    assert all(list(each.start_s) == list(first.start_s) for each in by_choice.values())
    assert by_choice["first"].digest() == first.digest()
    touched = {choice: sum(switches(each, job) for job in range(60)) for choice, each in by_choice.items()}
    assert touched["switch"] < touched["first"] < touched["random"]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("count", "wait_s"), [(1, 40), (2, 200)])
def test_a_job_waits_for_few_switches_as_long_as_asked(seed: int, count: int, wait_s: int) -> None:
    jobs, waited = workload(seed), 0
    schedule = run(jobs, "switch", count=count, wait_s=wait_s)
    for job in range(60):
        if jobs.nodes[job] <= 4 * count and switches(schedule, job) > count:
            waited += 1
            assert schedule.start_s[job] >= jobs.arrival_s[job] + wait_s
    near = [run(jobs, "switch", count=count, wait_s=10_000), run(jobs, "switch")]
    spread = [sum(switches(each, job) > count for job in range(60) if jobs.nodes[job] <= 4 * count) for each in near]
    assert spread[0] == 0
    assert waited <= spread[1]


def test_waits_by_hand() -> None:
    # Job 2 waits for a switch; job 3 passes it; job 4 needs two switches anyway and does not wait.
    jobs = [Job(0, 0, 22, 10, 10), Job(1, 0, 1, 50, 50), Job(2, 12, 4, 9, 9), Job(3, 13, 1, 5, 5), Job(4, 14, 6, 5, 5)]
    blocked = [Job(9 + n, 11, 3, 100, 100) for n in range(6)]
    schedule = run(Workload([*jobs, *blocked]), "switch", wait_s=30)
    starts = dict(zip(schedule.workload.job, schedule.start_s, strict=True))
    assert [starts[n] for n in range(4)] == [0, 0, 42, 13]


@pytest.mark.parametrize("shared", [False, True])
def test_without_backfill_nobody_passes_who_waits(shared: bool) -> None:
    # Two switches of two nodes. Jobs 0 and 1 leave a node free under each; job 2 waits for two under one until job 0
    # ends, and job 3, which would find a node at once, waits after it.
    tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=1)
    choice = node_choice(tree, "switch", random.Random(1), nodes=4, wait_s=500)
    room = Cluster(nodes=(NodeResources(cores=2),) * 4, partitions={"": Partition(nodes=(0, 1, 2, 3))}) if shared else 4
    rows = [(0, 0, 1, 60), (1, 0, 1, 10), (2, 0, 1, 100), (3, 0, 1, 10), (4, 11, 2, 9), (5, 12, 1, 5)]
    jobs = Workload([Job(*row[:3], row[3], row[3], cores=2 * row[2]) for row in rows])
    starts = {policy: simulate(jobs, room, allocation=choice, policy=policy).start_s for policy in ("fcfs", "easy")}
    assert starts["fcfs"][4] == starts["easy"][4] == starts["fcfs"][5]
    assert starts["easy"][5] == 12


@pytest.mark.parametrize("policy", ["easy", "10"])
@pytest.mark.parametrize("shared", [False, True])
def test_waits_beside_a_planned_downtime_and_another_partition(policy: str, shared: bool) -> None:
    # Four nodes in partition a, two under each of two switches; one node of partition b is away for the first 400 s.
    # Jobs 1 and 3 leave a node free under each switch at 10 s, so that job 4 waits for two under one: until job 2 ends,
    # or for 30 s. Job 5 passes it.
    tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=3, leaf_uplinks=1)
    cores = 2 if shared else 0
    cluster = Cluster(
        nodes=(NodeResources(cores=2),) * 6,
        partitions={
            "a": Partition(nodes=(0, 1, 2, 3), exclusive=not shared),
            "b": Partition(nodes=(4, 5), exclusive=not shared),
        },
    )
    rows = [(0, 0, 1, 500, "a"), (1, 0, 1, 10, "a"), (2, 0, 1, 60, "a"), (3, 0, 1, 10, "a"), (4, 11, 2, 9, "a")]
    rows += [(5, 12, 1, 9, "a"), (6, 3, 2, 9, "b")]
    jobs = [Job(n, at, width, run, run, queue=part, cores=cores * width) for n, at, width, run, part in rows]
    down = [Downtime(start_s=2, end_s=400, first_node=5, last_node=6, drained=True)]
    for wait_s, start in ((1000, 60), (30, 41)):
        choice = node_choice(tree, "switch", random.Random(1), nodes=6, wait_s=wait_s)
        schedule = simulate(Workload(jobs), cluster, policy=policy, allocation=choice, downtimes=down)
        starts = dict(zip(schedule.workload.job, schedule.start_s, strict=True))
        assert [starts[n] for n in range(7)] == [0, 0, 0, 0, start, 12, 400]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"choice": "nearest"}, "choice='nearest' must be one of: first, switch, group, random"),
        ({"nodes": 25}, "nodes=25 must be at most 24, the nodes of the network"),
        ({"count": 0}, "count=0 must be at least 1"),
        ({"wait_s": -1}, "wait_s=-1 must be at least 0"),
    ],
)
def test_choices_that_are_refused(given: dict[str, object], message: str) -> None:
    settings = {"choice": "switch", "rng": random.Random(1), "nodes": 24} | given
    with pytest.raises(InputError, match=message):
        node_choice(TREE, **settings)  # type: ignore[arg-type]


def test_a_dragonfly_says_groups_in_place_of_pieces_of_a_list() -> None:
    question = load("simulate")
    by_group = question.run(machine="frontier", allocation="group")
    by_chance = question.run(machine="frontier", allocation="random")
    assert "groups of the network" in by_group.summary
    assert by_group.facts["mean_groups"] < by_chance.facts["mean_groups"]
    assert by_group.facts["mean_inside_group"] > by_chance.facts["mean_inside_group"]
    assert by_group.facts["mean_groups"] >= by_group.facts["mean_fewest_groups"]
    with pytest.raises(InputError, match="allocation='switch' needs a machine whose file has a dragonfly"):
        question.run(machine="titan", allocation="switch")
    with pytest.raises(InputError, match="switches='1@2' requires nodes on as few switches"):
        question.run(machine="frontier", switches="1@2")
    with pytest.raises(InputError, match="switches='few' must be a count"):
        question.run(machine="frontier", allocation="group", switches="few")


def test_the_table_of_jobs_says_where_each_lies(tmp_path: Path) -> None:
    trace = tmp_path / "t.swf"
    trace.write_text(
        "".join(f"{n} 0 -1 60 {w} -1 -1 {w} 90 -1 1 1 -1 -1 -1 -1 -1 -1\n" for n, w in ((1, 128), (2, 256)))
    )
    line = ["simulate", "--trace", str(trace), "--machine", "lumi-c", "--allocation", "group", "--csv"]
    rows = list(csv.DictReader(io.StringIO(CliRunner().invoke(hopper, line).stdout)))
    # Groups of 256 nodes: the second job fills one, in which each pair of switches has one link of 25 GB/s for the 16
    # messages that the halves send across it.
    assert [(row["groups"], row["fewest_groups"], row["inside_group"]) for row in rows] == [("1", "1", "1.0")] * 2
    assert [row["switches"] for row in rows] == ["8", "16"]
    assert [float(row["bisection_share"]) for row in rows] == [0.0625, 0.0625]
