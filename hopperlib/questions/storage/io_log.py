"""Explorer: what an output of IOR or mdtest holds, as a table and a picture."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, stdev

from hopperlib.machine import Machine
from hopperlib.questions.controls import Choice, FileText, InputError
from hopperlib.questions.explorer import Example, Explorer
from hopperlib.questions.figures import Reference
from hopperlib.questions.machine_choice import machine_control
from hopperlib.questions.result import Download, Figure, Notice, Result, Value
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

__all__ = ["EXPLORER"]

# From a run of IOR 4.0.0 for this project, on one machine with a local disk.
_SAMPLE = """\
IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Sat Nov 21 03:55:53 2026
Command line        : ior -a POSIX -F -b 4m -t 1m -s 2 -i 3 -e -o f_4.0.0

Options:
api                 : POSIX
access              : file-per-process
type                : independent
segments            : 2
nodes               : 1
tasks               : 4
clients per node    : 4
repetitions         : 3
xfersize            : 1 MiB
blocksize           : 4 MiB
aggregate filesize  : 32 MiB

Results:

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     346.55     346.98     0.011624    4096       1024.00    0.010642   0.092225   0.045747   0.092338   0
read      1940.12    1942.34    0.000074    4096       1024.00    0.016187   0.016475   0.016180   0.016494   0
write     1337.12    1341.16    0.004965    4096       1024.00    0.007777   0.023860   0.011385   0.023932   1
read      2609.01    2611.19    0.000071    4096       1024.00    0.011965   0.012255   0.011973   0.012265   1
write     1604.32    1610.23    0.002868    4096       1024.00    0.001680   0.019873   0.008407   0.019946   2
read      3859       3866       0.000067    4096       1024.00    0.007986   0.008276   0.008010   0.008292   2
Finished            : Sat Nov 21 03:55:54 2026
"""
_FAILED = """\
IOR-2.10.3: MPI Coordinated Test of Parallel I/O

Command line used: IOR -a POSIX -b 1m -t 256k -o /nonexistent/x

Summary:
	api                = POSIX
	access             = single-shared-file
	clients            = 2 (2 per node)
	repetitions        = 1
	xfersize           = 262144 bytes
	blocksize          = 1 MiB
	aggregate filesize = 2 MiB

** error **
ERROR in aiori-POSIX.c (line 105): cannot open file.
ERROR: No such file or directory
** exiting **
"""
_MOST_ROWS = 500


def _answer(*, output: str, against: str, machine: str) -> Result:
    """Answer for one output."""
    if not output.strip():
        raise InputError("paste what IOR or mdtest printed, or drop a file", control="output")
    try:
        rows = read_ior(output, file="output")
    except ValueError:
        raise InputError("nothing in this text is output of IOR or mdtest", control="output") from None
    known = Machine.load(machine)
    good = measured_rows(rows)
    notices = [
        Notice(code=status, message=f"{status}: {reason}", level="problem" if status == "failed" else "advice")
        for status, reason in dict.fromkeys((one.status, one.reason or "") for one in rows)
        if status != "ok"
    ]
    compared = comparison_table(rows, known) if known.file_systems else None
    if compared is None:
        notices.append(
            Notice(
                code="no-file-system",
                message=f"The machine file of {known.title} states no file system to compare with.",
                level="note",
            )
        )
    return Result(
        summary=_summary(rows),
        warnings=tuple(notices),
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
                    label=f"Coefficient of variation of {access}",
                    value=stdev(rates) / mean(rates),
                    badge="documented",
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


EXPLORER = Explorer(
    name="io-log",
    title="What does this IOR output say?",
    question="Which rates does an output of IOR or mdtest hold, how much do they vary, and what could the nodes do at most?",
    controls=(
        FileText(
            name="output",
            label="Output of IOR or mdtest",
            default=_SAMPLE,
            rows=10,
            max_length=2_000_000,
            help="Text, JSON or CSV, of version 2.10 to 4.x, also with warnings between the lines. It stays on this page.",
        ),
        Choice(
            name="against",
            label="Show rates against",
            options=(("repetition", "repetition"), ("tasks", "tasks"), ("transfer", "transfer size")),
            default="repetition",
        ),
        machine_control(label="Compare with", help="The ceiling of as many of its nodes as the run used."),
    ),
    answer=_answer,
    examples=(
        Example(label="Three repetitions", values={"output": _SAMPLE}),
        Example(label="A run that failed", values={"output": _FAILED}),
    ),
)
