"""Classes of faults that outputs of 28 November 2026 showed, each with generated cases."""

from itertools import product

import pytest

from hopperlib.failure.diagnosis.diagnosis import FAILED, diagnose

TRACEBACK = 'Traceback (most recent call last):\n  File "/home/u/run.py", line 3, in <module>\n    main()\n'
WORK = "".join(f"epoch {n} loss {1 / n:.4f}\n" for n in range(1, 60))


@pytest.mark.parametrize(
    ("what", "mark"),
    list(product(["reads that failed to align", "failed tests", "failures in total"], [": 0", " = 0", ": 0 (0.00%)"])),
)
def test_a_count_of_no_failures_is_none(what, mark):
    assert diagnose([("a.log", f"reads processed: 7\n# {what}{mark}\n")]).verdict not in FAILED


@pytest.mark.parametrize(
    "wrapper", ["RuntimeError: <Wrapped (in a function called from Python)", "JavaError: <call (inner"]
)
def test_a_message_goes_on_below_a_bracket_that_is_open(wrapper):
    found = diagnose([("a.err", f"{TRACEBACK}{wrapper}\nJULIA: type #isa has no field args\n")])
    assert "no field args" in found.cause.hits[1].text


@pytest.mark.parametrize("name", ["JobExecutionError", "pkg.errors.StepError", "WorkerException"])
def test_two_voices_that_point_at_a_bare_name_are_no_surer(name):
    found = diagnose([("a.err", f"JOB ERROR:\n{name}\nCommand 'x' returned non-zero exit status 1.\n")])
    assert found.verdict == "failed" or found.cause.confidence == "guess"


@pytest.mark.parametrize("thread", ["Thread-133", "receiver", "QueueManagerThread"])
def test_an_exception_in_a_thread_is_a_guess(thread):
    raised = f"Exception in thread {thread}:\n{TRACEBACK}AssertionError: no dynamic graph\n"
    assert diagnose([("a.log", f"{WORK}End of training.\n{raised}")]).cause.confidence == "guess"
    assert diagnose([("a.log", raised.split("\n", 1)[1])]).cause.confidence != "guess"


@pytest.mark.parametrize("last", ["epoch 60 loss 0.1", "  10  80  1.6e+03  -5268.255"])
def test_a_traceback_beside_a_file_of_ordinary_work_is_a_guess(last):
    raised = f"{TRACEBACK}AttributeError: module 'platform' has no attribute 'dist'\n"
    assert diagnose([("a.err", raised), ("a.out", f"{WORK}{last}\n")]).cause.confidence == "guess"
    ended = f"{WORK}srun: error: n1: task 0: Exited with exit code 1\n"
    assert diagnose([("a.err", raised), ("a.out", ended)]).cause.confidence != "guess"


@pytest.mark.parametrize("head", ["Fehler in sprintf(fmt) :", "Erreur dans f(x) :", "Errore in g(1, 2) :", "Fehler:"])
def test_r_fails_in_other_languages(head):
    found = diagnose([("a.Rout", f"Mapping in parallel: 10 elements\n{head} \n  Argumente haben ungleiche Länge\n")])
    assert found.verdict in FAILED
    assert any(word in " ".join(hit.text for hit in found.cause.hits) for word in ("Argumente", head.split()[0]))


@pytest.mark.parametrize(
    "start", ["It looks like MPI_INIT failed for some reason", "It looks like MPI runtime init failed for some reason"]
)
def test_the_line_behind_the_arrow_is_quoted(start):
    text = f'{start}; your parallel process is\nlikely to abort.\n\n  ompi_mpi_init: ompi_rte_init failed\n  --> Returned "(null)" (-43) instead of "Success" (0)\n'
    assert any("Returned" in hit.text for hit in diagnose([("a.err", text)]).cause.hits[:8])
