"""Bad nodes: eight of 6,384, more than fifty users, and the value of a preflight check.

Documented: how many nodes were bad, what that cost, how many users it hit, and
the thresholds of free memory. Predicted is the number of users, from the cost
and the sizes of jobs in production.
"""

import math
import random
from collections.abc import Mapping

from hopperbook.documented import printed
from hopperbook.studies.study import Study, Value, predictions, ranges
from hopperlib.failure.nodes.risk import chance_of_bad_node
from hopperlib.machine import Machine
from hopperlib.scheduling.generator import MIXES

BAD_NODES = int(printed("bad-nodes.hung-bad-nodes"))
HUNG_CORE_HOURS = printed("bad-nodes.hung-core-hours") * 1e6
HEALTH_CHECK_GB = printed("bad-nodes.nhc-threshold")
SORTED_BY_HAND_GB = printed("bad-nodes.manual-threshold")
HERO_CORES = int(printed("bad-nodes.scale-title") * 1000)


def model(assumed: Mapping[str, float], rng: random.Random, *, by_size: bool = True) -> dict[str, float]:
    """Return the number of users with hung jobs, if those used the refunded hours.

    A class of sizes has its share of the hours, and of those the share of jobs that got a bad node; its number of jobs
    is its refunded hours over the hours of a job.

    Parameters
    ----------
    assumed : mapping of float
    rng : random.Random
        Not used.
    by_size : bool
        Whether a job on more nodes is more likely to get a bad one; the rival treats all jobs the same.

    Examples
    --------
    >>> usual = {"run_hours": 12, "jobs_a_user": 4}
    >>> round(model(usual, random.Random(1))["hung-users"]), round(model(usual, random.Random(1), by_size=False)["hung-users"])
    (33, 831)
    """
    hopper = Machine.load("hopper")
    classes = [(math.sqrt(each.low * each.high), each.share) for each in MIXES["production"]]
    hit = [
        share * (chance_of_bad_node(hopper.nodes, BAD_NODES, round(nodes)) if by_size else 1.0)
        for nodes, share in classes
    ]
    hours = HUNG_CORE_HOURS / hopper.node().cores / sum(hit)
    jobs = sum(hours * share / nodes / assumed["run_hours"] for share, (nodes, _) in zip(hit, classes, strict=True))
    return {"hung-users": jobs / assumed["jobs_a_user"]}


def _values() -> dict[str, Value]:
    usual = {name: each.value for name, each in ranges("bad-nodes").items()}
    rivals = model(usual, random.Random(1), by_size=False)
    return predictions(model, ranges("bad-nodes"), rivals)


STUDY = Study("bad-nodes", _values, model=model)
