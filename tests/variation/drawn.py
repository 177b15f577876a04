"""Synthetic run times with planted causes: effects of columns, a slow node, outliers."""

from __future__ import annotations

import math
import random
from datetime import date, timedelta

from hopperkit.variation.table import RunsTable

#: Planted effects on the logarithm: for each hop, for each group of nodes, in one partition, for a full load, after an
# upgrade.
PLANTED = {"hops": 0.02, "groups": 0.02, "partition": 0.04, "load": 0.10, "date": 0.03}


def outlying(rng: random.Random, share: float) -> float:
    """Factor of an outlier, 1.5 to 3, for a share of the runs; 1 for the others."""
    return rng.uniform(1.5, 3.0) if rng.random() < share else 1.0


def with_effects(
    rng: random.Random, outliers: float, runs: int = 400, spread: float = 0.05, size: float = 1.0
) -> RunsTable:
    """Runs whose columns have the effects of `PLANTED` times `size`, and one column without an effect."""
    columns: dict[str, list] = {"hops": [], "groups": [], "partition": [], "load": [], "nothing": []}
    values, when = [], []
    for run in range(runs):
        row = {
            "hops": rng.randint(2, 7),
            "groups": rng.randint(1, 6),
            "partition": rng.choice(["regular", "regular", "low"]),
            "load": round(rng.random(), 3),
            "nothing": round(rng.gauss(0, 1), 3),
        }
        log = size * (
            PLANTED["hops"] * row["hops"]
            + PLANTED["groups"] * row["groups"]
            + PLANTED["partition"] * (row["partition"] == "low")
            + PLANTED["load"] * row["load"]
            + PLANTED["date"] * (run >= runs / 2)
        )
        values.append(100 * math.exp(log + spread * rng.gauss(0, 1)) * outlying(rng, outliers))
        when.append((date(2026, 1, 1) + timedelta(days=run)).isoformat())
        for name, cell in row.items():
            columns[name].append(cell)
    return RunsTable(
        name="run_time_s", values=tuple(values), unit="s", when=tuple(when),
        columns={name: tuple(cells) for name, cells in columns.items()},
    )  # fmt: skip


def with_slow_node(
    rng: random.Random, outliers: float, slow: float = 0.15, runs: int = 120, spread: float = 0.03, racks: bool = False
) -> RunsTable:
    """Runs on 8 of 64 nodes each, those on node n17 (or a node of rack r3) slower by a share; `slow=0` plants nothing."""
    nodes = [f"r{number // 8}-n{number:02d}" for number in range(64)]
    values, lists = [], []
    for _ in range(runs):
        chosen = sorted(rng.sample(nodes, 4)) if racks else sorted(rng.sample(nodes, 8))
        hit = any(node.startswith("r3-") for node in chosen) if racks else "r2-n17" in chosen
        values.append(100 * math.exp(spread * rng.gauss(0, 1)) * (1 + slow * hit) * outlying(rng, outliers))
        lists.append(",".join(chosen))
    return RunsTable(name="run_time_s", values=tuple(values), unit="s", columns={"nodes": tuple(lists)})
