"""How a job accessed its files, judged by Darshan's counters: sizes, order, repetition, balance, interfaces."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from hopperkit.filesystems.hints import hints_line
from hopperkit.iologs.cost import FLOOR_S, stake, staked, time_s, waiting_by_path
from hopperkit.iologs.darshan_log import SIZE_BINS, DarshanLog, FileRecord
from hopperlib.finding import Finding
from hopperlib.text import capital, digits, share, size
from hopperlib.units import BYTES_PER_MIB

WAYS = ("read", "write")
# From these on it is worth a word: shares of calls, bytes and time, and that many calls and bytes.
SHARE, _RANDOM_SHARE, MOST = 0.1, 0.2, 0.5
FEW_CALLS, MANY_CALLS = 1_000, 10_000
WORTH_BYTES = 100_000_000
# Bytes below over bytes above MPI-IO, and of repeated over first accesses.
_AMPLIFIED = 1.5
# The slowest, or the fullest, task over the mean.
_UNEVEN = 2.0
# Part of a run that is worth changing a program for.
_WORTH_TIME, _WORTH_S = 0.02, 1.0
# Times of a task above this part of the run are no times: threads overlap, or clocks differ.
_CLOCK_S = 1.05
_MANY_FILES = 1_000
_LARGEST_SMALL = sum(upper is not None and upper <= BYTES_PER_MIB for _, upper in SIZE_BINS)


class _MpiCalls(NamedTuple):
    """How many collective and independent calls MPI-IO made for a file, or for all."""

    collective: int
    independent: int


def small_calls(file: FileRecord, way: str) -> tuple[int, int]:
    """Return the calls below a mebibyte: those that surely are, and those that may be.

    Darshan's bin of 100 KiB to 1 MiB holds calls of exactly 1 MiB too. How many these are
    its list of common sizes says, but not which way they went: they are taken off both, but
    not more of them than the bytes that were moved leave room for.
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
    """Return how many bytes the calls below a mebibyte moved at most: each as many as its bin of sizes allows. [bytes]"""
    traffic = file.moved(way)
    bins = zip(traffic.sizes[:_LARGEST_SMALL], SIZE_BINS, strict=False)
    return min(traffic.moved_bytes, sum(calls * (upper or 0) for calls, (_, upper) in bins))


def in_file(part: float, path: str, moved: float | None = None) -> str:
    """Return in words which file has most of something, or the largest part of it, and what it has of the bytes. [fraction]"""
    said = f"most are in {path}" if part > MOST else f"the largest part, {share(round(part, 4))}, is in {path}"
    return said if moved is None else f"{said} ({share(round(moved, 4))} of the bytes)"


def bytes_part(files: Iterable[FileRecord], path: str, way: str = "") -> float | None:
    """Return the share of a file in the bytes of some, in one direction or both; None if these moved none. [fraction]"""
    moved = [(file.path, file.moved(way).moved_bytes if way else file.bytes_moved) for file in files]
    total = sum(each for _, each in moved)
    return sum(each for name, each in moved if name == path) / total if total else None


def hints_for(log: DarshanLog, hints: Mapping[str, str | int]) -> str:
    """Return the line that hands hints to MPI-IO: Cray's variable on Lustre, else the file that any ROMIO reads."""
    largest = max(log.files, key=lambda file: file.bytes_moved, default=None)
    mount = log.mount_of(largest.path) if largest else None
    return hints_line(hints, "cray" if mount is None or mount[1] == "lustre" else "romio") or ""


def mpi_calls(log: DarshanLog, way: str, path: str | None = None) -> _MpiCalls:
    """Return the calls of MPI-IO in one direction, of a file or of all."""
    records = [record for record in log.upper if record.interface == "MPI-IO" and path in (None, record.path)]
    collective = sum(record.counts.get(f"COLL_{way.upper()}S", 0) for record in records)
    return _MpiCalls(collective, sum(record.moved(way).calls for record in records) - collective)


def patterns(log: DarshanLog) -> Iterator[Finding]:
    """Yield what the ways of access say, each with its numbers."""
    yield from _lost(log)
    for judge in (_random, _independent, _amplified):
        for way in WAYS:
            yield from judge(log, way)
    for whole in (_waiting, _metadata, _uneven_time, _stdio, _many_files):
        yield from whole(log)


def _gathered(log: DarshanLog, file: FileRecord) -> bool:
    """Whether the log has collective calls for a file: then some tasks move the data of all."""
    return any(mpi_calls(log, way, file.path).collective for way in WAYS)


def _lost(log: DarshanLog) -> Iterator[Finding]:
    """Say what a damaged or overfull log lost."""
    for number, what in enumerate(log.missing, start=1):
        memory = "Give Darshan more memory and run again: export DARSHAN_MODMEM=64"
        yield Finding(
            "incomplete-log",
            f"{capital(what)}. What follows is judged from the rest.",
            evidence={"number": number, "of": len(log.missing)},
            advice=memory if "ran out of memory" in what else "Copy the log again.",
        )
    if not any(total["files"] for total in log.totals.values()) and not log.files:
        message = "The log holds no record of any file, so nothing can be said about it."
        yield Finding("no-records", message, "unknown")
    elif log.totals and "POSIX" not in log.modules:
        message = "The log has no POSIX module, so it does not show sizes, order and alignment of accesses."
        yield Finding("no-posix", message, "unknown")


def _random(log: DarshanLog, way: str) -> Iterator[Finding]:
    """Accesses that jump back: neither after the last one nor next to it."""
    key = f"SEQ_{way.upper()}S"
    known = [file for file in log.files if file.interface == "POSIX" and key in file.counts and file.moved(way).calls]
    calls = sum(file.moved(way).calls for file in known)
    # Darshan counts a consecutive access as sequential too; the first one of a task to a file follows none.
    jumps = {file.path: max(0, file.moved(way).calls - file.counts[key] - file.tasks) for file in known}
    jumping = sum(jumps.values())
    if jumping >= max(FEW_CALLS, _RANDOM_SHARE * calls):
        worst = max(jumps, key=lambda path: jumps[path])
        part = round(jumping / calls, 4)
        nothing = "read ahead" if way == "read" else "gathered"
        yield Finding(
            f"random-{way}s",
            f"{jumping:,} of {calls:,} {way} calls ({share(part)}) begin before the end of the last one: "
            f"nothing can be {nothing}; {in_file(jumps[worst] / jumping, worst, bytes_part(known, worst, way))}.",
            "advice" if way == "read" and jumping >= MANY_CALLS else "note",
            evidence={"random_calls": jumping, "calls": calls, "share": part, "file": worst}
            | stake(known, way, part=part, because="the share of these calls in the time"),
            advice="Sort the accesses of a task by offset, or let MPI-IO do it: one collective call for many pieces.",
        )


def _independent(log: DarshanLog, way: str) -> Iterator[Finding]:
    """Calls of MPI-IO to shared files by each task for itself; or that they are collective."""
    shared = [
        record for record in log.upper if record.interface == "MPI-IO" and record.shared and record.moved(way).calls
    ]
    calls = [mpi_calls(log, way, record.path) for record in shared]
    collective, independent = (sum(each) for each in zip(*calls, strict=True)) if calls else (0, 0)
    total = collective + independent
    if total < FEW_CALLS:
        return
    evidence: dict[str, Any] = {"collective_calls": collective, "independent_calls": independent}
    evidence["bytes"] = sum(record.moved(way).moved_bytes for record in shared)
    to_shared = f"of {total:,} {way} calls of MPI-IO to shared files are"
    if collective >= MOST * total:
        yield Finding(f"collective-{way}s", f"{collective:,} {to_shared} collective.", "ok", evidence=evidence)
        return
    most = max(range(len(shared)), key=lambda place: calls[place].independent)
    worst = shared[most]
    evidence |= stake(shared, way, part=independent / total, because="the share of these calls in the time")
    yield Finding(
        f"independent-{way}s",
        f"{independent:,} {to_shared} independent; "
        f"{in_file(calls[most].independent / independent, worst.path, bytes_part(shared, worst.path, way))}.",
        evidence={**evidence, "file": worst.path},
        advice=f"Use the collective call (MPI_File_{way}_all, H5FD_MPIO_COLLECTIVE in HDF5), "
        "so that a few tasks move large pieces for all.",
    )


def _amplified(log: DarshanLog, way: str) -> Iterator[Finding]:
    """More bytes below MPI-IO than above it: data sieving, or filled holes."""
    pairs = list(_above_and_below(log, way))
    above_bytes, below_bytes = (sum(pair[side].moved(way).moved_bytes for pair in pairs) for side in (0, 1))
    if below_bytes - above_bytes < WORTH_BYTES or below_bytes < _AMPLIFIED * above_bytes:
        return
    worst = max(pairs, key=lambda pair: pair[1].moved(way).moved_bytes - pair[0].moved(way).moved_bytes)[0].path
    factor = round(below_bytes / max(above_bytes, 1), 2)
    past, asks, sieving = {
        "read": ("read", "asks of MPI-IO", "data sieving"),
        "write": ("written", "hands to MPI-IO", "data sieving, or holes in a collective buffer"),
    }[way]
    times = f"{digits(factor, 3)} times as much" if above_bytes else "all of it added by MPI-IO"
    # What is read for nothing fills the gaps between pieces that are written.
    mend = way if above_bytes else "write"
    yield Finding(
        f"amplified-{way}s",
        f"{size(below_bytes)} are {past} for the {size(above_bytes)} that the program {asks}, "
        f"{times}; most for {worst}.",
        evidence={"posix_bytes": below_bytes, "mpiio_bytes": above_bytes, "factor": factor, "file": worst}
        | stake(
            [file for _, file in pairs],
            way,
            part=1 - above_bytes / below_bytes,
            because="the share of these bytes in the time",
        ),
        advice=f"MPI-IO moves what lies between small pieces too ({sieving}). Try "
        f"{hints_for(log, {f'romio_ds_{mend}': 'disable'})}, and {mend} whole blocks of the file at a time.",
    )


def _above_and_below(log: DarshanLog, way: str) -> Iterator[tuple[FileRecord, FileRecord]]:
    """Yield the records of a file by MPI-IO and below it, where MPI-IO made the calls below."""
    below = {file.path: file for file in log.files if file.interface == "POSIX"}
    for record in log.upper:
        file = below.get(record.path)
        if record.interface != "MPI-IO" or file is None:
            continue
        # Calls that took longer than all of MPI-IO were not made by it; of calls without a byte the log lost count.
        traffic = record.moved(way)
        if (traffic.moved_bytes or not traffic.calls) and time_s(file, way) <= _CLOCK_S * record.busy_s:
            yield record, file


def _waiting(log: DarshanLog) -> Iterator[Finding]:
    """Time in MPI-IO that is neither reading nor writing: waiting for other tasks, and exchange with them."""
    tasks, run_time = log.tasks or 1, log.run_time_s or 0.0
    by_path = waiting_by_path(log)
    waiting = sum(by_path.values())
    total = sum(record.busy_s for record in log.upper if record.interface == "MPI-IO")
    if (
        not run_time
        or not _CLOCK_S * run_time >= total / tasks
        or waiting < tasks * min(FLOOR_S, max(SHARE * run_time, _WORTH_S))
    ):
        return
    worst = max(by_path, key=lambda path: by_path[path])
    # While the slowest task reads or writes, the others wait for it: no other way of waiting mends that.
    storage = 0.0
    for file in log.files:
        if file.path in by_path:
            storage += min(by_path[file.path], max(0.0, file.slowest_s * tasks - file.busy_s))
    storage = min(storage, waiting)
    part = round(waiting / total, 4)
    advice = (
        "The file system is not what they wait for. Time a barrier before each collective call: if the wait moves "
        "there, the tasks arrive late, and their work is uneven; else use fewer and larger collective calls, and one "
        "aggregator a node (cb_config_list=*:1)."
    )
    if storage >= MOST * waiting:
        advice = (
            "Most of it is waiting for the slowest of those that read or write for all: give them more stripes and "
            "aggregators, and look for a slow OST."
        )
    yield Finding(
        "waiting",
        f"{share(part)} of the {digits(total / tasks, 3)} s that a task spends in MPI-IO is neither reading nor "
        f"writing: tasks wait for each other and exchange data, in {worst} {'alone' if len(by_path) == 1 else 'most'}.",
        evidence={"mpiio_task_s": round(total, 3), "share": part, "storage_task_s": round(storage, 3), "file": worst}
        | staked(waiting, won=waiting - storage, because="less what is waiting for the slowest read or write below"),
        advice=advice,
    )


def _metadata(log: DarshanLog) -> Iterator[Finding]:
    """Opening, closing, seeking and asking instead of moving data."""
    meta, busy = (sum(getattr(file, name) for file in log.files) for name in ("meta_s", "busy_s"))
    tasks, run_time = log.tasks or 1, log.run_time_s or 0.0
    # Times are sums over tasks, so the time of the run counts once for each of them.
    if not run_time or meta < MOST * busy or meta < tasks * max(_WORTH_TIME * run_time, _WORTH_S):
        return
    part, opens = round(meta / busy, 4), sum(file.opens for file in log.files)
    stats, seeks = (sum(file.counts.get(name, 0) for file in log.files) for name in ("STATS", "SEEKS"))
    evidence = {"metadata_s": round(meta, 3), "io_s": round(busy, 3), "share": part}
    evidence |= {"opens": opens, "stats": stats, "seeks": seeks}
    evidence |= staked(meta, won=meta, because="all of it, were every file open already")
    if meta > tasks * run_time:
        message = (
            "More time in metadata calls than the job ran: threads of a task overlap, or the log's times are wrong."
        )
        yield Finding("metadata", message, "unknown", evidence=evidence)
        return
    yield Finding(
        "metadata",
        f"{share(part)} of the time in I/O calls is metadata: {digits(meta / tasks, 3)} s a task of {run_time:,.0f} s, "
        f"for {opens:,} opens, {stats:,} stats and {seeks:,} seeks of {len(log.files):,} files.",
        evidence=evidence,
        advice="Open a file once and keep it open; let one task ask and tell the others (MPI_File_open does); "
        "put many small files into one; with HDF5 H5Pset_all_coll_metadata_ops.",
    )


def _uneven_time(log: DarshanLog) -> Iterator[Finding]:
    """One task of a shared file that takes much longer than the others."""
    shared = [file for file in log.files if file.tasks > 1 and file.slowest_s and not _gathered(log, file)]
    worst = max(shared, key=lambda file: file.slowest_s - file.busy_s / file.tasks, default=None)
    if worst is None or not log.run_time_s:
        return
    slowest, mean = worst.slowest_s, worst.busy_s / worst.tasks
    if slowest >= _UNEVEN * mean and slowest - mean >= max(_WORTH_TIME * log.run_time_s, _WORTH_S):
        slowest, mean = round(slowest, 3), round(mean, 3)
        yield Finding(
            "uneven-time",
            f"The slowest task spends {digits(slowest, 3)} s in {worst.path}, "
            f"the mean of {worst.tasks:,} tasks is {digits(mean, 3)} s.",
            evidence={"slowest_s": slowest, "mean_s": mean, "tasks": worst.tasks, "file": worst.path}
            | staked(
                (slowest - mean) * worst.tasks,
                slowest=slowest - mean,
                won=(slowest - mean) * worst.tasks,
                because="if all wait for the slowest, and it becomes as fast as the mean",
            ),
            advice="Deal the data evenly, or let a few tasks write for all (collective buffering); "
            "one slow OST, or one node, shows so too.",
        )


def _stdio(log: DarshanLog) -> Iterator[Finding]:
    """Much data through the buffered calls of the C library, which move little at a time."""
    buffered = [file for file in log.files if file.interface == "STDIO"]
    moved, total = (sum(file.bytes_moved for file in group) for group in (buffered, log.files))
    if moved >= max(WORTH_BYTES, SHARE * total):
        worst = max(buffered, key=lambda file: file.bytes_moved)
        part = round(moved / total, 4)
        yield Finding(
            "stdio",
            f"{size(moved)} of {size(total)} ({share(part)}) go through stdio (fopen, fread, fprintf); "
            f"{in_file(worst.bytes_moved / moved, worst.path)}.",
            evidence={"bytes": moved, "all_bytes": total, "share": part, "file": worst.path}
            | stake(buffered, because="the time in these calls"),
            advice="For large data use read and write or MPI-IO; where stdio stays, give it a large buffer: "
            "setvbuf(file, NULL, _IOFBF, 4 << 20).",
        )


def _many_files(log: DarshanLog) -> Iterator[Finding]:
    """Many small files, each of one task."""
    files = [file for file in log.files if not file.shared and file.bytes_moved]
    own = [file.bytes_moved for file in files]
    if len(own) >= _MANY_FILES and sum(own) < BYTES_PER_MIB * len(own):
        mean = round(sum(own) / len(own))
        yield Finding(
            "small-files",
            f"{len(own):,} files of one task each move {size(mean)} on average: "
            "creating and opening them costs more than the data.",
            evidence={"files": len(own), "mean_bytes": mean} | stake(files, because="the time in calls to these files"),
            advice="Put them into one file (HDF5, ADIOS, a tar archive or a database), "
            "or keep them in memory or on the node.",
        )
