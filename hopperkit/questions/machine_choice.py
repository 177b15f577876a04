"""Shared by questions about a machine: the choice of machine, also from a job script, and the badge of its numbers."""

import re
from typing import TYPE_CHECKING, NamedTuple

from hopperkit.questions.result import Badge
from hopperlib.errors import InputError
from hopperlib.machine import Machine, MachineError
from hopperlib.machine.machine import Signs, signs_of

if TYPE_CHECKING:
    from hopperkit.launchers.scripts import Script


def chosen_machine(machine: str | Machine, text: str = "") -> Machine:
    """Return the chosen machine, or the one in the reader's file.

    Parameters
    ----------
    machine : str or Machine
        The machine, or its name.
    text : str, default ''
        The text.

    Raises
    ------
    InputError
        If the file is not a valid machine file; the error refers to the field.

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

    Parameters
    ----------
    machine : Machine
        The machine.
    path : str
        Path of the value or file.

    Examples
    --------
    >>> badge_of(Machine.load("hopper"), "node.standard.usable_memory_gb")
    ('documented', 'antypas2011, sec. 2, User Environment')
    """
    quantity = machine.provenance[path]
    if quantity.source is None:
        return "assumed", quantity.assumed or ""
    return "documented", f"{quantity.source}, {quantity.at}"


# Machines that scripts name but that have no file here: a text that names one is not for ours.
_OTHERS = """
summit crusher spock andes ascent rhea jaguar theta crux sophia sunspot cori knl haswell mira puhti mahti roihu
jureca juwels yellowstone bluefire cheyenne derecho stampede stampede2 frontera vista lonestar summitdev piz
pizdaint tioga lassen sierra elcapitan adastra lawrencium greatlakes pitzer hemera marconi leonardo supermuc
snellius dardel karolina deucalion aris bridges expanse delta anvil
"""
_STRONG, _ENOUGH = 4, 2
"""Weight of a machine-specific word, with a queue name as 1, and the sum required to be sure."""
# Names that partitions have at most sites.
_ANYWHERE = ("partition=batch", "partition=normal", "partition=debug", "partition=low", "partition=serial")
_MPIEXEC = ("pals", "openmpi", "mpich", "intelmpi")


def machine_of_text(text: str) -> tuple[str, str]:
    r"""Return the machine that a text is for, from all evidence, and the first evidence; None if unknown.

    A comment is not evidence: a script may be written for another machine than the one it came from. A machine must
    have the launcher, and the requested constraint, partition and QOS unless the text names it. One queue alone is not
    sufficient: several sites have a constraint ``gpu`` and a QOS ``debug``.

    Parameters
    ----------
    text : str
        Launch line or batch script.

    Examples
    --------
    >>> machine_of_text("#SBATCH -C gpu -q regular\nsrun -n 4 ./a")
    ('perlmutter', 'constraint=gpu')
    >>> machine_of_text("#SBATCH -C gpu\nsrun -n 4 ./a")
    ('', '')
    """
    # Few questions read a script: the parser is imported on demand.
    from hopperkit.launchers.scripts import read_script

    script = read_script(text)
    text = _without_comments(text)
    # Names of machines match in any case.
    text = f"{text}\n{text.lower()}"
    if any(_has_word(text, word) for word in _OTHERS.split()):
        return "", ""
    from hopperkit.launchers.batch.node_request import requested_choices

    choices = requested_choices(script)
    weighed = {name: _weigh(signs_of(name), text, script, choices) for name in Machine.names()}
    most = max(weight for weight, _ in weighed.values())
    best = [(name, sign) for name, (weight, sign) in weighed.items() if weight == most]
    return best[0] if most >= _ENOUGH and len(best) == 1 else ("", "")


def unknown_machine(text: str) -> str:
    r"""Return the message for a text of a current machine that does not identify it; empty if it is clear.

    aprun lines are assumed to be for this book's machine unless they show otherwise.

    Parameters
    ----------
    text : str
        Launch line or batch script.

    Examples
    --------
    >>> unknown_machine("aprun -n 24 ./a"), unknown_machine("srun -n 4 ./a")[:26]
    ('', 'The text names no machine.')
    """
    from hopperkit.launchers.scripts import read_script

    script = read_script(text)
    launchers = {line.launcher for line in script.lines}
    systems = {directive.system for directive in script.directives}
    if launchers <= {"aprun"} and not systems - {"pbs"} and (launchers or not systems):
        return ""
    return "The text names no machine."


HOW_TO_NAME = (
    "On a login node of it: hopper place --here FILE. Elsewhere: --machine NAME (`hopper machine list`), or write its file "
    "with `hopper machine new`."
)
"""How users specify the machine if the text does not name it."""


class Guess(NamedTuple):
    """The machine for a text: its name, the evidence, and the reason for doubt if there is none."""

    machine: str
    sign: str = ""
    doubt: str = ""


def guess_machine(text: str) -> Guess:
    """Return the machine for placing a launch line or script when none is named.

    Parameters
    ----------
    text : str

    Examples
    --------
    >>> guess_machine("aprun -n 24 ./a").machine, guess_machine("srun -n 4 ./a").machine
    ('hopper', 'cluster')
    """
    machine, sign = machine_of_text(text)
    if sign:
        return Guess(machine, sign)
    if doubt := unknown_machine(text):
        return Guess("cluster", "", f"{doubt} {HOW_TO_NAME}")
    return Guess("hopper")


def _without_comments(text: str) -> str:
    """Return a text without its comments; directives and a shebang line are kept."""
    kept = re.sub(r"^[ \t]*#(?!SBATCH|PBS|BSUB|COBALT|flux:).*", "", text, flags=re.MULTILINE)
    return re.sub(r"(?<=[ \t])#[ \t].*", "", kept)


def _has_word(text: str, word: str) -> bool:
    """Whether a word occurs in a text, not within another one; digits and underscores may follow."""
    return word in text and re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z])", text) is not None


def _weigh(signs: Signs, text: str, script: "Script", choices: set[str]) -> tuple[int, str]:
    """Return the weight of a text's evidence for a machine, and the first evidence."""
    words = [sign for sign in signs.words if _has_word(text, sign)]
    # The wrong launcher in a text that names a machine is a mistake to report, not another machine.
    if not words and not all(_has_launcher(line.launcher, signs.launchers) for line in script.lines):
        return 0, ""
    requests = [choice for choice in sorted(choices) if _is_queue(choice, signs.queues)]
    unknown = {each for each in choices if each not in requests and not each.startswith("account=") and "$" not in each}
    # A machine without a requested item is excluded; its specific words may occur with a queue that its file does not
    # list.
    if any(not words or each.startswith("constraint=") for each in unknown):
        return 0, ""
    weight = _STRONG * len(words) + sum(each not in _ANYWHERE for each in requests)
    return weight, next(iter([*words, *requests]), "")


def _is_queue(choice: str, queues: tuple[str, ...]) -> bool:
    """Whether a machine has a requested item; accounts match by a part."""
    sort, _, name = choice.partition("=")
    parts = [queue.partition("=")[2] for queue in queues if queue.startswith("account=")]
    return choice in queues or (
        sort == "account" and any(name.startswith(part) or name.endswith(part) for part in parts)
    )


def _has_launcher(typed: str, launchers: tuple[str, ...]) -> bool:
    """Whether a machine has the launcher of a line."""
    return typed in launchers if typed in ("aprun", "srun") else bool(set(launchers) & set(_MPIEXEC))


def suggest_machine(text: str, machine: Machine) -> str:
    """Return a suggestion if a Slurm script is used with a machine that never ran Slurm; otherwise empty.

    Parameters
    ----------
    text : str
        Launch line or batch script.
    machine : Machine
        Machine that was chosen.

    Examples
    --------
    >>> suggest_machine("srun -n 4 ./a", Machine.load("hopper"))[:48]
    'Hopper never ran srun: this shows what Slurm wou'
    """
    # A launcher that is only assumed never ran on the machine.
    launchers = {launcher.kind for launcher in machine.launchers if launcher.assumed is None}
    slurm = re.search(r"^#SBATCH|\bsrun\b", text, re.MULTILINE)
    if not slurm or not launchers or "srun" in launchers:
        return ""
    guessed = machine_of_text(text)[0] or "NAME"
    return (
        f"{machine.title} never ran srun: this shows what Slurm would do on such nodes. For a current machine: "
        f"--machine {guessed}; `hopper machine list` lists all."
    )
