"""The cost of another group: a planted effect is found with the stated power, and no effect is not reported."""

import math
import random

import pytest

from hopperkit.traces.group_cost import STATED_EFFECT, Ran, cost_of_groups, wait_for_one
from hopperlib.errors import InputError


def history(rng: random.Random, effect: float, *, jobs: int = 240, noise: float = 0.08) -> list[Ran]:
    """Jobs of four kinds in one to four groups, with an effect per additional group and lognormal noise."""
    made = []
    for number in range(jobs):
        groups = rng.randint(1, 4)
        run_time = 1000 * (1 + number % 4) * (1 + effect) ** (groups - 1) * math.exp(rng.gauss(0, noise))
        made.append(Ran(number % 4, run_time, 3600.0 * number, dict.fromkeys(range(groups), 8)))
    return made


# The share's standard error is 0.05 and 0.029 at most: three of them.
@pytest.mark.parametrize(("count", "error"), [(100, 0.15), pytest.param(300, 0.087, marks=pytest.mark.nightly)])
def test_a_planted_effect_is_found_as_often_as_the_power_says(count: int, error: float) -> None:
    rng = random.Random(30)
    costs = [cost_of_groups(history(rng, STATED_EFFECT)) for _ in range(count)]
    found = sum(cost is not None and cost.low > 0 for cost in costs) / len(costs)
    stated = sum(cost.power for cost in costs if cost) / len(costs)
    assert found == pytest.approx(stated, abs=error)
    assert 0.3 < stated < 1.0
    covered = sum(cost is not None and cost.low <= STATED_EFFECT <= cost.high for cost in costs) / len(costs)
    assert covered == pytest.approx(0.95, abs=0.066)
    assert sum(cost.per_group for cost in costs if cost) / len(costs) == pytest.approx(STATED_EFFECT, abs=0.005)


@pytest.mark.parametrize("count", [200, pytest.param(400, marks=pytest.mark.nightly)])
def test_false_alarms_stay_under_five_in_a_hundred(count: int) -> None:
    rng = random.Random(31)
    alarms = sum((cost := cost_of_groups(history(rng, 0.0))) is not None and cost.low > 0 for _ in range(count))
    # One side of a 95 % interval: 2.5 % expected.
    assert alarms / count < 0.05


def test_jobs_of_one_kind_in_as_many_groups_say_nothing() -> None:
    jobs = [Ran("a", 100.0 + n, 0, {0: 4, 1: 4}) for n in range(20)]
    assert cost_of_groups(jobs) is None
    # Kinds differ in run time and groups; nothing is compared across them.
    assert cost_of_groups([*jobs, *(Ran("b", 900.0 + n, 0, {0: 8}) for n in range(20))]) is None


def test_the_wait_for_one_group_by_hand() -> None:
    # Group 0 has 4 nodes, 2 held until 50; group 1 has 3. The job of 3 nodes at 10 has room in group 1 at once.
    jobs = [Ran("a", 50, 0, {0: 2}), Ran("b", 100, 10, {0: 1, 1: 2})]
    now = wait_for_one(jobs, {0: 4, 1: 3}, 0.0, limit_s=60)
    assert now is not None
    assert (now.in_time, now.mean_gain_s, now.sooner) == (1.0, 0.0, 0.0)
    # With 2 nodes in group 1 it waits for the first job's end, 40 s; without a gain it ends 40 s later.
    later = wait_for_one(jobs, {0: 4, 1: 2}, 0.0, limit_s=60)
    assert later is not None
    assert later.mean_gain_s == -40.0
    # With a limit below that, it waits in vain.
    vain = wait_for_one(jobs, {0: 4, 1: 2}, 0.5, limit_s=20)
    assert vain is not None
    assert (vain.in_time, vain.mean_gain_s) == (0.0, -20)


def test_jobs_that_fit_in_no_group_or_lie_in_one_are_not_asked() -> None:
    assert wait_for_one([Ran("a", 50, 0, {0: 4, 1: 4})], {0: 4, 1: 4}, 0.1, limit_s=60) is None
    assert wait_for_one([Ran("a", 50, 0, {0: 4})], {0: 4, 1: 4}, 0.1, limit_s=60) is None
    with pytest.raises(InputError, match="limit_s=-1 must not be negative"):
        wait_for_one([], {}, 0.1, limit_s=-1)
