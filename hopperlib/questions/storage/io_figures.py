"""Figures of measured I/O: rates against tasks or transfer size, the spread of repetitions, the rates of OSTs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from hopperlib.machine import Machine
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.result import Column, Figure, Table
from hopperlib.readers.io_results import IoResult
from hopperlib.storage.logs.ost_rates import Verdict
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.units import BYTES_PER_MIB

__all__ = [
    "ceiling_gb_s",
    "comparison_table",
    "measured_rows",
    "ost_figure",
    "rate_figure",
    "repetition_figure",
    "rows_table",
]


def measured_rows(rows: Sequence[IoResult]) -> list[IoResult]:
    """Return the rows that hold an aggregate rate of a run that ended well.

    Examples
    --------
    >>> len(measured_rows([IoResult(file="a", rate_mib_s=1.0, access="read"), IoResult(file="b", access="read")]))
    1
    """
    return [one for one in rows if one.status == "ok" and one.rate_mib_s is not None and one.rank is None]


def rows_table(rows: Sequence[IoResult], caption: str = "Rates as measured") -> Table:
    """Return rows as a table.

    Examples
    --------
    >>> rows_table([IoResult(file="a.txt", access="write", rate_mib_s=2.0)]).rows[0][:2]
    ('a.txt', 'ok')
    """
    columns = (
        Column(title="File"),
        Column(title="Status"),
        Column(title="Access"),
        Column(title="Files are"),
        Column(title="Tasks"),
        Column(title="Nodes"),
        Column(title="Transfer", unit="bytes"),
        Column(title="Repetition"),
        Column(title="Rate", unit="MiB/s", decimals=2),
        Column(title="Rate", unit="MB/s", decimals=2),
        Column(title="Operations", unit="1/s", decimals=1),
        Column(title="Time", unit="s"),
    )
    return Table(
        caption=caption,
        columns=columns,
        rows=[
            (
                one.file,
                one.status,
                one.access,
                one.type,
                one.tasks,
                one.nodes,
                one.transfer_bytes,
                one.repetition if one.repetition is not None else one.statistic,
                one.rate_mib_s,
                one.rate_mb_s,
                one.operations_s,
                one.seconds,
            )
            for one in rows
        ],
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
    ValueError
        If no row holds both, or `against` is something else.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", tasks=tasks, rate_mib_s=100.0 * tasks) for tasks in (1, 2, 4)]
    >>> rate_figure(rows, "tasks").table.rows[-1]
    (4, 419.4304)
    """
    ways: dict[str, tuple[Callable[[IoResult], float | None], Axis]] = {
        "tasks": (lambda one: one.tasks, Axis(title="Tasks", log=True)),
        "transfer": (
            lambda one: one.transfer_bytes / BYTES_PER_MIB if one.transfer_bytes else None,
            Axis(title="Transfer size", unit="MiB", log=True),
        ),
    }
    if against not in ways:
        raise ValueError(f"against={against!r} must be one of: {', '.join(ways)}")
    value, axis = ways[against]
    clouds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for one in measured_rows(rows):
        place = value(one)
        if place is not None and one.rate_mb_s is not None:
            clouds[_name(one)].append((place, one.rate_mb_s))
    if not clouds:
        raise ValueError(f"no row holds both a rate and {axis.title.lower()}")
    for points in clouds.values():
        points.sort()
    rates = [rate for points in clouds.values() for _, rate in points]
    return chart(
        title=f"Rate against {axis.title.lower()}",
        alt=f"{len(rates)} measured rates from {min(rates):,.1f} to {max(rates):,.1f} MB/s against {axis.title.lower()}.",
        x=axis,
        y=Axis(title="Rate of all tasks", unit="MB/s", low=0, decimals=1),
        series=[
            Series(name=name, kind="points", x=[place for place, _ in points], y=[rate for _, rate in points])
            for name, points in clouds.items()
        ],
    )


def _name(one: IoResult) -> str:
    """Return what a cloud of points is called."""
    return ", ".join(word for word in (one.access, one.type) if word)


def repetition_figure(rows: Sequence[IoResult], references: Sequence[Reference] = ()) -> Figure:
    """Return the rates by repetition: how much the same run varies.

    Raises
    ------
    ValueError
        If no row is a single repetition.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", repetition=n, rate_mib_s=rate) for n, rate in enumerate((10.0, 20.0))]
    >>> repetition_figure(rows).data[0]["x"]
    [0, 1]
    """
    lines: dict[str, list[tuple[int, float]]] = defaultdict(list)
    single = [one for one in measured_rows(rows) if one.repetition is not None]
    several = len({one.file for one in single}) > 1
    for one in single:
        name = f"{_name(one)}: {one.file}" if several else _name(one)
        assert one.repetition is not None
        assert one.rate_mb_s is not None
        lines[name].append((one.repetition, one.rate_mb_s))
    if not lines:
        raise ValueError("no row is a single repetition")
    rates = [rate for points in lines.values() for _, rate in points]
    return chart(
        title="Repetitions of the same run",
        alt=f"{len(rates)} rates by repetition, from {min(rates):,.1f} to {max(rates):,.1f} MB/s.",
        x=Axis(title="Repetition"),
        y=Axis(title="Rate of all tasks", unit="MB/s", low=0, decimals=1),
        series=[
            Series(name=name, kind="points", x=[place for place, _ in points], y=[rate for _, rate in points])
            for name, points in lines.items()
        ],
        references=references,
    )


def ost_figure(verdict: Verdict) -> Figure:
    """Return what a task got from each OST.

    Raises
    ------
    ValueError
        If the log cannot tell OSTs apart.

    Examples
    --------
    >>> ost_figure(Verdict(direction="write", unknown="one file over all OSTs"))
    Traceback (most recent call last):
    ValueError: no figure of OSTs: one file over all OSTs
    """
    if verdict.unknown:
        raise ValueError(f"no figure of OSTs: {verdict.unknown}")
    ordered = sorted(verdict.rates, key=lambda one: one.osts)
    slow = {one.rate.osts for one in verdict.slow}
    groups = [("others", [one for one in ordered if one.osts not in slow])]
    groups.append(("slow", [one for one in ordered if one.osts in slow]))
    rates = [one.rate_mb_s for one in ordered]
    said = f"; slow: {', '.join(str(ost) for osts in sorted(slow) for ost in osts)}" if slow else "; none is slow"
    return chart(
        title=f"What a task got from each OST ({verdict.direction})",
        alt=f"Rates of {len(rates)} OSTs from {min(rates):.3g} to {max(rates):.3g} MB/s{said}.",
        x=Axis(title="OST"),
        y=Axis(title="Rate of a task", unit="MB/s", low=0, decimals=2),
        series=[
            Series(name=name, kind="bars", x=[one.osts[0] for one in part], y=[one.rate_mb_s for one in part])
            for name, part in groups
            if part
        ],
    )


def ceiling_gb_s(machine: Machine, nodes: int) -> float:
    """Most that so many nodes can write: their own ceiling, or the file system's peak. [GB/s]

    Raises
    ------
    ValueError
        If the machine states no file system or there is no node.

    Examples
    --------
    >>> [ceiling_gb_s(Machine.load("hopper"), nodes) for nodes in (1, 10, 1000)]
    [1.7, 17.0, 35.0]
    """
    if nodes < 1:
        raise ValueError(f"nodes={nodes} must be at least 1")
    system = file_system_of(machine)
    return float(min(nodes * system.node_write_ceiling_gb_s, system.peak_gb_s))


def comparison_table(rows: Sequence[IoResult], machine: Machine) -> Table:
    """Return written rates beside what the model lets so many nodes write at most.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", nodes=1, tasks=24, rate_mib_s=1200.0)]
    >>> comparison_table(rows, Machine.load("hopper")).rows[0][-1]
    0.7401...
    """
    table: list[tuple[Any, ...]] = []
    for one in measured_rows(rows):
        if one.access == "write" and one.nodes and one.rate_mb_s is not None:
            most = ceiling_gb_s(machine, one.nodes)
            measured = one.rate_mb_s / 1000
            table.append((one.file, one.tasks, one.nodes, measured, most, measured / most))
    return Table(
        caption=f"Written rates beside the ceiling of as many nodes of {machine.title}",
        columns=(
            Column(title="File"),
            Column(title="Tasks"),
            Column(title="Nodes"),
            Column(title="Measured", unit="GB/s", decimals=3),
            Column(title="Ceiling", unit="GB/s", decimals=3, badge="predicted"),
            Column(title="Measured over ceiling", decimals=2),
        ),
        rows=table,
    )
