"""The network of a machine, built from the machine file."""

from functools import lru_cache

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.network.fabrics.dragonfly import Dragonfly
from hopperlib.network.fabrics.fabric import Fabric
from hopperlib.network.fabrics.ring_grid import RingGrid
from hopperlib.network.fabrics.tree import fat_tree


@lru_cache(maxsize=8)
def fabric_of(machine: Machine) -> Fabric:
    """Return the network of a machine.

    Parameters
    ----------
    machine : Machine
        A machine whose file describes the wiring of its switches.

    Raises
    ------
    InputError
        If its file does not describe the wiring of the switches.

    Examples
    --------
    >>> frontier = fabric_of(Machine.load("frontier"))
    >>> frontier.nodes, frontier.distance(0, 127), frontier.distance(0, 9855)
    (9856, 1, 3)
    """
    network = machine.network
    if network is not None and network.dragonfly is not None:
        wired = network.dragonfly
        return Dragonfly(
            groups=wired.groups,
            rows=wired.switch_rows,
            columns=wired.switch_columns,
            nodes_per_switch=wired.nodes_per_switch,
            links_per_pair=wired.links_per_group_pair,
            parallel=wired.parallel_links,
            row_links=wired.row_links,
            column_links=wired.column_links,
            local_gb_s=wired.local_link_gb_s,
            global_gb_s=wired.global_link_gb_s,
            node_gb_s=network.node_bandwidth_gb_s,
        )
    if network is not None and network.fat_tree is not None:
        tree = network.fat_tree
        return fat_tree(
            nodes_per_leaf=tree.nodes_per_leaf,
            leaves_per_pod=tree.leaves_per_pod,
            pods=tree.pods,
            leaf_uplinks=tree.leaf_uplinks,
            pod_uplinks=tree.pod_uplinks or 0,
            link_gb_s=tree.link_gb_s,
            node_gb_s=network.node_bandwidth_gb_s,
        )
    if network is not None and network.dimensions is not None and network.link_bandwidth_gb_s:
        return RingGrid(machine)
    raise InputError(
        f"machine {machine.name!r} does not describe the wiring of its switches; give [network.dragonfly], "
        "[network.fat_tree] or the dimensions of a torus and its link_bandwidth_gb_s"
    )
