"""Run times as an answer: what distribution they have, where they spread, how many repeats show a change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from os import PathLike

import numpy as np
import pandas as pd

from hopperlib.analysis.distributions import Goodness, qq
from hopperlib.analysis.regression import Coefficient, regress_together, variance_split
from hopperlib.analysis.run_times import CAVEATS, Repeats, RunTimeReport, describe_run_times
from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.questions.result import Column, Figure, Result, Table, Value
from hopperlib.questions.run_time_figures import histogram_figure, quantile_figure
from hopperlib.readers.run_times import RunTimes, read_run_times
from hopperlib.readers.source import by_path

__all__ = ["fit", "fit_result"]

# Points of the quantile plot that are drawn and listed: of more values, evenly spread ones.
_MOST_POINTS = 200


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
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Say what run times have in common: their distribution, their spread, the repeats that show a change.

    Parameters
    ----------
    runs : RunTimes, DataFrame, Series, or path of a CSV file
    column, group : str or None
        Columns of the file: of the times, and of what several runs share. None takes ``run_time_s``, and ``job`` if
        there is one.
    against : sequence of str
        Columns of numbers that the times are regressed on, all at once.
    minimum : bool
        Fit the families to the smallest time of each group.
    change, power : float
        The change to be seen, and how often. [%]
    resamples : int or None
        Samples behind intervals and p-values, at least 19; None takes as many as the size allows in seconds.
    seed : int
        Of these samples.
    progress : callable or None
        Called with steps done and steps in all.

    Returns
    -------
    Result
        Its facts are those of `hopperlib.analysis.run_times.RunTimeReport.to_dict`.

    Raises
    ------
    InputError
        If an argument is out of range.
    ValueError
        If the file holds no run times, too few, or all the same.

    Examples
    --------
    >>> from hopperlib.documented import data_folder
    >>> result = fit(data_folder() / "samples" / "run-times" / "synthetic-run-times.csv", minimum=True, resamples=19)
    >>> result.summary.split(" To ")[0]
    'The shifted lognormal describes the times best.'
    """
    if not 0 < change <= 1000:
        raise refusal("change", change, "must be above 0 and at most 1000 %")
    if not 5 < power < 100:
        raise refusal("power", power, "must be above 5 %, which is found without any change, and below 100 %")
    if seed < 0:
        raise refusal("seed", seed, "must be at least 0")
    if not isinstance(runs, RunTimes):
        runs = by_path(read_run_times)(runs, column=column, group=group, covariates=against)
        assert isinstance(runs, RunTimes)
    if group is not None:
        # Asked for: a group that was only found there is passed over where it shows no spread.
        try:
            variance_split(runs.times, runs.groups, repeats=2)
        except ValueError as error:
            raise InputError(str(error), name="group", value=group) from None
    report = describe_run_times(
        runs,
        np.random.default_rng(seed),
        minima=minimum,
        change_fraction=change / 100,
        power=power / 100,
        resamples=resamples,
        progress=progress,
    )
    return fit_result(report)


def fit_result(report: RunTimeReport) -> Result:
    """Return a report as an answer.

    Examples
    --------
    >>> table = read_run_times(["run_time_s", *map(str, (10, 11, 13, 12, 11, 14, 10, 12))])
    >>> result = fit_result(describe_run_times(table, np.random.default_rng(1), resamples=19))
    >>> [value.text for value in result.values[:2]], result.tables[0].columns[0].title
    (['8', '11.625'], 'Family')
    """
    table = report.table
    try:
        slopes = regress_together(table.covariates, table.times) if table.covariates else []
    except ValueError as error:
        raise InputError(str(error), name="against") from None
    needed = " or ".join(f"{way.runs:,} ({way.how}{_by_rank(way)})" for way in report.repeats)
    return Result(
        summary=f"{report.verdict} To see a change of {100 * report.change_fraction:g} %, make so many runs before and as "
        f"many after: {needed}.",
        findings=tuple(_findings(report)),
        values=tuple(_values(report)),
        figures=_figures(report),
        tables=(
            _families(report),
            _repeats(report),
            _parameters(report),
            *([_slopes(report, slopes)] if slopes else []),
        ),
        facts=report.to_dict()
        | ({"covariates": [{**row._asdict(), "slope": row.slope._asdict()} for row in slopes]} if slopes else {}),
    )


def _by_rank(way: Repeats) -> str:
    """Return, where a comparison by rank needs less than half the runs, how many those are."""
    return f"; by rank {way.runs_by_rank:,}" if way.runs_by_rank is not None and 2 * way.runs_by_rank < way.runs else ""


def _findings(report: RunTimeReport) -> Iterator[Finding]:
    """Yield what is wrong with the times, and what to keep in mind about them."""
    for message in report.table.messages():
        yield Finding(code="left-out", message=message, level="problem")
    if report.none_fits:
        yield Finding(code="no-family", message="No family describes the times: all are doubted.", level="problem")
    yield from report.notes
    for family in report.families:
        if family.fit.note:
            yield Finding(
                code="no-maximum", message=f"{family.fit.family.capitalize()}: {family.fit.note}.", level="note"
            )
    if report.table.when:
        message = f"Column {report.table.when!r} says when the runs were: hopper watch tells whether they became slower or faster for good."
        yield Finding(code="over-time", message=message, level="note")
    if report.split is None:
        yield Finding(code="not-split", message=f"The spread is not split: {report.no_split}.", level="note")
    for caveat in CAVEATS:
        yield Finding(code="caveat", message=caveat, level="note")


def _values(report: RunTimeReport) -> Iterator[Value]:
    """Yield what the times are, and the spread within and between groups if it was split."""
    unit, mean = report.table.unit, report.mean

    def of_the_mean(sd: float) -> str:
        return f"{100 * sd / mean:.2f} % of the mean"

    yield Value(label="Times", value=len(report.table.times), badge="documented", note=f"column {report.table.column}")
    yield Value(label="Mean", value=mean, unit=unit, badge="documented")
    yield Value(label="Standard deviation", value=report.sd, unit=unit, badge="documented", note=of_the_mean(report.sd))
    yield Value(label="Median", value=report.median, unit=unit, badge="documented")
    yield Value(label="Range", value=None, low=report.minimum, high=report.maximum, unit=unit, badge="documented")
    split = report.split
    if split is None:
        return
    share, between = split.between_fraction, math.sqrt(split.between_variance)
    yield Value(label="Groups", value=split.groups, badge="documented", note=f"column {report.table.group}")
    for label, sd in (("within a group", split.within_sd), ("between groups", between)):
        yield Value(label=f"Standard deviation {label}", value=sd, unit=unit, badge="calibrated", note=of_the_mean(sd))
    yield Value(
        label="Variance that lies between groups",
        value=100 * share.estimate,
        unit="%",
        badge="calibrated",
        decimals=1,
        note=f"95 %: {100 * share.low:.1f} to {100 * share.high:.1f} %",
    )


def _bounded(p: float, goodness: Goodness) -> float | str:
    """Return a p-value; the smallest there can be is a bound."""
    return f"≤ {p:.2g}" if p <= 1 / (goodness.repeats + 1) else float(f"{p:.2g}")


def _families(report: RunTimeReport) -> Table:
    """Return the families with how good they are."""
    best = report.families[0].fit.aic
    return Table(
        caption=f"Families, the best first, fitted to {report.fitted_what}; p-values from {report.resamples:,} samples",
        columns=(
            Column(title="Family"),
            Column(title="AIC", decimals=1),
            Column(title="Above the best", decimals=1),
            Column(title="Anderson-Darling", decimals=3),
            Column(title="p of A-D"),
            Column(title="Kolmogorov-Smirnov", decimals=3),
            Column(title="p of K-S"),
        ),
        rows=[
            (
                family.fit.family,
                family.fit.aic,
                "not comparable" if family.fit.note else family.fit.aic - best,
                family.goodness.anderson_darling,
                _bounded(family.goodness.anderson_darling_p, family.goodness),
                family.goodness.kolmogorov_smirnov,
                _bounded(family.goodness.kolmogorov_smirnov_p, family.goodness),
            )
            for family in report.families
        ],
    )


def _parameters(report: RunTimeReport) -> Table:
    """Return the parameters of all families with their intervals."""
    return Table(
        caption="Parameters with 95 % intervals",
        columns=tuple(Column(title=title) for title in ("Family", "Parameter", "Estimate", "From", "To")),
        rows=[
            (family.fit.family, name, interval.estimate, interval.low, interval.high)
            for family in report.families
            for name, interval in family.intervals.items()
        ],
    )


def _slopes(report: RunTimeReport, rows: Sequence[Coefficient]) -> Table:
    """Return how the times change with each of the covariates, the others held."""
    return Table(
        caption=f"Least squares on all columns at once, n = {len(report.table.times):,}; intervals of 95 %, p-values corrected by Holm",
        columns=tuple(Column(title) for title in ("Column", "Slope", "From", "To", "p", "p corrected")),
        rows=[
            (
                row.name,
                row.slope.estimate,
                row.slope.low,
                row.slope.high,
                float(f"{row.p_value:.2g}"),
                float(f"{row.p_corrected:.2g}"),
            )
            for row in rows
        ],
    )


def _repeats(report: RunTimeReport) -> Table:
    """Return the runs needed."""
    return Table(
        caption=f"Runs before and as many after, to see a change of {100 * report.change_fraction:g} % in "
        f"{100 * report.power:g} % of cases (two-sided t-test, level {report.alpha:g})",
        columns=(
            Column(title="How the runs are made"),
            Column(title="Spread", unit="%", decimals=2),
            Column(title="Runs on each side"),
            Column(title="Compared by rank"),
        ),
        rows=[(way.how, 100 * way.spread_fraction, way.runs, way.runs_by_rank) for way in report.repeats],
    )


def _figures(report: RunTimeReport) -> tuple[Figure, ...]:
    """Return the histogram and the quantiles of the best family."""
    best, unit = report.families[0].fit, report.table.unit
    expected, observed = qq(report.fitted, best)
    picked = np.unique(np.linspace(0, len(observed) - 1, min(len(observed), _MOST_POINTS)).round().astype(int))
    quantiles = quantile_figure(expected[picked].tolist(), observed[picked].tolist(), best.family, unit=unit)
    if len(picked) < len(observed):
        quantiles = replace(quantiles, alt=f"{quantiles.alt} Quantiles, {len(picked)} of {len(observed):,}.")
    return histogram_figure(*report.histogram(), {best.family: report.expected(best)}, unit=unit), quantiles
