"""Where a simulation breaks: planted corruptions of a log are named, and a clean log has none."""

import random
from functools import cache

import pytest

from hopperkit.traces.calibration import breaks
from hopperkit.traces.scheduler import simulate
from hopperlib.scheduling.rules import Limit, Rules
from hopperlib.scheduling.workload import Job, Workload

NODES, DAY = 32, 86_400


@cache
def clean(seed: int, jobs: int = 1500) -> Workload:
    """A log of some weeks as EASY makes it."""
    rng, made, now = random.Random(seed), [], 0.0
    for number in range(jobs):
        now += rng.expovariate(1) * 1500
        limit = rng.choice((1800, 3600, 7200, 14_400))
        user = 3 if rng.random() < 0.3 else 1 + int(8 * rng.random())
        run = max(1, round(limit * rng.random()))
        made.append(Job(number, int(now), rng.choice((1, 2, 4, 8, 16)), run, limit, user, queue="ab"[number % 2]))
    workload = Workload(made)
    starts = simulate(workload, NODES).start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(workload, starts, strict=True))


def found_in(log: Workload) -> list[tuple[str, str]]:
    """Findings when the log is simulated with nothing hidden."""
    plain = simulate(log, NODES)
    waits = [start - at for start, at in zip(plain.start_s, log.arrival_s, strict=True)]
    return [(each.what, each.name) for each in breaks(log, waits)]


def limited(seed: int) -> Workload:
    """The same log with a limit that nobody mentions: one running job of user 3."""
    jobs = clean(seed)
    starts = simulate(jobs, NODES, rules=Rules(limits=(Limit(per="user", of="3", jobs=1),))).start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(jobs, starts, strict=True))


def held(seed: int) -> Workload:
    """The same log with starts of partition b an hour late: a reservation that the log does not name."""
    return Workload(
        job._replace(observed_start_s=job.observed_start_s + 3600 * (job.queue == "b")) for job in clean(seed)
    )


def moved(seed: int) -> Workload:
    """The same log with a clock that is three hours ahead for starts from day 12 on."""
    return Workload(
        job._replace(observed_start_s=job.observed_start_s + 3 * 3600 * (job.submit_time_s >= 12 * DAY))
        for job in clean(seed)
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_clean_log_has_no_break(seed):
    assert found_in(clean(seed)) == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hidden_reservation_is_named_by_its_partition(seed):
    assert found_in(held(seed))[0] in (("partition", "b"), ("partition", "a"))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_moved_clock_is_named_by_its_date(seed):
    what, name = found_in(moved(seed))[0]
    assert what == "date"
    assert abs(int(name) - 12) <= 1


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hidden_limit_is_named_by_its_user(seed):
    assert ("user", "3") in found_in(limited(seed))
