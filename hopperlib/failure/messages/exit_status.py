"""What exit statuses and signals mean, whoever prints them.

A shell, srun, aprun, Open MPI, Slurm and LSF add 128 to the number of the signal that ended a program, PBS adds 256,
Python's processes and torchrun put a minus before it, hydra prints what the system's ``wait`` returned. The rules'
named groups say which form a line has; here it becomes a signal, and the signal's own rule.

================  ==============================================
`signal`          the signal itself
`exit_code`       128 + signal, or its negative; else the program's own
`pbs_status`      256 + signal, 128 + signal; negative is PBS itself
`wait_status`     signal in the low seven bits, else code times 256 or the code alone
================  ==============================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SIGNALS", "Signal", "signal_of"]


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal: its name, the rule that speaks of it, what it means and what it does not mean."""

    name: str
    rule: str
    means: str
    not_said: str


SIGNALS: Mapping[int, Signal] = {
    2: Signal("SIGINT", "SIGNALLED", "somebody or a launcher interrupted it", "who, and why"),
    4: Signal("SIGILL", "SIGILL", "an instruction that this processor lacks", "that the program is wrong"),
    6: Signal("SIGABRT", "ABORT-SIGNAL", "the program or a library ended itself", "why: that was printed before"),
    7: Signal("SIGBUS", "SIGBUS", "memory behind a valid address could not be had", "that memory ran out"),
    8: Signal("SIGFPE", "FPE", "an arithmetic operation failed", "that the numbers were wrong before it"),
    9: Signal("SIGKILL", "KILLED", "it was killed from outside", "that memory ran out: limits, people and launchers kill too"),
    11: Signal("SIGSEGV", "SEGV", "it touched memory that is not its own", "where the mistake is"),
    15: Signal("SIGTERM", "SIGNALLED", "it was told to end", "by whom: time limits, launchers and people do"),
    24: Signal("SIGXCPU", "CPU-TIME", "its limit of processor time was reached", "that the job's time limit was"),
    25: Signal("SIGXFSZ", "FILE-SIZE", "its limit of file size was reached", "that the disk is full"),
}  # fmt: skip

_SHELL, _PBS = 128, 256


def signal_of(fields: Mapping[str, str]) -> int | None:
    """Return the number of the signal that the fields of a message speak of, None if none ended the program.

    Examples
    --------
    >>> signal_of({"exit_code": "139"}), signal_of({"exit_code": "-9"}), signal_of({"exit_code": "11"})
    (11, 9, None)
    >>> signal_of({"pbs_status": "271"}), signal_of({"pbs_status": "-11"}), signal_of({"wait_status": "9"})
    (15, None, 9)
    """
    form = next((name for name in ("signal", "exit_code", "pbs_status", "wait_status") if name in fields), None)
    if form is None:
        return None
    # Of several codes the first one that is a signal's counts.
    for text in fields[form].replace(",", " ").split():
        number = int(text) if text.lstrip("-").isdigit() else 0
        if form == "signal":
            return number
        if form == "pbs_status" and number > _PBS:
            number -= _PBS
        elif number > _SHELL:
            number -= _SHELL
        elif form == "exit_code" and number < 0:
            number = -number
        elif form != "wait_status":
            continue
        if number in SIGNALS and not (form == "wait_status" and number == 2):
            return number
    return None
