"""Ten batch scripts for the machine of a pack: some do what their owners intend, the others have one fault each."""

import random
from collections.abc import Sequence

from hopperbook.project.hardware import Hardware

RIGHT = "right"
FAULTS = {
    "too-many-tasks": "more tasks or cores on a node than it has",
    "too-much-memory": "more memory on a node than it has",
    "too-many-threads": "more threads in a task than cores",
    "no-launcher": "the program is started once, without srun",
}
SCRIPTS = 10
_NAMES = ("airflow", "basin", "cells", "dunes", "ember", "fjord", "grain", "hail", "islets", "jets")


def scripts(hardware: Hardware, rng: random.Random) -> tuple[dict[str, str], dict[str, str]]:
    """Return the scripts by file name, and the error in each.

    Each fault occurs at least once, and four scripts or more are right.

    Examples
    --------
    >>> from hopperbook.project.hardware import draw_hardware
    >>> texts, kinds = scripts(draw_hardware(random.Random(1)), random.Random(1))
    >>> len(texts), sorted(set(kinds.values()))
    (10, ['no-launcher', 'right', 'too-many-tasks', 'too-many-threads', 'too-much-memory'])
    """
    faults = list(FAULTS)
    kinds = [*faults, faults[int(rng.random() * len(faults))], faults[int(rng.random() * len(faults))]]
    kinds = _shuffled([*kinds, *[RIGHT] * (SCRIPTS - len(kinds))], rng)
    files = [f"scripts/{name}.sh" for name in _NAMES]
    texts = {file: _script(file, kind, hardware, rng) for file, kind in zip(files, kinds, strict=True)}
    return texts, dict(zip(files, kinds, strict=True))


def _shuffled(items: Sequence[str], rng: random.Random) -> list[str]:
    """Return items in a random order that is the same in every release of Python."""
    return [item for _, item in sorted((rng.random(), item) for item in items)]


def _script(file: str, kind: str, hardware: Hardware, rng: random.Random) -> str:
    """Return a batch script with one fault, or none."""
    name = file.removeprefix("scripts/").removesuffix(".sh")
    threads = (2, 4)[int(rng.random() * 2)]
    tasks = hardware.cores // threads
    per_task = threads
    memory_gb = int(hardware.real_memory_mb / 1024 * 0.8)
    started = f"srun --cpus-per-task={per_task} --cpu-bind=cores ./{name}"
    if kind == "too-many-tasks":
        tasks += 4 + int(rng.random() * 4)
    elif kind == "too-much-memory":
        memory_gb = hardware.memory_gb + 64 * (1 + int(rng.random() * 3))
    elif kind == "too-many-threads":
        threads = 2 * per_task
    elif kind == "no-launcher":
        started = f"./{name}"
    return f"""#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={1 + int(rng.random() * 8)}
#SBATCH --ntasks-per-node={tasks}
#SBATCH --cpus-per-task={per_task}
#SBATCH --mem={memory_gb}G
#SBATCH --time={1 + int(rng.random() * 8):02d}:00:00
#SBATCH --partition=batch
export OMP_NUM_THREADS={threads}
{started}
"""
