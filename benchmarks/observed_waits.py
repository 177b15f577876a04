"""Observed and simulated waits of public logs: ``python -m benchmarks.observed_waits FOLDER`` writes data/observed-waits.csv.

The folder holds the logs of the Parallel Workloads Archive named below, as they are; they are not copied into the
project. Each is simulated under EASY and first come, first served, and under EASY with the times in which next to
nothing ran while jobs waited as planned downtimes.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from hopperkit.readers.jobs.swf import read_swf
from hopperkit.traces.observed import Waits, by_group, differences
from hopperkit.traces.scheduler import infeasible_jobs, simulate
from hopperlib.data_files import data_folder
from hopperlib.scheduling.downtimes import Downtime

# Name of the machine, file, nodes by the header, processors of a node.
LOGS = (
    ("KTH-SP2", "KTH-SP2-1996-2.1-cln.swf.gz", 100, 1),
    ("SDSC-SP2", "SDSC-SP2-1998-4.2-cln.swf.gz", 128, 1),
    ("LLNL-Atlas", "LLNL-Atlas-2006-2.1-cln.swf.gz", 1152, 8),
    ("CEA-Curie", "CEA-Curie-2011-2.1-cln.swf.gz", 5544, 16),
)


def row(name: str, path: Path, nodes: int, cores: int) -> dict[str, object]:
    """Return one log's waits and what speaks for which cause."""
    trace = read_swf(path, cores_per_node=cores)
    wide = set(infeasible_jobs(trace.workload, nodes))
    workload = trace.workload.of([job for job in range(len(trace.workload)) if job not in wide])
    schedule = simulate(workload, nodes)
    groups = by_group(schedule)
    whole, causes = groups[-1], {finding.code: finding.evidence for finding in differences(schedule, groups)}
    still = causes.get("maintenance", {}).get("downtimes", [])
    down = [Downtime(start_s=start, end_s=end, drained=True) for start, end in still]
    variants = {
        "fcfs": simulate(workload, nodes, policy="fcfs"),
        "downtimes": simulate(workload, nodes, downtimes=down) if down else schedule,
        "overrun": simulate(workload, nodes, overrun="keep"),
    }
    row_values: dict[str, object] = {
        "log": name,
        "jobs": whole.jobs,
        "left_out": trace.skips.total + len(wide),
        "nodes": nodes,
    }
    for kind, waits in (("observed", whole.observed), ("easy", whole.simulated)):
        row_values |= {
            f"{kind}_{name}": None
            if waits is None or number is None
            else round(number, 3 if name == "utilization" else 1)
            for name, number in (waits._asdict() if waits else dict.fromkeys(Waits._fields)).items()
        }
    for kind, other in variants.items():
        waits = by_group(other)[-1].simulated
        row_values[f"{kind}_wait_mean_s"] = round(waits.wait_mean_s, 1) if waits else None
    if whole.observed is None:
        return row_values | dict.fromkeys(("still_times", "still_h", "idle_share", "out_of_order_share"))
    row_values["still_times"], row_values["still_h"] = (
        len(still),
        round(sum(end - start for start, end in still) / 3600, 1),
    )
    for kind, code in (("idle_share", "idle-while-waiting"), ("out_of_order_share", "out-of-order")):
        row_values[kind] = round(float(causes.get(code, {}).get("share", 0.0)), 3)
    return row_values


def main(folder: str) -> None:
    """Write the table."""
    with (data_folder() / "observed-waits.csv").open("w", encoding="utf-8", newline="") as out:
        writer = None
        for name, file, nodes, cores in LOGS:
            row_values = row(name, Path(folder) / file, nodes, cores)
            if writer is None:
                writer = csv.DictWriter(out, list(row_values), lineterminator="\n")
                writer.writeheader()
            writer.writerow(row_values)
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
