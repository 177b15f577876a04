"""The torus as a network of switches: its links, against the definition of a torus."""

from itertools import product

from hopperlib.machine import Machine
from hopperlib.network.fabrics.ring_grid import RingGrid


def test_links_connect_neighbors_along_each_axis():
    # The toy has 3 x 4 x 4 routers, numbered with z fastest: a step along x changes the number by 16, along y by 4,
    # along z by 1. Each router has one link in each of the two directions of every ring.
    expected = {"x": set(), "y": set(), "z": set()}
    for x, y, z in product(range(3), range(4), range(4)):
        for step in (1, -1):
            expected["x"].add((16 * x + 4 * y + z, 16 * ((x + step) % 3) + 4 * y + z))
            expected["y"].add((16 * x + 4 * y + z, 16 * x + 4 * ((y + step) % 4) + z))
            expected["z"].add((16 * x + 4 * y + z, 16 * x + 4 * y + (z + step) % 4))
    found = {"x": set(), "y": set(), "z": set()}
    numbers = []
    for number, link in RingGrid(Machine.load("toy")).links():
        found[link.kind].add((link.start, link.end))
        numbers.append(number)
    assert found == expected
    assert len(set(numbers)) == len(numbers) == 3 * 2 * 48
