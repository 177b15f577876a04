"""What Darshan logs show, as an answer: findings, the job's numbers, its pictures; many jobs as one table."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hopperlib.finding import LEVELS, Finding
from hopperlib.machine import Machine
from hopperlib.questions.figures import Series
from hopperlib.questions.result import Figure, Result, Table
from hopperlib.questions.storage.io_figures import ost_figure
from hopperlib.questions.wording import wording
from hopperlib.storage.logs.darshan_findings import finding_data, findings, other_counts, system_of_log
from hopperlib.storage.logs.darshan_log import SIZE_BINS, DarshanLog, HeatMap
from hopperlib.storage.logs.darshan_summary import job_row, overall, summary
from hopperlib.storage.logs.ost_rates import judge_osts
from hopperlib.storage.lustre.stripe_advice import limit_words

# However long the texts of a log are, and however many jobs there are, a page stays small.
_LONGEST_TEXT = 2000
_MOST_JOBS = 40
_EACH_HAS_A_ROW = 32
_WAYS = (("read", "read"), ("write", "written"))
_WORDING = wording(__name__)


def darshan_result(log: DarshanLog, log_findings: Sequence[Finding], machine: str = "") -> Result:
    """Return what was found in a log as an answer.

    Parameters
    ----------
    log : DarshanLog
    log_findings : sequence of Finding
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
    raised = [finding for finding in log_findings if finding.level != "ok"]
    # What Lustre is told stands in the advice itself, in a command or a hint of MPI-IO.
    striping = any("setstripe -c" in finding.advice or "striping_factor" in finding.advice for finding in log_findings)
    said = _WORDING.of(
        log,
        machine=machine,
        name=_shortened(log.executable or "a job"),
        raised=len(raised),
        held=", ".join(log.modules) or "no module",
    )
    notes = [said.finding("log", note=f"{note[0].upper()}{note[1:]}") for note in log.notes]
    if striping:
        # Advice is for the file system of the log if nobody names a machine.
        known = [ost for file in log.files for ost in file.osts]
        mount = log.mount_of(max(log.files, key=lambda file: file.bytes_moved).path)
        notes.append(said.finding("machine", mount=mount, least=max(known, default=0) + 1))
    return said.result(
        findings=tuple(_bounded(finding) for finding in (*log_findings, *notes)),
        figures=tuple(_figures(log, numbers)),
        tables=(
            _job(numbers),
            *_what_if(log, numbers["write_rate_mb_s"]),
        ),
        facts={"findings": [finding_data(finding) for finding in log_findings], "summary": numbers},
    )


def _what_if(log: DarshanLog, rate_mb_s: float | None) -> Iterator[Table]:
    """Yield what other stripe counts would give, where the log shows a file system with stripes."""
    system, counts = system_of_log(log), other_counts(log)
    if system and counts:
        rows = [(count, each.rate_gb_s, limit_words(each.limit)) for count, each in counts.items()]
        yield _WORDING.of(system, rate_mb_s=rate_mb_s).table("what-if", rows)


def _shortened(value: Any) -> str:
    """Return a text of bounded length."""
    text = str(value)
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ..."


def _bounded(finding: Finding) -> Finding:
    """Return a finding with texts of bounded length."""
    evidence = {
        name: part if isinstance(part, int | float) else _shortened(part) for name, part in finding.evidence.items()
    }
    return replace(finding, message=_shortened(finding.message), advice=_shortened(finding.advice), evidence=evidence)


def _job(numbers: Mapping[str, Any]) -> Table:
    """Return what a summary says as a table; what is unknown is left out."""
    rates = {way: numbers[f"{way}_rate_mb_s"] for way, _ in _WAYS}
    said = _WORDING.of(
        None,
        **numbers,
        known={name: number is not None for name, number in numbers.items()},
        rates={way: None if rate is None else _rate(rate) for way, rate in rates.items()},
        sizes={
            way: [(_size_range(name), count) for name, count in sizes.items()]
            for way, sizes in numbers["access_sizes"].items()
        },
        settings=numbers["stripe_settings"][:5],
    )
    table = said.table("job")
    return replace(table, rows=[tuple(map(_shortened, row)) for row in table.rows])


def _rate(rate_mb_s: float) -> str:
    """Return a rate in words; a summary holds three decimals of it."""
    if not rate_mb_s:
        return "less than 0.001"
    return f"{rate_mb_s:,.1f}" if rate_mb_s >= 1 else f"{rate_mb_s:.2g}"


def _size_range(name: str) -> str:
    """Return the name of a bin of access sizes in words."""
    low, _, _ = name.partition("_")
    return f"{low} and more" if _largest(name) == "more" else f"{low} to {_largest(name)}"


def _largest(name: str) -> str:
    """Return the upper end of a bin of access sizes."""
    return name.partition("_")[2].replace("PLUS", "more")


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
    sizes = numbers["access_sizes"]
    if any(sizes.values()):
        names = [name for name, _ in SIZE_BINS]
        yield _bars("sizes", {past: {_largest(name): sizes[way].get(name, 0) for name in names} for way, past in _WAYS})
    calls = ("reads", "writes", "opens")
    used = {name: total for name, total in numbers["interfaces"].items() if any(total[call] for call in calls)}
    if used:
        yield _bars("operations", {name: {call: total[call] for call in calls} for name, total in used.items()})


def _bars(chart: str, counts: Mapping[str, Mapping[str, int]]) -> Figure:
    """Return counts of calls as bars, a set for each name."""
    series = [Series(name=name, kind="bars", x=list(each), y=list(each.values())) for name, each in counts.items()]
    most = max(count for each in counts.values() for count in each.values())
    return _WORDING.of(names=", ".join(counts), most=most).chart(chart, series)


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
    # Of few tasks each has a row, though some that moved nothing may have none.
    together = heat_map.ranks[1] - heat_map.ranks[0] if len(heat_map.ranks) > _EACH_HAS_A_ROW else 1
    said = _WORDING.of(
        heat_map,
        rows=len(rows),
        times=len(rows[0]),
        together=together if together > 1 else None,
        most=max(map(max, rows)),
    )
    times = [round((place + 0.5) * heat_map.bin_s, 3) for place in range(len(rows[0]))]
    moved = [(rank, sum(row)) for rank, row in zip(heat_map.ranks, rows, strict=True)]
    return said.heat("heat", times, heat_map.ranks, rows, moved)


def _timeline(heat_map: HeatMap) -> Figure:
    """Return what all tasks move, over time."""
    sums = {
        past: [sum(column) / 1e6 / heat_map.bin_s for column in zip(*rows, strict=True)]
        for past, rows in (("read", heat_map.read_bytes), ("written", heat_map.written_bytes))
    }
    times = [round(place * heat_map.bin_s, 3) for place in range(len(sums["read"]))]
    said = _WORDING.of(heat_map, times=len(times), most=max(map(max, sums.values())))
    return said.chart("timeline", [Series(name=past, x=times, y=rates) for past, rates in sums.items()])


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
    '1 job: 0 with something to mend; 0 bytes read, 0 bytes written.'
    """
    shown = jobs[:_MOST_JOBS]
    said = _WORDING.of(None, **overall, all=len(jobs), shown=len(shown), cut=len(shown) < len(jobs))
    rows = [
        (
            *(_shortened(job[name] or "").rpartition("/")[2] for name in ("log", "executable")),
            *(job[name] for name in ("tasks", "run_time_s")),
            *(job[name] / 1e6 for name in ("bytes_read", "bytes_written")),
            job["findings"],
        )
        for job in shown
    ]
    return Result(
        summary=said.text("jobs"),
        findings=tuple(
            Finding(code=code, level=count["level"], message=said.text("worst", **count))
            for code, count in overall["findings"].items()
        ),
        tables=(said.table("jobs", rows),),
        facts={"jobs": list(jobs), "summary": dict(overall)},
    )
