"""``hopper io``: what IOR, mdtest and Darshan measured, as a table and as findings."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hopperlib.cli.common import fail, print_json, write_page
from hopperlib.cli.question import print_text

if TYPE_CHECKING:
    from hopperlib.readers.io_results import IoResult

__all__ = ["command"]

_HELP = """Read what IOR, mdtest and Darshan measured of your I/O.

\b
  hopper io ior results/*.txt              a table of every rate in the outputs of IOR and mdtest
  hopper io darshan job.darshan            what a Darshan log says is slow, and what to do

Exit status: 0 fine, 1 a problem was found, 2 nothing could be read.
"""

_IOR_HELP = """Print every rate in the outputs of IOR (2.10 to 4.x: text, JSON, CSV) and of mdtest as one table.

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
"""

_DARSHAN_HELP = """Say what a Darshan log shows: slow OSTs, small or misaligned accesses, files on one OST, one writer.

Needs pydarshan: pip install 'hopperlib[darshan]'. Each finding names its numbers, what to do and the
command that does it.

\b
  hopper io darshan job.darshan
  hopper io darshan job.darshan --html report.html

Exit status: 0 nothing to mend, 1 a finding warns or fails, 2 the log cannot be read.
"""

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


@click.group(name="io", cls=_Tools, help=_HELP, short_help="What IOR, mdtest and Darshan measured.")
def command() -> None:
    """Answer ``hopper io``."""


@command.command(name="ior", help=_IOR_HELP, short_help="Outputs of IOR and mdtest as one table.")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--machine", default="hopper", show_default=True, metavar="M", help="Whose nodes to compare with.")
@click.option("--all", "show_all", is_flag=True, help="Print everything: numbers, charts in words, tables.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as data.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV.")
def ior(files: tuple[str, ...], machine: str, show_all: bool, as_json: bool, as_csv: bool) -> None:
    """Answer ``hopper io ior``."""
    from hopperlib.machine import Machine
    from hopperlib.readers.io_results import results_csv

    if as_json and as_csv:
        fail("--json and --csv cannot both be given", as_json=True)
    try:
        known = Machine.load(machine)
    except ValueError as error:
        fail(str(error), as_json=as_json, details={"flag": "--machine"})
    rows, unread = _read(_expand(files))
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


def _expand(names: Iterable[str]) -> list[str]:
    """Return the files that the arguments mean, each once: files, what folders hold, what patterns match."""
    meant: list[str] = []
    for name in names:
        path, found = Path(name), []
        if path.is_dir():
            # Hidden files are what editors and file systems leave behind.
            visible = (file for file in sorted(path.rglob("*")) if not file.name.startswith("."))
            found = [str(file) for file in visible if file.is_file()]
        elif not path.exists() and glob.has_magic(name):
            found = sorted(glob.glob(name, recursive=True))
        meant += found or [name]
    return list(dict.fromkeys(meant))


@command.command(name="darshan", help=_DARSHAN_HELP, short_help="What a Darshan log says is slow.")
@click.argument("file")
@click.option(
    "--machine", default="hopper", show_default=True, metavar="M", help="Whose file system the advice is for."
)
@click.option("--html", "page", metavar="PAGE", help="Write one page to this file: no scripts, nothing from elsewhere.")
@click.option("--all", "show_all", is_flag=True, help="Print everything: charts in words too.")
@click.option("--json", "as_json", is_flag=True, help="Print findings and summary as data.")
def darshan(file: str, machine: str, page: str | None, show_all: bool, as_json: bool) -> None:
    """Answer ``hopper io darshan``."""
    from hopperlib.machine import Machine
    from hopperlib.questions.storage.darshan_answer import darshan_result
    from hopperlib.readers.darshan import read_darshan
    from hopperlib.storage.logs.darshan_findings import findings
    from hopperlib.storage.logs.darshan_summary import summary

    try:
        known = Machine.load(machine)
        log = read_darshan(file)
        result = darshan_result(findings(log, known), summary(log), known.title)
    except ValueError as error:
        fail(str(error), as_json=as_json)
    for note in log.notes:
        click.echo(f"hopper: {note}", err=True)
    if page is not None:
        from hopperlib.render.page import page_html

        write_page(page, page_html(result, "I/O of a job", f"From the Darshan log {file}."), as_json=as_json)
    if as_json:
        print_json(result.facts)
    else:
        print_text(result, show_all)
    sys.exit(1 if any(finding.level in ("problem", "advice") for finding in result.findings) else 0)
