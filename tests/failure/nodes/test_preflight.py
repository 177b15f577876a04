"""Free memory from /proc/buddyinfo: counted by hand, from many nodes, and from damaged input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.failures.preflight import NodeMemory, node_list, read_buddyinfo, report

ONE_NODE = """\
Node 0, zone      DMA      1      1      1      0      2      1      1      0      1      1      3
Node 0, zone    DMA32      5      4      3      2      1      0      0      0      0      0    700
Node 0, zone   Normal    100     50     25      0      0      0      0      0      0      0   1000
"""
BLOCKS = st.lists(st.integers(0, 10_000), min_size=1, max_size=11).map(tuple)


def test_one_node_by_hand():
    (node,), unread = read_buddyinfo(ONE_NODE.splitlines())
    assert unread == []
    # order 0: 1 + 5 + 100, order 1: 1 + 4 + 50, order 2: 1 + 3 + 25, ..., order 10: 3 + 700 + 1000
    assert node.blocks == (106, 55, 29, 2, 3, 1, 1, 0, 1, 1, 1703)
    pages = 106 + 110 + 116 + 16 + 48 + 32 + 64 + 256 + 512 + 1703 * 1024
    assert node.free_bytes == pages * 4096
    assert node.free_gb == pytest.approx(pages * 4096 / 2**30)
    # huge pages of 2 MB are blocks of order 9: one, and two in each of order 10
    assert (node.largest_order, node.huge_pages()) == (10, 1 + 2 * 1703)
    assert node.name == "this node"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("nid00012: Node 0, zone Normal 0 0 1", "nid00012"),  # pdsh, clush
        ("0: Node 0, zone Normal 0 0 1", "0"),  # srun --label
        (" 17: Node 0, zone Normal 0 0 1", "17"),
        ("nid00012 | Node 1, zone Normal 0 0 1", "nid00012"),
        ("c0-0c1s2n3: Node 1, zone Normal 0 0 1", "c0-0c1s2n3"),
        ("node7.site.org: Node 1, zone Normal 0 0 1", "node7.site.org"),
    ],
)
def test_prefixes(line, name):
    (node,), unread = read_buddyinfo([line])
    assert (node.name, node.blocks, unread) == (name, (0, 0, 1), [])


def test_zones_of_different_length_add_up():
    nodes, _ = read_buddyinfo(["a: Node 0, zone DMA 1 1", "a: Node 0, zone Normal 1 1 1 1", "b: Node 0, zone DMA 4"])
    assert [(node.name, node.blocks) for node in nodes] == [("a", (2, 2, 1, 1)), ("b", (4,))]


def test_torn_lines_are_named():
    nodes, unread = read_buddyinfo(["", "a: Node 0, zone DMA 1 x", "ssh: connect refused", "a: Node 0, zone DMA 1"])
    assert len(nodes) == 1
    assert unread == ["line 2: a: Node 0, zone DMA 1 x", "line 3: ssh: connect refused"]


@given(st.lists(st.text(max_size=60) | st.sampled_from(ONE_NODE.splitlines()), max_size=20))
def test_every_line_is_read_named_or_empty(lines):
    nodes, unread = read_buddyinfo(lines)
    assert len(unread) <= sum(bool(line.strip()) for line in lines)
    assert all(node.free_bytes >= 0 for node in nodes)


def test_hostile_lines_take_no_time():
    import time

    start = time.process_time()
    for line in (
        "a" * 10**6,
        ":" * 10**6,
        "Node 0, zone Normal " + "1 " * 10**6,
        "Node 0, zone Normal" + " " * 10**6 + "x",
    ):
        read_buddyinfo([line] * 20)
    assert time.process_time() - start < 2


@given(BLOCKS, st.integers(0, 12))
def test_huge_pages_fit_into_free_memory(blocks, order):
    node = NodeMemory(name="n", blocks=blocks)
    pages = node.huge_pages(4096 << order)
    assert pages * (4096 << order) <= node.free_bytes
    if order == 0:
        assert pages * 4096 == node.free_bytes


@pytest.mark.parametrize("size", [0, 1, 4095, 3 * 4096, -4096])
def test_sizes_that_are_no_huge_page(size):
    with pytest.raises(ValueError, match="must be 4096 times a power of two"):
        NodeMemory(name="n", blocks=(1,)).huge_pages(size)


def _node(name, free_gb):
    return NodeMemory(name=name, blocks=(0,) * 10 + (round(free_gb * 256),))


def test_thresholds_of_the_hero_run():
    # 29.5 GB pass the health check's limit of 29, but not the 30 of the manual list.
    nodes = [_node("good", 30.5), _node("between", 29.5), _node("low", 28.5)]
    assert [node.name for node in report(nodes, need_gb=29).short] == ["low"]
    assert [node.name for node in report(nodes, need_gb=30).short] == ["low", "between"]
    assert report(nodes).short == ()
    # a node with just as much as needed is not short
    assert report([_node("exact", 29)], need_gb=29).short == ()


def test_huge_pages_can_be_short_where_memory_is_not():
    torn = NodeMemory(name="torn", blocks=(8_000_000,))
    found = report([_node("whole", 30), torn], need_gb=29, need_huge_pages=100)
    assert [node.name for node in found.short] == ["torn"]


def test_outliers_stand_out_whatever_the_need():
    found = report([_node(f"n{number}", 30) for number in range(20)] + [_node("low", 20)])
    assert [node.name for node in found.outliers] == ["low"]
    assert found.median_gb == 30


@given(st.lists(st.floats(0, 64), min_size=1, max_size=30), st.floats(0, 64))
def test_short_nodes_are_those_below_the_need(free, need):
    nodes = [_node(str(number), value) for number, value in enumerate(free)]
    found = report(nodes, need_gb=need)
    assert {node.name for node in found.short} == {node.name for node in nodes if node.free_gb < need}
    assert [node.free_bytes for node in found.nodes] == sorted(node.free_bytes for node in nodes)
    # half of the nodes have the median or more, so no more than half stand out
    assert 2 * len(found.outliers) <= len(nodes)


@pytest.mark.parametrize(
    ("nodes", "more", "message"),
    [
        ([], {}, "this input contains no node"),
        ([_node("a", 1)], {"need_gb": -1}, "need_gb=-1"),
        ([_node("a", 1)], {"need_huge_pages": -1}, "need_huge_pages=-1"),
    ],
)
def test_refusals(nodes, more, message):
    with pytest.raises(ValueError, match=message):
        report(nodes, **more)


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        ([], ""),
        (["nid00012"], "nid00012"),
        (["nid3", "nid1", "nid2"], "nid[1-3]"),
        (["nid09", "nid10"], "nid[09-10]"),
        (["nid9", "nid10"], "nid10,nid9"),
        (["a1", "b1", "login"], "a1,b1,login"),
        (["a1", "a1"], "a1"),
        (["c0-0c0s0n0", "c0-0c0s0n1"], "c0-0c0s0n[0-1]"),
    ],
)
def test_node_lists(names, folded):
    assert node_list(names) == folded


@given(st.sets(st.integers(0, 200), max_size=40))
def test_a_folded_list_names_every_node_once(numbers):
    folded = node_list(f"nid{number:03d}" for number in numbers)
    inner = folded.removeprefix("nid").strip("[]")
    found: list[int] = []
    for part in inner.split(",") if inner else []:
        low, _, high = part.partition("-")
        found.extend(range(int(low), int(high or low) + 1))
    assert found == sorted(numbers)
