"""Rules planted in a synthetic log are found, and no others; waits by cause add up."""

import random
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.traces.backtest import backtest
from hopperkit.traces.observed import by_group, differences
from hopperkit.traces.rules.absences import Absence
from hopperkit.traces.rules.clock import Clock, ClosedHours
from hopperkit.traces.rules.correlation import rank_correlation
from hopperkit.traces.rules.learn import learn
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.scheduler import simulate
from hopperkit.traces.why import explain_wait
from hopperlib.errors import InputError
from hopperlib.scheduling.rules import Limit
from hopperlib.scheduling.workload import Job, Workload

NODES = 64
CLOCK = Clock(1704067200)  # 2024-01-01, a Monday, universal time
DAY = 86_400
PLANTED = {
    "none": Learned(),
    "closed": Learned(closed=(ClosedHours("weekdays", 8, 18, 4),)),
    "user": Learned(limits=(Limit(per="user", jobs=2),)),
    "account": Learned(limits=(Limit(per="account", jobs=3),)),
    "fcfs": Learned(policy="fcfs"),
    "length": Learned(order="length"),
    "size": Learned(order="size"),
    "fair": Learned(order="fair share"),
    "absent": Learned(absent=(Absence(8 * DAY, 15 * DAY, 24),)),
    "preferred": Learned(preferred=("qos", "high")),
    "user first": Learned(preferred=("user", "3")),
    "licence": Learned(limits=(Limit(per="licence", of="solver", jobs=3),)),
}


@cache
def planted(kind: str, seed: int, jobs: int = 2000) -> Workload:
    """Return a log of about four weeks from a scheduler with planted rules."""
    rng = random.Random(seed)
    made, now = [], 0.0
    for number in range(jobs):
        night = not 8 <= now // 3600 % 24 < 20
        now += rng.expovariate(1) * 1150 * (2.0 if night else 0.7)
        width = min(NODES, round(2 ** rng.uniform(0, 5)))
        limit = rng.choice((1800, 3600, 7200, 14400, 28800, 43200))
        user = min(int(rng.expovariate(1) * 4), 29) + 1
        run = max(1, round(limit * rng.betavariate(0.8, 1.1)))
        made.append(
            Job(
                number,
                int(now),
                width,
                run,
                limit,
                user,
                account=f"a{user % 5}",
                qos="high" if number % 6 == 0 else "normal",
                licences="solver" if number % 4 == 1 else "",
            )
        )
    workload = Workload(made)
    starts = PLANTED[kind].run(workload, NODES, CLOCK).start_s
    return Workload(job._replace(observed_start_s=start) for job, start in zip(workload, starts, strict=True))


@cache
def learned(kind: str, seed: int) -> Learned:
    """Return the rules learned from a planted log."""
    return learn(planted(kind, seed), NODES, CLOCK)[0]


def found(kind: str, seed: int) -> bool:
    """Whether the planted rule is among the learned ones."""
    rules, truth = learned(kind, seed), PLANTED[kind]
    if kind == "closed":
        return [rule.over_hours for rule in rules.closed] == [4] and abs(rules.closed[0].last_hour - 18) <= 1
    if kind == "absent":
        return len(rules.absent) == 1 and abs(rules.absent[0].nodes - 24) <= 3
    return (
        rules.preferred == truth.preferred
        and set(truth.limits) <= set(rules.limits)
        and (rules.order, rules.policy) == (truth.order, truth.policy)
    )


def false(kind: str, seed: int) -> list[str]:
    """Return the rules that were learned but not planted."""
    rules, truth = learned(kind, seed), PLANTED[kind]
    wrong = [each.text for each in rules.closed if not truth.closed]
    wrong += [str(each) for each in rules.absent if not truth.absent]
    wrong += [str(rules.preferred)] * (rules.preferred not in (truth.preferred, None))
    wrong += [str(limit) for limit in rules.limits if limit not in truth.limits]
    wrong += [rules.order] * (rules.order not in (truth.order, "submission"))
    return wrong + [rules.policy] * (rules.policy not in (truth.policy, "easy"))


# One of each kind of rule in every run: hours, limits, absent nodes, an order, people, and none.
FEW = ("none", "closed", "account", "absent", "fair", "preferred")


@pytest.mark.parametrize(
    "kind", [kind if kind in FEW else pytest.param(kind, marks=pytest.mark.nightly) for kind in PLANTED]
)
def test_planted_rules_are_found_and_no_others(kind):
    assert found(kind, 1)
    assert false(kind, 1) == []


def test_what_was_learned_predicts_later_waits_better_than_null_models():
    test = backtest(planted("closed", 1), NODES, CLOCK)
    told = {judged.name: judged.rank_correlation for judged in test.judged}
    assert test.learned_from + test.judged_on == 2000
    assert told["learned"] > max(told["constant"], told["alike"], told["easy"])
    assert test.best_null.name in ("alike", "easy")
    assert sum(each.jobs for each in test.classes) == test.judged_on
    # Long jobs wait for the opening hours, which no null model includes.
    long = test.classes[-1]
    assert long.name == "limit up to 12 h"
    assert long.rank_correlation > long.null_rank_correlation


def test_too_few_jobs_are_refused_or_said():
    few = planted("none", 1).of(range(50))
    assert [finding.code for finding in learn(few, NODES, CLOCK)[1]] == ["too-few-waits"]
    with pytest.raises(InputError, match="50 jobs with known starts are too few"):
        backtest(few, NODES, CLOCK)


def test_closed_hours_in_winter_and_summer():
    # Berlin, Friday 2024-03-29 00:00 UTC; summer time begins on the Sunday. Weekdays 8 to 18 h: Friday 7 to 17 h
    # universal time, Monday 6 to 16 h.
    clock = Clock(1711670400, "Europe/Berlin")
    spans = clock.closures([ClosedHours("weekdays", 8, 18, 4)], 0, 4 * 86_400 - 1)
    hours = [(span.start_s // 3600, span.end_s // 3600) for span in spans]
    assert hours == [(7, 17), (72 + 6, 72 + 16)]
    assert spans[0].over_s == 14_400


def test_closed_hours_over_midnight():
    rule = ClosedHours("all days", 22, 6, 0)
    assert [hour for hour in range(24) if rule.holds(hour)] == [0, 1, 2, 3, 4, 5, 22, 23]
    assert rule.text == "closed to all jobs from 22:00 to 6:00 on all days"


def test_no_job_of_the_class_starts_in_closed_hours_and_others_pass_it():
    jobs = Workload([Job(1, 0, 4, 60, 7200), Job(2, 0, 4, 60, 600)])
    rules = Learned(closed=(ClosedHours("all days", 0, 2, 1),))
    assert list(rules.run(jobs, 4, CLOCK).start_s) == [7200, 0]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    # Ranks 1, 2, 3 against 3, 2, 1; and 1, 2.5, 2.5 against 1, 2, 3: covariance 1.5 over the root of 1.5 times 2.
    [([1, 2, 3], [3, 2, 1], -1.0), ([1, 5, 5], [1, 2, 3], 1.5 / 3.0**0.5), ([1, 1], [1, 2], 0.0), ([], [], 0.0)],
)
def test_rank_correlation(ours, theirs, expected):
    assert rank_correlation(ours, theirs) == pytest.approx(expected)


@given(st.sampled_from(["none", "closed", "user", "account"]), st.integers(0, 1999))
def test_waits_by_causes_add_up(kind, job):
    workload = planted(kind, 1)
    wait = explain_wait(workload, job, NODES, CLOCK, PLANTED[kind])
    assert sum(wait.parts.values()) == wait.wait_s == workload.observed_start_s[job] - workload.submit_time_s[job]
    assert all(seconds > 0 for seconds in wait.parts.values())


def total(kind: str) -> dict[str, int]:
    """Return the seconds of all waits of a log by cause."""
    workload = planted(kind, 1)
    parts: dict[str, int] = {}
    for job in range(0, len(workload), 7):
        for cause, seconds in explain_wait(workload, job, NODES, CLOCK, PLANTED[kind]).parts.items():
            parts[cause] = parts.get(cause, 0) + seconds
    return parts


def test_planted_causes_are_named():
    assert set(total("none")) <= {"full", "width", "ahead"}
    assert total("closed")["closed"] > 0
    assert total("user")["limit"] > 0
    assert "closed" not in total("user")


def test_a_hold_is_a_part_of_the_wait():
    # Submitted at 0, eligible at 100, and until 160 the one node was taken.
    first = Job(1, 0, 1, 160, 200, observed_start_s=0)
    held = Job(2, 0, 1, 60, 60, eligible_time_s=100, observed_start_s=160)
    assert explain_wait(Workload([first, held]), 1, 1, CLOCK, Learned()).parts == {"hold": 100, "full": 60}


def test_idle_while_waiting_is_told_against_the_policy():
    # By a limit of two running jobs per user, jobs wait while nodes are idle more often than under EASY alone.
    schedule = simulate(planted("user", 1), NODES)
    told = {finding.code: finding for finding in differences(schedule, by_group(schedule))}
    evidence = told["idle-while-waiting"].evidence
    assert evidence["share"] > evidence["simulated_share"] + 0.05
    # Generated by EASY and simulated without backfill, which leaves nodes idle even more often: nothing is hidden.
    schedule = simulate(planted("none", 1), NODES, policy="fcfs")
    assert "idle-while-waiting" not in [finding.code for finding in differences(schedule, by_group(schedule))]
