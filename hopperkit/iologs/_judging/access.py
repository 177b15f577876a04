"""Words and counts shared by all findings from a Darshan log: call sizes, MPI-IO calls, hints, folders."""

import posixpath
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hopperkit.filesystems.hints import hints_line
from hopperkit.iologs.cost import time_s
from hopperkit.iologs.darshan_log import SIZE_BINS, DarshanLog, FileRecord
from hopperlib.storage.iobuf import Buffers
from hopperlib.text import share
from hopperlib.units import BYTES_PER_MIB

WAYS = ("read", "write")
PAST = {"read": "read", "write": "written"}
# Thresholds for reporting a habit: shares of calls and bytes, and numbers of calls and bytes.
SHARE, MOST = 0.1, 0.5
FEW_CALLS, MANY_CALLS = 1_000, 10_000
WORTH_BYTES = 100_000_000
_LARGEST_SMALL = sum(upper is not None and upper <= BYTES_PER_MIB for _, upper in SIZE_BINS)


class MpiCalls(NamedTuple):
    """Number of collective and independent calls that MPI-IO made for a file, or for all."""

    collective: int
    independent: int


class Ledger:
    """Time in the calls of each file and direction that no finding has explained yet.

    Each slow call is attributed to one cause: time that a specific finding takes, such as a flush after every write, is
    not available to a general one, such as small writes.

    Examples
    --------
    >>> file = FileRecord(path="/a", write_busy_s=8.0)
    >>> ledger = Ledger()
    >>> ledger.take(file, "write", 5.0), ledger.left(file, "write"), ledger.take(file, "write", 9.0)
    (5.0, 3.0, 3.0)
    """

    def __init__(self) -> None:
        self._taken: dict[tuple[str, str, str], float] = {}

    def left(self, file: FileRecord, way: str) -> float:
        """Time that is not yet explained. [s]"""
        return max(0.0, time_s(file, way) - self._taken.get((file.interface, file.path, way), 0.0))

    def explained(self, files: Iterable[FileRecord], way: str) -> bool:
        """Whether other findings explain all the time that the log has for these calls."""
        files = list(files)
        return any(time_s(file, way) for file in files) and not any(self.left(file, way) for file in files)

    def take(self, file: FileRecord, way: str, seconds: float) -> float:
        """Attribute this much time, at most the remainder, and return the amount. [s]"""
        seconds = min(seconds, self.left(file, way))
        key = (file.interface, file.path, way)
        self._taken[key] = self._taken.get(key, 0.0) + seconds
        return seconds


def small_calls(file: FileRecord, way: str) -> tuple[int, int]:
    """Number of calls below a mebibyte: the certain ones, and the possible ones.

    Darshan's bin of 100 KiB to 1 MiB holds calls of exactly 1 MiB too. Their number follows from the log's common
    sizes, but their direction does not: they are subtracted from both, as far as the bytes moved allow.
    """
    traffic = file.moved(way)
    if not traffic.sizes:
        return 0, 0
    lows = (0, *(upper or 0 for _, upper in SIZE_BINS))
    spare = traffic.moved_bytes - sum(count * low for count, low in zip(traffic.sizes, lows, strict=False))
    room = max(0, spare) // (BYTES_PER_MIB - lows[_LARGEST_SMALL - 1])
    sizes = traffic.sizes[:_LARGEST_SMALL]
    return sum(sizes) - min(sizes[-1], room, file.common_sizes.get(BYTES_PER_MIB, 0)), sum(sizes)


def small_bytes(file: FileRecord, way: str) -> int:
    """Upper bound of the bytes moved by calls below a mebibyte: each as many as its size bin allows. [bytes]"""
    traffic = file.moved(way)
    bins = zip(traffic.sizes[:_LARGEST_SMALL], SIZE_BINS, strict=False)
    return min(traffic.moved_bytes, sum(calls * (upper or 0) for calls, (_, upper) in bins))


def in_file(part: float, path: str, moved: float | None = None) -> str:
    """Return in words which file has most of something, or the largest part of it, and its share of the bytes. [fraction]"""
    words = f"most are in {path}" if part > MOST else f"the largest part, {share(round(part, 4))}, is in {path}"
    return words if moved is None else f"{words} ({share(round(moved, 4))} of the bytes)"


def bytes_part(files: Iterable[FileRecord], path: str, way: str = "") -> float | None:
    """A file's share of the bytes of several, in one direction or both; None if they moved none. [fraction]"""
    moved = [(file.path, file.moved(way).moved_bytes if way else file.bytes_moved) for file in files]
    total = sum(each for _, each in moved)
    return sum(each for name, each in moved if name == path) / total if total else None


def hints_for(log: DarshanLog, hints: Mapping[str, str | int]) -> str:
    """Return the line that passes hints to MPI-IO: Cray's variable on Lustre, otherwise the file that any ROMIO reads."""
    largest = max(log.files, key=lambda file: file.bytes_moved, default=None)
    mount = log.mount_of(largest.path) if largest else None
    return hints_line(hints, "cray" if mount is None or mount[1] == "lustre" else "romio") or ""


def mpi_calls(log: DarshanLog, way: str, path: str | None = None) -> MpiCalls:
    """Number of MPI-IO calls in one direction, to a file or to all."""
    records = [record for record in log.upper if record.interface == "MPI-IO" and path in (None, record.path)]
    collective = sum(record.counts.get(f"COLL_{way.upper()}S", 0) for record in records)
    return MpiCalls(collective, sum(record.moved(way).calls for record in records) - collective)


def gathered(log: DarshanLog, file: FileRecord) -> bool:
    """Whether the log has collective calls for a file, so that some tasks move the data of all."""
    return any(mpi_calls(log, way, file.path).collective for way in WAYS)


def folder_of(files: Sequence[FileRecord]) -> str:
    """Return the folder with most of the files' data, quoted for a shell; a placeholder if unknown."""
    folders = Counter[str]()
    for file in files:
        folders[posixpath.dirname(file.path)] += (1 + file.bytes_moved) * file.path.startswith("/")
    folders = +folders
    return shlex.quote(folders.most_common(1)[0][0]) if folders else "DIRECTORY"


def buffering(file: FileRecord) -> str:
    """Return advice for moving the data of a file of one task in large pieces."""
    ending = posixpath.splitext(file.path)[1]
    pattern = f"*{ending}" if ending.isascii() and ending[1:].isalnum() else "*"
    return (
        "Buffer them. On a Cray: module load iobuf before linking, then export "
        f"IOBUF_PARAMS='{Buffers(2 * BYTES_PER_MIB, 2).setting(pattern)}'; elsewhere setvbuf, or larger blocks in the program"
    )
