"""Throughput of many users of one shared resource: OSTs, a file, a link, memory channels, a metadata server.

A ceiling with `min` is too high where demand and ceiling are about equal: requests at random times wait for each other
before the server is saturated. A closed queue underestimates there. Between them is a soft minimum

    X = (D^-p + P^-p)^(-1/p)

of the demand D and the ceiling P. With p = 1 it is the closed queue, for large p it is `min`. Of seven laws tested on
144 public curves of 16 sources, each source left out in turn, none is better [1]_: its typical error is a factor of
1.07, or 1.09 away from the ceiling (`min` 1.14, the closed queue 1.19). p = 2.5 suits storage, memory, metadata servers
and networks alike. That applies to a *measured* ceiling. A ceiling from a data sheet is not reached; with such a
ceiling, p = 1 is best.

Two results limit its use. A curve that falls beyond its maximum cannot be predicted: a quarter of the curves fall by
more than 5 %, one in seven by more than 20 %. So the law does not fall; the interval is wider below. And the ceiling
matters more than the law: a ceiling set 50 % too high puts `min` off by a factor of 1.5.
`hopperlib.contention.ceilings` has measured ceilings.

References
----------
.. [1] ``benchmarks/README.md``, Contention; the curves with their sources are in ``data/contention-curves.csv``.
"""

import math
from typing import Literal, NamedTuple, get_args

from hopperlib.errors import above, at_least, refusal

Kind = Literal["own-files", "shared-file", "device", "metadata", "memory", "link", "ring", "all-to-all"]
KINDS: tuple[Kind, ...] = get_args(Kind)

#: Sharpness of the bend for a measured ceiling, and for a nominal one.
SHARPNESS, NOMINAL_SHARPNESS = 2.5, 1.0
#: Typical error of the law, with each source of the curves left out in turn. [ratio]
TYPICAL_FACTOR = 1.07
# Measured over estimated throughput, 10 and 90 % of the points of the public curves of a kind, all curves weighted
# equally.
_SPREAD: dict[Kind, tuple[float, float]] = {
    "own-files": (0.69, 1.10),
    "shared-file": (0.61, 1.07),
    "device": (0.92, 1.07),
    "metadata": (0.59, 1.15),
    "memory": (0.83, 1.06),
    "link": (0.94, 1.06),
    "ring": (0.46, 1.11),
    "all-to-all": (0.69, 1.16),
}
# The same where the ceiling is half as high again as the best that was measured, with p = 1.
_NOMINAL_SPREAD = (0.64, 1.27)
# Beyond this multiple of the ceiling, one shared file loses more.
_OVERLOAD, _OVERLOADED_SHARED_FILE = 8.0, 0.43


class Throughput(NamedTuple):
    """Throughput of all users together, in the unit of the rates.

    Parameters
    ----------
    usual : float
    low, high : float
        Ends of an interval that contains 80 % of the measured points of public curves.
    """

    usual: float
    low: float
    high: float


def spread_of(kind: Kind, *, nominal: bool = False) -> tuple[float, float]:
    """Measured over estimated throughput, the ends of an 80 % interval. [ratio]

    Parameters
    ----------
    kind : {"own-files", "shared-file", "device", "metadata", "memory", "link", "ring", "all-to-all"}
        Kind of shared resource.
    nominal : bool
        Whether the ceiling comes from a data sheet.

    Raises
    ------
    InputError
        If the kind is unknown.

    Examples
    --------
    >>> spread_of("metadata"), spread_of("memory", nominal=True)
    ((0.59, 1.15), (0.64, 1.27))
    """
    if kind not in KINDS:
        raise refusal("kind", kind, f"must be one of: {', '.join(KINDS)}")
    return _NOMINAL_SPREAD if nominal else _SPREAD[kind]


def soft_minimum(demand: float, ceiling: float, sharpness: float = SHARPNESS) -> float:
    """Throughput for a demand under a ceiling, in the unit of both.

    Parameters
    ----------
    demand : float
        Throughput without the ceiling; infinite is allowed. [same unit as the ceiling, at least 0]
    ceiling : float
        [at least 0]
    sharpness : float
        The power p: 1 for a closed queue, large for `min`. [above 0]

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    Where demand and ceiling are equal, a quarter is lost; at a tenth of the ceiling, next to nothing:

    >>> round(soft_minimum(1.0, 1.0), 3), round(soft_minimum(0.1, 1.0), 4), soft_minimum(1.0, 1.0, sharpness=1.0)
    (0.758, 0.0999, 0.5)
    """
    at_least(0, demand=demand, ceiling=ceiling)
    above(0, sharpness=sharpness)
    least, most = sorted((demand, ceiling))
    if least == 0 or math.isinf(most):
        return least
    # The ratio is at most 1, so no power can overflow.
    return least * math.pow(1 + math.pow(least / most, sharpness), -1 / sharpness)


def throughput(users: float, one: float, ceiling: float, *, sharpness: float = SHARPNESS) -> float:
    """Throughput of several users together, from that of one alone, in the same unit.

    The demand of one user is set so that one user alone gets the measured throughput.

    Parameters
    ----------
    users : float
        [at least 1]
    one : float
        Throughput of one user alone. [above 0]
    ceiling : float
        Maximum throughput of the shared resource. [same unit, above 0]
    sharpness : float
        As in `soft_minimum`.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    Clients of 1 GB/s on servers of 10 GB/s:

    >>> [round(throughput(clients, 1.0, 10.0), 2) for clients in (1, 5, 10, 20, 100)]
    [1.0, 4.69, 7.58, 9.37, 9.99]
    """
    # Advice tries hundreds of layouts, so the error message is built only if needed.
    if not (users >= 1 and one > 0 and ceiling > 0 and sharpness > 0):
        at_least(1, users=users)
        above(0, one=one, ceiling=ceiling, sharpness=sharpness)
    if one >= ceiling:
        return ceiling
    # X^-p = n^-p one^-p + (1 - n^-p) P^-p; the larger of the two terms is factored out, so that no power can overflow.
    others = 1 - math.pow(users, -sharpness)
    ratio = ceiling / one / users
    if ratio > 1:
        return users * one * math.pow(1 + others * math.pow(ratio, -sharpness), -1 / sharpness)
    return ceiling * math.pow(math.pow(ratio, sharpness) + others, -1 / sharpness)


def throughput_range(users: float, one: float, ceiling: float, kind: Kind, *, nominal: bool = False) -> Throughput:
    """Throughput of several users together, with the interval that public curves of its kind give.

    Parameters
    ----------
    users, one, ceiling : float
        As in `throughput`.
    kind : {"own-files", "shared-file", "device", "metadata", "memory", "link", "ring", "all-to-all"}
        Kind of shared resource: a file system with separate files, one file, one device, a metadata server, memory
        channels, one network interface, a network with a random ring or an all-to-all exchange.
    nominal : bool
        Whether the ceiling comes from a data sheet.

    Raises
    ------
    InputError
        If a number is out of range or the kind unknown.

    Examples
    --------
    >>> [round(end, 2) for end in throughput_range(10, 1.0, 10.0, "memory")]
    [7.58, 6.29, 8.04]
    """
    low, high = spread_of(kind, nominal=nominal)
    sharpness = NOMINAL_SHARPNESS if nominal else SHARPNESS
    usual = throughput(users, one, ceiling, sharpness=sharpness)
    if users == 1:
        return Throughput(usual, usual, usual)
    if kind == "shared-file" and users * one > _OVERLOAD * ceiling:
        low = min(low, _OVERLOADED_SHARED_FILE)
    return Throughput(usual, low * usual, min(high * usual, ceiling))


def share_kept(users: float, one: float, ceiling: float, *, sharpness: float = SHARPNESS) -> float:
    """Share of its stand-alone throughput that a user keeps when others are active. [fraction]

    Parameters
    ----------
    users : float
        Number of users.
    one : float
        Throughput of one user alone.
    ceiling : float
        Largest total throughput, in the unit of `one`.
    sharpness : float, default SHARPNESS
        Sharpness of the soft minimum.

    Examples
    --------
    Ten clients that could saturate the servers keep three quarters each; a hundred keep a tenth:

    >>> [round(share_kept(clients, 1.0, 10.0), 2) for clients in (1, 10, 100)]
    [1.0, 0.76, 0.1]
    """
    return throughput(users, one, ceiling, sharpness=sharpness) / (users * min(one, ceiling))


def users_for_share(share: float, one: float, ceiling: float, *, sharpness: float = SHARPNESS) -> float:
    """Number of users who together achieve a share of the ceiling; at least 1. [users]

    Parameters
    ----------
    share : float
        Share of the ceiling. [fraction, above 0 and below 1]
    one, ceiling, sharpness : float
        As in `throughput`.

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    By `min`, ten clients would saturate the servers; reaching 95 % of the ceiling takes 23:

    >>> round(users_for_share(0.95, 1.0, 10.0), 1)
    22.1
    """
    above(0, share=share, one=one, ceiling=ceiling, sharpness=sharpness)
    if share >= 1:
        raise refusal("share", share, "must be below 1: a ceiling is only approached")
    if one >= share * ceiling:
        return 1.0
    # Solves the law above for X = share P, with no power above 1.
    alone = 1 - math.pow(one / ceiling, sharpness)
    return share * ceiling / one * math.pow(alone / (1 - math.pow(share, sharpness)), 1 / sharpness)
