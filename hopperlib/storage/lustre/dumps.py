"""A dump of several variables to one shared file, with a barrier after each.

Nobody starts the next variable before the slowest OST has finished this one:
one slow OST is paid for once a variable, by everybody. The time of a dump
therefore tells how slow the slowest OST must be, if its size is known [1]_.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III-A and III-C.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

__all__ = [
    "Dump",
    "Exclusion",
    "Phase",
    "Probe",
    "barriered_dump",
    "exclude_slow",
    "explaining_rate_gb_s",
    "osts_with_slow",
    "probe",
]


class Phase(NamedTuple):
    """The writing of one variable.

    Parameters
    ----------
    start_s, end_s : float
        From the barrier before to the barrier after. [s]
    first_ost_s, last_ost_s : float
        When the first and the last OST were done. [s]
    """

    start_s: float
    end_s: float
    first_ost_s: float
    last_ost_s: float


class Dump(NamedTuple):
    """A whole dump.

    Parameters
    ----------
    time_s, rate_gb_s : float
    spread_s : float
        Time between first and last OST, over one variable. [s]
    idle_fraction : float
        Share of the OSTs' time spent waiting at barriers. [fraction]
    phases : tuple of Phase
    """

    time_s: float
    rate_gb_s: float
    spread_s: float
    idle_fraction: float
    phases: tuple[Phase, ...]


def osts_with_slow(osts: int, rate_gb_s: float, *, slow: int, slow_rate_gb_s: float) -> list[float]:
    """Return the rates of OSTs of which some are slow. [GB/s]

    Raises
    ------
    ValueError
        If there are more slow ones than OSTs.

    Examples
    --------
    >>> osts_with_slow(3, 0.25, slow=1, slow_rate_gb_s=0.1)
    [0.1, 0.25, 0.25]
    """
    if not 0 <= slow <= osts:
        raise ValueError(f"slow={slow} must be from 0 to {osts}, the OSTs in use")
    return [slow_rate_gb_s] * slow + [rate_gb_s] * (osts - slow)


def barriered_dump(size_gb: float, ost_rates_gb_s: Sequence[float], *, variables: int, gap_s: float = 0.0) -> Dump:
    """Return the timeline of a dump that is striped evenly over OSTs.

    Parameters
    ----------
    size_gb : float
        Size of the dump. [GB]
    ost_rates_gb_s : sequence of float
        Rate of each OST. [GB/s]
    variables : int
        Variables, each followed by a barrier.
    gap_s : float
        Time lost at each barrier besides waiting. [s]

    Raises
    ------
    ValueError
        If a quantity is not positive.

    Examples
    --------
    Two OSTs, one half as fast: each of two variables waits for it.

    >>> dump = barriered_dump(8.0, [2.0, 1.0], variables=2)
    >>> dump.time_s, dump.rate_gb_s, dump.spread_s, dump.idle_fraction
    (4.0, 2.0, 1.0, 0.25)
    """
    if size_gb <= 0 or variables < 1 or not ost_rates_gb_s or min(ost_rates_gb_s) <= 0 or gap_s < 0:
        raise ValueError(
            f"size_gb={size_gb}, variables={variables} and all OST rates must be positive, gap_s={gap_s} not negative"
        )
    each = size_gb / variables / len(ost_rates_gb_s)
    first, last = each / max(ost_rates_gb_s), each / min(ost_rates_gb_s)
    phases = tuple(
        Phase(
            number * (last + gap_s),
            (number + 1) * last + number * gap_s,
            number * (last + gap_s) + first,
            (number + 1) * last + number * gap_s,
        )
        for number in range(variables)
    )
    time_s = variables * last + (variables - 1) * gap_s
    writing = variables * sum(each / rate for rate in ost_rates_gb_s)
    return Dump(time_s, size_gb / time_s, last - first, 1 - writing / (time_s * len(ost_rates_gb_s)), phases)


def explaining_rate_gb_s(
    time_s: float, sizes_gb: tuple[float, float], *, osts: int, lost_s: float = 0.0
) -> tuple[float, float]:
    """Rate of the slowest OST that explains a dump's time, for the least and the greatest size. [GB/s]

    Parameters
    ----------
    time_s : float
        Measured time. [s]
    sizes_gb : (float, float)
        Range in which the size lies. [GB]
    osts : int
        OSTs over which the file is striped.
    lost_s : float
        Time of the dump in which no OST writes. [s]

    Raises
    ------
    ValueError
        If the range is empty or no time is left for writing.

    Examples
    --------
    35 minutes for 30 to 42 TB on 144 OSTs; "around 250 MB/s" would be healthy:

    >>> [round(1000 * rate) for rate in explaining_rate_gb_s(35 * 60, (30_000, 42_000), osts=144)]
    [99, 139]
    """
    low, high = sizes_gb
    if not 0 < low <= high:
        raise ValueError(f"sizes_gb={sizes_gb} must be two positive sizes, the smaller first")
    if osts < 1 or time_s <= lost_s:
        raise ValueError(f"osts={osts} must be at least 1, and time_s={time_s} more than lost_s={lost_s}")
    return low / osts / (time_s - lost_s), high / osts / (time_s - lost_s)


class Exclusion(NamedTuple):
    """What leaving out the slow OSTs does.

    Parameters
    ----------
    with_slow_s, without_s : float
        Time of the dump with all OSTs, and with the healthy ones alone. [s]
    break_even_gb_s : float
        Rate of a slow OST from which on leaving it out no longer pays. [GB/s]
    extra_per_ost_gb : float
        What each remaining OST holds more. [GB]
    """

    with_slow_s: float
    without_s: float
    break_even_gb_s: float
    extra_per_ost_gb: float


def exclude_slow(
    size_gb: float, osts: int, rate_gb_s: float, *, slow: int, slow_rate_gb_s: float, variables: int, gap_s: float = 0.0
) -> Exclusion:
    """Return what it buys, and costs, to write a dump without its slow OSTs.

    Parameters
    ----------
    size_gb : float
        Size of the dump. [GB]
    osts : int
        OSTs in use, the slow ones among them.
    rate_gb_s, slow_rate_gb_s : float
        Rate of a healthy and of a slow OST. [GB/s]
    slow : int
    variables : int
    gap_s : float
        Time lost at each barrier besides waiting. [s]

    Raises
    ------
    ValueError
        If no healthy OST is left, or a quantity is not positive.

    Examples
    --------
    One of four is half as fast. Three healthy ones take 4/3 of the time of four, the slow one makes it twice.

    >>> exclude_slow(12.0, 4, 1.0, slow=1, slow_rate_gb_s=0.5, variables=1)
    Exclusion(with_slow_s=6.0, without_s=4.0, break_even_gb_s=0.75, extra_per_ost_gb=1.0)
    """
    if not 0 <= slow < osts:
        raise ValueError(f"slow={slow} must be from 0 to {osts - 1}: a healthy OST must be left of {osts}")
    rates = osts_with_slow(osts, rate_gb_s, slow=slow, slow_rate_gb_s=slow_rate_gb_s)
    with_slow = barriered_dump(size_gb, rates, variables=variables, gap_s=gap_s)
    without = barriered_dump(size_gb, [rate_gb_s] * (osts - slow), variables=variables, gap_s=gap_s)
    return Exclusion(
        with_slow.time_s, without.time_s, rate_gb_s * (osts - slow) / osts, size_gb / (osts - slow) - size_gb / osts
    )


class Probe(NamedTuple):
    """What a short probe of every OST can tell.

    Parameters
    ----------
    power : float
        Chance that a slow OST is found. [fraction]
    threshold_gb_s : float
        Rate below which an OST is called slow. [GB/s]
    data_gb : float
        What the probe writes, over all OSTs. [GB]
    """

    power: float
    threshold_gb_s: float
    data_gb: float


def probe(
    healthy_gb_s: float, slow_gb_s: float, *, noise_fraction: float, seconds: float, sample_s: float, osts: int
) -> Probe:
    """How surely a short probe of every OST finds a slow one.

    Each OST is written for `seconds`; its rate is the mean of samples of
    `sample_s`, each off by a normal error. An OST is called slow if it falls
    below the threshold at which, over all OSTs, a false alarm has a chance of
    5 %.

    Parameters
    ----------
    healthy_gb_s, slow_gb_s : float
        True rates. [GB/s]
    noise_fraction : float
        Standard deviation of one sample, as a share of the healthy rate. [fraction]
    seconds, sample_s : float
        Length of the probe and of a sample. [s]
    osts : int
        Healthy OSTs that are probed.

    Raises
    ------
    ValueError
        If a quantity is not positive.

    Examples
    --------
    >>> found = probe(0.224, 0.15, noise_fraction=0.3, seconds=60, sample_s=5, osts=156)
    >>> round(found.power, 2), round(found.threshold_gb_s, 3), round(found.data_gb)
    (0.66, 0.158, 2097)
    """
    if min(healthy_gb_s, slow_gb_s, noise_fraction, seconds, sample_s) <= 0 or osts < 1 or sample_s > seconds:
        raise ValueError("all rates, the noise and the times must be positive, and a sample no longer than the probe")
    error = noise_fraction * healthy_gb_s / math.sqrt(int(seconds / sample_s))
    alarm = 1 - 0.95 ** (1 / osts)
    threshold = NormalDist(healthy_gb_s, error).inv_cdf(alarm)
    return Probe(NormalDist(slow_gb_s, error).cdf(threshold), threshold, healthy_gb_s * seconds * osts)
