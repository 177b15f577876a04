"""Outputs that no rule was written for: read upwards, told by who speaks, decoded, parted into runs."""

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
    assert found.cause.confidence == "guess"
    assert said in " ".join(hit.text for hit in found.cause.hits[:8])


@pytest.mark.parametrize(
    ("line", "code", "who"),
    [
        ("sbatch: error: cannot frobnicate the job", "SCHEDULER-MESSAGE", "user"),
        ("ibv_poll_cq failed: error in flux", "NETWORK-MESSAGE", "staff"),
        ("[mpiexec@n1] error in the launch of flux", "LAUNCHER-MESSAGE", "user"),
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # A header of few words speaks of the line below it, whatever ends behind.
        ("--> MYFLOW FATAL ERROR:\nattempt to run in parallel on 1 processor\n\nMYFLOW aborting\n", "on 1 processor"),
        # An adjective is no message.
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
    assert found.cause.confidence == "guess"
