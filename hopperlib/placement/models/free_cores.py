"""Cores left free for the node's own work: when fewer tasks finish sooner.

The operating system, local I/O and helper threads need a core now and then. If
every core has a task, one task is interrupted, and in a program that meets at
barriers all tasks wait for it. With some cores free that work runs beside the
tasks, but the tasks left have more to do each.

Times are in units of the packed run's own work, so that 1 is a packed node
with nothing else to do. What it leaves out: bandwidth and memory that the
tasks gain, which speak for free cores too.
"""

from hopperlib.errors import at_least, refusal, within


def run_time_with_free_cores(cores: int, free: int, service: float) -> float:
    """Run time with some cores left free, in units of the packed run's own work. [ratio]

    Parameters
    ----------
    cores : int
        Cores of the node.
    free : int
        Cores without a task, from 0 to ``cores - 1``.
    service : float
        Work beside the tasks, as a share of the packed run time of one core.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    Half a core's time of other work, on a node of 24 cores: all wait for it, or
    20 cores do what 24 did:

    >>> run_time_with_free_cores(24, 0, 0.5), run_time_with_free_cores(24, 4, 0.5)
    (1.5, 1.2)
    """
    _check(cores, free)
    if not service >= 0:
        raise refusal("service", service, "must not be negative: it is a share of a core's time")
    if free == 0:
        return 1 + service
    return max(cores / (cores - free), service / free)


def break_even_service(cores: int, free: int) -> float:
    """Work beside the tasks above which that many free cores pay, as a share of one core's time. [ratio]

    Above it they always pay: that work takes longer on one busy core, with all
    tasks waiting, than on free ones.

    Parameters
    ----------
    cores : int
        Cores of the node.
    free : int
        Cores without a task, from 1 to ``cores - 1``.

    Raises
    ------
    InputError
        If an argument is out of its range.

    Examples
    --------
    >>> break_even_service(24, 4)
    0.2

    References
    ----------
    Y. He and K. Antypas, CUG 2012, slide "PSOCI: Use Fewer Cores Per Node", where 4 of 24 cores are left free.
    """
    _check(cores, free)
    if free == 0:
        raise refusal("free", free, "must be at least 1: with none there is nothing to compare")
    return free / (cores - free)


def _check(cores: int, free: int) -> None:
    """Refuse a node without cores, or more free cores than leave one task."""
    at_least(1, cores=cores)
    within(0, cores - 1, ": one core of the node must work", free=free)
