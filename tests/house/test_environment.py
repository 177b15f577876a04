"""Tests and examples answer the same in any environment, and leave it as they found it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_a_variable_of_the_shell_or_of_an_earlier_test_changes_no_example(tmp_path):
    earlier = tmp_path / "test_earlier.py"
    earlier.write_text(
        "import os\n\ndef test_sets():\n    os.environ.update(OMP_NUM_THREADS='1', HOPPER_RULES='none.toml')\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={ROOT}"]
    run = subprocess.run(
        [*command, "-c", str(ROOT / "pyproject.toml"), "--confcutdir", str(ROOT), str(earlier), "hopperkit/cli/elsewhere/submit.py"],
        cwd=ROOT, env=os.environ | {"OMP_NUM_THREADS": "1", "SLURM_JOB_ID": "7"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "2 passed" in run.stdout, run.stdout + run.stderr
