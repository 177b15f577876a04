"""How a machine fragments after a reboot, and what contiguous allocation would have bought.

Documented: two mixes of job sizes, of two periods, and the story of the holes.
The shares of the sizes calibrate the workloads; the holes, and how far a job is
spread over them, are predicted.
"""

import random
from functools import cache
from statistics import fmean

from hopperbook.studies.study import Shares, Study, Value
from hopperlib.network.runtime.placed_jobs import PlacedJob, read_placed_jobs
from hopperlib.scheduling.aging import aged_machine
from hopperlib.scheduling.generator import ASSUMED, draw_workload, share_at_least
from hopperlib.scheduling.schedule import Schedule

# A job that is spread widely lies in more pieces than a dozen. Assumed.
_SPREAD = 12


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
    """Mean wait of the jobs of that many nodes or more, weighted by their nodes. [h]

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


@cache
def population(order: str = "xyz-by2") -> tuple[PlacedJob, ...]:
    """Return the jobs of MILC on 8,192 cores in two hundred histories, the tail of the slowest among them.

    Parameters
    ----------
    order : {"xyz-by2", "nid"}
        Of the nodes.

    Examples
    --------
    >>> len({job.seed for job in population()}) >= 200
    True
    """
    return tuple(job for job in read_placed_jobs("placed-jobs-population.csv") if job.order == order)


def _values() -> dict[str, Value]:
    early, production = (
        draw_workload(mix, nodes=6384, days=14, load=0.9, rng=random.Random(1)) for mix in ("early", "production")
    )
    # In how many pieces MILC's jobs lie in each history, from the third day on.
    by_seed: dict[int, list[int]] = {}
    for job in population():
        if job.day >= 3:
            by_seed.setdefault(job.seed, []).append(job.runs)
    pieces = list(by_seed.values())
    return {
        "early-share-16384": 100 * share_at_least(early, 683),
        "early-share-65536": 100 * share_at_least(early, 2731),
        "production-share-8k": 100 * share_at_least(production, 342),
        "holes-appear": Shares(sum(min(of_seed) > 1 for of_seed in pieces), len(pieces)),
        "jobs-spread": Shares(sum(max(of_seed) > _SPREAD for of_seed in pieces), len(pieces)),
        "pieces": fmean(count for of_seed in pieces for count in of_seed),
        "most_pieces": max(map(max, pieces)),
    }


STUDY = Study("fragmentation", _values, shared_assumptions=ASSUMED)
