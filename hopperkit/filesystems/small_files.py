"""Cost of many small files, and alternatives.

Creating and reading a file are requests to the metadata servers, whose request rate is independent of file size. Four
ways to store the same data:

=============  ============================================================================
one folder     separate files, all in one folder
own folders    separate files, one folder per task
node archive files in a node's memory or on its disk, then one archive per node (tar, zip, squashfs)
one file one shared file with the files as records (HDF5, a database, WebDataset shards)
=============  ============================================================================

In separate folders the same file systems create 3.6 times as many files per second: the ratio of the medians of 95
public IO500 results on Lustre (``benchmarks/README.md``). A file is opened before it is read: an open is assumed to
cost as much as a create.
"""

from typing import Literal, NamedTuple, get_args

from hopperkit.filesystems.measured import CREATES_PER_S, REPEATED, Range
from hopperlib.errors import above, at_least, refusal
from hopperlib.machine import FileSystem
from hopperlib.units import BYTES_PER_GB

Way = Literal["one folder", "own folders", "node archive", "one file"]
WAYS: tuple[Way, ...] = get_args(Way)
# 173,959 and 48,307 files per second.
_OWN_FOLDERS = 3.6


class FilesCost(NamedTuple):
    """Cost of one method.

    Parameters
    ----------
    files : int
        Files on the file system, counted by quotas.
    metadata_s : Range
        Time to create them. [s]
    moving_s : float
        Time for their data, at the rate of the nodes or of the file system. [s]
    """

    files: int
    metadata_s: Range
    moving_s: float

    @property
    def total_s(self) -> Range:
        """Total time. [s]"""
        return Range(*(each + self.moving_s for each in self.metadata_s))


def files_cost(way: Way, *, files: int, size_bytes: int, tasks: int, nodes: int, system: FileSystem) -> FilesCost:
    """Estimate the cost of writing many files, or of opening and reading them.

    Parameters
    ----------
    way : {"one folder", "own folders", "node archive", "one file"}
    files : int
    size_bytes : int
        Size of one file. [bytes]
    tasks, nodes : int
    system : FileSystem

    Raises
    ------
    InputError
        If the way is unknown or a number is below 1.

    Examples
    --------
    A million files of 10 kB from 1,000 tasks on 10 nodes, at 10,000 creates per second:

    >>> from dataclasses import replace
    >>> from hopperlib.machine import Machine
    >>> system = replace(Machine.load("perlmutter").file_systems[0], creates_per_s=10_000)
    >>> job = {"files": 10**6, "size_bytes": 10_000, "tasks": 1000, "nodes": 10, "system": system}
    >>> [round(files_cost(way, **job).total_s.usual, 1) for way in WAYS]
    [100.0, 27.8, 0.0, 0.0]
    """
    if way not in WAYS:
        raise refusal("way", way, f"must be one of: {', '.join(WAYS)}")
    at_least(1, files=files, size_bytes=size_bytes, tasks=tasks, nodes=nodes)
    above(0, peak_gb_s=system.peak_gb_s)
    left = {"node archive": min(nodes, files), "one file": 1}.get(way, files)
    # A folder per task counts as one more file.
    created = left + (min(tasks, files) if way == "own folders" else 0)
    rates = REPEATED.times(system.creates_per_s) if system.creates_per_s else CREATES_PER_S
    if way == "own folders":
        rates = rates.times(_OWN_FOLDERS)
    rate_gb_s = min(nodes * system.node_write_ceiling_gb_s, system.peak_gb_s)
    metadata = Range(*(created / rate for rate in reversed(rates)))
    return FilesCost(left, metadata, files * size_bytes / BYTES_PER_GB / rate_gb_s)
