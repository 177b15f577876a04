"""Data exchange rate of one placed job on a torus, alone and with other active jobs."""

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hopperlib.network.runtime.placed_jobs import Histories, milc_stream
from hopperlib.network.runtime.sharing import MIXES, Stream, draw_habit, fair_rates, link_utilization, streams_of
from hopperlib.network.runtime.traffic import Graph, grid_dimensions, hops_of_graph, nearest_neighbors
from hopperlib.network.torus.distances import Coordinates, Torus

_TASKS_PER_NODE = 24
# Write rate per node of a job that writes files. Assumed. [GB/s]
_WRITE_GB_S = 0.1
# Seed of the other jobs' traffic.
_SEED = 1


@lru_cache(maxsize=4)
def grid_neighbors(nodes: int) -> Graph:
    """Return the messages between the nodes of a job with 24 tasks per node, on a four-dimensional grid.

    Parameters
    ----------
    nodes : int
        Nodes of the job.

    Examples
    --------
    >>> sum(grid_neighbors(1).values())
    0
    """
    return nearest_neighbors(grid_dimensions(_TASKS_PER_NODE * nodes), _TASKS_PER_NODE)


def neighbor_hops(places: Sequence[Coordinates], torus: Torus) -> float:
    """Mean hops of a message from a node of a job to a neighbor on its grid; 0 without messages. [hops]

    Parameters
    ----------
    places : sequence of Coordinates
        Coordinates of the nodes.
    torus : Torus
        The torus.

    Examples
    --------
    >>> neighbor_hops([(0, 0, 0), (0, 0, 1)], Torus((9, 9, 9)))
    1.0
    """
    graph = grid_neighbors(len(places))
    messages = sum(graph.values())
    return hops_of_graph(graph, places, torus) / messages if messages else 0.0


class Exchange(NamedTuple):
    """Traffic of a job and of other jobs, with links shared max-min fairly.

    Parameters
    ----------
    network : Histories
        The links of the machine.
    streams : list of Stream
        Streams, the job's first.
    rates_gb_s : list of float
        Rate of a node of each stream with contention. [GB/s]
    alone_gb_s : float
        Rate of a node of the job alone. [GB/s]
    """

    network: Histories
    streams: list[Stream]
    rates_gb_s: list[float]
    alone_gb_s: float

    @property
    def shared_gb_s(self) -> float:
        """Rate of a node of the job with contention. [GB/s]"""
        return self.rates_gb_s[0]

    @property
    def link_shares(self) -> dict[tuple[int, Coordinates], float]:
        """Utilization of each link, from `hopperlib.network.runtime.sharing.link_utilization`. [fraction]"""
        return link_utilization(self.network.links, self.streams, self.rates_gb_s)


def exchange_with_contention(
    network: Histories, places: Sequence[Coordinates], others: Sequence[Sequence[Coordinates]], traffic: str
) -> Exchange:
    """Compute a job's data exchange rate with its neighbors on a grid, alone and with contention.

    Parameters
    ----------
    network : Histories
    places : sequence of (int, int, int)
        Position of each node of the job.
    others : sequence of sequence of (int, int, int)
        Positions of the nodes of each other job.
    traffic : str
        Traffic of the other jobs: ``none``, or one of `hopperlib.network.runtime.sharing.MIXES`.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> exchange = exchange_with_contention(Histories(Machine.load("hopper")), [(0, 0, 0), (0, 0, 1)], [], "none")
    >>> exchange.alone_gb_s == exchange.shared_gb_s > 0
    True
    """
    links, injection_gb_s = network.links, network.injection_gb_s
    rng = random.Random(_SEED)
    streams = [milc_stream(links, grid_neighbors(len(places)), places, injection_gb_s)]
    for there in others if traffic != "none" else ():
        habit = draw_habit(rng)
        streams += streams_of(links, there, habit, MIXES[traffic], routers=network.routers, write_gb_s=_WRITE_GB_S)
    (alone_gb_s,) = fair_rates(links, streams[:1], injection_gb_s=injection_gb_s)
    return Exchange(network, streams, fair_rates(links, streams, injection_gb_s=injection_gb_s), alone_gb_s)
