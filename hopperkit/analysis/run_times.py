"""Summary of a table of run times: fitted families, spread within and between groups, repeats needed to show a change."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from hopperkit.analysis.distributions import Fit, fit_all, p_value, resolution
from hopperkit.analysis.regression import VarianceSplit, variance_split
from hopperkit.readers.run_times import RunTimes
from hopperlib.errors import refusal
from hopperlib.finding import Finding
from hopperlib.network.runtime.power import runs_needed

# The usual significance level, at or below which a family is rejected.
LEVEL = 0.05
# Fewer runs reveal little about the distribution.
FEW_VALUES = 20
# A smaller AIC difference does not distinguish two families.
_TIE = 2.0
_MOST_BINS = 60
# Values farther from the interquartile range than this many times its width are counted in the last bar.
_FARTHEST = 6.0
# Return periods of slow runs; the longest that the data can estimate is used. [runs]
_ONE_IN = (100, 20, 10)


class Repeats(NamedTuple):
    """Number of runs before and after that show a change.

    Parameters
    ----------
    how : str
        How repeats are made, in words.
    spread_fraction : float
        Standard deviation of such a run. [fraction of the mean]
    runs : int or None
        Runs on each side, compared by a t-test; None for over 100,000, here and below.
    runs_by_rank : int or None
        The same for a rank test, which a few outliers hardly affect.
    low, high : int or None
        Runs for the smallest and largest spread consistent with these times (95 %, chi-square).
    """

    how: str
    spread_fraction: float
    runs: int | None
    runs_by_rank: int | None
    low: int | None
    high: int | None


class SlowRun(NamedTuple):
    """Time that one run in this many exceeds, with its 95 % interval."""

    one_in: int
    low: float
    estimate: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTimeReport:
    """Summary of run times.

    Parameters
    ----------
    table : RunTimes
    families : tuple of (Fit, float)
        Each with its p-value, best first, as `hopperkit.analysis.distributions.fit_all` sorts them.
    fitted : tuple of float
        The fitted values: all times, or the smallest of each group.
    minima : bool
        Whether the smallest time of each group is fitted.
    split : VarianceSplit or None
        Variance within and between groups; None if it cannot be split.
    no_split : str
        Reason why it cannot be split; otherwise empty.
    repeats : tuple of Repeats
        Runs needed for each way to repeat.
    resamples : int
        Samples for each p-value.
    slow_run : SlowRun or None
        None if there are too few runs or groups.
    """

    table: RunTimes
    families: tuple[tuple[Fit, float], ...]
    fitted: tuple[float, ...]
    minima: bool
    split: VarianceSplit | None
    no_split: str
    repeats: tuple[Repeats, ...]
    resamples: int
    slow_run: SlowRun | None

    @property
    def figures(self) -> dict[str, float]:
        """Mean, standard deviation (divided by n - 1), median, minimum and maximum, in the unit of the column."""
        times = np.array(self.table.times)
        middle = {"mean": times.mean(), "sd": times.std(ddof=1), "median": np.median(times)}
        ends = {"minimum": times.min(), "maximum": times.max()}
        return {name: float(value) for name, value in (middle | ends).items()}

    @property
    def alike(self) -> bool:
        """Whether runs in one group are clearly correlated."""
        return self.split is not None and self.split.between_fraction.low > 0

    @property
    def dependent(self) -> bool:
        """Whether the fitted values are not independent, so that the tests of fit are too strict."""
        return self.alike and not self.minima

    @property
    def none_fits(self) -> bool:
        """Whether valid tests reject every family."""
        return not self.dependent and all(p <= LEVEL for _, p in self.families)

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        (best, p), *others = self.families
        if len(self.fitted) < FEW_VALUES:
            return (
                f"{len(self.fitted)} times are too few to determine their distribution; the {best.family} is closest."
            )
        if self.none_fits:
            return f"No family describes the times; the {best.family} is closest by AIC."
        near = [other.family for other, _ in others if other.note == "" and other.aic - best.aic < _TIE]
        fits = "describes the times best" if p > LEVEL else "is best by AIC, but doubtful"
        if self.dependent:
            fits = f"is best by AIC; the tests are too strict, because runs in one {self.table.group} are correlated"
        return f"The {best.family} {fits}" + (f"; no worse: {', '.join(near)}." if near else ".")

    def notes(self) -> Iterator[Finding]:
        """Yield cautions about these values."""
        if self.dependent:
            n, group = len(self.fitted), self.table.group
            yield Finding(
                "runs-alike",
                f"Runs of one {group} are correlated, so {n} runs carry less information than {n} independent ones: the p-values are too "
                "small.",
                advice=f"Fit the smallest time of each {group} (--minimum) to test a family.",
            )
        step, tied = resolution(self.table.times), len(self.table.times) - len(set(self.table.times))
        if tied:
            multiples = f": they are multiples of {step:g} {self.table.unit}".rstrip()
            rounding = f"{multiples}, and the samples for the p-values are rounded the same way" if step else ""
            yield Finding("ties", f"{tied:,} of {len(self.table.times):,} times equal another{rounding}.", "note")

    @property
    def _shown(self) -> tuple[float, float]:
        """The plotted range: all values, or those near the middle half if a few are far away."""
        values = np.array(self.fitted)
        low, high = np.quantile(values, [0.25, 0.75])
        off = _FARTHEST * float(high - low)
        return max(float(values.min()), float(low) - off), min(float(values.max()), float(high) + off)

    @property
    def beyond(self) -> tuple[int, int]:
        """Number of values beyond the plotted range that are counted in the first and the last bar."""
        values, (low, high) = np.array(self.fitted), self._shown
        return int((values < low).sum()), int((values > high).sum())

    def histogram(self) -> tuple[list[float], list[int], list[float]]:
        """Return bin edges, counts and the counts expected from the best family; at most 60 bins.

        Outliers are counted in the last bar on their side.
        """
        values = np.clip(np.array(self.fitted), *self._shown)
        edges = np.histogram_bin_edges(values, bins="auto")
        if len(edges) - 1 > _MOST_BINS:
            edges = np.histogram_bin_edges(values, bins=_MOST_BINS)
        counts, _ = np.histogram(values, bins=edges)
        expected = len(values) * np.diff(self.families[0][0].distribution.cdf(edges))
        return edges.tolist(), counts.tolist(), expected.tolist()


def _split(table: RunTimes) -> tuple[VarianceSplit | None, str]:
    """Return the variance split, or the reason why there is none."""
    if table.group is None:
        return None, "there is no group column"
    try:
        return variance_split(table.times, table.groups), ""
    except ValueError as error:
        return None, str(error)


def _numbers(groups: tuple[str, ...], n: int) -> npt.NDArray[np.int64]:
    """Return the group number of each run; without groups, each run is its own group."""
    return np.unique(np.array(groups), return_inverse=True)[1] if groups else np.arange(n)


def _repeats(table: RunTimes, split: VarianceSplit | None, change: float, power: float) -> tuple[Repeats, ...]:
    """Return the runs needed, for each way to repeat."""
    values = np.array(table.times)
    mean = float(values.mean())
    if split is None:
        ways = [("runs like these", float(values.std(ddof=1)) / mean, values, len(values) - 1.0)]
    else:
        of = _numbers(table.groups, len(values))
        means = np.bincount(of, values) / np.bincount(of)
        ways = [
            # Each run less its group mean.
            (
                f"both versions inside one {table.group}",
                split.within_sd / mean,
                values - means[of] + mean,
                len(values) - split.groups,
            ),
            (f"each run in a separate {table.group}", split.total_sd / mean, values, _total_degrees(split)),
        ]
    return tuple(
        Repeats(
            how,
            spread,
            repeats_to_see(change, spread, power),
            repeats_by_rank(runs, change, power),
            *(repeats_to_see(change, spread * factor, power) for factor in spread_factors(degrees)),
        )
        for how, spread, runs, degrees in ways
    )


def _total_degrees(split: VarianceSplit) -> float:
    """Return the degrees of freedom of the total standard deviation of one run (Satterthwaite)."""
    size = split.n / split.groups
    between = split.within_variance / size + split.between_variance
    within = (1 - 1 / size) * split.within_variance
    return (between + within) ** 2 / (between**2 / (split.groups - 1) + within**2 / (split.n - split.groups))


def spread_factors(degrees: float, level: float = 0.95) -> tuple[float, float]:
    """Return the ratios of the interval's ends to a standard deviation with this many degrees of freedom.

    Parameters
    ----------
    degrees : float
        Degrees of freedom.
    level : float, default 0.95
        Confidence level of the interval. [fraction]

    Examples
    --------
    >>> [round(factor, 3) for factor in spread_factors(9)]
    [0.688, 1.826]
    """
    low, high = stats.chi2.isf([(1 - level) / 2, (1 + level) / 2], degrees)
    return math.sqrt(degrees / low), math.sqrt(degrees / high)


def repeats_to_see(change_fraction: float, spread_fraction: float, power: float = 0.8) -> int | None:
    """Number of runs before and after a change for a two-sided t-test at 5 % to show it; None if over 100,000.

    Parameters
    ----------
    change_fraction, spread_fraction : float
        The change to detect, and the standard deviation of one run. [fraction of the mean]
    power : float
        Probability of detecting an existing change. [fraction]

    Examples
    --------
    A change of 5 % in runs with a spread of 10 %:

    >>> repeats_to_see(0.05, 0.10)
    64
    """
    return runs_needed(change_fraction, spread_fraction, chance=power) if spread_fraction else 2


def repeats_by_rank(values: npt.ArrayLike, change_fraction: float, power: float = 0.8) -> int | None:
    """Number of runs before and after a change for a rank test to show it; None if ranks cannot.

    For the two-sided test of Wilcoxon, Mann and Whitney at 5 %. A few outliers inflate the standard deviation and the
    number of runs that a t-test needs; rank tests are hardly affected. The probability that a run before is longer than
    one after is estimated from the runs themselves, with everything else equal, and Noether's formula gives the number
    of runs [1]_.

    Parameters
    ----------
    values : array of n floats
        Run times above 0, at least two.
    change_fraction, power : float
        As for `repeats_to_see`. [fraction]

    Examples
    --------
    Runs with a spread of 10 %, and the same with 20 of 400 twenty times as long:

    >>> runs = 100 + 10 * stats.norm.ppf((np.arange(400) + 0.5) / 400)
    >>> repeats_by_rank(runs, 0.05), repeats_by_rank(np.append(runs[:-20], [2000] * 20), 0.05)
    (73, 75)

    References
    ----------
    .. [1] G. E. Noether, "Sample Size Determination for Some Common Nonparametric Tests," JASA 82 (1987) 645-647.
    """
    x = np.sort(np.asarray(values, dtype=float))
    later = x * (1 + change_fraction)
    # How often a run after the change is longer than one before; ties count half.
    longer = (np.searchsorted(x, later, "left") + np.searchsorted(x, later, "right")) / 2
    excess = abs(float((longer - 0.5).sum() / (len(x) * (len(x) - 1))) - 0.5 / (len(x) - 1) - 0.5)
    if excess < 1e-3:
        return None
    return max(2, math.ceil(float(stats.norm.isf(LEVEL / 2) + stats.norm.ppf(power)) ** 2 / (6 * excess**2)))


def slow_run(table: RunTimes, split: VarianceSplit | None) -> SlowRun | None:
    """Return the time that one run in a hundred exceeds, or one in twenty or in ten if there are too few runs.

    The interval uses fractional order statistics and assumes no distribution [1]_. Runs in one group are correlated, so
    their effective number is smaller, by how strongly slow runs cluster in groups [2]_. One in a hundred needs 368
    independent runs, one in ten 36.

    Parameters
    ----------
    table : RunTimes
        The run times.
    split : VarianceSplit or None
        Variance within and between groups.

    Examples
    --------
    >>> one_in, low, estimate, high = slow_run(RunTimes(column="run_time_s", times=tuple(range(1, 101))), None)
    >>> one_in, round(low, 1), round(estimate, 2), round(high, 1)
    (20, 90.9, 95.05, 99.3)

    References
    ----------
    .. [1] A. D. Hutson, "Calculating nonparametric confidence intervals for quantiles using fractional order
       statistics," J. Applied Statistics 26 (1999) 343-353.
    .. [2] R. S. Woodruff, "Confidence intervals for medians and other position measures," JASA 47 (1952) 635-646; with
       the degrees of freedom of E. L. Korn and B. I. Graubard, Survey Methodology 24 (1998) 193-201.
    """
    values = np.array(table.times)
    for one_in in _ONE_IN:
        estimate, worth = float(np.quantile(values, 1 - 1 / one_in)), float(len(values))
        is_slow = (values > estimate).astype(float)
        if not is_slow.any():
            continue
        if split:
            alike = variance_split(is_slow, table.groups).between_fraction.estimate
            few = stats.norm.isf(0.025) / stats.t.isf(0.025, split.groups - 1)
            worth *= few**2 / (1 + (worth / split.groups - 1) * alike)
        if ranks := _fractional_ranks(worth, 1 - 1 / one_in):
            low, high = np.quantile(values, np.array(ranks) / (worth + 1), method="weibull").tolist()
            return SlowRun(one_in, low, estimate, high)
    return None


def _fractional_ranks(n: float, below: float, level: float = 0.95) -> tuple[float, float] | None:
    """Return the ranks of n sorted values that bracket a quantile; None if it may exceed the largest."""

    def less(rank: float, chance: float) -> float:
        return float(stats.beta.cdf(below, rank, n + 1 - rank)) - chance

    low, high = ((1 + level) / 2,), ((1 - level) / 2,)
    if less(n, *high) > 0:
        return None
    return optimize.brentq(less, 1e-9, n, args=low), optimize.brentq(less, 1e-9, n, args=high)


def describe_run_times(
    table: RunTimes,
    rng: np.random.Generator,
    *,
    minima: bool = False,
    change_fraction: float = 0.05,
    power: float = 0.8,
    resamples: int | None = None,
) -> RunTimeReport:
    """Summarize run times, as `hopperkit.fit` does.

    Parameters
    ----------
    table : RunTimes
        The run times.
    rng : numpy.random.Generator
        Source of random numbers.
    minima : bool, default False
        Whether the fastest run of each group is fitted.
    change_fraction : float, default 0.05
        Difference to detect, as a fraction of the mean.
    power : float, default 0.8
        Probability of detection, from 0 to 1.
    resamples : int or None
        Samples for p-values; None for a number that takes seconds.

    Raises
    ------
    ValueError
        If there are too few times, all are equal, minima are requested without groups, or an argument is out of range.

    Examples
    --------
    >>> times = ["job,run_time_s", *(f"{job},{100 + 10 * job + run}" for job in range(4) for run in range(3))]
    >>> from hopperkit.readers.run_times import read_run_times
    >>> report = describe_run_times(read_run_times(times), np.random.default_rng(1), resamples=19)
    >>> report.figures["mean"], report.split.within_sd, [one.runs for one in report.repeats]
    (116.0, 1.0, [2, 80])
    """
    n = len(table.times)
    resamples = (399 if n <= 1000 else 199 if n <= 5000 else 39) if resamples is None else resamples
    if resamples < 19:
        raise refusal("resamples", resamples, "must be at least 19, so that a p-value can reach 0.05")
    fitted = np.array(table.times)
    if minima:
        if not table.groups:
            raise ValueError("the smallest time of each group needs a group column")
        least = np.full(len(set(table.groups)), np.inf)
        np.minimum.at(least, _numbers(table.groups, n), fitted)
        fitted = least
    split, no_split = _split(table)
    return RunTimeReport(
        table=table,
        families=tuple((fit, p_value(fitted, fit, rng, resamples)) for fit in fit_all(fitted)),
        fitted=tuple(fitted.tolist()),
        minima=minima,
        split=split,
        no_split=no_split,
        repeats=_repeats(table, split, change_fraction, power),
        resamples=resamples,
        slow_run=slow_run(table, split),
    )
