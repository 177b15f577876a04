"""The smallest effect that would have been seen in 80 of 100 data sets like these: the size of a silence.

Each formula takes the spread of ordinary runs and the threshold that the test used, adds what 80 % power needs (0.84
standard errors), and allows for rank tests being 95.5 % as efficient as the mean where noise is normal [1]_.

References
----------
.. [1] E. L. Lehmann, Nonparametrics (Springer, 2006), sec. 2.4: the efficiency of Wilcoxon's test is 3 / pi.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence

from hopperkit.variation.dip import FEWEST, distance_seen
from hopperkit.variation.tails import normal_quantile, normal_tail

POWER = 0.8
_RANK_EFFICIENCY = 3 / math.pi
_FARTHEST, _HALVINGS, _MOST_PAIRED = 16.0, 30, 200


def difference_seen(
    spread: float, first: int, second: int, z_needed: float, residuals: Sequence[float] = ()
) -> float | None:
    """Difference between two sides that is seen in 80 of 100 data sets; None where so few runs never show one. [unit of the spread]

    Parameters
    ----------
    spread : float
        Standard deviation of ordinary runs, as logarithms for a relative difference.
    first, second : int
        Runs on each side.
    z_needed : float
        Standard deviations from chance at which the rank sum of one side counts as seen.
    residuals : sequence of float
        Runs around their level, if they are known: where their tails are heavier than those of a normal distribution with
        that spread, the difference is larger.

    Examples
    --------
    >>> round(difference_seen(0.05, 20, 20, 1.96), 3)
    0.047

    Two runs beside three lie at most 1.7 deviations from chance, however far they are apart:

    >>> difference_seen(0.05, 2, 3, 2.1) is None
    True
    """
    # Of pairs with one run of each side, the share that the slow side wins is p: a half by chance, all without overlap.
    most = math.sqrt(12 * first * second / (first + second + 1))
    if most / 2 < z_needed:
        return None
    power_z, own = normal_quantile(1 - POWER), sorted(residuals[:: math.ceil(len(residuals) / _MOST_PAIRED) or 1])

    def is_seen(distance: float) -> bool:
        wins = 1 - normal_tail(distance / math.sqrt(2))
        if len(own) > 1:
            # A run does not meet itself.
            pairs = sum(bisect_left(own, run + distance * spread) for run in own) - len(own)
            wins = min(wins, max(0, pairs) / (len(own) * (len(own) - 1)))
        # Where one side always wins, nothing is left to chance.
        return most * (wins - 0.5) >= z_needed + power_z * 2 * math.sqrt(wins * (1 - wins))

    low, high = 0.0, 1.0
    while not is_seen(high) and high < _FARTHEST:
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if is_seen(middle) else (middle, high)
    return high * spread


def drift_seen(spread: float, runs: int, level: float = 0.02) -> float:
    """Drift from the first run to the last that is seen in 80 of 100 series. [unit of the spread]

    Parameters
    ----------
    spread : float
    runs : int
    level : float
        Share of series without a drift in which one may be seen; half of it is spent on steps.

    Examples
    --------
    >>> round(drift_seen(0.05, 100), 3)
    0.06
    """
    # The slope of evenly spaced points has the error s / sqrt(sum of squares), n^3 / 12 for large n.
    error = spread * math.sqrt(12 / (runs + 1) / _RANK_EFFICIENCY)
    return (normal_quantile(level / 4) + normal_quantile(1 - POWER)) * error


def groups_seen(spread: float, runs: int) -> float | None:
    """Distance of two equal groups that is seen in 80 of 100 data sets; None for too few runs. [unit of the spread]

    Examples
    --------
    >>> groups_seen(0.05, 3) is None, groups_seen(0.05, 100) < groups_seen(0.05, 20)
    (True, True)
    """
    if runs < FEWEST:
        return None
    distance = distance_seen(runs)
    return None if distance >= 20 else distance * spread
