"""VASP and ``-S``: where twelve tasks land on a node of twenty-four cores.

Documented: the launch lines, where the tasks land with and without ``-S``, and that it matters. The run times were in a
figure that is lost. What VASP loses is measured on two other machines, Eagle and Swift: half of a node's cores, on one
socket or dealt over both. VASP's memory-bound share is taken from Eagle; Swift's packed time and Hopper's are computed
with it.
"""

import random
from collections.abc import Mapping
from dataclasses import replace

from hopperbook.documented import printed
from hopperbook.studies.study import Shares, Study, Value, predictions, ranges
from hopperlib.contention.ceilings import measured_ceilings
from hopperlib.machine import Machine
from hopperlib.placement.launch_line import read_launch_line
from hopperlib.placement.models.bandwidth import slowdown
from hopperlib.placement.placement import Placement, place_tasks
from hopperlib.placement.slowdown import placement_cost

BETTER_LINE = "aprun -n 384 -N 12 -S 3 vasp"
NAIVE_LINE = "aprun -n 384 -N 12 vasp"
_HYBRID_LINE = "aprun -n 4 -S 1 -d 6 a.out"
_DRAWS = 40
# Minimum loss of packed tasks that counts as large: a tenth.
_MUCH = 1.1
# Builds of VASP on Eagle and Swift.
_BUILDS = ("intel", "open")
# Memory like that of each machine's sockets, with the number of its domains per socket.
_SOCKETS = {"eagle": ("Noctua 1, one Skylake-SP socket", 1), "swift": ("Noctua 2, Milan, one NUMA domain (NPS4)", 4)}
_HALF_A_NODE = {"eagle": 18, "swift": 32}


def _place(line: str) -> Placement:
    """Return the placement of a line's tasks on Hopper."""
    hopper = Machine.load("hopper")
    return place_tasks(read_launch_line(line, hopper), hopper)


def _packed_over_spread(tasks_per_node: int, die_gb_s: float, core_gb_s: float) -> float:
    """Time of the memory-bound part on Hopper, packed by default over spread evenly. [ratio]

    Parameters
    ----------
    tasks_per_node : int
    die_gb_s, core_gb_s : float
        Bandwidths of a NUMA node and of a core. [GB/s]

    Examples
    --------
    >>> [round(_packed_over_spread(tasks, 12.5, 5), 2) for tasks in (4, 12, 24)]
    [1.6, 2.0, 1.0]
    """
    placement = _place(f"aprun -n {tasks_per_node} -N {tasks_per_node} a.out")
    placement = placement._replace(node_kind=replace(placement.node_kind, numa_bandwidth_gb_s=die_gb_s))
    return placement_cost(placement, core_cap_gb_s=core_gb_s).worst.ratio


def socket_ratio(machine: str) -> float:
    """Time of the memory-bound part with half of a node's cores on one socket over that with them on both. [ratio]

    Parameters
    ----------
    machine : {"eagle", "swift"}
        Two sockets each. Their memory bandwidth is not printed; it is that of similar sockets.

    Examples
    --------
    >>> socket_ratio("eagle"), socket_ratio("swift")
    (2.0, 2.0)
    """
    system, domains = _SOCKETS[machine]
    rates = {each.quantity: each.value for each in measured_ceilings(group="stream") if each.system == system}
    packed, spread = (
        min(rates["core-memory"], domains * rates["numa-memory"] / tasks)
        for tasks in (_HALF_A_NODE[machine], _HALF_A_NODE[machine] // 2)
    )
    return spread / packed


def waiting_fraction(build: str) -> float:
    """Share of VASP's time that waits for memory, from its two run times on Eagle. [fraction]

    Examples
    --------
    >>> [round(waiting_fraction(build), 3) for build in ("intel", "open")]
    [0.347, 0.31]
    """
    packed, spread = (printed(f"placement.eagle-{how}-{build}") for how in ("packed", "spread"))
    return (packed / spread - 1) / (socket_ratio("eagle") - 1)


def _waiting(assumed: Mapping[str, float]) -> float:
    """Return a share between those of the two builds."""
    first, second = map(waiting_fraction, _BUILDS)
    return first + assumed["build"] * (second - first)


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the packed run times on Swift [s], and the cost of packing for the memory-bound part of VASP on Hopper.
    [ratio]

    No source prints the last: it is on the page, so it is moved as those are that can be lost.

    Examples
    --------
    >>> given = model({"die_gb_s": 12.5, "core_gb_s": 3, "build": 0}, random.Random(1))
    >>> given["vasp-effect-large"], round(given["swift-packed-intel"])
    (1.44, 12030)
    """
    longer = slowdown(_waiting(assumed), socket_ratio("swift"))
    return {f"swift-packed-{build}": printed(f"placement.swift-spread-{build}") * longer for build in _BUILDS} | {
        "vasp-effect-large": round(_packed_over_spread(12, assumed["die_gb_s"], assumed["core_gb_s"]), 6)
    }


def _drawn(rng: random.Random) -> dict[str, float]:
    """Return a value from each range."""
    return {name: each.low + rng.random() * (each.high - each.low) for name, each in ranges("placement").items()}


def _shapes() -> dict[str, Value]:
    """Return in how many draws of the rates packed tasks lose a tenth or more, VASP loses that, and full nodes nothing."""
    rng = random.Random(1)
    draws = [_drawn(rng) for _ in range(_DRAWS)]

    def ratios(tasks: int) -> list[float]:
        return [_packed_over_spread(tasks, each["die_gb_s"], each["core_gb_s"]) for each in draws]

    losing = {tasks: [ratio > _MUCH for ratio in ratios(tasks)] for tasks in (4, 8, 12, 16)}
    full = [ratio == 1.0 for ratio in ratios(24)]
    partly = [any(cases) and even for *cases, even in zip(losing[8], losing[16], full, strict=True)]
    vasp = [slowdown(_waiting(each), ratio) for each, ratio in zip(draws, ratios(12), strict=True)]
    return {
        "partly-filled-needs-care": Shares(sum(partly), _DRAWS),
        "spread-is-better": Shares(sum(losing[4]), _DRAWS),
        "vasp-default-contention": Shares(sum(losing[12]), _DRAWS),
        "vasp-effect-large": Shares(sum(ratio > _MUCH for ratio in vasp), _DRAWS),
        "vasp_least": min(vasp),
        "vasp_most": max(vasp),
    }


def _values() -> dict[str, Value]:
    better, hybrid = _place(BETTER_LINE), _place(_HYBRID_LINE)
    rivals = {f"swift-packed-{build}": printed(f"placement.swift-spread-{build}") for build in _BUILDS}
    times = predictions(
        lambda assumed, rng: {name: value for name, value in model(assumed, rng).items() if name in rivals},
        ranges("placement"),
        rivals,
    )
    return _shapes() | {
        **times,
        "vasp-nodes": len(better.nodes),
        "hybrid-tasks-per-numa-node": max(len(tasks) for tasks in hybrid.tasks_by_numa_node(0)),
        "hybrid-threads": len(hybrid.nodes[0].tasks[0].thread_cores),
    }


STUDY = Study("placement", _values, model=model)
