"""Calls that are small, out of order, or not aligned with the file system."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from hopperkit.filesystems.stripe_advice import Advice
from hopperkit.iologs._judging import access
from hopperkit.iologs._judging.access import FEW_CALLS, MANY_CALLS, MOST, SHARE, WAYS, WORTH_BYTES, Ledger, in_file
from hopperkit.iologs._judging.repetition import appends, passes
from hopperkit.iologs._judging.site import Site
from hopperkit.iologs._judging.stakes import in_calls_s, stake, staked
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperlib.finding import Finding, Level
from hopperlib.text import digits, share, size
from hopperlib.units import BYTES_PER_MIB

_RANDOM_SHARE = 0.2
# Size of the pieces after gathering. [bytes]
_GATHERED_BYTES = 4 * BYTES_PER_MIB
_RESTS_ON = "the share of these calls in the time, less what moving their bytes takes"


def judge(site: Site, ledger: Ledger) -> Iterator[Finding]:
    """Yield problems with the calls, most specific first."""
    yield from _read_modify_write(site.log, ledger)
    for way in WAYS:
        yield from _random(site.log, way, ledger)


def judge_sizes(site: Site, ledger: Ledger) -> Iterator[Finding]:
    """Yield remaining findings about sizes and alignment."""
    yield from _stdio(site.log, ledger)
    for way in WAYS:
        yield from _small(site, way, ledger)
    yield from _misaligned(site)


def jumps(file: FileRecord, way: str) -> int:
    """Number of accesses that jump: neither adjacent to the previous one nor, in a file read in order, after it.

    Darshan counts a consecutive access as sequential too. A task's first access does not count, and each additional pass
    includes one return to the beginning. If a fifth of the rest goes back, the order is random, and accesses that skip
    ahead count too.

    Examples
    --------
    >>> file = FileRecord(path="/a", reads=100, counts={"SEQ_READS": 50, "CONSEC_READS": 10})
    >>> jumps(file, "read"), jumps(FileRecord(path="/a", reads=100, counts={"SEQ_READS": 99}), "read")
    (89, 0)
    """
    key, calls = f"SEQ_{way.upper()}S", file.moved(way).calls
    if file.interface != "POSIX" or key not in file.counts or appends(file):
        return 0
    begun = file.tasks * passes(file, way)
    back = calls - file.counts[key] - begun
    if back < _RANDOM_SHARE * calls:
        return 0
    next_to = file.counts.get(f"CONSEC_{way.upper()}S", file.counts[key])
    return max(0, int(calls - min(next_to, file.counts[key]) - file.tasks))


def _by_number(file: FileRecord, way: str, calls: int, ledger: Ledger, moved: float | None = None) -> float:
    """Attribute the time of starting the calls of a file, of these or of those of a given size. [s]"""
    traffic = file.moved(way)
    mean = traffic.moved_bytes / traffic.calls if moved is None else moved / calls
    next_to = file.counts.get(f"CONSEC_{way.upper()}S", 0) >= MOST * traffic.calls
    seconds = in_calls_s(calls / traffic.calls * ledger.left(file, way), mean, in_order=next_to and not file.shared)
    return ledger.take(file, way, seconds)


class _Jumping(NamedTuple):
    """A file with jumping accesses, and their number."""

    file: FileRecord
    calls: int


def _random(log: DarshanLog, way: str, ledger: Ledger) -> Iterator[Finding]:
    """Accesses that jump back and forth."""
    known = [file for file in log.files if file.interface == "POSIX" and file.moved(way).calls]
    calls = sum(file.moved(way).calls for file in known)
    files = [_Jumping(file, number) for file in known if (number := jumps(file, way))]
    jumping = sum(each.calls for each in files)
    if jumping < max(FEW_CALLS, SHARE * calls) or ledger.explained((each.file for each in files), way):
        return
    yield _random_finding(known, files, way, ledger)


def _random_finding(known: Sequence[FileRecord], files: Sequence[_Jumping], way: str, ledger: Ledger) -> Finding:
    """Return the finding on accesses that jump, and enter their time in the ledger."""
    calls, jumping = sum(file.moved(way).calls for file in known), sum(each.calls for each in files)
    worst = max(files, key=lambda each: each.calls)
    seconds = sum(_by_number(each.file, way, each.calls, ledger) for each in files)
    moved = sum(each.file.moved(way).moved_bytes for each in files)
    mean = size(moved / sum(each.file.moved(way).calls for each in files))
    nothing = "read ahead" if way == "read" else "gathered"
    change = f"sort the offsets of a task before the loop, or {way} the whole range in one call"
    return Finding(
        f"random-{way}s",
        f"{jumping:,} of {calls:,} {way} calls ({share(round(jumping / calls, 4))}) of {mean} on average jump back and forth in no order, so nothing can be {nothing}; "
        f"{in_file(worst.calls / jumping, worst.file.path, access.bytes_part(known, worst.file.path, way))}.",
        "advice" if seconds or (way == "read" and jumping >= MANY_CALLS) else "note",
        evidence={
            "random_calls": jumping,
            "calls": calls,
            "share": round(jumping / calls, 4),
            "file": worst.file.path,
        }
        | staked(
            seconds,
            won=seconds,
            because=_RESTS_ON,
            expected=seconds * (1 - min(1.0, moved / _GATHERED_BYTES / jumping)),
            change=change,
        ),
        advice="Sort the accesses of a task by offset, or let MPI-IO do it: one collective call for many pieces.",
    )


def _read_modify_write(log: DarshanLog, ledger: Ledger) -> Iterator[Finding]:
    """Files in which reads and writes take turns."""
    files = [
        file
        for file in log.files
        if file.interface == "POSIX"
        and min(file.reads, file.writes) >= FEW_CALLS
        and file.counts.get("RW_SWITCHES", 0) >= MOST * (file.reads + file.writes)
    ]
    if not files or all(ledger.explained(files, way) for way in WAYS):
        return
    switches = sum(file.counts["RW_SWITCHES"] for file in files)
    worst = max(files, key=lambda file: file.counts["RW_SWITCHES"])
    seconds = sum(_by_number(file, way, file.moved(way).calls, ledger) for file in files for way in WAYS)
    for file in files:
        for way in WAYS:
            ledger.take(file, way, ledger.left(file, way))
    calls, moved = sum(file.reads + file.writes for file in files), sum(file.bytes_moved for file in files)
    change = "keep the block in memory and write it once, after its last change"
    yield Finding(
        "read-modify-write",
        f"Reads and writes of the same file take turns, {switches:,} times in {calls:,} calls of {size(moved / calls)} "
        f"on average: each piece is read, changed and written back; {in_file(worst.counts['RW_SWITCHES'] / switches, worst.path)}.",
        evidence={"switches": switches, "calls": calls, "bytes": moved, "file": worst.path}
        | staked(
            seconds,
            won=seconds,
            because=_RESTS_ON,
            expected=seconds * (1 - min(1.0, moved / _GATHERED_BYTES / calls)),
            change=change,
        ),
        advice=f"{change[0].upper()}{change[1:]}; through MPI-IO and pieces with holes: "
        f"{access.hints_for(log, {'romio_ds_write': 'disable'})}.",
    )


def _small(site: Site, way: str, ledger: Ledger) -> Iterator[Finding]:
    """Many accesses below a mebibyte, the size of pieces in which Lustre moves data."""
    sized = [file for file in site.log.files if file.moved(way).sizes]
    counts = [access.small_calls(file, way) for file in sized]
    small, possible = sum(sure for sure, _ in counts), sum(maybe for _, maybe in counts)
    calls = sum(file.moved(way).calls for file in sized)
    if small < max(FEW_CALLS, SHARE * calls):
        return
    with_small = [(file, sure) for (sure, _), file in zip(counts, sized, strict=True) if sure]
    if ledger.explained((file for file, _ in with_small), way):
        return
    yield _small_finding(site, way, ledger, with_small, possible > small)


def _small_finding(
    site: Site, way: str, ledger: Ledger, with_small: Sequence[tuple[FileRecord, int]], uncertain: bool
) -> Finding:
    """Return the finding on small accesses, from the files that have them, and enter their time in the ledger."""
    sized = [file for file in site.log.files if file.moved(way).sizes]
    calls, moved = (sum(getattr(file.moved(way), name) for file in sized) for name in ("calls", "moved_bytes"))
    worst, most = max(with_small, key=lambda pair: pair[1])
    small = sum(sure for _, sure in with_small)
    part, mean = round(small / calls, 4), moved / calls
    small_moved = sum(access.small_bytes(file, way) for file in sized)
    most_bytes = min(1.0, small_moved / moved) if moved else 0.0
    seconds = sum(_by_number(file, way, sure, ledger, access.small_bytes(file, way)) for file, sure in with_small)
    at_least = "At least " if uncertain else ""
    change = _small_change(site, worst, way)
    return Finding(
        f"small-{way}s",
        f"{at_least}{small:,} of {calls:,} {way} calls ({share(part)}) are below 1 MiB, with "
        f"{share(round(most_bytes, 4))} of the bytes at most; "
        f"{in_file(most / small, worst.path, access.bytes_part(sized, worst.path, way))}.",
        "advice" if seconds or small >= MANY_CALLS else "note",
        evidence={
            "small_calls": small,
            "calls": calls,
            "share": part,
            "bytes": moved,
            "mean_bytes": round(mean),
            "bytes_share": round(most_bytes, 4),
            "files": len(with_small),
            "file": worst.path,
            "shared": worst.shared,
        }
        | staked(
            seconds,
            slowest=part * max((file.slowest_s for file in sized if file.shared), default=0.0),
            won=seconds,
            because=_RESTS_ON,
            expected=seconds * (1 - min(1.0, small_moved / _GATHERED_BYTES / small)),
            change=change,
        ),
        advice=gathering(site, worst, way) if worst.shared else access.buffering(worst),
    )


def _small_change(site: Site, file: FileRecord, way: str) -> str:
    """Return the line of a program that turns small calls into large ones."""
    if not file.shared:
        return f"collect 4 MiB in memory, then {way} them in one call"
    return f"MPI_File_{way}_at_all instead of {'pwrite' if way == 'write' else 'pread'}, one call per step"


def gathering(site: Site, file: FileRecord, way: str) -> str:
    """Return advice for letting a few tasks access a shared file; if they already do, the next thing to check."""
    calls = access.mpi_calls(site.log, way, file.path)
    hint = f"romio_cb_{way}=enable"
    if calls.collective > calls.independent:
        of = "stripe" if file.layout else "file system's block"
        return (
            f"The log has {calls.collective:,} collective {way}s of this file already: check that they are gathered "
            f"({hint}) and that cb_buffer_size is a multiple of the {of} size"
        )
    if way == "read" and not sum(calls) and access.mpi_calls(site.log, "write", file.path).collective:
        return (
            "The program reads nothing of this file: MPI-IO reads before it writes pieces with holes (data sieving). "
            + access.hints_for(site.log, {"romio_ds_write": "disable"})
        )
    through = (
        "collective calls gather" if calls.independent else "MPI-IO and its collective calls gather, in place of POSIX"
    )
    line = _gathering_hints(site, file, way)
    return f"Only {through}: MPI_File_{way}_all, or H5FD_MPIO_COLLECTIVE in HDF5; and then {line}"


def _gathering_hints(site: Site, file: FileRecord, way: str) -> str:
    """Return the line of hints that gathers the accesses to a file."""
    hints: dict[str, str | int] = {f"romio_cb_{way}": "enable"}
    line = access.hints_for(site.log, hints)
    if way == "write":
        better: Advice | None = site.striping([file], "shared", file.bytes_written)
        return (better.hints_line if better else None) or line
    if file.layout:
        # Stripes of an existing file are fixed: one reader for each.
        stripes = file.layout.stripe_count
        return access.hints_for(site.log, hints | {"cb_nodes": min(stripes, site.log.tasks or stripes)})
    return line


def _misaligned(site: Site) -> Iterator[Finding]:
    """Accesses to shared files that do not start at a boundary of the file system."""
    shared = [file for file in site.log.files if file.shared and file.unaligned and file.interface == "POSIX"]
    calls, unaligned = sum(file.reads + file.writes for file in shared), sum(file.unaligned for file in shared)
    if unaligned < max(_FEW_UNALIGNED, SHARE * calls):
        return
    worst = max(shared, key=lambda file: file.unaligned)
    stripe = worst.layout.stripe_size_bytes if worst.layout else None
    # Darshan counts alignment with the file system's block size, which may differ from the stripe size.
    boundary, part = worst.alignment_bytes or stripe or BYTES_PER_MIB, round(unaligned / max(calls, 1), 4)
    contended = _contended(worst)
    level: Level = "advice" if contended else "note"
    locks = ": tasks contend for the locks of blocks or stripes they share" if contended else ""
    yield Finding(
        "misaligned",
        f"{unaligned:,} of {calls:,} accesses to shared files ({share(part)}) do not start at a multiple of "
        f"{boundary:,} bytes{locks}; "
        f"{in_file(worst.unaligned / unaligned, worst.path, access.bytes_part(shared, worst.path))}.",
        level,
        evidence={
            "unaligned_calls": unaligned,
            "calls": calls,
            "share": part,
            "boundary_bytes": boundary,
            "files": len(shared),
            "file": worst.path,
        }
        | stake(shared, part=part, because="the share of these calls in the time"),
        advice="Start each task's part at a multiple of the stripe size; with HDF5: H5Pset_alignment(fapl, 1, "
        f"{max(boundary, stripe or 0)}). {gathering(site, worst, 'write' if worst.writes else 'read')}",
    )


# Calls of at least a mebibyte that cross a boundary matter less than smaller ones.
_FEW_UNALIGNED = 100


def _large(file: FileRecord) -> bool:
    """Whether calls are so large that their alignment, not their size, determines the cost."""
    return file.bytes_moved >= BYTES_PER_MIB * (file.reads + file.writes)


def _contended(file: FileRecord) -> bool:
    """Whether tasks contend for locks: readers share one, but writers into one stripe pass it back and forth."""
    return bool(file.writes) and (file.layout is not None or (_large(file) and file.busy_s > 0))


def _stdio(log: DarshanLog, ledger: Ledger) -> Iterator[Finding]:
    """Time or data in the buffered calls of the C library, which move little at a time."""
    buffered = [file for file in log.files if file.interface == "STDIO"]
    moved, total = (sum(file.bytes_moved for file in group) for group in (buffered, log.files))
    calls = sum(file.reads + file.writes for file in buffered)
    seconds = sum(ledger.left(file, way) for file in buffered for way in WAYS)
    if any(file.busy_s for file in buffered) and not seconds:
        return
    if moved < max(WORTH_BYTES, SHARE * total) and calls < MANY_CALLS:
        return
    _take_all(buffered, ledger)
    worst = max(buffered, key=lambda file: file.bytes_moved)
    part = round(moved / total, 4) if total else 0.0
    yield Finding(
        "stdio",
        f"{size(moved)} of {size(total)} ({share(part)}) go through stdio (fopen, fread, fprintf) in {calls:,} calls of "
        f"{digits(moved / max(calls, 1), 3)} bytes on average; {in_file(worst.bytes_moved / moved if moved else 1.0, worst.path)}.",
        evidence={"bytes": moved, "all_bytes": total, "share": part, "calls": calls, "file": worst.path}
        | staked(seconds, won=seconds, because="the time in these calls"),
        advice="For large data, use read and write or MPI-IO; if stdio must stay, give it a large buffer: "
        "setvbuf(file, NULL, _IOFBF, 4 << 20). Numbers as text cost more to format than to write: write them as binary.",
    )


def _take_all(files: Iterable[FileRecord], ledger: Ledger) -> None:
    """Enter all remaining time of some files in the ledger."""
    for file in files:
        for way in WAYS:
            ledger.take(file, way, ledger.left(file, way))
