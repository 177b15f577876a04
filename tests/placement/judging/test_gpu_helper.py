"""Choice of GPUs where the launcher makes none: wrappers are recognized by the variables that they set, and one is
written.
"""

import pytest

from hopperkit.launchers.gpu_wrappers import chooses_gpus, wrappers_of
from hopperkit.launchers.judging.gpu_helper import helper_script
from hopperkit.questions.node.place import QUESTION
from hopperlib.machine import Machine
from hopperlib.placement.binding import bound_to


@pytest.mark.parametrize(
    ("command", "environment", "expected"),
    [
        (("./a.out",), {}, False),
        (("./run.sh", "./a.out"), {}, False),
        (("./select_gpu_$SLURM_JOB_ID", "./a.out"), {}, True),
        (("gpu_tile_compact.sh", "./a.out"), {}, True),
        (("./set_affinity_gpu_polaris.sh", "./a.out"), {}, True),
        (("numactl", "-m", "0", "./mine", "./a.out"), {}, True),
        (("bash", "-c", "export CUDA_VISIBLE_DEVICES=$SLURM_LOCALID; ./a.out"), {}, True),
        (("env", "ZE_AFFINITY_MASK=0.0", "./a.out"), {}, True),
        (("./a.out",), {"ROCR_VISIBLE_DEVICES": "0"}, True),
        (("./a.out", "--select_gpu"), {}, False),
    ],
)
def test_wrappers_are_known_by_what_they_set(command, environment, expected):
    if command[:2] == ("./a.out", "--select_gpu"):
        command = ("./a.out", "in", "out", "log", "select_gpu")
    assert chooses_gpus(command, environment, frozenset({"mine"})) is expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("cat << EOF > ./pick\nexport ROCR_VISIBLE_DEVICES=\\$SLURM_LOCALID\nexec \\$*\nEOF\n", {"pick"}),
        ("cat > pick.sh <<'END'\nexport ZE_AFFINITY_MASK=0\nEND\n", {"pick.sh"}),
        ("cat > input <<EOF\nsteps 10\nEOF\nexport CUDA_VISIBLE_DEVICES=0\n", set()),
        ("cat <<EOF >x_${JOB}\nCUDA_VISIBLE_DEVICES=1 exec $@\nEOF", {"x_$JOB"}),
    ],
)
def test_here_documents_are_read(text, names):
    assert wrappers_of(text) == names


def helper(machine, line):
    copyables = QUESTION.run(machine=machine, line=line).copyables
    return next((each.text for each in copyables if each.title.startswith("A helper")), None)


def test_the_helper_takes_the_nearest_gpus():
    # GPU 3 of Polaris hangs at NUMA node 0, where rank 0 sits (ALCF user guides, Polaris: GPU affinity).
    script = helper("polaris", "mpiexec -n 8 -ppn 4 --depth 8 --cpu-bind depth ./a.out")
    assert script.split("\n") == [
        "#!/bin/bash",
        "gpus=(3 2 1 0)",
        "export CUDA_VISIBLE_DEVICES=${gpus[$PALS_LOCAL_RANKID % 4]}",
        'exec "$@"',
    ]
    tiles = helper("aurora", "mpiexec -n 12 -ppn 12 --depth 8 --cpu-bind depth ./a.out")
    assert "ZE_AFFINITY_MASK" in tiles
    assert tiles.count(".") == 12
    assert helper("perlmutter", "#SBATCH -C gpu --gpus-per-node=4 -N 1\nsrun -n 4 -c 32 ./a.out") is None


@pytest.mark.parametrize("machine", ["polaris", "aurora", "cluster"])
def test_no_option_of_slurm_is_given_to_mpiexec(machine):
    module = "module load openmpi\n" if machine == "cluster" else ""
    kind = "gpu" if machine == "cluster" else Machine.load(machine).node().name
    result = QUESTION.run(machine=machine, kind=kind, line=f"{module}mpiexec -n 4 ./a.out")
    said = " ".join(finding.message for finding in result.findings if finding.code.startswith("gpus-"))
    assert "--gpu-bind=closest" not in said
    assert "--gpus-per-task" not in said


def test_several_tasks_on_a_gpu_are_those_near_it():
    # Tasks 0, 1 and 2, 3 of eight with four CPUs each lie on the same NUMA node, whose GPU is 3, then 2, 1 and 0.
    polaris = Machine.load("polaris").node()
    pattern = [bound_to(range(first, first + 4), polaris) for first in range(0, 32, 4)]
    assert "gpus=(3 3 2 2 1 1 0 0)" in helper_script(polaris, "pals", pattern)
