"""The installed package stands alone: built as a wheel, used in an empty folder, with nothing but click and rich."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from hopperkit.cli import NAMES

# What click and rich need to run: the only packages the wheel may lean on.
DEPENDENCIES = ("click", "rich", "markdown_it", "mdurl", "pygments")

IOR = "ior-3.2.1.posix-fpp.txt"
# What the commands are asked that do not answer without: arguments, in a folder that holds the files below.
ASKED = {
    "place": ["aprun -n 24 ./a.out"],
    "memory": ["--need", "1.5", "--tasks", "384"],
    "rank-order": ["--grid", "8x8", "--cores-per-node", "4"],
    "simulate": ["--trace", "synthetic-jobs.swf", "--nodes", "64"],
    "io-log": [IOR],
    "trace": ["learn", "synthetic-jobs.swf", "--nodes", "64"],
    "stripe": ["--size", "100GB", "--writers", "96", "--pattern", "shared"],
    "diagnose": ["job.out"],
    "identify": ["job.out"],
    "locality": ["jobs.txt"],
    "runs": ["synthetic-run-times.csv"],
    "build": ["cc -o a.out a.c"],
    "ssp": ["suite.csv"],
    "watch": ["history.csv"],
    "machine": ["show", "hopper"],
    "io": ["ior", IOR],
}
FILES = {
    "job.out": "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some of the step tasks have been OOM Killed.\n",
    "suite.csv": "code,seconds,gflop,tasks,cores\nMILC,1000,1000000,1024,1024\n",
    "jobs.txt": "JobID|State|Submit|Start|ElapsedRaw|TimelimitRaw|NNodes|NodeList\n"
    + "".join(
        f"{n}|COMPLETED|2026-03-0{n}T00:00:00|2026-03-0{n}T00:00:00|{3000 + 60 * n}|120|8|n[0{n}-{n + 7:02}]\n"
        for n in range(1, 9)
    ),
    "history.csv": "date,GB/s\n" + "".join(f"2026-01-{day:02},{100 + day % 3}\n" for day in range(1, 29)),
}
# They work with packages of an extra, and say which.
NEEDING = {
    "fit": ["synthetic-run-times.csv"],
    "report": ["runs"],
    "ensemble": ["memory", "--vary", "need_gb=1,2"],
    "mcp": [],
}


def _run(command, **options):
    """Run a command to its end and return it."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory):
    """The wheel of the library, built without the network."""
    folder = tmp_path_factory.mktemp("wheel")
    built = _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=root)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory, root):
    """An environment with the wheel, and a function that runs a command in it, in a folder with a few files to read."""
    environment = tmp_path_factory.mktemp("environment")
    python = environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    for command in (
        [sys.executable, "-m", "venv", "--without-pip", environment],
        [*pip, "--disable-pip-version-check"],
    ):
        done = _run(command)
        assert done.returncode == 0, done.stderr
    packages = next((environment / "lib").glob("python*/site-packages"))
    for name in DEPENDENCIES:
        (packages / name).symlink_to(Path(importlib.util.find_spec(name).origin).parent)
    folder = tmp_path_factory.mktemp("folder")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    for sample in (f"ior/{IOR}", "jobs/synthetic-jobs.swf", "run-times/synthetic-run-times.csv"):
        shutil.copy(root / "data" / "samples" / sample, folder)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HOPPER"))}
    return lambda name, *arguments: _run([environment / "bin" / name, *arguments], cwd=folder, env=kept)


def test_wheel_holds_the_library_and_the_data_that_it_reads(wheel, root):
    names = zipfile.ZipFile(wheel).namelist()
    assert len(names) == len(set(names))
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"hopperlib", "hopperkit"}
    assert [name for name in names if name.endswith(".dist-info/licenses/LICENSE")]
    # The pages get the same data, but for the samples.
    data = {name.removeprefix("hopperlib/data/") for name in names if name.startswith("hopperlib/data/")}
    pages = tomllib.loads((root / "book" / "hopperbook" / "site" / "pages.toml").read_text(encoding="utf-8"))
    assert {name for name in data if not name.startswith("samples/")} == set(pages["browser"]["data"])


def test_every_command_runs(installed):
    where = installed("python", "-c", "import hopperlib; print(hopperlib.__file__)").stdout
    assert "site-packages" in where
    failed = []
    for name in NAMES:
        done = installed("hopper", name, *ASKED.get(name, NEEDING.get(name, [])))
        if name in NEEDING:
            said = done.returncode == 2 and (".[mcp]" if name == "mcp" else ".[analysis]") in done.stderr
        else:
            # 1: a problem was found.
            # `simulate` says on standard error which policy the log shows.
            quiet = not done.stderr or (name == "simulate" and done.stderr.startswith("hopper: policy: "))
            said = done.returncode in (0, 1) and done.stdout and quiet
        if not said:
            failed.append(f"{name} ({done.returncode}): {done.stdout[-200:]}{done.stderr[-400:]}")
    assert not failed, "\n".join(failed)
