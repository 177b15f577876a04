"""What a Darshan log says is wrong, each with its number, what to do and the command that does it.

Findings are judged from counters of the job alone. What a log cannot tell is
said as ``unknown``, and never as healthy.
"""

import posixpath
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from hopperlib.finding import Finding, Level, worst_first
from hopperlib.machine import FileSystem, Machine
from hopperlib.storage.iobuf.params import suited_rule, write_params
from hopperlib.storage.logs import _darshan_patterns as access
from hopperlib.storage.logs.darshan_log import DarshanLog, FileRecord
from hopperlib.storage.logs.ost_rates import SlowOst, Verdict, judge_osts
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.storage.lustre.rates import Estimate, Pace, Writing
from hopperlib.storage.lustre.stripe_advice import Advice, advise
from hopperlib.storage.lustre.striping import Layout
from hopperlib.storage.wording import say
from hopperlib.units import BYTES_PER_MIB, size_text

# The words for levels in reports on logs, which are read by programs.
SEVERITIES: dict[Level, str] = {"problem": "fail", "advice": "warn", "note": "info", "unknown": "unknown", "ok": "ok"}

# From these on it is worth a warning.
_NEARLY_ALL = 0.9
_FAIL_FACTOR = 10.0
# What takes less of a run than this is told, but no reason to change anything.
_BRIEF = 0.01
# What an OST gives at least, where a log does not show it.
_OST_GB_S = 0.5
_NOTE: Level = "note"
_UNKNOWN_CAPACITY_PB = 10_000.0
# Stripe counts to compare that of a log with.
_COUNTS = (1, 2, 4, 8, 16, 32, 64)
_OF_LOG = "log"
_COUNT_THEM = ". The log names some of the OSTs only: lfs df counts them, and hopper stripe --lfs-df judges by them"


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as reports on logs give it to programs: all parts, with a severity for its level.

    Examples
    --------
    >>> finding_data(Finding(code="one-ost", message="All data lie on one OST.", level="advice"))
    {'code': 'one-ost', 'severity': 'warn', 'message': 'All data lie on one OST.', 'evidence': {}, 'advice': ''}
    """
    parts = {"code": finding.code, "severity": SEVERITIES[finding.level], "message": finding.message}
    return parts | {"evidence": dict(finding.evidence), "advice": finding.advice}


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
    small = chain.from_iterable(_small(site, way) for way in access.WAYS)
    own = chain(_slow_osts(log), _one_ost(site), _one_writer(site), small, _misaligned(site), _wide_files(log))
    return worst_first(chain(own, access.patterns(log)))


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
    rates = [rate.delivered_mb_s or rate.rate_mb_s for way in access.WAYS for rate in judge_osts(log, way).rates]
    # Where the OSTs cannot be told apart, each gave its part of what a file got.
    parts = [(file.moved(way), len(file.osts)) for file in log.files for way in access.WAYS if file.osts]
    rates = rates or [moved.moved_bytes / moved.time_s / over / 1e6 for moved, over in parts if moved.time_s]
    peak = osts * (max(rates, default=0.0) / 1000 or _OST_GB_S)
    # What no log tells is set so that it limits nothing: a server for each OST, nodes as fast as all of them.
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


def other_counts(log: DarshanLog) -> dict[int, Estimate]:
    """Return what the job would write with other stripe counts, on the file system in the log; nothing if it shows none.

    It is an upper bound: nodes are no limit, and caches, waiting and other jobs are left out.

    Examples
    --------
    >>> from hopperlib.storage.logs.darshan_log import StripeLayout
    >>> layout = StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(7,))
    >>> file = FileRecord(path="/a", tasks=4, shared=True, bytes_written=10**10, layout=layout)
    >>> log = DarshanLog(executable=None, job_id=1, tasks=4, run_time_s=9.0, modules=(), files=(file,), osts=48)
    >>> [(count, each.limit) for count, each in other_counts(log).items()][3:]
    [(8, 'osts'), (16, 'osts'), (32, 'tasks'), (48, 'tasks')]
    """
    system, written = system_of_log(log), sum(file.bytes_written for file in log.files)
    if system is None or not written:
        return {}
    pattern: Any = "collective" if any(file.shared for file in log.files) else "file-per-process"
    # How many tasks share a node is in no log: each has one of its own.
    writing = Writing(size_bytes=written, writers=log.tasks or 1, nodes=log.tasks or 1, pattern=pattern)
    usual = (system.default_stripe_count, system.default_stripe_size_bytes)
    layout = Layout(stripe_count=usual[0], stripe_size_bytes=usual[1], osts=system.osts)
    return Pace(writing, system).curve(layout, _COUNTS)


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


def _slow_osts(log: DarshanLog) -> Iterator[Finding]:
    """Judge OSTs by both directions; without the OSTs of any file there is nothing to say."""
    if "LUSTRE" not in log.modules and not any(file.layout for file in log.files):
        return
    verdicts = [judge_osts(log, direction) for direction in ("write", "read")]
    slow_osts = [_slow_ost(log, verdict, slow) for verdict in verdicts for slow in verdict.slow]
    yield from slow_osts
    if slow_osts or any(not verdict.unknown for verdict in verdicts):
        return
    moved = {way: sum(file.moved(way).moved_bytes for file in log.files) for way in access.WAYS}
    verdict = max(verdicts, key=lambda verdict: moved[verdict.direction])
    files, osts = sum(file.layout is not None for file in log.files), {ost for file in log.files for ost in file.osts}
    evidence = {"direction": verdict.direction, "files": files, "osts": len(osts), "bytes": moved[verdict.direction]}
    yield say("slow-ost", evidence, text="slow-ost-unknown", why=verdict.unknown)


def _slow_ost(log: DarshanLog, verdict: Verdict, slow: SlowOst) -> Finding:
    """Say that one OST, or one of a few, is slow."""
    rate, first = slow.rate, slow.rate.osts[0]
    several = f"One of the OSTs {', '.join(map(str, rate.osts))}"
    others = [other.rate_mb_s for other in verdict.rates if other.osts != rate.osts]
    evidence = {"ost": first, "osts": list(rate.osts), "factor": round(slow.factor, 2), "direction": verdict.direction}
    evidence |= {"rate_mb_s": round(rate.rate_mb_s, 4), "usual_rate_mb_s": round(slow.reference_mb_s, 4)}
    evidence |= {"slowest_other_mb_s": round(min(others), 4) if others else None, "files": rate.files}
    evidence |= {"bytes": round(rate.moved_bytes), "osts_compared": len(verdict.rates)}
    level: Level = "problem" if slow.factor >= _FAIL_FACTOR and rate.files > 1 else "advice"
    name = f"OST {first} (OST{first:04x})" if len(rate.osts) == 1 else several
    folder = _folder([file for file in log.files if set(file.osts) & set(rate.osts)])
    return say("slow-ost", evidence, level=level, name=name, factor=slow.factor, folder=folder)


def _do(site: _Site, advice: Advice) -> str:
    """Return the commands of an advice on striping."""
    commands = "; ".join((*advice.commands, *([advice.hints_line] if advice.hints_line else [])))
    return commands + _COUNT_THEM * site.some_osts


def _gathering(site: _Site, file: FileRecord, way: str) -> str:
    """Return what lets a few tasks do the accesses of all to one file; if they do so already, what to look at."""
    calls = access.mpi_calls(site.log, way, file.path)
    line = f"romio_cb_{way}=enable"
    if calls.collective > calls.independent:
        text = "gathered-already"
    elif way == "read" and not sum(calls) and access.mpi_calls(site.log, "write", file.path).collective:
        text = "gathered-by-sieving"
    else:
        text = "gathered"
        line = f"export MPICH_MPIIO_HINTS='*:{line}'"
        if way == "write":
            better = site.striping([file], "shared", file.bytes_written)
            line = (better.hints_line if better else None) or line
        elif file.layout:
            # The stripes of a file that is there are as they are: one reader for each.
            line = f"{line[:-1]}:cb_nodes={min(file.layout.stripe_count, site.log.tasks or file.layout.stripe_count)}'"
    return say(text, collective=calls.collective, direction=way, line=line).advice


def _one_ost(site: _Site) -> Iterator[Finding]:
    """All data of several tasks on one OST."""
    log = site.log
    moved: dict[int, float] = defaultdict(float)
    placed = [file for file in log.files if file.osts and file.bytes_moved]
    for file in placed:
        for ost in file.osts:
            # The log does not say which stripe was accessed: each OST is given an even part.
            moved[ost] += file.bytes_moved / len(file.osts)
    total = sum(moved.values())
    ost = max(moved, key=moved.__getitem__, default=0)
    if (log.tasks or 1) < 2 or total < access.WORTH_BYTES or moved[ost] < _NEARLY_ALL * total:
        return
    here = [file for file in placed if ost in file.osts]
    largest = max(here, key=lambda file: file.bytes_moved)
    pattern = "shared" if largest.shared else "file-per-process" if len(here) > 1 else "one-writer"
    better = site.striping(here, pattern, round(total))
    if better is None or (better.layout.stripe_count == 1 and pattern == "one-writer"):
        return
    count, seconds = better.layout.stripe_count, largest.read_s + largest.write_s
    brief = log.run_time_s is not None and seconds < _BRIEF * log.run_time_s
    evidence: dict[str, Any] = {"ost": ost, "share": round(moved[ost] / total, 4), "bytes": round(total)}
    evidence |= {"files": len(here), "tasks": log.tasks, "seconds": round(seconds, 3)}
    evidence |= {"stripe_count": largest.layout.stripe_count if largest.layout else None}
    evidence |= {"recommended_stripe_count": count}
    lasting = f", for {seconds:.3g} s of {log.run_time_s:,.0f} s" if log.run_time_s else ""
    text, commands = "one-ost" if count > 1 else "one-ost-spread", _do(site, better)
    yield say("one-ost", evidence, text=text, level="note" if brief else "advice", lasting=lasting, commands=commands)


def _one_writer(site: _Site) -> Iterator[Finding]:
    """One task that writes nearly all."""
    log = site.log
    total = sum(file.bytes_written for file in log.files)
    if (log.tasks or 1) < 2 or total < access.WORTH_BYTES:
        return
    by_task: Counter[int | None] = Counter()
    for file in log.files:
        by_task.update(file.written_by)
        rest = file.bytes_written - sum(file.written_by.values())
        # In a record of all tasks together only the bytes of its slowest and fastest task are told, not which it was.
        if rest > 0 and file.busiest_bytes and file.busiest_bytes >= _NEARLY_ALL * rest:
            by_task[None] += rest
    task, most = max(by_task.items(), key=lambda item: item[1], default=(None, 0))
    if most < _NEARLY_ALL * total:
        return
    better = site.striping([file for file in log.files if file.bytes_written], "shared", total)
    largest = max(log.files, key=lambda file: file.bytes_written)
    # Where there are collective writes the program does write in parallel: it is MPI-IO that has one aggregator.
    collective = access.mpi_calls(log, "write", largest.path).collective
    evidence = {"task": task, "share": round(most / total, 4), "bytes": total, "tasks": log.tasks}
    words: dict[str, Any] = {"who": f"Task {task}" if task is not None else "One task", "others": (log.tasks or 2) - 1}
    words |= {"collective": collective, "commands": f": {_do(site, better)}" if better else "."}
    yield say("one-writer", evidence, text="one-aggregator" if collective else "one-writer", **words)


def _small(site: _Site, direction: str) -> Iterator[Finding]:
    """Many accesses below a mebibyte: Lustre moves data in pieces of that size."""
    sized = [file for file in site.log.files if file.moved(direction).sizes]
    counts, possible = zip(*(access.small_calls(file, direction) for file in sized), strict=True) if sized else ((), ())
    small, calls = sum(counts), sum(file.moved(direction).calls for file in sized)
    if small < max(access.FEW_CALLS, access.SHARE * calls):
        return
    moved = sum(file.moved(direction).moved_bytes for file in sized)
    worst = sized[counts.index(max(counts))]
    ending = posixpath.splitext(worst.path)[1]
    rule = suited_rule(f"*{ending}" if ending.isascii() and ending[1:].isalnum() else "*")
    mean = moved / calls if calls else None
    evidence: dict[str, Any] = {"small_calls": small, "calls": calls, "share": round(small / max(calls, 1), 4)}
    evidence |= {"bytes": moved, "mean_bytes": None if mean is None else round(mean)}
    evidence |= {"files": sum(map(bool, counts)), "file": worst.path, "shared": worst.shared}
    words = {"direction": direction, "params": write_params([rule])}
    words["at_least"] = "At least " * (sum(possible) > small)
    words["mean"] = "" if mean is None else f", {size_text(mean)} a call on average"
    words["gathering"] = _gathering(site, worst, direction) if worst.shared else ""
    text, level = "small" if worst.shared else "small-own-files", _NOTE if small < access.MANY_CALLS else None
    yield say(f"small-{direction}s", evidence, text=text, level=level, **words)


def _misaligned(site: _Site) -> Iterator[Finding]:
    """Accesses to shared files that do not start at a boundary of the file system."""
    shared = [file for file in site.log.files if file.shared and file.unaligned and file.interface == "POSIX"]
    calls, unaligned = sum(file.reads + file.writes for file in shared), sum(file.unaligned for file in shared)
    if unaligned < max(access.FEW_CALLS, access.SHARE * calls):
        return
    worst = max(shared, key=lambda file: file.unaligned)
    stripe = worst.layout.stripe_size_bytes if worst.layout else None
    # Darshan counts by what the file system calls its block, which need not be the stripe.
    boundary = worst.alignment_bytes or stripe or BYTES_PER_MIB
    share = round(unaligned / max(calls, 1), 4)
    evidence: dict[str, Any] = {"unaligned_calls": unaligned, "calls": calls, "share": share}
    evidence |= {"boundary_bytes": boundary, "files": len(shared), "file": worst.path}
    # Reading tasks share a lock; those that write into one stripe hand it back and forth.
    text = "misaligned-locks" if stripe is not None and worst.writes > 0 else ""
    gathering = _gathering(site, worst, "write" if worst.writes else "read")
    yield say("misaligned", evidence, text=text, boundary=max(boundary, stripe or 0), gathering=gathering)


def _wide_files(log: DarshanLog) -> Iterator[Finding]:
    """Files of one task each with several stripes, though there are more files than OSTs."""
    own = [
        (file, file.layout.stripe_count) for file in log.files if not file.shared and file.layout and file.bytes_moved
    ]
    wide = [file for file, count in own if count > 1]
    osts = log.osts or max((ost for file, _ in own for ost in file.osts), default=0) + 1
    if len(wide) >= max(osts, access.MOST * len(own)) and (log.tasks or 1) >= 2:
        objects = sum(count for _, count in own if count > 1)
        yield say("wide-files", {"files": len(wide), "objects": objects, "osts": osts}, folder=_folder(wide))
