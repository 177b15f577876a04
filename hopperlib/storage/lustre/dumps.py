"""A dump of several variables to one shared file: its barriers, its slowest OST, and other costs.

- No task starts the next variable before the slowest OST has finished this one: all tasks wait for a slow OST once per
  variable. The time of a dump of known size therefore determines the rate of the slowest OST.
- Jobs on the rest of the machine write too; their share of the file system falls as the job grows.
- HDF5 checks the size of the file when it is closed, with one operation per process on the metadata server [1]_.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist
from typing import NamedTuple

from hopperlib.errors import above, at_least, refusal
from hopperlib.finding import Finding

# Minimum detection probability of a probe; a probe with less is too short.
_ENOUGH_POWER = 0.9


class Phase(NamedTuple):
    """The writing of one variable.

    Parameters
    ----------
    start_s, end_s : float
        Times of the barriers before and after it. [s]
    first_ost_s, last_ost_s : float
        Times at which the first and the last OST finished. [s]
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
    """Return the rates of OSTs, some of them slow. [GB/s]

    Parameters
    ----------
    osts : int
        Number of OSTs.
    rate_gb_s : float
        Rate of an OST. [GB/s]
    slow : int
        Number of slow OSTs.
    slow_rate_gb_s : float
        Rate of a slow OST. [GB/s]

    Raises
    ------
    InputError
        If there are more slow OSTs than OSTs.

    Examples
    --------
    >>> osts_with_slow(3, 0.25, slow=1, slow_rate_gb_s=0.1)
    [0.1, 0.25, 0.25]
    """
    if not 0 <= slow <= osts:
        raise refusal("slow", slow, f"must be from 0 to {osts}, the OSTs in use")
    return [slow_rate_gb_s] * slow + [rate_gb_s] * (osts - slow)


def barriered_dump(size_gb: float, ost_rates_gb_s: Sequence[float], *, variables: int) -> Dump:
    """Return the timeline of a dump striped evenly over OSTs.

    Parameters
    ----------
    size_gb : float
        Size of the dump. [GB]
    ost_rates_gb_s : sequence of float
        Rate of each OST. [GB/s]
    variables : int
        Variables, each followed by a barrier.

    Raises
    ------
    InputError
        If a quantity is not positive.

    Examples
    --------
    Two OSTs, one of them half as fast: each of two variables waits for it.

    >>> dump = barriered_dump(8.0, [2.0, 1.0], variables=2)
    >>> dump.time_s, dump.rate_gb_s, dump.spread_s, dump.idle_fraction
    (4.0, 2.0, 1.0, 0.25)
    """
    above(0, size_gb=size_gb, slowest_ost_gb_s=min(ost_rates_gb_s, default=0.0))
    at_least(1, variables=variables)
    each = size_gb / variables / len(ost_rates_gb_s)
    first, last = each / max(ost_rates_gb_s), each / min(ost_rates_gb_s)
    phases = []
    for number in range(variables):
        start_s, end_s = number * last, (number + 1) * last
        phases.append(Phase(start_s, end_s, start_s + first, end_s))
    time_s = variables * last
    # Share of the time of all OSTs during which they write.
    writing = variables * sum(each / rate for rate in ost_rates_gb_s)
    return Dump(time_s, size_gb / time_s, last - first, 1 - writing / (time_s * len(ost_rates_gb_s)), tuple(phases))


def explaining_rate_gb_s(time_s: float, sizes_gb: tuple[float, float], *, osts: int) -> tuple[float, float]:
    """Rate of the slowest OST that explains a dump's time, for the smallest and the largest size. [GB/s]

    Parameters
    ----------
    time_s : float
        Measured time. [s]
    sizes_gb : (float, float)
        Range of the size. [GB]
    osts : int
        OSTs over which the file is striped.

    Raises
    ------
    InputError
        If the range is empty or the time not positive.

    Examples
    --------
    35 minutes for 30 to 42 TB on 144 OSTs; "around 250 MB/s" would be healthy:

    >>> [round(1000 * rate) for rate in explaining_rate_gb_s(35 * 60, (30_000, 42_000), osts=144)]
    [99, 139]
    """
    low, high = sizes_gb
    if not 0 < low <= high:
        raise refusal("sizes_gb", sizes_gb, "must be two positive sizes, the smaller first")
    at_least(1, osts=osts)
    above(0, time_s=time_s)
    return low / osts / time_s, high / osts / time_s


class Exclusion(NamedTuple):
    """Effect of excluding the slow OSTs.

    Parameters
    ----------
    with_slow_s, without_s : float
        Time of the dump with all OSTs, and with only the healthy ones. [s]
    break_even_gb_s : float
        Rate of a slow OST above which excluding it no longer pays off. [GB/s]
    extra_per_ost_gb : float
        Additional data on each remaining OST. [GB]
    """

    with_slow_s: float
    without_s: float
    break_even_gb_s: float
    extra_per_ost_gb: float


def exclude_slow(
    size_gb: float, osts: int, rate_gb_s: float, *, slow: int, slow_rate_gb_s: float, variables: int
) -> Exclusion:
    """Compute the gain and the cost of writing a dump without the slow OSTs.

    Parameters
    ----------
    size_gb : float
        Size of the dump. [GB]
    osts : int
        OSTs in use, including slow ones.
    rate_gb_s, slow_rate_gb_s : float
        Rate of a healthy and of a slow OST. [GB/s]
    slow : int
    variables : int

    Raises
    ------
    InputError
        If no healthy OST is left, or a quantity is not positive.

    Examples
    --------
    One of four OSTs is half as fast. Three healthy OSTs take 4/3 of the time of four; the slow one doubles the time.

    >>> exclude_slow(12.0, 4, 1.0, slow=1, slow_rate_gb_s=0.5, variables=1)
    Exclusion(with_slow_s=6.0, without_s=4.0, break_even_gb_s=0.75, extra_per_ost_gb=1.0)
    """
    if not 0 <= slow < osts:
        raise refusal("slow", slow, f"must be from 0 to {osts - 1}: a healthy OST must be left of {osts}")
    rates = osts_with_slow(osts, rate_gb_s, slow=slow, slow_rate_gb_s=slow_rate_gb_s)
    with_slow = barriered_dump(size_gb, rates, variables=variables)
    without = barriered_dump(size_gb, [rate_gb_s] * (osts - slow), variables=variables)
    # Excluding it no longer pays off if the slow OST finishes its share before the others would finish their larger
    # ones.
    return Exclusion(
        with_slow.time_s, without.time_s, rate_gb_s * (osts - slow) / osts, size_gb / (osts - slow) - size_gb / osts
    )


class Probe(NamedTuple):
    """Result of a short probe of every OST.

    Parameters
    ----------
    power : float
        Chance that a slow OST is found. [fraction]
    data_gb : float
        Data written by the probe, over all OSTs. [GB]
    """

    power: float
    data_gb: float


def probe(
    healthy_gb_s: float, slow_gb_s: float, *, noise_fraction: float, seconds: float, sample_s: float, osts: int
) -> Probe:
    """Probability that a short probe of every OST finds a slow one. Each OST is written for `seconds`; its rate is the
    mean of samples of `sample_s`, each with a normal error. An OST counts as slow if its rate is below the threshold
    with a 5 % chance of a false alarm over all OSTs.

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
    InputError
        If a quantity is not positive.

    Examples
    --------
    >>> found = probe(0.224, 0.15, noise_fraction=0.3, seconds=60, sample_s=5, osts=156)
    >>> round(found.power, 2), round(found.data_gb)
    (0.66, 2097)
    """
    above(0, healthy_gb_s=healthy_gb_s, slow_gb_s=slow_gb_s, noise_fraction=noise_fraction, sample_s=sample_s)
    at_least(1, osts=osts)
    if sample_s > seconds:
        raise refusal("sample_s", sample_s, f"must not be longer than the probe, {seconds} s")
    error = noise_fraction * healthy_gb_s / math.sqrt(int(seconds / sample_s))
    alarm = 1 - 0.95 ** (1 / osts)
    threshold = NormalDist(healthy_gb_s, error).inv_cdf(alarm)
    return Probe(NormalDist(slow_gb_s, error).cdf(threshold), healthy_gb_s * seconds * osts)


def barrier_rate_gb_s(size_gb: float, *, peak_gb_s: float, variables: int, spread_s: float) -> float:
    """Rate of a dump that waits for its last OST after every variable. [GB/s]

    Parameters
    ----------
    size_gb : float
        Size of the dump. [GB]
    peak_gb_s : float
        Rate while all OSTs write. [GB/s]
    variables : int
    spread_s : float
        Time lost at each barrier. [s]

    Raises
    ------
    InputError
        If a quantity is not positive, or the spread negative.

    Examples
    --------
    The documented dump, if its 40 s are lost at each of eight barriers, or once:

    >>> each = {"size_gb": 31_300, "peak_gb_s": 35, "variables": 8}
    >>> round(barrier_rate_gb_s(**each, spread_s=40), 1), round(barrier_rate_gb_s(**each, spread_s=5), 1)
    (25.8, 33.5)
    """
    above(0, size_gb=size_gb, peak_gb_s=peak_gb_s)
    at_least(1, variables=variables)
    at_least(0, spread_s=spread_s)
    return size_gb / (size_gb / peak_gb_s + variables * spread_s)


def rate_with_other_jobs_gb_s(rate_gb_s: float, *, machine_fraction: float, others_demand: float) -> float:
    """Rate that remains when the rest of the machine writes too. [GB/s]

    Parameters
    ----------
    rate_gb_s : float
        Rate with the file system to itself. [GB/s]
    machine_fraction : float
        Share of the machine used by the job. [fraction]
    others_demand : float
        Share of the file system that other jobs would take if they had the whole machine. [fraction]

    Raises
    ------
    InputError
        If a share is not between 0 and 1.

    Examples
    --------
    >>> rate_with_other_jobs_gb_s(30.0, machine_fraction=0.5, others_demand=0.4)
    24.0
    """
    for name, share in (("machine_fraction", machine_fraction), ("others_demand", others_demand)):
        if not 0 <= share <= 1:
            raise refusal(name, share, "must be from 0 to 1")
    return rate_gb_s * (1 - others_demand * (1 - machine_fraction))


def gain_without_close(rate_gb_s: float, *, size_per_process_gb: float, close_s: float) -> float:
    """Speedup of a dump if closing skips the size check. [ratio] The check costs `close_s` per process; writing costs
    the data of each process over the rate of all. The number of processes therefore cancels.

    Parameters
    ----------
    rate_gb_s : float
        Write rate of all processes without closing. [GB/s]
    size_per_process_gb : float
        Data written by a process. [GB]
    close_s : float
        Cost of the check for each process. [s]

    Raises
    ------
    InputError
        If a quantity is not positive, or the cost negative.

    Examples
    --------
    >>> gain_without_close(32.0, size_per_process_gb=0.032, close_s=0.004)
    5.0
    """
    above(0, rate_gb_s=rate_gb_s, size_per_process_gb=size_per_process_gb)
    at_least(0, close_s=close_s)
    return 1 + close_s * rate_gb_s / size_per_process_gb


def close_cost_s(gain: float, rate_gb_s: float, *, size_per_process_gb: float) -> float:
    """Cost of the size check per process that explains a gain. [s]

    Parameters
    ----------
    gain : float
        Speedup of the dump without the size check. [ratio, at least 1]
    rate_gb_s : float
        Write rate of all processes without closing. [GB/s]
    size_per_process_gb : float
        Data written by a process. [GB]

    Raises
    ------
    InputError
        If the gain is below 1, or a quantity not positive.

    Examples
    --------
    >>> close_cost_s(5.0, 32.0, size_per_process_gb=0.032)
    0.004
    """
    at_least(1, gain=gain)
    above(0, rate_gb_s=rate_gb_s, size_per_process_gb=size_per_process_gb)
    return (gain - 1) * size_per_process_gb / rate_gb_s


def barrier_steps(size_gb: float, *, peak_gb_s: float, variables: int, spread_s: float) -> list[tuple[float, float]]:
    """Rate of a shared file over time, as the corners of a line: at peak, and zero at the end of each variable. [s],
    [GB/s]

    Parameters
    ----------
    size_gb : float
        Size of the dump. [GB]
    peak_gb_s : float
        Peak rate of the file system. [GB/s]
    variables : int
        Number of variables.
    spread_s : float
        Time between the first and the last OST. [s]

    Examples
    --------
    >>> barrier_steps(8.0, peak_gb_s=2.0, variables=2, spread_s=1.0)[2:5]
    [(2.0, 0.0), (3.0, 0.0), (3.0, 2.0)]
    """
    writing_s = size_gb / variables / peak_gb_s
    corners: list[tuple[float, float]] = []
    for number in range(variables):
        start = number * (writing_s + spread_s)
        done = start + writing_s
        corners += [(start, peak_gb_s), (done, peak_gb_s), (done, 0.0), (done + spread_s, 0.0)]
    return corners


def ost_activity(dump: Dump, rate_gb_s: float, *, slowest: bool = False) -> list[tuple[float, float]]:
    """Rate of one OST over a dump, as the corners of a line: it writes, and waits at each barrier. [s], [GB/s]

    Parameters
    ----------
    dump : Dump
    rate_gb_s : float
        Rate of the OST. [GB/s]
    slowest : bool
        Whether it is the slowest OST, for which all wait, or the first to finish.

    Examples
    --------
    >>> dump = barriered_dump(4.0, [2.0, 1.0], variables=1)
    >>> ost_activity(dump, 2.0), ost_activity(dump, 1.0, slowest=True)
    ([(0.0, 2.0), (1.0, 2.0), (1.0, 0.0), (2.0, 0.0)], [(0.0, 1.0), (2.0, 1.0)])
    """
    corners = []
    for phase in dump.phases:
        done_s = phase.end_s if slowest else phase.first_ost_s
        corners += [(phase.start_s, rate_gb_s), (done_s, rate_gb_s)]
        corners += [] if slowest else [(done_s, 0.0), (phase.end_s, 0.0)]
    return corners


def slow_ost_findings(
    explaining_gb_s: tuple[float, float],
    healthy_gb_s: float,
    *,
    slow: int,
    slow_gb_s: float,
    exclusion: Exclusion,
    power: float,
) -> Iterator[Finding]:
    """Yield the consequences of a measured time, of excluding slow OSTs, and of a probe.

    Parameters
    ----------
    explaining_gb_s : (float, float)
        Rates of the slowest OST that explain the measured time, from `explaining_rate_gb_s`. [GB/s]
    healthy_gb_s, slow_gb_s : float
        Rate of a healthy and of a slow OST. [GB/s]
    slow : int
        Slow OSTs.
    exclusion : Exclusion
    power : float
        Chance that the probe finds a slow OST. [fraction]

    Examples
    --------
    >>> out = exclude_slow(12.0, 4, 1.0, slow=1, slow_rate_gb_s=0.5, variables=1)
    >>> found = slow_ost_findings((0.4, 0.6), 1.0, slow=1, slow_gb_s=0.5, exclusion=out, power=0.5)
    >>> [finding.code for finding in found]
    ['exclude', 'probe-too-short']
    """
    low, high = explaining_gb_s
    if low > healthy_gb_s:
        message = "The measured time is shorter than healthy OSTs allow, so a size or a rate must be wrong."
        yield Finding("faster-than-healthy", message, "problem")
    elif high >= healthy_gb_s:
        message = "If the dump is large, no slow OST is needed to explain the time: healthy OSTs take as long."
        yield Finding("no-slow-ost-needed", message, "note")
    if slow and slow_gb_s < exclusion.break_even_gb_s:
        them = "the slow OST" if slow == 1 else f"the {slow} slow OSTs"
        more = f"{exclusion.extra_per_ost_gb:,.1f} GB more"
        yield Finding("exclude", f"It pays to leave out {them}: each of the others then takes {more}.")
    if slow and power < _ENOUGH_POWER:
        yield Finding("probe-too-short", "This probe would miss the slow OST too often. Let it run longer.")
