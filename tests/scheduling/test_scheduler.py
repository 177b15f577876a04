"""The scheduler: hand-derived schedules, laws, queues, downtimes, errors."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.traces.scheduler import POLICIES, simulate
from hopperlib.errors import InputError
from hopperlib.scheduling._free_nodes import ALLOCATIONS
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Queue, queue_table
from hopperlib.scheduling.schedule import KILLED_AT_LIMIT, KILLED_BY_OUTAGE, NOT_STARTED
from hopperlib.scheduling.workload import Job, Workload


def starts(jobs, nodes, **options):
    return list(simulate(Workload(jobs), nodes, **options).start_s)


def test_completions_come_before_submissions():
    # Job 2 is submitted when job 1 ends, and gets its nodes.
    schedule = simulate(Workload([Job(1, 0, 4, 10, 10), Job(2, 10, 4, 5, 5)]), 4)
    assert list(schedule.start_s) == [0, 10]
    assert [schedule.runs(index) for index in (0, 1)] == [[(0, 4)], [(0, 4)]]


def test_a_job_of_no_length_ends_as_it_starts():
    # Job 2 runs for zero seconds; job 3 follows at the same time.
    assert starts([Job(1, 0, 2, 10, 10), Job(2, 1, 4, 0, 0), Job(3, 1, 4, 5, 5)], 4) == [0, 10, 10]


def test_all_that_end_by_the_promised_time_count():
    # Job 3 needs 6: jobs 1 and 2 both end at 10 by their limits and free 8 of 10, so 4 are over; job 4 may use them.
    jobs = [Job(1, 0, 4, 10, 10), Job(2, 0, 4, 10, 10), Job(3, 1, 6, 5, 5), Job(4, 2, 2, 99, 99)]
    assert starts(jobs, 10) == [0, 0, 10, 2]


def test_nodes_left_over_are_used_up():
    # The head wants 6 of 10 at 10, so 4 are over; jobs 4 and 5 want 2 and 3: the second would take what the head needs.
    jobs = [Job(1, 0, 5, 10, 10), Job(2, 1, 6, 5, 5), Job(3, 2, 2, 99, 99), Job(4, 3, 3, 99, 99)]
    assert starts(jobs, 10) == [0, 10, 2, 15]


def test_more_is_left_over_than_before():
    # Ten nodes. Head (7) is promised 100, when job 0 (5) ends by its limit; 10 - 7 = 3 are left over then. Job 4 (3,
    # long) uses them up; job 5 (2, long) may not pass: two are free, none is left over. At 20 job 1 (2), which was
    # expected at 300, ends: two more are left over at 100, so now it may, though it was tried before.
    rows = [(0, 5, 100, 100), (0, 2, 20, 300), (1, 7, 9, 9), (2, 1, 400, 400), (3, 2, 400, 400)]
    assert starts([Job(number, *row) for number, row in enumerate(rows)], 10) == [0, 0, 100, 2, 20]


def test_another_head_has_another_promise():
    # Four nodes. Head 1 (3) is promised 10 and leaves one over, which job 3 (1, to 17) takes at 2. At 10 job 2 (4)
    # becomes head, promised 30, and leaves nothing over: job 4 (1, 25 s) finds a free node at 17 but would end at 42.
    rows = [(0, 3, 10, 10), (1, 3, 20, 20), (1, 4, 5, 5), (2, 1, 15, 15), (3, 1, 25, 25)]
    assert starts([Job(number, *row) for number, row in enumerate(rows)], 4) == [0, 10, 30, 2, 35]


def test_a_job_over_its_limit():
    jobs = [Job(1, 0, 4, 50, 10), Job(2, 1, 4, 5, 5), Job(3, 2, 1, 3, 3)]
    killed = simulate(Workload(jobs), 5)
    assert list(killed.end_s) == [10, 15, 5]
    assert killed.status[0] == KILLED_AT_LIMIT
    # Kept: from 10 on it is expected to end at every moment, so nothing may pass the head but what uses the fifth node.
    kept = simulate(Workload([*jobs, Job(4, 20, 1, 3, 3), Job(5, 21, 1, 1, 1)]), 5, overrun="keep")
    assert list(kept.start_s) == [0, 50, 2, 20, 23]


def test_equal_submissions_keep_their_order_and_priorities_come_first():
    jobs = [Job(1, 0, 4, 10, 10, queue="low"), Job(2, 1, 4, 10, 10, queue="low"), Job(3, 1, 4, 10, 10, queue="high")]
    assert starts(jobs, 4) == [0, 10, 20]
    queues = [Queue(name="low", priority=5), Queue(name="high", priority=1)]
    assert starts(jobs, 4, queues=queues) == [0, 20, 10]


def test_a_limit_on_the_jobs_of_a_user():
    queues = [Queue(name="debug", run_limit=1)]
    jobs = [Job(1, 0, 1, 10, 10, 7, "debug"), Job(2, 0, 1, 10, 10, 7, "debug"), Job(3, 0, 1, 10, 10, 8, "debug")]
    assert starts(jobs, 4, queues=queues) == [0, 10, 0]


def test_an_outage_kills_and_a_planned_one_is_drained_for():
    jobs = [Job(1, 0, 2, 50, 50), Job(2, 5, 2, 10, 30)]
    outage = simulate(Workload(jobs), 4, downtimes=[Downtime(start_s=20, end_s=40)])
    assert list(outage.end_s) == [20, 15]
    assert list(outage.status) == [KILLED_BY_OUTAGE, 1]
    assert outage.unavailable == [(20, 40, 4)]
    # 2 nodes x 20 s + 2 x 10 s = 60 of 4 x 40 = 160 node-seconds.
    assert outage.utilization(0, 40) == 60 / 160
    # Planned: neither may run into it by its limit (50 > 20; 5 + 30 > 20), so both wait for 40.
    assert starts(jobs, 4, downtimes=[Downtime(start_s=20, end_s=40, drained=True)]) == [40, 40]
    # A short one still passes.
    assert starts([*jobs, Job(3, 6, 4, 9, 9)], 4, downtimes=[Downtime(start_s=20, end_s=40, drained=True)]) == [
        40,
        40,
        6,
    ]


def test_orphans_take_free_nodes_only():
    jobs = [Job(1, 0, 2, 50, 50), Job(2, 20, 4, 10, 10)]
    schedule = simulate(
        Workload(jobs), 6, downtimes=[Downtime(start_s=10, end_s=90, first_node=0, last_node=4, kind="orphan")]
    )
    assert list(schedule.start_s) == [0, 50]
    assert schedule.runs(1) == [(0, 2), (4, 6)]
    assert schedule.unavailable == [(10, 90, 2)]


def test_hours_kept_for_a_queue():
    jobs = [Job(1, 0, 8, 5, 5, queue="big"), Job(2, 0, 2, 30, 30), Job(3, 25, 2, 5, 5)]
    kept = [Downtime(start_s=20, end_s=40, drained=True, kind="reservation", queue="big")]
    # Job 1 waits for its hours; job 2 would run into them; job 3 comes within them and waits for their end.
    assert starts(jobs, 8, downtimes=kept) == [20, 40, 40]


def test_contiguous_waits_for_one_run():
    jobs = [Job(1, 0, 2, 10, 10), Job(2, 0, 2, 99, 99), Job(3, 0, 2, 10, 10), Job(4, 1, 4, 5, 5)]
    assert starts(jobs, 6) == [0, 0, 0, 10]
    assert starts(jobs, 6, allocation="contiguous") == [0, 0, 0, 99]


def test_contiguous_before_a_planned_downtime():
    # Free are 0-1 and 4-5 of 6; the head wants 4 in one run, which it gets after the downtime only. Job 5 wants 3,
    # which are free but not together; job 6 fits and ends in time.
    jobs = [Job(1, 0, 2, 5, 5), Job(2, 0, 2, 40, 40), Job(3, 1, 4, 60, 60), Job(4, 2, 2, 3, 3), Job(5, 6, 3, 9, 9)]
    jobs.append(Job(6, 7, 2, 9, 9))
    planned = [Downtime(start_s=50, end_s=60, drained=True)]
    schedule = simulate(Workload(jobs), 6, allocation="contiguous", downtimes=planned)
    assert list(schedule.start_s) == [0, 0, 60, 2, 40, 7]


JOBS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(1, 8), st.integers(0, 12), st.integers(0, 12), st.integers(1, 2)), min_size=1, max_size=25
)  # fmt: skip


@given(JOBS, st.sampled_from(POLICIES), st.sampled_from(ALLOCATIONS), st.sampled_from(["kill", "keep"]), st.booleans())
def test_laws(rows, policy, allocation, overrun, queued):
    jobs = [Job(number, *row, "ab"[row[4] - 1]) for number, row in enumerate(rows)]
    queues = [Queue(name="a", priority=2, run_limit=2), Queue(name="b", priority=1)] if queued else []
    schedule = simulate(
        Workload(jobs), 8, policy=policy, allocation=allocation, overrun=overrun, queues=queues, rng=random.Random(3), sample_every_s=7
    )  # fmt: skip
    workload = schedule.workload
    busy = {}
    for index, job in enumerate(workload):
        assert schedule.status[index] != NOT_STARTED
        assert schedule.start_s[index] >= job.submit_time_s
        ran = job.run_time_s if overrun == "keep" else min(job.run_time_s, job.requested_time_s)
        assert schedule.end_s[index] - schedule.start_s[index] == ran
        runs = schedule.runs(index)
        assert sum(high - low for low, high in runs) == job.nodes
        assert allocation != "contiguous" or len(runs) == 1
        for low, high in runs:
            for node in range(low, high):
                for instant in range(schedule.start_s[index], schedule.end_s[index]):
                    assert busy.setdefault((node, instant), index) == index  # no node twice
    assert len(busy) == schedule.busy_node_seconds(0, 10**6)  # node-seconds conserved
    for sample in schedule.samples:
        assert sample.free_nodes + sample.busy_nodes == 8


@given(JOBS)
def test_an_empty_machine_gives_no_wait(rows):
    # Every job has gone before the next one comes.
    jobs = [Job(number, 20 * number, *row[1:4]) for number, row in enumerate(rows)]
    assert starts(jobs, 8) == [job.submit_time_s for job in jobs]


@given(JOBS)
def test_exact_requests_never_delay_the_head(rows):
    # With exact requests a job starts no later under EASY than it would if all after it were taken away
    # and the ones before it kept their starts: compare each head's promise, which is its start without newcomers.
    jobs = [Job(number, row[0], row[1], row[2], row[2]) for number, row in enumerate(rows)]
    workload = Workload(jobs)
    full = simulate(workload, 8)
    order = list(workload)
    # The first job that waits is the head when it comes; no later job may delay it.
    waiting = next((index for index in range(len(order)) if full.start_s[index] > order[index].submit_time_s), None)
    if waiting is not None:
        alone = simulate(Workload(order[: waiting + 1]), 8)
        assert full.start_s[waiting] <= alone.start_s[waiting]


def test_stopping_and_progress():
    workload = Workload(Job(number, number, 1, 5, 5) for number in range(5000))
    seen = []
    assert NOT_STARTED not in simulate(workload, 8, progress=seen.append).status
    assert seen == [1000, 2000, 3000, 4000, 5000]
    assert simulate(workload, 8, until_s=1000).status[1000] == NOT_STARTED


@pytest.mark.parametrize(
    ("jobs", "options", "message"),
    [
        ([Job(7, 0, 9, 1, 1)], {}, "job 7 requests nodes=9, more than the 8 of the machine"),
        ([], {"policy": "sjf"}, "policy='sjf' must be one of: easy, fcfs"),
        ([], {"overrun": "warn"}, "overrun='warn' must be kill or keep"),
        ([], {"allocation": "worst"}, "allocation='worst' must be one of: first, best, contiguous, random"),
        ([], {"allocation": "random"}, "needs a random generator"),
        ([], {"sample_every_s": 0}, "sample_every_s=0 must be at least 1 s"),
        ([Job(7, 0, 3, 1, 1, queue="q")], {"queues": [Queue(name="q", nodes=(1, 2))]}, "queue 'q' allows 1 to 2"),
        ([Job(7, 0, 1, 1, 99, queue="q")], {"queues": [Queue(name="q", max_hours=1 / 60)]}, "allows at most 60 s"),
    ],
)
def test_refusals(jobs, options, message):
    with pytest.raises(InputError, match=message):
        simulate(Workload(jobs), 8, **options)
    with pytest.raises(InputError, match="nodes=0 must be at least 1"):
        simulate(Workload([]), 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start_s": 5, "end_s": 5}, "must end after it starts"),
        ({"start_s": 0, "end_s": 5, "first_node": 1}, "needs both first_node and last_node"),
        ({"start_s": 0, "end_s": 5, "kind": "reservation"}, "names a queue"),
    ],
)
def test_bad_downtimes(options, message):
    with pytest.raises(InputError, match=message):
        Downtime(**options)


def test_hoppers_queue_tables():
    final, early = queue_table("hopper-final"), queue_table("hopper-2013")
    by_name = {queue.name: queue for queue in final.queues}
    assert (by_name["debug"].nodes, by_name["debug"].max_time_s, by_name["debug"].priority) == ((1, 512), 1800, 1)
    assert by_name["reg_xbig"].nodes == (4097, 6100)
    assert {queue.name for queue in early.queues if queue.charge_factor == 0.6} == {"reg_med", "reg_big", "reg_xbig"}
    with pytest.raises(ValueError, match="there is no queue table 'hopper-2011'"):
        queue_table("hopper-2011")
