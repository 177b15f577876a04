"""Summarize run times as an answer: their distribution, their spread, and the repeats needed to show a change."""

import math
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from hopperkit.analysis.regression import Coefficient, indicators, regress_together, variance_split
from hopperkit.analysis.run_times import FEW_VALUES, LEVEL, Repeats, RunTimeReport, describe_run_times
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperkit.questions.run_time_figures import histogram_figure
from hopperkit.readers.run_times import RunTimes, read_run_times
from hopperkit.readers.source import by_path
from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.text import count


def fit(
    runs: RunTimes | pd.DataFrame | pd.Series | str | PathLike[str],
    *,
    column: str | None = None,
    group: str | None = None,
    against: Sequence[str] = (),
    minimum: bool = False,
    change: float = 5.0,
    power: float = 80.0,
    resamples: int | None = None,
    seed: int = 0,
) -> Result:
    """Summarize run times: their distribution, their spread, and the repeats needed to show a change.

    Parameters
    ----------
    runs : RunTimes, DataFrame, Series, or path of a CSV file
    column, group : str or None
        Column of the times, and column of the group of each run. None uses ``run_time_s``, and ``job`` if present.
    against : sequence of str
        Columns of numbers or categories that the times are regressed on, all at once.
    minimum : bool
        Fit the families to the smallest time of each group, as in the MILC study.
    change, power : float
        The change to detect, and the probability of detecting it. [%]
    resamples : int or None
        Samples for p-values, at least 19; None chooses a number that takes seconds.
    seed : int
        Seed of these samples.

    Returns
    -------
    Result
        Its facts are the output of ``hopper fit --json``, fractions as numbers from 0 to 1.

    Raises
    ------
    InputError
        If an argument is out of range.
    ValueError
        If the file has no run times, too few, or all are equal.

    Examples
    --------
    >>> from hopperlib.data_files import data_folder
    >>> result = fit(data_folder() / "samples" / "run-times" / "synthetic-run-times.csv", minimum=True, resamples=99)
    >>> result.summary.split(" To ")[0]
    'The shifted lognormal describes the times best.'
    """
    if not 0 < change <= 1000:
        raise refusal("change", change, "must be above 0 and at most 1000 %")
    if not 5 < power < 100:
        raise refusal("power", power, "must be above 5 %, the rate of false alarms, and below 100 %")
    if seed < 0:
        raise refusal("seed", seed, "must be at least 0")
    if not isinstance(runs, RunTimes):
        runs = by_path(read_run_times)(runs, column=column, group=group, covariates=against)
        assert isinstance(runs, RunTimes)
    if group is not None:
        # An error only if the group was requested; a group that was found automatically is ignored if it shows no
        # spread.
        try:
            variance_split(runs.times, runs.groups)
        except ValueError as error:
            raise InputError(str(error), name="group", value=group) from None
    rng = np.random.default_rng(seed)
    report = describe_run_times(
        runs, rng, minima=minimum, change_fraction=change / 100, power=power / 100, resamples=resamples
    )
    slopes, plain = _slopes(runs)
    return Result(
        summary=_summary(report, change),
        findings=tuple(_findings(report)),
        values=tuple(_values(report)),
        figures=(_histogram(report),),
        tables=tuple(_tables(report, slopes, plain)),
        facts=_facts(report, slopes) | {"change_fraction": change / 100, "power": power / 100},
    )


def _slopes(table: RunTimes) -> tuple[list[Coefficient], dict[str, float]]:
    """Return the robust slopes of the times by column, and those of least squares."""
    try:
        if not table.covariates:
            return [], {}
        columns, groups = indicators(table.covariates), table.groups or None
        plain = regress_together(columns, table.times, groups=groups)
        return regress_together(columns, table.times, groups=groups, robust=True), {
            row.name: row.slope.estimate for row in plain
        }
    except ValueError as error:
        raise InputError(str(error), name="against") from None


def _summary(report: RunTimeReport, change: float) -> str:
    needed = " or ".join(map(_way, report.repeats))
    return f"{report.verdict} To detect a change of {change:g} %, make this many runs before and after it: {needed}."


def _runs(runs: int | None) -> str:
    return "over 100,000" if runs is None else f"{runs:,}"


def _way(way: Repeats) -> str:
    """Return the number of runs for one way to repeat: by rank, if a few slow runs would double the number for a
    t-test.
    """
    if way.runs_by_rank and 2 * way.runs_by_rank < (way.runs or 100_000):
        return (
            f"{way.runs_by_rank:,} compared by rank ({_runs(way.runs)} by their means, because of slow runs; {way.how})"
        )
    return f"{_runs(way.runs)} ({_runs(way.low)} to {_runs(way.high)}; {way.how})"


def _findings(report: RunTimeReport) -> Iterator[Finding]:
    """Yield problems and cautions."""
    for message in report.table.skips.messages():
        yield Finding("left-out", message)
    if report.none_fits:
        yield Finding("no-family", "No family describes the times: all are rejected.")
    yield from report.notes()
    if when := report.table.when:
        text = f"Column {when!r} has the dates of the runs: hopper watch shows whether they became slower or faster for good."
        yield Finding("over-time", text)
    if report.split is None and report.table.group:
        yield Finding("not-split", f"The spread is not split: {report.no_split}.", "note")


def _values(report: RunTimeReport) -> Iterator[Value]:
    figures, split, unit, times = report.figures, report.split, report.table.unit, report.table.times
    mean = figures["mean"]
    seen = (
        f"of {count(len(times), 'time')} in column {report.table.column}; median {figures['median']:,.6g}, "
        f"from {figures['minimum']:,.6g} to {figures['maximum']:,.6g}"
    )
    yield Value("Mean", mean, None, unit, note=seen)
    spread = f"{100 * figures['sd'] / mean:.2f} % of the mean"
    if split:
        within, between = (100 * sd / mean for sd in (split.within_sd, math.sqrt(split.between_variance)))
        spread += f"; within a group {within:.2f} %, between groups {between:.2f} %"
    yield Value("Standard deviation", figures["sd"], None, unit, note=spread)
    if split:
        low, share, high = (100 * part for part in split.between_fraction)
        groups = f"{split.groups} groups of column {report.table.group}; 95 %: {low:.1f} to {high:.1f} %"
        yield Value("Variance between groups", share, "calibrated", "%", 1, note=groups)
    if slow := report.slow_run:
        seen = f"{sum(time > slow.estimate for time in times):,} of {len(times):,} did"
        note = f"95 % interval for any distribution: {slow.low:,.5g} to {slow.high:,.5g}; {seen}"
        yield Value(f"One run in {slow.one_in} takes longer than", slow.estimate, "calibrated", unit, note=note)


def _tables(report: RunTimeReport, slopes: Sequence[Coefficient], plain: Mapping[str, float]) -> Iterator[Table]:
    if len(report.fitted) >= FEW_VALUES:
        best = report.families[0][0].aic
        what = f"the smallest time of each {report.table.group}" if report.minima else "all times"
        smallest = 1 / (report.resamples + 1)
        yield table(
            f"Families, best first, fitted to {what} ({len(report.fitted):,}); p-values from {report.resamples:,} samples",
            report.families,
            {
                "Family": lambda row: row[0].family,
                Column("AIC above the best", "", 1): lambda row: "not comparable" if row[0].note else row[0].aic - best,
                # If all samples exceed it, the p-value is only bounded by their number.
                "p (Anderson-Darling)": lambda row: (
                    f"≤ {smallest:.2g}" if row[1] <= smallest else float(f"{row[1]:.2g}")
                ),
            },
        )
    if slopes:
        yield table(
            f"All columns at once by Huber's M-estimator, n = {len(report.table.times):,}"
            f"{f', runs of one {report.table.group} alike' if report.table.group else ''}; intervals of 95 %, "
            "p-values corrected by Holm",
            slopes,
            {
                "Column": lambda row: row.name,
                "Slope": lambda row: row.slope.estimate,
                "From": lambda row: row.slope.low,
                "To": lambda row: row.slope.high,
                "p": lambda row: float(f"{row.p_value:.2g}"),
                "p corrected": lambda row: float(f"{row.p_corrected:.2g}"),
                "Would be seen from": lambda row: _visible(row, len(slopes)),
                "Slope by least squares": lambda row: plain[row.name],
            },
        )


def _visible(row: Coefficient, columns: int) -> float:
    """Return the slope that 80 of 100 such data sets would show, corrected for the number of columns."""
    error = (row.slope.high - row.slope.low) / 2 / float(stats.norm.isf(0.025))
    return error * float(stats.norm.isf(0.025 / columns) + stats.norm.ppf(0.8))


def _facts(report: RunTimeReport, slopes: Sequence[Coefficient]) -> dict[str, Any]:
    """Return the output of `hopper fit --json`; its keys are stable."""
    split = report.split
    facts: dict[str, Any] = {
        "column": report.table.column,
        "unit": report.table.unit,
        "values": len(report.table.times),
        "left_out": report.table.skips.counts,
        **report.figures,
        "fitted": "minimum" if report.minima else "all",
        "fitted_values": len(report.fitted),
        "verdict": report.verdict,
        "no_groups": report.no_split,
        "resamples": report.resamples,
        "repeats": [way._asdict() for way in report.repeats],
        "notes": [f"{note.message} {note.advice}".strip() for note in report.notes()],
        "slow_run": report.slow_run and report.slow_run._asdict(),
        "families": [
            {
                "family": fitted.family,
                "parameters": fitted.parameters,
                "log_likelihood": fitted.log_likelihood,
                "aic": fitted.aic,
                "note": fitted.note,
                "p_anderson_darling": p,
                "doubted": p <= LEVEL,
            }
            for fitted, p in report.families
        ],
    }
    if split:
        facts["groups"] = {
            "column": report.table.group,
            "groups": split.groups,
            "within_sd": split.within_sd,
            "total_sd": split.total_sd,
            "between_fraction": split.between_fraction._asdict(),
            "negative_estimate": split.clipped,
        }
    if slopes:
        facts["covariates"] = [{**row._asdict(), "slope": row.slope._asdict()} for row in slopes]
    return facts


def _histogram(report: RunTimeReport) -> Figure:
    """Return the histogram of the runs with the expected counts of the best family."""
    edges, counts, expected = report.histogram()
    low, high = report.beyond
    return histogram_figure(
        edges, counts, {report.families[0][0].family: expected}, unit=report.table.unit, beyond=(low, high)
    )
