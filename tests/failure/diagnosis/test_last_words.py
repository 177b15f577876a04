"""Lines around a sign of failure that no rule explains: error-like lines above it, stacks and reports below it."""

from __future__ import annotations

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose

BEGUN = "Solver 3.1\nReading input\nWARNING: old keyword foo\n step 1 res=1e-3\n"
SRUN = "srun: error: nid00012: task 0: Exited with exit code 1\n"
ABORTED = "application called MPI_Abort(MPI_COMM_WORLD, 1) - process 0\n"
REPORT = """
======================================
       Resource Usage on 2024-03-04 10:00:00:
   Job Id:             1234567.gadi-pbs
   Exit Status:        {status}
   Service Units:      0.10
   NCPUs Requested:    48
   Memory Requested:   190.0GB
   Walltime requested: 01:00:00
======================================
"""
CLEANED = "Cleaning up /scratch/12345\nremoved three files\nEnd of job 12345 on node n12\nbye\n"
JAVA = "\tat Solver.main(Solver.java:12)\n" * 8


def quoted(text: str) -> str:
    """Return all lines quoted for the cause of a text, which is a guess."""
    found = diagnose([("job.out", text)])
    assert found.cause, text
    assert found.cause.confidence in ("guess", "possible")
    return " ".join(hit.text for hit in found.cause.hits)


@pytest.mark.parametrize("end", [SRUN, ABORTED, REPORT.format(status=1), "exit code = 1\n"])
@pytest.mark.parametrize("news", ["Number of tasks must be a square", "Unrecognized token in line 12 of input.in"])
def test_bad_news_above_a_sign_of_failure_is_named(news, end):
    """Without an error word, the line is still the first to check."""
    found = diagnose([("job.out", f"{BEGUN}{news}\n{end}")])
    first = found.cause.hits[0].text if found.cause else found.next[0]
    assert news in first
    # After ordinary output of the program, these lines do not report its end.
    lines = "".join(f"layer {name} is written\n" for name in ("one", "two", "three", "four"))
    assert diagnose([("job.out", f"{BEGUN}{news}\n{lines}{SRUN}")]).verdict == "failed"


@pytest.mark.parametrize(
    "line",
    [
        "open mesh.dat: Connection reset by peer",
        "[main] fail to locate the index files",
        "Missing restart file, exiting",
        "Exception in thread \"main\" java.lang.NullPointerException",
    ],
)  # fmt: skip
def test_lines_of_trouble_are_offered_at_the_end(line):
    assert line in quoted(f"{BEGUN}{line}\n")


@pytest.mark.parametrize("line", ["Restart file is complete, exiting", "Process finished with code 0", "saved, done!"])
def test_lines_of_a_good_end_are_not_offered(line):
    assert diagnose([("job.out", f"{BEGUN}{line}\n")]).verdict != "cause"


@pytest.mark.parametrize("below", ["\nreal\t0m4.2s\nuser\t0m3.1s\n", JAVA, CLEANED, REPORT.format(status=0)])
def test_stacks_and_reports_below_an_error_part_it_from_no_end(below):
    assert "Cannot open file forcing.nc" in quoted(f"{BEGUN}Cannot open file forcing.nc\n{below}")


def test_a_schedulers_zero_is_no_success_below_an_error():
    text = f"{BEGUN}Error in reading namelist &physics\n{REPORT.format(status=0)}"
    assert diagnose([("job.out", text)]).verdict == "cause"
    assert diagnose([("job.out", f"{BEGUN}all files written\n{REPORT.format(status=0)}")]).verdict == "succeeded"


def test_the_last_line_of_an_unknown_error_stack_of_mpi_is_offered():
    stack = "PMPI_Win_create(176)......: MPI_Win_create(size=8) failed\nMPIDI_CH4_reg(44).........: unable to register key 7\n"
    text = f"{BEGUN}Fatal error in PMPI_Win_create: Other MPI error, error stack:\n{stack}"
    assert quoted(text).startswith("MPIDI_CH4_reg(44)")


def test_an_error_that_comes_often_stands_where_its_last_line_does():
    runs = "ERROR (write): could not write {n}\nwarned twice\nall is as it was\n"
    assert "could not write" in quoted("".join(runs.format(n=n) for n in range(100)))


@pytest.mark.parametrize(
    "text",
    [
        # An informational level, and a framework's fallback.
        "CoreDump INFO Handling signals: 11(Segmentation fault) 7(Bus error)\nevents are read now\n",
        "2023-02-24 10:43:29.5: E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: "
        "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nthe model has three layers\n",
        # A program ran after a command's error: it printed warnings.
        "CondaError: Run 'conda init' before 'conda activate'\n/u/train.py:105: UserWarning: it is recommended\n",
        # The first value of a series.
        "Img No. 0\nAccuracy: -nan\nImg No. 100\nAccuracy: 0.4\nImg No. 200\nAccuracy: 0.5\n",
        "[da/47a1] Format (11) | 6 of 38, failed: 1\n",
        "    @     0x7f0aa15381a5  google::abort_now()\n",
    ],
)
def test_what_ended_nothing_is_no_cause(text):
    assert diagnose([("job.out", text)]).verdict == "no-cause"


def test_a_complaint_gives_way_to_what_the_program_printed():
    complaint = "ls: cannot access 'net.1': No such file or directory\n"
    work = "".join(f"iteration {n} loss is lower\n" for n in range(60))
    assert diagnose([("job.err", complaint)]).verdict == "cause"
    assert diagnose([("job.err", complaint), ("job.out", work)]).verdict == "no-cause"


def test_words_that_say_only_that_something_failed_give_way_to_those_above():
    text = 'ERROR:run The parameter "in" was not provided\nrow\nrow\nERROR:run Analysis failed !\nERROR:run Check the logs\n'
    assert quoted(text).startswith('ERROR:run The parameter "in"')


def test_a_users_log_of_condor_is_answered_for_the_job_submitted_last():
    good = "000 (026.000.000) 03/06 13:00:42 Job submitted from host: <10.0.96.185:9618>\n...\n005 (026.000.000) 03/06 14:00:42 Job terminated.\n\t(1) Normal termination (return value 0)\n...\n"
    held = "000 (259.000.000) 03/06 15:00:42 Job submitted from host: <10.0.96.185:9618>\n...\n012 (259.000.000) 03/06 15:01:57 Job was held.\n\tError from slot1: Your job used too much memory\n...\n"
    assert diagnose([("job.log", good)]).verdict == "succeeded"
    assert "too much memory" in quoted(good + held)


def test_an_engines_log_is_read_for_the_task_that_failed():
    head = "Jan-19 08:49:51.612 [Task monitor] ERROR nextflow.processor.TaskProcessor - Error executing process > 'mdrun'\n"
    block = "\nCaused by:\n  Process `mdrun` terminated with an error exit status (1)\n\nCommand error:\n  {}\n\n"
    tail = (
        "".join(f"Jan-19 08:49:5{n}.612 [main] DEBUG nextflow.Session - task {n} is over\n" for n in range(9))
        + "Jan-19 09:00:39.079 [main] DEBUG n.trace.WorkflowStatsObserver - Workflow completed > WorkflowStats[succeededCount=7; failedCount=2; ignoredCount=0;\n"
    )
    reason = "Cannot rename checkpoint file; maybe you are out of disk space?"
    assert reason in quoted(head + block.format(reason) + tail)
    assert diagnose([("n.log", head + block.format("Loading required package: dplyr") + tail)]).verdict == "failed"


def test_a_message_that_only_names_its_source_line_comes_before_one_that_names_nothing():
    text = "ENDRUN:\nERROR in CNPBudgetMod.F90 at line 929\n\nERROR: Unknown error submitted to shr_abort_abort.\n"
    assert "CNPBudgetMod.F90" in quoted(text)
