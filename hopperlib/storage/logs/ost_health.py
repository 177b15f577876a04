"""The health of OSTs from a night's logs: what one job cannot tell, many with overlapping layouts can.

In each log the OSTs that it tells apart are ranked by their rates. If all are alike,
an OST's rank in a log is drawn evenly from first to last, whatever the noise, and
those in different logs are independent. So minus twice the sum of the logarithms of
rank over number is chi-squared with two degrees of freedom a log at most (Fisher's
method [1]_; ranks are coarser, and so err to the side of healthy).

References
----------
.. [1] R. A. Fisher, Statistical Methods for Research Workers, 4th ed. (1932), sec. 21.1.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import median
from typing import NamedTuple

from hopperlib.finding import Finding
from hopperlib.storage.logs.darshan_log import DarshanLog
from hopperlib.storage.logs.ost_rates import judge_osts
from hopperlib.text import count

# Chance that a healthy night is blamed, both directions together.
_FALSE_ALARM = 0.001
# As for one log: a smaller factor is no reason to report anybody.
_SLOW_FACTOR = 1.5
_WAYS = ("write", "read")


class Sighting(NamedTuple):
    """What one log says of one OST: its rank, from the slowest, among so many, and how many times slower it was."""

    file_system: str
    way: str
    ost: int
    rank: int
    among: int
    factor: float


class OstHealth(NamedTuple):
    """What all logs say of one OST.

    Parameters
    ----------
    file_system : str
        Mount point; empty where logs do not say it.
    way : str
        ``read`` or ``write``.
    ost, jobs : int
        OST, and the jobs that tell it from others.
    factor : float
        How many times slower than usual it was, the median of the jobs.
    chance : float
        Chance that any OST of a healthy night looks as slow.
    """

    file_system: str
    way: str
    ost: int
    jobs: int
    factor: float
    chance: float

    @property
    def slow(self) -> bool:
        """Whether it is slow: beyond chance, and by enough to be worth a word."""
        return self.chance < _FALSE_ALARM and self.factor >= _SLOW_FACTOR


def sightings(log: DarshanLog) -> Iterator[Sighting]:
    """Yield what a log says of each OST that it tells apart from others.

    Examples
    --------
    >>> from hopperlib.storage.logs.darshan_log import FileRecord, StripeLayout
    >>> files = tuple(FileRecord(path=f"/s/{ost}", bytes_written=10**9, write_s=seconds, layout=StripeLayout(1, 1 << 20, (ost,)))
    ...     for ost, seconds in enumerate((10.0, 20.0, 8.0)))
    >>> log = DarshanLog(executable="a", job_id=1, tasks=3, run_time_s=9.0, modules=(), files=files)
    >>> [(each.ost, each.rank, each.among, each.factor) for each in sightings(log)]
    [(1, 1, 3, 2.0), (0, 2, 3, 1.0), (2, 3, 3, 0.8)]
    """
    striped = next((file.path for file in log.files if file.layout and file.bytes_moved), "")
    mount = log.mount_of(striped)
    for way in _WAYS:
        rates = judge_osts(log, way).rates
        usual = median(rate.rate_mb_s for rate in rates) if rates else 0.0
        for rank, rate in enumerate(rates, start=1):
            # Those that stand together cannot be told apart here; in another log they may be.
            if len(rate.osts) == 1:
                place = mount[0] if mount else ""
                yield Sighting(place, way, rate.osts[0], rank, len(rates), usual / rate.rate_mb_s)


def ost_health(seen: Iterable[Sighting]) -> list[OstHealth]:
    """Return the health of each OST that logs cover, the most suspicious first.

    Examples
    --------
    Slowest of 100 in five jobs of a night, 3 times slower: no chance; in one job: it may be.

    >>> five = [Sighting("/scratch", "write", 14, 1, 100, 3.0)] * 5 + [Sighting("/scratch", "write", 7, 50, 100, 1.0)]
    >>> [(each.ost, each.jobs, each.slow) for each in ost_health(five)]
    [(14, 5, True), (7, 1, False)]
    >>> ost_health(five[:1])[0].slow
    False
    """
    by_ost: dict[tuple[str, str, int], list[Sighting]] = defaultdict(list)
    for each in seen:
        by_ost[each.file_system, each.way, each.ost].append(each)
    health = [
        OstHealth(
            *place,
            jobs=len(logs),
            factor=median(each.factor for each in logs),
            chance=min(1.0, len(by_ost) * _chance([each.rank / each.among for each in logs])),
        )
        for place, logs in by_ost.items()
    ]
    return sorted(health, key=lambda each: (each.chance, -each.factor, each[:3]))


def _chance(fractions: list[float]) -> float:
    """Return the chance that this many even fractions are together so small: of chi-squared with twice as many degrees."""
    half = -math.fsum(map(math.log, fractions))
    term = total = 1.0
    for number in range(1, len(fractions)):
        term *= half / number
        total += term
    return math.exp(-half) * total


def health_findings(health: Iterable[OstHealth]) -> Iterator[Finding]:
    """Yield which OSTs are slow by all logs together.

    Examples
    --------
    >>> list(health_findings([]))
    []
    """
    for each in health:
        if each.slow:
            at = f" of {each.file_system}" if each.file_system else ""
            yield Finding(
                "slow-ost-by-many-jobs",
                f"OST {each.ost} (OST{each.ost:04x}){at} is slow for {count(each.jobs, 'job')} together: "
                f"a task {each.way}s to it {each.factor:.1f} times slower than to others (median of the jobs).",
                evidence=each._asdict(),
                advice="Report it to those who run the file system, with the jobs and their times.",
            )
