"""Data moved more than once: read again, overwritten, read back by the writer, or read by all tasks.

A task cannot read more bytes than there are below the highest one it read without reading some again, so the bytes beyond
that are repeated, at least. A file that is opened for every write is not a repetition: with O_APPEND, Darshan's offsets
start at zero.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hopperkit.iologs._judging.access import PAST, SHARE, WAYS, WORTH_BYTES, Ledger, bytes_part, in_file
from hopperkit.iologs._judging.stakes import staked
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperlib.finding import Finding
from hopperlib.text import digits, size

# Bytes over the bytes of one pass.
_TWICE = 1.5
# Reads faster than this come from memory, not from a file system. [bytes/s]
_CACHE_BYTES_PER_S = 5e8
_AGAIN = {"read": "reread_bytes", "write": "rewritten_bytes"}
_EXTENT = {"read": "read_extent", "write": "written_extent"}


def passes(file: FileRecord, way: str) -> float:
    """Mean number of passes of a task over a file; 1 if unknown.

    Examples
    --------
    >>> passes(FileRecord(path="/a", bytes_read=300, read_extent=100), "read")
    3.0
    """
    extent = getattr(file, _EXTENT[way])
    moved = file.moved(way).moved_bytes
    return max(1.0, moved / extent / max(file.tasks, 1)) if extent else 1.0


def appends(file: FileRecord) -> bool:
    """Whether a file is opened at least once per two writes, so that its offsets restart at zero.

    Examples
    --------
    >>> appends(FileRecord(path="/a", opens=3000, writes=3000)), appends(FileRecord(path="/a", opens=1, writes=3000))
    (True, False)
    """
    return file.opens > 2 * file.tasks and 2 * file.opens >= file.writes + file.reads


def judge(log: DarshanLog, ledger: Ledger) -> Iterator[Finding]:
    """Yield findings about repeated transfers, most specific first."""
    for way in WAYS:
        yield from _again(log, way, ledger)
    yield from _all_read(log, ledger)


def _taken(files: Sequence[FileRecord], way: str, ledger: Ledger, part: Callable[[FileRecord], float]) -> float:
    """Return the time in calls to files that this explains. [s]"""
    return sum(ledger.take(file, way, part(file) * ledger.left(file, way)) for file in files)


def _again(log: DarshanLog, way: str, ledger: Ledger) -> Iterator[Finding]:
    """Files that a task reads or overwrites several times."""
    files = [file for file in log.files if _repeats(file, way)]
    repeated, moved = (sum(getattr(file, name) for file in files) for name in (_AGAIN[way], f"bytes_{PAST[way]}"))
    if repeated < WORTH_BYTES or ledger.explained(files, way):
        return
    seconds = _taken(files, way, ledger, lambda file: getattr(file, _AGAIN[way]) / file.moved(way).moved_bytes)
    worst = max(files, key=lambda file: getattr(file, _AGAIN[way]))
    times = digits(passes(worst, way), 3)
    code, words, change = {
        "read": ("rereads", "read again", "read the file once, before the loop, and keep its data in memory"),
        "write": ("overwrites", "written over", "write the file once, after the loop, or only when a step is kept"),
    }[way]
    yield Finding(
        code,
        f"{size(repeated)} of {size(moved)} are {words}: a task goes through {worst.path} {times} times; "
        f"{in_file(getattr(worst, _AGAIN[way]) / repeated, worst.path, bytes_part(files, worst.path, way))}.",
        evidence={"repeated_bytes": repeated, "bytes": moved, "files": len(files), "file": worst.path}
        | staked(
            seconds, won=seconds, because="the repeated bytes' share of the time", expected=seconds, change=change
        ),
        advice=f"{change[0].upper()}{change[1:]}.",
    )


def _repeats(file: FileRecord, way: str) -> bool:
    """Whether a task goes through a file more than once; a file rewritten at each opening is rolling."""
    if passes(file, way) < _TWICE or not getattr(file, _AGAIN[way]) or appends(file):
        return False
    return way == "read" or passes(file, way) >= _TWICE * file.opens / max(file.tasks, 1)


def handed_on(log: DarshanLog) -> set[str]:
    """Return the files that one task writes and then all read: messages through the file system.

    Examples
    --------
    >>> file = FileRecord(path="/a", tasks=4, shared=True, bytes_written=10, bytes_read=40, read_extent=10,
    ...     write_span=(0.0, 1.0), read_span=(2.0, 3.0))
    >>> handed_on(DarshanLog(executable="a", job_id=1, tasks=4, run_time_s=9.0, modules=(), files=(file,)))
    {'/a'}
    """
    return {
        file.path
        for file in _read_by_all(log)
        if file.bytes_written
        and file.write_span
        and file.read_span
        and file.write_span[0] < file.read_span[0]
        and file.write_span[1] < file.read_span[1]
        and file.bytes_written < _TWICE * file.read_extent
    }


def _read_by_all(log: DarshanLog) -> list[FileRecord]:
    """Return the shared files that every other task or more reads from beginning to end."""
    tasks = log.tasks or 1
    return [
        file
        for file in log.files
        if file.shared
        and file.interface != "MPI-IO"
        and file.read_extent
        and file.bytes_read > max(_TWICE, tasks / 2) * file.read_extent
    ]


def _all_read(log: DarshanLog, ledger: Ledger) -> Iterator[Finding]:
    """Files that every task reads from beginning to end."""
    tasks, files = log.tasks or 1, _read_by_all(log)
    moved, distinct = sum(file.bytes_read for file in files), sum(file.read_extent for file in files)
    if moved - distinct < WORTH_BYTES or ledger.explained(files, "read"):
        return
    seconds = _taken(files, "read", ledger, lambda file: 1 - file.read_extent / file.bytes_read)
    worst = max(files, key=lambda file: file.bytes_read)
    written = ""
    if messages := [file for file in files if file.path in handed_on(log)]:
        # The others wait for the writer, in whichever call they are.
        seconds += sum(max(0.0, file.slowest_s - file.busy_s / tasks) * tasks for file in messages)
        written = " One task of the job writes it just before: a message through the file system."
    change = "read it in one task and distribute it: if (!rank) read(...); MPI_Bcast(data, n, MPI_BYTE, 0, comm)"
    yield Finding(
        "all-read-same",
        f"Each of {tasks:,} tasks reads the same {size(distinct)} in {len(files):,} "
        f"{'file' if len(files) == 1 else 'files'}, {size(moved)} in all; most of it {worst.path}.{written}",
        evidence={"bytes": moved, "distinct_bytes": distinct, "files": len(files), "file": worst.path}
        | staked(
            seconds,
            won=seconds,
            because="if distribution costs little compared with reading",
            expected=seconds,
            change=change,
        ),
        advice=f"{change[0].upper()}{change[1:]}; or copy the file to each node first (sbcast on Slurm).",
    )


def judge_read_back(log: DarshanLog, ledger: Ledger) -> Iterator[Finding]:
    """Files read back by the task that wrote them, faster than from a file system, therefore from memory."""
    files = [file for file in log.files if _own_data(file) and not ledger.explained([file], "read")]
    moved, seconds = sum(file.bytes_read for file in files), sum(ledger.left(file, "read") for file in files)
    total = sum(file.bytes_read for file in log.files)
    if moved < max(WORTH_BYTES, SHARE * total):
        return
    worst = max(files, key=lambda file: file.bytes_read)
    rate = f" at {digits(moved / seconds / 1e9, 3)} GB/s per task" if seconds else ""
    cached = seconds and moved > _CACHE_BYTES_PER_S * seconds
    source = ", faster than any file system gives one task: they come from the node's page cache" if cached else ""
    part = in_file(worst.bytes_read / moved, worst.path)
    evidence: dict[str, Any] = {"bytes": moved, "files": len(files), "file": worst.path}
    taken = _taken(files, "read", ledger, lambda _: 1.0)
    change = "keep the data in memory instead of reading them back"
    yield Finding(
        "cached-reads",
        f"{size(moved)} are read back by the task that wrote them{rate}{source}; {part}.",
        evidence=evidence | staked(taken, won=taken, because="the time of these reads", expected=taken, change=change),
        advice="The rate of such reads is not that of the file system. In a benchmark, read what another node wrote "
        "(IOR -C) or more than memory holds; in a program, keep the data instead of reading them back.",
    )


def _own_data(file: FileRecord) -> bool:
    """Whether the only task of a file wrote the data that it reads."""
    written_first = file.write_span is None or file.read_span is None or file.write_span[0] < file.read_span[0]
    return (
        not file.shared and file.interface != "STDIO" and 0 < file.read_extent <= file.written_extent and written_first
    )
