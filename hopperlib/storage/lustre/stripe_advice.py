"""Which stripe count and size a file should have, and the commands that give it them.

Four rules, each with its reason:

- no more OSTs than the clients can keep busy;
- no more than give each OST a second of work;
- for one shared file no more than twelve of thirteen servers: on Hopper nothing
  was gained above 144 of 156 OSTs [1]_, and whoever uses all can avoid none;
- where every task has a file of its own and there are more files than OSTs, one
  stripe each: the files themselves spread over the OSTs.

Stripes of a large shared file are 64 MiB, as the documented scan chose them;
smaller files have smaller ones, so that each OST gets several.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III-B.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hopperlib.errors import at_least, refusal
from hopperlib.finding import Finding
from hopperlib.machine import FileSystem
from hopperlib.storage.lustre.imbalance import expected_fullest
from hopperlib.storage.lustre.rates import Estimate, Writing
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB

__all__ = ["Advice", "advise", "writing_findings"]

# Who writes, and the pattern of `Writing` that the advice makes of it.
_PATTERNS = {"shared": "collective", "file-per-process": "file-per-process", "one-writer": "shared"}

_SERVERS_OF_A_SHARED_FILE = (12, 13)
_LARGEST_STRIPE_BYTES = 64 * BYTES_PER_MIB
_STRIPES_PER_OST = 16
_MANY_FILES = 10_000
_LEAST_SECONDS = 1.0
# Share of the time from which locks are a problem.
_MUCH = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A layout with its reasons and its commands.

    Parameters
    ----------
    layout : Layout
        Of the file, or of each file.
    writing : Writing
        How the data are written if the advice is followed: a shared file through aggregators, in whole stripes.
    reasons : tuple of str
        Why the count, why the size.
    commands : tuple of str
        Lines to type before the run.
    hints : tuple of (str, str)
        Hints for MPI-IO, in order; empty where MPI-IO has no part.
    cautions : tuple of str
        What else to know.
    too_large : bool
        Whether the data are more than the file system holds, which the last caution says.
    """

    layout: Layout
    writing: Writing
    reasons: tuple[str, ...]
    commands: tuple[str, ...]
    hints: tuple[tuple[str, str], ...]
    cautions: tuple[str, ...]
    too_large: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The cautions as findings; a problem only if the data do not fit."""
        last = len(self.cautions) - 1
        return tuple(
            Finding(
                code="mind",
                message=f"{caution[0].upper()}{caution[1:]}.",
                level="problem" if self.too_large and number == last else "note",
            )
            for number, caution in enumerate(self.cautions)
        )

    @property
    def hints_line(self) -> str | None:
        """The line that hands the hints to Cray's MPI; None without hints."""
        if not self.hints:
            return None
        return "export MPICH_MPIIO_HINTS='*:" + ":".join(f"{key}={value}" for key, value in self.hints) + "'"

    @property
    def romio_file(self) -> str | None:
        """The same hints as a file for ``ROMIO_HINTS``, which other MPI libraries read; None without hints."""
        return "".join(f"{key} {value}\n" for key, value in self.hints) or None


def _shared_most(system: FileSystem) -> int:
    """Return the most OSTs for one shared file: whole servers, twelve of thirteen."""
    above, below = _SERVERS_OF_A_SHARED_FILE
    servers = max(1, system.osts // system.osts_per_oss * above // below)
    return max(1, min(system.max_stripe_count, servers * system.osts_per_oss))


def _stripe_size(size_bytes: int, count: int, default: int) -> int:
    """Return the largest power of two that still gives each OST several stripes, within bounds. [bytes]"""
    if count == 1:
        # Everything is on one OST, in pieces of whatever size.
        return default
    wanted = size_bytes // (count * _STRIPES_PER_OST)
    size = default
    while size * 2 <= min(wanted, _LARGEST_STRIPE_BYTES):
        size *= 2
    return size


def _fewest(candidates: dict[str, int]) -> tuple[int, str]:
    """Return the least count, at least 1, and what sets it."""
    reason = min(candidates, key=candidates.__getitem__)
    return max(1, candidates[reason]), reason


def advise(
    size_bytes: int,
    writers: int,
    pattern: str,
    system: FileSystem,
    *,
    nodes: int | None = None,
    cores_per_node: int = 1,
    directory: str = "DIRECTORY",
) -> Advice:
    """Return the striping that suits.

    Parameters
    ----------
    size_bytes : int
        All data of a dump together. [bytes]
    writers : int
        Tasks that hold the data.
    pattern : {"shared", "file-per-process", "one-writer"}
        One file for all, one file a task, or one task that writes all.
    system : FileSystem
    nodes : int or None
        Nodes of the writers; None packs them.
    cores_per_node : int
        Cores of a node, to pack the writers. [cores]
    directory : str
        Where the files will be.

    Raises
    ------
    InputError
        If a number is out of range or the pattern unknown.

    Examples
    --------
    The trillion particles, and the settings that were documented as best:

    >>> from hopperlib.machine import Machine
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> advice = advise(31 * 10**12, 20_000, "shared", scratch, nodes=5_000)
    >>> advice.layout.stripe_count, advice.layout.stripe_size_bytes >> 20
    (144, 64)
    >>> advice.writing.pattern, advice.commands
    ('collective', ('lfs setstripe -c 144 -S 64M DIRECTORY',))
    """
    writing = _writing(size_bytes, writers, pattern, nodes, cores_per_node)
    if writing.pattern == "file-per-process":
        return _file_per_process(writing, system, directory)
    return _one_file(writing, system, directory)


def _writing(size_bytes: int, writers: int, pattern: str, nodes: int | None, cores_per_node: int) -> Writing:
    """Return how the data are written if the advice is followed: a shared file through aggregators, in whole stripes."""
    if pattern not in _PATTERNS:
        raise refusal("pattern", pattern, f"must be one of: {', '.join(_PATTERNS)}")
    at_least(1, size_bytes=size_bytes, writers=writers)
    callers = 1 if pattern == "one-writer" else writers
    nodes = -(-callers // cores_per_node) if nodes is None else min(nodes, callers)
    at_least(1, nodes=nodes)
    return Writing(size_bytes=size_bytes, writers=callers, nodes=nodes, pattern=_PATTERNS[pattern])


def writing_findings(
    writing: Writing, layout: Layout, system: FileSystem, estimate: Estimate, advice: Advice
) -> tuple[Finding, ...]:
    """Return what is wrong with writing so to a file with this layout, and what to know about it.

    Parameters
    ----------
    writing : Writing
    layout : Layout
    system : FileSystem
    estimate : Estimate
        What the writes take, as `hopperlib.storage.lustre.rates.estimate` gives it.
    advice : Advice
        Whose cautions hold too.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.storage.lustre.rates import estimate
    >>> scratch = Machine.load("hopper").file_systems[0]
    >>> writing = Writing(size_bytes=10**12, writers=2400, nodes=100, block_bytes=1_500_000)
    >>> layout = Layout(stripe_count=2, stripe_size_bytes=1 << 20, osts=scratch.osts)
    >>> advice = advise(10**12, 2400, "shared", scratch, nodes=100)
    >>> [finding.code for finding in writing_findings(writing, layout, scratch, estimate(writing, layout, scratch), advice)]
    ['lock-contention', 'unaligned', 'mind']
    """
    found = []
    if estimate.locks_s > _MUCH * estimate.time_s:
        message = "Much of the time goes into locks that change hands. Let aggregators write whole stripes (collective buffering), or write larger blocks."
        found.append(Finding(code="lock-contention", message=message, level="problem"))
    block, stripe = writing.block_bytes, layout.stripe_size_bytes
    if writing.pattern == "shared" and block % stripe and stripe % block:
        message = "Blocks and stripes do not line up: many blocks are cut in two. Make one a multiple of the other."
        found.append(Finding(code="unaligned", message=message))
    if layout.stripe_count == system.max_stripe_count and writing.pattern != "file-per-process":
        message = "A file over every OST is as slow as the slowest of them, and none can be avoided."
        found.append(Finding(code="all-osts", message=message, level="note"))
    return (*found, *advice.findings)


def _useful(size_bytes: int, system: FileSystem, clients_gb_s: float) -> dict[str, int]:
    """Return how many OSTs the clients can keep busy, and how many have a second of work."""
    rate = system.ost_peak_gb_s
    return {
        f"the clients pass on {clients_gb_s:,.3g} GB/s, an OST takes {rate:.3g} GB/s": math.ceil(
            clients_gb_s / rate - 1e-9
        ),
        "every OST should have at least a second of work": int(size_bytes / BYTES_PER_GB / rate / _LEAST_SECONDS),
    }


def _one_file(writing: Writing, system: FileSystem, directory: str) -> Advice:
    """Advise for one file, written by all or by one."""
    size_bytes, writers = writing.size_bytes, writing.writers
    shared = writing.pattern == "collective" and writers > 1
    share = size_bytes / (system.capacity_pb * 1e15)
    most = _shared_most(system)
    bounds = _useful(size_bytes, system, min(writing.nodes * system.node_write_ceiling_gb_s, system.peak_gb_s))
    bounds[_enough(most, system)] = most
    count, reason = _fewest(bounds)
    layout = Layout(
        stripe_count=count,
        stripe_size_bytes=_stripe_size(size_bytes, count, system.default_stripe_size_bytes),
        osts=system.osts,
    )
    reasons = [f"{count} stripe{'s' * (count > 1)}: {reason}"]
    size = f"{layout.stripe_size_bytes // BYTES_PER_MIB or layout.stripe_size_bytes / BYTES_PER_MIB:g} MiB"
    reasons.append(
        f"stripes of {size}: "
        + ("with one OST any size will do" if count == 1 else "large pieces, and still several for each OST")
    )
    hints: tuple[tuple[str, str], ...] = ()
    cautions = []
    if shared:
        aggregators = min(count, writers)
        stripe = str(layout.stripe_size_bytes)
        reasons.append(
            f"{aggregators} aggregator{'s' * (aggregators > 1)}, one for each stripe, so that no two clients write to one object"
        )
        hints = (
            ("romio_cb_write", "enable"),
            ("romio_ds_write", "disable"),
            ("striping_factor", str(count)),
            ("striping_unit", stripe),
            ("cb_nodes", str(aggregators)),
            ("cb_buffer_size", stripe),
        )
        cautions.append("one slow or nearly full OST of the file slows every write: probe them first")
    return Advice(
        layout=layout,
        writing=writing,
        reasons=tuple(reasons),
        commands=(layout.lfs_command(directory),),
        hints=hints,
        cautions=(*cautions, *_capacity(share)),
        too_large=share > 1,
    )


def _enough(most: int, system: FileSystem) -> str:
    """Say why no shared file should have more OSTs, in words that hold for this file system."""
    above, below = _SERVERS_OF_A_SHARED_FILE
    here = f"here {most} of {system.osts} OSTs"
    return f"beyond {above} of {below} servers ({here}) nothing was gained on Hopper, and none could be avoided"


def _uneven(files: int, count: int, osts: int) -> list[str]:
    """Return a caution if files that fall on OSTs at random load one much more than the others."""
    fullest, mean = expected_fullest(files, count, osts), files * count / osts
    if mean < 1:
        # Most OSTs get nothing; what counts is whether two files meet on one.
        if fullest <= 1.05:
            return []
        return [f"if the files fall on OSTs at random, the fullest gets {fullest:.1f} stripes where 1 would do"]
    if fullest <= 1.05 * mean:
        return []
    over = f"{fullest / mean:.2f} times the mean"
    return [f"if the files fall on OSTs at random, the fullest gets {over}, and all wait for it"]


def _file_per_process(writing: Writing, system: FileSystem, directory: str) -> Advice:
    """Advise for a file a task."""
    size_bytes, writers = writing.size_bytes, writing.writers
    each = max(1, size_bytes // writers)
    share = size_bytes / (system.capacity_pb * 1e15)
    clients_gb_s = min(system.node_write_ceiling_gb_s * writing.nodes / writers, system.peak_gb_s / writers)
    bounds = _useful(each, system, clients_gb_s)
    bounds[f"{writers:,} files share {system.osts} OSTs"] = max(1, system.osts // writers)
    bounds[f"a file may have {system.max_stripe_count}"] = system.max_stripe_count
    count, reason = _fewest(bounds)
    layout = Layout(
        stripe_count=count,
        stripe_size_bytes=_stripe_size(each, count, system.default_stripe_size_bytes),
        osts=system.osts,
    )
    cautions = _uneven(writers, count, system.osts)
    if writers >= _MANY_FILES:
        cautions.append(f"{writers:,} files a dump are slow to list and to read back: consider one shared file")
    return Advice(
        layout=layout,
        writing=writing,
        reasons=(f"{count} stripe{'s' * (count > 1)} a file: {reason}",),
        commands=(layout.lfs_command(directory),),
        hints=(),
        cautions=(*cautions, *_capacity(share)),
        too_large=share > 1,
    )


def _capacity(share: float) -> list[str]:
    """Return a caution if the data fill much of the file system."""
    return [f"the data are {share:.0%} of the file system's capacity"] if share > 0.25 else []
