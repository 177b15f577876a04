"""A line of success clears only its program: many kinds of failures, combined with lines that any script can print."""

from __future__ import annotations

from itertools import product

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose

# Failure messages of programs, launchers, schedulers and shells, one of each kind.
FAILURES = (
    'Traceback (most recent call last):\n  File "train.py", line 12, in main\n    x = load(path)\nKeyError: "lr"',
    'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    import numba\nModuleNotFoundError: No module named \'numba\'',
    "./solver: No such file or directory",
    "/var/spool/slurmd/job4231907/slurm_script: line 12: lmp_mpi: command not found",
    "/var/spool/slurmd/job4231907/slurm_script: line 12: ./run.sh: Permission denied",
    "./solver: error while loading shared libraries: libpetsc.so.3.4: cannot open shared object file: No such file or directory",
    "Error in library(sf) : there is no package called 'sf'\nExecution halted",
    "Error in solve.default(a, b) : system is computationally singular\nExecution halted",
    "ERROR: LoadError: UndefVarError: `x` not defined\nin expression starting at /home/u/a.jl:3",
    "Segmentation fault (core dumped)",
    "/var/spool/slurmd/job4231907/slurm_script: line 21: 199992 Killed                  ./a.out",
    "/var/spool/slurmd/job4231907/slurm_script: line 7: 23761 Bus error               (core dumped) ./a.out",
    "Program received signal SIGFPE: Floating-point exception - erroneous arithmetic operation.",
    "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc",
    "terminate called after throwing an instance of 'std::runtime_error'\n  what():  bad mesh",
    "a.out: main.c:12: main: Assertion `n > 0' failed.",
    "*** stack smashing detected ***: terminated",
    "free(): invalid pointer",
    "forrtl: severe (174): SIGSEGV, segmentation fault occurred",
    "forrtl: No such file or directory\nforrtl: severe (29): file not found, unit 10, file /scratch/u/in.dat",
    "At line 12 of file main.f90 (unit = 10)\nFortran runtime error: End of file",
    "MPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\nwith errorcode 1.",
    "Abort(1) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process 0",
    "Fatal error in PMPI_Recv: Message truncated, error stack:",
    "mpirun noticed that process rank 3 with PID 2201 on node n12 exited on signal 9 (Killed).",
    "There are not enough slots available in the system to satisfy the 96\nslots that were requested by the application:",
    "srun: error: n12: task 3: Out Of Memory",
    "srun: error: n12: tasks 0-3: Exited with exit code 1",
    "slurmstepd: error: *** STEP 4231907.0 ON n12 CANCELLED AT 2024-03-05T14:22:33 DUE TO TIME LIMIT ***",
    "srun: error: Node failure on n12",
    "srun: error: Unable to create step for job 4231907: More processors requested than permitted",
    "=>> PBS: job killed: walltime 3627 exceeded limit 3600",
    "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
    "Application 1925046 exit signals: Killed",
    "[NID 01323] 2011-03-07 03:46:11 Apid 1925046: OOM killer terminated this process.",
    "1060.968s: flux-shell[0]: FATAL: doom: rank 5615 exited and exit-timeout=30s has expired",
    "flux-job: task(s) exited with exit code 10",
    "57.123s: job.exception type=timeout severity=0 resource allocation expired",
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "CUDA error: an illegal memory access was encountered",
    "HDF5-DIAG: Error detected in HDF5 (1.12.2) MPI-process 0:\n  #000: H5F.c line 620 in H5Fopen(): unable to open file",
    "OSError: [Errno 28] No space left on device",
    "FATAL:   container creation failed: mount source /data doesn't exist",
    "Lmod has detected the following error: The following module(s) are unknown: \"gcc/99\"",
    "ERROR: cannot open input file grid.nc",
    "Program exited with code 134",
    "Job has terminated with error flag",
    "fatal error: all goroutines are asleep - deadlock!",
)  # fmt: skip
ECHOES = (
    "Job completed successfully.", "Job completed successfully at Tue Mar  5 14:22:33 UTC 2024", "Simulation completed successfully", "=== Job completed ===",
    "Job finished successfully!", "All tests completed successfully", "Analysis finished without errors", "Training completed successfully.",
    "Program ended normally", "Run finished gracefully",
)  # fmt: skip
# With a missing module it is open whether the job failed.
OPTIONAL = ("Lmod",)
PREFIXES = ("", "[1,0]<stderr>:", "0: ")
WORK = "step 1  e= -1.234\nstep 2  e= -1.235\n"


def outputs(failure, echo, *, after, pair, prefix):
    """Compose the files of a failed job in which some line reports success."""
    failed = "\n".join(prefix + line for line in failure.split("\n"))
    if pair:
        return [("job.out", f"{WORK}{echo}\n"), ("job.err", f"{failed}\n")]
    parts = [failed, echo] if after else [echo, failed]
    return [("job.log", WORK + "\n".join(parts) + "\n")]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda text: text[:40])
def test_no_echo_makes_a_failure_a_success(failure):
    wrong = [
        (echo, after, pair, prefix)
        for echo, after, pair, prefix in product(ECHOES, (True, False), (True, False), PREFIXES)
        # Two files have only one order; launcher labels are tried with two of the sentences.
        if not (pair and not after)
        and (not prefix or echo in ECHOES[:2])
        and diagnose(outputs(failure, echo, after=after, pair=pair, prefix=prefix)).verdict == "succeeded"
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "failure", [text for text in FAILURES if not text.startswith(OPTIONAL)], ids=lambda text: text[:40]
)
def test_a_failure_before_the_last_line_is_reported(failure):
    for echo in ECHOES[:3]:
        assert diagnose(outputs(failure, echo, after=True, pair=False, prefix="")).verdict in ("cause", "failed"), echo


def test_the_success_of_a_program_clears_what_it_printed_itself_before_it_worked_on():
    text = "begin\nERROR: line search failed\n" + WORK + "   JOB DONE.\n"
    assert diagnose([("job.out", text)]).verdict == "succeeded"


def test_a_program_that_ended_well_clears_no_scheduler():
    text = "LAMMPS (17 Apr 2024)\nTotal wall time: 0:06:23\nflux-job: task(s) exited with exit code 143\n"
    assert diagnose([("job.out", text)]).verdict == "failed"


def test_many_kinds_are_tried():
    assert len(FAILURES) >= 40
    assert len(ECHOES) >= 10
