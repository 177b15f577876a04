"""One node's writes: Franklin and Hopper with the same tasks, and a tension in the document.

Inputs are what a node of each machine passes on. The rate of one task is
printed nowhere: it follows from what a full Franklin node reaches. Predicted is
where the two curves part, as far as an eye on the figure could tell.
"""

import random
from collections.abc import Mapping
from typing import NamedTuple

from hopperbook.documented import printed
from hopperbook.studies.study import Study, Value, load_franklin, load_hopper, predictions, ranges
from hopperlib.machine import Machine
from hopperlib.storage.lustre.client import file_system_of, injection_fraction, nodes_in_use, parting_point, write_curve

_TASKS = int(printed("io-node.tasks-maximum"))
# What "closely aligned" may mean: a difference of so much. Nobody printed a number.
_CLOSE = (0.05, 0.2)


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


def _injection_gb_s() -> float:
    """Return what a Franklin node can send. [GB/s]"""
    network = load_franklin().network
    assert network is not None
    return network.node_bandwidth_gb_s


def readings() -> tuple[Reading, Reading]:
    """Return what each of the two printed values gives, if it fixes the rate of a task.

    Examples
    --------
    >>> for reading in readings():
    ...     print(f"{reading.task_rate_gb_s:.3f} {reading.close_up_to} {reading.franklin_injection_fraction:.2f}")
    0.268 (6, 7) 0.67
    0.212 (8, 10) 0.53
    """
    quad = load_franklin().node().cores

    def reading(basis: str, full: Machine, tasks: int) -> Reading:
        rate = file_system_of(full).node_write_ceiling_gb_s / tasks
        ours, theirs = (write_curve(each, _TASKS, task_rate_gb_s=rate) for each in (load_hopper(), load_franklin()))
        strict, generous = ((parting_point(ours, theirs, apart=apart) or _TASKS + 1) - 1 for apart in _CLOSE)
        injected = theirs[quad - 1] / _injection_gb_s()
        return Reading(basis, rate, (strict, generous), theirs[7] / ours[7], injected)

    return (
        reading("a full Franklin node reaches two-thirds of its injection bandwidth", load_franklin(), quad),
        reading("eight tasks just fill a Hopper node's ceiling", load_hopper(), 8),
    )


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the tasks from which on the curves are farther apart than so much of Hopper's.

    Hopper's curve is level from its ceiling on, Franklin's rises: they part
    where a task's rate has brought Franklin that far above.

    Examples
    --------
    >>> usual = {name: each.value for name, each in ranges("io-node").items()}
    >>> round(model(usual, random.Random(1))["close-up-to-tasks"], 1)
    7.0
    """
    ceiling = file_system_of(load_hopper()).node_write_ceiling_gb_s
    task = assumed["franklin_injection"] * _injection_gb_s() / load_franklin().node().cores
    # Apart is a share of Hopper's rate, as the 25 % at eight tasks are.
    return {"close-up-to-tasks": ceiling * (1 + assumed["apart"]) / task}


def _values() -> dict[str, Value]:
    return {
        "hopper-nodes": nodes_in_use(load_hopper(), _TASKS),
        "franklin-nodes": nodes_in_use(load_franklin(), _TASKS),
        **predictions(model, ranges("io-node"), {"close-up-to-tasks": float(load_franklin().node().cores)}),
        "franklin-share-of-injection": injection_fraction(load_franklin()),
        "hopper-share-of-injection": 100 * injection_fraction(load_hopper()),
    }


STUDY = Study("io-node", _values, model=model)
