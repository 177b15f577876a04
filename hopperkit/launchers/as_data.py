"""A placement and its findings as data: the JSON of ``hopper place``.

The keys of the JSON are a contract with programs that read it::

    {"launcher", "machine",
     "components": [{"command": [...],
                     "nodes": [{"node": 0, "tasks": [{"task": 0, "cores": [0], "cpus": [0], "numa_nodes": [0],
                                                      "gpus": []}]}]}],
     "certainty": "certain", "assumed: ..." or "cannot tell: ...",
     "warnings": [{"code", "message"}],
     "suggestion": {"aprun", "srun"},
     "slowdown": {"basis": "spread", "memory_bound_fraction": [low, high], "ratio": [low, high], "core_cap_gb_s"}}

The CPUs of a task are hardware threads as the system numbers them; its GPUs
are those that it sees, by the numbers they have on the node, null where that
is not known. A line that is refused is ``{"error": {"flag", "value", "rule", "message"}}``.
"""

from typing import Any

from hopperkit.launchers.review import Review
from hopperlib.placement.binding import Binding


def placement_data(review: Review, *, memory_bound_fraction: tuple[float, float] = (0.0, 1.0)) -> dict[str, Any]:
    """Return a line's placement and findings, in the form of the module's contract.

    Parameters
    ----------
    review : Review
    memory_bound_fraction : (float, float)
        Range of the share of the spread run that waits for memory, 0 to 1.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.review import review_line
    >>> data = placement_data(review_line("aprun -n 2 -S 1 vasp", Machine.load("hopper")))
    >>> data["components"][0]["nodes"][0]["tasks"][1]
    {'task': 1, 'cores': [6], 'cpus': [6], 'numa_nodes': [1], 'gpus': []}
    >>> data["slowdown"]["ratio"]
    [1.0, 1.0]
    """
    placement, cost = review.placement, review.cost
    launch = placement.launch
    return {
        "launcher": launch.launcher,
        "machine": placement.machine.name,
        "components": [
            {
                "command": list(component.command),
                "nodes": [
                    {"node": node.node, "tasks": [_task(*seat) for seat in node.seats()]}
                    for node in placement.nodes_of(number)
                ],
            }
            for number, component in enumerate(launch.components)
        ],
        "certainty": placement.certainty,
        "warnings": [{"code": finding.code, "message": finding.message} for finding in review.advice],
        "suggestion": review.suggested_lines(),
        "slowdown": {
            "basis": "spread",
            "memory_bound_fraction": list(memory_bound_fraction),
            "ratio": list(cost.slowdown_range(*memory_bound_fraction)),
            "core_cap_gb_s": cost.core_cap_gb_s,
        },
    }


def _task(number: int, seat: Binding) -> dict[str, Any]:
    """Return a task of a node."""
    where = {name: getattr(seat, name) for name in ("cores", "cpus", "numa_nodes", "gpus")}
    return {"task": number} | {name: None if held is None else list(held) for name, held in where.items()}
