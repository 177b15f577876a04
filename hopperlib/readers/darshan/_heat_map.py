"""Darshan's heat map of a job, small enough to be drawn."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

# A picture of it needs no more rows and columns.
MOST_ROWS, MOST_COLUMNS = 64, 128


def heat_map_of_bins(
    interface: str, bin_s: float, read: Mapping[int, Sequence[int]], written: Mapping[int, Sequence[int]]
) -> dict[str, Any]:
    """Return the parts of a heat map: the bins of each task, with neighbours put together where they are many.

    Examples
    --------
    >>> heat_map_of_bins("POSIX", 0.1, {0: [1, 2]}, {0: [0, 0], 5: [3, 4]})["written_bytes"]
    [[0, 0], [3, 4]]
    """
    ranks = sorted({*read, *written})
    bins = max(map(len, (*read.values(), *written.values())))
    wide, high = -(-bins // MOST_COLUMNS), -(-len(ranks) // MOST_ROWS)
    summed = {}
    for past, table in (("read", read), ("written", written)):
        rows = []
        for first in range(0, len(ranks), high):
            together = (table.get(rank, ()) for rank in ranks[first : first + high])
            columns = [sum(column) for column in zip_longest(*together, fillvalue=0)]
            rows.append([sum(columns[at : at + wide]) for at in range(0, bins, wide)])
        summed[f"{past}_bytes"] = rows
    name = "MPI-IO" if interface == "MPIIO" else interface
    return {"interface": name, "bin_s": bin_s * wide, "ranks": ranks[::high], **summed}
