"""Which stripe count and size a file should have, and the commands that give it them.

The estimate of `hopperlib.storage.lustre.rates` is made as high as it gets, over
counts, sizes and the tasks that write, and then the least count is taken that
comes within 5 % of it: objects cost others too. Three things stand above the estimate:

- what the site wants no file to have more of;
- a count that was measured, or that the site advises for the size, if it lies
  less than 5 % above: on Hopper nothing was gained above 144 OSTs [1]_;
- stripes of 64 MiB for large shared files, as the documented scan chose them,
  smaller ones for smaller files so that each OST gets several: another size only
  if it is worth it.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III-B.
"""

import math
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hopperlib.errors import at_least, refusal
from hopperlib.finding import Finding, Level
from hopperlib.machine import FileSystem
from hopperlib.storage.lustre.imbalance import expected_fullest
from hopperlib.storage.lustre.rates import Costs, Estimate, Pace, Writing
from hopperlib.storage.lustre.striping import Layout
from hopperlib.storage.wording import say
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB, binary_size_text

# Who writes, and the pattern of `Writing` that the advice makes of it.
_PATTERNS = {"shared": "collective", "file-per-process": "file-per-process", "one-writer": "shared"}

# The least count is taken that is as fast as this share of the best.
_NEAR_BEST = 0.955
_LARGEST_STRIPE_BYTES = 64 * BYTES_PER_MIB
_STRIPE_SIZES = tuple(BYTES_PER_MIB << power for power in range(11))
_STRIPES_PER_OST = 16
# Counts that are all tried; above, steps of 5 %.
_EVERY_COUNT = 64
_MANY_FILES = 10_000
# Share of the time from which locks are a problem.
_MUCH = 0.2
# Files up to this size can lie on the metadata server as a whole: what nearly all public IO500 scripts give them.
_SMALL_FILE_BYTES = 65_536
# Objects an OST that public IO500 scripts give a file of small unaligned blocks.
_OVERSTRIPED = 4
_GUIDE_FROM_GB = (1, 10, 100)


class Alternative(NamedTuple):
    """Another layout, for what its reason says."""

    command: str
    reason: str


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
    estimate : Estimate
        What the writes then take.
    alternatives : tuple of Alternative
        Newer kinds of layout, and when they fit better.
    too_large : bool
        Whether the data are more than the file system holds, which the last caution says.
    """

    layout: Layout
    writing: Writing
    reasons: tuple[str, ...]
    commands: tuple[str, ...]
    hints: tuple[tuple[str, str], ...]
    cautions: tuple[str, ...]
    estimate: Estimate
    alternatives: tuple[Alternative, ...] = ()
    too_large: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The cautions as findings; a problem only if the data do not fit."""
        levels: list[Level] = ["note"] * len(self.cautions)
        # The caution that the data do not fit is the last, if there are any.
        levels[-1:] = ["problem" if self.too_large else "note"] * bool(levels)
        messages = (f"{caution[0].upper()}{caution[1:]}." for caution in self.cautions)
        return tuple(Finding("mind", message, level) for message, level in zip(messages, levels, strict=True))

    @property
    def hints_line(self) -> str | None:
        """The line that hands the hints to Cray's MPI; None without hints."""
        if not self.hints:
            return None
        return "export MPICH_MPIIO_HINTS='*:" + ":".join(f"{key}={value}" for key, value in self.hints) + "'"


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


def advise(
    size_bytes: int,
    writers: int,
    pattern: str,
    system: FileSystem,
    *,
    nodes: int | None = None,
    cores_per_node: int = 1,
    directory: str = "DIRECTORY",
    pool: str = "",
    block_bytes: int = BYTES_PER_MIB,
    reading: bool = False,
    costs: Costs | None = None,
    other_load_fraction: float = 0.0,
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
    directory, pool : str
        Where the files will be; the pool of OSTs, empty for none.
    block_bytes : int
        What a task moves in one call where nobody gathers. [bytes]
    reading : bool
        Whether the rate of reading counts.
    costs : Costs or None
    other_load_fraction : float
        As for `hopperlib.storage.lustre.rates.estimate`.

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
    if pattern not in _PATTERNS:
        raise refusal("pattern", pattern, f"must be one of: {', '.join(_PATTERNS)}")
    at_least(1, size_bytes=size_bytes, writers=writers)
    callers = 1 if pattern == "one-writer" else writers
    nodes = -(-callers // cores_per_node) if nodes is None else min(nodes, callers)
    at_least(1, nodes=nodes)
    as_written = "shared" if callers == 1 and pattern == "shared" else _PATTERNS[pattern]
    calls: dict[str, Any] = {"block_bytes": block_bytes, "reading": reading}
    writing = Writing(size_bytes=size_bytes, writers=callers, nodes=nodes, pattern=as_written, **calls)
    pace = Pace(writing, system, costs, other_load_fraction)
    choice = _choose(pace)
    layout = Layout(stripe_count=choice.count, stripe_size_bytes=choice.stripe_bytes, osts=system.osts)
    result = pace.estimate(choice.count, choice.stripe_bytes)
    share = size_bytes / (system.capacity_pb * 1e15)
    return Advice(
        layout=layout,
        writing=replace(writing, aggregators=result.callers) if pace.collective else writing,
        reasons=tuple(_reasons(pace, choice, result)),
        commands=(layout.lfs_command(directory, pool),),
        hints=_hints(layout, writing, result.callers) if pace.collective else (),
        cautions=tuple(_cautions(pace, choice, result, share)),
        estimate=result,
        alternatives=tuple(_alternatives(pace, layout, directory, pool)),
        too_large=share > 1,
    )


def limit_words(limit: str) -> str:
    """Return what the limit of an estimate is called.

    Examples
    --------
    >>> limit_words("clients")
    'the clients'
    """
    return _words(f"limit-{limit}")


def _words(text: str, **numbers: Any) -> str:
    """Return one line of an advice."""
    return say(text, **numbers).message


@dataclass(frozen=True, slots=True)
class _Choice:
    """A layout, why no more stripes, and the best count if the site had no limit."""

    count: int
    stripe_bytes: int
    reason: str
    unlimited: int


def _rule_stripe(pace: Pace, count: int) -> int:
    """Return the stripe size of the rule for a count. [bytes]"""
    files = pace.writing.writers if pace.own_files else 1
    return _stripe_size(max(1, pace.writing.size_bytes // files), count, pace.system.default_stripe_size_bytes)


def _fastest(pace: Pace, count: int) -> tuple[float, int]:
    """Return the least time with a count, and the stripe size that gives it, that of the rule among them."""
    # Of files of their own only the number of objects counts.
    tried = {_rule_stripe(pace, count), *(() if pace.own_files else _STRIPE_SIZES)}
    return min((pace.time_s(count, size), size) for size in tried)


def _least(pace: Pace, most: int) -> tuple[int, int]:
    """Return the best count up to a bound, and the least that is nearly as fast."""
    size = pace.writing.size_bytes
    counts = {*range(1, min(most, _EVERY_COUNT) + 1), most, min(most, pace.system.useful_stripe_count or most)}
    step = float(_EVERY_COUNT)
    while (step := step * 1.05) < most:
        counts.add(int(step))
    # Where a few pieces are dealt out, one object more can save a turn.
    pieces = {-(-size // (stripe * turns)) for stripe in (BYTES_PER_MIB, 4 * BYTES_PER_MIB) for turns in range(1, 5)}
    counts |= {count for count in pieces if count <= most}
    times = {count: _fastest(pace, count)[0] for count in counts}
    best = min(times, key=times.__getitem__)
    bound = times[best] / _NEAR_BEST
    ordered = sorted(counts)
    high = next(count for count in ordered if times[count] <= bound)
    # Between the last count tried that was too few and this one.
    for count in range(ordered[max(ordered.index(high) - 1, 0)] + 1, high):
        if _fastest(pace, count)[0] <= bound:
            return best, count
    return best, high


def _choose(pace: Pace) -> _Choice:
    """Return the layout: the least count near the best, or one nearby that is stated."""
    system = pace.system
    most = min(system.max_stripe_count, system.advised_stripe_count or system.max_stripe_count)
    best, count = _least(pace, most)
    more = {min(int(most * 1.25**step), system.max_stripe_count) for step in range(1, 20)}
    unlimited = min(more, key=lambda wider: _fastest(pace, wider)[0]) if best == most else best
    bound = _fastest(pace, best)[0] / _NEAR_BEST
    limit = limit_words(pace.estimate(count, _fastest(pace, count)[1]).limit)
    reason = _words("why-near-best", limit=limit)
    useful, guide = system.useful_stripe_count, _guide(pace)
    if useful and not pace.own_files and count <= useful <= count / 0.93:
        count, reason = useful, _words("why-useful", useful=useful, osts=system.osts)
    elif guide and count <= guide <= min(most, count / 0.93):
        count, reason = guide, _words("why-guide")
    elif count == 1:
        reason = _words("why-one", limit=limit)
    if unlimited > most:
        reason += f"; the site wants no file on more than {most}"
    return _Choice(count, _near_rule(pace, count, bound), reason, unlimited)


def _near_rule(pace: Pace, count: int, bound_s: float) -> int:
    """Return the stripe size nearest to that of the rule that is nearly as fast as the best. [bytes]"""
    rule = _rule_stripe(pace, count)
    if pace.own_files:
        return rule
    bound_s = max(bound_s, _fastest(pace, count)[0])
    near = (size for size in {rule, *_STRIPE_SIZES} if pace.time_s(count, size) <= bound_s)
    return min(near, key=lambda size: abs(math.log2(size / rule)))


def _guide(pace: Pace) -> int | None:
    """Return the count that the site advises for a shared file of this size, if it does."""
    guide = pace.system.guide_stripe_counts
    place = sum(pace.writing.size_bytes >= low * BYTES_PER_GB for low in _GUIDE_FROM_GB)
    return guide[place - 1] if guide and place and not pace.own_files else None


def _reasons(pace: Pace, choice: _Choice, result: Estimate) -> Iterator[str]:
    """Yield why this count, this size and so many aggregators."""
    count, mib = choice.count, choice.stripe_bytes / BYTES_PER_MIB
    each = " a file" if pace.own_files else ""
    yield f"{count} stripe{'s' * (count > 1)}{each}: {choice.reason}"
    if pace.own_files:
        return
    larger = choice.stripe_bytes > _rule_stripe(pace, count)
    yield _words("why-larger" if larger else "why-any-size" if count == 1 else "why-size", mib=mib)
    if pace.collective:
        callers = result.callers
        text = "why-one-aggregator-a-stripe" if callers <= count else "why-more-aggregators"
        yield _words(text, callers=callers, each=callers / count, task_gb_s=pace.task_gb_s, ost_gb_s=pace.ost_gb_s)


def _hints(layout: Layout, writing: Writing, aggregators: int) -> tuple[tuple[str, str], ...]:
    """Return the hints for MPI-IO."""
    stripe = str(layout.stripe_size_bytes)
    gather = {"romio_cb_write": "enable", "romio_ds_write": "disable"}
    hints = {"romio_cb_read": "enable"} if writing.reading else gather
    hints |= {"striping_factor": str(layout.stripe_count), "striping_unit": stripe}
    return (*hints.items(), ("cb_nodes", str(aggregators)), ("cb_buffer_size", stripe))


def _cautions(pace: Pace, choice: _Choice, result: Estimate, share: float) -> Iterator[str]:
    """Yield what to mind: slow OSTs, many files, what the site says where it differs, and the space."""
    if pace.collective:
        yield _words("mind-probe")
    if pace.own_files:
        yield from _many_files(pace.writing.writers, choice.count, pace.system.osts)
    guide = _guide(pace)
    if guide and guide != choice.count:
        rate = pace.estimate(guide, _fastest(pace, guide)[1]).rate_gb_s
        yield _words("mind-guide", guide=guide, guide_gb_s=rate, rate_gb_s=result.rate_gb_s, count=choice.count)
    most, wider = pace.system.advised_stripe_count, choice.unlimited
    if wider > choice.count and most:
        rate = pace.estimate(wider, _fastest(pace, wider)[1]).rate_gb_s
        if rate * _NEAR_BEST > result.rate_gb_s:
            yield _words("mind-limit", unlimited=wider, unlimited_gb_s=rate, most=most)
    if share > 0.25:
        yield _words("mind-share", share=share)


def _alternatives(pace: Pace, layout: Layout, directory: str, pool: str) -> Iterator[Alternative]:
    """Yield newer kinds of layout, and when they fit better."""
    writing, count, stripe = pace.writing, layout.stripe_count, binary_size_text(layout.stripe_size_bytes)
    each = writing.size_bytes / (writing.writers if pace.own_files else 1)
    within = f"-p {pool} {shlex.quote(directory)}" if pool else shlex.quote(directory)
    if each <= _SMALL_FILE_BYTES:
        yield _other("other-on-mdt", within=within)
    steps = [low for low in _GUIDE_FROM_GB if low * BYTES_PER_GB < each]
    if count > 1 and steps:
        # The best count grows with the root of the size where opening objects is what it costs.
        parts = {1: f"{steps[0]}G"}
        for high in steps[1:]:
            # Of layers with one count the last is left.
            parts[max(1, round(count * math.sqrt(high * BYTES_PER_GB / each)))] = f"{high}G"
        layers = (f"-E {end} -c {number} -S {stripe}" for number, end in (parts | {count: "-1"}).items())
        yield _other("other-progressive", layers=" ".join(layers), within=within)
    # Objects on every OST are what a site with a limit does not want.
    if pace.collective and not writing.reading and not pace.system.advised_stripe_count:
        objects = min(_OVERSTRIPED * pace.system.osts, 2000)
        yield _other("other-overstriped", objects=objects, osts=pace.system.osts, within=within)


def _other(text: str, **words: Any) -> Alternative:
    """Return another layout in the words of the table."""
    finding = say(text, **words)
    return Alternative(finding.advice, finding.message)


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
    findings = [say("lock-contention")] if estimate.locks_s > _MUCH * estimate.time_s else []
    block, stripe = writing.block_bytes, layout.stripe_size_bytes
    if writing.pattern == "shared" and block % stripe and stripe % block:
        findings.append(say("unaligned"))
    if layout.stripe_count == system.max_stripe_count and writing.pattern != "file-per-process":
        findings.append(say("all-osts"))
    return (*findings, *advice.findings)


def _many_files(files: int, count: int, osts: int) -> Iterator[str]:
    """Yield cautions about many files: one OST may get much more than the others if they fall at random."""
    fullest, mean = expected_fullest(files, count, osts), files * count / osts
    if mean < 1 and fullest > 1.05:
        # Most OSTs get nothing; what counts is whether two files meet on one.
        yield _words("mind-meeting", fullest=fullest)
    elif mean >= 1 and fullest > 1.05 * mean:
        yield _words("mind-fullest", over=fullest / mean)
    if files >= _MANY_FILES:
        yield _words("mind-many-files", files=files)
