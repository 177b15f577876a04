"""Timing two ways to the same answer, one beside the other."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One row: what was done, how long it took here and with the peer.

    Parameters
    ----------
    what : str
        The work, with its size.
    ours_s : float
        Median time of this package. [s]
    peer : str
        Name and version of the other tool, or why there is no time of it.
    peer_s : float or None
        Median time of the other tool. [s]
    note : str
        What is not equal between the two.
    """

    what: str
    ours_s: float
    peer: str
    peer_s: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Time here divided by the peer's: below 1 we are faster."""
        return None if self.peer_s is None else self.ours_s / self.peer_s


def time_call(call: Callable[[], Any], *, repeats: int = 5) -> float:
    """Return the median time of a call, after one that does not count. [s]"""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def time_command(command: Sequence[str], *, repeats: int = 5, good_statuses: tuple[int, ...] = (0,)) -> float:
    """Return the median time of a command from start to end. [s]

    Raises
    ------
    RuntimeError
        If it ends with another status: the time of a failure is no measurement.
    """

    def run() -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in good_statuses:
            raise RuntimeError(f"{' '.join(command)} ended with status {done.returncode}: {done.stderr[-500:]}")

    return time_call(run, repeats=repeats)
