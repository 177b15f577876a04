"""A table of run times summed up: families fitted, spread within and between groups, repeats that show a change."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from hopperlib.analysis._resampling import Array
from hopperlib.analysis.clustered import FEWEST_GROUPS
from hopperlib.analysis.distributions import Fit, Goodness, Interval, bootstrap, fit_all, goodness, resolution
from hopperlib.analysis.regression import (
    VarianceSplit,
    minimum_of_groups,
    repeats_by_rank,
    repeats_to_see,
    variance_split,
)
from hopperlib.errors import refusal
from hopperlib.finding import Finding
from hopperlib.readers.run_times import RunTimes

# The usual level. A family is doubted at it and below.
LEVEL = 0.05
# Below these there is little to say of the distribution.
FEW_VALUES = 20
_FEW_GROUPS = 10
# A difference of AIC that does not tell two families apart.
_TIE = 2.0
_MOST_BINS = 60
# Of the runs a slow one is one in so many; fewer runs than these do not tell of which distribution it is.
SLOW_SHARE, _FEWEST_FOR_SLOW = 0.01, 40

# What holds of every fit.
CAVEATS = (
    "The p-values count that the parameters were fitted to these values: each sample drawn from a fit was fitted anew. "
    "The tables of Kolmogorov-Smirnov and Anderson-Darling do not, and would accept nearly anything.",
    "A large p-value does not show that the family is right, only that these values do not show it wrong.",
    "A difference of less than 2 in AIC does not tell two families apart. The mixture of two lognormals comes first "
    "only if BIC, which charges more for parameters, has it first too; of samples of one family 4 to 8 % of those of "
    "30 values still prefer it, of 120 values up to 4 %.",
    "The shifted lognormal has no greatest likelihood; its row is the highest local maximum, with the shift from 0 to "
    "just below the smallest value.",
)


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
    low, high : int
        The runs for the least and the greatest spread that these times allow (95 %, chi-square).
    """

    how: str
    spread_fraction: float
    runs: int
    runs_by_rank: int | None
    low: int
    high: int


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
    slow_run : Interval or None
        The time that one run in a hundred exceeds, by the family that describes all runs best, whatever `fitted` is;
        None for fewer runs or groups than can say it.
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
    slow_run: Interval | None = None

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
        ways = [("runs like these", float(values.std(ddof=1)) / mean, values, len(values) - 1.0)]
    else:
        _, of = np.unique(np.array(table.groups), return_inverse=True)
        means = np.bincount(of, values) / np.bincount(of)
        inside = len(values) - split.groups
        ways = [
            # Each run less the mean of its group: what is left is the spread inside.
            (f"both versions inside one {table.group}", split.within_sd / mean, values - means[of] + mean, inside),
            (f"each run in a {table.group} of its own", split.total_sd / mean, values, _total_degrees(split)),
        ]
    return tuple(
        Repeats(
            how,
            spread,
            repeats_to_see(change, spread, power, alpha),
            repeats_by_rank(runs, change, power, alpha),
            *(repeats_to_see(change, spread * factor, power, alpha) for factor in spread_factors(degrees)),
        )
        for how, spread, runs, degrees in ways
    )


def _total_degrees(split: VarianceSplit) -> float:
    """Return the degrees of freedom of the spread of a run in a group of its own (Satterthwaite)."""
    size = split.n / split.groups
    between = split.within_variance / size + split.between_variance
    within = (1 - 1 / size) * split.within_variance
    return (between + within) ** 2 / (between**2 / (split.groups - 1) + within**2 / (split.n - split.groups))


def spread_factors(degrees: float, level: float = 0.95) -> tuple[float, float]:
    """Return by what a standard deviation of that many degrees of freedom may be multiplied: the ends of its interval.

    Examples
    --------
    >>> [round(factor, 3) for factor in spread_factors(9)]
    [0.688, 1.826]
    """
    low, high = stats.chi2.isf([(1 - level) / 2, (1 + level) / 2], degrees)
    return math.sqrt(degrees / low), math.sqrt(degrees / high)


def _slow_run(table: RunTimes) -> Interval | None:
    """Return the time that one run in a hundred exceeds, with its interval; None where these runs do not say.

    Logarithms of the times are normal about the level of their group, if nothing contradicts it. Then the interval is that
    of a quantile of a normal distribution, by the noncentral t, with as many runs as the groups are worth [1]_. Else it
    needs some 370 independent runs, of which enough lie beyond it.

    References
    ----------
    .. [1] G. J. Hahn and W. Q. Meeker, Statistical Intervals (Wiley, 1991), sec. 4.4.
    """
    values = np.array(table.times)
    of = np.unique(np.array(table.groups), return_inverse=True)[1] if table.groups else np.arange(len(values))
    means = np.bincount(of, np.log(values)) / np.bincount(of)
    if len(values) < _FEWEST_FOR_SLOW or len(means) < FEWEST_GROUPS or np.ptp(means) == 0:
        return None
    if stats.shapiro(means).pvalue >= LEVEL:
        return _lognormal_quantile(np.log(values), of, means)
    ends = stats.quantile_test(values, p=1 - SLOW_SHARE).confidence_interval(0.95)
    told = len(means) == len(values) and math.isfinite(ends.low + ends.high)
    return Interval(ends.low, float(np.quantile(values, 1 - SLOW_SHARE)), ends.high) if told else None


def _lognormal_quantile(logs: Array, of: npt.NDArray[np.int64], means: Array) -> Interval:
    """Return the time that a run in a hundred exceeds, with its interval, from normal logarithms in groups."""
    n, count, sizes = len(logs), len(means), np.bincount(of)
    within = ((logs - means[of]) ** 2).sum() / max(n - count, 1)
    between = (sizes * (means - logs.mean()) ** 2).sum() / (count - 1)
    size = (n - (sizes**2).sum() / n) / (count - 1)
    # The variance of a run by both mean squares, its degrees of freedom as Satterthwaite adds them.
    parts = np.array([max(between, within) / size, within * (1 - 1 / size)])
    variance = float(parts.sum())
    freedom = variance**2 / (parts**2 / [count - 1, max(n - count, 1)]).sum()
    worth = min(n, variance / (means.var(ddof=1) / count))
    beyond = float(stats.norm.isf(SLOW_SHARE))
    ends = stats.nct.ppf([0.025, 0.975], freedom, beyond * math.sqrt(worth)) / math.sqrt(worth)
    low, at, high = np.exp(means.mean() + math.sqrt(variance) * np.array([ends[0], beyond, ends[1]]))
    return Interval(float(low), float(at), float(high))


def _alike(split: VarianceSplit | None) -> bool:
    """Whether runs of one group are clearly alike."""
    return split is not None and split.between_fraction.low > 0


def _notes(table: RunTimes, split: VarianceSplit | None, n: int, *, minima: bool) -> Iterator[Finding]:
    """Yield what to keep in mind about these values, n of them fitted."""
    if _alike(split) and not minima:
        yield Finding(
            "runs-alike",
            f"Runs of one {table.group} are alike, so {n} runs tell less than {n} independent ones: the intervals of "
            "the parameters are too short and the p-values too small.",
            advice=f"Fit the smallest time of each {table.group} (--minimum) to test a family.",
        )
    yield from _ties(table)
    if n < FEW_VALUES:
        text = f"{n} values are few: hardly any family can be told wrong."
        yield Finding("few-values", text, "note")
    if split and split.groups < _FEW_GROUPS:
        text = f"{split.groups} groups are few: the interval of the share between groups is too short."
        yield Finding("few-groups", text, "note")
    if split and split.clipped:
        text = "The groups differ less than the noise within them would let them: the share between them is put at 0."
        yield Finding("groups-no-different", text, "note")
    if minima:
        text = "The smallest of several runs has less noise than a run, and is no mean: its distribution is that of the groups."
        yield Finding("minima", text, "note")


def _ties(table: RunTimes) -> Iterator[Finding]:
    """Yield how many times equal another, and how they are rounded."""
    step, tied = resolution(table.times), len(table.times) - len(set(table.times))
    if tied:
        multiples = f": they are multiples of {step:g} {table.unit}".rstrip()
        rounding = f"{multiples}, and the samples behind the p-values are rounded alike" if step else ""
        yield Finding("ties", f"{tied:,} of {len(table.times):,} times equal another{rounding}.", "note")


def _families(
    fitted: Array, rng: np.random.Generator, resamples: int, step: Callable[[int, int], None]
) -> Iterator[FamilyReport]:
    """Yield each family with its intervals and how good it is, the best first."""
    fits = fit_all(fitted)
    for number, fit in enumerate(fits):
        intervals = bootstrap(fitted, fit.family, rng, resamples)
        step(2 * number + 1, 2 * len(fits))
        yield FamilyReport(fit=fit, intervals=intervals, goodness=goodness(fitted, fit, rng, resamples))
        step(2 * number + 2, 2 * len(fits))


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
    if resamples < 19:
        raise refusal("resamples", resamples, "must be at least 19, so that a p-value can reach 0.05")
    values = np.array(table.times)
    if minima and not table.groups:
        raise ValueError("the smallest time of each group needs a column of groups")
    fitted = np.array(list(minimum_of_groups(table.times, table.groups).values())) if minima else values
    split, no_split = _split(table, rng)
    # Before the long part, so that an argument out of range is refused at once.
    repeats = _repeats(table, split, change_fraction, power, alpha)
    return RunTimeReport(
        table=table,
        families=tuple(_families(fitted, rng, resamples, progress or (lambda done, steps: None))),
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
        slow_run=_slow_run(table),
    )
