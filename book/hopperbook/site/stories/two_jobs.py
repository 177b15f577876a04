"""The quickest and the slowest job of the variability study's histories: their nodes, and how full their links are."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import median
from typing import NamedTuple

from hopperbook.studies.network.fragmentation import population
from hopperlib.machine import Machine
from hopperlib.network.runtime.link_loads import LinkMap
from hopperlib.network.runtime.milc import run_times
from hopperlib.network.runtime.placed_jobs import Histories, PlacedJob
from hopperlib.network.runtime.sharing import Stream, fair_rates
from hopperlib.network.torus.distances import Coordinates

#: Axis, router that is left, and +1 or -1.
Link = tuple[int, Coordinates, int]


class LinkUse(NamedTuple):
    """How full the links of a job are. [fraction of their bandwidth]

    Parameters
    ----------
    alone : mapping
        Each link that the job uses, with nothing around it.
    own, total : mapping
        With its neighbors around it: the job's messages on its links, and all messages on all links.
    """

    alone: Mapping[Link, float]
    own: Mapping[Link, float]
    total: Mapping[Link, float]

    @property
    def median_alone(self) -> float:
        """Use of the middle one of the job's links when it is alone. [fraction]"""
        return median(self.alone.values())

    @property
    def fullest(self) -> Link:
        """The link that limits the job when its neighbors are active."""
        return max(self.alone, key=lambda link: self.total[link])

    @property
    def ring(self) -> list[Link]:
        """The links of the fullest one's ring in its direction, in order."""
        axis, router, direction = self.fullest
        return sorted(
            link
            for link in self.total
            if (link[0], link[2]) == (axis, direction)
            and all(link[1][other] == router[other] for other in range(3) if other != axis)
        )


class DrawnJob(NamedTuple):
    """A job of the histories, with its run times, those without noise and those of its nodes alone. [s]"""

    job: PlacedJob
    places: Sequence[Coordinates]
    streams: Sequence[Stream]
    times_s: tuple[float, ...]
    quiet_s: tuple[float, ...]
    alone_s: float

    def by_column(self, dimensions: Coordinates) -> list[list[int]]:
        """Return the number of its nodes at each X (rows: Z), for any Y."""
        counts = Counter((x, z) for x, _, z in self.places)
        return [[counts[x, z] for x in range(dimensions[0])] for z in range(dimensions[2])]


@cache
def _histories() -> Histories:
    return Histories(Machine.load("hopper"))


def dimensions() -> Coordinates:
    """Return the routers of the torus along X, Y and Z.

    Examples
    --------
    >>> dimensions()
    (17, 8, 24)
    """
    return _histories().links.dimensions


@cache
def drawn_jobs() -> tuple[DrawnJob, DrawnJob]:
    """Return the jobs with the quickest and with the slowest run of all histories.

    Examples
    --------
    >>> quickest, slowest = drawn_jobs()
    >>> len(quickest.places) == len(slowest.places) == 342
    True
    """
    jobs = population()
    noisy, quiet = run_times(jobs=jobs), run_times(noise=False, jobs=jobs)
    alone = run_times(traffic="none", noise=False, jobs=jobs)
    numbers = range(len(jobs))
    chosen = min(numbers, key=lambda at: min(noisy[at])), max(numbers, key=lambda at: max(noisy[at]))
    quickest, slowest = (
        DrawnJob(jobs[at], *_histories().streams_met(jobs[at]), noisy[at], quiet[at], alone[at][0]) for at in chosen
    )
    return quickest, slowest


def _use_of_links(links: LinkMap, streams: Sequence[Stream], rates_gb_s: Sequence[float]) -> dict[Link, float]:
    """Return the load of each link relative to its bandwidth. [fraction]"""
    use: dict[Link, float] = defaultdict(float)
    for stream, rate_gb_s in zip(streams, rates_gb_s, strict=True):
        for link, messages, capacity_gb_s in links.each(stream.loads):
            use[link] += messages * rate_gb_s / stream.sends / capacity_gb_s
    return use


@cache
def slowest_links() -> LinkUse:
    """Return the link loads of the slowest job.

    Examples
    --------
    >>> use = slowest_links()
    >>> round(max(use.alone.values()), 6), round(use.total[use.fullest], 6)
    (1.0, 1.0)
    """
    network, (own, *others) = _histories(), drawn_jobs()[1].streams
    links, injection_gb_s = network.links, network.injection_gb_s
    alone_gb_s = fair_rates(links, [own], injection_gb_s=injection_gb_s)
    # It never gets more than alone, as in `Histories`.
    streams = [own._replace(wants_gb_s=alone_gb_s[0]), *others]
    rates_gb_s = fair_rates(links, streams, injection_gb_s=injection_gb_s)
    return LinkUse(
        _use_of_links(links, [own], alone_gb_s),
        _use_of_links(links, streams[:1], rates_gb_s[:1]),
        _use_of_links(links, streams, rates_gb_s),
    )
