"""The path from a launch text to its drawing is short and reads nothing twice."""

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from hopperkit.launchers import read_launch
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.text_drawing import node_picture
from hopperlib.machine import Machine

SCRIPT = """\
#!/bin/bash
#SBATCH -N 2
#SBATCH -C cpu
module load vasp
export OMP_NUM_THREADS=4
srun -n 64 -c 8 --cpu-bind=cores ./a.out > log
"""
CASES = [("aprun -n 384 -N 12 -S 3 vasp\n", "hopper"), (SCRIPT, "perlmutter")]


def draw(text: str, machine: Machine) -> str:
    placement = place_tasks(read_launch(text, machine), machine)
    return node_picture(placement.node_kind, placement.nodes[0])


def profiled(act: Callable[[], Any]) -> list[tuple[str, int, list[Any]]]:
    """Return the calls of functions of the two packages: name, depth among themselves, arguments."""
    calls: list[tuple[str, int, list[Any]]] = []
    depth = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        path = frame.f_code.co_filename.replace("\\", "/")
        if not any(part in path for part in ("hopperkit/launchers/", "hopperlib/placement/")):
            return
        if frame.f_code.co_name.startswith("<"):
            return
        if event == "call":
            depth += 1
            calls.append((frame.f_code.co_qualname, depth, list(frame.f_locals.values())))
        elif event == "return":
            depth -= 1

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(("text", "name"), CASES)
def test_no_function_is_given_the_whole_text_twice(text: str, name: str) -> None:
    machine = Machine.load(name)
    given = Counter(called for called, _, values in profiled(lambda: draw(text, machine)) if text in values)
    assert {"read_launches", "read_script", "split"} <= set(given)
    assert set(given.values()) == {1}


@pytest.mark.parametrize(("text", "name"), CASES)
def test_at_most_twelve_functions_deep_from_text_to_drawing(text: str, name: str) -> None:
    machine = Machine.load(name)
    assert "NUMA node 0" in draw(text, machine)
    assert max(depth for _, depth, _ in profiled(lambda: draw(text, machine))) <= 12
