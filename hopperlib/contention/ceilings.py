"""Measured ceilings: throughput of one client, core, memory domain or pair of nodes, with the spread over public
systems.

Each row of ``ceilings.csv`` is the value of one system, with the file or page that prints it. The value for another
system is estimated from all values of a group: the geometric mean, and an interval that contains 80 % of other systems
(Student's t of the logarithms). With each system left out in turn, the intervals contain 83 % of 212 values of the
groups with five systems or more.

================================  ==============================================================================
client-own-files-write, -read     one node, one file per task, write or read (ior-easy of IO500, at most 16 nodes)
client-small-shared-write, -read  one node, one shared file, unaligned blocks of 47,008 bytes (ior-hard)
client-shared-write               a single node that writes one shared file in large blocks, MPI-IO or POSIX
task-own-file-write               one task that writes a file
link-pair                         one pair of nodes
ring-share-N, all-to-all-share-N  share of the two-node rate that N nodes keep in the same pattern [ratio]
core-memory, numa-memory          STREAM with one thread, and the best of a memory domain
================================  ==============================================================================

Do not use the shares of many flows where the network is known: they depend on its topology.
"""

import math
from collections.abc import Collection
from statistics import fmean, stdev
from typing import NamedTuple

from hopperlib.errors import InputError, did_you_mean
from hopperlib.package_data import load_csv_resource

# The 90 % quantile of the normal distribution.
_Z = 1.2816
_FEWEST_SYSTEMS = 3


class MeasuredCeiling(NamedTuple):
    """The value of one system.

    Parameters
    ----------
    quantity, group : str
        The measurement, and the kind of system.
    system : str
    value : float
    unit : str
        ``GB/s`` or ``ratio``.
    source, place, note : str
        The repository or page, the file or section in it, and how it was measured.
    """

    quantity: str
    group: str
    system: str
    value: float
    unit: str
    source: str
    place: str
    note: str


class Ceiling(NamedTuple):
    """Estimate for another system, in the unit of the quantity.

    Parameters
    ----------
    usual : float
        Geometric mean.
    low, high : float
        Ends of an interval for 80 % of other systems.
    systems : int
        Number of systems measured.
    """

    usual: float
    low: float
    high: float
    systems: int


def measured_ceilings(quantity: str = "", group: str = "") -> tuple[MeasuredCeiling, ...]:
    """All measured values, or those of a quantity and a group.

    Parameters
    ----------
    quantity, group : str
        As in the table above; empty for all.

    Examples
    --------
    >>> sorted(each.system for each in measured_ceilings("client-shared-write"))
    ['ARCHER', 'ARCHER2', 'CSD3', 'Cirrus', 'Dell EE for Lustre', 'Thomas', 'h5py user']
    """
    rows = (_read(row) for row in load_csv_resource(__file__, "ceilings.csv"))
    return tuple(row for row in rows if quantity in ("", row.quantity) and group in ("", row.group))


def _read(row: dict[str, str]) -> MeasuredCeiling:
    """Read a row of the table."""
    texts = {name: row[name] for name in MeasuredCeiling._fields if name != "value"}
    return MeasuredCeiling(value=float(row["value"]), **texts)


def interval(values: Collection[float]) -> Ceiling:
    """Geometric mean and 80 % interval for another value, in the unit of the values.

    Parameters
    ----------
    values : collection of float
        At least three values, from independent systems. [above 0]

    Raises
    ------
    InputError
        If there are fewer than three values, or one is not positive.

    Examples
    --------
    >>> [round(end, 2) for end in interval([1.0, 2.0, 4.0])[:3]]
    [2.0, 0.44, 9.01]
    """
    if len(values) < _FEWEST_SYSTEMS:
        raise InputError(
            f"{len(values)} measured systems are too few for a spread; there must be at least {_FEWEST_SYSTEMS}"
        )
    if min(values) <= 0:
        raise InputError(f"value={min(values):g} must be above 0: rates spread by factors")
    logarithms = [math.log(value) for value in values]
    mean, freedom = fmean(logarithms), len(logarithms) - 1
    half = _student(freedom) * stdev(logarithms) * math.sqrt(1 + 1 / len(logarithms))
    return Ceiling(math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(logarithms))


def _student(freedom: int) -> float:
    """90 % quantile of Student's t, accurate to 1 % for two or more degrees of freedom."""
    first = (_Z**3 + _Z) / 4
    second = (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96
    third = (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384
    return _Z + first / freedom + second / freedom**2 + third / freedom**3


def ceiling(quantity: str, group: str, *, without: Collection[str] = ()) -> Ceiling:
    """Estimate for a system without measurements, in GB/s or as a ratio.

    Parameters
    ----------
    quantity, group : str
        As in the table above.
    without : collection of str
        Systems to leave out.

    Raises
    ------
    InputError
        If the quantity or the group is unknown, or fewer than three systems remain.

    Examples
    --------
    One node writing to one shared file, whatever its stripes and its network card:

    >>> shared = ceiling("client-shared-write", "lustre")
    >>> [round(end, 2) for end in shared[:3]], shared.systems
    ([0.79, 0.45, 1.38], 7)
    """
    rows = measured_ceilings(quantity, group)
    if not rows:
        known = sorted({f"{each.quantity} of {each.group}" for each in measured_ceilings()})
        requested = f"{quantity} of {group}"
        raise InputError(f"no measured ceiling {requested!r}{did_you_mean(requested, known)}")
    return interval([each.value for each in rows if each.system not in without])
