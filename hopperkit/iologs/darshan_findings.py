"""Findings from a Darshan log, each with its number, cost, remedy and command.

Findings are judged from counters of the job alone. If a log cannot show something, the result is ``unknown``, never
healthy. Checks with negligible cost are listed by `looked_for`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from hopperkit.filesystems.stripe_advice import Advice
from hopperkit.iologs._judging import access, balance, calls, mpi_io, openings, repetition, syncs
from hopperkit.iologs._judging.site import Site, commands_of, system_of_log
from hopperkit.iologs._judging.stakes import FLOOR_SHARE, LEAST_S, cost_share, stake, staked, weighed
from hopperkit.iologs.cost import slowest_s, time_s, waiting_by_path
from hopperkit.iologs.darshan_log import DarshanLog, FileRecord
from hopperkit.iologs.darshan_summary import passed_s
from hopperkit.iologs.ost_rates import SlowOst, Verdict, judge_osts
from hopperlib.finding import Finding, Level
from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.text import capital, count, digits, share, size

# The words for levels in reports on logs, which are read by programs.
SEVERITIES: dict[Level, str] = {"problem": "fail", "advice": "warn", "note": "info", "unknown": "unknown", "ok": "ok"}

# From these on it is worth a warning.
_NEARLY_ALL = 0.9
_FAIL_FACTOR = 10.0
# Findings below this share of a run are listed, but give no reason for changes.
_BRIEF_FRACTION = 0.01
# Any OST gives one disk's rate.
_LEAST_OST_GB_S = 0.1
# Checks made on every log, by the codes of their findings.
CHECKS: dict[str, tuple[str, ...]] = {
    "fsync and flushes": ("fsync", "flush"),
    "small calls": ("small-reads", "small-writes", "stdio", "small-files", "small-datasets"),
    "random order": ("random-reads", "random-writes", "read-modify-write"),
    "repetition": ("rereads", "overwrites", "all-read-same", "cached-reads"),
    "metadata": ("metadata", "reopen", "seeks", "mpi-metadata"),
    "imbalance": ("imbalance", "one-writer", "uneven-time"),
    "MPI-IO": ("waiting", "mpi-overhead", "data-sieving", "not-gathered", "independent-reads", "independent-writes"),
    "alignment": ("misaligned",),
}


def finding_data(finding: Finding) -> dict[str, Any]:
    """Return a finding as reports on logs give it to programs: all parts, with a severity for its level.

    Parameters
    ----------
    finding : Finding
        Finding from a log.

    Examples
    --------
    >>> finding_data(Finding(code="one-ost", message="All data lie on one OST.", level="advice"))
    {'code': 'one-ost', 'severity': 'warn', 'message': 'All data lie on one OST.', 'evidence': {}, 'advice': ''}
    """
    parts = {"code": finding.code, "severity": SEVERITIES[finding.level], "message": finding.message}
    return parts | {"evidence": dict(finding.evidence), "advice": finding.advice}


def findings(log: DarshanLog, machine: Machine | None = None) -> tuple[Finding, ...]:
    """Return the findings, by level and then by decreasing cost.

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
    site = Site(log, system, machine.node().cores if machine else 1)
    ledger = access.Ledger()
    judged = (
        _lost(log),
        _slow_osts(log),
        _one_ost(site),
        balance.judge(site, repetition.handed_on(log)),
        mpi_io.judge(log, ledger),
        openings.judge(log, ledger),
        syncs.judge(log, ledger),
        calls.judge(site, ledger),
        repetition.judge(log, ledger),
        calls.judge_sizes(site, ledger),
        repetition.judge_read_back(log, ledger),
    )
    return weighed(chain.from_iterable(judged), log)


def looked_for(log: DarshanLog, log_findings: Sequence[Finding]) -> str:
    """Return a sentence listing the checks with negligible cost; empty if the log has no times.

    Parameters
    ----------
    log : DarshanLog
        The Darshan log.
    log_findings : sequence of Finding
        Findings from the log.

    Examples
    --------
    >>> file = FileRecord(path="/a", busy_s=1.0, writes=1, bytes_written=10)
    >>> log = DarshanLog(executable="a.out", job_id=1, tasks=4, run_time_s=900.0, modules=("POSIX",), files=(file,))
    >>> looked_for(log, ())[:58]
    'Looked for, each under 2 % of the run: fsync and flushes, '
    """
    if not log.run_time_s or not any(file.busy_s for file in log.files):
        return ""
    raised = {finding.code for finding in log_findings if finding.level not in ("ok", "note")}
    parts = {finding.code: part for finding in log_findings if (part := cost_share(finding, log)) is not None}
    brief = {code for code, part in parts.items() if part >= FLOOR_SHARE} - raised
    quiet = [name for name, codes in CHECKS.items() if not (raised | brief) & set(codes)]
    sentences = [f"Looked for, each under {share(FLOOR_SHARE)} of the run: {', '.join(quiet)}."] if quiet else []
    if brief:
        most = sorted(brief, key=lambda code: -parts[code])
        named = ", ".join(f"{code} {share(parts[code])}" for code in most)
        why = f"Under {LEAST_S:g} s per task" if log.run_time_s < LEAST_S / FLOOR_SHARE else "Told as notes"
        sentences.append(f"{why}, so nothing to mend: {named} of the run.")
    return " ".join(sentences)


def _lost(log: DarshanLog) -> Iterator[Finding]:
    """Yield the losses of a damaged or overfull log."""
    for number, loss in enumerate(log.missing, start=1):
        memory = "Give Darshan more memory and run again: export DARSHAN_MODMEM=64"
        yield Finding(
            "incomplete-log",
            f"{capital(loss)}. The rest of the log is judged.",
            evidence={"number": number, "of": len(log.missing)},
            advice=memory if "ran out of memory" in loss else "Copy the log again.",
        )
    if not any(total["files"] for total in log.totals.values()) and not log.files:
        message = "The log has no file records, so nothing can be judged."
        yield Finding("no-records", message, "unknown")
    elif log.totals and "POSIX" not in log.modules:
        message = "The log has no POSIX module, so it does not show sizes, order and alignment of accesses."
        yield Finding("no-posix", message, "unknown")


def _slow_osts(log: DarshanLog) -> Iterator[Finding]:
    """Judge OSTs by both directions; without the OSTs of any file there is no finding."""
    if "LUSTRE" not in log.modules and not any(file.layout for file in log.files):
        return
    verdicts = [judge_osts(log, direction) for direction in ("write", "read")]
    slow_osts = [_slow_ost(log, verdict, slow) for verdict in verdicts for slow in verdict.slow]
    yield from slow_osts
    suspected = any(verdict.suspect for verdict in verdicts)
    if not slow_osts and (suspected or all(verdict.unknown for verdict in verdicts)):
        yield _no_telling(log, verdicts)


def _no_telling(log: DarshanLog, verdicts: Sequence[Verdict]) -> Finding:
    """Return why the log cannot show whether an OST is slow, for the direction with most bytes or with a suspect."""
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
    folder = access.folder_of([file for file in log.files if set(file.osts) & set(rate.osts)])
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
        advice=f"Report it to the administrators of the file system, with these numbers. Files on it: lfs find {folder} "
        f"--ost {first}. Move what you need: lfs migrate -c 1 -i OTHER_OST FILE. Until it is mended, start new files "
        "elsewhere: lfs setstripe -c 1 -i OTHER_OST FILE",
    )


def _one_ost(site: Site) -> Iterator[Finding]:
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
    """Return the bytes moved on each OST: the log does not record the stripes accessed, so they are divided evenly."""
    moved: dict[int, float] = defaultdict(float)
    for file in files:
        for ost in file.osts:
            moved[ost] += file.bytes_moved / len(file.osts)
    return moved


def _one_ost_finding(site: Site, evidence: dict[str, Any], here: Sequence[FileRecord], better: Advice) -> Finding:
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
        f"OST {evidence['ost']} holds {share(evidence['share'])} of the data of {log.tasks:,} tasks "
        f"({size(evidence['bytes'])} in {count(evidence['files'], 'file')}): one OST does all the work{lasting}.",
        "note" if brief else "advice",
        evidence=evidence
        | {
            "tasks": log.tasks,
            "seconds": round(seconds, 3),
            "stripe_count": (largest.layout.stripe_count if largest.layout else None) or None,
            "recommended_stripe_count": stripes,
        }
        | _cost_of_one_ost(log, here, stripes),
        advice=f"{spread}: {commands_of(site, better)}",
    )


def _cost_of_one_ost(log: DarshanLog, here: Sequence[FileRecord], stripes: int) -> dict[str, Any]:
    """Return the cost of files on one OST, including those whose MPI-IO waits for them."""
    waiting, paths = waiting_by_path(log), {file.path for file in here}
    seconds = sum(map(time_s, here)) + sum(waiting.get(path, 0.0) for path in paths)
    # If an OST was slower than any should be, small calls or locks are the cause, not its rate.
    passed = sum(passed_s([file.moved(way) for file in here]) for way in access.WAYS)
    part = min(1.0, sum(file.bytes_moved for file in here) / 1e9 / _LEAST_OST_GB_S / passed) if passed else 1.0
    because = f"if {count(stripes, 'OST')} share the work evenly and nothing else limits"
    saved = (1 - 1 / stripes) * part * seconds
    return staked(part * seconds, slowest=part * slowest_s(here), won=saved, because=because)
