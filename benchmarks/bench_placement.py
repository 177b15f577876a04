"""Placing tasks, beside hwloc-distrib: the tool that says where N tasks go on a drawn machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

from benchmarks.side_by_side import Comparison, time_call, time_command
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperlib.machine import Machine

# A Hopper node in hwloc's words, and the line of the placement study.
NODE = "pack:2 numa:2 core:6 pu:1"
LINE = "aprun -n 384 -N 12 vasp"
LARGE_NODES = 256


def measure() -> list[Comparison]:
    """Time one job, and a large one."""
    hopper = [sys.executable, "-c", "from hopperkit.cli import main; main()"]
    machine = Machine.load("hopper")
    cores = machine.node().cores
    whole = machine.node().count * cores
    distrib = shutil.which("hwloc-distrib")
    if distrib:
        version = subprocess.run([distrib, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
        peer = f"hwloc-distrib {version}"
    else:
        peer = "hwloc-distrib: not installed (Debian: apt install hwloc)"

    def peer_s(topology: str, tasks: int, repeats: int = 5) -> float | None:
        if not distrib:
            return None
        return time_command([distrib, "--input", topology, "--single", str(tasks)], repeats=repeats)

    large = LARGE_NODES * cores
    if distrib:
        _check_same_cores(distrib, cores)
    return [
        Comparison(
            what=f"command: {LINE}",
            ours_s=time_command([*hopper, "place", "--json", LINE], good_statuses=(0, 1)),
            peer=peer,
            peer_s=peer_s(NODE, 12),
            note="the peer places one node of 12 tasks and gives no advice",
        ),
        Comparison(
            what=f"command: {large:,} tasks on {LARGE_NODES} nodes",
            ours_s=time_command(
                [*hopper, "place", "--json", f"aprun -n {large} a.out"], repeats=3, good_statuses=(0, 1)
            ),
            peer=peer,
            peer_s=peer_s(f"group:{LARGE_NODES} {NODE}", large, repeats=3),
            note="both print every task",
        ),
        Comparison(
            what=f"call: read and place {LINE}",
            ours_s=time_call(lambda: place_tasks(read_launch(LINE, machine), machine), repeats=50),
            peer="none: hwloc has no launch lines",
        ),
        Comparison(
            what=f"call: read and place {whole:,} tasks, every ordinary node",
            ours_s=time_call(lambda: place_tasks(read_launch(f"aprun -n {whole} a.out", machine), machine)),
            peer="not run: hwloc-distrib took 30 s for 24,576 tasks",
        ),
    ]


def _check_same_cores(distrib: str, cores: int) -> None:
    """Refuse to compare times of two different answers."""
    done = subprocess.run(
        [distrib, "--input", NODE, "--single", str(cores)], capture_output=True, text=True, check=True
    )
    theirs = [int(mask, 16).bit_length() - 1 for mask in done.stdout.split()]
    line = [
        sys.executable,
        "-c",
        "from hopperkit.cli import main; main()",
        "place",
        "--json",
        f"aprun -n {cores} a.out",
    ]
    answer = json.loads(subprocess.run(line, capture_output=True, text=True, check=False).stdout)
    ours = [core for task in answer["components"][0]["nodes"][0]["tasks"] for core in task["cores"]]
    if ours != theirs:
        raise SystemExit(f"the two tools disagree: {ours} here, {theirs} from {distrib}")
