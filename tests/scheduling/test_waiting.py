"""The waiting jobs: order, priorities, jobs that are skipped."""

import pytest

from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling._simulation.waiting import JOB, Limits, Order, Waiting
from hopperlib.scheduling.rules import Limit, Queue, Rules
from hopperlib.scheduling.workload import Job, Workload

QUEUES = [
    Queue(name="first", priority=1, run_limit=1),
    Queue(name="second", priority=2),
    Queue(name="last", priority=5),
]


def queued(jobs, **options):
    order = Order(jobs, QUEUES, **options)
    return order, Waiting(order)


def jobs_in(waiting):
    return [key & JOB for key in waiting.queue]


def test_by_priority_then_by_submission():
    names = ["last", "second", "first", "second", "last"]
    order, waiting = queued(Workload(Job(i, i, 1, 9, 9, i, name) for i, name in enumerate(names)))
    for index in (4, 1, 0, 3, 2):
        waiting.add(*order.keys([index], 0))
    assert jobs_in(waiting) == [2, 1, 3, 0, 4]
    assert waiting.totals() == (5, 5)


def test_a_user_at_the_limit_stands_aside_and_comes_back_to_the_place_held():
    jobs = Workload(Job(i, i, 1, 9, 9, user, "first") for i, user in enumerate((7, 7, 8, 7)))
    order, waiting = queued(jobs)
    limits = Limits(jobs, QUEUES)
    limits.count(0, 1)
    for key in order.keys([1, 2, 3], 0):
        reason = limits.reason_blocked(key & JOB)
        if reason is None:
            waiting.add(key)
        else:
            waiting.hold(key, reason)
    assert (jobs_in(waiting), waiting.totals()) == ([2], (3, 3))
    assert waiting.release(limits.count(0, -1))
    assert jobs_in(waiting) == [1, 2, 3]
    assert not waiting.release(limits.count(0, -1))


def test_hours_of_a_queue():
    jobs = Workload([Job(0, 0, 4, 9, 9, 0, "last"), Job(1, 1, 1, 9, 9)])
    limits = Limits(jobs, QUEUES, reserved=["last"])

    def open_jobs():
        return [job for job in range(2) if limits.reason_blocked(job) is None]

    assert open_jobs() == [1]
    limits.reserve("last")
    assert open_jobs() == [0]
    limits.reserve("")
    assert open_jobs() == [1]


def test_licences_are_held_while_a_job_runs_and_block_nobody():
    # Three of "solver": job 2 wants two while job 1 holds two; job 3 needs none, job 4 takes the last one.
    jobs = Workload(
        Job(number, 0, 1, 10, 10, licences=licences)
        for number, licences in enumerate(("", "solver:2", "solver:2,other", "", "solver"))
    )
    rules = Rules(limits=(Limit(per="licence", of="solver", jobs=3),))
    assert list(simulate(jobs, 8, rules=rules).start_s) == [0, 0, 10, 0, 0]
    assert list(simulate(jobs, 8).start_s) == [0] * 5


@pytest.mark.parametrize(
    ("first", "starts"), [((), [0, 10, 20]), (("user", "ann"), [0, 20, 10]), (("queue", "b"), [0, 20, 10])]
)
def test_jobs_of_one_user_or_queue_go_before_all_others(first, starts):
    jobs = Workload([Job(1, 0, 4, 10, 10, 1), Job(2, 1, 4, 10, 10, 1, "a"), Job(3, 2, 4, 10, 10, 2, "b")])
    jobs.users = {1: "bob", 2: "ann"}
    for order in ("submission", "size", "length", "multifactor"):
        schedule = simulate(jobs, 4, queue_order=order, rules=Rules(first=first, age=5.0))
        assert list(schedule.start_s) == starts, order
