"""Calibrate the cost of a lock on public IO500 results: ``python -m benchmarks.io500_locks FOLDER``.

FOLDER is a copy of the IO500 submissions (github.com/IO500/submission-data). Used are runs whose shared file of
small unaligned blocks (ior-hard-write, 47,008 bytes) has a number of objects that the run's script states. The systems
are halved by their names; the median cost of one half predicts the rates of the other.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from statistics import median

from hopperkit.readers.ior.io500 import read_io500_summary
from hopperlib.errors import InputError
from hopperlib.storage.lustre.rates import pieces_per_call

_BLOCK_BYTES, _STRIPE_BYTES = 47_008, 1 << 20
_OBJECTS = re.compile(r"setstripe\b.*?(?:-C|-c|--stripe-count)[ =](\d+)\b.*hard")


def _objects(folder: Path, top: Path) -> int | None:
    """Return the objects of the shared file, from the scripts beside the results or above them."""
    for place in (folder, *folder.parents):
        if place == top:
            return None
        for script in (*place.glob("*.sh"), *place.glob("slurm*")):
            lines = script.read_text(errors="replace").splitlines() if script.is_file() else []
            # Folders for small files lie on the metadata servers.
            stated = [
                _OBJECTS.search(line) for line in lines if not line.lstrip().startswith("#") and "mdt" not in line
            ]
            counts = [int(match[1]) for match in stated if match]
            if counts:
                return counts[-1]
    return None


def _by_itself(folder: Path) -> bool:
    """Whether every task wrote its blocks itself: without MPI-IO, which may gather them."""
    said = [path.read_text(errors="replace")[:4000] for path in folder.glob("ior[-_]hard[-_]write.txt")]
    return any(re.search(r"^api\s+[:=] POSIX", text, re.MULTILINE) for text in said)


def _cost_s(easy: float, hard: float, objects: int) -> float:
    """Return the cost of a lock that explains a rate with small blocks beside one with large blocks, both in GiB/s. [s]"""
    pieces = pieces_per_call(_BLOCK_BYTES, _STRIPE_BYTES)
    return (1 / hard - 1 / easy) / 2**30 * _BLOCK_BYTES / pieces * objects


def _predicted(easy: float, objects: int, cost_s: float) -> float:
    """Return the rate with small blocks. [GiB/s]"""
    pieces = pieces_per_call(_BLOCK_BYTES, _STRIPE_BYTES)
    return 1 / (1 / easy + pieces / _BLOCK_BYTES / objects * cost_s * 2**30)


def main(top: Path) -> None:
    """Print the cost and the errors."""
    runs: dict[tuple[float, float], tuple[str, int]] = {}
    for path in sorted(top.rglob("result_summary.txt")):
        try:
            run = read_io500_summary(path, file=str(path))
        except InputError:
            continue
        rates = {phase.name.replace("_", "-"): phase.value for phase in run.phases}
        easy, hard, objects = rates.get("ior-easy-write"), rates.get("ior-hard-write"), _objects(path.parent, top)
        if easy and hard and objects and objects > 1 and hard < easy and _by_itself(path.parent):
            # A result that was handed in twice counts once.
            runs.setdefault((easy, hard), ("/".join(path.relative_to(top).parts[:2]), objects))
    systems = sorted({system for system, _ in runs.values()})
    known = set(systems[::2])
    costs = [_cost_s(*rates, objects) for rates, (system, objects) in runs.items() if system in known]
    cost_s = median(costs)
    factors = sorted(
        max(predicted / hard, hard / predicted)
        for (easy, hard), (system, objects) in runs.items()
        if system not in known
        for predicted in (_predicted(easy, objects, cost_s),)
    )
    print(
        f"{len(runs)} runs of {len(systems)} systems; cost of a lock from {len(costs)} of them: {1000 * cost_s:.2f} ms"
    )
    print(
        f"held out: {len(factors)} runs, median factor {median(factors):.2f}, {sum(f <= 2 for f in factors)} within 2, worst {factors[-1]:.1f}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
