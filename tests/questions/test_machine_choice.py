"""The machine that a job script is for: right, or left open."""

import pytest

from hopperkit.questions.machine_choice import machine_of_text, unknown_machine


@pytest.mark.parametrize(
    ("text", "machine"),
    [
        ("#SBATCH -C gpu -q regular\nsrun -n 4 ./a", "perlmutter"),
        ("#SBATCH --constraint=gpu\n#SBATCH -A m1234_g\nsrun -n 4 ./a", "perlmutter"),
        ("#SBATCH --partition=standard\n#SBATCH --qos=standard\nsrun ./a", "archer2"),
        ("#SBATCH --partition=standard\n#SBATCH -A project_465000001\nsrun ./a", "lumi-c"),
        ("#SBATCH -p standard-g\n#SBATCH -A project_465000001\nsrun ./a", "lumi-g"),
        ("#PBS -l select=2:system=polaris\nmpiexec -n 8 --ppn 4 ./a", "polaris"),
        ("#PBS -l mppwidth=48\naprun -n 48 ./a", "hopper"),
        # What several sites have is no evidence, nor are words of machines that are not here.
        ("#SBATCH -C gpu\nsrun -n 4 ./a", ""),
        ("#SBATCH -p standard\nsrun ./a", ""),
        ("#PBS -q debug\n#PBS -l walltime=1:00\naprun -n 4 ./jaguar", ""),
        ("#SBATCH -C haswell -q debug\nsrun -n 4 ./a", ""),
        ("#SBATCH -C MI250\n# as on Frontier\nsrun -n 4 ./a", ""),
        ("#PBS -l select=1\n#PBS -l filesystems=home:eagle\n# Crux\nmpiexec -n 8 ./a", ""),
        ("srun -n 4 ./a", ""),
    ],
)
def test_the_machine_of_a_script(text, machine):
    assert machine_of_text(text)[0] == machine


def test_a_text_of_today_that_names_no_machine_is_in_doubt():
    assert unknown_machine("mpirun -n 4 ./a").startswith("The text names no machine")
    assert unknown_machine("#SBATCH -N 2\nsrun ./a")
    assert unknown_machine("aprun -n 24 ./a") == ""


@pytest.mark.parametrize(
    "text",
    [
        # A hardware name in a path, a machine in a comment: neither says where the script runs.
        "#SBATCH -N 1 --gpus-per-node=4\nENV=/home/me/conda_env/model_gh200_base\nsrun python train.py",
        "# first written for Frontier, now on our cluster\n#SBATCH -N 1\nsrun ./a",
        "#SBATCH -N 1\nsrun ./a # as on Perlmutter",
    ],
)
def test_neither_hardware_nor_a_comment_names_a_machine(text):
    assert machine_of_text(text) == ("", "")
