"""Question: what changed in benchmark histories, when, by how much, how sure, and which part of the machine explains it."""

from collections.abc import Iterator, Sequence
from typing import cast

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.monitoring.changes import FEWEST, LEAST_P, LEVEL, SHORTEST
from hopperlib.monitoring.history import Better, Report, judge
from hopperlib.monitoring.together import moved_together
from hopperlib.questions.figures import Series
from hopperlib.questions.question import declared
from hopperlib.questions.result import Figure, Result
from hopperlib.questions.wording import wording
from hopperlib.readers.benchmark_history import Histories, read_benchmark_history

_WORDING = wording(__name__)
# So many series are drawn, those with changes first.
_MOST_FIGURES = 4


def _answer(*, history: str, better: str, least_percent: float) -> Result:
    """Answer for one file."""
    if not history.strip():
        raise InputError("paste or drop a history: a table with a time and a value in each line", name="history")
    files = [_read(history, better)]
    return watch_result(files, judged(files, least_percent=least_percent))


def _read(history: str, better: str) -> Histories:
    """Return the series of a file."""
    direction = better if better in ("higher", "lower") else None
    return read_benchmark_history(history, better=cast("Better | None", direction))


def _so_far(*, history: str, better: str, least_percent: float) -> Iterator[Result]:
    """Yield the runs as they stand in a file, before any is judged."""
    reports = [Report(history=series, verdict="not judged yet") for series in _read(history, better).series]
    yield Result(
        summary=_WORDING.of(series=len(reports)).text("so_far"), figures=tuple(map(_figure, reports[:_MOST_FIGURES]))
    )


def judged(files: Sequence[Histories], *, least_percent: float) -> list[Report]:
    """Return the reports of all series of files, the largest change first.

    Examples
    --------
    >>> judged([read_benchmark_history(["time,value", "1,5"])], least_percent=1)[0].verdict
    'too few runs'
    """
    reports = [judge(series, least_percent=least_percent) for file in files for series in file.series]
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
    worse = [report for report in reports if report.got_worse]
    changed = [report for report in reports if report.shifts or report.drift_percent]
    worst = next(iter((*worse, *changed)), None)
    first = reports[0] if reports and reports[0].level else None
    unknown = [report.history.name for report in reports if report.history.better is None]
    said = _WORDING.of(
        fewest=FEWEST,
        judged=[report for report in reports if report.verdict != "too few runs"],
        worse=worse,
        worst=worst,
        where=worst.shifts[-1].run + 1 if worst and worst.shifts else None,
        first=first,
        reports=reports,
        together=together,
        left_out=[text for file in files for text in file.skips.messages()],
        short=[report.history.name for report in reports if report.verdict == "too few runs"],
        unknown=unknown[:5],
        one_in=1 / LEVEL,
        shortest=SHORTEST,
        far=[(report.history.name, *outlier[1:]) for report in reports for outlier in report.outliers],
    )
    return said.result(
        findings=(*_changes(reports), *said.findings),
        figures=tuple(_figure(report) for report in reports[:_MOST_FIGURES] if report.level),
        facts=said.contract,
    )


def _changes(reports: Sequence[Report]) -> Iterator[Finding]:
    """Yield changes and drifts."""
    for report in reports:
        times = report.history.times
        for shift in report.shifts:
            worse = report.worse(shift.percent)
            said = _WORDING.of(
                report,
                shift=shift,
                where=shift.run + 1,
                unsure=shift.since != shift.until,
                # The change lies after the run before.
                since=times[max(0, times.index(shift.since) - 1)],
                bounded=shift.p_value <= LEAST_P,
                least_p=LEAST_P,
                grave=worse and report.got_worse and not shift.explained_by,
            )
            yield said.finding("worse" if worse else "better", changed=said.text("changed"))
        if report.drift_percent is not None and report.verdict.startswith("drifts"):
            yield _WORDING.of(report).finding("drift")


def _figure(report: Report) -> Figure:
    """Return the runs with their level and the outliers."""
    history, far = report.history, {outlier.run: outlier.value for outlier in report.outliers}
    near = {run: value for run, value in enumerate(history.values) if run not in far}

    def points(name: str, values: dict[int, float]) -> Series:
        return Series(name=name, x=[run + 1 for run in values], y=list(values.values()), kind="points")

    runs = range(1, len(history.values) + 1)
    series = [points("runs", near)]
    series += [Series(name="level", x=runs, y=list(report.level))] if report.level else []
    changes = "; ".join(f"{shift.percent:+.1f} % at run {shift.run + 1}" for shift in report.shifts)
    series += [points("outliers", far)] if far else []
    return _WORDING.of(report).chart("history", series, runs=len(runs), seen=changes or report.verdict)


QUESTION = declared(__name__, _answer, so_far=_so_far)
