"""Read Darshan logs with pydarshan, which the extra ``darshan`` installs, or as ``darshan-parser`` prints them.

A damaged log can crash the library below pydarshan. Another process therefore reads the logs and passes on one module
at a time: modules read before a crash are kept, the rest is reported as missing, and a new process continues with the
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
# Initial bytes of text, and of compressed text; a log begins with its version number.
_TEXT = (b"# ", b"\n#", b"\x1f\x8b", b"BZ", b"\xfd7")
_CHILD = "import sys; from hopperkit.readers.darshan import _write_logs; _write_logs(float(sys.argv[1]), sys.argv[2:])"
# Logs that one process reads: it starts in half a second, and a list of arguments has an end.
_LOGS_AT_ONCE = 200


class DarshanMissing(InputError):
    """Raised when pydarshan is not installed."""


def read_darshan(path: str | os.PathLike[str] | Iterable[str], *, timeout_s: float = 600) -> DarshanLog:
    """Return the log in a file.

    Parameters
    ----------
    path : str, path-like, or open file or lines of text
        A log, or what ``darshan-parser`` prints of one; ``-`` is such a text on standard input.
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
    if not isinstance(path, str | os.PathLike):
        return read_darshan_text(path)
    ((_, log),) = read_darshan_logs([path], timeout_s=timeout_s)
    if isinstance(log, InputError):
        raise log
    return log


def read_darshan_logs(
    paths: Sequence[str | os.PathLike[str]] | str | os.PathLike[str], *, timeout_s: float = 600
) -> Iterator[tuple[str, DarshanLog | InputError]]:
    """Yield each log in files with its name, or why it cannot be read; pydarshan may be missing.

    Parameters
    ----------
    paths : str or path-like, or sequence of them
        Logs, and folders of them.
    timeout_s : float
        How long the reading of one log may take. [s]

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
        # A FIFO or a device is never opened: it may give nothing, forever.
        if not os.path.isfile(waiting[0]):
            path = waiting.pop(0)
            kinds = ((os.path.isdir, "is a directory; give a log in it"), (os.path.lexists, "is no regular file"))
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
    """Yield the logs that one process reads: all, or those up to the first that crashes it."""
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
    """Yield the parts that the other process wrote, among the library's output."""
    for line in lines:
        if line.startswith(_MARK.encode()) and line.rstrip().endswith(b"}"):
            yield json.loads(line[len(_MARK) :])


def _assembled(path: str, parts: list[dict[str, Any]], *, finished: bool) -> DarshanLog | InputError:
    """Assemble one log from the parts that the other process wrote."""
    said = {name: [part[name] for part in parts if name in part] for name in _PARTS}
    if not said["job"]:
        reason = (*said["failed"], "it is damaged or something else")[0]
        return InputError(f"{path}: cannot be read as a Darshan log ({reason})")
    missing = said["lost"]
    if not finished:
        at = f" in module {said['reading'][-1]}" if said["reading"] else ""
        missing.append(f"the log is damaged{at}: what follows could not be read")
    # JSON has no whole numbers as names.
    names, hosts = (
        {int(key): each for part in said[name] for key, each in part.items()} for name in ("names", "hosts")
    )
    frames = dict(zip(said["module"], said["frames"], strict=True))
    notes = list(dict.fromkeys(said["note"]))
    return log_from_frames({**said["job"][0], "hosts": hosts}, frames, names, notes=notes, missing=missing)


def _write(part: Mapping[str, Any]) -> None:
    """Hand one part over, at once: the next may crash."""
    sys.stdout.write(f"\n{_MARK}{json.dumps(part)}\n")
    sys.stdout.flush()


class _Later(ModuleType):
    """A module that pydarshan imports but does not use here: it is imported on first use."""

    def __getattr__(self, name: str) -> Any:
        """Import the module in place of this one; `name` is an attribute of it."""
        # Queries for package or loader attributes do not need it.
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules[self.__name__] is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def _write_logs(timeout_s: float, paths: Sequence[str]) -> None:
    """Read logs and write their parts; runs in the other process, which an alarm ends even within the library."""
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
    """Yield the job and one module after the other as plain data."""
    yield {"job": _job(report)}
    used = {"LUSTRE", *LOWER, *UPPER, "APMPI"}
    for module, state in report.modules.items():
        yield {"reading": module}
        if state.get("partial_flag"):
            yield {"lost": f"module {module} ran out of memory while the job ran: part of it is missing"}
        try:
            if module in used:
                yield from _module_parts(report, module)
        except Exception as error:  # as above; the other modules may still be whole
            # pydarshan's warnings are of no use to readers.
            torn = isinstance(error, (KeyError, AttributeError, IndexError)) or not str(error)
            yield {"lost": f"module {module} could not be read: {'it is damaged' if torn else str(error)[:200]}"}
    # Heat maps hold the same bytes again, over time.
    if unused := [module for module in report.modules if module not in used | {"HEATMAP"}]:
        yield {"note": f"in the log and not used here: {', '.join(unused)}"}


def _job(report: Any) -> dict[str, Any]:
    """Return the job from the head of a log."""
    job = report.metadata.get("job", {})
    # Unreadable fields of the head are zero in pydarshan.
    if not job.get("nprocs"):
        raise ValueError("its head is damaged: it names no tasks")
    # Only these metadata: the string of hints is Darshan's setting for writing the log, not the job's.
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
    """Yield the data of one module: nodes of tasks, or counters and file names."""
    if module == "APMPI":
        report.mod_read_all_apmpi_records(warnings=False)
        yield {"hosts": dict(_hosts(report.records[module]))}
    else:
        yield {"module": module, "frames": _counted(report, module)}
        # pydarshan looks up the names of the records it has read.
        yield {"names": {str(number): str(name) for number, name in report.name_records.items()}}


def _hosts(records: Iterable[Any]) -> Iterator[tuple[int, str]]:
    """Yield tasks and their nodes, as far as records contain them."""
    for record in records:
        # The first record of a module may be of all tasks.
        with suppress(KeyError):
            if int(record["rank"]) >= 0 and record["node_name"]:
                yield int(record["rank"]), str(record["node_name"])


def _counted(report: Any, module: str) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a module's counters, read now."""
    if module == "LUSTRE":
        report.mod_read_all_lustre_records()
    else:
        report.mod_read_all_records(module)
    return _frames(report, module)


def _frames(report: Any, module: str) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a module that was read, without the columns that nobody needs here."""
    records = report.records[module].to_numpy()
    # Since Darshan 3.4.5 a file has several components of a layout.
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
            # A counter that is zero everywhere counts as one that is not there, except where that is an answer.
            elif name in wanted and ("_SEQ_" in name or any(values)):
                frame[name] = list(values)
        frames[kind] = frame
    if module == "LUSTRE":
        frames["counters"]["LUSTRE_OST_IDS"] = [part["ost_ids"].tolist() for _, part in parts]
    return frames
