"""Read the files of an IO500 run: score, phases, balance of tasks, settings, and errors. The bandwidth is the geometric
mean of the four IOR phases, IOPS that of the eight metadata phases, and the score that of both. Versions before 2020
print GB/s and mean GiB/s: they divide by 2**30.
"""

import configparser
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from hopperkit.frames import TableMixin
from hopperkit.readers.ior.reader import read_ior
from hopperkit.readers.ior.results import IoResult, start_in
from hopperkit.readers.source import Source, text_of
from hopperlib.errors import InputError

_PHASE = re.compile(
    r"^\[RESULT(?P<mark>-?[A-Za-z]*)\s*\]\s+(?:(?:BW|IOPS)\s+phase\s+\d+\s+)?(?P<name>\S+)\s+(?P<value>[\d.eE+-]+)\s+"
    r"(?P<unit>[A-Za-z/]+)\s*:\s*time\s+(?P<seconds>[\d.]+)",
    re.MULTILINE,
)
_SCORE = re.compile(
    r"^\[SCORE(?P<mark>[A-Za-z-]*)\s*\]\s+Bandwidth\s+(?P<bandwidth>[\d.]+)\s+Gi?B/s\s*:\s*IOPS\s+(?P<iops>[\d.]+)\s+kiops\s*:\s*"
    r"TOTAL\s+(?P<score>[\d.]+)",
    re.MULTILINE | re.IGNORECASE,
)
# Files with the settings of a run, and their relevant sections; all sections if none are named.
_SETTINGS = {"config.ini": (), "result.txt": ("run",)}
_MAX_BYTES = 256_000_000
# A stonewalled run that moves this much less, or more, than planned is reported.
_PLANNED = 0.05


class Phase(NamedTuple):
    """One phase as printed: ``GiB/s`` or ``kIOPS``; old versions print ``GB/s`` and ``kiops``."""

    name: str
    value: float
    unit: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Io500(TableMixin):
    """A run of IO500.

    Parameters
    ----------
    score, bandwidth_gib_s, iops_kiops : float or None
        None if the run ended early.
    phases : tuple of Phase
    errors : tuple of str
        Errors, each with its file.
    file : str
        Where the score is printed.
    spreads : tuple of str
        Balance of the tasks in each phase, one line per phase.
    stonewall : tuple of mapping
        Planned and moved bytes of the IOR phases. [bytes]
    configuration : mapping
        The settings.
    start : datetime or None
        Start time by the machine's clock, from the result or the folder name.
    """

    score: float | None
    bandwidth_gib_s: float | None
    iops_kiops: float | None
    phases: tuple[Phase, ...]
    errors: tuple[str, ...] = ()
    file: str
    spreads: tuple[str, ...] = ()
    stonewall: tuple[dict[str, Any], ...] = ()
    configuration: tuple[tuple[str, str], ...] = ()
    start: datetime | None = None

    def frame_data(self) -> Iterator[dict[str, Any]]:
        """Yield one row per phase."""
        for phase in self.phases:
            counted = phase.unit.lower() == "kiops"
            rates = {"kiops": phase.value if counted else None, "bandwidth_gib_s": None if counted else phase.value}
            run = {"file": self.file, "start": self.start, "score": self.score, "phase": phase.name}
            yield run | rates | {"run_time": timedelta(seconds=phase.seconds)}

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data."""
        parts = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "start"}
        plain = {name: list(part) if isinstance(part, tuple) else part for name, part in parts.items()}
        return plain | {"phases": [phase._asdict() for phase in self.phases], "configuration": dict(self.configuration)}


# Columns of `io500_rows`.
IO500_COLUMNS = ("file", "start", "errors", "result", "value", "unit", "seconds")


def io500_rows(run: Io500) -> Iterator[dict[str, Any]]:
    """Yield one row per result of a run: its score and each phase.

    Parameters
    ----------
    run : Io500
        IO500 run.

    Examples
    --------
    >>> run = read_io500_summary("[RESULT] ior-easy-write 4.0 GiB/s : time 300.5 seconds", file="a/result_summary.txt")
    >>> [(row["result"], row["value"], row["unit"], row["seconds"]) for row in io500_rows(run)]
    [('score', None, '', None), ('ior-easy-write', 4.0, 'GiB/s', 300.5)]
    """
    common = {"file": run.file, "start": run.start, "errors": len(run.errors)}
    yield common | {"result": "score", "value": run.score, "unit": "", "seconds": None}
    for phase in run.phases:
        yield common | {"result": phase.name, "value": phase.value, "unit": phase.unit, "seconds": phase.seconds}


def read_io500_summary(source: Source, *, file: str = "-") -> Io500:
    """Parse the score and phases in a summary or in the run's output.

    Parameters
    ----------
    source : Source
        Text, lines, a path, bytes or an open file.
    file : str, default '-'
        Name of the file.

    Raises
    ------
    InputError
        If it contains no IO500 phase.

    Examples
    --------
    >>> run = read_io500_summary('''[RESULT]       ior-easy-write        4.000000 GiB/s : time 300.500 seconds
    ... [SCORE ] Bandwidth 4.000000 GiB/s : IOPS 9.000000 kiops : TOTAL 6.000000''')
    >>> run.score, run.phases
    (6.0, (Phase(name='ior-easy-write', value=4.0, unit='GiB/s', seconds=300.5),))
    """
    text = text_of(source, name=file, max_bytes=_MAX_BYTES)
    matches = list(_PHASE.finditer(text))
    if not matches:
        raise InputError(f"{file}: it contains no IO500 phase")
    score = _SCORE.search(text)
    phases = tuple(Phase(m["name"], float(m["value"]), m["unit"], float(m["seconds"])) for m in matches)
    errors = [f"{file}: {m['name']} is marked {m['mark'].lstrip('-')}" for m in matches if m["mark"]]
    total, bandwidth, iops = (float(score[name]) if score else None for name in ("score", "bandwidth", "iops"))
    if score is None:
        errors.append(f"{file}: no score: the run did not end")
    elif score["mark"]:
        errors.append(f"{file}: the score is marked {score['mark'].strip('-')}: not a valid run")
    return Io500(
        file=file, score=total, bandwidth_gib_s=bandwidth, iops_kiops=iops, phases=phases, errors=tuple(errors)
    )


def read_io500(folder: str | os.PathLike[str]) -> tuple[Io500, ...]:
    """Return the runs with results in a folder, best score first.

    Parameters
    ----------
    folder : str | os.PathLike[str]
        Path of the folder.

    Raises
    ------
    InputError
        If there is none.

    Examples
    --------
    >>> read_io500("no/such")
    Traceback (most recent call last):
    hopperlib.errors.InputError: no/such: there is no such folder
    """
    top = Path(folder)
    if not top.is_dir():
        if top.is_file():
            return (read_io500_summary(top, file=str(top)),)
        raise InputError(f"{top}: {'is not a folder' if os.path.lexists(top) else 'there is no such folder'}")
    runs = [_run_in(path) for path in sorted(top.rglob("result_summary.txt")) if path.is_file()]
    if not runs:
        # The run's own output contains the same lines.
        outputs = (path for path in top.rglob("*") if path.suffix in (".txt", ".out", ".log") and path.is_file())
        for path in sorted(outputs):
            with suppress(InputError):
                runs.append(_run_in(path))
    if not runs:
        raise InputError(f"{top}: it contains neither a result_summary.txt nor output with IO500 phases")
    return tuple(sorted(runs, key=lambda run: -(run.score or 0.0)))


def _run_in(summary: Path) -> Io500:
    """Return a run with data from the files next to its summary."""
    return io500_of(str(summary), {str(path): path for path in sorted(summary.parent.glob("*"))})


def io500_of(summary: str, files: Mapping[str, Source]) -> Io500:
    r"""Return a run from its files.

    Parameters
    ----------
    summary : str
        Name of the file with score and phases.
    files : mapping
        All files of the run by name, including that one.

    Raises
    ------
    InputError
        If the summary contains no IO500 phase.

    Examples
    --------
    >>> phase = "[RESULT]       ior-easy-write        4.000000 GiB/s : time 300.500 seconds"
    >>> io500_of("a", {"a": phase, "config.ini": "[ior-easy]\nblockSize = 8g"}).configuration
    (('ior-easy.blocksize', '8g'),)
    """
    run = read_io500_summary(files[summary], file=summary)
    errors, spreads = list(run.errors), list(run.spreads)
    stonewall: list[dict[str, Any]] = []
    configuration: list[tuple[str, str]] = []
    for path, source in files.items():
        name = os.path.basename(path)
        if name in _SETTINGS:
            configuration += _configuration(name, source)
        if not re.fullmatch(r"ior[-_]\S+\.(txt|csv)|mdtest[-_]\S+\.txt", name):
            continue
        try:
            rows = read_ior(source, file=path)
        except InputError as error:
            errors.append(f"not read: {error}")
            continue
        errors += dict.fromkeys(f"{path}: {row.reason}" for row in rows if row.status in ("failed", "incomplete"))
        spreads += _spread(name.rpartition(".")[0], rows)
        stonewall += _moved(name.rpartition(".")[0], rows)
    start = start_in(text_of(files.get(os.path.join(os.path.dirname(summary), "result.txt"), ""))) or start_in(summary)
    extras: dict[str, Any] = {
        "start": start,
        "errors": tuple(errors),
        "spreads": tuple(spreads),
        "stonewall": tuple(stonewall),
    }
    return replace(run, configuration=tuple(configuration), **extras)


def _spread(name: str, rows: list[IoResult]) -> Iterator[str]:
    """Yield a line on the balance of the tasks in a phase."""
    rates = sorted(row.rate_mib_s for row in rows if row.rank is not None and row.rate_mib_s)
    if rates:
        yield f"{name}: {len(rates):,} tasks, {rates[0]:,.1f} to {rates[-1]:,.1f} MiB/s each, median {median(rates):,.1f}"


def _moved(name: str, rows: list[IoResult]) -> Iterator[dict[str, Any]]:
    """Yield a phase's planned and moved bytes if they differ."""
    for row in rows:
        planned, moved = row.planned_bytes, row.moved_bytes
        if planned and moved and abs(moved - planned) > _PLANNED * planned:
            yield {"phase": name, "planned_bytes": planned, "moved_bytes": moved}


def _configuration(name: str, source: Source) -> Iterator[tuple[str, str]]:
    """Yield the run's settings: those in its result, and every nonempty setting."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text_of(source, max_bytes=_MAX_BYTES))
    except (InputError, configparser.Error):
        return
    for section in parser.sections():
        if not _SETTINGS[name] or section in _SETTINGS[name]:
            yield from ((f"{section}.{key}", value) for key, value in parser.items(section) if value)
