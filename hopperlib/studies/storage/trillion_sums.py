"""The sums of the trillion-particle run: printed numbers against each other, no model between."""

from __future__ import annotations

from hopperlib.documented import documented
from hopperlib.machine import Machine
from hopperlib.studies.study import Check
from hopperlib.units import BYTES_PER_MIB

__all__ = ["FPP_GB", "SHARED_GB", "VARIABLES", "sums"]

# The dump to a file for each process, the dump to one file, and what either holds of a particle.
FPP_GB, SHARED_GB = 29_700.0, 31_300.0
VARIABLES = 8


def _number(name: str) -> float:
    """Return a printed number of this study."""
    number = documented(f"trillion.{name}").adopted_number
    assert number is not None, f"{name} has a number"
    return number


def sums() -> list[Check]:
    """Return every sum of the paper.

    Examples
    --------
    >>> next(check.reproduced for check in sums() if check.id == "trillion.data-all")
    490.0
    """
    hopper = Machine.load("hopper")
    processes, nodes = 20_000, 5_000
    tens = "printed with ~ or about, in tens"
    whole = "printed with ~ or about, as a whole number"
    fives = "printed with ~, in fives"

    def same(name: str, value: float, reason: str, tolerance: float | None = None, why: str = "", **more: str) -> Check:
        return Check(
            id=f"trillion.{name}",
            role="identity",
            reproduced=value,
            reason=reason,
            tolerance=tolerance,
            tolerance_reason=why,
            **more,
        )

    capacity = 100 * _number("data-all") / 1000
    return [
        same("cores", processes * _number("threads"), "processes times threads"),
        same("processes", nodes * hopper.node().cores / _number("threads"), "cores of the nodes over threads"),
        same("nodes", _number("cores") / hopper.node().cores, "cores over those of a node"),
        same("files", float(processes), "one for each process"),
        same("compute-share", 100 * nodes / hopper.nodes, "5,000 of 6,384 nodes", 5.0, tens),
        same(
            "file-system-share",
            capacity,
            "490 TB of 1 PB; of the printed 1.1 PB it would be 45 %",
            5.0,
            "printed in tens",
        ),
        same("data-title", _number("particle-data") + _number("field-data"), "335 + 15"),
        same("data-kept", _number("particle-data") + _number("field-data"), "335 + 15", 5.0, tens),
        same("checkpoint-total", _number("data-all") - _number("data-kept"), "490 - 350", 5.0, tens),
        same("data-all", _number("data-kept") + _number("checkpoint-total"), "350 + 140", 5.0, tens),
        same("particle-data", _number("data-kept") - _number("field-data"), "350 - 15", 2.5, fives),
        same("field-data", _number("data-kept") - _number("particle-data"), "350 - 335", 2.5, fives),
        same("checkpoint-size-low", _number("checkpoint-total") / 2, "half of 140 TB"),
        same("checkpoint-size-high", _number("checkpoint-total") / 2, "half of 140 TB"),
        Check(
            id="trillion.field-data-step",
            role="identity",
            reproduced="hundreds of gigabytes"
            if 100 <= 1000 * _number("field-data") / _number("field-dumps") < 1000
            else "tens of gigabytes",
            reason="15 TB over 33 steps are 455 GB a step",
        ),
        same("particles-at-least", _number("ions") + _number("electrons"), "a trillion of each"),
        same(
            "dumps",
            _number("time-steps") / _number("dump-interval"),
            "23,000 steps over 2,000",
            explanation="at the printed interval there would have been 11 dumps; it is approximate, or some steps had none",
        ),
        same(
            "dump-particles", SHARED_GB * 1e9 / 32 / 1e12, "31.3 TB over 32 bytes", 0.05, "printed as a whole trillion"
        ),
        same("dump-size-low", FPP_GB / 1000, "the smallest dump that is printed", 0.5, "printed as a whole number"),
        same("dump-size-high", _number("particle-data") / _number("dumps"), "the mean of the dumps lies below"),
        same(
            "shared-file-size",
            SHARED_GB / 1000,
            "the shared file whose rate is printed",
            5.0,
            tens,
            explanation="no rate is printed for a file of 40 TB; the one of 31.3 TB is the only one that can be compared",
        ),
        same(
            "variables",
            float(len(documented("trillion.written-variables").value.split(";"))),
            "counted in the printed code",
        ),
        same("h5part-variables-argument", float(VARIABLES), "one word for each variable"),
        same("bytes-per-particle", VARIABLES * _number("variable-width") / 8, "eight variables of 32 bits"),
        same("sustained-rate", _number("shared-rate") / 1000, "the printed rate of the dump", 0.5, whole),
        same("shared-rate-lesson", _number("shared-rate") / 1000, "the printed rate of the dump"),
        same(
            "shared-within",
            100 * abs(_number("shared-rate") / _number("fpp-rate") - 1),
            "27,035 against 27,007 MB/s",
        ),
        same("truncate-size-per-process", 1e6 * 32 / 1e6, "a million particles of 32 bytes"),
        same("weak-share", 100 * 131_072 / hopper.cores, "128 Ki of 153,216 cores"),
        same(
            "weak-size",
            131_072 * 8 * BYTES_PER_MIB * 32 / 2**40,
            "128 Ki tasks, 8 Mi particles of 32 bytes, in TiB",
            0.5,
            whole,
        ),
        Check(
            id="trillion.ions-not-stored",
            role="identity",
            reproduced=2 * _number("electrons") == _number("particles"),
            reason="half of the particles are electrons",
        ),
    ]
