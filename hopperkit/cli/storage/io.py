"""``hopper io``: measurements of IOR, mdtest, IO500 and Darshan; the tool is detected."""

import glob
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hopperkit.cli.common import (
    all_option,
    fail,
    json_option,
    page_option,
    print_json,
    read_source,
    refusing,
    watched,
    write_page,
)
from hopperkit.cli.question import print_text
from hopperlib.errors import InputError

if TYPE_CHECKING:
    from hopperkit.questions.result import Result
    from hopperkit.readers.ior.io500 import Io500
    from hopperkit.readers.ior.results import IoResult
    from hopperlib.machine import Machine

_MAX_BYTES = 256_000_000
# Fewer files are read too fast for a progress bar.
_WORTH_A_BAR = 50
# At most this many unread files are listed: a tree may contain thousands of scripts and notes.
_LISTED = 50
# Optional words before the files, once required: the tool that wrote a file is recognized.
_TOOLS = ("ior", "io500", "darshan")
_LOG = re.compile(rb"[23]\.\d\d\0")
_NOTHING = "no input is output of IOR, mdtest, IO500 or Darshan"


class _Logs(NamedTuple):
    """How Darshan logs are read: the machine, the nodes of their jobs, and whether the result is a table."""

    machine: "Machine | None"
    nodes: "dict[int, tuple[str, ...]]"
    as_table: bool


class _Found(NamedTuple):
    """Contents of the files, by tool, and why other files were not read."""

    rows: "list[IoResult]"
    runs: "list[Io500]"
    darshan: "Result | None"
    unread: list[str]

    @property
    def data(self) -> dict[str, Any]:
        """Output of `--json`, by tool."""
        runs = [run.to_dict() for run in self.runs]
        parts = {
            "rates": [row.to_dict() for row in self.rows],
            "io500": runs[0] if len(runs) == 1 else {"runs": runs} if runs else None,
            "darshan": self.darshan and self.darshan.facts,
        }
        return {name: part for name, part in parts.items() if part}

    @property
    def failed(self) -> list[str]:
        """Runs without a rate, each once, in the order of the files."""
        bad = [(row.status, row.file, row.reason) for row in self.rows if row.status not in ("ok", "not-run")]
        return [f"{status}: {file}: {reason}" for status, file, reason in dict.fromkeys(bad)]

    @property
    def faulty(self) -> bool:
        """Whether anything was not read, failed, or should be fixed."""
        raised = self.darshan.findings if self.darshan else ()
        mend = any(finding.level in ("problem", "advice") for finding in raised)
        return bool(self.unread or self.failed or mend or any(run.errors for run in self.runs))

    def results(self, machine: "Machine | None") -> "list[Result]":
        """Return the answers to show; rates are compared with Hopper's nodes if no machine is named."""
        darshan = [self.darshan] if self.darshan else []
        # Importing the rest takes as long as reading a log.
        if not (self.rows or self.runs):
            return darshan
        from hopperkit.questions.storage.io_log import io500_result, io_result
        from hopperlib.machine import Machine

        rates = (
            [io_result(self.rows, machine or Machine.load("hopper"), named=machine is not None)] if self.rows else []
        )
        return [*rates, *map(io500_result, self.runs), *darshan]


@click.command(
    "io",
    help="""Read what IOR, mdtest, IO500 and Darshan measured of your I/O.

FILE may be an output of IOR (2.10 to 4.x: text, JSON, CSV) or mdtest, a Darshan log, what darshan-parser prints of
one, a folder of any of these or of an IO500 run, a pattern in quotes, or - for standard input; which tool wrote a
file is recognised. Files that hold nothing are listed on stderr with the reason, and the rest is read.
Darshan logs need pydarshan: pip install '.[darshan]' in the folder of the repository; texts of darshan-parser do not.

\b
  hopper io results/*.txt               every rate in outputs of IOR and mdtest
  hopper io runs/ --csv > rates.csv     the same as a table, all rows
  hopper io job.darshan                 what is slow in a job, and what to do
  hopper io logs/                       the most expensive jobs first, and slow OSTs by all jobs together
  hopper io logs/ --sacct jobs.txt      slow nodes too, and node-hours
  hopper io logs/ --csv > jobs.csv      a row for each job
  hopper io results/ --csv > io500.csv  a row for each result of all IO500 runs in a folder
  hopper io results/                    score, phases, spread and errors of an IO500 run

Rates are aggregate, as printed (MiB/s) and in MB/s of 1,000,000 bytes. A file without single repetitions
gives its highest, lowest and mean rate, distinguished by `statistic`. --json prints the rows of IOR,
the run of IO500 or the findings of Darshan; where there are several of these, by name.

Exit status: 0 fine, 1 a file was not read, a run failed or a finding should be fixed, 2 nothing could be read.""",
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--machine",
    metavar="M",
    help="Machine to compare nodes and file system with. [default: Hopper's nodes, the log's file system]",
)
@click.option("--sacct", metavar="JOBS", help="Output of `sacct -aXP --format=JobIDRaw,NodeList`, for Darshan logs.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows, or one row per job, as CSV.")
@click.option("--prometheus", metavar="FILE", help="Write metrics for Prometheus to this file, atomically.")
@page_option
@all_option
@json_option
@refusing
def io(
    files: tuple[str, ...],
    machine: str | None,
    sacct: str | None,
    as_csv: bool,
    prometheus: str | None,
    page: str | None,
    show_all: bool,
    as_json: bool,
) -> None:
    """Read the files and print their contents."""
    names = files[1:] if _begins_with_tool(files) else files
    if as_csv and as_json:
        fail("--json and --csv cannot both be given", as_json=True)
    from hopperlib.machine import Machine

    site = Machine.load(machine) if machine else None
    logs = _Logs(site, _nodes(sacct), as_csv)
    found = _found(names, logs)
    _complain(found, as_json=as_json, as_data=as_json or as_csv)
    # A table omits findings and figures, which take longer than reading a tree of small files.
    results = found.results(site) if page or not (as_csv or as_json) else []
    if page:
        _write_page(page, results, names, as_json=as_json)
    if prometheus:
        _write_metrics(prometheus, found, as_json)
    if as_json or as_csv:
        _print_data(found, as_json)
    else:
        for result in results:
            print_text(result, show_all)
    sys.exit(int(found.faulty))


def _begins_with_tool(files: tuple[str, ...]) -> bool:
    """Whether the first of several words names a tool and no file."""
    return len(files) > 1 and files[0] in _TOOLS and not os.path.exists(files[0])


def _write_metrics(prometheus: str, found: _Found, as_json: bool) -> None:
    """Write the rows as a file for Prometheus."""
    from hopperkit.cli.elsewhere.prometheus import io_samples, save_metrics

    save_metrics(prometheus, io_samples(found.rows), as_json=as_json)


def _print_data(found: _Found, as_json: bool) -> None:
    """Print the rows as JSON or as CSV."""
    if as_json:
        parts = list(found.data.values())
        print_json(parts[0] if len(parts) == 1 else found.data)
    else:
        click.echo(_csv(found), nl=False)


def _complain(found: _Found, *, as_json: bool, as_data: bool) -> None:
    """Report files that were not read and, for programs, failures; exit if nothing was read."""
    if not found.data:
        message = found.unread[0] if len(found.unread) == 1 else _NOTHING
        if len(found.unread) > 1:
            _to_stderr(f"not read: {reason}" for reason in found.unread)
        fail(message, as_json=as_json, details={"unread": found.unread})
    _to_stderr(f"not read: {reason}" for reason in found.unread[:_LISTED])
    if len(found.unread) > _LISTED:
        _to_stderr([f"not read: {len(found.unread) - _LISTED:,} more files, which are not from these benchmarks"])
    if as_data:
        _to_stderr(found.failed)


def _to_stderr(messages: Iterable[str]) -> None:
    """Print messages of this command on stderr."""
    for message in messages:
        click.echo(f"hopper: {message}", err=True)


def _nodes(sacct: str | None) -> dict[int, tuple[str, ...]]:
    """Return the nodes of jobs; empty if no list is given."""
    if not sacct:
        return {}
    from hopperkit.readers.jobs.node_lists import read_node_lists

    return read_node_lists(read_source(sacct, what="list of jobs"), file=sacct)


def _found(names: Sequence[str], how: _Logs) -> _Found:
    """Read the files."""
    paths = _expand(names)
    logs = list(filter(_is_log, paths))
    texts = {path: Path(path) for path in paths if path not in set(logs)}
    if not texts:
        darshan, unread = _darshan(logs, [], how)
        return _Found([], [], darshan, unread)
    from hopperkit.questions.storage.io_log import read_texts
    from hopperkit.readers.ior.results import ranks_together

    runs, rows, parsed, unread = read_texts(texts, max_bytes=_MAX_BYTES, details=not how.as_table)
    # Files next to the summary of an IO500 run belong to it.
    folders = {os.path.dirname(run.file) for run in runs}
    rows = [row for row in rows if os.path.dirname(row.file) not in folders]
    darshan, bad = _darshan(logs, parsed, how)
    runs.sort(key=lambda run: -(run.score or 0.0))
    return _Found(ranks_together(rows), runs, darshan, [*unread, *bad])


def _is_log(path: str) -> bool:
    """Whether a file is a Darshan log, by its name or its first bytes."""
    if path.endswith(".darshan"):
        return True
    with suppress(OSError):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return _LOG.match(file.read(8)) is not None
    return False


def _darshan(paths: Sequence[str], parsed: Sequence[tuple[str, Any]], how: _Logs) -> "tuple[Result | None, list[str]]":
    """Return the summary of one log, or a table of several (None if there is none), and why logs were not read."""
    from hopperkit.iologs.darshan_findings import findings
    from hopperkit.questions.storage.darshan_answer import darshan_result, logs_result
    from hopperkit.readers import darshan

    if not paths and not parsed:
        return None, []
    machine = how.machine
    if len(paths) + len(parsed) > 1 or how.as_table:
        with watched(darshan.read_darshan_logs(paths), len(paths), "files", least=_WORTH_A_BAR) as shown:
            return logs_result(chain(parsed, shown), machine, how.nodes)
    try:
        log = parsed[0][1] if parsed else darshan.read_darshan(paths[0])
    except InputError as error:
        return None, [str(error)]
    log = log.placed(how.nodes.get(log.job_id or 0, ()), machine.node().cores if machine else None)
    for note in (*log.missing, *log.notes):
        click.echo(f"hopper: {note}", err=True)
    return darshan_result(log, findings(log, machine), machine.title if machine else ""), []


def _expand(names: Iterable[str]) -> list[str]:
    """Return the files meant by the arguments, each once: files, contents of folders, matches of patterns."""
    meant: list[str] = []
    for name in names:
        path, matches = Path(name), []
        if path.is_dir():
            # Hidden files and folders are created by editors and file systems.
            visible = (
                file
                for file in sorted(path.rglob("*"))
                if not any(part.startswith(".") for part in file.relative_to(path).parts)
            )
            # Anything other than a file, such as a FIFO or a dangling link, is reported, not skipped.
            matches = [str(file) for file in visible if not file.is_dir()]
        elif not path.exists() and glob.has_magic(name):
            matches = sorted(glob.glob(name, recursive=True))
        meant += matches or [name]
    return list(dict.fromkeys(meant))


def _write_page(path: str, results: "list[Result]", names: Sequence[str], *, as_json: bool) -> None:
    """Write the answers as one page."""
    from hopperkit.questions.result import joined

    source = f"From {names[0]}." if len(names) == 1 else f"From {len(names):,} files."
    write_page(path, joined(results), "I/O of a job", source, as_json=as_json)


def _csv(found: _Found) -> str:
    """Return the one table of the files as CSV: results of IO500, rows of IOR and mdtest, or jobs of Darshan."""
    from hopperkit.readers.ior.io500 import IO500_COLUMNS, io500_rows
    from hopperkit.readers.ior.results import results_csv, rows_csv
    from hopperlib.text import count

    kinds = list(found.data)
    if found.runs and "darshan" not in kinds:
        if found.rows:
            # IO500 trees contain outputs of trials next to the runs.
            files = len({row.file for row in found.rows})
            _to_stderr(
                [f"omitted from the table of IO500 runs: rates in {count(files, 'other file')} of IOR and mdtest"]
            )
        return rows_csv((row for run in found.runs for row in io500_rows(run)), IO500_COLUMNS)
    if kinds == ["rates"]:
        return results_csv(found.rows)
    if kinds == ["darshan"] and found.darshan and found.darshan.facts:
        rows = list(found.darshan.facts["jobs"])
        return rows_csv(rows, list(rows[0]))
    raise InputError(
        "a table has either rates of IOR and mdtest, results of IO500, or jobs of Darshan logs: give files of one kind"
    )
