"""What questions share that ask for a machine: the machine that is meant, and the badge of its numbers."""

from __future__ import annotations

from hopperlib.errors import InputError
from hopperlib.machine import Machine, MachineError
from hopperlib.questions.result import Badge

__all__ = ["badge_of", "chosen_machine"]


def chosen_machine(machine: str | Machine, text: str = "") -> Machine:
    """Return the chosen machine, or the one in the reader's file.

    Raises
    ------
    InputError
        If the file is no machine file; it points at the field.

    Examples
    --------
    >>> chosen_machine("hopper", "").title
    'Hopper'
    >>> chosen_machine("hopper", "title = 3")
    Traceback (most recent call last):
    hopperlib.errors.InputError: machine file: title = 3: must be text (and 4 more; `hopper machine check` \
lists them all)
    """
    try:
        if text.strip():
            return Machine.from_toml(text)
        return machine if isinstance(machine, Machine) else Machine.load(machine)
    except MachineError as error:
        raise InputError(str(error), name="machine_file") from error


def badge_of(machine: Machine, path: str) -> tuple[Badge, str]:
    """Return the badge of a number of the machine file, and its source or the reason it is assumed.

    Examples
    --------
    >>> badge_of(Machine.load("hopper"), "node.standard.usable_memory_gb")
    ('documented', 'antypas2011, sec. 2, User Environment')
    """
    quantity = machine.provenance[path]
    if quantity.source is None:
        return "assumed", quantity.assumed or ""
    return "documented", f"{quantity.source}, {quantity.at}"
