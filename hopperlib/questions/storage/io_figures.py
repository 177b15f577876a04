"""Figures of measured I/O: rates against tasks or transfer size, the spread of repetitions, the rates of OSTs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from hopperlib.errors import InputError, refusal
from hopperlib.machine import Machine
from hopperlib.questions.figures import Reference, Series
from hopperlib.questions.result import Figure, Table
from hopperlib.questions.wording import wording
from hopperlib.readers.ior.results import IoResult
from hopperlib.storage.logs.ost_rates import Verdict
from hopperlib.storage.lustre.client import ceiling_gb_s
from hopperlib.units import BYTES_PER_MIB

# However many OSTs a log names, a page of it stays small.
_MOST_OSTS = 200
# Parts of a row that its table shows; the repetition stands for a statistic where there is none.
_PARTS = (
    *("status", "access", "type", "tasks", "nodes", "transfer_bytes", "repetition"),
    *("rate_mib_s", "rate_mb_s", "operations_s", "seconds"),
)
_WORDING = wording(__name__)


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
    cells = [(names[row.file], *(_cell(row, part) for part in _PARTS)) for row in rows]
    return _WORDING.of(caption=caption).table("rows", cells)


def _cell(row: IoResult, name: str) -> Any:
    """Return a part of a row; a row that is no single repetition says its statistic there."""
    return row.statistic if name == "repetition" and row.repetition is None else getattr(row, name)


def _kind(row: IoResult) -> str:
    """Return what a cloud of points is called: access and kind of file."""
    return ", ".join(word for word in (row.access, row.type) if word)


def _clouds(name: str, clouds: Mapping[str, Sequence[tuple[float, float]]], **words: Any) -> Figure:
    """Return the chart of some clouds of points, place and rate."""
    rates = [rate for points in clouds.values() for _, rate in points]
    series = [
        Series(name=kind, kind="points", x=[place for place, _ in points], y=[rate for _, rate in points])
        for kind, points in clouds.items()
    ]
    return _WORDING.of(count=len(rates), least=min(rates), most=max(rates)).chart(name, series, **words)


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
    axes = {"tasks": ("tasks", 1), "transfer": ("transfer_bytes", BYTES_PER_MIB)}
    if against not in axes:
        raise refusal("against", against, f"must be one of: {', '.join(axes)}")
    part, unit = axes[against]
    clouds = defaultdict(list)
    for row in measured_rows(rows):
        place = getattr(row, part)
        if place and row.rate_mb_s is not None:
            clouds[_kind(row)].append((place if unit == 1 else place / unit, row.rate_mb_s))
    if not clouds:
        raise InputError(_WORDING.of().text(f"no-{against}"))
    return _clouds(against, {kind: sorted(points) for kind, points in clouds.items()})


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
    return _clouds("repetition", clouds, references=references)


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
        # A logarithmic axis has no place for 0.
        groups["slow" if each.osts in slow else "others"].append((each.osts[0], max(each.rate_mb_s, 1e-9)))
    rates = [rate for bars in groups.values() for _, rate in bars]
    said = _WORDING.of(
        verdict,
        shown=rates,
        cut=len(verdict.rates) > len(shown),
        judged=f"slow: {', '.join(_names(osts) for osts in sorted(slow))}"
        if slow
        else verdict.unknown or "none is slow",
    )
    series = [
        Series(name=name, kind="bars", x=[ost for ost, _ in bars], y=[rate for _, rate in bars])
        for name, bars in groups.items()
        if bars
    ]
    rows = [
        (_names(each.osts), each.rate_mb_s, each.files, round(each.moved_bytes), "slow" * (each.osts in slow))
        for each in shown
    ]
    return replace(said.chart("osts", series), table=said.table("osts", rows))


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
    return _WORDING.of(machine).table("comparison", compared)
