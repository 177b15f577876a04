"""Partitions, shared nodes and GPUs against a naive simulator that looks at every node at every event."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.readers.hardware.cluster import read_cluster
from hopperkit.readers.jobs.sacct import read_sacct
from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.scheduler import infeasible_jobs, simulate
from hopperlib.errors import InputError
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Limit, Queue, Rules
from hopperlib.scheduling.workload import Job, Workload

DAY = 86_400


def naive(jobs, nodes, partitions, *, policy="easy", priority=None, limit=None):
    """Return {job: (start, nodes)} by the rules, in the simplest way.

    `nodes` is a list of [cores, gpus, memory], `partitions` has {queue: (positions, exclusive)}, and a job is a dict
    with the same three values per node; `limit` is the maximum number of running jobs per user.
    """
    on = [[] for _ in nodes]
    running, waiting, done, to_come = {}, [], {}, sorted(range(len(jobs)), key=lambda i: jobs[i]["eligible"])

    def want(i):
        return None if partitions[jobs[i]["queue"]][1] or not jobs[i]["each"][0] else jobs[i]["each"]

    def room(i, node, at, extra=None):
        """Whether job i fits on a node at an instant, next to those that are then still running, and one more."""
        beside = [j for j in on[node] if at is None or running[j][2] > at] + ([] if extra is None else [extra])
        if want(i) is None or any(want(j) is None for j in beside):
            return not beside and all(
                a >= b for a, b in zip(nodes[node][1:], jobs[i]["each"][1:] if want(i) else (0, 0), strict=True)
            )
        return all(sum(want(j)[k] for j in beside) + want(i)[k] <= nodes[node][k] for k in range(3))

    now = 0
    while to_come or running:
        now = min([jobs[i]["eligible"] for i in to_come] + [end for _, end, _, _ in running.values()])
        for i in [i for i, job in running.items() if job[1] == now]:
            for node in running[i][3]:
                on[node].remove(i)
            done[i] = running.pop(i)
        for i in [i for i in to_come if jobs[i]["eligible"] == now]:
            to_come.remove(i)
            waiting.append(i)
        waiting.sort(key=lambda i: (-(priority(i, now) if priority else 0), jobs[i]["eligible"], i))
        promises = {}
        for i in list(waiting):
            if limit is not None and sum(jobs[j]["user"] == jobs[i]["user"] for j in running) >= limit:
                continue
            mine, width, end = partitions[jobs[i]["queue"]][0], jobs[i]["nodes"], now + jobs[i]["limit"]
            if policy == "fcfs" and jobs[i]["queue"] in promises:
                continue
            binding = [promise for promise in promises.values() if end > promise["at"]]
            spare = [promise["spare"] for promise in binding]
            taken, lost = [], []
            for node in mine:
                if not room(i, node, None) or len(taken) == width:
                    continue
                harmed = [
                    n for n, p in enumerate(binding) if node in p["nodes"] and not room(p["job"], node, p["at"], i)
                ]
                if all(spare[n] for n in harmed):
                    taken.append(node)
                    for n in harmed:
                        spare[n] -= 1
                        lost.append((n, node))
            if len(taken) == width:
                for n, node in lost:
                    binding[n]["spare"] -= 1
                    binding[n]["nodes"].remove(node)
                run = min(jobs[i]["run"], jobs[i]["limit"])
                running[i] = (now, now + run, end, taken)
                for node in taken:
                    on[node].append(i)
                waiting.remove(i)
            elif jobs[i]["queue"] not in promises:
                at = next(
                    at
                    for at in sorted({now, *(max(now, job[2]) for job in running.values())})
                    if sum(room(i, node, at) for node in mine) >= width
                )
                could = {node for node in mine if room(i, node, at)}
                promises[jobs[i]["queue"]] = {"at": at, "job": i, "nodes": could, "spare": len(could) - width}
                if policy == "fcfs":
                    promises[jobs[i]["queue"]]["at"] = 1 << 62
    return {i: (start, taken) for i, (start, _, _, taken) in done.items()}


NODES = [[8, 0, 64]] * 4 + [[8, 2, 64]] * 3 + [[16, 0, 128]] * 2
# Partition gpu is part of all; one is separate, with whole nodes.
PARTITIONS = {"all": (list(range(7)), False), "gpu": ([4, 5, 6], False), "one": ([7, 8], True)}
CLUSTER = Cluster(
    nodes=tuple(NodeResources(cores=cores, gpus=gpus, memory_mb=memory) for cores, gpus, memory in NODES),
    partitions={name: Partition(nodes=tuple(where), exclusive=whole) for name, (where, whole) in PARTITIONS.items()},
)


def as_job(number, job):
    return Job(
        number, job["submit"], job["nodes"], job["run"], job["limit"], job["user"], job["queue"], job["eligible"], None,
        *(job["nodes"] * each for each in job["each"]),
    )  # fmt: skip


@st.composite
def drawn_jobs(draw):
    jobs = []
    for _ in range(draw(st.integers(1, 25))):
        queue = draw(st.sampled_from(sorted(PARTITIONS)))
        submit = draw(st.integers(0, 15))
        gpus = draw(st.integers(0, 2)) if queue == "gpu" else 0
        jobs.append(
            {
                "queue": queue, "submit": submit, "eligible": submit + draw(st.sampled_from([0, 0, 4])), "user": draw(st.integers(1, 3)),
                "nodes": draw(st.integers(1, len(PARTITIONS[queue][0]))), "run": draw(st.integers(0, 9)), "limit": draw(st.integers(0, 9)),
                "each": (draw(st.integers(1, 8)), gpus, draw(st.sampled_from([0, 16, 64]))),
            }
        )  # fmt: skip
    return jobs


def compare(jobs, wanted, **options):
    schedule = simulate(Workload(as_job(number, job) for number, job in enumerate(jobs)), CLUSTER, **options)
    for index, number in enumerate(schedule.workload.job):
        nodes = [node for low, high in schedule.runs(index) for node in range(low, high)]
        assert (schedule.start_s[index], nodes) == wanted[number], f"job {number}: {jobs[number]}"


@given(drawn_jobs(), st.sampled_from(["easy", "fcfs"]), st.sampled_from([None, 1, 2]))
def test_same_starts_and_nodes(jobs, policy, limit):
    # With user limits all partitions are scheduled together, otherwise each one separately.
    rules = Rules(limits=(Limit(per="user", jobs=limit),)) if limit else None
    compare(jobs, naive(jobs, NODES, PARTITIONS, policy=policy, limit=limit), policy=policy, rules=rules)


@given(drawn_jobs())
def test_same_starts_and_nodes_in_order_of_a_priority_that_changes(jobs):
    rules = Rules(age=8.0, size=9.0, max_age_days=6 / DAY, period_s=1)

    def priority(i, now):
        return 9.0 * jobs[i]["nodes"] / 9 + 8.0 * min(1.0, (now - jobs[i]["eligible"]) / 6)

    # Priorities that differ by less than the rounding error could be sorted either way.
    wanted = naive(jobs, NODES, PARTITIONS, priority=lambda i, now: round(priority(i, now), 6))
    if len({round(priority(i, 100), 6) for i in range(len(jobs))}) == len(jobs):
        compare(jobs, wanted, queue_order="multifactor", rules=rules)


def test_a_composed_trace_of_sacct():
    # Three partitions, shared nodes, GPUs, a deep queue; the cluster as scontrol prints it.
    rng = random.Random(7)
    jobs, lines = [], ["JobID|User|Partition|State|Submit|Eligible|Start|Elapsed|Timelimit|NNodes|AllocCPUS|AllocTRES"]
    clock = 0
    for number in range(400):
        clock += rng.randint(0, 240)
        queue = rng.choice(["all", "all", "gpu", "one"])
        gpus = rng.randint(0, 2) if queue == "gpu" else 0
        nodes = rng.randint(1, 2)
        limit = 60 * rng.randint(1, 60)
        jobs.append(
            {"queue": queue, "submit": clock, "eligible": clock, "user": rng.randint(1, 5), "nodes": nodes, "run": rng.randint(1, limit),
             "limit": limit, "each": (rng.randint(1, 8), gpus, 1024 * rng.choice([1, 16]))}
        )  # fmt: skip
        job = jobs[-1]
        stamp = f"2024-01-{1 + clock // DAY:02d}T{clock // 3600 % 24:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
        tres = f"cpu={nodes * job['each'][0]},gres/gpu={nodes * gpus},mem={nodes * job['each'][2]}M,node={nodes}"
        lines.append(
            f"{number + 1}|u{job['user']}|{queue}|COMPLETED|{stamp}|{stamp}|{stamp}|{job['run'] // 3600:02d}:{job['run'] // 60 % 60:02d}:"
            f"{job['run'] % 60:02d}|{limit // 60}:00|{nodes}|{nodes * job['each'][0]}|{tres}"
        )
    shown = [
        f"NodeName=n{n} CPUTot={cores} Gres={f'gpu:a100:{gpus}' if gpus else '(null)'} RealMemory={1024 * memory}"
        for n, (cores, gpus, memory) in enumerate(NODES)
    ]
    shown += [
        "PartitionName=all Nodes=n[0-6]",
        "PartitionName=gpu Nodes=n[4-6]",
        "PartitionName=one Nodes=n7,n8 OverSubscribe=EXCLUSIVE",
    ]
    workload = read_sacct(lines).workload
    first = jobs[0]["submit"]
    schedule = simulate(workload, read_cluster("\n".join(shown)))
    wanted = naive(jobs, [[cores, gpus, 1024 * memory] for cores, gpus, memory in NODES], PARTITIONS)
    got = {number - 1: schedule.start_s[index] + first for index, number in enumerate(workload.job)}
    assert got == {number: start for number, (start, _) in wanted.items()}
    assert sum(start > jobs[number]["submit"] for number, start in got.items()) > 100


def test_conservative_promises_everybody():
    # Ten nodes; 6 are busy until 100. Job 2 wants 8 from 100 on, job 3 wants 10 from 150 on. Job 4 would fit beside
    # job 1 and, by EASY's rule, beside job 2 too, but it would delay job 3.
    jobs = [Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 10, 20, 20), Job(4, 3, 2, 160, 160)]
    assert list(simulate(Workload(jobs), 10).start_s) == [0, 100, 163, 3]
    assert list(simulate(Workload(jobs), 10, policy="conservative").start_s) == [0, 100, 150, 170]
    assert list(simulate(Workload(jobs), 10, policy="2").start_s) == [0, 100, 150, 170]


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8), st.integers(1, 12)), min_size=1, max_size=20))
def test_with_exact_limits_conservative_starts_nobody_later_than_without_those_behind(rows):
    jobs = [Job(number, submit, width, run, run) for number, (submit, width, run) in enumerate(sorted(rows))]
    whole = simulate(Workload(jobs), 8, policy="conservative")
    for last in range(1, len(jobs) + 1):
        part = simulate(Workload(jobs[:last]), 8, policy="conservative")
        assert list(part.start_s) == list(whole.start_s)[:last]


def test_fair_share_puts_who_used_more_behind():
    # User 1 ran 10 nodes for 100 s; both have a job that waits for all nodes, that of user 1 came first.
    jobs = [Job(1, 0, 10, 100, 100, 1), Job(2, 1, 10, 50, 50, 1), Job(3, 2, 10, 50, 50, 2)]
    fair = Rules(fair_share=1.0, period_s=1)
    assert list(simulate(Workload(jobs), 10).start_s) == [0, 100, 150]
    assert list(simulate(Workload(jobs), 10, queue_order="multifactor", rules=fair).start_s) == [0, 150, 100]


def test_a_policy_of_ones_own_is_checked():
    jobs = Workload([Job(1, 0, 6, 100, 100), Job(2, 0, 6, 100, 100)])
    assert list(simulate(jobs, 10, policy=lambda view: view.waiting[-1:] if not view.running else ()).start_s) == [
        100,
        0,
    ]
    with pytest.raises(InputError, match="the policy starts job 2 at 0 s, for which there is no room"):
        simulate(jobs, 10, policy=lambda view: view.waiting)


def test_a_policy_of_ones_own_may_yield_of_those_that_fit():
    # Two jobs have one number. At 0 the limits 50 and 80 go first, 6 + 4 of 12 nodes; at 10 the 2 left suit nobody.
    rows = [(7, 0, 6, 100, 100), (7, 0, 6, 50, 50), (2, 0, 4, 80, 80), (3, 10, 11, 9, 9), (4, 10, 4, 9, 9)]
    seen = []

    def shortest(view):
        seen.append((view.now_s, len(view.waiting), [job.job for job in view.fitting], len(view.running)))
        for job in sorted(view.fitting, key=lambda job: job.requested_time_s):
            if view.room(job) >= job.nodes:
                yield job

    schedule = simulate(Workload([Job(*row) for row in rows]), 12, policy=shortest)
    # At 50 8 are free: the limit 9 takes 4, and 6 fit again when it ends.
    assert list(schedule.start_s) == [59, 0, 0, 159, 50]
    assert seen[:2] == [(0, 3, [7, 7, 2], 0), (50, 3, [7, 4], 1)]
    # A limit of users leaves no room for the second job of a user.
    one = Rules(limits=(Limit(per="user", jobs=1),))
    jobs = Workload([Job(1, 0, 1, 9, 9, user=1), Job(2, 0, 1, 9, 9, user=1), Job(3, 0, 1, 9, 9, user=2)])
    assert list(simulate(jobs, 4, policy=shortest, rules=one).start_s) == [0, 9, 0]


def test_who_could_never_start():
    jobs = [
        Job(1, 0, 4, 9, 9, 0, "gpu", cores=4),
        Job(2, 0, 1, 9, 9, 0, "gpu", cores=1, gpus=3),
        Job(3, 0, 1, 9, 9, 0, "no"),
    ]
    jobs += [Job(4, 0, 3, 9, 9, 0, "gpu", cores=24, gpus=6)]
    assert infeasible_jobs(Workload(jobs), CLUSTER) == [0, 1, 2]


def test_ages_known_beforehand_give_what_working_them_out_anew_gives():
    # One pool: while no wait reaches the greatest age, the order is known before; a limit that never binds takes the
    # longer way.
    rng = random.Random(11)
    jobs = [
        Job(number, rng.randint(0, 4000), rng.randint(1, 10), rng.randint(1, 300), 300, qos=rng.choice(["high", "low"]))
        for number in range(300)
    ]
    for days in (0.01, 30):
        rules = Rules(age=3.0, qos=1.0, qos_factors={"high": 1.0}, max_age_days=days)
        longer = replace(rules, limits=(Limit(per="user", jobs=10**6),))
        ways = [simulate(Workload(jobs), 10, queue_order="multifactor", rules=way) for way in (rules, longer)]
        assert ways[0].start_s == ways[1].start_s
        assert ways[0].start_s != simulate(Workload(jobs), 10).start_s


def planned(jobs, cores, *, closed=None):
    """Return {job: (start, nodes)} where the first blocked job is promised a time: second by second, node by node.

    A job is (submit, nodes, run, limit, cores of each node); `closed` is (from, to, nodes) and known beforehand.
    """
    running, waiting, done, now = {}, [], {}, 0

    def load(node, second, among):
        return sum(jobs[i][4] for i, (at, end, where) in among.items() if at <= second < end and node in where)

    def fits(i, node, at, beside):
        seconds = range(at, at + jobs[i][3])
        if closed and node in closed[2] and any(closed[0] <= second < closed[1] for second in seconds):
            return False
        return all(load(node, second, running) + load(node, second, beside) + jobs[i][4] <= cores for second in seconds)

    def choose(i, at, promises):
        """The nodes that job i takes from a second on, and all that it could have; (None, None) if too few."""
        binding = {j: there for j, there in promises.items() if there[0] < at + jobs[i][3] and at < there[1]}
        open_nodes = [node for node in range(4) if fits(i, node, at, {})]
        spare = {j: len(there[2]) - jobs[j][1] for j, there in binding.items()}
        taken, harmless = [], []
        for node in open_nodes:
            harmed = [] if fits(i, node, at, binding) else [j for j, there in binding.items() if node in there[2]]
            harmless += [] if harmed else [node]
            if len(taken) < jobs[i][1] and all(spare[j] for j in harmed):
                taken.append(node)
                for j in harmed:
                    spare[j] -= 1
        if len(taken) < jobs[i][1]:
            return None, None
        for j in binding:
            binding[j][2].difference_update(node for node in taken if node not in harmless)
        return taken, {*taken, *harmless}

    while len(done) < len(jobs):
        for i in [i for i in running if running[i][0] + min(jobs[i][2], jobs[i][3]) == now]:
            done[i] = (running[i][0], running.pop(i)[2])
        waiting += [i for i, job in enumerate(jobs) if job[0] == now]
        promises = {}
        for i in list(waiting):
            taken, _ = choose(i, now, promises)
            if taken is not None:
                running[i] = (now, now + jobs[i][3], taken)
                waiting.remove(i)
            elif not promises:
                for at in range(now, 10_000):
                    taken, could = choose(i, at, promises)
                    if taken is not None:
                        promises[i] = (at, at + jobs[i][3], could)
                        break
        now += 1
    return done


PLANNED = st.lists(
    st.tuples(st.integers(0, 15), st.integers(1, 4), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4)),
    min_size=1,
    max_size=12,
)


@given(PLANNED, st.booleans(), st.booleans())
def test_plans_on_shared_nodes_second_by_second(rows, whole, closed):
    # Four nodes of four cores, shared or whole; nodes 1 and 2 may be closed from 8 to 14, which is known beforehand.
    # With more than one promise each names its nodes: tests/scheduling/test_profile.py.
    rows = [(*row[:4], 4 if whole else row[4]) for row in sorted(rows)]
    pool = Cluster(nodes=(NodeResources(cores=4),) * 4, partitions={"": Partition(nodes=(0, 1, 2, 3))})
    jobs = Workload(Job(n, *row[:4], cores=row[1] * row[4]) for n, row in enumerate(rows))
    down = [Downtime(start_s=8, end_s=14, first_node=1, last_node=3, drained=True)] if closed else []
    schedule = simulate(jobs, pool, downtimes=down)
    wanted = planned(rows, 4, closed=(8, 14, {1, 2}) if closed else None)
    for index, number in enumerate(schedule.workload.job):
        nodes = [node for low, high in schedule.runs(index) for node in range(low, high)]
        assert (schedule.start_s[index], nodes) == wanted[number], rows


def test_jobs_under_one_switch():
    # Two switches of two nodes: job 2 fits under one, and waits until both nodes of one are free; job 3 needs both
    # switches.
    jobs = [Job(0, 0, 1, 9, 9), Job(1, 0, 2, 5, 5), Job(2, 1, 2, 3, 3), Job(3, 1, 3, 2, 2)]
    schedule = simulate(Workload(jobs), 4, nodes_per_switch=2)
    assert [schedule.runs(index) for index in range(4)] == [[(0, 1)], [(2, 4)], [(2, 4)], [(1, 4)]]
    assert list(schedule.start_s) == [0, 0, 5, 8]


def test_nodes_that_are_kept_for_a_queue_beside_others():
    # Nodes 2 and 3 are kept for queue a from 10 to 30. Job 0 would run into it and takes 0 and 1; job 1 ends in time.
    kept = [Downtime(start_s=10, end_s=30, first_node=2, last_node=4, drained=True, kind="reservation", queue="a")]
    rows = [(0, 2, 20, 20, "b"), (0, 2, 10, 10, "b"), (0, 2, 5, 5, "a"), (1, 2, 12, 12, "b")]
    jobs = [Job(n, at, width, run, limit, queue=queue) for n, (at, width, run, limit, queue) in enumerate(rows)]
    assert list(simulate(Workload(jobs), 4, downtimes=kept).start_s) == [0, 0, 10, 20]


def congested(seed, count):
    """Draw jobs that come faster than they can run, so that queues are deep."""
    rng, clock, jobs = random.Random(seed), 0, []
    for _ in range(count):
        clock += rng.randint(0, 12)
        queue = rng.choice(sorted(PARTITIONS))
        jobs.append(
            {"queue": queue, "submit": clock, "eligible": clock, "user": rng.randint(1, 4), "nodes": rng.randint(1, len(PARTITIONS[queue][0])),
             "run": rng.randint(0, 60), "limit": rng.randint(1, 60), "each": (rng.randint(1, 8), rng.randint(0, 2) * (queue == "gpu"), rng.choice([0, 16]))}
        )  # fmt: skip
    return jobs


@pytest.mark.parametrize(("seed", "count", "limit"), [(59, 60, 1), (57, 60, 1), (5, 150, 2), (5, 150, None)])
def test_deep_queues_under_a_limit_of_users(seed, count, limit):
    # A start in one partition may bring the user of another's head to the limit, which lets those behind it pass.
    jobs = congested(seed, count)
    rules = Rules(limits=(Limit(per="user", jobs=limit),)) if limit else None
    for policy in ("easy", "fcfs"):
        compare(jobs, naive(jobs, NODES, PARTITIONS, policy=policy, limit=limit), policy=policy, rules=rules)


def whole(**partitions):
    """Return a cluster of whole nodes."""
    count = max(nodes[-1] for nodes in partitions.values()) + 1
    parts = {name: Partition(nodes=tuple(nodes), exclusive=True) for name, nodes in partitions.items()}
    return Cluster(nodes=(NodeResources(cores=8),) * count, partitions=parts)


def test_an_outage_hits_the_partition_whose_nodes_it_takes():
    # Nodes 2 and 3 are down from 10 to 30: half of partition b. Job 2 is ended; job 3 waits; partition a goes on.
    jobs = [
        Job(1, 0, 2, 50, 50, queue="a"),
        Job(2, 0, 2, 50, 50, queue="b"),
        Job(3, 12, 3, 5, 5, queue="b"),
        Job(4, 13, 2, 9, 9, queue="b"),
    ]
    down = [Downtime(start_s=10, end_s=30, first_node=2, last_node=4)]
    schedule = simulate(Workload(jobs), whole(a=range(2), b=range(2, 6)), downtimes=down, sample_every_s=7)
    assert list(schedule.start_s) == [0, 0, 30, 13]
    assert list(schedule.end_s[:2]) == [50, 10]
    assert [(sample.unavailable_nodes, sample.busy_nodes) for sample in schedule.samples[:3]] == [
        (0, 4),
        (0, 4),
        (2, 4),
    ]
    # On shared nodes the job ends that runs there, and no other: nodes 0 to 6 have eight cores each.
    shared = [Job(n, 0, 1, 50, 50, queue="all", cores=6) for n in range(5)]
    schedule = simulate(Workload(shared), CLUSTER, downtimes=down)
    assert list(schedule.end_s) == [50, 50, 10, 10, 50]


def test_a_limit_of_a_queue_table_holds_in_its_partition():
    jobs = [Job(n, 0, 1, 10, 10, 7, queue) for n, queue in enumerate("aabb")]
    queues = [Queue(name="a", run_limit=1)]
    assert list(simulate(Workload(jobs), whole(a=range(2), b=range(2, 4)), queues=queues).start_s) == [0, 10, 0, 0]
