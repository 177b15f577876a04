"""Run time by number of threads: small hand-derived cases, laws, limits, errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.placement.models.hybrid import (
    RunShares,
    ThreadCost,
    best_threads,
    memory_times,
    stream_gb_s,
    thread_costs,
    thread_counts,
)

# Two NUMA nodes of four cores, 8 GB/s each; a core draws 4, half of it from the other one.
NODE = replace(
    Machine.load("hopper").node(),
    sockets=1,
    cores_per_numa_node=4,
    numa_bandwidth_gb_s=8.0,
    core_bandwidth_cap_gb_s=4.0,
    remote_bandwidth_fraction=0.5,
    numa_link_gb_s=None,
)
SHARES = RunShares(parallel_fraction=0.9, mpi_share=0.2, memory_bound_fraction=0.5)
share = st.floats(0, 1)


def test_channels_that_all_threads_share():
    # Four threads per NUMA node read 4 GB at 8 GB/s; the first of each of two tasks has 4 GB/s, its core's cap.
    assert memory_times(NODE, 2, 4) == (0.25, 0.5)


def test_one_thread_that_touched_everything():
    # One task of eight: 8 GB on the first NUMA node, at 8 GB/s. Half of it touched so: 4 + 2 there.
    assert memory_times(NODE, 1, 8, elsewhere=1.0)[1] == 1.0
    assert memory_times(NODE, 1, 8, elsewhere=0.5)[1] == pytest.approx(6 / 8)
    # The other four threads read 4 GB over the link; at 3.2 GB/s that takes longer than the channels do.
    assert memory_times(replace(NODE, numa_link_gb_s=3.2), 1, 8, elsewhere=1.0)[1] == pytest.approx(4 / 3.2)


def test_a_core_that_reads_from_afar():
    # One thread, all its data on the next NUMA node: half of 4 GB/s.
    assert memory_times(NODE, 1, 1, spilled=1.0) == (0.5, 0.5)


def test_spread_moves_tasks_only_where_cores_are_free():
    # Two tasks of two threads: both on the first NUMA node, 4 GB at 8; spread, 2 GB at 8, or 1 at the cap of 4.
    assert memory_times(NODE, 2, 2, spread=False)[1] == 0.5
    assert memory_times(NODE, 2, 2)[1] == 0.25
    assert memory_times(NODE, 4, 2, spread=False) == memory_times(NODE, 4, 2)


def test_the_run_time_by_hand():
    # Three threads: 0.1 of a task's work takes three times as long; waiting for memory doubles for all tasks, not for
    # one.
    cost = ThreadCost(threads=3, tasks_per_node=2, serial_memory=1.0, parallel_memory=2.0, mpi=0.25)
    compute, memory = 0.3 + 0.9, 0.3 * 1.0 + 0.9 * 2.0
    assert cost.run_time(SHARES) == pytest.approx(0.8 * (compute + memory) / 2 + 0.2 * 0.25)


def test_a_task_that_straddles_pays_for_first_touch():
    # Six threads per NUMA node: every third task of four cores spans two of them, tasks of three and six cores never
    # do.
    costs = {cost.threads: cost for cost in thread_costs(Machine.load("hopper").node(), 6144, elsewhere=1.0)}
    assert costs[3].parallel_memory == costs[6].parallel_memory == 1.0
    assert costs[4].parallel_memory == pytest.approx(8 / 6)
    assert (costs[12].parallel_memory, costs[24].parallel_memory) == (2.0, 4.0)


def test_four_gpus_leave_a_quarter_of_the_cores_each():
    gpus = replace(NODE, gpu_cores=("0-1", "2-3", "4-5", "6-7"))
    assert [cost.threads for cost in thread_costs(gpus, 64)] == [1, 2]
    assert thread_counts(24) == (1, 2, 3, 4, 6, 8, 12, 24)


def test_cores_that_jobs_may_not_use_are_left_out():
    # One core of each NUMA node is kept: six are left, three and three.
    kept = replace(NODE, reserved_cores=(0, 4))
    assert [(cost.threads, cost.tasks_per_node) for cost in thread_costs(kept, 64)] == [(1, 6), (2, 3), (3, 2), (6, 1)]


@given(share, share, share, st.booleans(), st.sampled_from([0, 0.3, 1]))
def test_pure_mpi_spread_and_local_is_the_unit(parallel, mpi, memory_bound, spread, elsewhere):
    first = thread_costs(NODE, 64, elsewhere=elsewhere, spread=spread)[0]
    time = first.run_time(RunShares(parallel_fraction=parallel, mpi_share=mpi, memory_bound_fraction=memory_bound))
    assert time == pytest.approx(1.0)


@given(st.integers(1, 8).filter(lambda tasks: 8 % tasks == 0), share, share)
def test_touching_elsewhere_never_helps(tasks, one, other):
    low, high = sorted((one, other))
    less, more = (memory_times(NODE, tasks, 8 // tasks, elsewhere=touched)[1] for touched in (low, high))
    assert less <= more * (1 + 1e-12)
    assert more <= memory_times(NODE, tasks, 8 // tasks)[1] * NODE.numa_nodes * (1 + 1e-12)


@given(share, share, share)
def test_the_best_is_the_least(parallel, mpi, memory_bound):
    shares = RunShares(parallel_fraction=parallel, mpi_share=mpi, memory_bound_fraction=memory_bound)
    costs = thread_costs(NODE, 64, elsewhere=1.0)
    assert best_threads(costs, shares).run_time(shares) == min(cost.run_time(shares) for cost in costs)


def test_stream_on_one_numa_node_and_on_all():
    # One thread has its core's 4 GB/s, four have the channels' 8, eight have both NUMA nodes' 16 or one's 8.
    assert [stream_gb_s(NODE, threads, elsewhere=0) for threads in (1, 4, 8)] == [4, 8, 16]
    assert stream_gb_s(NODE, 8, elsewhere=1) == 8


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: memory_times(NODE, 3, 4), "threads=4 times 3 tasks must be from 1 to 8, the cores of the node"),
        (lambda: memory_times(NODE, 1, 4, elsewhere=1.5), "elsewhere=1.5 must be from 0 to 1"),
        (lambda: memory_times(NODE, 1, 4, spilled=-1), "spilled=-1 must be from 0 to 1"),
        (lambda: thread_costs(NODE, 64, cores=9), "cores=9 must be from 1 to 8, those of the node"),
        (lambda: thread_costs(NODE, 4), "tasks=4 must be at least 8, one node with one thread per task"),
        (lambda: replace(SHARES, mpi_share=2), "mpi_share=2 must be from 0 to 1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError) as refused:
        call()
    assert str(refused.value) == message
