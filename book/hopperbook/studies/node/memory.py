"""Memory for each task: gain and cost of half packing, and the alternatives.

Calibrated: the usable memory of a Franklin node, on the printed 3.77 GB of the half-packed node. Predicted from the
system's use there: the rest of a Hopper node's memory. The rest is division.
"""

import random
from collections.abc import Mapping

from hopperbook.documented import documented, printed
from hopperbook.studies.study import Study, Value, load_franklin, load_hopper, predictions, ranges
from hopperlib.placement.layouts import layouts
from hopperlib.placement.models.free_cores import break_even_service
from hopperlib.placement.models.memory import memory_per_task
from hopperlib.units import memory_tb

# From the study of the trillion particles, which has the run.
_VPIC_NODES = 5_000


def franklin_usable_gb() -> tuple[float, float]:
    """Usable memory of a Franklin node that gives both printed values, lowest and highest. [GB]

    Two tasks with 3.77 GB each, rounded, leave 7.53 to 7.55 GB; four with
    1.88 GB leave 7.50 to 7.54 GB.

    Examples
    --------
    >>> franklin_usable_gb()
    (7.53, 7.54)
    """
    half = documented("memory.franklin-per-task-half-packed").bounds()
    packed = documented("memory.franklin-per-task-packed").bounds()
    return max(2 * half[0], 4 * packed[0]), min(2 * half[1], 4 * packed[1])


def model(assumed: Mapping[str, float], rng: random.Random) -> dict[str, float]:
    """Return the memory that the system leaves on a Hopper node, if it uses as much as on Franklin, partly in
    proportion to the memory. [GB]

    Examples
    --------
    8 GB less twice 3.77 are 0.46 GB per node; a share of 0.25 grows with the memory:

    >>> round(model({"franklin_half_gb": 3.77, "grows": 0.25}, random.Random(1))["hopper-usable"], 3)
    31.195
    """
    kept_gb = load_franklin().node().memory_gb - 2 * assumed["franklin_half_gb"]
    grown = load_hopper().node().memory_gb / load_franklin().node().memory_gb
    return {
        "hopper-usable": load_hopper().node().memory_gb - kept_gb * (1 - assumed["grows"] + assumed["grows"] * grown)
    }


def _values() -> dict[str, Value]:
    packed = layouts(load_hopper(), need_gb=1, tasks=384, threads=1, kinds=(load_hopper().node(),))
    half = next(layout for layout in packed if layout.tasks_per_node == 12)
    low, high = (2 * bound for bound in documented("memory.franklin-per-task-half-packed").bounds())
    free = int(printed("memory.psoci-free-cores"))
    vpic_node_gb = memory_tb(printed("memory.vpic-total") * 1e6) / _VPIC_NODES
    return {
        **predictions(model, ranges("memory"), {"hopper-usable": load_hopper().node().memory_gb}),
        "franklin-per-task-packed": (low / load_franklin().node().cores, high / load_franklin().node().cores),
        "franklin_usable_gb": load_franklin().node().usable_memory_gb,
        "franklin_packed_gb": memory_per_task(load_franklin().node(), load_franklin().node().cores),
        "half_packed_cost": half.cost_factor,
        "break_even": break_even_service(load_hopper().node().cores, free),
        "vpic-memory-share": 100 * vpic_node_gb / load_hopper().node().memory_gb,
        "vpic-per-node": vpic_node_gb,
        "vpic_binary_gb": printed("memory.vpic-total") * 1_024 / _VPIC_NODES,
    }


STUDY = Study("memory", _values, model=model)
