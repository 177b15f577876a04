"""Read the output of ``darshan-parser``, for users who have this text instead of the log.

A line has module, rank, record, counter, value, file, mount point and file system, separated by tabs. The header
describes the job; a warning names lost data.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hopperkit.iologs.darshan_log import DarshanLog
from hopperkit.readers.darshan._frames import COLUMNS, LOWER, UPPER, log_from_frames
from hopperkit.readers.source import Source, lines_of
from hopperlib.errors import InputError

_JOB = re.compile(r"^# (exe|uid|jobid|nprocs|run time|start_time):[ \t]*(\S.*?)\s*$", re.MULTILINE)
_MOUNT = re.compile(r"^# mount entry:[ \t]*(\S+)[ \t]+(\S+)", re.MULTILINE)
_HELD = re.compile(r"^# (\S+) module: \d+ bytes", re.MULTILINE)
_LOST = re.compile(r"^# \*(?:WARNING|ERROR)\*: The (\S+) module contains incomplete data", re.MULTILINE)
# A file's layout and component number; Darshan before 3.4.5 has a single component without a number.
_LAYOUT = re.compile(r"LUSTRE_(?:COMP(\d{1,3})_)?(OSTS|STRIPE_(?:SIZE|WIDTH|COUNT)|OST_ID_\d{1,4})")
_TABLES = {*LOWER, *UPPER, "LUSTRE"}


def read_darshan_text(source: Source, *, file: str = "-") -> DarshanLog:
    r"""Return the log printed by ``darshan-parser``. This works without pydarshan.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperkit.readers.source.text_of`.
    file : str
        Name for messages.

    Raises
    ------
    InputError
        If it has neither a job nor a counter.

    Examples
    --------
    >>> log = read_darshan_text("# nprocs: 4\nPOSIX\t0\t7\tPOSIX_BYTES_WRITTEN\t100\t/a\t/\text4\n")
    >>> log.tasks, log.files[0].bytes_written
    (4, 100)
    """
    comments, cells = [""], [""]
    # One row per record and rank for each module, as in pydarshan's tables.
    modules: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    names: dict[int, str] = {}
    for line in lines_of(source):
        if line.startswith("#"):
            comments.append(line)
        elif not line.isspace():
            cells = line.rstrip("\r\n").split("\t")
            if len(cells) > 5 and cells[1].removeprefix("-").isdecimal() and cells[2].isdecimal():
                names[int(cells[2])] = cells[5]
                _take(modules.setdefault(cells[0], {}), cells[:6])
    head = "".join(comments)
    fields = dict(reversed(_JOB.findall(head)))
    if not modules and "nprocs" not in fields:
        raise InputError(f"{file}: it contains neither a job nor a counter from darshan-parser")
    unused = [
        module for module in dict.fromkeys((*modules, *_HELD.findall(head))) if module not in _TABLES | {"HEATMAP"}
    ]
    names_of = {"user": "uid", "job_id": "jobid", "tasks": "nprocs", "run_time_s": "run time", "start_s": "start_time"}
    job: dict[str, Any] = {key: _number(fields.get(name, "")) for key, name in names_of.items()}
    program = fields.get("exe", "").partition(" ")[0]
    job |= {"executable": program, "modules": list(modules), "mounts": _MOUNT.findall(head)}
    frames = {module: _frames(rows.values()) for module, rows in modules.items() if module in _TABLES}
    notes = [f"in the text and not used here: {', '.join(unused)}"] if unused else []
    return log_from_frames(job, frames, names, notes=notes, missing=list(_missing(head, modules, cells)))


def _missing(
    head: str, modules: Mapping[str, Mapping[tuple[str, str], Mapping[str, Any]]], last: Sequence[str]
) -> Iterator[str]:
    """Yield the missing parts, judged by the header, the modules, and the cells of the last line."""
    for module in _LOST.findall(head):
        yield f"module {module} ran out of memory while the job ran: part of it is missing"
    for module in _HELD.findall(head):
        if module in _TABLES and module not in modules:
            yield f"module {module} is listed at the top of the text but has no lines"
    if modules and _is_cut(last, list(modules.get(last[0], {}).values())):
        yield f"the text ends within a record of module {last[0]}"


def _take(rows: dict[tuple[str, str], dict[str, Any]], cells: list[str]) -> None:
    """Add one counter to the rows of its module."""
    module, rank, record, counter, value, _ = cells
    if module == "LUSTRE" and (part := _LAYOUT.fullmatch(counter)):
        row = rows.setdefault((record, part[1]), {"id": int(record), "LUSTRE_OST_IDS": []})
        if part[2].startswith("OST_ID"):
            row["LUSTRE_OST_IDS"].append(_number(value))
        else:
            row[f"LUSTRE_{part[2]}"] = _number(value)
    elif counter.removeprefix(f"{(LOWER | UPPER).get(module, module)}_") in COLUMNS:
        rows.setdefault((record, rank), {"id": int(record), "rank": int(rank)})[counter] = _number(value)


def _is_cut(cells: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the last line, or the last record of its module, is shorter than the others."""
    return len(cells) < 8 or (cells[0] in LOWER | UPPER and bool(rows) and len(rows[-1]) < len(rows[0]))


def _frames(rows: Collection[Mapping[str, Any]]) -> Mapping[str, Mapping[str, list[Any]]]:
    """Return rows as one table of columns, with both counts and times."""
    columns = dict.fromkeys(name for row in rows for name in row)
    table = {name: [row.get(name) for row in rows] for name in columns}
    return {"counters": table, "fcounters": table}


def _number(text: str) -> float | int | None:
    """Return a printed number; None if it is invalid."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return None
