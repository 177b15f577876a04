"""Runs of one program with whatever is known of each: the table that `hopperkit.variation.explanation` works on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsTable:
    """Runs in order of time, where that is known, else in the order of the rows.

    Parameters
    ----------
    name : str
        Column of the times or rates.
    values : tuple of n float
        As given, all above 0.
    unit : str
        Of the values; empty if nothing says it.
    rate : bool
        Whether higher is better: a slow run then has a low value.
    when : tuple of n str
        Moment of each run as written; empty if no column says it.
    jobs : tuple of n str
        Job of each run; empty if no column says it.
    columns : mapping of str to tuple of n
        What else is known: numbers, texts, None where a cell is empty.
    notes : tuple of str
        Rows that were left out, and why.

    Examples
    --------
    >>> table = RunsTable(name="run_time_s", values=(10.0, 11.0, 30.0), unit="s")
    >>> table.times, table.one_way
    ((10.0, 11.0, 30.0), True)
    """

    name: str
    values: tuple[float, ...]
    unit: str = ""
    rate: bool = False
    when: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    columns: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def times(self) -> tuple[float, ...]:
        """Values that are large where a run is slow: the times, or one over the rates."""
        return tuple(1 / value for value in self.values) if self.rate else self.values

    @property
    def moments(self) -> list[datetime]:
        """When each run was, of the world's time where a zone is written; empty where nothing says it."""
        found = [datetime.fromisoformat(text.strip()) for text in self.when]
        return [moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in found]

    @property
    def one_way(self) -> bool:
        """Whether the rows are sorted by value, which may be the table's order and not that of time."""
        return list(self.values) in (sorted(self.values), sorted(self.values, reverse=True))
