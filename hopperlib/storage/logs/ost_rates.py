"""What rate each OST gave, and whether one of them is slow, from the files of a Darshan log.

A log says how long a task waited for a file, and on which OSTs the file lies;
nothing about OSTs themselves. So an OST can be judged only by files that lie on
it and not on others. Files over all OSTs tell nothing, and files that always
share the same OSTs leave these undistinguished.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

from hopperlib.storage.logs.darshan_log import DarshanLog, FileRecord
from hopperlib.units import BYTES_PER_MIB

__all__ = ["OstRate", "SlowOst", "Verdict", "judge_osts"]

# Below a mebibyte a file shows caches and latency, not an OST.
MIN_BYTES = BYTES_PER_MIB
MIN_OSTS = 3
# An OST is slow from this factor on, if that is also twice what the ordinary ones differ by.
SLOW_FACTOR = 3.0
SPREAD_FACTOR = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OstRate:
    """What one task got from an OST, over the files that tell it apart.

    Parameters
    ----------
    osts : tuple of int
        One OST; several if every file on one lies on the others too.
    files : int
    moved_bytes : float
        Bytes of these files on it. [bytes]
    rate_mb_s : float
        Bytes by time of a task; for striped files the best any of them got. [MB/s]
    delivered_mb_s : float or None
        Bytes by the time from the first call to the last: what the OST gave all tasks. [MB/s]
    """

    osts: tuple[int, ...]
    files: int
    moved_bytes: float
    rate_mb_s: float
    delivered_mb_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowOst:
    """An OST that is slower than the others, and by what factor."""

    rate: OstRate
    factor: float
    reference_mb_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether OSTs are slow in one direction.

    Parameters
    ----------
    direction : str
        ``read`` or ``write``.
    rates : tuple of OstRate
        Slowest first.
    slow : tuple of SlowOst
        Slowest first.
    unknown : str
        Why the log cannot tell; empty if it can.
    """

    direction: str
    rates: tuple[OstRate, ...] = ()
    slow: tuple[SlowOst, ...] = ()
    unknown: str = ""


def judge_osts(log: DarshanLog, direction: str) -> Verdict:
    """Return the rate of each OST and which of them are slow.

    An OST counts as slow if a task got a third of the usual rate from it or
    less. Two rates must say so: what a task got, which also falls when many
    tasks share an OST, and what the OST gave all of them, which also falls when
    few ask. The smaller of the two factors is named.

    Parameters
    ----------
    log : DarshanLog
    direction : str
        ``read`` or ``write``.

    Raises
    ------
    ValueError
        If the direction is another.

    Examples
    --------
    >>> from hopperlib.storage.logs.darshan_log import StripeLayout
    >>> def file(ost, seconds):
    ...     layout = StripeLayout(stripe_count=1, stripe_size_bytes=1 << 20, osts=(ost,))
    ...     return FileRecord(path=f"f{ost}", bytes_written=10**9, write_s=seconds, layout=layout)
    >>> log = DarshanLog(executable=None, job_id=1, tasks=4, run_time_s=40.0, modules=(), files=tuple(
    ...     file(ost, 40.0 if ost == 2 else 4.0) for ost in range(4)))
    >>> [(slow.rate.osts, slow.factor) for slow in judge_osts(log, "write").slow]
    [((2,), 10.0)]
    """
    if direction not in ("read", "write"):
        raise ValueError(f"direction={direction!r} must be read or write")
    used = [one for one in log.files if one.moved(direction)[0] > 0 and one.layout is not None]
    files = [
        one
        for one in used
        if one.layout is not None
        and one.layout.osts
        and one.moved(direction)[0] >= MIN_BYTES * one.layout.stripe_count
        and one.moved(direction)[2] > 0
    ]
    if not used:
        return Verdict(direction=direction, unknown=f"no {direction} of a file whose OSTs the log knows")
    if not files:
        return Verdict(direction=direction, unknown="no file moved a mebibyte an OST, or the log holds no times")
    # A few small files beside large ones tell of caches.
    typical = median(one.moved(direction)[0] for one in files)
    files = [one for one in files if one.moved(direction)[0] >= 0.1 * typical]
    rates = _rates(files, direction)
    unknown = _why_unknown(files, rates)
    if unknown:
        return Verdict(direction=direction, rates=() if len(rates) == 1 else rates, unknown=unknown)
    return Verdict(direction=direction, rates=rates, slow=_slow(files, direction))


def _osts(file: FileRecord) -> tuple[int, ...]:
    assert file.layout is not None
    return file.layout.osts


def _per_ost_mb_s(file: FileRecord, direction: str) -> float:
    """Return what each OST of a file gave while it was moved, if all gave the same. [MB/s]"""
    moved, _, seconds, _ = file.moved(direction)
    return moved / len(_osts(file)) / seconds / 1e6


def _rates(files: Sequence[FileRecord], direction: str) -> tuple[OstRate, ...]:
    """Return the rates of OSTs, slowest first; OSTs that no file tells apart stand together."""
    on: dict[int, list[int]] = defaultdict(list)
    for number, file in enumerate(files):
        for ost in _osts(file):
            on[ost].append(number)
    together: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for ost, numbers in on.items():
        together[tuple(numbers)].append(ost)
    rates = [
        _rate(tuple(sorted(osts)), [files[number] for number in numbers], direction)
        for numbers, osts in together.items()
    ]
    return tuple(sorted(rates, key=lambda one: (one.rate_mb_s, -one.files, one.osts)))


def _rate(osts: tuple[int, ...], files: Sequence[FileRecord], direction: str) -> OstRate:
    """Return the rate of one OST, or of several that stand together."""
    own = [one for one in files if len(_osts(one)) == 1]
    if own:
        rate = sum(one.moved(direction)[0] for one in own) / sum(one.moved(direction)[2] for one in own) / 1e6
    else:
        # A striped file is as slow as the slowest of its OSTs: the best of them clears all it lies on.
        rate = max(_per_ost_mb_s(one, direction) for one in files)
    moved = sum(one.moved(direction)[0] / len(_osts(one)) for one in files)
    spans = [one.moved(direction)[3] for one in files]
    known = [span for span in spans if span is not None]
    delivered = None
    if len(known) == len(spans):
        passed = max(end for _, end in known) - min(start for start, _ in known)
        delivered = moved / passed / 1e6
    return OstRate(osts=osts, files=len(files), moved_bytes=moved, rate_mb_s=rate, delivered_mb_s=delivered)


def _why_unknown(files: Sequence[FileRecord], rates: Sequence[OstRate]) -> str:
    """Say why the OSTs cannot be told apart; empty if they can."""
    sets = {frozenset(_osts(one)) for one in files}
    everything = frozenset(ost for one in sets for ost in one)
    if len(everything) < MIN_OSTS:
        return f"all data lies on {len(everything)} OST{'s' if len(everything) > 1 else ''}: too few to compare"
    if len(sets) == 1:
        return f"every file is striped over the same {len(everything)} OSTs, so the log cannot tell one from another"
    if len(rates) < MIN_OSTS:
        return f"the files tell only {len(rates)} groups of the {len(everything)} OSTs apart: too few to compare"
    return ""


def _slow(files: Sequence[FileRecord], direction: str) -> tuple[SlowOst, ...]:
    """Return the slow OSTs, slowest first: what one explains is taken out before the next is sought."""
    rest, found = list(files), []
    rates = _rates(rest, direction)
    reference = median(one.rate_mb_s for one in rates)
    delivered = [one.delivered_mb_s for one in rates if one.delivered_mb_s]
    usual = median(delivered) if len(delivered) == len(rates) else None
    bound = SLOW_FACTOR
    if len(rates) >= 8:
        ordinary = reference / quantiles((one.rate_mb_s for one in rates), n=4)[0]
        bound = max(bound, SPREAD_FACTOR * ordinary)
    while rates:
        judged = [SlowOst(rate=one, factor=_factor(one, reference, usual), reference_mb_s=reference) for one in rates]
        worst = max(judged, key=lambda one: (one.factor, one.rate.files))
        if worst.factor < bound:
            break
        found.append(worst)
        rest = [one for one in rest if not set(_osts(one)) & set(worst.rate.osts)]
        rates = _rates(rest, direction)
    return tuple(found)


def _factor(one: OstRate, reference_mb_s: float, usual_mb_s: float | None) -> float:
    """Return how many times slower an OST is, by the kinder of the two rates."""
    factor = reference_mb_s / one.rate_mb_s
    return min(factor, usual_mb_s / one.delivered_mb_s) if usual_mb_s and one.delivered_mb_s else factor
