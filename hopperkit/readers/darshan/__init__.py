"""Read Darshan logs with pydarshan (install the extra ``darshan``), or from the output of ``darshan-parser``.

A damaged log can crash the library below pydarshan. Another process therefore reads the logs and passes on one module
at a time: modules read before a crash are kept, the rest are reported as missing, and a new process continues with the
next log.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from types import ModuleType
from typing import Any

from hopperkit.iologs.darshan_log import DarshanLog
from hopperkit.readers.darshan._frames import COLUMNS, LOWER, UPPER, log_from_frames
from hopperkit.readers.darshan._parser import read_darshan_text
from hopperlib.errors import InputError

__all__ = ["DarshanMissing", "read_darshan", "read_darshan_logs", "read_darshan_text"]

_INSTALL = (
    "reading Darshan logs needs pydarshan; install it with: pip install '.[darshan]' in the folder of the repository"
)
_MARK = "hopper-darshan "
# Messages of the other process about a log, one part at a time.
_PARTS = ("job", "reading", "module", "frames", "names", "hosts", "lost", "note", "failed")
# Initial bytes of text and of compressed text; a log starts with its version number.
_TEXT = (b"# ", b"\n#", b"\x1f\x8b", b"BZ", b"\xfd7")
_CHILD = "import sys; from hopperkit.readers.darshan import _write_logs; _write_logs(float(sys.argv[1]), sys.argv[2:])"
# Number of logs per process: starting one takes half a second, and argument lists have a maximum length.
_LOGS_AT_ONCE = 200


class DarshanMissing(InputError):
    """Raised when pydarshan is not installed."""


def read_darshan(path: str | os.PathLike[str] | Iterable[str], *, timeout_s: float = 600) -> DarshanLog:
    """Return the log in a file.

    Parameters
    ----------
    path : str, path-like, or open file or lines of text
        A log, or the output of ``darshan-parser``; ``-`` reads such output from standard input.
    timeout_s : float
        Longest time allowed for reading. [s]

    Raises
    ------
    DarshanMissing
        If pydarshan is not installed.
    InputError
        If the file is not a Darshan log, or is too damaged to read even the job.

    Examples
    --------
    >>> read_darshan("no/such.darshan")
    Traceback (most recent call last):
    hopperlib.errors.InputError: no/such.darshan: there is no such file
    """
    if not isinstance(path, str | os.PathLike):
        return read_darshan_text(path)
    ((_, log),) = read_darshan_logs([path], timeout_s=timeout_s)
    if isinstance(log, InputError):
        raise log
    return log


def read_darshan_logs(
    paths: Sequence[str | os.PathLike[str]] | str | os.PathLike[str], *, timeout_s: float = 600
) -> Iterator[tuple[str, DarshanLog | InputError]]:
    """Yield each log with its file name, or the reason why it cannot be read; pydarshan may be missing.

    Parameters
    ----------
    paths : str or path-like, or sequence of them
        Logs, or folders that contain logs.
    timeout_s : float
        Longest time allowed for reading one log. [s]

    Examples
    --------
    >>> list(read_darshan_logs([]))
    []
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    waiting = [os.fspath(log) for path in given for log in (*sorted(Path(path).rglob("*.darshan")),) or (path,)]
    while waiting:
        if _is_text(waiting[0]):
            path = waiting.pop(0)
            try:
                yield path, read_darshan_text(Path(path), file=path)
            except InputError as error:
                yield path, error
            continue
        # A FIFO or a device is never opened: reading might block forever.
        if not os.path.isfile(waiting[0]):
            path = waiting.pop(0)
            kinds = (
                (os.path.isdir, "is a directory; give a log inside it"),
                (os.path.lexists, "is not a regular file"),
            )
            reason = next((words for test, words in kinds if test(path)), "there is no such file")
            yield path, InputError(f"{path}: {reason}")
            continue
        batch = list(takewhile(lambda path: os.path.isfile(path) and not _is_text(path), waiting[:_LOGS_AT_ONCE]))
        for path, log in _read(batch, timeout_s):
            waiting.pop(0)
            yield path, log


def _is_text(path: str) -> bool:
    """Whether a file is the output of ``darshan-parser`` instead of a log, compressed or not; true for standard input."""
    if not os.path.isfile(path):
        return path == "-"
    with suppress(OSError), open(path, "rb") as file:
        return file.read(2) in _TEXT
    return False


def _read(paths: Sequence[str], timeout_s: float) -> Iterator[tuple[str, DarshanLog | InputError]]:
    """Yield the logs that one process reads, up to the first that crashes it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(part or os.getcwd() for part in sys.path)}
    command = [sys.executable, "-P", "-W", "ignore", "-c", _CHILD, str(timeout_s), *paths]
    done = 0
    parts: list[dict[str, Any]] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment) as child:
        try:
            for part in _written_parts(child.stdout or ()):
                if "missing" in part:
                    yield from ((path, DarshanMissing(f"{path}: {_INSTALL}")) for path in paths)
                    return
                if "end" not in part:
                    parts.append(part)
                    continue
                yield paths[done], _assembled(paths[done], parts, finished=True)
                done, parts = done + 1, []
        except BaseException:
            child.kill()
            raise
    # A log that crashed the library ended the process: the parts received are kept, and a new process continues after
    # that log.
    if done < len(paths) and (child.returncode or not done):
        path = paths[done]
        unread = InputError(f"{path}: not read within {timeout_s:g} s")
        late = child.returncode == -signal.SIGALRM
        yield path, unread if late else _assembled(path, parts, finished=False)


def _written_parts(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the parts that the other process wrote; the library's output is mixed in."""
    for line in lines:
        if line.startswith(_MARK.encode()) and line.rstrip().endswith(b"}"):
            yield json.loads(line[len(_MARK) :])


def _assembled(path: str, parts: list[dict[str, Any]], *, finished: bool) -> DarshanLog | InputError:
    """Assemble one log from the parts that the other process wrote."""
    fields = {name: [part[name] for part in parts if name in part] for name in _PARTS}
    if not fields["job"]:
        reason = (*fields["failed"], "it is damaged or not a log")[0]
        return InputError(f"{path}: cannot be read as a Darshan log ({reason})")
    missing = fields["lost"]
    if not finished:
        at = f" in module {fields['reading'][-1]}" if fields["reading"] else ""
        missing.append(f"the log is damaged{at}: the rest could not be read")
    # JSON does not allow integers as names.
    names, hosts = (
        {int(key): each for part in fields[name] for key, each in part.items()} for name in ("names", "hosts")
    )
    frames = dict(zip(fields["module"], fields["frames"], strict=True))
    notes = list(dict.fromkeys(fields["note"]))
    return log_from_frames({**fields["job"][0], "hosts": hosts}, frames, names, notes=notes, missing=missing)


def _write(part: Mapping[str, Any]) -> None:
    """Send one part immediately, because the next may crash."""
    sys.stdout.write(f"\n{_MARK}{json.dumps(part)}\n")
    sys.stdout.flush()


class _Later(ModuleType):
    """A module that pydarshan imports but does not need here; it is imported on first use."""

    def __getattr__(self, name: str) -> Any:
        """Import the real module and return its attribute `name`."""
        # Lookups of package or loader attributes do not need the real module.
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules[self.__name__] is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def _write_logs(timeout_s: float, paths: Sequence[str]) -> None:
    """Read logs and write their parts. This runs in the other process, which an alarm ends even inside the library."""
    if "pandas" not in sys.modules:
        sys.modules["pandas"] = _Later("pandas")
    try:
        import darshan
    except ImportError:
        _write({"missing": True})
        return
    for path in paths:
        signal.setitimer(signal.ITIMER_REAL, timeout_s)
        try:
            report = darshan.DarshanReport(path, read_all=False)
            for part in _parts(report):
                _write(part)
        except Exception as error:  # pydarshan raises arbitrary exceptions
            _write({"failed": str(error)[:200] or type(error).__name__})
        _write({"end": True})


def _parts(report: Any) -> Iterator[dict[str, Any]]:
    """Yield the job and then each module as plain data."""
    yield {"job": _job(report)}
    used = {"LUSTRE", *LOWER, *UPPER, "APMPI"}
    for module, state in report.modules.items():
        yield {"reading": module}
        if state.get("partial_flag"):
            yield {"lost": f"module {module} ran out of memory while the job ran: part of it is missing"}
        try:
            if module in used:
                yield from _module_parts(report, module)
        except Exception as error:  # as above; the other modules may still be intact
            # pydarshan's warnings do not help users.
            torn = isinstance(error, (KeyError, AttributeError, IndexError)) or not str(error)
            yield {"lost": f"module {module} could not be read: {'it is damaged' if torn else str(error)[:200]}"}
    # Heat maps contain the same bytes again, by time.
    if unused := [module for module in report.modules if module not in used | {"HEATMAP"}]:
        yield {"note": f"in the log and not used here: {', '.join(unused)}"}


def _job(report: Any) -> dict[str, Any]:
    """Return the job from the header of a log."""
    job = report.metadata.get("job", {})
    # pydarshan returns zero for unreadable header fields.
    if not job.get("nprocs"):
        raise ValueError("its header is damaged: it has no number of tasks")
    # Only these metadata are used: the hints are Darshan's own for writing the log, not the job's.
    run_time = job.get("run_time") or float(job.get("end_time_sec", 0)) - float(job.get("start_time_sec", 0)) + 1
    return {
        **{
            name: int(job[key]) if key in job else None
            for name, key in (("job_id", "jobid"), ("tasks", "nprocs"), ("user", "uid"), ("start_s", "start_time_sec"))
        },
        "executable": str(report.metadata.get("exe", "")).partition(" ")[0],
        "run_time_s": float(run_time),
        "modules": list(report.modules),
        "mounts": [list(mount) for mount in getattr(report, "mounts", ())],
    }


def _module_parts(report: Any, module: str) -> Iterator[dict[str, Any]]:
    """Yield the data of one module: the tasks' nodes, or counters and file names."""
    if module == "APMPI":
        report.mod_read_all_apmpi_records(warnings=False)
        yield {"hosts": dict(_hosts(report.records[module]))}
    else:
        yield {"module": module, "frames": _counted(report, module)}
        # pydarshan looks up the names of the records it has read.
        yield {"names": {str(number): str(name) for number, name in report.name_records.items()}}


def _hosts(records: Iterable[Any]) -> Iterator[tuple[int, str]]:
    """Yield tasks and their nodes, where records contain them."""
    for record in records:
        # The first record of a module may cover all tasks.
        with suppress(KeyError):
            if int(record["rank"]) >= 0 and record["node_name"]:
                yield int(record["rank"]), str(record["node_name"])


def _counted(report: Any, module: str) -> dict[str, dict[str, list[Any]]]:
    """Read and return the tables of a module's counters."""
    if module == "LUSTRE":
        report.mod_read_all_lustre_records()
    else:
        report.mod_read_all_records(module)
    return _frames(report, module)


def _frames(report: Any, module: str) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a module, without unused columns."""
    records = report.records[module].to_numpy()
    # Since Darshan 3.4.5, a file can have several layout components.
    parts = [(record, part) for record in records for part in record.get("components", (record,))]
    prefix = (LOWER | UPPER).get(module, module)
    wanted = {f"{prefix}_{name}" for name in COLUMNS}
    frames: dict[str, dict[str, list[Any]]] = {}
    for kind, names in report.counters[module].items():
        columns = zip(names, zip(*(part[kind].tolist() for _, part in parts), strict=True), strict=False)
        frame: dict[str, list[Any]] = {name: [int(record[name]) for record, _ in parts] for name in ("id", "rank")}
        for name, values in columns:
            if module == "LUSTRE":
                frame[name.replace("_COMP_", "_")] = list(values)
            # A counter that is zero everywhere is treated as absent, except where zero is meaningful.
            elif name in wanted and ("_SEQ_" in name or any(values)):
                frame[name] = list(values)
        frames[kind] = frame
    if module == "LUSTRE":
        frames["counters"]["LUSTRE_OST_IDS"] = [part["ost_ids"].tolist() for _, part in parts]
    return frames
