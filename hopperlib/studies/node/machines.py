"""Franklin, Hopper and Bassi side by side: every printed total from its parts.

A machine file takes each number from one source. What the other sources print
of it, and every total, is then checked. Nothing is fitted but Franklin's
operations a cycle, which are its printed peak divided by cores and clock.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from math import prod

from hopperlib.documented import printed
from hopperlib.machine import Machine
from hopperlib.machine.derived import mpi_bandwidth_per_core_mb_s
from hopperlib.machine.faults import dead_link, dead_server, faults, files_hit
from hopperlib.studies.study import Study, Value, predictions, ranges

__all__ = ["STUDY", "memory_transfers_mt_s", "model", "sustained_fraction"]

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


def _decimal_tb(machine: Machine) -> float:
    """Memory of a machine in units of 10**12 bytes, where its nodes count in 2**30. [TB]"""
    return machine.memory_gb * 2**30 / 1e12


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return what codes sustain that wait for memory all the time: its bandwidth times what they do with a byte. [Tflop/s]

    Examples
    --------
    >>> round(model({"numa_gb_s": 12.5, "flops_a_byte": 0.4}, random.Random(1))["hopper-sustained"], 1)
    127.7
    """
    hopper = Machine.load("hopper")
    tb_s = hopper.nodes * hopper.node().numa_nodes * assumed["numa_gb_s"] / 1000
    return {"hopper-sustained": tb_s * assumed["flops_a_byte"]}


def _sums() -> dict[str, Value]:
    return {"sustained": sustained_fraction(Machine.load("hopper"))}


def _cabinets(machine: Machine) -> float:
    """Cabinets that the torus fills: its places for nodes over those of a cabinet."""
    network = machine.network
    assert network is not None
    assert network.node_positions is not None
    parts = (network.cages_per_cabinet, network.slots_per_cage, network.nodes_per_slot)
    return network.node_positions / prod(part or 0 for part in parts)


def _nodes(hopper: Machine) -> dict[str, Value]:
    """Return what holds of Hopper's nodes: what the file takes from one source, against what the others print."""
    node, large = hopper.node(), hopper.node("large-memory")
    return {
        "hopper-cores-per-node": node.cores,
        "hopper-sockets-per-node hopper-sockets-per-node-he2012 hopper-sockets-again-he2012": node.sockets,
        "hopper-sockets-per-node-byna2013": node.sockets,
        "hopper-cores-per-socket hopper-cores-per-socket-he2012 hopper-cores-per-socket-byna2013": node.cores_per_socket,
        "hopper-numa-nodes hopper-numa-nodes-he2012": node.numa_nodes,
        "hopper-cores-per-numa-node hopper-cores-per-numa-node-he2012": node.cores_per_numa_node,
        "hopper-clock hopper-clock-he2012 hopper-clock-byna2013": node.clock_ghz,
        "hopper-core-peak hopper-core-peak-byna2013": node.core_peak_gflops,
        "hopper-memory-per-node hopper-memory-per-node-he2012 hopper-memory-per-node-byna2013": node.memory_gb,
        "hopper-memory-per-large-node hopper-memory-per-large-node-he2012": large.memory_gb,
        "hopper-memory-per-large-node-byna2013": large.memory_gb,
        "hopper-memory-per-core": node.memory_gb / node.cores,
        "hopper-memory-per-large-node-core": large.memory_gb / large.cores,
        "hopper-memory-clock": memory_transfers_mt_s(hopper),
    }


def _totals(hopper: Machine, franklin: Machine) -> dict[str, Value]:
    """Return the totals of the machines, and what compares them."""
    node, quad = hopper.node(), franklin.node()
    return {
        "hopper-nodes-antypas2011 hopper-nodes-he2012 hopper-nodes-byna2013": hopper.nodes,
        "hopper-large-memory-nodes hopper-large-memory-nodes-byna2013": hopper.node("large-memory").count,
        "hopper-cores-antypas2011 hopper-cores-he2012 hopper-cores-byna2013": hopper.cores,
        "hopper-peak-antypas2011 hopper-peak-he2012 hopper-peak-byna2013": hopper.peak_tflops / 1_000,
        "hopper-memory-total-antypas2011 hopper-memory-total-byna2013": _decimal_tb(hopper),
        "hopper-memory-total-he2012": hopper.memory_tib,
        "franklin-cores-per-node": quad.cores,
        "franklin-processors": franklin.cores,
        "franklin-peak": franklin.peak_tflops,
        "franklin-memory-per-node": quad.memory_gb,
        "memory-per-core-fell": node.memory_gb / node.cores < quad.memory_gb / quad.cores,
        "hours-factor hours-factor-introduction": hopper.cores / franklin.cores,
        "hopper-model": hopper.model.removeprefix("Cray "),
        "franklin-model": franklin.model.removeprefix("Cray "),
    }


def _networks(hopper: Machine, franklin: Machine) -> dict[str, Value]:
    """Return what holds of the networks, and what they survive."""
    gemini, seastar = hopper.network, franklin.network
    assert gemini is not None
    assert seastar is not None
    survived = [sum(fault.goes_on is True for fault in faults(machine)) for machine in (hopper, franklin)]
    return {
        "hopper-torus-dimensions hopper-torus-dimensions-byna2013": len(gemini.dimensions or ()),
        "hopper-cabinets": _cabinets(hopper),
        "hopper-network": gemini.kind.capitalize(),
        "franklin-network": seastar.kind.capitalize(),
        "gemini-more-reliable": dead_link(hopper).goes_on is True and dead_link(franklin).goes_on is False,
        "seastar-dead-link-stops-machine": seastar.reroutes_around_dead_links is False,
        "gemini-routes-around-dead-link": gemini.reroutes_around_dead_links is True,
        "gemini-lower-latency": 2 * gemini.latency_us < seastar.latency_us,
        "gemini-higher-bandwidth": gemini.node_bandwidth_gb_s > seastar.node_bandwidth_gb_s,
        "hopper_core_mb_s": mpi_bandwidth_per_core_mb_s(hopper) or 0,
        "franklin_core_mb_s": mpi_bandwidth_per_core_mb_s(franklin) or 0,
        "franklin-mpi-latency": seastar.latency_us,
        "hopper-mpi-latency": gemini.latency_us,
        "franklin-mpi-bandwidth": seastar.node_bandwidth_gb_s,
        "hopper-mpi-bandwidth": gemini.node_bandwidth_gb_s,
        "hopper-recovers-better": survived[0] > survived[1],
        "hopper_survives": survived[0],
        "franklin_survives": survived[1],
    }


def _file_systems(hopper: Machine) -> dict[str, Value]:
    """Return what holds of the local file systems."""
    scratch, second = hopper.file_systems
    return {
        "hopper-scratch-file-systems hopper-scratch-file-systems-byna2013": len(hopper.file_systems),
        "hopper-scratch-alike": replace(second, name=scratch.name) == scratch,
        "hopper-scratch-peak-antypas2011 hopper-scratch-peak-byna2013": scratch.peak_gb_s,
        "hopper-scratch-capacity-antypas2011 hopper-scratch-capacity-byna2013": scratch.capacity_pb,
        "oss-failure-loses-some-jobs": dead_server(hopper).goes_on is True and 0 < files_hit(scratch) < 1,
        "files_hit": files_hit(scratch),
    }


def _values() -> dict[str, Value]:
    hopper, franklin = Machine.load("hopper"), Machine.load("franklin")
    # The rival: a tenth of the peak, as a rule of thumb has it.
    sustained = predictions(model, ranges("machines"), {"hopper-sustained": hopper.peak_tflops / 10})
    return _nodes(hopper) | _totals(hopper, franklin) | _networks(hopper, franklin) | _file_systems(hopper) | sustained


STUDY = Study.read("machines", _values, sums=_sums, model=model)
