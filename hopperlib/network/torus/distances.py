"""Distances and links in a three-dimensional torus.

A message goes along X first, then Y, then Z, each time in the shorter direction. A link's speed depends on its
direction and its location: Y links between blades have half the bandwidth of the others, and Z links inside a cage are
faster than those between cages.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from operator import mul
from typing import NamedTuple

from hopperlib.errors import InputError, refusal
from hopperlib.machine import Machine
from hopperlib.machine.parts import Direction

Coordinates = tuple[int, int, int]


class Link(NamedTuple):
    """The link from a router to its next neighbor along an axis (0 = x, 1 = y, 2 = z)."""

    start: Coordinates
    axis: int


@dataclass(frozen=True, slots=True)
class Torus:
    """A torus of routers.

    Parameters
    ----------
    dimensions : tuple of three int
        Routers along x, y and z, each at least 1.
    weights : tuple of three float
        Weight of a hop along each axis. ``(1, 2, 1)`` counts y double, for links of half the bandwidth.

    Raises
    ------
    InputError
        If a dimension is not at least 1 or a weight is not positive.

    Examples
    --------
    The far corner of Hopper's torus is one hop away, the middle is not:

    >>> torus = Torus((17, 8, 24))
    >>> torus.hops((0, 0, 0), (16, 7, 23)), torus.hops((0, 0, 0), (8, 4, 12))
    (3, 24)
    """

    dimensions: Coordinates
    weights: tuple[float, float, float] = (1, 1, 1)

    def __post_init__(self) -> None:
        if len(self.dimensions) != 3 or min(self.dimensions) < 1:
            raise refusal("dimensions", self.dimensions, "must be three counts of at least 1")
        if min(self.weights) <= 0:
            raise refusal("weights", self.weights, "must be positive: a hop has a cost")

    @classmethod
    def of(cls, machine: Machine, *, weights: tuple[float, float, float] = (1, 1, 1)) -> "Torus":
        """Return the torus of a machine.

        Parameters
        ----------
        machine : Machine
            A machine with a torus.
        weights : (float, float, float), default (1, 1, 1)
            Weight of a hop along each axis.

        Raises
        ------
        InputError
            If the machine's network is not a torus.
        """
        if machine.network is None or machine.network.dimensions is None:
            raise InputError(f"machine {machine.name!r} states no torus dimensions, so it has no hops")
        return cls(machine.network.dimensions, weights)

    @property
    def routers(self) -> int:
        """Routers in the torus."""
        x, y, z = self.dimensions
        return x * y * z

    @property
    def diameter(self) -> int:
        """Diameter: the longest shortest path between two routers. [hops]"""
        return sum(size // 2 for size in self.dimensions)

    def _apart(self, a: Coordinates, b: Coordinates) -> Iterator[int]:
        """Yield the distance between two routers along each axis."""
        for start, end, size in zip(a, b, self.dimensions, strict=True):
            apart = abs(start - end) % size
            yield min(apart, size - apart)

    def hops(self, a: Coordinates, b: Coordinates) -> int:
        """Shortest distance between two routers. [hops]

        Parameters
        ----------
        a, b : Coordinates
            Coordinates of the routers.
        """
        return sum(self._apart(a, b))

    def weighted_hops(self, a: Coordinates, b: Coordinates) -> float:
        """Distance between two routers, with each hop weighted by its axis. [weighted hops]

        Parameters
        ----------
        a, b : Coordinates
            Coordinates of the routers.
        """
        return float(sum(map(mul, self.weights, self._apart(a, b))))

    def mean_hops(self) -> float:
        """Mean distance between two different random routers. [hops]

        Examples
        --------
        >>> round(Torus((17, 8, 24)).mean_hops(), 3)
        12.239
        """
        n = self.routers
        return sum(sum(min(apart, size - apart) for apart in range(size)) / size for size in self.dimensions) * (
            n / (n - 1) if n > 1 else 0
        )


def link_bandwidth_gb_s(machine: Machine, link: Link) -> float:
    """Bandwidth of a link of a machine, by its direction and place. [GB/s]

    The Gemini machines' rule [1]_: Y links inside a blade (from an even y)
    differ from those between blades; Z links inside a cage differ from those
    between cages (from the last slot of a cage).

    Parameters
    ----------
    machine : Machine
        The machine.
    link : Link
        Directed link of the torus.

    Raises
    ------
    InputError
        If the machine's file states no link bandwidths.

    Examples
    --------
    >>> hopper = Machine.load("hopper")
    >>> [link_bandwidth_gb_s(hopper, Link((0, y, z), axis)) for y, z, axis in ((0, 0, 1), (1, 0, 1), (0, 0, 2), (0, 7, 2))]
    [9.375, 4.6875, 15.0, 9.375]

    References
    ----------
    .. [1] Trilinos, Zoltan2_MachineTorusRCAForTesting.hpp.
    """
    network = machine.network
    if network is None or not network.link_bandwidth_gb_s:
        raise InputError(f"machine {machine.name!r} states no link bandwidths")
    slots = network.slots_per_cage or 1
    along_y: Direction = "y_between_blades" if link.start[1] % 2 else "y_within_blade"
    along_z: Direction = "z_between_cages" if link.start[2] % slots == slots - 1 else "z_within_cage"
    along: tuple[Direction, ...] = ("x", along_y, along_z)
    return float(network.link_bandwidth_gb_s[along[link.axis]])
