"""Questions about benchmarks over time, as functions; ``scripts/write_api.py`` writes them from the questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopperkit.api.kinds import run as _run

if TYPE_CHECKING:
    from typing import Literal

    from hopperkit.api.kinds import Count, Number, Text
    from hopperkit.questions.result import Result


def ssp(
    suite: Text,
    *,
    processors: Count = 1,
) -> Result:
    """How fast does a machine run a suite of benchmarks, and is it as fast as was promised?

    Parameters
    ----------
    suite : str, path-like, file, lines or DataFrame
        Rates of the suite. CSV with benchmark and rate, or operations, time_s and processors; and commitment and
        reference if available. A ReFrame performance log works too: its reference is the commitment.
    processors : int, default 1
        Processors, or nodes, of the machine. From 1 to 10,000,000. The mean is multiplied by this number; 1 gives
        the value for one processor.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.ssp(["benchmark,rate,commitment,reference", "NPB FT,822,670,91.8"]).facts["passes"]
    True

    References
    ----------
    Models and their sources: `hopperlib.monitoring.ssp`.
    """
    return _run("ssp", suite=suite, processors=processors)


def detection_delay(
    loss_percent: Literal[3, 5, 10, 20, 30],
    spread_percent: Literal[1, 2, 3, 5, 8, 12],
    *,
    contended_percent: Literal[5, 15] = 5,
    persistence: Literal["0", "0.5"] = "0",
    runs_per_week: Number = 7.0,
) -> Result:
    """How many runs, and days, pass before a lasting loss is noticed in noise like yours, and how often is there a
    false alarm?

    Parameters
    ----------
    loss_percent : {3, 5, 10, 20, 30}
        Lasting loss [%].
    spread_percent : {1, 2, 3, 5, 8, 12}
        Spread of ordinary runs [%]. Coefficient of variation; `hopper watch` estimates it from your history.
    contended_percent : {5, 15}, default 5
        Share of runs in contention [%]. Each of these runs has half to nine tenths of its usual rate.
    persistence : {"0", "0.5"}, default "0"
        Autocorrelation of runs. Not given: the runs are independent. `hopper watch` estimates it from your
        history.
    runs_per_week : float, default 7.0
        Runs a week. From 0.1 to 10,000.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.detection_delay(10, 3).facts["median_runs"]
    4.0

    References
    ----------
    Models and their sources: `hopperlib.monitoring.delays`.
    """
    return _run(
        "detection-delay",
        loss_percent=loss_percent,
        spread_percent=spread_percent,
        contended_percent=contended_percent,
        persistence=persistence,
        runs_per_week=runs_per_week,
    )


def runs(
    runs: Text,
    *,
    jobs: Text | None = None,
    column: str | None = None,
    group: str | None = None,
    change_percent: Number = 5.0,
) -> Result:
    """Why do runs of one program differ: one group, two, a drift, a few slow runs or noise, which column separates
    them, and which run should be made next?

    Parameters
    ----------
    runs : str, path-like, file, lines or DataFrame
        Run times. Times alone, one per line, or a table with headings: every other column (node list, date,
        partition, build, counters) may explain the times. Output of `sacct -P` works too.
    jobs : str, path-like, file, lines or DataFrame, or None
        Accounting of the jobs. Output of `sacct -aXP -o JobID,Partition,NodeList,Start`: its columns are joined
        by the column `job`.
    column : str, or None
        Column of the times. If empty, it is found by name, such as run_time_s or Elapsed.
    group : str, or None
        Column of the jobs. Runs with the same value belong to one job. If empty: `job` or `jobid`.
    change_percent : float, default 5.0
        Change that matters. [%] From 0.1 to 90. Used for the number of runs that would show it.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> times = [1127.2, 1122.4, 369.2, 365.1, 370.8, 1119.4, 372.0, 368.9]
    >>> hopperkit.runs(["run_time_s", *map(str, times)]).facts["kind"]
    'two groups'

    References
    ----------
    Models and their sources: `hopperkit.variation.explanation`.
    """
    return _run("runs", runs=runs, jobs=jobs, column=column, group=group, change_percent=change_percent)


def watch(
    history: Text,
    *,
    better: Literal["named", "higher", "lower"] = "named",
    least_percent: Number = 1.0,
    date: str | None = None,
) -> Result:
    """What changed in these benchmarks, when, by how much, how certain is that, and which part of the machine
    explains it?

    Parameters
    ----------
    history : str, path-like, file, lines or DataFrame
        Benchmark history. A CSV file with a time and a value in each line, and more columns if there are any.
        Several series may be in one file. A performance log of ReFrame works too.
    better : {"named", "higher", "lower"}, default "named"
        Better is.
    least_percent : float, default 1.0
        Smallest change that matters. [%] From 0 to 20. Smaller changes are not reported, however certain they
        are.
    date : str, or None
        Known date of a change. Of an upgrade, such as 2026-03-01: the runs before and from then on are compared.
        Empty: none.

    Returns
    -------
    Result
        The answer: a summary, findings, numbers with their badges, tables, charts, and `facts` for programs.

    Raises
    ------
    InputError
        If a value is refused; the message names the value and the rule.

    Examples
    --------
    >>> import hopperkit
    >>> history = ["date,rate [GB/s]"] + [
    ...     f"2026-01-{day:02},{100 + day % 3 if day < 16 else 90 + day % 3}" for day in range(1, 31)
    ... ]
    >>> hopperkit.watch(history).summary
    'rate [GB/s] changed by -9.9 % with run 16, 2026-01-16.'

    References
    ----------
    Models and their sources: `hopperlib.monitoring.changes`.
    """
    return _run("watch", history=history, better=better, least_percent=least_percent, date=date)
