"""Sharing of a torus' links by jobs: traffic and rates.

A job is a *stream*: a pattern of messages at one common rate, since a parallel code waits for the last of them, and the
rate at which its nodes would send without contention. Rates are shared max-min fairly [1]_: all rise together; a stream
stops at its wanted rate, or when the first of its links is full. So neighbors slow each other down, and none sends more
than its node can.

The traffic of a machine's jobs is not published. `draw_stream` draws it; the tables here are assumptions, and a mix of
them is a control of the explorer.

References
----------
.. [1] D. Bertsekas and R. Gallager, Data Networks, 2nd ed., sec. 6.5.2.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from math import ceil, log2
from typing import NamedTuple

from hopperlib.errors import refusal
from hopperlib.network.runtime.link_loads import WHOLE, LinkMap, Loads
from hopperlib.network.torus.distances import Coordinates
from hopperlib.scheduling.generator import interpolate

#: Mean rate of a job's nodes at equal steps of probability. [GB/s per node] Half of the jobs want less than a quarter,
# few more than one. Assumed; a node can send 6.
RATES_GB_S = (0.0, 0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.6, 0.9, 1.3, 2.0)
#: Dimensions of the grids of stencil codes, and their frequencies. Assumed.
STENCILS = ((1, 0.2), (2, 0.3), (3, 0.5))


class Mix(NamedTuple):
    """Traffic of a machine's jobs: all assumed.

    Parameters
    ----------
    all_to_all, writing : float
        Share of the jobs with all-to-all instead of grid communication; and of those that also write to the file
        systems. [fraction]
    times : float
        Factor on the drawn rates.
    """

    all_to_all: float
    writing: float
    times: float = 1.0


#: Mixes by name.
MIXES: dict[str, Mix] = {"stencils": Mix(0.0, 0.0), "assumed": Mix(0.2, 0.1), "double": Mix(0.2, 0.1, 2.0)}


class Habit(NamedTuple):
    """Properties of a job, wherever it runs: wanted rate [GB/s per node], dimensions of its grid, and two draws."""

    rate_gb_s: float
    dimensions: int
    pattern: float
    writes: float


def draw_habit(rng: random.Random) -> Habit:
    """Draw the traffic of a job.

    Parameters
    ----------
    rng : random.Random
        Source of random numbers.

    Examples
    --------
    >>> rng = random.Random(1)
    >>> habits = [draw_habit(rng) for _ in range(1000)]
    >>> round(sum(habit.rate_gb_s for habit in habits) / 1000, 1), max(habit.dimensions for habit in habits)
    (0.5, 3)
    """
    rate, u = interpolate(RATES_GB_S, rng.random()), rng.random()
    # Inversion: subtract the shares from u one after the other; a remainder from rounding goes to the last.
    dimensions = next((axes for axes, share in STENCILS[:-1] if (u := u - share) < 0), STENCILS[-1][0])
    return Habit(rate, dimensions, rng.random(), rng.random())


class Stream(NamedTuple):
    """A job's messages and its wanted rate.

    Parameters
    ----------
    loads : mapping
        Messages on the links, as returned by `LinkMap`.
    sends : float
        Messages that a node sends for these, including those that use no link.
    wants_gb_s : float
        Rate of a node without contention. [GB/s]
    writes : bool
        Whether these go to the file systems.
    """

    loads: Loads
    sends: float
    wants_gb_s: float
    writes: bool = False


def _strides(nodes: int, dimensions: int) -> list[int]:
    """Return the distances in a job's list between a node's neighbors, on a grid that is as even as possible."""
    # Neighbors along an axis are a power of the grid's side apart in the list; axes longer than the list are omitted.
    side = max(1, round(nodes ** (1 / dimensions)))
    return sorted({stride for stride in (side**axis for axis in range(dimensions)) if stride < nodes})


def stencil(links: LinkMap, places: Sequence[Coordinates], dimensions: int, wants_gb_s: float) -> Stream:
    """Return the stream of a job whose nodes exchange messages with their neighbors on a grid.

    Parameters
    ----------
    links : LinkMap
    places : sequence of (int, int, int)
        Position of each node of the job; the list is a ring.
    dimensions : int
        Dimensions of the grid.
    wants_gb_s : float
        [GB/s per node]

    Examples
    --------
    Two adjacent nodes exchange two messages each way, since the list of two is a ring:

    >>> from hopperlib.machine import Machine
    >>> links = LinkMap(Machine.load("hopper"))
    >>> [(link, count) for link, count, _ in links.each(stencil(links, [(0, 0, 0), (0, 0, 1)], 1, 1.0).loads)]
    [((2, (0, 0, 0), 1), 2.0), ((2, (0, 0, 1), -1), 2.0)]
    """
    strides = _strides(len(places), dimensions)
    pairs = chain.from_iterable(zip(places, [*places[stride:], *places[:stride]], strict=True) for stride in strides)
    return Stream(links.of_pairs(pairs, replies=True), 2.0 * len(strides), wants_gb_s)


def streams_of(
    links: LinkMap,
    places: Sequence[Coordinates],
    habit: Habit,
    mix: Mix,
    *,
    routers: Mapping[Coordinates, int],
    write_gb_s: float = 0.0,
) -> list[Stream]:
    """Return the streams of a job in a mix.

    Parameters
    ----------
    links : LinkMap
    places : sequence of (int, int, int)
        Where each node of the job sits.
    habit : Habit
    mix : Mix
    routers : mapping
        Positions of the service nodes through which files are written, and their number at each position.
    write_gb_s : float
        Write rate of a node of a job that writes. [GB/s]

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> links, two = LinkMap(Machine.load("hopper")), [(0, 0, 0), (0, 0, 1)]
    >>> [stream.writes for stream in streams_of(links, two, Habit(0.5, 3, 0.9, 0.05), MIXES["assumed"], routers={(4, 4, 4): 2})]
    [False, True]
    """
    streams, wanted = [], habit.rate_gb_s * mix.times
    # A job on one node sends no messages.
    if wanted and len(places) > 1:
        if habit.pattern < mix.all_to_all:
            nodes = Counter(places)
            streams.append(Stream(links.between(nodes, nodes), float(len(places)), wanted))
        else:
            streams.append(stencil(links, places, habit.dimensions, wanted))
    if routers and habit.writes < mix.writing:
        streams.append(Stream(links.between(Counter(places), routers), float(sum(routers.values())), write_gb_s, True))
    return streams


def fair_rates(links: LinkMap, streams: Sequence[Stream], *, injection_gb_s: float) -> list[float]:
    """Return the max-min fair rate of each stream. [GB/s per node]

    Parameters
    ----------
    links : LinkMap
    streams : sequence of Stream
    injection_gb_s : float
        Maximum send rate of a node. [GB/s]

    Raises
    ------
    InputError
        If the limit is not positive.

    Examples
    --------
    Two jobs cross one link of 9.375 GB/s. One requests little and gets it, the other gets the rest:

    >>> from hopperlib.machine import Machine
    >>> links = LinkMap(Machine.load("hopper"))
    >>> loads = links.of_messages({((0, 0, 0), (1, 0, 0)): 2})
    >>> fair_rates(links, [Stream(loads, 1.0, 1.0), Stream(loads, 1.0, 6.0)], injection_gb_s=6.0)
    [1.0, 3.6875]
    """
    if injection_gb_s <= 0:
        raise refusal("injection_gb_s", injection_gb_s, "must be above 0: a node sends something")
    wants = [min(stream.wants_gb_s, injection_gb_s) for stream in streams]
    # Rates are integers in bytes per second, so that whole rings are added at once.
    per_gb_s = [1e9 / stream.sends for stream in streams]
    offered: dict[int, int] = defaultdict(int)
    on_ring: dict[int, list[int]] = defaultdict(list)
    for index, (stream, want) in enumerate(zip(streams, wants, strict=True)):
        scale = round(want * per_gb_s[index])
        for ring, lanes in stream.loads.items():
            offered[ring] += scale * lanes
            on_ring[ring].append(index)
    room: list[float] = []  # Load of each link that would be overloaded, in units of the lanes.
    weights: list[dict[int, float]] = []  # Load added by a stream per GB/s.
    for ring, packed in offered.items():
        # Only a link that cannot carry all wanted traffic can limit a stream.
        for lane in links.overfull(ring, packed):
            room.append(links.capacity_gb_s[ring][lane] * 1e9 * WHOLE)
            users = ((index, links.lane(streams[index].loads[ring], lane)) for index in on_ring[ring])
            weights.append({index: count * per_gb_s[index] for index, count in users if count})
    return fill(wants, room, weights)


def link_utilization(
    links: LinkMap, streams: Sequence[Stream], rates_gb_s: Sequence[float]
) -> dict[tuple[int, Coordinates], float]:
    """Return the utilization of each used link at some rates: axis and lower router -> the busier of its two
    directions. [fraction]

    Parameters
    ----------
    links : LinkMap
        Bandwidth of each link.
    streams : sequence of Stream
        The streams.
    rates_gb_s : sequence of float
        Rate of a node of each stream. [GB/s]

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> links = LinkMap(Machine.load("hopper"))
    >>> link_utilization(links, [Stream(links.of_messages({((0, 0, 0), (1, 0, 0)): 2}), 1.0, 1.0)], [1.0])
    {(0, (0, 0, 0)): 0.21333333333333335}
    """
    carried: Counter[int] = Counter()
    for stream, rate_gb_s in zip(streams, rates_gb_s, strict=True):
        # In bytes per second, so that whole rings are added at once.
        scale = round(1e9 * rate_gb_s / stream.sends)
        for ring, lanes in stream.loads.items():
            carried[ring] += scale * lanes
    shares: dict[tuple[int, Coordinates], float] = {}
    for (axis, router, direction), bytes_s, capacity_gb_s in links.each(carried):
        link = axis, router if direction > 0 else links.below(router, axis)
        shares[link] = max(shares.get(link, 0.0), bytes_s / 1e9 / capacity_gb_s)
    return shares


def fill(wants: Sequence[float], room: list[float], weights: Sequence[Mapping[int, float]]) -> list[float]:
    """Raise all rates together; freeze a stream at its wanted rate, and the streams of a link once it is full.

    Parameters
    ----------
    wants : sequence of float
        Wanted rate of each stream. [GB/s]
    room : list of float
        Bandwidth of each link; modified in place.
    weights : sequence of mapping
        For each link: stream -> load added per GB/s.

    Examples
    --------
    >>> fill([1.0, 6.0], [9.375], [{0: 2.0, 1: 2.0}])
    [1.0, 3.6875]
    """
    rates = list(wants)
    links_of: dict[int, list[int]] = defaultdict(list)
    for link, users in enumerate(weights):
        for index in users:
            links_of[index].append(link)
    # Load added to a link when all its rising streams gain 1 GB/s.
    slope = [sum(users.values()) for users in weights]
    rising = sorted(links_of, key=lambda index: wants[index])
    # Links that a stream may still fill, and the number of rising streams on each.
    left = {link: len(users) for link, users in enumerate(weights)}

    def freeze(index: int, rate: float) -> None:
        rising.remove(index)
        rates[index] = rate
        for link in links_of[index]:
            room[link] -= weights[link][index] * rate
            slope[link] -= weights[link][index]
            left[link] -= 1
            if not left[link]:
                del left[link]

    while left:
        # The first link to be full if all rising streams continue together.
        level, link = min((room[link] / slope[link], link) for link in left)
        # A stream at its wanted rate leaves more to the others, so the level only rises: freeze all of these at once.
        content = [index for index in rising if wants[index] <= level]
        for index in content or [index for index in weights[link] if index in rising]:
            freeze(index, min(level, wants[index]))
    return rates


def all_reduce_s(nodes: int, hops: float, *, latency_us: float, overhead_us: float = 0.5, hop_us: float = 0.1) -> float:
    """Time of an all-reduce of one number over the nodes of a job, by LogGP [1]_. [s]

    The tree is traversed up and down: each level costs a message and the processor's overhead at both ends. One number
    is too short for the gap per byte to matter.

    Parameters
    ----------
    nodes : int
    hops : float
        Mean distance between the nodes. [hops]
    latency_us : float
        Latency of the shortest message between neighbors. [us]
    overhead_us, hop_us : float
        Overhead at each end, and time per hop after the first; both assumed. [us]

    Raises
    ------
    InputError
        If there are no nodes.

    Examples
    --------
    >>> round(1e6 * all_reduce_s(342, 6.0, latency_us=1.6), 1)
    55.8

    References
    ----------
    .. [1] A. Alexandrov and others, LogGP, SPAA 1995.
    """
    if nodes < 1:
        raise refusal("nodes", nodes, "must be at least 1")
    message_us = latency_us + 2 * overhead_us + hop_us * max(0.0, hops - 1)
    return 2 * ceil(log2(nodes)) * message_us / 1e6
