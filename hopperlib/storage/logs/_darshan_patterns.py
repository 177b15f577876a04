"""How a job accessed its files, judged by Darshan's counters: sizes, order, repetition, balance, interfaces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from hopperlib.finding import Finding
from hopperlib.storage.logs.darshan_log import SIZE_BINS, DarshanLog, FileRecord
from hopperlib.units import BYTES_PER_MIB

__all__ = ["WAYS", "mpi_calls", "patterns", "size_text", "small_calls"]

WAYS = ("read", "write")
# From these on it is worth a word: shares of calls, bytes and time, and so many calls and bytes.
_SHARE, _RANDOM_SHARE, _MOST = 0.1, 0.2, 0.5
_FEW_CALLS = 1_000
_WORTH_BYTES = 100_000_000
# Bytes below over bytes above MPI-IO, and of repeated over first accesses.
_AMPLIFIED = 1.5
# The slowest, or the fullest, task over the mean.
_UNEVEN = 2.0
# Part of a run that is worth changing a program for.
_WORTH_TIME, _WORTH_S = 0.02, 1.0
_MANY_FILES = 1_000

_LARGEST_SMALL = sum(upper is not None and upper <= BYTES_PER_MIB for _, upper in SIZE_BINS)


class _MpiCalls(NamedTuple):
    """How many collective and independent calls MPI-IO made for a file, or for all."""

    collective: int
    independent: int


def size_text(count: float) -> str:
    """Return a size for people, in decimal units."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} bytes"


def small_calls(file: FileRecord, way: str) -> int:
    """Return the calls below a mebibyte, at least.

    Darshan's bin of 100 KiB to 1 MiB holds calls of exactly 1 MiB too. How many these are
    its list of common sizes says, but not which way they went: they are taken off both.
    """
    sizes = file.moved(way).sizes[:_LARGEST_SMALL]
    if not sizes:
        return 0
    return sum(sizes[:-1]) + max(0, sizes[-1] - file.common_sizes.get(BYTES_PER_MIB, 0))


def mpi_calls(log: DarshanLog, way: str, path: str | None = None) -> _MpiCalls:
    """Return the calls of MPI-IO in one direction, of a file or of all."""
    records = [one for one in log.upper if one.interface == "MPI-IO" and path in (None, one.path)]
    collective = sum(one.counts.get(f"COLL_{way.upper()}S", 0) for one in records)
    return _MpiCalls(collective, sum(one.moved(way).calls for one in records) - collective)


def patterns(log: DarshanLog) -> Iterator[Finding]:
    """Yield what the ways of access say, each with its numbers."""
    yield from _lost(log)
    for way in WAYS:
        yield from _random(log, way)
        yield from _repeated(log, way)
        yield from _independent(log, way)
        yield from _amplified(log, way)
    yield from _aggregators(log)
    yield from _metadata(log)
    yield from _uneven_time(log)
    yield from _uneven_bytes(log)
    yield from _stdio(log)
    yield from _blocking(log)
    yield from _many_files(log)
    yield from _burst(log)


def _gathered(log: DarshanLog, file: FileRecord) -> bool:
    """Whether the log has collective calls for a file: then some tasks move the data of all."""
    return any(mpi_calls(log, way, file.path).collective for way in WAYS)


def _lost(log: DarshanLog) -> Iterator[Finding]:
    """Say what a damaged or overfull log lost."""
    for number, what in enumerate(log.missing):
        memory = "ran out of memory" in what
        yield Finding(
            code="incomplete-log",
            message=f"{what[0].upper()}{what[1:]}. What follows is judged from the rest.",
            evidence={"number": number + 1, "of": len(log.missing)},
            advice="Give Darshan more memory and run again: export DARSHAN_MODMEM=64"
            if memory
            else "Copy the log again.",
        )
    if not any(total["files"] for total in log.totals.values()) and not log.files:
        yield Finding(
            code="no-records", level="unknown", message="The log holds no record of any file: nothing can be told."
        )
    elif log.totals and "POSIX" not in log.modules:
        message = "The log has no POSIX module: sizes, order and alignment of accesses cannot be told."
        yield Finding(code="no-posix", level="unknown", message=message)


def _random(log: DarshanLog, way: str) -> Iterator[Finding]:
    """Accesses that jump back: neither after the last one nor next to it."""
    key = f"SEQ_{way.upper()}S"
    files = [file for file in log.files if file.interface == "POSIX" and key in file.counts and file.moved(way).calls]
    calls = sum(file.moved(way).calls for file in files)
    # Darshan counts a consecutive access as sequential too.
    jumps = {file.path: max(0, file.moved(way).calls - file.counts[key]) for file in files}
    # The first access of a task to a file follows none.
    jumping = sum(jumps.values()) - sum(min(file.tasks, jumps[file.path]) for file in files)
    if jumping < _FEW_CALLS or jumping < _RANDOM_SHARE * calls:
        return
    worst = max(jumps, key=lambda path: jumps[path])
    yield Finding(
        code=f"random-{way}s",
        level="advice" if way == "read" else "note",
        message=f"{jumping:,} of {calls:,} {way} calls ({jumping / calls:.0%}) begin before the end of the last one: "
        f"nothing can be {'read ahead' if way == 'read' else 'gathered'}. Most are in {worst}.",
        evidence={"random_calls": jumping, "calls": calls, "share": round(jumping / calls, 4), "file": worst},
        advice="Sort the accesses of a task by offset, or let MPI-IO do it: one collective call for many pieces.",
    )


def _repeated(log: DarshanLog, way: str) -> Iterator[Finding]:
    """More bytes moved than the file is long: some of them several times."""
    extents = {"read": "extent_read_bytes", "write": "extent_written_bytes"}
    files = [file for file in log.files if file.interface in ("POSIX", "STDIO") and getattr(file, extents[way])]
    over = {file.path: file.moved(way).moved_bytes - getattr(file, extents[way]) for file in files}
    extra = sum(each for each in over.values() if each > 0)
    total = sum(file.moved(way).moved_bytes for file in files)
    if extra < _WORTH_BYTES or extra < (1 - 1 / _AMPLIFIED) * total:
        return
    worst = max(files, key=lambda file: over[file.path])
    again = "read" if way == "read" else "written"
    what = (
        "Read once and hand it on: one task reads and broadcasts, or a collective read"
        if worst.shared and way == "read"
        else "Keep what was read in memory, or in a buffer that is large enough"
        if way == "read"
        else "Gather what belongs together before it is written; a file format may rewrite its headers with every step"
    )
    yield Finding(
        code=f"redundant-{way}s",
        message=f"{size_text(extra)} of {size_text(total)} are {again} again: {worst.path} is "
        f"{size_text(getattr(worst, extents[way]))} long and {size_text(worst.moved(way).moved_bytes)} are {again}.",
        evidence={"repeated_bytes": extra, "bytes": total, "share": round(extra / total, 4), "file": worst.path},
        advice=f"{what}.",
    )


def _independent(log: DarshanLog, way: str) -> Iterator[Finding]:
    """Calls of MPI-IO to shared files by each task for itself; or that they are collective."""
    shared = [one for one in log.upper if one.interface == "MPI-IO" and one.shared and one.moved(way).calls]
    calls = [mpi_calls(log, way, one.path) for one in shared]
    collective, independent = (sum(each) for each in zip(*calls, strict=True)) if calls else (0, 0)
    total = collective + independent
    if total < _FEW_CALLS:
        return
    evidence = {
        "collective_calls": collective,
        "independent_calls": independent,
        "bytes": sum(one.moved(way).moved_bytes for one in shared),
    }
    if collective >= _MOST * total:
        message = f"{collective:,} of {total:,} {way} calls of MPI-IO to shared files are collective."
        yield Finding(code=f"collective-{way}s", level="ok", message=message, evidence=evidence)
        return
    worst = shared[max(range(len(shared)), key=lambda place: calls[place].independent)]
    call = "MPI_File_read_all" if way == "read" else "MPI_File_write_all"
    yield Finding(
        code=f"independent-{way}s",
        message=f"{independent:,} of {total:,} {way} calls of MPI-IO to shared files are independent; most are in {worst.path}.",
        evidence={**evidence, "file": worst.path},
        advice=f"Use the collective call ({call}, H5FD_MPIO_COLLECTIVE in HDF5), so that a few tasks move large pieces for all.",
    )


def _amplified(log: DarshanLog, way: str) -> Iterator[Finding]:
    """More bytes below MPI-IO than above it: data sieving, or filled holes."""
    below: Counter[str] = Counter()
    for file in log.files:
        if file.interface == "POSIX":
            below[file.path] += file.moved(way).moved_bytes
    pairs = {
        one.path: (one.moved(way).moved_bytes, below[one.path])
        for one in log.upper
        if one.interface == "MPI-IO" and one.path in below
    }
    above_bytes, below_bytes = (sum(pair[side] for pair in pairs.values()) for side in (0, 1))
    if below_bytes - above_bytes < _WORTH_BYTES or below_bytes < _AMPLIFIED * above_bytes:
        return
    worst = max(pairs, key=lambda path: pairs[path][1] - pairs[path][0])
    past = "read" if way == "read" else "written"
    sieving = "romio_ds_read" if way == "read" else "romio_ds_write"
    yield Finding(
        code=f"amplified-{way}s",
        message=f"{size_text(below_bytes)} are {past} for the {size_text(above_bytes)} that the program hands to MPI-IO, "
        f"{below_bytes / max(above_bytes, 1):.1f} times as much; most for {worst}.",
        evidence={
            "posix_bytes": below_bytes,
            "mpiio_bytes": above_bytes,
            "factor": round(below_bytes / max(above_bytes, 1), 2),
            "file": worst,
        },
        advice="MPI-IO moves what lies between small pieces too (data sieving, or holes in a collective buffer). Try "
        f"export MPICH_MPIIO_HINTS='*:{sieving}=disable', and write whole blocks of the file at a time.",
    )


def _aggregators(log: DarshanLog) -> Iterator[Finding]:
    """How many tasks wrote for all, where the log has a record for each of them."""
    gathered = [
        file for file in log.files if file.interface == "POSIX" and mpi_calls(log, "write", file.path).collective
    ]
    largest = max(gathered, key=lambda file: file.bytes_written, default=None)
    if largest is None or largest.bytes_written < _WORTH_BYTES or len(largest.written_by) < 2:
        return
    writers, stripes = len(largest.written_by), largest.layout.stripe_count if largest.layout else None
    evidence = {"aggregators": writers, "tasks": log.tasks, "stripe_count": stripes, "file": largest.path}
    message = f"{writers:,} of {log.tasks or writers:,} tasks write {largest.path} for all"
    if writers == log.tasks:
        message += ": the collective calls are not gathered."
        yield Finding(
            code="aggregators",
            message=message,
            evidence=evidence,
            advice="export MPICH_MPIIO_HINTS='*:romio_cb_write=enable'",
        )
    elif stripes and writers < _MOST * stripes:
        message += f", to {stripes} stripes: several OSTs have one writer."
        advice = f"export MPICH_MPIIO_HINTS='*:romio_cb_write=enable:cb_nodes={min(stripes, log.tasks or stripes)}'"
        yield Finding(code="aggregators", message=message, evidence=evidence, advice=advice)
    else:
        yield Finding(code="aggregators", level="ok", message=f"{message}.", evidence=evidence)


def _metadata(log: DarshanLog) -> Iterator[Finding]:
    """Opening, closing, seeking and asking instead of moving data."""
    meta, busy = (sum(getattr(file, name) for file in log.files) for name in ("meta_s", "busy_s"))
    whole = (log.run_time_s or 0.0) * (log.tasks or 1)
    if meta < _MOST * busy or meta < max(_WORTH_TIME * whole, _WORTH_S * (log.tasks or 1)) or not whole:
        return
    if meta > whole:
        message = (
            "More time in metadata calls than the job ran: threads of a task overlap, or the log's times are wrong."
        )
        yield Finding(code="metadata", level="unknown", message=message, evidence={"metadata_s": round(meta, 3)})
        return
    opens = sum(file.opens for file in log.files)
    stats, seeks = (sum(file.counts.get(name, 0) for file in log.files) for name in ("STATS", "SEEKS"))
    yield Finding(
        code="metadata",
        message=f"{meta / busy:.0%} of the time in I/O calls is metadata: {meta / (log.tasks or 1):.3g} s a task of {log.run_time_s:,.0f} s, "
        f"for {opens:,} opens, {stats:,} stats and {seeks:,} seeks of {len(log.files):,} files.",
        evidence={
            "metadata_s": round(meta, 3),
            "io_s": round(busy, 3),
            "share": round(meta / busy, 4),
            "opens": opens,
            "stats": stats,
            "seeks": seeks,
        },
        advice="Open a file once and keep it open; let one task ask and tell the others (MPI_File_open does); put many small "
        "files into one; with HDF5 H5Pset_all_coll_metadata_ops.",
    )


def _uneven_time(log: DarshanLog) -> Iterator[Finding]:
    """One task of a shared file that takes much longer than the others."""
    # Aggregators work for all: that is no imbalance.
    shared = [file for file in log.files if file.tasks > 1 and file.slowest_s and not _gathered(log, file)]
    worst = max(shared, key=lambda file: file.slowest_s - file.busy_s / file.tasks, default=None)
    if worst is None or not log.run_time_s:
        return
    mean = worst.busy_s / worst.tasks
    if worst.slowest_s < _UNEVEN * mean or worst.slowest_s - mean < max(_WORTH_TIME * log.run_time_s, _WORTH_S):
        return
    yield Finding(
        code="uneven-time",
        message=f"The slowest task spends {worst.slowest_s:.3g} s in {worst.path}, the mean of {worst.tasks:,} tasks is {mean:.3g} s.",
        evidence={
            "slowest_s": round(worst.slowest_s, 3),
            "mean_s": round(mean, 3),
            "tasks": worst.tasks,
            "file": worst.path,
        },
        advice="Deal the data evenly, or let a few tasks write for all (collective buffering); one slow OST, or one node, shows so too.",
    )


def _uneven_bytes(log: DarshanLog) -> Iterator[Finding]:
    """Tasks that move much more than the others."""
    tasks = log.tasks or 1
    files = [file for file in log.files if not _gathered(log, file)]
    for file in files:
        if file.spread_bytes and file.bytes_moved >= _WORTH_BYTES:
            mean = file.bytes_moved / file.tasks
            if file.spread_bytes >= mean / 2:
                yield Finding(
                    code="uneven-bytes",
                    level="note",
                    message=f"The tasks move very different amounts of {file.path}: {size_text(mean)} on average, with a "
                    f"deviation of {size_text(file.spread_bytes)}.",
                    evidence={
                        "mean_bytes": round(mean),
                        "deviation_bytes": round(file.spread_bytes),
                        "file": file.path,
                    },
                    advice="Deal the data evenly over the tasks that write.",
                )
                return
    for way, past in (("read", "read_by"), ("write", "written_by")):
        by_task: Counter[int] = Counter()
        for file in files:
            by_task.update(getattr(file, past))
        total = sum(by_task.values())
        if total < _WORTH_BYTES or tasks < 2 or len(by_task) < 2:
            continue
        task, most = max(by_task.items(), key=lambda item: item[1])
        mean = total / len(by_task)
        if most >= _UNEVEN * mean and most - mean >= _WORTH_BYTES:
            yield Finding(
                code="uneven-bytes",
                level="note",
                message=f"Task {task} {way}s {size_text(most)}, {most / mean:.3g} times the mean of the {len(by_task):,} tasks that do.",
                evidence={"task": task, "bytes": most, "mean_bytes": round(mean), "direction": way},
                advice="Deal the data evenly over the tasks.",
            )
            return


def _stdio(log: DarshanLog) -> Iterator[Finding]:
    """Much data through the buffered calls of the C library, which move little at a time."""
    moved = sum(file.bytes_moved for file in log.files if file.interface == "STDIO")
    total = sum(file.bytes_moved for file in log.files)
    if moved < _WORTH_BYTES or moved < _SHARE * total:
        return
    worst = max((file for file in log.files if file.interface == "STDIO"), key=lambda file: file.bytes_moved)
    yield Finding(
        code="stdio",
        message=f"{size_text(moved)} of {size_text(total)} ({moved / total:.0%}) go through stdio (fopen, fread, fprintf); most are in {worst.path}.",
        evidence={"bytes": moved, "all_bytes": total, "share": round(moved / total, 4), "file": worst.path},
        advice="For large data use read and write or MPI-IO; where stdio stays, give it a large buffer: setvbuf(file, NULL, _IOFBF, 4 << 20).",
    )


def _blocking(log: DarshanLog) -> Iterator[Finding]:
    """MPI-IO that only waits."""
    records = [one for one in log.upper if one.interface == "MPI-IO" and one.bytes_moved]
    nonblocking = sum(one.counts.get(f"NB_{way}", 0) for one in records for way in ("READS", "WRITES"))
    waited = sum(one.busy_s for one in records) / (log.tasks or 1)
    if nonblocking or not log.run_time_s or waited < max(_SHARE * log.run_time_s, _WORTH_S):
        return
    yield Finding(
        code="blocking",
        level="note",
        message=f"Every call of MPI-IO blocks: a task waits {waited:.3g} s of {log.run_time_s:,.0f} s in them.",
        evidence={"seconds_per_task": round(waited, 3), "run_time_s": log.run_time_s},
        advice="If there is work to do meanwhile: MPI_File_iwrite_all and MPI_File_iread_all, or asynchronous HDF5.",
    )


def _many_files(log: DarshanLog) -> Iterator[Finding]:
    """Many small files, each of one task."""
    own = [file for file in log.files if not file.shared and file.bytes_moved]
    mean = sum(file.bytes_moved for file in own) / max(len(own), 1)
    if len(own) < _MANY_FILES or mean >= BYTES_PER_MIB:
        return
    yield Finding(
        code="small-files",
        message=f"{len(own):,} files of one task each move {size_text(mean)} on average: creating and opening them costs more than the data.",
        evidence={"files": len(own), "mean_bytes": round(mean)},
        advice="Put them into one file (HDF5, ADIOS, a tar archive or a database), or keep them in memory or on the node.",
    )


def _burst(log: DarshanLog) -> Iterator[Finding]:
    """Very many opens within a second."""
    times = sorted(time for file in log.files for time in file.opened_at)
    most, first = 0, 0
    for last, time in enumerate(times):
        while time - times[first] > 1:
            first += 1
        most = max(most, last - first + 1)
    if most < _MANY_FILES:
        return
    yield Finding(
        code="open-burst",
        level="note",
        message=f"{most:,} files are opened within a second: a metadata server creates some thousands a second for all its users.",
        evidence={"opens": most, "files": len(log.files)},
        advice="Spread them over folders, open them in groups of tasks, or write fewer files.",
    )
