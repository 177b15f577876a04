"""Scope of a failure: one node, the job or the machine, each with its reason."""

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose


@pytest.mark.parametrize(
    ("text", "extent", "reason"),
    [
        (
            "srun: error: n12: tasks 3-5: Bus error\nsrun: error: n13: tasks 6-9: Terminated\n",
            "node-local",
            "all 3 tasks that failed ran on n12, and no task failed on 1 other node",
        ),
        (
            "srun: error: n12: tasks 3-5: Bus error\nslurmstepd: error: *** STEP 7.0 ON n11 CANCELLED AT 2025-03-04T10:00:00 ***\n",
            "node-local",
            "all 3 tasks that failed ran on n12",
        ),
        (
            "srun: error: n12: task 3: Segmentation fault\nsrun: error: n13: task 9: Killed\n",
            "job-wide",
            "tasks on 2 nodes ended",
        ),
        (
            "cp: write error: Stale file handle\nsrun: error: n12: tasks 3-5: Exited with exit code 1\n",
            "machine-wide",
            "IO-STALE comes from a service that all nodes share",
        ),
        (
            "slurmstepd: error: execve(): /tmp/slurmd/job7/slurm_script: No such file or directory\n",
            "node-local",
            "SLURM-SCRIPT-LOST names one node",
        ),
    ],
)
def test_the_extent_comes_with_its_reason(text, extent, reason):
    found = diagnose([("job.err", text)]).to_dict()["reach"]
    assert found["extent"] == extent
    assert reason in found["reason"]


@pytest.mark.parametrize("text", ["srun: error: n12: task 3: Segmentation fault\n", "   JOB DONE.\n", "step 1\n"])
def test_one_task_and_none_tell_no_extent(text):
    """One task ended: its program may be at fault as well as its node."""
    assert diagnose([("job.err", text)]).to_dict()["reach"] is None


@pytest.mark.parametrize("tasks", ["0-63", "0-7,9", "3,5"])
@pytest.mark.parametrize(
    "more",
    [
        "",
        "srun: error: n12: tasks 64-65: Terminated\n",
        "*** STEP 7.0 ON n12.site.org CANCELLED AT 2025-03-04T10:00:00 ***\n",
        "srun: launch n13\n",
    ],
)
def test_a_job_that_is_known_on_one_node_only_is_not_node_local(tasks, more):
    """All tasks that failed ran on the only node known: that shows nothing about other nodes."""
    text = f"./wrf.exe: error while loading shared libraries: libnetcdff.so.7: cannot open shared object file\nsrun: error: n12: tasks {tasks}: Exited with exit code 127\n{more}"
    assert diagnose([("job.err", text)]).to_dict()["reach"] is None
