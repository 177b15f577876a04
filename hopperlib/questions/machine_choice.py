"""What explorers share that ask for a machine: the controls, the machine they mean, the badge of its numbers."""

from __future__ import annotations

from hopperlib.machine import Machine, MachineError
from hopperlib.questions.controls import Choice, FileText, InputError
from hopperlib.questions.result import Badge

__all__ = ["badge_of", "chosen_machine", "machine_control", "machine_file_control"]


def machine_control(
    name: str = "machine", label: str = "Machine", *, default: str = "hopper", none: str = "", help: str = ""
) -> Choice:
    """Return the choice of a machine of the library; `none` adds an option that means no machine.

    Examples
    --------
    >>> machine_control().read("franklin")
    'franklin'
    """
    # Capitals stand for the titles: reading every file would cost the page a tenth of a second.
    options = tuple((one, one.capitalize()) for one in Machine.names())
    return Choice(
        name=name, label=label, options=options + ((("none", none),) if none else ()), default=default, help=help
    )


def machine_file_control(place: str = "it takes the place of the machine above") -> FileText:
    """Return the field for a machine file of the reader's own.

    Examples
    --------
    >>> machine_file_control().accept
    '.toml'
    """
    return FileText(
        name="machine_file",
        label="Machine file of your own",
        default="",
        accept=".toml",
        advanced=True,
        help=f"TOML, as `hopper machine new` writes it; {place}.",
    )


def chosen_machine(name: str, text: str) -> Machine:
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
    hopperlib.questions.controls.InputError: machine file: title = 3: must be text (and 4 more; `hopper machine check` \
lists them all)
    """
    try:
        return Machine.from_toml(text) if text.strip() else Machine.load(name)
    except MachineError as error:
        raise InputError(str(error), control="machine_file") from error


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
