"""Messages that a text only quotes, expects or recovers from: no answer is certain of them."""

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose

TEXTS = {
    "documentation": """\
        ## My job was killed
        If you see this, then your job asked for too little memory:
            slurmstepd: error: Detected 1 oom-kill event(s) in StepId=12.0. Some of your processes may have been killed by the cgroup out-of-memory handler.
        ## It was cancelled
            slurmstepd: error: *** JOB 12 ON n01 CANCELLED AT 2023-01-01T00:00:00 DUE TO TIME LIMIT ***
        Ask for more time with the option of the batch command.
        """,
    "a history": "commit 1a2b3c4d\n\n    Handle CUDA out of memory by halving\n\ncommit 2b3c4d5e\n\n    Abort if MPI_Init failed\n",
    "a source": 'try:\n    solve()\nexcept MemoryError:\n    raise RuntimeError("CUDA out of memory. Tried to allocate")\n',
    "a table": 'id,text,label\n1,"CUDA out of memory",gpu\n2,"Disk quota exceeded",io\n3,"Bus error",code\n',
    "several jobs": "881 prod COMPLETED 0:0\n882 prod FAILED 1:0\n883 prod OUT_OF_ME+ 0:125\n",
    "an earlier job": "Its last line was:\n  > slurmstepd: error: *** JOB 8 ON n1 CANCELLED AT 2023-01-01T00:00:00 DUE TO TIME LIMIT ***\nstep 4\nstep 5\n",
    "a search": "logs/run1.out:120:Segmentation fault (core dumped)\nlogs/run7.out:12:Segmentation fault (core dumped)\n",
    "a record": '{"id": 1, "error": "Segmentation fault (core dumped)"}\n{"id": 2, "error": null}\n',
    "tests that pass": "      Start  2: handler\nSegmentation fault (core dumped)\n 2/2 Test  #2: handler ......   Passed    0.10 sec\n\n100% tests passed, 0 tests failed out of 2\n",
    "a failure that was expected": "Expecting failure: ./a.out\nterminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\nrun.sh: line 12: 4711 Aborted (core dumped) ./a.out\n  -> failed as expected\nAll tests behaved.\n",
    "a trial": "[W 2024-03-04 10:01:00] Trial 1 failed because of the following error: RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB').\n[I 2024-03-04 10:02:00] Trial 2 finished with value: 0.93\n[I 2024-03-04 10:03:00] Trial 3 finished with value: 0.95\n",
    "a worker that was replaced": "distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting\nchunks done so far: ten\nall chunks are done now\nwrote zarr store\n",
    "an exception in a destructor": "100 steps done\nException ignored in: <function Foo.__del__ at 0x7f>\nTraceback (most recent call last):\n  File \"foo.py\", line 3, in __del__\nAttributeError: 'NoneType' object has no attribute 'close'\n",
    "a check of the node": "check_ecc: uncorrectable ECC errors ... none\nhello from rank 0\n",
    "no GPU, and on it goes": "E cuda_driver.cc:265] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nThis binary is optimized for this machine\nBuilding the model now\nThe model has three layers\n",
    "a part that ended well": "Mesh generation finished successfully.\nComputing the initial guess\nSolving the equations now\n",
    "a part that failed": "stage 4: Failed to read grid\nAll output files written. Normal termination of driver.\n",
}


@pytest.mark.parametrize("kind", TEXTS)
def test_no_answer_is_sure_of_what_a_text_only_mentions(kind):
    lines = TEXTS[kind].replace("\n        ", "\n").lstrip()
    found = diagnose([("job.out", lines)])
    assert found.verdict != "succeeded"
    assert found.verdict == "no-cause" or found.cause.confidence == "guess"


@pytest.mark.parametrize(
    ("text", "code", "confidence"),
    [
        # The same messages at the end of the program itself.
        ("step 1\nRuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n", "CUDA-OOM", "certain"),
        (
            "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
            "CXX-BAD-ALLOC",
            "likely",
        ),
        (
            '{"level": "fatal", "msg": "write: Disk quota exceeded"}\nsrun: error: n1: task 0: Exited with exit code 1\n',
            "IO-QUOTA",
            "certain",
        ),
        (
            "Worker exceeded 95% memory budget. Restarting\nkilled again\nsrun: error: n1: task 0: Exited with exit code 1\n",
            "DASK-MEMORY",
            "likely",
        ),
    ],
)
def test_a_message_that_ends_the_run_keeps_its_word(text, code, confidence):
    cause = diagnose([("job.out", text)]).cause
    assert (cause.code, cause.confidence) == (code, confidence)


def test_work_behind_an_exception_until_the_time_limit_makes_the_limit_the_cause():
    text = (
        "Traceback (most recent call last):\nImportError: No module named matplotlib\nstep 11\nstep 12\nstep 13\n"
        "slurmstepd: error: *** JOB 12 ON n1 CANCELLED AT 2024-01-01T00:00:00 DUE TO TIME LIMIT ***\n"
    )
    assert diagnose([("job.err", text)]).cause.code == "SLURM-TIME-LIMIT"


KILLED = "[NID 00146] 2011-05-01 19:00:18 Apid 15379: OOM killer terminated this process.\n"


@pytest.mark.parametrize(
    "rows",
    [
        # The record of one job, however often a script prints it.
        "4231907|relax|FAILED|139:0\n" * 3,
        "4231907 relax FAILED 139:0\n" * 8,
        # A list of other jobs after the job's output.
        "881 prod COMPLETED 0:0\n882 prod FAILED 1:0\n883 prod OUT_OF_ME+ 0:125\n",
    ],
)
def test_rows_of_accounting_do_not_hide_the_message_before_them(rows):
    assert diagnose([("job.out", KILLED + rows)]).cause.code == "ALPS-OOM"


def test_a_text_of_another_form_is_named():
    found = diagnose([("README", TEXTS["a history"])])
    assert "reads as a history of commits" in found.notes[0]
    assert found.next[0].startswith("Provide the job's output")


# Output of a job before it runs, and its possible ends.
HEADS = {
    "documentation": "# Solver\n\n## Install\n\nBuild it with the usual commands of the site.\n\n```\nmake\n```\n\n## Trouble\n\n"
    "If you see CUDA out of memory, then ask for a larger card.\n\n```\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n```\n"
    "\n## Licence\n\nIt is free for all uses.\n",
    "commits": "commit 1a2b3c4d\nAuthor: A <a@b>\n\n    Handle CUDA out of memory by halving\n\ncommit 2b3c4d5e\nAuthor: A <a@b>\n\n    Abort if MPI_Init failed\n",
    "short commits": "1a2b3c4 Handle CUDA out of memory\n2b3c4d5 Abort if MPI_Init failed\n3c4d5e6 Mend a Segmentation fault\n",
    "jobs": "JobID|JobName|State|ExitCode\n881|prod|COMPLETED|0:0\n882|prod|FAILED|1:0\n883|prod|OUT_OF_MEMORY|0:125\n",
    "a table": TEXTS["a table"],
    "a source": "import numpy\ndef solve(x):\n    return x\n    raise MemoryError('out of memory')\n" * 30,
}
ENDS = {
    "KeyError: 1": '+ srun python t.py\nstep 1\nTraceback (most recent call last):\n  File "t.py", line 3, in <module>\n    main()\nKeyError: 1\n',
    "Message truncated": "begin\nAbort(1) on node 3 (rank 3 in comm 0): Fatal error in PMPI_Recv: Message truncated, error stack:\n"
    "PMPI_Recv(171): MPI_Recv failed\nThis typically refers to a problem with your application.\nPlease see the FAQ page for debugging suggestions\n",
}


@pytest.mark.parametrize("said", ENDS)
@pytest.mark.parametrize("head", HEADS)
def test_a_job_that_prints_another_text_first_is_read_behind_it(head, said):
    found = diagnose(
        [("job.out", f"node n12\n{HEADS[head]}{ENDS[said]}" if head != "a table" else HEADS[head] + ENDS[said])]
    )
    assert said in found.cause.hits[0].text
    assert "read as" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        # The innermost line of an older MPICH's stack, an error of NWChem below the help text of the launcher, and an
        # exception with only its name.
        (
            "Fatal error in MPI_Init: Other MPI error, error stack:\nMPIR_Init_thread(433).................:\n"
            "MPIU_SHMW_Seg_create_attach_templ(635): open failed - Permission denied\n",
            "open failed - Permission denied",
        ),
        (
            "MPI_ABORT was invoked on rank 0 in communicator MPI COMMUNICATOR 3 DUP FROM 0\nwith errorcode -1.\n"
            "NOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.\nYou may or may not see output.\n"
            "0:autoz bonds: too many internals:Received an Error in Communication\n",
            "too many internals",
        ),
        (
            "Building DAG of jobs...\nIncompleteFilesException:\nThe files below seem to be incomplete.\n"
            + "matches.tsv\n" * 8,
            "IncompleteFilesException",
        ),
    ],
)
def test_an_end_of_an_unusual_form_is_quoted(text, quoted):
    assert quoted in " ".join(hit.text for hit in diagnose([("job.err", text)]).cause.hits)
