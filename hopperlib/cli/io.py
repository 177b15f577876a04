"""``hopper io``: what IOR, mdtest and Darshan measured, as a table and as findings."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, print_json, write_page
from hopperlib.cli.question import print_text
from hopperlib.errors import InputError

if TYPE_CHECKING:
    from hopperlib.machine import Machine
    from hopperlib.questions.result import Result
    from hopperlib.readers.io_results import IoResult

__all__ = ["command"]

_MAX_BYTES = 256_000_000
# Fewer files are read before a bar would be seen.
_WORTH_A_BAR = 50


class _Tools(click.Group):
    """The tools by name; a file in place of the name is asked which tool wrote it."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names."""
        if args and args[0] not in self.commands and Path(args[0]).exists():
            tool = "darshan" if args[0].endswith(".darshan") else "ior"
            fail(f"which tool wrote {args[0]}? Say `hopper io {tool} {args[0]}`; `hopper io --help` lists the tools")
        return super().resolve_command(ctx, args)


@click.group(name="io", cls=_Tools, short_help="What IOR, mdtest and Darshan measured.")
def command() -> None:
    """Read what IOR, mdtest and Darshan measured of your I/O.

    \b
      hopper io ior results/*.txt              a table of every rate in the outputs of IOR and mdtest
      hopper io darshan job.darshan            what a Darshan log says is slow, and what to do
      hopper io io500 results/                 score, phases, spread and errors of an IO500 run

    Exit status: 0 fine, 1 a problem was found, 2 nothing could be read.
    """  # noqa: D301


@command.command(name="ior", short_help="Outputs of IOR and mdtest as one table.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--machine", default="hopper", show_default=True, metavar="M", help="Whose nodes to compare with.")
@click.option("--all", "show_all", is_flag=True, help="Print everything: numbers, charts in words, tables.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as data.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV.")
@click.option("--ranks", is_flag=True, help="List every task of a file of rank details, which else is one row.")
def ior(files: tuple[str, ...], machine: str, show_all: bool, as_json: bool, as_csv: bool, ranks: bool) -> None:
    """Print every rate in the outputs of IOR (2.10 to 4.x: text, JSON, CSV) and of mdtest as one table.

    FILE may be a folder, which is searched, a pattern in quotes, or - for standard input. Files that hold
    no results are listed on stderr with the reason, and the rest is read.

    \b
      hopper io ior runs/ --csv > rates.csv
      hopper io ior 'runs/**/*.out' --json

    The answer names the best rates and prints twelve rows, with --all forty; --csv and --json print every row.
    Rates are aggregate, as printed (MiB/s) and in MB/s of 1,000,000 bytes. A file that prints no single
    repetitions gives its highest, lowest and mean rate, told apart by `statistic`. In --json and --csv the
    keys statistic, operations_s (of mdtest, 1/s), rank and reason appear where they say something.

    Exit status: 0 all read, 1 a file could not be read or a run failed, 2 nothing to print.
    """  # noqa: D301
    from hopperlib.machine import Machine
    from hopperlib.readers.io_results import ranks_together, results_csv

    if as_json and as_csv:
        fail("--json and --csv cannot both be given", as_json=True)
    try:
        known = Machine.load(machine)
    except ValueError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine"})
    rows, unread = _read(_expand(files))
    rows = rows if ranks else ranks_together(rows)
    for message in unread:
        click.echo(f"hopper: not read: {message}", err=True)
    if not rows:
        fail(f"no output of IOR or mdtest in {len(unread):,} file(s)", as_json=as_json, details={"unread": unread})
    bad = {(row.file, row.status, row.reason): None for row in rows if row.status not in ("ok", "not-run")}
    if as_json or as_csv:
        for file, status, reason in bad:
            click.echo(f"hopper: {status}: {file}: {reason}", err=True)
    if as_json:
        print_json([row.to_dict() for row in rows])
    elif as_csv:
        click.echo(results_csv(rows), nl=False)
    else:
        from hopperlib.questions.storage.io_log import io_result

        print_text(io_result(rows, known), show_all)
    sys.exit(1 if unread or bad else 0)


def _read(paths: list[str]) -> tuple[list[IoResult], list[str]]:
    """Return the rows of all files, and why some could not be read; with a bar if there are many and somebody watches."""
    from hopperlib.readers.ior.reader import read_ior
    from hopperlib.readers.source import text_of

    rows: list[IoResult] = []
    unread: list[str] = []
    watched = len(paths) >= _WORTH_A_BAR and sys.stderr.isatty()
    with click.progressbar(paths, label="files", file=sys.stderr) if watched else nullcontext(paths) as shown:
        for path in shown:
            try:
                rows += read_ior(text_of(Path(path), max_bytes=_MAX_BYTES), file=path)
            except ValueError as error:
                unread.append(str(error))
    return rows, unread


def _expand(names: Iterable[str], ending: str = "") -> list[str]:
    """Return the files that the arguments mean, each once: files, what folders hold, what patterns match."""
    meant: list[str] = []
    for name in names:
        path, found = Path(name), []
        if path.is_dir():
            # Hidden files are what editors and file systems leave behind.
            visible = (file for file in sorted(path.rglob(f"*{ending}")) if not file.name.startswith("."))
            # What is no file, such as a FIFO or a link to nowhere, is said and not left out.
            found = [str(file) for file in visible if not file.is_dir()]
        elif not path.exists() and glob.has_magic(name):
            found = sorted(glob.glob(name, recursive=True))
        meant += found or [name]
    return list(dict.fromkeys(meant))


@command.command(name="io500", short_help="Score, phases and errors of an IO500 run.")
@click.argument("folder", metavar="FOLDER|FILE")
@click.option("--all", "show_all", is_flag=True, help="Print everything: every setting too.")
@click.option("--json", "as_json", is_flag=True, help="Print the run as data; of several, a list under `runs`.")
def io500(folder: str, show_all: bool, as_json: bool) -> None:
    """Say what an IO500 run gave: score, phases, stonewall, spread of its tasks, configuration, errors.

    Exit status: 0 a valid run, 1 it has errors, 2 no run is there.
    """
    from hopperlib.questions.storage.io_log import io500_result
    from hopperlib.readers.io500 import read_io500

    try:
        runs = read_io500(folder)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    if as_json:
        print_json(runs[0].to_dict() if len(runs) == 1 else {"runs": [run.to_dict() for run in runs]})
    else:
        for run in runs:
            print_text(io500_result(run), show_all)
    sys.exit(1 if any(run.errors for run in runs) else 0)


@command.command(name="darshan", short_help="What Darshan logs say is slow.")
@click.argument("files", nargs=-1, required=True, metavar="LOG...|FOLDER")
@click.option("--machine", metavar="M", help="Whose file system the advice is for.  [default: that of the log]")
@click.option("--html", "page", metavar="PAGE", help="Write one page to this file: no scripts, nothing from elsewhere.")
@click.option("--csv", "csv_path", metavar="TABLE", help="Write a row for each job to this file.")
@click.option("--parquet", "parquet_path", metavar="TABLE", help="The same as Parquet; needs pyarrow.")
@click.option("--all", "show_all", is_flag=True, help="Print everything: charts in words too.")
@click.option("--json", "as_json", is_flag=True, help="Print findings and summary as data.")
def darshan(
    files: tuple[str, ...],
    machine: str | None,
    page: str | None,
    csv_path: str | None,
    parquet_path: str | None,
    show_all: bool,
    as_json: bool,
) -> None:
    """Say what Darshan logs show: slow OSTs, small, misaligned, random or repeated accesses, who waits for whom.

    Needs pydarshan: pip install 'hopper-book[darshan]'; what darshan-parser prints of a log (a file, or - for
    standard input) is read without it. Each finding names its numbers, what to do and the
    command that does it. Advice on striping is for the file system in the log, or for that of --machine.
    Several logs, or a folder, make one table, the worst first.

    \b
      hopper io darshan job.darshan
      hopper io darshan job.darshan --html report.html
      hopper io darshan logs/ --csv jobs.csv

    Exit status: 0 nothing to mend, 1 a finding warns or fails or part of a log is lost, 2 nothing can be read.
    """  # noqa: D301
    from hopperlib.machine import Machine

    try:
        known = Machine.load(machine) if machine else None
        names = _expand(files, ".darshan")
        table = csv_path or parquet_path
        result, unread = _one_log(names[0], known) if len(names) == 1 and not table else _many_logs(names, known)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    for message in unread:
        click.echo(f"hopper: {message}", err=True)
    source = f"From the Darshan log {names[0]}." if len(names) == 1 else f"From {len(names):,} Darshan logs."
    write_page(page, result, "I/O of a job", source, as_json=as_json)
    if table:
        _write_table((result.facts or {})["jobs"], csv_path, parquet_path)
    if as_json:
        print_json(result.facts)
    else:
        print_text(result, show_all)
    sys.exit(1 if unread or any(finding.level in ("problem", "advice") for finding in result.findings) else 0)


def _one_log(path: str, machine: Machine | None) -> tuple[Result, list[str]]:
    """Return the answer for one log."""
    from hopperlib.questions.storage.darshan_answer import darshan_result
    from hopperlib.readers.darshan import read_darshan
    from hopperlib.storage.logs.darshan_findings import findings

    log = read_darshan(path)
    for note in (*log.missing, *log.notes):
        click.echo(f"hopper: {note}", err=True)
    return darshan_result(log, findings(log, machine), machine.title if machine else ""), []


def _many_logs(paths: list[str], machine: Machine | None) -> tuple[Result, list[str]]:
    """Return the answer for many logs, and why some could not be read; of each log no more is held than a row."""
    from hopperlib.finding import LEVELS
    from hopperlib.questions.storage.darshan_answer import jobs_result
    from hopperlib.readers.darshan import read_darshan_logs
    from hopperlib.storage.logs.darshan_findings import findings
    from hopperlib.storage.logs.darshan_summary import job_row, overall

    jobs, unread = [], []
    logs = read_darshan_logs(paths)
    watched = len(paths) >= _WORTH_A_BAR and sys.stderr.isatty()
    bar = click.progressbar(logs, length=len(paths), label="logs", file=sys.stderr) if watched else nullcontext(logs)
    with bar as shown:
        for path, log in shown:
            if isinstance(log, Exception):
                unread.append(f"not read: {log}")
            else:
                jobs.append(job_row(path, log, findings(log, machine)))
    if not jobs:
        raise InputError(f"none of {len(paths):,} file(s) is a Darshan log: {unread[0]}")
    jobs.sort(key=lambda job: (LEVELS.index(job["worst"]), -job["problems"], -job["bytes_read"] - job["bytes_written"]))
    common = overall(jobs)
    return jobs_result([{key: job[key] for key in job if key != "messages"} for job in jobs], common), unread


def _write_table(jobs: list[dict[str, Any]], csv_path: str | None, parquet_path: str | None) -> None:
    """Write a row for each job."""
    try:
        if csv_path:
            import csv

            with open(csv_path, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, list(jobs[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(jobs)
        if parquet_path:
            import pandas as pd

            pd.DataFrame(jobs).to_parquet(parquet_path)
    except ImportError:
        fail("writing Parquet needs pandas and pyarrow; --csv needs neither")
    except OSError as error:
        fail(f"cannot write the table: {error.strerror or error}")
