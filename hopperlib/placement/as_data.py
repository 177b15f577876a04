"""A placement and what is said about it as data: the JSON of ``hopper place``, and table rows.

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

from hopperlib.launchers.components import LaunchError
from hopperlib.launchers.ranges import as_ranges
from hopperlib.placement.binding import Binding
from hopperlib.placement.placement import Placement
from hopperlib.placement.review import Review
from hopperlib.placement.text_drawing import node_runs


def error_data(error: LaunchError) -> dict[str, Any]:
    """Return a refused line as data.

    Examples
    --------
    >>> error_data(LaunchError("-S", 7, "must be from 1 to 6"))
    {'error': {'flag': '-S', 'value': '7', 'rule': 'must be from 1 to 6', 'message': '-S 7 must be from 1 to 6'}}
    """
    parts = {"flag": error.flag, "value": error.value, "rule": error.rule, "message": error.message}
    return {"error": parts}


def placement_data(review: Review, *, memory_bound_fraction: tuple[float, float] = (0.0, 1.0)) -> dict[str, Any]:
    """Return all that is said about a line, in the form of the module's contract.

    Parameters
    ----------
    review : Review
    memory_bound_fraction : (float, float)
        Range of the share of the spread run that waits for memory, 0 to 1.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.placement.review import review_line
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


def numa_rows(placement: Placement) -> list[tuple[str, int, int, str, str]]:
    """Return one row for each NUMA node of each run of equal nodes.

    Returns
    -------
    list of tuple
        Nodes, NUMA node, how many tasks may run there, which, and the cores they may use.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.launchers.reader import read_launch
    >>> from hopperlib.placement.placement import place_tasks
    >>> hopper = Machine.load("hopper")
    >>> numa_rows(place_tasks(read_launch("aprun -n 24 -N 12 -S 3 vasp", hopper), hopper))[:2]
    [('0-1', 0, 3, '0-2, ...', '0-2'), ('0-1', 1, 3, '3-5, ...', '6-8')]
    """
    rows = []
    for node, count in node_runs(placement):
        nodes = str(node.node) if count == 1 else f"{node.node}-{node.node + count - 1}"
        for numa_node in range(placement.node_kind.numa_nodes):
            here = [(number, binding) for number, binding in node.seats() if numa_node in binding.numa_nodes]
            own_cores = placement.node_kind.cores_of(numa_node)
            cores = sorted({core for _, binding in here for core in binding.cores if core in own_cores})
            tasks = as_ranges(number for number, _ in here) + (", ..." if here and count > 1 else "")
            rows.append((nodes, numa_node, len(here), tasks, as_ranges(cores)))
    return rows
