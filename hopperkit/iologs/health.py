"""Health of OSTs, and of nodes as clients, from a night's logs: many jobs can show what one cannot.

In each log the files of one task are sorted by rate. If all OSTs and nodes are equal, the ranks of one part's files are
drawn from all, for any distribution of the noise: their mean has the distribution of a rank sum [1]_. Other jobs may have loaded one
OST or node at that time; if that is all, its rank among the OSTs, or the nodes, of the job is uniform. The larger of
the two chances counts, as a normal deviate. Jobs are independent, so their sum is normal too (Stouffer's method [2]_).

The part that explains most is removed with its files before the search continues: a slow node makes the OSTs that it
wrote to look slow, and vice versa. An effect repeated by the same tasks of the same program belongs to the program and
counts once by its mean, as does a job; files of task 0, which often does more than the others, do not count.

References
----------
.. [1] F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945) 80.
.. [2] S. A. Stouffer et al., The American Soldier, vol. 1 (1949), p. 45.
"""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from statistics import NormalDist, fmean, median
from typing import NamedTuple

from hopperkit.iologs.darshan_log import DarshanLog
from hopperkit.iologs.ost_rates import LEAST_OSTS, SLOW_FACTOR, telling_files
from hopperlib.finding import Finding
from hopperlib.text import count

# Chance that a healthy night is blamed: OSTs and nodes, both directions together.
_FALSE_ALARM = 0.001
# Suspects above this level, which one healthy night in ten exceeds, are listed with their probability.
_SUSPECT = 0.1
_KINDS = ("ost", "node")
_NORMAL = NormalDist()


class Part(NamedTuple):
    """An OST of a file system (``ost``), or a node as its client (``node``), in one direction."""

    kind: str
    file_system: str
    way: str
    name: int | str

    @property
    def words(self) -> str:
        """Its display name."""
        if self.kind == "node":
            return f"node {self.name}"
        return f"OST {self.name} (OST{self.name:04x})" + (f" of {self.file_system}" if self.file_system else "")


class Seen(NamedTuple):
    """Data of one log in one direction: the rate of each file, slowest first, its task, OSTs and node."""

    program: str
    files: tuple[tuple[float, int | None, tuple[Part, ...]], ...]
    job: int | None = None


class Health(NamedTuple):
    """Evidence of all logs for an OST or a node.

    Parameters
    ----------
    part : Part
    jobs, slow_jobs : int
        Jobs that separate it from others, and those in which it was at least 1.5 times slower than usual.
    factor : float
        How many times slower than usual it was, the median of the jobs.
    chance : float
        Probability that any part looks as slow in a healthy night.
    verdict : {"slow", "slower", "no sign", "cannot tell"}
        "slower" if chance does not explain its ranks, but it is less than 1.5 times slower in most jobs, or one healthy
        night in ten looks the same; "cannot tell" if there are too few jobs to show it even if it were the slowest in
        each.
    rivals : tuple of Part
        Parts that explain the same files.
    """

    part: Part
    jobs: int
    slow_jobs: int
    factor: float
    chance: float
    verdict: str
    rivals: tuple[Part, ...] = ()

    @property
    def slow(self) -> bool:
        """Whether it is slow: beyond chance, and by enough to be worth a word."""
        return self.verdict == "slow"


class _Sight(NamedTuple):
    """Evidence of one log about a part: a normal deviate, its minimum, the slowdown, and the key of repeated evidence."""

    part: Part
    deviate: float
    least: float
    factor: float
    again: Hashable


def seen_in(log: DarshanLog) -> Iterator[Seen]:
    """Yield a log's evidence about OSTs and nodes, for each usable direction.

    Parameters
    ----------
    log : DarshanLog
        Darshan log of the job.

    Examples
    --------
    >>> from hopperkit.iologs.darshan_log import FileRecord, StripeLayout
    >>> files = tuple(FileRecord(path=f"/s/{ost}", bytes_written=10**9, write_s=seconds, layout=StripeLayout(1, 1 << 20, (ost,)),
    ...     written_by={ost + 1: 10**9}) for ost, seconds in enumerate((10.0, 20.0, 8.0)))
    >>> log = DarshanLog(executable="a", job_id=1, tasks=4, run_time_s=9.0, modules=(), files=files, hosts={2: "nid7"})
    >>> [(rate, task, [part.name for part in parts]) for rate, task, parts in next(seen_in(log)).files]
    [(50.0, 2, [1, 'nid7']), (100.0, 1, [0]), (125.0, 3, [2])]
    """
    for way in ("write", "read"):
        files = []
        for file, traffic in telling_files(log.files, way):
            task = None if file.shared else next(iter(file.written_by if way == "write" else file.read_by), None)
            mount = log.mount_of(file.path)
            place = (mount[0] if mount else "", len(file.osts))
            parts = [Part("ost", place[0], way, ost) for ost in file.osts]
            if task in log.hosts:
                parts.append(Part("node", "", way, log.hosts[task]))
            if task != 0 or log.tasks == 1:
                rate_mb_s = traffic.moved_bytes / max(len(file.osts), 1) / traffic.time_s / 1e6
                files.append((place, (rate_mb_s, task, tuple(parts))))
        # Two file systems, or files over different numbers of OSTs, cannot be compared.
        most = Counter(place for place, _ in files).most_common(1)
        if alike := [file for place, file in files if place == most[0][0]]:
            yield Seen(log.executable or "", tuple(sorted(alike, key=lambda file: file[0])), log.job_id)


def health(seen: Iterable[Seen]) -> list[Health]:
    """Return the health of each OST and node that logs separate from others, most suspicious first.

    Parameters
    ----------
    seen : iterable of Seen
        Evidence from each log.

    Examples
    --------
    OST 7 is the slowest of ten in each of twenty jobs, ten times slower.

    >>> files = tuple((10.0 - 9.0 * (ost == 7) + ost / 100, None, (Part("ost", "/s", "write", ost),)) for ost in range(10))
    >>> night = [Seen("a.out", tuple(sorted(files)))] * 20
    >>> [(each.part.name, each.jobs, each.slow) for each in health(night)][:2]
    [(7, 20, True), (0, 20, False)]
    >>> health(night[:1])[0].verdict
    'cannot tell'
    """
    left = list(seen)
    sights = [_sights(each, number) for number, each in enumerate(left)]
    parts = _count_of(sights)
    judged, found = _judged(sights, parts), list[Health]()
    known = dict(judged)
    # More than a quarter are not exceptions.
    while judged and len(found) < max(1, parts // 4):
        worst = min(judged.values(), key=lambda each: (not each.slow, each.chance, -each.factor, str(each.part)))
        if not worst.slow:
            break
        rest = [_without(each, worst.part) for each in left]
        for number, (before, now) in enumerate(zip(left, rest, strict=True)):
            if now is not before:
                sights[number] = _sights(now, number)
        after = _judged(sights, parts)
        rivals = tuple(_hidden_behind(worst.part, left, judged, after))
        found.append(worst._replace(rivals=rivals))
        for part in (worst.part, *rivals):
            del known[part]
            after.pop(part, None)
        left, judged = rest, after
    # If all its files were removed with an earlier suspect, it has no further evidence.
    rest_of_them = [judged.get(part, each._replace(verdict="cannot tell")) for part, each in known.items()]
    return [*found, *sorted(rest_of_them, key=lambda each: (each.chance, -each.factor, str(each.part)))]


def _count_of(sights: Iterable[Iterable[_Sight]]) -> int:
    """Return the number of parts in logs."""
    return len({sight.part for each in sights for sight in each})


def part_count(seen: Iterable[Seen]) -> int:
    """Return the number of parts in logs, each of which may be the slowest by chance.

    Parameters
    ----------
    seen : iterable of Seen
        Evidence from several logs.

    Examples
    --------
    >>> part_count([Seen("a.out", tuple((1.0 + ost, None, (Part("ost", "/s", "write", ost),)) for ost in range(10)))])
    10
    """
    return _count_of(_sights(each, number) for number, each in enumerate(seen))


def health_of(part: Part, seen: Iterable[tuple[int, Seen]], parts: int) -> Health | None:
    """Return the health of one part by numbered logs, among that many parts; None if no log distinguishes it from others.

    Parameters
    ----------
    part : Part
        OST or node.
    seen : iterable
        Evidence from each log, with the number of the log.
    parts : int
        Number of parts compared.

    Examples
    --------
    >>> ost = Part("ost", "/s", "write", 7)
    >>> health_of(ost, [(0, Seen("a.out", ((1.0, None, (ost,)),)))], 10) is None
    True
    """
    sights = [sight for number, each in seen for sight in _sights(each, number, part)]
    return _health(part, sights, parts) if sights else None


def _hidden_behind(
    worst: Part, seen: Sequence[Seen], judged: Mapping[Part, Health], after: Mapping[Part, Health]
) -> Iterator[Part]:
    """Yield the slow parts that have the very same files as the worst, and none without it."""
    for part, each in judged.items():
        alike = ((part in parts) == (worst in parts) for one in seen for _, _, parts in one.files)
        if each.slow and part != worst and part not in after and all(alike):
            yield part


def _without(seen: Seen, part: Part) -> Seen:
    """Return a log without the files of one part; unchanged if it has none."""
    kept = tuple(file for file in seen.files if part not in file[2])
    return seen if len(kept) == len(seen.files) else seen._replace(files=kept)


def _sights(seen: Seen, number: int, only: Part | None = None) -> list[_Sight]:
    """Return the evidence of a log, with its index, about each part, or about one only."""
    places: dict[Part, list[int]] = defaultdict(list)
    for place, (_, _, parts) in enumerate(seen.files):
        for part in parts:
            places[part].append(place)
    sights: list[_Sight] = []
    for kind in (only.kind,) if only else _KINDS:
        alike = {part: where for part, where in places.items() if part.kind == kind}
        if len(alike) >= LEAST_OSTS:
            sights += _sights_of(seen, alike, number, (only,) if only in alike else () if only else alike)
    return sights


def _sights_of(
    seen: Seen, places: Mapping[Part, Sequence[int]], number: int, wanted: Iterable[Part]
) -> Iterator[_Sight]:
    """Yield a log's evidence about some of the parts of one kind, by the ranks of their files."""
    rates = [rate for rate, _, _ in seen.files]
    usual, every = median(rates), len(rates)
    # Equal rates all have the place of the fastest of them.
    place_of = [bisect_right(rates, rate) for rate in rates]
    means = {part: fmean([place_of[place] for place in where]) for part, where in places.items()}
    ordered = sorted(means.values())
    for part in wanted:
        where = places[part]
        files = len(where)
        if files == every:
            continue
        of_files = NormalDist((every + 1) / 2, math.sqrt((every + 1) * (every - files) / files / 12))
        of_parts = bisect_right(ordered, means[part]) / (len(ordered) + 1)
        deviate = max(of_files.zscore(means[part]), _NORMAL.inv_cdf(of_parts))
        least = max(of_files.zscore((files + 1) / 2), _NORMAL.inv_cdf(1 / (len(ordered) + 1)))
        tasks = tuple(sorted(task for place in where if (task := seen.files[place][1]) is not None))
        of_job: Hashable = ("log", number) if seen.job is None else seen.job
        again: Hashable = (seen.program, tasks) if tasks else of_job
        yield _Sight(part, deviate, least, usual / rates[where[files // 2]], again)


def _judged(logs: Iterable[Iterable[_Sight]], parts: int) -> dict[Part, Health]:
    """Return the health of each part from all logs, corrected for the number of parts."""
    sights: dict[Part, list[_Sight]] = defaultdict(list)
    for sight in chain.from_iterable(logs):
        sights[sight.part].append(sight)
    return {part: _health(part, each, parts) for part, each in sights.items()}


def _health(part: Part, sights: Sequence[_Sight], parts: int) -> Health:
    """Return the health of one part."""
    together: dict[Hashable, list[_Sight]] = defaultdict(list)
    for sight in sights:
        together[sight.again].append(sight)
    sums = ((fmean(each.deviate for each in same), fmean(each.least for each in same)) for same in together.values())
    chance, least = (
        min(1.0, parts * _NORMAL.cdf(math.fsum(each) / math.sqrt(len(together)))) for each in zip(*sums, strict=True)
    )
    factors = [sight.factor for sight in sights]
    factor = median(factors)
    slow = chance < _FALSE_ALARM and factor >= SLOW_FACTOR
    verdict = "slow" if slow else "no sign" if least < _FALSE_ALARM else "cannot tell"
    if not slow and chance < _SUSPECT and factor > 1:
        verdict = "slower"
    return Health(part, len(sights), sum(each >= SLOW_FACTOR for each in factors), factor, chance, verdict)


def health_findings(healths: Sequence[Health]) -> Iterator[Finding]:
    """Yield the OSTs and nodes that are slow according to all logs, and the number that remain unknown.

    Parameters
    ----------
    healths : sequence of Health
        Health of each OST and node.

    Examples
    --------
    >>> list(health_findings([]))
    []
    """
    for each in healths:
        if each.slow:
            yield _slow(each)
        elif each.verdict == "slower":
            yield _slower(each)
    for kind, name in (("ost", "OST"), ("node", "node")):
        alike = [each for each in healths if each.part.kind == kind]
        raised = [each for each in alike if each.verdict in ("slow", "slower")]
        if alike and not raised and (most := _most_suspicious(alike)):
            yield most
        untold = {each.part.name for each in alike if each.verdict == "cannot tell"}
        if untold:
            yield Finding(
                f"{name.lower()}s-inconclusive",
                f"Of {count(len({each.part.name for each in alike}), name)} {len(untold):,} are inconclusive in some "
                "direction: too few jobs, with too few others to compare, to show that it is slow.",
                "unknown",
                evidence={f"{name.lower()}s": len({each.part.name for each in alike}), "untold": len(untold)},
                advice="More logs, of jobs with one file per task, would show them.",
            )


def _most_suspicious(alike: Sequence[Health]) -> Finding | None:
    """Return the most suspicious part that is not slow, as a measure of the result."""
    known = [each for each in alike if each.verdict == "no sign" and each.factor > 1]
    each = max(known, key=lambda each: (-each.chance, each.factor), default=None)
    if each is None:
        return None
    words = each.part.words
    below = f", less than {SLOW_FACTOR:g} times," if each.factor < SLOW_FACTOR else ""
    return Finding(
        f"most-suspicious-{each.part.kind}",
        f"None is slow beyond chance. The most suspicious is {words}: {each.factor:.2f} times slower{below} for "
        f"{count(each.jobs, 'job')} together (median), {SLOW_FACTOR:g} times or more in {each.slow_jobs:,} of them. A healthy "
        f"night shows one like it with a chance of {each.chance:.2g}.",
        "note",
        evidence=health_row(each),
    )


def _slower(each: Health) -> Finding:
    """Return that an OST or a node is slower than chance explains, but less than the threshold for slow."""
    part = each.part
    words = part.words
    below = f"less than {SLOW_FACTOR:g} times" if each.factor < SLOW_FACTOR else "in too few jobs to be sure"
    return Finding(
        f"slower-{part.kind}-by-many-jobs",
        f"{words[:1].upper()}{words[1:]} is slower, but {below}: {each.factor:.2f} times for {count(each.jobs, 'job')} together "
        f"(median), {SLOW_FACTOR:g} times or more in {each.slow_jobs:,} of them. A healthy night shows this with a chance of "
        f"{each.chance:.2g}.",
        "note" if each.chance >= _FALSE_ALARM else "advice",
        evidence=health_row(each),
        advice="Watch it in the next nights: the chances of several nights multiply.",
    )


def _slow(each: Health) -> Finding:
    """Return that an OST or a node is slow, with alternatives that cannot be excluded."""
    part = each.part
    names = " or ".join(one.words for one in (part, *each.rivals))
    which = f"{names} (always together: the logs cannot separate them)" if each.rivals else names
    to_it = "write" if part.way == "write" else "read"
    if part.kind == "ost":
        evidence, code = f"a task {to_it}s {'to' if to_it == 'write' else 'from'} it", "slow-ost-by-many-jobs"
        advice = "Report it to those who run the file system, with the jobs and their times."
    else:
        evidence, code = f"its tasks {to_it}", "slow-node-by-many-jobs"
        advice = f"Report it with the jobs and their times, and leave it out until then: sbatch --exclude={part.name}"
    return Finding(
        code,
        f"{which[:1].upper()}{which[1:]} is slow for {count(each.jobs, 'job')} together, in {each.slow_jobs:,} of them by half "
        f"or more: {evidence} {each.factor:.1f} times slower than usual (median of the jobs).",
        evidence=health_row(each),
        advice=advice,
    )


def health_row(each: Health) -> dict[str, object]:
    """Return it as a row for programs.

    Parameters
    ----------
    each : Health
        Health of an OST or a node.

    Examples
    --------
    >>> health_row(Health(Part("ost", "/s", "write", 7), 5, 4, 3.0, 1e-5, "slow"))["ost"]
    7
    """
    part = each.part
    numbers = {"jobs": each.jobs, "slow_jobs": each.slow_jobs, "factor": each.factor, "chance": each.chance}
    rivals = [one.words for one in each.rivals]
    place = {"file_system": part.file_system} if part.kind == "ost" else {}
    return {**place, "way": part.way, part.kind: part.name, **numbers, "verdict": each.verdict, "together_with": rivals}
