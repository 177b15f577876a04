"""Bad nodes: eight of 6,384, more than fifty users, and what a look before the run is worth.

Documented: how many nodes were bad, what that cost, and the thresholds of free
memory. Which jobs ran is not printed, so the chance of meeting a bad node is
the model's own answer, and stands beside no printed number.
"""

from __future__ import annotations

from hopperlib.documented import documented
from hopperlib.failure.nodes.preflight import NodeMemory, report
from hopperlib.machine import Machine
from hopperlib.studies.study import Check, Study

__all__ = ["BAD_NODES", "HEALTH_CHECK_GB", "HERO_CORES", "HUNG_CORE_HOURS", "SORTED_BY_HAND_GB", "STUDY"]


def _printed(id: str) -> float:
    """Return a documented number."""
    number = documented(f"bad-nodes.{id}").adopted_number
    assert number is not None
    return float(number)


BAD_NODES = int(_printed("hung-bad-nodes"))
HUNG_CORE_HOURS = _printed("hung-core-hours") * 1e6
HEALTH_CHECK_GB = _printed("nhc-threshold")
SORTED_BY_HAND_GB = _printed("manual-threshold")
HERO_CORES = int(_printed("scale-title") * 1000)


def _node(name: str, free_gb: int) -> NodeMemory:
    """Return a node with so much memory free, in blocks of 4 MB."""
    return NodeMemory(name=name, blocks=(0,) * 10 + (free_gb * 256,))


def _kept_memory_is_found() -> bool:
    """Whether a node on which earlier jobs kept memory is found by the threshold."""
    nodes = [_node("clean", 30), _node("kept", 27), _node("clean too", 30)]
    return [node.name for node in report(nodes, need_gb=HEALTH_CHECK_GB).short] == ["kept"]


def _checks() -> tuple[Check, ...]:
    story = "an event: the model knows nodes that are good or bad, and not why"
    lesson = "a lesson in words; nothing follows from it that could be computed"
    return (
        Check(id="bad-nodes.hung-upgrade", role="not modelled", reason=story),
        Check(id="bad-nodes.hung-upgrade-version", role="not modelled", reason=story),
        Check(
            id="bad-nodes.hung-users",
            role="not modelled",
            reason="how many jobs of which size ran is not printed; the model gives the chance for each size",
        ),
        Check(
            id="bad-nodes.hung-core-hours",
            role="input",
            reproduced=HUNG_CORE_HOURS / 1e6,
            reason="turned into days of the machine",
        ),
        Check(id="bad-nodes.hung-meetings", role="not modelled", reason=story),
        Check(id="bad-nodes.hung-bad-nodes", role="input", reproduced=float(BAD_NODES)),
        Check(id="bad-nodes.hung-reboot-helped", role="not modelled", reason=story),
        Check(id="bad-nodes.hung-cause", role="not modelled", reason=story),
        Check(id="bad-nodes.hung-patches", role="not modelled", reason=story),
        Check(id="bad-nodes.hung-no-more", role="not modelled", reason=story),
        Check(
            id="bad-nodes.unreleased-memory",
            role="shape",
            reproduced=_kept_memory_is_found(),
            reason="a node with 27 GB free among nodes with 30 is found short of the health check's 29",
        ),
        Check(id="bad-nodes.scalable-tools", role="not modelled", reason=lesson),
        Check(id="bad-nodes.vpic-cores-per-node", role="input", reproduced=float(Machine.load("hopper").node().cores)),
        Check(
            id="bad-nodes.oom-nodes",
            role="input",
            reason="the model's premise: one bad node is enough to lose the run",
        ),
        Check(id="bad-nodes.nhc-threshold", role="input", reproduced=HEALTH_CHECK_GB),
        Check(id="bad-nodes.manual-threshold", role="input", reproduced=SORTED_BY_HAND_GB),
        Check(id="bad-nodes.buddyinfo-best", role="input", reason="the file that the check before the run reads"),
        Check(id="bad-nodes.check-before-and-after", role="not modelled", reason=lesson),
        Check(
            id="bad-nodes.verify-above",
            role="not modelled",
            reason="it would follow from how free memory varies over the nodes, which is not printed",
        ),
        Check(id="bad-nodes.scale-title", role="input", reproduced=HERO_CORES / 1e3, reason="the size of a hero run"),
        Check(
            id="bad-nodes.log-only",
            role="not modelled",
            reason="a choice of the staff; `hopper preflight` only logs, and leaves the choice to its reader",
        ),
        Check(id="bad-nodes.threshold-adjusted", role="input", reason="the threshold is the reader's to set"),
    )


STUDY = Study(
    name="bad-nodes",
    title="Bad nodes",
    part="failure",
    question="How likely does a job meet a bad node, and what is a check before the run worth?",
    checks=_checks,
    assumptions=(
        "A job gets its nodes at random: where the scheduler prefers some nodes, bad ones among them are met more often.",
        "One bad node loses the run; what share of it is lost is not printed, and is a control.",
        "How long a check takes and how many bad nodes it finds is not printed; both are controls.",
        "The gigabytes of the thresholds are taken as binary, as the memory of a node is.",
    ),
)
