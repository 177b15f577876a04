"""The documented studies: what each takes in, is calibrated on, and predicts.

One module a study, named as in ``data/documented.csv``; it holds a `STUDY`.
The notebook of the study, the scorecard and the README read the same object.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hopperlib.studies.study import Study

__all__ = ["BUILT", "PARTS", "load"]

# Every study of the book in reading order, by part. Those not in BUILT yet
# show in the scorecard as such.
PARTS: dict[str, tuple[str, ...]] = {
    "node": ("machines", "placement", "memory", "hybrid", "pages-and-libraries"),
    "network": (
        "torus",
        "fragmentation",
        "variability",
        "rank-order",
        "overlap-and-tuning",
        "scheduling-trouble",
    ),
    "storage": ("io-node", "iobuf", "striping", "trillion", "slow-ost"),
    "failure": ("diagnosis", "build-and-link", "bad-nodes"),
    "monitoring": ("acceptance", "benchmark-history"),
}

# In reading order, one a line.
BUILT: tuple[str, ...] = (
    "machines",
    "placement",
    "memory",
    "torus",
    "fragmentation",
    "variability",
    "rank-order",
    "overlap-and-tuning",
    "scheduling-trouble",
    "io-node",
    "iobuf",
    "striping",
    "trillion",
    "slow-ost",
    "diagnosis",
    "build-and-link",
    "bad-nodes",
)


def load(name: str) -> Study:
    """Return a study that has been built.

    Raises
    ------
    ValueError
        If there is no study of that name, or it has not been built.

    Examples
    --------
    >>> load("memory").part
    'node'
    """
    if name not in BUILT:
        raise ValueError(f"there is no study {name!r} among: {', '.join(BUILT)}")
    part = next(part for part, names in PARTS.items() if name in names)
    module = importlib.import_module(f"hopperlib.studies.{part}.{name.replace('-', '_')}")
    study: Study = module.STUDY
    return study
