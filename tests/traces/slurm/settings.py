"""The simulator's input for each setting of scripts/ask_slurm_schedule.py, as an analyst would read it from slurm.conf."""

from __future__ import annotations

import csv
import gzip
import random
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from hopperkit.traces.changes.intervals import chaos_band, with_chaos
from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.correlation import rank_correlation
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.scheduler import simulate
from hopperkit.traces.smaller_request import _around, _requests, _waits, smaller_request
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Rules
from hopperlib.scheduling.workload import Job, Workload

FOLDER = Path(__file__).parent
NODES = 32
EVERYWHERE = Partition(nodes=tuple(range(NODES)), exclusive=True)
SETTINGS = {
    "fifo": {"policy": Backfill()},
    "shallow": {"policy": Backfill(depth=5)},
    "coarse": {"policy": Backfill(interval_s=300, resolution_s=600)},
    "window": {"policy": Backfill(window_s=600)},
    "no-backfill": {"policy": "fcfs"},
    "wide-first": {
        "policy": Backfill(),
        "queue_order": "multifactor",
        "rules": Rules(size=10000, age=1000, max_age_days=1, period_s=60),
    },
    "narrow-first": {
        "policy": Backfill(),
        "queue_order": "multifactor",
        "rules": Rules(size=-10000, age=10000, max_age_days=1, period_s=60),
    },
    "overlap": {"policy": Backfill()},
    "shared": {"policy": Backfill()},
    # The urgent partition has all nodes, and its jobs go before all others (PriorityTier).
    "tiers": {"policy": Backfill(), "rules": Rules(first=("queue", "urgent"))},
    "reservation": {
        "policy": Backfill(),
        "downtimes": [Downtime(start_s=7200, end_s=10800, first_node=0, last_node=16, drained=True)],
    },
    "more-nodes": {"policy": Backfill()},
    "loose-limits": {"policy": Backfill()},
    "drain": {
        "policy": Backfill(),
        "downtimes": [Downtime(start_s=1800, end_s=9000, first_node=24, last_node=NODES, kind="drain")],
    },
}
MACHINES = {
    "overlap": Cluster(
        nodes=(NodeResources(),) * NODES,
        partitions={"main": EVERYWHERE, "half": Partition(nodes=tuple(range(16)), exclusive=True)},
    ),
    "more-nodes": 40,
    "shared": Cluster(
        nodes=(NodeResources(cores=4),) * NODES, partitions={"main": Partition(nodes=tuple(range(NODES)))}
    ),
}
#: Factors to the limits of the jobs that a setting has drawn.
LIMIT_FACTORS = {"loose-limits": 3}


class Table(NamedTuple):
    """Runs of one list of jobs: observed and simulated wait of each job, by run. [s]"""

    setting: str
    rows: list[dict[str, int | str]]
    observed: dict[int, list[int]]
    ours: dict[int, list[int]]


@cache
def table(name: str) -> Table:
    """A kept table by its name."""
    rows, setting = rows_of(FOLDER / f"{name}.csv.gz"), name.rpartition("-")[0]
    runs = runs_in(rows)
    return Table(
        setting, rows, {run: waits(rows, run) for run in runs}, {run: simulated(setting, rows, run) for run in runs}
    )


def rows_of(path: Path) -> list[dict[str, int | str]]:
    """Rows of a table, numbers as numbers."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [
        {name: int(cell) if cell.lstrip("-").isdecimal() else cell for name, cell in row.items()}
        for row in csv.DictReader(text.splitlines())
    ]


def workload_of(rows: list[dict[str, int | str]], run: int) -> Workload:
    """Jobs of one run with its submissions, run times and observed starts."""
    jobs = [
        Job(
            number,
            row[f"submit_{run}_s"],
            row["nodes"],
            row[f"end_{run}_s"] - row[f"start_{run}_s"],
            max(row["limit_s"], row[f"end_{run}_s"] - row[f"start_{run}_s"]),
            queue=row["partition"],
            observed_start_s=row[f"start_{run}_s"],
            cores=row["cpus"],
        )
        for number, row in enumerate(rows)
    ]
    return Workload(jobs)


def runs_in(rows: list[dict[str, int | str]]) -> list[int]:
    """Numbers of the runs of a table."""
    return [run for run in range(1, 10) if f"start_{run}_s" in rows[0]]


def waits(rows: list[dict[str, int | str]], run: int) -> list[int]:
    """Observed wait of each job of a run, in the order of the table. [s]"""
    return [row[f"start_{run}_s"] - row[f"submit_{run}_s"] for row in rows]


def simulated(setting: str, rows: list[dict[str, int | str]], run: int, **changes: object) -> list[int]:
    """Simulated wait of each job of a run, in the order of the table. [s]"""
    workload = workload_of(rows, run)
    schedule = simulate(workload, MACHINES.get(setting, NODES), **(SETTINGS[setting] | changes))
    of = {
        number: start - submit
        for number, start, submit in zip(workload.job, schedule.start_s, workload.submit_time_s, strict=True)
    }
    return [of[number] for number in range(len(rows))]


def exact(setting: str) -> dict[str, object]:
    """The policy of a setting without rounded times (bf_resolution): the model that predictions were made with."""
    policy = SETTINGS[setting]["policy"]
    return {"policy": policy._replace(resolution_s=1) if isinstance(policy, Backfill) else policy}


def agreement(left: list[int], right: list[int]) -> float:
    """Rank correlation of waits."""
    return rank_correlation(left, right)


def ratio_to_itself(observed: dict[int, list[int]], ours: dict[int, list[int]], jobs: Sequence[int]) -> float:
    """Rank correlation of simulated with observed waits over that of Slurm's runs with each other, for some of the jobs."""
    seen, made = ({run: [waited[job] for job in jobs] for run, waited in side.items()} for side in (observed, ours))
    itself = fmean(agreement(seen[one], seen[other]) for one, other in combinations(seen, 2))
    return fmean(agreement(made[run], seen[run]) for run in seen) / itself


def drawn_ratio(side: Table, rng: random.Random) -> float:
    """That ratio for jobs and runs drawn with replacement: how well Slurm agrees with itself is drawn along."""
    runs = list(side.observed)
    while len(drawn := {rng.choice(runs) for _ in runs}) < 2:
        pass
    jobs = [rng.randrange(len(side.rows)) for _ in side.rows]
    return ratio_to_itself(*({run: of[run] for run in drawn} for of in (side.observed, side.ours)), jobs)


def bootstrapped_ratios(tables: Sequence[str], draws: int = 400) -> dict[str, tuple[float, float, float]]:
    """That ratio of each table with several runs, and the mean of all, between the ends of their 95 % intervals.

    Jobs and runs are drawn with replacement, the same jobs of all runs of a table; for the mean, tables too.
    """
    sides = {name: table(name) for name in tables if len(table(name).observed) > 1}
    rng = random.Random(1)
    found = {name: [drawn_ratio(side, rng) for _ in range(draws)] for name, side in sides.items()}
    points = {name: ratio_to_itself(side.observed, side.ours, range(len(side.rows))) for name, side in sides.items()}
    each = list(found.values())
    found["all"] = [fmean(rng.choice(each)[draw] for _ in each) for draw in range(draws)]
    points["all"] = fmean(points.values())
    off = draws // 40
    return {name: (sorted(drawn)[off], points[name], sorted(drawn)[-1 - off]) for name, drawn in found.items()}


def predicted_effect(
    setting: str, rows: list[dict[str, int | str]], run: int, partitions: Sequence[str], times: int = 12
) -> tuple[float, float, float]:
    """Effect of a setting on the mean wait of a run of "fifo", as a part of it, between the ends of its band.

    As what-if has it: the mean over simulations with submissions up to five seconds later; the band is that of their
    noise, made wider by the misfit of the simulation as it is. As it was predicted: with a model that did not round.
    """
    ratios, means = [], []
    for seed in range(times):
        rng = random.Random(seed)
        late = [row | {f"submit_{run}_s": row[f"submit_{run}_s"] + rng.randrange(6) * (seed > 0)} for row in rows]
        means.append(fmean(simulated("fifo", late, run, **exact("fifo"))))
        changed = [
            row | {"limit_s": LIMIT_FACTORS.get(setting, 1) * row["limit_s"], "partition": partition}
            for row, partition in zip(late, partitions, strict=True)
        ]
        ratios.append(fmean(simulated(setting, changed, run, **exact(setting))) / means[-1] - 1)
    misfit = 0.95 * abs(means[0] / fmean(waits(rows, run)) - 1)
    middle = fmean(ratios)
    low, high = with_chaos((middle - misfit, middle + misfit), chaos_band(ratios)[1])
    return low, middle, high


#: Jobs, by their number in the list of a table, whose smallest change of the request Slurm was given: predicted with a
#: model that did not round planned times, and, once the answers were known, with one that does.
RESUBMITTED = {
    1: [
        *(("fifo-2", number) for number in (17, 13, 53)),
        *(("overlap-1", number) for number in (36, 66, 94)),
        ("window-2", 13),
        ("more-nodes-2", 14),
    ],
    60: [
        ("fifo-2", 53),
        *(("overlap-1", number) for number in (36, 66)),
        ("more-nodes-2", 14),
        *(("fifo-2", number) for number in (20, 27)),
        ("window-2", 18),
        ("more-nodes-2", 23),
    ],
}


def first_run(name: str) -> tuple[Workload, int | Cluster]:
    """The log of a table's first run, and its machine."""
    return workload_of(rows_of(FOLDER / f"{name}.csv.gz"), 1), MACHINES.get(name.rpartition("-")[0], NODES)


def named_request(name: str, number: int, rules: Learned) -> str:
    """What "hopper trace why" names for a job of a table's first run; nothing if no change that it tries helps."""
    log, room = first_run(name)
    request = smaller_request(log, list(log.job).index(number), room, Clock(0), rules)
    return request.text if request else ""


def waits_with(name: str, number: int, request: str, rules: Learned, times: int) -> list[list[int]]:
    """Sorted waits of a job in simulations around it: with its request as it is, and as it is changed. [s]"""
    log, room = first_run(name)
    jobs, place = _around(log, list(log.job).index(number))
    changed = dict(_requests(jobs[place], room))[request]
    return [
        sorted(_waits([*jobs[:place], job, *jobs[place + 1 :]], place, room, Clock(0), rules, times))
        for job in (jobs[place], changed)
    ]


def predicted_request(resolution_s: int, name: str, number: int, times: int = 12) -> dict[str, str]:
    """Prediction for a job: the change of its request, and the waits of simulations without and with it. [s]"""
    policy = SETTINGS[name.rpartition("-")[0]]["policy"]
    rules = Learned(policy=policy._replace(resolution_s=resolution_s))
    request = named_request(name, number, rules)
    found = {"resolution_s": str(resolution_s), "table": name, "job": str(number), "request": request}
    for when, waited in zip(("before", "with"), waits_with(name, number, request, rules, times), strict=True):
        found |= {
            f"{when}_{end}s": str(round(wait))
            for end, wait in (("low_", waited[0]), ("", median(waited)), ("high_", waited[-1]))
        }
    return found
