"""A pack: all files of a made-up week of a machine, and the key to them, from one seed."""

import random
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hopperbook.project import history as benchmarks
from hopperbook.project import jobs as trace
from hopperbook.project.grading import RUBRIC
from hopperbook.project.hardware import NAME, draw_hardware, listings, machine_file
from hopperbook.project.io_logs import io_logs
from hopperbook.project.outputs import CAUSES, outputs
from hopperbook.project.scripts import FAULTS, RIGHT, scripts
from hopperlib.errors import InputError, refusal
from hopperlib.schema import read_toml

LARGEST_SEED = 1_000_000


class Pack(NamedTuple):
    """The files of a pack by name, and the key: the required entries of a report, by the tables of `RUBRIC`."""

    files: Mapping[str, str]
    key: Mapping[str, Mapping[str, Any]]


@cache
def pack(seed: int) -> Pack:
    """Return the pack of a seed; the same seed gives the same bytes.

    Parameters
    ----------
    seed : int
        From 0 to 1,000,000.

    Raises
    ------
    InputError
        If the seed is out of range.

    Examples
    --------
    >>> made = pack(7)
    >>> sorted({name.split("/")[0] for name in made.files})
    ['README.md', 'benchmarks', 'io', 'jobs', 'listings', 'machine.toml', 'outputs', 'pack.toml', 'report.toml', 'scripts']
    """
    if not 0 <= seed <= LARGEST_SEED:
        raise refusal("seed", seed, f"must be from 0 to {LARGEST_SEED}")
    # Each part has a separate random stream, so that a change of one leaves the others unchanged.
    hardware_rng, machine_rng, *others = (random.Random(10 * seed + part) for part in range(7))
    hardware = draw_hardware(hardware_rng)
    machine, mistake = machine_file(hardware, machine_rng)
    texts, kinds = scripts(hardware, others[0])
    jobs = trace.jobs(hardware.nodes, others[1])
    printed, causes = outputs(others[2])
    history, loss = benchmarks.history(others[3])
    runs, io = io_logs(others[4])
    key: dict[str, Mapping[str, Any]] = {
        "machine": {"field": mistake.field, "right_value": mistake.right},
        "scripts": kinds,
        "jobs": jobs_key(jobs, hardware.nodes),
        "outputs": causes,
        "history": loss._asdict(),
        "io": io._asdict(),
    }
    files = {
        "README.md": _readme(seed),
        "pack.toml": f"# The seed makes the pack, and its key.\nseed = {seed}\n",
        "report.toml": _blank_report(key),
        "machine.toml": machine,
        trace.FILE: jobs,
        benchmarks.FILE: history,
        **listings(hardware),
        **texts,
        **printed,
        **runs,
    }
    return Pack(files, key)


def jobs_key(text: str, nodes: int) -> dict[str, Any]:
    r"""Return the required entries about the jobs, computed from the file like a participant's.

    Parameters
    ----------
    text : str
        What ``sacct`` printed.
    nodes : int
        Nodes of the machine.

    Examples
    --------
    Two jobs of 42 nodes for a week, one of which waited two hours:

    >>> line = "{}|u1|{}|COMPLETED|2026-03-02T00:00:00|2026-03-02T0{}:00:00|2026-03-09T0{}:00:00|604800|7-00:00:00|42"
    >>> header = "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|NNodes"
    >>> jobs_key("\n".join([header, line.format(1, "batch", 0, 0), line.format(2, "long", 2, 2)]), 84)
    {'longest_waiting_partition': 'long', 'mean_wait_h': 2.0, 'used_percent': 99.4, 'at_time_limit': 0}
    """
    import pandas as pd

    import hopperkit

    frame = hopperkit.read_sacct(text.splitlines()).to_frame()
    waits = frame.groupby("partition")["wait"].mean()
    start = pd.Timestamp(trace.FIRST_DAY, tz=frame["submit"].dt.tz)
    days = pd.date_range(start, start + pd.Timedelta(days=trace.DAYS), freq="D")
    used = hopperkit.node_hours_used(frame, days).sum() / (24 * nodes * trace.DAYS)
    return {
        "longest_waiting_partition": str(waits.idxmax()),
        "mean_wait_h": round(float(waits.max() / pd.Timedelta("1h")), 2),
        "used_percent": round(100 * float(used), 1),
        "at_time_limit": int((frame["state"] == "TIMEOUT").sum()),
    }


def write_pack(seed: int, folder: str | Path) -> list[Path]:
    """Write the files of a pack into a folder that is new or empty; return them.

    Raises
    ------
    InputError
        If the folder holds files already, or cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> len(write_pack(7, mkdtemp())) == len(pack(7).files)
    True
    """
    top = Path(folder)
    try:
        if top.exists() and any(top.iterdir()):
            raise InputError(f"{top}: is not empty; a pack goes into a folder of its own")
        written = []
        for name, text in pack(seed).files.items():
            path = top / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    except OSError as error:
        raise InputError(f"{top}: cannot be written: {error.strerror or error}") from error
    return written


def seed_of(folder: str | Path) -> int:
    """Return the seed of a pack that was written.

    Raises
    ------
    InputError
        If the folder holds no pack.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> folder = mkdtemp()
    >>> _ = write_pack(7, folder)
    >>> seed_of(folder)
    7
    """
    file = Path(folder) / "pack.toml"
    try:
        seed = read_toml(file.read_text(encoding="utf-8"), name=file.name).get("seed")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror or error}") from error
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InputError(f"{file}: seed={seed!r} must be a whole number")
    return seed


def toml_of(tables: Mapping[str, Mapping[str, Any]], value: Callable[[Any], str] = repr) -> str:
    """Return tables of words and numbers as TOML.

    Examples
    --------
    >>> print(toml_of({"history": {"series": "triad", "percent": -6.5}}), end="")
    [history]
    series = "triad"
    percent = -6.5
    <BLANKLINE>
    """
    lines = []
    for table, entries in tables.items():
        lines.append(f"[{table}]")
        for name, entry in entries.items():
            key = f'"{name}"' if "/" in name else name
            lines.append(f'{key} = "{entry}"' if isinstance(entry, str) else f"{key} = {value(entry)}")
        lines.append("")
    return "\n".join(lines) + "\n"


def _blank_report(key: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the empty report of a pack; a comment above the tables explains each line."""
    wanted = "".join(f"#   {row.part}{f'.{row.name}' if row.name else ''}: {row.wanted}\n" for row in RUBRIC)
    words = {
        "scripts": ", ".join([RIGHT, *FAULTS]),
        "outputs": ", ".join(CAUSES),
        "io.fastest": 'such as "2 nodes, shared"',
        "history.first_day": 'such as "2026-01-31"; sizes of losses in percent, negative',
    }
    choices = "".join(f"#   {name}: {text}\n" for name, text in words.items())
    head = f"# What you found. Put numbers without quotation marks; leave what you do not know as it is.\n#\n{wanted}#\n# Words to choose from:\n{choices}\n"
    return head + toml_of({part: dict.fromkeys(entries, "") for part, entries in key.items()})


def _readme(seed: int) -> str:
    """Return the pack's README."""
    return f"""# A week of {NAME}

Everything in this folder is synthetic. The machine {NAME} does not exist, no person submitted these jobs, and no program
ran them: the Hopper book made all files from the seed {seed}.

| files | what they are |
|---|---|
| `machine.toml` | the machine file of {NAME}, in which one value is wrong |
| `listings/` | what `lscpu` prints on a node, and `scontrol show node`; both are right |
| `scripts/` | ten batch scripts of users of {NAME} |
| `jobs/sacct.txt` | all jobs submitted in the week from {trace.FIRST_DAY:%d %B %Y}, as `sacct --parsable2` prints them |
| `outputs/` | the outputs of twenty jobs |
| `benchmarks/daily.csv` | {benchmarks.DAYS} days of four benchmarks; higher is better; one of them has lost for good |
| `io/` | twelve outputs of IOR: one, two and four nodes, a file for each task or one shared file, each setting twice |
| `report.toml` | the numbers of your report, to be filled in |
| `pack.toml` | the seed |

Definitions: a wait is the time from submission to start, and the mean is taken over all jobs of a partition. The use of the
machine is the share of its node-hours, as `listings/` count the nodes, that jobs used from midnight before the first day to
midnight after the seventh. A job ran into its time limit if its state is TIMEOUT.
"""
