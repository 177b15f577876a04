"""Recommend a stripe count and size for a file, with the commands to set them.

If the machine file has the site's rule for such a file, that is the answer, with its estimate; a layout that is
estimated to take a tenth less time is reported as an alternative (`hopperkit.filesystems.site_rules`).

Otherwise, the default layout of new files is kept if it is within 5 % of the best. If it is not, the estimate of
`hopperlib.storage.lustre.rates` is maximized over counts, sizes and writing tasks, and the smallest count within 5 % of
the maximum is chosen, because objects cost other users. The layout has the form of the site's default (its pool, its
first components). Three things come before the estimate:

- the site's upper limit per file;
- a measured count, if it is only slightly higher, within the accuracy of the estimate: on Hopper nothing was gained
  above 144 OSTs [1]_;
- stripes of 1 to 16 MiB, as used by public results and sites; larger ones only if the machine's record includes a
  measurement, such as that of 64 MiB on Hopper [1]_; of these, one that gives each OST several stripes.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III-B.
"""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hopperkit.filesystems.aggregators import aggregator_reason
from hopperkit.filesystems.default_layout import (
    default_components,
    estimate_layout,
    file_bytes,
    in_its_form,
    largest_part,
)
from hopperkit.filesystems.hints import hints_line
from hopperkit.filesystems.site_rules import SiteRule, site_rule, writing_by_rule
from hopperlib import text
from hopperlib.contention.saturation import TYPICAL_FACTOR
from hopperlib.errors import at_least, refusal
from hopperlib.finding import Finding, Level
from hopperlib.machine import FileSystem
from hopperlib.machine.layouts import Component, setstripe
from hopperlib.storage.lustre.client import MOST_STRIPES
from hopperlib.storage.lustre.imbalance import expected_fullest
from hopperlib.storage.lustre.rates import Costs, Estimate, Pace, Writing
from hopperlib.storage.lustre.striping import Layout
from hopperlib.text import digits
from hopperlib.units import BYTES_PER_MIB

# The writers, and the corresponding pattern of `Writing`.
_PATTERNS = {"shared": "collective", "file-per-process": "file-per-process", "one-writer": "shared"}

# The smallest count is used that achieves this share of the best rate.
_NEAR_BEST = 0.955
# Beginning of the reason if the estimate prefers another layout to the site's.
DEPARTS = "departs from the site's rule"
# A layout that departs from the site's rule must take at most this share of its time.
_DEPARTS = 0.9
# Values used in scripts of public IO500 results on Lustre, and by sites.
_LARGEST_STRIPE_BYTES = 16 * BYTES_PER_MIB
_STRIPES_PER_OST = 16
# Counts up to this are all tried; above, in steps of 5 %.
_EVERY_COUNT = 64
_MANY_FILES = 10_000
# Share of the time from which locks are a problem.
_LOCK_PROBLEM_SHARE = 0.2
# Files up to this size can be stored entirely on the metadata server, as nearly all public IO500 scripts do.
_SMALL_FILE_BYTES = 65_536
# Objects per OST for a file of small unaligned blocks in public IO500 scripts.
_OVERSTRIPED = 4
_LIMITS = {
    "tasks": "the tasks that write",
    "clients": "the clients",
    "one file": "the writes of the clients to one file",
    "osts": "the OSTs",
    "servers": "the servers",
    "network": "the network to the servers",
    "file system": "the file system's peak",
}


class Alternative(NamedTuple):
    """Another layout, with its reason."""

    command: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A layout with its reasons and its commands.

    Parameters
    ----------
    layout : Layout
        Layout of the file, or of each file.
    writing : Writing
        How the data are written if the advice is followed: a shared file through aggregators, in whole stripes.
    reasons : tuple of str
        Reasons for the count and the size.
    commands : tuple of str
        Lines to type before the run.
    hints : tuple of (str, str)
        Hints for MPI-IO, in order; empty if MPI-IO is not involved.
    cautions : tuple of str
        Additional notes.
    estimate : Estimate
        Resulting write time.
    keeps_default : bool
        Whether this is the default layout of new files.
    mpi : str
        Library of the hints: ``cray``, ``romio`` or ``ompio``.
    alternatives : tuple of Alternative
        Newer kinds of layout, and when they fit better.
    too_large : bool
        Whether the data exceed the file system's capacity, which the last caution reports.
    by_site : bool
        Whether the layout is the site's rule.
    site_hints : str
        The site's line of hints, in place of `hints`.
    """

    layout: Layout
    writing: Writing
    reasons: tuple[str, ...]
    commands: tuple[str, ...]
    hints: tuple[tuple[str, str], ...]
    cautions: tuple[str, ...]
    estimate: Estimate
    keeps_default: bool = False
    mpi: str = "cray"
    alternatives: tuple[Alternative, ...] = ()
    too_large: bool = False
    by_site: bool = False
    site_hints: str = ""

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
        """The line that passes the hints to the MPI library (the site's, if given); None without hints."""
        return self.site_hints or hints_line(dict(self.hints), self.mpi)


def stripe_sizes(system: FileSystem) -> tuple[int, ...]:
    """Return the candidate stripe sizes: from 1 MiB to the largest with a measured benefit. [bytes]

    Parameters
    ----------
    system : FileSystem
        File system of a machine file.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> [stripe_sizes(Machine.load(name).file_systems[0])[-1] >> 20 for name in ("hopper", "perlmutter", "lumi-c")]
    [64, 16, 4]
    """
    largest = max(system.largest_stripe_size_bytes or _LARGEST_STRIPE_BYTES, system.default_stripe_size_bytes)
    powers = range((largest // BYTES_PER_MIB).bit_length())
    return tuple(sorted({system.default_stripe_size_bytes, *(BYTES_PER_MIB << power for power in powers)}))


def _stripe_size(size_bytes: int, count: int, system: FileSystem) -> int:
    """Return the site's size, otherwise the largest power of two, within bounds, that still gives each OST several
    stripes. [bytes]
    """
    if system.guide_stripe_size_bytes:
        return system.guide_stripe_size_bytes
    size = system.default_stripe_size_bytes
    # With one OST all data are on it, whatever the stripe size.
    wanted = 0 if count == 1 else size_bytes // (count * _STRIPES_PER_OST)
    while size * 2 <= min(wanted, stripe_sizes(system)[-1]):
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
    default: Sequence[Component] = (),
    mpi: str = "cray",
) -> Advice:
    """Return the recommended striping.

    Parameters
    ----------
    size_bytes : int
        Total data of a dump. [bytes]
    writers : int
        Tasks that hold the data.
    pattern : {"shared", "file-per-process", "one-writer"}
        One file for all tasks, one file per task, or one task that writes everything.
    system : FileSystem
    nodes : int or None
        Nodes of the writers; None packs them.
    cores_per_node : int
        Cores of a node, to pack the writers. [cores]
    directory, pool : str
        Folder of the files; pool of OSTs, empty for none.
    block_bytes : int
        Bytes per call of a task without collective buffering. [bytes]
    reading : bool
        Whether to optimize reading instead of writing.
    costs : Costs or None
    default : sequence of Component
        Default layout of new files; None uses the file system's record.
    mpi : {"cray", "romio", "ompio"}
        MPI-IO library for the hints.

    Raises
    ------
    InputError
        If a number is out of range or the pattern unknown.

    Examples
    --------
    The run with a trillion particles, for which these settings are documented as best:

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
    pace = Pace(writing, system, costs)
    return _advice(pace, tuple(default) or default_components(system), directory, pool, mpi)


def _advice(pace: Pace, default: tuple[Component, ...], directory: str, pool: str, mpi: str) -> Advice:
    """Return the advice for validated writes: the site's rule if there is one, otherwise the model's choice."""
    site_advice = _of_choice(pace, _choose(pace, default, pool), default, directory, pool, mpi)
    rule = site_rule(pace, default, directory, pool)
    if rule is None:
        return site_advice
    return _of_rule(pace, rule, site_advice, default)


def _of_rule(pace: Pace, rule: SiteRule, site_advice: Advice, default: tuple[Component, ...]) -> Advice:
    """Return the site's rule with its estimate; a better layout by the model is the first alternative."""
    hinted = writing_by_rule(pace, rule)
    result = estimate_layout(hinted, rule.components)
    layout = Layout(stripe_count=rule.stripe_count, stripe_size_bytes=rule.stripe_size_bytes, osts=pace.system.osts)
    better: tuple[Alternative, ...] = ()
    if site_advice.estimate.time_s < _DEPARTS * result.time_s and site_advice.commands != rule.commands:
        better = (Alternative(site_advice.commands[0], _departure(site_advice, result)),)
    stripes = f"{text.count(rule.stripe_count, 'stripe')} of {rule.stripe_size_bytes / BYTES_PER_MIB:g} MiB"
    return replace(
        site_advice,
        layout=layout,
        writing=replace(pace.writing, aggregators=result.callers),
        reasons=(
            f"{stripes}: {rule.words}",
            _site_aggregators(result) if hinted.writing.aggregators else _reason_of(pace, rule),
        ),
        commands=rule.commands,
        hints=() if rule.hints_line else _hints(layout, pace.writing, result.callers),
        site_hints=rule.hints_line or "",
        estimate=result,
        keeps_default=rule.components == default,
        alternatives=(*better, *site_advice.alternatives),
        by_site=True,
    )


def _site_aggregators(result: Estimate) -> str:
    """Return the statement that the site's hints set the number of aggregators."""
    return f"{text.count(result.callers, 'aggregator')} by the site's hints"


def _reason_of(pace: Pace, rule: SiteRule) -> str:
    """Return the reason for this number of aggregators with the site's layout."""
    return aggregator_reason(pace, rule.stripe_count, rule.stripe_size_bytes)


def _departure(site_advice: Advice, result: Estimate) -> str:
    """Return the expected gain of a layout other than the site's rule, and its basis."""
    return (
        f"{DEPARTS}: {digits(site_advice.estimate.rate_gb_s, 3)} GB/s by this estimate, compared with "
        f"{digits(result.rate_gb_s, 3)}. It depends on {limit_words(site_advice.estimate.limit)} and considers only your job, while the site considers all jobs: measure both before you adopt it"
    )


def _of_choice(
    pace: Pace, choice: "_Choice", default: tuple[Component, ...], directory: str, pool: str, mpi: str
) -> Advice:
    """Return the layout that the model chooses."""
    writing, result = pace.writing, estimate_layout(pace, choice.components)
    layout = Layout(stripe_count=choice.count, stripe_size_bytes=choice.stripe_bytes, osts=pace.system.osts)
    share = writing.size_bytes / (pace.system.capacity_pb * 1e15)
    return Advice(
        layout=layout,
        writing=replace(writing, aggregators=result.callers) if pace.collective else writing,
        reasons=tuple(_reasons(pace, choice, result)),
        commands=(setstripe(choice.components, directory),),
        hints=_hints(layout, writing, result.callers) if pace.collective else (),
        cautions=tuple(_cautions(pace, choice, result, share)),
        estimate=result,
        keeps_default=choice.components == default,
        mpi=mpi,
        # Users of a progressive layout need no note about them.
        alternatives=() if len(choice.components) > 1 else tuple(_alternatives(pace, layout, directory, pool)),
        too_large=share > 1,
    )


def limit_words(limit: str) -> str:
    """Return the name of an estimate's limit.

    Parameters
    ----------
    limit : str
        Name of the limit.

    Examples
    --------
    >>> limit_words("clients")
    'the clients'
    """
    return _LIMITS[limit]


@dataclass(frozen=True, slots=True)
class _Choice:
    """A layout, the reason for its stripe count, and the best count without the site's limit."""

    count: int
    stripe_bytes: int
    reason: str
    unlimited: int
    components: tuple[Component, ...]


def _rule_stripe(pace: Pace, count: int) -> int:
    """Return the stripe size of the rule for a count. [bytes]"""
    files = pace.writing.writers if pace.own_files else 1
    return _stripe_size(max(1, pace.writing.size_bytes // files), count, pace.system)


def _fastest(pace: Pace, count: int) -> tuple[float, int]:
    """Return the shortest time with a count, and its stripe size, including that of the rule."""
    # For separate files only the number of objects matters.
    tried = {_rule_stripe(pace, count), *(() if pace.own_files else stripe_sizes(pace.system))}
    return min((pace.time_s(count, size), size) for size in tried)


def _least(pace: Pace, most: int) -> tuple[int, int]:
    """Return the best count up to a bound, and the smallest that is nearly as fast."""
    size = pace.writing.size_bytes
    counts = {*range(1, min(most, _EVERY_COUNT) + 1), most, min(most, pace.system.useful_stripe_count or most)}
    step = float(_EVERY_COUNT)
    while (step := step * 1.05) < most:
        counts.add(int(step))
    # With few pieces, one more object can save a round.
    pieces = {-(-size // (stripe * turns)) for stripe in (BYTES_PER_MIB, 4 * BYTES_PER_MIB) for turns in range(1, 5)}
    counts |= {count for count in pieces if count <= most}
    times = {count: _fastest(pace, count)[0] for count in counts}
    best = min(times, key=times.__getitem__)
    bound = times[best] / _NEAR_BEST
    ordered = sorted(counts)
    high = next(count for count in ordered if times[count] <= bound)
    # Search between the last count that was too small and this one.
    for count in range(ordered[max(ordered.index(high) - 1, 0)] + 1, high):
        if _fastest(pace, count)[0] <= bound:
            return best, count
    return best, high


def _choose(pace: Pace, default: tuple[Component, ...], pool: str) -> _Choice:
    """Return the layout: the default if it is nearly optimal, otherwise the smallest count that is, or a documented one
    nearby.
    """
    system = pace.system
    most = min(system.max_stripe_count, system.advised_stripe_count or system.max_stripe_count)
    best, count = _least(pace, most)
    more = {min(int(most * 1.25**step), system.max_stripe_count) for step in range(1, 20)}
    unlimited = min(more, key=lambda wider: _fastest(pace, wider)[0]) if best == most else best
    bound = _fastest(pace, best)[0] / _NEAR_BEST
    by_itself = largest_part(pace, default)
    # With many files, another stripe means another object per file, which costs other users.
    fits = pool in ("", default[-1].pool) and by_itself[0] <= (count if pace.own_files else most)
    if fits and estimate_layout(pace, default).time_s <= bound:
        return _Choice(
            *by_itself, "the default for new files, and within 5 % of the best by the estimate", unlimited, default
        )
    limit = limit_words(pace.estimate(count, _fastest(pace, count)[1]).limit)
    reason = f"within 5 % of the best by the estimate, limited by {limit}"
    useful = system.useful_stripe_count
    if useful and not pace.own_files and count <= useful <= count * TYPICAL_FACTOR:
        count = useful
        reason = f"measurements here showed no gain beyond {useful} of {system.osts} OSTs"
    elif count == 1:
        reason = f"more would gain less than 5 %: {limit} are the limit"
    if unlimited > most:
        reason += f"; the site allows no file on more than {most}"
    stripe = _near_rule(pace, count, bound)
    return _Choice(
        count, stripe, reason, unlimited, in_its_form(default, count, stripe, system, file_bytes(pace), pool)
    )


def _near_rule(pace: Pace, count: int, bound_s: float) -> int:
    """Return the stripe size nearest to the rule's that is nearly as fast as the best. [bytes]"""
    rule = _rule_stripe(pace, count)
    if pace.own_files:
        return rule
    bound_s = max(bound_s, _fastest(pace, count)[0])
    near = (size for size in {rule, *stripe_sizes(pace.system)} if pace.time_s(count, size) <= bound_s)
    return min(near, key=lambda size: abs(math.log2(size / rule)))


def _reasons(pace: Pace, choice: _Choice, result: Estimate) -> Iterator[str]:
    """Yield the reasons for the count, the size and the number of aggregators."""
    stripes = f"{choice.count} stripe{'s' * (choice.count > 1)}"
    if pace.own_files:
        yield f"{stripes} a file: {choice.reason}"
        return
    yield f"{stripes}: {choice.reason}"
    yield f"stripes of {choice.stripe_bytes / BYTES_PER_MIB:g} MiB: {_size_reason(pace, choice)}"
    if pace.collective:
        yield aggregator_reason(pace, choice.count, choice.stripe_bytes)


def _size_reason(pace: Pace, choice: _Choice) -> str:
    """Return the reason for this stripe size."""
    if choice.stripe_bytes > _rule_stripe(pace, choice.count):
        return "the smallest count has the fewest lock transfers"
    return "with one OST any size will do" if choice.count == 1 else "large pieces, but still several per OST"


def _hints(layout: Layout, writing: Writing, aggregators: int) -> tuple[tuple[str, str], ...]:
    """Return the hints for MPI-IO."""
    stripe = str(layout.stripe_size_bytes)
    gather = {"romio_cb_write": "enable", "romio_ds_write": "disable"}
    hints = {"romio_cb_read": "enable"} if writing.reading else gather
    hints |= {"striping_factor": str(layout.stripe_count), "striping_unit": stripe}
    return (*hints.items(), ("cb_nodes", str(aggregators)), ("cb_buffer_size", stripe))


def _cautions(pace: Pace, choice: _Choice, result: Estimate, share: float) -> Iterator[str]:
    """Yield cautions: slow OSTs, many files, differences from the site's advice, and space."""
    if pace.collective:
        yield "one slow or nearly full OST slows every write to the file: probe them first"
    if pace.own_files:
        yield from _many_files(pace.writing.writers, choice.count, pace.system.osts)
    most, wider = pace.system.advised_stripe_count, choice.unlimited
    if wider > choice.count and most:
        rate = pace.estimate(wider, _fastest(pace, wider)[1]).rate_gb_s
        if rate * _NEAR_BEST > result.rate_gb_s:
            yield (
                f"by this estimate {wider} stripes would give {digits(rate, 3)} GB/s, but the site allows no file on "
                f"more than {most} OSTs: contact it before using more"
            )
    if share > 0.25:
        yield f"the data are {text.share(share)} of the file system's capacity"


def _alternatives(pace: Pace, layout: Layout, directory: str, pool: str) -> Iterator[Alternative]:
    """Yield newer kinds of layout, and when they fit better."""
    writing, osts = pace.writing, pace.system.osts
    file_bytes = writing.size_bytes / (writing.writers if pace.own_files else 1)
    within = f"-p {pool} {shlex.quote(directory)}" if pool else shlex.quote(directory)
    if file_bytes <= _SMALL_FILE_BYTES:
        yield Alternative(
            f"lfs setstripe -E 64k -L mdt -E -1 -c 1 {within}",
            "for files this small, with Lustre 2.11 or newer and space on the metadata servers: "
            "the first 64 KiB are stored there, and a small file needs no OST",
        )
    # A site with a limit does not allow objects on every OST.
    if pace.collective and not writing.reading and not pace.system.advised_stripe_count:
        objects = min(_OVERSTRIPED * osts, MOST_STRIPES)
        yield Alternative(
            f"lfs setstripe -C {objects} {within}",
            "if the tasks write small blocks themselves, without aggregators, with Lustre 2.13 or newer: "
            f"{objects:,} objects, several on each of {osts} OSTs, share the locks",
        )


def writing_findings(
    writing: Writing, layout: Layout, system: FileSystem, estimate: Estimate, advice: Advice
) -> tuple[Finding, ...]:
    """Return the findings about writing a file with this layout.

    Parameters
    ----------
    writing : Writing
    layout : Layout
    system : FileSystem
    estimate : Estimate
        Estimate of the writes, from `hopperlib.storage.lustre.rates.estimate`.
    advice : Advice
        Its cautions apply too.

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
    return (*_layout_findings(writing, layout, system, estimate), *advice.findings)


def _layout_findings(writing: Writing, layout: Layout, system: FileSystem, estimate: Estimate) -> Iterator[Finding]:
    """Yield problems with the layout for these writes."""
    # Aggregators write whole stripes already.
    if writing.pattern == "shared" and estimate.locks_s > _LOCK_PROBLEM_SHARE * estimate.time_s:
        message = (
            "Much of the time is spent on lock transfers. Let aggregators write whole stripes "
            "(collective buffering), or write larger blocks."
        )
        yield Finding("lock-contention", message, "problem")
    block, stripe = writing.block_bytes, layout.stripe_size_bytes
    if writing.pattern == "shared" and block % stripe and stripe % block:
        message = "Blocks and stripes do not line up: many blocks are cut in two. Make one a multiple of the other."
        yield Finding("unaligned", message)
    if layout.stripe_count == system.max_stripe_count and writing.pattern != "file-per-process":
        message = "A file on every OST is written at the speed of the slowest one, and no OST can be avoided."
        yield Finding("all-osts", message, "note")


def _many_files(files: int, count: int, osts: int) -> Iterator[str]:
    """Yield cautions about many files: placed at random, they may load one OST much more than the others."""
    fullest, mean = expected_fullest(files, count, osts), files * count / osts
    random = "if files are placed on OSTs at random, the fullest gets"
    if mean < 1 and fullest > 1.05:
        # Most OSTs get nothing; the question is whether two files share one.
        yield f"{random} {fullest:.1f} stripes where 1 would do"
    elif mean >= 1 and fullest > 1.05 * mean:
        yield f"{random} {fullest / mean:.2f} times the mean, and all wait for it"
    if files >= _MANY_FILES:
        yield f"{files:,} files per dump are slow to list and to read back: consider one shared file"
