"""Training scripts: planted mistakes are found, sound scripts get no finding."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperkit.launchers.judging.checks.training import check_training
from hopperkit.launchers.scripts import read_script


def codes(text):
    """Return the codes of the findings of a script."""
    return [draft.finding.code for draft in check_training(read_script(text))]


MEET = "--rdzv-backend=c10d --rdzv-endpoint=$HOST:29500"
RUN = "torchrun --nnodes=2 --nproc-per-node=8 --rdzv-endpoint=$HOST:29500 train.py"
PORT = "--nproc-per-node=4 --master_port=29501 train.py &"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"#SBATCH -N 2 --gpus-per-node=8 --ntasks-per-node=8\nsrun {RUN}", ["workers-times-tasks"]),
        (f"#SBATCH -N 2 -n 16 --gres=gpu:h100:8\nsrun {RUN}", ["workers-times-tasks"]),
        (f"#SBATCH -N 2 --gres=gpu:8\nsrun --ntasks-per-node=8 python -m torch.distributed.run {RUN[9:]}", ["workers-times-tasks"]),
        (f"#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=8\nsrun bash -c '{RUN}'", ["workers-times-tasks"]),
        (f"#SBATCH -N 2 --gres=gpu:4 --ntasks-per-node=1\nsrun {RUN}", ["workers-over-gpus"]),
        ("#SBATCH -N 1 --gres=gpu:8 --ntasks-per-node=1\nsrun torchrun --nproc_per_node 4 t.py", ["gpus-unused"]),
        (f"#SBATCH -N 4 --gres=gpu:8 --ntasks-per-node=1\nsrun {RUN}", ["nodes-unused"]),
        (f"#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=1\n{RUN}", ["srun-missing"]),
        ("#SBATCH -N 2 --gres=gpu:8\naccelerate launch --num_processes 16 --num_machines 2 t.py", ["srun-missing"]),
        ("#SBATCH -N 2 --gres=gpu:8\ndeepspeed --num_gpus 8 t.py", ["srun-missing"]),
        (f"#SBATCH -N 1 --gres=gpu:4\nsrun -n1 torchrun {PORT}\nsrun -n1 torchrun {PORT}\nwait", ["port-shared"]),
    ],
)  # fmt: skip
def test_a_planted_mistake_is_found(text, found):
    assert codes(text) == found


@pytest.mark.parametrize(
    "text",
    [
        f"#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=1\nsrun {RUN}",
        f"#SBATCH -N 4 --ntasks-per-node=1 --gres=gpu:8 --cpus-per-task=96\nsrun torchrun --nnodes 4 --nproc-per-node 8 {MEET} t.py",
        # One task per GPU and no starter.
        "#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=8\nsrun python train.py",
        f"#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=8\nsrun --ntasks-per-node=1 torchrun --nnodes=2 --nproc-per-node=8 {MEET} t.py",
        # One starter per task with a worker each.
        f"#SBATCH -N 2 --gres=gpu:4 --ntasks-per-node=4\nsrun torchrun --nnodes=8 --nproc-per-node=1 {MEET} t.py",
        "#SBATCH -N 1 --gres=gpu:8\ntorchrun --nproc-per-node=8 t.py",
        "#SBATCH -N 2 --gres=gpu:8\ndeepspeed --hostfile hosts t.py",
        f'#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=1\nLAUNCHER="{RUN}"\nsrun $LAUNCHER',
        "#SBATCH -N 2 --gres=gpu:8\nfor node in $(scontrol show hostnames); do ssh $node torchrun --nnodes 2 t.py & done",
        "#SBATCH -N 2 --gres=gpu:8 --ntasks-per-node=1\nsrun accelerate launch --num_processes 16 --num_machines 2 t.py",
        f"#SBATCH -N 1 --gres=gpu:4\nsrun -n1 torchrun {PORT}\nwait\nsrun -n1 torchrun {PORT}\nwait",
    ],
)
def test_a_sound_script_gets_no_finding(text):
    assert codes(text) == []


@given(nodes=st.integers(1, 8), gpus=st.integers(1, 8), tasks=st.integers(1, 8), workers=st.integers(1, 8))
def test_workers_are_counted(nodes, gpus, tasks, workers):
    text = (
        f"#SBATCH -N {nodes} --gres=gpu:{gpus} --ntasks-per-node={tasks}\n"
        f"srun torchrun --nnodes={nodes * tasks} --nproc-per-node={workers} {MEET} t.py"
    )
    assert bool(codes(text)) == (tasks * workers != gpus and not (workers == 1 and tasks > gpus))
