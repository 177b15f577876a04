"""False causes: outputs of successful runs, composed of lines that real programs print."""

from __future__ import annotations

import random

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose

# Lines that programs, launchers and schedulers print in successful runs; composed in their form.
CHATTER = (
    " 14    -100.419352 error= {x} at cycle {n} NSaved= {n}.",
    "  DIIS Error       Energy change      Electrons",
    "max error: {x}   L2 error = {x}",
    "WARNING: {n} cells below the threshold, limiter switched on",
    "Warning: the file restart.{n} does not exist, starting from rest",
    "0 errors, {n} warnings",
    "error estimate {x}, tolerance {x}",
    "INFO: retrying connection to license server ({n} of 5) ... ok",
    "[INFO] failed over to backup metadata server",
    "aborting loop because EDIFF is reached",
    "no errors found in namelist",
    "checking for missing values: none",
    "NaN check passed at step {n}",
    "stop criterion not reached yet, residual {x}",
    "/opt/x/lib/python3.11/site-packages/torch/nn/modules.py:{n}: UserWarning: lr_scheduler called before optimizer",
    "srun: job {n} queued and waiting for resources",
    "srun: job {n} has been allocated resources",
    'Lmod is automatically replacing "gcc/{n}" with "intel/{n}".',
    "The following have been reloaded with a version change:",
    "rm: cannot remove 'tmp.{n}': No such file or directory",
    "mkdir: cannot create directory 'out': File exists",
    "There are not enough points for order 4 near the wall: order 2 is used",
    "Note: The following floating-point exceptions are signalling: IEEE_UNDERFLOW_FLAG IEEE_DENORMAL",
    "[n{n}:2173] 5 more processes have sent help message help-mpi-btl-tcp.txt / client connect",
    "if the solver fails, the step is halved",
    "fail-safe limiter: active",
    "kinetic energy error for atom= {x}",
    "perl: warning: Setting locale failed.",
    "pw_error_handler registered; exception handling on",
    "terminating condition: residual < {x}",
    "lost {n} of {n} particles through the outlet",
    "unknown keyword 'foo' is skipped",
    "Timer restarted, exit code of the child: 0",
    "Process finished with exit code 0",
    "failures: 0, skipped: {n}",
    "bad pixels masked: {n}",
    "cannot vectorize loop at line {n}: dependence",
    "the invalid range was clipped to [0, 1]",
    "connection timed out once, reconnected",
    "killed 0 walkers, split {n}",
)
STEPS = (
    "step {n}  t= {x}  dt= {x}  e= {x}",
    " {n}  {x}  {x}  {x}",
    "Iteration {n}, residual {x}",
    "epoch {n}: loss {x}, accuracy {x}",
)
ENDS = (
    "   JOB DONE.", " Normal termination of Gaussian 16 at Tue Mar  5 14:22:33 2024.", "Total wall time: 0:12:41", "wrf: SUCCESS COMPLETE WRF",
    "Finished mdrun on rank 0 Tue Mar  5 14:22:33 2024", "STOP: FDS completed successfully (CHID: room)", "****ORCA TERMINATED NORMALLY****",
    "Simulation completed successfully", "Successfully completed.", "Application 1925101 resources: utime ~86214s, stime ~391s", "State: COMPLETED (exit code 0)",
    "elapsed time {x} s", "writing restart ... done", "",
)  # fmt: skip


def good_run(rng):
    """Compose the output of a successful run."""

    def line(pattern):
        while "{" in pattern:
            pattern = pattern.replace("{x}", f"{rng.random():.4E}", 1).replace("{n}", str(rng.randrange(1, 9999)), 1)
        return pattern

    kinds = rng.sample(CHATTER, rng.randrange(3, 9))
    step = rng.choice(STEPS)
    lines = [rng.choice(kinds) if rng.random() < 0.25 else step for _ in range(rng.randrange(10, 120))]
    tail = [
        rng.choice(ENDS),
        *rng.sample(("rm: cannot remove 'core': No such file or directory", "Tue Mar  5 14:22:34 CET 2024", ""), 1),
    ]
    return "\n".join(map(line, [*lines, *tail])) + "\n"


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_end_well_have_no_cause(seed):
    """At most one false cause in a hundred, and never a certain one."""
    rng = random.Random(seed)
    texts = [good_run(rng) for _ in range(50)]
    false = [
        (found.cause.confidence, found.cause.hits[0].text)
        for text in texts
        if (found := diagnose([("job.out", text)])).cause
    ]
    assert len(false) <= 0.01 * len(texts), false
