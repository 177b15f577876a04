"""Tasks that move much more, or take much longer, than the others: one writer, imbalance, one slow task."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hopperkit.iologs._judging import access
from hopperkit.iologs._judging.access import WORTH_BYTES
from hopperkit.iologs._judging.site import Site, commands_of
from hopperkit.iologs._judging.stakes import staked
from hopperkit.iologs.cost import slowest_s, time_s, waiting_by_path
from hopperkit.iologs.darshan_log import FileRecord
from hopperlib.finding import Finding
from hopperlib.text import digits, share, size

_NEARLY_ALL = 0.9
# Bytes that other tasks move next to one writer, such as headers and logs.
_NEXT_TO_NOTHING = 0.01
# The slowest, or the fullest, task over the mean.
_UNEVEN = 2.0
# Share of a run that justifies changing a program, and excess of a task over the mean relative to its time.
_WORTH_TIME = 0.02
# A task that spends longer in calls than the run lasts has overlapping threads, or a wrong clock.
_CLOCKS = 1.05


def judge(site: Site, explained: set[str]) -> Iterator[Finding]:
    """Yield the imbalance that explains most: data first, then time; files with another cause are left out."""
    files = tuple(file for file in site.log.files if file.path not in explained)
    site = site._replace(log=replace(site.log, files=files))
    for subject in (_one_writer, _imbalance, _uneven_time):
        if findings := list(subject(site)):
            yield from findings
            return


def _one_writer(site: Site) -> Iterator[Finding]:
    """One task that writes all, or all but headers and logs."""
    log = site.log
    total = sum(file.bytes_written for file in log.files)
    if (log.tasks or 1) < 2 or total < WORTH_BYTES:
        return
    by_task = _bytes_by_writer(log.files)
    task, most = max(by_task.items(), key=lambda item: item[1], default=(None, 0))
    if most < _NEARLY_ALL * total or _others_write(site, total - most):
        return
    better = site.striping([file for file in log.files if file.bytes_written], "shared", total)
    commands = f": {commands_of(site, better)}" if better else "."
    largest = max(log.files, key=lambda file: file.bytes_written)
    part, who = round(most / total, 4), "One task" if task is None else f"Task {task}"
    advice = f"Write in parallel, through MPI-IO or parallel HDF5 into one file{commands}"
    # With collective writes, the program does write in parallel: MPI-IO has only one aggregator.
    if collective := access.mpi_calls(log, "write", largest.path).collective:
        who += f", the only aggregator of {collective:,} collective writes,"
        advice = f"MPI-IO uses as many aggregators as the file has stripes: increase their number{commands}"
    yield Finding(
        "one-writer",
        f"{who} writes {share(part)} of the {size(total)}; the other {(log.tasks or 2) - 1:,} wait.",
        evidence={"task": task, "share": part, "bytes": total, "tasks": log.tasks} | _cost_of_one_writer(site),
        advice=advice,
    )


def _others_write(site: Site, rest: float) -> bool:
    """Whether each other task writes its part of a file that one task mostly writes, and more than headers."""
    log, tasks = site.log, site.log.tasks or 1
    if any(file.idlest_bytes for file in log.files if file.busiest_bytes and not access.gathered(log, file)):
        return True
    writers = {task for file in log.files for task in file.written_by}
    total = sum(file.bytes_written for file in log.files)
    return len(writers) >= tasks > 1 and rest >= _NEXT_TO_NOTHING * total


def _cost_of_one_writer(site: Site) -> dict[str, Any]:
    """Return the cost of a single writer: its time, and that of all tasks that wait for it."""
    log = site.log
    files = [file for file in log.files if file.bytes_written]
    seconds, slowest = sum(time_s(file, "write") for file in files), slowest_s(files, "write")
    others = slowest * ((log.tasks or 1) - 1)
    # If they write through MPI-IO, the log includes their waiting time.
    waited = sum(waiting_by_path(log).values())
    saved = min(others, waited) if waited else others
    tasks = log.tasks or 1
    return staked(
        seconds + saved,
        slowest=slowest,
        won=saved,
        because="if all other tasks wait for this one",
        expected=min(saved, slowest * (1 - 1 / tasks) * tasks),
        change="each task writes its part: MPI_File_write_at_all in place of MPI_Gather and write",
    )


def _bytes_by_writer(files: tuple[FileRecord, ...]) -> Counter[int | None]:
    """Bytes written by each task; the key None stands for tasks with unknown ranks."""
    by_task: Counter[int | None] = Counter()
    for file in files:
        by_task.update(file.written_by)
        rest = file.bytes_written - sum(file.written_by.values())
        # A record of all tasks together has only the bytes of its slowest and fastest task.
        if rest > 0 and file.busiest_bytes and file.busiest_bytes >= _NEARLY_ALL * rest:
            by_task[None] += rest
    return by_task


def _imbalance(site: Site) -> Iterator[Finding]:
    """A task that moves at least twice the mean and takes longer: in single-task files, or in a shared one."""
    tasks = site.log.tasks or 1
    if tasks < 2:
        return
    worth_s = _WORTH_TIME * (site.log.run_time_s or 0.0)
    most_s = _CLOCKS * (site.log.run_time_s or math.inf)
    found = [each for each in (*_of_own_files(site), *_of_shared_files(site)) if worth_s <= each[3] - each[4] <= most_s]
    if not found:
        return
    task, most, mean, slowest, usual, where = max(found, key=lambda each: each[3] - each[4])
    who = "One task" if task is None else f"Task {task}"
    lost = (slowest - usual) * tasks
    change = "assign the same number of records to each task, or write through collective MPI-IO"
    yield Finding(
        "imbalance",
        f"{who} moves {size(most)}, {digits(most / mean, 3)} times the mean of {tasks:,} tasks, in {where}, and spends "
        f"{digits(slowest, 3)} s in I/O calls, compared with a mean of {digits(usual, 3)} s: the others wait.",
        evidence={
            "task": task,
            "bytes": round(most),
            "mean_bytes": round(mean),
            "slowest_s": round(slowest, 3),
            "mean_s": round(usual, 3),
            "tasks": tasks,
        }
        | staked(
            lost,
            slowest=slowest - usual,
            won=lost,
            because="if all wait for that task, and its data are distributed evenly",
            expected=lost,
            change=change,
        ),
        advice=f"{change[0].upper()}{change[1:]}.",
    )


_Uneven = tuple[int | None, float, float, float, float, str]


def _of_own_files(site: Site) -> Iterator[_Uneven]:
    """Yield the task that moves most in single-task files, if it is an outlier in bytes and time."""
    log, tasks = site.log, site.log.tasks or 1
    moved, seconds = log.task_bytes, log.task_s
    if not any(moved.values()):
        return
    task = max(moved, key=moved.__getitem__)
    mean, usual = sum(moved.values()) / tasks, sum(seconds.values()) / tasks
    if moved[task] >= _UNEVEN * mean and seconds.get(task, 0.0) >= _UNEVEN * usual:
        yield task, moved[task], mean, seconds[task], usual, "files that only it opens"


def _of_shared_files(site: Site) -> Iterator[_Uneven]:
    """Yield shared files whose slowest or fastest task moves more than twice the mean and whose slowest task is an
    outlier.
    """
    for file in site.log.files:
        if file.tasks < 2 or not file.busiest_bytes or access.gathered(site.log, file):
            continue
        mean, usual = file.bytes_moved / file.tasks, file.busy_s / file.tasks
        if file.busiest_bytes >= _UNEVEN * mean and file.slowest_s >= _UNEVEN * usual:
            yield file.slowest_task, file.busiest_bytes, mean, file.slowest_s, usual, file.path


def _uneven_time(site: Site) -> Iterator[Finding]:
    """One task that takes much longer than the others without twice their data."""
    log = site.log
    shared = [file for file in log.files if file.tasks > 1 and file.slowest_s and not access.gathered(log, file)]
    found = [(file.slowest_s, file.busy_s / file.tasks, file.tasks, file.path, file.slowest_task) for file in shared]
    tasks = log.tasks or 1
    if len(log.task_s) >= _UNEVEN and tasks > 1:
        longest = max(log.task_s, key=log.task_s.__getitem__)
        usual = sum(log.task_s.values()) / tasks
        found.append((log.task_s[longest], usual, tasks, "files that only one task opens", longest))
    worst = max(found, key=lambda each: (each[0] - each[1]) * each[2], default=None)
    if worst is None or not log.run_time_s:
        return
    slowest, mean, of, where, task = worst
    if slowest < _UNEVEN * mean or not _WORTH_TIME * log.run_time_s <= slowest - mean <= _CLOCKS * log.run_time_s:
        return
    slowest, mean = round(slowest, 3), round(mean, 3)
    who = "The slowest task" if task is None or task < 0 else f"The slowest task, {task},"
    yield Finding(
        "uneven-time",
        f"{who} spends {digits(slowest, 3)} s in {where}, the mean of {of:,} tasks is {digits(mean, 3)} s; it does not "
        "move twice the data of the others.",
        evidence={"slowest_s": slowest, "mean_s": mean, "tasks": of, "file": where, "task": task}
        | staked(
            (slowest - mean) * of,
            slowest=slowest - mean,
            won=(slowest - mean) * of,
            because="if all wait for the slowest task, and it becomes as fast as the mean",
        ),
        advice="Examine that task first: its node, the OST of its file, calls that only it makes (fsync, O_SYNC). Otherwise, distribute the data evenly, or let a few tasks write for all (collective buffering).",
    )
