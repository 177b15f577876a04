"""The slow OST: dumps of 35, 23 and 20 minutes, and how slow the slowest must have been.

Calibrated: the rate of the erratic OST on 35 minutes, that of the two slow servers, if nothing else is known of them,
on 23. The size of those dumps is not printed, so both rates are intervals. Predicted: the 20 minutes of the healthy run
and its share of the peak, and the 23 minutes, if a controller did the work of its pair.
"""

import random
from collections.abc import Mapping
from statistics import NormalDist
from typing import NamedTuple

from hopperbook.documented import printed
from hopperbook.studies.storage.trillion import SHARED_GB, VARIABLES, writing_rate_gb_s
from hopperbook.studies.study import Shares, Study, Value, load_scratch, predictions, ranges
from hopperlib.storage.lustre.dumps import barriered_dump, exclude_slow, explaining_rate_gb_s, osts_with_slow, probe

OSTS = int(printed("slow-ost.osts"))
# The dumps of the run had 30 to 42 TB; which of them these were is not printed.
SIZES_GB = (30_000.0, 42_000.0)
HEALTHY_GB_S = 35 / OSTS
# The times of one and the same I/O on a busy file system scatter by about 0.19 of their logarithm; a sample of a few
# seconds by more, or less.
NOISE_FRACTION, SAMPLE_S = 0.3, 5.0
_NOISES = tuple(step / 100 for step in range(10, 50, 2))


class Case(NamedTuple):
    """One documented dump with trouble.

    Parameters
    ----------
    name : str
    minutes : float
        Printed time. [min]
    slow : int
        Slow OSTs.
    slow_gb_s : (float, float)
        Rate of a slow OST that explains the time, for the least and the greatest size. [GB/s]
    """

    name: str
    minutes: float
    slow: int
    slow_gb_s: tuple[float, float]


def cases() -> tuple[Case, Case]:
    """Return the two dumps with trouble, and which rates explain them.

    Examples
    --------
    >>> for case in cases():
    ...     print(case.name, case.slow, [round(1000 * rate) for rate in case.slow_gb_s])
    one erratic OST 1 [99, 139]
    two slow servers 12 [151, 211]
    """
    return _ERRATIC, _case("two slow servers", printed("slow-ost.minutes-second"), 2 * load_scratch().osts_per_oss)


def _case(name: str, minutes: float, slow: int) -> Case:
    """Return a dump with the rates that explain its time."""
    return Case(name, minutes, slow, explaining_rate_gb_s(60 * minutes, SIZES_GB, osts=OSTS))


_ERRATIC = _case("one erratic OST", printed("slow-ost.minutes-first"), int(printed("slow-ost.erratic-osts")))


def probe_power(slow_gb_s: float, minutes: float, noise_fraction: float = NOISE_FRACTION) -> float:
    """Probability that a probe finds an OST of this rate, for a given error of one sample. [fraction]

    Examples
    --------
    >>> probe_power(0.119, 1) > 0.95
    True
    """
    return probe(
        HEALTHY_GB_S, slow_gb_s, noise_fraction=noise_fraction, seconds=60 * minutes, sample_s=SAMPLE_S, osts=OSTS
    ).power


def _minutes(size_gb: float, slow: int, slow_gb_s: float) -> float:
    """Return the time of a dump. [min]"""
    rates = osts_with_slow(OSTS, HEALTHY_GB_S, slow=slow, slow_rate_gb_s=slow_gb_s)
    return barriered_dump(size_gb, rates, variables=VARIABLES).time_s / 60


def _probe_minutes(share: float, noise: float) -> float:
    """Return the probe time per OST to find one at this share of its rate nine times in ten. [min]

    A mean of n samples is off by noise / sqrt(n). It must separate the slow OST from the threshold at which one probe
    of all OSTs in twenty raises a false alarm.
    """
    alarm, power = NormalDist().inv_cdf(0.95 ** (1 / OSTS)), NormalDist().inv_cdf(0.9)
    samples = ((alarm + power) * noise / (1 - share)) ** 2
    return max(samples, 1.0) * SAMPLE_S / 60


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the healthy dump, and the one whose slow servers ran on one controller of a pair.

    Examples
    --------
    >>> usual = {name: each.value for name, each in ranges("slow-ost").items()}
    >>> {name: round(number, 1) for name, number in model(usual, random.Random(1)).items()}
    {'minutes-third': 19.7, 'later-share-of-peak': 75.5, 'minutes-second': 37.5, 'probe-minutes-low': 0.7, 'probe-minutes-high': 0.7}
    """
    size_gb, lost_s = 1000 * assumed["size_tb"], VARIABLES * assumed["lost_s"]
    writing_s = size_gb / writing_rate_gb_s(assumed["sustained"], assumed["ost_mb_s"])
    # Everybody waits for the OSTs of the controller that does the work of two.
    slow_s = writing_s / assumed["controller_share"]
    # The time of the first dump shows how slow its one OST was.
    erratic = writing_s / (60 * _ERRATIC.minutes)
    probes = sorted(_probe_minutes(share, assumed["noise"]) for share in (assumed["controller_share"], erratic))
    return {
        "minutes-third": (writing_s + lost_s) / 60,
        "later-share-of-peak": 100 * size_gb / (writing_s + lost_s) / load_scratch().peak_gb_s,
        "minutes-second": (slow_s + lost_s) / 60,
        "probe-minutes-low": probes[0],
        "probe-minutes-high": probes[1],
    }


def _sums() -> dict[str, Value]:
    erratic, servers = cases()
    return {
        # Of the second dump: its time if nothing were known of its servers.
        "servers_high_mb_s": 1000 * servers.slow_gb_s[1],
        "servers_found_percent": 100 * probe_power(servers.slow_gb_s[1], 2),
        "slow-osses": servers.slow / load_scratch().osts_per_oss,
        "good-ost-average": (erratic.slow_gb_s[0] / HEALTHY_GB_S, erratic.slow_gb_s[1] / HEALTHY_GB_S),
    }


def _values() -> dict[str, Value]:
    middle = sum(_ERRATIC.slow_gb_s) / 2
    calibrated = [_minutes(size, 1, rate) for size, rate in zip(SIZES_GB, _ERRATIC.slow_gb_s, strict=True)]
    files_gb_s = printed("trillion.fpp-rate") / 1000
    healthy = SHARED_GB / files_gb_s / 60
    rivals = {"later-share-of-peak": 100 * files_gb_s / load_scratch().peak_gb_s}
    rivals |= dict.fromkeys(("minutes-second", "minutes-third"), healthy)
    rivals |= dict.fromkeys(("probe-minutes-low", "probe-minutes-high"), healthy / VARIABLES)
    slow_one = barriered_dump(
        36_000, osts_with_slow(OSTS, HEALTHY_GB_S, slow=1, slow_rate_gb_s=middle), variables=VARIABLES
    )
    out = exclude_slow(36_000, OSTS, HEALTHY_GB_S, slow=1, slow_rate_gb_s=middle, variables=VARIABLES)
    found_by_noise = [min(probe_power(rate, 1, noise) for rate in _ERRATIC.slow_gb_s) for noise in _NOISES]
    return {
        **predictions(model, ranges("slow-ost"), rivals),
        "idle_percent": 100 * slow_one.idle_fraction,
        "minutes-first": (min(calibrated), max(calibrated)),
        "erratic_low_mb_s": 1000 * _ERRATIC.slow_gb_s[0],
        "erratic_high_mb_s": 1000 * _ERRATIC.slow_gb_s[1],
        "probe-finds-slow": Shares(sum(detected > 0.9 for detected in found_by_noise), len(found_by_noise)),
        "least_noise": _NOISES[0],
        "most_noise": _NOISES[-1],
        "found_percent": 100 * min(probe_power(rate, 1) for rate in _ERRATIC.slow_gb_s),
        "gain_without": out.with_slow_s / out.without_s,
    }


STUDY = Study("slow-ost", _values, sums=_sums, model=model)
