"""Read Slurm's topology.conf, topology.yaml and ``scontrol show topology`` as a tree of switches.

A tree shows which nodes share a switch, not the number of uplinks or, for a dragonfly, which links join its groups.
Blocks are read as switches under one root, because Slurm lets jobs span them.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hopperkit.readers.networks.hosts import hosts_of
from hopperlib.errors import InputError, did_you_mean
from hopperlib.network.fabrics.tree import SwitchTree

_KEYS = ("SwitchName", "BlockName", "Nodes", "Switches", "LinkSpeed", "Level", "BlockSizes", "BlockSize", "BlockIndex")
_PAIR = re.compile(r"([A-Za-z]\w*)=(\S*)")
_YAML = re.compile(r"(?P<indent> *)(?P<dash>- +)?(?P<key>[A-Za-z_]\w*): *(?P<value>.*)")
_MOST_SWITCHES = 20_000


class _Unit(NamedTuple):
    """A switch or a block, with its line in the file, its nodes and the switches below it."""

    line: int
    name: str
    nodes: list[str]
    switches: list[str]
    block: bool = False


def read_topology_conf(text: str) -> SwitchTree:
    r"""Parse the tree in a topology.conf, or in the output of ``scontrol show topology``.

    Parameters
    ----------
    text : str
        Contents of topology.conf, or output of ``scontrol show topology``.

    Raises
    ------
    InputError
        If a line cannot be read, or the switches do not form a tree; the message names the line.

    Examples
    --------
    >>> tree = read_topology_conf("SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=top Switches=s[0-1]")
    >>> tree.nodes, tree.distance(0, 1), tree.distance(0, 3)
    (4, 0, 2)
    """
    units = []
    for number, line in _lines(text):
        words = {}
        rest = _PAIR.sub("", line).strip()
        for key, value in _PAIR.findall(line):
            known = next((each for each in _KEYS if each.lower() == key.lower()), None)
            if known is None:
                raise InputError(f"line {number}: {key[:40]!r} is not a key of a topology{did_you_mean(key, _KEYS)}")
            words[known] = value
        if rest:
            raise InputError(f"line {number}: {rest[:60]!r} is not a KEY=VALUE pair of a topology")
        name = words.get("SwitchName", words.get("BlockName"))
        if name is None:
            if set(words) <= {"BlockSizes", "BlockSize"}:
                continue
            raise InputError(f"line {number}: has neither SwitchName nor BlockName")
        nodes, below = _hosts(number, words.get("Nodes", "")), _hosts(number, words.get("Switches", ""))
        # At each level, scontrol repeats the nodes of the levels below.
        units.append(_Unit(number, name, [] if below else nodes, below, "BlockName" in words))
    return _tree(units)


def read_topology_yaml(text: str) -> SwitchTree:
    r"""Return the tree of a topology.yaml: of the default topology, or the first with switches.

    Only the form in Slurm's documentation is supported: one key per line.

    Parameters
    ----------
    text : str
        Contents of topology.yaml.

    Raises
    ------
    InputError
        If a line cannot be read, or no topology has switches or blocks; the message names the line.

    Examples
    --------
    >>> lines = ["- topology: one", "  tree:", "    switches:", "      - switch: s0", "        nodes: n[0-1]"]
    >>> read_topology_yaml("\n".join(lines)).nodes
    2
    """
    topologies = sorted(_yaml_topologies(text).values(), key=lambda topology: not topology[0])
    for units in (units for _, units in topologies if units):
        return _tree(units)
    raise InputError("no topology in the file has switches or blocks: a flat one does not show which nodes are close")


def _yaml_topologies(text: str) -> dict[str, tuple[bool, list[_Unit]]]:
    """Return by name whether a topology is the default, and its units."""
    found: dict[str, tuple[bool, list[_Unit]]] = {}
    current = ""
    for number, line in _lines(text):
        match = _YAML.fullmatch(line.rstrip())
        if match is None:
            # A number under block_sizes, or the start of the document.
            if re.fullmatch(r" *(- *\d+|---)", line.rstrip()):
                continue
            raise InputError(f"line {number}: {line.strip()[:60]!r} is not a line of a topology.yaml")
        key, value = match["key"], match["value"].strip().strip("\"'")
        if key == "topology":
            current = value
            found[current] = (False, [])
        elif not current:
            raise InputError(f"line {number}: {key!r} occurs before the first 'topology'")
        elif key == "cluster_default":
            found[current] = (value.lower() in ("true", "yes", "on"), found[current][1])
        elif key in ("switch", "block") and value:
            found[current][1].append(_Unit(number, value, [], [], key == "block"))
        elif key in ("nodes", "children"):
            if not found[current][1]:
                raise InputError(f"line {number}: {key!r} belongs to a switch or a block")
            unit = found[current][1][-1]
            (unit.nodes if key == "nodes" else unit.switches).extend(_hosts(number, value))
        elif key not in ("tree", "block", "flat", "blocks", "switches", "block_sizes", "alpha_step_rank"):
            raise InputError(f"line {number}: {key[:40]!r} is not a key of a topology.yaml")
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with content, with their numbers; a trailing backslash continues a line."""
    held, first = "", 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.partition("#")[0].rstrip()
        if line.endswith("\\"):
            held, first = held + line[:-1], first or number
            continue
        if (held + line).strip():
            yield first or number, held + line
        held, first = "", 0


def _hosts(number: int, text: str) -> list[str]:
    """Return the hosts or switches of a list; an error names the line."""
    try:
        return [] if text.lower() in ("", "none", "(null)") else hosts_of(text)
    except InputError as error:
        raise InputError(f"line {number}: {error}") from None


def _tree(units: list[_Unit]) -> SwitchTree:
    """Return the tree of units; raise an error if they do not form one."""
    if not units:
        raise InputError("no line names a switch or a block")
    if len(units) > _MOST_SWITCHES:
        raise InputError(f"the file names {len(units):,} switches; at most {_MOST_SWITCHES:,} are read")
    if any(unit.block for unit in units) and not all(unit.block for unit in units):
        raise InputError("the file has both switches and blocks: a topology is either a tree or blocks")
    names: set[str] = set()
    for unit in units:
        if unit.name in names:
            raise InputError(f"line {unit.line}: switch {unit.name!r} is defined twice")
        names.add(unit.name)
    units = _merged(units)
    places = {unit.name: place for place, unit in enumerate(units)}
    parents = _parents(units, places)
    if units[0].block:
        parents, places = [len(units)] * len(units) + [None], {**places, "(all blocks)": len(units)}
    leaf_of: dict[str, int] = {}
    for unit in units:
        for node in unit.nodes:
            if node in leaf_of:
                other = list(places)[leaf_of[node]]
                raise InputError(
                    f"line {unit.line}: node {node!r} is on {unit.name!r} and on {other!r}: in a tree, it can be on only one"
                )
            leaf_of[node] = places[unit.name]
    if not leaf_of:
        raise InputError("no switch in the file has nodes")
    return SwitchTree(
        leaf_of=tuple(leaf_of.values()),
        parents=tuple(parents),
        uplinks=(0,) * len(places),
        node_names=tuple(leaf_of),
        switch_names=tuple(places),
    )


def _merged(units: list[_Unit]) -> list[_Unit]:
    """Merge switches with the same children: they share the traffic."""
    above: dict[frozenset[str], str] = {}
    joined = {unit.name: above.setdefault(frozenset(unit.switches), unit.name) for unit in units if unit.switches}
    return [
        unit._replace(switches=list(dict.fromkeys(joined.get(below, below) for below in unit.switches)))
        for unit in units
        if joined.get(unit.name, unit.name) == unit.name
    ]


def _parents(units: list[_Unit], places: dict[str, int]) -> list[int | None]:
    """Return each switch's parent."""
    parents: list[int | None] = [None] * len(units)
    for unit in units:
        for below in unit.switches:
            if below not in places:
                raise InputError(f"line {unit.line}: switch {below!r} is not defined{did_you_mean(below, places)}")
            if parents[places[below]] is not None:
                raise InputError(
                    f"line {unit.line}: switch {below!r} is below a second switch: in a tree, it can be on only one"
                )
            parents[places[below]] = places[unit.name]
    return parents
