"""Mean hop distances of every job of a schedule at once, with numpy.

The standard library's `hopperlib.network.torus.allocation` measures one job and
is the reference: both give the same numbers, to the last bit where the torus'
weights are whole.

The distance of two points on a ring of s places is half the number of windows
of s // 2 neighbouring places that hold one point and not the other. A window
that holds k of n points therefore parts k (n - k) pairs. How many nodes of a
run lie in each window is the difference of two running sums, and these are
kept for every position of the node list. So a job is measured by adding up a
few rows of a table, whatever its size. On an even ring the windows come in
pairs that part the same points; one of each is kept and counts double.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hopperlib.network.torus.distances import Coordinates, Torus
from hopperlib.scheduling.schedule import NOT_STARTED, Schedule

# Jobs measured at once: few enough for their windows to stay in the processor's cache.
_AT_ONCE = 2048


def mean_hop_distances(schedule: Schedule, places: Sequence[Coordinates], torus: Torus) -> npt.NDArray[np.float64]:
    """Mean distance over all pairs of nodes of every job of a schedule. [hops]

    Parameters
    ----------
    schedule : Schedule
        Its positions are those of `places`.
    places : sequence of N (int, int, int)
        Coordinates of the nodes, in the order of the list. Two nodes of one Gemini have the same.
    torus : Torus
        Its weights count as in `hopperlib.network.torus.allocation`.

    Returns
    -------
    array of one float a job
        In order of submission; 0 for a job of one node, NaN for one that never started.

    Raises
    ------
    ValueError
        If there is no place, one lies outside the torus, or the schedule is of another number of nodes.

    Examples
    --------
    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> jobs = [Job(job=1, submit_time_s=0, nodes=3, run_time_s=9, requested_time_s=9)]
    >>> mean_hop_distances(simulate(Workload(jobs), 4), [(0, 0, 0), (0, 0, 1), (0, 2, 0), (5, 5, 5)], Torus((17, 8, 24)))
    array([2.])
    """
    sums, factors = _window_sums(places, torus)
    if schedule.nodes != len(places):
        raise ValueError(f"the schedule is of {schedule.nodes} nodes, the list has {len(places)}")
    started = np.flatnonzero(np.frombuffer(schedule.status, dtype=np.int8) != NOT_STARTED)
    out = np.full(len(schedule), np.nan)
    bounds = np.frombuffer(schedule.bounds, dtype=np.intc)
    first = np.frombuffer(schedule.first_bound, dtype=np.int64)[started]
    length = 2 * np.frombuffer(schedule.run_count, dtype=np.intc)[started].astype(np.int64)
    # A run adds what is in front of its end and takes away what is in front of its start.
    signs = np.tile(np.array([-1, 1], dtype=np.int32), int(length.sum()) // 2)
    for low, high in pairwise([*range(0, len(started), _AT_ONCE), len(started)]):
        rows = np.concatenate([[0], np.cumsum(length[low:high])])
        part = bounds[np.repeat(first[low:high] - rows[:-1], length[low:high]) + np.arange(rows[-1])]
        # One row a job, one column a position of the list: +1 and -1 at the bounds of its runs.
        jobs = sparse.csr_array((signs[: rows[-1]], part, rows), shape=(high - low, len(places) + 1))
        inside = (jobs @ sums).astype(float)
        n = np.add.reduceat(part * signs[: rows[-1]], rows[:-1]).astype(float)
        parted, pairs = (inside * (n[:, None] - inside)) @ factors, n * (n - 1) / 2
        out[started[low:high]] = np.divide(parted, pairs, out=np.zeros(high - low), where=pairs > 0)
    return out


def _window_sums(places: Sequence[Coordinates], torus: Torus) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]:
    """Return how many nodes in front of each position lie in each window, and what a pair parted by it counts."""
    at = np.array(places, dtype=np.int64)
    if at.ndim != 2 or at.shape[1] != 3:
        raise ValueError("places must be one or more coordinates (x, y, z)")
    outside = (at < 0) | (at >= np.array(torus.dimensions))
    if outside.any():
        wrong = tuple(at[outside.any(axis=1)][0].tolist())
        raise ValueError(f"place {wrong} lies outside the torus of {torus.dimensions}")
    columns: list[npt.NDArray[np.bool_]] = []
    factors: list[float] = []
    for axis, (size, weight) in enumerate(zip(torus.dimensions, torus.weights, strict=True)):
        half, even = size // 2, size % 2 == 0
        starts = range(half if even else size)
        columns += [(at[:, axis] - start) % size < half for start in starts]
        factors += [weight if even else weight / 2] * len(starts)
    sums = np.zeros((len(at) + 1, len(columns)), dtype=np.int32)
    if columns:
        np.cumsum(np.stack(columns, axis=1), axis=0, out=sums[1:])
    return sums, np.array(factors)
