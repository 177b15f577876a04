"""A Darshan log as plain records: one a file, with its bytes, times, access sizes and OSTs.

Made from the frames of pydarshan, which differ by its version: up to 3.4 the
Lustre module is a table of counters with a column for each OST, from 3.5 one of
layout components with a list of OSTs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SIZE_BINS", "DarshanLog", "FileRecord", "StripeLayout", "layouts_from_frames", "log_from_frames"]

# Darshan counts accesses by size; upper ends, of which the last is open. [bytes]
SIZE_BINS = (
    ("0_100", 100),
    ("100_1K", 1 << 10),
    ("1K_10K", 10 << 10),
    ("10K_100K", 100 << 10),
    ("100K_1M", 1 << 20),
    ("1M_4M", 4 << 20),
    ("4M_10M", 10 << 20),
    ("10M_100M", 100 << 20),
    ("100M_1G", 1 << 30),
    ("1G_PLUS", None),
)
_STREAMS = ("<STDIN>", "<STDOUT>", "<STDERR>")
# Darshan's numbers of the three, which stay when names are made anonymous.
_STREAM_NUMBERS = (14734109647742566553, 15920181672442173319, 7238257241479193519)

Frame = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class StripeLayout:
    """How a file is striped, as far as the log says.

    Parameters
    ----------
    stripe_count : int
    stripe_size_bytes : int or None
        [bytes]
    osts : tuple of int
        OSTs that hold an object; empty if none was made yet.
    file_system_osts : int or None
        OSTs of the file system; only the older form says it.
    """

    stripe_count: int
    stripe_size_bytes: int | None
    osts: tuple[int, ...]
    file_system_osts: int | None = None


@dataclass(slots=True, kw_only=True)
class FileRecord:
    """What all tasks did with one file through one interface.

    Parameters
    ----------
    path : str
    interface : str
        ``POSIX`` or ``STDIO``.
    tasks : int
        Tasks that opened it, as far as the log tells.
    shared : bool
        Whether more than one did.
    bytes_read, bytes_written : int
        [bytes]
    reads, writes : int
        Calls.
    read_s, write_s : float
        Time in them: for a file of one task its own, else what passed from the first call to the end of the last. [s]
    read_span, write_span : tuple of float or None
        Start of the first and end of the last call. [s]
    read_sizes, write_sizes : tuple of int
        Calls by size, as in `SIZE_BINS`; empty where the interface counts none.
    unaligned : int
        Calls that start at no multiple of `alignment_bytes`.
    alignment_bytes : int or None
        [bytes]
    busiest_bytes : int or None
        Bytes of the slowest or fastest task, where the log says it. [bytes]
    written_by : mapping
        Bytes written by each task that has a record of its own. [bytes]
    layout : StripeLayout or None
    """

    path: str
    interface: str = "POSIX"
    tasks: int = 1
    shared: bool = False
    bytes_read: int = 0
    bytes_written: int = 0
    reads: int = 0
    writes: int = 0
    read_s: float = 0.0
    write_s: float = 0.0
    read_span: tuple[float, float] | None = None
    write_span: tuple[float, float] | None = None
    read_sizes: tuple[int, ...] = ()
    write_sizes: tuple[int, ...] = ()
    unaligned: int = 0
    alignment_bytes: int | None = None
    busiest_bytes: int | None = None
    written_by: dict[int, int] = field(default_factory=dict)
    layout: StripeLayout | None = None

    def moved(self, direction: str) -> tuple[int, int, float, tuple[float, float] | None]:
        """Return bytes, calls, time and span of one direction, ``read`` or ``write``."""
        if direction == "read":
            return self.bytes_read, self.reads, self.read_s, self.read_span
        return self.bytes_written, self.writes, self.write_s, self.write_span


@dataclass(frozen=True, slots=True, kw_only=True)
class DarshanLog:
    """A job and the files it touched.

    Parameters
    ----------
    executable : str or None
    job_id, tasks : int or None
    run_time_s : float or None
        [s]
    modules : tuple of str
        Modules of the log.
    files : tuple of FileRecord
    notes : tuple of str
        What is missing or could not be read.
    """

    executable: str | None
    job_id: int | None
    tasks: int | None
    run_time_s: float | None
    modules: tuple[str, ...]
    files: tuple[FileRecord, ...]
    notes: tuple[str, ...] = ()


def layouts_from_frames(frames: Mapping[str, Frame]) -> dict[int, StripeLayout]:
    """Return the layouts of files by their record number, from either form of the Lustre frames.

    Examples
    --------
    >>> old = {"counters": {"id": [7], "LUSTRE_OSTS": [156], "LUSTRE_STRIPE_SIZE": [1048576],
    ...     "LUSTRE_STRIPE_WIDTH": [2], "LUSTRE_OST_ID_0": [5], "LUSTRE_OST_ID_1": [9.0]}}
    >>> new = {"components": {"id": [7], "LUSTRE_COMP_STRIPE_SIZE": [1048576], "LUSTRE_COMP_STRIPE_COUNT": [2],
    ...     "LUSTRE_OST_IDS": [[5, 9]]}}
    >>> layouts_from_frames(old)[7].osts == layouts_from_frames(new)[7].osts == (5, 9)
    True
    """
    if "components" in frames:
        return _layouts_of_components(frames["components"])
    frame = frames.get("counters", {})
    columns = sorted(
        (name for name in frame if name.startswith("LUSTRE_OST_ID_") and name[14:].isdecimal()),
        key=lambda name: int(name[14:]),
    )
    layouts = {}
    for place, number in enumerate(frame.get("id", ())):
        osts = tuple(ost for name in columns if (ost := _whole(_cell(frame, name, place))) is not None and ost >= 0)
        count = _whole(_cell(frame, "LUSTRE_STRIPE_WIDTH", place)) or len(osts)
        layouts[int(number)] = StripeLayout(
            stripe_count=max(count, 1),
            stripe_size_bytes=_positive(_cell(frame, "LUSTRE_STRIPE_SIZE", place)),
            osts=osts[: max(count, 1)],
            file_system_osts=_positive(_cell(frame, "LUSTRE_OSTS", place)),
        )
    return layouts


def _layouts_of_components(frame: Frame) -> dict[int, StripeLayout]:
    """Return layouts from components, of which a progressive layout has several for one file."""
    found: dict[int, list[StripeLayout]] = defaultdict(list)
    for place, number in enumerate(frame.get("id", ())):
        listed = _cell(frame, "LUSTRE_OST_IDS", place)
        osts = tuple(ost for one in _items(listed) if (ost := _whole(one)) is not None and ost >= 0)
        count = _positive(_cell(frame, "LUSTRE_COMP_STRIPE_COUNT", place)) or len(osts)
        layout = StripeLayout(
            stripe_count=max(count, 1),
            stripe_size_bytes=_positive(_cell(frame, "LUSTRE_COMP_STRIPE_SIZE", place)),
            osts=osts,
        )
        found[int(number)].append(layout)
    layouts = {}
    for number, parts in found.items():
        used = [part for part in parts if part.osts] or parts
        widest = max(used, key=lambda part: part.stripe_count)
        osts = tuple(dict.fromkeys(ost for part in used for ost in part.osts))
        layouts[number] = StripeLayout(
            stripe_count=widest.stripe_count, stripe_size_bytes=widest.stripe_size_bytes, osts=osts
        )
    return layouts


def log_from_frames(
    job: Mapping[str, Any],
    frames: Mapping[str, Mapping[str, Frame]],
    names: Mapping[int, str],
    *,
    notes: Sequence[str] = (),
) -> DarshanLog:
    """Return the log that the frames of pydarshan hold.

    Parameters
    ----------
    job : mapping
        ``executable``, ``job_id``, ``tasks``, ``run_time_s``; what is missing is None.
    frames : mapping
        Module -> table (``counters``, ``fcounters``, ``components``) -> column -> values.
    names : mapping
        Record number -> path.
    notes : sequence of str
        What could not be read.

    Examples
    --------
    >>> frames = {"POSIX": {"counters": {"id": [1], "rank": [0], "POSIX_BYTES_WRITTEN": [10], "POSIX_WRITES": [2]},
    ...     "fcounters": {"id": [1], "rank": [0], "POSIX_F_WRITE_TIME": [0.5]}}}
    >>> log = log_from_frames({"tasks": 1}, frames, {1: "/scratch/out"})
    >>> log.files[0].path, log.files[0].bytes_written, log.files[0].write_s
    ('/scratch/out', 10, 0.5)
    """
    tasks = _positive(job.get("tasks"))
    layouts = layouts_from_frames(frames.get("LUSTRE", {}))
    files: dict[int, FileRecord] = {}
    for interface in ("POSIX", "STDIO"):
        gathered = _gather(interface, frames.get(interface, {}), names, tasks)
        for number, record in gathered.items():
            # STDIO calls POSIX below it; a file in both would be counted twice.
            if number not in files and number not in _STREAM_NUMBERS and record.path not in _STREAMS:
                record.layout = layouts.get(number)
                files[number] = record
    told = list(notes)
    if "POSIX" not in frames:
        told.append("the log has no POSIX module: no access sizes")
    if not layouts:
        told.append("the log has no Lustre layouts")
    run_time = job.get("run_time_s")
    return DarshanLog(
        executable=str(job["executable"]) if job.get("executable") else None,
        job_id=_whole(job.get("job_id")),
        tasks=tasks,
        run_time_s=_time(run_time) if run_time is not None else None,
        modules=tuple(frames),
        files=tuple(files.values()),
        notes=tuple(told),
    )


def _gather(
    module: str, tables: Mapping[str, Frame], names: Mapping[int, str], tasks: int | None
) -> dict[int, FileRecord]:
    """Return one record a file, from one line a file and task (rank -1: all tasks together)."""
    counters, times = tables.get("counters", {}), tables.get("fcounters", {})
    files: dict[int, FileRecord] = {}
    for place, number in enumerate(counters.get("id", ())):
        known = files.get(int(number))
        record = known or FileRecord(path=names.get(int(number), f"file {number}"), interface=module)
        files[int(number)] = record
        _add(record, _Line(module, counters, times, place), tasks, first=known is None)
    return files


class _Line:
    """One line of a module's two tables, by the short names of its counters."""

    def __init__(self, module: str, counters: Frame, times: Frame, place: int) -> None:
        self.module, self.counters, self.times, self.place = module, counters, times, place

    def count(self, name: str) -> int:
        """Return a counter; what is unknown (-1) or no number counts as none."""
        return max(_whole(_cell(self.counters, f"{self.module}_{name}", self.place)) or 0, 0)

    def time(self, name: str) -> float:
        """Return a time, 0 if unknown. [s]"""
        return _time(_cell(self.times, f"{self.module}_F_{name}", self.place))

    def span(self, name: str) -> tuple[float, float] | None:
        """Return when the first call began and the last ended. [s]"""
        start, end = self.time(f"{name}_START_TIMESTAMP"), self.time(f"{name}_END_TIMESTAMP")
        return (start, end) if end > start >= 0 else None

    @property
    def rank(self) -> int:
        rank = _whole(_cell(self.counters, "rank", self.place))
        return 0 if rank is None else rank


def _add(record: FileRecord, line: _Line, tasks: int | None, *, first: bool) -> None:
    """Add one line to the record of its file."""
    everybody = line.rank < 0
    read, written = line.count("BYTES_READ"), line.count("BYTES_WRITTEN")
    record.tasks = (tasks or 2) if everybody else (1 if first else record.tasks + 1)
    record.shared = record.tasks > 1
    record.bytes_read += read
    record.bytes_written += written
    record.reads += line.count("READS")
    record.writes += line.count("WRITES")
    record.unaligned += line.count("FILE_NOT_ALIGNED")
    record.alignment_bytes = line.count("FILE_ALIGNMENT") or record.alignment_bytes
    if line.module == "POSIX":
        sizes = [tuple(line.count(f"SIZE_{way}_{name}") for name, _ in SIZE_BINS) for way in ("READ", "WRITE")]
        record.read_sizes = _sum(record.read_sizes, sizes[0])
        record.write_sizes = _sum(record.write_sizes, sizes[1])
    record.read_span, record.write_span = (
        _cover(record.read_span, line.span("READ")),
        _cover(record.write_span, line.span("WRITE")),
    )
    if everybody:
        record.busiest_bytes = max(line.count("SLOWEST_RANK_BYTES"), line.count("FASTEST_RANK_BYTES")) or None
    elif written:
        record.written_by[line.rank] = record.written_by.get(line.rank, 0) + written
    for way in ("read", "write"):
        own, span = line.time(f"{way.upper()}_TIME"), getattr(record, f"{way}_span")
        if record.shared:
            # Times of several tasks overlap: what passed is what counts.
            setattr(record, f"{way}_s", span[1] - span[0] if span else own)
        else:
            setattr(record, f"{way}_s", own)
            # Some versions lose the end of the last call: a span shorter than the time in it is no span.
            if span and span[1] - span[0] < 0.9 * own:
                setattr(record, f"{way}_span", None)


def _sum(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True)) if one else tuple(other)


def _cover(one: tuple[float, float] | None, other: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the span from the first start to the last end."""
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def _cell(frame: Frame, name: str, place: int) -> Any:
    """Return a value of a column, None if there is no such column or value."""
    column = frame.get(name, ())
    return column[place] if place < len(column) else None


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else ()


def _whole(value: Any) -> int | None:
    """Return a whole number; None for what is none, such as the NaN of a ragged table."""
    try:
        return int(value) if value is not None and math.isfinite(value) else None
    except (TypeError, ValueError, OverflowError):
        return None


def _positive(value: Any) -> int | None:
    number = _whole(value)
    return number if number and number > 0 else None


def _time(value: Any) -> float:
    """Return a time; 0 for what is no number or negative, as broken clocks leave it. [s]"""
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) and value > 0 else 0.0
