"""How ``data/placed-jobs.csv`` and ``data/placed-jobs-population.csv`` are made: histories, in processes or on a cluster.

    python -m hopperbook.studies.network.placed_jobs_table

writes both anew: some seeds of several cases for the explorers, and of one case as many as say
how its tail looks, for the study. It takes some twenty minutes, keeps what is done in a folder of
``_build`` that is named for the sources, and goes on there if it was interrupted.
A test makes some of its rows again.
"""

import csv
import hashlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import hopperlib
from hopperlib.analysis.ensembles import run_ensemble
from hopperlib.data_files import data_folder
from hopperlib.machine import Machine
from hopperlib.network.runtime.placed_jobs import CASES, DAYS, SEEDS, Histories, PlacedJob

#: Seeds of the population: so many that the slowest run of a table is no matter of which seeds were taken.
POPULATION = (*range(1, 111), *range(121, 211))


def one_history(seed: int, days: int) -> list[dict[str, Any]]:
    """Return the MILC jobs of one seed as rows: all cases that have it.

    Parameters
    ----------
    seed : int
    days : int

    Examples
    --------
    >>> rows = one_history(1, days=1)
    >>> sorted({row["job_order"] for row in rows}), rows[0]["job_tasks"]
    (['nid', 'xyz-by2'], 8192)
    """
    histories = Histories(Machine.load("hopper"))
    return [
        {f"job_{name}": value for name, value in job._asdict().items()}
        for order, allocation, sizes, seeds in CASES
        if seed in seeds
        for job in histories.placed_jobs(seed, order, allocation, sizes, days=days)
    ]


def one_of_population(seed: int, days: int) -> list[dict[str, Any]]:
    """Return the MILC jobs of one seed on 8,192 cores in Hopper's own order, as rows.

    Parameters
    ----------
    seed, days : int

    Examples
    --------
    >>> {row["job_tasks"] for row in one_of_population(21, days=1)}
    {8192}
    """
    order, allocation, sizes, _ = CASES[0]
    jobs = Histories(Machine.load("hopper")).placed_jobs(seed, order, allocation, sizes, days=days)
    return [{f"job_{name}": value for name, value in job._asdict().items()} for job in jobs]


def _source_digest() -> str:
    """Return a short digest of the package's sources: what was made with others is not taken up again."""
    sources = sorted(Path(hopperlib.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:12]


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Return rows of `one_history` as the text of the table.

    Examples
    --------
    >>> as_csv([]).split(",")[:3]
    ['order', 'allocation', 'seed']
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(PlacedJob._fields)
    writer.writerows([row[f"job_{name}"] for name in PlacedJob._fields] for row in rows)
    return out.getvalue()


def build(
    folder: str | Path,
    history: Callable[[int, int], list[dict[str, Any]]] = one_history,
    *,
    seeds: Sequence[int] = SEEDS,
    days: int = DAYS,
    workers: int | None = None,
    client: Any = None,
) -> str:
    """Run all histories that are missing in a folder; return the text of the table.

    Parameters
    ----------
    folder : str or Path
        Where `hopperlib.analysis.ensembles.run_ensemble` keeps what is done.
    history : callable
        `one_history` or `one_of_population`.
    seeds : sequence of int
    days : int
    workers : int or None
    client : object with ``submit``, or None
        As for `run_ensemble`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = build(folder, seeds=[1], days=1, workers=0)
    >>> text.splitlines()[1][:20]
    'xyz-by2,first,1,8192'
    """
    table = run_ensemble(
        history, [{"seed": seed, "days": days} for seed in seeds], folder, workers=workers, client=client
    )
    return as_csv(table.to_dict("records"))


if __name__ == "__main__":
    kept = Path("_build") / f"placed-jobs-{_source_digest()}"
    (data_folder() / "placed-jobs.csv").write_text(build(kept / "cases"), encoding="utf-8")
    table = build(kept / "population", one_of_population, seeds=POPULATION)
    (data_folder() / "placed-jobs-population.csv").write_text(table, encoding="utf-8")
