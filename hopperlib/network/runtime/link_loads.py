"""The directed links of a torus, and how many messages of a job cross each.

A link is full duplex, so both directions count separately: a message and its reply take different links. A message goes
along X, then Y, then Z, each time in the shorter direction; halfway around an even ring, half of the messages go each
way.

All links of one ring in both directions are stored in one integer, 64 bits each: lanes, as in a vector register. Adding
a route is three additions of whole numbers, which Python does in C, so a snapshot of a full machine takes a few
hundredths of a second without any library.
"""

import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import product

from hopperlib.machine import Machine
from hopperlib.network.torus.distances import Coordinates, Link, Torus, link_bandwidth_gb_s

#: Messages on the links of a job: number of a ring -> its lanes, in units of 1 / `WHOLE`.
Loads = Mapping[int, int]
#: The routers of a message's source and destination.
Pair = tuple[Coordinates, Coordinates]
#: Weight of one message; even, so that half a message is an integer too.
WHOLE = 2
_LANE_BITS = 64
_TOP = 1 << _LANE_BITS - 1


class LinkMap:
    """The directed links of a machine's torus.

    Rings are numbered: those along X by ``y * size_z + z``, then those along Y by ``x * size_z + z``, then those along
    Z by ``x * size_y + y``. Lanes are the links that leave each router upwards, in the order of the ring, followed by
    those that leave downwards.

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
    Three messages two steps along Y cross two links; the replies cross others:

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
            # The link that leaves a router downwards is the reverse of its lower neighbor's link upwards.
            return *up, *up[-1:], *up[:-1]

        #: Bandwidth of each lane of each ring. [GB/s]
        self.capacity_gb_s: tuple[tuple[float, ...], ...] = (
            *(ring(0, lambda at, y=y, z=z: (at, y, z)) for y, z in product(range(sy), range(sz))),  # type: ignore[misc]
            *(ring(1, lambda at, x=x, z=z: (x, at, z)) for x, z in product(range(sx), range(sz))),  # type: ignore[misc]
            *(ring(2, lambda at, x=x, y=y: (x, y, at)) for x, y in product(range(sx), range(sy))),  # type: ignore[misc]
        )
        # After adding this, the top bit of a lane is set if its link is overloaded.
        self._to_the_brim = [
            sum(_TOP - 1 - int(capacity * 1e9 * WHOLE) << _LANE_BITS * lane for lane, capacity in enumerate(capacities))
            for capacities in self.capacity_gb_s
        ]
        self._tops = [sum(_TOP << _LANE_BITS * lane for lane in range(2 * size)) for size in torus.dimensions]

    def of_messages(self, messages: Mapping[Pair, int], *, replies: bool = False) -> Loads:
        """Return the loads of messages between routers; with replies, as many go back.

        Parameters
        ----------
        messages : mapping of Pair to int
            (From router, to router) -> number of messages.
        replies : bool, default False
            Whether every message is answered by one in the other direction.
        """
        alike: dict[int, list[Pair]] = defaultdict(list)
        for pair, count in messages.items():
            alike[count].append(pair)
        loads: dict[int, int] = defaultdict(int)
        for count, pairs in alike.items():
            for ring, lanes in self.of_pairs(pairs, replies=replies).items():
                loads[ring] += count * lanes
        return loads

    def of_pairs(self, pairs: Iterable[Pair], *, replies: bool = False) -> Loads:
        """Return the loads of one message from the first router of each pair to the second; with replies, one goes
        back.

        Parameters
        ----------
        pairs : iterable of Pair
            Routers of sources and destinations.
        replies : bool, default False
            Whether every message is answered by one in the other direction.
        """
        legs_x, legs_y, legs_z = self._legs
        _, sy, sz = self.dimensions
        first_y, first_z = self._first_y, self._first_z
        # Gathered by ring, and then added in C.
        legs: dict[int, list[int]] = defaultdict(list)
        for (ax, ay, az), (bx, by, bz) in pairs:
            if ax != bx:
                legs[ay * sz + az].append(legs_x[ax][bx])
                if replies:
                    legs[by * sz + bz].append(legs_x[bx][ax])
            if ay != by:
                legs[first_y + bx * sz + az].append(legs_y[ay][by])
                if replies:
                    legs[first_y + ax * sz + bz].append(legs_y[by][ay])
            if az != bz:
                legs[first_z + bx * sy + by].append(legs_z[az][bz])
                if replies:
                    legs[first_z + ax * sy + ay].append(legs_z[bz][az])
        return {ring: sum(each) for ring, each in legs.items()}

    def between(self, sources: Mapping[Coordinates, int], sinks: Mapping[Coordinates, int]) -> Loads:
        """Return the loads if each source sends a message to each sink.

        Pairs need not be enumerated: along X the sinks' positions along Y and Z do not matter, along Z those of the
        sources along X and Y.

        Parameters
        ----------
        sources, sinks : mapping
            Router -> number of nodes there.

        Examples
        --------
        >>> links = LinkMap(Machine.load("hopper"))
        >>> two, one = {(0, 0, 0): 2, (0, 0, 1): 1}, {(3, 0, 2): 1}
        >>> links.between(two, one) == links.of_messages({((0, 0, 0), (3, 0, 2)): 2, ((0, 0, 1), (3, 0, 2)): 1})
        True
        """
        legs_z = self._legs[2]
        _, sy, sz = self.dimensions
        loads: dict[int, int] = defaultdict(int)
        from_x, from_y = self._ways_to(frozenset(sinks.items()))
        sources_yz, sources_z = defaultdict[tuple[int, int], int](int), defaultdict[int, int](int)
        for (x, y, z), count in sources.items():
            loads[y * sz + z] += count * from_x[x]
            sources_yz[y, z] += count
            sources_z[z] += count
        for x, from_xy in from_y.items():
            ring = self._first_y + x * sz
            for (y, z), count in sources_yz.items():
                loads[ring + z] += count * from_xy[y]
        sinks_z = {z for _, _, z in sinks}
        to_z = {end: sum(count * legs_z[start][end] for start, count in sources_z.items()) for end in sinks_z}
        for (x, y, z), count in sinks.items():
            loads[self._first_z + x * sy + y] += count * to_z[z]
        return {ring: lanes for ring, lanes in loads.items() if lanes}

    # Many jobs write through the same routers.
    @lru_cache(maxsize=8)  # noqa: B019
    def _ways_to(self, sinks: frozenset[tuple[Coordinates, int]]) -> tuple[list[int], dict[int, list[int]]]:
        """Return the lanes of messages to each sink along X, from each x, and along Y for each x of a sink, from each
        y.
        """
        legs_x, legs_y, _ = self._legs
        sinks_xy: dict[int, Counter[int]] = defaultdict(Counter)
        for (x, y, _), count in sinks:
            sinks_xy[x][y] += count
        from_x = [sum(sinks_y.total() * legs[end] for end, sinks_y in sinks_xy.items()) for legs in legs_x]
        return from_x, {
            x: [sum(count * legs[end] for end, count in sinks_y.items()) for legs in legs_y]
            for x, sinks_y in sinks_xy.items()
        }

    def lanes(self, ring: int, packed: int) -> tuple[int, ...]:
        """Return the lanes of a ring, one number each.

        Parameters
        ----------
        ring : int
            Number of the ring.
        packed : int
            The lanes of the ring in one integer.
        """
        count = len(self.capacity_gb_s[ring])
        return struct.unpack(f"<{count}Q", packed.to_bytes(8 * count, "little"))

    def overfull(self, ring: int, packed: int) -> list[int]:
        """Return the overloaded lanes of a ring: the load per second, times `WHOLE`, exceeds the bandwidth.

        Parameters
        ----------
        ring : int
            Number of the ring.
        packed : int
            The lanes of the ring in one integer.
        """
        over = packed + self._to_the_brim[ring] & self._tops[(ring >= self._first_y) + (ring >= self._first_z)]
        return [lane for lane, load in enumerate(self.lanes(ring, over)) if load] if over else []

    @staticmethod
    def lane(packed: int, lane: int) -> int:
        """Return one lane of a ring.

        Parameters
        ----------
        packed : int
            The lanes of a ring in one integer.
        lane : int
            Index of the lane, from 0.
        """
        return packed >> _LANE_BITS * lane & (1 << _LANE_BITS) - 1

    def each(self, loads: Loads) -> list[tuple[tuple[int, Coordinates, int], float, float]]:
        """Return the links that messages cross: (axis, router left, +1 or -1), messages, bandwidth [GB/s].

        Parameters
        ----------
        loads : Loads
            Messages on the links.
        """
        _, sy, sz = self.dimensions
        crossed = []
        for ring, packed in sorted(loads.items()):
            axis = 0 if ring < self._first_y else 1 if ring < self._first_z else 2
            # Rings are numbered along X, then along Y, then along Z; inside an axis by the two other coordinates.
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
        """Return the router before one on its ring along an axis.

        Parameters
        ----------
        router : Coordinates
            Coordinates of the router.
        axis : int
            0 for x, 1 for y, 2 for z.
        """
        x, y, z = (at - (axis == number) for number, at in enumerate(router))
        sx, sy, sz = self.dimensions
        return x % sx, y % sy, z % sz


def _leg(size: int, start: int, end: int) -> int:
    """Return the lanes of a message's links along a ring, in the shorter direction."""
    ahead = (end - start) % size
    up = sum(1 << _LANE_BITS * ((start + step) % size) for step in range(ahead))
    down = sum(1 << _LANE_BITS * (size + (start - step) % size) for step in range(size - ahead))
    if 2 * ahead == size:
        return up + down
    return WHOLE * (up if 2 * ahead < size else down if ahead else 0)
