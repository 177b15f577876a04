"""What a Darshan log says is wrong, each with its number, what to do and the command that does it.

Findings are judged from counters of the job alone. What a log cannot tell is
said as ``unknown``, and never as healthy.
"""

from __future__ import annotations

import posixpath
import shlex
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from hopperlib.finding import Finding, Level, worst_first
from hopperlib.machine import FileSystem, Machine
from hopperlib.storage.iobuf.params import suited_rule, write_params
from hopperlib.storage.logs._darshan_patterns import WAYS, mpi_calls, patterns, size_text, small_calls
from hopperlib.storage.logs.darshan_log import DarshanLog, FileRecord
from hopperlib.storage.logs.ost_rates import SlowOst, Verdict, judge_osts
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.storage.lustre.stripe_advice import Advice, advise
from hopperlib.units import BYTES_PER_MIB

__all__ = ["SEVERITIES", "finding_data", "findings", "system_of_log"]

# The words for levels in reports on logs, which are read by programs.
SEVERITIES: dict[Level, str] = {
    "problem": "fail",
    "advice": "warn",
    "note": "info",
    "unknown": "unknown",
    "ok": "ok",
}

# From these on it is worth a word, and a warning.
_FEW_CALLS, _MANY_CALLS = 1_000, 10_000
_SHARE = 0.1
_NEARLY_ALL = 0.9
_MOST = 0.5
_WORTH_BYTES = 100_000_000
_FAIL_FACTOR = 10.0
# What takes less of a run than this is told, but no reason to change anything.
_BRIEF = 0.01
# What an OST gives at least, where a log does not show it.
_OST_GB_S = 0.5
_UNKNOWN_CAPACITY_PB = 10_000.0
_OF_LOG = "log"
_COUNT_THEM = ". The log names some of the OSTs only: lfs df counts them, and hopper stripe --lfs-df judges by them"


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as reports on logs give it to programs: all parts, with a severity for its level.

    Examples
    --------
    >>> finding_data(Finding(code="one-ost", message="All data lie on one OST.", level="advice"))
    {'code': 'one-ost', 'severity': 'warn', 'message': 'All data lie on one OST.', 'evidence': {}, 'advice': ''}
    """
    return {
        "code": finding.code,
        "severity": SEVERITIES[finding.level],
        "message": finding.message,
        "evidence": dict(finding.evidence),
        "advice": finding.advice,
    }


def findings(log: DarshanLog, machine: Machine | None = None) -> tuple[Finding, ...]:
    """Return what the log shows, worst first.

    Parameters
    ----------
    log : DarshanLog
    machine : Machine or None
        Whose file system the advice on striping is for; None for the one in the log.

    Raises
    ------
    ValueError
        If the machine states no file system.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> [(finding.code, finding.level) for finding in findings(log)]
    [('no-records', 'unknown')]
    """
    system = system_of_log(log) if machine is None else file_system_of(machine)
    site = _Site(log, system, machine.node().cores if machine else 1)
    return worst_first(
        [
            *_slow_osts(log),
            *_one_ost(site),
            *_one_writer(site),
            *(finding for way in WAYS for finding in _small(site, way)),
            *_misaligned(site),
            *_wide_files(log),
            *patterns(log),
        ]
    )


def system_of_log(log: DarshanLog) -> FileSystem | None:
    """Return the Lustre file system that a log shows: its OSTs, what one of them gave, what files have; None if it shows none.

    What a node passes on is in no log: here it is no limit.

    Examples
    --------
    >>> from hopperlib.storage.logs.darshan_log import StripeLayout
    >>> file = FileRecord(path="/a", layout=StripeLayout(stripe_count=2, stripe_size_bytes=1 << 20, osts=(7, 11)))
    >>> log = DarshanLog(executable=None, job_id=1, tasks=4, run_time_s=9.0, modules=(), files=(file,), osts=48)
    >>> system_of_log(log).osts, system_of_log(log).default_stripe_count
    (48, 2)
    """
    layouts = Counter(file.layout for file in log.files if file.layout)
    if not layouts:
        return None
    known = [ost for file in log.files for ost in file.osts]
    usual = layouts.most_common(1)[0][0]
    osts = log.osts or max([*known, usual.stripe_count - 1]) + 1
    rates = [rate.delivered_mb_s or rate.rate_mb_s for way in WAYS for rate in judge_osts(log, way).rates]
    peak = osts * max([rate / 1000 for rate in rates], default=_OST_GB_S)
    return FileSystem(
        name=_OF_LOG,
        kind="lustre",
        osts=osts,
        osts_per_oss=1,
        peak_gb_s=peak,
        capacity_pb=_UNKNOWN_CAPACITY_PB,
        default_stripe_count=min(usual.stripe_count, osts),
        default_stripe_size_bytes=usual.stripe_size_bytes or BYTES_PER_MIB,
        max_stripe_count=min(osts, 2000),
        node_write_ceiling_gb_s=peak,
    )


class _Site(NamedTuple):
    """A log, and the file system that advice is for, if one is known."""

    log: DarshanLog
    system: FileSystem | None
    cores: int

    def striping(self, files: Sequence[FileRecord], pattern: str, size_bytes: int) -> Advice | None:
        """Return the striping that suits these files here; None where nothing is striped."""
        if self.system is None:
            return None
        tasks = self.log.tasks or max((file.tasks for file in files), default=1)
        folder = _folder(files)
        better = advise(max(size_bytes, 1), tasks, pattern, self.system, cores_per_node=self.cores, directory=folder)
        if not self.some_osts:
            return better
        # -1 would mean all OSTs, of which the log names some.
        layout = replace(better.layout, osts=better.layout.osts + 1)
        return replace(better, commands=(layout.lfs_command(folder),))

    @property
    def some_osts(self) -> bool:
        """Whether the log names the OSTs of its files and does not count those of the file system."""
        return self.system is not None and self.system.name == _OF_LOG and not self.log.osts


def _folder(files: Sequence[FileRecord]) -> str:
    """Return the folder that holds most of the files, quoted for a shell; a word in capitals if none is known."""
    folders = Counter(posixpath.dirname(file.path) for file in files if file.path.startswith("/"))
    return shlex.quote(folders.most_common(1)[0][0]) if folders else "DIRECTORY"


def _several(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _slow_osts(log: DarshanLog) -> list[Finding]:
    """Judge OSTs by both directions; without the OSTs of any file there is nothing to say."""
    if "LUSTRE" not in log.modules and not any(file.layout for file in log.files):
        return []
    verdicts = [judge_osts(log, direction) for direction in ("write", "read")]
    found = [_slow_ost(log, verdict, slow) for verdict in verdicts for slow in verdict.slow]
    if found or any(not verdict.unknown for verdict in verdicts):
        return found
    moved = {way: sum(file.moved(way).moved_bytes for file in log.files) for way in ("write", "read")}
    verdict = max(verdicts, key=lambda verdict: moved[verdict.direction])
    return [
        Finding(
            code="slow-ost",
            level="unknown",
            message=f"Cannot tell whether an OST is slow: {verdict.unknown}.",
            evidence={
                "direction": verdict.direction,
                "files": sum(file.layout is not None for file in log.files),
                "osts": len({ost for file in log.files for ost in file.osts}),
                "bytes": moved[verdict.direction],
            },
            advice="To find out, write one file to each OST and time it: "
            "for i in $(seq 0 N); do lfs setstripe -c 1 -i $i probe.$i; "
            "dd if=/dev/zero of=probe.$i bs=4M count=256 conv=fsync; done",
        )
    ]


def _slow_ost(log: DarshanLog, verdict: Verdict, slow: SlowOst) -> Finding:
    """Say that one OST, or one of a few, is slow."""
    rate, direction = slow.rate, verdict.direction
    first = rate.osts[0]
    name = (
        f"OST {first} (OST{first:04x})" if len(rate.osts) == 1 else f"One of the OSTs {', '.join(map(str, rate.osts))}"
    )
    folder = _folder([file for file in log.files if set(file.osts) & set(rate.osts)])
    others = [other.rate_mb_s for other in verdict.rates if other.osts != rate.osts]
    return Finding(
        code="slow-ost",
        level="problem" if slow.factor >= _FAIL_FACTOR and rate.files > 1 else "advice",
        message=f"{name} is {slow.factor:.1f} times slower than the others: a task {direction}s to it at "
        f"{rate.rate_mb_s:.3g} MB/s, usual are {slow.reference_mb_s:.3g} MB/s "
        f"({_several(rate.files, 'file')}, {size_text(rate.moved_bytes)}).",
        evidence={
            "ost": first,
            "osts": list(rate.osts),
            "factor": round(slow.factor, 2),
            "direction": direction,
            "rate_mb_s": round(rate.rate_mb_s, 4),
            "usual_rate_mb_s": round(slow.reference_mb_s, 4),
            "slowest_other_mb_s": round(min(others), 4) if others else None,
            "files": rate.files,
            "bytes": round(rate.moved_bytes),
            "osts_compared": len(verdict.rates),
        },
        advice=f"Report it to those who run the file system, with these numbers. What lies on it: "
        f"lfs find {folder} --ost {first}. Move what you need: lfs migrate -c 1 -i OTHER_OST FILE. "
        "Until it is mended, start new files elsewhere: lfs setstripe -c 1 -i OTHER_OST FILE",
    )


def _do(site: _Site, advice: Advice) -> str:
    """Return the commands of an advice on striping."""
    commands = "; ".join((*advice.commands, *([advice.hints_line] if advice.hints_line else [])))
    return commands + _COUNT_THEM * site.some_osts


def _gathering(site: _Site, file: FileRecord, way: str) -> str:
    """Return what lets a few tasks do the accesses of all to one file; if they do so already, what to look at."""
    calls = mpi_calls(site.log, way, file.path)
    if calls.collective > calls.independent:
        return (
            f"The log has {calls.collective:,} collective {way}s of this file already: see that they are gathered "
            f"(romio_cb_{way}=enable) and that cb_buffer_size is a multiple of the stripe size"
        )
    if way == "read" and not sum(calls) and mpi_calls(site.log, "write", file.path).collective:
        return (
            "The program reads nothing of this file: MPI-IO reads before it writes pieces with holes (data sieving). "
            "export MPICH_MPIIO_HINTS='*:romio_ds_write=disable'"
        )
    if way == "write":
        better = site.striping([file], "shared", file.bytes_written)
        line = (better.hints_line if better else None) or "export MPICH_MPIIO_HINTS='*:romio_cb_write=enable'"
    else:
        # The stripes of a file that is there are as they are: one reader for each.
        stripes = file.layout.stripe_count if file.layout else 0
        nodes = f":cb_nodes={min(stripes, site.log.tasks or stripes)}" if stripes else ""
        line = f"export MPICH_MPIIO_HINTS='*:romio_cb_read=enable{nodes}'"
    return f"Let MPI-IO gather them (collective buffering): {line}"


def _one_ost(site: _Site) -> list[Finding]:
    """All data of several tasks on one OST."""
    log = site.log
    moved: dict[int, float] = defaultdict(float)
    placed = [file for file in log.files if file.osts and file.bytes_moved]
    for file in placed:
        for ost in file.osts:
            moved[ost] += file.bytes_moved / len(file.osts)
    total = sum(moved.values())
    if (log.tasks or 1) < 2 or total < _WORTH_BYTES:
        return []
    ost = max(moved, key=lambda ost: moved[ost])
    share = moved[ost] / total
    if share < _NEARLY_ALL:
        return []
    here = [file for file in placed if ost in file.osts]
    largest = max(here, key=lambda file: file.bytes_moved)
    pattern = "shared" if largest.shared else "file-per-process" if len(here) > 1 else "one-writer"
    better = site.striping(here, pattern, round(total))
    if better is None:
        return []
    count = better.layout.stripe_count
    if count == 1 and pattern == "one-writer":
        return []
    seconds = largest.read_s + largest.write_s
    brief = log.run_time_s is not None and seconds < _BRIEF * log.run_time_s
    return [
        Finding(
            code="one-ost",
            level="note" if brief else "advice",
            message=f"OST {ost} holds {share:.0%} of what {log.tasks:,} tasks move "
            f"({size_text(total)} in {_several(len(here), 'file')}): one OST does all the work"
            f"{f', for {seconds:.3g} s of {log.run_time_s:,.0f} s' if log.run_time_s else ''}.",
            evidence={
                "ost": ost,
                "share": round(share, 4),
                "bytes": round(total),
                "files": len(here),
                "tasks": log.tasks,
                "seconds": round(seconds, 3),
                "stripe_count": largest.layout.stripe_count if largest.layout else None,
                "recommended_stripe_count": count,
            },
            advice=(
                f"Before the files are made: {_do(site, better)}"
                if count > 1
                else f"Let Lustre choose where files begin (-i -1), so that they spread: {_do(site, better)}"
            ),
        )
    ]


def _one_writer(site: _Site) -> list[Finding]:
    """One task that writes nearly all."""
    log = site.log
    total = sum(file.bytes_written for file in log.files)
    if (log.tasks or 1) < 2 or total < _WORTH_BYTES:
        return []
    by_task: Counter[int | None] = Counter()
    for file in log.files:
        by_task.update(file.written_by)
        rest = file.bytes_written - sum(file.written_by.values())
        # In a record of all tasks together only the bytes of its slowest and fastest task are told, not which it was.
        if rest > 0 and file.busiest_bytes and file.busiest_bytes >= _NEARLY_ALL * rest:
            by_task[None] += rest
    task, most = max(by_task.items(), key=lambda item: item[1], default=(None, 0))
    if most < _NEARLY_ALL * total:
        return []
    better = site.striping([file for file in log.files if file.bytes_written], "shared", total)
    who = f"Task {task}" if task is not None else "One task"
    what = "Write in parallel, through MPI-IO or parallel HDF5 into one file"
    largest = max(log.files, key=lambda file: file.bytes_written)
    if collective := mpi_calls(log, "write", largest.path).collective:
        # The program does write in parallel: it is MPI-IO that has one aggregator.
        who = f"{who}, the only aggregator of {collective:,} collective writes,"
        what = "MPI-IO takes as many aggregators as the file has stripes: give it more"
    return [
        Finding(
            code="one-writer",
            message=f"{who} writes {most / total:.0%} of the {size_text(total)}; the other {(log.tasks or 2) - 1:,} wait.",
            evidence={"task": task, "share": round(most / total, 4), "bytes": total, "tasks": log.tasks},
            advice=f"{what}: {_do(site, better)}" if better else f"{what}.",
        )
    ]


def _small(site: _Site, direction: str) -> list[Finding]:
    """Many accesses below a mebibyte: Lustre moves data in pieces of that size."""
    sized = [file for file in site.log.files if file.moved(direction).sizes]
    counts = [small_calls(file, direction) for file in sized]
    small = sum(counts)
    calls = sum(file.moved(direction).calls for file in sized)
    moved = sum(file.moved(direction).moved_bytes for file in sized)
    if small < _FEW_CALLS or small < _SHARE * calls:
        return []
    worst = sized[counts.index(max(counts))]
    if worst.shared:
        what = _gathering(site, worst, direction)
    else:
        ending = posixpath.splitext(worst.path)[1]
        rule = suited_rule(f"*{ending}" if ending.isascii() and ending[1:].isalnum() else "*")
        what = (
            f"Buffer them. On a Cray: module load iobuf before linking, then export IOBUF_PARAMS='{write_params([rule])}'; "
            "elsewhere setvbuf, or larger blocks in the program"
        )
    mean = f", {size_text(moved / calls)} a call on average" if calls else ""
    share = small / max(calls, 1)
    return [
        Finding(
            code=f"small-{direction}s",
            level="advice" if small >= _MANY_CALLS else "note",
            message=f"{small:,} of {calls:,} {direction} calls ({share:.0%}) are below 1 MiB{mean}; "
            f"most are in {worst.path}.",
            evidence={
                "small_calls": small,
                "calls": calls,
                "share": round(share, 4),
                "bytes": moved,
                "mean_bytes": round(moved / calls) if calls else None,
                "files": sum(count > 0 for count in counts),
                "file": worst.path,
                "shared": worst.shared,
            },
            advice=what,
        )
    ]


def _misaligned(site: _Site) -> list[Finding]:
    """Accesses to shared files that do not start at a boundary of the file system."""
    log = site.log
    shared = [file for file in log.files if file.shared and file.unaligned and file.interface == "POSIX"]
    calls = sum(file.reads + file.writes for file in shared)
    unaligned = sum(file.unaligned for file in shared)
    if unaligned < _FEW_CALLS or unaligned < _SHARE * calls:
        return []
    worst = max(shared, key=lambda file: file.unaligned)
    stripe = worst.layout.stripe_size_bytes if worst.layout else None
    # Darshan counts by what the file system calls its block, which need not be the stripe.
    boundary = worst.alignment_bytes or stripe or BYTES_PER_MIB
    # Reading tasks share a lock; those that write into one stripe hand it back and forth.
    contended = stripe is not None and worst.writes > 0
    why = ": tasks contend for the locks of stripes they share" if contended else ""
    share = unaligned / max(calls, 1)
    return [
        Finding(
            code="misaligned",
            level="advice" if contended else "note",
            message=f"{unaligned:,} of {calls:,} accesses to shared files ({share:.0%}) do not start "
            f"at a multiple of {boundary:,} bytes{why}. Most are in {worst.path}.",
            evidence={
                "unaligned_calls": unaligned,
                "calls": calls,
                "share": round(share, 4),
                "boundary_bytes": boundary,
                "files": len(shared),
                "file": worst.path,
            },
            advice=f"Start each task's part at a multiple of the stripe size; with HDF5: H5Pset_alignment(fapl, 1, "
            f"{max(boundary, stripe or 0)}). {_gathering(site, worst, 'write' if worst.writes else 'read')}",
        )
    ]


def _wide_files(log: DarshanLog) -> list[Finding]:
    """Files of one task each with several stripes, though there are more files than OSTs."""
    own = [file for file in log.files if not file.shared and file.layout and file.bytes_moved]
    wide = [file for file in own if file.layout and file.layout.stripe_count > 1]
    osts = log.osts or max((ost for file in own for ost in file.osts), default=0) + 1
    if len(wide) < osts or len(wide) < _MOST * len(own) or (log.tasks or 1) < 2:
        return []
    objects = sum(file.layout.stripe_count for file in wide if file.layout)
    return [
        Finding(
            code="wide-files",
            level="note",
            message=f"{len(wide):,} files of one task each have several stripes, {objects:,} objects on at least {osts:,} OSTs: "
            "the files alone would spread over them.",
            evidence={"files": len(wide), "objects": objects, "osts": osts},
            advice=f"One stripe each is enough: lfs setstripe -c 1 {_folder(wide)}",
        )
    ]
