"""Pages and libraries: small pages, huge pages that run out, a gain inside the noise, libraries one after another."""

import math
import random
from collections.abc import Mapping
from functools import partial

from hopperbook.documented import printed
from hopperbook.studies.network.milc_lognormal import shifted_lognormal
from hopperbook.studies.study import Shares, Study, Value, ranges
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.result import Figure
from hopperlib.failure.nodes.risk import chance_of_bad_node, explaining_bad_nodes
from hopperlib.machine import Machine
from hopperlib.network.runtime.power import detectable_gain
from hopperlib.placement.models.coupled_node import MemorySystem, PageRun, Translation, page_size_ratio
from hopperlib.placement.models.hybrid import VARIATION
from hopperlib.placement.models.pages import page_cost_us, paged_bandwidth_gb_s
from hopperlib.storage.loading import load_time

_STUDY = "pages-and-libraries"
SMALL_GB_S, LARGE_GB_S = (printed(f"{_STUDY}.{size}-page-bandwidth") for size in ("small", "large"))
SMALL_BYTES = round(printed(f"{_STUDY}.small-page-size") * 1024)
SUCCESS = printed(f"{_STUDY}.huge-pages-success") / 100
GTC_NODES = tuple(
    -(-round(printed(f"{_STUDY}.gtc-cores-{size}")) // Machine.load("hopper").node().cores)
    for size in ("small", "large")
)
# Translations that a core of this family holds for small and for huge pages.
_ENTRIES = (512, 128)
_DRAWS = 200
# A job that loads its libraries one node after the other; all of it assumed.
_load = partial(load_time, "serial", tasks_per_node=24, tries=10, size_mb=200.0, servers=8, requests_per_s=9000.0)


def bandwidth_figure() -> Figure:
    """Return MPI bandwidth against the size of a page, with the two printed values.

    Examples
    --------
    >>> bandwidth_figure().title
    'MPI bandwidth between nodes, by size of page'
    """
    cost = page_cost_us(SMALL_GB_S, LARGE_GB_S, SMALL_BYTES)
    sizes = [4 * 2**step for step in range(15)]
    rates = [paged_bandwidth_gb_s(1024 * size, large_gb_s=LARGE_GB_S, page_cost_us=cost) for size in sizes]
    return chart(
        title="MPI bandwidth between nodes, by size of page",
        alt=f"From {rates[0]:.1f} GB/s with 4 KB, which is fitted, to {rates[4]:.2f} with 64 KB and {rates[9]:.3f} with 2 MB.",
        x=Axis(title="Size of a page", unit="KB", log=True),
        y=Axis(title="MPI bandwidth", unit="GB/s", low=0, decimals=3),
        series=[
            Series(name=f"{cost:.2f} us a page", x=sizes, y=rates),
            Series(name="documented, small pages", x=[SMALL_BYTES // 1024], y=[SMALL_GB_S], kind="points"),
        ],
        references=[Reference("documented, large pages", LARGE_GB_S)],
    )


def placement_noise() -> float:
    """Return the standard deviation over the mean of MILC's runs with one placement. [ratio]

    The minimum of three normal runs is 3 / (2 sqrt(pi)) deviations below the mean; printed are the means of the
    triplets and of their fastest runs. The page's 3.1 % compares two samples and is not a deviation.

    Examples
    --------
    >>> round(placement_noise(), 4)
    0.0225
    """
    mean, least = printed("variability.table-triplets-mean"), printed("variability.table-minima-mean")
    return (1 - least / mean) / (3 / (2 * math.sqrt(math.pi)))


def production_noise(runs: int = 100) -> float:
    """Return the standard deviation over the mean of MILC in production, if the printed values were from that many runs. [ratio]

    That of the shifted lognormal through the printed least, mean and greatest.

    Examples
    --------
    >>> 0.1 < production_noise() < 0.3
    True
    """
    fitted, mean = shifted_lognormal(runs), printed("variability.table-total-mean")
    return (mean - fitted.shift_s) / mean * math.sqrt(math.expm1(fitted.log_sd**2))


def huge_page_gain(assumed: Mapping[str, float]) -> float:
    """Return the speedup of a code on Hopper with huge pages, from memory, messages and first touch together.
    [fraction]

    Messages gain nothing: after the patch they move at the full rate with small pages.

    Examples
    --------
    >>> usual = {name: each.value for name, each in ranges("pages-and-libraries").items()}
    >>> 0 < huge_page_gain(usual) < 0.1
    True
    """
    streams, scattered = (
        page_size_ratio(
            PageRun(1.0),
            MemorySystem.of(Machine.load("hopper").node()),
            piece_bytes=assumed["piece_mb"] * 2**20,
            translation=[
                Translation(assumed["walk_ns"], entries, 64, assumed["task_gb"] * 1e9, is_stream)
                for entries in _ENTRIES
            ],
        )
        for is_stream in (True, False)
    )
    ratio = streams + assumed["scattered"] * (scattered - streams)
    return 1 / (1 - assumed["waits"] * (1 - ratio)) - 1


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the run time with small pages over that with huge ones, which no source prints. [ratio]

    Examples
    --------
    >>> usual = {name: each.value for name, each in ranges("pages-and-libraries").items()}
    >>> 1 < model(usual, random.Random(1))["huge-pages-in-noise"] < 1.1
    True
    """
    return {"huge-pages-in-noise": 1 + huge_page_gain(assumed)}


def huge_page_gains() -> list[float]:
    """Return the gain of huge pages in many draws from the ranges. [fraction]

    Examples
    --------
    >>> len(huge_page_gains())
    200
    """
    rng = random.Random(1)
    return [
        huge_page_gain({name: each.low + rng.random() * (each.high - each.low) for name, each in varied.items()})
        for varied in [ranges("pages-and-libraries")] * _DRAWS
    ]


def _values() -> dict[str, Value]:
    gains = huge_page_gains()
    hopper = Machine.load("hopper")
    cost = page_cost_us(SMALL_GB_S, LARGE_GB_S, SMALL_BYTES)
    loads = partial(_load, server_gb_s=1.0, link_gb_s=LARGE_GB_S)
    few, many = (loads(nodes=nodes, files=400).total_s for nodes in GTC_NODES)
    short = [explaining_bad_nodes(hopper.nodes, nodes, SUCCESS) for nodes in GTC_NODES]
    cured = 1 - chance_of_bad_node(hopper.nodes, round(short[0] / 10), GTC_NODES[0])
    return {
        "small-page-share": 100 * SMALL_GB_S / LARGE_GB_S,
        "small-page-bandwidth": paged_bandwidth_gb_s(SMALL_BYTES, large_gb_s=LARGE_GB_S, page_cost_us=cost),
        "large-page-bandwidth": LARGE_GB_S,
        "page_cost": cost,
        "huge-pages-in-noise": Shares(sum(abs(gain) < detectable_gain(VARIATION, 3) for gain in gains), _DRAWS),
        "least_huge_gain": min(gains),
        "most_huge_gain": max(gains),
        "shown_repeats": detectable_gain(VARIATION, 3),
        "large_over_small": many / few,
        "short_smaller": short[0],
        "short_larger": short[1],
        "cured": cured,
    }


def _sums() -> dict[str, Value]:
    return {"shown_placement": detectable_gain(placement_noise(), 3)}


STUDY = Study(_STUDY, _values, sums=_sums, model=model)
