"""How many runs pass before a loss is seen, and how often there is none: histories made up, and the sum behind them.

A detector by likelihood gains from each run after a loss, on average, the divergence of what such a run shows from what
an unchanged one would; it speaks when the sum passes what chance gives [1]_.

References
----------
.. [1] A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of Mathematical Statistics 16, 1945.
"""

from __future__ import annotations

import math
from random import Random
from statistics import NormalDist

from hopperlib.errors import refusal
from hopperlib.monitoring.changes import LEVEL, SHORTEST, gain_needed

__all__ = ["CONTENDED_FROM", "CONTENDED_TO", "expected_delay", "fixed_rule_alarms", "synthetic_history"]

# A run in contention measures a share of what it would, evenly between these.
CONTENDED_FROM, CONTENDED_TO = 0.5, 0.9
_STEPS = 400


def synthetic_history(
    rng: Random,
    *,
    runs: int,
    loss: float = 0.0,
    change: int | None = None,
    spread: float = 0.08,
    persistence: float = 0.0,
    contended: float = 0.15,
) -> list[float]:
    """Return a made-up history around 100: lognormal runs, some in contention, and a loss from one run on.

    Parameters
    ----------
    rng : random.Random
    runs : int
    loss : float
        Share that is lost from run `change` on.
    change : int or None
    spread : float
        Standard deviation of the logarithm of ordinary runs.
    persistence : float
        Their autocorrelation of lag one.
    contended : float
        Share of runs in contention; each measures half to nine tenths of what it would.

    Examples
    --------
    >>> [round(value) for value in synthetic_history(Random(1), runs=4, loss=0.5, change=2, contended=0)]
    [111, 112, 46, 50]
    """
    values, z = [], rng.gauss(0, 1)
    for run in range(runs):
        if run:
            z = persistence * z + math.sqrt(1 - persistence**2) * rng.gauss(0, 1)
        value = 100 * math.exp(spread * z)
        if rng.random() < contended:
            value *= rng.uniform(CONTENDED_FROM, CONTENDED_TO)
        values.append(value * (1 - loss) if change is not None and run >= change else value)
    return values


def _density(log: float, spread: float, contended: float) -> float:
    """Return the density of the logarithm of a run around the level, contention included."""
    ordinary = NormalDist(0, spread)
    # Contention: evenly between the two factors; its logarithm, blurred by the spread, by the midpoint rule.
    steps = 24
    factors = (CONTENDED_FROM + (CONTENDED_TO - CONTENDED_FROM) * (step + 0.5) / steps for step in range(steps))
    slowed = sum(ordinary.pdf(log - math.log(factor)) for factor in factors) / steps
    return (1 - contended) * ordinary.pdf(log) + contended * slowed


def expected_delay(
    *, loss: float, spread: float, contended: float, runs: int = 100, persistence: float = 0.0, level: float = LEVEL
) -> float:
    """Return how many runs pass, on average, until a loss is seen. [runs]

    Parameters
    ----------
    loss : float
        Share lost, above 0 and below 1.
    spread, contended, persistence : float
        As for `synthetic_history`.
    runs : int
        Length of the history.
    level : float
        Share of unchanged histories in which a change may be seen.

    Examples
    --------
    >>> expected_delay(loss=0.2, spread=0.03, contended=0.05) < expected_delay(loss=0.2, spread=0.08, contended=0.15)
    True
    """
    if not 0 < loss < 1:
        raise refusal("loss", loss, "must be above 0 and below 1")
    shift = math.log1p(-loss)
    low, high = shift + math.log(CONTENDED_FROM) - 5 * spread, 5 * spread
    width = (high - low) / _STEPS
    divergence = 0.0
    for step in range(_STEPS):
        log = low + (step + 0.5) * width
        shown, unchanged = _density(log - shift, spread, contended), _density(log, spread, contended)
        if shown > 0:
            divergence += width * shown * math.log(shown / max(unchanged, 1e-300))
    # Runs that follow each other tell less: of many, as many as (1 + rho) / (1 - rho) tell what one would.
    told = divergence * (1 - persistence) / (1 + persistence)
    return max(SHORTEST, gain_needed(runs, 0.7 * persistence, level) / told)


def fixed_rule_alarms(*, below: float, spread: float, contended: float, runs: int) -> float:
    """Return how often a rule "so much below the level" is broken at least once by unchanged, independent runs.

    Examples
    --------
    >>> round(fixed_rule_alarms(below=0.1, spread=0.08, contended=0.15, runs=120), 3)
    1.0
    """
    limit, steps = math.log1p(-below), 200
    ordinary = NormalDist(0, spread).cdf(limit)
    factors = (CONTENDED_FROM + (CONTENDED_TO - CONTENDED_FROM) * (step + 0.5) / steps for step in range(steps))
    slowed = sum(NormalDist(math.log(factor), spread).cdf(limit) for factor in factors) / steps
    return 1 - (1 - (1 - contended) * ordinary - contended * slowed) ** runs
