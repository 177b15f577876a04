"""Question: what changed in benchmark histories, when, by how much, how sure, and which part of the machine explains it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.monitoring.changes import FEWEST, LEAST_P, LEVEL, SHORTEST
from hopperlib.monitoring.history import Better, Report, Shift, judge
from hopperlib.monitoring.together import Moved, moved_together
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value
from hopperlib.readers.benchmark_history import Histories, read_benchmark_history

__all__ = ["QUESTION", "judged", "watch_result"]

# So many series are drawn, those with changes first.
_MOST_FIGURES = 4


def _answer(*, history: str, better: str, least_percent: float) -> Result:
    """Answer for one file."""
    if not history.strip():
        raise InputError("paste or drop a history: a table with a time and a value in each line", name="history")
    direction: Better | None = "higher" if better == "higher" else "lower" if better == "lower" else None
    files = [read_benchmark_history(history, better=direction)]
    return watch_result(files, judged(files, least_percent=least_percent))


def judged(files: Sequence[Histories], *, least_percent: float) -> list[Report]:
    """Return the reports of all series of files, the largest change first.

    Examples
    --------
    >>> judged([read_benchmark_history(["time,value", "1,5"])], least_percent=1)[0].verdict
    'too few runs'
    """
    reports = [judge(series, least_percent=least_percent) for found in files for series in found.series]
    return sorted(reports, key=lambda report: -max((abs(shift.percent) for shift in report.shifts), default=0.0))


def watch_result(files: Sequence[Histories], reports: Sequence[Report]) -> Result:
    r"""Return what is said of the series of files, from their reports as `judged` gives them.

    Examples
    --------
    >>> from hopperlib.readers.benchmark_history import read_benchmark_history
    >>> steady = read_benchmark_history("".join(f"{run},{100 + run * 7 % 5}\n" for run in range(40)), name="triad")
    >>> watch_result([steady], judged([steady], least_percent=1)).summary
    'No lasting change in 1 series.'
    """
    together = moved_together(reports)
    return Result(
        summary=_summary(reports),
        findings=(*_findings(reports, together), *_remarks(files, reports)),
        values=tuple(_values(reports)),
        figures=tuple(_figure(report) for report in reports[:_MOST_FIGURES] if report.level),
        tables=tuple(_tables(reports)),
        facts={
            "series": [_series_facts(report) for report in reports],
            "together": [_together_facts(group) for group in together],
        },
    )


def _summary(reports: Sequence[Report]) -> str:
    worse = [report for report in reports if report.got_worse]
    changed = [report for report in reports if report.shifts or report.drift_percent]
    judged = [report for report in reports if report.verdict != "too few runs"]
    if not judged:
        return f"Cannot tell: no series has {FEWEST} runs."
    if not changed:
        return f"No lasting change in {len(judged):,} series."
    report = (worse or changed)[0]
    if report.shifts:
        # From what to what, and how sure, is said of each change below.
        shift = report.shifts[-1]
        what = f"{report.history.name} changed by {shift.percent:+.1f} % with run {shift.run + 1:,}, {shift.time}"
    else:
        what = f"{report.history.name} {report.verdict}"
    others = f"{len(worse):,} of {len(judged):,} series got worse. " if len(judged) > 1 else ""
    return f"{others}{what}."


def _said(report: Report, shift: Shift) -> str:
    """Return a change in words."""
    times = report.history.times
    between = "" if shift.since == shift.until else f" (between {_before(times, shift.since)} and {shift.until})"
    return (
        f"{report.history.name} went from {shift.before:.4g} to {shift.after:.4g} ({shift.percent:+.1f} %) "
        f"with run {shift.run + 1:,}, {shift.time}{between}, {_chance(shift.p_value)}"
    )


def _chance(p_value: float) -> str:
    """Return a p-value in words; below the least that was simulated it is a bound."""
    return f"p = {p_value:.2g}" if p_value > LEAST_P else f"p below {LEAST_P:g}"


def _before(times: Sequence[str], time: str) -> str:
    """Return the time of the run before: the change lies after it."""
    return times[max(0, times.index(time) - 1)]


def _findings(reports: Sequence[Report], together: Sequence[Moved]) -> Iterator[Finding]:
    """Yield changes, drifts, and what moved together."""
    for report in reports:
        for shift in report.shifts:
            worse = report.worse(shift.percent)
            told = f"; {' and '.join(shift.explained_by)} explains it" if shift.explained_by else ""
            told += f"; it came with a change of {' and '.join(shift.came_with)}" if shift.came_with else ""
            yield Finding(
                "worse" if worse else "better",
                f"{_said(report, shift)}{told}.",
                "problem" if worse and report.got_worse and not shift.explained_by else "note",
            )
        if report.drift_percent is not None and report.verdict.startswith("drifts"):
            yield Finding(
                "drift",
                f"{report.history.name} drifts: {report.drift_percent:+.1f} % from the first run to the last.",
                "problem" if report.got_worse else "note",
            )
    for group in together:
        moved = ", ".join(f"{name} {shift.percent:+.0f} %" for name, shift in group.shifts.items())
        stayed = f" {', '.join(group.steady)} did not." if group.steady else ""
        parts = group.reading.explained_by
        advice = " ".join(f"{part.title[0].upper()}{part.title[1:]}: {part.look}." for part in parts)
        if not parts:
            advice = "No single part of the machine explains this set; look for two causes, or name the kinds in a column `kind`."
        elif group.reading.missing and len(parts) > 1:
            advice += f" To tell these apart, run benchmarks of: {', '.join(group.reading.missing)}."
        yield Finding("together", f"At {group.time} moved together: {moved}.{stayed}", "advice", advice=advice)


def _remarks(files: Sequence[Histories], reports: Sequence[Report]) -> Iterator[Finding]:
    """Yield what was left out, and what cannot be told."""
    for found in files:
        for message in found.skips.messages():
            yield Finding("left-out", message, "note")
    short = [report.history.name for report in reports if report.verdict == "too few runs"]
    if short:
        message = f"Cannot tell for {', '.join(short)}: fewer than {FEWEST} runs."
        yield Finding("too-few", message, "unknown")
    unknown = [report.history.name for report in reports if report.history.better is None]
    if unknown:
        message = f"Nothing says which direction is better for {', '.join(unknown[:5])}: higher is taken for better."
        yield Finding("direction", message, "note", advice="Say so: --better lower, or a column `better`.")
    yield Finding(
        "how-sure",
        f"One unchanged history in {1 / LEVEL:.0f} is alarmed at this level. A change counts when it has lasted "
        f"{SHORTEST} runs.",
        "note",
    )


def _values(reports: Sequence[Report]) -> Iterator[Value]:
    """Yield how the series with the largest change scatters."""
    report = reports[0]
    if report.level:
        name = report.history.name
        note = "estimated from these runs; runs in contention are kept apart"
        yield Value(f"Spread of ordinary runs, {name}", report.spread_percent, "calibrated", "%", 1, note=note)
        yield Value(f"Autocorrelation, {name}", report.persistence, "calibrated", decimals=2, note=note)
        yield Value(f"Outliers, {name}", len(report.outliers), "calibrated", note=note)


def _figure(report: Report) -> Figure:
    """Return the runs with their level and the outliers."""
    history, runs = report.history, list(range(1, len(report.history.values) + 1))
    far = {outlier.run for outlier in report.outliers}
    near = [run for run in runs if run - 1 not in far]
    series = [
        Series(name="runs", x=near, y=[history.values[run - 1] for run in near], kind="points"),
        Series(name="level", x=runs, y=list(report.level)),
    ]
    if far:
        series.append(
            Series(
                name="outliers",
                x=[run + 1 for run in sorted(far)],
                y=[history.values[run] for run in sorted(far)],
                kind="points",
            )
        )
    changes = "; ".join(f"{shift.percent:+.1f} % at run {shift.run + 1}" for shift in report.shifts)
    return chart(
        title=history.name,
        alt=f"{len(runs)} runs of {history.name} with their level: {changes or report.verdict}.",
        x=Axis(title="Run"),
        y=Axis(title=history.name),
        series=series,
    )


def _tables(reports: Sequence[Report]) -> Iterator[Table]:
    """Yield all series with their verdicts, then the outliers."""
    columns = ("Series", "Runs", "Verdict", "Time of the last change", "Before", "After")
    yield Table(
        caption="Series, the largest change first",
        columns=(
            *(Column(title=title) for title in columns),
            Column(title="Change", unit="%", decimals=1),
            Column(title="p"),
        ),
        rows=[
            (
                report.history.name,
                len(report.history.values),
                report.verdict,
                *((last.time, last.before, last.after, last.percent, last.p_value) if last else (None,) * 5),
            )
            for report in reports
            for last in (report.shifts[-1] if report.shifts else None,)
        ],
    )
    outliers = [(report.history.name, *outlier[1:]) for report in reports for outlier in report.outliers]
    if outliers:
        names = (Column(title="Series"), Column(title="Time"), Column(title="Value"))
        off = Column(title="Off its level", unit="%", decimals=1)
        yield Table(
            caption="Outliers: single runs far off the level of their time", columns=(*names, off), rows=outliers
        )


def _series_facts(report: Report) -> dict[str, Any]:
    """Return one series as data; the keys are a contract."""
    changes = [
        {
            "index": shift.run,
            "time": shift.time,
            "before": shift.before,
            "after": shift.after,
            "percent": shift.percent,
            "p_value": shift.p_value,
        }
        for shift in report.shifts
    ]
    return {
        "name": report.history.name,
        "runs": len(report.history.values),
        "changes": changes,
        "outliers": [
            {"index": outlier.run, "time": outlier.time, "value": outlier.value, "percent": outlier.percent}
            for outlier in report.outliers
        ],
        "verdict": report.verdict,
    }


def _together_facts(group: Moved) -> dict[str, Any]:
    """Return series that moved together as data."""
    return {
        "time": group.time,
        "series": {name: shift.percent for name, shift in group.shifts.items()},
        "steady": list(group.steady),
        "explained_by": [part.name for part in group.reading.explained_by],
        "missing": list(group.reading.missing),
    }


QUESTION = declared(__name__, _answer)
