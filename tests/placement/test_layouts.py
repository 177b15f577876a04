"""Layouts of a job: hand-computed cost, feasible and infeasible layouts, and lines that produce the layout."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hopperkit.launchers.judging.proposals import line_of
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.layouts import break_even_efficiency, cheapest, layouts, obstacle

HOPPER = Machine.load("hopper")
MACHINES = [Machine.load(name) for name in ("hopper", "franklin", "perlmutter", "toy")]
STANDARD = (HOPPER.node(),)

machines = st.sampled_from(MACHINES)
needs = st.floats(0.05, 100, allow_nan=False)
jobs = st.integers(1, 20_000)


def _found(**job):
    return layouts(HOPPER, **{"need_gb": 2.0, "tasks": 384, "kinds": STANDARD, **job})


def test_fully_packed_and_half_packed():
    # 384 tasks on 24 cores per node: 16 nodes, nothing idle. On 12: 32 nodes, charged twice.
    by_tasks = {one.tasks_per_node: one for one in _found(need_gb=1.0, threads=1)}
    assert (by_tasks[24].nodes, by_tasks[24].cost_factor, by_tasks[24].idle_cores) == (16, 1.0, 0)
    assert (by_tasks[12].nodes, by_tasks[12].cost_factor, by_tasks[12].idle_cores) == (32, 2.0, 12)
    assert sorted(by_tasks) == list(range(1, 25))


def test_two_gigabytes_a_task():
    # 31 // 2 = 15 tasks per node; 384 / 15 = 25.6, so 26 nodes; 26 * 24 / 384 = 1.625
    best = cheapest(_found(), threads=1)
    assert (best.tasks_per_node, best.nodes, best.cost_factor) == (15, 26, 1.625)
    # four tasks of 2 GB are more than the 7.75 GB of a NUMA node
    assert not best.memory_is_local
    assert _found(threads=1)[3].tasks_per_node == 12
    assert _found(threads=1)[3].memory_is_local


def test_threads_put_idle_cores_to_work():
    best = cheapest(_found())
    assert (best.tasks_per_node, best.threads_per_task, best.idle_cores, best.cost_factor) == (12, 2, 0, 1.0)
    assert best.memory_per_task_gb == pytest.approx(best.threads_per_task * 31 / 24)


def test_the_run_time_may_be_that_with_threads():
    best = cheapest(_found(threads=6))
    assert (best.nodes, best.tasks_per_node, best.cost_factor) == (96, 4, 1.0)
    assert best.node_hours(1, 6) == 96


def test_where_threads_begin_to_pay():
    pure, threaded = cheapest(_found(), threads=1), cheapest(_found())
    share = break_even_efficiency(pure, threaded)
    # 32 nodes against 26: 32/26 - 1
    assert share == pytest.approx(6 / 26)
    with pytest.raises(ValueError, match="threads_per_task=1 of the threaded layout must be above 2, the other's"):
        break_even_efficiency(threaded, pure)


def test_larger_nodes_leave_no_core_idle():
    # 63 / 24 = 2.625 GB
    best = cheapest(layouts(HOPPER, need_gb=2.0, tasks=384, threads=1))
    assert (best.node_kind.name, best.nodes, best.cost_factor) == ("large-memory", 16, 1.0)
    # but there are 384 of them only: 384 * 24 = 9,216 tasks
    names = {one.node_kind.name for one in layouts(HOPPER, need_gb=2.0, tasks=9_217, threads=1)}
    assert names == {"standard"}


@given(machines, needs, jobs, st.sampled_from([None, 1, 2, 4]))
def test_every_layout_holds_the_job(machine, need_gb, tasks, threads):
    assume(threads is None or threads <= max(kind.cores for kind in machine.node_kinds))
    found = layouts(machine, need_gb=need_gb, tasks=tasks, threads=threads)
    for one in found:
        kind = one.node_kind
        assert one.nodes <= kind.count
        assert (one.nodes - 1) * one.tasks_per_node < tasks <= one.nodes * one.tasks_per_node
        assert one.memory_per_task_gb >= need_gb * (1 - 1e-6)
        assert one.idle_cores >= 0
        assert one.cost_factor >= 1 - 1e-9
        assert threads in (None, one.threads_per_task)
    costs = [round(one.cost_factor, 9) for one in found]
    assert costs == sorted(costs)
    assert cheapest(found) is (found[0] if found else None)


@given(machines, needs, jobs)
def test_there_are_layouts_or_there_is_an_obstacle(machine, need_gb, tasks):
    found = layouts(machine, need_gb=need_gb, tasks=tasks)
    hindered = obstacle(machine, need_gb=need_gb, tasks=tasks)
    assert bool(found) == (hindered is None)
    if hindered is not None:
        assert hindered.reason
        assert hindered.remedy


@given(machines, needs, jobs, st.floats(1.0, 3.0))
def test_more_memory_never_costs_less(machine, need_gb, tasks, more):
    less, greedy = (cheapest(layouts(machine, need_gb=need, tasks=tasks)) for need in (need_gb, more * need_gb))
    assert (less.cost_factor if less else math.inf) <= (greedy.cost_factor if greedy else math.inf) + 1e-9


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
@pytest.mark.parametrize("kind", [0, -1])
def test_launch_lines_do_what_the_layout_says(machine, kind):
    """Every line is read and placed: tasks per node, threads with separate cores, tasks spread evenly."""
    node = machine.node_kinds[kind]
    found = layouts(machine, need_gb=node.usable_memory_gb / node.cores, tasks=2 * node.cores, kinds=(node,))
    assert found
    # A few of many similar ones, including the ends.
    for one in (*found[:: max(1, len(found) // 8)], found[-1]):
        launch = read_launch(line_of(one), machine, threads=one.threads_per_task, kind=node.name)
        placed = place_tasks(launch, machine, kind=node.name)
        assert len(placed.nodes) == one.nodes, line_of(one)
        most = max(len(each.tasks) for each in placed.nodes)
        if launch.launcher == "aprun":
            assert most == one.tasks_per_node, line_of(one)
            crowd = [len(tasks) for tasks in placed.tasks_by_numa_node(0)]
            assert max(crowd) == -(-most // node.numa_nodes), line_of(one)
        else:
            # srun deals the tasks out evenly over the nodes it is given.
            assert most == -(-one.tasks // one.nodes) <= one.tasks_per_node, line_of(one)
        for task in placed.nodes[0].tasks:
            assert len(task.cores) >= one.threads_per_task, line_of(one)


def test_no_line_where_nothing_starts_tasks():
    bassi = Machine.load("bassi")
    assert line_of(layouts(bassi, need_gb=2.0, tasks=16)[0]) is None


def test_a_task_that_fits_on_no_node():
    found = obstacle(HOPPER, need_gb=130.0, tasks=4)
    assert found.reason == "a task of 130 GB fits on no node of Hopper: large-memory nodes leave 63 GB to programs"
    # 130 / 63 = 2.06
    assert found.remedy.startswith("at least 3 times as many tasks")


def test_too_few_nodes():
    # 6,000 nodes hold 15 tasks of 2 GB each: 90,000. A hundred thousand tasks are 17 per node: 31 / 17 = 1.82 GB.
    found = obstacle(HOPPER, need_gb=2.0, tasks=100_000, threads=1)
    assert found.remedy == "at most 90,000 tasks of 2 GB, or at most 1.82 GB for each of 100,000 tasks"
    assert layouts(HOPPER, need_gb=2.0, tasks=90_000, threads=1)
    assert layouts(HOPPER, need_gb=1.82, tasks=100_000, threads=1)


def test_too_few_cores():
    # A million tasks are more than the cores: no amount of memory helps.
    found = obstacle(HOPPER, need_gb=0.1, tasks=1_000_000)
    assert found.remedy == "at most 144,000 tasks of 0.1 GB"


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ({"need_gb": 0}, "need_gb=0 must be above 0 and finite"),
        ({"need_gb": math.inf}, "need_gb=inf must be above 0 and finite"),
        ({"need_gb": math.nan}, "need_gb=nan must be above 0 and finite"),
        ({"tasks": 0}, "tasks=0 must be from 1 to 1,000,000,000"),
        ({"threads": 0}, "threads=0 must be from 1 to 24, the cores of a node of Hopper"),
        ({"threads": 25}, "threads=25 must be from 1 to 24, the cores of a node of Hopper"),
        ({"kinds": ()}, r"kinds=\(\) must name at least one kind of node"),
    ],
)
def test_refusals(job, message):
    with pytest.raises(ValueError, match=message):
        _found(**job)


@pytest.mark.parametrize(("need", "tasks"), [(3, 256), (6, 1000), (2.5, 700), (10, 77)])
def test_the_cheapest_layout_shares_its_tasks_out_evenly(need: float, tasks: int) -> None:
    best = layouts(Machine.load("archer2"), need_gb=need, tasks=tasks, threads=1)[0]
    assert best.tasks_per_node == -(-tasks // best.nodes)


def test_a_refusal_names_the_nodes_that_the_file_leaves_out() -> None:
    refused = obstacle(Machine.load("lumi-c"), need_gb=700, tasks=4)
    assert "leaves out 160 nodes with more memory" in refused.reason
    assert "leaves out" not in obstacle(Machine.load("hopper"), need_gb=700, tasks=4).reason
