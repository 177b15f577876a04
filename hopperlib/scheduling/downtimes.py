"""Periods in which nodes are unavailable to jobs: outages, maintenance, orphans, hours reserved for one queue."""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from hopperlib.errors import InputError, refusal

Kind = Literal["outage", "reservation", "orphan", "down", "drain"]
_COLUMNS = ("kind", "start_s", "end_s", "first_node", "last_node", "drained", "queue")
_MOST_DIGITS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Downtime:
    """A period in which nodes are unavailable to jobs.

    Parameters
    ----------
    start_s, end_s : int
        Start, and end (not included). [s]
    first_node, last_node : int or None
        First position, and last position (not included); None for the whole machine.
    drained : bool
        Whether the scheduler knows it in advance and starts no job that would run into it. Otherwise it kills the
        running jobs.
    kind : {"outage", "reservation", "orphan", "down", "drain"}
        Its name in the records. Orphans take only nodes that are free when they begin: ALPS considers them busy. A
        drain ends no job: it takes nodes as they become free, like ``scontrol update state=drain``. A reservation takes
        no node: it keeps the machine, or those nodes, for one queue.
    queue : str
        For a reservation: the only queue whose jobs may start in it. They start at no other time.

    Raises
    ------
    InputError
        If it ends before it starts, or the parts do not fit together.

    Examples
    --------
    >>> Downtime(start_s=100, end_s=50)
    Traceback (most recent call last):
    hopperlib.errors.InputError: a downtime must end after it starts: start_s=100, end_s=50
    """

    start_s: int
    end_s: int
    first_node: int | None = None
    last_node: int | None = None
    drained: bool = False
    kind: Kind = "outage"
    queue: str = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise refusal("kind", self.kind[:40], f"must be one of: {', '.join(get_args(Kind))}")
        if self.start_s < 0:
            raise refusal("start_s", self.start_s, "must not be negative: time 0 is the trace's")
        if self.end_s <= self.start_s:
            raise InputError(f"a downtime must end after it starts: start_s={self.start_s}, end_s={self.end_s}")
        if (self.first_node is None) != (self.last_node is None):
            raise InputError("a downtime of some nodes needs both first_node and last_node")
        if (self.kind == "reservation") != bool(self.queue):
            raise InputError(
                f"a reservation, and nothing else, names a queue: kind={self.kind!r}, queue={self.queue!r}"
            )
        if self.first_node is not None and self.last_node is not None and not 0 <= self.first_node < self.last_node:
            rule = f"must be from 0 to below last_node={self.last_node}, which is not included"
            raise refusal("first_node", self.first_node, rule)

    @property
    def is_known_part(self) -> bool:
        """Whether some nodes are reserved, so that jobs must be planned around it."""
        return self.first_node is not None and (self.drained or bool(self.queue))


def read_downtimes(lines: Iterable[str]) -> list[Downtime]:
    """Return downtimes from CSV with the columns kind, start_s, end_s and, if needed, the other fields of `Downtime`.

    Parameters
    ----------
    lines : iterable of str
        Lines of the file, with or without the header.

    Raises
    ------
    InputError
        If a column is unknown or missing, or a line is not a downtime; the message names the line.

    Examples
    --------
    >>> read_downtimes(["kind,start_s,end_s,first_node,last_node", "outage,100,200,,", "orphan,300,900,0,32"])[1].last_node
    32
    """
    try:
        rows = list(csv.reader(lines))
    except csv.Error as error:
        raise InputError(f"this is no CSV: {error}") from None
    header = [name.strip() for name in (rows or [[]])[0]]
    unknown = [name for name in header if name not in _COLUMNS]
    if unknown or not {"kind", "start_s", "end_s"} <= set(header):
        raise InputError(
            f"line 1: the columns are {', '.join(header)[:200] or 'none'}; kind, start_s and end_s are needed, "
            f"{', '.join(_COLUMNS[3:])} may follow"
        )
    return [
        _downtime(header, fields, number) for number, fields in enumerate(rows[1:], start=2) if "".join(fields).strip()
    ]


def _downtime(header: list[str], fields: list[str], number: int) -> Downtime:
    """Return the downtime of a line."""
    given = {name: field.strip() for name, field in zip(header, fields, strict=False) if field.strip()}
    row = dict.fromkeys(_COLUMNS[:3], "") | given
    try:
        return Downtime(**{name: _value(name, text) for name, text in row.items()})
    except ValueError as error:
        raise InputError(f"line {number}: {error}") from None


def _value(name: str, text: str) -> Any:
    """Return the value of a column."""
    if name in ("kind", "queue"):
        return text
    if name == "drained":
        if text not in ("yes", "no"):
            raise refusal(name, text[:40], "must be yes or no")
        return text == "yes"
    if not text.isdecimal() or len(text) > _MOST_DIGITS:
        raise refusal(name, text[:40], f"must be a whole number, not negative, of at most {_MOST_DIGITS} digits")
    return int(text)
