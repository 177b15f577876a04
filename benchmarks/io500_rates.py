"""Fit files created a second on half of the public IO500 results on Lustre, and predict the other half.

``python -m benchmarks.io500_rates FOLDER``: FOLDER is a copy of the IO500 submissions (github.com/IO500/submission-data).
A result counts as Lustre if its folder or file system is called so (or EXAScaler, Lustre's name at DDN), or if a script
beside it calls ``lfs setstripe``. Systems are halved, not results, 40 times at random.
"""

from __future__ import annotations

import math
import random
import re
import sys
from itertools import combinations
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from scipy.stats import theilslopes

from hopperkit.filesystems.measured import Relation, spread
from hopperkit.readers.ior.io500 import read_io500_summary
from hopperlib.errors import InputError

_OTHERS = [
    "daos",
    "weka",
    "beegfs",
    "gpfs",
    "scale",
    "vast",
    "ceph",
    "gekko",
    "qumulo",
    "ime",
    "panfs",
    "chfs",
    "finch",
    "yrcloud",
    "oceanstor",
    "suse",
    "expand",
]
_HALVINGS = 40


class Rates(NamedTuple):
    """What one result prints: GiB/s of a file a task and of small blocks; thousands of files created a second."""

    system: str
    easy: float
    hard: float
    own_folders: float
    one_folder: float


def _is_lustre(folder: Path, top: Path, file_system: str) -> bool:
    """Whether a result is one of Lustre."""
    name = file_system.lower()
    if "lustre" in name or "exascaler" in name:
        return True
    if any(other in name for other in _OTHERS):
        return False
    folders = [place for place in (folder, *folder.parents[:3]) if top in place.parents]
    scripts = (
        path
        for place in folders
        for path in place.glob("*")
        if path.suffix in (".sh", ".slurm") or "slurm" in path.name
    )
    return any(
        re.search(r"^[^#\n]*lfs setstripe", path.read_text(errors="replace"), re.MULTILINE)
        for path in scripts
        if path.is_file()
    )


def read_rates(top: Path) -> list[Rates]:
    """Return the rates of all results on Lustre; one that was handed in twice counts once."""
    found: dict[tuple[float, ...], Rates] = {}
    for path in sorted(top.rglob("result_summary.txt")):
        site, system, file_system = path.relative_to(top).parts[:3]
        if not _is_lustre(path.parent, top, file_system):
            continue
        try:
            run = read_io500_summary(path, file=str(path))
        except InputError:
            continue
        printed = {phase.name.replace("_", "-"): phase.value for phase in run.phases}
        names = ("ior-easy-write", "ior-hard-write", "mdtest-easy-write", "mdtest-hard-write")
        rates = tuple(printed.get(name, 0.0) for name in names)
        if all(rates):
            found.setdefault(rates, Rates(f"{site}/{system}", *rates))
    return list(found.values())


def fit_relation(pairs: list[tuple[float, float]]) -> Relation:
    """Return the line of log y over log x, with the range about it that a further pair lies in nine times of ten.

    The slope is that of Theil and Sen, so that a result out of a cache does not turn the line. Each pair is held against
    through the others, so that the range is not too narrow (the jackknife).
    """
    points = [(math.log10(x), math.log10(y)) for x, y in pairs]
    slope, intercept = _line(points)
    residuals = []
    for left_out, (x, y) in enumerate(points):
        others = _line(points[:left_out] + points[left_out + 1 :])
        residuals.append(y - (others[0] * x + others[1]))
    low, _, high = spread(residuals)
    return Relation(slope, intercept, 10**low, 10**high)


def _line(points: list[tuple[float, float]]) -> tuple[float, float]:
    """Return slope and intercept: the median of all slopes, and of what is left."""
    fit = theilslopes([y for _, y in points], [x for x, _ in points], method="joint")
    return float(fit.slope), float(fit.intercept)


def _pairs(results: list[Rates], of: str) -> list[tuple[float, float]]:
    """Return write rates and files created a second."""
    return [(each.easy, 1000 * getattr(each, of)) for each in results]


def _of_systems(results: list[Rates], of: str) -> list[tuple[float, float]]:
    """Return these of each system once, as geometric means: several results of one tell little more than one."""
    pairs = [
        _pairs([each for each in results if each.system == name], of)
        for name in sorted({each.system for each in results})
    ]
    return [tuple(10 ** fmean(map(math.log10, values)) for values in zip(*each, strict=True)) for each in pairs]


def _halved(results: list[Rates], of: str, rng: random.Random) -> tuple[float, float]:
    """Return the share of held-out results within the range, and the median factor by which they are off."""
    systems = sorted({each.system for each in results})
    known = set(rng.sample(systems, len(systems) // 2))
    line = fit_relation(_of_systems([each for each in results if each.system in known], of))
    factors, held = [], 0
    for easy, creates in _pairs([each for each in results if each.system not in known], of):
        low, usual, high = line.predict(easy)
        held += low <= creates <= high
        factors.append(max(creates / usual, usual / creates))
    return held / len(factors), median(factors)


def main(top: Path) -> None:
    """Print the lines, the ranges, and how well they hold."""
    results = read_rates(top)
    print(f"{len(results)} results of {len({each.system for each in results})} systems on Lustre")
    for of in ("own_folders", "one_folder"):
        values = spread(1000 * getattr(each, of) for each in results)
        print(f"{of}: {values.usual:,.0f} files/s in the median, nine of ten {values.low:,.0f} to {values.high:,.0f}")
        print(f"  {fit_relation(_of_systems(results, of))}")
        rng = random.Random(1)
        halves = [_halved(results, of, rng) for _ in range(_HALVINGS)]
        held, factors = ([each[index] for each in halves] for index in (0, 1))
        print(
            f"  held out, {_HALVINGS} halvings: {median(held):.0%} within the range ({min(held):.0%} to {max(held):.0%}), "
            f"median factor {median(factors):.2f} ({min(factors):.2f} to {max(factors):.2f})"
        )
        ratios = [
            getattr(one, of) / getattr(other, of)
            for one, other in combinations(results, 2)
            if one.system == other.system
        ]
        low, _, high = spread([*ratios, *(1 / ratio for ratio in ratios)])
        factor = median(max(ratio, 1 / ratio) for ratio in ratios)
        print(
            f"  two results of one system, {len(ratios)} pairs: median factor {factor:.2f}, nine of ten {low:.2f} to {high:.2f}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
