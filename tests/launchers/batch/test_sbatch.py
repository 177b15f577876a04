"""Requests of sbatch scripts, and the options that srun inherits from them."""

from collections.abc import Mapping

import pytest

from hopperkit.launchers.batch.sbatch import read_sbatch_reservation
from hopperkit.launchers.words.shell import Word
from hopperlib.machine import Machine
from hopperlib.placement.components import LaunchError, Reservation

PERLMUTTER = Machine.load("perlmutter")


def read(text: str) -> tuple[Reservation, Mapping[str, str]]:
    words = [Word(text=word) for word in text.split()]
    return read_sbatch_reservation(words, PERLMUTTER, PERLMUTTER.node())


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("-N 4", 4),
        ("--nodes=4", 4),
        ("--nodes=4-4", 4),
        ("-n 64 --ntasks-per-node=16", 4),
        # 256 CPUs per node: 17 tasks of 16 need two nodes, 300 tasks of one too.
        ("-n 17 -c 16", 2),
        ("-n 300", 2),
        # 128 cores of one thread each.
        ("-n 130 --hint=nomultithread", 2),
        ("", 1),
        ("-J name -o out -t 30 -q debug -C cpu --mail-type=END --account=m1 --array=1-4 --requeue", 1),
    ],
)
def test_nodes_of_the_job(text: str, nodes: int) -> None:
    reservation, variables = read(text)
    assert reservation.batch == "slurm"
    assert reservation.nodes == nodes
    assert variables["SLURM_JOB_NUM_NODES"] == variables["SLURM_NNODES"] == str(nodes)


def test_tasks_are_handed_on_if_given() -> None:
    assert read("-n 16")[1]["SLURM_NTASKS"] == "16"
    assert read("-N 2 --ntasks-per-node=8")[1]["SLURM_NTASKS"] == "16"
    assert "SLURM_NTASKS" not in read("-N 2")[1]


def test_options_that_are_handed_on() -> None:
    _, variables = read("-N 1 -c 8 --hint=nomultithread -m block:block --ntasks-per-node 4 --mem=100G -O")
    assert variables["SLURM_CPUS_PER_TASK"] == "8"
    assert variables["SLURM_HINT"] == "nomultithread"
    assert variables["SLURM_DISTRIBUTION"] == "block:block"
    assert variables["SLURM_NTASKS_PER_NODE"] == "4"
    assert variables["SLURM_MEM_PER_NODE"] == "100G"
    assert variables["SLURM_OVERCOMMIT"] == "1"
    assert variables["SLURM_CPUS_ON_NODE"] == "256"
    assert read("-N 3")[1]["SLURM_JOB_CPUS_PER_NODE"] == "256(x3)"


def test_what_was_asked_is_kept() -> None:
    reservation, _ = read("-N 2 -n 16 -c 16 --mem-per-cpu=1G")
    assert (reservation.tasks, reservation.threads_per_task) == (16, 16)
    assert reservation.memory_per_task_gb == 16.0
    assert reservation.options == (("-N", "2"), ("-n", "16"), ("-c", "16"), ("--mem-per-cpu", "1G"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-N 2-4", "#SBATCH -N 2-4 leaves the number of nodes to the scheduler; write one number"),
        ("-N two", "#SBATCH -N two must be a whole number"),
        ("--ntask=4", "--ntask is ambiguous:"),
        ("--nodess=4", "--nodess is not an option of sbatch on Perlmutter; did you mean --nodes?"),
        ("--cpu-bind=cores", "--cpu-bind is an option of srun, not of sbatch; write it on the srun line"),
        ("-l", "-l is an option of srun, not of sbatch; write it on the srun line"),
        ("-N 1 4", "#SBATCH 4 is not an option; the value of an option must directly follow it"),
        (
            "-N 4000",
            "sbatch: error: Batch job submission failed: Requested node configuration is not available: "
            "#SBATCH -N 4000 asks for 4,000 nodes; Perlmutter has 3,072 of kind 'cpu'",
        ),
        ("--gpus-per-node=5", "#SBATCH --gpus-per-node 5 requests more than the 0 GPUs of a node 'cpu' of Perlmutter"),
    ],
)
def test_options_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(LaunchError) as caught:
        read(text)
    assert caught.value.message.startswith(message)
