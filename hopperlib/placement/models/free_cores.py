"""Cores left free for system work: conditions under which fewer tasks finish sooner.

The operating system, local I/O and helper threads need a core now and then. If every core has a task, one task is
interrupted, and in a program with barriers all other tasks wait for it. With some cores free, that work runs at the
same time as the tasks, but each remaining task has more to do.

Times are in units of the packed run's work, so 1 is a packed node without system work. Not modeled: the additional
bandwidth and memory per task, which also favor free cores.
"""

from hopperlib.errors import at_least, within


def break_even_service(cores: int, free: int) -> float:
    """System work above which this many free cores pay off, as a share of one core's time. [ratio]

    Above it free cores always pay off: the system work takes longer on one busy core, with all tasks waiting, than on
    free ones.

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
    at_least(2, cores=cores)
    within(1, cores - 1, ": one core of the node must work", free=free)
    return free / (cores - free)
