"""Benchmarks that changed at the same time, and the part of the machine that explains which of them changed and which
did not.

A fault in a part of the machine slows some kinds of benchmarks and does not affect others (``subsystems.toml``). A part
is excluded if an unaffected kind changed, or an affected kind did not. A benchmark without a detected change counts as
steady only if its runs before and after exclude a change as large as that of the others. Otherwise its noise may hide a
change, and nothing is concluded.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import mean
from typing import Literal, NamedTuple

from hopperlib.monitoring.history import Report, Shift
from hopperlib.monitoring.planned import change_at, moment
from hopperlib.package_data import load_toml_resource
from hopperlib.schema import read_records

Kind = Literal["launch", "file system", "memory", "network", "serial", "parallel"]
# Kinds of benchmarks by words in their names; the first match decides.
KINDS: dict[Kind, tuple[str, ...]] = {
    "launch": ("launch", "startup", "start-up", "job start", "mpi_init", "sbcast"),
    "file system": (
        "ior", "mdtest", "piraw", "pioraw", "metabench", "lustre", "gpfs", "io500", "write", "read", "darshan",
    ),
    "memory": ("stream", "triad", "memrate", "copy_bw", "memory"),
    "network": (
        "latency", "osu", "pingpong", "ping-pong", "mpitest", "bisection", "allreduce", "network", "hps", "b_eff",
    ),
    "serial": ("serial", "dgemm", "fftw", "single", "linpack-node", "node-hpl"),
    "parallel": (
        "npb", "ssp", "cam", "gtc", "paratec", "milc", "maestro", "gamess", "impact", "vasp", "lammps", "gromacs",
        "hpl", "hpcg", "minife", "minighost", "amg", "umt", "snap", "parallel", "application",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Subsystem:
    """A part of the machine and the kinds of benchmark that a fault in it slows: all, some, none or any of them."""

    name: str
    title: str
    look: str
    effect: Mapping[Kind, Literal["all", "some", "none", "any"]]


class Reading(NamedTuple):
    """Interpretation of the benchmarks that changed: the parts that explain them, and the kinds of benchmark that would
    distinguish these.
    """

    explained_by: tuple[Subsystem, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Series that changed at the same time: their changes by name, the steady series, and the interpretation.

    The runs of series in `steady` exclude a change as large; series in `unknown` may have one.
    """

    time: str
    shifts: Mapping[str, Shift]
    steady: tuple[str, ...]
    reading: Reading
    unknown: tuple[str, ...] = ()


@cache
def subsystems() -> tuple[Subsystem, ...]:
    """Return the parts of a machine that can have a fault.

    Examples
    --------
    >>> [part.name for part in subsystems()][:2]
    ['noise', 'network']
    """
    tables = load_toml_resource(__file__, "subsystems.toml")
    return read_records(Subsystem, tables, "subsystem", name="subsystems.toml")


def kind_of(name: str) -> Kind | Literal[""]:
    """Return the kind of benchmark that a name implies; empty if there is none.

    Parameters
    ----------
    name : str
        Name of a benchmark, such as ``stream triad``.

    Examples
    --------
    >>> kind_of("MEMRATE TRIAD"), kind_of("NPB FT 64 tasks"), kind_of("NPB MG serial"), kind_of("x")
    ('memory', 'parallel', 'serial', '')
    """
    words = name.lower()
    return next((kind for kind, known in KINDS.items() if any(word in words for word in known)), "")


# Required certainty that a benchmark is steady: at most 1 of 100 changed benchmarks is called steady.
_LEVEL = 0.98
# Effects that a part predicts for a kind, and the observations consistent with them; a kind that did not run is not
# observed.
_FITS = {"all": ("", "all"), "some": ("", "some", "all"), "none": ("", "none"), "any": ("", "all", "some", "none")}
# Benchmarks of a kind that must be steady to exclude a part that slows some of that kind: one or two may be those that it
# spares, as HPL, which computes more than it communicates, is by a slow network.
_EXCLUDING = 3


def read(moved: Iterable[str], steady: Iterable[str]) -> Reading:
    """Return the parts that explain which kinds of benchmarks changed and which did not; the most specific first.

    Parameters
    ----------
    moved, steady : iterable of str
        The kinds of the benchmarks that changed, and of those that did not.

    Examples
    --------
    Bassi in March 2006: parallel codes slow, network and nodes good [S3, slide 5.3 Migration Continued (1)].

    >>> reading = read(["parallel", "parallel"], ["network", "memory", "serial", "file system"])
    >>> [part.name for part in reading.explained_by]
    ['noise', 'placement', 'library']
    """
    slowed, good = set(filter(None, moved)), Counter(filter(None, steady))
    seen = {kind: _seen(kind in slowed, kind in good) for kind in KINDS}
    fitting = [part for part in subsystems() if _explains(part, seen, good)]
    left = tuple(sorted(fitting, key=lambda part: _predicted(part, seen), reverse=True))
    missing = [kind for kind in KINDS if not seen[kind] and len({part.effect[kind] for part in left} - {"any"}) > 1]
    return Reading(left, tuple(missing))


def _seen(slowed: bool, good: bool) -> str:
    """Return whether all, some or none of a kind changed; empty if none ran."""
    if slowed:
        return "some" if good else "all"
    return "none" if good else ""


def _explains(part: Subsystem, seen: Mapping[Kind, str], good: Mapping[str, int]) -> bool:
    """Whether a part slows a kind that changed, and contradicts no observation."""
    slows = any(part.effect[kind] in ("all", "some") for kind, moved in seen.items() if moved in ("all", "some"))
    return slows and all(
        seen[kind] in _FITS[effect] or (effect == "some" and good[kind] < _EXCLUDING)
        for kind, effect in part.effect.items()
    )


def _predicted(part: Subsystem, seen: Mapping[Kind, str]) -> int:
    """Return the number of observed kinds for which a fault in the part predicts the exact effect."""
    return sum(effect in ("all", "none") or seen[kind] == effect for kind, effect in part.effect.items() if seen[kind])


def moved_together(reports: Sequence[Report]) -> list[Moved]:
    """Return groups of two or more series that changed at the same time, in order of time.

    Changes belong together if their ranges of possible runs overlap.

    Parameters
    ----------
    reports : sequence of Report
        Reports on the series.

    Examples
    --------
    >>> from hopperlib.monitoring.history import History, judge
    >>> values = (100.0, 101.0) * 10 + (80.0, 81.0) * 10
    >>> three = {"a": values, "b": values, "c": (100.0, 101.0) * 20, "d": (60.0, 150.0, 90.0, 130.0) * 10}
    >>> series = [History(name=name, values=runs, times=tuple(map(str, range(40)))) for name, runs in three.items()]
    >>> [(group.time, sorted(group.shifts), group.steady, group.unknown) for group in moved_together(list(map(judge, series)))]
    [('20', ['a', 'b'], ('c',), ('d',))]
    """
    groups = (group for group in _simultaneous(reports) if len({report.history.name for report, _ in group}) > 1)
    return [_moved(group, reports) for group in groups]


def _moved(group: Sequence[tuple[Report, Shift]], reports: Sequence[Report]) -> Moved:
    """Return the series that changed at the same time, and those of the others that did not."""
    shifts = {report.history.name: shift for report, shift in group}
    worse, moved = _most_alike(group)
    least = min(abs(math.log1p(shift.percent / 100)) for report, shift in group if report in moved)
    at = mean(moment(shift.time, shift.run) for _, shift in group)
    others = [report for report in reports if report.history.name not in shifts]
    steady = [report for report in others if _excludes(report, at, least, worse=worse)]
    reading = read((report.history.kind for report in moved), (report.history.kind for report in steady))
    first = min(shift.time for shift in shifts.values())
    names, unknown = ([r.history.name for r in others if (r in steady) == kept] for kept in (True, False))
    return Moved(time=first, shifts=shifts, steady=tuple(names), reading=reading, unknown=tuple(unknown))


def _most_alike(group: Sequence[tuple[Report, Shift]]) -> tuple[bool, list[Report]]:
    """Return whether most series changed for the worse, and the series that changed like most."""
    by_direction = defaultdict(list)
    for report, shift in group:
        by_direction[report.worse(shift.percent)].append(report)
    return max(by_direction.items(), key=lambda item: len(item[1]))


def _excludes(report: Report, at: float, least: float, *, worse: bool) -> bool:
    """Whether the runs of a series about a moment exclude a change by this much for the worse, or the better."""
    change = change_at(report, at, level=_LEVEL)
    if change is None:
        return False
    lower_is_better = report.history.better == "lower"
    return change.high < least if worse == lower_is_better else change.low > -least


def _simultaneous(reports: Sequence[Report]) -> list[list[tuple[Report, Shift]]]:
    """Return the changes of all series in groups that share a time, in order of time."""
    spans = []
    for report in reports:
        moments = [moment(time, run) for run, time in enumerate(report.history.times)]
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
        # The window shrinks to the common part.
        until = min(until, end)
    return groups
