"""Question: what changed in benchmark histories, when, by how much, how sure, and which part of the machine explains it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperkit.readers.benchmark_history import Histories, read_benchmark_history
from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.monitoring.changes import FEWEST, LEAST_P, LEVEL, SHORTEST
from hopperlib.monitoring.history import SEASONAL, SWITCHING, WANDERS, Better, Report, Shift, judge
from hopperlib.monitoring.planned import FEWEST_A_SIDE, Comparison, change_at, moment
from hopperlib.monitoring.shared_values import shared_value
from hopperlib.monitoring.simultaneous_changes import Moved, moved_together
from hopperlib.monitoring.visible import visible_change
from hopperlib.package_data import load_text_resource
from hopperlib.text import capital, count

# Series that are drawn, listed, and named in one sentence, those with changes first.
_MAX_FIGURES = 4
_MAX_ROWS = 12
_MAX_NAMES = 5
# Outliers are drawn within that many ranges of the ordinary runs; those beyond, at the edge.
_ROOM = 1.5
# Late changes considered in addition to one halfway. [runs]
_LATE = 10
_PARALLEL_CODES, _STEADY_TRIAD, _NEW_COMPILER = (
    load_text_resource(__file__, f"samples/{name}.csv") for name in ("parallel-codes", "steady-triad", "new-compiler")
)


class Given(ask.Setting):
    """One file of histories."""

    history: str = ask.file(
        "Benchmark history",
        _PARALLEL_CODES,
        argument=True,
        required=True,
        rows=10,
        max_length=2_000_000,
        accept=".csv,.log,.txt",
        help="A CSV file with a time and a value in each line, and more columns if there are any. Several series "
        "may be in one file. A performance log of ReFrame works too. The file stays on this page.",
    )
    better: str = ask.choice(
        "Better is", "named", {"named": "from names and units", "higher": "higher", "lower": "lower"}
    )
    least_percent: float = ask.slider(
        "Smallest change that matters",
        1.0,
        (0.0, 20.0, 0.5),
        unit="%",
        help="Smaller changes are not reported, however certain they are.",
    )
    date: str = ask.text(
        "Known date of a change",
        max_length=40,
        help="Of an upgrade, such as 2026-03-01: the runs before and from then on are compared. Empty: none.",
        advanced=True,
    )

    def read(self) -> Histories:
        """Return the series of the file."""
        if not self.history.strip():
            raise InputError("paste or drop a history: a table with a time and a value in each line", name="history")
        better = cast("Better | None", None if self.better == "named" else self.better)
        return read_benchmark_history(self.history, better=better)


def answer(given: Given) -> Result:
    r"""Return the answer for one file.

    Parameters
    ----------
    given : Given
        One file of histories.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> rows = [f"{day},{10 + day // 30}" for day in range(60)]
    >>> given = Given(history="\n".join(["day,s", *rows]), better="lower")
    >>> [series["verdict"] for series in answer(given).facts["series"]]
    ['worse']
    """
    files = [given.read()]
    return watch_result(files, judged(files, least_percent=given.least_percent), given.date)


def partial_results(given: Given) -> Iterator[Result]:
    """Yield the runs as listed in a file, before they are judged.

    Parameters
    ----------
    given : Given
        One file of histories.

    Yields
    ------
    Result
        The answer from the data so far.

    Examples
    --------
    >>> next(partial_results(Given())).summary
    'Judging 4 series …'
    """
    reports = [Report(history=series, verdict="not judged yet") for series in given.read().series]
    yield Result(summary=f"Judging {len(reports):,} series …", figures=tuple(map(_figure, reports[:_MAX_FIGURES])))


def judged(files: Sequence[Histories], *, least_percent: float) -> list[Report]:
    """Return the reports of all series of files, the largest change first.

    Parameters
    ----------
    files : sequence of Histories
        Histories of each file.
    least_percent : float
        Smallest relevant change. [%]

    Examples
    --------
    >>> judged([read_benchmark_history(["time,value", "1,5"])], least_percent=1)[0].verdict
    'too few runs'
    """
    reports = [judge(series, least_percent=least_percent) for file in files for series in file.series]
    return sorted(reports, key=lambda report: -max((abs(shift.percent) for shift in report.shifts), default=0.0))


def watch_result(files: Sequence[Histories], reports: Sequence[Report], date: str = "") -> Result:
    r"""Return the answer for the series of files, from their reports as `judged` gives them.

    Parameters
    ----------
    files, reports : sequence
    date : str
        A known date, or run number, at which something was changed: before and after are compared. Empty for none.

    Raises
    ------
    InputError
        If the date is invalid.

    Examples
    --------
    >>> from hopperkit.readers.benchmark_history import read_benchmark_history
    >>> steady = read_benchmark_history("".join(f"{run},{100 + run * 7 % 5}\n" for run in range(40)), name="triad")
    >>> watch_result([steady], judged([steady], least_percent=1)).summary
    'No lasting change in 1 series. A change of 2.8 % halfway through would have been seen in 80 of 100 such histories.'
    """
    together, planned = moved_together(reports), _planned(reports, date.strip())
    comparisons = tuple(_compared(report, change, date.strip()) for report, change in planned)
    return Result(
        summary=comparisons[0].message if comparisons else _summary(reports),
        findings=(*comparisons[1:], *_findings(files, reports, together)),
        values=tuple(_values(reports[0])) if reports and reports[0].level else (),
        figures=tuple(_figure(report) for report in reports[:_MAX_FIGURES] if report.level),
        tables=(_series(reports),),
        facts=_contract(reports, together) | ({"planned": _planned_facts(planned)} if date.strip() else {}),
    )


def _planned(reports: Sequence[Report], date: str) -> list[tuple[Report, Comparison | None]]:
    """Return the result of each series for a known date, the most certain change first."""
    if not date:
        return []
    at = moment(date, -1)
    if at == -1:
        raise refusal("date", date, "must be a date such as 2026-03-01, or for runs that are numbered a number")
    changes = [(report, change_at(report, at)) for report in reports]
    return sorted(changes, key=lambda pair: 2.0 if pair[1] is None else pair[1].p_value)


def _compared(report: Report, change: Comparison | None, date: str) -> Finding:
    """Describe the comparison of runs before and after a known date."""
    name = report.history.name
    if change is None:
        text = f"Cannot tell for {name} at {date}: it drifts, or has fewer than {FEWEST_A_SIDE} runs before or after."
        return Finding("planned", text, "unknown")
    low, percent, high = change.percent
    sure = low > 0 or high < 0
    verdict = "changed by" if sure else "did not show a change:"
    text = (
        f"{name} {verdict} {percent:+.1f} % at {date} (95 %: {low:+.1f} to {high:+.1f} %; {change.before:,} runs before, "
        f"{change.after:,} after). Four of five such comparisons find a change of {change.visible_percent:.1f} %."
    )
    return Finding("planned", text, "problem" if sure and report.worse(percent) else "note")


def _planned_facts(planned: Sequence[tuple[Report, Comparison | None]]) -> list[dict[str, Any]]:
    return [
        {"name": report.history.name}
        | ({} if change is None else dict(zip(("low_percent", "percent", "high_percent"), change.percent, strict=True)))
        | ({} if change is None else {"p_value": change.p_value, "before": change.before, "after": change.after})
        for report, change in planned
    ]


def _summary(reports: Sequence[Report]) -> str:
    judged = [report for report in reports if report.verdict != "too few runs"]
    if not judged:
        return f"Cannot tell: no series has {FEWEST} runs."
    worse = [report for report in reports if report.got_worse]
    changed = [report for report in reports if report.shifts or report.drift_percent]
    worst = next(iter((*worse, *changed)), None)
    if worst is None:
        coming_back = [report for report in judged if report.verdict in (SWITCHING, SEASONAL)]
        more = "".join(f" {report.history.name} {report.verdict}." for report in coming_back[:_MAX_NAMES])
        return f"{_no_change(judged)}{more}{_far_runs(judged)}"
    several = f"{len(worse):,} of {len(judged):,} series got worse. " if len(judged) > 1 else ""
    if not worst.shifts:
        drift = worst.drift_percent
        if drift is not None and worst.verdict.startswith("drifts"):
            way = worst.verdict.removeprefix("drifts, ")
            return f"{several}{worst.history.name} drifts: {drift:+.1f} % from the first run to the last ({way})."
        return f"{several}{worst.history.name} {worst.verdict}."
    last = worst.shifts[-1]
    if worst.verdict.endswith("and back"):
        first = worst.shifts[0]
        return (
            f"{several}{worst.history.name} changed by {first.percent:+.1f} % with run {first.run + 1:,}, {first.time}, and "
            f"came back with run {last.run + 1:,}, {last.time}."
        )
    return f"{several}{worst.history.name} changed by {last.percent:+.1f} % with run {last.run + 1:,}, {last.time}."


def _no_change(judged: Sequence[Report]) -> str:
    """Report that no series changed, and the smallest detectable change; or that it is unknown because all wander."""
    wandering = [report for report in judged if report.verdict == WANDERS]
    if len(wandering) == len(judged):
        names = ", ".join(report.history.name for report in wandering[:_MAX_NAMES])
        return f"Cannot tell: {names} {'wanders' if len(wandering) == 1 else 'wander'} all the time by as much as a lasting change."
    sizes = sorted(size for report in judged if (size := _visible_percent(report)) is not None)
    words = f"No lasting change in {len(judged):,} series."
    if not sizes:
        return words
    amount = f"{sizes[0]:.1f}" if f"{sizes[0]:.1f}" == f"{sizes[-1]:.1f}" else f"{sizes[0]:.1f} to {sizes[-1]:.1f}"
    each = "" if len(sizes) == 1 else ", depending on the series,"
    return f"{words} A change of {amount} %{each} halfway through would have been seen in 80 of 100 such histories."


def _far_runs(judged: Sequence[Report]) -> str:
    """Name the outliers of series without a lasting change: the newest run if it is one, otherwise the farthest."""
    newest = [
        (report, report.outliers[-1])
        for report in judged
        if report.outliers and report.outliers[-1].run == len(report.history.values) - 1
    ]
    if newest:
        report, far = max(newest, key=lambda pair: abs(pair[1].percent))
        return (
            f" But the newest run of {report.history.name}, {far.time}, is {far.percent:+.1f} % from its level: a change "
            f"counts after {SHORTEST} runs, so run it again."
        )
    farthest = [(report, far) for report in judged for far in report.outliers]
    if not farthest:
        return ""
    report, far = max(farthest, key=lambda pair: abs(pair[1].percent))
    single = f" of {report.history.name}" if len(judged) > 1 else ""
    return (
        f" {count(len(farthest), 'run')} far from the level: the farthest{single}, {far.time}, by {far.percent:+.1f} %."
    )


def _visible_percent(report: Report, after: int | None = None) -> float | None:
    """Return the change that 80 of 100 histories like this would show, as a loss of a rate or a gain of a time. [%]"""
    size = visible_change(report, after)
    if size is None:
        return None
    return 100 * (size if report.history.better == "lower" else 1 - 1 / (1 + size))


def _findings(files: Sequence[Histories], reports: Sequence[Report], together: Sequence[Moved]) -> Iterator[Finding]:
    for report in reports:
        yield from _of_series(report)
    yield from map(_together, together)
    for file in files:
        yield from (Finding("left-out", message) for message in file.skips.messages())
    if short := [report.history.name for report in reports if report.verdict == "too few runs"]:
        yield Finding("too-few", f"Cannot tell for {', '.join(short)}: fewer than {FEWEST} runs.", "unknown")
    if unknown := [report.history.name for report in reports if report.history.better is None]:
        text = f"The better direction is unknown for {', '.join(unknown[:_MAX_NAMES])}: higher is assumed to be better."
        yield Finding("direction", text, advice="Set it: --better lower, or a column `better`.")


def _of_series(report: Report) -> Iterator[Finding]:
    """Yield the findings of a series: changes, a drift, two states, a season."""
    yield from (_change(report, shift) for shift in report.shifts)
    if report.drift_percent is not None and report.verdict.startswith("drifts"):
        text = f"{report.history.name} drifts: {report.drift_percent:+.1f} % from the first run to the last."
        yield Finding("drift", text, "problem" if report.got_worse else "note")
    if report.states is not None:
        low, high = report.states
        text = f"{report.history.name} switches between {low:.4g} and {high:.4g}, {count(report.switches, 'time')}: no level lasts."
        yield Finding(
            "two-states",
            text,
            advice="Look for properties shared by the runs of each state: nodes, placement, version.",
        )
    if report.doubtful:
        shift = report.doubtful[-1]
        text = (
            f"{report.history.name} moves by {shift.percent:+.1f} % with run {shift.run + 1:,}, {shift.time}, and wanders about as far "
            f"at other times (autocorrelation {report.persistence:.1f}): whether that change lasts is unknown."
        )
        yield Finding("wanders", text, "unknown")
    if change := report.spread_change:
        text = (
            f"{report.history.name} spreads by {100 * change.after:.1f} % from run {change.run + 1:,} on, by "
            f"{100 * change.before:.1f} % before: where it spreads more, a change must be larger to be seen."
        )
        yield Finding("spread", text, "note")
    if shared := shared_value(report):
        text = (
            f"{shared.outliers:,} of the {count(len(report.outliers), 'outlier')} of {report.history.name} have {shared.column} "
            f"{shared.value}, as {shared.runs:,} of {count(len(report.history.values), 'run')} do."
        )
        yield Finding("outliers-share", text, "problem", advice=f"Look at {shared.column} {shared.value}.")
    late = _visible_percent(report, _LATE)
    if report.verdict == "no change" and late is not None and len(report.history.values) > 2 * _LATE:
        text = (
            f"{report.history.name}: of the changes of the last {_LATE} runs, one of {late:.1f} % would have been seen in 80 of 100 "
            "histories with this noise; smaller ones need more runs."
        )
        yield Finding("unseen", text, "note")
    if report.season_runs:
        text = (
            f"{report.history.name} moves with a season of {count(report.season_runs, 'run')}, by "
            f"{report.season_percent:.1f} % from its lowest to its highest: none of it lasts."
        )
        yield Finding("season", text, "note")


def _change(report: Report, shift: Shift) -> Finding:
    """Describe one lasting change: from and to which level, when, how certain, and its explanation."""
    worse = report.worse(shift.percent)
    text = (
        f"{report.history.name} went from {shift.before:.4g} to {shift.after:.4g} ({shift.percent:+.1f} %) "
        f"with run {shift.run + 1:,}, {shift.time}"
    )
    if shift.since != shift.until:
        # The change is after the previous run.
        times = report.history.times
        text += f" (between {times[max(0, times.index(shift.since) - 1)]} and {shift.until})"
    text += f", p below {LEAST_P:g}" if shift.p_value <= LEAST_P else f", p = {shift.p_value:.2g}"
    if shift.explained_by:
        text += f"; {' and '.join(shift.explained_by)} explains it"
    if shift.came_with:
        text += f"; it came with a change of {' and '.join(shift.came_with)}"
    problem = worse and report.got_worse and not shift.explained_by
    return Finding("worse" if worse else "better", f"{text}.", "problem" if problem else "note")


def _together(moved: Moved) -> Finding:
    """Say which series changed at one time, and which part of the machine explains it."""
    changes = ", ".join(f"{name} {shift.percent:+.0f} %" for name, shift in moved.shifts.items())
    steady = f" Unchanged: {', '.join(moved.steady)}." if moved.steady else ""
    if moved.unknown:
        steady += f" Cannot tell for {', '.join(moved.unknown)}: too noisy, or too few runs, to exclude such a change."
    parts, missing = moved.reading.explained_by, moved.reading.missing
    if parts:
        advice = " ".join(f"{capital(part.title)}: {part.look}." for part in parts)
    else:
        advice = "No single part of the machine explains this set; look for two causes, or name the kinds in a column `kind`."
    if len(parts) > 1 and missing:
        advice += f" To separate these, run benchmarks of: {', '.join(missing)}."
    return Finding("together", f"Changed together at {moved.time}: {changes}.{steady}", advice=advice)


def _values(report: Report) -> Iterator[Value]:
    name, note = report.history.name, "estimated from these runs; runs in contention are kept apart"
    yield Value(f"Spread of ordinary runs, {name}", report.spread_percent, "calibrated", "%", 1, note=note)
    yield Value(f"Autocorrelation, {name}", report.persistence, "calibrated", "", 2, note=note)
    yield Value(f"Outliers, {name}", len(report.outliers), "calibrated", note=note)


def _figure(report: Report) -> Figure:
    """Return the runs with their level and the outliers."""
    history, far = report.history, {outlier.run: outlier.value for outlier in report.outliers}
    near = {run: value for run, value in enumerate(history.values) if run not in far}
    dated = all(map(_is_date, history.times)) and len(set(history.times)) == len(history.times)
    runs: Sequence[Any] = history.times if dated else range(1, len(history.values) + 1)
    low, high = _edges(list(near.values()) or list(far.values()))

    def points(name: str, values: dict[int, float]) -> Series:
        inside = [min(max(value, low), high) for value in values.values()]
        return Series(name=name, x=[runs[run] for run in values], y=inside, kind="points")

    series = [points("runs", near)]
    if report.level:
        series.append(Series(name="level", x=runs, y=list(report.level)))
    if far:
        beyond = any(not low <= value <= high for value in far.values())
        series.append(points("outliers, far ones at the edge" if beyond else "outliers", far))
    changes = "; ".join(f"{shift.percent:+.1f} % at run {shift.run + 1}" for shift in report.shifts)
    return chart(
        title=history.name,
        alt=f"{count(len(runs), 'run')} of {history.name} with their level: {changes or report.verdict}.",
        x=Axis(title="Date" if dated else "Run"),
        y=Axis(title=history.name, unit=history.unit),
        series=series,
    )


def _is_date(time: str) -> bool:
    """Whether a time is a date, and no number."""
    return len(time) >= len("2026-01-01") and "-" in time and moment(time, -1) != -1


def _edges(values: Sequence[float]) -> tuple[float, float]:
    """Return the plotted range: that of ordinary runs, extended by its width on either side."""
    low, high = min(values), max(values)
    room = _ROOM * (high - low) or abs(high)
    return low - room, high + room


def _series(reports: Sequence[Report]) -> Table:
    def of_last(field: str) -> Callable[[Report], Any]:
        return lambda report: getattr(report.shifts[-1], field) if report.shifts else None

    shown = reports[:_MAX_ROWS]
    of = f", {len(shown)} of {len(reports):,}" if len(shown) < len(reports) else ""
    return table(
        f"Series, the largest change first{of}; a change counts when it has lasted {SHORTEST} runs, "
        f"and one unchanged history in {1 / LEVEL:.0f} gives a false alarm",
        shown,
        {
            "Series": lambda report: report.history.name,
            "Runs": lambda report: len(report.history.values),
            "Verdict": lambda report: report.verdict,
            "Time of the last change": of_last("time"),
            "Before": of_last("before"),
            "After": of_last("after"),
            Column("Change", "%", 1): of_last("percent"),
            "p": of_last("p_value"),
            Column("Would be seen from", "%", 1): _visible_percent,
            "Outliers": lambda report: len(report.outliers),
        },
    )


def _contract(reports: Sequence[Report], together: Sequence[Moved]) -> dict[str, Any]:
    """Return the output of `hopper watch --json`; its keys are stable."""
    return {
        "series": [
            {
                "name": report.history.name,
                "runs": len(report.history.values),
                "changes": [
                    {
                        "index": shift.run,
                        "time": shift.time,
                        "before": shift.before,
                        "after": shift.after,
                        "percent": shift.percent,
                        "p_value": shift.p_value,
                    }
                    for shift in report.shifts
                ],
                "outliers": [
                    {"index": far.run, "time": far.time, "value": far.value, "percent": far.percent}
                    for far in report.outliers
                ],
                "verdict": report.verdict,
                "states": report.states,
                "season_runs": report.season_runs or None,
                "visible_percent": _visible_percent(report),
                "spread_change": report.spread_change and report.spread_change._asdict(),
            }
            for report in reports
        ],
        "together": [
            {
                "time": moved.time,
                "series": {name: shift.percent for name, shift in moved.shifts.items()},
                "steady": moved.steady,
                "unknown": moved.unknown,
                "explained_by": [part.name for part in moved.reading.explained_by],
                "missing": moved.reading.missing,
            }
            for moved in together
        ],
    }


QUESTION = ask.declared(
    Given,
    answer,
    title="Your benchmark history",
    examples={
        "Parallel codes lose 30 %": {"history": _PARALLEL_CODES},
        "A steady benchmark in contention": {"history": _STEADY_TRIAD},
        "A new compiler explains it": {"history": _NEW_COMPILER},
    },
    partial_results=partial_results,
    heavy=True,
)
