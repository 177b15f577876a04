"""Observed schedules of logs of a few jobs, each number derived by hand."""

import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from hopperkit.traces.observed import by_group, differences, found_idle, passed_by_like
from hopperkit.traces.rules.clock import Clock, ClosedHours
from hopperkit.traces.rules.correlation import rank_correlation
from hopperkit.traces.rules.evidence import Evidence
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.scheduler import simulate
from hopperkit.traces.smaller_request import _requests, smaller_request
from hopperlib.scheduling.rules import Limit
from hopperlib.scheduling.workload import Job, Workload
from tests.traces.planted import CLOCK, NODES, planted_log

HOUR = 3600


def test_a_standstill_while_somebody_waits_is_told_in_hours():
    # Four nodes run until 10 h, nothing until 13 h, although job 2 waits from 1 h on; then it runs for 2 h.
    jobs = [
        Job(1, 0, 4, 10 * HOUR, 10 * HOUR, observed_start_s=0),
        Job(2, HOUR, 4, 2 * HOUR, 2 * HOUR, observed_start_s=13 * HOUR),
    ]
    schedule = simulate(Workload(jobs), 4)
    told = {finding.code: finding for finding in differences(schedule, by_group(schedule))}
    assert told["maintenance"].message.startswith("1 time, 3.0 h together, next to nothing ran while jobs waited")
    assert told["maintenance"].evidence["downtimes"] == [[10 * HOUR, 13 * HOUR]]


def test_a_short_standstill_and_one_without_waiting_jobs_are_none():
    first = Job(1, 0, 4, 10 * HOUR, 10 * HOUR, observed_start_s=0)
    late = Job(2, HOUR, 4, HOUR, HOUR, observed_start_s=10 * HOUR + 3599)
    fresh = Job(2, 13 * HOUR - 1, 4, HOUR, HOUR, observed_start_s=13 * HOUR)
    for other in (late, fresh):
        schedule = simulate(Workload([first, other]), 4)
        assert "maintenance" not in [finding.code for finding in differences(schedule, by_group(schedule))]


def test_holds_are_told_as_a_part_of_the_wait():
    # Each waits 1,000 s, of which it is held for 600.
    jobs = [
        Job(n, 9000 * n, 1, 60, 60, eligible_time_s=9000 * n + 600, observed_start_s=9000 * n + 1000) for n in range(3)
    ]
    schedule = simulate(Workload(jobs), 1)
    group = by_group(schedule)[-1]
    assert (group.held_mean_s, group.observed.wait_mean_s, group.simulated.wait_mean_s) == (600, 1000, 600)
    told = {finding.code: finding.message for finding in differences(schedule, [group])}
    assert told["held"].startswith("Of the observed wait 600 s a job passed before it was eligible")


def test_idle_nodes_half_way_through_a_wait():
    # Half-way through its wait of 100 s job 2 sees two idle nodes, as many as it wants; job 3, which wants three, does not.
    jobs = [
        Job(1, 0, 2, 200, 200, observed_start_s=0),
        Job(2, 0, 2, 60, 60, observed_start_s=100),
        Job(3, 0, 3, 60, 60, observed_start_s=200),
    ]
    assert found_idle(simulate(Workload(jobs), 4))[0] == 0.5


def test_who_passes_whom():
    # Job 3 starts before job 2, which is like it; job 4 has another limit, and passes nobody.
    jobs = [Job(1, 0, 4, 60, 60, observed_start_s=0), Job(2, 1, 4, 60, 60, observed_start_s=120)]
    jobs += [Job(3, 2, 4, 60, 60, observed_start_s=60), Job(4, 3, 4, 60, 90, observed_start_s=61)]
    assert passed_by_like(simulate(Workload(jobs), 4))[0] == 0.25


def test_hours_of_the_week_and_dates():
    # 2024-01-01 is a Monday; in Berlin it is an hour later.
    clock = Clock(1704067200, "Europe/Berlin")
    assert clock.of_week(clock.hour(0)) == 1
    assert clock.of_week(clock.hour(23 * HOUR)) == 24
    assert clock.date(23 * HOUR) == "2024-01-02"
    assert Clock(0).date(2 * 86_400) == "day 2 of the log"


def test_starts_in_closed_hours_contradict_them():
    # Of four starts of jobs above an hour one is at 9:00; that of the short job does not count.
    rows = [(9, 2), (20, 2), (21, 2), (22, 2), (10, 1)]
    jobs = Workload(
        Job(n, 0, 1, 60, limit * HOUR, observed_start_s=hour * HOUR) for n, (hour, limit) in enumerate(rows)
    )
    evidence = Evidence(jobs, 4, CLOCK)
    assert evidence.contradicting(ClosedHours("weekdays", 8, 18, 1)) == 0.25
    assert evidence.contradicting(ClosedHours("weekends", 8, 18, 1)) == 0


def test_levels_of_what_runs_at_a_time():
    # User 1 runs one job, then two; the third starts when the first has ended, in the same second.
    rows = [(1, 0, 100, 2), (1, 50, 100, 3), (1, 100, 100, 1), (2, 60, 10, 4)]
    jobs = Workload(
        Job(n, 0, nodes, run, run, user, observed_start_s=at) for n, (user, at, run, nodes) in enumerate(rows)
    )
    evidence = Evidence(jobs, 10, CLOCK)
    assert list(evidence.levels(Limit(per="user", jobs=1))) == [(0, 1, 1), (1, 1, 2), (3, 2, 1), (2, 1, 2)]
    assert [level for *_, level in evidence.levels(Limit(per="user", nodes=1))] == [2, 5, 4, 4]
    assert list(evidence.levels(Limit(per="user", of="2", jobs=1))) == [(3, 2, 1)]


def test_the_rhythm_of_waiting_and_starting():
    # Job 1 waits from 0:30 to 2:10, in the hours 0, 1 and 2; job 2 does not wait.
    jobs = Workload([Job(1, 1800, 1, 60, 60, observed_start_s=7800), Job(2, 0, 1, 60, 60, observed_start_s=0)])
    begun, waiting = Evidence(jobs, 4, CLOCK).rhythm(0)
    assert [hour for hour, starts in enumerate(begun) if starts] == [2]
    assert [waiting[hour] for hour in range(5)] == [1, 1, 1, 0, 0]


def median_wait(jobs: list[Job], index: int) -> float:
    """Wait of a job in the whole log, the median of three runs with submissions up to five seconds later. [s]"""
    waits = []
    for seed in range(3):
        rng = random.Random(f"later {seed}")
        late = Workload(
            job._replace(job=number, submit_time_s=job.submit_time_s + rng.randrange(6))
            for number, job in enumerate(jobs)
        )
        schedule = simulate(late, NODES)
        place = list(schedule.workload.job).index(index)
        waits.append(schedule.start_s[place] - schedule.workload.arrival_s[place])
    return median(waits)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30))
def test_rank_correlation_is_spearmans(pairs):
    ours, theirs = zip(*pairs, strict=True)
    if len(set(ours)) > 1 and len(set(theirs)) > 1:
        assert rank_correlation(ours, theirs) == pytest.approx(spearmanr(ours, theirs).statistic)
    else:
        assert rank_correlation(ours, theirs) == 0


@pytest.mark.nightly
def test_a_smaller_request_starts_the_job_earlier_in_the_whole_log():
    """The request is found among the jobs around, and proved in the whole log: at least four times of five."""
    log = planted_log("one", "none", 41)
    waits = [start - at for start, at in zip(log.observed_start_s, log.arrival_s, strict=True)]
    jobs, proved = list(log), []
    for index in sorted(range(len(log)), key=lambda job: -waits[job])[::9]:
        request = smaller_request(log, index, NODES, CLOCK, Learned())
        if request is not None:
            changed = dict(_requests(jobs[index], NODES))[request.text]
            with_request = median_wait([*jobs[:index], changed, *jobs[index + 1 :]], index)
            proved.append(with_request < median_wait(jobs, index))
        if len(proved) == 5:
            break
    assert len(proved) == 5
    assert sum(proved) >= 4


def test_a_queue_that_goes_first_is_named_where_the_mean_of_all_is_right():
    # Of 60 jobs on one node, submitted at once, every third is urgent and goes first: the mean wait is the same.
    jobs = [Job(n, 0, 1, 60, 60, queue="main" if n % 3 else "urgent") for n in range(60)]
    order = sorted(range(60), key=lambda n: (n % 3 > 0, n))
    log = Workload(job._replace(observed_start_s=60 * order.index(n)) for n, job in enumerate(jobs))
    schedule = simulate(log, 1)
    found = {finding.code: finding for finding in differences(schedule, by_group(schedule))}
    assert "waits-as-observed" in found
    # Urgent jobs waited 0 to 1,140 s, and 0 to 3,420 s as simulated; main ones not twice or half as long.
    assert "urgent (9.5 min, simulated 28.5 min)" in found["queue-waits-apart"].message
    assert found["queue-waits-apart"].evidence["queues"] == ["urgent"]
