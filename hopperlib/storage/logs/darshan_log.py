"""A Darshan log as plain records: one a file, with its bytes, times, access sizes and OSTs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["SIZE_BINS", "DarshanLog", "FileRecord", "StripeLayout", "Traffic"]

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


class Traffic(NamedTuple):
    """What moved in one direction.

    Parameters
    ----------
    moved_bytes, calls : int
        [bytes]
    time_s : float
        Time in the calls. [s]
    span_s : tuple of float or None
        Start of the first and end of the last call. [s]
    sizes : tuple of int
        Calls by size, as in `SIZE_BINS`; empty where the interface counts none.
    """

    moved_bytes: int
    calls: int
    time_s: float
    span_s: tuple[float, float] | None
    sizes: tuple[int, ...]


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
    """

    stripe_count: int
    stripe_size_bytes: int | None
    osts: tuple[int, ...]


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

    @property
    def osts(self) -> tuple[int, ...]:
        """OSTs that hold an object, as far as the log knows them."""
        return self.layout.osts if self.layout else ()

    @property
    def bytes_moved(self) -> int:
        """Bytes of both directions. [bytes]"""
        return self.bytes_read + self.bytes_written

    def moved(self, direction: str) -> Traffic:
        """Return what moved in one direction, ``read`` or ``write``."""
        if direction == "read":
            return Traffic(self.bytes_read, self.reads, self.read_s, self.read_span, self.read_sizes)
        return Traffic(self.bytes_written, self.writes, self.write_s, self.write_span, self.write_sizes)


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
