"""What questions share that ask for a machine: the one that is meant, by a job script too, and the badge of its numbers."""

import re

from hopperlib.errors import InputError
from hopperlib.machine import Machine, MachineError, signs_of
from hopperlib.questions.result import Badge


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


def machine_of_text(text: str) -> tuple[str, str]:
    r"""Return the machine whose words a text holds most of, and the first of them; nothing if none, or several alike.

    Examples
    --------
    >>> machine_of_text("#SBATCH -C gpu\nsrun -n 4 ./a")
    ('perlmutter', '-C gpu')
    >>> machine_of_text("srun -n 4 ./a")
    ('', '')
    """
    signs: dict[str, list[str]] = {}
    for name in Machine.names():
        # Most words stand nowhere in a text: to look for them costs less than a pattern.
        words = [
            word for word in signs_of(name) if word in text and re.search(rf"(?<!\w){re.escape(word)}(?![\w-])", text)
        ]
        if words:
            signs[name] = words
    most = max(map(len, signs.values()), default=0)
    best = [name for name, words in signs.items() if len(words) == most]
    return (best[0], signs[best[0]][0]) if len(best) == 1 else ("", "")


def offered_instead(text: str, machine: Machine) -> str:
    """Return what to say where a Slurm script meets a machine that never ran Slurm; empty elsewhere.

    Examples
    --------
    >>> offered_instead("srun -n 4 ./a", Machine.load("hopper"))[:48]
    'Hopper never ran srun: this shows what Slurm wou'
    """
    # A launcher that is only assumed never ran on the machine.
    own = {launcher.kind for launcher in machine.launchers if launcher.assumed is None}
    slurm = re.search(r"^#SBATCH|\bsrun\b", text, re.MULTILINE)
    if not slurm or not own or "srun" in own:
        return ""
    guessed = machine_of_text(text)[0] or "perlmutter"
    return (
        f"{machine.title} never ran srun: this shows what Slurm would do on such nodes. For a machine of today, "
        f"--machine {guessed}, say; `hopper machine list` names all."
    )
