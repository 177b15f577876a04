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
from hopperlib.studies.study import Study, Value

__all__ = ["STUDY", "aged", "mean_wait_h"]

_DAY = 86_400


@cache
def aged(allocation: str = "first") -> Schedule:
    """Two weeks of Hopper from a reboot on, charged production.

    Examples
    --------
    >>> aged().nodes
    6384
    """
    return aged_machine("production", nodes=6384, days=14, load=0.95, allocation=allocation)


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


def _values() -> dict[str, Value]:
    early, production = (
        draw_workload(mix, nodes=6384, days=14, load=0.9, rng=random.Random(1), smallest=16)
        for mix in ("early", "production")
    )
    schedule = aged()
    holes = mean(len(free_runs(schedule, half_day * _DAY // 2)) for half_day in range(6, 28))
    runs = [len(probe(schedule, half_day * _DAY // 2, 342).runs) for half_day in range(6, 26)]
    sizes = [size for mix in MIXES.values() for size in mix]
    return {
        "jobs-up-to-whole-machine": max(early.nodes) > 4096 and min(early.nodes) <= 42,
        "early-share-16384": 100 * share_at_least(early, 683),
        "early-share-65536": 100 * share_at_least(early, 2731),
        "production-share-8k": 100 * share_at_least(production, 342),
        "more-large-jobs-before-charging": share_at_least(early, 683) > share_at_least(production, 683),
        "survey-sizes": min(size.low for size in sizes) == 1 and max(size.high for size in sizes) >= 6000,
        "after-reboot-contiguous": len(probe(schedule, 0, 342).runs) == 1 and schedule.run_count[0] == 1,
        "holes-appear": holes > 1,
        "jobs-spread": max(runs) > 10,
    }


STUDY = Study.read("fragmentation", _values, shared_assumptions=ASSUMED)
