"""Question: what an output of IOR or mdtest holds, as a table and a picture."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, stdev

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Reference
from hopperlib.questions.question import declared
from hopperlib.questions.result import Download, Figure, Result, Value
from hopperlib.questions.storage.io_figures import (
    ceiling_gb_s,
    comparison_table,
    measured_rows,
    rate_figure,
    repetition_figure,
    rows_table,
)
from hopperlib.readers.io_results import IoResult, results_csv
from hopperlib.readers.ior.reader import read_ior

__all__ = ["QUESTION"]

# From a run of IOR 4.0.0 for this project, on one machine with a local disk.
_MOST_ROWS = 500


def _answer(*, output: str, against: str, machine: str) -> Result:
    """Answer for one output."""
    if not output.strip():
        raise InputError("paste what IOR or mdtest printed, or drop a file", name="output")
    try:
        rows = read_ior(output, file="output")
    except ValueError:
        raise InputError("nothing in this text is output of IOR or mdtest", name="output") from None
    known = Machine.load(machine)
    good = measured_rows(rows)
    notices = [
        Finding(code=status, message=f"{status}: {reason}", level="problem" if status == "failed" else "advice")
        for status, reason in dict.fromkeys((one.status, one.reason or "") for one in rows)
        if status != "ok"
    ]
    compared = comparison_table(rows, known) if known.file_systems else None
    if compared is None:
        notices.append(
            Finding(
                code="no-file-system",
                message=f"The machine file of {known.title} states no file system to compare with.",
                level="note",
            )
        )
    return Result(
        summary=_summary(rows),
        findings=tuple(notices),
        values=tuple(_values(good)),
        figures=tuple(_figures(rows, against, known)),
        tables=(
            rows_table(
                rows[:_MOST_ROWS],
                "What the output holds" + (f", the first {_MOST_ROWS} rows" if len(rows) > _MOST_ROWS else ""),
            ),
            *((compared,) if compared and compared.rows else ()),
        ),
        downloads=(Download(name="rates.csv", text=results_csv(rows), media_type="text/csv"),),
        facts={
            "rows": len(rows),
            "statuses": sorted({one.status for one in rows}),
            "best_mb_s": max((one.rate_mb_s for one in good if one.rate_mb_s is not None), default=None),
        },
    )


def _by_access(rows: list[IoResult]) -> dict[str, list[float]]:
    """Return the rates of single repetitions by access; where there are none, of whatever there is. [MB/s]"""
    rates: dict[str, list[float]] = defaultdict(list)
    for one in rows:
        if one.rate_mb_s is not None and one.access:
            rates[one.access].append(one.rate_mb_s)
    return rates


def _summary(rows: list[IoResult]) -> str:
    """Say in a sentence what was measured."""
    rates = _by_access(measured_rows(rows))
    if rates:
        said = ", ".join(f"{access} at best {max(values):,.1f} MB/s" for access, values in rates.items())
        return f"{len(rows)} rows: {said}."
    operations = [one for one in rows if one.operations_s is not None]
    if operations:
        best = max(operations, key=lambda one: one.operations_s or 0)
        return f"{len(rows)} rows of mdtest; the fastest is {best.access} with {best.operations_s:,.0f} a second."
    return f"No rate in this output: {rows[0].reason or rows[0].status}."


def _values(rows: list[IoResult]) -> list[Value]:
    """Return the spread of the repetitions."""
    found = []
    for access in dict.fromkeys(one.access for one in rows):
        rates = [one.rate_mb_s for one in rows if one.access == access and one.repetition is not None and one.rate_mb_s]
        if access and len(rates) > 1:
            found.append(
                Value(
                    f"Coefficient of variation of {access}",
                    stdev(rates) / mean(rates),
                    "documented",
                    decimals=2,
                    note=f"{len(rates)} repetitions in this output; exact arithmetic on its numbers",
                )
            )
    return found


def _figures(rows: list[IoResult], against: str, machine: Machine) -> list[Figure]:
    """Return the picture that is asked for, if the output holds what it needs."""
    try:
        if against != "repetition":
            return [rate_figure(rows, against)]
        nodes = {one.nodes for one in measured_rows(rows) if one.nodes}
        references = (
            [
                Reference(name=f"ceiling of {n} of {machine.title}'s nodes", y=1000 * ceiling_gb_s(machine, n))
                for n in nodes
            ]
            if len(nodes) == 1 and machine.file_systems
            else []
        )
        return [repetition_figure(rows, references)]
    except ValueError:
        return []


QUESTION = declared(__name__, _answer)
