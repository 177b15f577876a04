"""Placement of a job on a partly busy machine, and its compactness."""

from hopperlib.errors import refusal

_BLOCK = 8


def busy(position: int, busy_fraction: float) -> bool:
    """Return whether a position of the list is busy: in blocks of eight, by a fixed rule.

    Parameters
    ----------
    position : int
        Position in the node list.
    busy_fraction : float
        Share of the machine that is busy, from 0 to 1.

    Examples
    --------
    >>> sum(busy(position, 0.5) for position in range(8000)) / 8000
    0.502
    """
    # Knuth's multiplicative hash of the block's number scatters the busy blocks evenly over the list.
    return (position // _BLOCK * 2654435761 >> 7) % 1000 < 1000 * busy_fraction


def free_positions(count: int, nodes: int, *, start_fraction: float, busy_fraction: float) -> list[int]:
    """Return the first free positions of a node list from a start, on a machine that is busy as specified in `busy`.

    Parameters
    ----------
    count, nodes : int
        Positions of the list, and number of nodes requested.
    start_fraction : float
        Starting point in the list. [fraction]
    busy_fraction : float
        Share of the machine that is busy. [fraction]

    Raises
    ------
    InputError
        If fewer nodes are free.

    Examples
    --------
    >>> free_positions(8, 3, start_fraction=0.9, busy_fraction=0.0)
    [6, 7, 0]
    """
    taken, start = [], int(start_fraction * (count - 1))
    for step in range(count):
        position = (start + step) % count
        if not busy(position, busy_fraction):
            taken.append(position)
            if len(taken) == nodes:
                return taken
    raise refusal("nodes", nodes, f"must be at most {len(taken):,}, the nodes that are free at this setting")


def jobs_on_busy(count: int, busy_fraction: float, width: int = 128) -> list[list[int]]:
    """Return the busy positions of a node list, divided into jobs of an assumed width.

    Parameters
    ----------
    count : int
        Positions of the list.
    busy_fraction : float
        Share of the machine that is busy. [fraction]
    width : int, default 128
        Nodes per job.

    Examples
    --------
    >>> [len(job) for job in jobs_on_busy(400, 1.0)]
    [128, 128, 128, 16]
    """
    there = [position for position in range(count) if busy(position, busy_fraction)]
    return [there[first : first + width] for first in range(0, len(there), width)]
