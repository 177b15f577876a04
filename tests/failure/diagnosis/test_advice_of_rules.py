"""The advice of every rule for its positive samples: no placeholder remains, and no line is contradicted."""

from __future__ import annotations

import re

import pytest

from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages.rules import load_rules

CAUSES = [rule for rule in load_rules() if rule.role == "cause" and rule.advice]
# Placeholders that the reader fills in: no message contains their values.
FILLED_BY_READER = {
    "alternative", "command", "conda", "core", "file", "folder", "image", "job", "library", "list", "module", "name", "node", "nodes",
    "pid", "place", "program", "script", "script_line", "url", "version", "host", "path", "group", "environment", "package", "cell",
}  # fmt: skip


def advised(rule):
    """Return the advice for each positive sample that the diagnosis answers with this rule."""
    for sample in rule.positive:
        found = diagnose([("job.err", f"{sample}\nsrun: error: n1: task 0: Exited with exit code 1\n")])
        for cause in found.causes:
            if cause.code == rule.code:
                yield sample, " ".join(cause.advice)


@pytest.mark.parametrize("rule", CAUSES, ids=lambda rule: rule.code)
def test_no_place_is_left_open_that_the_text_could_fill(rule):
    for sample, advice in advised(rule):
        left = set(re.findall(r"<(\w+)>", advice))
        groups = set(re.findall(r"\?P<(\w+)>", " ".join(rule.regex)))
        assert left <= FILLED_BY_READER | groups, (sample, advice)


@pytest.mark.parametrize("rule", CAUSES, ids=lambda rule: rule.code)
def test_each_number_of_the_advice_is_printed_or_stands_in_the_rule(rule):
    said = " ".join(rule.advice)
    for sample, advice in advised(rule):
        for number in re.findall(r"(?<![\w.-])\d{3,}(?![\w.-])", advice):
            assert number in sample or number in said, (sample, advice)


def test_advice_speaks_of_the_scheduler_that_prints_the_message():
    """Options of srun are no help under PBS, LSF or Flux."""
    wrong = {
        "FLUX-": r"\b(?:srun|sbatch|qsub|bsub)\b",
        "PBS-": r"\b(?:srun|sbatch)\b",
        "LSF-": r"\b(?:srun|sbatch|qsub)\b",
    }
    for rule in CAUSES:
        for prefix, words in wrong.items():
            assert not (rule.code.startswith(prefix) and re.search(words, " ".join(rule.advice))), rule.code


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("salloc: error: Unable to allocate resources: Connection timed out", "correct the option"),
        ("FATAL:   container creation failed: fuse: failed to exec fusermount3: No such file or directory", "correct the path"),
        ("(GTL DEBUG: 1) cuIpcOpenMemHandle: invalid argument, CUDA_ERROR_INVALID_VALUE, line no 360\nFatal error in PMPI_Waitall: Invalid count, error stack:", "Print the count"),
        ("srun: error: JobId=125452 failed to distribute tasks (bind_type:threads,mask_cpu) - this should never happen", "--exclude"),
    ],
)  # fmt: skip
def test_advice_does_not_contradict_the_line(line, wrong):
    found = diagnose([("job.err", line + "\n")])
    assert found.cause
    assert found.cause.advice
    assert wrong not in " ".join(found.cause.advice)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Error in library(ggplot2) : there is no package called ‘ggplot2’", "library(ggplot2)"),
        ("Error in check: please install the following packages: fda.usc", "fda.usc"),
        ("ERROR: Insufficient memory on accelerator (src/GPU/gpu_extra.h:38)", "fewer tasks on each GPU"),
        ("--> FOAM FATAL ERROR: attempt to run parallel on 1 processor", "at least 2 tasks"),
        ("#1  Foam::sigFpe::sigHandler(int) at ??:?", "maxCo"),
        ("requests.exceptions.ChunkedEncodingError: ('Connection broken: IncompleteRead(4 bytes read)')", "login or transfer node"),
        ("n1.304PSM2 can't open hfi unit: 0 (err=23)", "PSM2_MAX_CONTEXTS_PER_JOB"),
        ("RuntimeError: Non-finite loss", "learning rate"),
        ("SyntaxError: invalid syntax", "python --version"),
        ("srun: error: Invalid --gpu-bind argument: closest,x", "map_gpu:LIST"),
        ("AttributeError: 'NoneType' object has no attribute 'shape'", "is None"),
        ("AttributeError: 'list' object has no attribute 'shape'", "it is a list, but an object with"),
        ("ZeroDivisionError: float division by zero", "divisor"),
        ("Could not locate a Bowtie index corresponding to basename \"idx/x\"", "ls idx/x*.bt2"),
        ("HYDU_create_process (./utils/launch/launch.c:69): execvp error on file 0 (No such file or directory)", "took `0` for the program name"),
        ("sbatch: error: Batch job submission failed: Memory required by task is not available", "--mem-per-cpu"),
    ],
)  # fmt: skip
def test_words_of_a_message_lead_to_a_step(line, words):
    cause = diagnose([("job.err", f"{line}\n")]).cause
    assert words in " ".join(cause.advice)


@pytest.mark.parametrize(
    ("line", "two"),
    [
        ("srun: error: n1: task 0: Exited with exit code 137", ("memory", "Timelimit")),
        ("/var/spool/slurmd/job123/slurm_script: line 12: 4242 Killed                  python train.py", ("MaxRSS", "time")),
        ("x1000c0s0b0n0: rank 3 died from signal 9", ("memory", "time")),
        ("Fatal error in PMPI_Waitall: See the MPI_ERROR field in MPI_Status for the error code", ("another rank", "count")),
        ("srun: error: task 3: Bus error (core dumped)", ("/dev/shm", "mapped file")),
    ],
)  # fmt: skip
def test_of_several_causes_two_are_named_and_told_apart(line, two):
    found = diagnose([("job.err", f"{line}\n")])
    advice = " ".join(found.cause.advice if found.cause else found.next)
    assert all(words in advice for words in two)


def test_a_frame_of_a_library_is_no_place_to_begin():
    stack = "==== backtrace (tid: 11) ====\n 0 0x0005 uct_handle_failure()  /build/x/spack-src/src/uct/ib/rc/verbs/iface.c:63\n"
    text = "rc_verbs_iface.c:65 send completion with error: remote invalid request\n" + stack
    assert not any("iface.c" in step for step in diagnose([("job.out", text)]).cause.advice)


@pytest.mark.parametrize(
    ("limit", "column"),
    [
        ("QOSMaxSubmitJobPerUserLimit", "MaxSubmitPU"),
        ("QOSMaxJobsPerUserLimit", "MaxJobsPU"),
        ("AssocMaxSubmitJobLimit", "assoc where user=$USER format=Account,QOS,MaxSubmit"),
        ("AssocGrpSubmitJobsLimit", "GrpSubmit"),
        ("QOSMaxCpuPerUserLimit", "MaxTRESPU"),
        ("QOSMaxWallDurationPerJobLimit", "MaxWall"),
        ("AssocGrpCPUMinutesLimit", "GrpTRESMins"),
    ],
)
def test_the_command_for_a_limit_shows_it(limit, column):
    """Columns of sacctmgr(1): a limit of an association is no limit of a QOS, nor is a number of jobs one of resources."""
    text = f"sbatch: error: {limit}\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy\n"
    cause = diagnose([("job.err", text)]).causes[0]
    (step,) = [each for each in cause.advice if "sacctmgr" in each]
    assert column in step
    assert limit in step
    assert ("qos format" in step) == limit.startswith("QOS")
    assert ("request less" in step) != ("Job" in limit.replace("PerJob", ""))


@pytest.mark.parametrize("value", ["nan", "NaN", "-nan", "nan(ind)", "loss=nan,"])
@pytest.mark.parametrize(("before", "expected"), [(3, True), (60, False)])
def test_more_time_is_not_the_first_advice_for_a_run_that_computes_nan(value, before, expected):
    """Values that are not numbers up to the time limit; those that the run left behind say nothing."""
    numbers = "".join(f"step {step} energy 1.25\n" for step in range(before if not expected else 0))
    text = f"step 0 energy 1.5\nstep 1 energy {value}\nstep 2 energy {value}\n{numbers}"
    text += "slurmstepd: error: *** JOB 8 ON n12 CANCELLED AT 2026-06-01T02:00:00 DUE TO TIME LIMIT ***\n"
    cause = diagnose([("job.out", text)]).causes[0]
    assert cause.code == "SLURM-TIME-LIMIT"
    assert ("job.out:2 is the first of 2 lines with NaN" in cause.advice[0]) is expected
