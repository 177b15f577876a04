"""Effective bisection bandwidth: what random pairs across random halves of a network get, by how routes are chosen.

A network with as many links upwards as nodes carries any pairing if routes are
chosen for it. With routes that each destination's number fixes, some links get
several pairs and others none. How much is left on average is the effective
bisection bandwidth [1]_. Adaptive routing tries several ways and takes the
emptiest [2]_; those that chose before do not move again.

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

    A pair gets the rate of the most crowded link of its route over the pairs there.

    Parameters
    ----------
    fabric : Fabric
        Whose routes between two nodes are fixed (`route`).
    rng : random.Random
    draws : int
        Random pairings.

    Examples
    --------
    Nothing shares a switch with itself; with one link upwards for two nodes, two pairs share it mostly:

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
    """Mean share of its full rate that a pair gets if each tries some links upwards and takes the emptiest. [fraction]

    Pairs choose one after another, in random order; a way is as full as its most crowded link.

    Parameters
    ----------
    tree : SwitchTree
        Of two levels: leaves with the same number of links upwards each.
    rng : random.Random
    choices : int
        Ways that a pair tries. [1 to the links upwards of a leaf]
    draws : int
        Random pairings.

    Raises
    ------
    InputError
        If `choices` is out of range.

    Examples
    --------
    One way tried is chance, all of them nearly mend it:

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
            # The first of those that are equally empty: `sample` has put them in random order.
            route = min(tried, key=lambda links: max((crowd[link] for link in links), default=0))
            crowd.update(route)
            routes.append(route)
        shares.append(_share(routes))
    return fmean(shares)


def _pairs(nodes: int, rng: random.Random) -> list[tuple[int, int]]:
    """Return the nodes of two random halves paired, each both ways, in random order."""
    order = list(range(nodes))
    rng.shuffle(order)
    half = nodes // 2
    return [*zip(order[:half], order[half:], strict=False), *zip(order[half:], order[:half], strict=False)]


def _share(routes: Sequence[Sequence[int]]) -> float:
    """Return the mean share of its rate that a route gets: that of its most loaded link."""
    crowd = Counter(link for route in routes for link in route)
    return fmean(1 / max((crowd[link] for link in route), default=1) for route in routes)
