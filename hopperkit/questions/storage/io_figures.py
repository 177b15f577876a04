"""Figures of measured I/O: rates against tasks or transfer size, the spread of repetitions, the rates of OSTs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from hopperkit.iologs.ost_rates import OstRate, Verdict
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.result import Column, Figure, Table, table
from hopperkit.readers.ior.results import IoResult, measured_rows
from hopperlib.errors import InputError
from hopperlib.text import count, digits

# X axis for rates: the first quantity that varies.
_AGAINST = {
    "tasks": ("Rate against tasks", Axis(title="Tasks", log=True)),
    "transfer_bytes": ("Rate against transfer size", Axis(title="Transfer size", unit="bytes", log=True)),
}
# Limit that keeps a page small for many OSTs.
_MOST_OSTS = 200


def rows_table(rows: Sequence[IoResult], caption: str = "Rates as measured") -> Table:
    """Return rows as a table; folders are omitted if file names are unique.

    Parameters
    ----------
    rows : sequence of IoResult
        The measured rates.
    caption : str, default 'Rates as measured'
        Caption of the table.

    Examples
    --------
    >>> rows_table([IoResult(file="runs/a.txt", access="write", rate_mib_s=2.0)]).rows[0][:2]
    ('a.txt', 'ok')
    """
    names = {row.file: row.file.rpartition("/")[2] or row.file for row in rows}
    if len(set(names.values())) < len(names):
        # Without folders, the files could not be distinguished.
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
            # A row other than a single repetition has its statistic there.
            "Repetition": lambda row: row.statistic if row.repetition is None else row.repetition,
            Column("Rate", "MiB/s", 2): lambda row: row.rate_mib_s,
            Column("Rate", "MB/s", 2): lambda row: row.rate_mb_s,
            Column("Operations", "1/s", 1): lambda row: row.operations_s,
            Column("Time", "s"): lambda row: row.seconds,
        },
    )


def rate_figure(rows: Sequence[IoResult], references: Sequence[Reference] = ()) -> Figure:
    """Return the rates, a cloud of points for each access and kind of file.

    Plotted against tasks if these differ, otherwise against transfer size, otherwise by repetition.

    Parameters
    ----------
    rows : sequence of IoResult
        The measured rates.
    references : sequence of Reference, default ()
        Reference lines.

    Raises
    ------
    InputError
        If no row has a rate and a position.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", tasks=tasks, rate_mib_s=100.0 * tasks) for tasks in (1, 2, 4)]
    >>> rate_figure(rows).title, rate_figure(rows).table.rows[-1]
    ('Rate against tasks', (4, 419.4304))
    """
    measured = measured_rows(rows)
    varied = [name for name in _AGAINST if len({getattr(row, name) for row in measured}) > 1]
    against = (*varied, "repetition")[0]
    repeated = any((row.repetition or 0) > 0 for row in measured)
    whole = "Rates by repetition" if repeated else "Rates of single runs"
    title, axis = _AGAINST.get(against, (whole, Axis(title="Repetition")))
    clouds: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in measured:
        place = getattr(row, against)
        if place is not None and row.rate_mb_s is not None:
            clouds[", ".join(filter(None, (row.access, row.type)))].append((place, row.rate_mb_s))
    rates = [rate for points in clouds.values() for _, rate in points]
    if not rates:
        raise InputError("no row has a rate and a position in the chart")
    return chart(
        title=title,
        alt=f"{title}: {count(len(rates), 'measured rate')} from {min(rates):,.1f} to {max(rates):,.1f} MB/s.",
        x=axis,
        y=Axis(title="Rate of all tasks", unit="MB/s", low=0, decimals=1),
        series=[
            Series(name=kind, kind="points", x=[place for place, _ in points], y=[rate for _, rate in points])
            for kind, points in zip(clouds, map(sorted, clouds.values()), strict=True)
        ],
        references=references,
    )


def ost_figure(verdict: Verdict) -> Figure:
    """Return the rate of each OST for one task, slow ones marked; its table has the slowest first.

    Parameters
    ----------
    verdict : Verdict
        Verdict on the OSTs.

    Raises
    ------
    InputError
        If the log shows no rate of an OST.

    Examples
    --------
    >>> ost_figure(Verdict(direction="write", unknown="no write of a file whose OSTs are in the log"))
    Traceback (most recent call last):
    hopperlib.errors.InputError: no figure of OSTs: no write of a file whose OSTs are in the log
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
        title=f"Rate of a task from each OST ({verdict.direction})",
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
    """Return a rate for plotting: a logarithmic axis cannot show 0. [MB/s]"""
    return max(measured.rate_mb_s, 1e-9)


def _ost_table(verdict: Verdict, shown: Sequence[OstRate], slow: set[tuple[int, ...]]) -> Table:
    """Return the rates as a table, slowest first."""
    cut = f"; the {len(shown)} slowest of {len(verdict.rates):,}" if len(shown) < len(verdict.rates) else ""
    return table(
        f"Rate of a task from each OST, slowest first{cut}",
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
    """Return the numbers of a group of OSTs; of many, the first."""
    return ", ".join(map(str, osts[:12])) + (" ..." if len(osts) > 12 else "")
