"""Wiring of a Gemini machine: node number, cabinet name and torus coordinates.

A blade holds four nodes and two Geminis; nodes 0 and 1 share Gemini 0, nodes 2
and 3 Gemini 1. Cables skip every other cabinet and return through the others, so that no ring has a long link:
neighbors in the torus are two cabinets apart on the floor.

- X follows the cabinet columns: 0, 1, 3, 5, ... out, then the even ones back.
- Y follows the cabinet rows: 0, 2, 4, ... out, then the odd ones back, with two steps per row, one for each Gemini of a
  blade.
- Z runs up cage 0, down cage 1 and up cage 2. In every other row, in torus order, the cages are in reverse
  order.

Node numbers follow the same path: up the first Gemini of the blades, back along the second, then the next row, then the
next column with its rows in reverse. The rule was derived from Titan's published table, reproduces all of its 19,200
rows, and agrees with two published pairs of Blue Waters [1]_. No table is known for Hopper, so there the rule is an
inference.

References
----------
.. [1] Node table ``titan.map`` of github fwang2/fgr; node names in
   github charmplusplus/charm, threads 968 and 2589.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from hopperlib.errors import InputError
from hopperlib.machine import Machine

_CNAME = re.compile(r"c(\d+)-(\d+)c(\d+)s(\d+)n(\d+)")


class NodeAddress(NamedTuple):
    """The location of one node under its three names.

    Examples
    --------
    >>> Wiring(columns=17, rows=4).address(1323)
    NodeAddress(nid=1323, cname='c6-3c1s5n1', x=14, y=4, z=10)
    """

    nid: int
    cname: str
    x: int
    y: int
    z: int

    @property
    def coordinates(self) -> tuple[int, int, int]:
        """Position of the node's Gemini in the torus."""
        return self.x, self.y, self.z

    @property
    def on_floor(self) -> tuple[int, ...]:
        """Column and row of its cabinet, cage, slot, and its number on the blade."""
        match = _CNAME.fullmatch(self.cname)
        return tuple(map(int, match.groups())) if match else ()


def _there_and_back(count: int, first_out: int) -> list[int]:
    """Return 0, then every other number outward and the rest on the way back: 0 1 3 5 4 2 or 0 2 4 5 3 1."""
    # A ring laid out this way has no cable longer than two steps, including the closing cable.
    if first_out == 1:
        return [0, *range(1, count, 2), *reversed(range(2, count, 2))]
    return [*range(0, count, 2), *reversed(range(1, count, 2))]


#: The largest supported floor. [cabinets]
MOST_CABINETS = 5_000


@dataclass(frozen=True)
class Wiring:
    """The floor of a Gemini machine, and derived values.

    Parameters
    ----------
    columns, rows : int
        Cabinets along the two sides of the floor, at least 1.
    cages, slots : int
        Cages in a cabinet and blades in a cage.

    Raises
    ------
    InputError
        If a count is not at least 1.

    Examples
    --------
    Hopper's floor, as far as it is known, and a node from an error message:

    >>> hopper = Wiring(columns=17, rows=4)
    >>> hopper.dimensions, hopper.nodes
    ((17, 8, 24), 6528)
    >>> hopper.find("c6-3c1s5n1").nid
    1323

    Two nodes of Blue Waters whose numbers were published:

    >>> blue_waters = Wiring(columns=24, rows=12)
    >>> blue_waters.find("c20-4c0s5n1").nid, blue_waters.find("c2-1c2s4n2").nid
    (11723, 1160)
    """

    columns: int
    rows: int
    cages: int = 3
    slots: int = 8

    def __post_init__(self) -> None:
        for name in ("columns", "rows", "cages", "slots"):
            if getattr(self, name) < 1:
                raise InputError(
                    f"{name}={getattr(self, name)} must be at least 1: a floor has cabinets, cages and blades"
                )
        if self.columns * self.rows > MOST_CABINETS:
            raise InputError(
                f"columns={self.columns} and rows={self.rows} make {self.columns * self.rows:,} cabinets; "
                f"at most {MOST_CABINETS:,} are wired, many times the largest Cray's 288"
            )

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, machine: Machine) -> "Wiring":
        """Return the wiring of a machine, from the floor in its file.

        Parameters
        ----------
        machine : Machine
            A machine whose file has a floor.

        Raises
        ------
        InputError
            If the file has no floor, or one that does not match its torus.

        Examples
        --------
        >>> Wiring.of(Machine.load("hopper")).nodes
        6528
        """
        network = machine.network
        if network is None or network.floor_columns is None or network.floor_rows is None:
            other = network is not None and (network.dragonfly or network.fat_tree)
            elsewhere = (
                f"; its network is not a torus: use hopper interconnect --machine {machine.name}" if other else ""
            )
            raise InputError(
                f"machine {machine.name!r} states no floor (floor_columns, floor_rows), so no wiring follows{elsewhere}"
            )
        wiring = cls(
            network.floor_columns, network.floor_rows, network.cages_per_cabinet or 3, network.slots_per_cage or 8
        )
        if network.dimensions is not None and wiring.dimensions != network.dimensions:
            raise InputError(
                f"machine {machine.name!r}: a floor of {wiring.columns} x {wiring.rows} gives a torus of "
                f"{wiring.dimensions}, but the file states {network.dimensions}"
            )
        return wiring

    @property
    def dimensions(self) -> tuple[int, int, int]:
        """Geminis along x, y and z."""
        return self.columns, 2 * self.rows, self.cages * self.slots

    @property
    def nodes(self) -> int:
        """Node positions, including service nodes."""
        return len(self.addresses)

    @cached_property
    def addresses(self) -> tuple[NodeAddress, ...]:
        """Every node in nid order."""
        return tuple(self._walk())

    @cached_property
    def _by_cname(self) -> dict[str, NodeAddress]:
        return {node.cname: node for node in self.addresses}

    @cached_property
    def _by_nid(self) -> dict[int, NodeAddress]:
        return {node.nid: node for node in self.addresses}

    def address(self, nid: int) -> NodeAddress:
        """Return the node with this number.

        Parameters
        ----------
        nid : int
            Node number.

        Raises
        ------
        InputError
            If the machine has no such nid.
        """
        if nid not in self._by_nid:
            raise InputError(
                f"nid={nid} must be from {self.addresses[0].nid} to {self.addresses[-1].nid} on this machine"
            )
        return self._by_nid[nid]

    def find(self, cname: str) -> NodeAddress:
        """Return the node with this name.

        Parameters
        ----------
        cname : str
            Cabinet name of the node, such as ``c6-3c1s5n1``.

        Raises
        ------
        InputError
            If the text is not a node name, or no node of this floor has it.

        Examples
        --------
        >>> Wiring(columns=17, rows=4).find("c17-0c0s0n0")
        Traceback (most recent call last):
        hopperlib.errors.InputError: 'c17-0c0s0n0' is not on this floor of 17 columns (0 to 16) and 4 rows (0 to 3)
        """
        if _CNAME.fullmatch(cname) is None:
            raise InputError(f"{cname!r} is not a node name; an example is c6-3c1s5n1: column-row, cage, slot, node")
        if cname not in self._by_cname:
            raise InputError(
                f"{cname!r} is not on this floor of {self.columns} columns (0 to {self.columns - 1}) "
                f"and {self.rows} rows (0 to {self.rows - 1})"
            )
        return self._by_cname[cname]

    def _walk(self) -> Iterator[NodeAddress]:
        """Yield the nodes in nid order, by the rule in the module's docstring."""
        x_of_column = {column: x for x, column in enumerate(_there_and_back(self.columns, 1))}
        row_order = _there_and_back(self.rows, 2)
        nid = 0
        for plane, column in enumerate(_there_and_back(self.columns, 2)):
            line = list(self._plane(column, x_of_column[column], row_order))
            for pair in reversed(line) if plane % 2 else line:
                for cname, x, y, z in pair:
                    yield NodeAddress(nid, cname, x, y, z)
                    nid += 1

    def _plane(self, column: int, x: int, row_order: list[int]) -> Iterator[list[tuple[str, int, int, int]]]:
        """Yield the Geminis of one column of cabinets, each with its two nodes, along the path of node numbers."""
        for position, row in enumerate(row_order):
            steps = list(enumerate(self._blades(position)))
            for gemini, way in enumerate((steps, reversed(steps))):
                for z, (cage, slot) in way:
                    nodes = 2 * gemini, 2 * gemini + 1
                    yield [(f"c{column}-{row}c{cage}s{slot}n{node}", x, 2 * position + gemini, z) for node in nodes]

    def _blades(self, position: int) -> Iterator[tuple[int, int]]:
        """Yield (cage, slot) from z = 0 upwards for a row at this position of the y ring."""
        cages = range(self.cages)
        for number, cage in enumerate(reversed(cages) if position % 2 else cages):
            # Every other cage is traversed downwards, so that the cable to the next is short.
            for slot in reversed(range(self.slots)) if number % 2 else range(self.slots):
                yield cage, slot
