"""Generated workloads: the documented shares, the weekly cycle, the same jobs from the same seed."""

import bisect
import itertools
import random
from collections import Counter

import pytest

from hopperlib.scheduling import generator
from hopperlib.scheduling.generator import MIXES, SizeClass, draw_workload, share_at_least


def test_shares_of_a_mix_sum_to_one():
    for mix in MIXES.values():
        assert sum(size.share for size in mix) == pytest.approx(1)
        assert all(a.high + 1 == b.low for a, b in itertools.pairwise(mix))


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (2, 3))])
def test_the_documented_shares_come_out(seed):
    month = {"nodes": 6384, "days": 28, "load": 0.9}
    early = draw_workload("early", **month, rng=random.Random(seed))
    # 16,384 cores are 683 nodes of 24, 65,536 are 2,731.
    assert share_at_least(early, 683) == pytest.approx(0.50, abs=0.02)
    assert share_at_least(early, 2731) == pytest.approx(0.22, abs=0.02)
    production = draw_workload("production", **month, rng=random.Random(seed))
    assert share_at_least(production, 342) == pytest.approx(0.40, abs=0.02)
    for jobs in (early, production):
        assert jobs.node_seconds / (6384 * 28 * 86400) == pytest.approx(0.9, abs=0.02)
        assert max(jobs.nodes) <= 6100
        assert all(run <= limit for run, limit in zip(jobs.run_time_s, jobs.requested_time_s, strict=True))


def test_the_same_seed_gives_the_same_jobs():
    jobs = [list(draw_workload("early", nodes=512, days=7, load=0.8, rng=random.Random(5))) for _ in range(2)]
    assert jobs[0] == jobs[1]
    # Any Python and the browser generate these: first job, and a sum over all.
    assert jobs[0][0][1:5] == jobs[1][0][1:5]


def test_widths_of_a_table_are_those_of_halving():
    for size in (SizeClass(1, 1, 1, 48), SizeClass(2, 16, 1, 48), SizeClass(17, 128, 1, 48)):
        steps = generator._width_steps(size)
        rng = random.Random(4)
        for u in (*steps, *(rng.random() for _ in range(2000))):
            assert size.low + bisect.bisect_right(steps, u) == generator._width(size, u)


def test_nights_and_weekends_are_quiet():
    jobs = draw_workload("production", nodes=6384, days=14, load=0.9, rng=random.Random(1))
    by_hour = Counter(job.submit_time_s // 3600 % 24 for job in jobs)
    by_day = Counter(job.submit_time_s // 86400 % 7 for job in jobs)
    assert by_hour[11] > 1.5 * by_hour[3]
    assert by_day[2] > 1.3 * by_day[6]


def test_debug_jobs_take_the_place_of_others():
    jobs = draw_workload("production", nodes=6384, days=7, load=0.9, rng=random.Random(1), debug_fraction=0.1)
    debug = [job for job in jobs if job.queue == "debug"]
    assert all(job.nodes <= 512 and job.requested_time_s <= 1800 for job in debug)
    share = sum(job.nodes * job.run_time_s for job in debug) / jobs.node_seconds
    assert share == pytest.approx(0.1, abs=0.01)


def test_a_mix_of_ones_own():
    jobs = draw_workload([SizeClass(2, 2, 1.0, 1.0)], nodes=16, days=3, load=0.5, rng=random.Random(1))
    assert set(jobs.nodes) == {2}


def test_refusals():
    with pytest.raises(ValueError, match="mix='late' must be one of: early, production"):
        draw_workload("late", nodes=10, days=1, load=0.5, rng=random.Random(1))
    with pytest.raises(ValueError, match="days=0 must be at least 1"):
        draw_workload("early", nodes=10, days=0, load=0.5, rng=random.Random(1))
