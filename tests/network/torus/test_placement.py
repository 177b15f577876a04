"""Where a job lands, and how compact it lies: laws, and the limit of what is free."""

import pytest

from hopperlib.errors import InputError
from hopperlib.network.torus.distances import Torus
from hopperlib.network.torus.placement import compactness_of, free_positions


def test_an_empty_machine_gives_one_run_round_the_end():
    assert free_positions(100, 4, start_fraction=1.0, busy_fraction=0.0) == [99, 0, 1, 2]


def test_as_much_is_busy_as_was_asked():
    with pytest.raises(InputError, match="nodes=6384 must be at most 3,") as refused:
        free_positions(6384, 6384, start_fraction=0.0, busy_fraction=0.5)
    free = int(refused.value.rule.split()[4].rstrip(",").replace(",", ""))
    # Three standard deviations of 798 blocks of which each is busy with a chance of a half are 5 %.
    assert free / 6384 == pytest.approx(0.5, abs=0.05)
    assert len(free_positions(6384, free, start_fraction=0.0, busy_fraction=0.5)) == free


def test_weights_count_only_along_their_axis():
    torus = Torus((17, 8, 24), (1, 2, 1))
    along_z = compactness_of([(0, 0, z) for z in range(4)], torus)
    along_y = compactness_of([(0, y, 0) for y in range(4)], torus)
    assert along_z.nodes_weighted == along_z.nodes
    assert along_y.nodes_weighted == 2 * along_y.nodes
    assert along_z.farthest == 3


def test_the_farthest_of_many_is_not_looked_for():
    # 625 Geminis in one plane, whose hull is quick.
    assert compactness_of([(x, 0, z) for x in range(25) for z in range(25)], Torus((50, 1, 50))).farthest is None
