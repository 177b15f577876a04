"""Batch queues, and the two tables of Hopper's that survive.

NERSC changed its queues over the years. Three states of the page that lists
them were read; two of them are kept, in ``queues.toml``: that of February 2013 and the last one.
None is from 2011, when the machine of the studies ran.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from hopperlib.network.schedule import SchedulerError
from hopperlib.network.workload import Job

__all__ = ["Queue", "QueueTable", "queue_table", "queue_tables"]


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
    hopperlib.network.schedule.SchedulerError: job 7 asks for nodes=600; queue 'debug' takes 1 to 512
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
        SchedulerError
            If it is too narrow, too wide or too long.
        """
        if job.nodes < self.min_nodes or (self.max_nodes is not None and job.nodes > self.max_nodes):
            most = "any number" if self.max_nodes is None else self.max_nodes
            raise SchedulerError(
                f"job {job.job} asks for nodes={job.nodes}; queue {self.name!r} takes {self.min_nodes} to {most}"
            )
        if self.max_time_s is not None and job.requested_time_s > self.max_time_s:
            raise SchedulerError(
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

    def queue_for(self, nodes: int, requested_time_s: int, *, among: Iterable[str] | None = None) -> Queue | None:
        """Return the first queue of the table that takes a job; None if none does.

        Examples
        --------
        >>> table = queue_table("hopper-final")
        >>> table.queue_for(342, 6 * 3600, among=("reg_small", "reg_med", "reg_big")).name
        'reg_small'
        """
        allowed = None if among is None else set(among)
        for queue in self.queues:
            if (allowed is None or queue.name in allowed) and queue.takes(nodes, requested_time_s):
                return queue
        return None


@cache
def _tables() -> dict[str, QueueTable]:
    """Read the data file, once."""
    data = tomllib.loads(files("hopperlib.network").joinpath("queues.toml").read_text(encoding="utf-8"))
    tables = {}
    for name, table in data.items():
        queues = tuple(
            Queue(
                name=queue["name"],
                priority=queue["priority"],
                min_nodes=queue["nodes"][0],
                max_nodes=queue["nodes"][1],
                max_time_s=round(3600 * queue["max_hours"]),
                run_limit=queue.get("run_limit"),
                charge_factor=queue.get("charge", 1.0),
            )
            for queue in table["queue"]
        )
        notes = tuple(table.get("notes", ()))
        tables[name] = QueueTable(name=name, title=table["title"], source=table["source"], queues=queues, notes=notes)
    return tables


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
        raise ValueError(f"there is no queue table {name!r}; there are: {', '.join(tables)}")
    return tables[name]
