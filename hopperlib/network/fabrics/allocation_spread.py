"""Location of a job in a network: the parts it uses, and the share of its traffic that stays local."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.network.fabrics.choices import touched
from hopperlib.network.fabrics.fabric import Fabric, Traffic
from hopperlib.network.fabrics.rates import fair_rates


class AllocationSpread(NamedTuple):
    """Location of a job.

    Parameters
    ----------
    nodes, groups, switches, runs : int
        Nodes, groups and switches that it uses, and its number of runs of consecutive node numbers.
    fewest_groups : int
        Fewest groups that can hold it, on an empty machine.
    inside_group, inside_switch : float
        Share of the pairs of its nodes that have a group, and a switch, in common. [fraction]
    bisection_gb_s : float or None
        Bandwidth between both halves of its node list, by minimal routes; None if rates are unknown. [GB/s]
    """

    nodes: int
    groups: int
    switches: int
    runs: int
    fewest_groups: int
    inside_group: float
    inside_switch: float
    bisection_gb_s: float | None


def allocation_spread(
    fabric: Fabric,
    places: Sequence[int],
    *,
    rates: bool = True,
    group_sizes: Counter[int] | None = None,
) -> AllocationSpread:
    """Compute the location of a job.

    Parameters
    ----------
    fabric : Fabric
    places : sequence of int
        Its nodes, in the order of its list.
    rates : bool
        Whether the rates of the links are known.
    group_sizes : Counter or None
        Result of `group_sizes_of`, to be shared by many jobs.

    Raises
    ------
    InputError
        If it has no node.

    Examples
    --------
    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=4, leaf_uplinks=1, link_gb_s=10.0, node_gb_s=10.0)
    >>> allocation_spread(tree, [0, 1, 2, 4])
    AllocationSpread(nodes=4, groups=3, switches=3, runs=2, fewest_groups=2, inside_group=0.16666666666666666, \
inside_switch=0.16666666666666666, bisection_gb_s=10.0)
    """
    if not places:
        raise InputError("a job without nodes has no location")
    groups, switches = touched(fabric, places)
    ordered = sorted(places)
    runs = 1 + sum(b - a > 1 for a, b in pairwise(ordered))
    return AllocationSpread(
        nodes=len(places),
        groups=len(groups),
        switches=len(switches),
        runs=runs,
        fewest_groups=_fewest_groups(group_sizes or group_sizes_of(fabric), len(places)),
        inside_group=_inside(groups),
        inside_switch=_inside(switches),
        bisection_gb_s=_bisection_gb_s(fabric, places) if rates and len(places) > 1 else None,
    )


def _inside(counts: Counter[int]) -> float:
    """Return the share of pairs that have a unit in common; a single node has all of them. [fraction]"""
    nodes = counts.total()
    return sum(count * (count - 1) for count in counts.values()) / (nodes * (nodes - 1)) if nodes > 1 else 1.0


def _fewest_groups(group_sizes: Counter[int], nodes: int) -> int:
    """Return the smallest number of groups that can hold a job."""
    sizes = sorted(group_sizes.values(), reverse=True)
    held = fewest = 0
    while held < nodes and fewest < len(sizes):
        held += sizes[fewest]
        fewest += 1
    return fewest


def group_sizes_of(fabric: Fabric) -> Counter[int]:
    """Return the places for nodes in each group.

    Parameters
    ----------
    fabric : Fabric
        The network.

    Examples
    --------
    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> sorted(group_sizes_of(fat_tree(nodes_per_leaf=2, leaves_per_pod=3, leaf_uplinks=1)).values())
    [2, 2, 2]
    """
    return Counter(map(fabric.group_of, range(fabric.nodes)))


def _bisection_gb_s(fabric: Fabric, places: Sequence[int]) -> float:
    """Return the bandwidth between the halves of the list, with each node sending to the node half a list later.
    [GB/s]
    """
    half = len(places) // 2
    messages = {(i, i + half): 1.0 for i in range(half)} | {(i + half, i): 1.0 for i in range(half)}
    traffic = Traffic.between(fabric, places, messages)
    first, _ = fabric.routings
    (rate,) = fair_rates(fabric, [traffic], [fabric.node_gb_s], [fabric.loads(traffic, first)])
    return half * rate
