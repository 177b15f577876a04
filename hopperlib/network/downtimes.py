"""Times in which nodes are kept from jobs: outages, maintenance, orphans, hours kept for one queue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop
from typing import Literal

from hopperlib.network.schedule import SchedulerError

__all__ = ["FOREVER", "Calendar", "Downtime"]

FOREVER = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Downtime:
    """A time in which nodes are kept from jobs.

    Parameters
    ----------
    start_s, end_s : int
        From, and to not included. [s]
    first_node, last_node : int or None
        Positions from, and to not included; None for the whole machine.
    drained : bool
        Whether the scheduler knows beforehand and lets nothing run into it.
        Otherwise it kills the jobs it meets. Only a downtime of the whole
        machine can be drained for.
    kind : {"outage", "reservation", "orphan", "down"}
        What it is called in the records. Orphans take only nodes that are
        free when they begin: ALPS believes them busy. A reservation takes no
        node: it keeps the machine for one queue.
    queue : str
        For a reservation: the queue whose jobs alone may start in it. They
        start at no other time.

    Raises
    ------
    SchedulerError
        If it ends before it starts, or the parts do not fit together.

    Examples
    --------
    >>> Downtime(start_s=100, end_s=50)
    Traceback (most recent call last):
    hopperlib.network.schedule.SchedulerError: a downtime must end after it starts: start_s=100, end_s=50
    """

    start_s: int
    end_s: int
    first_node: int | None = None
    last_node: int | None = None
    drained: bool = False
    kind: Literal["outage", "reservation", "orphan", "down"] = "outage"
    queue: str = ""

    def __post_init__(self) -> None:
        if self.end_s <= self.start_s:
            raise SchedulerError(f"a downtime must end after it starts: start_s={self.start_s}, end_s={self.end_s}")
        if (self.first_node is None) != (self.last_node is None):
            raise SchedulerError("a downtime of some nodes needs both first_node and last_node")
        if self.drained and self.first_node is not None:
            raise SchedulerError("only a downtime of the whole machine can be drained for")
        if (self.kind == "reservation") != bool(self.queue):
            raise SchedulerError(
                f"a reservation, and nothing else, names a queue: kind={self.kind!r}, queue={self.queue!r}"
            )


class Calendar:
    """Downtimes in order of their instants; what ends comes before what begins.

    Examples
    --------
    >>> calendar = Calendar([Downtime(start_s=5, end_s=9, drained=True)])
    >>> calendar.next_s, calendar.drain_s, calendar.pop(), calendar.next_s, calendar.drain_s == FOREVER
    (5, 5, (True, 0), 9, True)
    """

    def __init__(self, downtimes: Sequence[Downtime]) -> None:
        self.downtimes = downtimes
        # (instant, 0 end / 1 begin, number)
        self._instants = [(one.end_s, 0, number) for number, one in enumerate(downtimes)]
        self._instants += [(one.start_s, 1, number) for number, one in enumerate(downtimes)]
        heapify(self._instants)
        self._drains = sorted(one.start_s for one in downtimes if one.drained)
        self._look_ahead()

    def _look_ahead(self) -> None:
        self.next_s = self._instants[0][0] if self._instants else FOREVER
        #: When the next planned one begins.
        self.drain_s = self._drains[0] if self._drains else FOREVER

    def pop(self) -> tuple[bool, int]:
        """Return whether the next one begins (or ends), and its number."""
        now, begins, number = heappop(self._instants)
        if begins and self.downtimes[number].drained:
            self._drains.remove(now)
        self._look_ahead()
        return bool(begins), number
