"""Darshan logs in numbers: one job as in the head of a report, many jobs as one row each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hopperkit.iologs.cost import cost_of
from hopperkit.iologs.darshan_log import SIZE_BINS, DarshanLog, Traffic
from hopperkit.iologs.ost_rates import judge_osts
from hopperlib.finding import LEVELS, Finding

_SUMMED = ("bytes_read", "bytes_written", "read_calls", "write_calls")


def summary(log: DarshanLog) -> dict[str, Any]:
    """Return the job in numbers: bytes, rates, access sizes, shared and unique files, stripe settings, OSTs.

    Parameters
    ----------
    log : DarshanLog
        Darshan log of the job.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> summary(log)["tasks"], summary(log)["bytes_written"]
    (4, 0)
    """
    shared = sum(file.shared for file in log.files)
    result: dict[str, Any] = {name: getattr(log, name) for name in ("executable", "job_id", "tasks", "run_time_s")}
    result |= {name: list(getattr(log, name)) for name in ("modules", "notes", "missing")}
    result |= {"interfaces": log.totals, "mounts": _mounts(log)}
    result |= {"files": len(log.files), "shared_files": shared, "unique_files": len(log.files) - shared}
    sizes = {}
    for direction, past in (("read", "read"), ("write", "written")):
        traffic = [file.moved(direction) for file in log.files]
        moved, seconds = sum(each.moved_bytes for each in traffic), passed_s(traffic)
        result[f"bytes_{past}"] = moved
        result[f"{direction}_calls"] = sum(each.calls for each in traffic)
        result[f"{direction}_rate_mb_s"] = round(moved / seconds / 1e6, 3) if seconds else None
        result[f"ost_{direction}_rates"] = [rate.to_dict() for rate in judge_osts(log, direction).rates]
        sizes[direction] = _access_sizes(traffic)
    return result | {"cost": cost_of(log).to_dict(), "access_sizes": sizes, "stripe_settings": _stripe_settings(log)}


def _access_sizes(traffic: Sequence[Traffic]) -> dict[str, int]:
    """Return the number of calls in each size bin; empty bins are omitted."""
    counts = [sum(bin_) for bin_ in zip(*(each.sizes for each in traffic if each.sizes), strict=True)]
    return {name: count for (name, _), count in zip(SIZE_BINS, counts, strict=False) if count}


def _stripe_settings(log: DarshanLog) -> list[dict[str, Any]]:
    """Return the layouts of the files, the most common first."""
    layouts = Counter((file.layout.stripe_count, file.layout.stripe_size_bytes) for file in log.files if file.layout)
    ordered = sorted(layouts.items(), key=lambda item: (-item[1], item[0][0]))
    return [{"stripe_count": count, "stripe_size_bytes": size, "files": files} for (count, size), files in ordered]


def passed_s(traffic: Sequence[Traffic]) -> float:
    """Return the time from the first call of any task to the end of the last; 0 where a file has no span. [s]

    Parameters
    ----------
    traffic : sequence of Traffic
        Data moved, by file or interface.

    Examples
    --------
    >>> passed_s([Traffic(10, 1, 2.0, (1.0, 3.0), ()), Traffic(10, 1, 2.0, (4.0, 6.0), ())])
    5.0
    """
    # One file whose times disagree may have been the first or the last: then no rate is better than a wrong one.
    spans = [each.span_s for each in traffic if each.moved_bytes]
    known = [span for span in spans if span]
    whole = known and len(known) == len(spans)
    return max(end for _, end in known) - min(start for start, _ in known) if whole else 0.0


def _mounts(log: DarshanLog) -> list[dict[str, Any]]:
    """Return the file systems that were used, most used first."""
    used: dict[tuple[str, str], list[int]] = defaultdict(list)
    for file in log.files:
        if file.bytes_moved and (mount := log.mount_of(file.path)):
            used[mount].append(file.bytes_moved)
    parts = ((mount, kind, len(moved), sum(moved)) for (mount, kind), moved in used.items())
    rows = [dict(zip(("mount", "kind", "files", "bytes"), each, strict=True)) for each in parts]
    return sorted(rows, key=lambda row: -row["bytes"])


def job_row(path: str, log: DarshanLog, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return a job as one row of a table: its numbers, its worst level, its findings by name.

    Parameters
    ----------
    path : str
        Path of the value or file.
    log : DarshanLog
        The Darshan log.
    findings : sequence of Finding
        The findings.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=7, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> row = job_row("a.darshan", log, [Finding(code="stdio", message="Much.")])
    >>> row["worst"], row["findings"], row["bytes_read"]
    ('advice', 'stdio', 0)
    """
    raised = [finding for finding in findings if finding.level != "ok"]
    numbers = summary(log)
    row = {
        "log": path,
        **{name: numbers[name] for name in ("executable", "job_id", "tasks", "run_time_s", "files", *_SUMMED)},
    }
    row["metadata_s"] = round(sum(file.meta_s for file in log.files), 6)
    row["worst"] = min((finding.level for finding in raised), key=LEVELS.index, default="ok")
    row["problems"] = sum(finding.level in ("problem", "advice") for finding in raised)
    # Unknowns are not findings.
    known = [finding for finding in raised if finding.level != "unknown"]
    row["findings"] = " ".join(dict.fromkeys(finding.code for finding in known))
    row["slow_ost"] = _says_of_osts(raised, log)
    row |= cost_of(log).to_dict()
    row["user"] = log.user
    row["file_system"] = numbers["mounts"][0]["mount"] if numbers["mounts"] else None
    return row | {"messages": {finding.code: (finding.level, finding.message) for finding in reversed(raised)}}


def _says_of_osts(raised: Sequence[Finding], log: DarshanLog) -> str | None:
    """Return whether an OST is slow: yes, no, unknown; None if the log names no OSTs."""
    levels = [finding.level for finding in raised if finding.code == "slow-ost"]
    if not any(file.layout for file in log.files):
        return None
    return "no" if not levels else "cannot tell" if levels == ["unknown"] else "yes"


def cost_sums(jobs: Iterable[Mapping[str, Any]], key: str) -> list[dict[str, Any]]:
    """Return I/O cost by program, user or file system, highest first.

    Parameters
    ----------
    jobs : Iterable[Mapping[str, Any]]
        Summaries of the jobs.
    key : str
        Key of the groups.

    Examples
    --------
    >>> jobs = [{"user": 7, "io_task_hours": 1.5}, {"user": 8, "io_task_hours": 4.0}, {"user": 7, "io_task_hours": 1.0}]
    >>> cost_sums(jobs, "user")
    [{'user': 8, 'jobs': 1, 'io_task_hours': 4.0}, {'user': 7, 'jobs': 2, 'io_task_hours': 2.5}]
    """
    hours: dict[Any, list[float]] = defaultdict(list)
    for job in jobs:
        hours[job[key]].append(job["io_task_hours"])
    rows = [{key: name, "jobs": len(each), "io_task_hours": round(sum(each), 6)} for name, each in hours.items()]
    return sorted(rows, key=lambda row: (-row["io_task_hours"], str(row[key])))


def overall(jobs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return statistics of many jobs: sums, and for each finding the number of jobs and one of the worst.

    Parameters
    ----------
    jobs : Iterable[Mapping[str, Any]]
        Summaries of the jobs.

    Examples
    --------
    >>> overall([])["jobs"]
    0
    """
    jobs = list(jobs)
    hours = ("io_task_hours", "io_node_hours", "waiting_task_hours")
    return {
        "jobs": len(jobs),
        "jobs_to_mend": sum(job["problems"] > 0 for job in jobs),
        **{name: sum(job[name] for job in jobs) for name in _SUMMED},
        **{name: round(sum(job[name] or 0.0 for job in jobs), 6) for name in hours},
        "jobs_of_known_nodes": sum(job["nodes"] is not None for job in jobs),
        "by_program": cost_sums(jobs, "executable"),
        "by_user": cost_sums(jobs, "user"),
        "findings": _common_findings(jobs),
    }


def _common_findings(jobs: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return for each finding how many jobs have it, and one of the worst; the worst and commonest first."""
    codes: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for job in jobs:
        for code, counts in job["messages"].items():
            codes[code].append(counts)
    found: list[tuple[str, dict[str, Any]]] = []
    for code, counts in codes.items():
        level, message = min(counts, key=lambda pair: LEVELS.index(pair[0]))
        # Logs that cannot show it are not counted with those that do.
        alike = sum((each == "unknown") == (level == "unknown") for each, _ in counts)
        found.append((code, {"jobs": alike, "level": level, "message": message}))
    return dict(sorted(found, key=lambda pair: (LEVELS.index(pair[1]["level"]), -pair[1]["jobs"])))
