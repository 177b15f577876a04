"""Which factor separates slow runs from fast ones: rank sums of all factors at once, against shuffled times.

Each factor gives one number, its rank statistic in standard deviations from chance: the rank sum of two groups
(Wilcoxon), of several groups (Kruskal and Wallis), or the rank correlation with a number (Spearman). The largest of
them all is compared with the largest among the same factors when the times are shuffled [1]_. So trying a thousand
nodes costs no more false alarms than trying one, and correlated factors are not counted twice.

References
----------
.. [1] P. H. Westfall and S. S. Young, Resampling-Based Multiple Testing (Wiley, 1993): the distribution of the maximum.
"""

import math
import random
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import NormalDist
from typing import NamedTuple

from hopperkit.variation.factors import Factor
from hopperkit.variation.order import ranks, shuffled
from hopperkit.variation.tails import chi_square_tail

# A factor is found at this chance, of all factors together.
LEVEL = 0.03
# Additions that all shuffles together may take: some seconds in a browser.
_MOST_WORK = 6_000_000
_MOST_Z = 38.0
# A value reached by this many shuffles is not rare.
_OFTEN = 40
# Minimum number of shuffles for the deviation that a factor needs.
_LEAST_SHUFFLES = 299


class Separation(NamedTuple):
    """How well a factor separates runs.

    Parameters
    ----------
    factor : Factor
    z : float
        Standard deviations from chance; above 0 where the factor's runs, or its large values, are the slow ones.
    chance : float
        How often shuffled times give the best of all factors as large a value. [fraction]
    exact : bool
        Whether all runs on its one side are slower than all on the other.
    """

    factor: Factor
    z: float
    chance: float
    exact: bool


class Separated(NamedTuple):
    """All factors, the best first, and the deviations from chance that one of them must have to be found."""

    rows: list[Separation]
    z_needed: float


def separations(logs: Sequence[float], factors: Sequence[Factor], rng: random.Random) -> Separated:
    """Factors by how well they separate runs, the best first.

    Parameters
    ----------
    logs : sequence of n float
        Logarithms of run times.
    factors : sequence of Factor
        Of n values each.
    rng : random.Random
        Of the shuffles.

    Examples
    --------
    >>> from hopperkit.variation.factors import Factor
    >>> logs = [7.0, 7.1, 5.9, 6.0, 5.8, 7.2, 7.0, 6.0]
    >>> slow = Factor("node n17", "set", (True, True, False, False, False, True, True, False))
    >>> best = separations(logs, [slow, Factor("load", "number", (1, 5, 2, 4, 3, 2, 4, 4))], random.Random(1)).rows[0]
    >>> best.factor.name, best.exact, best.chance <= 0.06
    ('node n17', True, True)
    """
    if not factors:
        return Separated([], math.inf)
    n = len(logs)
    centered = [rank - (n + 1) / 2 for rank in ranks(logs)]
    spread = sum(rank * rank for rank in centered)
    if spread == 0:
        return Separated([Separation(factor, 0.0, 1.0, False) for factor in factors], math.inf)
    statistics = [_statistic(factor, spread, n) for factor in factors]
    found = [statistic(centered) for statistic in statistics]
    work = sum(factor.work for factor in factors) + n
    shuffles = max(99, min(999, _MOST_WORK // work))
    best, reached = max(map(abs, found)) - 1e-9, 0
    most: list[float] = []
    while len(most) < shuffles and (reached < _OFTEN or len(most) < _LEAST_SHUFFLES):
        mixed = shuffled(centered, rng)
        most.append(max(abs(statistic(mixed)) for statistic in statistics))
        reached += most[-1] >= best
    most.sort()
    rows = [
        Separation(
            factor,
            z,
            (1 + len(most) - bisect_left(most, abs(z) - 1e-9)) / (1 + len(most)),
            is_exact(logs, factor),
        )
        for factor, z in zip(factors, found, strict=True)
    ]
    rows.sort(key=lambda row: (-abs(row.z), row.factor.name))
    return Separated(rows, most[min(len(most) - 1, math.ceil((1 - LEVEL) * len(most)))])


def _statistic(factor: Factor, spread: float, n: int) -> Callable[[Sequence[float]], float]:
    """The statistic of a factor as a function of centered ranks, in standard deviations from chance."""
    if factor.kind == "number":
        at = [rank - (n + 1) / 2 for rank in ranks(factor.values)]
        scale = math.sqrt(sum(place * place for place in at) * spread / (n - 1))
        return lambda mixed: sum(map(float.__mul__, at, mixed)) / scale
    sides = factor.members()
    if len(sides) == 2:
        # Sum over the smaller group; the sign shows whether the group named first is slow.
        chosen = min(sides, key=len)
        sign = 1.0 if chosen is sides[0] else -1.0
        scale = sign * math.sqrt(len(chosen) * (n - len(chosen)) / (n * (n - 1)) * spread)
        return lambda mixed: sum([mixed[place] for place in chosen]) / scale
    scale = spread / (n - 1)

    def several(mixed: Sequence[float]) -> float:
        value = sum(sum([mixed[place] for place in side]) ** 2 / len(side) for side in sides) / scale
        return _equivalent(value, len(sides) - 1)

    return several


def _equivalent(value: float, degrees: int) -> float:
    """Standard deviations of a normal variable as rare, two-sided, as a chi-square value."""
    tail = chi_square_tail(value, degrees) / 2
    return _MOST_Z if tail < 1e-300 else max(0.0, -NormalDist().inv_cdf(min(tail, 0.5)))


def is_exact(logs: Sequence[float], factor: Factor) -> bool:
    """Whether a factor parts the runs so that no two of its kinds overlap, with two runs or more in each.

    Parameters
    ----------
    logs : sequence of float
        Logarithms of the values.
    factor : Factor
        The factor.

    Examples
    --------
    >>> from hopperkit.variation.factors import Factor
    >>> is_exact([1.0, 1.1, 2.0, 2.1], Factor("node", "kinds", ("a", "a", "b", "b")))
    True
    """
    if factor.kind == "number":
        return False
    spans = sorted(
        (min(logs[place] for place in side), max(logs[place] for place in side)) for side in factor.members()
    )
    return all(low[1] < high[0] for low, high in pairwise(spans)) and len(spans) > 1
