"""How a machine fragments after a reboot, and what contiguous allocation would have bought.

Documented: two mixes of job sizes, of two periods, and the story of the holes.
The shares of the sizes calibrate the workloads; the holes, and how far a job is
spread over them, are predicted.
"""

from __future__ import annotations

import random
from functools import cache
from statistics import mean

from hopperlib.network.scheduling.aging import aged_machine, free_runs, probe
from hopperlib.network.scheduling.generator import ASSUMED, MIXES, draw_workload, share_at_least
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.studies.study import Check, Study

__all__ = ["STUDY", "aged", "mean_wait_h"]

_DAY = 86_400


@cache
def aged(allocation: str = "first", load: float = 0.95) -> Schedule:
    """Two weeks of Hopper from a reboot on, charged production.

    Examples
    --------
    >>> aged().nodes
    6384
    """
    return aged_machine("production", nodes=6384, days=14, load=load, allocation=allocation)


def mean_wait_h(schedule: Schedule, *, from_nodes: int = 1) -> float:
    """Mean wait of the jobs of so many nodes or more, weighted by their nodes. [h]

    Examples
    --------
    >>> mean_wait_h(aged(), from_nodes=683) > mean_wait_h(aged())
    True
    """
    waits = [
        (width, schedule.start_s[index] - schedule.workload.submit_time_s[index])
        for index, width in enumerate(schedule.workload.nodes)
        if width >= from_nodes
    ]
    return sum(width * wait for width, wait in waits) / sum(width for width, _ in waits) / 3600


def _checks() -> tuple[Check, ...]:
    early = draw_workload("early", nodes=6384, days=14, load=0.9, rng=random.Random(1), smallest=16)
    production = draw_workload("production", nodes=6384, days=14, load=0.9, rng=random.Random(1), smallest=16)
    schedule = aged()
    holes = mean(len(free_runs(schedule, half_day * _DAY // 2)) for half_day in range(6, 28))
    runs = [len(probe(schedule, half_day * _DAY // 2, 342).runs) for half_day in range(6, 26)]
    sizes = [size for mix in MIXES.values() for size in mix]
    shares = "the shares of the size classes"
    about = "printed as about; the last job of a class may miss its share"
    bound = "where the size classes are cut"
    return (
        Check(
            id="fragmentation.jobs-up-to-whole-machine",
            role="shape",
            reproduced=max(early.nodes) > 4096 and min(early.nodes) <= 42,
        ),
        Check(id="fragmentation.early-sizes-from", role="input", reason="the start of the period of the first mix"),
        Check(
            id="fragmentation.early-share-16384",
            role="calibrated",
            reproduced=100 * share_at_least(early, 683),
            tolerance=2.0,
            tolerance_reason=about,
            reason=shares,
        ),
        Check(id="fragmentation.early-bound-16384", role="input", reason=bound),
        Check(
            id="fragmentation.early-share-65536",
            role="calibrated",
            reproduced=100 * share_at_least(early, 2731),
            reason=shares,
        ),
        Check(id="fragmentation.early-bound-65536", role="input", reason=bound),
        Check(
            id="fragmentation.production-share-8k",
            role="calibrated",
            reproduced=100 * share_at_least(production, 342),
            tolerance=2.0,
            tolerance_reason=about,
            reason=shares,
        ),
        Check(id="fragmentation.production-bound-8k", role="input", reason=bound),
        Check(id="fragmentation.charging-start", role="input", reason="the day that parts the two mixes"),
        Check(
            id="fragmentation.more-large-jobs-before-charging",
            role="shape",
            reproduced=share_at_least(early, 683) > share_at_least(production, 683),
        ),
        Check(
            id="fragmentation.survey-sizes",
            role="shape",
            reproduced=min(size.low for size in sizes) == 1 and max(size.high for size in sizes) >= 6000,
        ),
        Check(
            id="fragmentation.after-reboot-contiguous",
            role="shape",
            reproduced=len(probe(schedule, 0, 342).runs) == 1 and schedule.run_count[0] == 1,
        ),
        Check(id="fragmentation.holes-appear", role="shape", reproduced=holes > 1),
        Check(id="fragmentation.first-available", role="input", reason="the rule by which the scheduler allocates"),
        Check(id="fragmentation.jobs-spread", role="shape", reproduced=max(runs) > 10),
        Check(
            id="fragmentation.contiguous-planned",
            role="input",
            reason="the allocation that the study compares with the first free nodes",
        ),
        Check(id="fragmentation.contiguous-expected", role="not modelled", reason="the date of a plan"),
    )


STUDY = Study(
    name="fragmentation",
    title="How a machine fragments",
    part="network",
    question="How do the free nodes of a machine fall apart after a reboot, and what would keeping jobs in one piece cost?",
    checks=_checks,
    assumptions=(
        *ASSUMED,
        "The shares of sizes below those that are printed are a smooth guess.",
        "Jobs of fewer than 16 nodes come bundled to 16, so that weeks are simulated in a moment.",
        "One queue, EASY backfill; which backfill Hopper's scheduler was set to is not printed.",
    ),
)
