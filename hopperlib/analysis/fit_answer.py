"""Run times as an answer: what distribution they have, where they spread, how many repeats show a change."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from hopperlib.analysis.distributions import Goodness, qq
from hopperlib.analysis.regression import regress_together, variance_split
from hopperlib.analysis.run_times import CAVEATS, FamilyReport, Repeats, RunTimeReport, describe_run_times
from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding, worded
from hopperlib.questions.result import Figure, Result
from hopperlib.questions.run_time_figures import histogram_figure, quantile_figure
from hopperlib.questions.wording import wording
from hopperlib.readers.run_times import RunTimes, read_run_times
from hopperlib.readers.source import by_path

_HERE, _WORDING = "hopperlib.analysis", wording(__name__)
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
        Its facts are what ``hopper fit --json`` prints, fractions as numbers from 0 to 1.

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
    figures, split = report.figures, report.split
    sds = (figures["sd"], *((split.within_sd, math.sqrt(split.between_variance)) if split else (0.0, 0.0)))
    percents = [100 * sd / figures["mean"] for sd in sds]
    said = _WORDING.of(
        report,
        needed=" or ".join(f"{way.runs:,} ({way.how}{_by_rank(way)})" for way in report.repeats),
        change=100 * report.change_fraction,
        chance=100 * report.power,
        times=len(table.times),
        nothing=None,
        between_sd=sds[2],
        **dict(zip(("sd_percent", "within_percent", "between_percent"), percents, strict=True)),
        shares=[100 * part for part in split.between_fraction] if split else [],
        slopes=slopes,
        fitted_to="minimum" if report.minima else "all",
        caveats=CAVEATS,
        noted=[f"{note.message} {note.advice}".strip() for note in report.notes],
        family_rows=[_family_row(family, report.families[0].fit.aic) for family in report.families],
        parameter_rows=[
            (family.fit.family, name, interval.estimate, interval.low, interval.high)
            for family in report.families
            for name, interval in family.intervals.items()
        ],
        slope_rows=[
            (row.name, row.slope.estimate, row.slope.low, row.slope.high, *(float(f"{p:.2g}") for p in row[-2:]))
            for row in slopes
        ],
    )
    slope_facts = {"covariates": [{**row._asdict(), "slope": row.slope._asdict()} for row in slopes]} if slopes else {}
    return said.result(findings=tuple(_findings(report)), figures=_figures(report), facts=said.contract | slope_facts)


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


def _bounded(p: float, goodness: Goodness) -> float | str:
    """Return a p-value of resampling; one that no sample reached is only bounded by their number."""
    return f"≤ {p:.2g}" if p <= 1 / (goodness.repeats + 1) else float(f"{p:.2g}")


def _family_row(family: FamilyReport, best: float) -> tuple[Any, ...]:
    """Return how well a family fits, beside the least AIC."""
    fitted, goodness = family.fit, family.goodness
    return (
        fitted.family,
        fitted.aic,
        "not comparable" if fitted.note else fitted.aic - best,
        goodness.anderson_darling,
        _bounded(goodness.anderson_darling_p, goodness),
        goodness.kolmogorov_smirnov,
        _bounded(goodness.kolmogorov_smirnov_p, goodness),
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
