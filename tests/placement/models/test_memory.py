"""Memory of a task: the printed values, hand-derived cases, laws, and every error."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.machine import Machine
from hopperlib.placement.models.memory import (
    copied_fraction_needed,
    memory_per_task,
    merged_need,
    most_tasks_per_node,
    seats,
)

HOPPER = Machine.load("hopper")
NODES = [kind for name in ("hopper", "franklin", "perlmutter", "toy") for kind in Machine.load(name).node_kinds]

nodes = st.sampled_from(NODES)
needs = st.floats(0.01, 600, allow_nan=False)
shares = st.floats(0, 1, allow_nan=False)


def as_printed(text):
    """The printed number, within half a unit of its last printed place."""
    number = Decimal(text)
    return pytest.approx(float(number), abs=0.5 * 10 ** number.as_tuple().exponent)


def test_the_printed_memory_of_a_task():
    assert memory_per_task(HOPPER.node(), 24) == as_printed("1.29")
    assert memory_per_task(HOPPER.node(), 12) == as_printed("2.58")
    franklin = Machine.load("franklin").node()
    assert memory_per_task(franklin, 4) == as_printed("1.88")
    assert memory_per_task(franklin, 2) == as_printed("3.77")
    assert f"{memory_per_task(franklin, 4):.2f} {memory_per_task(franklin, 2):.2f}" == "1.88 3.77"


def test_the_larger_nodes():
    # 63 GB / 24 = 2.625, printed cut off as 2.62
    assert memory_per_task(HOPPER.node("large-memory"), 24) == 2.625


@pytest.mark.parametrize("tasks", [0, 25, -1])
def test_a_node_holds_one_task_to_one_a_core(tasks):
    with pytest.raises(ValueError, match=f"tasks_per_node={tasks} must be from 1 to 24, the cores of a node"):
        memory_per_task(HOPPER.node(), tasks)


@given(nodes, st.data())
def test_tasks_share_all_that_is_usable(node, data):
    tasks = data.draw(st.integers(1, node.cores))
    assert tasks * memory_per_task(node, tasks) == pytest.approx(node.usable_memory_gb)
    if tasks > 1:
        assert memory_per_task(node, tasks) < memory_per_task(node, tasks - 1)


@given(nodes, needs, st.data())
def test_the_most_tasks_fit_and_one_more_does_not(node, need_gb, data):
    threads = data.draw(st.integers(1, node.cores))
    most = most_tasks_per_node(node, need_gb, threads)
    assert 0 <= most <= seats(node, threads)
    if most:
        assert memory_per_task(node, most) >= need_gb * (1 - 1e-6)
    if most < seats(node, threads):
        assert memory_per_task(node, most + 1) < need_gb


def test_exactly_what_fits_is_let_in():
    # Twenty-four times 31/24 GB is more than 31 in binary fractions, by a hair.
    assert most_tasks_per_node(HOPPER.node(), 31 / 24) == 24


# Toy: 3 NUMA nodes of 4 cores. Three threads leave a core of each over; five cross a border: 12 // 5 = 2.
@pytest.mark.parametrize(("threads", "count"), [(1, 12), (2, 6), (3, 3), (4, 3), (5, 2), (6, 2), (7, 1), (12, 1)])
def test_tasks_keep_to_a_numa_node_if_they_can(threads, count):
    assert seats(Machine.load("toy").node(), threads) == count


@pytest.mark.parametrize("threads", [0, 25])
def test_threads_need_cores(threads):
    with pytest.raises(ValueError, match=f"threads={threads} must be from 1 to 24, the cores of a node"):
        seats(HOPPER.node(), threads)


@pytest.mark.parametrize("need_gb", [0, -1.0, float("nan")])
def test_a_need_is_above_zero(need_gb):
    for refuses in (
        lambda: most_tasks_per_node(HOPPER.node(), need_gb),
        lambda: merged_need(need_gb, 2, 0.5),
        lambda: copied_fraction_needed(HOPPER.node(), need_gb, 2),
    ):
        with pytest.raises(ValueError, match=r"must be above 0: it is the memory of a task"):
            refuses()


@given(needs, st.integers(1, 64), shares)
def test_a_merged_task_needs_no_more_than_its_parts_and_no_less_than_one(need_gb, threads, copied):
    merged = merged_need(need_gb, threads, copied)
    assert need_gb * (1 - 1e-9) <= merged <= threads * need_gb * (1 + 1e-9)


@given(needs, st.integers(2, 64), st.floats(0.01, 1))
def test_copies_make_merging_pay(need_gb, threads, copied):
    assert merged_need(need_gb, threads, copied) < threads * need_gb


@pytest.mark.parametrize(("threads", "copied"), [(0, 0.5), (2, -0.1), (2, 1.1)])
def test_a_merge_that_means_nothing_is_refused(threads, copied):
    with pytest.raises(ValueError, match=r"must be (at least 1|from 0 to 1)"):
        merged_need(1.0, threads, copied)


@given(nodes, needs, st.data())
def test_the_copied_fraction_needed_is_just_enough(node, need_gb, data):
    threads = data.draw(st.integers(2, node.cores))
    found = copied_fraction_needed(node, need_gb, threads)
    room = node.usable_memory_gb / seats(node, threads)
    if found is None:
        assert merged_need(need_gb, threads, 1.0) > room
    elif found == 0:
        assert merged_need(need_gb, threads, 0.0) <= room * (1 + 1e-6)
    else:
        assert merged_need(need_gb, threads, found) == pytest.approx(room)


def test_the_copied_fraction_of_hand():
    # Six tasks of 2 GB in 31/4 = 7.75 GB: 12 - 10 c = 7.75, so c = 0.425. Six tasks of 1.2 GB always fit; tasks of 8 GB
    # never do.
    node = HOPPER.node()
    assert copied_fraction_needed(node, 2.0, 6) == pytest.approx(0.425)
    assert copied_fraction_needed(node, 1.2, 6) == 0
    assert copied_fraction_needed(node, 8.0, 6) is None
