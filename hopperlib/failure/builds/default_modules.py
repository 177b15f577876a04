"""Which MPI modules everybody gets at login: three options, what each breaks and for whom, and what that costs.

What breaks comes from the rules on builds, tried on four kinds of program.
How many users build such programs, and how bad each kind of trouble is, is
printed nowhere: both are the reader's to set.
"""

from functools import cache
from typing import NamedTuple

from hopperlib.errors import refusal
from hopperlib.failure.builds.known_problems import check_build, read_build

# The modules of each option, as printed.
OPTIONS: dict[str, tuple[str, ...]] = {"A": ("xt-mpt",), "B": ("xt-mpich2",), "C": ("xt-mpich2", "xt-shmem")}

# Kinds of program: link line, and whether it uses SHMEM.
PROGRAMS: dict[str, tuple[str, bool]] = {
    "MPI, static": ("cc -o app app.o", False),
    "MPI, dynamic": ("cc -dynamic -o app app.o", False),
    "SHMEM, static": ("cc -o app app.o", True),
    "SHMEM, dynamic": ("cc -dynamic -o app app.o", True),
}
WORKS = "works"


def outcomes(option: str) -> dict[str, str]:
    """Return what happens to each kind of program under an option, by the rules.

    Parameters
    ----------
    option : {"A", "B", "C"}

    Returns
    -------
    dict of str to str
        Kind of program -> code of the problem, or "works".

    Raises
    ------
    ValueError
        If there is no such option.

    Examples
    --------
    >>> outcomes("B")
    {'MPI, static': 'works', 'MPI, dynamic': 'works', 'SHMEM, static': 'SHMEM-NOT-LOADED', 'SHMEM, dynamic': 'SHMEM-NOT-LOADED'}
    """
    if option not in OPTIONS:
        raise ValueError(f"option={option!r} must be one of: {', '.join(OPTIONS)}")
    return {program: _outcome(option, program) for program in PROGRAMS}


@cache
def _outcome(option: str, program: str) -> str:
    """Return what happens to one kind of program."""
    line, shmem = PROGRAMS[program]
    build = read_build("\n".join(OPTIONS[option]), line, shmem=shmem)
    certain = [fault.rule for fault in check_build(build) if fault.certainty == "known"]
    codes = [rule.code for rule in certain if rule.level == "problem"]
    return codes[0] if codes else WORKS


class Shares(NamedTuple):
    """Which share of the users does what; all from 0 to 1, none of them printed.

    Parameters
    ----------
    dynamic : float
        Link dynamically.
    shmem : float
        Use SHMEM; as often among those who link dynamically as among the others.
    hit : float
        Of the dynamic programs, those that fail with both libraries linked.
    pinned : float
        Name a version of the old module in their scripts.
    """

    dynamic: float
    shmem: float
    hit: float
    pinned: float


class Weights(NamedTuple):
    """How bad each kind of trouble is for one user, in any unit.

    Parameters
    ----------
    told : float
        A build that stops and says what to load instead.
    fails : float
        A program that fails for want of a module.
    run : float
        A program that builds, and fails when it runs, with words that say nothing.
    contacted : float
        A script that must be changed, asked for beforehand.
    """

    told: float
    fails: float
    run: float
    contacted: float


class Trouble(NamedTuple):
    """What an option costs.

    Parameters
    ----------
    option : str
    broken_fraction : float
        Users whose programs break.
    contacted_fraction : float
        Users who must be asked to change their scripts.
    cost : float
        Both, weighted, for one user on average.
    """

    option: str
    broken_fraction: float
    contacted_fraction: float
    cost: float


# Code of a problem -> field of the weights.
_WEIGHT_OF = {"MPT-DEPRECATED": "told", "SHMEM-NOT-LOADED": "fails", "MPICH2-SHMEM-DYNAMIC": "run"}


def troubles(shares: Shares, weights: Weights) -> tuple[Trouble, ...]:
    """Return what each option breaks and costs, in the order of the options.

    Parameters
    ----------
    shares : Shares
    weights : Weights

    Examples
    --------
    >>> for one in troubles(Shares(dynamic=0.1, shmem=0.02, hit=0.1, pinned=0.05),
    ...                     Weights(told=1, fails=3, run=5, contacted=0.5)):
    ...     print(one.option, round(one.broken_fraction, 3), round(one.cost, 3))
    A 0.1 0.1
    B 0.02 0.085
    C 0.01 0.075
    """
    for name, share in shares._asdict().items():
        if not 0 <= share <= 1:
            raise refusal(name, share, "must be from 0 to 1, a share of the users")
    for name, weight in weights._asdict().items():
        if weight < 0:
            raise refusal(name, weight, "must not be below 0: trouble does no good")
    by_option = []
    for option, modules in OPTIONS.items():
        broken = cost = 0.0
        for program, code in outcomes(option).items():
            if code == WORKS:
                continue
            share = shares.shmem if program.startswith("SHMEM") else 1 - shares.shmem
            share *= shares.dynamic if program.endswith("dynamic") else 1 - shares.dynamic
            # Only some of the programs with both libraries fail.
            share *= shares.hit if code == "MPICH2-SHMEM-DYNAMIC" else 1
            broken += share
            cost += share * getattr(weights, _WEIGHT_OF[code])
        contacted = 0.0 if "xt-mpt" in modules else shares.pinned
        cost += contacted * weights.contacted
        by_option.append(Trouble(option=option, broken_fraction=broken, contacted_fraction=contacted, cost=cost))
    return tuple(by_option)


def flip_weight(shares: Shares, weights: Weights) -> float | None:
    """Return the weight of a failure at run time above which C is no longer the cheapest.

    Returns
    -------
    float or None
        0 or below if C is never cheapest; None if it stays so whatever the weight.

    Examples
    --------
    >>> shares = Shares(dynamic=0.1, shmem=0.02, hit=0.1, pinned=0.05)
    >>> round(flip_weight(shares, Weights(told=1, fails=3, run=5, contacted=0.5)), 3)
    6.0
    """
    a, b, c = troubles(shares, weights)
    if c.broken_fraction == 0:
        return None if c.cost <= min(a.cost, b.cost) else 0.0
    return (min(a.cost, b.cost) - c.contacted_fraction * weights.contacted) / c.broken_fraction
