"""Read a site's network from any supported file; the format is detected."""

import re
from typing import NamedTuple

from hopperkit.readers.networks.hosts import hosts_of
from hopperkit.readers.networks.ibnetdiscover import read_ibnetdiscover
from hopperkit.readers.networks.node_names import tree_of_names
from hopperkit.readers.networks.slurm_topology import read_topology_conf, read_topology_yaml
from hopperkit.readers.source import Source, text_of
from hopperlib.errors import InputError
from hopperlib.network.fabrics.tree import SwitchTree


class SiteNetwork(NamedTuple):
    """A network read from a file.

    Parameters
    ----------
    tree : SwitchTree
    form : str
        Format of the file.
    caveat : str
        Information missing from the file.
    """

    tree: SwitchTree
    form: str
    caveat: str


_SHARED = "The file shows which nodes share a switch, but not the number or rate of links."
_NAMES = "Names show a node's position, not the cabling of its switches."


def read_site_network(source: Source) -> SiteNetwork:
    r"""Return the network of a file: topology.conf or .yaml, ``scontrol show topology``, ibnetdiscover, or names of nodes.

    Parameters
    ----------
    source : str, bytes, path-like, file or iterable of str
        As for other readers.

    Raises
    ------
    InputError
        If the file is in another format or is invalid; the message names the line.

    Examples
    --------
    >>> read_site_network("x1000c0s0b0n[0-1],x1001c0s0b0n0").form
    'names of nodes'
    >>> read_site_network("BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]").tree.distance(0, 7)
    2
    """
    text = text_of(source, name="network file", max_bytes=64 << 20)
    if re.search(r"^\s*(switch|block|ring)name=", text, re.IGNORECASE | re.MULTILINE):
        return SiteNetwork(read_topology_conf(text), "Slurm topology", _SHARED)
    if re.search(r"^\s*- *topology:", text, re.MULTILINE):
        return SiteNetwork(read_topology_yaml(text), "Slurm topology.yaml", _SHARED)
    if re.search(r'^Switch\s+\d+\s+"', text, re.MULTILINE):
        return SiteNetwork(read_ibnetdiscover(text), "ibnetdiscover", "Each host is counted with one cable.")
    words = [word for word in text.split() if not word.startswith("#")]
    if words and re.match(r"x\d+c\d|c\d+-\d+c\d", words[0]):
        return SiteNetwork(tree_of_names([host for word in words for host in hosts_of(word)]), "names of nodes", _NAMES)
    raise InputError(
        "this is neither a topology.conf, a topology.yaml, the output of scontrol show topology or ibnetdiscover, nor node names that encode a position (x1000c0s0b0n0, c0-0c0s0n0)"
    )
