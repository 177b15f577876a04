"""Factors between units, and the two names of a machine's memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib import units


def test_factors():
    assert units.BYTES_PER_GB == 10**9
    assert units.BYTES_PER_MIB == 2**20
    assert units.BYTES_PER_MEMORY_GB == 2**30
    assert units.BYTES_PER_MEMORY_GB == units.MIB_PER_MEMORY_GB * units.BYTES_PER_MIB
    assert units.SECONDS_PER_HOUR == 60 * 60
    assert units.HOURS_PER_DAY == 24


def test_the_printed_memory_of_hopper_has_two_divisors():
    # 6,000 x 32 + 384 x 64 = 192,000 + 24,576 = 216,576 GB
    assert units.memory_tb(216_576) == 216.576
    assert units.memory_tib(216_576) == 211.5


@given(st.floats(0, 1e12))
def test_the_two_divisors_differ_by_two_and_a_half_per_cent(memory_gb):
    assert units.memory_tb(memory_gb) == pytest.approx(1.024 * units.memory_tib(memory_gb))
