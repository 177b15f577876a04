"""Questions about any file, as functions; ``scripts/write_api.py`` writes them from the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopperkit.api.kinds import run as _run

if TYPE_CHECKING:
    from typing import Literal

    from hopperkit.api.kinds import AnyMachine, Text
    from hopperkit.questions.result import Result


def identify(
    text: Text,
    *,
    machine: AnyMachine | None = None,
    read_as: Literal[
        "auto",
        "script",
        "output",
        "trace",
        "io",
        "lustre",
        "history",
        "times",
        "hardware",
        "machine",
        "buddyinfo",
        "build",
    ] = "auto",
) -> Result:
    """What is this text, and what follows from it?

    Parameters
    ----------
    text : str, path-like, file, lines or DataFrame
        Anything. Also sacct or SWF, mdtest, IO500, darshan-parser, lfs, a benchmark history, lscpu, lstopo,
        scontrol, a machine file.
    machine : str, path-like or Machine, or None
        Machine.
    read_as : {"auto", "script", "output", "trace", "io", "lustre", "history", "times", "hardware", "machine", "buddyinfo", "build"}, default "auto"
        Read it as.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.identify("aprun -n 384 -N 12 vasp").facts["nodes"]
    32

    References
    ----------
    Models and their sources: `hopperkit.readers.recognise`.
    """
    return _run("identify", text=text, machine=machine, read_as=read_as)
