"""Rank correlation of waits."""

from collections import Counter
from collections.abc import Sequence


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1, equal ones their mean rank.

    Parameters
    ----------
    values : sequence of float
        Numbers, possibly with ties.

    Examples
    --------
    >>> ranks([30, 10, 10])
    [3.0, 1.5, 1.5]
    """
    first: dict[float, int] = {}
    times = Counter(values)
    seen = 0
    for value in sorted(times):
        first[value] = seen
        seen += times[value]
    return [first[value] + (times[value] + 1) / 2 for value in values]


def rank_correlation(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return Spearman's rank correlation; 0 where one side does not vary.

    Parameters
    ----------
    ours : sequence of float
        Simulated values.
    theirs : sequence of float
        Observed values.

    Examples
    --------
    >>> rank_correlation([1, 2, 9], [10, 20, 30]), rank_correlation([1, 1], [1, 2])
    (1.0, 0.0)
    """
    if len(ours) < 2:
        return 0.0
    left, right = ranks(ours), ranks(theirs)
    middle = (len(ours) + 1) / 2
    products = sum((a - middle) * (b - middle) for a, b in zip(left, right, strict=True))
    squares = sum((a - middle) ** 2 for a in left) * sum((b - middle) ** 2 for b in right)
    return products / squares**0.5 if squares else 0.0
