"""Detection delay and false alarms, measured on synthetic histories.

``data/detection-delays.csv`` has the detector's results on synthetic histories watched run by run
(``benchmarks/detection_delays.py`` makes it). No formula replaces the simulation: autocorrelated runs carry less
information than independent ones, by an amount without a short formula.
"""

import math
from functools import cache
from random import Random
from typing import NamedTuple

from hopperlib.data_files import rows
from hopperlib.errors import refusal

# A run in contention measures a share of the usual value, drawn uniformly between these.
_CONTENDED_FROM, _CONTENDED_TO = 0.5, 0.9
# Runs after a loss that were simulated, and runs before it.
LONGEST, BEFORE = 40, 80
_SETTINGS = ("spread_percent", "contended_percent", "persistence", "loss_percent")


class Measured(NamedTuple):
    """Results for one kind of history: series, share with alarms, runs until 50 and 90 % are detected (None: never)."""

    series: int
    alarmed: float
    median_runs: float | None
    ninety_runs: float | None


@cache
def _table() -> dict[tuple[float, ...], Measured]:
    """Return the results by spread, contention, persistence and loss."""
    table = {}
    for row in rows("detection-delays.csv"):
        median, ninety = (float(row[name]) if row[name] else None for name in ("median_runs", "ninety_runs"))
        made_of = tuple(float(row[name]) for name in _SETTINGS)
        table[made_of] = Measured(int(row["series"]), float(row["alarmed"]), median, ninety)
    return table


def settings(name: str) -> list[float]:
    """Return the simulated values of a setting.

    Parameters
    ----------
    name : str
        Column of the table: ``spread_percent``, ``contended_percent``, ``persistence`` or ``loss_percent``.

    Examples
    --------
    >>> settings("persistence")
    [0.0, 0.5]
    """
    return sorted({made_of[_SETTINGS.index(name)] for made_of in _table()})


def measured(*, spread_percent: float, contended_percent: float, persistence: float, loss_percent: float) -> Measured:
    """Return the results for histories of one kind; a loss of 0 gives false alarms.

    Parameters
    ----------
    spread_percent : float
        Standard deviation of ordinary runs. [%]
    contended_percent : float
        Share of runs in contention. [%]
    persistence : float
        Lag-one autocorrelation of the noise.
    loss_percent : float
        Loss; 0 for none. [%]

    Raises
    ------
    InputError
        If no such histories were simulated.

    Examples
    --------
    >>> quick = measured(spread_percent=3, contended_percent=5, persistence=0, loss_percent=20)
    >>> slow = measured(spread_percent=5, contended_percent=5, persistence=0, loss_percent=10)
    >>> quick.median_runs < slow.median_runs
    True
    """
    given = (spread_percent, contended_percent, persistence, loss_percent)
    for name, value in zip(_SETTINGS, given, strict=True):
        if value not in settings(name):
            known = ", ".join(f"{known:g}" for known in settings(name))
            raise refusal(name, value, f"must be one of {known}: those were measured")
    return _table()[given]


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
    """Return a synthetic history around 100: lognormal runs, some in contention, and a loss from one run on.

    Parameters
    ----------
    rng : random.Random
    runs : int
    loss : float
        Share of the value that is lost from run `change` on.
    change : int or None
    spread : float
        Standard deviation of the logarithm of ordinary runs.
    persistence : float
        Their autocorrelation of lag one.
    contended : float
        Share of runs in contention, each of which measures 50 to 90 % of the usual value.

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
            value *= rng.uniform(_CONTENDED_FROM, _CONTENDED_TO)
        values.append(value * (1 - loss) if change is not None and run >= change else value)
    return values
