"""Question: contents of outputs of IOR, mdtest and IO500, and of Darshan logs as text, as tables, findings and figures."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from hopperkit.iologs.darshan_findings import findings
from hopperkit.iologs.darshan_log import DarshanLog
from hopperkit.questions import ask
from hopperkit.questions.figures import Reference
from hopperkit.questions.result import Column, Download, Figure, Result, Value, joined, table
from hopperkit.questions.storage.darshan_answer import darshan_result, logs_result
from hopperkit.questions.storage.io_figures import rate_figure, rows_table
from hopperkit.readers.darshan import read_darshan_text
from hopperkit.readers.ior.io500 import Io500, io500_of
from hopperkit.readers.ior.reader import read_ior
from hopperkit.readers.ior.results import IoResult, best_rates, measured_rows, results_csv, variations
from hopperkit.readers.ior.tokens import Marks
from hopperkit.readers.ior.trust import trust_findings
from hopperkit.readers.source import Source, text_of, texts_of
from hopperlib.errors import InputError
from hopperlib.finding import Finding, Level
from hopperlib.machine import Machine
from hopperlib.package_data import load_text_resource
from hopperlib.storage.lustre.client import ceiling_gb_s
from hopperlib.text import count, digits

MAX_ROWS = 12
# A skipped phase of mdtest needs no fix.
_LEVELS: dict[str, Level] = {"failed": "problem", "not-run": "note"}
# IO500 rules for each write phase (io500.org, Rules for submission). [s]
_IO500_S = 300
# How a log of Darshan begins, what IO500 prints, and what darshan-parser does.
_LOG = re.compile(r"[23]\.\d\d\0")
_PHASES = Marks(r"^\[(?:RESULT|SCORE)", needs=("[RESULT", "[SCORE"))
_SUMMARY = "result_summary.txt"
_PARSED = Marks(
    r"^# (?:darshan log version|nprocs):|^#<module>", needs=("# darshan log version:", "# nprocs:", "#<module>")
)


def _sample(name: str) -> str:
    return load_text_resource(__file__, f"samples/{name}.txt")


class Given(ask.Setting):
    """Outputs, one or several, concatenated in the form of `hopperkit.readers.source.texts_of`."""

    machine: Machine = ask.machine(
        "Compare with", help="Compares rates with the ceiling of as many of its nodes as the run used."
    )
    output: str = ask.file(
        "Output of IOR, mdtest, IO500 or darshan-parser",
        _sample("ior"),
        multiple=True,
        argument=True,
        required=True,
        rows=10,
        max_length=64_000_000,
        help="IOR and mdtest in any form; all files of an IO500 run at once; several files make one table. A Darshan "
        "log itself is binary: print it first with `darshan-parser LOG > log.txt`. It stays on this page.",
    )
    machine_file: str = ask.machine_file()

    def check(self) -> None:
        """Reject an empty text."""
        if not self.output.strip():
            raise InputError("paste the output of IOR, mdtest, IO500 or darshan-parser, or drop files", name="output")


def answer(given: Given) -> Result:
    """Return the answer.

    Parameters
    ----------
    given : Given
        Outputs, one or several, concatenated in the form of `hopperkit.readers.source.texts_of`.

    Returns
    -------
    Result
        The answer.

    Raises
    ------
    InputError
        If the text is not an output of these tools.

    Examples
    --------
    >>> round(answer(Given()).facts['best_mb_s'])
    4046
    """
    results, logs, unread = text_results(texts_of(given.output, "output"), given.machine)
    if len(logs) == 1:
        results.append(darshan_result(logs[0][1], findings(logs[0][1])))
    elif logs:
        several, _ = logs_result(logs)
        results += [several] if several else []
    if not results:
        message = "this text contains no output of IOR, mdtest, IO500 or darshan-parser"
        if _LOG.match(given.output):
            message = "this is a binary Darshan log: print it with darshan-parser LOG > log.txt and give that text, or run hopper io LOG in a terminal"
        raise InputError(message, name="output")
    return joined(results, unread)


def text_results(
    texts: Mapping[str, str], machine: Machine
) -> tuple[list[Result], list[tuple[str, DarshanLog]], list[str]]:
    """Return the answers for benchmark outputs, the Darshan logs, and why other texts were not read.

    Parameters
    ----------
    texts : mapping
        By the names of their files; files of a run of IO500 are those in the folder of its summary.
    machine : Machine
        Machine whose nodes' ceiling the IOR rates are compared with.

    Examples
    --------
    >>> results, logs, unread = text_results({"a.txt": "# nprocs: 4", "b.txt": "milk"}, Machine.load("hopper"))
    >>> results, logs[0][1].tasks, unread
    ([], 4, ['b.txt: it contains no output of IOR or mdtest'])
    """
    runs, rows, logs, unread = read_texts(texts)
    results = [io500_result(run) for run in runs]
    if rows:
        results.append(io_result(rows, machine))
    return results, logs, unread


def read_texts(
    texts: Mapping[str, Source], *, max_bytes: int | None = None, details: bool = True
) -> tuple[list[Io500], list[IoResult], list[tuple[str, DarshanLog]], list[str]]:
    """Return the runs of IO500 in texts, the rows of IOR and mdtest, the Darshan logs, and why others were not read.

    Parameters
    ----------
    texts : mapping
        By the names of their files; files of a run of IO500 are those in the folder of its summary.
    max_bytes : int or None
        Limit on the size read of each. [bytes]
    details : bool
        Whether the files next to an IO500 summary are read too: spread, errors, settings.

    Examples
    --------
    >>> read_texts({"b.txt": "milk"})
    ([], [], [], ['b.txt: it contains no output of IOR or mdtest'])
    """
    runs: list[Io500] = []
    rows: list[IoResult] = []
    logs: list[tuple[str, DarshanLog]] = []
    unread: dict[str, str] = {}
    folders: dict[str, dict[str, Source]] = {}
    for name, source in texts.items():
        folders.setdefault(_folder(name), {})[name] = source
    for inside in folders.values():
        summary = next((name for name in inside if os.path.basename(name) == _SUMMARY), None)
        if summary:
            # An IO500 run is a folder with many files without rates; its output repeats the summary.
            with suppress(InputError):
                runs.append(io500_of(summary, inside if details else {summary: inside[summary]}))
                continue
        _read_each(inside, (runs, rows, logs), unread, max_bytes)
    used = {_folder(run.file) for run in runs}
    return runs, rows, logs, [reason for name, reason in unread.items() if _folder(name) not in used]


def _read_each(
    texts: Mapping[str, Source],
    found: tuple[list[Io500], list[IoResult], list[tuple[str, DarshanLog]]],
    unread: dict[str, str],
    max_bytes: int | None,
) -> None:
    """Add the contents of each text in a folder, by tool, and why others were not read."""
    runs, rows, logs = found
    for name, source in texts.items():
        try:
            text = text_of(source, name=name, max_bytes=max_bytes, text_only=True)
            if _PHASES.search(text):
                runs.append(io500_of(name, texts))
            elif _PARSED.search(text):
                logs.append((name, read_darshan_text(text, file=name)))
            else:
                rows += read_ior(text, file=name)
        except InputError as error:
            unread[name] = str(error)


def _folder(name: str) -> str:
    """Return the folder of a file."""
    return os.path.dirname(name)


def io_result(rows: Sequence[IoResult], machine: Machine, *, named: bool = False) -> Result:
    """Return the measurements as an answer.

    Parameters
    ----------
    rows : sequence of IoResult
        At least one, of one output or of several.
    machine : Machine
        Whose nodes' ceiling the rates are compared with.
    named : bool
        Whether the runs are known to be of that machine, so that its memory and network bound them.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", nodes=1, tasks=24, rate_mib_s=1200.0)]
    >>> io_result(rows, Machine.load("hopper")).summary
    '1 row: write at best 1,258.3 MB/s.'
    """
    cut = f", the first {MAX_ROWS} of {len(rows):,} rows; the CSV file has all" if len(rows) > MAX_ROWS else ""
    return Result(
        summary=_summary(rows),
        findings=(*_findings(rows, machine), *trust_findings(rows, machine if named else None)),
        values=tuple(_values(rows, machine)),
        figures=tuple(_figures(rows, machine)),
        tables=(rows_table(rows[:MAX_ROWS], f"Contents of the output{cut}"),),
        downloads=(Download(name="rates.csv", text=results_csv(rows), media_type="text/csv"),),
        facts={
            "rows": len(rows),
            "statuses": sorted({row.status for row in rows}),
            "best_mb_s": max((row.rate_mb_s for row in measured_rows(rows) if row.rate_mb_s is not None), default=None),
        },
    )


def _summary(rows: Sequence[IoResult]) -> str:
    best = best_rates(rows)
    if best:
        rates = ", ".join(f"{access} at best {rate_mb_s:,.1f} MB/s" for access, rate_mb_s in best.items())
        return f"{count(len(rows), 'row')}: {rates}."
    operations = [(row.operations_s, row.access) for row in rows if row.operations_s is not None]
    if operations:
        rate, access = max(operations, key=lambda each: each[0])
        return f"{count(len(rows), 'row')} of mdtest; the fastest is {access} with {rate:,.0f} per second."
    return f"No rate in this output: {rows[0].reason or rows[0].status}."


def _findings(rows: Sequence[IoResult], machine: Machine) -> Iterator[Finding]:
    """Yield runs that failed or have no rate, with file names if there are several."""
    several = len({row.file for row in rows}) > 1
    for file, status, reason in dict.fromkeys((row.file, row.status, row.reason or "") for row in rows):
        if status != "ok":
            message = f"{f'{file}: ' if several else ''}{status}: {reason}"
            yield Finding(status, message, _LEVELS.get(status, "advice"))
    if not machine.file_systems:
        message = f"The machine file of {machine.title} has no file system to compare with."
        yield Finding("no-file-system", message, "note")


def _values(rows: Sequence[IoResult], machine: Machine) -> Iterator[Value]:
    """Yield how much repetitions differ, and how near the best write comes to the ceiling of its nodes."""
    for access, (variation, runs) in list(variations(rows).items())[:2]:
        note = f"{count(runs, 'repetition')} in this output; exact arithmetic on its numbers"
        yield Value(f"Coefficient of variation of {access}", variation, "documented", "", 2, note=note)
    written = [
        (row.rate_mb_s / 1000 / ceiling_gb_s(machine, row.nodes), row.nodes)
        for row in measured_rows(rows)
        if row.access == "write" and row.nodes and row.rate_mb_s is not None and machine.file_systems
    ]
    if written:
        share, nodes = max(written)
        label = f"Best write rate relative to the ceiling of {count(nodes, 'node')} of {machine.title}"
        yield Value(label, share, "predicted", "", 2)


def _figures(rows: Sequence[IoResult], machine: Machine) -> Iterator[Figure]:
    """Yield the picture of the rates, with the ceiling of the nodes where all runs used as many."""
    nodes = {row.nodes for row in measured_rows(rows) if row.nodes}
    references = [
        Reference(name=f"ceiling of {count(each, 'node')} of {machine.title}", y=1000 * ceiling_gb_s(machine, each))
        for each in nodes
        if len(nodes) == 1 and machine.file_systems
    ]
    # Outputs may have no rate, or no position for one.
    with suppress(InputError):
        yield rate_figure(rows, references)


def io500_result(run: Io500) -> Result:
    """Return a run of IO500 as an answer.

    Parameters
    ----------
    run : Io500
        IO500 run.

    Examples
    --------
    >>> from hopperkit.readers.ior.io500 import Phase
    >>> phase = Phase("ior-easy-write", 4.0, "GiB/s", 300.0)
    >>> io500_result(Io500(file="a", score=None, bandwidth_gib_s=None, iops_kiops=None, phases=(phase,))).summary
    'No score; 1 phase.'
    """
    score = "No score"
    if run.score is not None and run.bandwidth_gib_s is not None and run.iops_kiops is not None:
        score = (
            f"Score {digits(run.score, 6)}: {digits(run.bandwidth_gib_s, 6)} GiB/s, {digits(run.iops_kiops, 6)} kIOPS"
        )
    return Result(
        summary=f"{score}; {count(len(run.phases), 'phase')}.",
        findings=tuple(_io500_findings(run)),
        tables=(
            table(
                "Phases",
                run.phases,
                {
                    "Phase": lambda phase: phase.name,
                    "Rate": lambda phase: phase.value,
                    "Unit": lambda phase: phase.unit,
                    Column("Time", "s", 1): lambda phase: phase.seconds,
                },
            ),
        ),
        facts=run.to_dict(),
    )


def _io500_findings(run: Io500) -> Iterator[Finding]:
    """Yield errors, the balance of the tasks, and the part cut off by a stonewall."""
    for error in run.errors:
        yield Finding("error", error, "problem")
    short = [phase for phase in run.phases if phase.name.endswith("write") and 0 < (phase.seconds or 0) < _IO500_S]
    if short:
        phases = ", ".join(f"{phase.name} {digits(phase.seconds or 0, 3)} s" for phase in short)
        message = (
            f"Under {_IO500_S} s, the minimum of IO500's rules for write phases: {phases}. "
            "Caches may have absorbed the writes."
        )
        yield Finding("short-phases", message, "note")
    for spread in run.spreads:
        yield Finding("spread", f"{spread}.", "note")
    for each in run.stonewall:
        message = f"{each['phase']}: {each['moved_bytes']:,} of {each['planned_bytes']:,} planned bytes moved."
        yield Finding("stonewall", message, "note")


QUESTION = ask.declared(
    Given,
    answer,
    title="What do these I/O logs say?",
    examples={
        "Three repetitions": {"output": _sample("ior")},
        "A Darshan log with a slow OST (made up)": {"output": _sample("slow-ost-darshan")},
        "A run that failed": {"output": _sample("ior-failed")},
    },
)
