"""Lines that claim more than was reserved, with the launcher's messages."""

import pytest

from hopperkit.launchers.placing import Placement, place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

HOPPER = Machine.load("hopper")


def place(text: str, machine: Machine = HOPPER) -> Placement:
    return place_tasks(read_launch(text, machine), machine)


def refusal(text: str, machine: Machine = HOPPER) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        place(text, machine)
    return caught.value


def script(resources: str, line: str) -> str:
    return (
        f"#!/bin/bash\n#PBS -q regular\n#PBS -l {resources}\n#PBS -l walltime=00:30:00\n\ncd $PBS_O_WORKDIR\n{line}\n"
    )


@pytest.mark.parametrize(
    ("resources", "line"),
    [
        # NERSC's memory page: 12 tasks per node on 8 nodes, reserved as 8 x 24.
        ("mppwidth=192", "aprun -n 96 -N 12 ./a.out"),
        ("mppwidth=36", "aprun -n6 -d6 -N4 -S1 -ss ./a.out"),
        ("mppwidth=48", "aprun -n 48 ./a.out"),
        ("mppwidth=48", "aprun -n 24 ./a.out"),
        ("mppwidth=16,mppnppn=4,mppdepth=6", "aprun -n 16 -N 4 -d 6 -S 1 ./a.out"),
        ("mppwidth=48", "aprun -n 24 ./a.out : -n 24 ./b.out"),
        ("mppwidth=96,mppnppn=12,mppmem=2gb", "aprun -n 96 -N 12 -m 2G ./a.out"),
        ("mppwidth=192", "aprun -n 96 -N 12 -m 2600M ./a.out"),
        ("nodes=2:ppn=24", "aprun -n 48 ./a.out"),
    ],
)
def test_lines_that_fit(resources: str, line: str) -> None:
    assert place(script(resources, line)).launch.reservation is not None


def test_more_nodes_than_reserved() -> None:
    # The case of the TPLS questions page: select=2 and -n 64 at 24 per node need 3 nodes.
    error = refusal(script("select=2", "aprun -n 64 ./a.out"))
    assert error.words == "apsched: claim exceeds reservation's node-count"
    assert (error.flag, error.value) == ("-n", "64")
    assert error.rule == "at 24 tasks per node needs 3 nodes; select=2 reserves 2"
    assert error.message == (
        "apsched: claim exceeds reservation's node-count: -n 64 at 24 tasks per node needs 3 nodes; select=2 reserves 2"
    )


def test_more_nodes_than_reserved_because_of_n() -> None:
    error = refusal(script("mppwidth=96", "aprun -n 96 -N 12 ./a.out"))
    assert error.message == (
        "apsched: claim exceeds reservation's node-count: "
        "-n 96 at 12 tasks per node needs 8 nodes; mppwidth=96 reserves 4"
    )


def test_more_nodes_than_reserved_with_several_programs() -> None:
    # ARCHER's NEMO log: 84 + 80 = 164 nodes in a smaller reservation; here 6 + 4 = 10 in 8.
    error = refusal(script("mppwidth=192", "aprun -n 128 ./a : -n 80 ./b"))
    assert error.words == "apsched: claim exceeds reservation's resources"
    assert error.flag == ":"
    assert error.rule == "separates programs that need 6 + 4 = 10 different nodes; mppwidth=192 reserves 8"


def test_more_cores_a_node_than_reserved() -> None:
    # Chapel's note: match mppdepth. Four tasks of one core are reserved a node, four of six are claimed.
    error = refusal(script("mppwidth=16,mppnppn=4", "aprun -n 16 -N 4 -d 6 ./a.out"))
    assert error.words == "apsched: claim exceeds reservation's CPUs"
    assert (error.flag, error.value) == ("-d", "6")
    assert error.rule == "with 4 tasks per node claims 24 cores per node; mppwidth=16,mppnppn=4 reserves 4"
    error = refusal(script("mppwidth=48,mppnppn=12", "aprun -n 48 -N 24 ./a.out"))
    assert error.message == (
        "apsched: claim exceeds reservation's CPUs: "
        "-N 24 with 24 tasks per node claims 24 cores per node; mppwidth=48,mppnppn=12 reserves 12"
    )
    assert refusal(script("mppwidth=4", "aprun -n 4 -d 6 ./a.out")).words == "apsched: claim exceeds reservation's CPUs"


def test_more_memory_than_reserved_with_strict_containment() -> None:
    # The qsub wrapper for Hopper. The reservation is 4 x 32/24 = 5.33 GB per node; -ss claims 4 NUMA nodes of 8 GB.
    error = refusal(script("mppwidth=6,mppdepth=6,mppnppn=4", "aprun -n6 -d6 -N4 -S1 -ss ./a.out"))
    assert error.words == "apsched: claim exceeds reservation's memory"
    assert error.flag == "-ss"
    assert error.rule == (
        "claims the memory of 4 NUMA nodes, 32 GB per node; "
        "mppwidth=6,mppdepth=6,mppnppn=4 reserves 4 x 1.333 GB. Reserve mppwidth=36 without mppdepth"
    )


def test_more_memory_than_reserved_by_m() -> None:
    error = refusal(script("mppwidth=96,mppnppn=12,mppmem=2gb", "aprun -n 96 -N 12 -m 2500M ./a.out"))
    assert error.words == "apsched: claim exceeds reservation's memory"
    # 12 x 2500/1024 = 29.3 GB of 12 x 2.
    assert error.rule == "for 12 tasks claims 29.3 GB per node; mppwidth=96,mppnppn=12 reserves 12 x 2 GB"


def test_more_memory_than_a_node_has() -> None:
    # 24 x 1.5 GB = 36 GB of 32.
    error = refusal("aprun -n 24 -m 1.5G ./a.out")
    assert error.message == "-m 1.5G for 24 tasks per node is 36 GB, more than the 32 GB of a node of Hopper"


def test_more_nodes_than_the_machine_has() -> None:
    assert refusal("aprun -n 153217 ./a.out").message == "-n 153217 needs 6,385 nodes; Hopper has 6,384"
    assert place("aprun -n 153216 ./a.out").launch.tasks == 153_216


def test_a_step_with_more_nodes_than_its_job() -> None:
    perlmutter = Machine.load("perlmutter")
    error = refusal("#SBATCH -N 2\nsrun -N 4 -n 8 ./a.out\n", perlmutter)
    assert error.message == (
        "srun: error: Only allocated 2 nodes asked for 4: -N 4 is more than the 2 nodes of the job"
    )


def test_strict_memory_with_hardware_threads() -> None:
    titan = Machine.load("titan")
    text = "#PBS -l mppwidth=16,mppnppn=8,mppdepth=1\naprun -n 16 -j 2 -N 8 -ss a"
    assert place(text, titan).launch.tasks == 16
