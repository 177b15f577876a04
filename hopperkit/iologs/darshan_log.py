"""A Darshan log as plain records: one a file, with its bytes, times, access sizes and OSTs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from hopperkit.frames import TableMixin, record_columns

# Interfaces of DAOS: its files, and the objects below them.
DAOS = ("DFS", "DAOS")
# Darshan's access size bins: upper bounds, the last one open. [bytes]
SIZE_BINS = (
    ("0_100", 100), ("100_1K", 1 << 10), ("1K_10K", 10 << 10), ("10K_100K", 100 << 10), ("100K_1M", 1 << 20),
    ("1M_4M", 4 << 20), ("4M_10M", 10 << 20), ("10M_100M", 100 << 20), ("100M_1G", 1 << 30), ("1G_PLUS", None),
)  # fmt: skip


class Traffic(NamedTuple):
    """Data moved in one direction.

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


class StripeLayout(NamedTuple):
    """Striping of a file, as far as the log shows it.

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
    """I/O of all tasks on one file through one interface.

    Parameters
    ----------
    path : str
    interface : str
        ``POSIX``, ``STDIO``, ``DFS``, ``DAOS``, ``MPI-IO`` or a library above these.
    tasks : int
        Tasks that opened it, as far as known.
    shared : bool
        Whether more than one did.
    bytes_read, bytes_written : int
        [bytes]
    reads, writes : int
        Calls.
    read_s, write_s : float
        Time in these calls: of the task for a single-task file, otherwise from the start of the first call to the end
        of the last. [s]
    read_span, write_span : tuple of float or None
        Start of the first and end of the last call. [s]
    read_sizes, write_sizes : tuple of int
        Calls by size, as in `SIZE_BINS`; empty where the interface counts none.
    unaligned : int
        Calls that start at no multiple of `alignment_bytes`.
    alignment_bytes : int or None
        [bytes]
    busiest_bytes : int or None
        Bytes of the slowest or fastest task, if in the log. [bytes]
    idlest_bytes : int or None
        The smaller of the two, if both are in the log. [bytes]
    written_by, read_by : mapping
        Bytes of each task with a separate record. [bytes]
    layout : StripeLayout or None
    opens : int
        Calls that opened it.
    meta_s : float
        Time in open, close, seek and stat calls, over all tasks. [s]
    busy_s : float
        Time in all calls, of all tasks together. [s]
    read_busy_s, write_busy_s : float
        Time in the calls of one direction, of all tasks together. [s]
    slowest_s : float
        Time in all calls of the slowest task, if in the log. [s]
    slowest_task : int or None
        The slowest task of a record of all tasks.
    longest_read_s, longest_write_s : float
        Time of the slowest single call. [s]
    read_extent, written_extent : int
        The byte after the highest one that was read or written. [bytes]
    reread_bytes, rewritten_bytes : int
        Bytes that a task moved more often than once, at least. [bytes]
    counts : mapping
        Other Darshan counters by their short names, summed.
    common_sizes : mapping
        How often the most common sizes were read or written; each record has four. [bytes]
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
    idlest_bytes: int | None = None
    written_by: dict[int, int] = field(default_factory=dict)
    read_by: dict[int, int] = field(default_factory=dict)
    layout: StripeLayout | None = None
    opens: int = 0
    meta_s: float = 0.0
    busy_s: float = 0.0
    read_busy_s: float = 0.0
    write_busy_s: float = 0.0
    slowest_s: float = 0.0
    slowest_task: int | None = None
    longest_read_s: float = 0.0
    longest_write_s: float = 0.0
    read_extent: int = 0
    written_extent: int = 0
    reread_bytes: int = 0
    rewritten_bytes: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    common_sizes: dict[int, int] = field(default_factory=dict)

    @property
    def osts(self) -> tuple[int, ...]:
        """OSTs that hold an object, as far as known."""
        return self.layout.osts if self.layout else ()

    @property
    def bytes_moved(self) -> int:
        """Bytes of both directions. [bytes]"""
        return self.bytes_read + self.bytes_written

    def moved(self, direction: str) -> Traffic:
        """Return the data moved in one direction, ``read`` or ``write``."""
        if direction == "read":
            return Traffic(self.bytes_read, self.reads, self.read_s, self.read_span, self.read_sizes)
        return Traffic(self.bytes_written, self.writes, self.write_s, self.write_span, self.write_sizes)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DarshanLog(TableMixin):
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
        Every byte once: what passed the lowest interface that the log has for it.
    notes : tuple of str
        Parts missing from the log, or present but not used here.
    missing : tuple of str
        Losses: a damaged log, a module that ran out of memory.
    upper : tuple of FileRecord
        The same bytes as libraries above handed them down: MPI-IO, HDF5, PnetCDF.
    totals : mapping
        Files, bytes and calls of every interface, the terminal's streams too.
    mounts : tuple of (str, str)
        Mount points and the kinds of their file systems.
    osts : int or None
        OSTs of the file system, if in the log.
    user : int or None
        Number of the user.
    hosts : mapping
        Tasks and their nodes, if in the log or in a list of jobs.
    cores_per_node : int or None
        Of the machine, where it is known.
    start : datetime or None
        When the job began.
    task_s : mapping
        Time of a task in calls to files that no other task has a common record with. [s]
    task_bytes : mapping
        Bytes that it moved in them. [bytes]
    """

    executable: str | None
    job_id: int | None
    tasks: int | None
    run_time_s: float | None
    modules: tuple[str, ...]
    files: tuple[FileRecord, ...]
    notes: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    upper: tuple[FileRecord, ...] = ()
    totals: dict[str, dict[str, int]] = field(default_factory=dict)
    mounts: tuple[tuple[str, str], ...] = ()
    osts: int | None = None
    user: int | None = None
    hosts: dict[int, str] = field(default_factory=dict)
    cores_per_node: int | None = None
    start: datetime | None = None
    task_s: dict[int, float] = field(default_factory=dict)
    task_bytes: dict[int, int] = field(default_factory=dict)
    # Cached judgement of its OSTs, by direction.
    judged: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @property
    def nodes(self) -> int | None:
        """Nodes of the job: those of all tasks, or as many as have one core per task; None if unknown."""
        if self.tasks and len(self.hosts) == self.tasks:
            return len(set(self.hosts.values()))
        return -(-self.tasks // self.cores_per_node) if self.tasks and self.cores_per_node else None

    def frame_data(self) -> Iterator[dict[str, Any]]:
        """Yield a row for each file and interface, led by the job."""
        job = {"job_id": self.job_id, "executable": self.executable, "start": self.start}
        return (job | record_columns(record) for record in self.files + self.upper)

    def placed(self, nodes: Sequence[str] = (), cores_per_node: int | None = None) -> "DarshanLog":
        """Return the log on a machine, and its tasks on these nodes: evenly, in order, as srun deals them by default.

        A log that names its nodes, or has fewer tasks than nodes, keeps its tasks where they are.

        Examples
        --------
        >>> log = DarshanLog(executable=None, job_id=1, tasks=5, run_time_s=1.0, modules=(), files=())
        >>> log.placed(["a", "b"]).hosts
        {0: 'a', 1: 'a', 2: 'a', 3: 'b', 4: 'b'}
        >>> log.placed(cores_per_node=2).nodes
        3
        """
        tasks, hosts = self.tasks or 0, self.hosts
        if nodes and not hosts and tasks >= len(nodes):
            each, more = divmod(tasks, len(nodes))
            dealt = (node for place, node in enumerate(nodes) for _ in range(each + (place < more)))
            hosts = dict(enumerate(dealt))
        return replace(self, hosts=hosts, cores_per_node=cores_per_node)

    def mount_of(self, path: str) -> tuple[str, str] | None:
        """Return the mount point of a file, and its type.

        Examples
        --------
        >>> log = DarshanLog(executable=None, job_id=1, tasks=1, run_time_s=1.0, modules=(), files=(),
        ...     mounts=(("/", "ext4"), ("/scratch", "lustre")))
        >>> log.mount_of("/scratch/me/a"), log.mount_of("/scratchy/a")
        (('/scratch', 'lustre'), ('/', 'ext4'))
        """
        here = (mount for mount in self.mounts if f"{path}/".startswith(f"{mount[0].rstrip('/')}/"))
        return max(here, key=lambda mount: len(mount[0]), default=None)
