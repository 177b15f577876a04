"""The scheduler against a naive implementation that tracks every node and checks everything at every event."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling.rules import Queue
from hopperlib.scheduling.workload import Job, Workload


def naive(jobs, nodes, *, policy, keep, priorities=None):
    """Return (start, end, nodes) of every job by the rules, in the simplest way."""
    owner = [None] * nodes
    waiting, running, done = [], {}, {}
    to_come = sorted(range(len(jobs)), key=lambda i: jobs[i].submit_time_s)

    def start(i, now):
        taken = [node for node in range(nodes) if owner[node] is None][: jobs[i].nodes]
        for node in taken:
            owner[node] = i
        run = jobs[i].run_time_s if keep else min(jobs[i].run_time_s, jobs[i].requested_time_s)
        running[i] = (now, now + run, taken)
        waiting.remove(i)

    def expected(i, now):
        return max(now, running[i][0] + jobs[i].requested_time_s)

    while to_come or waiting or running:
        now = min([jobs[i].submit_time_s for i in to_come] + [end for _, end, _ in running.values()])
        for i in [i for i, (_, end, _) in running.items() if end == now]:
            done[i] = running.pop(i)
            for node in done[i][2]:
                owner[node] = None
        for i in [i for i in to_come if jobs[i].submit_time_s == now]:
            to_come.remove(i)
            waiting.append(i)
        # Python's sort keeps the order of submission within a priority.
        waiting.sort(key=lambda i: (priorities or {}).get(jobs[i].queue, 0))
        while waiting and jobs[waiting[0]].nodes <= owner.count(None):
            start(waiting[0], now)
        if not waiting or policy == "fcfs":
            continue
        head = waiting[0]
        free = owner.count(None)
        for reserved in sorted({expected(i, now) for i in running}):
            there = free + sum(jobs[i].nodes for i in running if expected(i, now) <= reserved)
            if there >= jobs[head].nodes:
                break
        extra = there - jobs[head].nodes
        for i in waiting[1:]:
            if jobs[i].nodes > owner.count(None):
                continue
            if now + jobs[i].requested_time_s <= reserved:
                start(i, now)
            elif jobs[i].nodes <= extra:
                extra -= jobs[i].nodes
                start(i, now)
    return done


@st.composite
def workloads(draw, most=25):
    """Few nodes, small times: so that ties, zero-length jobs and jobs over their limit are common."""
    nodes = draw(st.integers(1, 12))
    one = st.tuples(st.integers(0, 12), st.integers(1, nodes), st.integers(0, 9), st.integers(0, 9))
    rows = draw(st.lists(one, min_size=1, max_size=most))
    return nodes, [Job(number, *row) for number, row in enumerate(rows)]


PRIORITIES = {"late": 2, "soon": 1}
QUEUES = [Queue(name=name, priority=priority) for name, priority in PRIORITIES.items()]


@given(workloads(), st.sampled_from(("easy", "fcfs")), st.booleans(), st.sampled_from([[], QUEUES]))
def test_same_starts_ends_and_nodes(drawn, policy, keep, queues):
    nodes, jobs = drawn
    jobs = [job._replace(queue=("late", "soon")[job.job % 2]) for job in jobs]
    schedule = simulate(Workload(jobs), nodes, policy=policy, overrun="keep" if keep else "kill", queues=queues)
    wanted = naive(jobs, nodes, policy=policy, keep=keep, priorities=PRIORITIES if queues else None)
    for index, number in enumerate(schedule.workload.job):
        start, end, held = wanted[number]
        assert (schedule.start_s[index], schedule.end_s[index]) == (start, end)
        assert [node for low, high in schedule.runs(index) for node in range(low, high)] == held


@pytest.mark.parametrize("queues", [[], QUEUES])
@pytest.mark.parametrize("policy", ["easy", "fcfs"])
def test_a_long_congested_workload(policy, queues):
    # Deep queues, which small examples do not have: a load well over 1 on 40 nodes, without any library's generator.
    state, rows = 12345, []
    for number in range(600):
        drawn = []
        for low, high in ((0, 900), (1, 20), (0, 60), (0, 80)):
            state = state * 6364136223846793005 % (1 << 64) + 1
            drawn.append(low + (state >> 33) % (high - low + 1))
        rows.append(Job(number, *drawn, queue=("late", "soon")[number % 5 == 0]))
    schedule = simulate(Workload(rows), 40, policy=policy, queues=queues)
    wanted = naive(rows, 40, policy=policy, keep=False, priorities=PRIORITIES if queues else None)
    got = {
        number: (
            schedule.start_s[index],
            schedule.end_s[index],
            [node for low, high in schedule.runs(index) for node in range(low, high)],
        )
        for index, number in enumerate(schedule.workload.job)
    }
    assert got == wanted
