"""What the outliers of a history have in common: a value of a column, such as one node, that few other runs have."""

import math
from typing import NamedTuple

from hopperlib.monitoring.history import Report

_FEWEST = 3
# How often so many runs drawn at random may share a value, of all values of all columns.
_LEVEL = 0.001
# Share of the outliers that must have the value.
_MOST = 0.8


class SharedValue(NamedTuple):
    """A value of a column that outliers share.

    Parameters
    ----------
    column, value : str
    outliers : int
        Outliers that have it.
    runs : int
        Runs that have it.
    """

    column: str
    value: str
    outliers: int
    runs: int


def shared_value(report: Report) -> SharedValue | None:
    """Return the value of a column that most outliers of a history share, beyond chance; None if there is none.

    Parameters
    ----------
    report : Report
        Report of a history with more columns.

    Examples
    --------
    >>> from hopperlib.monitoring.history import History, Outlier
    >>> node = tuple("abcde"[run % 5] for run in range(60))
    >>> history = History(name="x", values=(1.0,) * 60, times=tuple(map(str, range(60))), covariates={"node": node})
    >>> far = tuple(Outlier(run, str(run), 2.0, 100.0) for run in (2, 7, 12, 17, 22))
    >>> shared_value(Report(history=history, outliers=far))
    SharedValue(column='node', value='c', outliers=5, runs=12)
    """
    far = [outlier.run for outlier in report.outliers]
    runs = len(report.history.values)
    if len(far) < _FEWEST:
        return None
    tried = sum(len(set(cells)) for cells in report.history.covariates.values())
    best: tuple[float, SharedValue] | None = None
    for column, cells in report.history.covariates.items():
        for value in sorted({cells[run] for run in far}):
            having, hits = cells.count(value), sum(cells[run] == value for run in far)
            chance = tried * _chance(runs, having, len(far), hits)
            if value and hits >= _MOST * len(far) and chance <= _LEVEL and (best is None or chance < best[0]):
                best = chance, SharedValue(column, value, hits, having)
    return best and best[1]


def _chance(runs: int, having: int, drawn: int, hits: int) -> float:
    """Probability that at least so many of some runs drawn at random have a value (hypergeometric)."""
    return sum(
        math.comb(having, number) * math.comb(runs - having, drawn - number)
        for number in range(hits, min(having, drawn) + 1)
    ) / math.comb(runs, drawn)
