"""Bad nodes: eight of 6,384, more than fifty users, and what a look before the run is worth.

Documented: how many nodes were bad, what that cost, and the thresholds of free
memory. Which jobs ran is not printed, so the chance of meeting a bad node is
the model's own answer, and stands beside no printed number.
"""

from __future__ import annotations

from hopperlib.documented import printed
from hopperlib.failure.nodes.preflight import NodeMemory, report
from hopperlib.machine import Machine
from hopperlib.studies.study import Study, Value

__all__ = ["BAD_NODES", "HEALTH_CHECK_GB", "HERO_CORES", "HUNG_CORE_HOURS", "SORTED_BY_HAND_GB", "STUDY"]


BAD_NODES = int(printed("bad-nodes.hung-bad-nodes"))
HUNG_CORE_HOURS = printed("bad-nodes.hung-core-hours") * 1e6
HEALTH_CHECK_GB = printed("bad-nodes.nhc-threshold")
SORTED_BY_HAND_GB = printed("bad-nodes.manual-threshold")
HERO_CORES = int(printed("bad-nodes.scale-title") * 1000)


def _node(name: str, free_gb: int) -> NodeMemory:
    """Return a node with so much memory free, in blocks of 4 MB."""
    return NodeMemory(name=name, blocks=(0,) * 10 + (free_gb * 256,))


def _kept_memory_is_found() -> bool:
    """Whether a node on which earlier jobs kept memory is found by the threshold."""
    nodes = [_node("clean", 30), _node("kept", 27), _node("clean too", 30)]
    return [node.name for node in report(nodes, need_gb=HEALTH_CHECK_GB).short] == ["kept"]


def _values() -> dict[str, Value]:
    return {
        "hung-core-hours": HUNG_CORE_HOURS / 1e6,
        "hung-bad-nodes": BAD_NODES,
        "unreleased-memory": _kept_memory_is_found(),
        "vpic-cores-per-node": Machine.load("hopper").node().cores,
        "nhc-threshold": HEALTH_CHECK_GB,
        "manual-threshold": SORTED_BY_HAND_GB,
        "scale-title": HERO_CORES / 1e3,
    }


STUDY = Study.read("bad-nodes", _values)
