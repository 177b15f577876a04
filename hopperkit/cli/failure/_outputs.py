"""Read the outputs of many jobs in as many processes as there are cores."""

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from hopperkit.cli.common import watched
from hopperkit.failures.outputs import OutputRow, files_under, jobs_of, read_output

# Fewer jobs than this are read faster than processes start; larger numbers are processed in batches of this size.
_FEW, _AT_ONCE = 32, 16


def read_outputs(paths: Sequence[str]) -> tuple[list[OutputRow], list[str]]:
    """Return one row per job in folders and files, and the files that could not be read."""
    missing = [path for path in paths if path == "-" or not Path(path).exists()]
    jobs = jobs_of(files_under(Path(path) for path in paths if path not in missing))
    unread = [f"cannot read {path}: no such file or folder" for path in missing]
    rows: list[OutputRow] = []
    with ProcessPoolExecutor(max_workers=1 if len(jobs) < _FEW else os.cpu_count()) as pool:
        mapped = pool.map(_row, jobs, chunksize=_AT_ONCE) if len(jobs) >= _FEW else map(_row, jobs)
        with watched(mapped, len(jobs), "outputs") as read:
            for row in read:
                rows += [row] if isinstance(row, OutputRow) else []
                unread += [row] if isinstance(row, str) else []
    return rows, unread


def _row(files: tuple[Path, ...]) -> OutputRow | str:
    """Return the row of a job, or why it cannot be read."""
    try:
        return read_output(files)
    except OSError as error:
        return f"cannot read {error.filename}: {error.strerror or error}"
