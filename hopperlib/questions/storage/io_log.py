"""Question: what outputs of IOR and mdtest hold, as a table and a picture."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import mean, stdev

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Reference
from hopperlib.questions.machine_choice import chosen_machine
from hopperlib.questions.question import declared
from hopperlib.questions.result import Download, Figure, Result, Value
from hopperlib.questions.storage.io_figures import (
    comparison_table,
    measured_rows,
    rate_figure,
    repetition_figure,
    rows_table,
)
from hopperlib.questions.wording import wording
from hopperlib.readers.ior.io500 import Io500
from hopperlib.readers.ior.reader import read_ior
from hopperlib.readers.ior.results import IoResult, results_csv
from hopperlib.storage.lustre.client import ceiling_gb_s

_WORDING = wording(__name__)
_MOST_ROWS = 500


def _answer(*, output: str, against: str, machine: str | Machine) -> Result:
    """Answer for one output."""
    if not output.strip():
        raise InputError("paste what IOR or mdtest printed, or drop a file", name="output")
    try:
        rows = read_ior(output, file="output")
    except ValueError:
        raise InputError("nothing in this text is output of IOR or mdtest", name="output") from None
    return io_result(rows, chosen_machine(machine), against=against)


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
    measured = measured_rows(rows)
    rates: dict[str, list[float]] = defaultdict(list)
    spreads: dict[str, list[float]] = defaultdict(list)
    for row in measured:
        if row.access and row.rate_mb_s is not None:
            rates[row.access].append(row.rate_mb_s)
            if row.repetition is not None and row.rate_mb_s:
                spreads[row.access].append(row.rate_mb_s)
    operations = [row for row in rows if row.operations_s is not None]
    said = _WORDING.of(
        rows=len(rows),
        cut=_MOST_ROWS if len(rows) > _MOST_ROWS else 0,
        best=", ".join(f"{access} at best {max(each):,.1f} MB/s" for access, each in rates.items()),
        fastest=None if rates else max(operations, key=lambda row: row.operations_s or 0, default=None),
        none=not rates and not operations,
        reason=rows[0].reason or rows[0].status,
        machine=machine,
        no_file_system=not machine.file_systems,
        statuses=sorted({row.status for row in rows}),
        best_mb_s=max((row.rate_mb_s for row in measured if row.rate_mb_s is not None), default=None),
    )
    compared = [comparison_table(rows, machine)] if machine.file_systems else []
    return said.result(
        findings=(*_failures(rows), *said.findings),
        values=tuple(
            Value(
                said.text("variation", access=access),
                stdev(each) / mean(each),
                "documented",
                decimals=2,
                note=said.text("counted", count=len(each)),
            )
            for access, each in spreads.items()
            if len(each) > 1
        ),
        figures=tuple(_figures(rows, against, machine)),
        tables=(rows_table(rows[:_MOST_ROWS], said.text("caption")), *(table for table in compared if table.rows)),
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
    said = _WORDING.of(run, count=len(run.phases), scored=run.score is not None)
    notes = [("spread", line) for line in run.spreads] + [
        ("stonewall", said.text("stonewall", **each)) for each in run.stonewall
    ]
    return Result(
        summary=said.text("io500"),
        findings=(
            *(Finding(code="error", message=error, level="problem") for error in run.errors),
            *(Finding(code=code, message=f"{line}.", level="note") for code, line in notes),
        ),
        tables=(
            said.table("phases", [tuple(phase) for phase in run.phases]),
            said.table("configuration", list(run.configuration)),
        ),
        facts=run.to_dict(),
    )


def _failures(rows: Sequence[IoResult]) -> Iterator[Finding]:
    """Yield which runs failed or hold no rate, by file where there are several."""
    several = len({row.file for row in rows}) > 1
    for file, status, reason in dict.fromkeys((row.file, row.status, row.reason or "") for row in rows):
        if status != "ok":
            message = f"{f'{file}: ' if several else ''}{status}: {reason}"
            yield Finding(code=status, message=message, level="problem" if status == "failed" else "advice")


def _figures(rows: Sequence[IoResult], against: str, machine: Machine) -> Iterator[Figure]:
    """Yield the picture that is asked for, if the rows hold what it needs."""
    nodes = {row.nodes for row in measured_rows(rows) if row.nodes}
    references = [
        Reference(name=f"ceiling of {count} of {machine.title}'s nodes", y=1000 * ceiling_gb_s(machine, count))
        for count in nodes
        if len(nodes) == 1 and machine.file_systems
    ]
    try:
        yield repetition_figure(rows, references) if against == "repetition" else rate_figure(rows, against)
    except InputError:
        return


QUESTION = declared(__name__, _answer)
