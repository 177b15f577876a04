"""Chunks read, held against counts of HDF5 2.0 itself; better shapes against brute force; laws and refusals.

`chunk-reads.csv` was measured with h5py 3.16: arrays of doubles in random shapes, chunks and ways through them, read
through a file object that notes where it is read; all 400 patterns tried agreed, 60 of them are stored.
"""

from __future__ import annotations

import csv
import math
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopperkit.filesystems.chunks import Access, Array, better_cache_bytes, better_chunk, reads, slots_for
from hopperlib.errors import InputError

with open(Path(__file__).parent / "chunk-reads.csv", newline="") as _file:
    MEASURED = list(csv.DictReader(_file))


def _shape(text):
    return tuple(map(int, text.split("x")))


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: row["shape"] + "-" + row["chunk"] + "-" + row["block"])
def test_counts_are_those_of_the_library(row):
    array = Array(shape=_shape(row["shape"]), chunk=_shape(row["chunk"]), compressed=row["compressed"] == "yes")
    found = reads(array, _shape(row["block"]), cache_bytes=int(row["cache_bytes"]), slots=int(row["slots"]))
    if row["chunks_read"]:
        assert found.chunks_read == int(row["chunks_read"])
    else:
        # Chunks that are neither compressed nor fit are read in parts: as many bytes as are wanted.
        assert (found.chunks_read, found.bytes_read) == (0, int(row["bytes_read"]))
    assert found.followed == 1


def test_both_kinds_are_among_the_counts():
    whole = [row for row in MEASURED if row["chunks_read"]]
    again = [
        row
        for row in whole
        if int(row["chunks_read"]) > math.prod(Array(shape=_shape(row["shape"]), chunk=_shape(row["chunk"])).counts)
    ]
    # Many of them read chunks more than once, so that the cache matters.
    assert (len(MEASURED), len(whole), len(again) >= 30) == (60, 48, True)


def test_rows_of_two_columns_of_chunks_by_hand():
    # 4 x 4 doubles in chunks of 2 x 2 (32 bytes), read by rows: each row touches two chunks.
    array = Array(shape=(4, 4), chunk=(2, 2), compressed=True)
    # Both chunks of a row of chunks fit: each is read once. One fits: each row reads two again.
    assert reads(array, (1, 4), cache_bytes=64).chunks_read == 4
    assert reads(array, (1, 4), cache_bytes=32).chunks_read == 8
    # One slot holds one chunk, however many bytes there are.
    assert reads(array, (1, 4), cache_bytes=10**6, slots=1).chunks_read == 8
    assert reads(array, (1, 4), cache_bytes=32).excess == 2.0


def test_a_long_way_is_told_by_its_first_part():
    array = Array(shape=(2000, 2000), chunk=(100, 100), compressed=True)
    whole = reads(array, (1, 2000), cache_bytes=1 << 20, most_touches=10**6)
    first = reads(array, (1, 2000), cache_bytes=1 << 20, most_touches=4000)
    assert (whole.followed, first.followed) == (1, 0.1)
    assert first.chunks_read == pytest.approx(whole.chunks_read, rel=0.02)


dimensions = st.integers(1, 3).flatmap(
    lambda number: st.tuples(*(st.tuples(*[st.integers(1, 12)] * number) for _ in range(3)))
)


@settings(deadline=None)
@given(dimensions, st.booleans(), st.integers(1, 5000), st.integers(1, 50))
def test_every_chunk_is_read_and_no_byte_is_forgotten(shapes, compressed, cache, slots):
    shape, chunk, block = shapes
    array = Array(shape=shape, chunk=chunk, compressed=compressed)
    found = reads(array, block, cache_bytes=cache, slots=slots)
    assert found.bytes_wanted == math.prod(shape) * 8
    assert found.bytes_read >= found.bytes_wanted
    if compressed or array.chunk_bytes <= cache:
        assert math.prod(array.counts) <= found.chunks_read <= found.touches
    # With space for all, in separate slots, each is read once.
    roomy = reads(array, block, cache_bytes=10**9, slots=10**9 + 7)
    assert roomy.chunks_read == math.prod(array.counts)


@pytest.mark.parametrize("blocks", [((1, 64),), ((64, 1),), ((8, 8),), ((1, 64), (64, 1))])
def test_no_shape_beats_the_recommended_one_by_much(blocks):
    """All shapes of powers of two from 64 KiB to 4 MiB, by steps and not by the formula that proposes."""
    array = Array(shape=(64, 64), chunk=(1, 1), item_bytes=8192, compressed=True)
    access = Access(blocks, cache_bytes=1 << 20)
    advised = Array(shape=array.shape, chunk=better_chunk(array, access), item_bytes=8192, compressed=True)
    best = min(
        access.seconds(Array(shape=array.shape, chunk=shape, item_bytes=8192, compressed=True))
        for shape in product([1 << power for power in range(7)], repeat=2)
        if 1 << 16 <= math.prod(shape) * 8192 <= 1 << 22
    )
    assert access.seconds(advised) <= 1.1 * best


def test_what_is_good_stays_and_a_cache_may_do():
    large = Array(shape=(365, 500, 500), chunk=(1, 500, 500), item_bytes=4)
    assert better_chunk(large, Access(((1, 500, 500),))) == (1, 500, 500)
    # Chunks of 40 kB cost 365 reads of 1 ms for 14.6 ms of bytes: 26 maps fit into 1 MiB.
    maps = Array(shape=(365, 100, 100), chunk=(1, 100, 100), item_bytes=4)
    assert better_chunk(maps, Access(((1, 100, 100),))) == (26, 100, 100)
    # All maps are 14.6 MB; a cache of 16 MiB holds them, in slots of a hundred a chunk.
    assert better_cache_bytes(maps, Access(((365, 1, 1),))) == 16 << 20
    assert slots_for(maps, 16 << 20) == 41901


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Array(shape=(4, 4), chunk=(2,)), "chunk=2 has 1 dimensions, and the array has 2"),
        (lambda: Array(shape=(4,), chunk=(0,)), "chunk=0 must be at least 1"),
        (
            lambda: Array(shape=(2**31,), chunk=(2**31,)),
            "chunk=2147483648 must be below 4 GiB, the limit of HDF5",
        ),
        (lambda: reads(Array(shape=(4,), chunk=(2,)), (1, 1)), "block=1x1 has 2 dimensions, and the array has 1"),
        (lambda: reads(Array(shape=(4,), chunk=(2,)), (1,), cache_bytes=0), "cache_bytes=0 must be above 0"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as error:
        call()
    assert message in str(error.value)
