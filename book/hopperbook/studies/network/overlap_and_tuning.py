"""Effect of tuning on QLA and MFDn: fused steps, merged collectives, overlap, threads."""

import random
from collections.abc import Mapping

from hopperbook.studies.study import Study, Value, predictions, ranges
from hopperlib.network.runtime.overlap import overlapped_s


def mfdn_steps_s(
    compute_s: float, row_s: float, column_s: float, saved_s: float, column_overlap: float
) -> tuple[float, ...]:
    """Times of MFDn's steps A to D in a model whose inputs are all assumed. [s]

    Parameters
    ----------
    compute_s, row_s, column_s : float
        Computation, communication of row groups and of column groups. [s]
    saved_s : float
        Saving from merged collectives. [s]
    column_overlap : float
        Share of the column groups' communication that step D hides. [fraction]

    Examples
    --------
    >>> mfdn_steps_s(10.0, 2.0, 3.0, 1.0, 0.8)
    (15.0, 14.0, 12.4, 10.48)
    """
    a = compute_s + row_s + column_s
    keep = (row_s + column_s - saved_s) / (row_s + column_s)
    row, column = row_s * keep, column_s * keep
    c = overlapped_s(compute_s, row, 1.0) + column
    hidden = row + column_overlap * column
    d = overlapped_s(compute_s, hidden, 1.0) + (1 - column_overlap) * column
    return tuple(round(part, 12) for part in (a, a - saved_s, c, d))


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the gain from fusing two memory-bound steps of QLA: the array between them stays in cache. [x]

    Each step reads some arrays and writes one, which is `writes` transfers: two
    if a cache line is read before it is written. Fused, the array between is
    neither written nor read.

    Examples
    --------
    Two steps of 2 + 2 transfers, of which the fused ones keep five; all of the time waits for memory:

    >>> model({"reads": 2, "writes": 2, "memory_bound": 1}, random.Random(1))
    {'qla-fusing-speedup': 1.6}
    """
    both = 2 * (assumed["reads"] + assumed["writes"])
    left = (both - assumed["writes"] - 1) / both
    return {"qla-fusing-speedup": 1 / (1 - assumed["memory_bound"] + assumed["memory_bound"] * left)}


def _values() -> dict[str, Value]:
    # The rival: two steps of three become one.
    return predictions(model, ranges("overlap-and-tuning"), {"qla-fusing-speedup": 3 / 2})


STUDY = Study("overlap-and-tuning", _values, model=model)
