"""Figures of measured I/O: rates against tasks or transfer size, the spread of repetitions, the rates of OSTs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hopperlib.errors import InputError, refusal
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.result import Column, Figure, Table, table
from hopperlib.readers.ior.results import IoResult, measured_rows
from hopperlib.storage.logs.ost_rates import OstRate, Verdict
from hopperlib.text import count, digits
from hopperlib.units import BYTES_PER_MIB

# However many OSTs a log names, a page of it stays small.
_MOST_OSTS = 200
_RATE_AXIS = Axis(title="Rate of all tasks", unit="MB/s", low=0, decimals=1)


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
    return table(
        caption,
        rows,
        {
            "File": lambda row: names[row.file],
            "Status": lambda row: row.status,
            "Access": lambda row: row.access,
            "Files are": lambda row: row.type,
            "Tasks": lambda row: row.tasks,
            "Nodes": lambda row: row.nodes,
            Column("Transfer", "bytes"): lambda row: row.transfer_bytes,
            # A row that is no single repetition says its statistic there.
            "Repetition": lambda row: row.statistic if row.repetition is None else row.repetition,
            Column("Rate", "MiB/s", 2): lambda row: row.rate_mib_s,
            Column("Rate", "MB/s", 2): lambda row: row.rate_mb_s,
            Column("Operations", "1/s", 1): lambda row: row.operations_s,
            Column("Time", "s"): lambda row: row.seconds,
        },
    )


def _kind(row: IoResult) -> str:
    """Return what a cloud of points is called: access and kind of file."""
    return ", ".join(word for word in (row.access, row.type) if word)


def _clouds(
    title: str,
    against: str,
    x: Axis,
    clouds: Mapping[str, Sequence[tuple[float, float]]],
    references: Sequence[Reference] = (),
) -> Figure:
    """Return the chart of some clouds of points, place and rate."""
    rates = [rate for points in clouds.values() for _, rate in points]
    return chart(
        title=title,
        alt=f"{count(len(rates), 'measured rate')} {against}, from {min(rates):,.1f} to {max(rates):,.1f} MB/s.",
        x=x,
        y=_RATE_AXIS,
        series=[
            Series(name=kind, kind="points", x=[place for place, _ in points], y=[rate for _, rate in points])
            for kind, points in clouds.items()
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
    axes = {
        "tasks": ("tasks", Axis(title="Tasks", log=True)),
        "transfer": ("transfer size", Axis(title="Transfer size", unit="MiB", log=True)),
    }
    if against not in axes:
        raise refusal("against", against, f"must be one of: {', '.join(axes)}")
    name, axis = axes[against]
    clouds = defaultdict(list)
    for row in measured_rows(rows):
        place = row.tasks if against == "tasks" else (row.transfer_bytes or 0) / BYTES_PER_MIB
        if place and row.rate_mb_s is not None:
            clouds[_kind(row)].append((place, row.rate_mb_s))
    if not clouds:
        raise InputError(f"no row holds both a rate and {name}")
    return _clouds(
        f"Rate against {name}", f"against {name}", axis, {kind: sorted(points) for kind, points in clouds.items()}
    )


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
    title = "Repetitions of the same run"
    return _clouds(title, "by repetition", Axis(title="Repetition"), clouds, references=references)


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
    slow = {judged.rate.osts for judged in verdict.slow}
    groups: dict[str, list[OstRate]] = {"others": [], "slow": []}
    for each in sorted(shown, key=lambda measured: measured.osts):
        groups["slow" if each.osts in slow else "others"].append(each)
    judged = verdict.unknown or "none is slow"
    if slow:
        judged = f"slow: {', '.join(_names(osts) for osts in sorted(slow))}"
    rates = [_drawn_rate(each) for each in shown]
    figure = chart(
        title=f"What a task got from each OST ({verdict.direction})",
        alt=f"Rates of {count(len(shown), 'OST')} from {digits(min(rates), 3)} to {digits(max(rates), 3)} MB/s; {judged}.",
        x=Axis(title="OST"),
        y=Axis(title="Rate of a task", unit="MB/s", log=True),
        series=[
            Series(name=name, kind="bars", x=[bar.osts[0] for bar in bars], y=[_drawn_rate(bar) for bar in bars])
            for name, bars in groups.items()
            if bars
        ],
    )
    return replace(figure, table=_ost_table(verdict, shown, slow))


def _drawn_rate(measured: OstRate) -> float:
    """Return a rate as it is drawn: a logarithmic axis has no place for 0. [MB/s]"""
    return max(measured.rate_mb_s, 1e-9)


def _ost_table(verdict: Verdict, shown: Sequence[OstRate], slow: set[tuple[int, ...]]) -> Table:
    """Return the rates as a table, slowest first."""
    cut = f"; the {len(shown)} slowest of {len(verdict.rates):,}" if len(shown) < len(verdict.rates) else ""
    return table(
        f"What a task got from each OST, slowest first{cut}",
        shown,
        {
            "OST": lambda each: _names(each.osts),
            Column("Rate", "MB/s", 2): lambda each: each.rate_mb_s,
            "Files": lambda each: each.files,
            "Bytes": lambda each: round(each.moved_bytes),
            "Judged": lambda each: "slow" * (each.osts in slow),
        },
    )


def _names(osts: Sequence[int]) -> str:
    """Return the numbers of OSTs that stand together; of many, the first."""
    return ", ".join(map(str, osts[:12])) + (" ..." if len(osts) > 12 else "")
