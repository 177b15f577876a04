"""Run times as an answer: what distribution they have, where they spread, how many repeats show a change."""

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
from hopperlib.finding import Finding, worded
from hopperlib.questions.result import Column, Figure, Result, Table, Value
from hopperlib.questions.run_time_figures import histogram_figure, quantile_figure
from hopperlib.readers.run_times import RunTimes, read_run_times
from hopperlib.readers.source import by_path

_HERE = "hopperlib.analysis"
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
        tables=tuple(_tables(report, slopes)),
        facts=report.to_dict()
        | ({"covariates": [{**row._asdict(), "slope": row.slope._asdict()} for row in slopes]} if slopes else {}),
    )


def _by_rank(way: Repeats) -> str:
    """Return, where a comparison by rank needs less than half the runs, how many those are."""
    return f"; by rank {way.runs_by_rank:,}" if way.runs_by_rank is not None and 2 * way.runs_by_rank < way.runs else ""


def _findings(report: RunTimeReport) -> Iterator[Finding]:
    """Yield what is wrong, what to keep in mind, and what holds of every fit."""
    for message in report.table.skips.messages():
        yield Finding("left-out", message, "problem")
    if report.none_fits:
        yield worded(_HERE, "no-family")
    yield from report.notes
    for fitted in (family.fit for family in report.families):
        if fitted.note:
            yield worded(_HERE, "no-maximum", family=fitted.family.capitalize(), note=fitted.note)
    if report.table.when:
        yield worded(_HERE, "over-time", when=report.table.when)
    if report.split is None:
        yield worded(_HERE, "not-split", why=report.no_split)
    yield from CAVEATS


def _values(report: RunTimeReport) -> Iterator[Value]:
    """Yield the numbers of the times themselves, and of their groups."""
    figures, unit, split = report.figures, report.table.unit, report.split

    def of_the_mean(sd: float) -> str:
        return f"{100 * sd / figures['mean']:.2f} % of the mean"

    yield Value("Times", len(report.table.times), "documented", note=f"column {report.table.column}")
    yield Value("Mean", figures["mean"], "documented", unit)
    yield Value("Standard deviation", figures["sd"], "documented", unit, note=of_the_mean(figures["sd"]))
    yield Value("Median", figures["median"], "documented", unit)
    yield Value("Range", None, "documented", unit, low=figures["minimum"], high=figures["maximum"])
    if split is None:
        return
    share, between = split.between_fraction, math.sqrt(split.between_variance)
    yield Value("Groups", split.groups, "documented", note=f"column {report.table.group}")
    for label, sd in (("within a group", split.within_sd), ("between groups", between)):
        yield Value(f"Standard deviation {label}", sd, "calibrated", unit, note=of_the_mean(sd))
    ends = f"95 %: {100 * share.low:.1f} to {100 * share.high:.1f} %"
    yield Value("Variance that lies between groups", 100 * share.estimate, "calibrated", "%", 1, note=ends)


def _bounded(p: float, goodness: Goodness) -> float | str:
    """Return a p-value of resampling; one that no sample reached is only bounded by their number."""
    return f"≤ {p:.2g}" if p <= 1 / (goodness.repeats + 1) else float(f"{p:.2g}")


def _tables(report: RunTimeReport, slopes: Sequence[Coefficient]) -> Iterator[Table]:
    """Yield families, repeats, parameters, and the slopes if there are any."""
    best = report.families[0].fit.aic
    titles = {"AIC": 1, "Above the best": 1, "Anderson-Darling": 3, "p of A-D": None, "Kolmogorov-Smirnov": 3}
    yield Table(
        caption=f"Families, the best first, fitted to {report.fitted_what}; p-values from {report.resamples:,} samples",
        columns=(
            Column("Family"),
            *(Column(title, "", digits) for title, digits in titles.items()),
            Column("p of K-S"),
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
    yield Table(
        caption=f"Runs before and as many after, to see a change of {100 * report.change_fraction:g} % in "
        f"{100 * report.power:g} % of cases (two-sided t-test, level {report.alpha:g})",
        columns=(
            Column("How the runs are made"),
            Column("Spread", "%", 2),
            Column("Runs on each side"),
            Column("Compared by rank"),
        ),
        rows=[(way.how, 100 * way.spread_fraction, way.runs, way.runs_by_rank) for way in report.repeats],
    )
    yield Table(
        caption="Parameters with 95 % intervals",
        columns=tuple(map(Column, ("Family", "Parameter", "Estimate", "From", "To"))),
        rows=[
            (family.fit.family, name, interval.estimate, interval.low, interval.high)
            for family in report.families
            for name, interval in family.intervals.items()
        ],
    )
    if slopes:
        yield Table(
            caption=f"Least squares on all columns at once, n = {len(report.table.times):,}; intervals of 95 %, p-values "
            "corrected by Holm",
            columns=tuple(map(Column, ("Column", "Slope", "From", "To", "p", "p corrected"))),
            rows=[
                (row.name, slope.estimate, slope.low, slope.high, *(float(f"{p:.2g}") for p in ps))
                for row in slopes
                for slope, ps in [(row.slope, (row.p_value, row.p_corrected))]
            ],
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
