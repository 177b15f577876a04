"""Plans for several blocked jobs, against two naive references that look at every node in every second."""

import random

import pytest

from hopperlib.scheduling.cluster import Cluster, NodeResources, Partition
from hopperlib.scheduling.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload

SECONDS = 300


def toy(seed):
    """Return the cores of some nodes, partitions and jobs (submit, width, run, limit, cores a node or 0, partition)."""
    rng = random.Random(seed)
    cores = [rng.choice([2, 4]) for _ in range(rng.randint(2, 6))]
    parts = {"a": range(len(cores))}
    if rng.random() < 0.4:
        parts["b"] = range(rng.randint(0, len(cores) - 1), len(cores))
    jobs = []
    for _ in range(rng.randint(8, 26)):
        limit, part, share = rng.randint(1, 12), rng.choice(list(parts)), rng.choice([1, 1, 2, 2, 3, 4])
        if able := sum(cores[node] >= share for node in parts[part]):
            jobs.append((rng.randint(0, 20), rng.randint(1, able), rng.randint(1, limit), limit, share, part))
    return cores, parts, sorted(jobs, key=lambda job: job[0]), rng.choice([2, 3, 100])


def planned(jobs, cores, parts, depth):
    """Plan anew in every second: earliest time, and of the nodes that have room those that were idle for the shortest time."""
    starts, where, ends, queue, now, come = {}, {}, {}, [], 0, 0
    while come < len(jobs) or queue or ends:
        ends = {job: end for job, end in ends.items() if end > now}
        while come < len(jobs) and jobs[come][0] <= now:
            queue.append(come)
            come += 1
        free = [[has] * SECONDS for has in cores]
        for job in ends:
            for node in where[job]:
                for at in range(starts[job] + jobs[job][3] - now):
                    free[node][at] -= jobs[job][4]
        blocked = dict.fromkeys(parts, 0)
        for job in list(queue):
            _, width, run, limit, share, part = jobs[job]

            def fits(node, at, limit=limit, share=share, free=free):
                return all(left >= share for left in free[node][at : at + limit])

            def idle_since(node, at, share=share, free=free):
                while at and free[node][at - 1] >= share:
                    at -= 1
                return at

            times = range(1 if blocked[part] >= depth else SECONDS - limit)
            at = next((at for at in times if sum(fits(node, at) for node in parts[part]) >= width), None)
            if at is None:
                continue
            able = [node for node in parts[part] if fits(node, at)]
            mine = sorted(able, key=lambda node: (-idle_since(node, at), node))[:width]
            for node in mine:
                free[node][at : at + limit] = [left - share for left in free[node][at : at + limit]]
            if at:
                blocked[part] += 1
            else:
                starts[job], where[job], ends[job] = now, sorted(mine), now + run
                queue.remove(job)
        now += 1
    return [starts[job] for job in range(len(jobs))], [where[job] for job in range(len(jobs))]


@pytest.mark.parametrize("seeds", [range(40), range(40, 80)])
def test_shared_nodes_and_overlapping_partitions_as_planned_every_second(seeds):
    for seed in seeds:
        cores, parts, rows, depth = toy(seed)
        jobs = [
            Job(number, at, width, run, limit, queue=part, cores=share * width)
            for number, (at, width, run, limit, share, part) in enumerate(rows)
        ]
        cluster = Cluster(
            nodes=tuple(NodeResources(cores=has) for has in cores),
            partitions={name: Partition(nodes=tuple(mine)) for name, mine in parts.items()},
        )
        schedule = simulate(Workload(jobs), cluster, depth=depth)
        nodes = [[node for low, high in schedule.runs(job) for node in range(low, high)] for job in range(len(jobs))]
        assert (list(schedule.start_s), nodes) == planned(rows, cores, parts, depth), seed


def whole(seed):
    """Return whole jobs on some nodes (submit, width, run, limit)."""
    rng = random.Random(seed)
    nodes = rng.randint(4, 9)
    rows = []
    for _ in range(rng.randint(10, 24)):
        limit = rng.randint(1, 12)
        rows.append((rng.randint(0, 25), rng.randint(1, nodes), rng.randint(1, limit), limit))
    return nodes, sorted(rows, key=lambda row: row[0]), rng.choice([2, 3, 4, 100])


def counted(rows, nodes, depth):
    """Plan anew in every second by the number of free nodes alone."""
    starts, ends, queue, now, come = {}, {}, [], 0, 0
    while come < len(rows) or queue or ends:
        ends = {job: end for job, end in ends.items() if end > now}
        while come < len(rows) and rows[come][0] <= now:
            queue.append(come)
            come += 1
        free, blocked = [nodes] * SECONDS, 0
        for job in ends:
            for at in range(starts[job] + rows[job][3] - now):
                free[at] -= rows[job][1]
        for job in list(queue):
            _, width, run, limit = rows[job]
            times = range(1 if blocked >= depth else SECONDS - limit)
            at = next((at for at in times if min(free[at : at + limit]) >= width), None)
            if at is None:
                continue
            free[at : at + limit] = [left - width for left in free[at : at + limit]]
            if at:
                blocked += 1
            else:
                starts[job], ends[job] = now, now + run
                queue.remove(job)
        now += 1
    return [starts[job] for job in range(len(rows))]


def test_whole_nodes_as_counted_every_second_and_nearly_so_by_name():
    differ = 0
    for seed in range(200):
        nodes, rows, depth = whole(seed)
        jobs = Workload([Job(number, *row[:2], *row[2:], cores=row[1]) for number, row in enumerate(rows)])
        truth = counted(rows, nodes, depth)
        assert list(simulate(jobs, nodes, depth=depth).start_s) == truth, seed
        cluster = Cluster(
            nodes=(NodeResources(cores=1),) * nodes, partitions={"": Partition(nodes=tuple(range(nodes)))}
        )
        differ += list(simulate(jobs, cluster, depth=depth).start_s) != truth
    # A promise that names its nodes may keep a job from passing that others would let pass.
    assert differ <= 4
