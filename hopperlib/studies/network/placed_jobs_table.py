"""How ``data/placed-jobs.csv`` is made: histories of the machine, in processes or on a cluster.

    python -m hopperlib.studies.network.placed_jobs_table

writes the table anew. It takes some minutes, keeps what is done in a folder of
``_build`` that is named for the code, and goes on there if it was interrupted. The
table's last column is that name, a hash of the code, and a test compares the two.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import io
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hopperlib.analysis.ensembles import run_ensemble
from hopperlib.documented.data_files import data_folder
from hopperlib.machine import Machine
from hopperlib.network.runtime.placed_jobs import CASES, DAYS, SEEDS, Histories, PlacedJob
from hopperlib.network.torus.orders import compute_nodes

__all__ = ["COMMAND", "as_csv", "build", "code_hash", "modules_behind", "one_history"]

#: What writes the table anew.
COMMAND = "python -m hopperlib.studies.network.placed_jobs_table"
_FIRST = "hopperlib.network.runtime.placed_jobs"


@cache
def _histories() -> Histories:
    """Return the histories of Hopper; kept, since several cases share a schedule."""
    return Histories(Machine.load("hopper"))


def one_history(seed: int, order: str, allocation: str, sizes: list[int], days: int) -> list[dict[str, Any]]:
    """Return the MILC jobs of one history as rows.

    Parameters
    ----------
    seed : int
    order, allocation : str
        As in `hopperlib.network.runtime.placed_jobs.CASES`.
    sizes : list of int
        [tasks]
    days : int

    Examples
    --------
    >>> one_history(1, "nid", "first", [8192], days=1)[0]["job_runs"]
    2
    """
    return [
        {f"job_{name}": value for name, value in job._asdict().items()}
        for job in _histories().placed_jobs(seed, order, allocation, sizes, days=days)
    ]


def modules_behind(first: str = _FIRST) -> list[str]:
    """Return the modules of `hopperlib.network` that a module needs, itself included.

    Examples
    --------
    >>> modules_behind("hopperlib.network.torus.distances")
    ['hopperlib.network.torus.distances']
    """
    behind: set[str] = set()
    to_read = [first]
    while to_read:
        module = to_read.pop()
        if module.startswith("hopperlib.network.") and module not in behind:
            behind.add(module)
            imports = (node for node in ast.walk(_tree(module)) if isinstance(node, ast.ImportFrom))
            to_read += [node.module for node in imports if node.module]
    return sorted(behind)


def _tree(module: str) -> ast.Module:
    """Return a module of the package as its syntax tree."""
    path = Path(__file__).resolve().parents[2].joinpath(*module.split(".")[1:]).with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _as_data(part: Any) -> Any:
    """Return a syntax tree as plain data, without docstrings and what is empty: the same from every Python."""
    if isinstance(part, list):
        return [_as_data(each) for each in part]
    if not isinstance(part, ast.AST):
        return repr(part)
    inside = {name: value for name, value in ast.iter_fields(part) if value is not None and value != []}
    match part:
        case ast.Module() | ast.ClassDef() | ast.FunctionDef(body=[ast.Expr(value=ast.Constant(value=str())), *_]):
            if ast.get_docstring(part, clean=False) is not None:
                inside["body"] = part.body[1:]
        case ast.JoinedStr():
            # Some Pythons end a format with an empty text, others do not.
            inside["values"] = [value for value in part.values if getattr(value, "value", None) != ""]
    return [type(part).__name__, *([name, _as_data(value)] for name, value in sorted(inside.items()))]


@cache
def code_hash() -> str:
    """Return a short hash of all that the table depends on: code, less comments and docstrings, and Hopper's torus.

    Examples
    --------
    >>> len(code_hash())
    12
    """
    machine, links = Machine.load("hopper"), _histories().links
    torus = [links.dimensions, links.capacity, machine.node().cores, [tuple(node) for node in compute_nodes(machine)]]
    code = [_as_data(_tree(module)) for module in modules_behind()]
    return hashlib.sha256(repr([torus, code]).encode()).hexdigest()[:12]


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Return rows of `one_history` as the text of the table; the last column says which code made them.

    Examples
    --------
    >>> as_csv([]).split(",")[:3]
    ['order', 'allocation', 'seed']
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*PlacedJob._fields, "code"])
    code = code_hash()
    writer.writerows([*(row[f"job_{name}"] for name in PlacedJob._fields), code] for row in rows)
    return out.getvalue()


def build(
    folder: str | Path,
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
    'xyz_by2,first,1,4096'
    """
    settings = [
        {"seed": seed, "order": order, "allocation": allocation, "sizes": list(sizes), "days": days}
        for order, allocation, sizes in CASES
        for seed in seeds
    ]
    table = run_ensemble(one_history, settings, folder, workers=workers, client=client)
    return as_csv(table.to_dict("records"))


if __name__ == "__main__":
    (data_folder() / "placed-jobs.csv").write_text(
        build(Path("_build") / f"placed-jobs-{code_hash()}"), encoding="utf-8"
    )
