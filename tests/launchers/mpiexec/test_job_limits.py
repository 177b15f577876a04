"""mpirun inside a job: it sees the job's GPUs, and gets no more nodes than the job has."""

import pytest

from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError

MODULES = {"openmpi": "openmpi/4.1.6", "mpich": "mpich/4.2", "intelmpi": "intel-oneapi-mpi/2021.19"}


def placed(text: str, machine: str = "cluster"):
    loaded = Machine.load(machine)
    return place_tasks(read_launch(text, loaded), loaded)


@pytest.mark.parametrize("module", MODULES.values())
@pytest.mark.parametrize(
    ("request_line", "seen"),
    [
        ("#SBATCH --gres=gpu:4", 4),
        ("#SBATCH --gpus-per-node=2", 2),
        ("#SBATCH --gpus-per-task=1", 3),
        ("#SBATCH --gpus=8", 4),
        ("#SBATCH --partition=gpu", 0),
    ],
)
def test_tasks_of_mpirun_see_the_gpus_of_their_job(module: str, request_line: str, seen: int) -> None:
    text = f"#SBATCH -N 2 --ntasks-per-node=3 -C gpu\n{request_line}\nmodule load {module}\nmpirun -np 6 ./a\n"
    machine = Machine.load("cluster")
    placement = place_tasks(read_launch(text, machine, kind="gpu"), machine, kind="gpu")
    assert {seat.gpus for node in placement.nodes for seat in node.pattern} == {tuple(range(seen))}


def test_an_uneven_total_is_not_dealt_out() -> None:
    machine = Machine.load("cluster")
    text = "#SBATCH -N 2 -n 6 --gpus=6\nmodule load openmpi/4.1.6\nmpirun -np 6 ./a\n"
    placement = place_tasks(read_launch(text, machine, kind="gpu"), machine, kind="gpu")
    assert {seat.gpus for seat in placement.nodes[0].pattern} == {None}


@pytest.mark.parametrize(("nodes", "per_node", "tasks"), [(1, 4, 5), (2, 16, 33), (2, 32, 128), (3, 8, 40)])
def test_open_mpi_refuses_more_tasks_than_slots(nodes: int, per_node: int, tasks: int) -> None:
    for directives in (
        f"#SBATCH -N {nodes} --ntasks-per-node={per_node}",
        f"#SBATCH -N {nodes} -n {nodes * per_node}",
        f"#PBS -l select={nodes}:ncpus=32:mpiprocs={per_node}",
    ):
        head = f"{directives}\nmodule load openmpi/4.1.6\n"
        with pytest.raises(LaunchError, match="not enough slots"):
            placed(f"{head}mpirun -np {tasks} ./a\n")
        assert len(placed(f"{head}mpirun -np {nodes * per_node} ./a\n").nodes) == nodes
        crowded = placed(f"{head}mpirun --oversubscribe -np {tasks} ./a\n")
        assert [len(crowded.nodes), max(len(node.pattern) for node in crowded.nodes)] == [nodes, -(-tasks // nodes)]


@pytest.mark.parametrize("module", ["mpich/4.2", "intel-oneapi-mpi/2021.19"])
def test_hydra_crowds_the_nodes_of_the_job(module: str) -> None:
    placement = placed(f"#SBATCH -N 2 --ntasks-per-node=32\nmodule load {module}\nmpirun -np 128 ./a\n")
    assert [len(node.pattern) for node in placement.nodes] == [64, 64]
    assert any("starts over at the first node" in each for each in placement.assumptions)


def test_what_is_not_known_is_said() -> None:
    unknown = placed("#SBATCH -N 2 --ntasks-per-node=16\nmpirun -np 48 ./a\n")
    assert [len(node.pattern) for node in unknown.nodes] == [24, 24]
    assert "Open MPI refuses it" in unknown.doubts[0]
    pals = placed("#PBS -l select=2\nmpiexec -n 24 --ppn 6 --depth 8 --cpu-bind depth ./a\n", "aurora")
    assert len(pals.nodes) == 2
    assert "may refuse" in pals.doubts[0]


@pytest.mark.parametrize(("first", "second", "fits"), [(32, 32, True), (33, 32, False), (64, 64, False), (1, 63, True)])
def test_the_programs_of_a_line_share_the_slots(first: int, second: int, fits: bool) -> None:
    head = "#SBATCH -N 2 --ntasks-per-node=32\n"
    line = f"mpirun -np {first} ./a : -np {second} ./b\n"
    if fits:
        placed(f"{head}module load openmpi/4.1.6\n{line}")
    else:
        with pytest.raises(LaunchError, match="not enough slots"):
            placed(f"{head}module load openmpi/4.1.6\n{line}")
    doubts = placed(f"{head}module load mpich/4.2\n{line}").doubts
    assert any("the line gets no other nodes" in each for each in doubts) == (not fits)
