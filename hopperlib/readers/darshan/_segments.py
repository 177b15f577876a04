"""Heat maps of a job, small enough to be drawn: of Darshan's own bins, or of every access that its tracing (DXT) has."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

# A picture of it needs no more rows and columns.
MOST_ROWS, MOST_COLUMNS = 64, 128

# Task, ``read`` or ``write``, bytes, start and end in seconds.
Access = tuple[int, str, int, float, float]


def accesses_of(records: Iterable[Any]) -> Iterator[Access]:
    """Yield the accesses in records of pydarshan, which have a list of them for each task, file and direction."""
    for record in records:
        for way in ("read", "write"):
            for segment in record[f"{way}_segments"]:
                length, start, end = (segment[name] for name in ("length", "start_time", "end_time"))
                yield max(int(record["rank"]), 0), way, int(length), float(start), float(end)


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


def heat_map_of(interface: str, accesses: Iterable[Access], tasks: int, run_time_s: float) -> dict[str, Any]:
    """Return the parts of a heat map: an access is dealt evenly over the time it takes, to the byte.

    Examples
    --------
    >>> part = heat_map_of("POSIX", [(1, "write", 128, 0.0, 2.0)], tasks=2, run_time_s=128.0)
    >>> part["bin_s"], part["written_bytes"][1][:3], sum(part["written_bytes"][0])
    (1.0, [64, 64, 0], 0)
    """
    width, high = run_time_s / MOST_COLUMNS, -(-tasks // MOST_ROWS)
    ranks = range(0, tasks, high)
    summed = {way: [[0] * MOST_COLUMNS for _ in ranks] for way in ("read", "write")}
    for rank, way, length, start, end in accesses:
        row = summed[way][min(rank // high, len(ranks) - 1)]
        first, last = (min(int(max(moment, 0.0) / width), MOST_COLUMNS - 1) for moment in (start, max(start, end)))
        left = length
        for place in range(first, last):
            part = int(length * ((place + 1) * width - max(start, place * width)) / (end - start))
            row[place] += part
            left -= part
        row[last] += left
    bytes_ = {"read_bytes": summed["read"], "written_bytes": summed["write"]}
    return {"interface": interface, "bin_s": width, "ranks": list(ranks), **bytes_}
