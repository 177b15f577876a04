"""Read the output of ibnetdiscover for an InfiniBand network as a tree.

Switches with hosts are leaves. Higher switches that reach the same leaves share the traffic, so all switches connected
up to a level are merged, with the number of their upward cables.
"""

import re
from collections import Counter, defaultdict, deque
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.network.fabrics.tree import SwitchTree

_HEAD = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"([^"]+)"\s*(?:#\s*"([^"]*)")?')
_PORT = re.compile(r'\[(\d+)\]\S*\s+"([^"]+)"\[(\d+)\]([^#]*)(?:#\s*(.*))?')
_OTHER = re.compile(
    r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=|DR path|SYSTEM|Initiated|Max of", re.IGNORECASE
)
# Headings of a grouped listing (ibnetdiscover -g), and interspersed messages of the tool's libraries.
_HEADING = re.compile(
    r"(?:Non-)?Chassis\b|(?:Spine|Line|Leaf|Fabric)\b[\w -]*$|[\w-]+ Nodes$|"
    r"(?:src/)?[\w.-]+\.c:\d+|ib(?:warn|error|panic|netdiscover)\b|.*\b(?:timed out|Connection timed)\b",
    re.IGNORECASE,
)
_RATE = re.compile(r"\b4x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR)\b")
# : Data rate of four lanes in one direction. [GB/s]
RATES_GB_S = {"SDR": 1.0, "DDR": 2.0, "QDR": 4.0, "FDR10": 5.0, "FDR": 6.8, "EDR": 12.5, "HDR": 25.0, "NDR": 50.0}


class _Network(NamedTuple):
    """Switches, hosts and cables of a listing."""

    names: dict[str, str]
    cables: dict[str, list[str]]
    rates: Counter[str]
    hosts: dict[str, str]


def read_ibnetdiscover(text: str) -> SwitchTree:
    r"""Return the tree of an InfiniBand network.

    Parameters
    ----------
    text : str
        Output of ibnetdiscover.

    Raises
    ------
    InputError
        If a line cannot be read, or no switch has a host; names the line.

    Examples
    --------
    >>> lines = ['Switch 36 "S-1" # "leaf"', '[1] "H-1"[1] # "n1 HCA-1" lid 2 4xEDR', '[2] "H-2"[1] # "n2 HCA-1" lid 3 4xEDR']
    >>> tree = read_ibnetdiscover("\n".join(lines))
    >>> tree.node_names, tree.node_gb_s
    (('n1', 'n2'), 12.5)
    """
    network = _read(text)
    leaves = [switch for switch, ends in network.cables.items() if not network.hosts.keys().isdisjoint(ends)]
    if not leaves:
        raise InputError("no switch in the listing has a host")
    level = _levels(network, leaves)
    # Each switch's unit at the current level.
    unit_of = {leaf: place for place, leaf in enumerate(leaves)}
    parents, uplinks, names = _units(network, level, leaves, unit_of.copy())
    hosts = {
        network.hosts[end]: unit_of[leaf] for leaf in leaves for end in network.cables[leaf] if end in network.hosts
    }
    rate = network.rates.most_common(1)
    gb_s = RATES_GB_S[rate[0][0]] if rate else 1.0
    return SwitchTree(tuple(hosts.values()), tuple(parents), tuple(uplinks), gb_s, gb_s, tuple(hosts), tuple(names))


def _units(
    network: _Network, level: dict[str, int], leaves: list[str], unit_of: dict[str, int]
) -> tuple[list[int | None], list[int], list[str]]:
    """Return each unit of the tree, leaves first, with its parent, its upward cables and its name."""
    names = [network.names[leaf] for leaf in leaves]
    parents: list[int | None] = [None] * len(leaves)
    uplinks = [_up(network, level, [leaf]) for leaf in leaves]
    for height in range(1, max(level.values()) + 1):
        for part in _parts(network, level, height):
            top = [switch for switch in part if level[switch] == height]
            below = {unit_of[switch] for switch in part if level[switch] < height}
            if not top:
                continue
            parents.append(None)
            names.append(network.names[top[0]] if len(top) == 1 else f"{len(top)} switches of level {height}")
            uplinks.append(_up(network, level, top))
            for unit in below:
                parents[unit] = len(parents) - 1
            unit_of.update(dict.fromkeys(part, len(parents) - 1))
    return parents, uplinks, names


def _read(text: str) -> _Network:
    """Parse the lines."""
    found = _Network({}, defaultdict(list), Counter(), {})
    here, kind = "", ""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#") or _OTHER.match(line) or (line[0] != "[" and _HEADING.match(line)):
            continue
        if head := _HEAD.match(line):
            kind, here = head[1], head[2]
            found.names[here] = head[3] or here
            if kind == "Switch":
                found.cables.setdefault(here, [])
        elif not (port := _PORT.match(line)) or not here:
            raise InputError(f"line {number}: {line[:60]!r} is not a line of ibnetdiscover")
        elif kind == "Switch":
            found.rates.update(_RATE.findall(line)[:1])
            _add_port(found, here, port)
    return found


def _add_port(found: _Network, switch: str, port: re.Match[str]) -> None:
    """Add the cable of a switch's port, and the host at its other end."""
    found.cables[switch].append(port[2])
    if port[2].startswith("H-"):
        # The host's name is the first quoted word; without one, its number is used.
        quoted = re.match(r'"\s*([^"\s]+)', port[5] or "")
        found.hosts[port[2]] = quoted[1] if quoted else port[2]


def _levels(network: _Network, leaves: list[str]) -> dict[str, int]:
    """Return each switch's distance from a leaf."""
    level, queue = dict.fromkeys(leaves, 0), deque(leaves)
    while queue:
        switch = queue.popleft()
        for end in network.cables[switch]:
            if end in network.cables and end not in level:
                level[end] = level[switch] + 1
                queue.append(end)
    return level


def _up(network: _Network, level: dict[str, int], switches: list[str]) -> int:
    """Return the cables from the switches of one level to the next."""
    return sum(level.get(end, -1) == level[switch] + 1 for switch in switches for end in network.cables[switch])


def _parts(network: _Network, level: dict[str, int], height: int) -> list[list[str]]:
    """Return the connected components of switches up to a level."""
    left = {switch for switch, each in level.items() if each <= height}
    parts = []
    while left:
        start = min(left)
        left.discard(start)
        part, queue = [start], [start]
        while queue:
            for end in network.cables[queue.pop()]:
                if end in left:
                    left.discard(end)
                    part.append(end)
                    queue.append(end)
        parts.append(part)
    return parts
