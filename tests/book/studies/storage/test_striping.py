"""The study of striping: shapes over ranges of unpublished values."""

from __future__ import annotations

import pytest

from hopperbook.studies.storage.striping import LARGE, SMALL, block_size_rates, elsewhere, striping_gain


def test_blocks_are_as_the_erratum_has_them():
    # 2.7 and 10 GB over 250,000 blocks; 67.1 GB over 740,000
    assert SMALL.block_bytes == pytest.approx((10_800, 40_000))
    assert LARGE.block_bytes[0] == pytest.approx(90_676, abs=1)


@pytest.mark.parametrize("access_s", [1e-4, 1e-3, 1e-2])
def test_the_larger_problem_gains_more(access_s):
    assert striping_gain(LARGE, access_s=access_s)[0] > striping_gain(SMALL, access_s=access_s)[1]


def test_without_a_cost_of_access_both_gain_all_osts_over_two():
    assert striping_gain(SMALL, access_s=0.0) == pytest.approx((78, 78), rel=1e-3)


def test_four_of_six_other_systems_lie_within_the_interval():
    """Eight nodes, from the rate of one node and the best rate; Thomas and the NVMe file system of ARCHER2 are faster."""
    assert [each.system for each in elsewhere() if not each.held] == ["Thomas", "ARCHER2, NVMe"]
    # ARCHER's one node writes 589 MiB/s, the best 5,506: X^-p = (8 x 589)^-p + (1 - 8^-p) 5506^-p.
    archer = elsewhere()[0]
    expected = ((8 * 588.801) ** -2.5 + (1 - 8**-2.5) * 5505.94**-2.5) ** -0.4 * 2**20 / 1e9
    assert archer.usual_gb_s == pytest.approx(expected, rel=1e-4)


def test_block_size_matters_for_writes_alone():
    """The slides say that it matters a lot for both; the reads of the model move by half a per cent."""
    writes, reads = (block_size_rates(reading=reading) for reading in (False, True))
    assert max(writes) / min(writes) > 5 * max(reads) / min(reads)
    assert max(reads) / min(reads) < 1.01


def test_every_row_has_its_verdict(scored):
    rows = scored("striping").values()
    assert [row.id for row in rows if row.verdict.startswith("missed")] == [
        "striping.block-size-matters", "striping.archer-eight",
    ]  # fmt: skip
    assert next(row for row in rows if row.id == "striping.maximum-command").reproduced == "lfs setstripe -c -1"
