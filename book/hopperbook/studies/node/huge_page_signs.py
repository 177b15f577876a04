"""Public measurements of huge pages against the coupled model of a node: in how many draws is the sign right?

Values missing from a measurement's text are drawn from a range common to all: page walks, rates of cores and links,
pieces that are touched first. Nothing is fitted; a share near half means that the model is undecided.
"""

import math
import random
from collections.abc import Callable
from typing import NamedTuple

from hopperlib.placement.models.coupled_node import MemorySystem, PageRun, Translation, page_size_ratio

_DRAWS = 200
# Translations that a core of a recent x86 processor holds, for small and large pages alike.
_ENTRIES = 1536
# Ratios this near to 1 count as no difference.
_SAME = 0.03


class Sign(NamedTuple):
    """A public measurement, and the share of draws in which the model gives its sign.

    Parameters
    ----------
    what, source, measured : str
        Measured is the time with large pages over that with small ones, as the text has it.
    share : float
        [0-1]
    middle : float
        Median ratio of the draws.
    """

    what: str
    source: str
    measured: str
    share: float
    middle: float


def _evenly(rng: random.Random, low: float, high: float) -> float:
    """Return a number drawn evenly by its logarithm."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _random_access(rng: random.Random) -> float:
    """One core at random places of 4 GiB."""
    node = MemorySystem(1, 1, 20.0, _evenly(rng, 0.5, 2.0))
    tables = [Translation(_evenly(rng, 10, 100), _ENTRIES, 64, 4 << 30)] * 2
    return page_size_ratio(PageRun(1.0), node, piece_bytes=1e12, translation=tables)


def _eight_numa_nodes(rng: random.Random) -> float:
    """All cores of eight NUMA nodes sort and jump in memory that threads touch first in pieces."""
    node = MemorySystem(8, 16, 40.0, rng.uniform(8, 20), rng.uniform(0.4, 0.7), rng.uniform(20, 60))
    tables = [Translation(rng.uniform(2, 30), _ENTRIES, 64, _evenly(rng, 1 << 28, 1 << 32))] * 2
    run = PageRun(rng.uniform(0.3, 0.9))
    return page_size_ratio(run, node, piece_bytes=_evenly(rng, 16 << 10, 2 << 20), translation=tables)


def _stream(rng: random.Random) -> float:
    """Two sockets stream through large fields."""
    node = MemorySystem(2, 24, 60.0, rng.uniform(8, 20), rng.uniform(0.4, 0.7), rng.uniform(20, 60))
    tables = [Translation(rng.uniform(2, 30), _ENTRIES, 64, 1e9, is_stream=True)] * 2
    run = PageRun(rng.uniform(0.3, 0.9))
    return page_size_ratio(run, node, piece_bytes=_evenly(rng, 64 << 20, 1 << 30), translation=tables)


def signs() -> tuple[Sign, ...]:
    """Return the measurements with the model's result for each.

    Examples
    --------
    >>> [each.share > 0.9 for each in signs()]
    [True, True, False, True]
    """
    faster: Callable[[float], bool] = lambda ratio: ratio < 1 - _SAME  # noqa: E731
    cases = (
        ("random places in 4 GiB, Xeon 8259CL", "evanj/hugepagedemo", "0.5", _random_access, faster),
        ("the same, Core i5-1135G7", "evanj/hugepagedemo", "0.34", _random_access, faster),
        ("sorting and jumping, eight NUMA nodes", "Chapel, pull request 19355", "1.5", _eight_numa_nodes, lambda ratio: ratio > 1 + _SAME),
        ("a climate model", "E3SM, pull request 3129", "no difference", _stream, lambda ratio: abs(ratio - 1) <= _SAME),
    )  # fmt: skip
    found = []
    for quantity, source, measured, model, right in cases:
        rng = random.Random(1)
        ratios = sorted(model(rng) for _ in range(_DRAWS))
        found.append(Sign(quantity, source, measured, sum(map(right, ratios)) / _DRAWS, ratios[_DRAWS // 2]))
    return tuple(found)
