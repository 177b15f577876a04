"""``hopper io``: what IOR, mdtest and Darshan measured, as a table and as findings."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, print_json, write_page

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
@click.option("--json", "as_json", is_flag=True, help="Print the rows as data.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV.")
def ior(files: tuple[str, ...], as_json: bool, as_csv: bool) -> None:
    """Answer ``hopper io ior``."""
    from hopperlib.readers.io_results import results_csv
    from hopperlib.readers.ior.reader import read_ior
    from hopperlib.readers.source import text_of

    if as_json and as_csv:
        fail("--json and --csv cannot both be given", as_json=True)
    results: list[IoResult] = []
    unread: list[str] = []
    with _progress(list(_expand(files))) as paths:
        for path in paths:
            try:
                results += read_ior(text_of(Path(path), max_bytes=_MAX_BYTES), file=path)
            except ValueError as error:
                unread.append(str(error))
    for message in unread:
        click.echo(f"hopper: not read: {message}", err=True)
    if not results:
        fail(f"no output of IOR or mdtest in {len(unread):,} file(s)", as_json=as_json, details={"unread": unread})
    for file, status, reason in dict.fromkeys((one.file, one.status, one.reason) for one in results):
        if status not in ("ok", "not-run"):
            click.echo(f"hopper: {status}: {file}: {reason}", err=True)
    if as_json:
        print_json([one.to_dict() for one in results])
    elif as_csv:
        click.echo(results_csv(results), nl=False)
    else:
        _print_table(results)
    sys.exit(1 if unread or any(one.status not in ("ok", "not-run") for one in results) else 0)


def _expand(names: Iterable[str]) -> Iterator[str]:
    """Yield the files that the arguments mean, each once: files, what folders hold, what patterns match."""
    seen: set[str] = set()
    for name in names:
        path = Path(name)
        if path.is_dir():
            # Hidden files are what editors and file systems leave behind.
            found = (one for one in sorted(path.rglob("*")) if one.is_file() and not one.name.startswith("."))
            meant = [str(one) for one in found] or [name]
        elif not path.exists() and glob.has_magic(name):
            meant = sorted(glob.glob(name, recursive=True)) or [name]
        else:
            meant = [name]
        for one in meant:
            if one not in seen:
                seen.add(one)
                yield one


class _progress:
    """The files one by one, behind a progress bar if there are many and somebody watches."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths
        self.bar: Any = None

    def __enter__(self) -> Iterable[str]:
        if len(self.paths) < 50 or not sys.stderr.isatty():
            return self.paths
        self.bar = click.progressbar(self.paths, label="files", file=sys.stderr)
        bar: Iterable[str] = self.bar.__enter__()
        return bar

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.__exit__(*error)


def _print_table(results: list[IoResult]) -> None:
    """Print the rows for people: what is the same in all rows of a file stands once, above them."""
    from itertools import groupby

    for file, rows in groupby(
        results, key=lambda one: (one.file, one.version, one.api, one.type, one.tasks, one.nodes)
    ):
        head = _heading(file)
        click.echo(head)
        group = list(rows)
        click.echo(
            f"  {'access':<20}{'block':>10}{'transfer':>10}{'segments':>9}{'rep.':>6}"
            f"{'MiB/s':>14}{'MB/s':>14}{'1/s':>16}{'seconds':>12}  status"
        )
        for one in group:
            which = str(one.repetition) if one.repetition is not None else (one.statistic or "-")
            which = f"#{one.rank}" if one.rank is not None else which
            click.echo(
                f"  {one.access or '-':<20}{_bytes(one.block_bytes):>10}{_bytes(one.transfer_bytes):>10}"
                f"{one.segments or '-':>9}{which:>6}{_number(one.rate_mib_s):>14}{_number(one.rate_mb_s):>14}"
                f"{_number(one.operations_s):>16}{_seconds(one.seconds):>12}  {one.status}"
            )


def _heading(key: tuple[Any, ...]) -> str:
    """Return the line above the rows of one run."""
    file, version, api, kind, tasks, nodes = key
    said = [str(word) for word in (version, api, kind) if word]
    said += [f"{tasks:,} tasks"] if tasks else []
    said += [f"on {nodes:,} node{'s' if nodes > 1 else ''}"] if nodes else []
    return f"{file}: {', '.join(said) or 'nothing is said of the run'}"


def _bytes(size: int | None) -> str:
    """Return a size in the largest binary unit that divides it."""
    if size is None:
        return "-"
    for unit, factor in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size % factor == 0:
            return f"{size // factor:,} {unit}"
    return f"{size:,} B"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.2f}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.5g}"


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
        from hopperlib.render.text import result_text

        click.echo(result_text(result, show_all=show_all, styled=sys.stdout.isatty()), nl=False)
    sys.exit(1 if any(finding.level in ("problem", "advice") for finding in result.findings) else 0)
