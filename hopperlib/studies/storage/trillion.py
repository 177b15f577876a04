"""The trillion-particle run: 20,000 files against one, and every sum of the paper.

The stripe count of the 20,000 files and how they fell on the OSTs are not
printed. So nothing is fitted: a table shows what each assumption gives. None
gives the printed rate and the printed spread together; that miss is the result.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from statistics import mean
from typing import NamedTuple

from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import file_system_of
from hopperlib.storage.lustre.dumps import (
    barrier_rate_gb_s,
    close_cost_s,
    gain_without_close,
    rate_beside_others_gb_s,
)
from hopperlib.storage.lustre.osts import (
    deal_objects,
    file_dump,
    finish_times_s,
    rate_steps,
    repeat_file_dump,
    uneven_weights,
)
from hopperlib.storage.lustre.rates import Writing, estimate, pieces_per_call
from hopperlib.storage.lustre.striping import Layout
from hopperlib.studies.storage.trillion_sums import FPP_GB, SHARED_GB, VARIABLES, sums
from hopperlib.studies.study import Study, Value
from hopperlib.units import BYTES_PER_MIB

__all__ = [
    "FILES",
    "SHARED_GB",
    "STUDY",
    "Assumed",
    "file_table",
    "shared_rate_gb_s",
    "weak_rate_gb_s",
]

FILES = 20_000
_TUNED = Layout(stripe_count=144, stripe_size_bytes=64 * BYTES_PER_MIB, osts=156)
_SPREAD_S = 40.0
# What other jobs would take of the file system if they had the whole machine: none to half. Assumed.
_OTHERS_DEMAND = (0.0, 0.5)
_WEAK_GB_PER_TASK = 8 * BYTES_PER_MIB * 32 / 1e9
_SEED, _REPETITIONS = 20_130, 20


class Assumed(NamedTuple):
    """What one set of assumptions gives for the file-per-process dump.

    Parameters
    ----------
    allocator : str
        How files fall on OSTs.
    stripe_count : int
    layer : str
        Which layer limits: ``OST`` or ``controller``.
    rate_gb_s, spread_s : float
        Means over repeated deals. [GB/s], [s]
    """

    allocator: str
    stripe_count: int
    layer: str
    rate_gb_s: float
    spread_s: float


@cache
def file_table() -> tuple[Assumed, ...]:
    """Return what stripe count, allocator and limiting layer make of the 20,000 files. Nothing is fitted.

    Examples
    --------
    >>> for case in file_table()[:2]:
    ...     print(case.allocator, case.stripe_count, case.layer, round(case.rate_gb_s, 1))
    round-robin 1 OST 34.8
    round-robin 1 controller 34.8
    """
    scratch = file_system_of(Machine.load("hopper"))
    cases = []
    for allocator, count in (("round-robin", 1), ("random", 1), ("random", 2), ("random", 4), ("weighted", 1)):
        for layer, unit in (("OST", 1), ("controller", scratch.osts_per_controller or 1)):
            dumps = repeat_file_dump(
                FPP_GB,
                FILES,
                count,
                scratch.osts,
                allocator=allocator,
                peak_gb_s=scratch.peak_gb_s,
                repetitions=1 if allocator == "round-robin" else _REPETITIONS // count,
                rng=random.Random(_SEED),
                osts_per_unit=unit,
                weights=uneven_weights(scratch.osts),
            )
            rate, spread = mean(dump.rate_gb_s for dump in dumps), mean(dump.spread_s for dump in dumps)
            cases.append(Assumed(allocator, count, layer, rate, spread))
    return tuple(cases)


def shared_rate_gb_s(spread_s: float = _SPREAD_S) -> float:
    """Rate of the dump to one file if so much is lost at each of eight barriers. [GB/s]

    Examples
    --------
    >>> round(shared_rate_gb_s(), 1), round(shared_rate_gb_s(33), 1)
    (25.8, 27.0)
    """
    peak = file_system_of(Machine.load("hopper")).peak_gb_s
    return barrier_rate_gb_s(SHARED_GB, peak_gb_s=peak, variables=VARIABLES, spread_s=spread_s)


def weak_rate_gb_s(tasks: int, *, others_demand: float = 0.5, spread_s: float = _SPREAD_S) -> float:
    """Rate of the weak scaling: eight million particles a task, one task a core, beside other jobs. [GB/s]

    The spread is that of the full machine's dump, and shrinks with the size of the dump.

    Examples
    --------
    >>> [round(weak_rate_gb_s(tasks << 10), 1) for tasks in (1, 8, 128)]
    [13.0, 13.6, 23.9]
    """
    hopper = Machine.load("hopper")
    size = tasks * _WEAK_GB_PER_TASK
    alone = barrier_rate_gb_s(
        size,
        peak_gb_s=file_system_of(hopper).peak_gb_s,
        variables=VARIABLES,
        spread_s=spread_s * size / SHARED_GB,
    )
    return rate_beside_others_gb_s(alone, machine_fraction=tasks / hopper.cores, others_demand=others_demand)


def _inputs() -> dict[str, Value]:
    """Return the rows that the models take in."""
    scratch = file_system_of(Machine.load("hopper"))
    return {
        "osts osts-figure-4": scratch.osts,
        "osts-per-controller": scratch.osts_per_controller or 0,
        "peak-about fpp-can-deliver": scratch.peak_gb_s,
        "shared-osts-figure-6 chosen-count no-gain-above": _TUNED.stripe_count,
        "chosen-size": _TUNED.stripe_size_bytes / BYTES_PER_MIB,
        "threads": 6,
        "fpp-size": FPP_GB / 1000,
        "shared-size": SHARED_GB / 1000,
        "shared-finish-spread": _SPREAD_S,
        "variable-width": 32,
        "price-paid": VARIABLES,
        "scan-tasks weak-particles": 8,
        "weak-cores": 128,
        "buffering-stages checkpoints-kept": 2,
        "field-dumps": 33,
    }


def _files() -> dict[str, Value]:
    """Return what the models give for the dump to a file for each process."""
    scratch = file_system_of(Machine.load("hopper"))
    table = file_table()
    even = [case for case in table if case.allocator != "weighted"]
    rates, spreads = [1000 * case.rate_gb_s for case in even], [case.spread_s for case in even]
    nearest = min(table, key=lambda case: abs(case.spread_s - 200))
    drawn = next(case for case in table if (case.allocator, case.layer) == ("weighted", "OST"))
    loads = deal_objects(FILES, 1, scratch.osts, allocator="random", rng=random.Random(_SEED))
    times = finish_times_s(FPP_GB, loads, peak_gb_s=scratch.peak_gb_s)
    dump = file_dump(FPP_GB, loads, peak_gb_s=scratch.peak_gb_s)
    steps = rate_steps(times, scratch.peak_gb_s)
    return {
        "fpp-rate": (min(rates), max(rates)),
        "drawn_gb_s": drawn.rate_gb_s,
        "drawn_spread_s": drawn.spread_s,
        "fpp-finish-spread": (min(spreads), max(spreads)),
        "nearest_allocator": nearest.allocator,
        "nearest_stripes": nearest.stripe_count,
        "nearest_spread_s": nearest.spread_s,
        "nearest_gb_s": nearest.rate_gb_s,
        "fpp-degrades": steps[1][1] < steps[0][1] and dump.rate_gb_s < 0.9 * scratch.peak_gb_s,
        "uneven-files-cause-tail": dump.spread_s > 5 * _case("round-robin").spread_s,
        "fpp-load-sets-time": max(times) == times[loads.index(max(loads))],
        "fpp-wide-variety": dump.spread_s > 0.1 * dump.time_s,
    }


def _case(allocator: str) -> Assumed:
    """Return the row of files of one stripe that OSTs limit."""
    return next(case for case in file_table() if (case.allocator, case.stripe_count) == (allocator, 1))


def _shared() -> dict[str, Value]:
    """Return what the models give for the dump to one file."""
    # That nothing is gained above 144 OSTs is to be shown here, not known.
    scratch = replace(file_system_of(Machine.load("hopper")), useful_stripe_count=None)
    sizes = _TUNED.object_sizes_bytes(round(SHARED_GB * 1e9))
    collective, everybody = (
        Writing(size_bytes=round(SHARED_GB * 1e9), writers=FILES, nodes=5_000, pattern=pattern)
        for pattern in ("collective", "shared")
    )
    wider = Layout(stripe_count=156, stripe_size_bytes=_TUNED.stripe_size_bytes, osts=156)
    tuned, contended = (estimate(writing, _TUNED, scratch) for writing in (collective, everybody))
    rate, full_rate = shared_rate_gb_s(), shared_rate_gb_s(0)
    return {
        "shared-balances": max(sizes) - min(sizes) <= _TUNED.stripe_size_bytes,
        "barriers-cost": rate < 0.9 * full_rate,
        "peak-reached-for-a-while": 1 / scratch.peak_gb_s > 0.5 / rate,
        "shared-rate": (1000 * shared_rate_gb_s(_SPREAD_S + 5), 1000 * shared_rate_gb_s(_SPREAD_S - 5)),
        "shared-as-good": abs(rate / _case("random").rate_gb_s - 1) < 0.1,
        "alignment-key": pieces_per_call(1_000_000, 1_048_576) > 1.9 > pieces_per_call(1 << 20, 1 << 20),
        "fewer-writers-less-contention": tuned.locks_s == 0 < contended.locks_s,
        "levels-above-144": estimate(collective, wider, scratch).rate_gb_s <= 1.01 * tuned.rate_gb_s,
    }


def _weak_scaling() -> dict[str, Value]:
    """Return what the models give for the weak scaling, and for leaving out the size check."""
    tasks = [1 << power for power in range(10, 18)]
    weak = {demand: [weak_rate_gb_s(count, others_demand=demand) for count in tasks] for demand in (0.1, 0.3, 0.5)}
    largest = [weak_rate_gb_s(tasks[-1], others_demand=demand) for demand in _OTHERS_DEMAND]
    close_s = close_cost_s(5.0, weak[0.5][-1], size_per_process_gb=0.032)
    gains = [gain_without_close(rate, size_per_process_gb=0.032, close_s=close_s) for rate in weak[0.5]]
    return {
        "truncate-costs": min(gains) > 1,
        "truncate-gain-high": max(gains),
        "close_ms": 1000 * close_s,
        "truncate-gain-low": min(gains),
        "weak-rises": all(sorted(rates) == rates for rates in weak.values()),
        "interference-at-small-scale": all(rates[0] < 0.95 * rates[-1] for rates in weak.values()),
        "weak-rate": (min(largest), max(largest)),
        "weak-as-good-as-fpp": max(largest) > 0.9 * _case("random").rate_gb_s,
    }


def _values() -> dict[str, Value]:
    return _inputs() | sums() | _files() | _shared() | _weak_scaling()


STUDY = Study.read("trillion", _values)
