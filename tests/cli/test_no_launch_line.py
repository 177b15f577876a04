"""Job scripts that start no tasks: the checks of the job are shown, and where the commands run."""

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper

MEET = "--rdzv-backend=c10d --rdzv-endpoint=$HEAD:29500"


def run(tmp_path, text, *options):
    file = tmp_path / "job.sh"
    file.write_text(f"#!/bin/bash\n{text}\n")
    return CliRunner().invoke(hopper, [*options, str(file)])


@pytest.mark.parametrize("options", [(), ("place",), ("place", "--machine", "perlmutter"), ("place", "--json")])
def test_a_starter_without_srun_is_reported_with_or_without_a_machine(tmp_path, options):
    text = f"#SBATCH -N 2 --gpus-per-node=4\ntorchrun --nnodes=2 --nproc-per-node=4 {MEET} t.py"
    result = run(tmp_path, text, *options)
    assert result.exit_code == 1
    assert "srun-missing" in result.stdout
    assert "run once, on the first of its 2 nodes" in result.stdout


def test_nodes_that_nothing_uses_are_reported(tmp_path):
    result = run(tmp_path, "#SBATCH -N 4 -t 10:00:00\npython train.py", "place")
    assert result.exit_code == 0
    assert "nodes-without-tasks" in result.stdout
    assert "Up to 30 of 40 node-hours are charged for nothing." in result.stdout


def test_a_program_on_one_node_is_sound(tmp_path):
    result = run(tmp_path, "#SBATCH -N 1 --gres=gpu:8\ntorchrun --standalone --nproc-per-node=8 t.py", "place")
    assert result.exit_code == 0
    assert result.stdout.startswith("The commands of this script run once, on one node")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#SBATCH -N 2\njsrun -n 4 ./a", "starts tasks with jsrun"),
        ("#SBATCH -N 2\n# srun -n 4 ./a", "only in comments"),
    ],
)
def test_what_cannot_be_read_is_still_refused(tmp_path, text, message):
    result = run(tmp_path, text, "place")
    assert result.exit_code == 2
    assert message in result.stderr
