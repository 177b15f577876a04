"""Outputs for which no rule was written: read upwards, classified by speaker, decoded, split into runs."""

from __future__ import annotations

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose

FIRST = "LAMMPS (2 Aug 2023)\nERROR: Lost atoms: original 5 current 3 (src/thermo.cpp:494)\nsrun: error: n1: task 3: Exited with exit code 1\n"
SECOND = "LAMMPS (2 Aug 2023)\nsrun: error: n12: task 3: Out Of Memory\n"
GOOD = "LAMMPS (2 Aug 2023)\nTotal wall time: 0:12:41\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("solve: no convergence in 500 iterations\nProgram terminated.\n", "no convergence in 500"),
        ("the mesh file is not square\nmake: *** [run] Error 2\n", "mesh file is not square"),
        (" *********\n * too many species *\n *********\n *** ABORT ***\n", "too many species"),
        ("--- !BUG\nsrc_file: m_x.F90\nmessage: |\n    array too small\n...\nError termination\n", "array too small"),
    ],
)
def test_an_end_is_read_upwards(text, said):
    found = diagnose([("job.out", text)])
    assert found.cause.confidence in ("guess", "possible")
    assert said in " ".join(hit.text for hit in found.cause.hits[:8])


@pytest.mark.parametrize(
    ("line", "code", "who"),
    [
        ("sbatch: error: cannot frobnicate the job", "SCHEDULER-MESSAGE", "unclear"),
        ("ibv_poll_cq failed: error in flux", "NETWORK-MESSAGE", "unclear"),
        ("[mpiexec@n1] error: no hosts listed for flux", "LAUNCHER-MESSAGE", "unclear"),
        ("flux solver failed in cell 3", "APPLICATION-MESSAGE", "user"),
    ],
)
def test_who_speaks_decides_who_acts(line, code, who):
    cause = diagnose([("job.out", line + "\n")]).cause
    assert (cause.code, cause.who) == (code, who)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("=   EXIT CODE: 139", "SEGV"),
        ("ERROR: failed (exitcode: -11) local_rank: 0", "SEGV"),
        ("Exited with exit code 136.", "FPE"),
        ("x1000c0s0b0n0: rank 12 died from signal 7", "SIGBUS"),
    ],
)
def test_a_status_names_its_signal(line, code):
    assert diagnose([("job.out", line + "\n")]).cause.code == code


def test_runs_are_told_apart_and_the_last_is_answered():
    found = diagnose([("job.out", FIRST + SECOND)])
    assert (found.cause.code, [run["code"] for run in found.runs]) == ("SLURM-OOM", ["LAMMPS-LOST-ATOMS"])
    assert diagnose([("job.out", FIRST + GOOD)]).verdict == "succeeded"
    assert diagnose([("job.out", GOOD + FIRST)]).cause.code == "LAMMPS-LOST-ATOMS"


@pytest.mark.parametrize(("before", "code"), [(FIRST + SECOND, "SLURM-OOM"), (SECOND + FIRST, "LAMMPS-LOST-ATOMS")])
def test_for_a_last_run_without_a_word_the_run_before_it_is_answered(before, code):
    assert diagnose([("job.out", before + "LAMMPS (2 Aug 2023)\n")]).cause.code == code


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # A header of few words introduces the line below it, regardless of later ends.
        ("--> MYFLOW FATAL ERROR:\nattempt to run in parallel on 1 processor\n\nMYFLOW aborting\n", "on 1 processor"),
        # An adjective is not a message.
        (
            "Net charge can lead to severe artifacts here\n\nFatal error:\nCannot find file restraint.gro (option -r).\n",
            "Cannot find file",
        ),
        # Words of an end right below the launcher's banner belong to it.
        (
            "=   KILLED BY SIGNAL: 9 (Killed)\n=====\nMY_TIMEOUT = -1 second(s): job ending due to startup timeout\n",
            "startup timeout",
        ),
        ("step 9 done\n!! CONVERGENCE HAS NOT BEEN ACHIEVED !!\n", "NOT BEEN ACHIEVED"),
    ],
)
def test_the_message_below_or_behind_is_quoted(text, said):
    found = diagnose([("job.out", text)])
    assert said in found.cause.hits[0].text
    assert found.cause.confidence in ("guess", "possible")


@pytest.mark.parametrize(
    ("text", "code", "who"),
    [
        ('6.069s: job.exception fuwb3VbDbn7 type=alloc severity=0 alloc denied due to type="match error"', "FLUX-UNSATISFIABLE", "unclear"),
        ("MPT: shepherd terminated: r2i0n23.ib0 - job aborting", "MPT-LAUNCH", "unclear"),
        ("MPT ERROR: could not run executable. If this is a non-MPT application,", "MPT-LAUNCH", "unclear"),
        ("shifter: failed to find runnable image docker:me/tool:1.0", "CONTAINER", "unclear"),
        ("RCCL error in ProcessGroup.cpp:1: unhandled system error", "NCCL-SYSTEM", "unclear"),
        ("slurmstepd: error: execve(): /tmp/slurmd/job2997814/slurm_script: No such file or directory", "SLURM-SCRIPT-LOST", "staff"),
        ("ssh: connect to host 192.168.43.57 port 22: Connection refused", "SSH-REFUSED", "unclear"),
        ("ERROR: temperature of cell 3 is below zero", "APPLICATION-MESSAGE", "user"),
    ],
)  # fmt: skip
def test_nobody_is_blamed_for_what_a_message_does_not_say(text, code, who):
    cause = diagnose([("job.out", f"{text}\n")]).cause
    assert (cause.code, cause.who) == (code, who)
    assert "chmod" not in " ".join(cause.advice)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("Error (ORCA_MDCI): Number of processes (16) in parallel calculation exceeds number of pairs (10)", "at most 10 processes instead of 16"),
        (" insufficient memory available - require            23661817216  have 3999999059", "23661817216 words"),
        ("FATAL:   \"bris\": executable file not found in $PATH", "exec <image> which bris"),
        ("     convergence NOT achieved after 100 iterations: stopping", "`electron_maxstep` beyond 100"),
    ],
)  # fmt: skip
def test_advice_takes_its_numbers_from_the_message(text, advice):
    assert advice in " ".join(diagnose([("job.out", f"{text}\n")]).cause.advice)


def test_words_that_nothing_fits_get_no_advice():
    assert diagnose([("job.out", "ERROR: flux solver failed in cell 3\n")]).cause.advice == []


def test_a_header_within_a_block_leaves_its_message_to_the_line_below():
    text = "Error in function: mesher returned: ['\n\n--> FLOW FATAL ERROR:\nbad size -2072\nFLOW aborting\n"
    assert "bad size -2072" in " ".join(hit.text for hit in diagnose([("job.out", text)]).cause.hits[:8])


def test_a_limit_of_locked_memory_counts_only_where_the_run_failed():
    line = "[1.2] [n1:22:0] ib_iface.c:720  UCX  ERROR ibv_create_cq(cqe=4096) failed: Cannot allocate memory\n"
    failed = line + "[n1:22] select.c:433  UCX  ERROR no active messages transport to <no debug data>: Unsupported\n"
    assert diagnose([("job.out", failed)]).cause.code == "IB-MEMLOCK"
    assert diagnose([("job.out", line + "# OSU MPI Broadcast Latency Test v5.8\n1      0.23\n")]).verdict == "no-cause"


def test_a_generic_message_is_advised_on_by_what_it_says():
    text = "ERROR: LoadError: IOError: connect: connection refused (ECONNREFUSED)\n"
    assert "address and port" in diagnose([("job.out", text)]).cause.advice[0]


@pytest.mark.parametrize(
    "text",
    [
        # A warning of a Python package, regardless of its words.
        "main.py:811: RuntimeWarning: invalid value encountered in greater\n  if np.any(a > 0):\n",
        # Code that a compiler quotes.
        "  196 |    print *, 'NaN detected in Nv_1'\nWarning: Unused variable 'y' at (1)\n",
        # A generic message that is logged as a warning.
        "step 1\n43 [1405] WARN perf.system <> - cannot open /sys/kernel/debug: Permission denied\nExit code: 0\n",
        # The script continues after a command that reports an error.
        "fatal: could not read Username for 'https://host': No such device or address\n" + "cell done\n" * 6,
        "frnn not found\n" + "cudf: 23.12\n" * 4,
        # A command that failed, and how it was called.
        "==> Error: ProcessError: Command exited with status 2:\n    'make' '-j16' 'CC=/opt/cc'\n",
        # The scheduler's daemon cleans up, and a missing working directory does not end the job.
        "slurmstepd: error: _cgroup_procs_check: failed on path (null)/cgroup.procs: No such file or directory\n",
        "slurmstepd: error: couldn't chdir to `/work': No such file or directory: going to /tmp instead\n"
        + "row\n" * 9,
    ],
)
def test_what_ends_nothing_is_no_cause(text):
    assert not diagnose([("job.out", text)]).causes


def test_a_backtrace_shows_that_the_line_above_it_ended_the_run():
    text = "rc_verbs_iface.c:65 send completion with error: remote invalid request\n" + "loading\n" * 4
    assert diagnose([("job.out", text)]).verdict == "no-cause"
    assert diagnose([("job.out", text + "==== backtrace (tid: 11) ====\n")]).cause.confidence in ("guess", "possible")


STEPS = "".join(f"iteration # {step}     total energy = -7205.{step:03d} Ry\n" for step in range(1, 60))


@pytest.mark.parametrize(
    "text",
    [
        "trapFpe: Floating point exception trapping enabled (FOAM_SIGFPE).\nCreate time\n",
        "SIGSEGV handler installed\nstep 1\n",
        "c_bands: 2 eigenvalues not converged\n" + STEPS,
        "the potential is not converged yet\n" + STEPS,
        "SIMPLE: no convergence criteria found. Calculations will run for 500 steps.\n" + STEPS,
        "d01 NetCDF error: NetCDF: Attribute not found\n" + STEPS,
        "/opt/env/lib/python3.11/site-packages/pl/loops/loop.py:302: Couldn't infer the batch indices\n",
        "12:45:53 INFO: a: copied\n12:46:07 NOTICE: a/.logger: Can't transfer non file/directory\n",
        "Could not open CTM_CONC_1 for update - try to open new\n",
        "  exit code: 1\n" + STEPS,
    ],
)
def test_what_a_program_watches_for_or_outlives_is_no_cause(text):
    assert diagnose([("job.out", text)]).verdict == "no-cause"


@pytest.mark.parametrize("last", ["history already reset: stopping\n" + STEPS, STEPS + "loss: nan\n" * 200])
def test_a_goal_that_was_given_up_or_is_missed_to_the_end_is_told(last):
    found = diagnose([("job.out", last + "JOB DONE.\n")])
    assert found.cause.code == "GOAL-MISSED"


def test_a_step_that_was_signalled_from_outside_was_cancelled_or_out_of_time():
    end = (
        "slurmstepd: error: *** STEP 490.0 ON n1 CANCELLED AT 2023-09-19T17:10:57 ***\nsrun: forcing job termination\n"
    )
    cause = diagnose([("job.err", "srun: got SIGCONT\n" + end)]).cause
    assert (cause.code, "CANCELLED AT" in cause.hits[1].text) == ("SLURM-STEP-SIGNALLED", True)
    assert diagnose([("job.err", end)]).verdict == "failed"


def test_a_later_run_that_ends_in_an_error_of_its_own_is_not_answered_by_an_earlier_cause():
    earlier = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0\n"
    text = earlier + "loading shard\n" * 300 + "unsupported: the optimizer failed to read line 232\n"
    found = diagnose([("train.err", text)])
    assert found.cause.confidence in ("guess", "possible")
    assert "line 232" in found.cause.hits[0].text


def test_an_exception_is_followed_to_the_program_s_own_last_line():
    trace = (
        'Traceback (most recent call last):\n  File "/home/u/train.py", line 41, in <module>\n    fit(x)\n'
        '  File "/opt/lib/python3.11/site-packages/np/core.py", line 9, in f\n    raise ValueError\nValueError: no\n'
    )
    assert diagnose([("job.err", trace)]).cause.advice[0].startswith("Begin at line 41 of /home/u/train.py")


COMPLAINTS = [
    "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified",
    "ERROR: Unable to locate a modulefile for 'anaconda'",
    "/var/spool/slurmd/job4231907/slurm_script: line 12: lmp_mpi: command not found",
    "cp: error writing 'restart.1': Disk quota exceeded",
]


@pytest.mark.parametrize("complaint", COMPLAINTS)
def test_a_complaint_that_the_job_script_goes_on_after_is_a_remark_at_most(complaint):
    work = "".join(f"sample {chr(97 + place % 26)}{place} is ready\n" for place in range(60))
    found = diagnose([("job.out", f"start\n{complaint}\n{work}")])
    assert (found.verdict, found.causes) == ("no-cause", ())
    assert complaint in str(found.to_dict()["messages"])
    # At the end of a text, or before a failure, it may be the cause.
    for end in ("", f"{work}srun: error: n1: task 0: Exited with exit code 127\n"):
        assert diagnose([("job.out", f"start\n{complaint}\n{end}")]).cause


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # A line that names its source and leaves the message to the next one.
        (
            "ERROR: In vtkReader.cxx, line 8741\nvtkReader (0x159f): points in mesh and field do not match\n",
            "do not match",
        ),
        # The last call of a stack of MATLAB's leads to the message above it.
        (
            "Index exceeds array bounds.\n\nError in cocluster (line 38)\nx = A(1:9);\n\nError in run (line 91)\nevalin(x);\n}\n",
            "exceeds array bounds",
        ),
        # Each of eight tasks reports it at the end.
        ("usage: main.py [-h]\nmain.py: error: unrecognized arguments: -ws 8\n" * 8, "-ws 8"),
    ],
)
def test_what_ends_a_text_is_quoted_whatever_its_form(text, said):
    assert said in diagnose([("job.out", text)]).cause.hits[0].text


def test_an_exception_behind_which_a_bar_goes_on_ended_nothing():
    bar = "".join(f"\r{done:3d}/900 [00:{done % 60:02d}<01:00,  1.4it/s]" for done in range(0, 900, 9))
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: too many arguments\n'
    text = f"{trace}{bar}\n" + "validation\n" * 14 + bar + "\n"
    assert diagnose([("job.out", text)]).verdict == "no-cause"
    assert diagnose([("job.out", text + trace)]).cause.code == "PY-EXCEPTION"
    # If a launcher ended tasks that were still running, the exception is the cause.
    assert (
        diagnose([("job.out", text + "srun: error: n1: task 3: Exited with exit code 1\n")]).cause.code
        == "PY-EXCEPTION"
    )


@pytest.mark.parametrize(
    "line", ["Sharpe Ratio: nan", "Exiting because the tours converged!", "ERROR util.Loader: HOME is not set"]
)
def test_words_that_speak_of_no_failure_leave_a_text_without_a_cause(line):
    assert diagnose([("job.out", f"begin\n{line}\n" + "row\n" * 250 + "written\n")]).verdict == "no-cause"


def test_a_library_that_is_tried_gives_way_to_what_ended_the_program():
    tried = "LoadLib(libaql64.so) failed: libaql64.so: cannot open shared object file: No such file or directory\n"
    end = 'hip_code_object.cpp:92: guarantee(false && "hipErrorNoBinaryForGpu: no binary")\nAborted (core dumped)\n'
    assert diagnose([("job.err", tried + end)]).cause.code == "CUDA-ARCH"
    assert diagnose([("job.err", tried)]).cause.confidence == "likely"


def test_an_input_that_a_program_refuses_is_no_success_though_it_ends_in_order():
    text = " *  Errors detected in keywords.  Job stopped here to avoid wasting time.\n * JOB ENDED NORMALLY *\n"
    assert "Errors detected in keywords" in diagnose([("mopac.out", text)]).cause.hits[0].text


def test_blank_lines_at_the_end_change_nothing():
    text = "step 1\nError: invalid type: null, expected f64\n"
    assert [diagnose([("job.err", text + blank)]).cause.code for blank in ("", "\n" * 9, " \n\n")] == [
        "APPLICATION-MESSAGE"
    ] * 3
