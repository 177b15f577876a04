"""Whether a benchmark's rate is valid for the file system: mistakes visible in its output.

The rules use only the output: its command line, sizes, nodes and times. Without a command line, rules about options do
not apply; if a node's memory is unknown, data that fit into the largest common nodes may be in memory.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hopperkit.readers.ior.results import IoResult, measured_rows
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.text import count, digits, size

# Largest memory of a node if no machine is given. Assumed. [GB]
_MEMORY_GB = 512.0
# Shorter accesses mostly measure how fast caches fill.
_SHORT_S = 10.0
# With at least this share of the data moved, the stonewall did not matter.
_WHOLE = 0.99
# If no machine is given: no node has faster network cards. [GB/s]
_FASTEST_NODE_GB_S = 100.0
_TASKS_CLIENTS_SHARE = "the node that created the files has their attributes in its cache"


class _Run(NamedTuple):
    """Rows of one test: same file, same settings."""

    rows: tuple[IoResult, ...]

    @property
    def first(self) -> IoResult:
        """Its first row."""
        return self.rows[0]

    def flagged(self, *names: str) -> bool:
        """Whether the command line has one of these options."""
        return bool(self.first.flags) and any(
            name == flag or flag.startswith(f"{name}=") for flag in self.first.flags or () for name in names
        )

    def accesses(self, access: str) -> list[IoResult]:
        """Rows of one access."""
        return [row for row in self.rows if row.access == access]

    @property
    def node_bytes(self) -> float | None:
        """Bytes moved per node; None if unknown. [bytes]"""
        row = self.first
        if not (row.tasks and row.block_bytes):
            return None
        return row.tasks / (row.nodes or 1) * row.block_bytes * (row.segments or 1)


def trust_findings(rows: Sequence[IoResult], machine: Machine | None = None) -> Iterator[Finding]:
    """Yield the mistakes visible in outputs of IOR and mdtest.

    Parameters
    ----------
    rows : sequence of IoResult
        Rows of one or more outputs.
    machine : Machine or None
        Machine whose memory and network bound the possible rates; None if unknown.

    Examples
    --------
    >>> row = IoResult(file="a", access="read", rate_mib_s=11_667.9, tasks=64, nodes=1, block_bytes=1 << 24, segments=16,
    ...     api="POSIX", seconds=1.4, flags=("F", "b", "s", "t"))
    >>> [finding.code for finding in trust_findings([row])]
    ['cached-read', 'one-node']
    """
    runs = _runs(rows)
    rules = (_unsynced, _cached, _beyond_wire, _stonewalled, _other_size, _short, _one_node, _own_metadata)
    for rule in rules:
        found: dict[str, list[tuple[_Run, Finding]]] = defaultdict(list)
        for run in runs:
            for finding in rule(run, machine):
                found[finding.code].append((run, finding))
        for each in found.values():
            yield _together(each, len(runs))
    yield from _mixed_units(rows)
    yield from _different_runs(runs)


def _together(found: Sequence[tuple[_Run, Finding]], runs: int) -> Finding:
    """Return one finding for all runs that have it: the text of the first, and the number of others."""
    run, finding = found[0]
    if runs == 1:
        return finding
    files = len({each.first.file for each, _ in found})
    more = f" So in {count(len(found), 'run')} of {runs:,}, in {count(files, 'file')}." if len(found) > 1 else ""
    where = f"{run.first.file}: " if files > 1 or runs > 1 else ""
    return Finding(
        finding.code,
        f"{where}{finding.message}{more}",
        finding.level,
        evidence={**finding.evidence, "runs": len(found)},
        advice=finding.advice,
    )


def _runs(rows: Sequence[IoResult]) -> list[_Run]:
    """Return rows by test."""
    tests: dict[tuple[object, ...], list[IoResult]] = defaultdict(list)
    for row in rows:
        if row.status == "ok" and row.rank is None and (row.rate_mib_s or row.operations_s):
            key = (row.file, row.start, row.api, row.type, row.tasks, row.nodes, row.block_bytes, row.transfer_bytes)
            tests[(*key, row.segments, row.flags)].append(row)
    return [_Run(tuple(each)) for each in tests.values()]


def _memory_gb(machine: Machine | None) -> float:
    """Memory of a node, or the assumed maximum. [GB]"""
    return machine.node().memory_gb if machine else _MEMORY_GB


def _in_memory(run: _Run, machine: Machine | None) -> str:
    """Return a phrase if a node's data fit into its memory; empty if they do not, are unknown, or bypass it."""
    moved = run.node_bytes
    if moved is None or run.flagged("posix.odirect", "useo_direct", "B") or moved > _memory_gb(machine) * 1e9:
        return ""
    known = f"a node of {machine.title} has" if machine else "nodes have up to"
    return f"{size(moved)} per node, and {known} {_memory_gb(machine):,.0f} GB of memory"


def _ior(run: _Run) -> bool:
    """Whether a run is from IOR and has a command line that shows its request."""
    return run.first.flags is not None and run.first.operations_s is None


def _unsynced(run: _Run, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding if writes end before the data have left memory."""
    fits = _in_memory(run, machine)
    best = max(run.accesses("write"), key=lambda row: row.rate_mib_s or 0.0, default=None)
    # -Y flushes after each write; otherwise, MPI-IO and POSIX need -e.
    if best is None or not fits or not _ior(run) or run.flagged("e", "Y", "fsync", "fsyncperwrite"):
        return
    yield Finding(
        "no-fsync",
        f"The write of {digits(best.rate_mib_s or 0.0, 4)} MiB/s ends before the data are on the file system: no -e, {fits}.",
        evidence={"node_bytes": run.node_bytes, "rate_mib_s": best.rate_mib_s},
        advice="Run it again with -e, which adds an fsync at the end of the write and counts its time.",
    )


def _cached(run: _Run, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding if reads may come from the memory of the node that wrote the data."""
    fits = _in_memory(run, machine)
    best = max(run.accesses("read"), key=lambda row: row.rate_mib_s or 0.0, default=None)
    if best is None or not fits or not _ior(run):
        return
    # A read-only run uses data from another run, perhaps on the same node; its output cannot show this.
    wrote = bool(run.accesses("write")) or not run.flagged("r") or run.flagged("w")
    alone = run.first.nodes == 1
    reordered = run.flagged("C", "Z", "reordertasks", "reordertasksconstant", "reordertasksrandom")
    if not wrote or (reordered and not alone):
        return
    how = "one node reads data that it wrote" if alone else "each task reads data that it wrote: no -C and no -Z"
    yield Finding(
        "cached-read",
        f"The read of {digits(best.rate_mib_s or 0.0, 4)} MiB/s may come from memory: {how}, {fits}.",
        evidence={"node_bytes": run.node_bytes, "rate_mib_s": best.rate_mib_s, "nodes": run.first.nodes},
        advice="Read what another node wrote: -C (and -Q TASKS_PER_NODE) on two nodes or more; on one node move more than "
        "its memory, or drop its caches between -w -k and -r.",
    )


def _beyond_wire(run: _Run, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding for rates above those of a node's network."""
    network = machine.network if machine else None
    wire = network.node_bandwidth_gb_s if network else None if machine else _FASTEST_NODE_GB_S
    rows = [row for row in run.rows if row.rate_mb_s]
    if not rows or not wire or not run.first.nodes:
        return
    best = max(rows, key=lambda row: row.rate_mb_s or 0.0)
    node_gb_s = (best.rate_mb_s or 0.0) / 1000 / run.first.nodes
    if node_gb_s <= wire:
        return
    limit = (
        f"the network of {machine.title} delivers to a node"
        if machine
        else "the fastest network cards deliver to a node"
    )
    yield Finding(
        "above-wire",
        f"The {best.access} of {digits(node_gb_s, 3)} GB/s per node is more than {limit}, {digits(wire, 3)} GB/s: the data did not go through the network.",
        evidence={"node_gb_s": round(node_gb_s, 3), "wire_gb_s": wire},
        advice="Check what was measured: the node's memory (cached data), a node-local disk, or a wrong number of nodes.",
    )


def _stonewalled(run: _Run, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding if a stonewall without wear-out hides the slow tasks."""
    # IO500 sets it in a file; -D is IOR's option.
    if not _ior(run) or not run.flagged("D", "stonewallingtime", "stonewall") or run.flagged("stonewallingwearout=1"):
        return
    row = max(run.rows, key=lambda each: each.planned_bytes or 0)
    if row.planned_bytes and row.moved_bytes and row.moved_bytes >= _WHOLE * row.planned_bytes:
        return
    part = (
        f", here {size(row.moved_bytes)} of {size(row.planned_bytes)}" if row.planned_bytes and row.moved_bytes else ""
    )
    yield Finding(
        "stonewall",
        f"A stonewall (-D) without wear-out ends every task at the same moment{part}: the rate is dominated by the fast tasks, and slow OSTs or nodes stay hidden.",
        evidence={"planned_bytes": row.planned_bytes, "moved_bytes": row.moved_bytes},
        advice="Add -O stoneWallingWearOut=1: all tasks then write as much as the fastest, and the clock stops with the slowest.",
    )


def _other_size(run: _Run, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding if a run without a stonewall moved another amount than planned."""
    for row in run.rows:
        planned, moved = row.planned_bytes, row.moved_bytes
        if planned and moved and moved != planned and not run.flagged("D", "stonewallingtime"):
            yield Finding(
                "other-size",
                f"The {row.access} moved {size(moved)}, but {size(planned)} were planned: the file is from another run.",
                evidence={"planned_bytes": planned, "moved_bytes": moved},
                advice="Read with the block size, segments and tasks that wrote the file.",
            )
            return


def _short(run: _Run, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding for accesses that end before caches are full."""
    # A read-only run does not choose the amount of data.
    only_reads = not run.accesses("write")
    timed = [row for row in run.rows if row.seconds and row.operations_s is None and not only_reads]
    brief = [row for row in timed if (row.seconds or 0.0) < _SHORT_S]
    if not brief:
        return
    row = min(brief, key=lambda each: each.seconds or 0.0)
    yield Finding(
        "short-run",
        f"The {row.access} takes {digits(row.seconds or 0.0, 3)} s: under {_SHORT_S:g} s, opening, caches and single slow moments dominate.",
        evidence={"seconds": row.seconds},
        advice="Move enough data to take minutes; IO500 requires 300 s for each writing phase.",
    )


def _one_node(run: _Run, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding if one node stands for many."""
    row = run.first
    if row.nodes == 1 and (row.tasks or 1) > 1 and row.operations_s is None:
        yield Finding(
            "one-node",
            f"{row.tasks:,} tasks on one node: this is the rate of a client, not of the file system.",
            evidence={"tasks": row.tasks, "nodes": 1},
            advice="To measure the file system, add nodes until the rate stops growing: 1, 2, 4, 8 and so on.",
        )


def _own_metadata(run: _Run, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding if mdtest accesses files from the node that created them."""
    row = run.first
    requests = {each.access or "" for each in run.rows} & {"file stat", "file read"}
    if row.operations_s is None or not requests or row.flags is None or run.flagged("N"):
        return
    names = " and ".join(sorted(requests))
    yield Finding(
        "cached-metadata",
        f"{names[:1].upper()}{names[1:]} of mdtest come from the task that created the files (no -N): "
        f"{_TASKS_CLIENTS_SHARE}.",
        evidence={"tasks": row.tasks, "nodes": row.nodes},
        advice="Set -N to the tasks per node, so that each task accesses files of the next node.",
    )


def _mixed_units(rows: Sequence[IoResult]) -> Iterator[Finding]:
    """Yield a finding if outputs print their rates in different units."""
    units = Counter(row.unit for row in measured_rows(rows) if row.unit)
    if len(units) > 1:
        names = ", ".join(f"{unit} ({number:,})" for unit, number in units.most_common())
        yield Finding(
            "mixed-units",
            f"The outputs print rates in different units: {names}. Here all are converted to MiB/s and MB/s; do not compare them as printed.",
            evidence=dict(units),
        )


def _different_runs(runs: Sequence[_Run]) -> Iterator[Finding]:
    """Yield a finding if runs of one access have different settings, so that they are not repetitions."""
    names = {"tasks": "tasks", "nodes": "nodes", "block_bytes": "block size", "transfer_bytes": "transfer size"}
    names |= {"segments": "segments", "type": "files", "api": "API"}
    alike = [run for run in runs if run.first.operations_s is None]
    differ = [words for name, words in names.items() if len({getattr(run.first, name) for run in alike}) > 1]
    if differ and len(alike) > 1:
        yield Finding(
            "different-runs",
            f"{count(len(alike), 'run')} with different {', '.join(differ)}: these are not repetitions, so their spread does not measure noise.",
            "note",
            evidence={"runs": len(alike), "settings": differ},
        )
