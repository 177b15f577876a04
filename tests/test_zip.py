"""Both packages answer from a zip, where no file has a folder."""

import subprocess
import sys
import zipfile

import pytest

SUFFIXES = {".py", ".toml", ".csv", ".txt", ".json", ".css"}
PROGRAM = """
import hopperkit
assert ".zip" in hopperkit.__file__, hopperkit.__file__
print(hopperkit.place("aprun -n 384 -N 12 vasp").copyables[0].text)
print(hopperkit.memory(2, 384, machine="hopper").facts["best_nodes"])
print(hopperkit.diagnose("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.0.\\n").facts["code"])
print(len(hopperkit.Machine.load("hopper").file_systems), hopperkit.load("locality").name, hopperkit.load("simulate").name)
"""


@pytest.fixture(scope="module")
def archive(root, tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "packages.zip"
    with zipfile.ZipFile(path, "w") as made:
        for package in ("hopperlib", "hopperkit"):
            for file in sorted((root / package).rglob("*")):
                if file.suffix in SUFFIXES and "__pycache__" not in file.parts:
                    made.write(file, file.relative_to(root))
    return path


def test_a_zip_answers(archive, tmp_path):
    # -I: neither the folder nor the environment brings the packages from elsewhere.
    start = f"import sys; sys.path.insert(0, {str(archive)!r})\n"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", start + PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["aprun -n 384 -N 12 -S 3 vasp", "26", "SLURM-OOM", "2 locality simulate"]
