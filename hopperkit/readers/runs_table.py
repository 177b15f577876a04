"""Read runs of one program in any supported form: bare times, dated lines, a table, or sacct rows, joined by job."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hopperkit.readers.benchmark_history import read_benchmark_history
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.jobs.batch_accounting import is_lsf, is_pbs
from hopperkit.readers.jobs.jobcomp import is_jobcomp
from hopperkit.readers.jobs.trace import Trace
from hopperkit.readers.recognise import times_in
from hopperkit.readers.run_times import GROUP_NAMES, TIME_NAMES, RunTimes, heading_letters, read_run_times
from hopperkit.readers.source import Source, text_of
from hopperkit.readers.table import ABSENT, read_table, typed_cell, whole_rows
from hopperkit.variation.table import RunsTable
from hopperlib.errors import InputError
from hopperlib.scheduling.workload import Workload

# Columns derived from the time itself, or that number the runs or mark their end: they explain nothing.
_NO_FACTOR = re.compile(
    r"^(?:end|end_?time|finish|submit|submit_?time|eligible|state|exit_?code|derivedexitcode|elapsed\w*|cpu_?time\w*"
    r"|total_?cpu|system_?cpu|user_?cpu|user|sys|real|wall\w*|run_?time\w*|time_?limit|timelimitraw|run_?id|id|index"
    r"|#|no|nr|number|consumedenergy\w*)$",
    re.IGNORECASE,
)
# Columns that count runs: a factor only if their values repeat, as the first of five repetitions of each job does.
_COUNTERS = re.compile(r"^(?:run|iteration|iter|repeat|repetition|rep|trial)s?$", re.IGNORECASE)
_DATED_LINE = re.compile(r"\s*(\d{4}-\d\d-\d\d(?:[T ][\d:.]+)?(?:Z|[+-]\d\d:?\d\d)?|[\d/.]{8,10})[,;\s]+(\S+)\s*$")
_FINISHED = re.compile(r"COMPLETED|CD$", re.IGNORECASE)
_MOST_RUNS = 20_000
# Headings of timestamps, in letters: if a table has both and no run times, the times follow from them.
_STARTS, _ENDS = {"start", "starttime", "started"}, {"end", "endtime", "ended", "finish", "finished"}


def read_runs(source: Source, *, jobs: Source = "", column: str | None = None, group: str | None = None) -> RunsTable:
    r"""Read runs with all their known attributes.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        Bare times, lines of a date and a time, or a table: each other column may explain the times. A table of rates is
        accepted too, if its column is marked as such.
    jobs : the same
        Accounting data: a table with a job column, as printed by sacct; its columns are joined by job.
    column, group : str or None
        Time column, and job column if runs share jobs; None finds them by name.

    Raises
    ------
    InputError
        If there are no times, a cell is invalid, or nothing can be joined.

    Examples
    --------
    >>> table = read_runs("date,seconds,node\n2026-03-02,1190,n2\n2026-03-01,815,n1\n")
    >>> table.values, table.when, dict(table.columns)
    ((815.0, 1190.0), ('2026-03-01', '2026-03-02'), {'node': ('n1', 'n2')})
    """
    text = text_of(source)
    table = _bare_times(text) or _dated_lines(text) or _job_records(text) or _table(text, column, group)
    if len(table.values) > _MOST_RUNS:
        raise InputError(f"{len(table.values):,} runs are more than the maximum of {_MOST_RUNS:,}")
    accounting = text_of(jobs) if not isinstance(jobs, str) or jobs.strip() else ""
    if accounting:
        table = _joined(table, accounting)
    return _in_time(table)


def _bare_times(text: str) -> RunsTable | None:
    """Read a list of times; None for anything else."""
    times = times_in(text)
    if not times:
        return None
    runs = read_run_times(["run_time_s", *times])
    return RunsTable(name="run time", values=runs.times, unit="s")


def _dated_lines(text: str) -> RunsTable | None:
    """Read lines of a date and a time, without a heading; None for anything else."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    found = [_DATED_LINE.match(line) for line in lines]
    if not found or not all(found):
        return None
    rows = (f"{match[1]};{match[2].removesuffix('s')}" for match in found if match)
    runs = read_run_times(["date;run_time_s", *rows])
    return RunsTable(name="run time", values=runs.times, unit="s", when=runs.others["date"])


def _job_records(text: str) -> RunsTable | None:
    """Jobs of the accounting of PBS or LSF, of Slurm's job completion log, or of a table of starts and ends without run
    times; None for anything else.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    names = {heading_letters(name) for name in re.split(r"[|,;\t]", first)}
    spans = names & _STARTS and names & _ENDS and names.isdisjoint(TIME_NAMES)
    if not (spans or any(is_form(first) for is_form in (is_pbs, is_lsf, is_jobcomp))):
        return None
    try:
        trace = read_job_trace(text)
    except InputError:
        if spans:
            return None
        raise
    return _table_of_jobs(trace)


def _table_of_jobs(trace: Trace) -> RunsTable:
    """Return the run times of a trace's completed jobs; of all that ran if no state is known."""
    jobs = trace.workload
    ended = [at for at in range(len(jobs)) if _FINISHED.match(jobs.word("state", at))]
    kept = ended or [at for at in range(len(jobs)) if jobs.run_time_s[at] > 0]
    left = len(jobs) - len(kept)
    return RunsTable(
        name="run time",
        values=tuple(float(max(1, jobs.run_time_s[at])) for at in kept),
        unit="s",
        when=tuple(
            datetime.fromtimestamp(trace.epoch_s + jobs.observed_start_s[at], UTC).replace(tzinfo=None).isoformat()
            for at in kept
        ),
        columns=_job_columns(jobs, kept),
        notes=(
            *trace.skips.messages(),
            *([f"{left:,} {'run' if left == 1 else 'runs'} left out, not completed by their state"] if left else []),
        ),
    )


def _job_columns(jobs: Workload, kept: Sequence[int]) -> dict[str, tuple[Any, ...]]:
    """Return the columns of some jobs that may explain their times; their sizes if the log has no node lists."""
    columns: dict[str, tuple[Any, ...]] = {}
    for title, field in {"nodes": "node_list", "queue": "queue", "account": "account", "qos": "qos"}.items():
        cells = tuple(jobs.word(field, at) for at in kept)
        if any(cells):
            columns[title] = cells
    if "nodes" not in columns:
        columns["number of nodes"] = tuple(jobs.nodes[at] for at in kept)
    return columns


def _table(text: str, column: str | None, group: str | None) -> RunsTable:
    """Read a table with headings: run times, or otherwise one series of measured values."""
    lines = text.splitlines()
    first = next((line for line in lines if line.strip()), "")
    if first and not re.search(r"[,;\t|]", first.strip()) and len(first.split()) > 1:
        lines = [re.sub(r"(?<=\S) +(?=\S)", ";", line) for line in lines]
    try:
        runs = read_run_times(lines, column=column, group=group)
    except InputError as error:
        if "there is no column" not in str(error) or group is not None:
            raise
        return _measured(text, column, error)
    return _of_run_times(runs)


def _of_run_times(runs: RunTimes) -> RunsTable:
    """Build a table from run times; from accounting rows, only those of whole, completed jobs."""
    kept, notes = _whole_and_completed(runs)
    jobs = runs.groups
    when = runs.when or next((name for name, cells in runs.others.items() if _are_moments(cells)), "")
    columns = {
        name: tuple(typed_cell(cells[place]) for place in kept)
        for name, cells in runs.others.items()
        if name != when and not _is_no_factor(name, cells)
    }
    return RunsTable(
        name=runs.column,
        values=tuple(runs.times[place] for place in kept),
        unit=runs.unit,
        when=tuple(runs.others[when][place] for place in kept) if when else (),
        jobs=tuple(jobs[place] for place in kept) if jobs else (),
        columns=_factors_only(columns),
        notes=(*runs.skips.messages(), *notes),
    )


def _is_no_factor(name: str, cells: Sequence[Any]) -> bool:
    """Whether a column follows from the time, identifies single runs, or counts them without repeating a number."""
    plain = name.strip().replace(" ", "_")
    if _COUNTERS.match(plain):
        return len(set(cells)) > len(cells) / 2
    return bool(_NO_FACTOR.match(plain))


def _whole_and_completed(runs: RunTimes) -> tuple[list[int], list[str]]:
    """Return the rows of whole, completed jobs, and notes on the others; all rows if no state is known."""
    kept, jobs = list(range(len(runs.times))), runs.groups
    if jobs and any("." in job for job in jobs) and any("." not in job for job in jobs):
        # Step rows, such as 17.batch, repeat their job.
        kept = [place for place in kept if "." not in jobs[place]]
    states = next((cells for name, cells in runs.others.items() if heading_letters(name) == "state"), ())
    completed = [place for place in kept if _FINISHED.match(states[place])] if states else []
    if not completed or len(completed) == len(kept):
        return kept, []
    return completed, [_left_out(len(kept) - len(completed), "not completed by their state")]


def _left_out(runs: int, why: str) -> str:
    """Return the note on omitted runs."""
    return f"{runs:,} {'run' if runs == 1 else 'runs'} left out, {why}"


def _factors_only(columns: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    """Return the columns without timestamps, which only order the runs."""
    return {name: cells for name, cells in columns.items() if not any(isinstance(cell, datetime) for cell in cells)}


def _are_moments(cells: Sequence[str]) -> bool:
    known = [typed_cell(cell) for cell in cells if cell.casefold() not in ABSENT]
    return bool(known) and all(isinstance(cell, datetime) for cell in known)


def _measured(text: str, column: str | None, error: InputError) -> RunsTable:
    """Read a benchmark history with a single series."""
    series = read_benchmark_history(text, column=column).series
    if len(series) != 1:
        names = ", ".join(history.name for history in series[:8])
        raise InputError(f"the file has {len(series)} series ({names}): name the column of one") from error
    history = series[0]
    dated = all(_moment(time) is not None for time in history.times)
    columns = {name: tuple(map(typed_cell, cells)) for name, cells in history.covariates.items()}
    return RunsTable(
        name=history.name,
        values=history.values,
        unit=history.unit,
        rate=history.better == "higher",
        when=history.times if dated else (),
        columns=_factors_only({name: cells for name, cells in columns.items() if not _is_no_factor(name, cells)}),
    )


def _rows_by_job(accounting: str) -> tuple[list[str], int, dict[str, list[str]]]:
    """Return the header of accounting data, the position of its job column, and the first row of each job."""
    _, _, header, body = read_table(accounting.splitlines())
    rows = [cells for _, cells in whole_rows(body, len(header))]
    place = next((at for at, name in enumerate(header) if heading_letters(name) in GROUP_NAMES), None)
    if place is None:
        raise InputError(
            f"the accounting data have no job column; the columns are: {', '.join(header[:20])}", name="jobs"
        )
    of_job: dict[str, list[str]] = {}
    for cells in rows:
        of_job.setdefault(cells[place], cells)
    return header, place, of_job


def _joined(table: RunsTable, accounting: str) -> RunsTable:
    """Join the accounting columns of the runs' jobs."""
    if not table.jobs:
        raise InputError("the runs have no job column for joining the accounting data", name="jobs")
    header, place, of_job = _rows_by_job(accounting)
    kept = [at for at, job in enumerate(table.jobs) if job in of_job]
    if not kept:
        first = next(iter(of_job), "")
        raise InputError(f"no job of the runs is in the accounting data; the first job there is {first!r}", name="jobs")
    known = {
        name: tuple(of_job[table.jobs[run]][at] for run in kept)
        for at, name in enumerate(header)
        if at != place and name not in table.columns
    }
    start = next((cells for name, cells in known.items() if heading_letters(name) in ("start", "starttime")), ())
    columns = {name: tuple(cells[run] for run in kept) for name, cells in table.columns.items()}
    columns |= {name: tuple(map(typed_cell, cells)) for name, cells in known.items() if not _is_no_factor(name, cells)}
    joined = _rows_of_table(table, kept)
    return replace(joined, when=joined.when or start, columns=_factors_only(columns))


def _rows_of_table(table: RunsTable, kept: Sequence[int]) -> RunsTable:
    """Return some rows of a table, with a note on those left out; its columns are unchanged."""
    left = len(table.values) - len(kept)
    notes = (*table.notes, _left_out(left, "not in the accounting data")) if left else table.notes
    return replace(
        table,
        values=tuple(table.values[run] for run in kept),
        jobs=tuple(table.jobs[run] for run in kept),
        when=tuple(table.when[run] for run in kept) if table.when else (),
        notes=notes,
    )


def _moment(text: str) -> datetime | None:
    """Read a timestamp, converted to UTC if it has a time zone; None if invalid."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _in_time(table: RunsTable) -> RunsTable:
    """Sort runs by time; keep the row order if a timestamp cannot be read."""
    moments = [_moment(text) for text in table.when]
    known = [moment for moment in moments if moment is not None]
    if not known or len(known) < len(moments):
        return replace(table, when=())
    order = sorted(range(len(known)), key=known.__getitem__)
    return replace(
        table,
        values=tuple(table.values[place] for place in order),
        when=tuple(table.when[place] for place in order),
        jobs=tuple(table.jobs[place] for place in order) if table.jobs else (),
        columns={name: tuple(cells[place] for place in order) for name, cells in table.columns.items()},
    )
