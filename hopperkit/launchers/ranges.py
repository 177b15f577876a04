"""Whole numbers as people write lists of them: 0-5,12."""

from collections.abc import Iterable
from itertools import groupby


def as_ranges(numbers: Iterable[int], *, separator: str = ",") -> str:
    """Return numbers in their order, runs of three or more as ``first-last``.

    Parameters
    ----------
    numbers : iterable of int
        Whole numbers from 0.
    separator : str
        Separator between two parts.

    Examples
    --------
    >>> as_ranges([0, 1, 2, 5, 12, 13])
    '0-2,5,12,13'
    >>> as_ranges([6, 0, 1], separator=", ")
    '6, 0, 1'
    """
    # Within a run the number grows as its place does, so their difference stays the same.
    groups = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    parts: list[str] = []
    for run in ([number for _, number in group] for _, group in groups):
        parts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(number) for number in run]
    return separator.join(parts)
