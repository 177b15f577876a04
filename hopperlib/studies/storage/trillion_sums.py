"""The sums of the trillion-particle run: printed numbers against each other, no model between."""

from __future__ import annotations

from hopperlib.documented import documented, printed
from hopperlib.machine import Machine
from hopperlib.studies.study import Value
from hopperlib.units import BYTES_PER_MIB

__all__ = ["FPP_GB", "SHARED_GB", "VARIABLES", "sums"]

# The dump to a file for each process, the dump to one file, and what either holds of a particle.
FPP_GB, SHARED_GB = 29_700.0, 31_300.0
VARIABLES = 8


def _printed(name: str) -> float:
    """Return a printed number of this study."""
    return printed(f"trillion.{name}")


def sums() -> dict[str, Value]:
    """Return every sum of the paper, by the row that prints it.

    Examples
    --------
    >>> sums()["data-all"]
    490.0
    """
    hopper = Machine.load("hopper")
    processes, nodes, weak_tasks = 20_000, 5_000, 131_072
    field_gb_a_step = 1000 * _printed("field-data") / _printed("field-dumps")
    return {
        "cores": processes * _printed("threads"),
        "processes": nodes * hopper.node().cores / _printed("threads"),
        "nodes": _printed("cores") / hopper.node().cores,
        "files": processes,
        "compute-share": 100 * nodes / hopper.nodes,
        "file-system-share": 100 * _printed("data-all") / (1000 * hopper.file_systems[0].capacity_pb),
        "data-title data-kept": _printed("particle-data") + _printed("field-data"),
        "checkpoint-total": _printed("data-all") - _printed("data-kept"),
        "data-all": _printed("data-kept") + _printed("checkpoint-total"),
        "particle-data": _printed("data-kept") - _printed("field-data"),
        "field-data": _printed("data-kept") - _printed("particle-data"),
        "checkpoint-size-low checkpoint-size-high": _printed("checkpoint-total") / 2,
        "field-data-step": "hundreds of gigabytes" if 100 <= field_gb_a_step < 1000 else "tens of gigabytes",
        "particles-at-least": _printed("ions") + _printed("electrons"),
        "ions-not-stored": 2 * _printed("electrons") == _printed("particles"),
        "dumps": _printed("time-steps") / _printed("dump-interval"),
        "dump-particles": SHARED_GB * 1e9 / 32 / 1e12,
        "dump-size-low": FPP_GB / 1000,
        "dump-size-high": _printed("particle-data") / _printed("dumps"),
        "shared-file-size": SHARED_GB / 1000,
        "variables": len(documented("trillion.written-variables").value.split(";")),
        "h5part-variables-argument": VARIABLES,
        "bytes-per-particle": VARIABLES * _printed("variable-width") / 8,
        "sustained-rate shared-rate-lesson": _printed("shared-rate") / 1000,
        "shared-within": 100 * abs(_printed("shared-rate") / _printed("fpp-rate") - 1),
        "truncate-size-per-process": 1e6 * 32 / 1e6,
        "weak-share": 100 * weak_tasks / hopper.cores,
        "weak-size": weak_tasks * 8 * BYTES_PER_MIB * 32 / 2**40,
    }
