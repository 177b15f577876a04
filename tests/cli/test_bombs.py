"""Ranges and numbers far out of bounds: one clear line each, quickly, without filling the memory."""

import re
import time
import tracemalloc
from importlib.resources import files

import pytest
from click.testing import CliRunner

from hopperkit.cli import hopper

BIG = "4294967295"
PLACE = ["place", "--machine"]
CASES = [
    ([*PLACE, "hopper", f"aprun -n 4 -cc 0-{BIG} ./a"], "", "must be a list of cores such as 0,2-3"),
    ([*PLACE, "hopper", f"aprun -n 4 -sl 0-{BIG} ./a"], "", "must be a list of NUMA nodes such as 0,2-3"),
    ([*PLACE, "hopper", f"aprun -n {BIG} ./a"], "", "needs 178,956,971 nodes; Hopper has 6,384"),
    ([*PLACE, "eiger", f"srun -n 4 --cpu-bind=map_cpu:0*{BIG} ./a"], "", "the longest list read here"),
    ([*PLACE, "eiger", f"srun -w nid[0-{BIG}] ./a"], "", "Eiger has 1,024"),
    ([*PLACE, "eiger", f"OMP_NUM_THREADS={BIG} srun -n 1 ./a"], "", "from 1 to 1024"),
    ([*PLACE, "eiger", "X=$((9**9**9**9)) ; srun -n $X ./a"], "", "is arithmetic that only the shell works out"),
    ([*PLACE, "polaris", f"mpiexec -n 4 --cpu-bind list:0-{BIG} ./a"], "", "must be a list of CPUs such as 0,2-3"),
    ([*PLACE, "polaris", f"mpiexec -n 4 --gpu-bind list:0-{BIG} ./a"], "", "with GPUs out of 0, 1, 2, 3"),
    (["machine", "new", "-"], f"\tGPU0\tCPU Affinity\nGPU0\t X \t0-{BIG}\n", "is not a CPU or a range of CPUs"),
    (
        ["machine", "new", "-"],
        f"CPU(s): {BIG}\nThread(s) per core: 1\nCore(s) per socket: {BIG}\nSocket(s): 1\n",
        "CPUs",
    ),
    (
        ["machine", "new", "-"],
        f"NodeName=n[0-{BIG}] CPUTot={BIG} Sockets={BIG} CoresPerSocket={BIG} ThreadsPerCore=1 RealMemory=1000\n",
        "CPUs",
    ),
    (["trace", "learn", "-"], f"; MaxProcs: {BIG}\n1 0 0 1 {BIG} -1 -1 {BIG} 1 -1 1 1 1 1 1 -1 -1 -1\n", "too large"),
]


@pytest.mark.parametrize(("words", "text", "expected"), CASES)
def test_one_clear_line(words, text, expected):
    CliRunner().invoke(hopper, ["place", "aprun -n 4 ./a"], prog_name="hopper")
    tracemalloc.start()
    began = time.process_time()
    result = CliRunner().invoke(hopper, words, input=text, prog_name="hopper")
    took_s, most_bytes = time.process_time() - began, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.exit_code == 2
    assert result.stderr.startswith("hopper: ")
    assert len(result.stderr.splitlines()) == 1
    assert expected in result.stderr
    assert took_s < 20
    assert most_bytes < 300_000_000


def test_a_range_of_cores_in_a_machine_file():
    file = files("hopperlib").joinpath("machines/polaris.toml").read_text(encoding="utf-8")
    bomb = f'gpu_cores = {{ value = ["56-{BIG}"], assumed = "x" }}'
    toml = re.sub(
        r"^gpu_cores = .*$", bomb, re.sub(r"^gpu_nics = .*\n", "", file, flags=re.MULTILINE), flags=re.MULTILINE
    )
    result = CliRunner().invoke(hopper, ["machine", "check", "-"], input=toml, prog_name="hopper")
    assert result.exit_code == 2
    assert "node.gpu.gpu_cores: names 32; the node has 32 cores, counted from 0" in result.stderr
    assert len(result.stderr.splitlines()) == 2


def test_a_loop_of_unknown_length_in_the_background_is_not_bettered():
    """One step of many would be given the whole node."""
    script = "#SBATCH -N 1\nfor i in {}; do srun -n 1 ./a & done\nwait\n"
    for rounds in ("$LIST", f"{{1..{BIG}}}", "$(cat names)"):
        result = CliRunner().invoke(hopper, [*PLACE, "eiger", script.replace("{}", rounds, 1)], prog_name="hopper")
        assert "Better" not in result.stdout
