"""The trillion-particle run: 20,000 files against one, and every sum of the paper.

The stripe count of the 20,000 files and how they fell on the OSTs are not printed: a table shows what each assumption
gives. Calibrated is one number, the share of the peak that the OSTs sustain, on the printed rate of the files. Also
predicted: when the first and the last OST of the files finish, the rate of the shared file, and that of the weak
scaling.
"""

import random
from collections.abc import Mapping
from functools import cache
from statistics import mean
from typing import NamedTuple

from hopperbook.documented import documented, printed
from hopperbook.studies.study import Shares, Study, Value, load_hopper, load_scratch, predictions, ranges
from hopperlib.storage.lustre.dumps import (
    barrier_rate_gb_s,
    close_cost_s,
    gain_without_close,
    rate_with_other_jobs_gb_s,
)
from hopperlib.storage.lustre.osts import file_dump, place_objects, repeat_file_dump, uneven_weights
from hopperlib.storage.lustre.striping import Layout
from hopperlib.units import BYTES_PER_MIB

FILES = 20_000
# The dump to a file for each process, the dump to one file, and what either holds of a particle.
FPP_GB, SHARED_GB = 1000 * printed("trillion.fpp-size"), 1000 * printed("trillion.shared-size")
VARIABLES = int(printed("trillion.price-paid"))
_STRIPES, _STRIPE_MIB = int(printed("trillion.chosen-count")), int(printed("trillion.chosen-size"))
_TUNED = Layout(stripe_count=_STRIPES, stripe_size_bytes=_STRIPE_MIB * BYTES_PER_MIB, osts=156)
_FILES_GB_S = printed("trillion.fpp-rate") / 1000
_CLOSE_GAIN = printed("trillion.truncate-gain-high")
_SPREAD_S = printed("trillion.shared-finish-spread")
_SMALL_TASKS, _WEAK_TASKS = 1 << 10, 128 << 10
_WEAK_GB_PER_TASK = 8 * BYTES_PER_MIB * 32 / 1e9
_SEED, _REPETITIONS = 20_130, 20


class Assumed(NamedTuple):
    """Results of one set of assumptions for the file-per-process dump.

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
    """Return the effect of stripe count, allocator and limiting layer on the 20,000 files. Nothing is fitted.

    Examples
    --------
    >>> for case in file_table()[:2]:
    ...     print(case.allocator, case.stripe_count, case.layer, round(case.rate_gb_s, 1))
    round-robin 1 OST 34.8
    round-robin 1 controller 34.8
    """
    cases = []
    for allocator, count in (("round-robin", 1), ("random", 1), ("random", 2), ("random", 4), ("weighted", 1)):
        for layer, unit in (("OST", 1), ("controller", load_scratch().osts_per_controller or 1)):
            dumps = repeat_file_dump(
                FPP_GB,
                FILES,
                count,
                load_scratch().osts,
                allocator=allocator,
                peak_gb_s=load_scratch().peak_gb_s,
                # Dealt in turn, all deals are alike; of more stripes, fewer deals hold as many objects.
                repetitions=1 if allocator == "round-robin" else _REPETITIONS // count,
                rng=random.Random(_SEED),
                osts_per_unit=unit,
                weights=uneven_weights(load_scratch().osts),
            )
            rate, spread = mean(dump.rate_gb_s for dump in dumps), mean(dump.spread_s for dump in dumps)
            cases.append(Assumed(allocator, count, layer, rate, spread))
    return tuple(cases)


def shared_rate_gb_s(spread_s: float = _SPREAD_S) -> float:
    """Rate of the dump to one file with this loss at each of eight barriers. [GB/s]

    Examples
    --------
    >>> round(shared_rate_gb_s(), 1), round(shared_rate_gb_s(33), 1)
    (25.8, 27.0)
    """
    return barrier_rate_gb_s(SHARED_GB, peak_gb_s=load_scratch().peak_gb_s, variables=VARIABLES, spread_s=spread_s)


def weak_rate_gb_s(tasks: int, *, others_demand: float = 0.5, spread_s: float = _SPREAD_S) -> float:
    """Rate of the weak scaling: eight million particles per task, one task per core, while other jobs run. [GB/s]

    The spread is that of the full machine's dump, and shrinks with the size of the dump.

    Examples
    --------
    >>> [round(weak_rate_gb_s(tasks << 10), 1) for tasks in (1, 8, 128)]
    [13.0, 13.6, 23.9]
    """
    size = tasks * _WEAK_GB_PER_TASK
    alone = barrier_rate_gb_s(
        size, peak_gb_s=load_scratch().peak_gb_s, variables=VARIABLES, spread_s=spread_s * size / SHARED_GB
    )
    return rate_with_other_jobs_gb_s(alone, machine_fraction=tasks / load_hopper().cores, others_demand=others_demand)


def writing_rate_gb_s(sustained: float, ost_mb_s: float) -> float:
    """Rate at which 144 OSTs write between the barriers: theirs, or that of the file system if it is lower. [GB/s]

    Parameters
    ----------
    sustained : float
        Share of their rates that both keep up.
    ost_mb_s : float
        Most that an OST takes. [MB/s]

    Examples
    --------
    >>> writing_rate_gb_s(1.0, 250), round(writing_rate_gb_s(0.8, 224), 1)
    (35.0, 25.8)
    """
    return sustained * min(load_scratch().peak_gb_s, _TUNED.stripe_count * ost_mb_s / 1000)


def _levels(ost_mb_s: float) -> bool:
    """Whether all OSTs together write less than one percent faster than 144, for this rate of one."""
    all_gb_s = min(load_scratch().peak_gb_s, load_scratch().osts * ost_mb_s / 1000)
    return all_gb_s <= 1.01 * writing_rate_gb_s(1.0, ost_mb_s)


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the results of one set of assumptions and one deal of the files, calibrated on the rate of the files.

    Examples
    --------
    >>> usual = {name: each.value for name, each in ranges("trillion").items()}
    >>> {name: round(number) for name, number in model(usual, random.Random(1)).items()}
    {'fpp-finish-spread': 404, 'shared-rate': 29013, 'weak-rate': 28, 'truncate-gain-low': 4}
    """
    objects = place_objects(
        FILES, 2 ** round(assumed["stripe_doublings"]), load_scratch().osts, allocator="random", rng=rng
    )
    # A switch as a number, so that it is varied with the others.
    unit = (load_scratch().osts_per_controller or 1) if assumed["controllers"] > 0.5 else 1
    dump = file_dump(FPP_GB, objects, peak_gb_s=load_scratch().peak_gb_s, osts_per_unit=unit)
    # Calibrated: the share of the peak with which this deal gives the printed rate.
    sustained = _FILES_GB_S / dump.rate_gb_s
    rate = writing_rate_gb_s(sustained, assumed["ost_mb_s"])

    def barriered_gb_s(size_gb: float) -> float:
        lost_s = assumed["lost_s"] * size_gb / SHARED_GB
        return barrier_rate_gb_s(size_gb, peak_gb_s=rate, variables=VARIABLES, spread_s=lost_s)

    def scaled_gb_s(tasks: int) -> float:
        alone = barriered_gb_s(tasks * _WEAK_GB_PER_TASK)
        share = tasks / load_hopper().cores
        return rate_with_other_jobs_gb_s(alone, machine_fraction=share, others_demand=assumed["others_demand"])

    weak, small = scaled_gb_s(_WEAK_TASKS), scaled_gb_s(_SMALL_TASKS)
    close_s = close_cost_s(assumed["close_gain"], weak, size_per_process_gb=0.032)
    return {
        "fpp-finish-spread": dump.spread_s / sustained,
        "shared-rate": 1000 * barriered_gb_s(SHARED_GB),
        "weak-rate": weak,
        "truncate-gain-low": gain_without_close(small, size_per_process_gb=0.032, close_s=close_s),
    }


def _files() -> dict[str, Value]:
    """Return the models' results for the dump with one file per process; its shapes with one to four stripes, all OSTs
    alike.
    """
    sustained = [_FILES_GB_S / case.rate_gb_s for case in file_table() if case.allocator == "random"]
    even_s = _case("round-robin").spread_s
    dealt = (
        place_objects(FILES, 1 << (seed % 3), load_scratch().osts, allocator="random", rng=random.Random(seed))
        for seed in range(_REPETITIONS)
    )
    dumps = [file_dump(FPP_GB, objects, peak_gb_s=load_scratch().peak_gb_s) for objects in dealt]
    return {
        # As fitted: in every case, its share of the peak gives the printed rate.
        "fpp-rate": 1000 * _FILES_GB_S,
        "least_sustained": min(sustained),
        "most_sustained": max(sustained),
        "fpp-degrades": Shares(sum(dump.rate_gb_s < 0.9 * load_scratch().peak_gb_s for dump in dumps), len(dumps)),
        "uneven-files-cause-tail": Shares(sum(dump.spread_s > 5 * even_s for dump in dumps), len(dumps)),
        "fpp-wide-variety": Shares(sum(dump.spread_s > 0.1 * dump.time_s for dump in dumps), len(dumps)),
    }


def _case(allocator: str) -> Assumed:
    """Return the row of files of one stripe that OSTs limit."""
    return next(case for case in file_table() if (case.allocator, case.stripe_count) == (allocator, 1))


def _shared() -> dict[str, Value]:
    """Return the models' results for the dump to one file."""
    span, rate = ranges("trillion")["ost_mb_s"], shared_rate_gb_s()
    rates = [span.low + (span.high - span.low) * (step + 0.5) / 40 for step in range(40)]
    leveling = [rate for rate in rates if _levels(rate)]
    return {
        "shared-as-good": abs(rate / _case("random").rate_gb_s - 1) < 0.1,
        "levels-above-144": Shares(len(leveling), len(rates)),
        "leveling_mb_s": min(leveling, default=0.0),
    }


def _values() -> dict[str, Value]:
    whole_gb_s = weak_rate_gb_s(_WEAK_TASKS)
    close_s = close_cost_s(_CLOSE_GAIN, whole_gb_s, size_per_process_gb=0.032)
    # The rivals know no OSTs: the printed spread of the other dump, the printed rate of the files.
    rivals = {"fpp-finish-spread": _SPREAD_S, "shared-rate": 1000 * _FILES_GB_S, "weak-rate": _FILES_GB_S}
    rivals["truncate-gain-low"] = _CLOSE_GAIN
    each = ranges("trillion")["others_demand"]
    return {
        **_files(),
        **_shared(),
        **predictions(model, ranges("trillion"), rivals, random_parts=True),
        "truncate-gain-high": gain_without_close(whole_gb_s, size_per_process_gb=0.032, close_s=close_s),
        "close_ms": 1000 * close_s,
        "weak-as-good-as-fpp": all(
            weak_rate_gb_s(_WEAK_TASKS, others_demand=demand) > 0.9 * _case("random").rate_gb_s
            for demand in (each.low, each.value, each.high)
        ),
    }


def _sums() -> dict[str, Value]:
    field_gb_a_step = 1000 * printed("trillion.field-data") / printed("trillion.field-dumps")
    return {
        "h5part-variables-argument": VARIABLES,
        "field-data-step": "hundreds of gigabytes" if 100 <= field_gb_a_step < 1000 else "tens of gigabytes",
        "variables": len(documented("trillion.written-variables").value.split(";")),
    }


STUDY = Study("trillion", _values, sums=_sums, model=model)
