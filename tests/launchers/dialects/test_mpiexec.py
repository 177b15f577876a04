"""mpiexec and mpirun lines of four makers, placed by hand from their manuals and from printed bindings."""

from __future__ import annotations

import pytest

from hopperkit.launchers.option_values import number_list
from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.reader import read_launch, read_launches
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

CLUSTER = Machine.load("cluster")


def placed(text: str, machine: Machine = CLUSTER) -> Placement:
    return place_tasks(read_launches(text, machine)[0], machine)


AURORA_LIST = "list:1-8:9-16:17-24:25-32:33-40:41-48:53-60:61-68:69-76:77-84:85-92:93-100"


@pytest.mark.parametrize(
    ("machine", "line", "cpus"),
    [
        # ALCF's guides, printed on Aurora.
        ("aurora", "mpiexec -n 8 -ppn 4 --depth 1 --cpu-bind=depth a", "1 2 3 4"),
        ("aurora", "mpiexec -n 4 -ppn 2 --cpu-bind=list:1,2:3,4 a", "1-2 3-4"),
        ("aurora", "mpiexec -n 4 -ppn 2 --cpu-bind=list:1:105 a", "1 105"),
        ("aurora", "mpiexec -n 12 -ppn 12 --depth=8 --cpu-bind=depth a", "1-8 9-16 17-24 25-32 33-40 41-48 49-51,53-57 58-65 66-73 74-81 82-89 90-97"),
        ("aurora", f"mpiexec -n 12 -ppn 12 --cpu-bind={AURORA_LIST} a", AURORA_LIST[5:].replace(":", " ")),
        # Polaris: 64 CPUs, the second threads from 32 on.
        ("polaris", "mpiexec -n 8 -ppn 8 -d 8 --cpu-bind depth a", "0-7 8-15 16-23 24-31 32-39 40-47 48-55 56-63"),
        # Open MPI, on two sockets of 16 cores.
        ("cluster", "mpirun -np 2 --report-bindings a", "0 1"),
        ("cluster", "module load openmpi/4.1.6\nmpirun -np 4 --map-by socket --bind-to core a", "0 16 1 17"),
        ("cluster", "mpirun -np 4 --map-by ppr:2:socket:PE=4 a", "0-3 4-7 16-19 20-23"),
        ("cluster", "mpirun -np 4 --map-by slot:PE=2 a", "0-1 2-3 4-5 6-7"),
        ("cluster", "module load openmpi/4.1.6\nmpirun -np 3 --map-by core --bind-to socket a", "0-15 0-15 0-15"),
        ("cluster", "mpirun -np 2 --map-by numa --bind-to numa --mca btl self,vader -x OMP_NUM_THREADS a", "0-15 16-31"),
        ("cluster", "mpirun --bind-to-core --bynode -np 2 --host a,b a", "0"),
        # MPICH binds only where it is told to.
        ("cluster", "module load mpich\nmpiexec -n 2 a", "0-31 0-31"),
        ("cluster", "mpiexec -n 4 -bind-to core:4 a", "0-3 4-7 8-11 12-15"),
        ("cluster", "mpiexec -n 3 -bind-to socket a", "0-15 16-31 0-15"),
        # Intel MPI: the CPUs of a node by its tasks; or domains as its variables say.
        ("cluster", "module load intel-mpi\nmpirun -n 4 a", "0-7 8-15 16-23 24-31"),
        ("cluster", "export I_MPI_PIN_DOMAIN=omp OMP_NUM_THREADS=16\nmpirun -n 2 a", "0-15 16-31"),
        ("cluster", "I_MPI_PIN=0 mpirun -n 1 a", "0-31"),
        ("cluster", "module load impi\nexport I_MPI_PIN_DOMAIN=4\nmpirun -n 4 a", "0-3 4-7 16-19 20-23"),
        ("cluster", "I_MPI_PIN_PROCESSOR_LIST=0,8 mpirun -n 2 a", "0 8"),
        ("cluster", "module load impi/2021.19\nI_MPI_PIN_DOMAIN=[f,f0] mpirun -n 2 a", "0-15 16-31"),
        ("cluster", "module load impi/2021.9\nI_MPI_PIN_DOMAIN=[f,f0] mpirun -n 2 a", "0-3 4-7"),
        # The same in 4.1 and 5.0.
        ("cluster", "mpirun -np 2 -report-bindings -map-by socket a", "0-15 16-31"),
    ],
)  # fmt: skip
def test_where_tasks_land(machine: str, line: str, cpus: str) -> None:
    placement = placed(line, Machine.load(machine))
    assert not placement.doubts
    assert [seat.cpus for seat in placement.nodes[0].pattern] == [
        number_list("", each, what="CPUs") for each in cpus.split()
    ]


def two_sockets_of_12() -> Machine:
    document = CLUSTER.to_document()
    document["node"] = [document["node"][0] | {"cores_per_numa_node": {"value": 12, "assumed": "as in the report"}}]
    return Machine.from_document(document, name="om2x12.toml")


@pytest.mark.parametrize(
    ("line", "cpus"),
    [
        # All ranks on NUMA node 0: https://github.com/open-mpi/ompi/issues/11726 prints it, and 5.0.11 says so.
        ("mpirun -n 8 -N 8 ./a", ["0-11"] * 8),
        ("mpirun -n 8 --map-by ppr:8:node ./a", ["0-11"] * 8),
        ("mpirun -n 8 --npernode 8 ./a", ["0-11"] * 8),
        # https://github.com/open-mpi/ompi/issues/1247: a list of CPUs for all ranks.
        ("mpirun -n 4 --cpu-set 0,2,4,6 --bind-to core ./a", ["0,2,4,6"] * 4),
    ],
)
def test_lines_of_reports_on_open_mpi_5(line: str, cpus: list[str]) -> None:
    script = f"#!/bin/bash\n#SBATCH -N 1\n#SBATCH --exclusive\nmodule load openmpi/5.0.11\n{line}\n"
    placement = placed(script, two_sockets_of_12())
    assert not placement.doubts
    assert [seat.cpus for seat in placement.nodes[0].pattern] == [number_list("", each, what="CPUs") for each in cpus]


def test_tasks_over_nodes() -> None:
    assert [
        list(node.task_numbers) for node in placed("mpirun -np 4 --npernode 2 --bind-to core --map-by core a").nodes
    ] == [[0, 1], [2, 3]]
    script = "#PBS -l select=2:ncpus=32:mpiprocs=4\nmodule load openmpi\nmpirun --map-by ppr:2:socket:PE=8 a"
    assert [len(node.pattern) for node in placed(script).nodes] == [4, 4]


def test_gpus_of_a_list_by_the_names_that_the_machine_gives_them() -> None:
    line = "mpiexec -n 2 -ppn 2 --cpu-bind=list:1:53 --gpu-bind=list:0.1:3.0 a"
    # The second tile of the first GPU is number 1, the first of the fourth number 6.
    assert [seat.gpus for seat in placed(line, Machine.load("aurora")).nodes[0].pattern] == [(1,), (6,)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("mpirun -np 8 a", "does not identify the mpirun"),
        ("module load openmpi\nmpirun -np 8 a", "depends on the release"),
        ("module load impi\nmpirun -n 3 a", "depends on its release"),
        # Open MPI 1.8 printed core 0 of each socket.
        ("module load openmpi/1.8\nmpirun -np 2 -report-bindings -map-by socket a", "before 4.0 are not followed"),
        ("I_MPI_PIN_DOMAIN=[f,f0] mpirun -n 2 a", "depends on its release"),
        ("module load impi/2021.9\nI_MPI_PIN_ORDER=spread mpirun -n 2 a", "I_MPI_PIN_ORDER=spread is not followed"),
        ("module load openmpi/4.1.6\nmpirun -n 2 --cpu-set 0,2 a", "--cpu-set or --cpu-list could not be checked"),
    ],
)
def test_what_cannot_be_told(text: str, why: str) -> None:
    assert why in placed(text).certainty
    assert placed(text).certainty.startswith("cannot tell")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mpirun a", "mpirun has no -n, and no script around it sets the number of tasks"),
        ("mpirun -np 4 --map-by socket:PE=0 a", "--map-by 0 must be at least 1"),
        ("mpirun -np 4 --map-by slot:PE=x a", "--map-by x must be a whole number"),
        ("mpirun -np 4 --map-by ppr:0:node a", "--map-by 0 must be at least 1"),
        ("I_MPI_PIN_DOMAIN=<mask> mpirun -n 4 a", "I_MPI_PIN_DOMAIN is a placeholder; write the value"),
        ("mpirun -np 4 --map-by core:PE=99 a", "--map-by PE=99 requests several CPUs of a unit that has one"),
        ("mpirun -np 4 --map-by chip a", "--map-by chip is not a unit of Open MPI; there are slot, hwthread, core"),
        ("mpirun -np 4 --fly a", "--fly is not an option of Open MPI's mpiexec that can be read"),
        ("mpirun -np 8 --map-by ppr:8:socket:PE=4 a", "-n 8 does not fit: not every rank finds 4 cores where the line maps it"),
    ],
)  # fmt: skip
def test_lines_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        placed(text)
    assert caught.value.message.startswith(message)


def test_what_releases_of_open_mpi_do_differently_cannot_be_told():
    perlmutter = Machine.load("perlmutter")
    placement = place_tasks(read_launch("mpirun -np 4 --bind-to hwthread --map-by socket a", perlmutter), perlmutter)
    assert "depends on the release" in placement.certainty


def test_a_hardware_thread_of_each_core():
    # As Open MPI prints it: [B./../..], [../B./..].
    perlmutter = Machine.load("perlmutter")
    placed = place_tasks(
        read_launch("module load openmpi/4.1\nmpirun -np 3 --bind-to hwthread --map-by core a", perlmutter), perlmutter
    )
    assert [task.cpus for task in placed.nodes[0].tasks] == [(0,), (1,), (2,)]


@pytest.mark.parametrize(
    ("module", "same"),
    [
        ("openmpi/gcc/64/4.1.5", True),
        ("openmpi-gcc-11.2/4.1.6", True),
        ("openmpi/4.1.6-gcc-11.2", True),
        ("openmpi-4.1.6/gcc/12.2", True),
        ("openmpi/5.0.3/gcc-12.2", False),
        ("OpenMPI/5.0.3-GCC-13.3.0", False),
    ],
)
def test_the_release_in_names_of_modules(module: str, same: bool) -> None:
    # The two releases place three tasks with --bind-to socket otherwise.
    def cpus(name: str) -> list[tuple[int, ...]]:
        text = f"module load {name}\nmpirun -np 3 --bind-to socket a"
        placement = placed(text)
        assert not placement.doubts
        return [seat.cpus for seat in placement.nodes[0].pattern]

    assert (cpus(module) == cpus("openmpi/4.1.6")) == same


def test_intel_mpi_before_2021_5_was_not_asked() -> None:
    assert "before 2021.5" in placed("module load impi/2019.9\nmpirun -n 4 a").certainty
    assert not placed("module load impi/2019.9\nI_MPI_PIN=off mpirun -n 4 a").doubts
