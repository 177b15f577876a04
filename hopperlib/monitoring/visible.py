"""The smallest lasting change that would have been seen: the size of the silence of a history without one.

A step adds to the likelihood what its square is worth beside the noise. It is seen in 80 of 100 histories when that is
the gain that the detector requires (`changes.gain_needed`) and 0.84 standard deviations more. The noise around a single
level takes part of a step for spread, so the gain grows with the logarithm of the energy only.
"""

import math

from hopperlib.monitoring.changes import FEWEST, LEVEL, gain_needed
from hopperlib.monitoring.history import Report

# Standard normal quantile of 80 %.
_POWER_Z = 0.8416
# What the formula lacks beside the detector, which looks for place and noise too: fitted to histories of 60 runs with six
# kinds of noise, so that four of five losses are seen on average over the kinds.
CALIBRATED = 1.2
_TWO_THIRDS = 0.68
_MOST_PERSISTENT = 0.9


def visible_change(report: Report, after: int | None = None) -> float | None:
    """Lasting change that 80 of 100 histories with this noise would show. [fraction of the level]

    Parameters
    ----------
    report : Report
        Of a history in which no change was seen.
    after : int or None
        Runs after the change; None for half of all, where it is seen best.

    Returns
    -------
    float or None
        None for too few runs, and for a history that is not at one level.

    Examples
    --------
    Runs that spread by some 1.4 %:

    >>> from hopperlib.monitoring.history import History, judge
    >>> rates = tuple(100.0 + run * 7 % 5 for run in range(60))
    >>> steady = judge(History(name="rate", values=rates, times=tuple(map(str, range(60)))))
    >>> round(visible_change(steady), 3), round(visible_change(steady, after=10), 3)
    (0.037, 0.049)
    """
    n = len(report.history.values)
    if n < FEWEST or not report.level or report.verdict != "no change":
        return None
    late = n // 2 if after is None else min(max(after, 1), n - 1)
    off = sorted(abs(math.log(value / level)) for value, level in zip(report.history.values, report.level, strict=True))
    spread = off[round(_TWO_THIRDS * (n - 1))]
    # The autocorrelation of few runs is estimated too small (Kendall 1954).
    persistence = min(max(report.persistence, 0.0), _MOST_PERSISTENT)
    if persistence:
        persistence = min(_MOST_PERSISTENT, persistence + (1 + 3 * persistence) / n)
    wanted = math.sqrt(2 * gain_needed(n, persistence, LEVEL)) + _POWER_Z
    energy = n * math.expm1(wanted**2 / n)
    memory = math.sqrt((1 + persistence) / (1 - persistence))
    return math.expm1(CALIBRATED * spread * memory * math.sqrt(energy * n / (late * (n - late))))
