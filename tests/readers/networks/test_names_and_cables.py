"""Names of nodes that tell a place, and listings of InfiniBand cables."""

import pytest

from hopperkit.readers.networks import read_site_network
from hopperkit.readers.networks.ibnetdiscover import read_ibnetdiscover
from hopperkit.readers.networks.node_names import tree_of_names
from hopperlib.errors import InputError


def test_xnames_and_cnames() -> None:
    # Same chassis 0, other chassis of the cabinet 2, other cabinet 4.
    tree = tree_of_names(["x1000c0s0b0n0", "x1000c0s7b1n1", "x1000c1s0b0n0", "x1001c0s0b0n0"])
    assert [tree.distance(0, other) for other in range(4)] == [0, 0, 2, 4]
    assert [tree.group_of(node) == tree.group_of(0) for node in range(4)] == [True, True, True, False]
    # Cabinets 0 and 1 of a row are a group, 2 another.
    tree = tree_of_names(["c0-0c0s0n0", "c0-0c0s0n3", "c1-0c2s15n0", "c2-0c0s0n0"])
    assert [tree.distance(0, other) for other in range(4)] == [0, 0, 2, 4]


def test_names_are_refused_with_the_name() -> None:
    with pytest.raises(InputError, match="'nid001' is neither an xname"):
        tree_of_names(["x1000c0s0b0n0", "nid001"])
    with pytest.raises(InputError, match="node 'x1c0s0b0n0' occurs twice"):
        tree_of_names(["x1c0s0b0n0", "x1c0s0b0n0"])


def listing(leaves: int, hosts: int, spines: int) -> str:
    """A two-level network as ibnetdiscover prints it: every leaf with a cable to every spine."""
    lines = ["#", "# Topology file: generated", "vendid=0x2c9", "devid=0xcb20"]
    for leaf in range(leaves):
        lines += ["switchguid=0xb0(b0)", f'Switch\t36 "S-l{leaf}"\t\t# "leaf {leaf}" enhanced port 0 lid {leaf} lmc 0']
        for host in range(hosts):
            name = f"n{leaf * hosts + host:02d}"
            lines.append(f'[{host + 1}]\t"H-{name}"[1](a{host}) \t\t# "{name} HCA-1" lid 9 4xEDR')
        lines += [f'[{20 + s}]\t"S-s{s}"[{leaf + 1}]\t\t# "spine {s}" lid 7 4xEDR' for s in range(spines)]
    for spine in range(spines):
        lines.append(f'Switch\t36 "S-s{spine}"\t\t# "spine {spine}" enhanced port 0 lid 7 lmc 0')
        lines += [f'[{leaf + 1}]\t"S-l{leaf}"[{20 + spine}]\t\t# "leaf {leaf}" lid 8 4xEDR' for leaf in range(leaves)]
    for host in range(leaves * hosts):
        lines += ["caguid=0xa0", f'Ca\t1 "H-n{host:02d}"\t\t# "n{host:02d} HCA-1"']
        lines.append(f'[1](a0) \t"S-l{host // hosts}"[{host % hosts + 1}]\t\t# lid 9 lmc 0 "leaf" lid 8 4xEDR')
    return "\n".join(lines)


def test_a_listing_gives_leaves_and_cables() -> None:
    tree = read_ibnetdiscover(listing(leaves=4, hosts=3, spines=2))
    assert (tree.nodes, tree.node_gb_s, tree.link_gb_s) == (12, 12.5, 12.5)
    assert [tree.distance(0, other) for other in (1, 2, 3, 11)] == [0, 0, 2, 2]
    # Two cables from each leaf: three nodes share two links upwards.
    assert tree.uplinks[:4] == (2, 2, 2, 2)
    assert read_site_network(listing(2, 2, 1)).form == "ibnetdiscover"


def test_a_listing_is_refused_with_the_line() -> None:
    with pytest.raises(InputError, match="line 2: 'nonsense' is not a line of ibnetdiscover"):
        read_ibnetdiscover('Switch 36 "S-1" # "leaf"\nnonsense\n')
    with pytest.raises(InputError, match="no switch in the listing has a host"):
        read_ibnetdiscover('Switch 36 "S-1" # "leaf"\n')
