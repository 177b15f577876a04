"""Placements printed in the sites' guides, for the machine files of the library."""

from __future__ import annotations

import pytest

from hopperkit.launchers.option_values import number_list
from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.printed import read_printed
from hopperkit.launchers.reader import read_launches
from hopperlib.machine import Machine

# Machine, line, CPUs that the tasks of the first node were printed with, GPUs. A program that has fewer threads than
# CPUs prints fewer of them, on Frontier and Aurora.
FRONTIER_L3 = [f"{first}-{first + 6}" for first in range(1, 64, 8)]
FRONTIER_GPUS = (4, 5, 2, 3, 6, 7, 0, 1)
PRINTED = [
    ("frontier", "srun -N1 -n8 -c1 --cpu-bind=threads --threads-per-core=1 -m block:cyclic a", "1 9 17 25 33 41 49 57", ()),
    ("frontier", "srun -N1 -n7 -c1 --cpu-bind=threads --threads-per-core=1 -m block:block a", "1 2 3 4 5 6 7", ()),
    ("frontier", "srun -N1 -n2 a", "1 9", ()),
    ("frontier", "#SBATCH -N 1\nsrun -N1 -n2 -c2 a", "1-2 9-10", ()),
    ("frontier", "#SBATCH -N 1 --threads-per-core=2\nsrun -N1 -n2 -c2 a", "1,65 9,73", ()),
    ("frontier", "srun -N1 -n8 -c7 --gpus-per-task=1 --gpu-bind=closest a", " ".join(FRONTIER_L3), FRONTIER_GPUS),
    ("frontier", "srun -N1 -n1 -c7 --gpus-per-task=1 --gpu-bind=closest a", "49-55", (0,)),
    ("frontier", "srun -N1 -n16 -c1 --ntasks-per-gpu=2 --gpu-bind=closest a", "1 9 17 25 33 41 49 57 2 10 18 26 34 42 50 58", FRONTIER_GPUS * 2),
    ("frontier", "srun -N1 -n16 -c4 --ntasks-per-gpu=2 --gpu-bind=closest --distribution=*:block a", " ".join(f"{first}-{first + 3}" for first in range(0, 64, 4)), tuple(gpu for gpu in FRONTIER_GPUS for _ in range(2))),
    ("perlmutter", "srun -n 4 --cpu-bind=cores a", "0,128 64,192 1,129 65,193", ()),
    ("perlmutter", "srun -n 4 -c 2 a", "0,128 16,144 32,160 48,176", ()),
    ("eiger", "srun -n8 -N1 -c16 --hint=nomultithread a", "0-15 64-79 16-31 80-95 32-47 96-111 48-63 112-127", ()),
    ("eiger", "srun -c32 -n4 -N1 --hint=nomultithread a", "0-31 64-95 32-63 96-127", ()),
    ("daint", "srun -n8 -N2 -c72 a", "0-71 72-143 144-215 216-287", (0, 1, 2, 3)),
    ("archer2", "#SBATCH --ntasks-per-node=4\nsrun -m block:cyclic --hint=nomultithread a", "0 4 8 12", ()),
    ("lumi-c", "srun --nodes=2 --ntasks-per-node=2 --cpu-bind=threads a", "0 1", ()),
    ("lumi-c", "srun --nodes=2 --ntasks-per-node=2 --cpu-bind=cores a", "0,128 1,129", ()),
    ("lumi-c", "srun --nodes=2 --ntasks-per-node=2 --cpu-bind=sockets a", "0-63,128-191 0-63,128-191", ()),
    ("lumi-c", "srun --nodes=2 --ntasks-per-node=4 -m block:cyclic a", "0 64 1 65", ()),
    ("lumi-c", "srun -N2 -n 8 -c 32 -m cyclic a", "0-31 32-63 64-95 96-127", ()),
    ("lumi-g", "srun -N1 -n 8 --cpu-bind=map_cpu:49,57,17,25,1,9,33,41 --gpus-per-node=8 --gpu-bind=closest a", "49 57 17 25 1 9 33 41", tuple(range(8))),
]  # fmt: skip


def placed(name: str, line: str) -> Placement:
    machine = Machine.load(name)
    return place_tasks(read_launches(line, machine)[0], machine)


@pytest.mark.parametrize(("name", "line", "cpus", "gpus"), PRINTED)
def test_as_printed(name: str, line: str, cpus: str, gpus: tuple[int, ...]) -> None:
    placement = placed(name, line)
    assert not placement.doubts
    pattern = placement.nodes[0].pattern
    wanted = [set(number_list("", each, what="CPUs")) for each in cpus.split()]
    assert [set(seat.cpus) for seat in pattern] == wanted
    if gpus:
        each = 1 if "gpu" in line else len(gpus)
        assert all(seat.gpus is not None and len(seat.gpus) == each for seat in pattern)
        assert {gpu for seat in pattern for gpu in seat.gpus or ()} == set(gpus)
        if each == 1:
            assert [seat.gpus for seat in pattern] == [(gpu,) for gpu in gpus]


@pytest.mark.parametrize(
    ("name", "line", "why"),
    [
        # Printed twice, with -c 2 on one core and on two: the job around the line decides.
        ("frontier", "srun -N1 -n2 -c2 a", "--threads-per-core=2"),
        # Printed by an older release than the one that runs today, whose rounding differs.
        ("perlmutter", "srun -n 4 -c 1 a", "share cores"),
        ("lumi-c", "#SBATCH -p small\nsrun -n 2 -c 4 a", "partition=small"),
    ],
)
def test_what_cannot_be_told(name: str, line: str, why: str) -> None:
    placement = placed(name, line)
    assert placement.certainty.startswith("cannot tell: ")
    assert why in placement.certainty


def test_the_kind_of_node_follows_the_script() -> None:
    script = "#SBATCH -C gpu -G 8\nsrun -n 8 -c 32 --gpus-per-task=1 a"
    placement = placed("perlmutter", script)
    assert placement.node_kind.name == "gpu"
    # Four tasks of 16 cores fill a node of 64; the release gives each task the GPU nearest to its cores.
    assert [seat.cores[0] for seat in placement.nodes[0].pattern] == [0, 16, 32, 48]
    assert [seat.gpus for seat in placement.nodes[0].pattern] == [(3,), (2,), (1,), (0,)]


def test_another_order_of_ranks_is_said() -> None:
    text = "#SBATCH -N 2\nexport MPICH_RANK_REORDER_METHOD=3\nsrun -n 8 -c 32 a"
    assert "MPICH_RANK_REORDER_METHOD=3 gives the ranks of Cray MPICH others" in placed("lumi-c", text).certainty


def test_places_of_threads() -> None:
    text = "export OMP_NUM_THREADS=4 OMP_PLACES=cores OMP_PROC_BIND=close\nsrun -n 1 -c 16 --hint=nomultithread a"
    assert placed("eiger", text).nodes[0].pattern[0].thread_cores == ((0,), (1,), (2,), (3,))
    spread = text.replace("close", "spread")
    assert placed("eiger", spread).nodes[0].pattern[0].thread_cores == ((0,), (4,), (8,), (12,))


def test_steps_that_share_a_job() -> None:
    loop = "#SBATCH -N 1\nfor i in {1..8}; do\n  srun --gpus-per-task=1 -N1 -n1 -c1 ./a &\ndone\nwait"
    launch = read_launches(loop, Machine.load("frontier"))[0]
    assert (launch.steps, launch.steps_cpus) == (8, 8)


def test_gpus_that_tasks_count_from_zero_are_told_apart_by_their_buses():
    lumi = Machine.load("lumi-g")
    buses = ("d1", "d6", "c9", "ce", "d9", "de", "c1", "c6")
    form = "MPI {:03} - OMP 000 - HWT 001 (CCD0) - Node n1 - RT_GPU_ID 0 - GPU_ID 0 - Bus_ID {}(GCD4/CCD0)"
    printed = read_printed("\n".join(form.format(task, bus) for task, bus in enumerate(buses)), lumi.node())
    assert [printed[task].gpus for task in range(8)] == [{gpu} for gpu in "45236701"]
    # With only some of a node's buses, the GPUs cannot be identified.
    assert read_printed(form.format(0, "d1") + "\n" + form.format(1, "c1"), lumi.node())[1].gpus == frozenset()


def test_affinity_prints_the_cores_of_a_rank_with_gpus_on_their_own_line() -> None:
    printed = read_printed(
        "rank      0 @ n1\n cores   : [0:7]\n gpu   0 : GPU-2ae3\nrank 1 @ n1\n cores   : [72:79]\n",
        Machine.load("daint").node(),
    )
    assert {task: sorted(own.cpus) for task, own in printed.items()} == {0: [*range(8)], 1: [*range(72, 80)]}
