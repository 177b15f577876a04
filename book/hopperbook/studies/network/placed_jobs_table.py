"""How ``data/placed-jobs.csv`` and ``data/placed-jobs-population.csv`` are made: histories, in several processes.

    python -m hopperbook.studies.network.placed_jobs_table

writes both: some seeds of several cases for the explorers, and of two cases enough to show their tails, for the
studies. It takes about forty minutes, stores partial results in a folder of ``_build`` named by the sources, and
resumes from there after an interruption. A test makes some of its rows again.
"""

import hashlib
from pathlib import Path
from typing import Any

import hopperlib
from hopperkit.analysis.ensembles import run_ensemble
from hopperlib.data_files import data_folder
from hopperlib.machine import Machine
from hopperlib.network.runtime.placed_jobs import CASES, DAYS, SEEDS, Histories, PlacedJob

# : Seeds of the population: enough that the slowest run of a table does not depend on the choice of seeds.
POPULATION = (*range(1, 111), *range(121, 211))
_TABLES = {"placed-jobs": SEEDS, "placed-jobs-population": POPULATION}


def history(seed: int, days: int, table: str) -> list[dict[str, Any]]:
    """Return the MILC jobs of one seed as rows: of the population those on 8,192 cores, in both node orders.

    Parameters
    ----------
    seed, days : int
    table : {"placed-jobs", "placed-jobs-population"}

    Examples
    --------
    >>> rows = history(21, 1, "placed-jobs-population")
    >>> sorted({row["job_order"] for row in rows}), rows[0]["job_tasks"]
    (['nid', 'xyz-by2'], 8192)
    """
    cases = [case for case in CASES if seed in case[-1]] if table == "placed-jobs" else CASES[:2]
    histories = Histories(Machine.load("hopper"))
    return [
        {f"job_{name}": value for name, value in job._asdict().items()}
        for order, allocation, sizes, _ in cases
        for job in histories.placed_jobs(seed, order, allocation, sizes, days=days)
    ]


def _main() -> None:
    """Make both tables; results made with other sources are not reused."""
    sources = sorted(Path(hopperlib.__file__).parent.rglob("*.py"))
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]
    for table, seeds in _TABLES.items():
        settings = [{"seed": seed, "days": DAYS, "table": table} for seed in seeds]
        frame = run_ensemble(history, settings, Path("_build") / f"placed-jobs-{digest}" / table)
        frame = frame[[f"job_{name}" for name in PlacedJob._fields]].set_axis(PlacedJob._fields, axis="columns")
        frame.to_csv(data_folder() / f"{table}.csv", index=False, lineterminator="\n")


if __name__ == "__main__":
    _main()
