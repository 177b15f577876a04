"""Striping: MFDn's files on two OSTs and on all, and the block size of MPI-IO.

The figures are lost, so no time and no rate is documented. Three shapes are:
the larger problem gains more, the block size matters, and most for writes. Each
is tested over a range of what nobody printed.
"""

from typing import NamedTuple

from hopperbook.documented import printed
from hopperbook.studies.study import Study, Value, load_scratch
from hopperlib.storage.lustre.rates import Costs, Writing, block_access_time_s, estimate
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB

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


def _printed(*names: str) -> list[float]:
    return [printed(f"striping.{name}") for name in names]


_LEAST, _MOST, _BLOCKS, _FEW, _MANY = _printed(
    "mfdn-total-low", "mfdn-total-high", "mfdn-blocks", "mfdn-accesses-low", "mfdn-accesses-high"
)
SMALL = Problem("smaller, Nmax = 12", (_LEAST, _MOST), _BLOCKS, (1e8 * _FEW, _MANY))
# The slide calls the first the size of each block; it is that of all of them.
_SIZE, _BLOCKS, _ACCESSES = _printed("large-block-size", "large-blocks", "large-accesses")
LARGE = Problem("larger, Nmax = 14", (_SIZE, _SIZE), _BLOCKS, (_ACCESSES, _ACCESSES))


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

    def time_s(count: int, block: float, accesses: float) -> float:
        return block_access_time_s(
            accesses, block, stripe_count=count, system=load_scratch(), tasks=tasks, nodes=nodes, access_s=access_s
        )

    low, high = (
        time_s(load_scratch().default_stripe_count, block, accesses)
        / time_s(load_scratch().max_stripe_count, block, accesses)
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
    layout = Layout(stripe_count=stripes, stripe_size_bytes=BYTES_PER_MIB, osts=load_scratch().osts)
    return [
        estimate(
            Writing(size_bytes=1 << 40, writers=writers, nodes=-(-writers // 24), block_bytes=block, reading=reading),
            layout,
            load_scratch(),
            costs=costs,
        ).rate_gb_s
        for block in BLOCKS
    ]


def _swing(reading: bool, costs: Costs) -> float:
    """Return the best rate over the worst, over all block sizes."""
    rates = block_size_rates(reading=reading, costs=costs)
    return max(rates) / min(rates)


def _values() -> dict[str, Value]:
    # Enough nodes to fill the file system, with as many tasks, or with one a core; and the cost of an access.
    gains = [
        [striping_gain(problem, tasks=tasks, nodes=504, access_s=cost) for problem in (SMALL, LARGE)]
        for tasks in (2_016, 12_090)
        for cost in (1e-4, 1e-3, 1e-2)
    ]
    costs = [Costs(call_s=call, lock_s=lock) for call in (1e-5, 5e-5, 5e-4) for lock in (5e-4, 2e-3, 1e-2)]
    all_osts = Layout(
        stripe_count=load_scratch().max_stripe_count,
        stripe_size_bytes=load_scratch().default_stripe_size_bytes,
        osts=load_scratch().osts,
    )
    return {
        "block-size-matters": all(_swing(False, cost) > max(1.5, _swing(True, cost)) for cost in costs),
        "maximum-command": all_osts.lfs_command("").split(" -S")[0],
        "large-gains-more": all(large[0] > max(small) for small, large in gains),
    }


STUDY = Study("striping", _values)
