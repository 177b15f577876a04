"""How deep the dip of one group of values is by chance, and how far apart two groups must be to be seen.

``python -m benchmarks.chance_of_dip`` prints ``data/chance-of-dip.csv``: uniform values, some ten minutes.
"""

import math
import random
import sys

from hopperkit.variation.dip import _CHANCES, dip

SIZES = (4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50, 100, 200, 500, 1000)
# Values are drawn some 2 million times at each size.
_VALUES = 2_000_000
# The level at which two groups count as seen.
LEVEL = 0.02


def deep(rng: random.Random, size: int) -> list[float]:
    """Dips of uniform samples times the root of their size, that are as rare as each chance."""
    samples = max(4_000, min(100_000, _VALUES // size))
    dips = sorted(dip([rng.random() for _ in range(size)]) * math.sqrt(size) for _ in range(samples))
    return [dips[min(samples - 1, math.ceil((1 - chance) * samples))] for chance in _CHANCES]


def apart(rng: random.Random, size: int, rare: float) -> float:
    """Distance at which 80 of 100 samples of two equal normal groups dip deeper than a limit. [spreads]"""
    low, high = 0.0, 40.0
    for _ in range(9):
        middle = (low + high) / 2
        seen = sum(
            dip([rng.gauss(middle * (run % 2), 1) for run in range(size)]) * math.sqrt(size) > rare
            for run in range(200)
        )
        low, high = (low, middle) if seen >= 160 else (middle, high)
    return high


def main() -> None:
    """Print the table."""
    print("values,", ",".join(f"dip_{chance:g}" for chance in _CHANCES), ",apart_spreads", sep="")
    for size in SIZES:
        rng = random.Random(size)
        dips = deep(rng, size)
        distance = apart(rng, size, dips[_CHANCES.index(LEVEL)])
        print(size, *(f"{each:.4f}" for each in dips), f"{distance:.2f}", sep=",")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
