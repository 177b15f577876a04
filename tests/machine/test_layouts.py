"""Layouts as options of lfs: round trips, and the text of each error."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.machine.layouts import Component, parse_layout, setstripe, split

GB = 1 << 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-c 4 -S", "'-S' of '-c 4 -S' has no value"),
        ("-c 4 --mirror 2", "'--mirror' of '-c 4 --mirror 2' is not an option of a layout; supported are -E -c"),
        ("-E 1G -c 1 -E 1M -c 2 -E -1 -c 4", "the ends of its components (-E) must grow, and the last be -1"),
        ("-E -1 -c 1 -E 1M -c 2", "the ends of its components (-E) must grow"),
        ("-c four", "-c four must be followed by a whole number"),
        ("", "'': the ends of its components"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError) as error:
        parse_layout(options)
    assert message in str(error.value)


def test_orions_default_has_four_parts():
    # 256 KiB on the metadata server; to 8 MiB and to 128 GiB one OST; then 8.
    parts = parse_layout(Machine.load("frontier").file_systems[0].default_layout)
    assert [part.end_bytes for part in parts] == [256 << 10, 8 << 20, 128 * GB, None]
    assert [part.pool for part in parts] == ["", "performance", "capacity", "capacity"]
    assert parts[0].on_mdt
    # A file of 129 GiB reaches the fourth by 1 GiB.
    assert split(parts, 129 * GB)[-1] == (parts[-1], GB)


ends = st.lists(st.integers(1, 1 << 24), unique=True, max_size=4).map(sorted)


@given(ends, st.integers(-1, 200), st.integers(1, 256), st.sampled_from(("", "flash")), st.integers(1, 1 << 45))
def test_what_is_written_is_read_back_and_no_byte_is_lost(ends, count, size, pool, file_bytes):
    parts = [
        Component(end_bytes=end, stripe_count=count, stripe_size_bytes=size << 16, pool=pool)
        for end in (*(end << 16 for end in ends), None)
    ]
    line = setstripe(parts, "run")
    assert parse_layout(line.removeprefix("lfs setstripe ").removesuffix(" run")) == (
        tuple(parts) if len(parts) > 1 else (parts[0],)
    )
    assert sum(size for _, size in split(parts, file_bytes)) == file_bytes


def test_a_machine_file_gives_one_layout_a_size():
    text = Machine.load("frontier").to_toml()
    other = re.sub(r"(guide_from_gb = \{ value = )\[[^]]*\]", r"\1[512]", text)
    assert other != text
    with pytest.raises(
        ValueError, match=r"file_system\.orion\.guide_stripe_counts: has 4 entries, and guide_from_gb has 1"
    ):
        Machine.from_toml(other)
