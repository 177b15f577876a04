"""Striping: MFDn's files on two OSTs and on all, and the block size of MPI-IO.

The figures are lost, so no time and no rate of Hopper is documented; three rates of other systems are retrodicted.
Three shapes are documented: the larger problem gains more, the block size matters, and most for writes. Each is tested
over a range of unpublished values.
"""

import random
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from hopperbook.documented import printed
from hopperbook.studies.study import Study, Value, load_scratch, predictions, ranges
from hopperlib.contention.saturation import throughput, throughput_range
from hopperlib.data_files import rows
from hopperlib.storage.lustre.node_rates import block_access_time_s
from hopperlib.storage.lustre.rates import Costs, Writing, estimate
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_GB, BYTES_PER_MIB

# Public curves of one shared file over many OSTs, written through MPI-IO with the system's usual settings; unit in bytes.
_ELSEWHERE = {
    "ARCHER": ("benchio_archer_baseline_striped_256", 1 << 20),
    "CSD3": ("benchio_csd3skylake_striped_256", 1 << 20),
    "Cirrus": ("benchio_cirrus_striped_256", 1 << 20),
    "Thomas": ("benchio_thomas_striped_256", 1 << 20),
    "ARCHER2, disks": ("archer2_benchio_mpiio_disk_lockmode0", 1 << 30),
    "ARCHER2, NVMe": ("archer2_benchio_mpiio_nvme_lockmode0", 1 << 30),
}
# Systems of one report whose eight nodes are retrodicted, by their curve. Thomas is left out: eight nodes are its best.
_REPORT = "hpc-uk/archer-benchmarks"
_EIGHT = {
    "archer-eight": "benchio_archer_baseline_striped_256",
    "csd3-eight": "benchio_csd3skylake_striped_256",
    "cirrus-eight": "benchio_cirrus_striped_256",
}
# Block sizes of MPI-IO to compare; those of the slide are lost.
BLOCKS = tuple(1 << power for power in range(16, 27))
# A rate that moves by less than this factor over all block sizes does not "matter a lot". Assumed.
_MATTERS = 1.5


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
        Cost of an access in addition to moving the data. Assumed. [s]

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
        Tasks, 24 per node, and stripes of 1 MiB. Assumed.

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


def hopper_estimate(aggregators: int) -> float:
    """Return the rate of the trillion particles' shared file on Hopper with this many aggregators. [GB/s]

    Examples
    --------
    >>> round(hopper_estimate(144), 1)
    30.2
    """
    layout = Layout(stripe_count=144, stripe_size_bytes=64 * BYTES_PER_MIB, osts=load_scratch().osts)
    writing = Writing(
        size_bytes=31 * 10**12, writers=20_000, nodes=5_000, pattern="collective", aggregators=aggregators
    )
    return estimate(writing, layout, load_scratch()).rate_gb_s


class Elsewhere(NamedTuple):
    """One shared file on another system, written by some nodes.

    Parameters
    ----------
    system : str
    nodes : int
    one_gb_s, best_gb_s : float
        Measured with one node, and the best of all numbers of nodes. [GB/s]
    usual_gb_s, low_gb_s, high_gb_s : float
        Result of the saturation law for these two, with its 80 % interval. [GB/s]
    measured_gb_s : float
    """

    system: str
    nodes: int
    one_gb_s: float
    best_gb_s: float
    usual_gb_s: float
    low_gb_s: float
    high_gb_s: float
    measured_gb_s: float

    @property
    def held(self) -> bool:
        """Whether the interval holds the measured rate."""
        return self.low_gb_s <= self.measured_gb_s <= self.high_gb_s


def elsewhere(nodes: int = 8) -> tuple[Elsewhere, ...]:
    """Return the law's result for public systems that wrote one shared file through MPI-IO, at some nodes.

    The interval is based on the curves of all systems, including these.

    Examples
    --------
    >>> [(each.system, each.held) for each in elsewhere()][:2]
    [('ARCHER', True), ('CSD3', True)]
    """
    curves = {row["curve"]: row for row in rows("contention-curves.csv")}
    found = []
    for system, (curve, unit) in _ELSEWHERE.items():
        users = [int(count) for count in curves[curve]["users"].split()]
        rates = [float(value) * unit / BYTES_PER_GB for value in curves[curve]["values"].split()]
        ends = throughput_range(nodes, rates[0], max(rates), "shared-file")
        found.append(Elsewhere(system, nodes, rates[0], max(rates), *ends, rates[users.index(nodes)]))
    return tuple(found)


@cache
def _shared_curves() -> dict[str, tuple[str, dict[int, float]]]:
    """Return source and rate by number of nodes of the public curves of one shared file that begin with one node."""
    curves = {}
    for row in rows("contention-curves.csv"):
        points = dict(zip(map(int, row["users"].split()), map(float, row["values"].split()), strict=True))
        if row["kind"] == "shared-file" and 1 in points:
            curves[row["curve"]] = row["source"], points
    return curves


@cache
def law_errors() -> tuple[float, ...]:
    """Return measured over estimated rates of shared files up to the maximum, without those of the report, in order.
    [ratio]

    Examples
    --------
    >>> 0.6 < law_errors()[0] < 1 < law_errors()[-1] < 1.4
    True
    """
    errors = []
    for source, points in _shared_curves().values():
        best = max(points, key=points.__getitem__)
        if not source.startswith(_REPORT):
            between = [nodes for nodes in points if 1 < nodes < best]
            errors += [points[nodes] / throughput(nodes, points[1], points[best]) for nodes in between]
    return tuple(sorted(errors))


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the write rate of eight nodes to one file over all OSTs, from that of one and the best of more. [MiB/s]

    Examples
    --------
    >>> round(model({"law_error": 0.5}, random.Random(1))["cirrus-eight"], -2)
    3800.0
    """
    error = law_errors()[round(assumed["law_error"] * (len(law_errors()) - 1))]
    curves = {name: _shared_curves()[curve][1] for name, curve in _EIGHT.items()}
    return {name: error * throughput(8, points[1], max(points.values())) for name, points in curves.items()}


def _eight_times_one() -> dict[str, float]:
    """Return eight times the write rate of one node. [MiB/s]"""
    return {name: 8 * _shared_curves()[curve][1][1] for name, curve in _EIGHT.items()}


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
        **predictions(model, ranges("striping"), _eight_times_one()),
        "block-size-matters": all(
            _swing(False, cost) > _swing(True, cost) and min(_swing(False, cost), _swing(True, cost)) > _MATTERS
            for cost in costs
        ),
        "read_swing": 100 * (max(_swing(True, cost) for cost in costs) - 1),
        "maximum-command": all_osts.lfs_command("").split(" -S")[0],
        "large-gains-more": all(large[0] > max(small) for small, large in gains),
    }


STUDY = Study("striping", _values, model=model)
