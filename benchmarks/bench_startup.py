"""Start-up of the command, a question answered, beside a Python that does nothing."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys

from benchmarks.side_by_side import Comparison

ROUNDS = 25
COMMANDS = (("--version",), ("place", "aprun -n 384 -N 12 vasp"))
_MAIN = "from hopperkit.cli import main; main()"


def _cpu_s(program: str, words: tuple[str, ...] = ()) -> float:
    """Return the processor time of a Python program: on a shared machine it varies less than the clock's. [s]"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Compiled modules are kept, as in an installed package.
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    call = [sys.executable, "-c", program, *words]
    subprocess.run(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure() -> list[Comparison]:
    """Return a row for each command, the programs run in turn."""
    rounds = [(_cpu_s("pass"), *(_cpu_s(_MAIN, words) for words in COMMANDS)) for _ in range(ROUNDS)]
    nothing_s, *ours_s = (sorted(times)[ROUNDS // 4] for times in zip(*rounds, strict=True))
    return [
        Comparison(
            what=f"hopper {' '.join(words)}",
            ours_s=seconds,
            peer=f"python -c pass, {platform.python_version()}",
            peer_s=nothing_s,
            note=f"processor time, lower quartile of {ROUNDS} runs",
        )
        for words, seconds in zip(COMMANDS, ours_s, strict=True)
    ]
