"""GPU-aware MPI whose tasks cannot see their neighbors' GPUs."""

import pytest

from hopperkit.launchers.judging.checks.gpu_aware import check_gpu_aware
from hopperkit.launchers.scripts import read_script
from hopperlib.machine import Machine

AWARE = "#SBATCH -C gpu -q regular -N 2\nexport MPICH_GPU_SUPPORT_ENABLED=1\n"


@pytest.mark.parametrize(
    ("machine", "text", "found"),
    [
        ("perlmutter", f"{AWARE}srun --ntasks-per-node=4 --gpus-per-task=1 --gpu-bind=single:1 ./a", 1),
        ("perlmutter", f"{AWARE}srun --ntasks-per-node=4 --gpus-per-node=4 --gpu-bind=closest ./a", 1),
        ("perlmutter", f"#SBATCH --gpus-per-task=1\n{AWARE}srun -n 8 ./a", 1),
        ("perlmutter", f"{AWARE}srun --ntasks-per-node=4 --gpus-per-node=4 --gpu-bind=none ./a", 0),
        ("perlmutter", f"{AWARE}srun --ntasks-per-node=4 --gpus-per-task=1 --gpu-bind=none ./a", 0),
        ("perlmutter", f"{AWARE}srun --ntasks-per-node=1 --gpus-per-task=1 ./a", 0),
        ("perlmutter", "srun -n 4 --gpus-per-task=1 ./a", 0),
        # OLCF documents --gpu-bind=closest with GPU-aware MPI on AMD's GPUs.
        ("frontier", f"{AWARE}srun --ntasks-per-node=8 --gpus-per-task=1 --gpu-bind=closest ./a", 0),
    ],
)
def test_gpus_that_mpi_must_see(machine, text, found):
    assert len(list(check_gpu_aware(read_script(text), Machine.load(machine)))) == found
