"""Advice with numbers, if the launch line, the machine and the record are known."""

from __future__ import annotations

import pytest

from hopperkit.failures.context import Context, read_context
from hopperlib.failure.messages.rules import load_rules
from hopperlib.machine import Machine

HOPPER = Machine.load("hopper")


def memory(launch, **fields):
    return read_context(launch=launch, machine=HOPPER).advice("ALPS-OOM", fields)


def test_a_full_node_had_its_share():
    """31 GB usable / 24 tasks = 1.29 GB; a quarter more is 1.61 GB, and 31 / 1.61 = 19 tasks; 384 / 19 = 20.2 nodes."""
    had, fits = memory("aprun -n 384 ./vasp")
    assert had == "With 24 tasks on a node of Hopper each had 1.29 GB: 31 GB are usable, 32 GB installed."
    assert "19 tasks on each of 21 standard nodes: aprun -n 384 -N 19 -S 5 ./vasp" in fits


def test_a_measured_need_beats_the_first_step():
    """A task of 3,145,728 kB = 3 GB, a tenth more is 3.3 GB: 31 / 3.3 = 9 tasks per node."""
    fits = memory("aprun -n 384 -N 12 ./vasp", rss_kb="3145728")[-1]
    assert fits.startswith(
        "For the 3.00 GB that it reached, plus a tenth (3.30 GB per task): 9 tasks on each of 43 standard nodes"
    )


def test_a_peak_below_the_share_is_no_need():
    """Samples miss the peak: 1 GB of 2.58 GB is no evidence, so a quarter more than the share is the first step."""
    assert "(3.23 GB per task)" in memory("aprun -n 384 -N 12 ./vasp", rss_kb="1048576")[-1]


def test_what_fits_nowhere_is_said():
    assert "no layout fits" in memory("aprun -n 4 -N 1 ./vasp", rss_kb=str(90 * 1024**2))[-1]


def test_the_record_speaks_for_itself():
    sacct = "JobID|State|MaxRSS|ReqMem|Elapsed|Timelimit\n7|TIMEOUT||64G|01:00:10|01:00:00\n7.0|CANCELLED|2097152K|||\n"
    context = read_context(sacct=sacct)
    assert context.record_failed is True
    assert context.advice("SLURM-OOM", {}) == [
        "The record's largest task used 2.00 GB at its last sample, requested 64G."
    ]
    assert context.advice("SLURM-TIME-LIMIT", {}) == ["Scheduler record: ran 01:00:10, limit 01:00:00."]


def test_a_claim_names_the_nodes_it_needed():
    """84 tasks at 24 per node are 4 nodes (3.5), 80 tasks are 4 (3.3): programs of one line share no node."""
    context = read_context(launch="aprun -n 84 ./ocean : -n 80 ./ice", machine=HOPPER)
    assert context.advice("ALPS-CLAIM-RESOURCES", {}) == ["The launch line needs 8 nodes (4 + 4 for its parts)."]


def test_a_claim_that_is_refused_again_says_why():
    context = read_context(launch="#PBS -l mppwidth=48\naprun -n 96 ./chombo", machine=HOPPER)
    (said,) = context.advice("ALPS-CLAIM-NODES", {})
    assert "needs 4 nodes" in said
    assert "reserves 2" in said
    assert context.launch is None


def test_a_script_that_fits_shows_both_numbers():
    context = read_context(launch="#PBS -l mppwidth=96\naprun -n 96 ./chombo", machine=HOPPER)
    assert context.advice("ALPS-CLAIM-NODES", {}) == ["The launch line needs 4 nodes; the script reserves 4."]


def test_no_context_and_other_causes_add_nothing_false():
    codes = [made.code for made in load_rules()]
    assert [code for code in codes if Context().advice(code, {})] == []
    context = read_context(launch="aprun -n 384 ./vasp", machine=HOPPER)
    assert {code for code in codes if context.advice(code, {})} == CODES_WITH_NUMBERS


CODES_WITH_NUMBERS = {
    "ALPS-OOM", "SLURM-OOM", "SLURM-MEMORY-LIMIT", "SLURM-MEMORY-ONCE", "KERNEL-OOM", "CGROUP-OOM", "CXX-BAD-ALLOC", "GFORTRAN-MEMORY",
    "PY-MEMORY", "C-MEMORY", "HUGEPAGES-EXHAUSTED", "PBS-MEMORY", "LSF-MEMORY", "ALPS-CLAIM-NODES",
    "ALPS-CLAIM-RESOURCES", "SLURM-STEP-CREATE", "OMPI-SLOTS",
}  # fmt: skip


def test_a_launch_line_needs_its_machine():
    with pytest.raises(ValueError, match="a launch line needs the machine it ran on: give --machine too"):
        read_context(launch="aprun -n 4 ./a.out")


def test_another_machine_with_another_launcher():
    toy = Machine.load("perlmutter")
    said = read_context(launch="srun -N 2 -n 256 -c 2 ./a.out", machine=toy).advice("SLURM-OOM", {})
    assert "With 128 tasks on a node" in said[0]
    assert "srun -N" in said[1]


def test_an_empty_context_knows_nothing():
    assert Context().record_failed is None
