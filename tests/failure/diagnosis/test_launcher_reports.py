"""Reports of launchers and schedulers: which of them show a failure, its place, or only a consequence."""

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose

# Exit reports of several launchers for a task that signal 9 ended.
KILLED = (
    "srun: error: cn12: tasks 3,7: Killed",
    "srun: error: cn[12-13]: tasks 0-3: Killed",
    "x1000c0s0b0n0.hsn: rank 7 died from signal 9",
    "=   KILLED BY SIGNAL: 9 (Killed)",
    "mpirun noticed that process rank 5 with PID 0 on node c117 exited on signal 9 (Killed).",
    "Application 23764253 exit signals: Killed",
)
# Last lines of a healthy program before them, which is not about the launcher's report.
BEFORE = ("step 5000 ... ok", "reading mesh... ok", "check 3 ... passed", "residual 1e-3")


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("report", KILLED)
def test_a_launchers_report_of_a_signal_is_a_failure(before, report):
    found = diagnose([("job.out", f"{before}\n{report}\n")])
    assert found.verdict in ("failed", "cause")
    assert "KILLED" in found.evidence.messages


@pytest.mark.parametrize("before", BEFORE[:3])
def test_a_passing_check_above_still_excuses_the_programs_lines(before):
    found = diagnose([("job.out", f"{before}\nSegmentation fault\nall well\n")])
    assert found.verdict == "no-cause" or found.cause.confidence == "guess"


@pytest.mark.parametrize("good", ["All 12 tests passed", "step 7 ... ok", "SCF converged", "Output written, done."])
def test_a_line_of_success_is_never_the_most_likely_reason(good):
    found = diagnose([("job.out", f"srun: error: c12: task 0: Exited with exit code 1\n{good}\n")])
    assert found.verdict == "failed"
    assert not any(good in step for step in found.next)


def test_the_launchers_proxies_are_a_consequence():
    lines = (
        "[proxy:0:1@c2] HYD_pmcd_pmip_control_cmd_cb (proxy/pmip_cb.c:480): assert (!closed) failed",
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
        "=   RANK 40 PID 23112 RUNNING AT c2",
        "=   KILLED BY SIGNAL: 9 (Killed)",
    )
    found = diagnose([("job.out", "\n".join(lines) + "\n")])
    assert found.verdict == "failed"
    assert not any("most likely reason" in step for step in found.next)


REFUSED = (
    "qsub: Job violates queue and/or server resource limits",
    "qsub: Unauthorized Request",
    "qsub: Illegal attribute or resource value for Resource_List.ncpus",
    "msub: invalid account",
    "User cannot use the queue. Job not submitted.",
    "Bad resource requirement syntax. Job not submitted.",
    "Unable to run job: unknown queue 'long'.",
    "ERROR: Failed to commit job submission into the queue.",
    "flux-batch: ERROR: [Errno 22] unsatisfiable: more nodes than the queue has",
)


@pytest.mark.parametrize("line", REFUSED)
def test_a_refused_submission_is_a_failure(line):
    found = diagnose([("job.out", line + "\n")])
    assert (found.verdict, found.cause.code) == ("cause", "SCHEDULER-SUBMIT")


@pytest.mark.parametrize(
    "line", ["qsub: waiting for job 7.pbs to start", "qsub: job 7.pbs completed", "Submitted job 7 to qsub: all well"]
)
def test_other_lines_of_qsub_are_not(line):
    assert diagnose([("job.out", line + "\n")]).verdict in ("no-cause", "succeeded")


@pytest.mark.parametrize(
    "form", ["Exceeded job memory limit at some point.", "Exceeded step memory limit at some point."]
)
def test_a_memory_limit_counts_with_any_failure_and_not_alone(form):
    alone = f"step 1\nslurmstepd: error: {form}\n"
    assert diagnose([("job.out", alone)]).verdict != "cause"
    failed = alone + "srun: error: c12: task 0: Exited with exit code 1\n"
    found = diagnose([("job.out", failed)])
    assert (found.cause.code, found.cause.confidence) == ("SLURM-MEMORY-ONCE", "possible")


BOUND = ("/opt/cray/pe/lib64/libmpi_gnu_123.so.12", "/.singularity.d/libs/libcuda.so.1", "/host/lib64/libfabric.so.1")
BUILT = ("./a.out", "/home/u/app/bin/solver", "/home/u/env/lib/libmpi.so.40", "/opt/app/lib/libsolve.so")


@pytest.mark.parametrize(
    ("by", "code"),
    [*((path, "LIB-VERSION-GLIBC-BOUND") for path in BOUND), *((path, "LIB-VERSION-GLIBC") for path in BUILT)],
)
def test_who_requires_the_c_library_decides(by, code):
    line = f"./a.out: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by {by})"
    cause = diagnose([("job.out", line + "\n")]).cause
    assert cause.code == code
    assert ("image" in cause.advice[0]) == (code == "LIB-VERSION-GLIBC-BOUND")


@pytest.mark.parametrize(
    ("reason", "named", "not_named"),
    [
        ("More processors requested than permitted", "`-n` times `-c`", "--mem"),
        ("Memory required by task is not available", "--mem", "-c"),
        ("Requested node configuration is not available", "Compare", "Repeat"),
    ],
)
def test_the_step_that_slurm_rejects_gets_the_advice_of_its_reason(reason, named, not_named):
    steps = diagnose([("job.out", f"srun: error: Unable to create step for job 7: {reason}\n")]).cause.advice
    assert named in steps[0]
    assert len(steps) == 1
    assert not_named not in steps[0]


@pytest.mark.parametrize("file", ["mpi4py/MPI/msgpickle.pxi", "pkg/core.pyx", "numpy/defs.pxd"])
def test_frames_of_cython_are_not_the_users_files(file):
    text = (
        f'Traceback (most recent call last):\n  File "/home/u/solve.py", line 44, in <module>\n    f(x)\n'
        f'  File "{file}", line 732, in pkg.f\nValueError: too long\n'
    )
    assert "line 44 of /home/u/solve.py" in " ".join(diagnose([("job.out", text)]).cause.advice)


BACKTRACE = """
Program received signal {signal}: {what}.

Backtrace for this error:
#0  0x14cc1f2a3d4f in ???
#1  0x4a2f11 in __mod_{name}_MOD_{name}
\tat /home/u/src/{name}.f90:{line}
#2  0x40b1c0 in main_
\tat /home/u/src/main.f90:88
"""


@pytest.mark.parametrize("end", ["", "srun: error: cn0412: task 17: {report}\n"])
@pytest.mark.parametrize(
    ("signal", "what", "report"),
    [
        ("SIGSEGV", "Segmentation fault - invalid memory reference", "Segmentation fault (core dumped)"),
        ("SIGFPE", "Floating-point exception - erroneous arithmetic operation", "Floating point exception"),
    ],
)
@pytest.mark.parametrize(("name", "line"), [("flux", 214), ("update_k", 331)])
def test_the_line_of_a_gfortran_stack_is_named(end, signal, what, report, name, line):
    text = BACKTRACE.format(signal=signal, what=what, name=name, line=line) + end.format(report=report)
    steps = " ".join(diagnose([("job.out", text)]).cause.advice)
    assert f"line {line} of /home/u/src/{name}.f90" in steps


CANCELLED = (
    "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2025-03-04T12:10:45 ***",
    "slurmstepd: error: *** STEP 7.0 ON n1 CANCELLED AT 2025-03-04T12:10:45 DUE TO TIME LIMIT ***",
)


@pytest.mark.parametrize(
    ("cause", "cancelled"),
    [
        ("ERROR: Lost atoms: original 32000 current 31874 (src/thermo.cpp:488)", CANCELLED[0]),
        ("Memory access fault by GPU node-4 (Agent handle: 0x55d0) on address 0x7f12a8000000.", CANCELLED[0]),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'part_0093.npy'", CANCELLED[0]),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'part_0093.npy'", CANCELLED[1]),
    ],
)
def test_the_schedulers_reaction_is_no_rival(cause, cancelled):
    found = diagnose([("job.out", f"{cause}\nsrun: error: n1: task 0: Exited with exit code 1\n{cancelled}\n")])
    assert cause in found.cause.hits[0].text
    assert found.alternative is None


def test_a_rival_that_is_no_reaction_is_shown():
    """The other half: another error of the program remains a second line."""
    text = (
        "KeyError: 'dt'\n" + "step 1 of the cleanup\n" * 12 + "FATAL: the mesh file is corrupt, cannot read block 7\n"
        "srun: error: n1: task 0: Exited with exit code 1\n"
    )
    found = diagnose([("job.out", text)])
    shown = [found.cause.hits[0].text, *(cause.hits[0].text for cause in found.causes[1:])]
    shown += [found.alternative.hits[0].text] if found.alternative else []
    assert any("mesh file" in line for line in shown)


def test_a_job_that_hung_after_an_exception_names_the_remedy():
    text = "KeyError: 'dt'\n" + CANCELLED[1] + "\n"
    said = " ".join(diagnose([("job.out", 'Traceback (most recent call last):\n  File "a.py", line 1\n' + text)]).notes)
    assert "mpi4py" in said
    without = " ".join(diagnose([("job.out", "KeyError: 'dt'\n")]).notes)
    assert "mpi4py" not in without


@pytest.mark.parametrize(("copies", "said"), [(1, False), (2, True), (64, True)])
@pytest.mark.parametrize("form", ["Hello from rank 0 of 1 on c{n}", "process 0/1 starts", "task 0 out of 1: c{n}"])
def test_copies_that_do_not_know_each_other_are_noted(copies, said, form):
    text = "".join(form.format(n=number) + "\n" for number in range(copies))
    assert any("task 0 of 1" in note for note in diagnose([("job.out", text)]).notes) == said


@pytest.mark.parametrize("line", ["rank 0 of 16", "rank 1 of 1", "task 0 of 1.5 done", "step 0/1"])
def test_tasks_that_are_not_alone_are_not(line):
    assert not any("task 0 of 1" in note for note in diagnose([("job.out", f"{line}\n" * 4)]).notes)


@pytest.mark.parametrize(
    "line",
    [
        "slurmstepd: error: Unable to create TMPDIR [/local/u/job7]: Permission denied\nslurmstepd: error: Setting TMPDIR to /tmp",
        "slurmstepd: error: _get_joules_task: can't get info from slurmd",
        "ERROR: could not open the restart file, starting from scratch",
        "ERROR: no table given, using defaults",
    ],
)
def test_a_complaint_that_says_how_it_went_on_is_no_failure(line):
    assert diagnose([("job.out", f"{line}\nSCF converged  E = -112.3\nTotal elapsed 1021 s\n")]).verdict == "no-cause"


@pytest.mark.parametrize(("lines", "said"), [(1, "this suspicious line"), (2, "the 2 kinds of suspicious lines")])
def test_suspicious_lines_are_counted_in_plain_words(lines, said):
    odd = ("a non-zero exit code. Per user-direction, the job has been aborted.", "Error termination")
    text = (
        "\n".join(odd[:lines])
        + "\nmpirun noticed that process rank 5 with PID 0 on node c1 exited on signal 9 (Killed).\n"
    )
    assert any(said in step for step in diagnose([("job.out", text)]).next)


@pytest.mark.parametrize("command", ["qsub", "msub", "flux-batch"])
def test_a_refused_successor_does_not_end_a_job_that_ran_on(command):
    """A job script that submits its successor, and then works for long: the refusal is no cause."""
    refused = f"{command}: {'ERROR: ' if command.startswith('flux') else ''}unknown queue\n"
    work = "".join(f"step {number} of the analysis is written\n" for number in range(60))
    found = diagnose([("job.out", refused + work)])
    assert found.verdict != "cause"
