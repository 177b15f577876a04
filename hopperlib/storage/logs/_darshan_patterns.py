"""How a job accessed its files, judged by Darshan's counters: sizes, order, repetition, balance, interfaces."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from hopperlib.finding import Finding
from hopperlib.storage.logs.darshan_log import SIZE_BINS, DarshanLog, FileRecord
from hopperlib.storage.wording import say
from hopperlib.units import BYTES_PER_MIB

WAYS = ("read", "write")
# From these on it is worth a word: shares of calls, bytes and time, and so many calls and bytes.
SHARE, _RANDOM_SHARE, MOST = 0.1, 0.2, 0.5
FEW_CALLS, MANY_CALLS = 1_000, 10_000
WORTH_BYTES = 100_000_000
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


def mpi_calls(log: DarshanLog, way: str, path: str | None = None) -> _MpiCalls:
    """Return the calls of MPI-IO in one direction, of a file or of all."""
    records = [record for record in log.upper if record.interface == "MPI-IO" and path in (None, record.path)]
    collective = sum(record.counts.get(f"COLL_{way.upper()}S", 0) for record in records)
    return _MpiCalls(collective, sum(record.moved(way).calls for record in records) - collective)


def patterns(log: DarshanLog) -> Iterator[Finding]:
    """Yield what the ways of access say, each with its numbers."""
    yield from _lost(log)
    for judge in (_random, _repeated, _independent, _amplified):
        for way in WAYS:
            yield from judge(log, way)
    for whole in (_aggregators, _metadata, _uneven_time, _uneven_bytes, _stdio, _blocking, _many_files, _burst):
        yield from whole(log)


def _gathered(log: DarshanLog, file: FileRecord) -> bool:
    """Whether the log has collective calls for a file: then some tasks move the data of all."""
    return any(mpi_calls(log, way, file.path).collective for way in WAYS)


def _lost(log: DarshanLog) -> Iterator[Finding]:
    """Say what a damaged or overfull log lost."""
    for number, what in enumerate(log.missing, start=1):
        text = "incomplete-log-memory" if "ran out of memory" in what else "incomplete-log"
        evidence = {"number": number, "of": len(log.missing)}
        yield say("incomplete-log", evidence, text=text, what=what[0].upper() + what[1:])
    if not any(total["files"] for total in log.totals.values()) and not log.files:
        yield say("no-records", {})
    elif log.totals and "POSIX" not in log.modules:
        yield say("no-posix", {})


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
        evidence = {"random_calls": jumping, "calls": calls, "share": round(jumping / calls, 4), "file": worst}
        yield say(f"random-{way}s", evidence, level="note" if jumping < MANY_CALLS else None)


def _repeated(log: DarshanLog, way: str) -> Iterator[Finding]:
    """More bytes moved than the file is long: some of them several times."""
    extent = f"extent_{'read' if way == 'read' else 'written'}_bytes"
    known = [file for file in log.files if file.interface in ("POSIX", "STDIO") and getattr(file, extent)]
    over = {file.path: file.moved(way).moved_bytes - getattr(file, extent) for file in known}
    extra = sum(each for each in over.values() if each > 0)
    total = sum(file.moved(way).moved_bytes for file in known)
    # Moved is so many times the extent where what is extra is 1 - 1 / so many of what was moved.
    if extra < max(WORTH_BYTES, (1 - 1 / _AMPLIFIED) * total):
        return
    worst = max(known, key=lambda file: over[file.path])
    evidence = {"repeated_bytes": extra, "bytes": total, "share": round(extra / total, 4), "file": worst.path}
    text = "redundant-shared-reads" if worst.shared and way == "read" else ""
    moved = worst.moved(way).moved_bytes
    yield say(f"redundant-{way}s", evidence, text=text, extent=getattr(worst, extent), moved=moved)


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
    if collective >= MOST * total:
        yield say(f"collective-{way}s", evidence, calls=total)
    else:
        worst = shared[max(range(len(shared)), key=lambda place: calls[place].independent)]
        yield say(f"independent-{way}s", {**evidence, "file": worst.path}, calls=total)


def _amplified(log: DarshanLog, way: str) -> Iterator[Finding]:
    """More bytes below MPI-IO than above it: data sieving, or filled holes."""
    below: Counter[str] = Counter()
    for file in log.files:
        if file.interface == "POSIX":
            below[file.path] += file.moved(way).moved_bytes
    pairs = {
        record.path: (record.moved(way).moved_bytes, below[record.path])
        for record in log.upper
        if record.interface == "MPI-IO" and record.path in below
    }
    above_bytes, below_bytes = (sum(pair[side] for pair in pairs.values()) for side in (0, 1))
    if below_bytes - above_bytes >= WORTH_BYTES and below_bytes >= _AMPLIFIED * above_bytes:
        worst = max(pairs, key=lambda path: pairs[path][1] - pairs[path][0])
        factor = round(below_bytes / max(above_bytes, 1), 2)
        evidence = {"posix_bytes": below_bytes, "mpiio_bytes": above_bytes, "factor": factor, "file": worst}
        yield say(f"amplified-{way}s", evidence)


def _aggregators(log: DarshanLog) -> Iterator[Finding]:
    """How many tasks wrote for all, where the log has a record for each of them."""
    gathered = [
        file for file in log.files if file.interface == "POSIX" and mpi_calls(log, "write", file.path).collective
    ]
    largest = max(gathered, key=lambda file: file.bytes_written, default=None)
    if largest is None or largest.bytes_written < WORTH_BYTES or len(largest.written_by) < 2:
        return
    writers, stripes = len(largest.written_by), largest.layout.stripe_count if largest.layout else 0
    tasks = log.tasks or writers
    evidence = {"aggregators": writers, "tasks": tasks, "stripe_count": stripes, "file": largest.path}
    text = "all-aggregate" if writers == tasks else "few-aggregators" if writers < MOST * stripes else "aggregators"
    yield say("aggregators", evidence, text=text, useful=min(stripes, tasks))


def _metadata(log: DarshanLog) -> Iterator[Finding]:
    """Opening, closing, seeking and asking instead of moving data."""
    meta, busy = (sum(getattr(file, name) for file in log.files) for name in ("meta_s", "busy_s"))
    tasks, run_time = log.tasks or 1, log.run_time_s or 0.0
    # Times are sums over tasks, so the time of the run counts once for each of them.
    if not run_time or meta < MOST * busy or meta < tasks * max(_WORTH_TIME * run_time, _WORTH_S):
        return
    evidence = {"metadata_s": round(meta, 3), "io_s": round(busy, 3), "share": round(meta / busy, 4)}
    evidence["opens"] = sum(file.opens for file in log.files)
    evidence |= {name.lower(): sum(file.counts.get(name, 0) for file in log.files) for name in ("STATS", "SEEKS")}
    text = "metadata-times" if meta > tasks * run_time else ""
    yield say("metadata", evidence, text=text, each=meta / tasks, run_time=run_time, files=len(log.files))


def _uneven_time(log: DarshanLog) -> Iterator[Finding]:
    """One task of a shared file that takes much longer than the others."""
    shared = [file for file in log.files if file.tasks > 1 and file.slowest_s and not _gathered(log, file)]
    worst = max(shared, key=lambda file: file.slowest_s - file.busy_s / file.tasks, default=None)
    if worst is None or not log.run_time_s:
        return
    slowest, mean = worst.slowest_s, worst.busy_s / worst.tasks
    if slowest >= _UNEVEN * mean and slowest - mean >= max(_WORTH_TIME * log.run_time_s, _WORTH_S):
        evidence = {"slowest_s": round(slowest, 3), "mean_s": round(mean, 3), "tasks": worst.tasks, "file": worst.path}
        yield say("uneven-time", evidence)


def _uneven_bytes(log: DarshanLog) -> Iterator[Finding]:
    """Tasks that move much more than the others, of one shared file or of all files."""
    known = [file for file in log.files if not _gathered(log, file)]
    for file in known:
        mean = file.bytes_moved / file.tasks
        if file.spread_bytes and file.bytes_moved >= WORTH_BYTES and file.spread_bytes >= mean / 2:
            evidence = {"mean_bytes": round(mean), "deviation_bytes": round(file.spread_bytes), "file": file.path}
            yield say("uneven-bytes", evidence, text="uneven-bytes-of-file")
            return
    for way, past in (("read", "read_by"), ("write", "written_by")):
        by_task: Counter[int] = Counter()
        for file in known:
            by_task.update(getattr(file, past))
        task, most = max(by_task.items(), key=lambda item: item[1], default=(0, 0))
        mean = sum(by_task.values()) / max(len(by_task), 1)
        if len(by_task) > 1 and most >= _UNEVEN * mean and most - mean >= WORTH_BYTES:
            evidence = {"task": task, "bytes": most, "mean_bytes": round(mean), "direction": way}
            yield say("uneven-bytes", evidence, tasks=len(by_task))
            return


def _stdio(log: DarshanLog) -> Iterator[Finding]:
    """Much data through the buffered calls of the C library, which move little at a time."""
    buffered = [file for file in log.files if file.interface == "STDIO"]
    moved, total = (sum(file.bytes_moved for file in group) for group in (buffered, log.files))
    if moved >= max(WORTH_BYTES, SHARE * total):
        worst = max(buffered, key=lambda file: file.bytes_moved)
        yield say("stdio", {"bytes": moved, "all_bytes": total, "share": round(moved / total, 4), "file": worst.path})


def _blocking(log: DarshanLog) -> Iterator[Finding]:
    """MPI-IO that only waits."""
    records = [record for record in log.upper if record.interface == "MPI-IO" and record.bytes_moved]
    nonblocking = sum(record.counts.get(f"NB_{way}", 0) for record in records for way in ("READS", "WRITES"))
    waited, run_time = sum(record.busy_s for record in records) / (log.tasks or 1), log.run_time_s or 0.0
    if run_time and not nonblocking and waited >= max(SHARE * run_time, _WORTH_S):
        yield say("blocking", {"seconds_per_task": round(waited, 3), "run_time_s": run_time})


def _many_files(log: DarshanLog) -> Iterator[Finding]:
    """Many small files, each of one task."""
    own = [file.bytes_moved for file in log.files if not file.shared and file.bytes_moved]
    if len(own) >= _MANY_FILES and sum(own) < BYTES_PER_MIB * len(own):
        yield say("small-files", {"files": len(own), "mean_bytes": round(sum(own) / len(own))})


def _burst(log: DarshanLog) -> Iterator[Finding]:
    """Very many opens within a second."""
    times = sorted(time for file in log.files for time in file.opened_at)
    most, first = 0, 0
    # Both ends of a window of one second move over the sorted times.
    for last, time in enumerate(times):
        while time - times[first] > 1:
            first += 1
        most = max(most, last - first + 1)
    if most >= _MANY_FILES:
        yield say("open-burst", {"opens": most, "files": len(log.files)})
