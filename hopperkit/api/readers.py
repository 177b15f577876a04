"""Readers of other programs' files, as functions: here, a str is the path of a file, never text.

Pass text as ``io.StringIO(text)`` or as a list of lines; a DataFrame or a Series is read as CSV.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import IO, Literal, TypeAlias

    from hopperkit.api.kinds import Count, Text
    from hopperkit.frames import Rows
    from hopperkit.iologs.darshan_log import DarshanLog
    from hopperkit.readers.benchmark_history import Histories
    from hopperkit.readers.ior.io500 import Io500
    from hopperkit.readers.ior.results import IoResult
    from hopperkit.readers.jobs.trace import Trace
    from hopperkit.readers.networks.placements import Placements
    from hopperkit.readers.run_times import RunTimes
    from hopperlib.errors import InputError

    AnyPath: TypeAlias = str | PathLike[str]


def _opened(source: Any) -> Any:
    """Return a source in the form that readers accept: a str is a path."""
    from pathlib import Path

    return Path(source) if isinstance(source, str) else source


def _named(source: Any, file: str | None) -> str:
    """Return the name used in the rows of a file."""
    return file if file is not None else fspath(source) if isinstance(source, str | PathLike) else "-"


def read_job_trace(
    source: Text,
    *,
    form: Literal["auto", "swf", "sacct"] = "auto",
    delimiter: str = "|",
    columns: str = "",
    timezone: str = "",
    cores_per_node: Count = 0,
) -> Trace:
    """Return the jobs of a trace: in the Standard Workload Format, output of ``sacct``, or a table of jobs.

    Parameters
    ----------
    source : path, open file, lines or DataFrame
        A DataFrame, or the CSV of one, has the columns of `Trace.to_frame`, of sacct, of Open XDMoD, or similar ones.
    form : {"auto", "swf", "sacct"}, default "auto"
        The format; auto detects it from the first line.
    delimiter, columns, timezone : str
        For output of sacct, as for `read_sacct`.
    cores_per_node : int, default 0
        Processors per node in the Standard Workload Format; 0 uses the header.

    Raises
    ------
    InputError
        If no job can be read.

    Examples
    --------
    >>> import hopperkit
    >>> rows = ["JobID|State|Submit|Elapsed|Timelimit|NNodes", "8|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4"]
    >>> hopperkit.read_job_trace(rows).workload[0].run_time_s
    600

    References
    ----------
    `hopperkit.readers.jobs`.
    """
    from hopperkit.readers.jobs import read_job_trace as read

    return read(
        _opened(source),
        form=form,
        delimiter=delimiter,
        columns=columns,
        timezone=timezone,
        cores_per_node=int(cores_per_node),
    )


def read_sacct(source: Text, *, delimiter: str = "|", columns: str = "", timezone: str = "") -> Trace:
    """Read the jobs in sacct's output; times count from the first submission. [s]

    Parameters
    ----------
    source : path, open file, lines or DataFrame
        Output of ``--parsable2``, or of ``--json``. It must hold JobID, State, Submit, a run time (ElapsedRaw, Elapsed,
        or Start and End) and a node count (AllocNodes, NNodes or ReqNodes).
    delimiter : str, default "|"
        As given to ``sacct --delimiter``.
    columns : str
        For output without a header: the columns, as given to ``sacct --format``.
    timezone : str
        Time zone of timestamps without an offset, such as ``Europe/Berlin``; by default UTC.

    Raises
    ------
    InputError
        If the time zone is unknown, the header is not from sacct, or no line has a usable job.

    Examples
    --------
    >>> import hopperkit
    >>> rows = ["JobID|State|Submit|Elapsed|Timelimit|NNodes", "8|COMPLETED|2024-01-01T00:00:00|00:10:00|01:00:00|4"]
    >>> hopperkit.read_sacct(rows).workload[0].nodes
    4

    References
    ----------
    `hopperkit.readers.jobs.sacct`.
    """
    from hopperkit.readers.jobs.sacct import read_sacct as read

    return read(_opened(source), delimiter=delimiter, columns=columns, timezone=timezone)


def read_swf(source: Text, *, cores_per_node: Count = 0) -> Trace:
    """Return the jobs of a trace in the Standard Workload Format; times count from its start. [s]

    Parameters
    ----------
    source : path, open file, lines or DataFrame
    cores_per_node : int, default 0
        Processors per node; jobs get whole nodes. 0 uses the header's value if nearly all jobs then use whole nodes;
        otherwise, processors are scheduled.

    Raises
    ------
    InputError
        If no line has a usable job.

    Examples
    --------
    >>> import hopperkit
    >>> line = "7 60 5 3600 48 -1 -1 -1 7200 -1 1 3 1 -1 2 -1 -1 -1"
    >>> hopperkit.read_swf(["; MaxNodes: 6384", line], cores_per_node=24).workload[0].nodes
    2

    References
    ----------
    `hopperkit.readers.jobs.swf`.
    """
    from hopperkit.readers.jobs.swf import read_swf as read

    return read(_opened(source), cores_per_node=int(cores_per_node))


def read_run_times(
    source: Text, *, column: str | None = None, group: str | None = None, covariates: Sequence[str] = ()
) -> RunTimes:
    """Return the run times of a CSV file. [s]

    Parameters
    ----------
    source : path, open file, lines, DataFrame or Series
        The first line names the columns.
    column : str or None
        Column of the times; None means the only one, or one called ``run_time``, ``elapsed``, ``walltime`` or the like.
    group : str or None
        Column of the group of each run; None uses ``job`` or ``jobid`` if present.
    covariates : sequence of str
        Other numeric columns to read; rows that lack a value are left out.

    Raises
    ------
    InputError
        If a column is missing, a cell is not a time or a number, or there are no times.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.read_run_times(["job,run_time_s", "a,10.5", "a,11", "b,12"]).times
    (10.5, 11.0, 12.0)

    References
    ----------
    `hopperkit.readers.run_times`.
    """
    from hopperkit.readers.run_times import read_run_times as read

    return read(_opened(source), column=column, group=group, covariates=covariates)


def read_benchmark_history(
    source: Text, *, name: str = "", column: str | None = None, better: Literal["higher", "lower"] | None = None
) -> Histories:
    """Return the benchmark series in a file: CSV, ReFrame, TOKIO or Open XDMoD.

    Parameters
    ----------
    source : path, open file, lines, DataFrame or Series
    name : str
        Name of a series without a name.
    column : str or None
        The column of the values; None uses ``value``, otherwise columns named as rates or times, otherwise all numeric
        columns.
    better : {"higher", "lower"} or None
        Direction that is better; None uses a column ``better``, or names and units.

    Raises
    ------
    InputError
        If there is no such column, or no value.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.read_benchmark_history(["time,value", "2026-01-01,100", "2026-01-03,99"]).series[0].values
    (100.0, 99.0)

    References
    ----------
    `hopperkit.readers.benchmark_history`.
    """
    from hopperkit.readers.benchmark_history import read_benchmark_history as read

    return read(_opened(source), name=name, column=column, better=better)


def read_ior(source: Text, *, file: str | None = None) -> Rows[IoResult]:
    """Return every rate in the output of IOR or mdtest as a row. [MiB/s]

    Parameters
    ----------
    source : path, open file or lines
        Text, JSON or CSV, of one run or of several.
    file : str or None
        Name of the file in the rows; None uses the path.

    Raises
    ------
    InputError
        If nothing in the text is from IOR or mdtest.

    Examples
    --------
    >>> import hopperkit
    >>> from hopperlib.data_files import data_folder
    >>> hopperkit.read_ior(data_folder() / "samples" / "ior" / "ior-4.0.0.posix-fpp.txt")[0].access
    'write'

    References
    ----------
    `hopperkit.readers.ior.reader`.
    """
    from hopperkit.frames import Rows
    from hopperkit.readers.ior.reader import read_ior as read

    return Rows(read(_opened(source), file=_named(source, file)))


def read_mdtest(source: Text, *, file: str | None = None) -> Rows[IoResult]:
    """Return the operations of one run of mdtest as rows, with their rates in `operations_s`. [1/s]

    Parameters
    ----------
    source : path, open file or lines
        From the banner of one run to the next.
    file : str or None
        Name of the file in the rows; None uses the path.

    Raises
    ------
    InputError
        If it cannot be read.

    Examples
    --------
    >>> import hopperkit
    >>> lines = ["mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)", "SUMMARY rate: (of 1 iterations)",
    ...          "   File creation   2568.636   2568.636   2568.636   0.000"]
    >>> hopperkit.read_mdtest(lines)[0].operations_s
    2568.636

    References
    ----------
    `hopperkit.readers.ior.mdtest`.
    """
    from hopperkit.frames import Rows
    from hopperkit.readers.ior.mdtest import read_mdtest as read

    return Rows(read(_opened(source), file=_named(source, file)))


def read_io500(folder: AnyPath) -> Rows[Io500]:
    """Return the IO500 runs with results in a folder, best score first.

    Parameters
    ----------
    folder : str or path-like

    Raises
    ------
    InputError
        If the folder contains none.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.read_io500("no/such")
    Traceback (most recent call last):
    hopperlib.errors.InputError: no/such: there is no such folder

    References
    ----------
    `hopperkit.readers.ior.io500`.
    """
    from hopperkit.frames import Rows
    from hopperkit.readers.ior.io500 import read_io500 as read

    return Rows(read(_opened(folder)))


def read_darshan(path: AnyPath | IO[str] | Iterable[str], *, timeout_s: float = 600) -> DarshanLog:
    """Return the Darshan log in a file.

    Parameters
    ----------
    path : str, path-like, or open file or lines of text
        A log, or the output of ``darshan-parser``; ``-`` reads such output from standard input.
    timeout_s : float, default 600
        Longest time allowed for reading. [s]

    Raises
    ------
    DarshanMissing
        If pydarshan is not installed.
    InputError
        If the file is not a Darshan log, or is too damaged to read even the job.

    Examples
    --------
    >>> import hopperkit
    >>> hopperkit.read_darshan("no/such.darshan")
    Traceback (most recent call last):
    hopperlib.errors.InputError: no/such.darshan: there is no such file

    References
    ----------
    `hopperkit.readers.darshan`.
    """
    from hopperkit.readers.darshan import read_darshan as read

    return read(_opened(path), timeout_s=timeout_s)


def read_darshan_logs(
    paths: AnyPath | Sequence[AnyPath], *, timeout_s: float = 600
) -> Iterator[tuple[str, DarshanLog | InputError]]:
    """Yield each Darshan log in files and folders with its name, or the reason why it cannot be read.

    Parameters
    ----------
    paths : str or path-like, or sequence of them
        Logs, or folders that contain logs.
    timeout_s : float, default 600
        Longest time allowed for reading one log. [s]

    Raises
    ------
    InputError
        If a path does not exist.

    Examples
    --------
    >>> import hopperkit
    >>> list(hopperkit.read_darshan_logs([]))
    []

    References
    ----------
    `hopperkit.readers.darshan`.
    """
    from hopperkit.readers.darshan import read_darshan_logs as read

    return read(paths, timeout_s=timeout_s)


def jobs_in_network(jobs: Text, network: Text) -> Placements:
    """Return the location of each job in a log: groups and switches used, and the share of close node pairs.

    Parameters
    ----------
    jobs : path, open file, lines or DataFrame
        As for `read_job_trace`, with the nodes of each job.
    network : path, open file or lines
        A ``topology.conf`` of Slurm, or a table of nodes with their switches and groups.

    Raises
    ------
    InputError
        If either cannot be read, or no job ran on nodes of the network.

    Examples
    --------
    >>> import hopperkit
    >>> jobs = ["JobID|State|Submit|Start|ElapsedRaw|NNodes|NodeList",
    ...         "7|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:10:00|60|3|n[1-3]"]
    >>> network = ["SwitchName=a Nodes=n[1-2]", "SwitchName=b Nodes=n[3-4]", "SwitchName=t Switches=a,b"]
    >>> frame = hopperkit.jobs_in_network(jobs, network).to_frame()
    >>> print(*frame.loc[0, ["job", "groups", "switches", "wait_s"]])
    7 2 2 600

    References
    ----------
    `hopperkit.readers.networks`.
    """
    from hopperkit.readers.networks import jobs_in_network as read

    return read(_opened(jobs), _opened(network))
