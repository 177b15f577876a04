"""Steps that use the items in a message's lines, and no step if nothing is known."""

import re

import pytest

from hopperlib.failure.diagnosis.advice import _FRAMES, _KNOWN, _NAMED
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.failure.messages.rules import load_rules

OPEN_MPI = "[n01:17] *** Process received signal ***\n[n01:17] Signal: Segmentation fault (11)\n"

NAMED = [
    ("ERROR: Unknown workflow parameter definition: REG_ANALYSIS", "`REG_ANALYSIS` is set"),
    ('FATAL ERROR: Cannot find file "points" in directory "air/polyMesh" in times "0"', "`ls air/polyMesh`"),
    ("ERROR reading item 'VCAIMAGES' from file INCAR.", "Correct `VCAIMAGES` in INCAR"),
    ('Error in f(1) : could not find function "makeCluster"', "`makeCluster` with `library()`"),
    ("ERROR: Solution failed to converge (PETSc reason DIVERGED_PC_FAILED)", "zero pivot"),
    ("ERROR: Error reading topography tile /d/geo/00001-01200.x", "`ls -l /d/geo/00001-01200.x`"),
    ("thread 'main' panicked at src/grid.rs:38:13: index 1 exists", "line 38 of src/grid.rs"),
    ("ERROR in CNPBudgetMod.F90 at line 929", "line 929 of CNPBudgetMod.F90"),
    ("ERROR: cannot open input file grid.nc", "`ls -l grid.nc`"),
    ("ERROR: could not write to file at path out/run.csv.", "the folder of `out/run.csv`"),
    ("FATAL ERROR: a run with the name /scratch/u/run7/ already exists", "`/scratch/u/run7` is left"),
    ("FATAL ERROR: /data/set.h5: Permission denied", "`ls -ld /data/set.h5`"),
    ("ERROR: could not convert string 'that' to float32 at row 0", "it has 'that' where a number"),
    ("ERROR: unknown keyword 'dt_fast' in the input", "Remove `dt_fast`"),
    ("ERROR reading namelist domains", "`&domains`"),
    ("flow.H:65:6: error: no match for 'operator[]'", "line 65 of flow.H"),
    ("FATAL ERROR: Failed to open output file `/d/data.out`", "the folder of `/d/data.out`"),
    ("ERROR: /var/spool/slurmd/job51/setup.sh: No such file or directory", "`$SLURM_SUBMIT_DIR/setup.sh`"),
    ("FATAL ERROR: problems finding dimension 'west_east'", "| grep west_east`"),
    ("ERROR: this test requires exactly two processes", "Start it with two processes"),
    ("ERROR: undefined identifier q_a.", "`q_a` is used"),
    ("FATAL ERROR: NX not a multiple of NPX", "Set `NX` to a multiple of `NPX`"),
    ("ERROR: expected 12 columns but found 9", "9 were given where 12"),
    ("FATAL ERROR: failed to connect to server 10.4.0.4:4350", "`nc -vz 10.4.0.4 4350`"),
    ("ValueError: require 4 GPUs, but only 1 GPUs available", "Request 4 GPUs from the scheduler (the job had 1)"),
    ("KeyError: 'speed'", "The key 'speed' is missing"),
    ("AttributeError: 'A' object has no attribute 'stp'. Did you mean: 'step'?", "Write `step`"),
    ("TypeError: load() missing 1 required positional argument: 'Loader'", "Call `load()` with 'Loader'"),
    ("FileNotFoundError: [Errno 2] No such file or directory: '/data/a.npy'", "`ls -l /data/a.npy`"),
    ("ModuleNotFoundError: No module named 'umap'", "import umap"),
    ("slurmstepd: error: Job 77 exceeded memory limit (9278784 > 4067328), being killed", "`--mem=12G`"),
    ("slurmstepd: error: *** JOB 51 ON n3 CANCELLED AT 2024-01-01T01:00:00 DUE TO TIME LIMIT ***", "sacct -X -j 51 "),
    ("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=684.batch cgroup.", "sacct -j 684 "),
    ("srun: error: Node failure on n017", "`--exclude=n017`"),
    ("job.sh: line 12: gmx_mpi: command not found", "before line 12 of the script"),
    ("job.sh: line 3: Export: command not found", "`Export` in lower case"),
    ("sbatch: error: Batch job submission failed: Requested node configuration is not available", "`sinfo -o '%P %c %m %G'`"),
    ("job.sh: line 3: 281 Segmentation fault      (core dumped) python3 run.py", "before `python3 run.py`"),
    ("Program received signal SIGSEGV: Segmentation fault\n#0  0x7f in ???\n#1  0x40 in flux_ at src/flux.f90:41\n", "line 41 of src/flux.f90 (flux_)"),
    (OPEN_MPI + "[n01:17] [ 0] /lib64/libc.so.6(+0x3)[0x2]\n[n01:17] [ 1] ./heat(exchange+0x1a)[0x4]\n", "`exchange` in ./heat"),
    ("ERROR: LoadError: UndefVarError: a not defined\nStacktrace:\n [1] top-level scope\n   @ ~/x/run.jl:12\n", "line 12 of ~/x/run.jl"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "step"), NAMED, ids=[step for _, step in NAMED])
def test_a_step_says_what_the_message_names(text, step):
    cause = diagnose([("job.err", text + "\n")]).cause
    assert step in cause.advice[0]
    assert len(cause.advice) <= 2


UNNAMED = [
    "ERROR: flux solver failed in cell 3",
    "iwl_buf_init: Can't open file 33",
    "RuntimeError: NaN in the layer with name b.encoder. It stopped",
    "ValueError: no",
    "java.io.IOException: Stream closed",
]


@pytest.mark.parametrize("text", UNNAMED)
def test_nothing_is_said_where_nothing_is_named(text):
    assert diagnose([("job.err", text + "\n")]).cause.advice == []


def test_an_exception_beside_another_one_gives_it_no_step():
    text = "KeyError: 'depth'\n\nDuring handling of the above exception, another exception occurred:\n\nValueError: no grid\n"
    assert "depth" not in " ".join(diagnose([("job.err", text)]).cause.advice)


def test_a_stack_of_libraries_alone_is_no_place_to_begin():
    stack = "[n01:17] [ 0] /lib64/libc.so.6(+0x3)[0x2]\n[n01:17] [ 1] /opt/lib/libucs.so.0(ucs_handle+0x1a)[0x4]\n"
    assert "Begin" not in " ".join(diagnose([("job.err", OPEN_MPI + stack)]).cause.advice)


@pytest.mark.parametrize(
    ("bar", "told"), [("20/100 [10:00<40:00, 1s/it]", True), ("100/100 [50:00<00:00, 1s/it]", False)]
)
def test_a_progress_bar_says_how_much_time_is_wanted_unless_it_is_full(bar, told):
    end = "slurmstepd: error: *** JOB 51 ON n3 CANCELLED AT 2024-01-01T01:00:00 DUE TO TIME LIMIT ***\n"
    advice = " ".join(diagnose([("job.err", f"{bar}\n{end}")]).cause.advice)
    assert ("20 of 100 with 40:00 to go" in advice) is told


def test_expressions_compile_and_end_and_steps_are_sentences():
    for regex in (*_NAMED, *_KNOWN, *(frame.pattern for frame in _FRAMES)):
        re.compile(regex)
        # Bounded, so that no line takes long.
        assert not re.search(r"[*+]|\{\d+,\}", re.sub(r"\\.|\[[^\]]*\]", "x", regex))
    assert all(step.endswith(".") for step in _NAMED.values())
    assert all(len(made.advice) for made in load_rules() if made.role == "cause")
