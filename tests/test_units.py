"""Factors between units, and the two names of a machine's memory."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib import units
from hopperlib.errors import InputError


@pytest.mark.parametrize(
    ("size", "text"),
    # 2**30 + 2**10 = (2**20 + 1) * 2**10: no larger unit divides it.
    [(2**30, "1G"), (3 * 2**30, "3G"), (2**29, "512M"), (2**16, "64k"), (1000, "1000"), (2**30 + 2**10, "1048577k")],
)
def test_an_exact_size_uses_the_largest_unit_that_divides_it(size, text):
    assert units.binary_size_text(size) == text


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


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500", 500),
        ("500b", 500),
        ("262144 bytes", 262_144),
        ("1 byte", 1),
        ("64k", 64_000),
        ("64K", 64_000),
        (" 1.5 GB ", 1_500_000_000),
        ("1.5GiB", 3 << 29),
        ("1Mi", 1 << 20),
        ("2E", 2 * 10**18),
    ],
)
def test_sizes(text, size):
    assert units.size_bytes(text) == size


@pytest.mark.parametrize(
    "text", ["", "GB", "two", "-1", "1e6", "64m", "64mb", "64Mb", "1iB", "1_000", "1,5 GB", "9" * 40]
)
def test_no_sizes(text):
    with pytest.raises(InputError, match="is not a size"):
        units.size_bytes(text)


def test_a_size_is_a_whole_number_of_bytes_unless_it_is_rounded():
    with pytest.raises(InputError, match="not a whole number of bytes"):
        units.size_bytes("0.0015k")
    assert units.size_bytes("0.0015k", rounded=True) == 2


@pytest.mark.parametrize("text", ["64m", "64mb", "64MB", "64Mb", "64MiB", "64mib"])
def test_units_in_any_case_are_those_in_their_own(text):
    assert units.size_bytes(text, binary=True, any_case=True) == 64 << 20


def test_memory_is_binary_and_a_bare_number_counts_what_is_said():
    assert units.memory_gb("32") == 2**-25
    assert units.memory_gb("32", unit="G") == 32
    assert units.memory_gb("32b", unit="G") == 2**-25
    # 12.3 * 2**30 bytes is no whole number, and 12.3 comes back all the same.
    assert units.memory_gb("12.3g") == 12.3


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1-02:03:04", 93_784),
        ("1-02:03", 93_780),
        ("1-02", 93_600),
        ("02:03:04", 7_384),
        ("02:03", 123),
        ("120:00:00", 432_000),
        ("00:59.9", 59),
        ("90m", 5_400),
        ("90 min", 5_400),
        ("1.5h", 5_400),
        ("2d", 172_800),
        ("30s", 30),
        ("30 sec", 30),
    ],
)
def test_durations(text, seconds):
    assert units.duration_s(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "90", "UNLIMITED", "Partition_Limit", "INVALID", "1-", "-5m", "1:2:3:4", "5 weeks"]
)
def test_no_durations(text):
    with pytest.raises(InputError, match="is not a duration"):
        units.duration_s(text)


def test_a_bare_duration_counts_what_is_said():
    assert units.duration_s("90", unit="m") == 5_400
    assert units.duration_s("90", unit="s") == 90


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text):
    for read in (units.size_bytes, units.memory_gb, units.duration_s):
        with contextlib.suppress(InputError):
            assert read(text) >= 0
