"""Mean hop distances of placements, with numpy: one in microseconds, a whole schedule at once.

The standard library's `hopperlib.network.torus.allocation` is the reference: both
give the same numbers, to the last bit where the torus' weights are whole.

The distance of two points on a ring of s places is half the number of windows
of s // 2 neighbouring places that hold one point and not the other. A window
that holds k of n points therefore parts k (n - k) pairs. How many nodes of a
run lie in each window is the difference of two running sums, and these are
kept for every position of the node list. So a job is measured by adding up a
few rows of a table, whatever its size. On an even ring the windows come in
pairs that part the same points; one of each is kept and counts double.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hopperlib.network.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.network.torus.distances import Coordinates, Torus

__all__ = ["PlacementTable"]

# Jobs measured at once: few enough for their windows to stay in the processor's cache.
_AT_ONCE = 2048


class PlacementTable:
    """The node list of a machine, summed so that placements on it are measured fast.

    Parameters
    ----------
    places : sequence of N (int, int, int)
        Coordinates of the nodes, in the order of the list. Two nodes of one Gemini have the same.
    torus : Torus
        Its weights count as in `hopperlib.network.torus.allocation`.

    Raises
    ------
    ValueError
        If there is no node, or one lies outside the torus.

    Examples
    --------
    >>> table = PlacementTable([(0, 0, 0), (0, 0, 1), (5, 5, 5), (0, 2, 0)], Torus((17, 8, 24)))
    >>> table.mean_hop_distance([(0, 2), (3, 4)])
    2.0
    """

    def __init__(self, places: Sequence[Coordinates], torus: Torus) -> None:
        at = np.array(places, dtype=np.int64)
        if at.ndim != 2 or at.shape[1] != 3:
            raise ValueError("places must be one or more coordinates (x, y, z)")
        outside = (at < 0) | (at >= np.array(torus.dimensions))
        if outside.any():
            wrong = tuple(int(one) for one in at[outside.any(axis=1)][0])
            raise ValueError(f"place {wrong} lies outside the torus of {torus.dimensions}")
        columns: list[npt.NDArray[np.bool_]] = []
        factors: list[float] = []
        for axis, (size, weight) in enumerate(zip(torus.dimensions, torus.weights, strict=True)):
            half = size // 2
            even = size % 2 == 0
            for start in range(half if even else size):
                columns.append((at[:, axis] - start) % size < half)
                factors.append(weight if even else weight / 2)
        self._nodes = len(at)
        # (N + 1) x windows: nodes in front of each position that lie in the window.
        sums = np.zeros((self._nodes + 1, len(columns)))
        if columns:
            np.cumsum(np.stack(columns, axis=1), axis=0, out=sums[1:])
        self._sums = sums
        self._small = sums.astype(np.int32)
        self._factors = np.array(factors)
        # A run adds what is in front of its end and takes away what is in front of its start.
        self._signs = np.tile([-1.0, 1.0], 512)

    @property
    def nodes(self) -> int:
        """Nodes in the list."""
        return self._nodes

    def mean_hop_distance(self, runs: Iterable[tuple[int, int]] | npt.ArrayLike) -> float:
        """Mean distance over all pairs of nodes of one job. [hops]

        Parameters
        ----------
        runs : sequence of r (int, int), or array of r x 2
            Positions from (included) to (not included), disjoint.

        Returns
        -------
        float
            0 for fewer than two nodes.
        """
        bounds = np.array(runs if isinstance(runs, np.ndarray) else list(runs), dtype=np.int64).ravel()  # type: ignore[arg-type]
        signs = self._signs[: len(bounds)]
        if len(signs) < len(bounds):
            signs = self._signs = np.tile([-1.0, 1.0], len(bounds))[: len(bounds)]
        n = float(signs @ bounds)
        if n < 2:
            return 0.0
        inside = signs @ self._sums.take(bounds, axis=0)
        return float((inside * (n - inside)) @ self._factors) / (n * (n - 1) / 2)

    def mean_hop_distances(self, schedule: Schedule) -> npt.NDArray[np.float64]:
        """Mean distance over all pairs of nodes of every job of a schedule. [hops]

        Parameters
        ----------
        schedule : Schedule
            Its positions are those of this table's list.

        Returns
        -------
        array of one float a job
            In order of submission; 0 for a job of one node, NaN for one that never started.

        Raises
        ------
        ValueError
            If the schedule is of another number of nodes.

        Examples
        --------
        >>> from hopperlib.network.scheduling.scheduler import simulate
        >>> from hopperlib.network.scheduling.workload import Job, Workload
        >>> jobs = [Job(job=1, submit_time_s=0, nodes=3, run_time_s=9, requested_time_s=9)]
        >>> table = PlacementTable([(0, 0, 0), (0, 0, 1), (0, 2, 0), (5, 5, 5)], Torus((17, 8, 24)))
        >>> table.mean_hop_distances(simulate(Workload(jobs), 4))
        array([2.])
        """
        if schedule.nodes != self._nodes:
            raise ValueError(f"the schedule is of {schedule.nodes} nodes, the list has {self._nodes}")
        started = np.flatnonzero(np.frombuffer(schedule.status, dtype=np.int8) != NOT_STARTED)
        out = np.full(len(schedule), np.nan)
        if len(started) == 0:
            return out
        bounds = np.frombuffer(schedule.bounds, dtype=np.intc)
        first = np.frombuffer(schedule.first_bound, dtype=np.int64)[started]
        length = 2 * np.frombuffer(schedule.run_count, dtype=np.intc)[started].astype(np.int64)
        signs = np.tile(np.array([-1, 1], dtype=np.int32), int(length.sum()) // 2)
        for low, high in pairwise([*range(0, len(started), _AT_ONCE), len(started)]):
            out[started[low:high]] = self._measured(bounds, first[low:high], length[low:high], signs)
        return out

    def _measured(
        self,
        bounds: npt.NDArray[np.intc],
        first: npt.NDArray[np.int64],
        length: npt.NDArray[np.int64],
        signs: npt.NDArray[np.int32],
    ) -> npt.NDArray[np.float64]:
        """Return the distances of jobs whose bounds begin at `first` and are so many."""
        rows = np.concatenate([[0], np.cumsum(length)])
        part = bounds[np.repeat(first - rows[:-1], length) + np.arange(rows[-1])]
        # One row a job, one column a position of the list: +1 and -1 at the bounds of its runs.
        jobs = sparse.csr_array((signs[: rows[-1]], part, rows), shape=(len(first), self._nodes + 1))
        inside = (jobs @ self._small).astype(float)
        n = np.add.reduceat(part * signs[: rows[-1]], rows[:-1]).astype(float)
        parted = (inside * (n[:, None] - inside)) @ self._factors
        pairs = n * (n - 1) / 2
        return np.asarray(np.divide(parted, pairs, out=np.zeros(len(first)), where=pairs > 0))
