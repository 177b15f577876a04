"""``hopper place --here``: the cluster of a login node, with a fake scontrol first on the path."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hopperkit.cli import hopper
from hopperlib.machine import Machine

SCONTROL = """#!/bin/sh
echo "$@" >> {log}
case "$2" in
config) echo 'Configuration data as of today'; echo 'ClusterName = Big_One'; echo 'SLURM_VERSION = 24.05.8'
  echo 'SlurmdParameters = {slurmd}'; echo 'TaskPluginParam = (null type)'; echo 'SelectTypeParameters = CR_CORE';;
node) for n in 1 2; do echo "NodeName=n$n Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Partitions=main"; done;;
partition) echo 'PartitionName=main Default=YES OverSubscribe=NO';;
esac
"""


def run(*words: str) -> Result:
    return CliRunner().invoke(hopper, ["place", *words], prog_name="hopper")


@pytest.fixture
def login_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a login node: its scontrol logs its arguments."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    put_scontrol(tmp_path, SCONTROL.format(log=tmp_path / "log", slurmd="(null)"))
    return tmp_path


def put_scontrol(folder: Path, text: str) -> None:
    file = folder / "bin" / "scontrol"
    file.write_text(text, encoding="utf-8")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_a_line_on_the_cluster_around(login_node: Path) -> None:
    result = run("--here", "srun -n 2 -c 8 ./a.out in.nml")
    assert result.exit_code == 0, result.stderr
    file = login_node / "cache" / "hopper" / "big-one.toml"
    machine = Machine.load(str(file))
    assert (machine.name, machine.nodes, machine.cores, machine.launcher("srun").version) == (
        "big-one",
        2,
        32,
        "24.05.8",
    )
    assert f"hopper: machine big-one, from Slurm; stored for a day in {file}" in result.stderr
    # The probe is the line with another program.
    assert "  srun -n 2 -c 8 bash -c 'echo task $SLURM_PROCID $(taskset -cp $$)'" in result.stderr
    assert "big-one" in result.stdout


def test_the_file_is_kept_for_a_day(login_node: Path) -> None:
    run("--here", "srun -n 2 ./a.out")
    assert run("--here", "srun -n 2 ./a.out").exit_code == 0
    asked = (login_node / "log").read_text().splitlines()
    assert asked == ["show config", "show node -o", "show partition -o", "show config"]
    file = login_node / "cache" / "hopper" / "big-one.toml"
    old = time.time() - 25 * 3600
    os.utime(file, (old, old))
    put_scontrol(login_node, SCONTROL.format(log=login_node / "log", slurmd="numa_node_as_socket"))
    run("--here", "srun -n 2 ./a.out")
    assert Machine.load(str(file)).launcher("srun").slurm_socket == "numa_node"


def test_the_output_of_the_probe_is_held_against_the_answer(login_node: Path) -> None:
    printed = login_node / "printed.txt"
    printed.write_text("task 0 pid 71's current affinity list: 0-7\ntask 1 pid 72's current affinity list: 8-15\n")
    result = run("--here", "--check", str(printed), "srun -n 2 -c 8 --cpu-bind=cores ./a.out")
    assert result.exit_code == 0, result.stdout
    assert "to compare with this machine" not in result.stderr
    printed.write_text("task 0 pid 71's current affinity list: 0\ntask 1 pid 72's current affinity list: 1\n")
    assert run("--here", "--check", str(printed), "srun -n 2 -c 8 --cpu-bind=cores ./a.out").exit_code == 1


def test_jobs_that_share_nodes_cannot_be_told_unless_alone(login_node: Path) -> None:
    script = login_node / "job.sh"
    script.write_text("#!/bin/bash\n#SBATCH -N 1 -p main\nsrun -n 2 -c 8 ./a.out\n")
    assert "Jobs of partition=main may share their nodes" in run("--here", "--all", str(script)).stdout
    script.write_text("#!/bin/bash\n#SBATCH -N 1 -p main --exclusive\nsrun -n 2 -c 8 ./a.out\n")
    assert "may share their nodes" not in run("--here", "--all", str(script)).stdout


def test_no_slurm_here(login_node: Path) -> None:
    (login_node / "bin" / "scontrol").unlink()
    result = run("--here", "srun -n 2 ./a.out")
    assert result.exit_code == 2
    assert (
        "hopper: --here: this computer has neither scontrol nor pbsnodes, so it is not a login node of a Slurm or PBS cluster"
        in result.stderr
    )


def test_a_cluster_of_pbs(login_node: Path) -> None:
    (login_node / "bin" / "scontrol").unlink()
    node = "n{}\n     state = free\n     resources_available.ncpus = 64\n     resources_available.mem = 263803804kb\n\n"
    text = "".join(map(node.format, range(3)))
    put_scontrol(login_node, f"#!/bin/sh\ncat << 'END'\n{text}END\n")
    (login_node / "bin" / "scontrol").rename(login_node / "bin" / "pbsnodes")
    os.symlink("/bin/cat", login_node / "bin" / "cat")
    result = run("--here", "#PBS -l select=2:mpiprocs=8\nmpiexec -n 16 --ppn 8 ./a.out")
    assert "hopper: machine here, from PBS" in result.stderr
    machine = Machine.load(str(login_node / "cache" / "hopper" / "here.toml"))
    assert (machine.nodes, machine.node().cores, machine.node().memory_gb, machine.launchers) == (3, 64, 256, ())
    assert result.stdout.startswith("here: ")


def test_a_slurm_that_does_not_answer(login_node: Path) -> None:
    put_scontrol(login_node, "#!/bin/sh\nexit 1\n")
    result = run("--here", "srun -n 2 ./a.out")
    assert result.exit_code == 2
    assert "hopper: --here: scontrol show config failed: " in result.stderr
    assert "Traceback" not in result.stderr
