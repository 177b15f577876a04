"""Gemini wiring: known nodes, round trips, tables, refusals."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.network.torus.wiring import Wiring

TITAN, BLUE_WATERS, HOPPER = Wiring(25, 8), Wiring(24, 12), Wiring(17, 4)


def test_totals_of_three_machines():
    # Titan's table has 19,200 rows; 25 x 8 cabinets of 96 nodes.
    assert (TITAN.nodes, TITAN.dimensions) == (19_200, (25, 16, 24))
    assert (BLUE_WATERS.nodes, BLUE_WATERS.dimensions) == (27_648, (24, 24, 24))
    assert (HOPPER.nodes, HOPPER.dimensions) == (6_528, (17, 8, 24))


def test_published_nodes_of_blue_waters():
    assert BLUE_WATERS.address(11723).cname == "c20-4c0s5n1"
    assert BLUE_WATERS.address(1160).cname == "c2-1c2s4n2"


@pytest.mark.parametrize(
    ("column", "x"),
    # Titan's columns: 0 -> 0, odd c -> (c + 1) / 2, even c >= 2 -> 25 - c / 2.
    [(0, 0), (1, 1), (3, 2), (23, 12), (2, 24), (24, 13)],
)
def test_columns_of_titan(column, x):
    assert TITAN.find(f"c{column}-0c0s0n0").x == x


@pytest.mark.parametrize(("row", "y"), [(0, 0), (2, 2), (4, 4), (6, 6), (7, 8), (5, 10), (3, 12), (1, 14)])
def test_rows_of_titan(row, y):
    assert TITAN.find(f"c0-{row}c0s0n0").y == y
    assert TITAN.find(f"c0-{row}c0s0n3").y == y + 1


def test_z_of_titan():
    # Row 0 is at an even place of the ring: cage 0 up, cage 1 down, cage 2 up. Row 2 has its cages reversed.
    assert [TITAN.find(f"c0-0c{cage}s0n0").z for cage in (0, 1, 2)] == [0, 15, 16]
    assert [TITAN.find(f"c0-2c{cage}s0n0").z for cage in (2, 1, 0)] == [0, 15, 16]


def test_numbers_start_up_the_first_cabinet():
    assert [node.cname for node in TITAN.addresses[:5]] == [
        "c0-0c0s0n0",
        "c0-0c0s0n1",
        "c0-0c0s1n0",
        "c0-0c0s1n1",
        "c0-0c0s2n0",
    ]
    # After 24 Geminis up the line comes back along the second Gemini of each blade.
    assert TITAN.address(48).cname == "c0-0c2s7n2"
    # Columns come as 0, 2, 4, ...; the second plane of 16 x 24 Geminis is walked backwards, from row 1.
    assert TITAN.address(768).cname.startswith("c2-1")


@given(st.integers(1, 9), st.integers(1, 6), st.integers(1, 3), st.integers(1, 8))
def test_any_floor(columns, rows, cages, slots):
    wiring = Wiring(columns, rows, cages, slots)
    addresses = wiring.addresses
    assert [node.nid for node in addresses] == list(range(columns * rows * cages * slots * 4))
    assert len({node.cname for node in addresses}) == len(addresses)
    x, y, z = wiring.dimensions
    assert x * y * z * 2 == len(addresses) == 2 * len({node.coordinates for node in addresses})
    for node in addresses:
        assert wiring.find(node.cname) == wiring.address(node.nid) == node
    # Neighbors in number are neighbors in the torus, plane changes along x included where rings are short.
    for a, b in zip(addresses[::2], addresses[2::2], strict=False):
        steps = [
            min(abs(p - q), size - abs(p - q))
            for p, q, size in zip(a.coordinates, b.coordinates, (x, y, z), strict=True)
        ]
        assert steps[1] + steps[2] <= 1


def test_refusals():
    with pytest.raises(ValueError, match="columns=0 must be at least 1"):
        Wiring(0, 4)
    with pytest.raises(ValueError, match="nid=6528 must be from 0 to 6527"):
        HOPPER.address(6528)
    with pytest.raises(ValueError, match="'nid00012' is not a node name"):
        HOPPER.find("nid00012")
    with pytest.raises(ValueError, match="states no floor"):
        Wiring.of(Machine.load("bassi"))
