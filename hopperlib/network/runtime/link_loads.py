"""The directed links of a torus, and how many messages of a job cross each.

A link is full duplex, so both directions count apart: a message and its reply
take other links. A message goes along X, then Y, then Z, each the shorter way
round; half-way round an even ring, half of the messages go each way.

All links of one ring and both directions stand side by side in one whole
number, 64 bits each: lanes, as in a vector register. Adding a route is three
additions of whole numbers, which Python does in C, so a snapshot of a full
machine takes some hundredths of a second without any library.
"""

import struct
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import product

from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Coordinates, Link, Torus, link_bandwidth_gb_s

#: Messages on the links of a job: number of a ring -> its lanes, in units of 1 / `WHOLE`.
Loads = Mapping[int, int]
#: What one message counts, so that half of one is a whole number too.
WHOLE = 2
_LANE_BITS = 64


class LinkMap:
    """The directed links of a machine's torus.

    Rings are numbered: those along X by ``y * size_z + z``, then those along Y
    by ``x * size_z + z``, then those along Z by ``x * size_y + y``. A lane is the
    link that leaves a router upwards, by its place on the ring, or, after all of
    these, downwards.

    Parameters
    ----------
    machine : Machine
        A machine with a torus and link bandwidths.

    Raises
    ------
    InputError
        If the machine states no torus or no link bandwidths.

    Examples
    --------
    Three messages two steps along Y cross two links, and the replies none of them:

    >>> links = LinkMap(Machine.load("hopper"))
    >>> loads = links.of_messages({((0, 1, 0), (0, 3, 0)): 3})
    >>> [(link, count, capacity) for link, count, capacity in links.each(loads)]
    [((1, (0, 1, 0), 1), 3.0, 4.6875), ((1, (0, 2, 0), 1), 3.0, 9.375)]
    """

    def __init__(self, machine: Machine) -> None:
        torus = Torus.of(machine)
        self.dimensions = sx, sy, sz = torus.dimensions
        self._first_y, self._first_z = sy * sz, sy * sz + sx * sz
        self._legs = [[[_leg(size, a, b) for b in range(size)] for a in range(size)] for size in torus.dimensions]

        def ring(axis: int, place: Callable[[int], Coordinates]) -> tuple[float, ...]:
            up = [link_bandwidth_gb_s(machine, Link(place(at), axis)) for at in range(torus.dimensions[axis])]
            # The link that leaves a router downwards is the other direction of the one that its neighbor's leads up.
            return *up, *up[-1:], *up[:-1]

        #: Bandwidth of each lane of each ring. [GB/s]
        self.capacity_gb_s: tuple[tuple[float, ...], ...] = (
            *(ring(0, lambda at, y=y, z=z: (at, y, z)) for y, z in product(range(sy), range(sz))),  # type: ignore[misc]
            *(ring(1, lambda at, x=x, z=z: (x, at, z)) for x, z in product(range(sx), range(sz))),  # type: ignore[misc]
            *(ring(2, lambda at, x=x, y=y: (x, y, at)) for x, y in product(range(sx), range(sy))),  # type: ignore[misc]
        )

    def of_messages(self, messages: Mapping[tuple[Coordinates, Coordinates], int], *, replies: bool = False) -> Loads:
        """Return the loads of messages: how many go from one router to another, and with replies as many back."""
        legs_x, legs_y, legs_z = self._legs
        _, sy, sz = self.dimensions
        first_y, first_z = self._first_y, self._first_z
        loads: dict[int, int] = defaultdict(int)
        for ((ax, ay, az), (bx, by, bz)), count in messages.items():
            if ax != bx:
                loads[ay * sz + az] += count * legs_x[ax][bx]
                if replies:
                    loads[by * sz + bz] += count * legs_x[bx][ax]
            if ay != by:
                loads[first_y + bx * sz + az] += count * legs_y[ay][by]
                if replies:
                    loads[first_y + ax * sz + bz] += count * legs_y[by][ay]
            if az != bz:
                loads[first_z + bx * sy + by] += count * legs_z[az][bz]
                if replies:
                    loads[first_z + ax * sy + ay] += count * legs_z[bz][az]
        return loads

    def between(self, sources: Mapping[Coordinates, int], sinks: Mapping[Coordinates, int]) -> Loads:
        """Return the loads if each source sends a message to each sink.

        Pairs need not be looked at: along X the places of the sinks along Y and Z
        do not matter, along Z those of the sources along X and Y.

        Parameters
        ----------
        sources, sinks : mapping
            Router -> how many nodes there.

        Examples
        --------
        >>> links = LinkMap(Machine.load("hopper"))
        >>> two, one = {(0, 0, 0): 2, (0, 0, 1): 1}, {(3, 0, 2): 1}
        >>> links.between(two, one) == links.of_messages({((0, 0, 0), (3, 0, 2)): 2, ((0, 0, 1), (3, 0, 2)): 1})
        True
        """
        legs_x, legs_y, legs_z = self._legs
        _, sy, sz = self.dimensions
        loads: dict[int, int] = defaultdict(int)
        sources_x, sources_y, sources_z, sources_yz = _marginals(sources)
        sinks_x, _, sinks_z, sinks_xy = _marginals(sinks, last=False)
        from_x = {start: sum(count * legs_x[start][end] for end, count in sinks_x.items()) for start in sources_x}
        for (x, y, z), count in sources.items():
            loads[y * sz + z] += count * from_x[x]
        from_y: dict[tuple[int, int], int] = defaultdict(int)
        for (x, end), count in sinks_xy.items():
            for start in sources_y:
                from_y[x, start] += count * legs_y[start][end]
        for x in sinks_x:
            ring = self._first_y + x * sz
            for (y, z), count in sources_yz.items():
                loads[ring + z] += count * from_y[x, y]
        to_z = {end: sum(count * legs_z[start][end] for start, count in sources_z.items()) for end in sinks_z}
        for (x, y, z), count in sinks.items():
            loads[self._first_z + x * sy + y] += count * to_z[z]
        return {ring: lanes for ring, lanes in loads.items() if lanes}

    def lanes(self, ring: int, packed: int) -> tuple[int, ...]:
        """Return the lanes of a ring, one number each."""
        count = len(self.capacity_gb_s[ring])
        return struct.unpack(f"<{count}Q", packed.to_bytes(8 * count, "little"))

    @staticmethod
    def lane(packed: int, lane: int) -> int:
        """Return one lane of a ring."""
        return packed >> _LANE_BITS * lane & (1 << _LANE_BITS) - 1

    def each(self, loads: Loads) -> list[tuple[tuple[int, Coordinates, int], float, float]]:
        """Return the links that messages cross: (axis, router left, +1 or -1), messages, bandwidth [GB/s]."""
        _, sy, sz = self.dimensions
        crossed = []
        for ring, packed in sorted(loads.items()):
            axis = 0 if ring < self._first_y else 1 if ring < self._first_z else 2
            major, minor = divmod(ring - (0, self._first_y, self._first_z)[axis], (sz, sz, sy)[axis])
            size = self.dimensions[axis]
            for lane, count in enumerate(self.lanes(ring, packed)):
                place = [major, minor]
                place.insert(axis, lane % size)
                if count:
                    link = axis, (place[0], place[1], place[2]), 1 if lane < size else -1
                    crossed.append((link, count / WHOLE, self.capacity_gb_s[ring][lane]))
        return crossed

    def below(self, router: Coordinates, axis: int) -> Coordinates:
        """Return the router before one on its ring along an axis."""
        x, y, z = (at - (axis == number) for number, at in enumerate(router))
        sx, sy, sz = self.dimensions
        return x % sx, y % sy, z % sz

    def busiest(self, loads: Loads) -> float:
        """Messages on the busiest link over its bandwidth. [messages per GB/s]"""
        return max((count / capacity for _, count, capacity in self.each(loads)), default=0.0)


def _marginals(
    nodes: Mapping[Coordinates, int], *, last: bool = True
) -> tuple[Mapping[int, int], Mapping[int, int], Mapping[int, int], Mapping[tuple[int, int], int]]:
    """Return how many nodes lie at each x, each y, each z, and each pair of the last or first two."""
    xs, ys, zs = defaultdict[int, int](int), defaultdict[int, int](int), defaultdict[int, int](int)
    pairs = defaultdict[tuple[int, int], int](int)
    for (x, y, z), count in nodes.items():
        xs[x] += count
        ys[y] += count
        zs[z] += count
        pairs[(y, z) if last else (x, y)] += count
    return xs, ys, zs, pairs


def _leg(size: int, start: int, end: int) -> int:
    """Return the lanes of the links of a message along a ring, the shorter way."""
    ahead = (end - start) % size
    up = sum(1 << _LANE_BITS * ((start + step) % size) for step in range(ahead))
    down = sum(1 << _LANE_BITS * (size + (start - step) % size) for step in range(size - ahead))
    if 2 * ahead == size:
        return up + down
    return WHOLE * (up if 2 * ahead < size else down if ahead else 0)
