"""What Darshan logs show, as an answer: findings, the job's numbers, its pictures; many jobs as one table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hopperlib.finding import LEVELS, Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Axis, Series, chart, layout
from hopperlib.questions.result import Column, Figure, Result, Table
from hopperlib.questions.storage.io_figures import ost_figure
from hopperlib.storage.logs.darshan_findings import finding_data, findings
from hopperlib.storage.logs.darshan_log import SIZE_BINS, DarshanLog, HeatMap
from hopperlib.storage.logs.darshan_summary import job_row, overall, summary
from hopperlib.storage.logs.ost_rates import judge_osts

__all__ = ["darshan_result", "heat_map_figure", "jobs_result", "logs_result"]

# However long the texts of a log are, and however many jobs there are, a page stays small.
_LONGEST_TEXT = 2000
_MOST_JOBS = 40
_WAYS = (("read", "read"), ("write", "written"))
_NUMBERS_OF_JOBS = (("Run time", "s", 0), ("Read", "MB", 1), ("Written", "MB", 1))


def darshan_result(log: DarshanLog, found: Sequence[Finding], machine: str = "") -> Result:
    """Return what was found in a log as an answer.

    Parameters
    ----------
    log : DarshanLog
    found : sequence of Finding
        Those of `hopperlib.storage.logs.darshan_findings.findings`.
    machine : str
        Whose file system the advice is for; empty for the one in the log.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=7, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> darshan_result(log, ()).summary
    'I/O of a.out: no findings in what the log holds (POSIX).'
    """
    numbers = summary(log)
    raised = [finding for finding in found if finding.level != "ok"]
    none = f"no findings in what the log holds ({', '.join(log.modules) or 'no module'})"
    count = f"{len(raised)} finding{'s' * (len(raised) > 1)}" if raised else none
    notes = [Finding(code="log", message=f"{note[0].upper()}{note[1:]}.", level="note") for note in log.notes]
    if any("setstripe -c" in finding.advice or "striping_factor" in finding.advice for finding in found):
        message = f"Advice on striping is for the file system of {machine}." if machine else _of_log(log)
        notes.append(Finding(code="machine", message=message, level="note"))
    job = Table(
        caption="The job",
        columns=(Column("What"), Column("Of the log")),
        rows=[(label, _shortened(text)) for label, text in _job(numbers)],
    )
    return Result(
        summary=f"I/O of {_shortened(log.executable or 'a job')}: {count}.",
        findings=tuple(_bounded(finding) for finding in (*found, *notes)),
        figures=tuple(_figures(log, numbers)),
        tables=(job,),
        facts={"findings": [finding_data(finding) for finding in found], "summary": numbers},
    )


def _of_log(log: DarshanLog) -> str:
    """Say which file system advice is for if nobody names a machine."""
    known = [ost for file in log.files for ost in file.osts]
    count = f"{log.osts} OSTs" if log.osts else f"at least {max(known, default=0) + 1} OSTs"
    largest = max(log.files, key=lambda file: file.bytes_moved)
    mount = log.mount_of(largest.path)
    return (
        f"Advice on striping is for the file system in the log{f' ({mount[0]}, {mount[1]})' if mount else ''}: {count}, as "
        "fast as they were here, and no limit for a node; --machine names a machine file."
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
    for label, name, form in (
        ("job", "job_id", "{}"),
        ("tasks", "tasks", "{:,}"),
        ("run time", "run_time_s", "{:,.0f} s"),
    ):
        if numbers[name] is not None:
            yield label, form.format(numbers[name])
    yield "files", f"{numbers['files']:,}: {numbers['shared_files']:,} shared, {numbers['unique_files']:,} of one task"
    for mount in numbers["mounts"]:
        yield f"on {mount['mount']}", f"{mount['kind']}: {_files(mount['files'])}, {mount['bytes']:,} bytes"
    for direction, past in _WAYS:
        rate = numbers[f"{direction}_rate_mb_s"]
        yield (
            past,
            f"{numbers[f'bytes_{past}']:,} bytes in {numbers[f'{direction}_calls']:,} calls"
            + (f", {_rate(rate)} MB/s from the first call to the end of the last" if rate is not None else ""),
        )
        sizes = numbers["access_sizes"][direction]
        if sizes:
            yield f"sizes {past}", ", ".join(f"{count:,} of {_size_range(name)}" for name, count in sizes.items())
    for interface, total in numbers["interfaces"].items():
        moved = ", ".join(f"{total[f'bytes_{past}']:,} bytes {past}" for _, past in _WAYS)
        yield f"through {interface}", f"{_files(total['files'])}, {moved}"
    for setting in numbers["stripe_settings"][:5]:
        size = f" of {setting['stripe_size_bytes']:,} bytes" if setting["stripe_size_bytes"] else ""
        yield "stripes", f"{setting['stripe_count']}{size} ({_files(setting['files'])})"
    for direction in ("write", "read"):
        rates = [rate["rate_mb_s"] for rate in numbers[f"ost_{direction}_rates"]]
        if rates:
            yield f"OSTs, {direction}", f"{len(rates)} told apart, {min(rates):.3g} to {max(rates):.3g} MB/s for a task"


def _files(count: int) -> str:
    """Return a number of files in words."""
    return f"{count:,} file{'' if count == 1 else 's'}"


def _rate(rate_mb_s: float) -> str:
    """Return a rate in words; a summary holds three decimals of it."""
    if not rate_mb_s:
        return "less than 0.001"
    return f"{rate_mb_s:,.1f}" if rate_mb_s >= 1 else f"{rate_mb_s:.2g}"


def _size_range(name: str) -> str:
    """Return the name of a bin of access sizes in words."""
    low, _, high = name.partition("_")
    return f"{low} and more" if high == "PLUS" else f"{low} to {high}"


def _figures(log: DarshanLog, numbers: Mapping[str, Any]) -> Iterator[Figure]:
    """Yield the pictures that the log has the numbers for."""
    for direction in ("write", "read"):
        verdict = judge_osts(log, direction)
        if verdict.rates:
            yield ost_figure(verdict)
    heat_map = max(log.heat_maps, key=_heat_map_bytes, default=None)
    if heat_map and _heat_map_bytes(heat_map):
        yield heat_map_figure(heat_map)
        yield _timeline(heat_map)
    if any(numbers["access_sizes"].values()):
        yield _bars(
            "Access sizes",
            Axis(title="Size of a call [bytes]"),
            {
                past: {_size_range(name): numbers["access_sizes"][way].get(name, 0) for name, _ in SIZE_BINS}
                for way, past in _WAYS
            },
        )
    calls = ("reads", "writes", "opens")
    used = {name: total for name, total in numbers["interfaces"].items() if any(total[call] for call in calls)}
    if used:
        yield _bars(
            "Operations",
            Axis(title="Kind of call"),
            {name: {call: total[call] for call in calls} for name, total in used.items()},
        )


def _bars(title: str, x: Axis, counts: Mapping[str, Mapping[str, int]]) -> Figure:
    """Return counts of calls as bars, a set for each name."""
    most = max(count for each in counts.values() for count in each.values())
    return chart(
        title=title,
        alt=f"{title}: bars for {', '.join(counts)}; at most {most:,} calls.",
        x=x,
        y=Axis(title="Calls", low=0, decimals=0),
        series=[Series(name=name, kind="bars", x=list(each), y=list(each.values())) for name, each in counts.items()],
    )


def _heat_map_bytes(heat_map: HeatMap) -> int:
    """Return all bytes of a heat map."""
    return sum(map(sum, (*heat_map.read_bytes, *heat_map.written_bytes)))


def heat_map_figure(heat_map: HeatMap) -> Figure:
    """Return the bytes over time and tasks.

    Examples
    --------
    >>> figure = heat_map_figure(HeatMap("POSIX", 2.0, (0, 1), ((0, 0), (0, 0)), ((10**6, 0), (0, 3 * 10**6))))
    >>> figure.data[0]["z"], figure.data[0]["x"]
    ([[1.0, 0.0], [0.0, 3.0]], [1.0, 3.0])
    """
    rows = [
        [round((read + written) / 1e6, 3) for read, written in zip(*pair, strict=True)]
        for pair in zip(heat_map.read_bytes, heat_map.written_bytes, strict=True)
    ]
    most = max(map(max, rows))
    x, y = Axis(title="Since the start", unit="s"), Axis(title="Task")
    heat: dict[str, Any] = {
        "type": "heatmap",
        "x": [round((place + 0.5) * heat_map.bin_s, 3) for place in range(len(rows[0]))],
        "y": list(heat_map.ranks),
        "z": rows,
        "zmin": 0,
        "zmax": most,
        "colorscale": "Cividis",
        "colorbar": {"title": {"text": "moved [MB]"}},
    }
    together = f", {heat_map.ranks[1] - heat_map.ranks[0]} tasks a row" if len(heat_map.ranks) > 1 else ""
    return Figure(
        title=f"Bytes over time and tasks ({heat_map.interface})",
        alt=f"Heat map of {len(rows)} rows and {len(rows[0])} times of {heat_map.bin_s:.3g} s{together}; the fullest cell holds {most:.3g} MB.",
        data=[heat],
        layout=layout(x, y, height=420),
        table=Table(
            caption=f"What each row moved{together}",
            columns=(Column("From task"), Column("Moved", "MB", 3)),
            rows=[(rank, sum(row)) for rank, row in zip(heat_map.ranks, rows, strict=True)],
        ),
    )


def _timeline(heat_map: HeatMap) -> Figure:
    """Return what all tasks move, over time."""
    sums = {
        past: [sum(column) / 1e6 / heat_map.bin_s for column in zip(*rows, strict=True)]
        for past, rows in (("read", heat_map.read_bytes), ("written", heat_map.written_bytes))
    }
    times = [round(place * heat_map.bin_s, 3) for place in range(len(sums["read"]))]
    most = max(map(max, sums.values()))
    return chart(
        title="Timeline",
        alt=f"Rates of all tasks over {len(times)} times of {heat_map.bin_s:.3g} s: at most {most:,.3g} MB/s.",
        x=Axis(title="Since the start", unit="s"),
        y=Axis(title="Rate of all tasks", unit="MB/s", low=0, decimals=1),
        series=[Series(name=past, x=times, y=rates) for past, rates in sums.items()],
    )


def logs_result(
    logs: Iterable[tuple[str, DarshanLog | Exception]], machine: Machine | None = None
) -> tuple[Result | None, list[str]]:
    """Return many logs as an answer, None if none was read, and why others were not.

    Parameters
    ----------
    logs : iterable of (str, DarshanLog or Exception)
        Path and log, as `hopperlib.readers.darshan.read_darshan_logs` yields them.
    machine : Machine or None
        Whose file system the advice is for; None for the one in each log.

    Examples
    --------
    >>> logs_result([("a.darshan", ValueError("a.darshan: too short"))])
    (None, ['a.darshan: too short'])
    """
    jobs, unread = [], []
    for path, log in logs:
        if isinstance(log, Exception):
            unread.append(str(log))
        else:
            jobs.append(job_row(path, log, findings(log, machine)))
    jobs.sort(key=lambda job: (LEVELS.index(job["worst"]), -job["problems"], -job["bytes_read"] - job["bytes_written"]))
    rows = [{name: value for name, value in job.items() if name != "messages"} for job in jobs]
    return jobs_result(rows, overall(jobs)) if jobs else None, unread


def jobs_result(jobs: Sequence[Mapping[str, Any]], overall: Mapping[str, Any]) -> Result:
    """Return many jobs as an answer: what is common, and a table with the worst first.

    Parameters
    ----------
    jobs : sequence of mapping
        As `hopperlib.storage.logs.darshan_summary.job_row` gives them.
    overall : mapping
        As `hopperlib.storage.logs.darshan_summary.overall` gives it.

    Examples
    --------
    >>> from hopperlib.storage.logs.darshan_summary import job_row, overall
    >>> log = DarshanLog(executable="a.out", job_id=7, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> rows = [job_row("a.darshan", log, ())]
    >>> jobs_result(rows, overall(rows)).summary
    '1 job: 0 with something to mend; 0 bytes read, 0 written.'
    """
    shown = jobs[:_MOST_JOBS]
    cut = f", the worst {len(shown)} of {len(jobs):,}" if len(shown) < len(jobs) else ""
    return Result(
        summary=f"{len(jobs):,} job{'s' * (len(jobs) > 1)}: {overall['jobs_to_mend']:,} with something to mend; "
        f"{overall['bytes_read']:,} bytes read, {overall['bytes_written']:,} written.",
        findings=tuple(
            Finding(
                code=code,
                level=count["level"],
                message=f"{count['jobs']:,} of {len(jobs):,} jobs; the worst: {count['message']}",
            )
            for code, count in overall["findings"].items()
        ),
        tables=(
            Table(
                caption=f"Jobs, the worst first{cut}",
                columns=(
                    *(Column(name) for name in ("Log", "Program", "Tasks")),
                    *(Column(name, unit, digits) for name, unit, digits in _NUMBERS_OF_JOBS),
                    Column("Findings"),
                ),
                rows=[
                    (
                        *(_shortened(job[name] or "").rpartition("/")[2] for name in ("log", "executable")),
                        *(job[name] for name in ("tasks", "run_time_s")),
                        *(job[name] / 1e6 for name in ("bytes_read", "bytes_written")),
                        job["findings"],
                    )
                    for job in shown
                ],
            ),
        ),
        facts={"jobs": list(jobs), "summary": dict(overall)},
    )
