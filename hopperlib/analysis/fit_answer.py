"""Run times as an answer: what distribution they have, where they spread, how many repeats show a change."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from hopperlib.analysis.distributions import Goodness, qq
from hopperlib.analysis.regression import Coefficient, VarianceSplit, regress_together, variance_split
from hopperlib.analysis.run_times import CAVEATS, FEW_VALUES, FamilyReport, Repeats, RunTimeReport, describe_run_times
from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.questions.result import Column, Figure, Result, Table, Value, table
from hopperlib.questions.run_time_figures import histogram_figure, quantile_figure
from hopperlib.readers.run_times import RunTimes, read_run_times
from hopperlib.readers.source import by_path
from hopperlib.text import count

# Points of the quantile plot that are drawn and listed: of more values, evenly spread ones.
_MAX_POINTS = 200


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
    >>> from hopperlib.data_files import data_folder
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
    >>> result.values[0].text, result.summary.split(";")[0]
    ('11.625', '8 times are too few to tell their distribution')
    """
    slopes = _slopes(report.table)
    return Result(
        summary=_summary(report),
        findings=tuple(_findings(report)),
        values=tuple(_values(report)),
        figures=_figures(report),
        tables=tuple(_tables(report, slopes)),
        facts=_contract(report) | _slope_facts(slopes),
    )


def _slopes(table: RunTimes) -> list[Coefficient]:
    """Return the slopes of the times against the other columns."""
    try:
        return regress_together(table.covariates, table.times, groups=table.groups or None) if table.covariates else []
    except ValueError as error:
        raise InputError(str(error), name="against") from None


def _few(report: RunTimeReport) -> bool:
    """Whether there are too few values to tell one family from another."""
    return len(report.fitted) < FEW_VALUES


def _summary(report: RunTimeReport) -> str:
    needed = " or ".join(
        f"{way.runs:,} ({way.low:,} to {way.high:,}; {way.how}{_by_rank(way)})" for way in report.repeats
    )
    verdict = report.verdict
    if _few(report):
        nearest = report.families[0].fit.family
        verdict = f"{len(report.fitted)} times are too few to tell their distribution; the {nearest} comes nearest."
    change = f"To see a change of {100 * report.change_fraction:g} %"
    return f"{verdict} {change}, make this many runs before and as many after: {needed}."


def _by_rank(way: Repeats) -> str:
    """Return, where a comparison by rank needs less than half the runs, how many those are."""
    return f"; by rank {way.runs_by_rank:,}" if way.runs_by_rank is not None and 2 * way.runs_by_rank < way.runs else ""


def _findings(report: RunTimeReport) -> Iterator[Finding]:
    """Yield what is wrong, and what to keep in mind."""
    for message in report.table.skips.messages():
        yield Finding("left-out", message)
    if report.none_fits:
        yield Finding("no-family", "No family describes the times: all are doubted.")
    yield from report.notes
    if when := report.table.when:
        text = f"Column {when!r} says when the runs were: hopper watch tells whether they became slower or faster for good."
        yield Finding("over-time", text)
    if report.split is None and report.table.group:
        yield Finding("not-split", f"The spread is not split: {report.no_split}.", "note")


def _values(report: RunTimeReport) -> Iterator[Value]:
    figures, split, unit = report.figures, report.split, report.table.unit
    mean = figures["mean"]
    seen = (
        f"of {count(len(report.table.times), 'time')} in column {report.table.column}; median {figures['median']:,.6g}, "
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
        yield Value("Variance that lies between groups", share, "calibrated", "%", 1, note=groups)
    if slow := report.slow_run:
        seen = f"{sum(time > slow.estimate for time in report.table.times):,} of {len(report.table.times):,} did"
        note = f"95 %: {slow.low:,.5g} to {slow.high:,.5g}; {seen}"
        yield Value("One run in a hundred takes longer than", slow.estimate, "calibrated", unit, note=note)


def _tables(report: RunTimeReport, slopes: Sequence[Coefficient]) -> Iterator[Table]:
    if not _few(report):
        best = report.families[0].fit.aic
        yield table(
            f"Families, the best first, fitted to {report.fitted_what}; p-values from {report.resamples:,} samples",
            report.families,
            {
                "Family": lambda family: family.fit.family,
                Column("AIC above the best", "", 1): lambda family: (
                    "not comparable" if family.fit.note else family.fit.aic - best
                ),
                "p (Anderson-Darling)": lambda family: _bounded(family.goodness),
            },
        )
    if slopes:
        yield table(
            f"Least squares on all columns at once, n = {len(report.table.times):,}"
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
            },
        )


def _bounded(goodness: Goodness) -> float | str:
    """Return a p-value of resampling; one that no sample reached is only bounded by their number."""
    p = goodness.anderson_darling_p
    return f"≤ {p:.2g}" if p <= 1 / (goodness.repeats + 1) else float(f"{p:.2g}")


def _contract(report: RunTimeReport) -> dict[str, Any]:
    """Return what `hopper fit --json` prints: its keys are promised to programs."""
    return {
        "column": report.table.column,
        "unit": report.table.unit,
        "values": len(report.table.times),
        "left_out": report.table.skips.counts,
        **report.figures,
        "fitted": "minimum" if report.minima else "all",
        "fitted_values": len(report.fitted),
        "verdict": report.verdict,
        "no_groups": report.no_split,
        "change_fraction": report.change_fraction,
        "power": report.power,
        "alpha": report.alpha,
        "resamples": report.resamples,
        "repeats": [way._asdict() for way in report.repeats],
        "notes": [f"{note.message} {note.advice}".strip() for note in report.notes],
        "caveats": list(CAVEATS),
        **({"groups": _groups(report.table.group, report.split)} if report.split else {}),
        "slow_run": report.slow_run and report.slow_run._asdict(),
        "families": [_family(family) for family in report.families],
    }


def _groups(group: str | None, split: VarianceSplit) -> dict[str, Any]:
    return {
        "column": group,
        "groups": split.groups,
        "within_sd": split.within_sd,
        "total_sd": split.total_sd,
        "between_fraction": split.between_fraction._asdict(),
        "negative_estimate": split.clipped,
    }


def _family(family: FamilyReport) -> dict[str, Any]:
    return {
        "family": family.fit.family,
        "parameters": {name: interval._asdict() for name, interval in family.intervals.items()},
        "log_likelihood": family.fit.log_likelihood,
        "aic": family.fit.aic,
        "aicc": family.fit.aicc,
        "note": family.fit.note,
        "goodness": family.goodness._asdict(),
        "doubted": family.doubted,
    }


def _slope_facts(slopes: Sequence[Coefficient]) -> dict[str, Any]:
    return {"covariates": [{**row._asdict(), "slope": row.slope._asdict()} for row in slopes]} if slopes else {}


def _figures(report: RunTimeReport) -> tuple[Figure, ...]:
    """Return the histogram and the quantiles of the best family."""
    best, unit = report.families[0].fit, report.table.unit
    expected, observed = qq(report.fitted, best)
    picked = np.unique(np.linspace(0, len(observed) - 1, min(len(observed), _MAX_POINTS)).round().astype(int))
    quantiles = quantile_figure(expected[picked].tolist(), observed[picked].tolist(), best.family, unit=unit)
    if len(picked) < len(observed):
        quantiles = replace(quantiles, alt=f"{quantiles.alt} Quantiles, {len(picked)} of {len(observed):,}.")
    return histogram_figure(*report.histogram(), {best.family: report.expected(best)}, unit=unit), quantiles
