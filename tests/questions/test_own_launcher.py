"""Lines to copy name the launcher of the machine and no other, for every question and every machine."""

import re
from contextlib import suppress

import pytest

from hopperkit.questions.catalogue import QUESTIONS
from hopperkit.questions.controls import MachineChoice
from hopperkit.questions.question import load
from hopperlib.errors import InputError
from hopperlib.machine import Machine

ASKED = [name for name in QUESTIONS if any(isinstance(control, MachineChoice) for control in load(name).controls)]
LAUNCHER = re.compile(r"\b(aprun|srun|mpiexec|mpirun|ibrun|flux run)\b")
SPELLED = {"aprun": {"aprun"}, "srun": {"srun"}, "ibrun": {"ibrun"}, "flux": {"flux run"}}
LINES = {"aprun": "aprun -n 48 -N 12 ./a.out", "srun": "srun -N 2 -n 16 ./a.out"}


def _one_of_each():
    """Return every machine; those whose launchers another has too are nightly."""
    seen: set[tuple[str, ...]] = set()
    for name in Machine.names():
        kinds = tuple(launcher.kind for launcher in Machine.load(name).launchers if launcher.assumed is None)
        yield pytest.param(name, marks=[pytest.mark.nightly] if kinds in seen else [])
        seen.add(kinds)


@pytest.mark.parametrize("machine", list(_one_of_each()))
def test_only_the_machines_own_launcher_is_copied(machine):
    launchers = Machine.load(machine).launchers
    own = [launcher.kind for launcher in launchers if launcher.assumed is None]
    if not own:
        return
    allowed = set().union(*(SPELLED.get(kind, {"mpiexec", "mpirun"}) for kind in own))
    copied = 0
    for name in ASKED:
        # No line depends on how many days are simulated.
        settings = {control.name: control.low for control in load(name).controls if control.name == "days"}
        lines = (
            [{"line": line} for line in (*LINES.values(), "mpiexec -n 16 -ppn 4 ./a.out")]
            if name == "place"
            else [settings]
        )
        for values in lines:
            with suppress(InputError):
                for copyable in load(name).run(machine=machine, **values).copyables:
                    named = set(LAUNCHER.findall(copyable.text))
                    copied += bool(named)
                    assert named <= allowed, f"{name} on {machine}: {copyable.title}: {copyable.text}"
    assert copied, f"nothing that starts tasks is offered for {machine}"
