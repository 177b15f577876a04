"""The loop for the plain case, where it remembers: each time what it remembers must not hide a job that can start."""

import random

import pytest

from hopperlib.network.scheduling.scheduler import POLICIES, simulate
from hopperlib.network.scheduling.workload import Job, Workload


def starts(*rows, nodes):
    jobs = [Job(number, *row) for number, row in enumerate(rows)]
    both = [list(simulate(Workload(jobs), nodes, until_s=far).start_s) for far in (None, 10**9)]
    assert both[0] == both[1]
    return both[0]


def test_more_is_left_over_than_before():
    # Ten nodes. Head (7) is promised 100, when job 0 (5) ends by its limit; 10 - 7 = 3 are left over then. Job 4 (3, long)
    # uses them up; job 5 (2, long) may not pass: two are free, none is left over. At 20 job 1 (2), which was expected at
    # 300, ends: two more are left over at 100, so now it may.
    rows = [(0, 5, 100, 100), (0, 2, 20, 300), (1, 7, 9, 9), (2, 1, 400, 400), (3, 2, 400, 400)]
    assert starts(*rows, nodes=10) == [0, 0, 100, 2, 20]


def test_another_head_has_another_promise():
    # Four nodes. Head 1 (3) is promised 10 and leaves one over, which job 3 (1, to 17) takes at 2. At 10 job 2 (4) becomes
    # head, promised 30, and leaves nothing over: job 4 (1, 25 s) finds a free node at 17 but would end at 42.
    rows = [(0, 3, 10, 10), (1, 3, 20, 20), (1, 4, 5, 5), (2, 1, 15, 15), (3, 1, 25, 25)]
    assert starts(*rows, nodes=4) == [0, 10, 30, 2, 35]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_as_the_general_loop_over_thousands_of_jobs(policy, seed):
    rng = random.Random(seed)
    rows = [
        Job(number, int(9000 * rng.random()), 1 + int(64 ** rng.random()), int(300 * rng.random()), 1 + int(300 * rng.random()))
        for number in range(2000)
    ]  # fmt: skip
    plain, general = (simulate(Workload(rows), 96, policy=policy, until_s=far) for far in (None, 10**9))
    assert plain.digest() == general.digest()
