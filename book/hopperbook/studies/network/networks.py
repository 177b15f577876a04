"""Networks of today: rates of random pairs in a fat tree with fixed and with chosen routes, and the effect of random routes in a dragonfly."""

import random
from collections.abc import Mapping, Sequence

from hopperbook.documented import printed
from hopperbook.studies.study import Study, Value, predictions, ranges
from hopperlib.network.fabrics.bisection import adaptive_bisection, effective_bisection
from hopperlib.network.fabrics.dragonfly import Dragonfly
from hopperlib.network.fabrics.fabric import Traffic
from hopperlib.network.fabrics.patterns import messages_of
from hopperlib.network.fabrics.rates import Pace, lay, slowdown_from_traffic
from hopperlib.network.fabrics.tree import fat_tree

# Switches of 24 ports, as InfiniBand had then: half of them down.
_DOWN = 12
_NODES = 512


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the effective bisection bandwidth of large clusters and of a network of 512 nodes, and `randomized`. [%]

    Examples
    --------
    >>> given = model({"pods": 4, "ports": 3, "tried": 4}, random.Random(1))
    >>> 50 < given["static-bisection-low"] < given["static-512"] < given["adaptive-512"] < 80
    True
    """
    pods = round(assumed["pods"])
    cluster = fat_tree(
        nodes_per_leaf=_DOWN, leaves_per_pod=_DOWN, leaf_uplinks=_DOWN, pods=pods, pod_uplinks=_DOWN * _DOWN
    )
    # Half of the ports down, half up.
    per_switch = round(printed("networks.crossbar-ports")) // 2
    small = fat_tree(nodes_per_leaf=per_switch, leaves_per_pod=_NODES // per_switch, leaf_uplinks=per_switch)
    large = 100 * effective_bisection(cluster, rng, draws=1)
    return {
        "static-bisection-low": large,
        "static-bisection-high": large,
        "static-512": 100 * effective_bisection(small, rng, draws=2),
        "adaptive-512": 100 * adaptive_bisection(small, rng, choices=round(assumed["tried"]), draws=1),
        "randomized-best": randomized(round(assumed["ports"]), rng),
    }


def randomized(ports: int, rng: random.Random) -> float:
    """Return the rate that messages between two halves keep relative to all-to-all, at best, with randomization. [%]

    Nodes at random, detours, or both, on a balanced dragonfly whose switches have this many links to other groups, as
    many nodes, and twice as many neighbors.

    Examples
    --------
    >>> 40 < randomized(3, random.Random(1)) < 60
    True
    """
    network = Dragonfly(2 * ports**2 + 1, 1, 2 * ports, ports, links_per_pair=1)
    in_order = range(network.nodes)

    def pace(places: Sequence[int], pattern: str) -> Pace:
        messages = messages_of(pattern, network.nodes, rng)
        return slowdown_from_traffic(lay(network, [Traffic.between(network, places, messages)], [network.node_gb_s]))

    scattered = pace(rng.sample(in_order, network.nodes), "shift")
    best = max(scattered.first_gb_s, scattered.second_gb_s, pace(in_order, "shift").second_gb_s)
    return 100 * best / pace(in_order, "all-to-all").first_gb_s


def _values() -> dict[str, Value]:
    names = ("static-bisection-low", "static-bisection-high", "static-512", "adaptive-512", "randomized-best")
    rivals = dict.fromkeys(names, 100.0)
    return dict(predictions(model, ranges("networks"), rivals, random_parts=True))


STUDY = Study("networks", _values, model=model)
