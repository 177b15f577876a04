"""Question: what outputs of IOR, mdtest and IO500 hold, and texts of Darshan logs, as tables, findings and pictures."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, stdev

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Reference
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import declared
from hopperlib.questions.result import Download, Figure, Result, joined
from hopperlib.questions.storage import io_figures
from hopperlib.questions.storage.darshan_answer import darshan_result, logs_result
from hopperlib.questions.wording import wording
from hopperlib.readers.darshan import read_darshan_text
from hopperlib.readers.ior.io500 import Io500, io500_of
from hopperlib.readers.ior.reader import read_ior
from hopperlib.readers.ior.results import IoResult, results_csv
from hopperlib.readers.source import texts_of
from hopperlib.storage.logs.darshan_findings import findings
from hopperlib.storage.logs.darshan_log import DarshanLog
from hopperlib.storage.lustre.client import ceiling_gb_s

_WORDING = wording(__name__)
_MOST_ROWS = 500
# How a log of Darshan begins, and what darshan-parser printed of one.
_LOG = re.compile(r"[23]\.\d\d\0")
_PARSED = re.compile(r"^# (?:darshan log version|nprocs):|^#<module>", re.MULTILINE)


def _answer(*, output: str, against: str, machine: str | Machine, machine_file: str) -> Result:
    """Answer for one text, or for several that stand one after the other as `hopperlib.readers.source.texts_of` says."""
    if not output.strip():
        raise InputError("paste what IOR, mdtest, IO500 or darshan-parser printed, or drop files", name="output")
    results, logs, unread = text_results(
        texts_of(output, "output"), chosen_machine(machine, machine_file), against=against
    )
    if len(logs) == 1:
        results.append(darshan_result(logs[0][1], findings(logs[0][1])))
    elif logs:
        several, _ = logs_result(logs)
        results += [several] if several else []
    if not results:
        raise InputError(_WORDING.of().text("binary" if _LOG.match(output) else "unknown"), name="output")
    return joined(results, unread)


def text_results(
    texts: Mapping[str, str], machine: Machine, *, against: str = "repetition"
) -> tuple[list[Result], list[tuple[str, DarshanLog]], list[str]]:
    """Return what outputs of benchmarks hold as answers, the Darshan logs, and why other texts were not read.

    Parameters
    ----------
    texts : mapping
        By the names of their files; files of a run of IO500 are those in the folder of its summary.
    machine : Machine
        Whose nodes' ceiling the rates of IOR are compared with.
    against : {"repetition", "tasks", "transfer"}
        What these are drawn against.

    Examples
    --------
    >>> results, logs, unread = text_results({"a.txt": "# nprocs: 4", "b.txt": "milk"}, Machine.load("hopper"))
    >>> results, logs[0][1].tasks, unread
    ([], 4, ['b.txt: nothing in it is output of IOR or mdtest'])
    """
    results: list[Result] = []
    unread: list[str] = []
    rows: list[IoResult] = []
    logs: list[tuple[str, DarshanLog]] = []
    # A run of IO500 is a folder: what stands beside its summary belongs to it.
    folders = {os.path.dirname(name) for name, text in texts.items() if "[SCORE" in text}
    for name, text in texts.items():
        try:
            if "[SCORE" in text:
                beside = {other: texts[other] for other in texts if os.path.dirname(other) == os.path.dirname(name)}
                results.append(io500_result(io500_of(name, beside)))
            elif _PARSED.search(text):
                logs.append((name, read_darshan_text(text, file=name)))
            else:
                rows += read_ior(text, file=name)
        except InputError as error:
            # A run of IO500 leaves much that holds no rate.
            unread += [] if os.path.dirname(name) in folders else [str(error)]
    if rows:
        results.append(io_result(rows, machine, against=against))
    return results, logs, unread


def io_result(rows: Sequence[IoResult], machine: Machine, *, against: str = "repetition") -> Result:
    """Return what was measured as an answer.

    Parameters
    ----------
    rows : sequence of IoResult
        At least one, of one output or of several.
    machine : Machine
        Whose nodes' ceiling the rates are compared with.
    against : {"repetition", "tasks", "transfer"}
        What the rates are drawn against.

    Examples
    --------
    >>> rows = [IoResult(file="a", access="write", nodes=1, tasks=24, rate_mib_s=1200.0)]
    >>> io_result(rows, Machine.load("hopper")).summary
    '1 row: write at best 1,258.3 MB/s.'
    """
    measured = io_figures.measured_rows(rows)
    rates: dict[str, list[float]] = defaultdict(list)
    spreads: dict[str, list[float]] = defaultdict(list)
    for row in measured:
        if row.access and row.rate_mb_s is not None:
            rates[row.access].append(row.rate_mb_s)
            if row.repetition is not None and row.rate_mb_s:
                spreads[row.access].append(row.rate_mb_s)
    operations = [row for row in rows if row.operations_s is not None]
    with_file_system = [machine] if machine.file_systems else []
    said = _WORDING.of(
        rows=len(rows),
        cut=_MOST_ROWS if len(rows) > _MOST_ROWS else 0,
        best=[{"access": access, "mb_s": max(each)} for access, each in rates.items()],
        fastest=None if rates else max(operations, key=lambda row: row.operations_s or 0, default=None),
        none=not rates and not operations,
        reason=rows[0].reason or rows[0].status,
        machine=machine,
        no_file_system=not with_file_system,
        statuses=sorted({row.status for row in rows}),
        best_mb_s=max((row.rate_mb_s for row in measured if row.rate_mb_s is not None), default=None),
        variations=[
            {"access": access, "variation": stdev(each) / mean(each), "count": len(each)}
            for access, each in spreads.items()
            if len(each) > 1
        ],
        **dict.fromkeys(("errors", "spreads", "stonewall"), ()),
    )
    compared = [io_figures.comparison_table(rows, each) for each in with_file_system]
    return said.result(
        findings=(*_failures(rows), *said.findings),
        figures=tuple(_figures(rows, against, machine)),
        tables=(
            io_figures.rows_table(rows[:_MOST_ROWS], said.text("caption")),
            *(table for table in compared if table.rows),
        ),
        downloads=(Download(name="rates.csv", text=results_csv(rows), media_type="text/csv"),),
    )


def io500_result(run: Io500) -> Result:
    """Return a run of IO500 as an answer.

    Examples
    --------
    >>> from hopperlib.readers.ior.io500 import Phase
    >>> phase = Phase("ior-easy-write", 4.0, "GiB/s", 300.0)
    >>> io500_result(Io500(file="a", score=None, bandwidth_gib_s=None, iops_kiops=None, phases=(phase,))).summary
    'No score; 1 phase.'
    """
    said = _WORDING.of(run, scored=run.score is not None, no_file_system=False)
    tables = (said.table("phases"), said.table("configuration"))
    return Result(summary=said.text("io500"), findings=said.findings, tables=tables, facts=run.to_dict())


def _failures(rows: Sequence[IoResult]) -> Iterator[Finding]:
    """Yield which runs failed or hold no rate, by file where there are several."""
    several = len({row.file for row in rows}) > 1
    for file, status, reason in dict.fromkeys((row.file, row.status, row.reason or "") for row in rows):
        if status != "ok":
            message = f"{f'{file}: ' if several else ''}{status}: {reason}"
            yield Finding(code=status, message=message, level="problem" if status == "failed" else "advice")


def _figures(rows: Sequence[IoResult], against: str, machine: Machine) -> Iterator[Figure]:
    """Yield the picture that is asked for, if the rows hold what it needs."""
    nodes = {row.nodes for row in io_figures.measured_rows(rows) if row.nodes}
    references = [
        Reference(name=f"ceiling of {count} of {machine.title}'s nodes", y=1000 * ceiling_gb_s(machine, count))
        for count in nodes
        if len(nodes) == 1 and machine.file_systems
    ]
    try:
        yield (
            io_figures.repetition_figure(rows, references)
            if against == "repetition"
            else io_figures.rate_figure(rows, against)
        )
    except InputError:
        return


QUESTION = declared(__name__, _answer)
