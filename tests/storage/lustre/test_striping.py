"""Striping, byte by byte: laws, and agreement with a toy that distributes single bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.storage.lustre.striping import Layout

UNIT = 65_536


@st.composite
def layouts(draw, most_stripe=8):
    osts = draw(st.integers(min_value=1, max_value=12))
    return Layout(
        stripe_count=draw(st.integers(min_value=1, max_value=osts)),
        stripe_size_bytes=UNIT * draw(st.integers(min_value=1, max_value=most_stripe)),
        osts=osts,
        first_ost=draw(st.integers(min_value=0, max_value=osts - 1)),
    )


sizes = st.integers(min_value=0, max_value=64 * UNIT)


def _deal(layout, size):
    """Distribute a file by hand: stripe after stripe, object after object, counting each object's bytes."""
    objects = [0] * layout.stripe_count
    turn, left = 0, size
    while left:
        piece = min(left, layout.stripe_size_bytes)
        objects[turn % layout.stripe_count] += piece
        left -= piece
        turn += 1
    return objects


@given(layouts(), st.integers(min_value=0, max_value=32 * UNIT))
def test_single_bytes_agree_with_the_objects(layout, size):
    """Count every stripe of a file at the location of its first byte."""
    in_object = [0] * layout.stripe_count
    for first in range(0, size, layout.stripe_size_bytes):
        length = min(layout.stripe_size_bytes, size - first)
        number, within = layout.object_of(first)
        assert within == in_object[number]
        assert layout.ost_of(first) == layout.ost_of(first + length - 1) == (layout.first_ost + number) % layout.osts
        in_object[number] += length
    assert in_object == _deal(layout, size)


@given(layouts(), st.integers(min_value=0, max_value=1 << 50))
def test_a_byte_can_be_found_again_from_its_object(layout, offset):
    number, within = layout.object_of(offset)
    turn, rest = divmod(within, layout.stripe_size_bytes)
    assert (turn * layout.stripe_count + number) * layout.stripe_size_bytes + rest == offset


def test_every_byte_of_a_toy_file_is_on_one_ost():
    # 3 objects from OST 4 of 5, stripes of 65,536: OSTs 4, 0, 1, 4, 0, ...
    layout = Layout(stripe_count=3, stripe_size_bytes=UNIT, osts=5, first_ost=4)
    owners = [layout.ost_of(byte) for byte in range(0, 5 * UNIT, UNIT // 4)]
    assert owners == [4] * 4 + [0] * 4 + [1] * 4 + [4] * 4 + [0] * 4


def test_commands():
    assert (
        Layout(stripe_count=156, stripe_size_bytes=1 << 20, osts=156).lfs_command("x") == "lfs setstripe -c -1 -S 1M x"
    )
    assert (
        Layout(stripe_count=2, stripe_size_bytes=UNIT, osts=156).lfs_command() == "lfs setstripe -c 2 -S 64k DIRECTORY"
    )
    assert (
        Layout(stripe_count=2, stripe_size_bytes=1 << 30, osts=156).lfs_command()
        == "lfs setstripe -c 2 -S 1G DIRECTORY"
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"osts": 0}, "osts=0 must be at least 1"),
        ({"stripe_count": 0}, "stripe_count=0 must be from 1 to 4"),
        ({"stripe_count": 5}, "stripe_count=5 must be from 1 to 4"),
        ({"stripe_size_bytes": 1000}, "stripe_size_bytes=1000 must be a multiple of 65,536"),
        ({"first_ost": 4}, "first_ost=4 must be from 0 to 3"),
    ],
)
def test_refusals(values, message):
    with pytest.raises(ValueError, match=message):
        Layout(**{"stripe_count": 1, "stripe_size_bytes": UNIT, "osts": 4} | values)


def test_negative_places_are_refused():
    layout = Layout(stripe_count=1, stripe_size_bytes=UNIT, osts=1)
    with pytest.raises(ValueError, match="must not be negative"):
        layout.object_of(-1)
