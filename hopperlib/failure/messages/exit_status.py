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
from functools import cache

from hopperlib.failure.messages.rules import Rule, load_rules

__all__ = ["rules_of_signals", "signal_of"]


_SHELL, _PBS = 128, 256


@cache
def rules_of_signals() -> dict[int, Rule]:
    """Return the rule that speaks of each signal.

    Examples
    --------
    >>> rules_of_signals()[11].code
    'SEGV'
    """
    return {number: rule for rule in load_rules() for number in rule.signals}


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
        if number in rules_of_signals() and not (form == "wait_status" and number == 2):
            return number
    return None
