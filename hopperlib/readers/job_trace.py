"""A job trace of any of the formats, out of a file that may be compressed."""

from __future__ import annotations

import importlib
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, TextIO

from hopperlib.readers.sacct import read_sacct
from hopperlib.readers.swf import read_swf
from hopperlib.readers.trace import Trace, TraceError

__all__ = ["opened", "read_job_trace"]

_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


def read_job_trace(lines: Iterable[str], *, form: str = "auto", delimiter: str = "|", cores_per_node: int = 1) -> Trace:
    """Return the jobs of a trace: in the Standard Workload Format, or what ``sacct --parsable2`` printed.

    Parameters
    ----------
    lines : iterable of str
    form : {"auto", "swf", "sacct"}
        The format; auto tells it by the first line.
    delimiter : str
        Between the fields of sacct output.
    cores_per_node : int
        Processors of a node in the Standard Workload Format.

    Raises
    ------
    TraceError
        If no job can be read.

    Examples
    --------
    >>> rows = ["JobID|State|Submit|Elapsed|Timelimit|NNodes", "8|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4"]
    >>> read_job_trace(rows).workload[0].run_time_s
    600
    """
    rest = iter(lines)
    first = next((line for line in rest if line.strip()), "")
    lines = chain([first], rest)
    if form == "sacct" or (form == "auto" and delimiter in first and "JobID" in first):
        return read_sacct(lines, delimiter=delimiter)
    return read_swf(lines, cores_per_node=cores_per_node)


@contextmanager
def opened(path: str, what: str = "trace") -> Iterator[TextIO]:
    """Open a text file, compressed (.gz, .bz2, .xz) or not; ``-`` is standard input.

    Parameters
    ----------
    path : str
    what : str
        What the file is, for the message.

    Raises
    ------
    TraceError
        If it cannot be read, also while it is read.

    Examples
    --------
    >>> with opened("nowhere.swf") as file:
    ...     pass
    Traceback (most recent call last):
    hopperlib.readers.trace.TraceError: cannot read trace nowhere.swf: No such file or directory
    """
    # Imported where it is needed: Python in a browser lacks some of them.
    name = next((module for ending, module in _COMPRESSED.items() if path.endswith(ending)), "")
    module = importlib.import_module(name) if name else None
    opener: Callable[..., Any] = module.open if module else open
    errors = OSError, EOFError, zlib.error, getattr(module, "LZMAError", OSError)
    try:
        if path == "-":
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
            yield sys.stdin
            return
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            yield file
    except errors as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TraceError(f"cannot read {what} {path}: {reason}") from error
