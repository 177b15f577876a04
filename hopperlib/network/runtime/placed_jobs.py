"""A communicating job placed repeatedly on a machine that runs other jobs.

MILC jobs of several sizes join the workload of a machine that starts empty, one every six hours. The scheduler treats
them like all others. For each job, the table has the variability study's metrics of its placement [1]_, and its message
slowness, alone and with its neighbors, at the start of each of its three runs.

`Histories` computes that; ten days take half a minute. The table ``data/placed-jobs.csv`` has the results for some
seeds, orders and allocations, so that a page can show them at once: `read_placed_jobs`. It is read here and not in the
study because explorers need it in the reader's browser, without the study's libraries; ``placed_jobs_table.py`` of the
book generates it.

References
----------
.. [1] NERSC, Application Performance Variability on Hopper, Data Analysis.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from hopperlib.data_files import rows
from hopperlib.errors import refusal
from hopperlib.machine import Machine
from hopperlib.network.runtime.link_loads import LinkMap, Pair
from hopperlib.network.runtime.sharing import (
    MIXES,
    Habit,
    Mix,
    Stream,
    all_reduce_s,
    draw_habit,
    fair_rates,
    link_utilization,
    streams_of,
)
from hopperlib.network.runtime.traffic import Graph, grid_dimensions, hops_of_graph, nearest_neighbors
from hopperlib.network.torus.allocation import max_hop_distance, mean_hop_distance
from hopperlib.network.torus.distances import Coordinates, Torus
from hopperlib.network.torus.hull import convex_hull
from hopperlib.network.torus.orders import compute_nodes, order_nodes
from hopperlib.network.torus.wiring import Wiring
from hopperlib.scheduling.generator import draw_workload
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.scheduler import simulate
from hopperlib.scheduling.workload import Job, Workload

#: Seeds of the histories in the table.
SEEDS = tuple(range(1, 21))
_FEW = SEEDS[:3]
#: Node order and allocation of each history, the sizes kept of it [tasks], and its seeds.
CASES: tuple[tuple[str, str, tuple[int, ...], tuple[int, ...]], ...] = (
    ("xyz-by2", "first", (8192,), SEEDS),
    ("nid", "first", (8192,), SEEDS),
    ("xyz-by2", "contiguous", (8192,), _FEW),
    ("xyz-by2", "first", (4096, 16384), _FEW),
)
#: Sizes of the MILC jobs, in turn. [tasks]
TASKS = (4096, 8192, 16384)
DAYS = 10
_EVERY_S = 6 * 3600
_RUNS = 3
_RUN_S = 1100
# Margin for the slowest runs, since the user does not know how long three runs take.
_LIMIT_S = 7200
#: Number of the first MILC job of a history; those of other jobs are lower.
FIRST_MILC = 1_000_000
# Traffic of a neighboring MILC job, in every mix.
_MILC = Habit(1.0, 3, 1.0, 1.0)
# Utilization by the other jobs; with the MILC jobs it is the assumed 94 %.
_LOAD = 0.93

#: The study's metrics: attribute of a placed job and its meaning.
METRICS = {
    "hops_geminis": "mean distance between Geminis",
    "hops_geminis_y2": "mean distance between Geminis, Y double",
    "hops_nodes": "mean distance between nodes",
    "hops_max": "greatest distance",
    "hops_milc": "hops of MILC's messages",
    "volume": "volume of the hull",
    "surface": "surface of the hull",
}
#: Assumptions of the histories.
ASSUMED = (
    "The scheduler walks the nodes in xyz-by2 order, whose definition is not printed.",
    "Jobs request 94 % of the machine's node-hours, including the MILC jobs.",
    "A job's nodes talk to their neighbors on a grid of one to three dimensions, or, in one job of five, to all others; "
    "how much they would send is drawn once per job, 0.5 GB/s per node on average.",
    "One job of ten writes during a run: all of them together as fast as both file systems go, through all service nodes.",
    "Jobs share links max-min fair; half-way round a ring, messages go both ways; a link carries both directions at once.",
    "MILC's tasks fill the nodes in the order of the list.",
    "The neighbors' traffic stays the same through one run.",
)


class PlacedJob(NamedTuple):
    """One job: its start, its position metrics, and the slowness of its messages.

    Parameters
    ----------
    order, allocation : str
        Node order and allocation of the history.
    seed : int
        Seed of the history.
    tasks, runs : int
        Size, and number of runs of consecutive nodes in the node list.
    running : int
        Jobs that ran when it started, itself included.
    day : float
        Start, counted from the reboot. [d]
    wait_h : float
        [h]
    hops_geminis, hops_geminis_y2, hops_nodes, hops_max : float
        Mean distances and the greatest. [hops]
    hops_milc : float
        Mean hops of its messages. [hops]
    volume, surface : float
        Of the convex hull of its Geminis' coordinates, in units of the torus.
    reduce_us : float
        Time of an all-reduce of one number. [us]
    own : float
        Its slowness without contention: time for a node to send 1 GB. [s/GB]
    stencils_1 and so on : float
        Its slowness at the start of each of three runs, for each of `hopperlib.network.runtime.sharing.MIXES`. [s/GB]
    """

    order: str
    allocation: str
    seed: int
    tasks: int
    runs: int
    running: int
    day: float
    wait_h: float
    hops_geminis: float
    hops_geminis_y2: float
    hops_nodes: float
    hops_max: float
    hops_milc: float
    volume: float
    surface: float
    reduce_us: float
    own: float
    stencils_1: float
    stencils_2: float
    stencils_3: float
    assumed_1: float
    assumed_2: float
    assumed_3: float
    double_1: float
    double_2: float
    double_3: float

    def slowness(self, traffic: str = "assumed") -> tuple[float, float, float]:
        """Slowness of each run, for a choice of the neighbors' traffic: none, or one of `MIXES`. [s/GB]

        Parameters
        ----------
        traffic : str, default 'assumed'
            ``none``, or one of `hopperlib.network.runtime.sharing.MIXES`.

        Raises
        ------
        InputError
            If there is no such choice.
        """
        if traffic == "none":
            return (self.own,) * 3
        if traffic not in MIXES:
            raise refusal("traffic", traffic, f"must be one of: none, {', '.join(MIXES)}")
        first, second, third = (float(getattr(self, f"{traffic}_{run}")) for run in (1, 2, 3))
        return first, second, third


class Histories:
    """Histories of a machine after a reboot, with MILC jobs among the others.

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
    8
    """

    def __init__(self, machine: Machine) -> None:
        self.links = LinkMap(machine)
        assert machine.network is not None
        self.injection_gb_s, self._latency_us = machine.network.node_bandwidth_gb_s, machine.network.latency_us
        self.write_gb_s = sum(system.peak_gb_s for system in machine.file_systems)
        self.node_write_gb_s = max((each.node_write_ceiling_gb_s or 0.0 for each in machine.file_systems), default=0.0)
        self.cores = machine.node().cores
        self._addresses = compute_nodes(machine)
        service = set(Wiring.of(machine).addresses) - set(self._addresses)
        self.routers = Counter(node.coordinates for node in service)
        self._schedules: dict[tuple[int, str, int, int | None], Schedule] = {}

    def schedule(self, seed: int, allocation: str, days: int = DAYS, *, until_day: int | None = None) -> Schedule:
        """Return the schedule of one history.

        Parameters
        ----------
        seed : int
        allocation : str
            As for `hopperlib.scheduling.scheduler.simulate`.
        days : int
        until_day : int or None
            Leave out jobs submitted from this day on: earlier starts are unchanged. [d]
        """
        key = seed, allocation, days, until_day
        if key not in self._schedules:
            rng, nodes = random.Random(seed), len(self._addresses)
            jobs = list(draw_workload("production", nodes=nodes, days=days, load=_LOAD, rng=rng))
            for number in range(days * 86_400 // _EVERY_S):
                width = -(-TASKS[number % len(TASKS)] // self.cores)
                jobs.append(Job(FIRST_MILC + number, number * _EVERY_S, width, _RUNS * _RUN_S, _LIMIT_S))
            end_s = 86_400 * (days if until_day is None else until_day)
            self._schedules[key] = simulate(
                Workload(job for job in jobs if job.submit_time_s < end_s), nodes, allocation=allocation
            )
        return self._schedules[key]

    def placed_jobs(
        self,
        seed: int,
        order: str,
        allocation: str,
        tasks: Sequence[int],
        *,
        days: int = DAYS,
        until_day: int | None = None,
    ) -> Iterator[PlacedJob]:
        """Yield the MILC jobs of one history, in order of submission.

        Parameters
        ----------
        seed : int
        order : str
            As in `hopperlib.network.torus.orders`.
        allocation : str
            As for `hopperlib.scheduling.scheduler.simulate`.
        tasks : sequence of int
            Sizes to keep, of `TASKS`.
        days, until_day : int
            As for `schedule`.

        Raises
        ------
        InputError
            If a size is not in `TASKS`, or the order is unknown.

        Examples
        --------
        The first job arrives on a nearly empty machine and has its links to itself:

        >>> histories = Histories(Machine.load("hopper"))
        >>> job = next(histories.placed_jobs(1, "xyz-by2", "first", [8192], days=1))
        >>> job.own <= job.assumed_1
        True
        """
        for size in tasks:
            if size not in TASKS:
                raise refusal(
                    "tasks", size, f"must be one of: {', '.join(map(str, TASKS))}, the sizes of the MILC jobs"
                )
        schedule = self.schedule(seed, allocation, days, until_day=until_day)
        places, neighbors = self._neighbors(schedule, seed, order)
        for index in schedule.finished():
            number = schedule.workload.job[index]
            # As in `schedule`: the sizes take turns.
            size = TASKS[(number - FIRST_MILC) % len(TASKS)]
            if number < FIRST_MILC or size not in tasks:
                continue
            running = len(schedule.running(schedule.start_s[index]))
            case = order, allocation, seed, size, schedule.run_count[index], running
            yield PlacedJob(*case, *self._measured(schedule, index, places, size, neighbors))

    @lru_cache(maxsize=4)  # noqa: B019 - histories are kept for good
    def _neighbors(self, schedule: Schedule, seed: int, order: str) -> tuple[list[Coordinates], "_Neighbors"]:
        """Return the positions of a list's nodes, and the traffic of a history's jobs; cached, because it is used for
        many instants.
        """
        places = [node.coordinates for node in order_nodes(self._addresses, order)]
        # A job's traffic belongs to the job, not to the history's allocation or order: use a separate generator.
        rng = random.Random(seed + 1000)
        drawn = {number: draw_habit(rng) for number in sorted(schedule.workload.job) if number < FIRST_MILC}
        habits = [drawn.get(number, _MILC) for number in schedule.workload.job]
        return places, _Neighbors(self, schedule, places, habits)

    def link_shares(
        self, schedule: Schedule, seed: int, order: str, instants_s: Sequence[int], traffic: str = "assumed"
    ) -> Iterator[dict[tuple[int, Coordinates], float]]:
        """Yield the utilization of the links at each instant of a history, with fair sharing among all jobs.

        Parameters
        ----------
        schedule : Schedule
            Result of `schedule`.
        seed, order
            As for `placed_jobs`.
        instants_s : sequence of int
            Increasing times. [s]
        traffic : str
            One of `hopperlib.network.runtime.sharing.MIXES`.

        Yields
        ------
        dict
            Axis and lower router of each link -> load of its busier direction over its bandwidth. [fraction]

        Examples
        --------
        >>> histories = Histories(Machine.load("hopper"))
        >>> (shares,) = histories.link_shares(histories.schedule(1, "first", days=1), 1, "xyz-by2", [64_800])
        >>> round(max(shares.values()), 3)
        1.0
        """
        _, neighbors = self._neighbors(schedule, seed, order)
        for time_s in instants_s:
            streams = neighbors.streams(time_s, MIXES[traffic], -1)
            rates_gb_s = fair_rates(self.links, streams, injection_gb_s=self.injection_gb_s)
            yield link_utilization(self.links, streams, rates_gb_s)

    def streams_at_start(self, job: PlacedJob, traffic: str = "assumed") -> tuple[list[Coordinates], list[Stream]]:
        """Return the position of a placed job, and the streams at the start of its first run: the job's first, then its
        neighbors'.

        Parameters
        ----------
        job : PlacedJob
            A job of a history of this machine.
        traffic : str
            One of `hopperlib.network.runtime.sharing.MIXES`.

        Examples
        --------
        >>> histories = Histories(Machine.load("hopper"))
        >>> job = next(histories.placed_jobs(1, "xyz-by2", "first", [8192], until_day=1))
        >>> places, streams = histories.streams_at_start(job)
        >>> len(places), round(1 / fair_rates(histories.links, streams[:1], injection_gb_s=6.0)[0], 4) == job.own
        (342, True)
        """
        schedule = self.schedule(job.seed, job.allocation, until_day=int(job.day) + 1)
        all_places, neighbors = self._neighbors(schedule, job.seed, job.order)
        width = -(-job.tasks // self.cores)
        index = next(
            index
            for index in schedule.finished()
            if schedule.workload.job[index] >= FIRST_MILC
            and schedule.workload.nodes[index] == width
            and round(schedule.start_s[index] / 86_400, 2) == job.day
        )
        places = _of_job(schedule, index, all_places)
        stream = milc_stream(self.links, _graph(job.tasks, self.cores), places, self.injection_gb_s)
        return places, [stream, *neighbors.streams(schedule.start_s[index], MIXES[traffic], index)]

    def _measured(
        self, schedule: Schedule, index: int, all_places: Sequence[Coordinates], tasks: int, neighbors: "_Neighbors"
    ) -> Iterator[float]:
        """Yield start, wait, metrics and slowness of one job."""
        links, graph = self.links, _graph(tasks, self.cores)
        places = _of_job(schedule, index, all_places)
        geminis = sorted(set(places))
        plain = Torus(links.dimensions)
        start = schedule.start_s[index]
        yield round(start / 86_400, 2)
        yield round((start - schedule.workload.submit_time_s[index]) / 3600, 2)
        yield round(mean_hop_distance(geminis, plain), 3)
        yield round(mean_hop_distance(geminis, Torus(links.dimensions, (1, 2, 1))), 3)
        nodes_apart = round(mean_hop_distance(places, plain), 3)
        yield nodes_apart
        yield max_hop_distance(geminis, plain)
        yield round(hops_of_graph(graph, places, plain) / sum(graph.values()), 3)
        # As in the study: the raw coordinates, without opening the torus.
        hull = convex_hull(geminis)
        yield round(hull.volume, 1)
        yield round(hull.surface, 1)
        yield round(1e6 * all_reduce_s(len(places), nodes_apart, latency_us=self._latency_us), 2)
        stream = milc_stream(links, graph, places, self.injection_gb_s)
        alone = self._slowness(stream, [])
        yield alone
        # The job never gets more than alone, so limiting its wanted rate changes nothing and leaves far fewer links to
        # check.
        stream = stream._replace(wants_gb_s=1 / alone)
        for mix in MIXES.values():
            for run in range(_RUNS):
                yield self._slowness(stream, neighbors.streams(start + run * _RUN_S, mix, index))

    def _slowness(self, stream: Stream, others: Sequence[Stream]) -> float:
        """Return the time for a node of a job to send 1 GB. [s/GB]"""
        return round(1 / fair_rates(self.links, [stream, *others], injection_gb_s=self.injection_gb_s)[0], 4)


class _Neighbors:
    """Traffic of a history's jobs at any instant."""

    def __init__(
        self, histories: Histories, schedule: Schedule, places: Sequence[Coordinates], habits: Sequence[Habit]
    ) -> None:
        self._histories, self._schedule, self._places, self._habits = histories, schedule, places, habits
        # Streams do not change while a job runs, and most jobs run near several MILC jobs.
        self._kept: dict[tuple[int, Mix], list[Stream]] = {}

    def streams(self, time_s: int, mix: Mix, without: int) -> list[Stream]:
        """Return the streams of the jobs that run at the same time as one."""
        ends = self._schedule.end_s
        self._kept = {key: streams for key, streams in self._kept.items() if ends[key[0]] > time_s}
        others = [index for index in self._schedule.running(time_s) if index != without]
        nodes = self._schedule.workload.nodes
        writers = sum(nodes[index] for index in others if self._habits[index].writes < mix.writing)
        # All writers share the bandwidth of the file systems.
        write_gb_s = min(self._histories.node_write_gb_s, self._histories.write_gb_s / max(1, writers))
        return [
            stream._replace(wants_gb_s=write_gb_s if stream.writes else self._habits[index].rate_gb_s * mix.times)
            for index in others
            for stream in self._of(index, mix)
        ]

    def _of(self, index: int, mix: Mix) -> list[Stream]:
        """Return the streams of a job in a mix, at any rate."""
        habit = self._habits[index]
        # Only the job's position relative to the shares of a mix matters.
        mix = Mix(float(habit.pattern < mix.all_to_all), float(habit.writes < mix.writing))
        if (index, mix) not in self._kept:
            self._kept[index, mix] = streams_of(
                self._histories.links,
                _of_job(self._schedule, index, self._places),
                habit._replace(pattern=0.5, writes=0.5),
                mix,
                routers=self._histories.routers,
            )
        return self._kept[index, mix]


def milc_stream(links: LinkMap, graph: Graph, places: Sequence[Coordinates], wants_gb_s: float) -> Stream:
    """Return the stream of a job from its graph, with equal traffic in both directions.

    Parameters
    ----------
    links : LinkMap
    graph : mapping
        Pairs of nodes of the job -> messages.
    places : sequence of (int, int, int)
        Where each node of the job sits.
    wants_gb_s : float
        Rate of a node without contention. [GB/s]

    Examples
    --------
    >>> links = LinkMap(Machine.load("hopper"))
    >>> milc_stream(links, {(0, 1): 3}, [(0, 0, 0), (0, 0, 1)], 6.0).sends
    3.0
    """
    messages: Counter[Pair] = Counter()
    for (here, there), count in graph.items():
        messages[places[here], places[there]] += count
    return Stream(links.of_messages(messages, replies=True), 2 * sum(graph.values()) / len(places), wants_gb_s)


@cache
def _graph(tasks: int, cores: int) -> Graph:
    """Return the communication graph of a MILC job."""
    return nearest_neighbors(grid_dimensions(tasks), cores)


def _of_job(schedule: Schedule, index: int, places: Sequence[Coordinates]) -> list[Coordinates]:
    """Return the positions of a job's nodes."""
    return [places[position] for low, high in schedule.runs(index) for position in range(low, high)]


@cache
def read_placed_jobs(name: str = "placed-jobs.csv") -> tuple[PlacedJob, ...]:
    """Return the rows of a table in ``data`` that the book generates.

    Parameters
    ----------
    name : str, default 'placed-jobs.csv'
        File name in the data folder.

    Examples
    --------
    >>> read_placed_jobs()[0].order
    'xyz-by2'
    """
    fields = PlacedJob._fields
    kinds = (str, str, *(int,) * 4, *(float,) * (len(fields) - 6))
    return tuple(
        PlacedJob(*(kind(row[field]) for kind, field in zip(kinds, fields, strict=True))) for row in rows(name)
    )


@cache
def selected(order: str, allocation: str, tasks: int) -> tuple[PlacedJob, ...]:
    """Return the rows of one order, allocation and size.

    Parameters
    ----------
    order : str
        Name of the node order.
    allocation : str
        Name of the allocation method.
    tasks : int
        Number of tasks.

    Examples
    --------
    >>> {job.runs for job in selected("xyz-by2", "contiguous", 8192)}
    {1}
    """
    wanted = (order, allocation, tasks)
    return tuple(job for job in read_placed_jobs() if (job.order, job.allocation, job.tasks) == wanted)
