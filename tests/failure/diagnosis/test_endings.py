"""Endings decide: the last messages of a text count, and an answer that other lines contradict is never certain."""

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose

SIX_LINES = """\
step 1 loss 2.31
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
step 2 loss 2.30
step 400 loss 1.07
Traceback (most recent call last):
IndexError: list index out of range
"""

# A failure that looks final, with its code.
FAILURES = {
    "CUDA-OOM": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
    "IO-QUOTA": "cp: error writing 'restart.1': Disk quota exceeded",
    "CXX-BAD-ALLOC": "terminate called after throwing an instance of 'std::bad_alloc'",
    "IO-NO-SPACE": "write failed: No space left on device",
    "ASSERTION": "a.out: solver.c:391: step: Assertion `dt > 0' failed.",
}
# Lines that show that the program continued.
LIVES = [
    "step 10 done\nstep 20 done",
    "Time = 0.5\nTime = 0.75",
    "resuming from step 300\nIteration 301 residual 0.1",
    "     100   300.12   -4.611   0.12\n     200   301.40   -4.612   0.13",
]


def codes(text):
    found = diagnose([("job.out", text)])
    return found, [cause.code for cause in found.causes]


def test_the_six_lines():
    found, causes = codes(SIX_LINES)
    assert causes == ["PY-EXCEPTION"]
    assert found.cause.confidence == "possible"
    assert "CUDA-OOM" in " ".join(found.notes)
    assert "line 4" in " ".join(found.notes)


@pytest.mark.parametrize("life", LIVES)
@pytest.mark.parametrize("code", FAILURES)
def test_twenty_failures_that_were_outlived(code, life):
    """The program continues after the failure and ends differently: the end is the cause, and no cause is certain."""
    found, causes = codes(f"begin\n{FAILURES[code]}\n{life}\nTraceback (most recent call last):\nKeyError: 'dt'\n")
    assert causes[0] == "PY-EXCEPTION"
    assert code not in causes
    assert found.cause.confidence not in ("certain", "likely")
    # Without the signs of progress, the first failure is the cause.
    assert codes(f"begin\n{FAILURES[code]}\nTraceback (most recent call last):\nKeyError: 'dt'\n")[1][0] == code


@pytest.mark.parametrize("code", FAILURES)
def test_nothing_is_certain_that_the_program_survived(code):
    found, causes = codes(f"{FAILURES[code]}\nstep 10 done\nstep 20 done\n")
    assert causes[0] == code
    assert found.cause.confidence == "guess"


def test_one_line_of_another_task_is_no_sign_of_life():
    assert codes(SIX_LINES.replace("step 2 loss 2.30\n", ""))[1][0] == "CUDA-OOM"


def test_the_end_of_another_task_is_no_later_attempt():
    """Task 3 runs out of memory; task 0 continues until it notices: the first failure is the cause."""
    text = (
        "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
        "step 2 done\nstep 3 done\n[rank0]: RuntimeError: Connection reset by peer\n"
    )
    assert codes(text)[1][0] == "CUDA-OOM"


def test_tasks_and_frames_that_count_are_no_sign_of_life():
    tail = "".join(
        f"srun: error: n{n}: task {n}: Exited with exit code 1\n#{n} 0x00007f in solve ()\n" for n in range(9)
    )
    assert codes(f"{FAILURES['ASSERTION']}\n{tail}")[0].cause.confidence == "likely"


SUCCESSES = ["   JOB DONE.", "Total wall time: 0:10:02", "Normal termination of Gaussian 16 at Sun Mar 5 2023."]
MISSED = [
    "     convergence NOT achieved after   2 iterations: stopping",
    "     history already reset at previous step: stopping",
    "--- The CCSD iterations have NOT converged ---",
    "     This wavefunction IS NOT FULLY CONVERGED!",
    "SCF failed to converge",
    "The geometry optimization did not converge",
    "WARNING: maximum number of iterations reached",
    "energy = NaN",
    "NaN detected in field rho",
    "The simulation diverged",
]


@pytest.mark.parametrize("end", SUCCESSES[::2])
@pytest.mark.parametrize("missed", MISSED)
def test_twenty_good_endings_with_a_missed_goal(missed, end):
    text = f"begin\nstep 1\n{missed}\n" + "writing results\n" * 40
    found, causes = codes(f"{text}{end}\n")
    assert (found.verdict, causes[0]) == ("cause", "GOAL-MISSED")
    assert found.cause.confidence == "guess"
    assert missed.strip() in found.cause.hits[0].text
    assert codes(f"{text.replace(missed, 'ok')}{end}\n")[0].verdict == "succeeded"


@pytest.mark.parametrize(
    "goal", ["not yet converged: next cycle", "convergence has been achieved in 7 iterations", "no NaN found"]
)
def test_goals_that_were_not_missed(goal):
    assert codes(f"begin\n{goal}\n   JOB DONE.\n")[0].verdict == "succeeded"


ENDS_ONLY = [
    "Terminated at Sun Mar  5 10:11:12 2023",
    "raise@pt-raise.c:42",
    "[2023-04-07 13:09:33,201] [INFO] [launch.py:318:sigkill_handler] Killing subprocess 80",
    "Killed: 9",
    "srun: error: Task 4504 reported exit for a second time.",
    "the job to be terminated. The first process to do so was:",
    "exited on\nsignal 6 (Aborted)",
    "  SCF converges when RMS gradient is below 1.0E-08",
]


@pytest.mark.parametrize("line", ENDS_ONLY)
def test_lines_that_only_tell_an_end_are_never_offered(line):
    found, _ = codes(f"begin\n{line}\n")
    assert found.verdict == "no-cause"


def test_a_long_assertion_is_quoted_at_its_condition():
    types = ", ".join(f"T{n} = Eigen::Matrix<std::complex<double>, -1, -1>" for n in range(60))
    for length in (200, 600, 2500):
        line = f"a.out: Eigen/Product.h:96: Product(const Lhs&) [with {types[:length]}]: Assertion `a.cols() == b.rows()' failed."
        found, causes = codes(f"{line}\nsrun: error: c5: task 0: Aborted (core dumped)\n")
        assert causes[0] == "ASSERTION"
        assert "a.cols() == b.rows()" in found.cause.hits[0].text


def test_a_line_that_points_above_leads_there():
    text = "Error  (ORCA_SCF): Not enough memory available!\n" + "table 1.0 2.0\n" * 600 + "  .... aborting the run\n"
    assert "Not enough memory" in codes(text)[0].cause.hits[0].text
    text = "colvars: Too many iterations in routine jacobi.\nFATAL ERROR: Error in colvars (see above for details)\n"
    assert "jacobi" in codes(text)[0].cause.hits[0].text


@pytest.mark.parametrize(
    "prefix", ["12:00:0{} - run - INFO - ", "[INFO] ", "INFO:root:", "[1{}:00:00] [INFO] [run.py:31:main] "]
)
def test_the_prefix_of_a_logger_changes_nothing(prefix):
    lines = SIX_LINES.replace("IndexError", "Solver: fatal").splitlines()
    text = "".join(f"{prefix.format(n)}{line}\n" for n, line in enumerate(lines))
    plain, logged = (diagnose([("job.out", one)]) for one in ("\n".join(lines), text))
    assert [cause.code for cause in logged.causes] == [cause.code for cause in plain.causes]
    assert logged.cause.hits[0].line == plain.cause.hits[0].line


def test_a_logger_of_several_levels_keeps_them():
    text = "12:00:01 - run - INFO - no error so far\n12:00:02 - run - ERROR - grid is empty\n"
    assert "grid is empty" in codes(text)[0].cause.hits[0].text


# Blocks as programs print them, and a piece of the line that must be quoted.
BLOCKS = [
    ("--- !BUG\nsrc_file: m_x.F90\nsrc_line: 40\nmpi_rank: 0\nmessage: |\n    dtset%nband is too small\n...\nleave_new: decision taken to exit\n", "nband is too small"),
    ("--> FOAM FATAL ERROR: (openfoam-2312)\ncannot find file \"constant/polyMesh/points\"\n\n    From function readStream()\n    in file regIOobjectRead.C at line 73.\n\nFOAM exiting\n", "cannot find file"),
    ("Kokkos::Impl::host_abort\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  Kokkos failed to allocate memory for label \"rho\".\n", "failed to allocate"),
    ("p=0: *** Caught standard std::exception of type 'std::runtime_error' :\n\n View bounds error of view ptr ( -1 < 5 )\n", "View bounds error"),
    ("Error  (ORCA_SCF): Not enough memory available!\n" + "  0.1  0.2  0.3\n" * 60 + "  .... aborting the run\n", "Not enough memory"),
    (" insufficient memory available - require  23661817216  have 3999999059\n the request was for real words\n", "insufficient memory"),
    ("distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting\nERROR:x:cli:('counts', <Worker 'tcp', name: 2>)\nTraceback (most recent call last):\n", "95% memory budget"),
    ("It looks like orte_init failed for some reason; your parallel process is\nlikely to abort.\n\n  getting local rank failed\n  --> Returned value No permission (-17) instead of ORTE_SUCCESS\n", "getting local rank failed"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), BLOCKS)
def test_the_block_that_holds_the_reason_is_quoted(text, said):
    found, _ = codes(f"begin\n{text}")
    assert said in " ".join(hit.text for hit in found.cause.hits[:8])


def test_behind_an_interrupt_launchers_only_clean_up():
    text = (
        "error: pmixp_server.c:935: unexpected contrib from n3\n[mpiexec@n2] Sending Ctrl-C to processes as requested\n"
        "[proxy:0@n2] cmd_cb (pmip_cb.c:490): assert (!closed) failed\n[proxy:0@n2] main: demux engine error\n"
    )
    assert "unexpected contrib" in codes(text)[0].cause.hits[0].text


WRAPPED = (
    "Traceback (most recent call last):\nAttributeError: module 'platform' has no attribute 'linux_distribution'\n"
)
CANCELLED = "slurmstepd: error: *** JOB 159746 ON n2 CANCELLED AT 2025-05-23T16:31:41 ***\n"


def test_an_exception_behind_which_the_script_went_on_did_not_end_the_job():
    causes = codes(f"{WRAPPED}cp: cannot stat 'a.jld2': No such file or directory\n{CANCELLED}")[1]
    assert causes[0] == "SLURM-JOB-CANCELLED"
    assert "PY-EXCEPTION" not in causes
    # Without the script's next command, the other tasks may still wait after the exception.
    assert codes(WRAPPED + CANCELLED)[1][0] == "PY-EXCEPTION"


def test_an_exception_that_only_counts_gives_way_to_the_errors_above_it():
    errors = "".join(f"-- ERROR [prop] -- could not read pcoord from '/tmp/t{n}'\n" for n in "abcd")
    found, _ = codes(
        f"{errors}Traceback (most recent call last):\n  raise X\npkg.PropagationError: propagation failed for 4 segments\n"
    )
    assert "could not read pcoord" in found.cause.hits[0].text
    assert found.cause.confidence == "guess"
    # An exception that gives the reason stays the cause.
    assert codes(f"{errors}Traceback (most recent call last):\n  raise X\nKeyError: 'dt'\n")[1][0] == "PY-EXCEPTION"


def test_a_generic_message_that_nothing_confirms_is_a_guess():
    text = "cat: notes.txt: No such file or directory\n"
    assert codes(text + "step 1 done\n" * 8)[0].cause.confidence == "guess"
    assert codes(text + "step 1 done\n" * 40)[0].verdict == "no-cause"
    assert codes(f"{text}srun: error: n1: task 0: Exited with exit code 1\n")[0].cause.confidence in (
        "possible",
        "likely",
    )


def test_of_generic_messages_the_one_that_ends_a_program_comes_first():
    text = "cat: notes.txt: No such file or directory\nsrun: error: n1: task 0: Segmentation fault\n"
    assert codes(text)[1][:2] == ["SEGV", "NO-SUCH-FILE"]


def test_a_header_that_stands_twice_loses_no_failure():
    header = "Sender: LSF System <lsfadmin@node03>\n"
    oom = "[NID 01323] 2011-03-07 03:46:11 Apid 1925046: OOM killer terminated this process.\n"
    for text in (header + oom + header, header + oom + header + "step 1 done\n"):
        assert codes(text)[1] == ["ALPS-OOM"]
