"""Convert tables of counters into the records of a Darshan log."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, zip_longest
from typing import Any

from hopperkit.iologs.darshan_log import DAOS, SIZE_BINS, DarshanLog, FileRecord, StripeLayout

_STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")
# Darshan's record numbers for the three streams, which survive anonymization.
_STREAM_NUMBERS = (14734109647742566553, 15920181672442173319, 7238257241479193519)
# Modules with one record per file, by the layer that serves their calls, with the prefix of their counters.
LOWER = {"POSIX": "POSIX", "STDIO": "STDIO", "DFS": "DFS", "DAOS": "DAOS"}
UPPER = {"MPI-IO": "MPIIO", "H5F": "H5F", "H5D": "H5D", "PNETCDF_FILE": "PNETCDF_FILE", "PNETCDF_VAR": "PNETCDF_VAR"}
# Counters of read calls in each module; the names for writes are formed alike.
_CALLS = ("{}S", "NB_{}S", "INDEP_{}S", "COLL_{}S", "SPLIT_{}S", "{}XS", "ARRAY_{}S")
# Fields of a record, and the counters that add up to them.
_SUMMED = {
    "bytes_read": ("BYTES_READ",),
    "bytes_written": ("BYTES_WRITTEN",),
    # DAOS objects are fetched and updated; its keys are read with get and written with put.
    "reads": (*(form.format("READ") for form in _CALLS), "OBJ_FETCHES", "KV_GETS"),
    "writes": (*(form.format("WRITE") for form in _CALLS), "OBJ_UPDATES", "KV_PUTS"),
    "opens": tuple(f"{which}OPENS" for which in ("", "INDEP_", "COLL_", "GLOBAL_", "LOCAL_", "OBJ_", "ARRAY_", "KV_")),
    "unaligned": ("FILE_NOT_ALIGNED",),
}
_FIELD_OF = {counter: name for name, counters in _SUMMED.items() for counter in counters}
_SIZES = {way: tuple(f"SIZE_{way}_{name}" for name, _ in SIZE_BINS) for way in ("READ", "WRITE")}
_COMMON = tuple((f"ACCESS{place}_COUNT", f"ACCESS{place}_ACCESS") for place in (1, 2, 3, 4))
_COUNTS = (
    *("SEEKS", "STATS", "SEQ_READS", "SEQ_WRITES", "CONSEC_READS", "CONSEC_WRITES", "RW_SWITCHES"),
    *("COLL_READS", "COLL_WRITES", "COLL_OPENS", "VIEWS"),
    # Calls that flush data from memory, in POSIX, MPI-IO, stdio, and HDF5.
    *("FSYNCS", "FDSYNCS", "SYNCS", "FLUSHES"),
)
_NEEDED = (
    *("FILE_ALIGNMENT", "MAX_BYTE_READ", "MAX_BYTE_WRITTEN", "SLOWEST_RANK_BYTES", "FASTEST_RANK_BYTES"),
    *chain.from_iterable((*_COMMON, *_SIZES.values())),
    *(f"F_{way}_{name}" for way in ("READ", "WRITE") for name in ("TIME", "START_TIMESTAMP", "END_TIMESTAMP")),
    *("F_META_TIME", "F_SLOWEST_RANK_TIME", "SLOWEST_RANK", "F_MAX_READ_TIME", "F_MAX_WRITE_TIME"),
)
# Columns used here, without the module's prefix.
COLUMNS = frozenset({*_NEEDED, *_COUNTS, *chain.from_iterable(_SUMMED.values())})

_TABLES = ("counters", "fcounters")
# A table: column -> values. Missing values at the end of a column are None.
Frame = Mapping[str, Sequence[Any]]
Row = Mapping[str, Any]


def log_from_frames(
    job: Mapping[str, Any],
    frames: Mapping[str, Mapping[str, Frame]],
    names: Mapping[int, str],
    *,
    notes: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> DarshanLog:
    """Return the log stored in tables: module -> ``counters`` or ``fcounters`` -> column -> values."""
    tasks = _positive(job.get("tasks"))
    striping = frames.get("LUSTRE", {}).get("counters", {})
    layouts = layouts_from_frame(striping)
    gathered = _gather_all(frames, names, tasks, layouts)
    task_s, task_bytes = _by_task(frames)
    absent = [] if "POSIX" in frames else ["the log has no POSIX module: no access sizes"]
    absent += [] if layouts else ["the log has no Lustre layouts"]
    run_time, start = job.get("run_time_s"), _date(_positive(job.get("start_s")))
    absent += ["the start time is not a date"] if start is None and job.get("start_s") else []
    return DarshanLog(
        executable=str(job.get("executable") or "") or None,
        job_id=_whole(job.get("job_id")),
        tasks=tasks,
        run_time_s=None if run_time is None else _time(run_time),
        modules=tuple(job.get("modules") or frames),
        files=tuple(_files(gathered)),
        notes=(*notes, *absent),
        missing=tuple(missing),
        upper=tuple(chain.from_iterable(gathered.get(module, {}).values() for module in UPPER)),
        totals={module: _total(records.values()) for module, records in gathered.items()},
        mounts=tuple((str(point), str(kind)) for point, kind in job.get("mounts") or ()),
        osts=max(filter(None, map(_positive, striping.get("LUSTRE_OSTS", ()))), default=None),
        user=_whole(job.get("user")),
        hosts=dict(job.get("hosts") or {}),
        start=start,
        task_s=task_s,
        task_bytes=task_bytes,
    )


def _date(seconds: float | None) -> datetime | None:
    """Convert seconds since 1970; None for none, or for more than a date can hold."""
    try:
        return datetime.fromtimestamp(seconds, tz=UTC) if seconds else None
    except (OverflowError, ValueError, OSError):
        return None


def _single_task_rows(columns: Mapping[str, Sequence[Any]]) -> list[tuple[int, int]]:
    """Return the row and the rank of each record that belongs to a single task."""
    ranks, numbers = columns.get("rank", ()), columns.get("id", ())
    return [
        (place, rank)
        for place, (cell, number) in enumerate(zip(ranks, numbers, strict=False))
        if (rank := _whole(cell)) is not None and rank >= 0 and number not in _STREAM_NUMBERS
    ]


def _by_task(frames: Mapping[str, Mapping[str, Frame]]) -> tuple[dict[int, float], dict[int, int]]:
    """Return the time in calls and the bytes of each task, from records that belong to a single task."""
    seconds: dict[int, float] = defaultdict(float)
    moved: dict[int, int] = defaultdict(int)
    for module in LOWER.keys() & frames.keys():
        if module == "DAOS" and "DFS" in frames:
            continue
        columns = {
            name.removeprefix(f"{LOWER[module]}_"): cells
            for kind in _TABLES
            for name, cells in frames[module].get(kind, {}).items()
        }
        separate = _single_task_rows(columns)
        for name in ("F_READ_TIME", "F_WRITE_TIME", "F_META_TIME"):
            cells = columns.get(name, ())
            for place, rank in separate:
                seconds[rank] += _time(cells[place]) if place < len(cells) else 0.0
        for name in ("BYTES_READ", "BYTES_WRITTEN"):
            cells = columns.get(name, ())
            for place, rank in separate:
                moved[rank] += max(_whole(cells[place]) or 0, 0) if place < len(cells) else 0
    return dict(seconds), dict(moved)


def _files(gathered: Mapping[str, Mapping[int, FileRecord]]) -> Iterator[FileRecord]:
    """Yield the records counted as files: those of the layers below MPI-IO, plus MPI-IO data that no lower layer
    recorded.
    """
    daos = not gathered.keys().isdisjoint(DAOS)
    lower = {number for module in LOWER for number in gathered.get(module, {})}
    for module, records in gathered.items():
        for number, record in records.items():
            # DAOS moves MPI-IO data itself, under other names.
            alone = module == "MPI-IO" and number not in lower and not daos and record.bytes_moved > 0
            stream = number in _STREAM_NUMBERS or record.path in _STREAMS
            # The data of DAOS files move through their objects.
            below = module == "DAOS" and "DFS" in gathered
            if (module in LOWER or alone) and not stream and not below:
                yield record


def _total(records: Iterable[FileRecord]) -> dict[str, int]:
    """Return the data moved through an interface, including terminal streams."""
    records = list(records)
    summed = {name: sum(getattr(record, name) for record in records) for name in _SUMMED if name != "unaligned"}
    return {"files": len(records), **summed}


def layouts_from_frame(frame: Frame) -> dict[int, StripeLayout]:
    """Return the layouts of files by record number, with one row per component."""
    parts: dict[int, list[StripeLayout]] = defaultdict(list)
    for row in _rows(frame):
        if "id" not in row:
            continue
        listed = row.get("LUSTRE_OST_IDS")
        numbers = map(_whole, listed if isinstance(listed, (list, tuple)) else ())
        # A negative number means none.
        osts = tuple(ost for ost in numbers if ost is not None and ost >= 0)
        # Before Darshan 3.4.5, a file had one component, and its stripe count had another name.
        width = _positive(row.get("LUSTRE_STRIPE_COUNT")) or _whole(row.get("LUSTRE_STRIPE_WIDTH"))
        count = max(len(osts) if width is None else width, 1)
        parts[int(row["id"])].append(StripeLayout(count, _positive(row.get("LUSTRE_STRIPE_SIZE")), osts[:count]))
    return {number: _joined(components) for number, components in parts.items()}


def _joined(components: Sequence[StripeLayout]) -> StripeLayout:
    """Return one layout for a progressive file: its widest component in use, with the OSTs of all components."""
    used = [part for part in components if part.osts] or components
    widest = max(used, key=lambda part: part.stripe_count)
    osts = tuple(dict.fromkeys(ost for part in used for ost in part.osts))
    return StripeLayout(widest.stripe_count, widest.stripe_size_bytes, osts)


def _rows(frame: Frame) -> Iterator[dict[str, Any]]:
    """Yield the rows, leaving out cells that shorter columns lack."""
    for cells in zip_longest(*frame.values()):
        yield {name: cell for name, cell in zip(frame, cells, strict=True) if cell is not None}


def _gather_all(
    frames: Mapping[str, Mapping[str, Frame]],
    names: Mapping[int, str],
    tasks: int | None,
    layouts: Mapping[int, StripeLayout],
) -> dict[str, dict[int, FileRecord]]:
    """Return the records of each module, keyed by record number."""
    prefixes = {module: prefix for module, prefix in (LOWER | UPPER).items() if module in frames}
    gathered = {module: _gather(module, prefix, frames[module], names, tasks) for module, prefix in prefixes.items()}
    for number, record in chain.from_iterable(map(dict.items, gathered.values())):
        record.layout = layouts.get(number)
    return gathered


def _gather(
    module: str, prefix: str, tables: Mapping[str, Frame], names: Mapping[int, str], tasks: int | None
) -> dict[int, FileRecord]:
    """Combine rows per file and task into one record per file (rank -1: all tasks together)."""
    files: dict[int, FileRecord] = {}
    # Keyed by their short names, which all modules share.
    short = (
        {name.removeprefix(f"{prefix}_"): cells for name, cells in tables.get(kind, {}).items()} for kind in _TABLES
    )
    counts, times = map(_rows, short)
    for counters in counts:
        passed = next(times, {})
        if "id" not in counters:
            break
        number = int(counters["id"])
        first = number not in files
        record = files.setdefault(number, FileRecord(path=names.get(number, f"file {number}"), interface=module))
        _add(record, _Line(counters, passed), tasks, first=first)
    return files


class _Line:
    """One row of a module's two tables, by the short names of its counters."""

    def __init__(self, counters: Row, times: Row) -> None:
        self.counters, self.times = counters, times
        self.rank = _whole(counters.get("rank")) or 0

    def count(self, name: str) -> int:
        """Return a counter; unknown (-1) and invalid values count as 0."""
        value = self.counters.get(name)
        return max(value if type(value) is int else _whole(value) or 0, 0)

    def time(self, name: str) -> float:
        """Return a time, 0 if unknown. [s]"""
        return _time(self.times.get(f"F_{name}"))

    def span(self, way: str) -> tuple[float, float] | None:
        """Return the start of the first call and the end of the last one. [s]"""
        start, end = self.time(f"{way}_START_TIMESTAMP"), self.time(f"{way}_END_TIMESTAMP")
        return (start, end) if end > start >= 0 else None

    def sizes(self, way: str) -> tuple[int, ...]:
        """Return the number of calls in each size class."""
        return tuple(map(self.count, _SIZES[way]))


def _add(record: FileRecord, line: _Line, tasks: int | None, *, first: bool) -> None:
    """Add one row to the record of its file."""
    everybody = line.rank < 0
    # A record for all tasks does not contain their number: assume that of the job, and at least two.
    record.tasks = (tasks or 2) if everybody else (1 if first else record.tasks + 1)
    record.shared = record.tasks > 1
    for name in line.counters.keys() & _FIELD_OF.keys():
        field = _FIELD_OF[name]
        setattr(record, field, getattr(record, field) + line.count(name))
    record.alignment_bytes = line.count("FILE_ALIGNMENT") or record.alignment_bytes
    _add_sizes(record, line)
    for name in filter(line.counters.__contains__, _COUNTS):
        record.counts[name] = record.counts.get(name, 0) + line.count(name)
    time_s = sum(line.time(f"{name}_TIME") for name in ("READ", "WRITE", "META"))
    record.meta_s += line.time("META_TIME")
    record.busy_s += time_s
    record.read_busy_s += line.time("READ_TIME")
    record.write_busy_s += line.time("WRITE_TIME")
    record.slowest_s = max(record.slowest_s, line.time("SLOWEST_RANK_TIME") if everybody else time_s)
    record.longest_read_s = max(record.longest_read_s, line.time("MAX_READ_TIME"))
    record.longest_write_s = max(record.longest_write_s, line.time("MAX_WRITE_TIME"))
    _add_extents(record, line)
    if everybody:
        record.slowest_task = _whole(line.counters.get("SLOWEST_RANK"))
        ends = line.count("SLOWEST_RANK_BYTES"), line.count("FASTEST_RANK_BYTES")
        record.busiest_bytes, record.idlest_bytes = max(ends) or None, min(ends) if max(ends) else None
    else:
        for past, by in (("WRITTEN", record.written_by), ("READ", record.read_by)):
            if moved := line.count(f"BYTES_{past}"):
                by[line.rank] = by.get(line.rank, 0) + moved
    record.read_s, record.read_span = _times(line, "READ", record.read_span, record.shared)
    record.write_s, record.write_span = _times(line, "WRITE", record.write_span, record.shared)


def _add_extents(record: FileRecord, line: _Line) -> None:
    """Add the extent of one row's accesses, and the bytes that it moved more than once."""
    # Moving more bytes than there are below the highest offset means moving some again. A record for all tasks has one
    # highest offset: each task may have moved everything below it.
    tasks = record.tasks if line.rank < 0 else 1
    for past, extent, again in (
        ("READ", "read_extent", "reread_bytes"),
        ("WRITTEN", "written_extent", "rewritten_bytes"),
    ):
        if (moved := line.count(f"BYTES_{past}")) and f"MAX_BYTE_{past}" in line.counters:
            end = line.count(f"MAX_BYTE_{past}") + 1
            setattr(record, extent, max(getattr(record, extent), end))
            setattr(record, again, getattr(record, again) + max(0, moved - tasks * end))


def _add_sizes(record: FileRecord, line: _Line) -> None:
    """Add one row's calls by size, and its most common sizes."""
    if record.interface == "POSIX":
        for way in ("read", "write"):
            known, added = getattr(record, f"{way}_sizes"), line.sizes(way.upper())
            setattr(record, f"{way}_sizes", tuple(map(sum, zip_longest(known, added, fillvalue=0))))
    for calls, moved in _COMMON:
        if times := line.count(calls):
            size = line.count(moved)
            record.common_sizes[size] = record.common_sizes.get(size, 0) + times


def _times(
    line: _Line, way: str, known: tuple[float, float] | None, shared: bool
) -> tuple[float, tuple[float, float] | None]:
    """Return the time in the calls of one direction, and the span from the first to the last, this row included."""
    time_s, span = line.time(f"{way}_TIME"), line.span(way)
    if known and span:
        span = min(known[0], span[0]), max(known[1], span[1])
    span = span or known
    if shared:
        # The times of several tasks overlap, so the elapsed time counts.
        return (span[1] - span[0] if span else time_s), span
    # Some versions lose the end of the last call, so a span shorter than the time spent in it is invalid.
    return time_s, None if span and span[1] - span[0] < 0.9 * time_s else span


def _whole(value: Any) -> int | None:
    """Return an integer; None for anything else, such as the NaN of a ragged table."""
    try:
        return int(value) if value is not None and math.isfinite(value) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _positive(value: Any) -> int | None:
    number = _whole(value)
    return number if number and number > 0 else None


def _time(value: Any) -> float:
    """Return a time; 0 if it is not a number, or is negative because of a broken clock. [s]"""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) and value > 0 else 0.0
