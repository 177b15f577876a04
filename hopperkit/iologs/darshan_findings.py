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

from hopperkit.filesystems.stripe_advice import Advice, advise
from hopperkit.iologs import _darshan_patterns as access
from hopperkit.iologs.cost import slowest_s, stake, staked, time_s, waiting_by_path, weighed
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperkit.iologs.darshan_summary import passed_s
from hopperkit.iologs.ost_rates import SlowOst, Verdict, judge_osts
from hopperlib.finding import Finding, Level
from hopperlib.machine import FileSystem, Machine
from hopperlib.storage.iobuf import Buffers
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.text import count, digits, share, size
from hopperlib.units import BYTES_PER_MIB

# The words for levels in reports on logs, which are read by programs.
SEVERITIES: dict[Level, str] = {"problem": "fail", "advice": "warn", "note": "info", "unknown": "unknown", "ok": "ok"}

# From these on it is worth a warning.
_NEARLY_ALL = 0.9
_FAIL_FACTOR = 10.0
# What takes less of a run than this is told, but no reason to change anything.
_BRIEF_FRACTION = 0.01
# What an OST gives at least, where a log does not show it.
_OST_GB_S = 0.5
# Any OST gives one disk's rate.
_LEAST_OST_GB_S = 0.1
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
    parts = {"code": finding.code, "severity": SEVERITIES[finding.level], "message": finding.message}
    return parts | {"evidence": dict(finding.evidence), "advice": finding.advice}


def findings(log: DarshanLog, machine: Machine | None = None) -> tuple[Finding, ...]:
    """Return what the log shows, by level, and those of one level the most expensive first.

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
    own = chain(_slow_osts(log), _one_ost(site), _one_writer(site), small, _misaligned(site))
    return weighed(chain(own, access.patterns(log)), log)


def system_of_log(log: DarshanLog) -> FileSystem | None:
    """Return the Lustre file system that a log shows: its OSTs, what one of them gave, what files have; None if it shows none.

    What a node passes on is in no log: here it is no limit.

    Examples
    --------
    >>> from hopperkit.iologs.darshan_log import StripeLayout
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
    peak = osts * (_best_ost_gb_s(log) or _OST_GB_S)
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


def _best_ost_gb_s(log: DarshanLog) -> float:
    """Return the best that an OST gave; 0 if the log does not show it. [GB/s]"""
    rates = [rate.delivered_mb_s or rate.rate_mb_s for way in access.WAYS for rate in judge_osts(log, way).rates]
    if not rates:
        # Where the OSTs cannot be told apart, each gave its part of what a file got.
        parts = [(file.moved(way), len(file.osts)) for file in log.files for way in access.WAYS if file.osts]
        rates = [moved.moved_bytes / moved.time_s / over / 1e6 for moved, over in parts if moved.time_s]
    return max(rates, default=0.0) / 1000


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
    """Return the folder with most of the data of files, quoted for a shell; a word in capitals if none is known."""
    folders = Counter[str]()
    for file in files:
        folders[posixpath.dirname(file.path)] += (1 + file.bytes_moved) * file.path.startswith("/")
    folders = +folders
    return shlex.quote(folders.most_common(1)[0][0]) if folders else "DIRECTORY"


def _slow_osts(log: DarshanLog) -> Iterator[Finding]:
    """Judge OSTs by both directions; without the OSTs of any file there is nothing to say."""
    if "LUSTRE" not in log.modules and not any(file.layout for file in log.files):
        return
    verdicts = [judge_osts(log, direction) for direction in ("write", "read")]
    slow_osts = [_slow_ost(log, verdict, slow) for verdict in verdicts for slow in verdict.slow]
    yield from slow_osts
    suspected = any(verdict.suspect for verdict in verdicts)
    if not slow_osts and (suspected or all(verdict.unknown for verdict in verdicts)):
        yield _no_telling(log, verdicts)


def _no_telling(log: DarshanLog, verdicts: Sequence[Verdict]) -> Finding:
    """Return why the log cannot tell whether an OST is slow, by the direction that moved most or has a suspect."""
    moved = {way: sum(file.moved(way).moved_bytes for file in log.files) for way in access.WAYS}
    verdict = max(verdicts, key=lambda verdict: (verdict.suspect is not None, moved[verdict.direction]))
    files, osts = sum(file.layout is not None for file in log.files), {ost for file in log.files for ost in file.osts}
    evidence = {"direction": verdict.direction, "files": files, "osts": len(osts), "bytes": moved[verdict.direction]}
    if suspect := verdict.suspect:
        evidence |= {"ost": suspect.rate.osts[0], "factor": round(suspect.factor, 2)}
    return Finding(
        "slow-ost",
        f"Cannot tell whether an OST is slow: {verdict.unknown}.",
        "unknown",
        evidence=evidence,
        advice="To find out, write one file to each OST and time it: for i in $(seq 0 N); do lfs setstripe -c 1 -i $i "
        "probe.$i; dd if=/dev/zero of=probe.$i bs=4M count=256 conv=fsync; done",
    )


def _slow_ost(log: DarshanLog, verdict: Verdict, slow: SlowOst) -> Finding:
    """Return that one OST, or one of a few, is slow."""
    rate, first = slow.rate, slow.rate.osts[0]
    rate_mb_s, usual_mb_s, moved = round(rate.rate_mb_s, 4), round(slow.reference_mb_s, 4), round(rate.moved_bytes)
    others = [other.rate_mb_s for other in verdict.rates if other.osts != rate.osts]
    name = f"OST {first} (OST{first:04x})"
    if len(rate.osts) > 1:
        name = f"One of the OSTs {', '.join(map(str, rate.osts))}"
    folder = _folder([file for file in log.files if set(file.osts) & set(rate.osts)])
    return Finding(
        "slow-ost",
        f"{name} is {slow.factor:.1f} times slower than the others: a task {verdict.direction}s to it at "
        f"{digits(rate_mb_s, 3)} MB/s, usual are {digits(usual_mb_s, 3)} MB/s "
        f"({count(rate.files, 'file')}, {size(moved)}).",
        "problem" if slow.factor >= _FAIL_FACTOR and rate.files > 1 else "advice",
        evidence={
            "ost": first,
            "osts": list(rate.osts),
            "factor": round(slow.factor, 2),
            "direction": verdict.direction,
            "rate_mb_s": rate_mb_s,
            "usual_rate_mb_s": usual_mb_s,
            "slowest_other_mb_s": round(min(others), 4) if others else None,
            "files": rate.files,
            "bytes": moved,
            "osts_compared": len(verdict.rates),
        }
        | stake(
            [file for file in log.files if set(file.osts) & set(rate.osts)],
            verdict.direction,
            won=1 - 1 / slow.factor,
            because="at the usual rate",
        ),
        advice=f"Report it to those who run the file system, with these numbers. What lies on it: lfs find {folder} "
        f"--ost {first}. Move what you need: lfs migrate -c 1 -i OTHER_OST FILE. Until it is mended, start new files "
        "elsewhere: lfs setstripe -c 1 -i OTHER_OST FILE",
    )


def _do(site: _Site, advice: Advice) -> str:
    """Return the commands of an advice on striping."""
    # Hints reach nobody who does not write through MPI-IO.
    hints = [advice.hints_line] if advice.hints_line and "MPI-IO" in site.log.modules else []
    commands = "; ".join((*advice.commands, *hints))
    return commands + _COUNT_THEM * site.some_osts


def _gathering(site: _Site, file: FileRecord, way: str) -> str:
    """Return what lets a few tasks do the accesses of all to one file; if they do so already, what to look at."""
    calls = access.mpi_calls(site.log, way, file.path)
    hint = f"romio_cb_{way}=enable"
    if calls.collective > calls.independent:
        of = "stripe" if file.layout else "file system's block"
        return (
            f"The log has {calls.collective:,} collective {way}s of this file already: see that they are gathered "
            f"({hint}) and that cb_buffer_size is a multiple of the {of} size"
        )
    if way == "read" and not sum(calls) and access.mpi_calls(site.log, "write", file.path).collective:
        return (
            "The program reads nothing of this file: MPI-IO reads before it writes pieces with holes (data sieving). "
            + access.hints_for(site.log, {"romio_ds_write": "disable"})
        )
    hints: dict[str, str | int] = {f"romio_cb_{way}": "enable"}
    line = access.hints_for(site.log, hints)
    if way == "write":
        better = site.striping([file], "shared", file.bytes_written)
        line = (better.hints_line if better else None) or line
    elif file.layout:
        # The stripes of a file that is there are as they are: one reader for each.
        readers = min(_stripes(file), site.log.tasks or _stripes(file))
        line = access.hints_for(site.log, hints | {"cb_nodes": readers})
    through = (
        "collective calls gather" if calls.independent else "MPI-IO and its collective calls gather, in place of POSIX"
    )
    return f"Only {through}: MPI_File_{way}_all, or H5FD_MPIO_COLLECTIVE in HDF5; and then {line}"


def _one_ost(site: _Site) -> Iterator[Finding]:
    """All data of several tasks on one OST."""
    log = site.log
    placed = [file for file in log.files if file.osts and file.bytes_moved]
    moved = _bytes_by_ost(placed)
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
    evidence = {"ost": ost, "share": round(moved[ost] / total, 4), "bytes": round(total), "files": len(here)}
    yield _one_ost_finding(site, evidence, here, better)


def _bytes_by_ost(files: Sequence[FileRecord]) -> dict[int, float]:
    """Return the bytes moved on each OST: the log does not say which stripe was accessed, so each is given an even part."""
    moved: dict[int, float] = defaultdict(float)
    for file in files:
        for ost in file.osts:
            moved[ost] += file.bytes_moved / len(file.osts)
    return moved


def _one_ost_finding(site: _Site, evidence: dict[str, Any], here: Sequence[FileRecord], better: Advice) -> Finding:
    """Return that one OST does all the work, and how long it was."""
    largest = max(here, key=lambda file: file.bytes_moved)
    log, run_time_s = site.log, site.log.run_time_s
    stripes, seconds = better.layout.stripe_count, largest.read_s + largest.write_s
    brief = run_time_s is not None and seconds < _BRIEF_FRACTION * run_time_s
    lasting = f", for {digits(seconds, 3)} s of {digits(run_time_s, 3)} s" if run_time_s else ""
    spread = "Before the files are made"
    if stripes == 1:
        spread = "Let Lustre choose where files begin (-i -1), so that they spread"
    return Finding(
        "one-ost",
        f"OST {evidence['ost']} holds {share(evidence['share'])} of what {log.tasks:,} tasks move "
        f"({size(evidence['bytes'])} in {count(evidence['files'], 'file')}): one OST does all the work{lasting}.",
        "note" if brief else "advice",
        evidence=evidence
        | {
            "tasks": log.tasks,
            "seconds": round(seconds, 3),
            "stripe_count": _stripes(largest) or None,
            "recommended_stripe_count": stripes,
        }
        | _cost_of_one_ost(log, here, stripes),
        advice=f"{spread}: {_do(site, better)}",
    )


def _cost_of_one_ost(log: DarshanLog, here: Sequence[FileRecord], stripes: int) -> dict[str, Any]:
    """Return what files on one OST cost, those that wait in MPI-IO for them included."""
    waiting, paths = waiting_by_path(log), {file.path for file in here}
    seconds = sum(map(time_s, here)) + sum(waiting.get(path, 0.0) for path in paths)
    # Where an OST gave less than any should, its rate is not what they waited for: small calls are, or locks.
    passed = sum(passed_s([file.moved(way) for file in here]) for way in access.WAYS)
    part = min(1.0, sum(file.bytes_moved for file in here) / 1e9 / _LEAST_OST_GB_S / passed) if passed else 1.0
    because = f"if {count(stripes, 'OST')} share the work evenly and nothing else limits"
    won = (1 - 1 / stripes) * part * seconds
    return staked(part * seconds, slowest=part * slowest_s(here), won=won, because=because)


def _one_writer(site: _Site) -> Iterator[Finding]:
    """One task that writes nearly all."""
    log = site.log
    total = sum(file.bytes_written for file in log.files)
    if (log.tasks or 1) < 2 or total < access.WORTH_BYTES:
        return
    by_task = _bytes_by_writer(log.files)
    task, most = max(by_task.items(), key=lambda item: item[1], default=(None, 0))
    if most < _NEARLY_ALL * total:
        return
    better = site.striping([file for file in log.files if file.bytes_written], "shared", total)
    commands = f": {_do(site, better)}" if better else "."
    largest = max(log.files, key=lambda file: file.bytes_written)
    part, who = round(most / total, 4), "One task" if task is None else f"Task {task}"
    advice = f"Write in parallel, through MPI-IO or parallel HDF5 into one file{commands}"
    # Where there are collective writes the program does write in parallel: it is MPI-IO that has one aggregator.
    if collective := access.mpi_calls(log, "write", largest.path).collective:
        who += f", the only aggregator of {collective:,} collective writes,"
        advice = f"MPI-IO takes as many aggregators as the file has stripes: give it more{commands}"
    yield Finding(
        "one-writer",
        f"{who} writes {share(part)} of the {size(total)}; the other {(log.tasks or 2) - 1:,} wait.",
        evidence={"task": task, "share": part, "bytes": total, "tasks": log.tasks} | _cost_of_one_writer(log),
        advice=advice,
    )


def _cost_of_one_writer(log: DarshanLog) -> dict[str, Any]:
    """Return what it costs that one task writes: its time, and that of all others if they wait for it."""
    files = [file for file in log.files if file.bytes_written]
    seconds, slowest = sum(time_s(file, "write") for file in files), slowest_s(files, "write")
    others = slowest * ((log.tasks or 1) - 1)
    # Where they write through MPI-IO the log has what they waited.
    waited = sum(waiting_by_path(log).values())
    won = min(others, waited) if waited else others
    cost = seconds + won if waited else seconds
    return staked(cost, slowest=slowest, won=won, because="if all other tasks wait for the one")


def _bytes_by_writer(files: Sequence[FileRecord]) -> Counter[int | None]:
    """Return the bytes written by each task; None is a task whose number the log does not tell."""
    by_task: Counter[int | None] = Counter()
    for file in files:
        by_task.update(file.written_by)
        rest = file.bytes_written - sum(file.written_by.values())
        # In a record of all tasks together only the bytes of its slowest and fastest task are told, not which it was.
        if rest > 0 and file.busiest_bytes and file.busiest_bytes >= _NEARLY_ALL * rest:
            by_task[None] += rest
    return by_task


def _small(site: _Site, way: str) -> Iterator[Finding]:
    """Many accesses below a mebibyte: Lustre moves data in pieces of that size."""
    sized = [file for file in site.log.files if file.moved(way).sizes]
    counts = [access.small_calls(file, way) for file in sized]
    small, possible = sum(sure for sure, _ in counts), sum(maybe for _, maybe in counts)
    calls, moved = (sum(getattr(file.moved(way), name) for file in sized) for name in ("calls", "moved_bytes"))
    if small < max(access.FEW_CALLS, access.SHARE * calls):
        return
    (most, _), worst = max(zip(counts, sized, strict=True), key=lambda pair: pair[0][0])
    part, mean = round(small / calls, 4), moved / calls
    most_bytes = min(1.0, sum(access.small_bytes(file, way) for file in sized) / moved) if moved else 0.0
    at_least = "At least " if possible > small else ""
    yield Finding(
        f"small-{way}s",
        f"{at_least}{small:,} of {calls:,} {way} calls ({share(part)}) are below 1 MiB, with "
        f"{share(round(most_bytes, 4))} of the bytes at most; "
        f"{access.in_file(most / small, worst.path, access.bytes_part(sized, worst.path, way))}.",
        "note" if small < access.MANY_CALLS else "advice",
        evidence={
            "small_calls": small,
            "calls": calls,
            "share": part,
            "bytes": moved,
            "mean_bytes": round(mean),
            "bytes_share": round(most_bytes, 4),
            "files": sum(sure > 0 for sure, _ in counts),
            "file": worst.path,
            "shared": worst.shared,
        }
        | stake(sized, way, part=part, because="the share of these calls in the time"),
        advice=_gathering(site, worst, way) if worst.shared else _buffering(worst),
    )


def _buffering(file: FileRecord) -> str:
    """Return what lets a task move the data of its own file in large pieces."""
    ending = posixpath.splitext(file.path)[1]
    pattern = f"*{ending}" if ending.isascii() and ending[1:].isalnum() else "*"
    return (
        "Buffer them. On a Cray: module load iobuf before linking, then export "
        f"IOBUF_PARAMS='{Buffers(2 * BYTES_PER_MIB, 2).setting(pattern)}'; elsewhere setvbuf, or larger blocks in the program"
    )


def _misaligned(site: _Site) -> Iterator[Finding]:
    """Accesses to shared files that do not start at a boundary of the file system."""
    shared = [file for file in site.log.files if file.shared and file.unaligned and file.interface == "POSIX"]
    calls, unaligned = sum(file.reads + file.writes for file in shared), sum(file.unaligned for file in shared)
    if unaligned < max(access.FEW_CALLS, access.SHARE * calls):
        return
    worst = max(shared, key=lambda file: file.unaligned)
    stripe = worst.layout.stripe_size_bytes if worst.layout else None
    # Darshan counts by what the file system calls its block, which need not be the stripe.
    boundary, part = worst.alignment_bytes or stripe or BYTES_PER_MIB, round(unaligned / max(calls, 1), 4)
    # Reading tasks share a lock; those that write into one stripe hand it back and forth.
    level: Level = "note"
    locks = ""
    if stripe is not None and worst.writes:
        level, locks = "advice", ": tasks contend for the locks of stripes they share"
    yield Finding(
        "misaligned",
        f"{unaligned:,} of {calls:,} accesses to shared files ({share(part)}) do not start at a multiple of "
        f"{boundary:,} bytes{locks}; "
        f"{access.in_file(worst.unaligned / unaligned, worst.path, access.bytes_part(shared, worst.path))}.",
        level,
        evidence={
            "unaligned_calls": unaligned,
            "calls": calls,
            "share": part,
            "boundary_bytes": boundary,
            "files": len(shared),
            "file": worst.path,
        }
        | stake(shared, part=part, because="the share of these calls in the time"),
        advice="Start each task's part at a multiple of the stripe size; with HDF5: H5Pset_alignment(fapl, 1, "
        f"{max(boundary, stripe or 0)}). {_gathering(site, worst, 'write' if worst.writes else 'read')}",
    )


def _stripes(file: FileRecord) -> int:
    """Return the stripe count of a file, 0 if the log does not know it."""
    return file.layout.stripe_count if file.layout else 0
