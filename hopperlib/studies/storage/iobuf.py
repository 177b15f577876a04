"""Buffered I/O: what iobuf buys IOR and MAESTRO.

Calibrated on two printed values: the greatest gain of a write (the cost of a
call) and the least gain of a read (the share of waiting). Predicted: the other
ends of both ranges, the order of the three transfer sizes, that reads gain
more, and MAESTRO.
"""

from __future__ import annotations

from typing import NamedTuple

from hopperlib.machine import Machine
from hopperlib.storage.iobuf.gains import Costs, documented_costs, gain, transfer_for_gain_bytes
from hopperlib.storage.iobuf.params import Rule, buffer_bytes, read_params
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.studies.study import Check, Study
from hopperlib.units import BYTES_PER_MIB

__all__ = [
    "IOR_TASKS",
    "MAESTRO_CALLS",
    "STUDY",
    "TRANSFERS",
    "Case",
    "ior_cases",
    "maestro_costs",
    "maestro_gain",
]

IOR_TASKS = 1_560
IOR_BUFFER_BYTES, IOR_BUFFERS = 2 * BYTES_PER_MIB, 2
# The third is printed as 1,024,576, which is no power of two.
TRANSFERS = (10_000, 1_000_000, BYTES_PER_MIB)
MAESTRO_TASKS = 2_048
# How much MAESTRO moves in a call is not printed: from a row of a small box to a whole small box.
MAESTRO_CALLS = (10_000, 100_000)


class Case(NamedTuple):
    """One transfer size of IOR.

    Parameters
    ----------
    transfer_bytes : int
        Size of a call. [bytes]
    write_gain, read_gain : float
        What buffering buys. [fraction]
    """

    transfer_bytes: int
    write_gain: float
    read_gain: float


def ior_cases(unaligned_extra: float = 1.0) -> tuple[Case, ...]:
    """Return the gains of the three transfer sizes with two buffers of 2 MB.

    Examples
    --------
    >>> for case in ior_cases():
    ...     print(f"{case.transfer_bytes:>9,} {100 * case.write_gain:5.2f} {100 * case.read_gain:5.1f}")
       10,000 11.00  41.0
    1,000,000  0.08  30.1
    1,048,576  0.03  30.0
    """
    costs = documented_costs(unaligned_extra)

    def gained(size: int, reading: bool) -> float:
        return gain(costs, size, reading=reading, buffer_bytes=IOR_BUFFER_BYTES, buffers=IOR_BUFFERS)

    return tuple(Case(size, gained(size, False), gained(size, True)) for size in TRANSFERS)


def maestro_costs() -> Costs:
    """Return the costs of a task of MAESTRO: those of IOR with its share of the file system.

    Examples
    --------
    >>> round(1000 * maestro_costs().task_rate_gb_s, 1)
    17.1
    """
    ior = documented_costs()
    rate = file_system_of(Machine.load("hopper")).peak_gb_s / MAESTRO_TASKS
    return Costs(task_rate_gb_s=rate, call_cost_s=ior.call_cost_s, unaligned_extra=ior.unaligned_extra)


def maestro_gain(transfer_bytes: int, *, buffer_bytes: int = BYTES_PER_MIB, buffers: int = 4) -> float:
    """What buffering buys MAESTRO's writes for a size of its calls. [fraction]

    Examples
    --------
    >>> round(100 * maestro_gain(10_000), 1), round(100 * maestro_gain(100_000), 1)
    (8.4, 0.8)
    """
    return gain(maestro_costs(), transfer_bytes, reading=False, buffer_bytes=buffer_bytes, buffers=buffers)


def _checks() -> tuple[Check, ...]:
    scratch = file_system_of(Machine.load("hopper"))
    small, million, mib = cases = ior_cases()
    default = Rule(pattern="*")
    tuned = read_params("*:size=2M:count=2")[0]
    fitting = transfer_for_gain_bytes(maestro_costs(), 0.05, buffer_bytes=BYTES_PER_MIB)
    low, high = (100 * maestro_gain(size) for size in (MAESTRO_CALLS[1], MAESTRO_CALLS[0]))
    steps = range(4_000, 200_000, 4_000)
    tens = "printed in tens"
    says = "a property of the library that nothing here computes"
    run = "the size of the run"
    return (
        Check(id="iobuf.from-catamount", role="not modelled", reason="where the library comes from"),
        Check(
            id="iobuf.fewer-larger-blocks",
            role="input",
            reason="what the model takes buffers to do: one call for each buffer",
        ),
        Check(id="iobuf.relink-only", role="not modelled", reason=says),
        Check(id="iobuf.default-buffers", role="input", reproduced=float(default.buffer_count)),
        Check(
            id="iobuf.default-buffer-size",
            role="input",
            reproduced=default.buffer_size_bytes / BYTES_PER_MIB,
            reason="the library counts in binary",
        ),
        Check(id="iobuf.statistics", role="not modelled", reason="the option verbose is read, what it prints is not"),
        Check(
            id="iobuf.more-settings",
            role="not modelled",
            reason="prefetch is modelled; flushing and shared buffers are read and written only",
        ),
        Check(id="iobuf.ior-posix-file-per-processor", role="input", reason="each task moves data of its own"),
        Check(id="iobuf.ior-cores", role="input", reproduced=float(IOR_TASKS)),
        Check(id="iobuf.osts", role="input", reproduced=float(scratch.osts)),
        Check(
            id="iobuf.ior-files-per-ost",
            role="identity",
            reproduced=IOR_TASKS / scratch.osts,
            reason="1,560 files over 156 OSTs",
        ),
        Check(id="iobuf.ior-size-per-core", role="input", reproduced=2.0),
        Check(id="iobuf.ior-total", role="identity", reproduced=IOR_TASKS * 2 / 1000, reason="1,560 times 2 GB"),
        Check(id="iobuf.transfer-sizes", role="input", reproduced=float(len(TRANSFERS))),
        Check(id="iobuf.transfer-size-small", role="input", reproduced=float(TRANSFERS[0])),
        Check(id="iobuf.transfer-size-million", role="input", reproduced=TRANSFERS[1] / 1e6),
        Check(id="iobuf.transfer-size-mib", role="input", reproduced=float(TRANSFERS[2])),
        Check(
            id="iobuf.transfer-size-matters",
            role="shape",
            reproduced=documented_costs().seconds_per_gb(TRANSFERS[0])
            > documented_costs().seconds_per_gb(TRANSFERS[1])
            > documented_costs().seconds_per_gb(TRANSFERS[2]),
            reason="without buffers: small calls are slowest, the power of two fastest",
        ),
        Check(
            id="iobuf.always-faster",
            role="shape",
            reproduced=all(min(case.write_gain, case.read_gain) > 0 for case in cases),
        ),
        Check(
            id="iobuf.reads-gain-more",
            role="shape",
            reproduced=all(case.read_gain > case.write_gain for case in cases),
            reason="reading ahead helps every size, fewer calls only the small ones",
        ),
        Check(
            id="iobuf.read-gain-low",
            role="calibrated",
            reproduced=100 * min(case.read_gain for case in cases),
            tolerance=0.05,
            tolerance_reason="a fitted value comes out as it went in, up to rounding",
            reason="the share of waiting of a read, on calls of 1 MiB",
        ),
        Check(
            id="iobuf.read-gain-high",
            role="predicted",
            reproduced=100 * max(case.read_gain for case in cases),
            tolerance=5.0,
            tolerance_reason=tens,
            reason="waiting and the cost of calls of 10,000 bytes together",
        ),
        Check(
            id="iobuf.write-gain-low",
            role="predicted",
            reproduced=100 * min(case.write_gain for case in cases),
            tolerance=0.5,
            tolerance_reason="printed as whole percent",
            reason="fewer calls alone, of 1 MiB",
            explanation="calls of 1 MiB cost next to nothing each, so merging two into one buys next to nothing; a gain of "
            "1 % would need something that buffering does for large writes too, and the text names nothing",
        ),
        Check(
            id="iobuf.write-gain-high",
            role="calibrated",
            reproduced=100 * max(case.write_gain for case in cases),
            tolerance=0.05,
            tolerance_reason="a fitted value comes out as it went in, up to rounding",
            reason="the cost of a call, on calls of 10,000 bytes",
        ),
        Check(
            id="iobuf.gain-largest-for-small-transfers",
            role="input",
            reproduced=max(cases, key=lambda case: case.write_gain).transfer_bytes / 1000,
            reason="the calibration takes the greatest gain of a write for these calls",
        ),
        Check(
            id="iobuf.gain-falls-with-transfer-size",
            role="shape",
            reproduced=all(
                one.write_gain > two.write_gain > three.write_gain
                for one, two, three in (ior_cases(extra) for extra in (0.0, 1.0, 5.0))
            ),
            reason="for any cost of ending inside a page",
        ),
        Check(id="iobuf.ior-buffers", role="input", reproduced=float(IOR_BUFFERS)),
        Check(id="iobuf.ior-buffer-size", role="input", reproduced=IOR_BUFFER_BYTES / BYTES_PER_MIB),
        Check(id="iobuf.maestro-processors", role="input", reproduced=float(MAESTRO_TASKS)),
        Check(id="iobuf.maestro-checkpoints", role="input", reason=f"{run}; a gain does not depend on it"),
        Check(
            id="iobuf.maestro-file-per-processor",
            role="not modelled",
            reason="the printed files make five a processor; the gain of a task does not depend on how many it has",
        ),
        Check(id="iobuf.maestro-size", role="input", reason=f"{run}; a gain does not depend on it"),
        Check(id="iobuf.maestro-files", role="input", reason=f"{run}; a gain does not depend on it"),
        Check(
            id="iobuf.maestro-file-size",
            role="not modelled",
            reason="the size of most files, of which nothing follows; the mean of all is 14.9 MB",
        ),
        Check(
            id="iobuf.maestro-gain",
            role="predicted",
            reproduced=(low, high),
            reason=f"calls of 10 to 100 kB, which is assumed and makes the band wide; 5 % means calls of {fitting / 1000:.0f} kB",
        ),
        Check(id="iobuf.maestro-tuned-buffers", role="input", reproduced=float(tuned.buffer_count)),
        Check(
            id="iobuf.maestro-tuned-buffer-size",
            role="input",
            reproduced=tuned.buffer_size_bytes / BYTES_PER_MIB,
        ),
        Check(
            id="iobuf.maestro-tuned-better",
            role="shape",
            reproduced=all(
                0 < maestro_gain(size, buffer_bytes=2 * BYTES_PER_MIB, buffers=2) - maestro_gain(size) < 0.01
                for size in steps
            ),
            reason="half as many calls, which are few already: better by less than a percent",
        ),
        Check(
            id="iobuf.maestro-minimum-of-runs",
            role="not modelled",
            reason="how the runs were made; the model has no spread",
        ),
        Check(
            id="iobuf.small-writes-gain-most",
            role="shape",
            reproduced=small.write_gain > 10 * max(million.write_gain, mib.write_gain),
        ),
        Check(
            id="iobuf.buffers-cost-memory",
            role="shape",
            reproduced=buffer_bytes(default, tasks=24) == 96 * BYTES_PER_MIB,
            reason="96 MiB of a full node for one file a task",
        ),
    )


STUDY = Study(
    name="iobuf",
    title="Buffered I/O",
    part="storage",
    question="What does buffering buy a program that reads and writes in calls of some size?",
    checks=_checks,
    assumptions=(
        "A task gets its equal share of the file system's peak; the rates of the runs are lost. Only the product of this "
        "share and the cost of a call matters for the gains.",
        "A call that ends inside a page costs as much again. The order of the three cases does not depend on it.",
        "Reading one buffer ahead, the assumed default, hides all waiting, if there are two buffers or more.",
        "Writes do not wait: the operating system takes them and writes later, with or without the library.",
        "Copying to and from a buffer takes no time.",
        "MAESTRO writes in calls of 10 to 100 kB; no source prints their size.",
    ),
)
