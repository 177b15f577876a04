"""Networks of today: what random pairs get in a fat tree whose routes are fixed."""

import random
from collections.abc import Mapping

from hopperbook.studies.study import Study, Value, predictions, ranges
from hopperlib.network.fabrics.bisection import effective_bisection
from hopperlib.network.fabrics.tree import fat_tree

# Switches of 24 ports, as InfiniBand had then: half of them down.
_DOWN = 12
_NODES = 512


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the effective bisection bandwidth of large clusters and of a network of 512 nodes. [% of the full one]

    Examples
    --------
    >>> given = model({"pods": 4, "nodes_per_switch": 16}, random.Random(1))
    >>> 50 < given["static-bisection-low"] < given["static-512"] < 75
    True
    """
    pods, per_switch = round(assumed["pods"]), round(assumed["nodes_per_switch"])
    cluster = fat_tree(
        nodes_per_leaf=_DOWN, leaves_per_pod=_DOWN, leaf_uplinks=_DOWN, pods=pods, pod_uplinks=_DOWN * _DOWN
    )
    small = fat_tree(nodes_per_leaf=per_switch, leaves_per_pod=-(-_NODES // per_switch), leaf_uplinks=per_switch)
    large = 100 * effective_bisection(cluster, rng, draws=1)
    return {
        "static-bisection-low": large,
        "static-bisection-high": large,
        "static-512": 100 * effective_bisection(small, rng, draws=2),
    }


def _values() -> dict[str, Value]:
    rivals = dict.fromkeys(("static-bisection-low", "static-bisection-high", "static-512"), 100.0)
    return dict(predictions(model, ranges("networks"), rivals, random_parts=True))


STUDY = Study("networks", _values, model=model)
