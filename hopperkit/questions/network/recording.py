"""Recording of a machine at work: the jobs on its nodes over time, waiting jobs, link loads.

Positions refer to a node list.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.network.runtime.placed_jobs import Histories
from hopperlib.network.torus.distances import Coordinates
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.network.torus.wiring import NodeAddress, Wiring
from hopperlib.scheduling.schedule import NOT_STARTED, Schedule
from hopperlib.text import count, share

# : Number of a job (below 0 for nodes withheld from jobs), start and end [s], runs, limit and wait [s].
Holding = tuple[int, int, int, Sequence[tuple[int, int]], int, int]
# How much is recorded at once: more takes a browser long. [s]
_PART_S = 2 * 86_400
# The jobs' traffic is drawn with this seed, whatever that of the schedule.
_HABITS_SEED = 1


def holdings(schedule: Schedule, from_s: int, until_s: int) -> Iterator[Holding]:
    """Yield the jobs that run in a part of a schedule [s], and the nodes withheld from jobs in it.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    from_s : int
        Start of the period. [s]
    until_s : int
        End of the period. [s]

    Examples
    --------
    >>> from hopperlib.scheduling.downtimes import Downtime
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> gone = [Downtime(start_s=30, end_s=90, first_node=2, last_node=5, kind="orphan")]
    >>> list(holdings(simulate(Workload([Job(1, 0, 3, 60, 60)]), 8, downtimes=gone), 0, 99))
    [(1, 0, 60, [(0, 3)], 60, 0), (-1, 30, 90, [(3, 5)], 0, 0)]
    """
    workload, start_s, end_s = schedule.workload, schedule.start_s, schedule.end_s
    for job in schedule.finished():
        if start_s[job] < until_s and end_s[job] > from_s:
            requested = workload.requested_time_s[job], schedule.wait_time_s(job) or 0
            yield workload.job[job], start_s[job], end_s[job], schedule.runs(job), *requested
    kept = zip(schedule.unavailable, schedule.unavailable_runs, strict=True)
    for number, ((start, end, nodes), runs) in enumerate(kept, start=1):
        if nodes and start < until_s and end > from_s:
            yield -number, start, end, runs, 0, 0


def queued(schedule: Schedule, until_s: int) -> list[tuple[int, int, int]]:
    """Return number, submission [s] and nodes of the jobs that were there by an instant [s] and had not begun.

    Parameters
    ----------
    schedule : Schedule
        The schedule.
    until_s : int
        End of the period. [s]

    Examples
    --------
    >>> from hopperkit.traces.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> queued(simulate(Workload([Job(1, 0, 8, 60, 60), Job(2, 10, 3, 60, 60)]), 8), 30)
    [(2, 10, 3)]
    """
    work = schedule.workload
    jobs = zip(work.job, work.submit_time_s, work.nodes, schedule.start_s, schedule.status, strict=True)
    return [
        (job, submit, nodes)
        for job, submit, nodes, start, status in jobs
        if submit < until_s and (status == NOT_STARTED or start >= until_s)
    ]


def use_after(schedule: Schedule, days: int, of: int) -> str:
    """Return use and queue after some days of a history in progress.

    Parameters
    ----------
    schedule : Schedule
        Simulated schedule.
    days : int
        Days since the start. [d]
    of : int
        Length of the whole history. [d]

    Examples
    --------
    >>> from hopperlib.scheduling.aging import aged_machine
    >>> use_after(aged_machine("production", nodes=6384, days=1, load=0.9), 1, 3)
    'After 1 day of 3: 44 % of the machine used so far, 0 jobs waiting …'
    """
    used, waiting = schedule.utilization(0, days * 86_400), queued(schedule, days * 86_400)
    return f"After {count(days, 'day')} of {of}: {share(used)} of the machine used so far, {count(len(waiting), 'job')} waiting …"


@lru_cache(maxsize=8)
def places_of(machine: Machine, order: str = "nid") -> tuple[NodeAddress, ...]:
    """Return a machine's nodes for jobs in the order of a list; `InputError` if it states no floor.

    Parameters
    ----------
    machine : Machine
        The machine.
    order : str, default 'nid'
        Name of the node order.

    Examples
    --------
    >>> len(places_of(Machine.load("titan"), "xyz"))
    18688
    """
    return order_nodes(compute_nodes(machine), order)


@lru_cache(maxsize=4)
def floor_of(machine: Machine, order: str) -> dict[str, Any]:
    """Return each listed node's position on the floor and in the torus.

    Parameters
    ----------
    machine : Machine
        The machine.
    order : str
        Name of the node order.

    Examples
    --------
    >>> hopper = floor_of(Machine.load("hopper"), "nid")
    >>> hopper["dimensions"], len(hopper["x"]), len(hopper["service"])
    ((17, 8, 24), 6384, 144)
    """
    wiring, ordered = Wiring.of(machine), places_of(machine, order)
    places = zip(*(node.on_floor for node in ordered), strict=True)
    return {
        "dimensions": wiring.dimensions,
        **{name: getattr(wiring, name) for name in ("columns", "rows", "cages", "slots")},
        **dict(zip(("column", "row", "cage", "slot", "node"), places, strict=True)),
        **{axis: [getattr(node, axis) for node in ordered] for axis in "xyz"},
        "service": [node.on_floor for node in sorted(set(wiring.addresses) - set(ordered))],
    }


def named(machine: Machine, order: str) -> dict[str, Any]:
    """Return the identification of a recording's machine: the order of its list, its name, and its floor, if the pages
    do not have it.

    Parameters
    ----------
    machine : Machine
        The machine.
    order : str
        Name of the node order.

    Examples
    --------
    >>> named(Machine.load("hopper"), "xyz")
    {'order': 'xyz', 'machine': 'Hopper', 'floor': None}
    """
    floor = None if machine is Machine.load("hopper") else floor_of(machine, order)
    return {"order": order, "machine": machine.title, "floor": floor}


class Recorder(NamedTuple):
    """A schedule of a machine's nodes to watch, two days at a time.

    Parameters
    ----------
    machine : Machine
    schedule : Schedule
    end_s : int
        How far it is known. [s]
    order : str
        Of the node list, as in `hopperlib.network.torus.orders`.
    traffic : str
        Traffic of the jobs: none, or one of `hopperlib.network.runtime.sharing.MIXES`.
    more : mapping
        Additional data for a page: ``follow``, numbers of jobs to step through, ``milc`` and ``mean_s``.

    Examples
    --------
    >>> from hopperlib.scheduling.aging import aged_machine
    >>> schedule = aged_machine("production", nodes=6384, days=3, load=0.9)
    >>> recorder = Recorder(Machine.load("hopper"), schedule, 3 * 86400)
    >>> shown = recorder.recording(86400)
    >>> shown["from_s"], shown["until_s"], shown["end_s"]
    (86400, 259200, 259200)
    >>> set(recorder.links(0)), len(recorder.links(0))
    ({'0'}, 9792)
    """

    machine: Machine
    schedule: Schedule
    end_s: int
    order: str = "nid"
    traffic: str = "assumed"
    more: Mapping[str, Any] = {}

    def recording(self, from_s: int) -> dict[str, Any]:
        """Return two days from an instant [s] on, or the last two: jobs in the order of their starts, and those that wait at its end."""
        first_s = max(0, min(from_s, self.end_s - _PART_S))
        until_s = min(self.end_s, first_s + _PART_S)
        return {
            **self.more,
            **named(self.machine, self.order),
            "from_s": first_s,
            "until_s": until_s,
            "end_s": self.end_s,
            "held": sorted(holdings(self.schedule, first_s, until_s), key=lambda holding: holding[1]),
            "queued": queued(self.schedule, until_s),
        }

    def links(self, time_s: int) -> str:
        """Return the link loads at an instant [s], as in `link_digits`; empty if unknown."""
        return next(self.links_at([time_s]), "")

    def links_at(self, instants_s: Sequence[int]) -> Iterator[str]:
        """Yield the same for instants that rise [s]: many together take less than one by one."""
        known = histories(self.machine)
        if known is None or self.traffic == "none":
            return
        for shares in known.link_shares(self.schedule, _HABITS_SEED, self.order, instants_s, self.traffic):
            yield link_digits(shares, known.links.dimensions)


@lru_cache(maxsize=4)
def histories(machine: Machine) -> Histories | None:
    """Return a machine's histories, shared by all callers; None if link bandwidths are unknown.

    Parameters
    ----------
    machine : Machine
        Machine with a network.

    Examples
    --------
    >>> histories(Machine.load("perlmutter")) is None
    True
    """
    with suppress(InputError):
        return Histories(machine)
    return None


def link_digits(shares: Mapping[tuple[int, Coordinates], float], dimensions: Coordinates) -> str:
    """Return the used tenths of each link's bandwidth, one digit each: axis by axis, router by router.

    Parameters
    ----------
    shares : Mapping[tuple[int, Coordinates], float]
        Utilization of each link.
    dimensions : Coordinates
        Size of the torus along each axis.

    Examples
    --------
    >>> link_digits({(2, (0, 0, 0)): 0.57, (0, (0, 0, 1)): 1.0}, (1, 1, 2))
    '090050'
    """
    routers: list[Any] = list(product(*map(range, dimensions)))
    return "".join(str(min(9, int(10 * shares.get((axis, router), 0)))) for axis in range(3) for router in routers)
