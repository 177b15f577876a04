"""Time in MPI-IO and HDF5 that the underlying POSIX calls do not explain, by cause according to the counters.

Opening and closing is metadata. For collective calls, time in reads and writes is waiting and exchange. Without
collective calls, tasks do not wait for each other in MPI-IO: the time is spent on file locks, which data sieving takes
and Darshan does not count, or in the library.
"""

from collections.abc import Iterator
from typing import Any

from hopperkit.iologs._judging.access import (
    FEW_CALLS,
    MOST,
    SHARE,
    WAYS,
    WORTH_BYTES,
    Ledger,
    bytes_part,
    hints_for,
    in_file,
    mpi_calls,
)
from hopperkit.iologs._judging.stakes import FLOOR_SHARE, stake, staked
from hopperkit.iologs.cost import above_by_path, has_collective_calls, time_s, waiting_by_path
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperlib.finding import Finding
from hopperlib.text import digits, share, size

# Bytes below over bytes above MPI-IO.
_AMPLIFIED = 1.5
# Times of a task above this fraction of the run cannot be right: threads overlap, or clocks differ.
_CLOCK_S = 1.05
# Collective calls were not gathered if their data arrive in smaller pieces than this. [bytes]
_NOT_GATHERED_BYTES = 256 << 10
# Data sets below this cost more to create than to fill. [bytes]
_SMALL_SET_BYTES, _MANY_SETS = 64 << 10, 100


def judge(log: DarshanLog, ledger: Ledger) -> Iterator[Finding]:
    """Yield findings on the time spent in MPI-IO and HDF5."""
    sieved = {file.path for _, file in _sieved(log)}
    ungathered = set(_ungathered(log))
    sets = list(_small_sets(log))
    yield from sets
    for way in WAYS:
        yield from _independent(log, way, sieved)
        yield from _amplified(log, way, sieved)
    yield from _sieving(log)
    yield from _not_gathered(log, ungathered)
    yield from _metadata(log)
    known = sieved | ungathered | {finding.evidence["file"] for finding in sets}
    yield from _waiting(log, {path for path in waiting_by_path(log) if path not in known})
    # The POSIX calls come from MPI-IO: their cost is reported above.
    apart = {record.path for record in log.upper if record.interface == "MPI-IO" and _all_apart(log, record.path)}
    for file in log.files:
        if file.path in known | apart:
            for way in WAYS:
                ledger.take(file, way, ledger.left(file, way))


def _all_apart(log: DarshanLog, path: str) -> bool:
    """Whether a file has many MPI-IO calls, none of them collective."""
    calls = [mpi_calls(log, way, path) for way in WAYS]
    return not any(each.collective for each in calls) and sum(each.independent for each in calls) >= FEW_CALLS


def _independent(log: DarshanLog, way: str, sieved: set[str]) -> Iterator[Finding]:
    """Independent MPI-IO calls to shared files, or the statement that calls are collective."""
    shared = [
        record
        for record in log.upper
        if record.interface == "MPI-IO" and record.shared and record.moved(way).calls and record.path not in sieved
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
    worst, seconds = shared[most], independent / total * sum(time_s(record, way) for record in shared)
    change = f"MPI_File_{way}_at_all in place of MPI_File_{way}_at, one call for a whole step"
    evidence |= stake(shared, way, part=independent / total, because="the share of these calls in the time")
    evidence |= {
        "win_expected_task_s": round(seconds * max(0.0, 1 - (log.tasks or 1) / independent), 3),
        "change": change,
    }
    yield Finding(
        f"independent-{way}s",
        f"{independent:,} {to_shared} independent, {size(evidence['bytes'] / total)} on average; "
        f"{in_file(calls[most].independent / independent, worst.path, bytes_part(shared, worst.path, way))}.",
        evidence={**evidence, "file": worst.path},
        advice=f"Use the collective call (MPI_File_{way}_all, H5FD_MPIO_COLLECTIVE in HDF5), "
        f"so that a few tasks move large pieces for all: {change}.",
    )


def _amplified(log: DarshanLog, way: str, sieved: set[str]) -> Iterator[Finding]:
    """More bytes below MPI-IO than above it: data sieving, or filled holes."""
    pairs = [pair for pair in _above_and_below(log, way) if pair[0].path not in sieved]
    above_bytes, below_bytes = (sum(pair[side].moved(way).moved_bytes for pair in pairs) for side in (0, 1))
    if below_bytes - above_bytes < WORTH_BYTES or below_bytes < _AMPLIFIED * above_bytes:
        return
    worst = max(pairs, key=lambda pair: pair[1].moved(way).moved_bytes - pair[0].moved(way).moved_bytes)[0].path
    factor = round(below_bytes / max(above_bytes, 1), 2)
    past, asks, sieving = {
        "read": ("read", "requests from MPI-IO", "data sieving"),
        "write": ("written", "hands to MPI-IO", "data sieving, or holes in a collective buffer"),
    }[way]
    times = f"{digits(factor, 3)} times as much" if above_bytes else "all of them added by MPI-IO"
    # Such reads fill the gaps between the pieces written.
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
        advice=f"MPI-IO also moves the gaps between small pieces ({sieving}). Try "
        f"{hints_for(log, {f'romio_ds_{mend}': 'disable'})}, and {mend} whole blocks of the file at a time.",
    )


def _above_and_below(log: DarshanLog, way: str) -> Iterator[tuple[FileRecord, FileRecord]]:
    """Yield the records of a file by MPI-IO and below it, where MPI-IO made the calls below."""
    for record, file in _pairs(log):
        # Calls that took longer than all of MPI-IO were not made by it; for calls without bytes, the log lost count.
        traffic = record.moved(way)
        if (traffic.moved_bytes or not traffic.calls) and time_s(file, way) <= _CLOCK_S * record.busy_s:
            yield record, file


def _pairs(log: DarshanLog) -> Iterator[tuple[FileRecord, FileRecord]]:
    """Yield the records of a file by MPI-IO and by POSIX."""
    below = {file.path: file for file in log.files if file.interface == "POSIX"}
    for record in log.upper:
        if record.interface == "MPI-IO" and (file := below.get(record.path)):
            yield record, file


def _sieved(log: DarshanLog) -> Iterator[tuple[FileRecord, FileRecord]]:
    """Yield files that MPI-IO reads to write them: the program reads nothing, and no write is collective."""
    for record, file in _pairs(log):
        reads, writes = mpi_calls(log, "read", record.path), mpi_calls(log, "write", record.path)
        if (
            file.reads
            and file.writes
            and not sum(reads)
            and writes.independent > writes.collective
            and file.reads >= MOST * file.writes
        ):
            yield record, file


def _sieving(log: DarshanLog) -> Iterator[Finding]:
    """Independent writes of pieces with holes: each is read, filled and written back under a lock of the file."""
    pairs = list(_sieved(log))
    if not pairs:
        return
    records = [record for record, _ in pairs]
    seconds, worst = (
        sum(time_s(each, "write") for each in records),
        max(records, key=lambda each: time_s(each, "write")),
    )
    calls, reads = sum(each.writes for each in records), sum(file.reads for _, file in pairs)
    change = "MPI_File_write_all instead of MPI_File_write: the view is unchanged"
    yield Finding(
        "data-sieving",
        f"MPI-IO makes {reads:,} reads for {calls:,} independent writes, though the program reads nothing: pieces with holes "
        f"are read, filled and written back under a lock of the file, one task after the other; {in_file(1.0, worst.path)}.",
        evidence={"reads": reads, "independent_calls": calls, "file": worst.path}
        | staked(seconds, won=seconds, because="the time of these writes in MPI-IO", change=change),
        advice=f"Collective calls gather the pieces of all tasks: {change}. Otherwise, {hints_for(log, {'romio_ds_write': 'disable'})} writes each piece by itself.",
    )


def _ungathered(log: DarshanLog) -> Iterator[str]:
    """Yield files whose collective writes arrive below MPI-IO one by one."""
    for record, file in _pairs(log):
        collective = mpi_calls(log, "write", record.path).collective
        small = file.bytes_written < _NOT_GATHERED_BYTES * file.writes
        if collective >= FEW_CALLS and file.writes >= MOST * collective and small:
            yield record.path


def _not_gathered(log: DarshanLog, paths: set[str]) -> Iterator[Finding]:
    """Collective writes that arrive as many small ones: no task collects them."""
    pairs = [(record, file) for record, file in _pairs(log) if record.path in paths]
    if not pairs:
        return
    seconds = sum(time_s(record, "write") for record, _ in pairs)
    collective = sum(mpi_calls(log, "write", record.path).collective for record, _ in pairs)
    writes, moved = (sum(getattr(file, name) for _, file in pairs) for name in ("writes", "bytes_written"))
    worst = max(pairs, key=lambda pair: time_s(pair[0], "write"))[0].path
    line = hints_for(log, {"romio_cb_write": "enable"})
    yield Finding(
        "not-gathered",
        f"{collective:,} collective writes reach the file system as {writes:,} writes of {size(moved / writes)}: MPI-IO does "
        f"not gather them, because romio_cb_write is disabled, or is automatic and the pieces do not interleave; "
        f"{in_file(1.0, worst)}.",
        evidence={"collective_calls": collective, "posix_calls": writes, "bytes": moved, "file": worst}
        | staked(seconds, won=seconds, because="the time of these writes in MPI-IO", change=line),
        advice=f"{line}; and pass more data in each call: one call for a whole step.",
    )


def _metadata(log: DarshanLog) -> Iterator[Finding]:
    """Opening and closing files through MPI-IO, and setting views."""
    by_path = above_by_path(log)
    seconds = sum(each.metadata_s for each in by_path.values())
    tasks, run_time = log.tasks or 1, log.run_time_s or 0.0
    if not run_time or seconds < tasks * FLOOR_SHARE * run_time or seconds > tasks * _CLOCK_S * run_time:
        return
    worst = max(by_path, key=lambda path: by_path[path].metadata_s)
    records = [record for record in log.upper if record.interface == "MPI-IO"]
    opens, views = sum(record.opens for record in records), sum(record.counts.get("VIEWS", 0) for record in records)
    total = sum(record.busy_s for record in records)
    # Every task counts a collective open once.
    times = opens / tasks
    again = f"open each file once, before the loop: {digits(times, 3)} opens per task" if times > 2 else ""
    yield Finding(
        "mpi-metadata",
        f"Opening and closing files through MPI-IO takes {digits(seconds / tasks, 3)} of the {digits(total / tasks, 3)} s that a "
        f"task spends in it, for {opens:,} opens and {views:,} views of all tasks; most for {worst}.",
        evidence={"opens": opens, "views": views, "mpiio_task_s": round(total, 3), "file": worst}
        | staked(seconds, won=seconds, because="all of it, if the file were already open", change=again),
        advice=f"{again[:1].upper()}{again[1:]}{'. ' * bool(again)}A collective open waits for the last task, so time a barrier before MPI_File_open: if the "
        "wait moves there, tasks arrive late. Otherwise, give the file fewer stripes, and open it without hints that must be looked up (romio_no_indep_rw=true opens it only on aggregators).",
    )


def _waiting(log: DarshanLog, paths: set[str]) -> Iterator[Finding]:
    """Time in MPI-IO that is neither reading nor writing nor opening: waiting and exchange, or locks and the library."""
    tasks, run_time = log.tasks or 1, log.run_time_s or 0.0
    by_path = {path: seconds for path, seconds in waiting_by_path(log).items() if path in paths}
    waiting = sum(by_path.values())
    total = sum(record.busy_s for record in log.upper if record.interface == "MPI-IO")
    sensible = run_time and _CLOCK_S * run_time >= total / tasks
    # Gathering always takes some exchange.
    if not sensible or waiting < tasks * min(60.0, SHARE * run_time):
        return
    worst = max(by_path, key=lambda path: by_path[path])
    where = f"{worst} {'alone' if len(by_path) == 1 else 'most'}"
    part = round(waiting / total, 4)
    words = (
        f"{share(part)} of the {digits(total / tasks, 3)} s that a task spends in MPI-IO is neither reading nor writing"
    )
    if not has_collective_calls(log, worst):
        yield Finding(
            "mpi-overhead",
            f"{words} below it nor opening, and no call is collective, so tasks do not wait for each other there: the time is spent on file locks or in the library, in {where}.",
            evidence={"mpiio_task_s": round(total, 3), "share": part, "file": worst}
            | staked(waiting, won=waiting, because="if collective calls take no locks and make few calls"),
            advice="Use collective calls; or, where each task writes a separate part, "
            f"{hints_for(log, {'romio_ds_write': 'disable'})}, which takes no locks.",
        )
        return
    storage = min(waiting, _waits_for_storage(log, by_path, tasks))
    advice = (
        "They do not wait for the file system. Time a barrier before each collective call: if the wait moves "
        "there, the tasks arrive late, and their work is uneven; otherwise, use fewer and larger collective calls, and one aggregator per node (cb_config_list=*:1)."
    )
    if storage >= MOST * waiting:
        advice = (
            "Most of it is waiting for the slowest of the aggregators: give them more stripes and "
            "aggregators, and look for a slow OST."
        )
    yield Finding(
        "waiting",
        f"{words}: tasks wait for each other and exchange data, in {where}.",
        evidence={"mpiio_task_s": round(total, 3), "share": part, "storage_task_s": round(storage, 3), "file": worst}
        | staked(waiting, won=waiting - storage, because="less the wait for the slowest read or write below"),
        advice=advice,
    )


def _waits_for_storage(log: DarshanLog, by_path: dict[str, float], tasks: int) -> float:
    """Return the time in which the slowest task reads or writes and the others wait for it. [s]"""
    files = (file for file in log.files if file.path in by_path)
    return sum(min(by_path[file.path], max(0.0, file.slowest_s * tasks - file.busy_s)) for file in files)


def _small_sets(log: DarshanLog) -> Iterator[Finding]:
    """Many small HDF5 data sets: each is created, and its header written, separately."""
    sets = [record for record in log.upper if record.interface == "H5D" and record.bytes_moved < _SMALL_SET_BYTES]
    if len(sets) < _MANY_SETS:
        return
    files = [record for record in log.upper if record.interface == "H5F"]
    seconds = sum(record.busy_s for record in (*sets, *files))
    # If records of data sets were lost, only the time below is known.
    mean = sum(record.bytes_moved for record in sets) / len(sets)
    worst = max((*files, sets[0]), key=lambda record: record.busy_s).path.partition(":")[0]
    lost = "At least " if any("H5D" in each for each in log.missing) else ""
    change = "one data set with an additional dimension (H5Dcreate once, a hyperslab for each piece)"
    at_least = max((each for each in _below(log, {worst})), default=0.0)
    seconds = max(seconds, at_least)
    calls = sum(record.reads + record.writes for record in sets)
    if seconds < SHARE / 100 * (log.tasks or 1) * (log.run_time_s or 0.0):
        return
    yield Finding(
        "small-datasets",
        f"{lost}{len(sets):,} data sets of HDF5 hold {size(mean)} on average, in {calls:,} calls: creating each costs more "
        f"than its data; most in {worst}.",
        evidence={"data_sets": len(sets), "mean_bytes": round(mean), "file": worst}
        | staked(
            seconds,
            won=seconds,
            because="the time in H5Dcreate, H5Dwrite and H5Dclose of these sets",
            expected=seconds * (1 - 1 / len(sets)),
            change=change,
        ),
        advice=f"Use {change}; if the sets must stay: H5Pset_libver_bounds(fapl, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "
        "and in parallel H5Pset_coll_metadata_write(fapl, 1).",
    )


def _below(log: DarshanLog, paths: set[str]) -> Iterator[float]:
    """Yield the time of all tasks in MPI-IO in these files. [s]"""
    yield from (record.busy_s for record in log.upper if record.interface == "MPI-IO" and record.path in paths)
