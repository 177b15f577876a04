"""Columns of a table as factors: numbers, kinds, and for each node and rack of a node list whether a run was on it."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from hopperkit.traces.cluster import node_names

# A column with more distinct values than this share of the runs identifies runs, not groups.
MOST_KINDS = 0.5
# Runs with and without a node that a comparison needs.
_EACH_SIDE = 2
_MOST_NODES_COMPARED = 20_000
_NODE_COLUMN = re.compile(r"^(?:node|host)(?:_?(?:s|list|name|names))?$|^(?:exec_?host|nodes_?used|hosts?list)$", re.I)
_RANGES = re.compile(r"\w\[\d[\d,-]*\]")
_NAMES = re.compile(r"[A-Za-z][\w.-]*\d[\w.-]*(?:[,+][A-Za-z][\w.-]*\d[\w.-]*)+$")
# Runs with a known start from which the hour of the day is compared, and the spans of it. [h]
_FEWEST_WITH_HOURS = 12
_SPANS_H = (3, 6, 8, 10, 12)

# Column under which the moments of dated runs are a factor, in days.
DATE = "date"


class Factor(NamedTuple):
    """A possible cause of differences between runs.

    Parameters
    ----------
    name : str
        ``load``, ``partition``, ``node n17``, ``rack r3``.
    kind : {"number", "kinds", "set"}
        A set is True for runs that have it, such as a node.
    values : tuple
        One for each run.
    column : str
        Column that it comes from.
    alike : tuple of str
        Names of further nodes that the same runs had: these runs cannot distinguish them.
    """

    name: str
    kind: str
    values: tuple[Any, ...]
    column: str = ""
    alike: tuple[str, ...] = ()

    def members(self) -> list[list[int]]:
        """Places of the runs of each kind; of a set, those that have it come first.

        Examples
        --------
        >>> Factor("node n1", "set", (False, True, True)).members()
        [[1, 2], [0]]
        """
        places: dict[Any, list[int]] = {}
        for place, value in enumerate(self.values):
            places.setdefault(value, []).append(place)
        return [places[value] for value in sorted(places, key=lambda kind: (kind is not True, str(kind)))]

    @property
    def work(self) -> int:
        """Additions that its statistic takes."""
        if self.kind != "set":
            return len(self.values)
        having: int = sum(self.values)
        return min(having, len(self.values) - having)


def factors_of(columns: Mapping[str, Sequence[Any]]) -> list[Factor]:
    """Factors among the columns of a table; constant columns and columns that identify single runs are skipped.

    Parameters
    ----------
    columns : mapping of str to sequence
        Numbers, texts, or None where a cell is empty.

    Examples
    --------
    >>> columns = {"nodes": ["n[1-2]", "n[1-2]", "n[3-4]", "n[3-4]"], "threads": [1, 2, 1, 2], "id": list("abcd")}
    >>> [(factor.name, factor.kind) for factor in factors_of(columns)]
    [('node n1', 'set'), ('threads', 'number')]
    """
    return [factor for name, cells in columns.items() for factor in _of_column(name, cells)]


def date_factor(moments: Sequence[datetime]) -> Factor | None:
    """The moments of runs as a number of days; None where all are the same.

    Parameters
    ----------
    moments : sequence of datetime
        Time of each run.

    Examples
    --------
    >>> date_factor([datetime(1970, 1, 1), datetime(1970, 1, 2, 12)]).values
    (719163.0, 719164.5)
    """
    days = tuple(moment.toordinal() + (moment.hour * 60 + moment.minute) / 1440 for moment in moments)
    return Factor(DATE, "number", days, DATE) if len(set(days)) > 1 else None


def hour_factors(hours: Sequence[float]) -> Iterator[Factor]:
    """Yield spans of the day, each with the runs that started in it; equal ones once, the shortest first.

    Parameters
    ----------
    hours : sequence of float
        Hour of the day at which each run started.

    Examples
    --------
    >>> [factor.name for factor in hour_factors([9, 21] * 6)][:2]
    ['hours 07:00 to 10:00', 'hours 19:00 to 22:00']
    """
    if len(hours) < _FEWEST_WITH_HOURS or len({int(hour) for hour in hours}) < 2:
        return
    seen: set[tuple[bool, ...]] = set()
    for length in _SPANS_H:
        # From 09:00 to 17:00 is the usual day of work: spans begin at every second hour, odd ones.
        for begin in range(1, 25, 2):
            has = tuple((hour - begin) % 24 < length for hour in hours)
            if has in seen or not _EACH_SIDE <= sum(has) <= len(has) - _EACH_SIDE:
                continue
            seen.add(has)
            yield Factor(f"hours {begin % 24:02}:00 to {(begin + length) % 24:02}:00", "set", has, DATE)


def value_factors(name: str, cells: Sequence[Any]) -> Iterator[Factor]:
    """Yield a factor for each value of a column with few values, such as the first of five repetitions.

    Parameters
    ----------
    name : str
        Name of the column.
    cells : sequence
        Its cells.

    Examples
    --------
    >>> [factor.name for factor in value_factors("repeat", [1, 2, 3] * 4)]
    ['repeat = 1', 'repeat = 2', 'repeat = 3']
    """
    often = Counter(cell for cell in cells if cell is not None)
    if not 2 <= len(often) <= MOST_KINDS * len(cells):
        return
    for value, times in sorted(often.items(), key=lambda pair: str(pair[0])):
        if _EACH_SIDE <= times <= len(cells) - _EACH_SIDE:
            yield Factor(f"{name} = {value}", "set", tuple(cell == value for cell in cells), name)


def label_of(factor: Factor, value: Any) -> str:
    """A value of a factor in words.

    Parameters
    ----------
    factor : Factor
        Factor of the runs.
    value : Any
        One of its values.

    Examples
    --------
    >>> label_of(Factor("date", "number", (), "date"), 719163.2), label_of(Factor("hops", "number", ()), 4.0)
    ('1970-01-01', '4')
    """
    if factor.column == DATE:
        return date.fromordinal(int(value)).isoformat()
    return f"{value:.4g}" if factor.kind == "number" else str(value)


def _is_number(cell: Any) -> bool:
    """Whether a cell is a number and not a truth value."""
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _of_column(name: str, cells: Sequence[Any]) -> Iterator[Factor]:
    """Yield the factors of one column."""
    if is_node_list(name, cells):
        yield from _of_nodes(name, [list(node_names(str(cell))) if cell is not None else [] for cell in cells])
        return
    known = [cell for cell in cells if cell is not None]
    if not known or len(set(known)) < 2:
        return
    if all(map(_is_number, known)):
        # An empty cell takes the middle: it must not make a difference.
        middle = sorted(known)[len(known) // 2]
        if len(known) > len(cells) / 2:
            yield Factor(name, "number", tuple(float(middle if cell is None else cell) for cell in cells), name)
        return
    kinds = tuple("unknown" if cell is None else str(cell) for cell in cells)
    if len(set(kinds)) <= max(2, math.floor(MOST_KINDS * len(kinds))):
        yield Factor(name, "kinds", kinds, name)


def is_node_list(name: str, cells: Sequence[Any]) -> bool:
    """Whether a column holds the nodes of each run, by its name or by how it is written.

    Parameters
    ----------
    name : str
        The name.
    cells : sequence of Any
        Cells of a column.

    Examples
    --------
    >>> is_node_list("NodeList", ["n1"]), is_node_list("where", ["n[1-4]"]), is_node_list("nodes", [4, 8])
    (True, True, False)
    """
    texts = [cell for cell in cells if isinstance(cell, str)]
    if not texts or len(texts) < len([cell for cell in cells if cell is not None]):
        return False
    named = bool(_NODE_COLUMN.match(name.strip().replace(" ", "_")))
    return named or sum(bool(_RANGES.search(text) or _NAMES.match(text)) for text in texts) > len(texts) / 2


def _divisions(sets: Sequence[frozenset[str]]) -> Iterator[tuple[str, tuple[bool, ...]]]:
    """Yield the parts that some runs had and others not, each with the runs that had it."""
    often = Counter(part for nodes in sets for part in nodes)
    for part, times in sorted(often.items())[:_MOST_NODES_COMPARED]:
        if _EACH_SIDE <= times <= len(sets) - _EACH_SIDE:
            yield part, tuple(part in nodes for nodes in sets)


def _of_nodes(name: str, lists: Sequence[Sequence[str]]) -> Iterator[Factor]:
    """Yield a factor for each node that some runs had and others not, and for each rack; equal ones once."""
    if sum(map(len, lists)) > 50 * _MOST_NODES_COMPARED:
        return
    seen: dict[tuple[bool, ...], Factor] = {}
    for what, per_run in (("node", lists), ("rack", [[rack_of(node) for node in nodes] for nodes in lists])):
        for part, has in _divisions([frozenset(part for part in nodes if part) for nodes in per_run]):
            # A rack of one node adds nothing to the node; a node that the same runs had is named with it.
            if has in seen:
                if what == "node":
                    seen[has] = seen[has]._replace(alike=(*seen[has].alike, f"node {part}"))
            elif tuple(not cell for cell in has) not in seen:
                seen[has] = Factor(f"{what} {part}", "set", has, name)
    yield from seen.values()
    sizes = [len(set(nodes)) for nodes in lists]
    if len(set(sizes)) > 1 and min(sizes):
        yield Factor("number of nodes", "number", tuple(map(float, sizes)), name)


def rack_of(node: str) -> str:
    """Prefix of a node's name before its last number, if it has two or more: the rack, chassis or blade.

    Parameters
    ----------
    node : str
        Name of the node.

    Examples
    --------
    >>> rack_of("t006-009"), rack_of("x1000c3s0b1n1"), rack_of("nid00123")
    ('t006', 'x1000c3s0b1', '')
    """
    stem = re.sub(r"\d+\D*$", "", node)
    return re.sub(r"\D+$", "", stem) if re.search(r"\d", stem) else ""
