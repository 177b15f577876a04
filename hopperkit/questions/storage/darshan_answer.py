"""Answer for Darshan logs: findings, numbers and figures of a job, or one table of many jobs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hopperkit.iologs.cost import Above, Cost, above_by_path, cost_of, headline, task_time
from hopperkit.iologs.darshan_findings import finding_data, findings, looked_for
from hopperkit.iologs.darshan_log import DarshanLog
from hopperkit.iologs.darshan_summary import job_row, overall, summary
from hopperkit.iologs.health import Health, Seen, health, health_findings, health_row, seen_in
from hopperkit.iologs.health_sizes import unseen_findings, visible_factors
from hopperkit.iologs.ost_rates import judge_osts
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperkit.questions.storage.io_figures import ost_figure
from hopperlib.finding import LEVELS, Finding
from hopperlib.machine import Machine
from hopperlib.text import capital, count, digits, share, size

# Limits that keep a page small for long texts and many jobs.
_LONGEST_TEXT = 2000
_MOST_JOBS = 12


def darshan_result(log: DarshanLog, log_findings: Sequence[Finding], machine: str = "") -> Result:
    """Return a log's findings as an answer.

    Parameters
    ----------
    log : DarshanLog
    log_findings : sequence of Finding
        Those of `hopperkit.iologs.darshan_findings.findings`.
    machine : str
        Machine whose file system the advice is for; empty for the file system in the log.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=7, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> darshan_result(log, ()).summary
    "I/O of a.out: no findings in the log's contents (POSIX)."
    """
    numbers = summary(log)
    raised = sum(finding.level != "ok" for finding in log_findings)
    held = ", ".join(log.modules) or "no module"
    result = f"{count(raised, 'finding')}." if raised else f"no findings in the log's contents ({held})."
    cost = cost_of(log)
    read, written = numbers["bytes_read"], numbers["bytes_written"]
    moved = f"{size(read)} read, {size(written)} written." if read or written else ""
    sentences = (
        f"I/O of {_shortened(log.executable or 'a job')}: {result}",
        moved,
        headline(cost),
        looked_for(log, log_findings),
    )
    return Result(
        summary=" ".join(filter(None, sentences)),
        findings=tuple(_bounded(finding) for finding in (*log_findings, *_notes(log, log_findings, machine))),
        values=tuple(_values(numbers)),
        figures=(*_cost_figure(cost), *_figures(log)),
        tables=tuple(_costly_files(log)),
        facts={"findings": [finding_data(finding) for finding in log_findings], "summary": numbers},
    )


def _cost_figure(cost: Cost) -> Iterator[Figure]:
    """Yield the breakdown of the run time, if the log shows it."""
    if cost.share is None or not cost.task_s:
        return
    parts = {
        "waiting and exchange" if cost.collective else "MPI-IO itself": cost.waiting_s,
        "reading and writing": cost.transfer_s,
        "metadata": cost.metadata_s,
        "all else": max(0.0, (cost.run_time_s or 0.0) * cost.tasks - cost.task_s),
    }
    seconds = [part_s / cost.tasks for part_s in parts.values()]
    parts_text = ", ".join(f"{name} {digits(part, 3)} s" for name, part in zip(parts, seconds, strict=True))
    yield chart(
        title="Breakdown of the run time",
        alt=f"Bars of the average time of a task: {parts_text}.",
        x=Axis(title="A task on average"),
        y=Axis(title="Time", unit="s", low=0, decimals=3),
        series=[Series(name="time", x=list(parts), y=seconds, kind="bars")],
    )


def _costly_files(log: DarshanLog) -> Iterator[Table]:
    """Yield the files that cost most, if the log holds times."""
    above, nothing = above_by_path(log), Above(0.0, 0.0)
    seconds = {file.path: sum(above.get(file.path, nothing)) for file in log.files}
    files = sorted(log.files, key=lambda file: -file.busy_s - seconds[file.path])
    dear = [file for file in files if file.busy_s + seconds[file.path] > 0]
    if dear:
        yield table(
            f"Cost of the files, the most expensive {min(len(dear), _MOST_JOBS)} of {len(dear):,}",
            dear[:_MOST_JOBS],
            {
                "File": lambda file: _shortened(file.path),
                Column("All tasks", "s", 2): lambda file: file.busy_s + seconds[file.path],
                Column("Waiting", "s", 2): lambda file: above.get(file.path, nothing).waiting_s,
                Column("Metadata", "s", 2): lambda file: file.meta_s + above.get(file.path, nothing).metadata_s,
                Column("Slowest task", "s", 2): lambda file: file.slowest_s,
                Column("Moved", "MB", 1): lambda file: file.bytes_moved / 1e6,
            },
        )


def _notes(log: DarshanLog, log_findings: Sequence[Finding], machine: str) -> Iterator[Finding]:
    """Yield the log's omissions, and the file system that the advice is for."""
    for note in log.notes:
        yield Finding("log", f"{capital(note)}.", "note")
    # Settings for Lustre are part of the advice, as a command or an MPI-IO hint.
    if not any("setstripe -c" in each.advice or "striping_factor" in each.advice for each in log_findings):
        return
    if machine:
        yield Finding("machine", f"Advice on striping is for the file system of {machine}.", "note")
        return
    known = [ost for file in log.files for ost in file.osts]
    mount = log.mount_of(max(log.files, key=lambda file: file.bytes_moved).path)
    where = f" ({mount[0]}, {mount[1]})" if mount else ""
    osts = f"{log.osts} OSTs" if log.osts else f"at least {count(max(known, default=0) + 1, 'OST')}"
    message = f"Advice on striping is for the file system in the log{where}: {osts}, as fast as in this log, and without a limit per node; use --machine for a machine file."
    yield Finding("machine", message, "note")


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


def _values(numbers: Mapping[str, Any]) -> Iterator[Value]:
    """Yield the duration of the job, and its bytes read and written."""
    if numbers["run_time_s"] is not None:
        note = f"{count(numbers['tasks'] or 0, 'task')}; {count(numbers['files'], 'file')}, {numbers['shared_files']:,} shared"
        yield Value("Run time", numbers["run_time_s"], "documented", "s", 0, note=note)
    for way, past in (("read", "read"), ("write", "written")):
        if numbers[f"{way}_calls"]:
            note = f"in {count(numbers[f'{way}_calls'], 'call')}"
            if sizes := numbers["access_sizes"][way]:
                most = max(sizes, key=lambda name: sizes[name])
                note += f", most of them of {most.replace('_PLUS', ' and more').replace('_', ' to ')} bytes"
            if rate_mb_s := numbers[f"{way}_rate_mb_s"]:
                note += f"; {digits(rate_mb_s, 3)} MB/s from the first call to the end of the last"
            yield Value(f"Bytes {past}", numbers[f"bytes_{past}"] / 1e9, "documented", "GB", 3, note=note)


def _figures(log: DarshanLog) -> Iterator[Figure]:
    """Yield the pictures of its OSTs, beginning with a direction in which one is slow."""
    verdicts = [verdict for way in ("write", "read") if (verdict := judge_osts(log, way)).rates]
    if verdicts:
        yield ost_figure(max(verdicts, key=lambda verdict: len(verdict.slow)))


def logs_result(
    logs: Iterable[tuple[str, DarshanLog | Exception]],
    machine: Machine | None = None,
    nodes: Mapping[int, Sequence[str]] | None = None,
) -> tuple[Result | None, list[str]]:
    """Return many logs as an answer, None if none was read, and why others were not.

    Parameters
    ----------
    logs : iterable of (str, DarshanLog or Exception)
        Path and log, as `hopperkit.readers.darshan.read_darshan_logs` yields them.
    machine : Machine or None
        Whose file system the advice is for; None for the one in each log.
    nodes : mapping
        Nodes of jobs, by their numbers.

    Examples
    --------
    >>> logs_result([("a.darshan", ValueError("a.darshan: too short"))])
    (None, ['a.darshan: too short'])
    """
    jobs, unread, seen = [], [], list[Seen]()
    cores = machine.node().cores if machine else None
    for path, read in logs:
        if isinstance(read, Exception):
            unread.append(str(read))
            continue
        log = read.placed((nodes or {}).get(read.job_id or 0, ()), cores)
        jobs.append(job_row(path, log, findings(log, machine)))
        seen += seen_in(log)
    # The most expensive first; of those without a time the worst.
    jobs.sort(key=lambda job: (-job["io_task_hours"], LEVELS.index(job["worst"]), -job["problems"]))
    rows = [{name: value for name, value in job.items() if name != "messages"} for job in jobs]
    healths = health(seen)
    return jobs_result(rows, overall(jobs), healths, visible_factors(seen, healths)) if jobs else None, unread


def jobs_result(
    jobs: Sequence[Mapping[str, Any]],
    overall: Mapping[str, Any],
    healths: Sequence[Health] = (),
    visible: Mapping[tuple[str, str], float | None] | None = None,
) -> Result:
    """Return many jobs as an answer: common results, and a table with the most expensive first.

    Parameters
    ----------
    jobs : sequence of mapping
        As `hopperkit.iologs.darshan_summary.job_row` gives them.
    overall : mapping
        As `hopperkit.iologs.darshan_summary.overall` gives it.
    healths : sequence of Health
        Joint result of the jobs for OSTs and nodes.
    visible : mapping or None
        Factor by which one must be slower to be found, from `hopperkit.iologs.health_sizes.visible_factors`.

    Examples
    --------
    >>> from hopperkit.iologs.darshan_summary import job_row, overall
    >>> log = DarshanLog(executable="a.out", job_id=7, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> rows = [job_row("a.darshan", log, ())]
    >>> jobs_result(rows, overall(rows)).summary
    '1 job: 0 with something to fix; 0 bytes read, 0 bytes written.'
    """
    moved = f"{size(overall['bytes_read'])} read, {size(overall['bytes_written'])} written"
    return Result(
        summary=f"{count(len(jobs), 'job')}: {overall['jobs_to_mend']:,} with something to fix; {moved}.{_spent(overall)}",
        findings=(
            *health_findings(healths),
            *unseen_findings(visible or {}, healths),
            *(
                Finding(
                    code, f"{each['jobs']:,} of {count(len(jobs), 'job')}; the worst: {each['message']}", each["level"]
                )
                for code, each in overall["findings"].items()
            ),
        ),
        tables=(_jobs(jobs), *_sums(overall), *_healths(healths)),
        facts={
            "jobs": list(jobs),
            "summary": dict(overall),
            **{
                f"{kind}s": [health_row(each) for each in healths if each.part.kind == kind] for kind in ("ost", "node")
            },
            "visible_factors": {f"{kind}_{way}": factor for (kind, way), factor in (visible or {}).items()},
        },
    )


def _spent(overall: Mapping[str, Any]) -> str:
    """Return in a sentence what I/O cost all jobs; nothing if no log holds a time."""
    hours, waiting = overall["io_task_hours"], overall["waiting_task_hours"]
    if not hours:
        return ""
    nodes, known = overall["io_node_hours"], overall["jobs_of_known_nodes"]
    of_nodes = (
        f"; {task_time(3600 * nodes, 'node')} of the {count(known, 'job')} whose nodes are known" if known else ""
    )
    return (
        f" I/O took {task_time(3600 * hours)}, {share(waiting / hours)} of it waiting and exchange between "
        f"tasks{of_nodes}."
    )


def _sums(overall: Mapping[str, Any]) -> Iterator[Table]:
    """Yield what I/O cost by program and by user, where there are several."""
    for title in ("program", "user"):
        rows = [tuple(row.values()) for row in overall[f"by_{title}"]]
        if len(rows) > 1:
            yield table(
                f"Cost of I/O by {title}, most expensive first",
                rows[:_MOST_JOBS],
                {
                    capital(title): lambda row: "unknown" if row[0] is None else _shortened(row[0]),
                    "Jobs": lambda row: row[1],
                    Column("In I/O", "task-hours", 3): lambda row: row[2],
                },
            )


def _healths(healths: Sequence[Health]) -> Iterator[Table]:
    """Yield the joint result for OSTs, and for nodes, if any can be separated from others."""
    for kind, name in (("ost", "OST"), ("node", "Node")):
        alike = [each for each in healths if each.part.kind == kind]
        place: dict[str | Column, Callable[[Health], Any]] = {}
        if kind == "ost":
            place = {"File system": lambda each: each.part.file_system}
        if alike:
            yield table(
                f"{name}s from all jobs together, most suspicious {min(len(alike), _MOST_JOBS)} of {len(alike):,}",
                alike[:_MOST_JOBS],
                {
                    **place,
                    name: lambda each: each.part.name,
                    "Way": lambda each: each.part.way,
                    "Jobs": lambda each: each.jobs,
                    "Slow in": lambda each: each.slow_jobs,
                    Column("Times slower", "", 2): lambda each: each.factor,
                    "Slow": lambda each: "yes" if each.slow else each.verdict,
                },
            )


def _jobs(jobs: Sequence[Mapping[str, Any]]) -> Table:
    """Return the most expensive jobs as a table; those below one task-minute only if there are no others."""
    dear = [job for job in jobs if 60 * job["io_task_hours"] >= 1] or jobs
    cut = f", the first {_MOST_JOBS} of {len(dear):,}" if len(dear) > _MOST_JOBS else ""
    rest = f"; {len(jobs) - len(dear):,} others cost less than a task-minute each" if len(dear) < len(jobs) else ""
    return table(
        f"Jobs, most expensive first{cut}{rest}",
        dear[:_MOST_JOBS],
        {
            "Log": lambda job: _shortened(job["log"] or "").rpartition("/")[2],
            "Program": lambda job: _shortened(job["executable"] or "").rpartition("/")[2],
            "Tasks": lambda job: job["tasks"],
            Column("Run time", "s", 0): lambda job: job["run_time_s"],
            Column("In I/O", "task-hours", 3): lambda job: job["io_task_hours"],
            Column("Of nodes", "node-hours", 3): lambda job: job["io_node_hours"],
            "Share of the run": lambda job: "" if job["io_share"] is None else share(job["io_share"]),
            "Waiting": lambda job: share(job["waiting_share"]),
            Column("Read", "MB", 1): lambda job: job["bytes_read"] / 1e6,
            Column("Written", "MB", 1): lambda job: job["bytes_written"] / 1e6,
            "Findings": lambda job: job["findings"],
        },
    )
