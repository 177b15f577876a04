"""The scheduler beside a naive one, its free list beside procset's, and its mean distance beside networkx's.

AccaSim, the public simulator that also remembers nodes, does not install on
Python 3.10 or later. The README gives what was recorded of it and of others.
Processor time, best of several: a shared machine tells little otherwise.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from benchmarks.side_by_side import Comparison
from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.scheduler import simulate
from hopperlib.machine import Machine
from hopperlib.network.torus.allocation import PrefixCounts
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.scheduling._free_nodes import FirstFit
from hopperlib.scheduling.generator import draw_workload
from hopperlib.scheduling.rules import Rules
from hopperlib.scheduling.workload import Workload

NODES = 6384
# Days of submissions that make about as many jobs at a load of 0.9.
DAYS = {"10,000": 3, "30,000": 10, "100,000": 33}
LOADS = (0.8, 0.85, 0.9, 0.95)


def best(call: Callable[[], Any], repeats: int = 3) -> float:
    """Return the least processor time of several calls. [s]"""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return min(times)


def jobs_of(days: int, load: float) -> Workload:
    """Return Hopper-like jobs."""
    return draw_workload("production", nodes=NODES, days=days, load=load, rng=random.Random(1))


def naive_starts(workload: Workload) -> list[int]:
    """First come, first served, looking at every node at every event: the starts."""
    until, starts, now = [0] * NODES, [], 0
    for job in workload:
        now = max(now, job.submit_time_s)
        while True:
            free = [node for node in range(NODES) if until[node] <= now]
            if len(free) >= job.nodes:
                break
            now = min(end for end in until if end > now)
        for node in free[: job.nodes]:
            until[node] = now + min(job.run_time_s, job.requested_time_s)
        starts.append(now)
    return starts


def _against_naive() -> Comparison:
    few = Workload(list(jobs_of(1, 0.9))[:1000])
    if list(simulate(few, NODES, policy="fcfs").start_s) != naive_starts(few):
        raise SystemExit("the scheduler and the naive one disagree")
    return Comparison(
        what=f"{len(few):,} jobs, first come, first served",
        ours_s=best(lambda: simulate(few, NODES, policy="fcfs"), 5),
        peer="naive, node by node (here)",
        peer_s=best(lambda: naive_starts(few), 1),
        note="both give the same starts",
    )


def _against_procset() -> Comparison:
    """Take 342 nodes from 399 free runs and give them back."""
    runs = [(16 * i, 16 * i + 3) for i in range(399)]
    free = FirstFit([bound for run in runs for bound in run])
    ours = best(lambda: free.release(free.take(342), 342), 50)
    what = "342 nodes taken from 399 free runs and given back"
    try:
        from procset import ProcInt, ProcSet  # type: ignore[import-not-found]
    except ImportError:
        return Comparison(what=what, ours_s=ours, peer="procset: pip install -r benchmarks/requirements-peers.txt")
    theirs = ProcSet(*(ProcInt(low, high - 1) for low, high in runs))

    def peer() -> Any:
        left, taken = 342, []
        for interval in theirs.intervals():
            width = min(left, len(interval))
            taken.append(ProcInt(interval.inf, interval.inf + width - 1))
            left -= width
            if not left:
                break
        job = ProcSet(*taken)
        return job, (theirs - job) | job

    mine, (job, after) = free.take(342), peer()
    if [(one.inf, one.sup + 1) for one in job.intervals()] != list(zip(mine[::2], mine[1::2], strict=True)):
        raise SystemExit("the two free lists disagree")
    free.release(mine, 342)
    if after != theirs:
        raise SystemExit("the peer's free list did not come back")
    return Comparison(what=what, ours_s=ours, peer="procset 1.0", peer_s=best(peer, 10), note="the same nodes")


def _against_networkx() -> Comparison:
    """Mean distance of a job of 342 nodes in 18 runs."""
    machine = Machine.load("hopper")
    places = [node.coordinates for node in order_nodes(compute_nodes(machine), "xyz")]
    counts = PrefixCounts(places, Torus.of(machine))
    runs = [(40 * i, 40 * i + 19) for i in range(18)]

    def many() -> None:
        for _ in range(200):
            counts.mean_hop_distance(runs)

    ours, what = best(many, 10) / 200, "mean distance of 342 nodes in 18 runs"
    try:
        import networkx
    except ImportError:
        return Comparison(what=what, ours_s=ours, peer="networkx: not installed")
    torus = networkx.grid_graph(list(reversed(machine.network.dimensions)), periodic=True)  # type: ignore[union-attr]
    job = [places[position] for low, high in runs for position in range(low, high)]

    def peer() -> float:
        total = 0
        ways = {place: networkx.single_source_shortest_path_length(torus, place) for place in set(job)}
        for i, place in enumerate(job):
            total += sum(ways[place][other] for other in job[:i])
        return total / (len(job) * (len(job) - 1) / 2)

    if abs(peer() - counts.mean_hop_distance(runs)) > 1e-9:
        raise SystemExit("the two mean distances disagree")
    return Comparison(what=what, ours_s=ours, peer=f"networkx {networkx.__version__}", peer_s=best(peer, 1))


def measure() -> list[Comparison]:
    """Time the scheduler against number of jobs and load, and its parts beside their peers."""
    rows = []
    for days in DAYS.values():
        jobs = jobs_of(days, 0.9)
        rows.append(_row(jobs, 0.9))
    rows += [_row(jobs_of(10, load), load) for load in LOADS if load != 0.9]
    return [*rows, *_partitions(), _against_naive(), _against_procset(), _against_networkx()]


def _partitions() -> list[Comparison]:
    """Three partitions of whole nodes, in order of submission and of priorities that change."""
    each = NODES // 3
    drawn = [draw_workload("production", nodes=each, days=8, load=0.9, rng=random.Random(seed)) for seed in range(3)]
    rng = random.Random(1)
    jobs = Workload(
        job._replace(queue=name, user=rng.randrange(200), qos=rng.choice(("high", "low")))
        for name, part in zip("abc", drawn, strict=True)
        for job in part
    )
    cluster = Cluster(
        nodes=(NodeResources(cores=24),) * (3 * each),
        partitions={
            name: Partition(nodes=tuple(range(first * each, (first + 1) * each)), exclusive=True)
            for first, name in enumerate("abc")
        },
    )
    age = Rules(age=1000.0, qos=2000.0, qos_factors={"high": 1.0}, max_age_days=60.0)
    ways = {
        "in order of submission": None,
        "by age and QOS": age,
        "by age, some older than counts": replace(age, max_age_days=0.5),
        "by age, QOS and fair share": replace(age, fair_share=3000.0),
    }
    rows = []
    for words, rules in ways.items():
        order = "submission" if rules is None else "multifactor"
        seconds = best(lambda order=order, rules=rules: simulate(jobs, cluster, queue_order=order, rules=rules), 1)  # type: ignore[misc]
        rows.append(
            Comparison(
                what=f"{len(jobs):,} jobs in three partitions, {words}",
                ours_s=seconds,
                peer="none installs that remembers nodes",
                note=f"{len(jobs) / seconds:,.0f} jobs/s",
            )
        )
    return rows


def _row(jobs: Workload, load: float) -> Comparison:
    seconds = best(lambda: simulate(jobs, NODES))
    return Comparison(
        what=f"{len(jobs):,} jobs on {NODES:,} nodes, EASY, load {load}",
        ours_s=seconds,
        peer="none installs that remembers nodes",
        note=f"{len(jobs) / seconds:,.0f} jobs/s, every job's runs kept",
    )


def plot(rows: list[Comparison]) -> dict[str, Any]:
    """Return a figure in Plotly's format: jobs a second against jobs and against load."""
    found = [
        (int(row.what.split()[0].replace(",", "")), float(row.what.split()[-1]), row.ours_s)
        for row in rows
        if ", load " in row.what
    ]
    by_jobs = sorted((jobs, seconds) for jobs, load, seconds in found if load == 0.9)
    by_load = sorted((load, jobs / seconds) for jobs, load, seconds in found if 20_000 < jobs < 50_000)
    return {
        "data": [
            {"x": [x for x, _ in by_jobs], "y": [y for _, y in by_jobs], "name": "time against jobs, load 0.9"},
            {
                "x": [x for x, _ in by_load], "y": [y for _, y in by_load], "name": "jobs/s against load, 30,000 jobs",
                "xaxis": "x2", "yaxis": "y2",
            },
        ],
        "layout": {
            "grid": {"rows": 1, "columns": 2, "pattern": "independent"},
            "xaxis": {"title": {"text": "jobs"}}, "yaxis": {"title": {"text": "time [s]"}, "rangemode": "tozero"},
            "xaxis2": {"title": {"text": "load"}}, "yaxis2": {"title": {"text": "jobs a second"}, "rangemode": "tozero"},
        },
    }  # fmt: skip
