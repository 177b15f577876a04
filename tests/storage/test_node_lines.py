"""Commands that run once on each node, by launcher."""

from __future__ import annotations

import pytest

from hopperkit.filesystems.node_lines import node_lines
from hopperlib.machine import Machine


@pytest.mark.parametrize(
    ("machine", "once", "everywhere"),
    [
        ("perlmutter", "srun --ntasks=4 --ntasks-per-node=1", "srun --ntasks=90 --ntasks-per-node=23"),
        ("aurora", "mpiexec -n 4 --ppn 1", "mpiexec -n 90 --ppn 23"),
        ("hopper", "aprun -n 4 -N 1", "aprun -n 90 -N 23"),
    ],
)
def test_the_words_are_those_of_the_launcher(machine, once, everywhere):
    lines = node_lines(Machine.load(machine), nodes=4, tasks=90)
    assert (lines.once, lines.everywhere, lines.broadcasts) == (once, everywhere, machine == "perlmutter")


def test_no_line_is_offered_that_would_be_refused():
    assert node_lines(Machine.load("hopper"), nodes=4, tasks=100) is None
    assert node_lines(Machine.load("frontera"), nodes=4, tasks=4) is None
