"""Gain from tuning: communication overlapped with computation, merged collectives, fused loops, caches.

The documents name the steps and, for QLA, two factors [1]_; the times were in figures that are lost. These models give
an upper limit for the gain of each step, and the order of the curves.

References
----------
.. [1] Y. He and K. Antypas, CUG 2012, slides "QLA: Code Tuning" and "MFDn:
   Overlap Comm and Comp in Hybrid MPI/OpenMP".
"""

import math

from hopperlib.errors import InputError, refusal


def overlapped_s(compute_s: float, communication_s: float, overlap_fraction: float) -> float:
    """Time of a step whose communication is partly overlapped with its computation. [s]

    Communication can be hidden only as long as there is computation.

    Parameters
    ----------
    compute_s, communication_s : float
        Times of computation and communication without overlap. [s]
    overlap_fraction : float
        Share of the communication that can overlap with the computation. [fraction]

    Raises
    ------
    InputError
        If a time is negative or the fraction not from 0 to 1.

    Examples
    --------
    >>> overlapped_s(10, 4, 0.0), overlapped_s(10, 4, 0.5), overlapped_s(10, 4, 1.0), overlapped_s(3, 4, 1.0)
    (14.0, 12.0, 10.0, 4.0)
    """
    if compute_s < 0 or communication_s < 0:
        raise InputError(f"compute_s={compute_s} and communication_s={communication_s} must not be negative")
    if not 0 <= overlap_fraction <= 1:
        raise refusal("overlap_fraction", overlap_fraction, "must be from 0 to 1")
    overlapped = communication_s * overlap_fraction
    return max(compute_s, overlapped) + communication_s - overlapped


def separate_collectives_s(tasks: int, message_gb: float, *, latency_s: float, bandwidth_gb_s: float) -> float:
    """Time of a reduction to one task and a scatter from it. [s]

    Both go over a tree of log2(tasks) levels. The reduction passes the whole message up each level; the scatter halves
    it on the way down.

    Parameters
    ----------
    tasks : int
        Number of tasks.
    message_gb : float
        Size of a message. [GB]
    latency_s : float
        Latency of a message. [s]
    bandwidth_gb_s : float
        Bandwidth of a task. [GB/s]

    Examples
    --------
    >>> round(separate_collectives_s(64, 0.001, latency_s=1.6e-6, bandwidth_gb_s=6.0), 6)
    0.001183
    """
    levels, scattered_s = _levels(tasks, message_gb, latency_s, bandwidth_gb_s)
    return 2 * levels * latency_s + levels * message_gb / bandwidth_gb_s + scattered_s


def merged_collectives_s(tasks: int, message_gb: float, *, latency_s: float, bandwidth_gb_s: float) -> float:
    """Time of one MPI_Reduce_scatter instead of the two. [s]

    With recursive halving, each task sends all parts but one once.

    Parameters
    ----------
    tasks : int
        Number of tasks.
    message_gb : float
        Size of a message. [GB]
    latency_s : float
        Latency of a message. [s]
    bandwidth_gb_s : float
        Bandwidth of a task. [GB/s]

    Examples
    --------
    >>> merged_collectives_s(64, 0.001, latency_s=1.6e-6, bandwidth_gb_s=6.0) < 0.001
    True
    """
    levels, scattered_s = _levels(tasks, message_gb, latency_s, bandwidth_gb_s)
    return levels * latency_s + scattered_s


def _levels(tasks: int, message_gb: float, latency_s: float, bandwidth_gb_s: float) -> tuple[int, float]:
    """Return the levels of the tree, and the transfer time of all parts but one."""
    if tasks < 1 or message_gb < 0 or latency_s < 0 or bandwidth_gb_s <= 0:
        raise InputError(
            f"tasks={tasks} must be at least 1, message_gb={message_gb} and latency_s={latency_s} not negative, "
            f"bandwidth_gb_s={bandwidth_gb_s} above 0"
        )
    return math.ceil(math.log2(tasks)), message_gb * (tasks - 1) / tasks / bandwidth_gb_s


def combined_factor(*factors: float) -> float:
    """Speedup of several independent steps together. [ratio]

    Raises
    ------
    InputError
        If there are no factors, or one is not positive.

    Examples
    --------
    >>> round(combined_factor(1.6, 1.4), 2)
    2.24
    """
    if not factors or min(factors) <= 0:
        raise refusal("factors", factors, "must be positive, at least one")
    return math.prod(factors)


def cache_speedup(cores: int, base_cores: int, *, data_mb: float, cache_mb: float, memory_penalty: float) -> float:
    """Speedup of a fixed problem when a growing share of each core's data fits its cache. [ratio]

    A core's data beyond its cache is read `memory_penalty` times as slowly.
    The speedup is superlinear while the share grows.

    Parameters
    ----------
    cores, base_cores : int
        Cores of the run and of the baseline run.
    data_mb : float
        Data of the whole problem. [MB]
    cache_mb : float
        Cache of one core. [MB]
    memory_penalty : float
        Time to read from memory over that from the cache, at least 1. [ratio]

    Raises
    ------
    InputError
        If a quantity is out of range.

    Examples
    --------
    With twice the cores, all data fits the caches: more than twice as fast.

    >>> cache_speedup(200, 100, data_mb=200, cache_mb=1, memory_penalty=3)
    4.0
    """
    if min(cores, base_cores) < 1 or min(data_mb, cache_mb) <= 0 or memory_penalty < 1:
        raise InputError(
            f"cores={cores} and base_cores={base_cores} must be at least 1, data_mb={data_mb} and cache_mb={cache_mb} "
            f"above 0, memory_penalty={memory_penalty} at least 1"
        )

    def core_time(count: int) -> float:
        each = data_mb / count
        return min(each, cache_mb) + max(each - cache_mb, 0.0) * memory_penalty

    return core_time(base_cores) / core_time(cores)
