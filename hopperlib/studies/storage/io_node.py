"""One node's writes: Franklin and Hopper with the same tasks, and a tension in the document.

Inputs are what a node of each machine passes on. The rate of one task is
printed nowhere. Two printed values would each fix it, and they do not agree:
that is shown, not settled.
"""

from __future__ import annotations

from typing import NamedTuple

from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import file_system_of, injection_fraction, nodes_in_use, parting_point, write_curve
from hopperlib.studies.study import Check, Study

__all__ = ["CLOSE", "STUDY", "TASKS", "Reading", "readings"]

TASKS = 24
# What "closely aligned" may mean: a difference of so much. Nobody printed a number.
CLOSE = (0.05, 0.2)


class Reading(NamedTuple):
    """What one choice of the task's rate gives.

    Parameters
    ----------
    basis : str
        Which printed value fixes the rate.
    task_rate_gb_s : float
        Rate of one task. [GB/s]
    close_up_to : (int, int)
        Tasks up to which the curves are close, for a strict and a generous meaning of the word.
    franklin_over_hopper : float
        Franklin's rate over Hopper's at eight tasks. [ratio]
    franklin_injection_fraction : float
        What a full Franklin node reaches of its injection bandwidth. [fraction]
    """

    basis: str
    task_rate_gb_s: float
    close_up_to: tuple[int, int]
    franklin_over_hopper: float
    franklin_injection_fraction: float


def _curves(task_rate_gb_s: float) -> tuple[list[float], list[float]]:
    """Return the curves of Hopper and Franklin for one rate of a task."""
    hopper, franklin = (
        write_curve(Machine.load(name), TASKS, task_rate_gb_s=task_rate_gb_s) for name in ("hopper", "franklin")
    )
    return hopper, franklin


def readings() -> tuple[Reading, Reading]:
    """Return what each of the two printed values gives, if it fixes the rate of a task.

    Examples
    --------
    >>> for reading in readings():
    ...     print(f"{reading.task_rate_gb_s:.3f} {reading.close_up_to} {reading.franklin_injection_fraction:.2f}")
    0.268 (6, 7) 0.67
    0.212 (8, 10) 0.53
    """
    hopper, franklin = Machine.load("hopper"), Machine.load("franklin")
    assert franklin.network is not None
    quad = franklin.node().cores
    found = []
    for basis, rate in (
        (
            "a full Franklin node reaches two-thirds of its injection bandwidth",
            file_system_of(franklin).node_write_ceiling_gb_s / quad,
        ),
        ("eight tasks just fill a Hopper node's ceiling", file_system_of(hopper).node_write_ceiling_gb_s / 8),
    ):
        one, other = _curves(rate)
        strict, generous = ((parting_point(one, other, apart=apart) or TASKS + 1) - 1 for apart in CLOSE)
        node = other[quad - 1] / franklin.network.node_bandwidth_gb_s
        found.append(Reading(basis, rate, (strict, generous), other[7] / one[7], node))
    return found[0], found[1]


def _checks() -> tuple[Check, ...]:
    hopper, franklin = Machine.load("hopper"), Machine.load("franklin")
    by_node, by_eight = readings()
    curves = [_curves(reading.task_rate_gb_s) for reading in (by_node, by_eight)]
    hopper_mb_s = 1000 * file_system_of(hopper).node_write_ceiling_gb_s
    assert hopper.network is not None
    assert franklin.network is not None
    misprint = "the ceiling of the machine file, in the unit of the corrected row"
    tension = (
        f"with the printed {by_node.franklin_injection_fraction:.0%} of a Franklin node the curves part after 6 or 7 tasks, "
        f"and Franklin is {by_node.franklin_over_hopper - 1:.0%} above Hopper at 8; a task's rate that keeps them "
        f"together up to 8 leaves a Franklin node at {by_eight.franklin_injection_fraction:.0%}. The two printed values "
        "do not sit together"
    )
    run = "the size of the run"
    return (
        Check(
            id="io-node.rate-not-linear-in-cores",
            role="shape",
            reproduced=all(one[-1] < hopper.node().cores / franklin.node().cores * other[3] for one, other in curves),
            reason="six times the cores of a Franklin node, less than six times its rate",
        ),
        Check(id="io-node.cores-from", role="input", reproduced=float(franklin.node().cores)),
        Check(id="io-node.cores-to", role="input", reproduced=float(hopper.node().cores)),
        Check(id="io-node.tasks-maximum", role="input", reproduced=float(TASKS), reason=run),
        Check(id="io-node.size-per-task", role="input", reason=f"{run}; rates do not depend on it"),
        Check(
            id="io-node.hopper-nodes",
            role="predicted",
            reproduced=float(nodes_in_use(hopper, TASKS)),
            reason="24 tasks over the cores of a node",
        ),
        Check(
            id="io-node.franklin-nodes",
            role="predicted",
            reproduced=float(nodes_in_use(franklin, TASKS)),
            reason="24 tasks over the cores of a node",
        ),
        Check(
            id="io-node.close-up-to-tasks",
            role="predicted",
            reproduced=(float(by_node.close_up_to[0]), float(by_node.close_up_to[1])),
            reason="from the ceilings of both machines and four tasks on a Franklin node; close is taken as 5 to 20 %",
            explanation=tension,
        ),
        Check(
            id="io-node.close-at-few-tasks",
            role="shape",
            reproduced=all(one[:4] == other[:4] and other[-1] > 1.2 * one[-1] for one, other in curves),
            reason="equal up to the cores of a Franklin node, apart at 24 tasks, for both rates of a task",
        ),
        Check(
            id="io-node.franklin-still-rising",
            role="shape",
            reproduced=all(other[-1] > other[-3] and other[-1] > one[-1] for one, other in curves),
            reason="each four tasks come with a node of their own",
        ),
        Check(
            id="io-node.hopper-levels-out",
            role="shape",
            reproduced=all(one[-1] == one[-8] > one[3] for one, _ in curves),
            reason="all tasks sit behind one client",
        ),
        Check(
            id="io-node.hopper-ceiling",
            role="input",
            reproduced=hopper_mb_s,
            tolerance=50.0,
            tolerance_reason="printed with ~, to two figures",
        ),
        Check(
            id="io-node.hopper-ceiling-again",
            role="input",
            reproduced=hopper_mb_s,
            tolerance=50.0,
            tolerance_reason="as the value before, which it repeats",
            reason=misprint,
        ),
        Check(
            id="io-node.franklin-share-of-injection",
            role="input",
            reproduced=injection_fraction(franklin),
            tolerance=0.005,
            tolerance_reason="a fraction in words; the machine file rounds the rate to 1.07 GB/s",
        ),
        Check(id="io-node.franklin-injection", role="input", reproduced=float(franklin.network.node_bandwidth_gb_s)),
        Check(
            id="io-node.hopper-share-of-injection",
            role="identity",
            reproduced=100 * injection_fraction(hopper),
            reason="1,700 MB/s over 6 GB/s",
        ),
        Check(id="io-node.hopper-injection", role="input", reproduced=float(hopper.network.node_bandwidth_gb_s)),
        Check(
            id="io-node.direct-io-no-gain",
            role="shape",
            reproduced=write_curve(hopper, TASKS, task_rate_gb_s=2 * by_node.task_rate_gb_s)[-1] == curves[0][0][-1],
            reason="with the limit at the client, a task that could write twice as fast gains nothing",
        ),
        Check(
            id="io-node.client-throttles",
            role="not modelled",
            reason="the authors' belief; the model takes the ceiling as given and does not say what sets it",
        ),
    )


STUDY = Study(
    name="io-node",
    title="What one node can write",
    part="storage",
    question="How fast can the tasks of one node write, and why do twenty-four cores not write faster than eight?",
    checks=_checks,
    assumptions=(
        "A task writes at most at one rate of its own, whatever the others do; no source prints that rate.",
        "A node passes on everything up to its ceiling and nothing beyond; a real curve bends before it is flat.",
        "Tasks fill one node before the next begins, as the launcher deals them out.",
        "The file system itself is never the limit here: two or six nodes do not reach its peak.",
        "Closely aligned means a difference of 5 to 20 %; the source gives no number.",
    ),
)
