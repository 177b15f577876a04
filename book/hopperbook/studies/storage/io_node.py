"""One node's writes: Franklin and Hopper with the same tasks, and a tension in the document.

Inputs are the bandwidth of a node of each machine, and the law by which tasks share it. The rate of one task is not
printed: four of them are assumed to demand the rate of a full Franklin node. Predicted is where the two curves
separate, as far as visible in the figure.
"""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hopperbook.documented import printed
from hopperbook.studies.study import Study, Value, load_franklin, load_hopper, predictions, ranges
from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import file_system_of, injection_fraction, nodes_in_use, write_curve

_TASKS = int(printed("io-node.tasks-maximum"))
# Meaning of "closely aligned": a difference of this much. Nobody printed a number.
_CLOSE = (0.05, 0.2)


class Reading(NamedTuple):
    """Results of one choice of the task's rate.

    Parameters
    ----------
    basis : str
        Which printed value fixes the rate.
    task_rate_gb_s : float
        Rate of one task. [GB/s]
    close_up_to : (float, float)
        Tasks from which on Franklin stays above Hopper by 5 %, and by 20 %.
    franklin_over_hopper : float
        Franklin's rate over Hopper's at eight tasks. [ratio]
    franklin_injection_fraction : float
        Share of its injection bandwidth that a full Franklin node achieves. [fraction]
    """

    basis: str
    task_rate_gb_s: float
    close_up_to: tuple[float, float]
    franklin_over_hopper: float
    franklin_injection_fraction: float


def _injection_gb_s() -> float:
    """Return the injection bandwidth of a Franklin node. [GB/s]"""
    network = load_franklin().network
    assert network is not None
    return network.node_bandwidth_gb_s


def _curves(task_rate_gb_s: float) -> tuple[list[float], list[float]]:
    """Return the rates of 1, 2, ... tasks on Hopper and on Franklin. [GB/s]"""
    ours, theirs = (
        write_curve(each, _TASKS, task_rate_gb_s=task_rate_gb_s) for each in (load_hopper(), load_franklin())
    )
    return ours, theirs


def _parted(ours: Sequence[float], theirs: Sequence[float], apart: float) -> float:
    """Return the tasks from which on the second curve stays above the first by a share of it, between two counts. [tasks]"""
    above = [their / our - 1 - apart for our, their in zip(ours, theirs, strict=True)]
    last = max((tasks for tasks, excess in enumerate(above, start=1) if excess <= 0), default=0)
    if not 0 < last < len(above):
        return float(last)
    return last + above[last - 1] / (above[last - 1] - above[last])


def readings() -> tuple[Reading, Reading]:
    """Return the results of each of the two printed values, if it determines the rate of a task.

    Examples
    --------
    >>> for reading in readings():
    ...     close = [round(tasks, 1) for tasks in reading.close_up_to]
    ...     print(f"{reading.task_rate_gb_s:.3f} {close} {reading.franklin_over_hopper:.2f}")
    0.268 [5.9, 8.4] 1.14
    0.212 [6.4, 9.0] 1.11
    """
    quad = load_franklin().node().cores

    def reading(basis: str, full: Machine, tasks: int) -> Reading:
        rate = file_system_of(full).node_write_ceiling_gb_s / tasks
        ours, theirs = _curves(rate)
        strict, generous = (_parted(ours, theirs, apart) for apart in _CLOSE)
        injected = theirs[quad - 1] / _injection_gb_s()
        return Reading(basis, rate, (strict, generous), theirs[7] / ours[7], injected)

    return (
        reading("a full Franklin node reaches two-thirds of its injection bandwidth", load_franklin(), quad),
        reading("eight tasks just fill a Hopper node's ceiling", load_hopper(), 8),
    )


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the number of tasks from which the curves differ by more than this share of Hopper's.

    Hopper's curve bends toward its ceiling, Franklin's starts again with each node: they part
    where Franklin has come that far above.

    Examples
    --------
    >>> usual = {name: each.value for name, each in ranges("io-node").items()}
    >>> round(model(usual, random.Random(1))["close-up-to-tasks"], 1)
    6.8
    """
    task = assumed["franklin_injection"] * _injection_gb_s() / load_franklin().node().cores
    # Apart is a share of Hopper's rate.
    return {"close-up-to-tasks": _parted(*_curves(task), assumed["apart"])}


def _values() -> dict[str, Value]:
    return {
        "hopper-nodes": nodes_in_use(load_hopper(), _TASKS),
        "franklin-nodes": nodes_in_use(load_franklin(), _TASKS),
        **predictions(model, ranges("io-node"), {"close-up-to-tasks": float(load_franklin().node().cores)}),
        "franklin-share-of-injection": injection_fraction(load_franklin()),
        "hopper-share-of-injection": 100 * injection_fraction(load_hopper()),
    }


STUDY = Study("io-node", _values, model=model)
