"""Runs of one program with their columns: the table for `hopperkit.variation.explanation`."""

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
        Of the values; empty if unknown.
    rate : bool
        Whether higher is better: a slow run then has a low value.
    when : tuple of n str
        Time of each run as written; empty if there is no such column.
    jobs : tuple of n str
        Job of each run; empty if there is no such column.
    columns : mapping of str to tuple of n
        Other columns: numbers or texts, None for an empty cell.
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
        """Time of each run, in UTC if a zone is given; empty if there is no such column."""
        found = [datetime.fromisoformat(text.strip()) for text in self.when]
        return [moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in found]

    @property
    def one_way(self) -> bool:
        """Whether the rows are sorted by value, which may be the order of the table rather than of time."""
        return list(self.values) in (sorted(self.values), sorted(self.values, reverse=True))
