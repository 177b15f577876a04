"""Backfill at intervals: against a reference that replans every job at each pass, and hand-derived cases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.traces.scheduler import simulate as simulate_by_name
from hopperlib.errors import InputError
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload

NODES = 8
# submission, nodes, limit, share of the limit that it runs
JOBS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(1, NODES), st.integers(1, 200), st.floats(0.1, 1)),
    min_size=1,
    max_size=25,
)


def earliest(profile, width, span):
    """First time in a list of (time, free nodes) from which a width is free for a duration."""
    for begin, _ in profile:
        if all(
            free >= width for at, free in profile if at < begin + span and (at >= begin or at == last(profile, begin))
        ):
            return begin
    raise AssertionError("never")


def last(profile, instant):
    return max(at for at, _ in profile if at <= instant)


def take(profile, width, begin, end):
    """The profile with a width taken between two times."""
    marks = dict(profile)
    for instant in (begin, end):
        marks.setdefault(instant, marks[max(at for at in marks if at <= instant)])
    return sorted((at, free - width * (begin <= at < end)) for at, free in marks.items())


def reference(jobs, policy):
    """Starts of jobs: the head of the queue at each event; at each pass all tested jobs, planned one after another."""
    starts, queue, running, now, due = {}, [], [], 0, None
    coming = sorted(range(len(jobs)), key=lambda job: jobs[job].submit_time_s)
    while coming or queue or running:
        instants = [jobs[coming[0]].submit_time_s] if coming else []
        instants += [min(end for end, *_ in running)] if running else []
        instants += [due] if queue and due is not None else []
        now = min(instants)
        running = [each for each in running if each[0] > now]
        while coming and jobs[coming[0]].submit_time_s <= now:
            queue.append(coming.pop(0))
        free = NODES - sum(width for _, _, width in running)

        begun = []
        if due == now:
            profile = [(now, free)]
            for end in sorted({end for _, end, _ in running}):
                profile.append((end, profile[-1][1] + sum(width for _, each, width in running if each == end)))
            for number in queue[: policy.depth]:
                job = jobs[number]
                begin = earliest(profile, job.nodes, job.requested_time_s)
                if begin == now:
                    begun.append(number)
                if begin <= now + policy.window_s:
                    profile = take(profile, job.nodes, begin, begin + job.requested_time_s)
        else:
            while queue and jobs[queue[0]].nodes <= free:
                free -= jobs[queue[0]].nodes
                begun.append(queue.pop(0))
        for number in begun:
            starts[number] = now
            running.append((now + jobs[number].run_time_s, now + jobs[number].requested_time_s, jobs[number].nodes))
        queue = [number for number in queue if number not in begun]
        changed = due != now or begun
        due = (now // policy.interval_s + 1) * policy.interval_s if changed else None
    return [starts[number] for number in range(len(jobs))]


@given(JOBS, st.integers(1, 6), st.integers(1, 60), st.sampled_from([40, 10_000]))
def test_starts_are_those_of_a_naive_reference(rows, depth, interval, window):
    jobs = [
        Job(number, submit, nodes, max(1, int(part * limit)), limit, queue="main")
        for number, (submit, nodes, limit, part) in enumerate(sorted(rows))
    ]
    policy = Backfill(depth=depth, interval_s=interval, window_s=window)
    expected = reference(jobs, policy)
    assert list(simulate(Workload(jobs), NODES, policy=policy).start_s) == expected


def first_nodes(job, now, running, plans, policy):
    """When a job may start next to running jobs and plans, and on which nodes: the first ones at the first such instant."""
    beyond = policy.resolution_s > 1
    instants = {now, *(end for _, end, _ in running), *(end for _, end, _ in plans)}
    for instant in sorted(each for each in instants if each >= now):
        taken = {node for _, end, nodes in running if end > instant for node in nodes}
        last = instant + job.requested_time_s + beyond
        taken |= {node for begin, end, nodes in plans if begin < last and instant < end for node in nodes}
        free = [node for node in range(NODES) if node not in taken]
        if len(free) >= job.nodes:
            return instant, free[: job.nodes]
    raise AssertionError("never")


def reference_by_name(jobs, policy):
    """Starts of jobs where plans name their nodes, and hold them from and until multiples of the resolution."""
    starts, queue, running, due, grid = {}, [], [], None, policy.resolution_s
    coming = sorted(range(len(jobs)), key=lambda job: jobs[job].submit_time_s)
    while coming or queue or running:
        instants = [jobs[coming[0]].submit_time_s] if coming else []
        instants += [min(end for end, *_ in running)] if running else []
        now = min([*instants, due] if queue and due is not None else instants)
        running = [each for each in running if each[0] > now]
        while coming and jobs[coming[0]].submit_time_s <= now:
            queue.append(coming.pop(0))
        begun, plans = [], []
        for number in queue[: policy.depth] if due == now else list(queue):
            job = jobs[number]
            begin, nodes = first_nodes(job, now, running, plans, policy)
            if begin == now:
                begun.append(number)
                running.append((now + job.run_time_s, now + job.requested_time_s, nodes))
            elif due != now:
                break
            elif begin <= now + policy.window_s:
                since, until = begin // grid * grid, (begin + job.requested_time_s) // grid * grid
                plans.append((max(since, now), max(until, since + grid), nodes))
        starts |= dict.fromkeys(begun, now)
        queue = [number for number in queue if number not in begun]
        due = (now // policy.interval_s + 1) * policy.interval_s if due != now or begun else None
    return [starts[number] for number in range(len(jobs))]


@given(JOBS, st.integers(1, 6), st.integers(1, 60), st.sampled_from([40, 10_000]), st.sampled_from([1, 7, 60, 100]))
def test_plans_that_name_nodes_are_rounded_as_in_a_naive_reference(rows, depth, interval, window, resolution):
    jobs = [
        Job(number, submit, nodes, max(1, int(part * limit)), limit, queue="main")
        for number, (submit, nodes, limit, part) in enumerate(sorted(rows))
    ]
    policy = Backfill(depth, interval, window, resolution)
    starts = simulate_by_name(Workload(jobs), NODES, policy=policy, allocation="first").start_s
    assert list(starts) == reference_by_name(jobs, policy)


@pytest.mark.parametrize(("limit", "resolution", "start"), [(29, 60, 30), (30, 60, 110), (70, 1, 30), (71, 1, 110)])
def test_plans_hold_their_nodes_from_the_resolution_before_they_start(limit, resolution, start):
    # Job 1 has three of four nodes until 100. Job 2 wants all of them then, and holds them from 60 on at a resolution
    # of 60: what the pass at 30 starts must have ended before.
    jobs = [Job(1, 0, 3, 100, 100), Job(2, 1, 4, 10, 10), Job(3, 2, 1, limit, limit)]
    policy = Backfill(resolution_s=resolution)
    assert list(simulate_by_name(Workload(jobs), 4, policy=policy).start_s) == [0, 100, start]


def test_passes_keep_their_interval_and_heads_need_none():
    # Job 1 has three of four nodes until 100. Job 2 is wider and waits; job 3 passes it at the next pass, 40 s after 0;
    # job 2 starts with the end of job 1.
    jobs = [Job(1, 0, 3, 100, 100), Job(2, 5, 4, 10, 10), Job(3, 6, 1, 20, 20)]
    assert list(simulate(Workload(jobs), 4, policy=Backfill(interval_s=40)).start_s) == [0, 100, 40]


def test_a_plan_beyond_the_window_is_not_kept():
    # Job 2 could start at 1000, beyond the window: nothing is reserved for it, and job 3, which runs on, passes it.
    jobs = [Job(1, 0, 3, 1000, 1000), Job(2, 0, 4, 10, 10), Job(3, 0, 1, 5000, 5000)]
    assert list(simulate(Workload(jobs), 4, policy=Backfill(window_s=900)).start_s) == [0, 5030, 30]
    assert list(simulate(Workload(jobs), 4, policy=Backfill()).start_s) == [0, 1000, 1010]


def test_defaults_are_those_of_slurm_conf():
    # slurm.conf(5), SchedulerParameters: bf_max_job_test 500, bf_interval 30 s, bf_window 1,440 minutes,
    # bf_resolution 60 s.
    assert Backfill() == (500, 30, 1440 * 60, 60)


@pytest.mark.parametrize("name", Backfill._fields)
def test_settings_below_one_are_refused(name):
    with pytest.raises(InputError, match=f"{name}=0 must be at least 1"):
        simulate(Workload([Job(1, 0, 1, 1, 1)]), 4, policy=Backfill()._replace(**{name: 0}))


def test_plans_of_slurm_name_their_nodes():
    # Nodes 0 to 3. Job 1 has 0 and 1 for 100 s; job 2 has 2 for 200 s. Job 3 wants two nodes: from 100 on, and by name
    # the smallest free run that holds it is 0 and 1 then. Job 4 may have node 3 for long: it is not promised to any
    # job.
    jobs = [Job(1, 0, 2, 100, 100), Job(2, 0, 1, 200, 200), Job(3, 1, 2, 50, 50), Job(4, 2, 1, 900, 900)]
    assert list(simulate_by_name(Workload(jobs), 4, policy=Backfill()).start_s) == [0, 0, 100, 30]
    assert list(simulate_by_name(Workload(jobs), 4, policy="slurm").start_s) == [0, 0, 100, 30]
