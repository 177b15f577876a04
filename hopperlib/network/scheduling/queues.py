"""Batch queues, and the two tables of Hopper's that survive.

NERSC changed its queues over the years. Three states of the page that lists
them were read; two of them are kept, in ``queues.toml``: that of February 2013 and the last one.
None is from 2011, when the machine of the studies ran.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hopperlib.errors import InputError
from hopperlib.network.scheduling.workload import Job, Workload
from hopperlib.tables import key, read_record, read_toml

__all__ = ["Queue", "QueueTable", "put_into_queues", "queue_table", "queue_tables", "read_queues"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A batch queue.

    Parameters
    ----------
    name : str
    priority : int
        Lower goes first, as in NERSC's tables.
    min_nodes, max_nodes : int or None
        Narrowest and widest job it takes.
    max_time_s : int or None
        Longest limit it takes. [s]
    run_limit : int or None
        Jobs of one user that may run at a time.
    charge_factor : float
        What an hour costs here.

    Examples
    --------
    >>> Queue(name="debug", max_nodes=512).check(Job(7, 0, 600, 60, 60))
    Traceback (most recent call last):
    hopperlib.errors.InputError: job 7 asks for nodes=600; queue 'debug' takes 1 to 512
    """

    name: str
    priority: int = 0
    min_nodes: int = 1
    max_nodes: int | None = None
    max_time_s: int | None = None
    run_limit: int | None = None
    charge_factor: float = 1.0

    def takes(self, nodes: int, requested_time_s: int) -> bool:
        """Whether a job of this size and limit may go here."""
        return (
            nodes >= self.min_nodes
            and (self.max_nodes is None or nodes <= self.max_nodes)
            and (self.max_time_s is None or requested_time_s <= self.max_time_s)
        )

    def check(self, job: Job) -> None:
        """Refuse a job that this queue does not take.

        Raises
        ------
        InputError
            If it is too narrow, too wide or too long.
        """
        if job.nodes < self.min_nodes or (self.max_nodes is not None and job.nodes > self.max_nodes):
            most = "any number" if self.max_nodes is None else self.max_nodes
            raise InputError(
                f"job {job.job} asks for nodes={job.nodes}; queue {self.name!r} takes {self.min_nodes} to {most}"
            )
        if self.max_time_s is not None and job.requested_time_s > self.max_time_s:
            raise InputError(
                f"job {job.job} asks for requested_time_s={job.requested_time_s}; queue {self.name!r} takes "
                f"{self.max_time_s} s at most"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTable:
    """The queues of a machine as a page listed them.

    Parameters
    ----------
    name : str
    title : str
        What it is and from when.
    source : str
        Where it was read.
    queues : tuple of Queue
    notes : tuple of str
        What the page leaves open or gets wrong.
    """

    name: str
    title: str
    source: str
    queues: tuple[Queue, ...]
    notes: tuple[str, ...] = ()


@cache
def _tables() -> dict[str, QueueTable]:
    """Read the data file, once."""
    return read_queues(files("hopperlib.network.scheduling").joinpath("queues.toml").read_text(encoding="utf-8"))


def read_queues(text: str) -> dict[str, QueueTable]:
    r"""Return the tables of a TOML text that is written like ``queues.toml``.

    Raises
    ------
    TableError
        If it is no TOML, or anything in a table is wrong; names all of it.

    Examples
    --------
    >>> read_queues('[ours]\nqueue = [{name = "1", nodes = [1, 8], max_hours = 2, priority = 1}]')["ours"].queues[0].max_time_s
    7200
    """
    tables = {}
    for name, table in read_toml(text, name="queues").items():
        listed = read_record(_Table, table if isinstance(table, dict) else {}, name=name)
        queues = tuple(row.queue() for row in listed.queue)
        title = listed.title or name
        tables[name] = QueueTable(name=name, title=title, source=listed.source, queues=queues, notes=listed.notes)
    return tables


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """A queue as a file lists it, in nodes and hours."""

    name: str
    nodes: tuple[int, int] = key(low=1, form="[fewest, most] nodes, whole numbers")
    max_hours: float = key(above=0)
    priority: int
    run_limit: int | None = key(None, low=1)
    charge: float = key(1.0, low=0)

    def queue(self) -> Queue:
        """Return the queue in the units of the library."""
        return Queue(
            name=self.name,
            priority=self.priority,
            min_nodes=self.nodes[0],
            max_nodes=self.nodes[1],
            max_time_s=round(3600 * self.max_hours),
            run_limit=self.run_limit,
            charge_factor=self.charge,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table of queues as a file has it."""

    queue: tuple[_Row, ...] = key(least=1)
    title: str = ""
    source: str = ""
    notes: tuple[str, ...] = ()


def put_into_queues(workload: Workload, table: QueueTable) -> Workload:
    """Return the workload with every job in a queue of the table: its own, or else the first that takes it.

    Raises
    ------
    InputError
        If no queue takes a job.

    Examples
    --------
    >>> jobs = put_into_queues(Workload([Job(1, 0, 700, 60, 3600)]), queue_table("hopper-final"))
    >>> jobs[0].queue
    'premium'
    """
    names = {queue.name for queue in table.queues}

    def placed(job: Job) -> Job:
        if job.queue in names:
            return job
        queue = next((queue for queue in table.queues if queue.takes(job.nodes, job.requested_time_s)), None)
        if queue is None:
            raise InputError(
                f"job {job.job}: no queue of {table.name!r} takes nodes={job.nodes}, "
                f"requested_time_s={job.requested_time_s}"
            )
        return job._replace(queue=queue.name)

    return Workload(placed(job) for job in workload)


def queue_tables() -> tuple[str, ...]:
    """Return the names of the tables there are.

    Examples
    --------
    >>> queue_tables()
    ('hopper-2013', 'hopper-final')
    """
    return tuple(_tables())


def queue_table(name: str) -> QueueTable:
    """Return a table of queues.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> {queue.name: queue.charge_factor for queue in queue_table("hopper-2013").queues if queue.name.startswith("reg_m")}
    {'reg_med': 0.6}
    """
    tables = _tables()
    if name not in tables:
        raise InputError(f"there is no queue table {name!r}; there are: {', '.join(tables)}")
    return tables[name]
