"""Position and compactness of a job: laws, and too few free nodes."""

import pytest

from hopperlib.errors import InputError
from hopperlib.network.torus.placement import free_positions


def test_an_empty_machine_gives_one_run_round_the_end():
    assert free_positions(100, 4, start_fraction=1.0, busy_fraction=0.0) == [99, 0, 1, 2]


def test_as_much_is_busy_as_was_asked():
    with pytest.raises(InputError, match="nodes=6384 must be at most 3,") as refused:
        free_positions(6384, 6384, start_fraction=0.0, busy_fraction=0.5)
    free = int(refused.value.rule.split()[4].rstrip(",").replace(",", ""))
    # Three standard deviations for 798 blocks, each busy with probability 1/2, are 5 %.
    assert free / 6384 == pytest.approx(0.5, abs=0.05)
    assert len(free_positions(6384, free, start_fraction=0.0, busy_fraction=0.5)) == free
