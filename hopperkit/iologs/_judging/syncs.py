"""Repeated flushes of data from memory: fsync, fdatasync, MPI_File_sync, fflush.

Darshan counts these calls and adds their time to the write time. The time of the writes alone has two upper bounds: no
write took longer than the slowest one, and data reach the page cache at a gigabyte per second or faster. The larger
remainder is attributed to the syncs.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from hopperkit.iologs._judging.access import Ledger, bytes_part, in_file
from hopperkit.iologs._judging.stakes import CACHE_BYTES_PER_S, CALL_S, in_calls_s, staked
from hopperkit.iologs.cost import time_s
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperlib.finding import Finding
from hopperlib.text import size

# A checkpoint synced once per file, or once per this many bytes, is appropriate.
_ENOUGH_BYTES = 64 << 20
_SYNCS = ("FSYNCS", "FDSYNCS", "SYNCS")
# A buffered call that only formats and copies. Assumed.
_FORMAT_S = 5e-7


def syncs_of(file: FileRecord) -> int:
    """Number of calls that flushed the data of a file from memory.

    Examples
    --------
    >>> syncs_of(FileRecord(path="/a", counts={"FSYNCS": 3, "FDSYNCS": 4})), syncs_of(FileRecord(path="/a"))
    (7, 0)
    """
    names = ("FLUSHES",) if file.interface == "STDIO" else _SYNCS
    return sum(file.counts.get(name, 0) for name in names)


def sync_s(file: FileRecord) -> float:
    """Estimated time of all tasks in these calls. [s]

    Examples
    --------
    200 writes of 1 MiB took 1.2 s with their syncs; writing to the page cache takes 0.21 s:

    >>> file = FileRecord(path="/a", bytes_written=200 << 20, writes=200, write_busy_s=1.2, counts={"FSYNCS": 200},
    ...     longest_write_s=0.01)
    >>> round(sync_s(file), 2)
    0.99
    """
    if not syncs_of(file):
        return 0.0
    seconds = time_s(file, "write")
    if file.interface == "STDIO":
        # Most buffered writes only copy; a flush is a system call, so its share is at least its share of the calls.
        rest = file.writes * _FORMAT_S + file.bytes_written / CACHE_BYTES_PER_S
        least = seconds * syncs_of(file) / (syncs_of(file) + file.writes)
        return max(least, seconds - rest)
    least = seconds - file.writes * file.longest_write_s if file.longest_write_s else 0.0
    return max(least, seconds - file.bytes_written / CACHE_BYTES_PER_S - file.writes * CALL_S, 0.0)


def judge(log: DarshanLog, ledger: Ledger) -> Iterator[Finding]:
    """Yield a finding if data are flushed more often than once per file or 64 MiB."""
    for code, files in (
        ("fsync", [file for file in log.files if file.interface != "STDIO" and _too_often(file)]),
        ("flush", [file for file in log.files if file.interface == "STDIO" and _too_often(file)]),
    ):
        if files:
            yield _finding(log, code, files, ledger)


def _needed(file: FileRecord) -> int:
    """Number of syncs of a careful program: one per opening of the file by a task, or per 64 MiB."""
    return max(file.opens, file.tasks, -(-file.bytes_written // _ENOUGH_BYTES))


def _too_often(file: FileRecord) -> bool:
    """Whether a file is flushed at least twice as often as by a careful program."""
    return syncs_of(file) > 2 * _needed(file)


def _finding(log: DarshanLog, code: str, files: Sequence[FileRecord], ledger: Ledger) -> Finding:
    """Return the finding that these files are flushed too often."""
    calls, written = sum(map(syncs_of, files)), sum(file.bytes_written for file in files)
    seconds, expected = 0.0, 0.0
    for file in files:
        part = ledger.take(file, "write", sync_s(file))
        seconds += part
        # The data are written in any case; the saving is the fixed cost of each sync.
        starts = in_calls_s(part, file.bytes_written / syncs_of(file), in_order=file.interface == "STDIO")
        expected += starts * (1 - _needed(file) / syncs_of(file))
    worst = max(files, key=syncs_of)
    slowest = max(map(sync_s, files)) if not all(file.shared for file in files) else 0.0
    names, change = {
        "fsync": ("calls of fsync, fdatasync or MPI_File_sync", "fsync(fd); after the loop instead of in it"),
        "flush": ("calls of fflush", "remove fflush(file); from the loop: fclose writes the rest"),
    }[code]
    each = size(written / calls)
    evidence: dict[str, Any] = {"calls": calls, "bytes": written, "files": len(files), "file": worst.path}
    return Finding(
        code,
        f"{calls:,} {names} force data out of memory, one after every {each}; "
        f"{in_file(syncs_of(worst) / calls, worst.path, bytes_part(files, worst.path, 'write'))}.",
        evidence=evidence
        | staked(
            seconds,
            slowest=slowest,
            won=seconds,
            because="Darshan adds these calls to the write time: the excess over writing at 1 GB/s is attributed to them",
            expected=expected,
            change=change,
        ),
        advice=f"Force data out once, when a checkpoint is complete: {change}."
        + (" In C++, write '\\n' in place of std::endl; in Python, omit flush=True." if code == "flush" else ""),
    )
