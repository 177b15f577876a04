"""The free nodes that a scheduler allocates: the first, few switches, few groups, or at random."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from hopperlib.errors import refusal
from hopperlib.network.fabrics.fabric import Fabric
from hopperlib.scheduling.scheduler import NodeChoice

#: Choices by name, with descriptions.
CHOICES = {
    "first": "the first free nodes of the list",
    "switch": "as few switches as can be",
    "group": "as few groups as can be",
    "random": "at random",
}


def choose(fabric: Fabric, free: Sequence[int], nodes: int, choice: str, rng: random.Random) -> list[int]:
    """Return the nodes that a job gets.

    With few switches, groups are filled first, and in each group its switches, unless fewer switches suffice across
    groups; the unit that fits the rest of the job most tightly is taken before the one with the most free nodes.

    Parameters
    ----------
    fabric : Fabric
    free : sequence of int
        Free nodes, in the scheduler's order.
    nodes : int
        Number of nodes requested.
    choice : str
        One of `CHOICES`.
    rng : random.Random
        Source of random numbers for the random choice.

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
    parts, left = [], nodes
    for group in in_groups:
        parts += _fewest(group, min(len(group), left), fabric.switch_of)
        left -= len(group)
    anywhere = _fewest(free, nodes, fabric.switch_of)
    fewer = anywhere if len(anywhere) < len(parts) else parts
    return [node for switch in fewer for node in switch][:nodes]


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


def node_choice(
    fabric: Fabric, choice: str, rng: random.Random, *, nodes: int, count: int = 1, wait_s: int = 0
) -> NodeChoice:
    """Return a choice in the form that the scheduler expects, for the first nodes of a network.

    Parameters
    ----------
    fabric : Fabric
    choice : str
        One of `CHOICES`.
    rng : random.Random
    nodes : int
        Nodes of the machine; at most those of the network.
    count, wait_s : int
        With ``switch`` and ``group``: maximum number of units for a job, as in Slurm's ``--switches=count@time``, and
        how long the job waits for such nodes if they are possible. [s]

    Raises
    ------
    InputError
        If there is no such choice, the network has fewer nodes, the count is below 1 or the wait below 0.

    Examples
    --------
    Two switches of four nodes. Job 2 would fit on one, and waits until job 1 has ended, or for half a minute:

    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> from hopperlib.scheduling.scheduler import simulate
    >>> from hopperlib.scheduling.workload import Job, Workload
    >>> tree = fat_tree(nodes_per_leaf=4, leaves_per_pod=2, leaf_uplinks=1)
    >>> jobs = Workload([Job(0, 0, 2, 90, 90), Job(1, 0, 3, 60, 60), Job(2, 1, 3, 9, 9)])
    >>> for wait_s in (300, 30):
    ...     schedule = simulate(jobs, 8, allocation=node_choice(tree, "switch", random.Random(1), nodes=8, wait_s=wait_s))
    ...     print(schedule.start_s[2], schedule.runs(2))
    60 [(4, 7)]
    31 [(2, 4), (7, 8)]
    """
    if choice not in CHOICES:
        raise refusal("choice", choice, f"must be one of: {', '.join(CHOICES)}")
    if nodes > fabric.nodes:
        raise refusal("nodes", nodes, f"must be at most {fabric.nodes:,}, the nodes of the network")
    for name, number, low in (("count", count, 1), ("wait_s", wait_s, 0)):
        if number < low:
            raise refusal(name, number, f"must be at least {low}")
    unit_of = list(map(fabric.switch_of if choice == "switch" else fabric.group_of, range(nodes)))

    def near_room(free: Sequence[int]) -> int:
        return sum(nodes for _, nodes in Counter(map(unit_of.__getitem__, free)).most_common(count))

    waits = wait_s if choice in ("switch", "group") else 0
    return NodeChoice(
        pick=lambda free, width: choose(fabric, free, width, choice, rng),
        near_room=near_room,
        widest_near=near_room(range(nodes)),
        wait_s=waits,
    )


def touched(fabric: Fabric, nodes: Sequence[int]) -> tuple[Counter[int], Counter[int]]:
    """Return the nodes of a job in each group, and on each switch.

    Parameters
    ----------
    fabric : Fabric
        The network.
    nodes : sequence of int
        Node numbers.

    Examples
    --------
    >>> from hopperlib.network.fabrics.tree import fat_tree
    >>> tree = fat_tree(nodes_per_leaf=2, leaves_per_pod=2, leaf_uplinks=1, pods=2, pod_uplinks=1)
    >>> [sorted(each.values()) for each in touched(tree, [0, 1, 2, 4])]
    [[1, 3], [1, 1, 2]]
    """
    return Counter(map(fabric.group_of, nodes)), Counter(map(fabric.switch_of, nodes))
