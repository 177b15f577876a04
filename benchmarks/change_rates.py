"""Error rates of the detector of lasting changes: python -m benchmarks.change_rates [series].

Prints, for independent runs and for an autocorrelation of a half, how many unchanged histories of 120 runs are alarmed
(seeds from 0), and how many losses from run 80 on are found within three runs when 20 more have followed (seeds from
1,000,000). Apache Otava stands beside it where it is installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from random import Random

from hopperlib.analysis.change_rates import courses
from hopperlib.monitoring.delays import synthetic_history

LOSSES = (0.05, 0.1, 0.2, 0.3)


def ours(histories: Sequence[Sequence[float]]) -> list[list[int]]:
    """Return the places of the changes found in each history."""
    return [[change.run for change in course.changes] for course in courses(histories)]


def otava(histories: Sequence[Sequence[float]]) -> list[list[int]]:
    """Return the same by Apache Otava, p = 1e-4 and at least 5 %."""
    from otava.analysis import compute_change_points  # type: ignore[import-not-found, unused-ignore]

    found = (compute_change_points(list(values), 50, 1e-4, min_magnitude=0.05)[0] for values in histories)
    return [[int(point.index) for point in points] for points in found]


def rates(
    detector: Callable[[Sequence[Sequence[float]]], list[list[int]]], series: int, persistence: float
) -> list[float]:
    """Return the share of unchanged histories alarmed, then the share of each loss found."""
    unchanged = [synthetic_history(Random(seed), runs=120, persistence=persistence) for seed in range(series)]
    table = [sum(map(bool, detector(unchanged))) / series]
    for loss in LOSSES:
        seeds = range(1_000_000, 1_000_000 + series)
        lost = [
            synthetic_history(Random(seed), runs=100, change=80, loss=loss, persistence=persistence) for seed in seeds
        ]
        table.append(sum(any(abs(place - 80) <= 3 for place in places) for places in detector(lost)) / series)
    return table


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name, tried in (("here", ours), ("Otava", otava)):
        for rho in (0.0, 0.5):
            print(name, rho, [f"{share:.1%}" for share in rates(tried, count, rho)], flush=True)
