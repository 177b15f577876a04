"""One exercise in Python for each study: a few lines to write or mend, checked by values of the model.

The code to begin with and the solution are written here; the values that it must
give come from `hopperlib`, by another way than the solution's.

=============  ================================================================
node           placement, memory, hybrid, pages-and-libraries, machines
network        torus, fragmentation, variability, rank-order, networks,
               overlap-and-tuning, scheduling-trouble
storage        io-node, iobuf, slow-ost, striping, trillion
failure        bad-nodes, build-and-link, diagnosis, and of monitoring:
               acceptance, benchmark-history
boxes          models to change next to their formulas
=============  ================================================================
"""

from collections.abc import Callable

from hopperbook.exercises import failure, network, node, storage
from hopperbook.self_checks.code import CodeCheck

EXERCISES: dict[str, Callable[[], CodeCheck]] = {
    **node.EXERCISES,
    **network.EXERCISES,
    **storage.EXERCISES,
    **failure.EXERCISES,
}


def exercise(study: str) -> CodeCheck:
    """Return the exercise in Python of a study.

    Raises
    ------
    ValueError
        If the study has none.

    Examples
    --------
    >>> exercise("memory").name
    'memory-code'
    """
    if study not in EXERCISES:
        raise ValueError(f"study={study!r} has no exercise in Python; there is one of: {', '.join(EXERCISES)}")
    return EXERCISES[study]()
