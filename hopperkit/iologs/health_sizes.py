"""How much slower an OST, or a node, would have had to be to be found in a night's logs: the size of their silence.

Each of those without a sign is made slower in the logs themselves, all its files by the same factor, until it is called
slow. How noisy the night was, and how many jobs and how many other parts there were, is included in that factor, and no model is
assumed. Of these factors the one is said that four of five stay below.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from hopperkit.iologs.health import Health, Part, Seen, health_of, part_count
from hopperkit.iologs.ost_rates import SLOW_FACTOR
from hopperlib.finding import Finding
from hopperlib.text import count

# More parts than these are not slowed, so that a night of thousands of logs takes seconds; fewer tell no share of five.
_MOST_PARTS, _MOST_FILES, _FEWEST_PARTS = 20, 200_000, 5
# Factors are determined to this precision, and up to this many times.
_LITTLE_MORE, _LARGEST = 1.02, 100.0
# Standard normal quantile of 80 %.
_POWER_Z = 0.8416
_WAYS = {"write": "writing", "read": "reading"}


def visible_factors(seen: Sequence[Seen], healths: Sequence[Health]) -> dict[tuple[str, str], float | None]:
    """How many times slower a part must be to be found in 80 of 100 such nights, by its kind and direction.

    Parameters
    ----------
    seen : sequence of Seen
        What the logs show.
    healths : sequence of Health
        What `hopperkit.iologs.health.health` makes of them.

    Returns
    -------
    dict
        By ``("ost" or "node", "write" or "read")``; None where less than four of five would be found at 100 times; nothing
        if fewer than five parts can be judged.

    Examples
    --------
    Ten OSTs that differ by chance in each of twenty jobs:

    >>> def job(number):
    ...     rates = {ost: 10.0 + (ost * 7 + number * 3) % 10 for ost in range(10)}
    ...     return Seen(str(number), tuple(sorted((rate, None, (Part("ost", "/s", "write", ost),)) for ost, rate in rates.items())))
    >>> night = [job(number) for number in range(20)]
    >>> from hopperkit.iologs.health import health
    >>> 1.5 <= visible_factors(night, health(night))["ost", "write"] < 2
    True
    """
    parts = part_count(seen)
    files = sum(len(each.files) for each in seen)
    quiet: dict[tuple[str, str], list[Health]] = {}
    for each in healths:
        if each.verdict in ("no sign", "slower"):
            quiet.setdefault((each.part.kind, each.part.way), []).append(each)
    return {
        which: _of_four_in_five([_factor_seen(each, seen, parts) for each in _some(sorted(alike, key=str), files)])
        for which, alike in quiet.items()
        if len(alike) >= _FEWEST_PARTS
    }


def _some(parts: Sequence[Health], files: int) -> Sequence[Health]:
    """Return as many of the parts, spread evenly, as can be slowed one by one within seconds for that many files."""
    most = max(_FEWEST_PARTS, min(_MOST_PARTS, _MOST_FILES // max(files, 1)))
    return parts[:: math.ceil(len(parts) / most)]


def _factor_seen(each: Health, seen: Sequence[Seen], parts: int) -> float:
    """Return the factor from which on a part would be called slow; infinite beyond the largest tried."""
    part = each.part
    here = [(number, log) for number, log in enumerate(seen) if any(part in file[2] for file in log.files)]

    def found(factor: float) -> bool:
        judged = health_of(part, ((number, _slowed(log, part, factor)) for number, log in here), parts)
        return judged is not None and judged.slow

    # Nobody is called slow below that; with many logs it is enough.
    low = max(1.0, SLOW_FACTOR / each.factor)
    if found(low * _LITTLE_MORE):
        return low * _LITTLE_MORE
    high = low
    while not found(high := 2 * high):
        low = high
        if high > _LARGEST:
            return math.inf
    while high > low * _LITTLE_MORE:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _slowed(seen: Seen, part: Part, factor: float) -> Seen:
    """Return a log in which the files of a part took that many times as long."""
    files = ((rate / factor if part in parts else rate, task, parts) for rate, task, parts in seen.files)
    return seen._replace(files=tuple(sorted(files, key=lambda file: file[0])))


def _of_four_in_five(factors: Sequence[float]) -> float | None:
    """Return the factor below which four of five of such factors are; None where that is infinite."""
    ordered = sorted(factors)
    # Where all are known, their logarithms spread about evenly around the middle, and few of them tell more by that.
    if ordered[-1] < math.inf:
        logs = [math.log(factor) for factor in ordered]
        return math.exp(fmean(logs) + _POWER_Z * math.sqrt(1 + 1 / len(logs)) * stdev(logs))
    at = ordered[min(len(ordered) - 1, math.ceil(0.8 * (len(ordered) + 1)) - 1)]
    return at if at < math.inf else None


def unseen_findings(factors: Mapping[tuple[str, str], float | None], healths: Sequence[Health]) -> Iterator[Finding]:
    """Yield how slow an OST and a node would have had to be to be found.

    Parameters
    ----------
    factors : mapping
        Detectable factors by part.
    healths : sequence of Health
        Joint results by part.

    Examples
    --------
    >>> healths = [Health(Part("ost", "/s", "write", ost), 5, 0, 1.0, 1.0, "no sign") for ost in range(40)]
    >>> [found.message for found in unseen_findings({("ost", "write"): 2.0}, healths)]
    ['Of 40 OSTs without a sign, each would have been found in 80 of 100 such nights if it were 2.0 times slower in writing.']
    """
    for kind, name in (("ost", "OST"), ("node", "node")):
        sizes = {way: factor for (of, way), factor in factors.items() if of == kind}
        if not sizes:
            continue
        quiet = {each.part.name for each in healths if each.part.kind == kind and each.verdict == "no sign"}
        each_of = f"Of {count(len(quiet), name)} without a sign, each would have been found in 80 of 100 such nights"
        said = " or ".join(f"{factor:.1f} times slower in {_WAYS[way]}" for way, factor in sizes.items() if factor)
        hidden = " and ".join(_WAYS[way] for way, factor in sizes.items() if not factor)
        texts = [f"{each_of} if it were {said}."] if said else []
        if hidden:
            texts.append(f"In {hidden} one would be found in fewer nights even if it were {_LARGEST:.0f} times slower.")
        evidence = {f"{way}_factor": factor for way, factor in sizes.items()}
        yield Finding(f"unseen-{kind}", " ".join(texts), "note", evidence=evidence)
