"""Reports on a site's files, as in the notebooks of ``notebooks/own`` and from ``hopper report``.

=========  ====================================================================
jobs       a job trace: waits by week, user and account as observed, and simulated
runs       run times: their distribution, their spread, repeats needed
history    benchmark histories: persistent changes and outliers
io         outputs of IOR, mdtest and IO500, and Darshan logs
errors     logs of failed jobs: number of failures by cause
launch     launch lines and batch scripts on a machine
=========  ====================================================================

Without files, each report uses the samples of the book.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from hopperkit.analysis.fit_answer import fit
from hopperkit.analysis.job_report import observed_result
from hopperkit.failures.outputs import row_of
from hopperkit.questions.failure._many_outputs import many_outputs
from hopperkit.questions.monitoring.watch import judged, watch_result
from hopperkit.questions.network.simulate import Simulation, simulated
from hopperkit.questions.network.traces.answer import result_of
from hopperkit.questions.question import load
from hopperkit.questions.result import Result, joined, table
from hopperkit.questions.storage.darshan_answer import logs_result
from hopperkit.questions.storage.io_log import text_results
from hopperkit.readers.benchmark_history import Histories, read_benchmark_history
from hopperkit.readers.darshan import read_darshan_logs
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.run_times import read_run_times
from hopperkit.readers.source import text_of
from hopperlib.data_files import data_folder
from hopperlib.errors import InputError, refusal
from hopperlib.failure.diagnosis.diagnosis import diagnose
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.monitoring.history import History
from hopperlib.text import count

_MAX_BYTES = 256_000_000
_MAX_ROWS = 12
# A timestamp without a zone, and the part of a text that is searched.
_LOCAL, _HEAD = re.compile(r"\dT\d\d:\d\d:\d\d(?![\d.]*(?:Z|[+-]\d\d))"), 20_000
_SPANS = {"h": 3600, "d": 86_400, "w": 604_800}


class _Text(NamedTuple):
    """Contents of one file; a DataFrame is kept unchanged."""

    name: str
    text: str
    table: Any = None

    @property
    def source(self) -> Any:
        """Input for a reader."""
        return self.text if self.table is None else self.table


class Kind(NamedTuple):
    """A kind of report: its title, its function, its settings, and samples."""

    title: str
    answer: Callable[..., Result]
    settings: tuple[str, ...]
    samples: Callable[[], list[_Text]]
    # Whether the records have times; otherwise, file modification times are used.
    dated: bool = False


def since_time(text: str, *, now: float | None = None) -> float | None:
    """Return the Unix time from which records count; None for an empty text. [s]

    Parameters
    ----------
    text : str
        A date such as ``2026-11-01``, or a span such as ``7d``, ``12h`` or ``2w``.
    now : float or None
        Time from which a span is counted back. [s]

    Raises
    ------
    InputError
        If the text is neither.

    Examples
    --------
    >>> since_time("7d", now=1_000_000), since_time("")
    (395200.0, None)
    """
    if not text:
        return None
    if text[:-1].isdecimal() and text[-1] in _SPANS:
        return (time.time() if now is None else now) - float(int(text[:-1]) * _SPANS[text[-1]])
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise refusal("since", text, "must be a date such as 2026-11-01, or a span such as 7d, 12h or 2w") from None


def report(kind: str, paths: Any = (), *, since: str = "", **settings: Any) -> Result:
    """Return the report on files of one kind.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    paths : path, open file, DataFrame or Series, or sequence of them
        Files, or folders to search; None uses the samples of the book.
    since : str
        As for `since_time`: only jobs submitted, benchmarks run or files changed since then.
    **settings
        Settings of the kind, such as ``nodes=512`` for jobs.

    Raises
    ------
    InputError
        If the kind or setting does not exist, or nothing can be read.

    Examples
    --------
    >>> report("launch", machine="hopper").to_frame()["problems"].tolist()[:1]
    [1]
    """
    chosen = kind_named(kind)
    for name in settings.keys() - set(chosen.settings):
        raise InputError(f"a report on {kind} has no setting {name!r}; it has: {', '.join(chosen.settings)}", name=name)
    start = since_time(since)
    given = list(paths) if isinstance(paths, list | tuple) else [paths]
    if not given:
        return chosen.answer(chosen.samples(), [], start if chosen.dated else None, **settings)
    on_disk = [path for path in given if isinstance(path, str | PathLike)]
    files = _changed(on_disk, None if chosen.dated else start, since) if on_disk else []
    logs = [file for file in files if (kind, file.suffix) == ("io", ".darshan")]
    texts = [_given(file, str(file)) for file in files if file not in logs]
    texts += [_given(each, f"input {number}") for number, each in enumerate(given, 1) if each not in on_disk]
    return chosen.answer(texts, logs, start, **settings)


def _given(thing: Any, name: str) -> _Text:
    """Return the input: a path or, from Python, a DataFrame, a Series or an open file."""
    name = name if isinstance(thing, Path) else str(getattr(thing, "name", None) or name)
    return _Text(name, text_of(thing, max_bytes=_MAX_BYTES), thing if hasattr(thing, "iloc") else None)


def _changed(paths: list[Any], start: float | None, since: str) -> list[Path]:
    """Return the files changed since a time; all files if it is None."""
    files = [file for path in paths for file in _files(Path(path).expanduser())]
    kept = [file for file in files if start is None or file.stat().st_mtime >= start]
    if not kept:
        raise InputError(f"no file was changed since {since}", name="since", value=since)
    return kept


def kind_named(name: str) -> Kind:
    """Return a kind of report.

    Parameters
    ----------
    name : str
        One of `KINDS`.

    Raises
    ------
    InputError
        If there is no kind of that name.

    Examples
    --------
    >>> kind_named("runs").title
    'Run times'
    """
    if name not in KINDS:
        raise refusal("kind", name, f"must be one of: {', '.join(KINDS)}")
    return KINDS[name]


def _files(path: Path) -> list[Path]:
    """Return a file, or the visible files in a folder."""
    if not path.is_dir():
        if not path.exists():
            raise InputError(f"{path}: there is no such file", name="paths", value=str(path))
        return [path]
    inside = [file for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith(".")]
    if not inside:
        raise InputError(f"{path}: the folder has no files", name="paths", value=str(path))
    return inside


def _sample_files(*parts: str) -> list[_Text]:
    return [_Text(name=file.name, text=text_of(file)) for file in _files(data_folder().joinpath("samples", *parts))]


def _sample_texts(question: str, control: str) -> list[_Text]:
    """Return the defaults and examples of a question's control for the same machine."""
    question_module = load(question)
    usual = question_module.defaults.get("machine")
    examples = (example.values for example in question_module.examples if example.values.get("machine", usual) == usual)
    texts = [question_module.defaults[control], *(values.get(control, "") for values in examples)]
    return [_Text(name=f"sample {number}", text=text) for number, text in enumerate(dict.fromkeys(texts), 1) if text]


def _each(texts: Sequence[_Text], reader: Callable[[_Text], Any]) -> tuple[list[Any], list[str]]:
    """Return the results of reading each text, and the errors."""
    read, unread = [], []
    for text in texts:
        try:
            read.append(reader(text))
        except ValueError as error:
            message = str(error)
            unread.append(message if message.startswith(text.name) else f"{text.name}: {message}")
    if unread and not read:
        raise InputError(unread[0])
    return read, unread


def _jobs(texts: Sequence[_Text], _: Any, since: float | None, **settings: Any) -> Result:
    """Answer for job traces, combined."""
    setting = Simulation(**load("simulate").read(settings))
    traces, unread = _each(texts, lambda file: read_job_trace(file.source, **setting.reading))
    trace = traces[0]
    if len(traces) > 1:
        trace = read_job_trace(pd.concat([each.to_frame() for each in traces]))
    if since is not None:
        if not trace.epoch_s and trace.workload.submit_time_s[0] < 1e8:
            raise InputError("the trace has no dates", name="since")
        if not trace.timezone and _LOCAL.search(texts[0].text[:_HEAD]):
            # The trace has no time zone: its times are compared with local time.
            since = datetime.fromtimestamp(since).replace(tzinfo=UTC).timestamp()
        kept = [row for row, at in enumerate(trace.workload.submit_time_s) if trace.epoch_s + at >= since]
        if not kept:
            raise InputError("no job has been submitted since then", name="since")
        others = {
            name: tuple(pair for pair in getattr(trace, name) if trace.epoch_s + pair[1].submit_time_s >= since)
            for name in ("unfinished", "never")
        }
        trace = replace(trace, workload=trace.workload.of(kept), **others)
    outcome = simulated(trace, setting)
    return joined([observed_result(trace, outcome.schedule.nodes, result_of(outcome))], unread)


def _runs(texts: Sequence[_Text], *_: Any, **settings: Any) -> Result:
    """Answer for tables of run times, combined."""
    names = {name: settings[name] for name in ("column", "group") if name in settings}
    tables, unread = _each(
        texts, lambda file: read_run_times(file.source, covariates=settings.get("against", ()), **names)
    )
    runs = tables[0]
    if len(tables) > 1:
        # Converted to durations, so that files in minutes and in seconds can be combined.
        runs = pd.concat([table.to_frame() for table in tables])
        settings["column"] = None if tables[0].unit else tables[0].column
    return joined([fit(runs, **settings)], unread)


def _history(
    texts: Sequence[_Text],
    _: Any,
    since: float | None,
    *,
    column: str | None = None,
    least_percent: float = 1.0,
    date: str = "",
) -> Result:
    """Answer for benchmark histories."""
    files, unread = _each(
        texts, lambda history: read_benchmark_history(history.source, name=Path(history.name).stem, column=column)
    )
    if since is not None:
        files = [
            Histories(tuple(kept for history in file.series if (kept := _later(history, since)))) for file in files
        ]
        if not any(file.series for file in files):
            raise InputError("no benchmark has run since then", name="since")
    return joined([watch_result(files, judged(files, least_percent=least_percent), str(date))], unread)


def _later(history: History, since: float) -> History | None:
    """Return the runs since a time; None if there are none."""
    try:
        kept = [run for run, at in enumerate(history.times) if datetime.fromisoformat(at).timestamp() >= since]
    except ValueError:
        raise InputError(f"{history.name} has no dates: {history.times[0]}", name="since") from None
    if not kept:
        return None
    covariates = {name: tuple(values[run] for run in kept) for name, values in history.covariates.items()}
    values, times = (tuple(column[run] for run in kept) for column in (history.values, history.times))
    return replace(history, values=values, times=times, covariates=covariates)  # type: ignore[arg-type]


def _io(texts: Sequence[_Text], logs: Sequence[Path], _: Any, *, machine: str = "hopper") -> Result:
    """Answer for outputs of IOR, mdtest and IO500, and for Darshan logs."""
    known = Machine.load(machine)
    results, parsed, unread = text_results({file.name: file.text for file in texts}, known)
    jobs, bad = logs_result(chain(parsed, read_darshan_logs(logs)), known if machine != "hopper" else None)
    results += [jobs] if jobs else []
    unread += bad
    if not results:
        raise InputError(f"none of these files has I/O results: {unread[0]}")
    return joined(results, unread)


def _errors(texts: Sequence[_Text], *_: Any) -> Result:
    """Answer for the outputs of jobs, as ``hopper diagnose --each`` does."""
    return many_outputs([row_of(file.name, diagnose([(file.name, file.text)])) for file in texts])


def _launch(texts: Sequence[_Text], *_: Any, machine: str = "hopper") -> Result:
    """Answer for launch lines and batch scripts: problems of each, and a better line."""
    place, rows = load("place"), []
    for file in texts:
        try:
            facts = place.run(line=file.text, machine=machine).facts
            says = " ".join(warning["message"] for warning in facts.get("warnings", ()))
        except InputError as error:
            facts, says = {"certainty": "refused", "problems": 1}, error.message
        better = next(iter((facts.get("suggestion") or {}).values()), None)
        outcome = {"problems": facts.get("problems", 0), "certainty": facts.get("certainty"), "says": says}
        rows.append({"file": file.name, **outcome, "better": better})
    wrong = [row for row in rows if row["problems"]]
    lines = count(len(rows), "launch line")
    # Problems are shown first.
    shown = sorted(rows, key=lambda row: not row["problems"])[:_MAX_ROWS]
    return Result(
        summary=f"{len(wrong):,} of {lines} {'has' if len(wrong) == 1 else 'have'} a problem on {Machine.load(machine).title}.",
        findings=tuple(Finding("launch-line", f"{row['file']}: {row['says']}", "problem") for row in wrong),
        tables=(
            table(
                f"Launch lines, {len(shown)} of {len(rows):,}",
                shown,
                {
                    "File": itemgetter("file"),
                    "Problems": itemgetter("problems"),
                    "Certainty": itemgetter("certainty"),
                    "A better line": itemgetter("better"),
                },
            ),
        ),
        facts={"lines": rows},
    )


_OF_JOBS = ("nodes", "machine", "cluster", "policy", "allocation", "queues", "cores_per_node", "timezone", "seed")
_OF_RUNS = ("column", "group", "against", "minimum", "change", "power", "resamples", "seed")
KINDS: dict[str, Kind] = {
    "jobs": Kind("Job trace", _jobs, _OF_JOBS, lambda: _sample_files("jobs"), dated=True),
    "runs": Kind("Run times", _runs, _OF_RUNS, lambda: _sample_files("run-times")),
    "history": Kind(
        "Benchmark history",
        _history,
        ("column", "least_percent", "date"),
        lambda: _sample_texts("watch", "history"),
        dated=True,
    ),
    "io": Kind("I/O", _io, ("machine",), lambda: _sample_files("ior")),
    "errors": Kind("Failed jobs", _errors, (), lambda: _sample_texts("diagnose", "log")),
    "launch": Kind("Launch lines", _launch, ("machine",), lambda: _sample_texts("place", "line")),
}
