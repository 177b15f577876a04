"""Effective bisection bandwidth: the rate of random pairs across random halves of a network, for several ways of
choosing routes.

A network with as many links upwards as nodes carries any pairing if routes are
chosen for it. If the destination's number fixes the route, some links get several pairs and others none. The average
share that remains is the effective bisection bandwidth [1]_. Adaptive routing tries several paths and takes the
emptiest [2]_; earlier pairs keep their path.

References
----------
.. [1] T. Hoefler, T. Schneider and A. Lumsdaine, Multistage Switches are not
   Crossbars, IEEE Cluster 2008, abstract.
.. [2] P. Geoffray and T. Hoefler, Adaptive Routing Strategies for Modern High
   Performance Networks, HOTI 2008, abstract.
"""

import random
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from hopperlib.errors import within
from hopperlib.network.fabrics.fabric import Fabric
from hopperlib.network.fabrics.tree import SwitchTree


def effective_bisection(fabric: Fabric, rng: random.Random, *, draws: int = 20) -> float:
    """Mean share of its full rate that a pair gets, all nodes paired at random across two random halves. [fraction]

    A pair gets an equal share of the most crowded link of its route.

    Parameters
    ----------
    fabric : Fabric
        A network with fixed routes between two nodes (`route`).
    rng : random.Random
    draws : int
        Random pairings.

    Examples
    --------
    Pairs inside one switch share no link; with one uplink for two nodes, usually two pairs share it:

    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=8, leaf_uplinks=1)
    >>> 0.5 <= effective_bisection(tree, random.Random(1)) < 0.6
    True
    """
    shares = []
    for _ in range(draws):
        shares.append(_share([fabric.route(a, b) for a, b in _pairs(fabric.nodes, rng)]))
    return fmean(shares)


def adaptive_bisection(tree: SwitchTree, rng: random.Random, *, choices: int, draws: int = 20) -> float:
    """Mean share of its full rate that a pair gets if each pair tries some uplinks and takes the emptiest. [fraction]

    Pairs choose one after another, in random order; the load of a path is that of its most crowded link.

    Parameters
    ----------
    tree : SwitchTree
        A tree of two levels, with the same number of uplinks for each leaf.
    rng : random.Random
    choices : int
        Paths that a pair tries. [1 to the uplinks of a leaf]
    draws : int
        Random pairings.

    Raises
    ------
    InputError
        If `choices` is out of range.

    Examples
    --------
    Trying one path is random routing; trying all of them restores nearly the full rate:

    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=8, leaves_per_pod=8, leaf_uplinks=8)
    >>> chance, best = (adaptive_bisection(tree, random.Random(1), choices=tried) for tried in (1, 8))
    >>> 0.5 < chance < 0.7 < best < 1
    True

    References
    ----------
    P. Geoffray and T. Hoefler, HOTI 2008, abstract.
    """
    ways = tree.uplinks[0]
    within(1, ways, ", the links upwards of a leaf", choices=choices)
    shares = []
    for _ in range(draws):
        crowd: Counter[int] = Counter()
        routes = []
        for a, b in _pairs(tree.nodes, rng):
            tried = [tree.route(a, b, number) for number in rng.sample(range(ways), choices)]
            # The first of several equally empty paths: `sample` has shuffled them.
            route = min(tried, key=lambda links: max((crowd[link] for link in links), default=0))
            crowd.update(route)
            routes.append(route)
        shares.append(_share(routes))
    return fmean(shares)


def _pairs(nodes: int, rng: random.Random) -> list[tuple[int, int]]:
    """Return random pairs of nodes across two random halves, in both directions, in random order."""
    order = list(range(nodes))
    rng.shuffle(order)
    half = nodes // 2
    return [*zip(order[:half], order[half:], strict=False), *zip(order[half:], order[:half], strict=False)]


def _share(routes: Sequence[Sequence[int]]) -> float:
    """Return the mean share of its rate that a route gets: the share of its most loaded link."""
    crowd = Counter(link for route in routes for link in route)
    return fmean(1 / max((crowd[link] for link in route), default=1) for route in routes)
