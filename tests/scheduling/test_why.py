"""Decomposition of waits: planted causes are named, each with its part; and the start of a waiting job."""

import random

import pytest

from hopperkit.questions.network.traces.rules import why_result
from hopperkit.readers.jobs import read_job_trace
from hopperkit.traces.pending import expected_start
from hopperkit.traces.rules.absences import Absence
from hopperkit.traces.rules.clock import Clock, ClosedHours
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.smaller_request import Request, smaller_request
from hopperkit.traces.why import CAUSES, Wait, explain_wait
from hopperlib.errors import InputError
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Limit
from hopperlib.scheduling.workload import Job, Workload

CLOCK = Clock(1704067200)  # 2024-01-01, a Monday, universal time
HOUR = 3600
TAKEN_AWAY = list(CAUSES)[:-1]


def planted(rng):
    """Return a log, rules and downtimes, and the part of each cause in the wait of job 99, which needs two of five
    nodes.

    The causes end one after another; all begin at the start. The fifth node is always busy.
    """
    parts = {cause: rng.choice((0, rng.randint(60, 2 * HOUR))) for cause in CAUSES}
    ends, at = {}, 0
    for cause in TAKEN_AWAY:
        # Closed hours end at a full hour.
        parts[cause] = -at % HOUR if cause == "closed" else parts[cause]
        at += parts[cause]
        ends[cause] = at
    start = at + parts["unexplained"]
    # Users 90 and above are at no limit; user 7 is by the job on the fifth node, while it runs.
    rows = [(0, 1, ends["limit"], 7 if parts["limit"] else 90), (ends["limit"], 1, start + 1 - ends["limit"], 91)]
    rows += [(0, 4, ends["full"], 92), (ends["full"], 3, parts["width"], 93)]
    jobs = [
        Job(n, 0, nodes, run, run, user, observed_start_s=at) for n, (at, nodes, run, user) in enumerate(rows) if run
    ]
    if parts["ahead"]:
        jobs.append(Job(94, 0, 1, 0, 60, 95, observed_start_s=ends["ahead"]))
    jobs.append(Job(99, 0, 2, 60, 60, 7, eligible_time_s=ends["hold"], observed_start_s=start))
    closed = (ClosedHours("all days", 0, ends["closed"] // HOUR, 0),) if parts["closed"] else ()
    limits = (Limit(per="user", jobs=1),) if parts["limit"] else ()
    drain = (
        Downtime(start_s=0, end_s=ends["drain"], first_node=0, last_node=4, kind="drain") if parts["drain"] else None
    )
    told = {cause: seconds for cause, seconds in parts.items() if seconds}
    return Workload(jobs), Learned(closed=closed, limits=limits), [drain] if drain else [], told


def test_300_waits_with_planted_causes():
    rng, named = random.Random(3), set()
    for _ in range(300):
        log, rules, downtimes, told = planted(rng)
        wait = explain_wait(log, list(log.job).index(99), 5, CLOCK, rules, downtimes)
        assert sum(wait.parts.values()) == wait.wait_s
        assert wait.parts == told
        named.update(told)
    assert named == set(CAUSES)


def test_each_cause_has_what_it_adds():
    # Two of four nodes are wanted. Busy until 100; the user is at the limit until 250; nothing says why it starts at
    # 300.
    jobs = [Job(1, 0, 4, 100, 100, 1, observed_start_s=0), Job(2, 100, 1, 150, 150, 7, observed_start_s=100)]
    jobs.append(Job(3, 20, 2, 60, 60, 7, observed_start_s=300))
    rules = Learned(limits=(Limit(per="user", jobs=1),))
    log = Workload(jobs)
    index = list(log.job).index(3)
    assert explain_wait(log, index, 4, CLOCK, rules).parts == {"full": 80, "limit": 150, "unexplained": 50}


def test_nodes_that_the_log_shows_to_be_absent():
    # One of four nodes runs a job until 100; of the others two are absent until 300: two more are free from then on.
    jobs = [Job(1, 0, 1, 100, 100, observed_start_s=0), Job(2, 20, 2, 60, 60, observed_start_s=330)]
    rules = Learned(absent=(Absence(0, 300, 2), Absence(400, 500, 4)))
    wait = explain_wait(Workload(jobs), 1, 4, CLOCK, rules)
    # Once job 1 has ended, two nodes are left in addition to the absent ones.
    assert wait.parts == {"drain": 80, "unexplained": 230}


def test_when_a_waiting_job_starts():
    # Past: one job an hour, of which every other waits 600 s; all run half of their limits.
    past = [Job(n, HOUR * n, 4, 1200, 2400, observed_start_s=HOUR * n) for n in range(300)]
    behind = [Job(1000 + n, HOUR * n + 600, 1, 300, 600, observed_start_s=HOUR * n + 1200) for n in range(300)]
    now = HOUR * 300
    running = Job(1, now, 4, 600, 2400, observed_start_s=now)
    pending = Job(2, now + 600, 1, 0, 600)
    found = expected_start(Workload([*past, *behind]), [running, pending], 1, 4, CLOCK, Learned())
    # The running job ends when half of its limit is over, 600 s from now; so waited each past one that came like this.
    assert (found.now_s, found.waited_s, found.start_s) == (now + 600, 0, now + 1200)
    assert (found.low_s, found.high_s) == (now + 1200, now + 1200)
    with pytest.raises(InputError, match="the job runs already"):
        expected_start(Workload(past), [running, pending], 0, 4, CLOCK, Learned())
    with pytest.raises(InputError, match="the job requests nodes=9, more than the 4 of the machine"):
        expected_start(Workload(past), [running, Job(3, now, 9, 0, 60)], 1, 4, CLOCK, Learned())
    few = expected_start(Workload(past[:50]), [running, pending], 1, 4, CLOCK, Learned())
    assert (few.low_s, few.past) == (None, 0)


def test_holders_and_who_was_ahead_are_named():
    # Four nodes. Job 1 has three for 100 s, job 2 one for 300 s; job 3 (four nodes) waits from 10, job 4 from 20 for
    # two nodes, and job 5 comes at 30 and passes it on the one node that is free from 100 on.
    jobs = Workload(
        [
            Job(1, 0, 3, 100, 100, observed_start_s=0),
            Job(2, 0, 1, 300, 400, observed_start_s=0),
            Job(3, 10, 4, 50, 50, observed_start_s=300),
            Job(4, 20, 2, 50, 50, observed_start_s=350),
            Job(5, 30, 1, 150, 150, observed_start_s=100),
        ]
    )
    wait = explain_wait(jobs, 3, 4, CLOCK, Learned())
    # From 20 to 100 all nodes are busy; then two are idle besides those of jobs 2 and 5 until 250, three until 300, and
    # all four are job 3's until 350.
    assert wait.parts == {"full": 80 + 50, "ahead": 200}
    assert [jobs.job[job] for job in wait.ahead] == [3]
    held = {jobs.job[each.job]: (each.node_seconds, each.had_passed) for each in wait.holders}
    assert held == {1: (240, False), 2: (280, False), 3: (200, False), 5: (150, True)}


@pytest.mark.parametrize(("order", "ahead"), [("submission", [1, 2]), ("size", [2]), ("length", [1])])
def test_ahead_is_by_the_learned_order(order, ahead):
    # All wait for the end of job 0; job 3 requests two nodes and 200 s, job 1 for one and 100 s, job 2 for three and
    # 300 s.
    rows = [(0, 0, 4, 500, 500, 0), (1, 1, 1, 100, 100, 500), (2, 2, 3, 300, 300, 500), (3, 3, 2, 200, 200, 800)]
    jobs = Workload(Job(*row[:5], observed_start_s=row[5]) for row in rows)
    assert [jobs.job[job] for job in explain_wait(jobs, 3, 4, CLOCK, Learned(order=order)).ahead] == ahead


def test_no_time_without_idle_nodes_is_called_reserved():
    # Two nodes; two jobs ahead, and in between one node idle: only then it may have been reserved.
    rows = [(1, 0, 2, 100, 100, 0), (2, 0, 2, 100, 100, 150), (3, 5, 1, 10, 10, 250)]
    jobs = Workload(Job(*row[:5], observed_start_s=row[5]) for row in rows)
    assert explain_wait(jobs, 2, 2, CLOCK, Learned()).parts == {"full": 95 + 100, "ahead": 50}


def test_other_partitions_do_not_hold_nodes():
    rows = [(1, 0, 4, 100, 100, 0, "b"), (2, 0, 1, 60, 60, 60, "a"), (3, 0, 2, 60, 60, 0, "a")]
    jobs = Workload(Job(*row[:5], queue=row[6], observed_start_s=row[5]) for row in rows)
    wait = explain_wait(jobs, 1, 2, CLOCK, Learned(), queues=("a",))
    assert [jobs.job[each.job] for each in wait.holders] == [3]
    assert wait.parts == {"full": 60}


def test_a_request_that_would_have_started_earlier():
    # Job 3 fits next to job 1 but requests a day; job 2 is promised all nodes after ten hours.
    jobs = [
        Job(1, 0, 3, 10 * HOUR, 10 * HOUR, observed_start_s=0),
        Job(2, 60, 4, HOUR, HOUR, observed_start_s=10 * HOUR),
    ]
    log = Workload([*jobs, Job(3, 120, 1, HOUR, 24 * HOUR, observed_start_s=11 * HOUR)])
    found = smaller_request(log, 2, 4, CLOCK, Learned())
    assert (found.text, found.wait_s < 60, found.wait_before_s > 10 * HOUR) == (
        "a limit of 6 h instead of 24 h",
        True,
        True,
    )
    # Without any promise, no smaller job would start earlier.
    full = Workload([Job(1, 0, 4, HOUR, HOUR, observed_start_s=0), Job(2, 0, 1, HOUR, 2 * HOUR, observed_start_s=HOUR)])
    assert smaller_request(full, 1, 4, CLOCK, Learned()) is None


@pytest.mark.parametrize(
    ("before_s", "told"),
    [
        (540, "With 2 nodes instead of 3, it would wait 1 min, not 9 min (simulated)."),
        (
            300,
            "With 2 nodes instead of 3, it would wait 1 min in a simulation that lets it wait 5 min without the change",
        ),
    ],
)
def test_a_request_is_given_a_time_only_if_the_wait_is_simulated_well(before_s, told):
    # The job waited ten minutes. A simulation with 540 s is near enough, one with half of it is not.
    trace = read_job_trace(["1 0 600 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    request = Request("2 nodes instead of 3", 60, before_s)
    assert told in why_result(trace, Wait(0, 600, {"full": 600}, 0), Learned(), 4, request=request).summary


def test_the_seconds_of_a_start_are_left_to_the_table():
    trace = read_job_trace(["1 0 600 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    result = why_result(trace, Wait(0, 600, {"full": 599, "unexplained": 1}, 0), Learned(), 4)
    assert "no node was idle (9.98 min)." in result.summary
    assert "not explained" not in result.summary
    assert result.facts["parts_s"]["unexplained"] == 1
    # A wait without another cause keeps it.
    assert "not explained" in why_result(trace, Wait(0, 1, {"unexplained": 1}, 4), Learned(), 4).summary
