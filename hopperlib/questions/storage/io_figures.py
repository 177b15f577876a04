"""Figures of measured I/O: rates against tasks or transfer size, the spread of repetitions, the rates of OSTs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hopperlib.errors import InputError, refusal
from hopperlib.machine import Machine
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.result import Column, Figure, Table
from hopperlib.readers.ior.results import IoResult
from hopperlib.storage.logs.ost_rates import Verdict
from hopperlib.storage.lustre.client import ceiling_gb_s
from hopperlib.units import BYTES_PER_MIB

__all__ = ["comparison_table", "measured_rows", "ost_figure", "rate_figure", "repetition_figure", "rows_table"]

# However many OSTs a log names, a page of it stays small.
_MOST_OSTS = 200
# What rates can be drawn against: the axis, and where a row stands on it.
_AGAINST: dict[str, tuple[Axis, Callable[[IoResult], float | None]]] = {
    "tasks": (Axis(title="Tasks", log=True), lambda row: row.tasks),
    "transfer": (
        Axis(title="Transfer size", unit="MiB", log=True),
        lambda row: row.transfer_bytes / BYTES_PER_MIB if row.transfer_bytes else None,
    ),
}
# Columns of the table of rates, by the part of a row that they show.
_COLUMNS = {
    "status": Column("Status"),
    "access": Column("Access"),
    "type": Column("Files are"),
    "tasks": Column("Tasks"),
    "nodes": Column("Nodes"),
    "transfer_bytes": Column("Transfer", "bytes"),
    "repetition": Column("Repetition"),
    "rate_mib_s": Column("Rate", "MiB/s", 2),
    "rate_mb_s": Column("Rate", "MB/s", 2),
    "operations_s": Column("Operations", "1/s", 1),
    "seconds": Column("Time", "s"),
}


def measured_rows(rows: Sequence[IoResult]) -> list[IoResult]:
    """Return the rows that hold an aggregate rate of a run that ended well.

    Examples
    --------
    >>> len(measured_rows([IoResult(file="a", rate_mib_s=1.0, access="read"), IoResult(file="b", access="read")]))
    1
    """
    return [row for row in rows if row.status == "ok" and row.rate_mib_s is not None and row.rank is None]


def rows_table(rows: Sequence[IoResult], caption: str = "Rates as measured") -> Table:
    """Return rows as a table; folders are left out where the names of the files tell them apart.

    Examples
    --------
    >>> rows_table([IoResult(file="runs/a.txt", access="write", rate_mib_s=2.0)]).rows[0][:2]
    ('a.txt', 'ok')
    """
    names = {row.file: row.file.rpartition("/")[2] or row.file for row in rows}
    if len(set(names.values())) < len(names):
        # Without their folders the files could not be told apart.
        names = {file: file for file in names}
    return Table(
        caption=caption,
        columns=(Column("File"), *_COLUMNS.values()),
        rows=[(names[row.file], *(_cell(row, name) for name in _COLUMNS)) for row in rows],
    )


def _cell(row: IoResult, name: str) -> Any:
    """Return a part of a row; a row that is no single repetition says its statistic there."""
    return row.statistic if name == "repetition" and row.repetition is None else getattr(row, name)


def _kind(row: IoResult) -> str:
    """Return what a cloud of points is called: access and kind of file."""
    return ", ".join(word for word in (row.access, row.type) if word)


def _clouds(
    title: str,
    alt: str,
    x: Axis,
    clouds: Mapping[str, Sequence[tuple[float, float]]],
    references: Sequence[Reference] = (),
) -> Figure:
    """Return the chart of some clouds of points, place and rate; `alt` takes the number, the least and the greatest."""
    rates = [rate for points in clouds.values() for _, rate in points]
    return chart(
        title=title,
        alt=alt.format(len(rates), min(rates), max(rates)),
        x=x,
        y=Axis(title="Rate of all tasks", unit="MB/s", low=0, decimals=1),
        series=[
            Series(name=name, kind="points", x=[place for place, _ in points], y=[rate for _, rate in points])
            for name, points in clouds.items()
        ],
        references=references,
    )


def rate_figure(rows: Sequence[IoResult], against: str) -> Figure:
    """Return the rates against tasks or transfer size, a cloud of points for each access and kind of file.

    Parameters
    ----------
    rows : sequence of IoResult
    against : str
        ``tasks`` or ``transfer``.

    Raises
    ------
    InputError
        If no row holds both, or `against` is something else.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", tasks=tasks, rate_mib_s=100.0 * tasks) for tasks in (1, 2, 4)]
    >>> rate_figure(rows, "tasks").table.rows[-1]
    (4, 419.4304)
    """
    if against not in _AGAINST:
        raise refusal("against", against, f"must be one of: {', '.join(_AGAINST)}")
    axis, place_of = _AGAINST[against]
    name, clouds = axis.title.lower(), defaultdict(list)
    for row in measured_rows(rows):
        place = place_of(row)
        if place is not None and row.rate_mb_s is not None:
            clouds[_kind(row)].append((place, row.rate_mb_s))
    if not clouds:
        raise InputError(f"no row holds both a rate and {name}")
    ordered = {kind: sorted(points) for kind, points in clouds.items()}
    alt = "{} measured rates from {:,.1f} to {:,.1f} MB/s against " + f"{name}."
    return _clouds(f"Rate against {name}", alt, axis, ordered)


def repetition_figure(rows: Sequence[IoResult], references: Sequence[Reference] = ()) -> Figure:
    """Return the rates by repetition: how much the same run varies.

    Raises
    ------
    InputError
        If no row is a single repetition.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", repetition=n, rate_mib_s=rate) for n, rate in enumerate((10.0, 20.0))]
    >>> repetition_figure(rows).data[0]["x"]
    [0, 1]
    """
    single = [row for row in measured_rows(rows) if row.repetition is not None]
    if not single:
        raise InputError("no row is a single repetition")
    several = len({row.file for row in single}) > 1
    clouds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in single:
        if row.repetition is not None and row.rate_mb_s is not None:
            name = f"{_kind(row)}: {row.file}" if several else _kind(row)
            clouds[name].append((row.repetition, row.rate_mb_s))
    alt = "{} rates by repetition, from {:,.1f} to {:,.1f} MB/s."
    return _clouds("Repetitions of the same run", alt, Axis(title="Repetition"), clouds, references)


def ost_figure(verdict: Verdict) -> Figure:
    """Return what a task got from each OST, the slow ones marked; its table has the slowest first.

    Raises
    ------
    InputError
        If the log shows no rate of an OST.

    Examples
    --------
    >>> ost_figure(Verdict(direction="write", unknown="no write of a file whose OSTs the log knows"))
    Traceback (most recent call last):
    hopperlib.errors.InputError: no figure of OSTs: no write of a file whose OSTs the log knows
    """
    if not verdict.rates:
        raise InputError(f"no figure of OSTs: {verdict.unknown}")
    shown = verdict.rates[:_MOST_OSTS]
    ordered = sorted(shown, key=lambda measured: measured.osts)
    slow = {judged.rate.osts for judged in verdict.slow}
    groups: dict[str, list[tuple[int, float]]] = {"others": [], "slow": []}
    for each in ordered:
        groups["slow" if each.osts in slow else "others"].append((each.osts[0], max(each.rate_mb_s, 1e-9)))
    rates = [rate for bars in groups.values() for _, rate in bars]
    names = ", ".join(_names(osts) for osts in sorted(slow))
    least = f"; the {_MOST_OSTS} slowest of {len(verdict.rates):,}" if len(verdict.rates) > len(shown) else ""
    figure = chart(
        title=f"What a task got from each OST ({verdict.direction})",
        alt=(
            f"Rates of {len(rates)} OSTs from {min(rates):.3g} to {max(rates):.3g} MB/s; "
            f"{f'slow: {names}' if slow else verdict.unknown or 'none is slow'}."
        ),
        x=Axis(title="OST"),
        y=Axis(title="Rate of a task", unit="MB/s", log=True),
        series=[
            Series(name=name, kind="bars", x=[ost for ost, _ in bars], y=[rate for _, rate in bars])
            for name, bars in groups.items()
            if bars
        ],
    )
    table = Table(
        caption=f"What a task got from each OST, slowest first{least}",
        columns=(Column("OST"), Column("Rate", "MB/s", 2), Column("Files"), Column("Bytes"), Column("Judged")),
        rows=[
            (_names(each.osts), each.rate_mb_s, each.files, round(each.moved_bytes), "slow" * (each.osts in slow))
            for each in shown
        ],
    )
    return replace(figure, table=table)


def _names(osts: Sequence[int]) -> str:
    """Return the numbers of OSTs that stand together; of many, the first."""
    return ", ".join(map(str, osts[:12])) + (" ..." if len(osts) > 12 else "")


def comparison_table(rows: Sequence[IoResult], machine: Machine) -> Table:
    """Return written rates beside what the model lets so many nodes write at most.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", nodes=1, tasks=24, rate_mib_s=1200.0)]
    >>> comparison_table(rows, Machine.load("hopper")).rows[0][-1]
    0.7401...
    """
    compared = []
    for row in measured_rows(rows):
        if row.access == "write" and row.nodes and row.rate_mb_s is not None:
            measured, most = row.rate_mb_s / 1000, ceiling_gb_s(machine, row.nodes)
            compared.append((row.file, row.tasks, row.nodes, measured, most, measured / most))
    return Table(
        caption=f"Written rates beside the ceiling of as many nodes of {machine.title}",
        columns=(
            *(Column(title) for title in ("File", "Tasks", "Nodes")),
            Column("Measured", "GB/s", 3),
            Column("Ceiling", "GB/s", 3, "predicted"),
            Column("Measured over ceiling", decimals=2),
        ),
        rows=compared,
    )
