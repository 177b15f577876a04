"""How a machine fragments after a reboot, and what contiguous allocation would have bought.

Documented: two mixes of job sizes, of two periods, and the story of the holes.
The shares of the sizes calibrate the workloads; the holes, and how far a job is
spread over them, are predicted. ``data/aged-machines.csv`` holds what twenty
random workloads give with either allocation;

    python -m hopperbook.studies.network.fragmentation

makes it in some minutes, and a test makes one of its rows again.
"""

import csv
import random
from functools import cache
from statistics import fmean, quantiles
from typing import NamedTuple

from hopperbook.studies.study import Shares, Study, Value
from hopperlib.data_files import data_folder, rows
from hopperlib.network.runtime.placed_jobs import PlacedJob, read_placed_jobs
from hopperlib.scheduling.aging import aged_machine, probe
from hopperlib.scheduling.generator import ASSUMED, draw_workload, share_at_least
from hopperlib.scheduling.schedule import Schedule

# A widely spread job is in more than a dozen pieces. Assumed.
_SPREAD = 12
_DAY_S = 86_400
_SEEDS = range(1, 21)


@cache
def aged(allocation: str = "first", seed: int = 1) -> Schedule:
    """Two weeks of Hopper from a reboot on, charged production.

    Examples
    --------
    >>> aged().nodes
    6384
    """
    return aged_machine("production", nodes=6384, days=14, load=0.95, allocation=allocation, seed=seed)


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


class AgedMachine(NamedTuple):
    """Results of two weeks from a reboot with one random workload and one allocation.

    Parameters
    ----------
    seed : int
    allocation : {"first", "contiguous"}
        First free nodes, or one run of the list and else wait.
    utilization : float
        From the third day on. [fraction]
    wait_h, large_wait_h : float
        Mean wait weighted by nodes, of all jobs and of those from 683 nodes on. [h]
    pieces : float
        Mean number of runs that a job of 342 nodes gets.
    """

    seed: int
    allocation: str
    utilization: float
    wait_h: float
    large_wait_h: float
    pieces: float


def aged_outcome(seed: int, allocation: str) -> AgedMachine:
    """Return the results of one random workload with one allocation.

    Examples
    --------
    >>> aged_outcomes("first")[0].seed
    1
    """
    schedule = aged(allocation, seed)
    pieces = fmean(len(probe(schedule, day * _DAY_S, 342, allocation=allocation).runs) for day in range(3, 13))
    given = (
        schedule.utilization(3 * _DAY_S, 14 * _DAY_S),
        mean_wait_h(schedule),
        mean_wait_h(schedule, from_nodes=683),
        pieces,
    )
    return AgedMachine(seed, allocation, *(round(number, 4) for number in given))


@cache
def aged_outcomes(allocation: str) -> tuple[AgedMachine, ...]:
    """Return the rows of ``data/aged-machines.csv`` with an allocation.

    Examples
    --------
    >>> len(aged_outcomes("first")) == len(aged_outcomes("contiguous"))
    True
    """
    return tuple(
        AgedMachine(int(row["seed"]), row["allocation"], *(float(row[name]) for name in AgedMachine._fields[2:]))
        for row in rows("aged-machines.csv")
        if row["allocation"] == allocation
    )


def middle_nine_tenths(values: list[float]) -> tuple[float, float, float]:
    """Return mean, and the 5 and 95 % quantiles, of values of many seeds.

    Examples
    --------
    >>> middle_nine_tenths([float(value) for value in range(21)])
    (10.0, 0.1, 19.9)
    """
    cuts = quantiles(values, n=20)
    return fmean(values), cuts[0], cuts[-1]


@cache
def population(order: str = "xyz-by2") -> tuple[PlacedJob, ...]:
    """Return the jobs of MILC on 8,192 cores in two hundred histories, including the tail of the slowest.

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


if __name__ == "__main__":
    with (data_folder() / "aged-machines.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(AgedMachine._fields)
        for number in _SEEDS:
            writer.writerows(aged_outcome(number, kind) for kind in ("first", "contiguous"))
            aged.cache_clear()
