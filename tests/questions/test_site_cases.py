"""Texts that people pasted into the front page: scripts, errors and run times of public repositories, each answered by its cause."""

from __future__ import annotations

import pytest

import hopperkit

# A script of xlliu98/vasp-amorphous: the launch line is the value of a variable that a Python program runs.
IN_A_VARIABLE = """#!/bin/bash
#SBATCH -A m1234_g
#SBATCH -C gpu
#SBATCH -N 1
#SBATCH --gpus-per-node=4
export ASE_VASP_COMMAND="srun -n 4 -c 32 --cpu-bind=cores --gpu-bind=none -G 4 vasp_std"
python relax.py
"""
# BLAST-WarpX/warpx #6382, on Perlmutter.
GPU_AWARE = """#!/bin/bash
#SBATCH -A m1234_g
#SBATCH -C gpu
#SBATCH -N 2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-task=1
#SBATCH --gpu-bind=single:1
#SBATCH -c 32
export MPICH_GPU_SUPPORT_ENABLED=1
srun ./warpx
"""
# snakemake/snakemake-executor-plugin-slurm #225.
LAYOUT = """slurmstepd: error: failed to distribute tasks (bind_type:mask_cpu) - this should never happen
srun: error: Unable to layout tasks on given cpus
srun: error: task 0 launch failed: Unable to layout tasks on given cpus
"""
# BLAST-WarpX/warpx #6382: the later, generic line is not the cause.
GPU_IPC = """(GTL DEBUG: 0) cuIpcOpenMemHandle: invalid argument, CUDA_ERROR_INVALID_VALUE, line no 360
MPICH ERROR [Rank 0] [job id 1.0] - Abort(1): Fatal error in PMPI_Waitall: Invalid count, error stack:
"""
CASES = {
    "a line in a variable": (IN_A_VARIABLE, ("Perlmutter", "4 tasks on 1 node", "No better line was found")),
    "GPUs hidden from GPU-aware MPI": (GPU_AWARE, ("Perlmutter", "a task must see its neighbor's (CUDA IPC)")),
    "CPUs that do not fit the step": (
        LAYOUT,
        ("do not fit on the job's CPUs", "the job's owner", "The node is not at fault"),
    ),
    "the message of the GPU before that of MPI": (GPU_IPC, ("could not open the GPU memory", "--gpu-bind=none")),
    "three run times, one of them a third": ("run,seconds\n1,1127\n2,1122\n3,369\n", ("Two groups, 3.0 times apart",)),
    "a step that waits for another": (
        "srun: Job 123 step creation temporarily disabled, retrying (Requested nodes are busy)\n",
        ("that other steps of the job hold", "--exact", "--overlap"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_people_brought_is_answered(case: str) -> None:
    text, wanted = CASES[case]
    result = hopperkit.identify(text)
    said = "\n".join([result.summary, *(finding.message for finding in result.findings)])
    assert [words for words in wanted if words not in said] == []


def test_a_failed_layout_blames_no_node() -> None:
    assert "--exclude" not in str(hopperkit.identify(LAYOUT).to_dict())


def test_the_line_that_lets_tasks_see_all_gpus_can_be_copied() -> None:
    assert "--gpu-bind=none" in str(hopperkit.identify(GPU_AWARE).to_dict())
