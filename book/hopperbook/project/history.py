"""Daily benchmarks of the machine of a pack: noise, some runs in contention, and a lasting loss in one of them."""

import random
from datetime import timedelta
from statistics import NormalDist
from typing import NamedTuple

from hopperbook.project.jobs import FIRST_DAY

FILE = "benchmarks/daily.csv"
DAYS = 120
_LEVELS = {"triad_gb_s": 214.0, "allreduce_calls_s": 5120.0, "write_gb_s": 11.8, "solver_steps_s": 86.0}
_NOISE, _CONTENDED = 0.02, 0.06


class Loss(NamedTuple):
    """The planted loss: series, first day with it, size. [percent, negative]"""

    series: str
    first_day: str
    percent: float


def history(rng: random.Random) -> tuple[str, Loss]:
    """Return the history as CSV, one line for each day up to the week of the jobs, and the planted loss.

    Examples
    --------
    >>> text, loss = history(random.Random(1))
    >>> text.splitlines()[0]
    'date,triad_gb_s,allreduce_calls_s,write_gb_s,solver_steps_s'
    >>> -12 <= loss.percent <= -6
    True
    """
    series = list(_LEVELS)
    lost = series[int(rng.random() * len(series))]
    at = 45 + int(rng.random() * 45)
    share = 0.06 + 0.06 * rng.random()
    days = [(FIRST_DAY - timedelta(days=DAYS - day)).date().isoformat() for day in range(DAYS)]
    lines = ["date," + ",".join(series)]
    for day, date in enumerate(days):
        values = []
        for name, level in _LEVELS.items():
            value = level * (1 + _NOISE * NormalDist().inv_cdf(rng.random()))
            if name == lost and day >= at:
                value *= 1 - share
            if rng.random() < _CONTENDED:
                value *= 0.65 + 0.25 * rng.random()
            values.append(f"{value:.4g}")
        lines.append(f"{date},{','.join(values)}")
    return "\n".join(lines) + "\n", Loss(lost, days[at], round(-100 * share, 1))
