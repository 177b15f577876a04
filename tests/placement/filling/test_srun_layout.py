"""Where srun puts tasks, compared with documented cases from real machines and from Slurm's documentation.

Oracles: answers of an srun pinning model and of hwloc for a node of 4 NUMA
nodes x 6 cores; the srun examples of cpu_management.html and mc_support.html
(Slurm 23.11); task reports in the user guides of LUMI, ARCHER2 and Frontier.
"""

from dataclasses import replace

import pytest

from hopperkit.launchers.filling.srun_layout import place_steps, tasks_of_nodes
from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.reader import read_launch, read_launches
from hopperlib.machine import Launcher, Machine, NodeKind
from hopperlib.placement.components import Component

HOPPER = Machine.load("hopper")
OPTIONS = (
    *("-n", "-N", "-c", "--ntasks-per-node", "--ntasks-per-socket", "--ntasks-per-core", "--cpu-bind", "-m", "--hint"),
    *("--exact", "--exclusive", "--threads-per-core", "-O", "--mem"),
)


def machine(
    sockets: int,
    numa_nodes_per_socket: int,
    cores_per_numa_node: int,
    threads_per_core: int,
    *,
    socket: str = "socket",
    distribution: str = "block:cyclic",
    version: str = "23.11",
) -> Machine:
    """Return a Slurm machine of nodes of one shape."""
    node: NodeKind = replace(
        HOPPER.node(),
        sockets=sockets,
        numa_nodes_per_socket=numa_nodes_per_socket,
        cores_per_numa_node=cores_per_numa_node,
        threads_per_core=threads_per_core,
    )
    launcher = Launcher(
        kind="srun", options=OPTIONS, version=version, slurm_socket=socket, default_distribution=distribution
    )
    return replace(HOPPER, title="Test", node_kinds=(node,), launchers=(launcher,))


HOPPER_SLURM = machine(2, 2, 6, 1, socket="numa_node")
LUMI = machine(2, 4, 16, 2)
# Slurm on ARCHER2 counts the four cores of a shared cache as a socket (l3cache_as_socket).
ARCHER2 = machine(2, 16, 4, 2, socket="numa_node")
FRONTIER = machine(1, 8, 8, 2, socket="numa_node")
# n0 to n2 of cpu_management.html, and the nodes of mc_support.html.
TWO_BY_FOUR = machine(2, 1, 4, 1)
TWO_BY_TWO = machine(2, 1, 2, 1)


def place(line: str, where: Machine) -> Placement:
    return place_tasks(read_launch(line, where), where)


def cpus(line: str, where: Machine, node: int = 0) -> list[list[int]]:
    """CPUs of the tasks of one node."""
    return [list(task.cpus) for task in place(line, where).nodes[node].tasks]


def by_cpu(line: str, where: Machine, node: int = 0) -> dict[int, list[int]]:
    """Tasks of each CPU of one node, as the tables of cpu_management.html show them."""
    table: dict[int, list[int]] = {}
    for task in place(line, where).nodes[node].tasks:
        for cpu in task.cpus:
            table.setdefault(cpu, []).append(task.task)
    return dict(sorted(table.items()))


def spelled(text: str) -> list[int]:
    """Numbers of a list such as 0-3,8."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


# Answers of an srun pinning model for a node of 4 NUMA nodes x 6 cores.
PINNING_MODEL = """\
n4 c6 cores block:block:block -> 0,1,2,3,4,5 | 6,7,8,9,10,11 | 12,13,14,15,16,17 | 18,19,20,21,22,23
n4 c6 cores block:cyclic:block -> 0,1,2,3,4,5 | 6,7,8,9,10,11 | 12,13,14,15,16,17 | 18,19,20,21,22,23
n4 c6 threads block:block:block -> 0,1,2,3,4,5 | 6,7,8,9,10,11 | 12,13,14,15,16,17 | 18,19,20,21,22,23
n4 c6 threads block:cyclic:block -> 0,1,2,3,4,5 | 6,7,8,9,10,11 | 12,13,14,15,16,17 | 18,19,20,21,22,23
"""

# Answers of hwloc for the same node: masks of "hwloc-distrib 8", cores of each NUMA node.
HWLOC_EIGHT = "0x7 0x38 0x1c0 0xe00 0x7000 0x38000 0x1c0000 0xe00000"
HWLOC_FOUR_SINGLE = "0x1 0x40 0x1000 0x40000"
HWLOC_NUMA = ["0,1,2,3,4,5", "6,7,8,9,10,11", "12,13,14,15,16,17", "18,19,20,21,22,23"]


@pytest.mark.parametrize("answer", PINNING_MODEL.splitlines())
@pytest.mark.parametrize("where", [HOPPER_SLURM, HOPPER], ids=["numa-node-sockets", "hopper"])
def test_answers_of_a_pinning_model(answer: str, where: Machine) -> None:
    asked, _, expected = answer.partition(" -> ")
    tasks, cpus_per_task, binding, distribution = asked.split()
    line = f"srun -n {tasks[1:]} -c {cpus_per_task[1:]} --cpu-bind={binding} --distribution={distribution} a.out"
    assert cpus(line, where) == [spelled(part.strip()) for part in expected.split("|")]


def test_answers_of_hwloc() -> None:
    # Eight tasks spread as evenly as can be: three cores each, in order; aprun -d 3 and block:block agree.
    masks = [int(mask, 16) for mask in HWLOC_EIGHT.split()]
    evenly = [[core for core in range(24) if mask >> core & 1] for mask in masks]
    assert cpus("srun -n 8 -c 3 --cpu-bind=cores -m block:block a", HOPPER_SLURM) == evenly
    assert cpus("aprun -n 8 -d 3 a", HOPPER) == evenly
    # Four single cores, one on each NUMA node: block:cyclic, and aprun -S 1.
    single = [[int(mask, 16).bit_length() - 1] for mask in HWLOC_FOUR_SINGLE.split()]
    assert cpus("srun -n 4 --cpu-bind=cores -m block:cyclic a", HOPPER_SLURM) == single
    assert cpus("aprun -n 4 -S 1 a", HOPPER) == single
    assert cpus("srun -n 4 --cpu-bind=ldoms a", HOPPER_SLURM) == [spelled(cores) for cores in HWLOC_NUMA]


# --- the examples of cpu_management.html ---


def test_core_binding_example_10() -> None:
    assert by_cpu("srun --nodes=1-1 --ntasks=6 --cpu-bind=cores a", TWO_BY_FOUR) == {
        0: [0],
        1: [2],
        2: [4],
        4: [1],
        5: [3],
        6: [5],
    }


def test_socket_binding_example_11() -> None:
    # The job of the example has six CPUs only; --exact gives the step the same six.
    assert by_cpu("srun --nodes=1-1 --ntasks=6 --exact --cpu-bind=sockets a", TWO_BY_FOUR) == {
        0: [0, 2, 4],
        1: [0, 2, 4],
        2: [0, 2, 4],
        4: [1, 3, 5],
        5: [1, 3, 5],
        6: [1, 3, 5],
    }


def test_socket_binding_example_12() -> None:
    # Task 0 got CPUs 0-2, task 1 got 3-5, of both sockets; each is bound to all of its sockets that the step has.
    line = "srun --nodes=1-1 --ntasks=2 --cpus-per-task=3 --cpu-bind=sockets --distribution=block:block a"
    assert cpus(line, TWO_BY_FOUR) == [[0, 1, 2, 3], [0, 1, 2, 3, 4, 5]]


def test_cyclic_block_example_14() -> None:
    line = "srun --nodes=3-3 --ntasks=18 --ntasks-per-node=6 --distribution=cyclic:block --cpu-bind=cores a"
    for node in range(3):
        assert by_cpu(line, TWO_BY_FOUR, node) == {cpu: [node + 3 * cpu] for cpu in range(6)}


def test_multithreaded_tasks_example_15() -> None:
    line = "srun --ntasks=3 --cpus-per-task=3 --ntasks-per-node=1 --cpu-bind=cores a"
    placement = place(line, TWO_BY_FOUR)
    assert [[task.task for task in node.tasks] for node in placement.nodes] == [[0], [1], [2]]
    assert all(cpus(line, TWO_BY_FOUR, node) == [[0, 1, 2]] for node in range(3))


def test_cyclic_nodes_example_5() -> None:
    line = "srun --nodes=2-2 --ntasks-per-node=3 --distribution=cyclic --ntasks=6 --cpus-per-task=2 a"
    placement = place(line, TWO_BY_FOUR)
    assert [list(node.task_numbers) for node in placement.nodes] == [[0, 2, 4], [1, 3, 5]]


def test_overcommit_example_7() -> None:
    placement = place("srun --nodes=1-1 --ntasks=20 --overcommit a", TWO_BY_FOUR)
    assert [list(node.task_numbers) for node in placement.nodes] == [list(range(20))]
    assert not any(task.bound for task in placement.nodes[0].tasks)


def test_access_to_all_cpus_example_16() -> None:
    # Six tasks on eight cores: neither sockets nor cores come out even, so nothing is bound.
    tasks = place("srun --nodes=1-1 --ntasks=6 a", TWO_BY_FOUR).nodes[0].tasks
    assert all(task.cpus == tuple(range(8)) and not task.bound for task in tasks)


# --- the examples of mc_support.html: nodes of two sockets of two cores ---


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        ("", [4]),
        ("--ntasks-per-node=1", [1, 1, 1, 1]),
        ("--ntasks-per-node=2", [2, 2]),
        ("--ntasks-per-socket=1", [2, 2]),
        ("--ntasks-per-core=1", [4]),
    ],
)
def test_tasks_per_unit(options: str, counts: list[int]) -> None:
    assert [len(node.pattern) for node in place(f"srun -n 4 {options} hostname", TWO_BY_TWO).nodes] == counts


def test_hints() -> None:
    # Masks 0x1 0x4 0x2 0x8 for compute_bound. For memory_bound the page prints two nodes; within a job of one node
    # Slurm 20.11 to 26.05 takes all its cores, so a line alone cannot be told.
    assert cpus("srun -n 4 --hint=compute_bound --cpu-bind=verbose sleep 1", TWO_BY_TWO) == [[0], [2], [1], [3]]
    placement = place("srun -n 4 --hint=memory_bound --cpu-bind=verbose sleep 1", TWO_BY_TWO)
    assert any(
        "--hint=memory_bound requests one core per socket when nodes are chosen" in text for text in placement.doubts
    )
    assert cpus("srun -N 1 -n 4 --hint=memory_bound sleep 1", TWO_BY_TWO) == [[0], [2], [1], [3]]


def test_cyclic_over_four_sockets_of_two_cores() -> None:
    # c0 of p0 to p3 has tasks 0 to 3, c1 tasks 4 to 7; the same as map_cpu:0,2,4,6,1,3,5,7.
    where = machine(4, 1, 2, 1)
    expected = [[0], [2], [4], [6], [1], [3], [5], [7]]
    assert cpus("srun -n 32 -N 4 --distribution=block:cyclic a.out", where, 3) == expected
    assert cpus("srun -n 32 -N 4 --cpu-bind=map_cpu:0,2,4,6,1,3,5,7 a.out", where, 3) == expected
    assert cpus("srun -n 32 -N 4 --cpu-bind=mask_cpu:1,4,10,40,2,8,20,80 a.out", where, 3) == expected


# --- LUMI user guide, "Distribution and binding options". LUMI uses one hardware thread per core unless told otherwise,
# --- so --threads-per-core=1 is added to its lines, and fills sockets in blocks. ---


@pytest.mark.parametrize(
    ("binding", "expected"),
    [
        ("threads", [[0], [1]]),
        ("cores", [[0, 128], [1, 129]]),
        ("sockets", [spelled("0-63,128-191"), spelled("0-63,128-191")]),
    ],
)
def test_bindings_on_lumi(binding: str, expected: list[list[int]]) -> None:
    line = f"srun --nodes=2 --ntasks-per-node=2 --threads-per-core=1 -m block:block --cpu-bind={binding} bash"
    assert cpus(line, LUMI, 0) == cpus(line, LUMI, 1) == expected


@pytest.mark.parametrize(
    ("distribution", "tasks", "expected"),
    [
        ("block:block", [0, 1, 2, 3], [0, 1, 2, 3]),
        ("block:cyclic", [0, 1, 2, 3], [0, 64, 1, 65]),
        ("cyclic:block", [0, 2, 4, 6], [0, 1, 2, 3]),
        ("cyclic:cyclic", [0, 2, 4, 6], [0, 64, 1, 65]),
    ],
)
def test_distributions_on_lumi(distribution: str, tasks: list[int], expected: list[int]) -> None:
    line = f"srun --nodes=2 --ntasks-per-node=4 --threads-per-core=1 --distribution={distribution} bash"
    node = place(line, LUMI).nodes[0]
    assert list(node.task_numbers) == tasks
    assert [list(task.cpus) for task in node.tasks] == [[cpu] for cpu in expected]


def test_masks_on_lumi() -> None:
    line = "srun -N 1 -n 2 --cpu-bind=mask_cpu:fe000000000000,fe00000000000000 a"
    assert cpus(line, LUMI) == [spelled("49-55"), spelled("57-63")]
    line = "srun -N 1 -n 8 --cpu-bind=map_cpu:49,57,17,25,1,9,33,41 a"
    assert cpus(line, LUMI) == [[49], [57], [17], [25], [1], [9], [33], [41]]


# --- ARCHER2 documentation, "Slurm definition of a socket" ---


def test_cyclic_over_caches_on_archer2() -> None:
    line = "srun --ntasks=128 --distribution=block:cyclic --hint=nomultithread xthi_mpi"
    found = [task[0] for task in cpus(line, ARCHER2)]
    assert found[:32] == list(range(0, 128, 4))
    assert found[32:39] == [1, 5, 9, 13, 17, 21, 25]


def test_block_on_archer2() -> None:
    line = "srun --ntasks=128 --distribution=block:block --hint=nomultithread xthi_mpi"
    assert cpus(line, ARCHER2) == [[cpu] for cpu in range(128)]


# --- Frontier user guide. The printed numbers are one higher: there the first core of each cache is kept free. ---


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "srun -N1 -n8 -c1 --cpu-bind=threads --threads-per-core=1 -m block:cyclic a",
            [[0], [8], [16], [24], [32], [40], [48], [56]],
        ),
        ("srun -N1 -n7 -c1 --cpu-bind=threads --threads-per-core=1 -m block:block a", [[core] for core in range(7)]),
        ("srun -N1 -n2 -c2 --threads-per-core=1 a", [[0, 1], [8, 9]]),
        ("srun -N1 -n2 -c2 --threads-per-core=2 a", [[0, 64], [8, 72]]),
        ("srun -N1 -n8 -c7 --threads-per-core=1 a", [list(range(first, first + 7)) for first in range(0, 64, 8)]),
    ],
)
def test_tasks_on_frontier(line: str, expected: list[list[int]]) -> None:
    assert cpus(line, FRONTIER) == expected


# --- derived by hand ---


def test_tasks_go_evenly_to_the_nodes() -> None:
    component = Component(command=(), tasks=10)
    assert [list(numbers) for numbers in tasks_of_nodes(component, 4, 24)] == [[0, 1, 2], [3, 4, 5], [6, 7], [8, 9]]
    cyclic = component._replace(distribution=("cyclic", "cyclic", "cyclic"))
    assert [list(numbers) for numbers in tasks_of_nodes(cyclic, 4, 24)] == [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]
    packed = component._replace(distribution=("block", "cyclic", "cyclic"), pack_nodes=True)
    # One for each node, then node 0 up to its four, node 1 up to its four.
    assert [list(numbers) for numbers in tasks_of_nodes(packed, 4, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8], [9]]


def test_planes_of_tasks() -> None:
    # dist_plane.html: 21 tasks in planes of four on four nodes; 20 goes to node 1, the turn's next.
    component = Component(command=(), tasks=21, distribution=("plane", "block", "block"), plane_size=4)
    assert [list(numbers) for numbers in tasks_of_nodes(component, 4, 24)] == [
        [0, 1, 2, 3, 16, 17, 18, 19],
        [4, 5, 6, 7, 20],
        [8, 9, 10, 11],
        [12, 13, 14, 15],
    ]
    pairs = component._replace(plane_size=2)
    assert [list(numbers) for numbers in tasks_of_nodes(pairs, 4, 24)] == [
        [0, 1, 8, 9, 16, 17],
        [2, 3, 10, 11, 18, 19],
        [4, 5, 12, 13, 20],
        [6, 7, 14, 15],
    ]
    # Five tasks in planes of four on three nodes: each node has one first, node 0 gets the two that are left.
    few = component._replace(tasks=5)
    assert [list(numbers) for numbers in tasks_of_nodes(few, 3, 24)] == [[0, 1, 2], [3], [4]]
    # Nodes of four: no plane of six fits, the rest goes to the next node.
    large = component._replace(tasks=8, plane_size=6)
    assert [list(numbers) for numbers in tasks_of_nodes(large, 2, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_vasp_line_in_slurms_words() -> None:
    # The spread that aprun -N 12 -S 3 gives.
    line = "srun -n 384 --ntasks-per-node=12 --ntasks-per-socket=3 --cpu-bind=cores -m block:block vasp"
    placement = place(line, HOPPER_SLURM)
    assert len(placement.nodes) == 32
    assert [len(tasks) for tasks in placement.tasks_by_numa_node(0)] == [3, 3, 3, 3]
    assert cpus(line, HOPPER_SLURM) == cpus("aprun -n 384 -N 12 -S 3 vasp", HOPPER)


@pytest.mark.parametrize(
    ("line", "bound", "first"),
    [
        # 4 x 1 CPUs = 4 sockets; 24 x 1 = 24 cores; 4 x 3 with exact: 12 cores of 12.
        ("srun -n 4 a", True, spelled("0-5")),
        ("srun -n 24 a", True, [0]),
        ("srun -n 4 -c 3 a", True, [0, 1, 2]),
        ("srun -n 5 a", False, spelled("0-23")),
        ("srun -n 4 --cpu-bind=none a", False, spelled("0-23")),
        ("srun -n 4 --exact --cpu-bind=none a", False, [0, 6, 12, 18]),
    ],
)
def test_binding_without_cpu_bind(line: str, bound: bool, first: list[int]) -> None:
    task = place(line, HOPPER_SLURM).nodes[0].tasks[0]
    assert task.bound is bound
    assert list(task.cpus) == first


def test_automatic_binding_with_hardware_threads() -> None:
    # 8 x 32 = 256 CPUs = all hardware threads; a task's 32 are 16 cores of two, sockets in turn.
    assert cpus("srun -n 8 -c 32 a", LUMI)[:2] == [spelled("0-15,128-143"), spelled("64-79,192-207")]
    # 128 x 1 = 128 cores: bound to cores, both hardware threads.
    assert cpus("srun -n 128 a", LUMI)[:2] == [[0, 128], [64, 192]]


def test_numa_node_bindings() -> None:
    # rank_ldom: local task i on NUMA node i, again from the first.
    assert cpus("srun -n 5 --cpu-bind=rank_ldom a", HOPPER_SLURM) == [
        spelled(cores) for cores in ("0-5", "6-11", "12-17", "18-23", "0-5")
    ]
    assert cpus("srun -n 2 --cpu-bind=map_ldom:3,1 a", HOPPER_SLURM) == [spelled("18-23"), spelled("6-11")]
    assert cpus("srun -n 1 --cpu-bind=mask_ldom:0x5 a", HOPPER_SLURM) == [spelled("0-5,12-17")]
    # Two packages as sockets, four NUMA nodes: tasks go to packages in turn, and are widened to their NUMA node.
    assert cpus("srun -n 2 --cpu-bind=ldoms a", machine(2, 2, 6, 1)) == [spelled("0-5"), spelled("12-17")]


def test_lists_begin_again_on_every_node_and_when_they_are_short() -> None:
    line = "srun -N 2 -n 6 --cpu-bind=map_cpu:0,6 a"
    assert cpus(line, HOPPER_SLURM, 0) == cpus(line, HOPPER_SLURM, 1) == [[0], [6], [0]]


def test_rank_of_a_single_cpu() -> None:
    # Local task i on CPU i: so the man page, and Slurm's code up to 24.05.
    assert cpus("srun -n 3 --cpu-bind=rank a", HOPPER_SLURM) == [[0], [1], [2]]
    assert any("--cpu-bind=rank" in text for text in place("srun -n 3 --cpu-bind=rank a", HOPPER_SLURM).assumptions)


def test_overcommitted_tasks_share() -> None:
    # Sixty tasks of one CPU on 24: nothing can be dealt, all share all.
    tasks = place("srun -N 1 -n 60 -O --cpu-bind=cores a", HOPPER_SLURM).nodes[0].tasks
    assert len(tasks) == 60
    assert all(len(task.cpus) == 24 and not task.bound for task in tasks)
    # Four tasks of twelve on 24: each gets six.
    assert cpus("srun -N 1 -n 4 -c 12 -O --cpu-bind=cores -m block:block a", HOPPER_SLURM)[1] == spelled("6-11")


def test_full_cycle() -> None:
    # CPU by CPU over the four sockets; two CPUs per task.
    assert cpus("srun -n 4 -c 2 -m block:fcyclic --cpu-bind=cores a", HOPPER_SLURM) == [
        [0, 6],
        [12, 18],
        [1, 7],
        [13, 19],
    ]


def test_the_toy_fills_sockets_in_blocks_by_default() -> None:
    # Three NUMA nodes of four cores of two threads; Toy's NUMA nodes are its sockets, its default is block:block.
    # One CPU per task: tasks 0 and 1 share core 0 (CPUs 0 and 12).
    toy = Machine.load("toy")
    assert cpus("srun -n 4 --cpu-bind=threads a", toy) == [[0], [12], [1], [13]]
    assert cpus("srun -n 4 --cpu-bind=cores a", toy) == [[0, 12], [1, 13], [2, 14], [3, 15]]
    assert cpus("srun -n 3 -m block:cyclic --cpu-bind=cores a", toy) == [[0, 12], [4, 16], [8, 20]]


def test_threads_of_a_task_are_left_to_the_task() -> None:
    launch = read_launch("OMP_NUM_THREADS=3 srun -n 4 -c 6 --cpu-bind=cores a", HOPPER_SLURM)
    task = place_tasks(launch, HOPPER_SLURM).nodes[0].tasks[1]
    assert task.thread_cores == (tuple(range(6, 12)),) * 3
    assert task.numa_nodes == (1,)


LUMI_G = Machine.load("lumi-g")
MAPPED = "srun -n 8 --cpu-bind=map_cpu:49,57,17,25,1,9,33,41 --gpu-bind=map:0,1,2,3,4,5,6,7"


def seen_gpus(line: str) -> list[tuple[int, ...]]:
    text = f"#SBATCH -p standard-g\n#SBATCH -N 1\n#SBATCH --gpus-per-node=8\n{line} ./a"
    placement = place_tasks(read_launch(text, LUMI_G), LUMI_G)
    return [task.gpus for task in placement.nodes[0].tasks]


def test_a_list_of_gpus_is_in_slurms_order_unless_tasks_share_them():
    # As printed in LUMI's course of April 2026: buses d1 d6 c9 ce d9 de c1 c6, and with sharing in the order of buses.
    assert seen_gpus(MAPPED) == [(4,), (5,), (2,), (3,), (6,), (7,), (0,), (1,)]
    assert seen_gpus(f"{MAPPED} --gres-flags=allow-task-sharing") == [(gpu,) for gpu in range(8)]


def test_gpus_over_several_nodes_that_do_not_fill_them_are_not_known():
    # LUMI's course prints seven GPUs on one node and one on the other for this line.
    placement = place_tasks(read_launch("srun -p standard-g -N 2 --tasks-per-node 1 --gpus 8 a", LUMI_G), LUMI_G)
    assert placement.certainty.startswith("cannot tell: How Slurm deals out 8 GPUs over 2 nodes")
    assert placement.nodes[0].tasks[0].gpus is None


def test_steps_started_in_a_loop_take_the_next_cores_and_gpus():
    # Frontier's user guide prints these cores and GPUs for eight such steps (example 9).
    frontier = Machine.load("frontier")
    loop = (
        "#SBATCH -N 1\nfor i in {1..8}; do\nsrun --gpus-per-task=1 --gpu-bind=closest -N1 -n1 -c1 ./a &\ndone\nwait\n"
    )
    launch = read_launch(loop, frontier)
    steps = place_steps((*launch.components, *launch.after), frontier.node(), frontier)
    assert [step[0].cores for step in steps] == [(core,) for core in (49, 57, 17, 25, 1, 9, 33, 41)]
    assert [step[0].gpus for step in steps] == [(gpu,) for gpu in range(8)]


def test_a_second_step_gets_what_the_first_leaves_or_waits():
    archer2 = Machine.load("archer2")
    head = "#SBATCH -N 1\nsrun -n 8 -c 8 --exact --hint=nomultithread ./a &\n"
    launches = read_launches(f"{head}srun -n 4 -c 8 --exact --hint=nomultithread ./b &\nwait\n", archer2)
    first, second = (place_tasks(launch, archer2) for launch in launches)
    taken = [{core for task in each.nodes[0].tasks for core in task.cores} for each in (first, second)]
    assert not taken[0] & taken[1]
    full = read_launches(f"{head}srun -n 16 -c 8 --exact --hint=nomultithread ./b &\nwait\n", archer2)[1]
    assert place_tasks(full, archer2).certainty.startswith("cannot tell: Steps started before leave no room")
