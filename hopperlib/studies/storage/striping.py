"""Striping: MFDn's files on two OSTs and on all, and the block size of MPI-IO.

The figures are lost, so no time and no rate is documented. Three shapes are:
the larger problem gains more, the block size matters, and most for writes. Each
is tested over a range of what nobody printed.
"""

from __future__ import annotations

from typing import NamedTuple

from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.storage.lustre.rates import Costs, Writing, block_access_time_s, estimate
from hopperlib.storage.lustre.striping import Layout
from hopperlib.studies.study import Check, Study
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB

__all__ = ["BLOCKS", "LARGE", "SMALL", "STUDY", "Problem", "block_size_rates", "striping_gain"]

# Block sizes of MPI-IO to compare; those of the slide are lost.
BLOCKS = tuple(1 << power for power in range(16, 27))


class Problem(NamedTuple):
    """One of MFDn's problems.

    Parameters
    ----------
    name : str
    size_gb : (float, float)
        Size of all blocks, least and greatest. [GB]
    blocks : float
        Number of blocks.
    accesses : (float, float)
        Block accesses, least and greatest.
    """

    name: str
    size_gb: tuple[float, float]
    blocks: float
    accesses: tuple[float, float]

    @property
    def block_bytes(self) -> tuple[float, float]:
        """Mean size of a block, least and greatest. [bytes]"""
        low, high = (size * BYTES_PER_GB / self.blocks for size in self.size_gb)
        return low, high


SMALL = Problem("smaller, Nmax = 12", (2.7, 10.0), 2.5e5, (1.1e8, 1.6e8))
# The slide calls 67.1 GB the size of each block; it is that of all of them.
LARGE = Problem("larger, Nmax = 14", (67.1, 67.1), 7.4e5, (7e8, 7e8))


def striping_gain(
    problem: Problem, *, tasks: int = 2_016, nodes: int = 504, access_s: float = 0.001
) -> tuple[float, float]:
    """How many times as fast the accesses are with all OSTs as with the default of two. [ratio]

    Parameters
    ----------
    problem : Problem
    tasks, nodes : int
        Who shares the accesses. Assumed.
    access_s : float
        Cost of an access besides moving the data. Assumed. [s]

    Returns
    -------
    tuple of float
        For the smallest and the largest mean block.

    Examples
    --------
    >>> [round(gain) for gain in striping_gain(SMALL)], round(striping_gain(LARGE)[0])
    ([31, 55], 66)
    """
    scratch = file_system_of(Machine.load("hopper"))

    def time_s(count: int, block: float, accesses: float) -> float:
        return block_access_time_s(
            accesses, block, stripe_count=count, system=scratch, tasks=tasks, nodes=nodes, access_s=access_s
        )

    two, most = scratch.default_stripe_count, scratch.max_stripe_count
    low, high = (
        time_s(two, block, accesses) / time_s(most, block, accesses)
        for block, accesses in zip(problem.block_bytes, problem.accesses, strict=True)
    )
    return low, high


def block_size_rates(
    *, reading: bool, costs: Costs | None = None, writers: int = 1_536, stripes: int = 48
) -> list[float]:
    """Rates of one shared file by block size, without aggregators. [GB/s]

    Parameters
    ----------
    reading : bool
    costs : Costs or None
    writers, stripes : int
        Tasks, 24 a node, and stripes of 1 MiB. Assumed.

    Examples
    --------
    >>> writes, reads = (block_size_rates(reading=reading) for reading in (False, True))
    >>> writes[-1] / writes[0] > reads[-1] / reads[0] > 1
    True
    """
    scratch = file_system_of(Machine.load("hopper"))
    layout = Layout(stripe_count=stripes, stripe_size_bytes=BYTES_PER_MIB, osts=scratch.osts)
    return [
        estimate(
            Writing(size_bytes=1 << 40, writers=writers, nodes=-(-writers // 24), block_bytes=block, reading=reading),
            layout,
            scratch,
            costs=costs,
        ).rate_gb_s
        for block in BLOCKS
    ]


def _swing(reading: bool, costs: Costs) -> float:
    """Return the best rate over the worst, over all block sizes."""
    rates = block_size_rates(reading=reading, costs=costs)
    return max(rates) / min(rates)


def _checks() -> tuple[Check, ...]:
    scratch = file_system_of(Machine.load("hopper"))
    everywhere = [
        (tasks, nodes, cost) for tasks, nodes in ((96, 4), (2_016, 504), (12_090, 504)) for cost in (1e-4, 1e-3, 1e-2)
    ]
    costs = [Costs(call_s=call, lock_s=lock) for call in (1e-5, 5e-5, 5e-4) for lock in (5e-4, 2e-3, 1e-2)]
    answer = "what users answered"
    physics = "the physics of the problem; only sizes and accesses matter here"
    all_osts = Layout(
        stripe_count=scratch.max_stripe_count, stripe_size_bytes=scratch.default_stripe_size_bytes, osts=scratch.osts
    )
    return (
        Check(id="striping.survey-tuning", role="not modelled", reason=answer),
        Check(
            id="striping.block-size-matters",
            role="shape",
            reproduced=all(_swing(False, one) > max(1.5, _swing(True, one)) for one in costs),
            reason="for costs of a call from 10 to 500 us and of a lock from 0.5 to 10 ms",
        ),
        Check(
            id="striping.dvs-gpfs-alike",
            role="not modelled",
            reason="there is no model of GPFS here, and its rates are lost",
        ),
        Check(id="striping.mfdn-isotope", role="not modelled", reason=physics),
        Check(id="striping.mfdn-nmax", role="not modelled", reason=physics),
        Check(id="striping.mfdn-j-low", role="not modelled", reason=physics),
        Check(id="striping.mfdn-j-high", role="not modelled", reason=physics),
        Check(id="striping.mfdn-total-low", role="input", reproduced=SMALL.size_gb[0]),
        Check(id="striping.mfdn-total-high", role="input", reproduced=SMALL.size_gb[1]),
        Check(id="striping.mfdn-blocks", role="input", reproduced=SMALL.blocks),
        Check(id="striping.mfdn-accesses-low", role="input", reproduced=SMALL.accesses[0] / 1e8),
        Check(id="striping.mfdn-accesses-high", role="input", reproduced=SMALL.accesses[1]),
        Check(id="striping.default-count", role="input", reproduced=float(scratch.default_stripe_count)),
        Check(
            id="striping.default-count-byna2013",
            role="input",
            reproduced=float(scratch.default_stripe_count),
        ),
        Check(
            id="striping.default-size",
            role="input",
            reproduced=scratch.default_stripe_size_bytes / BYTES_PER_MIB,
            reason="Lustre counts in binary",
        ),
        Check(id="striping.maximum-count", role="input", reproduced=float(scratch.max_stripe_count)),
        Check(
            id="striping.maximum-command",
            role="predicted",
            reproduced=all_osts.lfs_command("").split(" -S")[0],
            reason="as the layout over all OSTs writes its command, without the size",
        ),
        Check(id="striping.large-isotope", role="not modelled", reason=physics),
        Check(id="striping.large-nmax", role="not modelled", reason=physics),
        Check(id="striping.large-j", role="not modelled", reason=physics),
        Check(
            id="striping.large-block-size",
            role="input",
            reproduced=LARGE.size_gb[0],
            reason="taken as the size of all blocks, 91 kB each, as the erratum proves",
        ),
        Check(id="striping.large-blocks", role="input", reproduced=LARGE.blocks),
        Check(id="striping.large-accesses", role="input", reproduced=LARGE.accesses[0]),
        Check(
            id="striping.large-gains-more",
            role="shape",
            reproduced=all(
                striping_gain(LARGE, tasks=tasks, nodes=nodes, access_s=cost)[0]
                > max(striping_gain(SMALL, tasks=tasks, nodes=nodes, access_s=cost))
                for tasks, nodes, cost in everywhere
                if nodes * scratch.node_write_ceiling_gb_s > scratch.peak_gb_s
            ),
            reason="the larger the block, the smaller the part of an access that striping cannot help; for 504 nodes and costs of an access from 0.1 to 10 ms",
        ),
        Check(
            id="striping.advice-stripes",
            role="not modelled",
            reason="advice; the recommendation of this book follows it",
        ),
    )


STUDY = Study(
    name="striping",
    title="Striping a file",
    part="storage",
    question="Over how many OSTs should a file be dealt, and in what pieces?",
    checks=_checks,
    assumptions=(
        "An access costs its task a millisecond besides moving the data; no source prints it.",
        "Every access of MFDn goes to the disks: nothing is cached, and the blocks scatter evenly over the stripes.",
        "MFDn runs with 2,016 tasks on 504 nodes; the slides on striping print no count.",
        "A call costs 50 microseconds, taking a lock from another client 2 milliseconds, creating a file 0.2 milliseconds.",
        "Blocks of a shared file take turns among the tasks, and every piece finds the lock with somebody else.",
        "Reading shares locks, so only writes wait for them.",
    ),
)
