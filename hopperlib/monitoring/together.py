"""Benchmarks that moved at the same time, and which part of the machine explains those that did and those that did not.

Each part of the machine, when it goes wrong, slows some kinds of benchmarks and leaves others alone
(``subsystems.toml``). A part is out if a kind moved that it leaves alone, or one stayed that it slows.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import NamedTuple

from hopperlib.monitoring.history import Report, Shift
from hopperlib.package_data import read_beside

# Kinds of benchmarks, by the words in their names that tell them; the first that is met decides.
KINDS: dict[str, list[str]] = read_beside(__file__, "kinds.toml")


class Subsystem(NamedTuple):
    """What a part of the machine slows when it goes wrong: by kind of benchmark all, some, none or any of them."""

    name: str
    title: str
    look: str
    effect: Mapping[str, str]


class Reading(NamedTuple):
    """What the benchmarks that moved say: the parts that explain them, and the kinds whose runs would tell these apart."""

    explained_by: tuple[Subsystem, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Series that changed at the same time: their changes by name, those that stayed, and what that says."""

    time: str
    shifts: Mapping[str, Shift]
    steady: tuple[str, ...]
    reading: Reading


@cache
def subsystems() -> tuple[Subsystem, ...]:
    """Return the parts of a machine that can go wrong.

    Examples
    --------
    >>> [part.name for part in subsystems()][:2]
    ['noise', 'network']
    """
    return tuple(Subsystem(**table) for table in read_beside(__file__, "subsystems.toml")["subsystem"])


def kind_of(name: str) -> str:
    """Return the kind of benchmark that a name tells; empty if it tells none.

    Examples
    --------
    >>> kind_of("MEMRATE TRIAD"), kind_of("NPB FT 64 tasks"), kind_of("NPB MG serial"), kind_of("x")
    ('memory', 'parallel', 'serial', '')
    """
    words = name.lower()
    return next((kind for kind, known in KINDS.items() if any(word in words for word in known)), "")


# What a part says of a kind, and what may be seen of it then; of a kind that did not run nothing is seen.
_FITS = {"all": ("", "all"), "some": ("", "some", "all"), "none": ("", "none"), "any": ("", "all", "some", "none")}


def read(moved: Iterable[str], steady: Iterable[str]) -> Reading:
    """Return which parts explain the kinds of benchmarks that moved, and those that did not; what says most comes first.

    Parameters
    ----------
    moved, steady : iterable of str
        The kind of each benchmark that moved, and of each that stayed.

    Examples
    --------
    Bassi in March 2006: parallel codes slow, network and nodes good [S3, slide 5.3 Migration Continued (1)].

    >>> reading = read(["parallel", "parallel"], ["network", "memory", "serial", "file system"])
    >>> [part.name for part in reading.explained_by]
    ['noise', 'placement', 'library']
    """
    slowed, good = set(filter(None, moved)), set(filter(None, steady))

    def state(kind: str) -> str:
        """Return whether all, some or none of a kind moved; empty if none of it ran."""
        if kind in slowed:
            return "some" if kind in good else "all"
        return "none" if kind in good else ""

    def explains(part: Subsystem) -> bool:
        slowed_here = any(part.effect[kind] in ("all", "some") for kind in slowed)
        return slowed_here and all(state(kind) in _FITS[effect] for kind, effect in part.effect.items())

    def said(part: Subsystem) -> int:
        """Return how much of what is seen the part had to show."""
        return sum(
            effect in ("all", "none") or state(kind) == effect for kind, effect in part.effect.items() if state(kind)
        )

    left = tuple(sorted((part for part in subsystems() if explains(part)), key=said, reverse=True))
    missing = [kind for kind in KINDS if not state(kind) and len({part.effect[kind] for part in left} - {"any"}) > 1]
    return Reading(left, tuple(missing))


def _moment(time: str, index: int) -> float:
    """Return a time as a number: a date in seconds, a number as it is, else the place of the run."""
    try:
        return float(time)
    except ValueError:
        try:
            return datetime.fromisoformat(time).replace(tzinfo=None).timestamp()
        except ValueError:
            return float(index)


def moved_together(reports: Sequence[Report]) -> list[Moved]:
    """Return groups of two or more series that changed at one time, in order of time.

    Changes belong together if the runs between which each may lie overlap.

    Examples
    --------
    >>> from hopperlib.monitoring.history import History, judge
    >>> values = (100.0, 101.0) * 10 + (80.0, 81.0) * 10
    >>> pair = [History(name=name, values=values, times=tuple(map(str, range(40)))) for name in "ab"]
    >>> [(group.time, sorted(group.shifts)) for group in moved_together([judge(history) for history in pair])]
    [('20', ['a', 'b'])]
    """
    spans = []
    for report in reports:
        moments = [_moment(time, run) for run, time in enumerate(report.history.times)]
        for shift in report.shifts:
            earliest, latest = report.history.times.index(shift.since), report.history.times.index(shift.until)
            spans.append((moments[max(0, earliest - 1)], moments[latest], report, shift))
    spans.sort(key=lambda span: (span[0], span[1]))
    groups: list[list[tuple[Report, Shift]]] = []
    until = float("-inf")
    for begin, end, report, shift in spans:
        if begin > until:
            groups.append([])
            until = end
        groups[-1].append((report, shift))
        # All of a group share a moment: the window narrows to what is common.
        until = min(until, end)
    moves = []
    for group in groups:
        shifts = {report.history.name: shift for report, shift in group}
        worse = defaultdict(list)
        for report, shift in group:
            worse[report.worse(shift.percent)].append(report)
        if len(shifts) < 2:
            continue
        steady = [report for report in reports if report.history.name not in shifts]
        moved = max(worse.values(), key=len)
        reading = read((report.history.kind for report in moved), (report.history.kind for report in steady))
        times = sorted(shift.time for shift in shifts.values())
        moves.append(Moved(time=times[0], shifts=shifts, steady=tuple(r.history.name for r in steady), reading=reading))
    return moves
