"""Node names that encode a position: xnames of HPE Cray EX, cnames of Cray XC.

An xname x1000c3s5b1n0 encodes cabinet, chassis, slot, board and node. It does not encode the node's switch, so the
chassis is used instead; at most sites, a cabinet is a group. A cname c0-1c2s7n3 encodes cabinet, chassis, slot and
node; the four nodes of a slot share an Aries, and two cabinets form a group.
"""

import re
from collections.abc import Sequence

from hopperlib.errors import InputError
from hopperlib.network.fabrics.tree import SwitchTree

_XNAME = re.compile(r"(?P<group>x\d{1,6})(?P<leaf>c\d{1,2})s\d{1,3}b\d{1,2}n\d{1,2}")
_CNAME = re.compile(r"c(?P<column>\d{1,4})-(?P<row>\d{1,4})(?P<leaf>c\d{1,2}s\d{1,3})(?:a\d)?n\d{1,2}")


def place_of(name: str) -> tuple[str, str]:
    """Return the group of a node, and its switch or a substitute.

    Parameters
    ----------
    name : str
        Name of a node.

    Raises
    ------
    InputError
        If the name has neither form.

    Examples
    --------
    >>> place_of("x1000c3s5b1n0"), place_of("c3-0c2s7n1")
    (('x1000', 'x1000c3'), ('c2-0 and c3-0', 'c3-0c2s7'))
    """
    if match := _XNAME.fullmatch(name):
        return match["group"], match["group"] + match["leaf"]
    if match := _CNAME.fullmatch(name):
        column, row = int(match["column"]), match["row"]
        first = column - column % 2
        return f"c{first}-{row} and c{first + 1}-{row}", f"c{column}-{row}{match['leaf']}"
    raise InputError(f"{name[:60]!r} is neither an xname (x1000c0s0b0n0) nor a cname (c0-0c0s0n0)")


def tree_of_names(names: Sequence[str]) -> SwitchTree:
    """Return the tree of nodes by their names: switch, group, machine.

    Parameters
    ----------
    names : sequence of str
        Names of the nodes.

    Raises
    ------
    InputError
        If there are no names, one is repeated, or one has neither form.

    Examples
    --------
    >>> tree = tree_of_names(["x1000c0s0b0n0", "x1000c0s1b0n0", "x1001c0s0b0n0"])
    >>> tree.distance(0, 1), tree.distance(0, 2)
    (0, 4)
    """
    if not names:
        raise InputError("there are no node names")
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"node {twice!r} occurs twice")
    places = [place_of(name) for name in names]
    leaves = dict.fromkeys(leaf for _, leaf in places)
    groups = dict.fromkeys(group for group, _ in places)
    number = {name: place for place, name in enumerate([*leaves, *groups])}
    group_of = {leaf: group for group, leaf in places}
    top = len(number)
    return SwitchTree(
        leaf_of=tuple(number[leaf] for _, leaf in places),
        parents=(*(number[group_of[leaf]] for leaf in leaves), *([top] * len(groups)), None),
        uplinks=(0,) * (top + 1),
        node_names=tuple(names),
        switch_names=(*number, "(machine)"),
    )
