"""What other jobs, barriers and the closing of a file take from a dump.

Three small models of the trillion-particle run [1]_:

- a barrier after each variable: the peak rate while all OSTs write, then a wait
  for the last one;
- other jobs: what runs on the rest of the machine writes too, and takes a share
  of the file system that falls as the job grows;
- closing: HDF5 checks the size of the file with operations on the metadata
  server, as many as there are processes.

References
----------
.. [1] S. Byna et al., CUG 2013, sec. III-A and III-B.
"""

from __future__ import annotations

__all__ = ["barrier_rate_gb_s", "close_cost_s", "gain_without_close", "rate_beside_others_gb_s"]


def barrier_rate_gb_s(size_gb: float, *, peak_gb_s: float, variables: int, spread_s: float) -> float:
    """Rate of a dump that waits so long for its last OST after every variable. [GB/s]

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
    ValueError
        If a quantity is not positive, or the spread negative.

    Examples
    --------
    The documented dump, if its 40 s are lost at each of eight barriers, or once:

    >>> each = {"size_gb": 31_300, "peak_gb_s": 35, "variables": 8}
    >>> round(barrier_rate_gb_s(**each, spread_s=40), 1), round(barrier_rate_gb_s(**each, spread_s=5), 1)
    (25.8, 33.5)
    """
    if size_gb <= 0 or peak_gb_s <= 0 or variables < 1 or spread_s < 0:
        raise ValueError(
            f"size_gb={size_gb}, peak_gb_s={peak_gb_s} and variables={variables} must be positive, "
            f"spread_s={spread_s} not negative"
        )
    return size_gb / (size_gb / peak_gb_s + variables * spread_s)


def rate_beside_others_gb_s(rate_gb_s: float, *, machine_fraction: float, others_demand: float) -> float:
    """Rate that is left when the rest of the machine writes too. [GB/s]

    Parameters
    ----------
    rate_gb_s : float
        Rate with the file system to itself. [GB/s]
    machine_fraction : float
        Share of the machine that the job has. [fraction]
    others_demand : float
        Share of the file system that other jobs would take if they had the whole machine. [fraction]

    Raises
    ------
    ValueError
        If a share is not between 0 and 1.

    Examples
    --------
    >>> rate_beside_others_gb_s(30.0, machine_fraction=0.5, others_demand=0.4)
    24.0
    """
    for name, share in (("machine_fraction", machine_fraction), ("others_demand", others_demand)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name}={share} must be from 0 to 1")
    return rate_gb_s * (1 - others_demand * (1 - machine_fraction))


def gain_without_close(rate_gb_s: float, *, size_per_process_gb: float, close_s: float) -> float:
    """How many times as fast a dump is when closing leaves the size check out. [ratio]

    The check costs `close_s` for each process; writing costs each process its
    data over the rate of all. So the number of processes drops out.

    Parameters
    ----------
    rate_gb_s : float
        Rate of the writing alone, of all processes. [GB/s]
    size_per_process_gb : float
        What a process writes. [GB]
    close_s : float
        Cost of the check for each process. [s]

    Raises
    ------
    ValueError
        If a quantity is not positive, or the cost negative.

    Examples
    --------
    >>> gain_without_close(32.0, size_per_process_gb=0.032, close_s=0.004)
    5.0
    """
    if rate_gb_s <= 0 or size_per_process_gb <= 0 or close_s < 0:
        raise ValueError(
            f"rate_gb_s={rate_gb_s} and size_per_process_gb={size_per_process_gb} must be positive, "
            f"close_s={close_s} not negative"
        )
    return 1 + close_s * rate_gb_s / size_per_process_gb


def close_cost_s(gain: float, rate_gb_s: float, *, size_per_process_gb: float) -> float:
    """Cost of the size check for each process that explains a gain. [s]

    Raises
    ------
    ValueError
        If the gain is below 1, or a quantity not positive.

    Examples
    --------
    >>> close_cost_s(5.0, 32.0, size_per_process_gb=0.032)
    0.004
    """
    if gain < 1 or rate_gb_s <= 0 or size_per_process_gb <= 0:
        raise ValueError(
            f"gain={gain} must be at least 1, rate_gb_s={rate_gb_s} and size_per_process_gb={size_per_process_gb} positive"
        )
    return (gain - 1) * size_per_process_gb / rate_gb_s
