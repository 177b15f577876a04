"""Reports, fits, ensembles, data frames and widgets, as functions; they need the packages of the extra ``analysis``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike
    from typing import Literal

    import pandas as pd

    from hopperkit.api.kinds import Count, Number, Text
    from hopperkit.questions.question import Question
    from hopperkit.questions.result import Result
    from hopperkit.readers.jobs.trace import Trace
    from hopperkit.readers.run_times import RunTimes
    from hopperkit.render.widgets.linked import Explorer


def load(name: str) -> Question:
    """Return a question by its name: in a notebook, it is displayed as an explorer.

    Parameters
    ----------
    name : str
        Name such as "memory"; ``hopper --help`` lists all.

    Raises
    ------
    InputError
        If there is no question of that name.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.load("memory").run(need_gb=2, tasks=384).facts["best_nodes"]
    26

    References
    ----------
    `hopperkit.questions`.
    """
    from hopperkit.questions.question import load as found

    return found(name)


def explore(name: str, **values: Any) -> Explorer:
    """Return the explorer of a question as a widget whose `values` and `result` are traits.

    Parameters
    ----------
    name : str
        Such as "memory".
    **values
        Values of its controls to start with.

    Raises
    ------
    InputError
        If there is no such question, or a value is invalid for its control.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.explore("memory", need_gb=1.0).result.facts["need_gb"]
    1.0

    References
    ----------
    `hopperkit.render.widgets.linked`.
    """
    from hopperkit.render.widgets.linked import explore as shown

    return shown(name, **values)


def to_frame(things: Any, *, timezone: str = "") -> pd.DataFrame:
    """Return records, or columns by name, as a DataFrame with typed columns.

    Parameters
    ----------
    things : Result, Table, DataFrame, mapping of str to sequence, or iterable of records
        A record is a dataclass, a named tuple or a mapping.
    timezone : str
        Time zone of timestamps without one, such as ``Europe/Berlin``.

    Raises
    ------
    TypeError
        If it is none of these types.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.to_frame(hopperkit.Machine.load("hopper"))["nodes"].tolist()
    [6384]

    References
    ----------
    `hopperkit.frames`.
    """
    from hopperkit.frames import to_frame as framed

    return framed(things, timezone=timezone)


def report(
    kind: Literal["jobs", "runs", "history", "io", "errors", "launch"],
    paths: Any = (),
    *,
    since: str = "",
    **settings: Any,
) -> Result:
    """Return the report on files of one kind.

    Parameters
    ----------
    kind : {"jobs", "runs", "history", "io", "errors", "launch"}
    paths : path, open file, DataFrame or Series, or sequence of them
        Files, or folders to search; None uses the samples of the book.
    since : str
        Only jobs submitted, benchmarks run or files changed since then: "2026-03-01", or "30d".
    **settings
        Settings of the kind, such as ``nodes=512`` for jobs.

    Raises
    ------
    InputError
        If the kind or setting does not exist, or nothing can be read.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.report("launch", machine="hopper").to_frame()["problems"].tolist()[:1]
    [1]

    References
    ----------
    `hopperkit.analysis.reports`.
    """
    from hopperkit.analysis.reports import report as made

    return made(kind, paths, since=since, **settings)


def fit(
    runs: RunTimes | Text,
    *,
    column: str | None = None,
    group: str | None = None,
    against: Sequence[str] = (),
    minimum: bool = False,
    change: Number = 5.0,
    power: Number = 80.0,
    resamples: Count | None = None,
    seed: Count = 0,
) -> Result:
    """Summarize run times: their distribution, their spread, and the repeats needed to show a change.

    Parameters
    ----------
    runs : RunTimes, DataFrame, Series, or path of a CSV file
    column, group : str or None
        Column of the times, and column of the group of each run. None uses ``run_time_s``, and ``job`` if present.
    against : sequence of str
        Columns of numbers that the times are regressed on, all at once.
    minimum : bool, default False
        Fit the families to the smallest time of each group.
    change, power : float, default 5.0 and 80.0
        The change to detect, and the probability of detecting it. [%]
    resamples : int or None
        Samples for p-values, at least 19; None chooses a number that takes seconds.
    seed : int, default 0
        Seed of these samples.

    Raises
    ------
    InputError
        If an argument is out of range.
    ValueError
        If the file has no run times, too few, or all are equal.

    Examples
    --------
    >>> import hopperkit
    >>> from hopperlib.data_files import data_folder
    >>> times = data_folder() / "samples" / "run-times" / "synthetic-run-times.csv"
    >>> hopperkit.fit(times, minimum=True, resamples=99).summary.split(" To ")[0]
    'The shifted lognormal describes the times best.'

    References
    ----------
    `hopperkit.analysis.fit_answer`.
    """
    from hopperkit.analysis.fit_answer import fit as fitted

    return fitted(
        runs,
        column=column,
        group=group,
        against=against,
        minimum=minimum,
        change=float(change),
        power=float(power),
        resamples=None if resamples is None else int(resamples),
        seed=int(seed),
    )


def explain_runs(
    runs: RunTimes | Text,
    jobs: Trace | Text | None = None,
    *,
    upgrades: Sequence[str] = (),
    column: str | None = None,
    job: str | None = None,
    seed: Count = 0,
) -> Result:
    r"""Explain differences in run times, and list the slow runs with their distinguishing features.

    Parameters
    ----------
    runs : path, open file, DataFrame or RunTimes
        One row per run. Every additional column that is numeric or has few distinct values is a factor.
    jobs : path, open file, DataFrame, Trace or None
        Accounting data, joined by job: partition, account, first node, and when the job started.
    upgrades : sequence of str
        Dates such as ``2026-03-01``, which divide the runs into periods; the period is a factor. Needs `jobs`.
    column, job : str or None
        Columns of the times and of the job; None finds them by their names.
    seed : int, default 0
        Seed of the job samples for the intervals.

    Raises
    ------
    InputError
        If nothing can be joined, or there are too few jobs.

    Examples
    --------
    >>> import io
    >>> import hopperkit
    >>> rows = [f"{job},{'abc'[job % 3]},{100 + job % 7 + 40 * (job % 3 == 1)}" for job in range(60)]
    >>> answer = hopperkit.explain_runs(io.StringIO("\n".join(["jobid,node,run_time_s", *rows])))
    >>> answer.facts["shares"][0]["factor"]
    'node'

    References
    ----------
    `hopperkit.analysis.explained`.
    """
    from hopperkit.analysis.explained import explain_runs as explained

    return explained(runs, jobs, upgrades=upgrades, column=column, job=job, seed=int(seed))


def node_hours_used(jobs: pd.DataFrame, edges: pd.DatetimeIndex) -> pd.Series[float]:
    """Return the node-hours that jobs used in each interval between edges. [node-h]

    Parameters
    ----------
    jobs : DataFrame
        With ``start``, ``run_time`` and ``nodes``, as returned by `Trace.to_frame`.
    edges : DatetimeIndex
        Increasing, at least two.

    Raises
    ------
    ValueError
        If there are fewer than two edges.

    Examples
    --------
    >>> import hopperkit
    >>> import pandas as pd
    >>> jobs = pd.DataFrame(
    ...     {"start": [pd.Timestamp("2026-03-01 11:00", tz="UTC")], "run_time": [pd.Timedelta("2h")], "nodes": [4]}
    ... )
    >>> edges = pd.date_range("2026-03-01", periods=3, freq="12h", tz="UTC")
    >>> hopperkit.node_hours_used(jobs, edges).tolist()
    [4.0, 4.0]

    References
    ----------
    `hopperkit.analysis.job_report`.
    """
    from hopperkit.analysis.job_report import node_hours_used as used

    return used(jobs, edges)


def run_ensemble(
    function: Callable[..., Any],
    parameter_sets: Iterable[Mapping[str, Any]] | pd.DataFrame,
    folder: str | PathLike[str],
    *,
    workers: Count | None = None,
    client: Any = None,
    progress: bool | Callable[[int, int], None] = True,
) -> pd.DataFrame:
    """Call a function with each set of parameters, store every result, and return them all as one table.

    A set that has its file in the folder is not run again, so an interrupted ensemble resumes.

    Parameters
    ----------
    function : callable
        ``function(**parameters)`` returns a mapping, a list of mappings, a DataFrame, a `Result`, or one value. It may
        be defined in a notebook, enclose values such as a `Machine`, and be a function of this package.
    parameter_sets : iterable of mappings, or DataFrame
        Texts, finite numbers, or lists of them, by name. Each set once.
    folder : str or path-like
        Folder of the files; created if missing.
    workers : int or None
        Processes on this machine: None uses one per core, 0 runs in this process.
    client : str, Dask ``Client``, or None
        The address of a Dask scheduler, ``tcp://...``, or a client of it.
    progress : bool or callable, default True
        Whether to show a bar; or ``progress(done, count)``.

    Raises
    ------
    EnsembleError
        If a run fails; the message lists its parameters.
    InputError
        If something is out of range, or the function uses an object that cannot be pickled.

    Examples
    --------
    >>> import tempfile
    >>> import hopperkit
    >>> sets = [{"need_gb": 1.0, "tasks": 384}, {"need_gb": 2.0, "tasks": 384}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hopperkit.run_ensemble(hopperkit.memory, sets, folder, workers=0, progress=False)["best_nodes"].tolist()
    [16, 26]

    References
    ----------
    `hopperkit.analysis.ensembles`.
    """
    from pathlib import Path

    from hopperkit.analysis.ensembles import run_ensemble as run

    count = None if workers is None else int(workers)
    return run(function, parameter_sets, Path(folder), workers=count, client=client, progress=progress)
