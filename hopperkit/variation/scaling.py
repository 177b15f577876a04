"""Runs of several sizes, such as numbers of nodes: a size that explains most of the differences is not a fault."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median, pvariance
from typing import Any, NamedTuple

# Columns of sizes, the first of which counts: others are usually multiples of it.
_NAMES = (
    "nodes", "nnodes", "num_nodes", "number of nodes", "gpus", "ngpus", "tasks", "ntasks", "num_tasks", "ranks", "nranks",
    "procs", "processes", "cores", "ncores", "ncpus", "alloccpus", "cpus", "threads", "nthreads", "omp_num_threads",
)  # fmt: skip
# Sizes that are needed, and the share of the variance that they explain.
_FEWEST, _MOSTLY = 3, 0.9


class Scaling(NamedTuple):
    """Sizes that explain most of the differences between runs.

    Parameters
    ----------
    column : str
    sizes : tuple of float
        In order.
    times : tuple of float
        Median time of each size.
    residuals : tuple of float
        Logarithm of each run's time, less that of the median of its size.
    """

    column: str
    sizes: tuple[float, ...]
    times: tuple[float, ...]
    residuals: tuple[float, ...]

    @property
    def efficiencies(self) -> list[float]:
        """Speedup over the smallest size, divided by how many times larger each size is. [fraction]"""
        size, time = self.sizes[0], self.times[0]
        return [time * size / (now * larger) for larger, now in zip(self.sizes, self.times, strict=True)]

    @property
    def spread(self) -> float:
        """Standard deviation of the runs of one size; the median of each takes a degree of freedom. [difference of
        logarithms]
        """
        return math.sqrt(sum(part**2 for part in self.residuals) / (len(self.residuals) - len(self.sizes)))


def scaling_of(columns: Mapping[str, Sequence[Any]], times: Sequence[float]) -> Scaling | None:
    """Return the column of sizes that explains most of the differences between runs; None if none does.

    Each step to a larger size must change the time in the same direction, so that a size is not taken for a scaling that
    it is not.

    Parameters
    ----------
    columns : mapping of str to sequence
    times : sequence of float
        Run times.

    Examples
    --------
    >>> found = scaling_of({"nodes": (1, 1, 2, 2, 4, 4)}, (100, 102, 51, 50, 25, 26))
    >>> found.sizes, found.times, [round(share, 2) for share in found.efficiencies]
    ((1.0, 2.0, 4.0), (101.0, 50.5, 25.5), [1.0, 1.0, 0.99])
    """
    named = {name.strip().lower(): name for name in columns}
    for known in _NAMES:
        if known in named and (found := _scaling(named[known], columns[named[known]], times)):
            return found
    return None


def _scaling(name: str, cells: Sequence[Any], times: Sequence[float]) -> Scaling | None:
    """Return the scaling by one column; None if it is none."""
    if not all(map(_is_size, cells)):
        return None
    by_size: dict[float, list[float]] = {}
    for cell, time in zip(cells, times, strict=True):
        by_size.setdefault(float(cell), []).append(time)
    # A single run of each size has no differences within a size.
    if len(by_size) < _FEWEST or len(by_size) > len(times) / 2:
        return None
    sizes = sorted(by_size)
    middles = [median(by_size[size]) for size in sizes]
    residuals = [math.log(time / median(by_size[float(cell)])) for cell, time in zip(cells, times, strict=True)]
    one_way = len({after > before for before, after in pairwise(middles)}) == 1
    # Squares around 0, the median of each size, and around the mean of all.
    most = (1 - _MOSTLY) * len(times) * pvariance(list(map(math.log, times)))
    explains = most > 0 and sum(part**2 for part in residuals) <= most
    return Scaling(name, tuple(sizes), tuple(middles), tuple(residuals)) if one_way and explains else None


def _is_size(cell: Any) -> bool:
    """Whether a cell is a number above 0 and not a truth value."""
    return isinstance(cell, int | float) and not isinstance(cell, bool) and cell > 0
