"""A communicating job placed again and again on a machine that runs other jobs.

MILC jobs of several sizes join the workload of a machine that starts empty,
one every two hours. The scheduler treats them like all others. For each one
stands what the variability study measured of its placement [1]_, and how busy
its worst link is alone and with its neighbors, at the start of each of its
three runs.

`Histories` computes that; a month takes half a minute. The table
``data/placed-jobs.csv`` holds the outcome for some seeds, orders and
allocations, so that a page can answer at once: `read_placed_jobs`. It is read here and not
in the study, since explorers ask for it in the reader's browser, where the study's libraries are not;
`hopperlib.studies.network.placed_jobs_table` makes it.

References
----------
.. [1] NERSC, Application Performance Variability on Hopper, Data Analysis.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from hopperlib.documented.data_files import rows
from hopperlib.errors import refusal
from hopperlib.machine import Machine
from hopperlib.network.runtime.run_time import LinkMap, draw_traffic, neighbor_messages
from hopperlib.network.runtime.traffic import Graph, grid_dimensions, hops_of_graph, nearest_neighbors
from hopperlib.network.scheduling.generator import draw_workload
from hopperlib.network.scheduling.schedule import Schedule
from hopperlib.network.scheduling.scheduler import simulate
from hopperlib.network.scheduling.workload import Job, Workload
from hopperlib.network.torus.allocation import max_hop_distance, mean_hop_distance
from hopperlib.network.torus.distances import Coordinates, Torus
from hopperlib.network.torus.hull import convex_hull
from hopperlib.network.torus.orders import compute_nodes, order_nodes

__all__ = ["ASSUMED", "CASES", "METRICS", "SEEDS", "TASKS", "Histories", "PlacedJob", "read_placed_jobs", "selected"]

#: Seeds of the histories in the table.
SEEDS = (1, 2, 3)
#: Node order and allocation of each history, and the sizes kept of it. [tasks]
CASES: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("xyz_by2", "first", (4096, 8192, 16384)),
    ("xyz_by2", "contiguous", (8192,)),
    ("nid", "first", (8192,)),
)
#: Sizes of the MILC jobs, in turn, one every two hours. [tasks]
TASKS = (4096, 8192, 16384)
DAYS = 28
_EVERY_S = 7200
_RUNS = 3
_RUN_S = 1100
# Room for the slowest runs; the user does not know how long three of them take.
_LIMIT_S = 7200
_FIRST_NUMBER = 1_000_000
_UNIT_TASKS = 8192
# Of the other jobs; the MILC jobs bring it to the 94 % of the assumptions.
_LOAD = 0.91

#: The study's metrics: attribute and what it is.
METRICS: dict[str, str] = {
    "hops_geminis": "mean distance between Geminis",
    "hops_geminis_y2": "mean distance between Geminis, Y double",
    "hops_nodes": "mean distance between nodes",
    "hops_max": "greatest distance",
    "hops_milc": "hops of MILC's messages",
    "volume": "volume of the hull",
    "surface": "surface of the hull",
}

ASSUMED: tuple[str, ...] = (
    "The scheduler walks the nodes in xyz-by2 order, whose definition is not printed.",
    "The machine is asked for 94 % of its node-hours, the MILC jobs included; narrow jobs come bundled to 16 nodes.",
    "A job's nodes talk to their neighbors on a grid in three dimensions; how much is drawn once a job, half as much as MILC's on average.",
    "MILC's tasks fill the nodes in the order of the list; its all-reduces weigh nothing beside its sends.",
    "The neighbors' traffic stays the same through one run.",
)


class PlacedJob(NamedTuple):
    """One job: when and where it ran, its metrics, its worst link.

    Parameters
    ----------
    order, allocation : str
        Node order and allocation of the history.
    seed : int
        Of the history.
    tasks, runs : int
        Size, and runs of the node list that it lies in.
    day : float
        Start since the reboot. [d]
    wait_h : float
        [h]
    hops_geminis, hops_geminis_y2, hops_nodes, hops_max : float
        Mean distances and the greatest. [hops]
    hops_milc : float
        Mean hops of its messages. [hops]
    volume, surface : float
        Of the convex hull of its Geminis' coordinates, in units of the torus.
    own : float
        Worst link with nothing around it. [messages on a link along X]
    shared_1, shared_2, shared_3 : float
        Worst link at the start of each run, with the neighbors' traffic. [messages on a link along X]
    double_1, double_2, double_3 : float
        The same with the neighbors' traffic doubled.
    """

    order: str
    allocation: str
    seed: int
    tasks: int
    runs: int
    day: float
    wait_h: float
    hops_geminis: float
    hops_geminis_y2: float
    hops_nodes: float
    hops_max: float
    hops_milc: float
    volume: float
    surface: float
    own: float
    shared_1: float
    shared_2: float
    shared_3: float
    double_1: float
    double_2: float
    double_3: float

    def worst_links(self, traffic: str = "assumed") -> tuple[float, float, float]:
        """Worst link of each run, for a choice of the neighbors' traffic: none, assumed or double.

        Raises
        ------
        InputError
            If there is no such choice.
        """
        choices = {"none": (self.own,) * 3, "assumed": self[-6:-3], "double": self[-3:]}
        if traffic not in choices:
            raise refusal("traffic", traffic, f"must be one of: {', '.join(choices)}")
        return choices[traffic]


class Histories:
    """Histories of a machine from a reboot on, with MILC jobs among the others.

    Parameters
    ----------
    machine : Machine
        A machine with a torus and one kind of processor.

    Raises
    ------
    InputError
        If the machine states no torus or no link bandwidths.

    Examples
    --------
    >>> histories = Histories(Machine.load("hopper"))
    >>> sum(number >= 1_000_000 for number in histories.schedule(1, "first", days=2).workload.job)
    24
    """

    def __init__(self, machine: Machine) -> None:
        self.links = LinkMap(machine)
        self.cores = machine.node().cores
        self._addresses = compute_nodes(machine)
        self._schedules: dict[tuple[int, str, int], Schedule] = {}

    def schedule(self, seed: int, allocation: str, days: int = DAYS) -> Schedule:
        """Return the schedule of one history.

        Parameters
        ----------
        seed : int
        allocation : str
            As for `hopperlib.network.scheduling.scheduler.simulate`.
        days : int
        """
        key = seed, allocation, days
        if key not in self._schedules:
            rng, nodes = random.Random(seed), len(self._addresses)
            jobs = list(draw_workload("production", nodes=nodes, days=days, load=_LOAD, rng=rng, smallest=16))
            for number in range(days * 86_400 // _EVERY_S):
                width = -(-TASKS[number % len(TASKS)] // self.cores)
                jobs.append(Job(_FIRST_NUMBER + number, number * _EVERY_S, width, _RUNS * _RUN_S, _LIMIT_S))
            self._schedules[key] = simulate(Workload(jobs), nodes, allocation=allocation)
        return self._schedules[key]

    def placed_jobs(
        self, seed: int, order: str, allocation: str, tasks: Sequence[int], *, days: int = DAYS
    ) -> Iterator[PlacedJob]:
        """Yield the MILC jobs of one history, in order of submission.

        Parameters
        ----------
        seed : int
        order : str
            As in `hopperlib.network.torus.orders`.
        allocation : str
            As for `hopperlib.network.scheduling.scheduler.simulate`.
        tasks : sequence of int
            Sizes to keep, of `TASKS`.
        days : int

        Raises
        ------
        InputError
            If a size is none of `TASKS`, or the order is unknown.

        Examples
        --------
        The first job comes to a machine that is nearly empty, and has its links for itself:

        >>> histories = Histories(Machine.load("hopper"))
        >>> job = next(histories.placed_jobs(1, "xyz_by2", "first", [8192], days=1))
        >>> job.runs, job.own == job.shared_1
        (2, True)
        """
        for size in tasks:
            if size not in TASKS:
                raise refusal(
                    "tasks", size, f"must be one of: {', '.join(map(str, TASKS))}, the sizes of the MILC jobs"
                )
        schedule = self.schedule(seed, allocation, days)
        places = [node.coordinates for node in order_nodes(self._addresses, order)]
        # How much a job sends belongs to the job, not to the history's allocation or order: a generator of its own.
        rng = random.Random(seed + 1000)
        drawn = {number: draw_traffic(rng) for number in sorted(schedule.workload.job)}
        # Messages of a node of MILC on 8,192 cores: the unit in which traffic is drawn. A MILC job sends as much.
        unit = 2 * sum(_graph(_UNIT_TASKS, self.cores).values()) / -(-_UNIT_TASKS // self.cores)
        traffic = [unit * (1.0 if number >= _FIRST_NUMBER else drawn[number]) for number in schedule.workload.job]
        for index in schedule.finished():
            number = schedule.workload.job[index]
            size = TASKS[(number - _FIRST_NUMBER) % len(TASKS)]
            if number < _FIRST_NUMBER or size not in tasks:
                continue
            case = order, allocation, seed, size, schedule.run_count[index]
            yield PlacedJob(*case, *self._measured(schedule, index, places, size, traffic))

    def _measured(
        self, schedule: Schedule, index: int, all_places: Sequence[Coordinates], tasks: int, traffic: Sequence[float]
    ) -> Iterator[float]:
        """Yield start, wait, metrics and worst links of one job."""
        links, graph = self.links, _graph(tasks, self.cores)
        places = _of_job(schedule, index, all_places)
        geminis = sorted(set(places))
        plain = Torus(links.dimensions)
        start = schedule.start_s[index]
        yield round(start / 86_400, 2)
        yield round((start - schedule.workload.submit_time_s[index]) / 3600, 2)
        yield round(mean_hop_distance(geminis, plain), 3)
        yield round(mean_hop_distance(geminis, Torus(links.dimensions, (1, 2, 1))), 3)
        yield round(mean_hop_distance(places, plain), 3)
        yield max_hop_distance(geminis, plain)
        yield round(hops_of_graph(graph, places, plain) / sum(graph.values()), 3)
        # As the study did it: the coordinates as they are, not opened where the torus closes.
        hull = convex_hull(geminis)
        yield round(hull.volume, 1)
        yield round(hull.surface, 1)
        own = links.loads((places[a], places[b], count) for (a, b), count in graph.items())
        others = [self._others(schedule, index, start + run * _RUN_S, all_places, traffic) for run in range(_RUNS)]
        yield round(links.worst(own), 1)
        for share in (1.0, 2.0):
            for each in others:
                yield round(links.worst(own, each, share), 1)

    def _others(
        self, schedule: Schedule, index: int, time_s: int, places: Sequence[Coordinates], traffic: Sequence[float]
    ) -> list[float]:
        """Return the messages on each link, of the jobs that run beside one."""
        messages = []
        for other, (start, end) in enumerate(zip(schedule.start_s, schedule.end_s, strict=True)):
            if start <= time_s < end and other != index and schedule.run_count[other]:
                messages += neighbor_messages(_of_job(schedule, other, places), traffic[other])
        return self.links.loads(messages)


@cache
def _graph(tasks: int, cores: int) -> Graph:
    """Return who talks to whom in a MILC job."""
    return nearest_neighbors(grid_dimensions(tasks), cores)


def _of_job(schedule: Schedule, index: int, places: Sequence[Coordinates]) -> list[Coordinates]:
    """Return where the nodes of a job sit."""
    return [places[position] for low, high in schedule.runs(index) for position in range(low, high)]


@cache
def read_placed_jobs() -> tuple[PlacedJob, ...]:
    """Return the rows of ``data/placed-jobs.csv``.

    Examples
    --------
    >>> read_placed_jobs()[0].order
    'xyz_by2'
    """
    kinds = (str, str, int, int, int, *(float,) * 16)
    names = PlacedJob._fields
    return tuple(
        PlacedJob(*(kind(row[name]) for kind, name in zip(kinds, names, strict=True)))
        for row in rows("placed-jobs.csv")
    )


@cache
def selected(
    order: str, allocation: str, tasks: int, from_day: float = 0.0, to_day: float = 99.0
) -> tuple[PlacedJob, ...]:
    """Return the rows of one order, allocation and size, started within some days of the reboot.

    Examples
    --------
    >>> {job.runs for job in selected("xyz_by2", "contiguous", 8192)}
    {1}
    """
    return tuple(
        job
        for job in read_placed_jobs()
        if (job.order, job.allocation, job.tasks) == (order, allocation, tasks) and from_day <= job.day < to_day
    )
