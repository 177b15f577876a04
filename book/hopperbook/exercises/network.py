"""Exercises in Python for the studies of the network and the scheduler."""

from hopperbook.self_checks.code import CodeCheck
from hopperlib.network.fabrics.dragonfly import Dragonfly
from hopperlib.network.rank_order import block_order, off_node_pairs
from hopperlib.network.runtime.overlap import overlapped_s
from hopperlib.network.runtime.power import spread_of
from hopperlib.network.torus.distances import Torus
from hopperlib.scheduling import scheduler
from hopperlib.scheduling.aging import free_runs
from hopperlib.scheduling.workload import Job, Workload


def _torus() -> CodeCheck:
    """Return the exercise of the study of the torus."""
    model = Torus((17, 8, 24))
    pairs = (((0, 0, 0), (16, 7, 23)), ((1, 2, 3), (9, 6, 15)), ((0, 0, 0), (8, 4, 12)), ((5, 1, 2), (5, 1, 2)))
    return CodeCheck(
        name="torus-code",
        question="`hops` counts the steps between two routers as if the network were a box. Fix it for a torus, whose rows are rings: the shorter way round is the distance.",
        start="size = (17, 8, 24)\n\ndef hops(a, b):\n    total = 0\n    for one, other, length in zip(a, b, size):\n        total = total + abs(one - other)\n    return total\n\nhops((0, 0, 0), (16, 7, 23))",
        solution="size = (17, 8, 24)\n\ndef hops(a, b):\n    total = 0\n    for one, other, length in zip(a, b, size):\n        apart = abs(one - other)\n        total = total + min(apart, length - apart)\n    return total\n\nhops((0, 0, 0), (16, 7, 23))",
        values={f"hops({a}, {b})": model.hops(a, b) for a, b in pairs},
        hints=("On a ring of seventeen, sixteen steps one way are one step the other way.",),
        explanation="In each dimension the way is the shorter one round the ring, and the three add up.",
    )


# Three jobs, the second of which runs long: at the instants below, the free nodes form one, two and one pieces.
_JOBS = (Job(1, 0, 2, 10, 10), Job(2, 0, 1, 100, 100), Job(3, 0, 1, 10, 10), Job(4, 0, 2, 40, 40))
_NODES = 6


def _fragmentation() -> CodeCheck:
    """Return the exercise of the study of fragmentation."""
    schedule = scheduler.simulate(Workload(_JOBS), _NODES)

    def case(time_s: int) -> tuple[str, int]:
        runs = free_runs(schedule, time_s)
        return f"pieces({[node for first, end in runs for node in range(first, end)]})", len(runs)

    return CodeCheck(
        name="fragmentation-code",
        question="Into how many pieces are the free nodes split? `pieces` gets their numbers in order, and counts each as a piece. Fix it: a piece ends where the next number is missing.",
        start="def pieces(free):\n    count = 0\n    for node in free:\n        count = count + 1\n    return count\n\npieces([0, 1, 3])",
        solution="def pieces(free):\n    count = 0\n    for node in free:\n        if node - 1 not in free:\n            count = count + 1\n    return count\n\npieces([0, 1, 3])",
        values=dict([case(time_s) for time_s in (15, 50, 150)]),
        hints=("A piece begins at a node whose predecessor is not free.",),
        explanation="A free node begins a piece if the node before it is taken. The fewer pieces, the better the place for a large job.",
    )


def _variability() -> CodeCheck:
    """Return the exercise of the study of run times."""
    samples = ([887.0, 1115.0, 2462.0], [100.0, 103.0, 98.0, 101.0], [5.0, 6.0])
    return CodeCheck(
        name="variability-code",
        question="`variation` divides the range of the run times by their mean, so one slow run decides it. Fix it to the coefficient of variation: standard deviation of the sample over mean.",
        start="from statistics import mean, stdev\n\ndef variation(times):\n    spread = max(times) - min(times)\n    return spread / mean(times)\n\nvariation([887.0, 1115.0, 2462.0])",
        solution="from statistics import mean, stdev\n\ndef variation(times):\n    spread = stdev(times)\n    return spread / mean(times)\n\nvariation([887.0, 1115.0, 2462.0])",
        values={f"variation({times})": spread_of(times).whole for times in samples},
        hints=("`stdev` is the standard deviation of a sample.",),
        explanation="The coefficient of variation has no unit, so run times of different programs can be compared.",
    )


def _rank_order() -> CodeCheck:
    """Return the exercise of the study of rank orders."""
    grid, cores = (8, 6), 12
    orders = (list(range(48)), block_order(grid, (4, 3)), list(reversed(range(48))))
    return CodeCheck(
        name="rank-order-code",
        question="The ranks of a grid of 8 by 6 run on nodes of twelve cores, in some order. `off_node` counts the neighbors along x that sit on different nodes. Add those along y, whose numbers differ by eight.",
        start="def off_node(order):\n    node = {rank: place // 12 for place, rank in enumerate(order)}\n    count = 0\n    for rank in range(48):\n        if rank % 8 < 7 and node[rank] != node[rank + 1]:\n            count = count + 1\n    return count\n\noff_node(list(range(48)))",
        solution="def off_node(order):\n    node = {rank: place // 12 for place, rank in enumerate(order)}\n    count = 0\n    for rank in range(48):\n        if rank % 8 < 7 and node[rank] != node[rank + 1]:\n            count = count + 1\n        if rank + 8 < 48 and node[rank] != node[rank + 8]:\n            count = count + 1\n    return count\n\noff_node(list(range(48)))",
        values={f"off_node({order})": off_node_pairs(order, grid, cores) for order in orders},
        hints=("The last row has no neighbor above it: check whether `rank + 8` is below 48.",),
        explanation="Blocks of 4 by 3 keep more neighbors together than rows do. Each pair that sits on two nodes is a message through the network.",
    )


def _networks() -> CodeCheck:
    """Return the exercise of the study of networks."""

    def links(groups: int, between: int) -> int:
        fabric = Dragonfly(groups, rows=2, columns=4, nodes_per_switch=4, links_per_pair=between)
        return sum(len(fabric.gateways(a, b)) for a in range(groups) for b in range(a))

    return CodeCheck(
        name="networks-code",
        question="Every two groups of a dragonfly are joined by this many links. `links` counts each of them from both ends. Fix it.",
        start="def links(groups, between):\n    count = 0\n    for one in range(groups):\n        for other in range(groups):\n            count = count + between\n    return count\n\nlinks(9, 2)",
        solution="def links(groups, between):\n    count = 0\n    for one in range(groups):\n        for other in range(one):\n            count = count + between\n    return count\n\nlinks(9, 2)",
        values={f"links({groups}, {between})": links(groups, between) for groups, between in ((9, 2), (4, 1), (12, 3))},
        hints=("A group is not joined to itself, and a pair is counted once.",),
        explanation="Of g groups there are g (g - 1) / 2 pairs.",
    )


def _overlap() -> CodeCheck:
    """Return the exercise of the study of overlap."""
    cases = ((10.0, 4.0, 0.5), (10.0, 12.0, 0.5), (2.0, 8.0, 1.0), (5.0, 5.0, 0.0))
    return CodeCheck(
        name="overlap-code",
        question="A part `share` of the communication can run while the program computes. `step` hides all of that part, even where the computation is shorter. Fix it.",
        start="def step(compute, communicate, share):\n    hidden = share * communicate\n    return compute + communicate - hidden\n\nstep(2.0, 8.0, 1.0)",
        solution="def step(compute, communicate, share):\n    hidden = min(compute, share * communicate)\n    return compute + communicate - hidden\n\nstep(2.0, 8.0, 1.0)",
        values={f"step({c}, {m}, {s})": overlapped_s(c, m, s) for c, m, s in cases},
        hints=("No more can be hidden than there is computation to hide it behind.",),
        explanation="What can overlap is hidden as long as the program computes; what is longer than that shows.",
    )


def _scheduling_trouble() -> CodeCheck:
    """Return the exercise of the study of scheduling trouble."""
    schedule = scheduler.simulate(Workload(_JOBS), _NODES)
    started = [
        (int(schedule.start_s[i]), int(schedule.start_s[i]) + job.run_time_s, job.nodes) for i, job in enumerate(_JOBS)
    ]
    return CodeCheck(
        name="scheduling-trouble-code",
        question="`busy` gives the share of a machine that works from 0 to `end`. It counts jobs with their whole run time, also where they run on after `end`. Fix it. A job is its start, its end and its nodes.",
        start=f"nodes = {_NODES}\njobs = {started}\n\ndef busy(end):\n    work = 0\n    for begin, stop, wide in jobs:\n        work = work + wide * (stop - begin)\n    return work / (nodes * end)\n\nbusy(20)",
        solution=f"nodes = {_NODES}\njobs = {started}\n\ndef busy(end):\n    work = 0\n    for begin, stop, wide in jobs:\n        inside = max(0, min(stop, end) - begin)\n        work = work + wide * inside\n    return work / (nodes * end)\n\nbusy(20)",
        values={f"busy({end})": schedule.utilization(0, end) for end in (5, 20, 60, 100)},
        hints=("A job counts until `end` at most.", "It stops counting at `min(stop, end)`."),
        explanation="Utilization is node-seconds of work over node-seconds that there are, in the same window of time.",
    )


EXERCISES = {
    "torus": _torus,
    "fragmentation": _fragmentation,
    "variability": _variability,
    "rank-order": _rank_order,
    "networks": _networks,
    "overlap-and-tuning": _overlap,
    "scheduling-trouble": _scheduling_trouble,
}
