"""What a Darshan log says is wrong, each with its number, what to do and the command that does it.

Findings are judged from counters of the job alone. What a log cannot tell is
said as ``unknown``, and never as healthy.
"""

from __future__ import annotations

import posixpath
import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hopperlib.machine import Machine
from hopperlib.storage.iobuf.params import Rule, write_params
from hopperlib.storage.logs.darshan_log import SIZE_BINS, DarshanLog, FileRecord
from hopperlib.storage.logs.ost_rates import SlowOst, Verdict, judge_osts
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.storage.lustre.stripe_advice import Advice, advise
from hopperlib.units import BYTES_PER_MIB

__all__ = ["SEVERITIES", "Finding", "findings"]

Severity = Literal["fail", "warn", "info", "ok", "unknown"]
SEVERITIES: tuple[Severity, ...] = ("fail", "warn", "info", "unknown", "ok")

# An access below a mebibyte is small: Lustre moves data in pieces of that size.
SMALL_BYTES = BYTES_PER_MIB
# From these on it is worth a word, and a warning.
FEW_CALLS, MANY_CALLS = 1_000, 10_000
SHARE = 0.1
NEARLY_ALL = 0.9
WORTH_BYTES = 100_000_000
FAIL_FACTOR = 10.0
# What takes less of a run than this is told, but no reason to change anything.
BRIEF = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a log shows.

    Parameters
    ----------
    code : str
        Stable name: ``slow-ost``, ``small-writes``, ``small-reads``, ``misaligned``, ``one-ost``, ``one-writer``.
    severity : {"fail", "warn", "info", "ok", "unknown"}
    message : str
        What is so, with its number.
    evidence : mapping
        The numbers.
    advice : str
        What to do, with the command.
    """

    code: str
    severity: Severity
    message: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "evidence": dict(self.evidence),
            "advice": self.advice,
        }


def findings(log: DarshanLog, machine: Machine) -> tuple[Finding, ...]:
    """Return what the log shows, worst first.

    Parameters
    ----------
    log : DarshanLog
    machine : Machine
        Whose file system the advice on striping is for.

    Raises
    ------
    ValueError
        If the machine states no file system.

    Examples
    --------
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=9.0, modules=("POSIX",), files=())
    >>> [(one.code, one.severity) for one in findings(log, Machine.load("hopper"))]
    [('slow-ost', 'unknown')]
    """
    found = [
        *_slow_osts(log),
        *_one_ost(log, machine),
        *_one_writer(log, machine),
        *_small(log, machine, "write"),
        *_small(log, machine, "read"),
        *_misaligned(log, machine),
    ]
    return tuple(sorted(found, key=lambda one: SEVERITIES.index(one.severity)))


def _size(count: float) -> str:
    """Return a size for people, in decimal units."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}"
    return f"{count:.0f} bytes"


def _folder(files: Sequence[FileRecord]) -> str:
    """Return the folder that holds most of the files, quoted for a shell; a word in capitals if none is known."""
    folders = Counter(posixpath.dirname(one.path) for one in files if one.path.startswith("/"))
    return shlex.quote(folders.most_common(1)[0][0]) if folders else "DIRECTORY"


def _several(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _slow_osts(log: DarshanLog) -> list[Finding]:
    """Judge OSTs by both directions."""
    verdicts = [judge_osts(log, direction) for direction in ("write", "read")]
    found = [_slow_ost(log, verdict, slow) for verdict in verdicts for slow in verdict.slow]
    if found:
        return found
    if any(not verdict.unknown for verdict in verdicts):
        return []
    moved = {one: sum(file.moved(one)[0] for file in log.files) for one in ("write", "read")}
    verdict = max(verdicts, key=lambda one: moved[one.direction])
    layouts = [file.layout for file in log.files if file.layout is not None]
    return [
        Finding(
            code="slow-ost",
            severity="unknown",
            message=f"Cannot tell whether an OST is slow: {verdict.unknown}.",
            evidence={
                "direction": verdict.direction,
                "files": len(layouts),
                "osts": len({ost for one in layouts for ost in one.osts}),
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
    on = [one for one in log.files if one.layout and set(one.layout.osts) & set(rate.osts)]
    folder = _folder(on)
    others = [one.rate_mb_s for one in verdict.rates if one.osts != rate.osts]
    return Finding(
        code="slow-ost",
        severity="fail" if slow.factor >= FAIL_FACTOR and rate.files > 1 else "warn",
        message=f"{name} is {slow.factor:.1f} times slower than the others: a task {direction}s to it at "
        f"{rate.rate_mb_s:.3g} MB/s, usual are {slow.reference_mb_s:.3g} MB/s "
        f"({_several(rate.files, 'file')}, {_size(rate.moved_bytes)}).",
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


def _striping(log: DarshanLog, machine: Machine, files: Sequence[FileRecord], pattern: str, size_bytes: int) -> Advice:
    """Return the striping that suits these files on this machine."""
    writers = log.tasks or max((one.tasks for one in files), default=1)
    return advise(
        max(size_bytes, 1),
        max(writers, 1),
        pattern,
        file_system_of(machine),
        cores_per_node=machine.node().cores,
        directory=_folder(files),
    )


def _do(advice: Advice) -> str:
    """Return the commands of an advice on striping."""
    return "; ".join((*advice.commands, *([advice.hints_line] if advice.hints_line else [])))


def _gathering(log: DarshanLog, machine: Machine, file: FileRecord, direction: str) -> str:
    """Return the line of hints that lets a few tasks do the accesses of all to one file."""
    if direction == "write" or file.layout is None:
        hints = _striping(log, machine, [file], "shared", file.moved(direction)[0]).hints_line or ""
        return hints if direction == "write" else "export MPICH_MPIIO_HINTS='*:romio_cb_read=enable'"
    # The stripes of a file that is there are as they are: one reader for each.
    nodes = min(file.layout.stripe_count, log.tasks or file.layout.stripe_count)
    return f"export MPICH_MPIIO_HINTS='*:romio_cb_read=enable:cb_nodes={nodes}'"


def _one_ost(log: DarshanLog, machine: Machine) -> list[Finding]:
    """All data of several tasks on one OST."""
    moved: dict[int, float] = defaultdict(float)
    placed = [one for one in log.files if one.layout and one.layout.osts and one.bytes_read + one.bytes_written]
    for one in placed:
        assert one.layout is not None
        for ost in one.layout.osts:
            moved[ost] += (one.bytes_read + one.bytes_written) / len(one.layout.osts)
    total = sum(moved.values())
    if (log.tasks or 1) < 2 or total < WORTH_BYTES:
        return []
    ost = max(moved, key=lambda one: moved[one])
    share = moved[ost] / total
    if share < NEARLY_ALL:
        return []
    here = [one for one in placed if one.layout and ost in one.layout.osts]
    largest = max(here, key=lambda one: one.bytes_read + one.bytes_written)
    pattern = "shared" if largest.shared else "file-per-process" if len(here) > 1 else "one-writer"
    better = _striping(log, machine, here, pattern, round(total))
    count = better.layout.stripe_count
    seconds = largest.read_s + largest.write_s
    brief = log.run_time_s is not None and seconds < BRIEF * log.run_time_s
    if count == 1 and pattern == "one-writer":
        return []
    return [
        Finding(
            code="one-ost",
            severity="info" if brief else "warn",
            message=f"OST {ost} holds {share:.0%} of what {log.tasks:,} tasks move "
            f"({_size(total)} in {_several(len(here), 'file')}): one OST does all the work"
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
                f"Before the files are made: {_do(better)}"
                if count > 1
                else f"Let Lustre choose where files begin (-i -1), so that they spread: {_do(better)}"
            ),
        )
    ]


def _one_writer(log: DarshanLog, machine: Machine) -> list[Finding]:
    """One task that writes nearly all."""
    total = sum(one.bytes_written for one in log.files)
    if (log.tasks or 1) < 2 or total < WORTH_BYTES:
        return []
    by_task: Counter[int] = Counter()
    unnamed = 0
    for one in log.files:
        by_task.update(one.written_by)
        rest = one.bytes_written - sum(one.written_by.values())
        # In a record of all tasks together only the bytes of its slowest and fastest task are told.
        if rest > 0 and one.busiest_bytes and one.busiest_bytes >= NEARLY_ALL * rest:
            unnamed += rest
    task, most = max(by_task.items(), key=lambda item: item[1], default=(None, 0))
    if unnamed > most:
        task, most = None, unnamed
    if most < NEARLY_ALL * total:
        return []
    written = [one for one in log.files if one.bytes_written]
    better = _striping(log, machine, written, "shared", total)
    who = f"Task {task}" if task is not None else "One task"
    return [
        Finding(
            code="one-writer",
            severity="warn",
            message=f"{who} writes {most / total:.0%} of the {_size(total)}; the other {(log.tasks or 2) - 1:,} wait.",
            evidence={"task": task, "share": round(most / total, 4), "bytes": total, "tasks": log.tasks},
            advice=f"Write in parallel, through MPI-IO or parallel HDF5 into one file: {_do(better)}",
        )
    ]


def _small(log: DarshanLog, machine: Machine, direction: str) -> list[Finding]:
    """Many accesses below a mebibyte."""
    small_bins = [upper is not None and upper <= SMALL_BYTES for _, upper in SIZE_BINS]

    def counted(one: FileRecord) -> int:
        sizes = one.write_sizes if direction == "write" else one.read_sizes
        return sum(count for count, small in zip(sizes, small_bins, strict=False) if small)

    sized = [one for one in log.files if (one.write_sizes if direction == "write" else one.read_sizes)]
    small = sum(counted(one) for one in sized)
    calls = sum(one.moved(direction)[1] for one in sized)
    moved = sum(one.moved(direction)[0] for one in sized)
    if small < FEW_CALLS or small < SHARE * calls:
        return []
    worst = max(sized, key=counted)
    where = [one for one in sized if counted(one)]
    if worst.shared:
        what = f"Let MPI-IO gather them (collective buffering): {_gathering(log, machine, worst, direction)}"
    else:
        ending = posixpath.splitext(worst.path)[1]
        rule = Rule(
            pattern=f"*{ending}" if ending.isascii() and ending[1:].isalnum() else "*", size_bytes=2 << 20, count=2
        )
        what = (
            f"Buffer them. On a Cray: module load iobuf before linking, then export IOBUF_PARAMS='{write_params([rule])}'; "
            "elsewhere setvbuf, or larger blocks in the program"
        )
    mean = f", {_size(moved / calls)} a call on average" if calls else ""
    return [
        Finding(
            code=f"small-{direction}s",
            severity="warn" if small >= MANY_CALLS else "info",
            message=f"{small:,} of {calls:,} {direction} calls ({small / max(calls, 1):.0%}) are below 1 MiB{mean}; "
            f"most are in {worst.path}.",
            evidence={
                "small_calls": small,
                "calls": calls,
                "share": round(small / max(calls, 1), 4),
                "bytes": moved,
                "mean_bytes": round(moved / calls) if calls else None,
                "files": len(where),
                "file": worst.path,
                "shared": worst.shared,
            },
            advice=what,
        )
    ]


def _misaligned(log: DarshanLog, machine: Machine) -> list[Finding]:
    """Accesses to shared files that do not start where a stripe does."""
    shared = [one for one in log.files if one.shared and one.unaligned and one.interface == "POSIX"]
    calls = sum(one.reads + one.writes for one in shared)
    unaligned = sum(one.unaligned for one in shared)
    if unaligned < FEW_CALLS or unaligned < SHARE * calls:
        return []
    worst = max(shared, key=lambda one: one.unaligned)
    stripe = worst.layout.stripe_size_bytes if worst.layout else None
    boundary = stripe or worst.alignment_bytes or BYTES_PER_MIB
    direction = "write" if worst.writes else "read"
    # Reading tasks share a lock; those that write into one stripe hand it back and forth.
    contended = stripe is not None and worst.writes > 0
    why = ": tasks contend for the locks of stripes they share" if contended else ""
    return [
        Finding(
            code="misaligned",
            severity="warn" if contended else "info",
            message=f"{unaligned:,} of {calls:,} accesses to shared files ({unaligned / max(calls, 1):.0%}) do not start "
            f"at a multiple of {boundary:,} bytes{why}. Most are in {worst.path}.",
            evidence={
                "unaligned_calls": unaligned,
                "calls": calls,
                "share": round(unaligned / max(calls, 1), 4),
                "boundary_bytes": boundary,
                "files": len(shared),
                "file": worst.path,
            },
            advice=f"Start each task's part at a multiple of the stripe size; with HDF5: H5Pset_alignment(fapl, 1, {boundary}). "
            f"Or let MPI-IO do it: {_gathering(log, machine, worst, direction)}",
        )
    ]
