"""Franklin, Hopper and Bassi side by side: every printed total from its parts.

A machine file takes each number from one source. The other sources' values for it, and every total, are then checked.
Nothing is fitted but Franklin's operations a cycle, which are its printed peak divided by cores and clock.
"""

import random
from collections.abc import Mapping
from math import prod

from hopperbook.documented import printed
from hopperbook.studies.study import Study, Value, load_franklin, load_hopper, predictions, ranges
from hopperlib.machine import Machine
from hopperlib.machine.derived import mpi_bandwidth_per_core_mb_s
from hopperlib.machine.faults import affected_files, faults

# Of the memory on each NUMA node: two DDR3 channels of 64 bits. No source prints it.
_CHANNELS, _CHANNEL_BYTES = 2, 8
# Peak of the memory of a node of the same type, HECToR Phase 2b. [GB/s]
_NODE_PEAK_GB_S = 85.3


def memory_transfers_mt_s(machine: Machine) -> float:
    """Transfer rate of the memory that the peak of a node of this type implies. [million transfers/s]

    Examples
    --------
    Printed as 1333 MHz:

    >>> round(memory_transfers_mt_s(Machine.load("hopper")), 1)
    1332.8
    """
    return _NODE_PEAK_GB_S * 1_000 / (machine.node().numa_nodes * _CHANNELS * _CHANNEL_BYTES)


def sustained_fraction(machine: Machine) -> float:
    """Printed sustained performance as a share of the peak. [0-1]

    Examples
    --------
    >>> round(sustained_fraction(Machine.load("hopper")), 3)
    0.109
    """
    return printed("machines.hopper-sustained") / machine.peak_tflops


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the sustained rate of memory-bound codes: bandwidth times operations per byte. [Tflop/s]

    Examples
    --------
    >>> round(model({"numa_gb_s": 12.5, "flops_a_byte": 0.4}, random.Random(1))["hopper-sustained"], 1)
    127.7
    """
    tb_s = load_hopper().nodes * load_hopper().node().numa_nodes * assumed["numa_gb_s"] / 1000
    return {"hopper-sustained": tb_s * assumed["flops_a_byte"]}


def _cabinets(machine: Machine) -> float:
    """Cabinets that the torus fills: its places for nodes over those of a cabinet."""
    network = machine.network
    assert network is not None
    assert network.node_positions is not None
    parts = (network.cages_per_cabinet, network.slots_per_cage, network.nodes_per_slot)
    return network.node_positions / prod(part or 0 for part in parts)


def _values() -> dict[str, Value]:
    gemini, seastar = load_hopper().network, load_franklin().network
    assert gemini is not None
    assert seastar is not None
    survived = [
        sum(fault.continues is True for fault in faults(machine)) for machine in (load_hopper(), load_franklin())
    ]
    return {
        # The rival: a tenth of the peak, as a rule of thumb has it.
        **predictions(model, ranges("machines"), {"hopper-sustained": load_hopper().peak_tflops / 10}),
        "hopper-memory-clock": memory_transfers_mt_s(load_hopper()),
        "hopper-model": load_hopper().model.removeprefix("Cray "),
        "franklin-model": load_franklin().model.removeprefix("Cray "),
        "hopper-torus-dimensions hopper-torus-dimensions-byna2013": len(gemini.dimensions or ()),
        "hopper-cabinets": _cabinets(load_hopper()),
        "hopper-network": gemini.kind.capitalize(),
        "franklin-network": seastar.kind.capitalize(),
        "seastar-dead-link-stops-machine": seastar.reroutes_around_dead_links is False,
        "hopper_core_mb_s": mpi_bandwidth_per_core_mb_s(load_hopper()) or 0,
        "franklin_core_mb_s": mpi_bandwidth_per_core_mb_s(load_franklin()) or 0,
        "hopper_survives": survived[0],
        "franklin_survives": survived[1],
        "hopper-scratch-file-systems hopper-scratch-file-systems-byna2013": len(load_hopper().file_systems),
        "affected_files": affected_files(load_hopper().file_systems[0]),
    }


STUDY = Study("machines", _values, sums=lambda: {"sustained": sustained_fraction(load_hopper())}, model=model)
