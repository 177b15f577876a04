"""Read a Darshan log with pydarshan, which the extra ``darshan`` installs.

A damaged log can crash the library below pydarshan. So another process reads
it and hands over one module after the other: what it read before a crash is
kept, and the rest is a note.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from hopperlib.errors import InputError
from hopperlib.readers._darshan_frames import log_from_frames
from hopperlib.storage.logs.darshan_log import SIZE_BINS, DarshanLog

__all__ = ["DarshanMissing", "plain_frames", "read_darshan"]

_INSTALL = "reading Darshan logs needs pydarshan; install it with: pip install 'hopperlib[darshan]'"
_MARK = "hopper-darshan "
_MODULES = ("POSIX", "STDIO", "LUSTRE")
_CHILD = "import sys; from hopperlib.readers.darshan import _write_frames; _write_frames(sys.argv[1])"
_COUNTERS = [
    "BYTES_READ",
    "BYTES_WRITTEN",
    "READS",
    "WRITES",
    "FILE_NOT_ALIGNED",
    "FILE_ALIGNMENT",
    "SLOWEST_RANK_BYTES",
    "FASTEST_RANK_BYTES",
    *(f"SIZE_{way}_{name}" for way in ("READ", "WRITE") for name, _ in SIZE_BINS),
]
_TIMES = [f"F_{way}_{name}" for way in ("READ", "WRITE") for name in ("TIME", "START_TIMESTAMP", "END_TIMESTAMP")]


class DarshanMissing(InputError):
    """Raised when pydarshan is not installed."""


def read_darshan(path: str | os.PathLike[str], *, timeout_s: float = 600) -> DarshanLog:
    """Return the log in a file.

    Parameters
    ----------
    path : str or path-like
    timeout_s : float
        How long the reading may take. [s]

    Raises
    ------
    DarshanMissing
        If pydarshan is not installed.
    InputError
        If the file is no Darshan log, or so damaged that not even the job can be read.

    Examples
    --------
    >>> read_darshan("no/such.darshan")
    Traceback (most recent call last):
    hopperlib.errors.InputError: no/such.darshan: there is no such file
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        raise InputError(f"{path}: is a directory; give a log in it")
    if not os.path.isfile(path):
        raise InputError(f"{path}: there is no such file")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(part or os.getcwd() for part in sys.path)}
    command = [sys.executable, "-P", "-W", "ignore", "-c", _CHILD, path]
    try:
        done = subprocess.run(command, capture_output=True, env=environment, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise InputError(f"{path}: not read within {timeout_s:g} s") from None
    parts = [
        json.loads(line.removeprefix(_MARK))
        for line in done.stdout.decode("utf-8", errors="replace").splitlines()
        if line.startswith(_MARK) and line.endswith("}")
    ]
    if any("missing" in part for part in parts):
        raise DarshanMissing(_INSTALL)
    return _assemble(path, parts, finished=done.returncode == 0)


def _assemble(path: str, parts: list[dict[str, Any]], *, finished: bool) -> DarshanLog:
    """Put together what the other process wrote."""
    head: dict[str, Any] = next((part for part in parts if "job" in part), {})
    if not head:
        reason = next((part["failed"] for part in parts if "failed" in part), "it is damaged or something else")
        raise InputError(f"{path}: cannot be read as a Darshan log ({reason})")
    frames = {part["module"]: part["frames"] for part in parts if "module" in part}
    notes = [part["note"] for part in parts if "note" in part]
    if not finished:
        started = [part["reading"] for part in parts if "reading" in part]
        at = f" in module {started[-1]}" if started else ""
        notes.append(f"the log is damaged{at}: what follows could not be read")
    names = {int(number): name for part in parts for number, name in part.get("names", {}).items()}
    return log_from_frames(head["job"], frames, names, notes=notes)


def _write(part: Mapping[str, Any]) -> None:
    """Hand one part over, at once: the next may crash."""
    sys.stdout.write(f"\n{_MARK}{json.dumps(part)}\n")
    sys.stdout.flush()


def _write_frames(path: str) -> None:
    """Read a log and write its parts; runs in the other process."""
    try:
        import darshan
    except ImportError:
        _write({"missing": True})
        return
    try:
        report = darshan.DarshanReport(path, read_all=False)
    except Exception as error:  # pydarshan raises what it likes
        _write({"failed": str(error)[:200] or type(error).__name__})
        return
    for part in _parts(report):
        _write(part)


def _parts(report: Any) -> Iterator[dict[str, Any]]:
    """Yield the job and one module after the other as plain data."""
    job = report.metadata.get("job", {})
    # Of the metadata only these: its string of hints is Darshan's own setting for writing the log, not the job's.
    run_time = job.get("run_time") or float(job.get("end_time_sec", 0)) - float(job.get("start_time_sec", 0)) + 1
    yield {
        "job": {
            "executable": str(report.metadata.get("exe", "")).partition(" ")[0],
            "job_id": int(job["jobid"]) if "jobid" in job else None,
            "tasks": int(job["nprocs"]) if "nprocs" in job else None,
            "run_time_s": float(run_time),
        }
    }
    for module in _MODULES:
        if module not in report.modules:
            continue
        yield {"reading": module}
        if report.modules[module].get("partial_flag"):
            yield {"note": f"module {module} ran out of memory while the job ran: some files are missing"}
        try:
            if module == "LUSTRE":
                report.mod_read_all_lustre_records()
            else:
                report.mod_read_all_records(module)
            yield {"module": module, "frames": plain_frames(module, report.records[module].to_df())}
            # pydarshan looks up the names of what it has read.
            yield {"names": {str(number): str(name) for number, name in report.name_records.items()}}
        except Exception as error:  # as above; the other modules may still be whole
            yield {"note": f"module {module} could not be read: {str(error)[:200] or type(error).__name__}"}


def plain_frames(module: str, frames: Any) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a module as lists, without the columns that nobody needs here.

    Parameters
    ----------
    module : str
        ``POSIX``, ``STDIO`` or ``LUSTRE``.
    frames : mapping of data frames, or one data frame
        What ``to_df()`` of pydarshan gives; by its version one or the other.

    Examples
    --------
    >>> class Frame(dict):
    ...     columns = property(list)
    >>> plain_frames("LUSTRE", {"components": Frame(id=[7], LUSTRE_OST_IDS=[(1, 2)])})
    {'components': {'id': [7], 'LUSTRE_OST_IDS': [[1, 2]]}}
    """
    tables = frames if isinstance(frames, dict) and not hasattr(frames, "columns") else {"counters": frames}
    wanted = {"id", "rank", *(f"{module}_{name}" for name in (*_COUNTERS, *_TIMES))}
    return {
        name: {
            str(column): [_plain(value) for value in table[column]]
            for column in table.columns
            if column in wanted or module == "LUSTRE"
        }
        for name, table in tables.items()
        if hasattr(table, "columns")
    }


def _plain(value: Any) -> Any:
    """Return a number of numpy as one of Python, an array as a list."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return list(value) if isinstance(value, tuple) else value
