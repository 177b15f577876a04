"""What ``darshan-parser`` prints of a log: its counters, a line each, for who has the text and not the log.

A line names module, rank, record, counter, value, file, mount point and file
system, parted by tabs. The head has the job; what was lost stands in a warning.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

from hopperlib.errors import InputError
from hopperlib.readers.darshan._frames import COLUMNS, LOWER, UPPER, log_from_frames
from hopperlib.storage.logs.darshan_log import DarshanLog

_JOB = re.compile(r"# (exe|jobid|nprocs|run time|mount entry):\s*(.*?)\s*$")
_LOST = re.compile(r"# \*(?:WARNING|ERROR)\*: The (\S+) module contains incomplete data")
# The layout of a file: one for all, or since Darshan 3.4.4 one for each component.
_LAYOUT = re.compile(r"LUSTRE_(?:OSTS|STRIPE_SIZE|STRIPE_WIDTH|OST_ID_\d{1,4})")
_COMPONENT = re.compile(r"LUSTRE_COMP(\d{1,3})_(STRIPE_SIZE|STRIPE_COUNT|OST_ID_\d{1,4})")


def log_from_lines(lines: Iterable[str], name: str) -> DarshanLog:
    """Return the log that lines of ``darshan-parser`` tell.

    Raises
    ------
    InputError
        If they hold neither a job nor a counter.
    """
    said: dict[str, str] = {}
    mounts: list[list[str]] = []
    missing: list[str] = []
    # Of each module a row for each record and rank, as the tables of pydarshan have.
    modules: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    components: dict[tuple[str, str], dict[str, Any]] = {}
    names: dict[int, str] = {}
    for line in lines:
        if line.startswith("#"):
            if stated := _JOB.match(line):
                if stated[1] == "mount entry":
                    mounts.append(stated[2].split(None, 1))
                said.setdefault(stated[1], stated[2])
            elif lost := _LOST.match(line):
                missing.append(f"module {lost[1]} ran out of memory while the job ran: some files are missing")
            continue
        cells = line.rstrip("\r\n").split("\t")
        if len(cells) < 6 or not re.fullmatch(r"-?\d{1,20}", cells[1]) or not re.fullmatch(r"\d{1,20}", cells[2]):
            continue
        module, rank, record, counter, value, path = cells[:6]
        rows = modules.setdefault(module, {})
        if module == "LUSTRE" and (part := _COMPONENT.fullmatch(counter)):
            component = components.setdefault((record, part[1]), {"id": int(record), "LUSTRE_OST_IDS": []})
            if part[2].startswith("OST_ID"):
                component["LUSTRE_OST_IDS"].append(_number(value))
            else:
                component[f"LUSTRE_COMP_{part[2]}"] = _number(value)
        elif _is_wanted(module, counter):
            row = rows.setdefault((record, rank), {"id": int(record), "rank": int(rank)})
            row[counter] = _number(value)
            names[int(record)] = path
    if not modules and "nprocs" not in said:
        raise InputError(f"{name}: neither a job nor a counter of darshan-parser is in it")
    unused = [module for module in modules if module not in LOWER | UPPER and module != "LUSTRE"]
    names_of = {"job_id": "jobid", "tasks": "nprocs", "run_time_s": "run time"}
    job: dict[str, Any] = {key: _number(said.get(name, "")) for key, name in names_of.items()}
    job |= {"executable": said.get("exe", "").partition(" ")[0], "modules": list(modules)}
    job["mounts"] = [mount for mount in mounts if len(mount) == 2]
    frames = {module: _frames(rows.values()) for module, rows in modules.items() if module not in unused}
    if components:
        frames["LUSTRE"] = {"components": _frames(components.values())["counters"]}
    notes = [f"in the text and not used here: {', '.join(unused)}"] if unused else []
    return log_from_frames(job, frames, names, notes=notes, missing=missing)


def _is_wanted(module: str, counter: str) -> bool:
    """Whether a counter is of use here."""
    if module == "LUSTRE":
        return _LAYOUT.fullmatch(counter) is not None
    prefix = f"{(LOWER | UPPER).get(module, module)}_"
    return counter.startswith(prefix) and counter.removeprefix(prefix) in COLUMNS


def _frames(rows: Collection[Mapping[str, Any]]) -> Mapping[str, Mapping[str, list[Any]]]:
    """Return rows as one table of columns, which holds counts and times."""
    columns = dict.fromkeys(name for row in rows for name in row)
    table = {name: [row.get(name) for row in rows] for name in columns}
    return {"counters": table, "fcounters": table}


def _number(text: str) -> float | int | None:
    """Return a printed number; None for what is none."""
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return None
