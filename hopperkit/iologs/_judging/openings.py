"""Opening, closing, seeking and stat calls instead of data transfer: small files, files opened repeatedly, seeks."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence

from hopperkit.iologs._judging.access import MANY_CALLS, WAYS, Ledger, in_file
from hopperkit.iologs._judging.repetition import appends
from hopperkit.iologs._judging.stakes import FLOOR_SHARE, LEAST_S, staked
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperlib.finding import Finding
from hopperlib.text import count, digits, share, size
from hopperlib.units import BYTES_PER_MIB

_MANY_FILES = 1_000
# Fewer small files matter only through their time.
_SOME_FILES = 100
# Minimum opens per task, and in total, for a file to count as opened repeatedly.
_OPENS_PER_TASK, _FEW_OPENS = 10, 100
_SEEKS_PER_CALL = 2


def judge(log: DarshanLog, ledger: Ledger) -> Iterator[Finding]:
    """Yield findings about time before data transfer; each file has one cause, the first that applies."""
    if _clocks_disagree(log):
        yield _unknown(log)
        return
    rest = list(log.files)
    for choose, say in ((_reopened, _reopen), (_small_files, _many), (_sought, _seeks)):
        chosen = choose(rest)
        if chosen and (finding := say(log, chosen, ledger)):
            yield finding
            taken = set(map(id, chosen))
            rest = [file for file in rest if id(file) not in taken]
    yield from _metadata(log, rest)


def _clocks_disagree(log: DarshanLog) -> bool:
    """Whether the log has more metadata time than the tasks ran."""
    meta, run_time = sum(file.meta_s for file in log.files), log.run_time_s or 0.0
    return bool(run_time) and meta > (log.tasks or 1) * run_time


def _unknown(log: DarshanLog) -> Finding:
    """Return the finding that the times of metadata calls cannot be right."""
    meta = sum(file.meta_s for file in log.files)
    message = "More time in metadata calls than the job ran: threads of a task overlap, or the log's times are wrong."
    return Finding("metadata", message, "unknown", evidence={"metadata_s": round(meta, 3)} | staked(meta, won=meta))


def _reopened(files: Sequence[FileRecord]) -> list[FileRecord]:
    """Return the files that a task opens repeatedly."""
    return [
        file
        for file in files
        if file.interface != "MPI-IO"
        and file.opens >= _FEW_OPENS
        and file.opens >= _OPENS_PER_TASK * max(file.tasks, 1)
    ]


def _reopen(log: DarshanLog, files: Sequence[FileRecord], ledger: Ledger) -> Finding | None:
    """Return the finding about files that are opened repeatedly, and the calls between."""
    opens, calls = sum(file.opens for file in files), sum(file.reads + file.writes for file in files)
    worst = max(files, key=lambda file: file.opens)
    needed = sum(file.tasks for file in files)
    meta = sum(file.meta_s for file in files)
    between = f"{digits(calls / opens, 3)} reads or writes" if calls else "nothing"
    appending = ""
    if appends(worst) and worst.writes:
        appending = (
            "; where each open is for appending (O_APPEND, or mode a), the program writes in order, though Darshan counts "
            "offsets from zero after each"
        )
    change = "move open() before the loop and close() after it"
    return Finding(
        "reopen",
        f"{count(len(files), 'file')} {'is' if len(files) == 1 else 'are'} opened {opens:,} times, for {between} each time; "
        f"{in_file(worst.opens / opens, worst.path)}{appending}.",
        evidence={"opens": opens, "files": len(files), "calls": calls, "file": worst.path}
        | staked(
            meta,
            won=meta,
            because="the opens beyond one for each task and file",
            expected=meta * (1 - needed / opens),
            change=change,
        ),
        advice=f"Open a file once and keep it open: {change}.",
    )


def _small_files(files: Sequence[FileRecord]) -> list[FileRecord]:
    """Return the single-task files, if they are many and small."""
    small = [file for file in files if not file.shared and (file.bytes_moved or file.opens)]
    moved = sum(file.bytes_moved for file in small)
    return small if len(small) >= _SOME_FILES and moved < BYTES_PER_MIB * len(small) else []


def _many(log: DarshanLog, files: Sequence[FileRecord], ledger: Ledger) -> Finding | None:
    """Return the finding that many small files are created, and where most of them are."""
    seconds = sum(file.busy_s for file in files)
    if len(files) < _MANY_FILES and seconds < FLOOR_SHARE * (log.tasks or 1) * (log.run_time_s or 0.0):
        return None
    for file in files:
        for way in WAYS:
            ledger.take(file, way, ledger.left(file, way))
    mean = round(sum(file.bytes_moved for file in files) / len(files))
    folder, inside = Counter(posixpath.dirname(file.path) for file in files).most_common(1)[0]
    stats = sum(file.counts.get("STATS", 0) for file in files)
    where = f", {share(round(inside / len(files), 4))} of them in {folder}" if folder.startswith("/") else ""
    with_stats = f", with {stats:,} stats" if stats else ""
    change = "write the records of all steps into one file per task: open it once, before the loop"
    # One file per task remains, and the bytes.
    openings = sum(file.meta_s for file in files)
    remain = (log.tasks or 1) / len(files)
    return Finding(
        "small-files",
        f"{len(files):,} single-task files move {size(mean)} on average{where}{with_stats}: "
        "creating and opening them costs more than the data.",
        evidence={"files": len(files), "mean_bytes": mean, "directory": folder, "directory_files": inside}
        | staked(
            seconds,
            won=seconds,
            because="opening and closing beyond one file per task; moving the data stays",
            expected=openings * max(0.0, 1 - remain),
            change=change,
        ),
        advice="Put them into one file (HDF5, ADIOS, a tar archive or a database), or keep them in memory or on the "
        "node; if they must stay, spread them over folders: one folder has one metadata server and one lock.",
    )


def _sought(files: Sequence[FileRecord]) -> list[FileRecord]:
    """Return the files in which tasks seek far more often than they read or write."""
    return [
        file
        for file in files
        if file.counts.get("SEEKS", 0) >= max(MANY_CALLS, _SEEKS_PER_CALL * (file.reads + file.writes))
    ]


def _seeks(log: DarshanLog, files: Sequence[FileRecord], ledger: Ledger) -> Finding | None:
    """Return the finding that tasks seek more often than they read or write."""
    seeks = sum(file.counts["SEEKS"] for file in files)
    calls, meta = sum(file.reads + file.writes for file in files), sum(file.meta_s for file in files)
    worst = max(files, key=lambda file: file.counts["SEEKS"])
    change = "pread(fd, data, n, offset) and pwrite in place of lseek and read or write"
    return Finding(
        "seeks",
        f"{seeks:,} seeks for {calls:,} reads and writes; {in_file(worst.counts['SEEKS'] / seeks, worst.path)}.",
        evidence={"seeks": seeks, "calls": calls, "files": len(files), "file": worst.path}
        | staked(
            meta,
            won=meta,
            because="the seeks beyond one for each read or write",
            expected=meta * (1 - min(1.0, calls / seeks)),
            change=change,
        ),
        advice=f"Seek only where the next access is elsewhere: {change}.",
    )


def _metadata(log: DarshanLog, files: Sequence[FileRecord]) -> Iterator[Finding]:
    """Metadata of all other files, if it takes most of their time or a share of the run."""
    meta, busy = (sum(getattr(file, name) for file in files) for name in ("meta_s", "busy_s"))
    tasks, run_time = log.tasks or 1, log.run_time_s or 0.0
    # Times are sums over tasks, so the run time counts once per task.
    if not run_time or meta < tasks * max(FLOOR_SHARE * run_time, LEAST_S) or meta < 0.1 * busy:
        return
    part, opens = round(meta / busy, 4), sum(file.opens for file in files)
    stats, seeks = (sum(file.counts.get(name, 0) for file in files) for name in ("STATS", "SEEKS"))
    evidence = {"metadata_s": round(meta, 3), "io_s": round(busy, 3), "share": part}
    evidence |= {"opens": opens, "stats": stats, "seeks": seeks}
    yield Finding(
        "metadata",
        f"{share(part)} of the time in I/O calls is metadata: {digits(meta / tasks, 3)} s per task of {run_time:,.0f} s, "
        f"for {opens:,} opens, {stats:,} stats and {seeks:,} seeks of {len(files):,} files.",
        evidence=evidence | staked(meta, won=meta, because="all of it, if every file were already open"),
        advice="Open a file once and keep it open; let one task query and broadcast the answer (MPI_File_open does); "
        "put many small files into one; with HDF5 H5Pset_all_coll_metadata_ops.",
    )
