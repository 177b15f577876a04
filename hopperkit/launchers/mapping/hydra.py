"""Where MPICH's Hydra binds the ranks of a node: ``-bind-to`` and ``-map-by``, as its hwloc part works them out.

Hydra makes a table of masks and gives rank ``i`` of a node mask ``i`` modulo its length. A mask starts in a domain of
the mapping; each round over the domains starts at a later unit.

References
----------
MPICH 4.0.2, ``src/pm/hydra/tools/topo/hwloc/topo_hwloc.c``; "Using the Hydra Process Manager".
"""

import math
import re

from hopperkit.launchers.mapping.topology import Topology, bits
from hopperlib.placement.components import LaunchError

_UNITS = {
    "machine": "machine",
    **dict.fromkeys(("socket", "package"), "socket"),
    **dict.fromkeys(("numa", "numanode"), "numa"),
    "core": "core",
    "hwthread": "hwthread",
    **{f"l{level}{kind}cache": f"l{level}" for level in (1, 2, 3) for kind in ("", "d", "u")},
}
# From the widest to the narrowest.
_NESTED = ("machine", "socket", "numa", "l3", "core", "hwthread")


def place_hydra(bind: str, mapping: str, node: Topology, ranks: int) -> list[int]:
    """Return the mask of each rank on one node; 0 where it is not bound.

    Raises
    ------
    LaunchError
        If Hydra refuses the line.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.mapping.topology import topology_of
    >>> node = topology_of(Machine.load("cluster").node())
    >>> [bin(mask) for mask in place_hydra("core:2", "", node, 2)]
    ['0b11', '0b1100']
    """
    if bind in ("", "none"):
        return [0] * ranks
    if bind.startswith("user:"):
        entries = _user_masks(bind.removeprefix("user:"), node)
        return [entries[rank] if rank < len(entries) else 0 for rank in range(ranks)]
    if bind == "rr":
        at = {number: place for place, number in enumerate(node.numbers)}
        masks = [1 << at[number] for number in sorted(at)]
    else:
        masks = _table(bind, mapping or bind, node)
    return [masks[rank % len(masks)] for rank in range(ranks)]


def _user_masks(text: str, node: Topology) -> list[int]:
    """Return the masks that a line spells out: ``0,4-7,1+3x2``."""
    at = {number: place for place, number in enumerate(node.numbers)}
    masks: list[int] = []
    for entry in text.split(","):
        listed, _, times = entry.partition("x")
        if not re.fullmatch(r"\d{1,6}(-\d{1,6})?(\+\d{1,6}(-\d{1,6})?)*", listed) or not (times or "1").isdecimal():
            raise LaunchError("-bind-to", f"user:{text}", f"has an entry {entry!r} that is not CPUs such as 0+1 or 0-3")
        mask = 0
        for part in listed.split("+"):
            low, _, high = part.partition("-")
            for number in range(int(low), min(int(high or low), max(at)) + 1):
                mask |= 1 << at[number] if number in at else 0
        if not mask:
            raise LaunchError("-bind-to", f"user:{text}", f"has an entry {entry!r} whose CPUs the node does not have")
        masks += [mask] * min(int(times or 1), 100_000)
    return masks


def _unit(option: str, typed: str, node: Topology) -> tuple[tuple[int, ...], int]:
    """Return the units that a word names, and how many of them it requests."""
    word, _, number = typed.partition(":")
    if word not in _UNITS:
        known = ", ".join(dict.fromkeys(_UNITS))
        raise LaunchError(option, typed, f"names no unit that Hydra knows; there are {known}")
    if number and not (number.isdecimal() and int(number)):
        raise LaunchError(option, typed, "must have a whole number from 1 behind the colon")
    masks = node.units[_UNITS[word]]
    return tuple(dict.fromkeys(masks)), int(number or 1)


def _table(bind: str, mapping: str, node: Topology) -> list[int]:
    """Return the masks that ranks get in turn."""
    total = len(node.numbers)
    bind_units, bind_count = _unit("-bind-to", bind, node)
    map_units, map_count = _unit("-map-by", mapping, node)
    map_width = total // len(map_units) * map_count
    if map_width > total:
        raise LaunchError("-map-by", mapping, f"is more than the {len(map_units)} of the node")
    domains = len(map_units) * map_count // math.gcd(len(map_units), map_count) // map_count
    firsts = [number * map_count % len(map_units) for number in range(domains)]
    spans = [_span(map_units, first, map_count) for first in firsts]
    starts = [next(bits(map_units[first])) for first in firsts]
    bind_width = total // len(bind_units) * bind_count
    narrow = bind_width < map_width
    if narrow:
        rounds = bind_width // math.gcd(map_width, bind_width)
        length = rounds * map_width * domains // bind_width
    else:
        length = domains
    masks: list[int] = []
    while len(masks) < length:
        for number, span in enumerate(spans):
            covering = _covering(span, node) if narrow else 0
            masks.append(_mask(bind_units, bind_count, starts[number], covering))
            if narrow:
                starts[number] = _advanced(starts[number], span, bind_width)
    return masks


def _span(units: tuple[int, ...], first: int, count: int) -> int:
    """Return the mask of this many consecutive units, wrapping around."""
    mask = 0
    for number in range(first, first + count):
        mask |= units[number % len(units)]
    return mask


def _covering(mask: int, node: Topology) -> int:
    """Return the narrowest unit that holds a mask."""
    return next(unit for name in reversed(_NESTED) for unit in node.units[name] if unit & mask == mask)


def _mask(units: tuple[int, ...], count: int, start: int, covering: int) -> int:
    """Return this many units from the one with a given hardware thread; within a covering unit if there is one."""
    at = next(number for number, unit in enumerate(units) if unit >> start & 1)
    mask = 0
    for _ in range(min(count, 2 * len(units))):
        mask |= units[at]
        others = ((at + step) % len(units) for step in range(1, len(units)))
        if covering:
            at = next((other for other in others if units[other] & covering == units[other]), at)
        else:
            at = (at + 1) % len(units)
    return mask


def _advanced(start: int, span: int, by: int) -> int:
    """Return the hardware thread this many positions after another one in a domain, wrapping around."""
    places = list(bits(span))
    return places[(places.index(start) + by) % len(places)]
