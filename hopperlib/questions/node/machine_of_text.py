"""Which machine a job script was written for, by the words in it."""

from __future__ import annotations

import re

from hopperlib.machine import Machine, signs_of

__all__ = ["machine_of_text", "offered_instead"]


def machine_of_text(text: str) -> tuple[str, str]:
    r"""Return the machine whose words a text holds most of, and the first of them; nothing if none, or several alike.

    Examples
    --------
    >>> machine_of_text("#SBATCH -C gpu\nsrun -n 4 ./a")
    ('perlmutter', '-C gpu')
    >>> machine_of_text("srun -n 4 ./a")
    ('', '')
    """
    found: dict[str, list[str]] = {}
    for name in Machine.names():
        # Most words stand nowhere in a text: to look for them costs less than a pattern.
        words = [
            word for word in signs_of(name) if word in text and re.search(rf"(?<!\w){re.escape(word)}(?![\w-])", text)
        ]
        if words:
            found[name] = words
    most = max(map(len, found.values()), default=0)
    best = [name for name, words in found.items() if len(words) == most]
    return (best[0], found[best[0]][0]) if len(best) == 1 else ("", "")


def offered_instead(text: str, machine: Machine) -> str:
    """Return what to say where a Slurm script meets a machine that never ran Slurm; empty elsewhere.

    Examples
    --------
    >>> offered_instead("srun -n 4 ./a", Machine.load("hopper"))[:48]
    'Hopper never ran srun: this shows what Slurm wou'
    """
    own = {launcher.kind for launcher in machine.launchers if launcher.assumed is None}
    slurm = re.search(r"^#SBATCH|\bsrun\b", text, re.MULTILINE)
    if not slurm or not own or "srun" in own:
        return ""
    guessed = machine_of_text(text)[0] or "perlmutter"
    return (
        f"{machine.title} never ran srun: this shows what Slurm would do on such nodes. For a machine of today, "
        f"--machine {guessed}, say; `hopper machine list` names all."
    )
