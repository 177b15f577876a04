"""A few slow runs: whether the slowest are farther away than the tail of the other runs explains.

Run times have long tails, so a limit in standard deviations finds slow runs everywhere. Here the tail of the logarithm is
allowed to be exponential, as heavy as any that an even machine shows. Then the gaps between sorted values, each times its
rank from above, are alike and independent [1]_, and the gap below the slowest k runs, or the sum of the distances of these above it, is
compared with the gaps among the other runs.

References
----------
.. [1] A. Renyi, "On the theory of order statistics," Acta Math. Hung. 4 (1953) 191-231.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from hopperkit.variation.tails import f_tail

# Fewer runs have no tail to compare with.
FEWEST = 5
# More than this share of the runs is a group, not a few runs.
MOST_SLOW = 0.25
# The lowest quarter of the gaps is left out: one fast run must not pass for a wide tail.
_USED = 0.75


class SlowRuns(NamedTuple):
    """The slowest runs: their number, and the probability that the tail of the other runs produces them. [fraction]"""

    number: int
    chance: float


def slow_runs(logs: Sequence[float]) -> SlowRuns:
    """Number of slow runs that are most conspicuous, with the probability among homogeneous runs.

    Parameters
    ----------
    logs : sequence of float
        Logarithms of run times; of their negatives, fast runs are found.

    Examples
    --------
    Eight runs near 815 s, and two of 1,190 and 1,402 s:

    >>> import math
    >>> times = [815, 809, 822, 801, 830, 818, 812, 826, 1190, 1402]
    >>> found = slow_runs([math.log(time) for time in times])
    >>> found.number, found.chance < 0.01
    (2, True)
    """
    ordered = sorted(logs, reverse=True)
    n = len(ordered)
    if n < FEWEST:
        return SlowRuns(0, 1.0)
    # Gap i is between the run of rank i from the top and the next one.
    gaps = [rank * (ordered[rank - 1] - ordered[rank]) for rank in range(1, int(_USED * n) + 1)]
    below, best, excess = sum(gaps), SlowRuns(0, 1.0), 0.0
    most = max(1, int(MOST_SLOW * n))
    for number in range(1, most + 1):
        gap = gaps[number - 1]
        below -= gap
        excess += gap
        others = len(gaps) - number
        if others < 1 or below <= 0:
            continue
        mean = below / others
        alone = f_tail(gap / mean, 2, 2 * others)
        together = f_tail(excess / number / mean, 2 * number, 2 * others)
        chance = min(1.0, 2 * min(alone, together) / _weight(number, most))
        if chance < best.chance:
            best = SlowRuns(number, chance)
    return best


def _weight(number: int, most: int) -> float:
    """Part of the level that is spent on a number of slow runs: half of it evenly, half on the fewest."""
    return 0.5 / (number * (number + 1)) + 0.5 / most


def slowdown_seen(logs: Sequence[float], chance: float = 0.02) -> float:
    """Smallest slowdown, relative to the slowest ordinary run, at which one more run is detected. [difference of
    logarithms]

    Parameters
    ----------
    logs : sequence of float
        Logarithms of at least `FEWEST` run times.
    chance : float
        Level at which a run counts as slow. [fraction]

    Examples
    --------
    >>> quiet, loud = ([spread * step for step in range(20)] for spread in (0.001, 0.01))
    >>> 0 < slowdown_seen(quiet) < slowdown_seen(loud)
    True
    """
    ordered = sorted(logs, reverse=True)
    gaps = [rank * (ordered[rank - 1] - ordered[rank]) for rank in range(1, int(_USED * len(ordered)) + 1)]
    others = len(gaps)
    # The gap that the F ratio with two degrees of freedom exceeds with that probability, as one of two tests.
    share = chance * _weight(1, max(1, int(MOST_SLOW * len(ordered)))) / 2
    return sum(gaps) * (math.exp(-math.log(share) / others) - 1)
