"""Read performance results from ReFrame's SQLite database (version 4.7 and later), without changing it.

References
----------
ReFrame 4.10, ``reframe/frontend/reporting/storage.py`` (tables of the database, version 1.0) and
``reframe/schemas/runreport.json`` (a report of a session).
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from hopperlib.errors import InputError
from hopperlib.monitoring.history import Better, History, better_of
from hopperlib.monitoring.simultaneous_changes import kind_of


class Variable(NamedTuple):
    """Where a performance variable is defined: source file of the test, its class, ``system:partition``, name, unit."""

    file: str
    test: str
    system: str
    name: str
    unit: str


class ReframeSeries(NamedTuple):
    """One series, and the test where its reference belongs."""

    history: History
    variable: Variable


def read_reframe(path: str) -> tuple[ReframeSeries, ...]:
    """Return the series in a ReFrame database, one per test, system, environment and variable.

    Parameters
    ----------
    path : str
        ReFrame's ``results.db``.

    Raises
    ------
    InputError
        If the file cannot be read, or is not such a database.

    Examples
    --------
    >>> read_reframe("nowhere/results.db")
    Traceback (most recent call last):
    hopperlib.errors.InputError: nowhere/results.db: is not a readable ReFrame database: unable to open database file
    """
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT json_blob FROM sessions ORDER BY session_start_unix")
            cases = [case for (blob,) in rows for run in json.loads(blob)["runs"] for case in run["testcases"]]
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is not a readable ReFrame database: {error}") from None
    series: dict[tuple[str, Variable], list[tuple[float, str, float, list[Any]]]] = defaultdict(list)
    for case in cases:
        for key, run in _values(case):
            series[key].append(run)
    return tuple(
        _series(name, variable, sorted(runs, key=lambda run: run[0])) for (name, variable), runs in series.items()
    )


def _values(case: dict[str, Any]) -> Iterator[tuple[tuple[str, Variable], tuple[float, str, float, list[Any]]]]:
    """Yield the positive values measured by a test case, each with its series."""
    at_s, title = case.get("job_completion_time_unix") or 0.0, case.get("display_name") or case["name"]
    for key, (value, *reference) in (case.get("perfvalues") or {}).items():
        system, _, name = key.rpartition(":")
        if isinstance(value, int | float) and value > 0:
            unit = str(reference[3]) if len(reference) > 3 else ""
            variable = Variable(case.get("filename", ""), title.split()[0], system, name, unit)
            label = f"{title} @{system}+{case.get('environ', '')} {name}"
            yield (label, variable), (at_s, str(case.get("job_completion_time")), float(value), reference)


def _series(name: str, variable: Variable, runs: list[tuple[float, str, float, list[Any]]]) -> ReframeSeries:
    """Return a series; the worse direction is taken from its last reference, otherwise from its name."""
    low, high = (runs[-1][3] + [None] * 3)[1:3]
    stated: Better | None = "higher" if high is None else "lower" if low is None else None
    named = better_of(variable.name, variable.unit)
    history = History(
        name=name,
        values=tuple(value for _, _, value, _ in runs),
        times=tuple(time for _, time, _, _ in runs),
        unit=variable.unit,
        better=named if low is high is None else stated or named,
        kind=kind_of(name),
    )
    return ReframeSeries(history, variable)
