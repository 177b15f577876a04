"""The waiting jobs: order, priorities, aging, who stands aside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.network.scheduling._waiting import WaitingJobs
from hopperlib.network.scheduling.queues import Queue
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.workload import Job, Workload

QUEUES = [
    Queue(name="first", priority=1, run_limit=1),
    Queue(name="second", priority=2),
    Queue(name="last", priority=5),
]


def order(waiting):
    return [waiting.jobs[rank] for rank in waiting.queue]


def test_by_priority_then_by_submission():
    names = ["last", "second", "first", "second", "last"]
    waiting = WaitingJobs(Workload(Job(i, i, 1, 9, 9, i, name) for i, name in enumerate(names)), QUEUES)
    for index in (4, 1, 0, 3, 2):
        waiting.add(index)
    assert order(waiting) == [2, 1, 3, 0, 4]
    assert waiting.totals() == (5, 5)


def test_a_user_at_the_limit_stands_aside_and_comes_back_to_the_place_held():
    waiting = WaitingJobs(Workload(Job(i, i, 1, 9, 9, user, "first") for i, user in enumerate((7, 7, 8, 7))), QUEUES)
    waiting.enter(0)
    for index in (1, 2, 3):
        waiting.add(index)
    assert (order(waiting), waiting.totals()) == ([2], (3, 3))
    waiting.leave(0)
    assert order(waiting) == [1, 2, 3]


def test_hours_of_a_queue():
    waiting = WaitingJobs(Workload([Job(0, 0, 4, 9, 9, 0, "last"), Job(1, 1, 1, 9, 9)]), QUEUES, ["last"])
    waiting.add(0)
    waiting.add(1)
    assert order(waiting) == [1]
    waiting.reserve("last")
    assert order(waiting) == [0]
    waiting.reserve("")
    assert order(waiting) == [1]


def test_aging_by_hand():
    # One step of priority is worth 10 s. Job 1 (priority 2) waits for the four nodes from 0 on; job 2 (priority 1) comes
    # at 12, after more than a step: it stays behind. Without aging, or with a slow one, it goes first.
    jobs = [Job(0, 0, 4, 50, 50), Job(1, 0, 4, 5, 5, 0, "second"), Job(2, 12, 4, 5, 5, 0, "first")]
    jobs[0] = jobs[0]._replace(queue="first", user=1)
    wanted = {None: [0, 55, 50], 10: [0, 50, 55], 13: [0, 55, 50]}
    for aging_s, starts in wanted.items():
        assert list(simulate(Workload(jobs), 4, queues=QUEUES, aging_s=aging_s).start_s) == starts
    with pytest.raises(InputError, match="aging_s=0 must be at least 1 s"):
        simulate(Workload(jobs), 4, queues=QUEUES, aging_s=0)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 2)), min_size=1, max_size=12), st.integers(1, 20))
def test_aging_is_priority_less_time_waited_at_every_moment(rows, aging_s):
    rows.sort(key=lambda row: row[0])
    jobs = Workload(Job(i, submit, 1, 9, 9, i, QUEUES[which].name) for i, (submit, which) in enumerate(rows))
    waiting = WaitingJobs(jobs, QUEUES, aging_s=aging_s)
    for index in range(len(rows)):
        waiting.add(index)
    for now in (40, 1000):
        by_hand = sorted(
            range(len(rows)), key=lambda i: (QUEUES[rows[i][1]].priority * aging_s - (now - rows[i][0]), i)
        )
        assert order(waiting) == by_hand
