"""What the simulator is told of each setting of scripts/ask_slurm_schedule.py: what an analyst would read off slurm.conf."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

from hopperkit.traces.cluster import Cluster, NodeResources, Partition
from hopperkit.traces.learned import rank_correlation
from hopperkit.traces.scheduler import simulate
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
    "coarse": {"policy": Backfill(interval_s=300)},
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
    "shared": Cluster(
        nodes=(NodeResources(cores=4),) * NODES, partitions={"main": Partition(nodes=tuple(range(NODES)))}
    ),
}


def rows_of(path: Path) -> list[dict[str, int | str]]:
    """Rows of a table, numbers as numbers."""
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    return [
        {name: int(cell) if cell.lstrip("-").isdecimal() else cell for name, cell in row.items()}
        for row in csv.DictReader(text.splitlines())
    ]


def workload_of(rows: list[dict[str, int | str]], run: int) -> Workload:
    """Jobs of one run with its own submissions and run times, and its starts as observed."""
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


def agreement(left: list[int], right: list[int]) -> float:
    """Rank correlation of waits."""
    return rank_correlation(left, right)
