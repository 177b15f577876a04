"""Wiring of a machine's switches, as given in its file: dragonfly or fat tree."""

from dataclasses import dataclass

from hopperlib.schema import sourced

_RATE = {"above": 0, "high": 10_000, "why": "is this in MB/s?"}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DragonflyWiring:
    """The groups of a dragonfly and the links between them.

    Attributes
    ----------
    node_kind : str or None
        The kind of node in these groups; None for all.
    groups, switch_rows, switch_columns, nodes_per_switch : int
        Groups, arrangement of the switches of one (one row: all to all), and nodes per switch.
    links_per_group_pair, parallel_links : int
        Links between two groups, and parallel links between the same two switches.
    row_links, column_links : int
        Links between two switches of a row, and of a column.
    local_link_gb_s, global_link_gb_s : float
        Rate of a link inside a group, and between groups. [GB/s]

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> wiring = Machine.load("frontier").network.dragonfly
    >>> wiring.groups, wiring.links_per_group_pair
    (77, 4)
    """

    node_kind: str | None = sourced(None)
    groups: int = sourced(low=2, high=2000)
    switch_rows: int = sourced(1, low=1, high=100)
    switch_columns: int = sourced(low=1, high=1000)
    nodes_per_switch: int = sourced(low=1, high=1000)
    links_per_group_pair: int = sourced(low=1, high=10_000)
    parallel_links: int = sourced(1, low=1, high=100)
    row_links: int = sourced(1, low=1, high=100)
    column_links: int = sourced(1, low=1, high=100)
    local_link_gb_s: float = sourced(**_RATE)
    global_link_gb_s: float = sourced(**_RATE)

    @property
    def nodes(self) -> int:
        """Number of node positions."""
        return self.groups * self.switch_rows * self.switch_columns * self.nodes_per_switch


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FatTreeWiring:
    """The levels of a fat tree.

    Attributes
    ----------
    node_kind : str or None
        The kind of node connected to it; None for all.
    nodes_per_leaf, leaves_per_pod, pods : int
        Nodes per leaf switch, leaf switches per pod, number of pods; one pod is a tree of two levels.
    leaf_uplinks, pod_uplinks : int
        Links upwards from a leaf switch, and from all switches of a pod.
    link_gb_s : float
        Rate of a link between switches. [GB/s]

    Examples
    --------
    >>> FatTreeWiring(nodes_per_leaf=18, leaves_per_pod=18, pods=11, leaf_uplinks=18, pod_uplinks=324, link_gb_s=12.5).nodes
    3564
    """

    node_kind: str | None = sourced(None)
    nodes_per_leaf: int = sourced(low=1, high=1000)
    leaves_per_pod: int = sourced(low=1, high=1000)
    pods: int = sourced(1, low=1, high=1000)
    leaf_uplinks: int = sourced(low=1, high=1000)
    pod_uplinks: int | None = sourced(None, low=1, high=100_000)
    link_gb_s: float = sourced(**_RATE)

    @property
    def nodes(self) -> int:
        """Number of node positions."""
        return self.nodes_per_leaf * self.leaves_per_pod * self.pods
