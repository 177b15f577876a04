"""How fast the nodes of one placed job exchange data on a torus, alone and beside jobs that send as well."""

import random
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from hopperlib.network.runtime.placed_jobs import Histories, milc_stream
from hopperlib.network.runtime.sharing import MIXES, Stream, draw_habit, fair_rates, shares_in_use, streams_of
from hopperlib.network.runtime.traffic import Graph, grid_dimensions, hops_of_graph, nearest_neighbors
from hopperlib.network.torus.distances import Coordinates, Torus

_TASKS_PER_NODE = 24
# The rate at which a node of a job that writes files does so. Assumed. [GB/s]
_WRITE_GB_S = 0.1
# What the other jobs send is drawn with this seed.
_SEED = 1


@lru_cache(maxsize=4)
def grid_neighbors(nodes: int) -> Graph:
    """Return how many messages the nodes of a job send each other: 24 tasks on each, on a four-dimensional grid.

    Examples
    --------
    >>> sum(grid_neighbors(1).values())
    0
    """
    return nearest_neighbors(grid_dimensions(_TASKS_PER_NODE * nodes), _TASKS_PER_NODE)


def neighbor_hops(places: Sequence[Coordinates], torus: Torus) -> float:
    """Mean hops of a message from a node of a job to a neighbor on its grid; 0 if there is no message. [hops]

    Examples
    --------
    >>> neighbor_hops([(0, 0, 0), (0, 0, 1)], Torus((9, 9, 9)))
    1.0
    """
    graph = grid_neighbors(len(places))
    messages = sum(graph.values())
    return hops_of_graph(graph, places, torus) / messages if messages else 0.0


class Exchange(NamedTuple):
    """What a job and the jobs beside it send, links shared max-min fair.

    Parameters
    ----------
    network : Histories
        The links of the machine.
    streams : list of Stream
        That of the job first.
    rates_gb_s : list of float
        What a node of each stream gets beside the others. [GB/s]
    alone_gb_s : float
        What a node of the job gets alone. [GB/s]
    """

    network: Histories
    streams: list[Stream]
    rates_gb_s: list[float]
    alone_gb_s: float

    @property
    def shared_gb_s(self) -> float:
        """What a node of the job gets beside the others. [GB/s]"""
        return self.rates_gb_s[0]

    @property
    def link_shares(self) -> dict[tuple[int, Coordinates], float]:
        """How full each link is, as `hopperlib.network.runtime.sharing.shares_in_use` gives it. [fraction]"""
        return shares_in_use(self.network.links, self.streams, self.rates_gb_s)


def exchange_beside(
    network: Histories, places: Sequence[Coordinates], others: Sequence[Sequence[Coordinates]], traffic: str
) -> Exchange:
    """Return how fast a job exchanges data with its neighbors on a grid, alone and beside others.

    Parameters
    ----------
    network : Histories
    places : sequence of (int, int, int)
        Where each node of the job sits.
    others : sequence of sequence of (int, int, int)
        The same of each other job.
    traffic : str
        What those send: ``none``, or one of `hopperlib.network.runtime.sharing.MIXES`.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> exchange = exchange_beside(Histories(Machine.load("hopper")), [(0, 0, 0), (0, 0, 1)], [], "none")
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
