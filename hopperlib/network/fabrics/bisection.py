"""Effective bisection bandwidth: what random pairs across random halves of a network get under fixed routes.

A network with as many links upwards as nodes carries any pairing if routes are
chosen for it. With routes that each destination's number fixes, some links get
several pairs and others none. How much is left on average is the effective
bisection bandwidth [1]_.

References
----------
.. [1] T. Hoefler, T. Schneider and A. Lumsdaine, Multistage Switches are not
   Crossbars, IEEE Cluster 2008, abstract.
"""

import random
from collections import Counter
from statistics import fmean

from hopperlib.network.fabrics.fabric import Fabric


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
        nodes = list(range(fabric.nodes))
        rng.shuffle(nodes)
        half = len(nodes) // 2
        pairs = [*zip(nodes[:half], nodes[half:], strict=False), *zip(nodes[half:], nodes[:half], strict=False)]
        routes = [fabric.route(a, b) for a, b in pairs]
        crowd = Counter(link for route in routes for link in route)
        shares.append(fmean(1 / max((crowd[link] for link in route), default=1) for route in routes))
    return fmean(shares)
