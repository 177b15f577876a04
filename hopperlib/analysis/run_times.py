"""A table of run times summed up: families fitted, spread within and between groups, repeats that show a change."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hopperlib.analysis.distributions import Fit, Goodness, Interval, bootstrap, fit_all, goodness, resolution
from hopperlib.analysis.regression import (
    VarianceSplit,
    minimum_of_groups,
    repeats_by_rank,
    repeats_to_see,
    variance_split,
)
from hopperlib.errors import refusal
from hopperlib.finding import Finding, worded
from hopperlib.readers.run_times import RunTimes

# The usual level. A family is doubted at it and below.
LEVEL = 0.05
# Below these, percentile intervals are known to be too short.
_FEW_VALUES = 20
_FEW_GROUPS = 10
# A difference of AIC that does not tell two families apart.
_TIE = 2.0
_MOST_BINS = 60

_HERE = "hopperlib.analysis"
# What holds of every fit.
CAVEATS = tuple(worded(_HERE, "caveat", text=f"caveat-{about}") for about in ("fitted", "right", "aic", "shifted"))


class Repeats(NamedTuple):
    """Runs before and as many after that show a change.

    Parameters
    ----------
    how : str
        How the repeats are made, in words.
    spread_fraction : float
        Standard deviation of such a run. [fraction of the mean]
    runs : int
        Runs on each side, compared by a t-test.
    runs_by_rank : int or None
        The same, compared by rank, which a few runs far off hardly change; None for more than there can be.
    """

    how: str
    spread_fraction: float
    runs: int
    runs_by_rank: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyReport:
    """One family: its fit, intervals of its parameters, and how good it is."""

    fit: Fit
    intervals: dict[str, Interval]
    goodness: Goodness

    @property
    def doubted(self) -> bool:
        """Whether values drawn from the fit hardly ever lie as far off as the values do."""
        return self.goodness.anderson_darling_p <= LEVEL


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimeReport:
    """What run times say.

    Parameters
    ----------
    table : RunTimes
    families : tuple of FamilyReport
        Best first, as `hopperlib.analysis.distributions.fit_all` sorts them.
    fitted : tuple of float
        What the families were fitted to: all times, or the smallest of each group.
    minima : bool
        Whether it is the smallest of each group.
    split : VarianceSplit or None
        Spread within and between groups; None where there is none to tell.
    no_split : str
        Why there is none; empty otherwise.
    change_fraction, power, alpha : float
        The change to be seen, how often, and how often it may be seen where there is none. [fraction]
    repeats : tuple of Repeats
        Runs needed, for each way to repeat.
    resamples : int
        Samples behind each interval and p-value.
    notes : tuple of Finding
        What to keep in mind about these values.
    """

    table: RunTimes
    families: tuple[FamilyReport, ...]
    fitted: tuple[float, ...]
    minima: bool
    split: VarianceSplit | None
    no_split: str
    change_fraction: float
    power: float
    alpha: float
    repeats: tuple[Repeats, ...]
    resamples: int
    notes: tuple[Finding, ...]

    @property
    def figures(self) -> dict[str, float]:
        """Mean, standard deviation (divided by n - 1), median, minimum and maximum, in the unit of the column."""
        times = np.array(self.table.times)
        middle = {"mean": times.mean(), "sd": times.std(ddof=1), "median": np.median(times)}
        return {
            name: float(value) for name, value in (middle | {"minimum": times.min(), "maximum": times.max()}).items()
        }

    @property
    def fitted_what(self) -> str:
        """What the families were fitted to, in words."""
        if self.minima:
            return f"the smallest time of each {self.table.group} ({len(self.fitted):,})"
        return f"all {len(self.fitted):,} times"

    @property
    def alike(self) -> bool:
        """Whether the fitted values are no independent draws, so that the tests of fit are too strict."""
        return not self.minima and _alike(self.split)

    @property
    def none_fits(self) -> bool:
        """Whether every family is doubted, by tests that hold."""
        return not self.alike and all(family.doubted for family in self.families)

    @property
    def verdict(self) -> str:
        """What came out, in one sentence."""
        best = self.families[0].fit
        if self.none_fits:
            return f"No family describes the times; the {best.family} comes nearest by AIC."
        others = [family.fit for family in self.families[1:]]
        near = [other.family for other in others if other.note == "" and other.aic - best.aic < _TIE]
        fits = "describes the times best" if not self.families[0].doubted else "is best by AIC, and doubtful"
        if self.alike:
            fits = f"is best by AIC; the tests are too strict, because runs of one {self.table.group} are alike"
        return f"The {best.family} {fits}" + (f"; no worse: {', '.join(near)}." if near else ".")

    def histogram(self) -> tuple[list[float], list[int]]:
        """Return edges, and the counts of values between them: as many edges as numpy finds right, at most 60."""
        values = np.array(self.fitted)
        edges = np.histogram_bin_edges(values, bins="auto")
        if len(edges) - 1 > _MOST_BINS:
            edges = np.histogram_bin_edges(values, bins=_MOST_BINS)
        counts, _ = np.histogram(values, bins=edges)
        return edges.tolist(), counts.tolist()

    def expected(self, fitted: Fit) -> list[float]:
        """Return how many of the fitted values a family expects in each bar of the histogram."""
        counts: list[float] = (len(self.fitted) * np.diff(fitted.distribution.cdf(self.histogram()[0]))).tolist()
        return counts


def usual_repeats(n: int) -> int:
    """How many samples to draw for n values, so that an answer takes seconds.

    Examples
    --------
    >>> usual_repeats(120), usual_repeats(5000), usual_repeats(50_000)
    (399, 199, 39)
    """
    return 399 if n <= 1000 else 199 if n <= 5000 else 99 if n <= 20_000 else 39


def _split(table: RunTimes, rng: np.random.Generator) -> tuple[VarianceSplit | None, str]:
    """Return the split of the spread, or why there is none."""
    if table.group is None:
        return None, "no column says which runs belong together"
    try:
        return variance_split(table.times, table.groups, rng), ""
    except ValueError as error:
        return None, str(error)


def _repeats(
    table: RunTimes, split: VarianceSplit | None, change: float, power: float, alpha: float
) -> tuple[Repeats, ...]:
    """Return the runs needed, for each way to repeat."""
    values = np.array(table.times)
    mean = float(values.mean())
    if split is None:
        ways = [("runs like these", float(values.std(ddof=1)) / mean, values)]
    else:
        _, of = np.unique(np.array(table.groups), return_inverse=True)
        means = np.bincount(of, values) / np.bincount(of)
        ways = [
            # Each run less the mean of its group: what is left is the spread inside.
            (f"both versions inside one {table.group}", split.within_sd / mean, values - means[of] + mean),
            (f"each run in a {table.group} of its own", split.total_sd / mean, values),
        ]
    return tuple(
        Repeats(how, spread, repeats_to_see(change, spread, power, alpha), repeats_by_rank(runs, change, power, alpha))
        for how, spread, runs in ways
    )


def _alike(split: VarianceSplit | None) -> bool:
    """Whether runs of one group are clearly alike."""
    return split is not None and split.between_fraction.low > 0


def _notes(table: RunTimes, split: VarianceSplit | None, n: int, *, minima: bool) -> Iterator[Finding]:
    """Yield what to keep in mind about these values, n of them fitted."""
    if _alike(split) and not minima:
        yield worded(_HERE, "runs-alike", group=table.group, n=n)
    step, tied = resolution(table.times), len(table.times) - len(set(table.times))
    if tied:
        multiples = f": they are multiples of {step:g} {table.unit}".rstrip()
        rounding = f"{multiples}, and the samples behind the p-values are rounded alike" if step else ""
        yield worded(_HERE, "ties", tied=tied, times=len(table.times), rounding=rounding)
    holds = {
        "few-values": n < _FEW_VALUES,
        "few-groups": split is not None and split.groups < _FEW_GROUPS,
        "groups-no-different": split is not None and split.clipped,
        "minima": minima,
    }
    yield from (worded(_HERE, code, n=n, groups=split and split.groups) for code, true in holds.items() if true)


def describe_run_times(
    table: RunTimes,
    rng: np.random.Generator,
    *,
    minima: bool = False,
    change_fraction: float = 0.05,
    power: float = 0.8,
    alpha: float = 0.05,
    resamples: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RunTimeReport:
    """Sum up run times.

    Parameters
    ----------
    table : RunTimes
        At least five times, not all the same.
    rng : numpy.random.Generator
        For intervals and p-values.
    minima : bool
        Fit the families to the smallest time of each group, as the study of MILC did, in place of all times.
    change_fraction, power, alpha : float
        As for `hopperlib.analysis.regression.repeats_to_see`. [fraction]
    resamples : int or None
        Samples behind each interval and p-value, at least 19, so that a p-value can reach 0.05; None takes
        `usual_repeats`.
    progress : callable or None
        Called with steps done and steps in all.

    Returns
    -------
    RunTimeReport

    Raises
    ------
    ValueError
        If there are too few times, they are all the same, minima are asked for without groups, or an argument is
        out of range.

    Examples
    --------
    >>> times = ["job,run_time_s", *(f"{job},{100 + 10 * job + run}" for job in range(4) for run in range(3))]
    >>> from hopperlib.readers.run_times import read_run_times
    >>> report = describe_run_times(read_run_times(times), np.random.default_rng(1), resamples=19)
    >>> report.figures["mean"], report.split.within_sd, [one.runs for one in report.repeats]
    (116.0, 1.0, [2, 80])
    """
    resamples = usual_repeats(len(table.times)) if resamples is None else resamples
    step = progress or (lambda done, steps: None)
    if resamples < 19:
        raise refusal("resamples", resamples, "must be at least 19, so that a p-value can reach 0.05")
    values = np.array(table.times)
    if minima and not table.groups:
        raise ValueError("the smallest time of each group needs a column of groups")
    fitted = np.array(list(minimum_of_groups(table.times, table.groups).values())) if minima else values
    fits = fit_all(fitted)
    split, no_split = _split(table, rng)
    # Before the long part, so that an argument out of range is refused at once.
    repeats = _repeats(table, split, change_fraction, power, alpha)
    families = []
    for number, fit in enumerate(fits):
        intervals = bootstrap(fitted, fit.family, rng, resamples)
        step(2 * number + 1, 2 * len(fits))
        families.append(FamilyReport(fit=fit, intervals=intervals, goodness=goodness(fitted, fit, rng, resamples)))
        step(2 * number + 2, 2 * len(fits))
    return RunTimeReport(
        table=table,
        families=tuple(families),
        fitted=tuple(fitted.tolist()),
        minima=minima,
        split=split,
        no_split=no_split,
        change_fraction=change_fraction,
        power=power,
        alpha=alpha,
        repeats=repeats,
        resamples=resamples,
        notes=tuple(_notes(table, split, len(fitted), minima=minima)),
    )
