"""The smallest effect that would have been seen in 80 of 100 data sets like these: the size of a silence.

Each formula takes the spread of ordinary runs and the threshold that the test used, adds what 80 % power needs (0.84
standard errors), and allows for rank tests being 95.5 % as efficient as the mean where noise is normal [1]_.

References
----------
.. [1] E. L. Lehmann, Nonparametrics (Springer, 2006), sec. 2.4: the efficiency of Wilcoxon's test is 3 / pi.
"""

import math

from hopperkit.variation.dip import FEWEST, distance_seen
from hopperkit.variation.tails import normal_quantile

POWER = 0.8
_RANK_EFFICIENCY = 3 / math.pi


def difference_seen(spread: float, first: int, second: int, z_needed: float) -> float:
    """Difference between two sides that is seen in 80 of 100 data sets. [unit of the spread]

    Parameters
    ----------
    spread : float
        Standard deviation of ordinary runs, as logarithms for a relative difference.
    first, second : int
        Runs on each side.
    z_needed : float
        Standard deviations from chance at which a difference counts as seen.

    Examples
    --------
    >>> round(difference_seen(0.05, 20, 20, 1.96), 3)
    0.045
    """
    error = spread * math.sqrt((1 / first + 1 / second) / _RANK_EFFICIENCY)
    return (z_needed + normal_quantile(1 - POWER)) * error


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

    Parameters
    ----------
    spread : float
        Standard deviation of the logarithm.
    runs : int
        Number of runs.

    Examples
    --------
    >>> groups_seen(0.05, 3) is None, groups_seen(0.05, 100) < groups_seen(0.05, 20)
    (True, True)
    """
    if runs < FEWEST:
        return None
    distance = distance_seen(runs)
    return None if distance >= 20 else distance * spread
