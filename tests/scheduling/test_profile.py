"""Plans for blocked jobs, against two naive references that look at every node in every second."""

import random

import pytest

from hopperkit.traces._queues.named import ReservationQueue
from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling._simulation.profile import Profile
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.workload import Job, Workload

SECONDS = 300


def test_a_promise_takes_the_first_room_that_lasts():
    # From now on 4 nodes are left, from 100 s on 1, from 200 s on 8.
    def promised(nodes, span):
        profile = Profile([0, 100, 200], [4, 1, 8])
        profile.promise(nodes, span, now=0)
        return profile.times, profile.left

    assert promised(3, 50) == ([0, 50, 100, 200], [1, 4, 1, 8])
    assert promised(4, 100) == ([0, 100, 200], [0, 1, 8])
    # Three nodes for 101 s are not left before 200 s.
    assert promised(3, 101) == ([0, 100, 200, 301], [4, 1, 5, 8])


def toy(seed):
    """Return the cores of some nodes, partitions and jobs (submit, width, run, limit, cores per node or 0, partition)."""
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
    depth, jobs = rng.choice([2, 3, 100]), sorted(jobs, key=lambda job: job[0])
    # What is known beforehand: from, to, and nodes from and to; and how many neighbors are under one switch.
    begin, first = rng.randint(2, 20), rng.randrange(len(cores))
    closed = (begin, begin + rng.randint(1, 8), first, rng.randint(first + 1, len(cores)))
    return cores, parts, jobs, depth, closed, rng.choice([2, 3])


def planned(jobs, cores, parts, depth, closed=None, switch=0):
    """Plan again in every second: earliest time, and of the nodes that have room those that were idle for the shortest
    time.

    Under switches a job has the first nodes that have room, under the first switch that holds it if one can.
    """
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
        for node in range(*closed[2:]) if closed else ():
            for at in range(max(0, closed[0] - now), max(0, closed[1] - now)):
                free[node][at] = -99
        blocked = dict.fromkeys(parts, 0)
        for job in list(queue):
            _, width, run, limit, share, part = jobs[job]
            groups = [parts[part]]
            if switch and width <= switch:
                groups = [[node for node in parts[part] if node // switch == number] for number in range(len(cores))]

            def fits(node, at, limit=limit, share=share, free=free):
                return all(left >= share for left in free[node][at : at + limit])

            def idle_since(node, at, share=share, free=free):
                while at and free[node][at - 1] >= share:
                    at -= 1
                return at

            times = range(1 if blocked[part] >= depth else SECONDS - limit)
            at = next(
                (at for at in times if any(sum(fits(node, at) for node in group) >= width for group in groups)), None
            )
            if at is None:
                continue
            ables = ([node for node in group if fits(node, at)] for group in groups)
            able = next(able for able in ables if len(able) >= width)
            mine = (able if switch else sorted(able, key=lambda node: (-idle_since(node, at), node)))[:width]
            for node in mine:
                free[node][at : at + limit] = [left - share for left in free[node][at : at + limit]]
            if at:
                blocked[part] += 1
            else:
                starts[job], where[job], ends[job] = now, sorted(mine), now + run
                queue.remove(job)
        now += 1
    return [starts[job] for job in range(len(jobs))], [where[job] for job in range(len(jobs))]


def widest_group(cores, nodes, share, switch):
    """Return the most nodes of a partition under one switch that can hold a share."""
    under = [node // switch for node in nodes if cores[node] >= share]
    return max(map(under.count, under), default=0)


def as_planned(seed, *, closed=False, switches=False):
    """Hold a toy against its plan; with nodes that are closed for a time, or under switches."""
    cores, parts, rows, depth, span, switch = toy(seed)
    switch = switch if switches else 0
    if switch:
        # A job as wide as a switch, or less, must find one that can hold it.
        rows = [row for row in rows if row[1] > switch or row[1] <= widest_group(cores, parts[row[5]], row[4], switch)]
    jobs = [
        Job(number, at, width, run, limit, queue=part, cores=share * width)
        for number, (at, width, run, limit, share, part) in enumerate(rows)
    ]
    cluster = Cluster(
        nodes=tuple(NodeResources(cores=has) for has in cores),
        partitions={name: Partition(nodes=tuple(mine)) for name, mine in parts.items()},
    )
    begin, end, first, last = span
    down = [Downtime(start_s=begin, end_s=end, first_node=first, last_node=last, drained=True)] if closed else []
    schedule = simulate(Workload(jobs), cluster, policy=str(depth), downtimes=down, nodes_per_switch=switch)
    nodes = [[node for low, high in schedule.runs(job) for node in range(low, high)] for job in range(len(jobs))]
    wanted = planned(rows, cores, parts, depth, span if closed else None, switch)
    assert (list(schedule.start_s), nodes) == wanted, seed


@pytest.mark.parametrize("seeds", [range(25), pytest.param(range(25, 150), marks=pytest.mark.nightly)])
@pytest.mark.parametrize("more", [{}, {"closed": True}, {"switches": True}, {"closed": True, "switches": True}])
def test_shared_nodes_and_overlapping_partitions_as_planned_every_second(seeds, more):
    for seed in seeds:
        as_planned(seed, **more)


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
    """Plan again in every second by the number of free nodes alone."""
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
        assert list(simulate(jobs, nodes, policy=str(depth)).start_s) == truth, seed
        cluster = Cluster(
            nodes=(NodeResources(cores=1),) * nodes, partitions={"": Partition(nodes=tuple(range(nodes)))}
        )
        differ += list(simulate(jobs, cluster, policy=str(depth)).start_s) != truth
    # A promise that names its nodes may keep a job from passing that others would let pass.
    assert differ <= 4


@pytest.mark.parametrize(
    ("seed", "many"), [(1, 200), *(pytest.param(seed, 500, marks=pytest.mark.nightly) for seed in (1, 2))]
)
def test_promises_that_are_kept_are_those_that_would_be_made_anew(seed, many, monkeypatch):
    """A queue of hundreds of jobs on shared nodes, once with every promise computed at every scheduling pass."""
    rng, clock, jobs = random.Random(seed), 0, []
    for number in range(many):
        clock += rng.randint(0, 90)
        run, width = rng.randint(60, 2000), rng.choice([1, 1, 2, 4])
        share = rng.choice([1, 4, 8, 16])
        jobs.append(Job(number, clock, width, run, int(run * rng.uniform(1, 3)), cores=width * share))
    pool = Cluster(nodes=(NodeResources(cores=16),) * 12, partitions={"": Partition(nodes=tuple(range(12)))})
    kept = simulate(Workload(jobs), pool, policy="100")
    monkeypatch.setattr(ReservationQueue, "stands", lambda *_: -1)
    assert simulate(Workload(jobs), pool, policy="100").start_s == kept.start_s
    waiting = [start - submit for start, submit in zip(kept.start_s, kept.workload.submit_time_s, strict=True)]
    assert max(waiting) > 3600
