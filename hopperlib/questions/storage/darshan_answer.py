"""What a Darshan log shows, as an answer: findings, the job's numbers, and what each OST gave a task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hopperlib.finding import Finding
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.result import Column, Figure, Result, Table
from hopperlib.storage.logs.darshan_findings import finding_data

__all__ = ["darshan_result"]

# However many OSTs a log names, and however long its texts are, a page of it stays small.
_MOST_OSTS = 200
_LONGEST_TEXT = 2000


def darshan_result(found: Sequence[Finding], summary: Mapping[str, Any], machine: str) -> Result:
    """Return what was found in a log as an answer.

    Parameters
    ----------
    found : sequence of Finding
        Those of `hopperlib.storage.logs.darshan_findings.findings`.
    summary : mapping
        That of `hopperlib.storage.logs.darshan_summary.summary`.
    machine : str
        Whose file system the advice is for.

    Examples
    --------
    >>> from hopperlib.storage.logs.darshan_log import DarshanLog
    >>> from hopperlib.storage.logs.darshan_summary import summary
    >>> log = DarshanLog(executable="a.out", job_id=7, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> darshan_result((), summary(log), "Hopper").summary
    'I/O of a.out: no findings: no slow OST, no small or misaligned accesses, not one OST or one writer for all.'
    """
    none = "no findings: no slow OST, no small or misaligned accesses, not one OST or one writer for all"
    count = f"{len(found)} finding{'s' * (len(found) > 1)}" if found else none
    notes = [Finding(code="log", message=f"{note}.", level="note") for note in summary["notes"]]
    if any("setstripe -c" in finding.advice or "MPICH" in finding.advice for finding in found):
        message = f"Advice on striping is for the file system of {machine}; --machine names another."
        notes.append(Finding(code="machine", message=message, level="note"))
    job = Table(
        caption="The job",
        columns=(Column("What"), Column("Of the log")),
        rows=[(label, _shortened(text)) for label, text in _job(summary)],
    )
    return Result(
        summary=f"I/O of {_shortened(summary['executable'] or 'a job')}: {count}.",
        findings=tuple(_bounded(finding) for finding in (*found, *notes)),
        figures=tuple(
            _ost_figure(direction, summary[f"ost_{direction}_rates"])
            for direction in ("write", "read")
            if summary[f"ost_{direction}_rates"]
        ),
        tables=(job,),
        facts={"findings": [finding_data(finding) for finding in found], "summary": summary},
    )


def _shortened(value: Any) -> str:
    """Return a text of bounded length."""
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ..."


def _bounded(finding: Finding) -> Finding:
    """Return a finding with texts of bounded length."""
    evidence = {
        _shortened(name): value if isinstance(value, int | float) else _shortened(value)
        for name, value in finding.evidence.items()
    }
    code, message, advice = map(_shortened, (finding.code, finding.message, finding.advice))
    return replace(finding, code=code, message=message, advice=advice, evidence=evidence)


def _job(numbers: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a summary says, as labels and texts; what is unknown is left out."""
    if numbers["job_id"] is not None:
        yield "job", str(numbers["job_id"])
    if numbers["tasks"] is not None:
        yield "tasks", f"{numbers['tasks']:,}"
    if numbers["run_time_s"] is not None:
        yield "run time", f"{numbers['run_time_s']:,.0f} s"
    yield "files", f"{numbers['files']:,}: {numbers['shared_files']:,} shared, {numbers['unique_files']:,} of one task"
    for direction, past in (("read", "read"), ("write", "written")):
        rate = numbers[f"{direction}_rate_mb_s"]
        yield (
            past,
            f"{numbers[f'bytes_{past}']:,} bytes in {numbers[f'{direction}_calls']:,} calls"
            + (f", {rate:,.1f} MB/s from the first call to the end of the last" if rate is not None else ""),
        )
        sizes = numbers["access_sizes"][direction]
        if sizes:
            yield f"sizes {past}", ", ".join(f"{count:,} of {_size_range(name)}" for name, count in sizes.items())
    for setting in numbers["stripe_settings"][:5]:
        size = f" of {setting['stripe_size_bytes']:,} bytes" if setting["stripe_size_bytes"] else ""
        yield "stripes", f"{setting['stripe_count']}{size} ({setting['files']:,} file{'s' * (setting['files'] > 1)})"
    for direction in ("write", "read"):
        rates = [rate["rate_mb_s"] for rate in numbers[f"ost_{direction}_rates"]]
        if rates:
            yield f"OSTs, {direction}", f"{len(rates)} told apart, {min(rates):.3g} to {max(rates):.3g} MB/s for a task"


def _size_range(name: str) -> str:
    """Return the name of a bin of access sizes in words."""
    low, _, high = name.partition("_")
    return f"{low} and more" if high == "PLUS" else f"{low} to {high}"


def _ost_figure(direction: str, rates: Sequence[Mapping[str, Any]]) -> Figure:
    """Return what a task got from each OST, in the order of their numbers; the table has the slowest first."""
    shown = rates[:_MOST_OSTS]
    ordered = sorted(shown, key=lambda rate: rate["osts"][0])
    values = [max(float(rate["rate_mb_s"]), 1e-9) for rate in ordered]
    figure = chart(
        title=f"OSTs: {direction}",
        alt=f"{direction.capitalize()} rate of {len(values)} OSTs for a task, {min(values):.3g} to {max(values):.3g} MB/s, "
        "logarithmic scale.",
        x=Axis(title="OST"),
        y=Axis(title="Rate for a task", unit="MB/s", log=True),
        series=[Series(name="rate", kind="bars", x=[rate["osts"][0] for rate in ordered], y=values)],
    )
    least = f"; the {_MOST_OSTS} slowest of {len(rates):,}" if len(rates) > len(shown) else ""
    table = Table(
        caption=f"What a task got from each OST, slowest first{least}",
        columns=(Column("OST"), Column("Rate", "MB/s"), Column("Files"), Column("Bytes")),
        rows=[(_names(rate["osts"]), rate["rate_mb_s"], rate["files"], rate["bytes"]) for rate in shown],
    )
    return replace(figure, table=table)


def _names(osts: Sequence[int]) -> str:
    """Return the numbers of OSTs that stand together; of many, the first."""
    return ", ".join(map(str, osts[:12])) + (" ..." if len(osts) > 12 else "")
