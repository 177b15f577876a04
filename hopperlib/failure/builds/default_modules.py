"""MPI modules loaded at login for all users: three options, and the problems that the build rules find in each."""

from functools import cache

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
    """Return the outcome for each kind of program under an option, according to the rules.

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
        If the option does not exist.

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
    """Return the outcome for one kind of program."""
    line, shmem = PROGRAMS[program]
    build = read_build("\n".join(OPTIONS[option]), line, shmem=shmem)
    certain = [fault.rule for fault in check_build(build) if fault.certainty == "known"]
    codes = [rule.code for rule in certain if rule.level == "problem"]
    return codes[0] if codes else WORKS
