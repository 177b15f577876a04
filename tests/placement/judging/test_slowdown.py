"""Cost of a placement relative to the same tasks spread evenly."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.placing import NodePlacement, Placement
from hopperlib.machine import Machine
from hopperlib.placement.binding import Binding
from hopperlib.placement.components import Component, Launch
from hopperlib.placement.slowdown import memory_need, placement_cost, spread_load, thread_load

HOPPER = Machine.load("hopper")
NODE = HOPPER.node()


def task(*cores, free=False):
    """A task with one thread on each core, or (free) one thread that may run on all of them."""
    return Binding(
        cores=cores,
        cpus=cores,
        thread_cores=(cores,) if free else tuple((core,) for core in cores),
        numa_nodes=tuple(sorted({core // 6 for core in cores})),
        bound=not free,
    )


def placed(*patterns, memory_gb=None, kind=NODE):
    """A placement of one program with these tasks on its nodes."""
    nodes, first = [], 0
    for number, pattern in enumerate(patterns):
        numbers = range(first, first + len(pattern))
        nodes.append(NodePlacement(node=number, component=0, task_numbers=numbers, pattern=tuple(pattern)))
        first += len(pattern)
    component = Component(command=("a.out",), tasks=first, memory_per_task_gb=memory_gb)
    launch = Launch(launcher="aprun", text="aprun a.out", components=(component,))
    return Placement(machine=HOPPER, node_kind=kind, launch=launch, nodes=tuple(nodes))


PACKED = [task(core) for core in range(12)]
SPREAD = [task(core) for start in (0, 6, 12, 18) for core in range(start, start + 3)]


def test_vasp_packed_against_spread():
    cost = placement_cost(placed(PACKED))
    # 12.5 / 6 = 2.08 GB/s against 12.5 / 3 = 4.17, which is below the cap of 5: the channels decide, 6 / 3.
    assert cost.worst.rate_gb_s == pytest.approx(12.5 / 6)
    assert cost.worst.spread_rate_gb_s == pytest.approx(12.5 / 3)
    assert cost.worst.ratio == pytest.approx(2)
    assert cost.worst.channel_ratio == 2
    assert cost.slowdown_range(0, 1) == pytest.approx((1, 2))
    assert cost.slowdown_range(0.2, 0.5) == pytest.approx((1.2, 1.5))


@pytest.mark.parametrize(("die_gb_s", "ratio"), [(12.5, 1.6), (14.4, 5 / 3.6)])
def test_four_packed_tasks_pay_as_figure_5a_says(die_gb_s, ratio):
    # 12.5 / 4 = 3.125 GB/s (14.4 / 4 = 3.6, if the northbridge were the only limit) against the cap of 5.
    kind = dataclasses.replace(NODE, numa_bandwidth_gb_s=die_gb_s)
    assert placement_cost(placed(PACKED[:4], kind=kind)).worst.ratio == pytest.approx(ratio)


def test_the_spread_placement_costs_nothing():
    cost = placement_cost(placed(SPREAD))
    assert (cost.worst.ratio, cost.worst.channel_ratio, cost.worst.core_ratio) == (1, 1, 1)


@pytest.mark.parametrize(("cap_gb_s", "ratio"), [(4.2, 2), (9, 2), (3.125, 1.5), (2.08, 1)])
def test_the_cap_is_a_parameter(cap_gb_s, ratio):
    assert placement_cost(placed(PACKED), core_cap_gb_s=cap_gb_s).worst.ratio == pytest.approx(ratio)


def test_memory_beyond_the_numa_node_slows_the_packed_run():
    cost = placement_cost(placed(PACKED), memory_per_task_gb=2.58)
    # 7.73 of 15.48 GB of NUMA nodes 0 and 1 lie on the others: q = 0.49935. On those a core is left half its cap:
    # (1 - q) / 5 + q / 2.5 = 0.29987 s for a GB, where the channels would need 6 x max(1 - q, q) / 12.5 = 0.24031 s.
    # Spread, 3 x 2.58 = 7.74 GB fit 7.75 GB and a GB takes 3 / 12.5 s.
    assert cost.worst.memory.remote_fraction == pytest.approx(0.49935, abs=5e-6)
    assert cost.worst.rate_gb_s == pytest.approx(1 / 0.29987, rel=1e-4)
    assert cost.worst.ratio == pytest.approx(0.29987 / 0.24, abs=5e-5)
    assert sum(cost.worst.spread_memory.remote_gb) == 0


def test_other_channels_help_once_memory_spills():
    # With a cap of 7.1 the channels decided alone (r = 2). Spilled, four NUMA nodes serve the twelve tasks, as if
    # spread: 6 x 0.50065 / 12.5 = 0.24031 s against 0.24 s, where the cores need 1.49935 / 7.1 = 0.21118 s.
    cost = placement_cost(placed(PACKED), memory_per_task_gb=2.58, core_cap_gb_s=7.1)
    assert cost.worst.ratio == pytest.approx(1.0013, abs=5e-5)
    assert cost.worst.channel_ratio == pytest.approx(1.0013, abs=5e-5)


def test_the_link_between_numa_nodes_bounds_what_comes_over_it():
    # Six tasks with q = 0.49935 of their data elsewhere draw 2.99612 GB over a link of 6.4 GB/s: 0.46814 s.
    kind = dataclasses.replace(NODE, numa_link_gb_s=6.4)
    cost = placement_cost(placed(PACKED, kind=kind), memory_per_task_gb=2.58)
    assert cost.worst.rate_gb_s == pytest.approx(1 / 0.46814, rel=1e-4)


def test_memory_of_the_line_is_used_if_none_is_given():
    assert placement_cost(placed(PACKED, memory_gb=2.58)).worst.memory.need_gb[0] == pytest.approx(15.48)
    assert placement_cost(placed(PACKED, memory_gb=2.58), memory_per_task_gb=1).worst.memory.need_gb[0] == 6


def test_unknown_memory_counts_as_local():
    assert placement_cost(placed(PACKED)).components[0].memory.need_gb == (0.0, 0.0, 0.0, 0.0)


def test_the_slowest_node_sets_the_pace():
    # A full node waits for 6 cores per NUMA node regardless of the six tasks of the other node.
    full = [task(core) for core in range(24)]
    rest = [task(core) for core in range(6)]
    assert placement_cost(placed(full, rest)).worst.ratio == 1
    # Alone they could be spread: 2 per NUMA node, each at its cap of 5, while packed each gets 12.5 / 6.
    assert placement_cost(placed(rest)).worst.ratio == pytest.approx(2.4)


def test_threads_count_as_cores():
    # Two tasks of three threads on one NUMA node draw as six cores; spread, as three on each of two.
    cost = placement_cost(placed([task(0, 1, 2), task(3, 4, 5)]))
    assert cost.worst.load.threads == (6, 0, 0, 0)
    assert cost.worst.spread.threads == (3, 3, 0, 0)
    assert cost.worst.ratio == pytest.approx(2)


def test_threads_on_one_core_slow_the_compute_part_too():
    # Four tasks whose six threads all share one core: when spread, each thread has a separate core. Compute takes 6
    # times as long.
    crowded = [
        Binding(cores=(c,), cpus=(c,), thread_cores=((c,),) * 6, numa_nodes=(c // 6,), bound=True)
        for c in (0, 6, 12, 18)
    ]
    cost = placement_cost(placed(crowded))
    assert cost.worst.core_ratio == 6
    # Memory: six threads read 1 GB each through one core's cap, 6 / 5 = 1.2 s, against 6 / 12.5 = 0.48 s: 2.5.
    assert cost.worst.ratio == pytest.approx(2.5)
    assert cost.slowdown_range(0, 1) == pytest.approx((2.5, 6))


def test_a_task_that_may_run_anywhere_counts_in_parts():
    load = thread_load([task(*range(24), free=True)] * 12, NODE)
    assert load.threads == pytest.approx((3, 3, 3, 3))
    # Half a thread per core on average, but a running thread has a core to itself, with its cap.
    assert load.fullest_core == (1, 1, 1, 1)
    assert placement_cost(placed([task(*range(24), free=True)] * 2)).worst.rate_gb_s == 5


def test_tasks_too_wide_to_fit_whole_are_spread_by_threads():
    # Six tasks of four threads: one fits a NUMA node, two do not, so 24 threads are 6 on each.
    wide = [task(*range(first, first + 4)) for first in range(0, 24, 4)]
    assert spread_load(wide, NODE).threads == (6, 6, 6, 6)


def test_hardware_threads_share_a_core_before_they_crowd_it():
    node = dataclasses.replace(NODE, threads_per_core=2)
    both = [Binding(cores=(0,), cpus=(cpu,), thread_cores=((0,),), numa_nodes=(0,), bound=True) for cpu in (0, 24)]
    cost = placement_cost(placed(both, kind=node))
    assert cost.worst.core_ratio == 1
    # Two threads on one core draw through one cap; spread over two NUMA nodes each has its own.
    assert cost.worst.ratio == pytest.approx(2)


def test_memory_of_a_task_over_two_numa_nodes_lies_on_both():
    assert memory_need([task(4, 5, 6, 7)], NODE, 3.0) == (1.5, 1.5, 0, 0)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"core_cap_gb_s": 0}, "core_cap_gb_s=0 must be above 0"),
        ({"memory_per_task_gb": -1}, "memory_per_task_gb=-1 must be above 0"),
    ],
)
def test_quantities_out_of_bounds(options, text):
    with pytest.raises(ValueError, match=text):
        placement_cost(placed(PACKED), **options)


def test_a_range_the_wrong_way_round():
    with pytest.raises(ValueError, match=r"from 0\.8 to 0\.2: the first must not be above the second"):
        placement_cost(placed(PACKED)).slowdown_range(0.8, 0.2)


@given(st.sets(st.integers(0, 23), min_size=1), st.floats(0.5, 30), st.floats(0.01, 1.2))
def test_no_placement_beats_the_spread_one(cores, cap_gb_s, memory_gb):
    cost = placement_cost(
        placed([task(core) for core in sorted(cores)]), core_cap_gb_s=cap_gb_s, memory_per_task_gb=memory_gb
    )
    assert cost.worst.ratio >= 1
    assert cost.worst.core_ratio == 1
    low, high = cost.slowdown_range(0, 1)
    assert low == 1
    assert high == pytest.approx(cost.worst.ratio)


@given(st.permutations(range(4)), st.lists(st.integers(0, 6), min_size=4, max_size=4).filter(any))
def test_renumbering_numa_nodes_changes_nothing(order, counts):
    def pattern(where):
        return [task(6 * numa + core) for numa, count in zip(where, counts, strict=True) for core in range(count)]

    assert placement_cost(placed(pattern(order))).worst.ratio == placement_cost(placed(pattern(range(4)))).worst.ratio
