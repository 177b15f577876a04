"""Twenty outputs of jobs: each ends with the messages of one cause, or reports success."""

import random

CAUSES = {
    "memory": "a node or the job ran out of memory",
    "time": "the job reached its time limit",
    "disk": "a quota or a file system was full",
    "library": "a library or a package was missing",
    "node": "a node failed",
    "code": "the program itself failed",
    "request": "the request was refused",
    "none": "nothing failed",
}
OUTPUTS = 20

# Output of programs and schedulers, with placeholders for job, node, task and user.
_MESSAGES: dict[str, tuple[str, ...]] = {
    "memory": (
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId={job}.0. Some of your processes may have been killed by the cgroup out-of-memory handler.\nsrun: error: {node}: task {task}: Out Of Memory\nsrun: Terminating StepId={job}.0",
        "MemoryError: Unable to allocate 48.2 GiB for an array with shape (80465, 80465) and data type float64\nsrun: error: {node}: task {task}: Exited with exit code 1",
    ),
    "time": (
        "slurmstepd: error: *** JOB {job} ON {node} CANCELLED AT 2026-03-04T11:04:09 DUE TO TIME LIMIT ***\nsrun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
    ),
    "disk": (
        "OSError: [Errno 122] Disk quota exceeded: '/scratch/u{user}/run/out.0040'\nsrun: error: {node}: task {task}: Exited with exit code 1",
        "forrtl: No space left on device\nforrtl: severe (38): error during write, unit 21, file /scratch/u{user}/restart.0041\nsrun: error: {node}: task {task}: Exited with exit code 38",
    ),
    "library": (
        "./flow: error while loading shared libraries: libhdf5.so.103: cannot open shared object file: No such file or directory\nsrun: error: {node}: task {task}: Exited with exit code 127",
        "ModuleNotFoundError: No module named 'mpi4py'\nsrun: error: {node}: task {task}: Exited with exit code 1",
    ),
    "node": (
        "slurmstepd: error: *** JOB {job} ON {node} CANCELLED AT 2026-03-04T11:04:09 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\nsrun: error: Node failure on {node}",
    ),
    "code": (
        "Program received signal SIGSEGV: Segmentation fault - invalid memory reference.\nBacktrace for this error:\n#0  0x7f21 in solve_\n\tat solve.f90:212\nsrun: error: {node}: task {task}: Segmentation fault (core dumped)",
        "flow: solver.c:88: step: Assertion `dt > 0' failed.\nsrun: error: {node}: task {task}: Aborted (core dumped)",
    ),
    "request": (
        "srun: error: Unable to create step for job {job}: More processors requested than permitted",
        "sbatch: error: Batch job submission failed: Invalid partition name specified",
    ),
    "none": (
        " warning: 3 cells fell back to first order; error estimate 2.1E-09\n FINAL RESIDUAL 8.8E-11, no error\n run completed normally",
    ),
}


def outputs(rng: random.Random) -> tuple[dict[str, str], dict[str, str]]:
    """Return the outputs by file name, and the cause of each.

    Each cause occurs at least once.

    Examples
    --------
    >>> texts, causes = outputs(random.Random(1))
    >>> len(texts), set(causes.values()) == set(CAUSES)
    (20, True)
    """
    names = list(CAUSES)
    drawn = [*names, *(names[int(rng.random() * len(names))] for _ in range(OUTPUTS - len(names)))]
    drawn = [cause for _, cause in sorted((rng.random(), cause) for cause in drawn)]
    texts, causes = {}, {}
    for number, cause in enumerate(drawn, start=1):
        file = f"outputs/job-{number:02d}.out"
        forms = _MESSAGES[cause]
        holes = {
            "job": 91000 + int(rng.random() * 9000),
            "node": f"n{1 + int(rng.random() * 48):03d}",
            "task": int(rng.random() * 64),
            "user": 1 + int(rng.random() * 30),
        }
        # A refused job computes nothing.
        steps = [] if cause == "request" else _steps(rng)
        texts[file] = "\n".join([*steps, forms[int(rng.random() * len(forms))].format(**holes)]) + "\n"
        causes[file] = cause
    return texts, causes


def _steps(rng: random.Random) -> list[str]:
    """Return lines of work as usual."""
    first = 1 + int(rng.random() * 200)
    return [
        f" step {step:6d}   dt = 2.50E-04   residual = {10 ** -(2 + 3 * rng.random()):.3E}"
        for step in range(first, first + 3 + int(rng.random() * 6))
    ]
