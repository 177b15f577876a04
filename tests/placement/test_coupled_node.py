"""The coupled node: hand-derived cases, laws, limits, and the signs of public measurements."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.placement.models.coupled_node import (
    MemorySystem,
    PageRun,
    Placement,
    Translation,
    core_rate_gb_s,
    first_touch_s,
    page_size_ratio,
    read_rate_gb_s,
    stream_by_threads,
)
from hopperlib.placement.models.hybrid import stream_gb_s

NODE = MemorySystem(numa_nodes=4, cores=8, channels_gb_s=20.0, core_gb_s=10.0, far_fraction=0.5)
SMALL, LARGE = 4096, 2 << 20
systems = st.builds(
    MemorySystem,
    numa_nodes=st.integers(2, 8),
    cores=st.integers(1, 64),
    channels_gb_s=st.floats(1, 500),
    core_gb_s=st.floats(1, 50),
    far_fraction=st.floats(0.1, 1),
    link_gb_s=st.none() | st.floats(1, 500),
)


def test_first_touch_by_one_thread_leaves_all_but_one_memory_idle():
    """Sharp ceilings: all data on one node of 20 GB/s, or dealt over four: a factor of four."""
    one, dealt = (
        read_rate_gb_s(NODE, where(4), sharpness=200.0) for where in (Placement.on_one_numa_node, Placement.interleaved)
    )
    assert one == pytest.approx(20.0, rel=1e-3)
    assert dealt == pytest.approx(80.0, rel=1e-2)


def test_a_core_mixes_near_and_far_by_time():
    """Half far at half the rate: 0.5 + 0.5 / 0.5 = 1.5 times the time of 10 GB/s."""
    assert core_rate_gb_s(NODE, Placement((0.5, 0.5, 0, 0), 0.5)) == pytest.approx(10 / 1.5)


def test_page_walks_add_to_each_line():
    """20 ns for 64 bytes are 0.3125 ns per byte in addition to 0.1 ns; pages that all fit cost nothing."""
    table = Translation(20.0, 1536, 64, 1 << 40)
    local = Placement((0.25,) * 4, 0.0)
    miss = 1 - 1536 * SMALL / 2**40
    assert core_rate_gb_s(NODE, local, translation=table) == pytest.approx(1 / (0.1 + miss * 20 / 64))
    fits = table._replace(working_set_bytes=1536 * SMALL)
    assert core_rate_gb_s(NODE, local, translation=fits) == 10.0


def test_a_stream_walks_once_a_page():
    stream = Translation(40.0, 64, 64, 1 << 40, is_stream=True)
    assert stream.cost_ns_per_byte(SMALL) == pytest.approx(40 / SMALL, rel=1e-3)
    assert stream.cost_ns_per_byte(LARGE) < stream.cost_ns_per_byte(SMALL) / 400


def test_links_bound_what_leaves_the_fullest_node():
    """All data on one of two nodes: half of all reads cross a link of 5 GB/s, so 10 GB/s in all."""
    node = MemorySystem(2, 8, 100.0, 20.0, far_fraction=1.0, link_gb_s=5.0)
    assert read_rate_gb_s(node, Placement.on_one_numa_node(2), sharpness=200.0) == pytest.approx(10.0, rel=1e-2)


@given(systems, st.floats(64, 1e9), st.sampled_from([SMALL, 65536, LARGE]))
def test_rates_keep_their_ceilings(node, piece, page):
    placement = Placement.first_touched_in_pieces(node.numa_nodes, piece, page)
    rate = read_rate_gb_s(node, placement, page_bytes=page)
    assert 0 < rate <= node.numa_nodes * node.channels_gb_s * (1 + 1e-9)
    assert rate <= node.numa_nodes * node.cores * node.core_gb_s * (1 + 1e-9)


@given(systems, st.floats(64, 1e9))
def test_larger_pages_never_place_data_better(node, piece):
    far = [Placement.first_touched_in_pieces(node.numa_nodes, piece, page).far for page in (SMALL, 65536, LARGE)]
    assert far == sorted(far)
    assert all(0 <= each <= 1 - 1 / node.numa_nodes for each in far)


@given(systems, st.integers(1, 64))
def test_more_threads_never_read_less_and_dealt_ones_at_least_as_much_as_packed(node, count):
    count = min(count, node.numa_nodes * node.cores)
    dealt, packed = (stream_by_threads(node, range(1, count + 1), packed=each) for each in (False, True))
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(dealt))
    assert dealt[-1] >= packed[-1] - 1e-9
    full = node.numa_nodes * node.cores
    assert math.isclose(*(stream_by_threads(node, [full], packed=each)[0] for each in (False, True)))


def test_the_sharp_limit_is_the_older_model_of_hopper():
    """With ceilings as sharp as min(), a whole node of Hopper with local memory reads what `stream_gb_s` says."""
    kind = Machine.load("hopper").node()
    node = MemorySystem.of(kind)
    assert stream_by_threads(node, [kind.cores], sharpness=200.0)[0] == pytest.approx(
        stream_gb_s(kind, kind.cores, elsewhere=0), rel=1e-2
    )


def test_mapping_is_faults_and_clearing():
    """4 GiB: 1,048,576 faults of 0.5 us are 0.524 s; clearing at 4 GB/s takes 1.074 s. Zero pages need no clearing."""
    assert first_touch_s(4 << 30, SMALL, fault_us=0.5, clear_gb_s=4.0) == pytest.approx(0.524288 + 1.073742, rel=1e-5)
    assert first_touch_s(4 << 30, LARGE, fault_us=0.5, clear_gb_s=math.inf) == pytest.approx(2048 * 0.5e-6)


# Signs of public measurements, with inputs that their texts give: time with large pages over small.
# - a hash map's lookups in 0.3 to 4.6 MB on Zen 4 (72 and 3,072 entries): 0.93 to 0.95; its iteration over 125 KB: 1.00
#   (martinus/unordered_dense, issue 231);
# - sorting and random access on eight NUMA nodes, one process, pages placed at first touch: 1.5 (Chapel, pull request
# 19355); - a climate model that streams: no difference seen (E3SM, pull request 3129); - messages over Gemini: 3.5
# against 6.0 GB/s (CUG 2011).
def test_a_table_beyond_the_first_translations_gains_a_little():
    one = MemorySystem(1, 8, 40.0, 10.0)
    tables = [Translation(2.0, 72, 64, 1.5e6), Translation(2.0, 72, 64, 1.5e6)]
    ratio = page_size_ratio(PageRun(1.0), one, piece_bytes=1e12, translation=tables)
    assert 0.7 < ratio < 1
    fits = [table._replace(working_set_bytes=125e3) for table in tables]
    assert page_size_ratio(PageRun(1.0), one, piece_bytes=1e12, translation=fits) == pytest.approx(1.0, abs=1e-6)


def test_first_touch_on_eight_numa_nodes_turns_the_sign():
    """The gain of fewer walks is smaller than the loss of local memory: large pages are slower, as measured."""
    rome = MemorySystem(8, 16, 40.0, 15.0, far_fraction=0.5, link_gb_s=30.0)
    tables = [Translation(10.0, 1536, 256, 1 << 30), Translation(10.0, 1536, 256, 1 << 30)]
    coupled = page_size_ratio(PageRun(0.9), rome, piece_bytes=200_000, translation=tables)
    alone = page_size_ratio(PageRun(0.9), rome, piece_bytes=1e12, translation=tables)
    assert alone <= 1 < coupled < 2


def test_a_stream_in_large_pieces_does_not_notice():
    node = MemorySystem(2, 24, 60.0, 12.0, far_fraction=0.6, link_gb_s=30.0)
    tables = [Translation(20.0, 1536, 64, 1e9, is_stream=True)] * 2
    assert page_size_ratio(PageRun(0.5), node, piece_bytes=1e9, translation=tables) == pytest.approx(1.0, abs=0.03)


def test_messages_gain_what_the_interface_prints():
    """Only messages, at 6.0 GB/s with 0.488 us per page: the time with large pages is 3.5 / 6.0 of that with small
    ones.
    """
    ratio = page_size_ratio(PageRun(0.0, 1.0), NODE, piece_bytes=1e9, messages=(6.0, 0.488))
    assert ratio == pytest.approx(3.5 / 6.0, abs=0.01)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: page_size_ratio(PageRun(0.8, 0.3), NODE, piece_bytes=1e9), "must be shares of the run time"),
        (lambda: read_rate_gb_s(NODE, Placement.interleaved(2)), "must be 4, one for each NUMA node"),
        (lambda: read_rate_gb_s(NODE, Placement.interleaved(4), threads=33), "the cores of the node"),
        (lambda: Placement.first_touched_in_pieces(4, 0, SMALL), "piece_bytes"),
        (lambda: first_touch_s(1, SMALL, fault_us=1, clear_gb_s=0), "clear_gb_s"),
    ],
)
def test_errors_name_the_value_and_the_rule(call, text):
    with pytest.raises(ValueError, match=text):
        call()
