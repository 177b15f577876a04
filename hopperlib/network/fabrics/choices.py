"""Which free nodes a scheduler hands out: the first, few switches, few groups, or at random."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from hopperlib.errors import refusal
from hopperlib.network.fabrics.fabric import Fabric

#: Choices by name, with what they are.
CHOICES = {
    "first": "the first free nodes of the list",
    "switch": "as few switches as can be (Slurm's --switches=1)",
    "group": "as few groups as can be",
    "random": "at random",
}


def choose(fabric: Fabric, free: Sequence[int], nodes: int, choice: str, rng: random.Random) -> list[int]:
    """Return the nodes that a job gets.

    With few switches, the groups of the network are filled first, and in each of these the switches; a unit that
    holds the rest of the job and has the least to spare is taken before the one with most free nodes.

    Parameters
    ----------
    fabric : Fabric
    free : sequence of int
        Nodes that no job has, in the scheduler's order.
    nodes : int
        Wanted.
    choice : str
        One of `CHOICES`.
    rng : random.Random
        For nodes at random.

    Raises
    ------
    InputError
        If there is no such choice, or fewer nodes are free.

    Examples
    --------
    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=4, leaves_per_pod=3, leaf_uplinks=2)
    >>> free = [2, 3, 4, 5, 6, 8, 9, 10, 11]
    >>> [choose(tree, free, 3, choice, random.Random(1)) for choice in ("first", "switch")]
    [[2, 3, 4], [4, 5, 6]]
    """
    if choice not in CHOICES:
        raise refusal("choice", choice, f"must be one of: {', '.join(CHOICES)}")
    if nodes > len(free):
        raise refusal("nodes", nodes, f"must be at most {len(free):,}, the nodes that are free")
    if choice == "first":
        return list(free[:nodes])
    if choice == "random":
        return sorted(rng.sample(list(free), nodes))
    in_groups = _fewest(free, nodes, fabric.group_of)
    if choice == "group":
        return [node for group in in_groups for node in group][:nodes]
    chosen: list[int] = []
    for group in in_groups:
        wanted = min(len(group), nodes - len(chosen))
        switches = _fewest(group, wanted, fabric.switch_of)
        chosen += [node for switch in switches for node in switch][:wanted]
    return chosen


def _fewest(free: Sequence[int], nodes: int, unit_of: Callable[[int], int]) -> list[list[int]]:
    """Return the fewest units that hold some nodes: the fullest first, and the tightest fit for the rest."""
    units: dict[int, list[int]] = defaultdict(list)
    for node in free:
        units[unit_of(node)].append(node)
    left, chosen, missing = list(units.values()), [], nodes
    while missing > 0:
        fitting = [unit for unit in left if len(unit) >= missing]
        unit = min(fitting, key=len) if fitting else max(left, key=len)
        left.remove(unit)
        chosen.append(unit)
        missing -= len(unit)
    return chosen


def touched(fabric: Fabric, nodes: Sequence[int]) -> tuple[Counter[int], Counter[int]]:
    """Return the nodes of a job in each group, and on each switch.

    Examples
    --------
    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=1, pods=2, pod_uplinks=1)
    >>> [sorted(each.values()) for each in touched(tree, [0, 1, 2, 4])]
    [[1, 3], [1, 1, 2]]
    """
    return Counter(map(fabric.group_of, nodes)), Counter(map(fabric.switch_of, nodes))
