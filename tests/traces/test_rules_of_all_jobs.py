"""A log whose earlier jobs hardly wait: the rules of all jobs are simulated, and the answer says that nothing tests them."""

from __future__ import annotations

from random import Random
from statistics import fmean

import pytest

from hopperkit.questions.network.traces.what_if import what_if_result
from hopperkit.traces.backtest import backtest, with_rules_of_all_jobs
from hopperkit.traces.changes.scenario import Scenario
from hopperkit.traces.changes.what_if import what_if
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.site import Learned
from hopperlib.scheduling.workload import Job, Workload

NODES = 16


def _log(policy, gap_early_s, gap_late_s, jobs=400):
    """Jobs on 16 nodes, started by one policy; the first 60 % and the others are submitted at two mean distances."""
    rng, at, rows = Random(3), 0.0, []
    for number in range(jobs):
        at += rng.expovariate(1 / (gap_early_s if number < 0.6 * jobs else gap_late_s))
        run_s = int(rng.choice((600, 1800, 5400)) * (0.5 + rng.random()))
        rows.append(Job(number, int(at), rng.choice((1, 2, 4, 8, 12)), run_s, 2 * run_s))
    schedule = Learned(policy=policy).run(Workload(rows), NODES, Clock(0))
    starts = dict(zip(schedule.workload.job, schedule.start_s, strict=True))
    return Workload(row._replace(observed_start_s=int(starts[row.job])) for row in rows)


def test_rules_that_only_later_jobs_show_are_simulated():
    log = _log("fcfs", 20000, 1600)
    earlier = backtest(log, NODES, Clock(0), with_ceiling=False)
    assert [finding.code for finding in earlier.findings] == ["too-few-waits"]
    test = with_rules_of_all_jobs(earlier, log, NODES, Clock(0))
    assert test.whole_log
    assert test.rules.policy == "fcfs"
    found = what_if(log, NODES, Clock(0), test.rules, [Scenario(name="more", nodes=20)])
    waits = [start - at for start, at in zip(log.observed_start_s, log.arrival_s, strict=True)]
    # The log was made by that policy, so its simulation is the log.
    assert found.simulated_s == pytest.approx(fmean(waits), rel=0.01)
    result = what_if_result(test, found)
    assert "as in the" in result.summary
    assert "no later jobs test them" in result.summary
    assert result.facts["rules_of_all_jobs"]
    assert not result.facts["single_jobs"]
    assert "rules-of-all-jobs" in [finding.code for finding in result.findings]


def test_rules_that_earlier_jobs_show_are_kept():
    log = _log("fcfs", 1700, 1700)
    earlier = backtest(log, NODES, Clock(0), with_ceiling=False)
    assert earlier.rules.policy == "fcfs"
    assert with_rules_of_all_jobs(earlier, log, NODES, Clock(0)) is earlier


def test_a_default_that_fits_is_kept_though_few_waited():
    log = _log("easy", 20000, 9000)
    earlier = backtest(log, NODES, Clock(0), with_ceiling=False)
    assert with_rules_of_all_jobs(earlier, log, NODES, Clock(0)) is earlier
