"""Franklin, Hopper and Bassi side by side: every printed total from its parts.

A machine file takes each number from one source. What the other sources print
of it, and every total, is then checked. Nothing is fitted but Franklin's
operations a cycle, which are its printed peak divided by cores and clock.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from hopperlib.documented import documented
from hopperlib.machine import Machine
from hopperlib.machine.derived import mpi_bandwidth_per_core_mb_s
from hopperlib.machine.faults import dead_link, dead_server, faults, files_hit
from hopperlib.studies.study import Check, Study

__all__ = ["CHANNELS", "CHANNEL_BYTES", "STUDY", "memory_transfers_mt_s", "sustained_fraction"]

# Of the memory on each NUMA node: two DDR3 channels of 64 bits. No source prints it.
CHANNELS = 2
CHANNEL_BYTES = 8


def memory_transfers_mt_s(machine: Machine) -> float:
    """Transfer rate of the memory that the bandwidth of a NUMA node implies. [million transfers/s]

    Examples
    --------
    Printed as 1333 MHz:

    >>> round(memory_transfers_mt_s(Machine.load("hopper")), 1)
    1331.2
    """
    return machine.node().numa_bandwidth_gb_s * 1_000 / (CHANNELS * CHANNEL_BYTES)


def sustained_fraction(machine: Machine) -> float:
    """Printed sustained performance as a share of the peak. [0-1]

    Examples
    --------
    >>> round(sustained_fraction(Machine.load("hopper")), 3)
    0.109
    """
    sustained_tflops = documented("machines.hopper-sustained").number
    assert sustained_tflops is not None, "the row has a number"
    return sustained_tflops / machine.peak_tflops


def _cabinets(machine: Machine) -> float:
    """Cabinets that the torus fills: its places for nodes over those of a cabinet."""
    network = machine.network
    assert network is not None
    assert network.node_positions is not None
    per_cabinet = prod(
        part or 0 for part in (network.cages_per_cabinet, network.slots_per_cage, network.nodes_per_slot)
    )
    return network.node_positions / per_cabinet


def _node_checks(hopper: Machine) -> tuple[Check, ...]:
    """Check the nodes of Hopper: what the file takes from one source against what the others print."""
    node, large = hopper.node(), hopper.node("large-memory")
    sockets, cores = float(node.sockets), float(node.cores_per_socket)
    return (
        Check(id="machines.hopper-cores-per-node", role="identity", reproduced=float(node.cores)),
        Check(id="machines.hopper-sockets-per-node", role="input", reproduced=sockets),
        Check(id="machines.hopper-sockets-per-node-he2012", role="identity", reproduced=sockets),
        Check(id="machines.hopper-sockets-again-he2012", role="identity", reproduced=sockets),
        Check(id="machines.hopper-sockets-per-node-byna2013", role="identity", reproduced=sockets),
        Check(id="machines.hopper-cores-per-socket", role="identity", reproduced=cores),
        Check(id="machines.hopper-cores-per-socket-he2012", role="identity", reproduced=cores),
        Check(id="machines.hopper-cores-per-socket-byna2013", role="identity", reproduced=cores),
        Check(id="machines.hopper-numa-nodes", role="identity", reproduced=float(node.numa_nodes)),
        Check(id="machines.hopper-numa-nodes-he2012", role="input", reproduced=float(node.numa_nodes)),
        Check(id="machines.hopper-cores-per-numa-node", role="identity", reproduced=float(node.cores_per_numa_node)),
        Check(
            id="machines.hopper-cores-per-numa-node-he2012", role="input", reproduced=float(node.cores_per_numa_node)
        ),
        Check(id="machines.hopper-clock", role="input", reproduced=node.clock_ghz),
        Check(id="machines.hopper-clock-he2012", role="identity", reproduced=node.clock_ghz),
        Check(id="machines.hopper-clock-byna2013", role="identity", reproduced=node.clock_ghz),
        Check(
            id="machines.hopper-core-peak",
            role="input",
            reproduced=node.core_peak_gflops,
            reason="the four operations a cycle of the machine file are this peak over the clock",
        ),
        Check(id="machines.hopper-core-peak-byna2013", role="identity", reproduced=node.core_peak_gflops),
        Check(id="machines.hopper-memory-per-node", role="input", reproduced=float(node.memory_gb)),
        Check(id="machines.hopper-memory-per-node-he2012", role="identity", reproduced=float(node.memory_gb)),
        Check(id="machines.hopper-memory-per-node-byna2013", role="identity", reproduced=float(node.memory_gb)),
        Check(id="machines.hopper-memory-per-large-node", role="input", reproduced=float(large.memory_gb)),
        Check(id="machines.hopper-memory-per-large-node-he2012", role="identity", reproduced=float(large.memory_gb)),
        Check(id="machines.hopper-memory-per-large-node-byna2013", role="identity", reproduced=float(large.memory_gb)),
        Check(id="machines.hopper-memory-per-core", role="identity", reproduced=node.memory_gb / node.cores),
        Check(
            id="machines.hopper-memory-per-large-node-core", role="identity", reproduced=large.memory_gb / large.cores
        ),
        Check(
            id="machines.hopper-memory-clock",
            role="identity",
            reproduced=memory_transfers_mt_s(hopper),
            tolerance=3.2,
            tolerance_reason="the 21.3 GB/s of a NUMA node are known to a tenth",
            reason="bandwidth of a NUMA node over two channels of eight bytes, which are assumed",
        ),
    )


def _total_checks(hopper: Machine, franklin: Machine) -> tuple[Check, ...]:
    """Check the totals of the machines, and what compares them."""
    nodes, cores, peak = float(hopper.nodes), float(hopper.cores), hopper.peak_tflops / 1_000
    growth = hopper.cores / franklin.cores
    rounded_up = "the parts make 216.6 TB, which rounds up to the printed 217 and is not over it"
    return (
        Check(
            id="machines.hopper-nodes-antypas2011",
            role="identity",
            reproduced=nodes,
            reason="held against 6,384: the printed 3,284 is a misprint, as the printed cores and peak show",
        ),
        Check(id="machines.hopper-nodes-he2012", role="identity", reproduced=nodes),
        Check(
            id="machines.hopper-nodes-byna2013",
            role="input",
            reproduced=nodes,
            reason="less the 384 larger nodes it is the count of ordinary ones",
        ),
        Check(
            id="machines.hopper-large-memory-nodes", role="input", reproduced=float(hopper.node("large-memory").count)
        ),
        Check(
            id="machines.hopper-large-memory-nodes-byna2013",
            role="identity",
            reproduced=float(hopper.node("large-memory").count),
        ),
        Check(id="machines.hopper-cores-antypas2011", role="identity", reproduced=cores),
        Check(
            id="machines.hopper-cores-he2012",
            role="identity",
            reproduced=cores,
            reason="held against 153,216: two digits of the printed 153,126 are swapped",
        ),
        Check(id="machines.hopper-cores-byna2013", role="identity", reproduced=cores),
        Check(id="machines.hopper-peak-antypas2011", role="identity", reproduced=peak),
        Check(id="machines.hopper-peak-he2012", role="identity", reproduced=peak),
        Check(id="machines.hopper-peak-byna2013", role="identity", reproduced=peak),
        Check(
            id="machines.hopper-sustained",
            role="not modelled",
            reason=f"what codes sustain is measured; it is {sustained_fraction(hopper):.1%} of the peak",
        ),
        Check(
            id="machines.hopper-memory-total-antypas2011",
            role="identity",
            reproduced=hopper.memory_tb,
            explanation=rounded_up,
        ),
        Check(
            id="machines.hopper-memory-total-byna2013",
            role="identity",
            reproduced=hopper.memory_tb,
            explanation=rounded_up,
        ),
        Check(
            id="machines.hopper-memory-total-he2012",
            role="identity",
            reproduced=hopper.memory_tib,
            reason="the same memory, divided by 1,024",
        ),
        Check(id="machines.franklin-cores-per-node", role="input", reproduced=float(franklin.node().cores)),
        Check(
            id="machines.franklin-processors",
            role="identity",
            reproduced=float(franklin.cores),
            reason="held against 38,000 cores: quad-core processors would be four times too many",
        ),
        Check(
            id="machines.franklin-peak",
            role="calibrated",
            reproduced=franklin.peak_tflops,
            reason="operations a cycle of a Franklin core: this peak over cores and clock",
        ),
        Check(id="machines.franklin-memory-per-node", role="input", reproduced=float(franklin.node().memory_gb)),
        Check(
            id="machines.memory-per-core-fell",
            role="shape",
            reproduced=hopper.node().memory_gb / hopper.node().cores
            < franklin.node().memory_gb / franklin.node().cores,
        ),
        Check(
            id="machines.hours-factor",
            role="identity",
            reproduced=growth,
            reason="cores of Hopper over the 38,288 of Franklin, which a third source counts",
        ),
        Check(id="machines.hours-factor-introduction", role="identity", reproduced=growth),
        Check(id="machines.hopper-model", role="input", reproduced=hopper.model.removeprefix("Cray ")),
        Check(id="machines.franklin-model", role="input", reproduced=franklin.model.removeprefix("Cray ")),
        Check(
            id="machines.bassi-nodes-per-frame",
            role="not modelled",
            reason="no model has frames; the count of Bassi's nodes is not printed",
        ),
    )


def _network_checks(hopper: Machine, franklin: Machine) -> tuple[Check, ...]:
    """Check the networks, and what they survive."""
    gemini, seastar = hopper.network, franklin.network
    assert gemini is not None
    assert seastar is not None
    survived = [sum(fault.goes_on is True for fault in faults(machine)) for machine in (hopper, franklin)]
    dimensions = float(len(gemini.dimensions or ()))
    return (
        Check(id="machines.hopper-torus-dimensions", role="identity", reproduced=dimensions),
        Check(id="machines.hopper-torus-dimensions-byna2013", role="identity", reproduced=dimensions),
        Check(
            id="machines.hopper-cabinets",
            role="identity",
            reproduced=_cabinets(hopper),
            reason="places for nodes in the torus over those of a cabinet",
        ),
        Check(id="machines.hopper-network", role="input", reproduced=gemini.kind.capitalize()),
        Check(id="machines.franklin-network", role="input", reproduced=seastar.kind.capitalize()),
        Check(
            id="machines.gemini-more-reliable",
            role="shape",
            reproduced=dead_link(hopper).goes_on is True and dead_link(franklin).goes_on is False,
            reason="it survives a dead link",
        ),
        Check(
            id="machines.seastar-dead-link-stops-machine",
            role="input",
            reproduced=seastar.reroutes_around_dead_links is False,
        ),
        Check(
            id="machines.gemini-routes-around-dead-link",
            role="input",
            reproduced=gemini.reroutes_around_dead_links is True,
        ),
        Check(id="machines.gemini-lower-latency", role="shape", reproduced=2 * gemini.latency_us < seastar.latency_us),
        Check(
            id="machines.gemini-higher-bandwidth",
            role="shape",
            reproduced=gemini.node_bandwidth_gb_s > seastar.node_bandwidth_gb_s,
            reason=(
                "for a node; for a core it is lower, "
                f"{mpi_bandwidth_per_core_mb_s(hopper):.0f} MB/s against {mpi_bandwidth_per_core_mb_s(franklin):.0f}"
            ),
        ),
        Check(id="machines.franklin-mpi-latency", role="input", reproduced=seastar.latency_us),
        Check(id="machines.hopper-mpi-latency", role="input", reproduced=gemini.latency_us),
        Check(id="machines.franklin-mpi-bandwidth", role="input", reproduced=seastar.node_bandwidth_gb_s),
        Check(id="machines.hopper-mpi-bandwidth", role="input", reproduced=gemini.node_bandwidth_gb_s),
        Check(
            id="machines.hopper-recovers-better",
            role="shape",
            reproduced=survived[0] > survived[1],
            reason=f"Hopper survives {survived[0]} of two faults, Franklin {survived[1]}",
        ),
        Check(
            id="machines.hopper-more-stable",
            role="not modelled",
            reason="how often either machine failed is not printed",
        ),
    )


def _storage_checks(hopper: Machine) -> tuple[Check, ...]:
    """Check the file systems, and what stands beside the compute nodes."""
    scratch, second = hopper.file_systems
    beside = "login nodes are in no model"
    return (
        Check(
            id="machines.hopper-file-systems",
            role="not modelled",
            reason="home, global scratch and project are in no model; the two local scratch file systems are",
        ),
        Check(id="machines.hopper-scratch-file-systems", role="input", reproduced=float(len(hopper.file_systems))),
        Check(
            id="machines.hopper-scratch-file-systems-byna2013",
            role="identity",
            reproduced=float(len(hopper.file_systems)),
        ),
        Check(
            id="machines.hopper-scratch-alike", role="shape", reproduced=replace(second, name=scratch.name) == scratch
        ),
        Check(id="machines.hopper-scratch-peak-antypas2011", role="identity", reproduced=float(scratch.peak_gb_s)),
        Check(id="machines.hopper-scratch-peak-byna2013", role="input", reproduced=float(scratch.peak_gb_s)),
        Check(
            id="machines.hopper-scratch-capacity-antypas2011", role="identity", reproduced=float(scratch.capacity_pb)
        ),
        Check(id="machines.hopper-scratch-capacity-byna2013", role="input", reproduced=float(scratch.capacity_pb)),
        Check(
            id="machines.oss-failure",
            role="not modelled",
            reason="the day on which something broke follows from nothing",
        ),
        Check(
            id="machines.oss-failure-loses-some-jobs",
            role="shape",
            reproduced=dead_server(hopper).goes_on is True and 0 < files_hit(scratch) < 1,
            reason=f"{files_hit(scratch):.1%} of the files with the default striping have a piece on the server",
        ),
        Check(id="machines.hopper-operating-systems", role="not modelled", reason="operating systems are in no model"),
        Check(id="machines.hopper-login-nodes", role="not modelled", reason=beside),
        Check(id="machines.hopper-login-cores", role="not modelled", reason=beside),
        Check(id="machines.hopper-login-memory", role="not modelled", reason=beside),
        Check(id="machines.login-nodes-outlive-compute", role="not modelled", reason=beside),
        Check(id="machines.login-file-systems", role="not modelled", reason=beside),
    )


def _checks() -> tuple[Check, ...]:
    hopper, franklin = Machine.load("hopper"), Machine.load("franklin")
    return (
        *_node_checks(hopper),
        *_total_checks(hopper, franklin),
        *_network_checks(hopper, franklin),
        *_storage_checks(hopper),
    )


STUDY = Study(
    name="machines",
    title="Three machines side by side",
    part="node",
    question="What follows from the parts of a machine, and do the printed totals agree with it?",
    checks=_checks,
    assumptions=(
        "The memory of a NUMA node hangs on two channels of eight bytes. No source prints it.",
        "Franklin had 38,288 cores: no source of the study prints the count, news of the center do.",
        "All counts of Bassi are from memory; no source at hand prints them.",
        "Where a file system stripes a file over OSTs, it takes them at random.",
        "A torus goes on with any one link dead if its routers can choose another way.",
    ),
)
