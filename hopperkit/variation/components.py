"""Variance within and between jobs: one-way analysis of variance with random effects, standard library alone."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from statistics import fmean, harmonic_mean, variance
from typing import NamedTuple

from hopperkit.variation.tails import f_quantile


class Components(NamedTuple):
    """Parts of a variance.

    Parameters
    ----------
    within, between : float
        Variances, in the square of the values' unit; `between` is 0 where its estimate was negative.
    low, share, high : float
        Share between groups, with its interval of 95 %. [fraction]
    groups : int
    """

    within: float
    between: float
    low: float
    share: float
    high: float
    groups: int


def variance_components(values: Sequence[float], groups: Sequence[Hashable], level: float = 0.95) -> Components | None:
    """Split the variance of values into that within groups and that between them; None where it cannot be split.

    Parameters
    ----------
    values : sequence of n float
    groups : sequence of n labels
    level : float
        How often the interval holds the share. [fraction]

    Examples
    --------
    >>> parts = variance_components([10.0, 11.0, 20.0, 21.0], ["a", "a", "b", "b"])
    >>> parts.within, parts.between, round(parts.share, 3)
    (0.5, 49.75, 0.99)

    References
    ----------
    S. R. Searle, G. Casella, C. E. McCulloch, Variance Components (Wiley, 1992), sec. 3.6; the interval of J. D. Thomas
    and R. A. Hultquist, Annals of Statistics 6 (1978) 582-587.
    """
    members: dict[Hashable, list[float]] = defaultdict(list)
    for group, value in zip(groups, values, strict=True):
        members[group].append(value)
    n, count = len(values), len(members)
    if count < 2 or count == n or min(values) == max(values):
        return None
    sizes, means = [len(runs) for runs in members.values()], [fmean(runs) for runs in members.values()]
    within = sum((len(runs) - 1) * variance(runs) for runs in members.values() if len(runs) > 1) / (n - count)
    center = fmean(values)
    spread = sum(size * (mean - center) ** 2 for size, mean in zip(sizes, means, strict=True)) / (count - 1)
    between = max(0.0, (spread - within) / ((n - sum(size**2 for size in sizes) / n) / (count - 1)))
    share = between / (within + between)
    if within == 0:
        return Components(0.0, between, 1.0, 1.0, 1.0, count)
    size = harmonic_mean(sizes)
    ratio = size * variance(means) / within
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        excess = ratio / f_quantile(tail, count - 1, n - count) - 1
        ends.append(max(0.0, excess / (size + excess)))
    return Components(within, between, min(ends[0], share), share, max(ends[1], share), count)
