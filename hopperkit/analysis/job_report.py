"""Observed waits and utilization of a job trace, by week, user and account.

The simulation by `hopperkit.questions.network.simulate` is separate.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperkit.readers.jobs.trace import Trace
from hopperlib.errors import InputError
from hopperlib.text import count, duration, share

_MAX_ROWS = 12
# Groups with fewer jobs are not ranked by their waits.
_FEWEST_JOBS = 10


def node_hours_used(jobs: pd.DataFrame, edges: pd.DatetimeIndex, *, by: str = "nodes") -> pd.Series:
    """Node-hours that jobs used in each interval between edges; jobs across an edge are split. [node-h, core-h, ...]

    Parameters
    ----------
    jobs : DataFrame
        With ``start``, ``run_time`` and ``nodes``, as returned by `Trace.to_frame`.
    edges : DatetimeIndex
        Increasing, at least two. Without a time zone they are taken in the jobs' time zone, with a warning; other zones
        are converted.
    by : str
        Column to sum up: ``nodes``, ``cores`` or ``gpus`` give node-, core- or GPU-hours.

    Raises
    ------
    InputError
        If the jobs have no such column, or have no time zone although the edges have one.

    Examples
    --------
    Four nodes for two hours, one of them before noon:

    >>> jobs = pd.DataFrame({"start": [pd.Timestamp("2026-03-01 11:00", tz="UTC")], "run_time": [pd.Timedelta("2h")], "nodes": [4]})
    >>> node_hours_used(jobs, pd.date_range("2026-03-01", periods=3, freq="12h", tz="UTC")).tolist()
    [4.0, 4.0]
    """
    if by not in jobs.columns or not pd.api.types.is_numeric_dtype(jobs[by]):
        counts = ", ".join(name for name in jobs.columns if pd.api.types.is_numeric_dtype(jobs[name]))
        raise InputError(f"by={by!r} must be a column of numbers of the jobs; they have: {counts}", name="by", value=by)
    edges = _in_zone_of(jobs, edges)
    ran = jobs[jobs["start"].notna() & jobs["run_time"].notna() & jobs[by].notna()]
    begin = ((ran["start"] - edges[0]) / pd.Timedelta("1h")).to_numpy(float)
    lasted, nodes = (ran["run_time"] / pd.Timedelta("1h")).to_numpy(float), ran[by].to_numpy(float)
    until = [float((nodes * np.clip(at - begin, 0, lasted)).sum()) for at in (edges - edges[0]) / pd.Timedelta("1h")]
    return pd.Series(np.diff(until), index=edges[:-1])


def _in_zone_of(jobs: pd.DataFrame, edges: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Convert timestamps to the jobs' time zone."""
    zone = jobs["start"].dt.tz
    if edges.tz is None and zone is not None:
        warnings.warn(f"edges without a time zone are taken in the jobs' time zone, {zone}", stacklevel=3)
        return _localized(edges, zone)
    if edges.tz is not None and zone is None:
        raise InputError(
            f"the edges are in time zone {edges.tz}, but the jobs have none: read the trace with its timezone",
            name="edges",
        )
    return edges if zone is None else edges.tz_convert(zone)


def _localized(edges: pd.DatetimeIndex, zone: Any) -> pd.DatetimeIndex:
    """Assign a time zone to clock times: of a repeated hour the first occurrence, of a skipped hour its end."""
    return edges.tz_localize(zone, nonexistent="shift_forward", ambiguous=np.ones(len(edges), dtype=bool))


def jobs_by(jobs: pd.DataFrame, column: str) -> pd.DataFrame:
    """Jobs, jobs that never started, hours used and waits by any column, sorted by node-hours, largest first.

    Cores and GPUs are counted if the trace has them: unknown values are missing, not zero.

    Parameters
    ----------
    jobs : DataFrame
        As `Trace.to_frame` gives them.
    column : str
        Such as ``user``, ``account``, ``partition``, ``qos`` or ``state``.

    Raises
    ------
    InputError
        If the jobs have no such column.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> lines = ["JobID|User|State|Submit|Start|Elapsed|NNodes", "8|ann|COMPLETED|2026-03-01T08:00:00|2026-03-01T09:30:00|00:30:00|4"]
    >>> jobs_by(read_job_trace(lines).to_frame(), "user").loc["ann"].tolist()
    [1.0, 0.0, 2.0, 90.0, 90.0]
    """
    if column not in jobs.columns:
        raise InputError(
            f"column={column!r} must be a column of the jobs; they have: {', '.join(jobs.columns)}",
            name="column",
            value=column,
        )
    ran = jobs["run_time"] / pd.Timedelta("1h")
    made = jobs.assign(
        wait_min=jobs["wait"] / pd.Timedelta("1min"),
        node_h=(jobs["nodes"] * ran).fillna(0.0),
        never=jobs["start"].isna(),
    )
    held = {
        f"{name[:-1]}_h": jobs[name] * ran for name in ("cores", "gpus") if name in jobs and jobs[name].fillna(0).any()
    }
    of = made.assign(**held).groupby(column, sort=False)
    made = of.agg(
        jobs=("nodes", "size"),
        never_started=("never", "sum"),
        node_h=("node_h", "sum"),
        **{name: (name, lambda hours: hours.sum(min_count=1)) for name in held},
        median_wait_min=("wait_min", "median"),
        longest_wait_min=("wait_min", "max"),
    )
    return made.sort_values("node_h", ascending=False)


def by_week(jobs: pd.DataFrame, nodes: int) -> pd.DataFrame:
    """Return the jobs, waits and utilization of each week, by its Monday.

    The share is of the hours that the log covers: from the first submission to the last end.

    Parameters
    ----------
    jobs : pd.DataFrame
        The jobs, one per row.
    nodes : int
        Number of nodes.

    Examples
    --------
    Of 8 nodes, 4 used for 84 hours, 6 minutes after the submission:

    >>> from hopperkit.readers.jobs import read_job_trace
    >>> lines = ["JobID|State|Submit|Start|Elapsed|NNodes", "8|COMPLETED|2026-03-03T08:00:00|2026-03-03T08:06:00|3-12:00:00|4"]
    >>> week = by_week(read_job_trace(lines).to_frame(), nodes=8).iloc[0]
    >>> [round(float(number), 2) for number in week]
    [1.0, 6.0, 6.0, 336.0, 0.5]
    """
    first = jobs["submit"].min().normalize()
    first -= pd.Timedelta(days=first.day_of_week)
    last = max(jobs["submit"].max(), jobs["end"].max())
    edges = pd.date_range(first, last + pd.Timedelta(days=7), freq="7D")
    week = pd.cut(jobs["submit"], edges, right=False, labels=edges[:-1])
    waits = (jobs["wait"] / pd.Timedelta("1min")).groupby(week, observed=False)
    used = node_hours_used(jobs, edges)
    covered = np.diff(edges.to_series().clip(jobs["submit"].min(), last)) / np.timedelta64(1, "h")
    return pd.DataFrame(
        {
            "jobs": week.value_counts(sort=False),
            "median_wait_min": waits.median(),
            "p95_wait_min": waits.quantile(0.95),
            "node_h": used,
            "used_fraction": used / np.where(covered > 0, covered * nodes, np.nan) if nodes else np.nan,
        }
    )


def observed_result(trace: Trace, nodes: int, simulated: Result) -> Result:
    """Return the observed results followed by the simulated ones; only the simulation if no job has a start time.

    Parameters
    ----------
    trace : Trace
    nodes : int
        Of the machine.
    simulated : Result
        The answer of the simulation.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> trace = read_job_trace(["1 0 -1 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> observed_result(trace, 4, Result(summary="One job.")).summary
    'The trace has no start times. One job.'
    """
    jobs = trace.to_frame()
    if not trace.has_waits:
        return replace(simulated, tables=(*simulated.tables, *_tables_of_use(jobs)))
    started = jobs["wait"].dropna()
    if started.empty:
        return replace(simulated, summary=f"The trace has no start times. {simulated.summary}")
    weeks, dated = by_week(jobs, nodes), trace.epoch_s > 0
    middle, high = started.median().total_seconds(), started.quantile(0.95).total_seconds()
    begin, end = jobs["submit"].min(), jobs["submit"].max()
    when = f", submitted from {begin:%Y-%m-%d} to {end:%Y-%m-%d}" if dated else ""
    span = (jobs["end"].max() - begin) / pd.Timedelta("1h")
    used = weeks["node_h"].sum() / (nodes * span) if nodes and span else None
    whose = count(nodes, "node")
    use = f"; {share(used)} of {whose} used" if used is not None else ""
    if used and used > 1:
        use = f"; more node-hours than {whose} have: either jobs share nodes, or the number is wrong (--set nodes=N)"
    never = int(jobs["start"].isna().sum())
    left = f" {count(never, 'job')} never started." if never else ""
    return replace(
        simulated,
        summary=(
            f"{count(len(jobs), 'job')}{when}: half of those that started waited at most {duration(middle)}, one in twenty more "
            f"than {duration(high)}{use}.{left}{_mean_waits(started, simulated)}"
        ),
        values=(
            Value("Observed median wait", middle / 60, None, "min", 1),
            Value("Observed wait that one job in twenty exceeds", high / 3600, None, "h", 2),
            *(_in_minutes(value) for value in simulated.values),
        ),
        figures=(_weeks_figure(weeks, dated=dated), *simulated.figures),
        tables=(*_tables(jobs, weeks, dated=dated), *map(_table_in_minutes, simulated.tables)),
        facts=dict(simulated.facts) | {"observed": {"jobs": len(jobs), "never_started": never, "used_fraction": used}},
    )


def _mean_waits(observed: "pd.Series[pd.Timedelta]", simulated: Result) -> str:
    """Return the mean waits of the log and of a simulation as a sentence; empty without a simulation."""
    waits = [value.value for value in simulated.values if value.label == "Mean wait"]
    if not waits:
        return ""
    seen, made = duration(observed.mean().total_seconds()), duration(float(waits[0]))
    how = f" with {shown}, as the log shows" if (shown := simulated.facts.get("policy_shown")) else ""
    return f" On average they waited {seen}; simulated{how}, {made}."


def _in_minutes(value: Value) -> Value:
    """Return a value in seconds as minutes; other values are unchanged."""
    if value.unit != "s":
        return value
    return replace(value, value=float(value.value) / 60, unit="min", decimals=1)


def _table_in_minutes(table: Table) -> Table:
    """Return a table with its columns of seconds converted to minutes."""
    seconds = [column.unit == "s" for column in table.columns]
    columns = [
        column._replace(unit="min", decimals=1) if is_s else column
        for column, is_s in zip(table.columns, seconds, strict=True)
    ]
    rows = [
        [cell / 60 if is_s and isinstance(cell, int | float) else cell for cell, is_s in zip(row, seconds, strict=True)]
        for row in table.rows
    ]
    return replace(table, columns=tuple(columns), rows=rows)


def _week_names(weeks: pd.DataFrame, *, dated: bool) -> list[str]:
    """Return weeks by the date of their Monday, or by number if dates are unknown."""
    return (
        [f"{at:%Y-%m-%d}" for at in weeks.index] if dated else [f"week {number}" for number in range(1, len(weeks) + 1)]
    )


def _weeks_figure(weeks: pd.DataFrame, *, dated: bool) -> Figure:
    """Return the waits of each week."""
    kept = weeks[weeks["median_wait_min"].notna()]
    names = _week_names(kept, dated=dated)
    worst = int(kept["median_wait_min"].to_numpy().argmax())
    alt = f"Observed waits over {count(len(kept), 'week')}; the median is largest, {kept['median_wait_min'].iloc[worst]:,.0f} min, in {names[worst]}."
    waits = (("median", "median_wait_min"), ("one in twenty waits longer", "p95_wait_min"))
    return chart(
        title="Observed waits by week of submission",
        alt=alt,
        x=Axis(title="Week from Monday" if dated else "Week"),
        y=Axis(title="Wait", unit="min"),
        series=[
            Series(name=name, x=names, y=kept[column].round(2).tolist(), style=style)
            for style, (name, column) in enumerate(waits)
        ],
    )


def _tables(jobs: pd.DataFrame, weeks: pd.DataFrame, *, dated: bool) -> Iterator[Table]:
    last = weeks.tail(_MAX_ROWS)
    names = _week_names(weeks, dated=dated)[-len(last) :]
    yield table(
        "Weeks" if len(last) == len(weeks) else f"The last {len(last)} of {len(weeks)} weeks",
        list(zip(names, last.itertuples(), strict=True)),
        {
            "Week": lambda row: row[0],
            "Jobs": lambda row: int(row[1].jobs),
            Column("Median wait", "min", 1): lambda row: _known(row[1].median_wait_min),
            Column("One in twenty waits longer than", "min", 1): lambda row: _known(row[1].p95_wait_min),
            Column("Used", "%", 1): lambda row: _known(100 * row[1].used_fraction),
        },
    )
    for column in ("partition", "account", "user"):
        if jobs[column].nunique() < 2:
            continue
        groups = jobs_by(jobs, column)
        yield _group_table(column, groups, "most used first")
        waited = groups[groups["jobs"] >= _FEWEST_JOBS].sort_values("median_wait_min", ascending=False, kind="stable")
        if len(waited) > 1:
            yield _group_table(column, waited, "longest median wait first")


def _group_table(column: str, groups: pd.DataFrame, order: str) -> Table:
    """Return the top groups of jobs, in the order given in the caption."""
    of = groups.head(_MAX_ROWS)
    few = f", {len(of)} of {len(groups):,}" if len(of) < len(groups) else ""
    return table(
        f"By {column}, {order}{few}",
        list(of.itertuples()),
        {
            column.capitalize(): lambda row: row.Index or "unknown",
            "Jobs": lambda row: int(row.jobs),
            "Never started": lambda row: int(row.never_started),
            Column("Used", "node-h", 0): lambda row: float(row.node_h),
            **_held_columns(groups),
            Column("Median wait", "min", 1): lambda row: _known(row.median_wait_min),
            Column("Longest wait", "h", 1): lambda row: _known(row.longest_wait_min / 60),
        },
    )


def _tables_of_use(jobs: pd.DataFrame) -> Iterator[Table]:
    """Yield tables of usage for a trace without waits."""
    for column in ("account", "user"):
        if jobs[column].nunique() < 2:
            continue
        yield table(
            f"By {column}, most used first",
            list(jobs_by(jobs, column).head(_MAX_ROWS).itertuples()),
            {
                column.capitalize(): lambda row: row.Index or "unknown",
                "Jobs": lambda row: int(row.jobs),
                Column("Used", "node-h", 0): lambda row: float(row.node_h),
                **_held_columns(jobs_by(jobs, column)),
            },
        )


def _held_columns(groups: pd.DataFrame) -> dict[str | Column, Any]:
    """Columns of a table for core- and GPU-hours, if known."""
    units = {"core_h": "core-h", "gpu_h": "GPU-h"}
    return {
        Column("Cores used" if name == "core_h" else "GPUs used", units[name], 0): lambda row, name=name: _known(
            getattr(row, name)
        )
        for name in units
        if name in groups
    }


def _known(number: float) -> float | None:
    """Return the number, or None if unknown."""
    return None if pd.isna(number) else float(number)
