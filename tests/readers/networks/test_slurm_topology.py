"""Slurm's topology files: its examples, and public ones, read with the right distances or refused with the reason."""

import pytest

from hopperkit.readers.networks import read_site_network
from hopperkit.readers.networks.slurm_topology import read_topology_conf, read_topology_yaml
from hopperlib.errors import InputError
from hopperlib.network.fabrics.tree import SwitchTree


def hops(tree: SwitchTree, a: str, b: str) -> int | None:
    """Distance of two nodes by name."""
    return tree.distance(tree.node_names.index(a), tree.node_names.index(b))


# Slurm's topology guide: a tree of eight nodes in which every switch has two children. Up two and down two.
GUIDE_8 = """
# Switch Configuration
SwitchName=s0 Nodes=tux[0-1]
SwitchName=s1 Nodes=tux[2-3]
SwitchName=s2 Nodes=tux[4-5]
SwitchName=s3 Nodes=tux[6-7]
SwitchName=s4 Switches=s[0-1]
SwitchName=s5 Switches=s[2-3]
SwitchName=s6 Switches=s[4-5]
"""
# The same guide: two levels, four connections a switch.
GUIDE_16 = """
SwitchName=s0 Nodes=tux[0-3]   LinkSpeed=900
SwitchName=s1 Nodes=tux[4-7]   LinkSpeed=900
SwitchName=s2 Nodes=tux[8-11]  LinkSpeed=900
SwitchName=s3 Nodes=tux[12-15] LinkSpeed=1800
SwitchName=s4 Switches=s[0-3]  LinkSpeed=1800
SwitchName=s5 Switches=s[0-3]  LinkSpeed=1800
"""
MANUAL = "SwitchName=s0 Nodes=dev[0-5]\nSwitchName=s1 Nodes=dev[6-11]\nSwitchName=s2 Nodes=dev[12-17]\nSwitchName=s3 Switches=s[0-2]\n"
BLOCKS = "BlockName=block1 Nodes=node[1-32]\nBlockName=block2 Nodes=node[33-64]\nBlockName=block3 Nodes=node[65-96]\nBlockName=block4 Nodes=node[97-128]\nBlockSizes=30,120\n"

# Public files: what they are, the text as it stands there, two nodes, their distance, and the number of nodes.
PUBLIC = [
    ("Slurm's guide, 8 nodes", GUIDE_8, "tux0", "tux7", 4, 8),
    ("Slurm's guide, 8 nodes, one pair of switches", GUIDE_8, "tux0", "tux3", 2, 8),
    ("Slurm's manual page, tree", MANUAL, "dev0", "dev17", 2, 18),
    ("Slurm's manual page, blocks", BLOCKS, "node1", "node128", 2, 128),
    (
        "tonystarkiss/slurm-superpod: five leaves without a top, 18 + 18 + 18 + 18 + 8 nodes",
        "SwitchName=s0 Nodes=circe-n[001-016],n[019-020]\nSwitchName=s1 Nodes=circe-n[017-018,021-036]\n"
        "SwitchName=s2 Nodes=circe-n[041-058]\nSwitchName=s3 Nodes=circe-n[040,060,062-077]\n"
        "SwitchName=s4 Nodes=circe-n[037-039,051,061,078-080]\n",
        None,
        "node 'circe-n051' is on 's4' and on 's2'",
        None,
        0,
    ),
    (
        "maatthias/slurm-cluster: four leaves without a top",
        "# topology.conf Config File\n\nSwitchName=s0 Nodes=hpc[001-019],gpu[001-013],submit[1-2],master[1-2]\n"
        "SwitchName=s1 Nodes=xf11id-srv2\nSwitchName=s2 Nodes=xf11id-srv3\nSwitchName=s3 Nodes=saturn4\n",
        "hpc001",
        "saturn4",
        None,
        39,
    ),
    ("sOmEoNe2lOvEgIt/slurm_conf: one switch, one node", "SwitchName=SwitchBidon Nodes=slurm_node1", "slurm_node1", "slurm_node1", 0, 1),
    (
        "PySlurm's test setup",
        "SwitchName=s0 Nodes=c[0-5]\nSwitchName=s1 Nodes=c[6-10]\nSwitchName=s2 Switches=s[0-1]\n",
        "c0",
        "c10",
        2,
        11,
    ),
    (
        "slurm-linter's sample",
        "# topology.conf\nSwitchName=s0 Nodes=node[01-04]\nSwitchName=s1 Nodes=node[05-08]\nSwitchName=s2 Switches=s[0-1]\n",
        "node01",
        "node08",
        2,
        8,
    ),
    (
        "SageMaker HyperPod's guide: a chain above two leaves",
        "SwitchName=nn-6fe9 Switches=nn-0b53\n\nSwitchName=nn-0b53 Switches=nn-424c,nn-95ac\n\n"
        "SwitchName=nn-424c Nodes=ip-10-1-111-198\nSwitchName=nn-95ac Nodes=ip-10-1-53-231\n",
        "ip-10-1-111-198",
        "ip-10-1-53-231",
        2,
        2,
    ),
    (
        "soperator's test: two spines above the same switch",
        "SwitchName=root Switches=spine1,spine2,spine3,unknown\nSwitchName=spine1 Switches=switch1\n"
        "SwitchName=spine2 Switches=switch2\nSwitchName=spine3 Switches=switch1\nSwitchName=switch1 Nodes=pod1,pod2,pod4\n"
        "SwitchName=switch2 Nodes=pod3\nSwitchName=unknown Nodes=pod5,pod6\n",
        "pod1",
        "pod3",
        4,
        6,
    ),
    (
        "a parser's test of what scontrol shows: nodes repeated at the top",
        "SwitchName=leaf01 Level=0 Nodes=worker-0\nSwitchName=leaf02 Level=0 Nodes=worker-1\n"
        "SwitchName=root Level=1 Switches=leaf[01-02] Nodes=worker-[0-1]\n",
        "worker-0",
        "worker-1",
        2,
        2,
    ),
    (
        "Slurm's own test suite",
        "SwitchName=s01 Nodes=node1\nSwitchName=s02 Nodes=node2\nSwitchName=root Switches=s01,s02\n",
        "node1",
        "node2",
        2,
        2,
    ),
    (
        "a public cloud's tool: blocks with names out of order",
        "# Number of Nodes in block1: 3\nBlockName=block1 Nodes=ccw-1-3-gpu-21,ccw-1-3-gpu-407,ccw-1-3-gpu-333\n"
        "BlockName=block2 Nodes=ccw-1-3-gpu-60\n",
        "ccw-1-3-gpu-21",
        "ccw-1-3-gpu-333",
        0,
        4,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("what", "text", "a", "b", "distance", "nodes"), PUBLIC)
def test_public_files(what: str, text: str, a: str | None, b: str, distance: int | None, nodes: int) -> None:
    if a is None:
        with pytest.raises(InputError) as refused:
            read_topology_conf(text)
        assert b in str(refused.value), what
        return
    tree = read_topology_conf(text)
    assert tree.nodes == nodes
    assert hops(tree, a, b) == distance


def test_switches_above_the_same_ones_count_as_one() -> None:
    # The guide's second example has each leaf below two switches, which share the work.
    tree = read_topology_conf(GUIDE_16)
    assert tree.switch_names == ("s0", "s1", "s2", "s3", "s4")
    assert (hops(tree, "tux0", "tux3"), hops(tree, "tux0", "tux15")) == (0, 2)


# Slurm's form of 25.05, as public examples write it.
YAML = """---
- topology: topo-block
  cluster_default: false
  block:
    block_sizes:
      - 2
      - 4
    blocks:
      - block: b1
        nodes: slurm-node[1-2]
      - block: b2
        nodes: slurm-node[3-4]
- topology: topo-switch
  cluster_default: true
  tree:
    switches:
      - switch: sw_root
        children: s[1-2]
      - switch: s1
        nodes: slurm-node[1-2]
      - switch: s2
        nodes: slurm-node[3-4]
- topology: plain
  flat: true
"""


def test_yaml_takes_the_default_topology() -> None:
    assert "sw_root" in read_topology_yaml(YAML).switch_names
    assert hops(read_topology_yaml(YAML), "slurm-node1", "slurm-node4") == 2
    assert read_site_network(YAML).form == "Slurm topology.yaml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- topology: a\n  flat: true\n", "no topology in the file has switches or blocks"),
        ("- topology: a\n  tree:\n    nodes: n1\n", "line 3: 'nodes' belongs to a switch or a block"),
        ("- topology: a\n  ring: 3\n", "line 2: 'ring' is not a key of a topology.yaml"),
        ("- topology: a\n  tree: {switches: []\n  x\n", "line 3: 'x' is not a line of a topology.yaml"),
    ],
)
def test_yaml_refusals(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read_topology_yaml(text)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SwitchName=s0 Nodes=n[0-3\n", "line 1: the list of hosts 'n[0-3' has an unmatched bracket"),
        ("SwitchName=s0 Noodes=n0\n", "line 1: 'Noodes' is not a key of a topology; did you mean 'Nodes'?"),
        ("SwitchName=s0 Nodes=n0\nSwitchName=s0 Nodes=n1\n", "line 2: switch 's0' is defined twice"),
        ("SwitchName=s0 Nodes=n0\nSwitchName=s1 Switches=s9\n", "line 2: switch 's9' is not defined"),
        ("SwitchName=s0 Switches=s1\nSwitchName=s1 Switches=s0\n", "no switch in the file has nodes"),
        ("SwitchName=a Nodes=n1\nSwitchName=s0 Switches=s1\nSwitchName=s1 Switches=s0\n", "is above itself"),
        ("SwitchName=s0 Nodes=n1\nBlockName=b0 Nodes=n2\n", "a topology is either a tree or blocks"),
        (
            "SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=s0 Switches=a,b\nSwitchName=s1 Switches=a\n",
            "line 4: switch 'a' is below a second switch",
        ),
        ("Nodes=n1\n", "line 1: has neither SwitchName nor BlockName"),
        ("RingName=r0 Nodes=n3\n", "line 1: 'RingName' is not a key of a topology"),
        ("SwitchName=s0 Nodes=n[5-2]\n", "counts down in '5-2'"),
        ("SwitchName=s0 Nodes=n[0-999999]\n", "names more than 200,000"),
        ("SwitchName=s0 surprise\n", "line 1: 'surprise' is not a KEY=VALUE pair of a topology"),
        ("", "no line names a switch or a block"),
    ],
)
def test_refusals_name_the_line(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        read_topology_conf(text)
    assert message in str(refused.value)


def test_keys_in_any_case_and_lines_that_go_on() -> None:
    tree = read_topology_conf("switchname=s0 nodes=n0,\\\nn1\nSWITCHNAME=s1 SWITCHES=s0\n")
    assert tree.node_names == ("n0", "n1")
    assert read_site_network("switchname=s0 nodes=n0").form == "Slurm topology"


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(InputError, match="neither a topology"):
        read_site_network("hello world")
