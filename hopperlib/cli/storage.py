"""The commands of storage: ``hopper io``, and ``hopper stripe`` and ``hopper iobuf``, which do more than ask."""

import glob
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, print_json, read_source, write_page
from hopperlib.cli.question import answer, print_text
from hopperlib.errors import InputError, refusal

if TYPE_CHECKING:
    from hopperlib.machine import Machine
    from hopperlib.questions.question import Question
    from hopperlib.questions.result import Result
    from hopperlib.readers.ior.results import IoResult

_MAX_BYTES = 256_000_000
# Fewer files are read before a bar would be seen.
_WORTH_A_BAR = 50


def stripe(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer; a stripe size alone would say nothing of the advised layout."""
    if "stripe_mib" in values and "stripe_count" not in values:
        raise refusal("stripe_mib", values["stripe_mib"], "needs --stripe-count: the advised layout has its own size")
    answer(question, values, as_json, show_all)


def iobuf(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for PARAMS, from standard input for ``-``, or for a setting that suits the files."""
    from hopperlib.storage.iobuf.params import suited_rule, write_params

    params, patterns = values.pop("params", None), values.pop("patterns")
    if (params is None) == (not patterns):
        raise InputError("give either PARAMS or --files: one setting to check, or files to write one for")
    if params == "-":
        params = read_source("-", what="IOBUF_PARAMS", as_json=as_json).strip()
    elif params is None:
        reading = values.get("direction") == "read"
        try:
            params = write_params([suited_rule(pattern, reading=reading) for pattern in patterns])
        except ValueError as error:
            raise InputError(str(error), name="--files") from error
    answer(question, {**values, "params": params}, as_json, show_all)


class Group(click.Group):
    """The tools of ``hopper io``; a file in place of a tool gets a hint."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Name the command of a file."""
        if args and args[0] not in self.commands and Path(args[0]).exists():
            tool = "darshan" if args[0].endswith(".darshan") else "ior"
            fail(f"which tool wrote {args[0]}? Say `hopper io {tool} {args[0]}`; `hopper io --help` lists the tools")
        return super().resolve_command(ctx, args)


def ior(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Print the rates of IOR and mdtest."""
    from hopperlib.machine import Machine
    from hopperlib.readers.ior.results import ranks_together, results_csv

    as_csv = values["as_csv"]
    if as_json and as_csv:
        fail("--json and --csv cannot both be given", as_json=True)
    try:
        known = Machine.load(values["machine"])
    except ValueError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine"})
    rows, unread = _rates(_expand(values["files"]))
    rows = rows if values["ranks"] else ranks_together(rows)
    for message in unread:
        click.echo(f"hopper: not read: {message}", err=True)
    if not rows:
        fail("nothing given is output of IOR or mdtest", as_json=as_json, details={"unread": unread})
    # Each failure once, in the order of the files.
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


def _rates(paths: list[str]) -> "tuple[list[IoResult], list[str]]":
    """Return the rows of all files, and why files were not read."""
    from hopperlib.readers.ior.reader import read_ior
    from hopperlib.readers.source import text_of

    rows: list[IoResult] = []
    unread: list[str] = []
    with _watched(paths, len(paths)) as shown:
        for path in shown:
            try:
                rows += read_ior(text_of(Path(path), max_bytes=_MAX_BYTES), file=path)
            except ValueError as error:
                unread.append(str(error))
    return rows, unread


def _watched(files: Iterable[Any], count: int) -> AbstractContextManager[Iterable[Any]]:
    """Return files, with a bar that shows how many were read where there are many and somebody looks."""
    if count < _WORTH_A_BAR or not sys.stderr.isatty():
        return nullcontext(files)
    return click.progressbar(files, length=count, label="files", file=sys.stderr)


def _expand(names: Iterable[str], ending: str = "") -> list[str]:
    """Return the files that the arguments mean, each once: files, what folders hold, what patterns match."""
    meant: list[str] = []
    for name in names:
        path, matches = Path(name), []
        if path.is_dir():
            # Hidden files are what editors and file systems leave behind.
            visible = (file for file in sorted(path.rglob(f"*{ending}")) if not file.name.startswith("."))
            # What is no file, such as a FIFO or a link to nowhere, is said and not left out.
            matches = [str(file) for file in visible if not file.is_dir()]
        elif not path.exists() and glob.has_magic(name):
            matches = sorted(glob.glob(name, recursive=True))
        meant += matches or [name]
    return list(dict.fromkeys(meant))


def io500(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Print IO500 runs."""
    from hopperlib.questions.storage.io_log import io500_result
    from hopperlib.readers.ior.io500 import read_io500

    runs = read_io500(values["folder"])
    if as_json:
        print_json(runs[0].to_dict() if len(runs) == 1 else {"runs": [run.to_dict() for run in runs]})
    else:
        for run in runs:
            print_text(io500_result(run), show_all)
    sys.exit(1 if any(run.errors for run in runs) else 0)


def darshan(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Print what is slow in one log, or in many as one table."""
    from hopperlib.machine import Machine
    from hopperlib.questions.storage.darshan_answer import logs_result
    from hopperlib.readers.darshan import read_darshan_logs

    known = Machine.load(values["machine"]) if values["machine"] else None
    names, table = _expand(values["files"], ".darshan"), values["csv_path"] or values["parquet_path"]
    unread: list[str] = []
    if len(names) == 1 and not table:
        result = _one_log(names[0], known)
    else:
        with _watched(read_darshan_logs(names), len(names)) as shown:
            overview, unread = logs_result(shown, known)
        if overview is None:
            raise InputError(f"nothing given is a Darshan log: {unread[0]}")
        result = overview
    for message in unread:
        click.echo(f"hopper: not read: {message}", err=True)
    source = f"From the Darshan log {names[0]}." if len(names) == 1 else f"From {len(names):,} Darshan logs."
    write_page(values["page"], result, "I/O of a job", source, as_json=as_json)
    if table:
        _write_table((result.facts or {})["jobs"], values["csv_path"], values["parquet_path"])
    if as_json:
        print_json(result.facts)
    else:
        print_text(result, show_all)
    sys.exit(1 if unread or any(finding.level in ("problem", "advice") for finding in result.findings) else 0)


def _one_log(path: str, machine: "Machine | None") -> "Result":
    """Return what one log shows; say what part of it is lost."""
    from hopperlib.questions.storage.darshan_answer import darshan_result
    from hopperlib.readers.darshan import read_darshan
    from hopperlib.storage.logs.darshan_findings import findings

    log = read_darshan(path)
    for note in (*log.missing, *log.notes):
        click.echo(f"hopper: {note}", err=True)
    return darshan_result(log, findings(log, machine), machine.title if machine else "")


def _write_table(jobs: list[dict[str, Any]], csv_path: str | None, parquet_path: str | None) -> None:
    """Write a row for each job."""
    from hopperlib.readers.ior.results import rows_csv

    try:
        if csv_path:
            Path(csv_path).write_text(rows_csv(jobs, list(jobs[0])), encoding="utf-8", newline="")
        if parquet_path:
            import pandas as pd

            pd.DataFrame(jobs).to_parquet(parquet_path)
    except ImportError:
        fail("writing Parquet needs pandas and pyarrow; --csv needs neither")
    except OSError as error:
        fail(f"cannot write the table: {error.strerror or error}")
