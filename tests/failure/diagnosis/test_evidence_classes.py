"""Classes of errors found in outputs of 28 November 2026, each with generated cases."""

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


@pytest.mark.parametrize(
    ("error", "lines"),
    list(
        product(
            ["Can not open file:\ntopol.tpr", "Cannot allocate the field of step 3", "Invalid mesh at cell 7"],
            range(5),
        )
    ),
)
def test_an_error_above_a_footer_ends_a_text(error, lines):
    footer = [
        "For more information see the manual",
        "of this program",
        "---------------",
        '"A quotation" (somebody)',
        "",
    ]
    found = diagnose([("md.log", "\n".join(["Host: n1", "", error, *footer[:lines]]) + "\n")])
    assert found.verdict == "cause"
    assert found.cause.hits[0].text == error.split("\n", maxsplit=1)[0]


def test_an_error_above_ordinary_work_does_not():
    assert diagnose([("md.log", f"Cannot open the cache, building it\n{WORK}")]).verdict not in FAILED


@pytest.mark.parametrize(("code", "end"), list(product([700, 2, 999], ["", " at /src/a.cpp:7"])))
def test_a_number_in_brackets_is_a_code_and_no_unit(code, end):
    found = diagnose([("a.log", f"step 1\nException: Error invoking kernel: CUDA error ({code}){end}\n")])
    assert found.verdict == "cause"
    assert diagnose([("a.log", "  step   energy   error (eV)\n  1  2.0  0.1\n")]).verdict not in FAILED


@pytest.mark.parametrize("ruler", ["==", "---", "+++"])
def test_a_word_between_rulers_heads_a_sentence(ruler):
    found = diagnose([("a.log", f"step 1\n{ruler} Error {ruler}  the solver finished abnormally\n")])
    assert found.verdict in FAILED
    assert (
        diagnose([("a.log", f"step 1\n{ruler} Error {ruler}\n1 0.1\n2 0.05\n3 0.01\n4 0.004\n5 0.001\n")]).verdict
        not in FAILED
    )


@pytest.mark.parametrize("lines", [5, 20])
def test_a_module_that_is_missing_stopped_nothing_where_the_program_worked(lines):
    complaint = "ERROR: Unable to locate a modulefile for 'pandas/2.1.3'\n"
    worked = "".join(f"Saved E={n} to results of the sweep\n" for n in range(lines))
    assert diagnose([("a.err", complaint), ("a.out", worked)]).verdict not in FAILED
    assert diagnose([("a.err", complaint), ("a.out", "start\n")]).verdict in FAILED
