"""What is wrong with a placement, or worth knowing about it, in plain words.

============================  =======  =========================================
code                          level    what
============================  =======  =========================================
memory-exceeds-node           problem  the tasks want more memory than a node has
memory-out-of-reach           problem  with strict containment it does not fit
depth-missing                 problem  OpenMP threads share the cores of one
cores-oversubscribed          problem  several threads run on one core
idle-numa-nodes               problem  tasks crowd while NUMA nodes stay idle
uneven-numa-nodes             advice   NUMA nodes hold more tasks than they must
threads-across-numa-nodes     advice   threads of a task lie on several NUMA nodes
memory-remote                 advice   memory ends up on other NUMA nodes
tasks-unbound                 advice   tasks may move away from their memory
hardware-threads-shared       advice   two threads share a core while others idle
last-node-nearly-empty        advice   a node is paid for a few tasks
reservation-larger            advice   nodes are reserved and not used
width-not-whole-nodes         note     mppwidth is no multiple of a node's cores
cores-idle                    note     cores are paid and idle
binding-list-decides          note     a list of CPUs overrules other options
strict-memory-off             note     a hybrid line without -ss
intel-openmp-helper           note     Intel's OpenMP starts one thread more
line                          note     said by the reader of the line
assumed                       note     assumed, as no source says
============================  =======  =========================================

Worst first; of one level in this order. Idle NUMA nodes that the line itself
asks for (``-sn``, ``-sl``) are advice.
"""

from __future__ import annotations

from collections.abc import Iterator

from hopperlib.node.placement import Placement
from hopperlib.node.review.advice_rules import LEVELS, RULES, Advice, Level, plural, view_of
from hopperlib.node.review.slowdown import Cost

__all__ = ["LEVELS", "Advice", "Level", "advise"]

# Order within a level; the docstring's table is the same.
_ORDER = (
    "memory-exceeds-node",
    "memory-out-of-reach",
    "depth-missing",
    "cores-oversubscribed",
    "idle-numa-nodes",
    "uneven-numa-nodes",
    "threads-across-numa-nodes",
    "memory-remote",
    "tasks-unbound",
    "hardware-threads-shared",
    "last-node-nearly-empty",
    "reservation-larger",
    "width-not-whole-nodes",
    "cores-idle",
    "binding-list-decides",
    "strict-memory-off",
    "intel-openmp-helper",
    "line",
    "assumed",
)


def _reservation(placement: Placement) -> Iterator[Advice]:
    """What a batch script reserves against what the line uses."""
    reserved = placement.launch.reservation
    if reserved is None:
        return
    used, cores = len(placement.nodes), placement.node_kind.cores
    if reserved.nodes > used:
        text = (
            f"The script reserves {plural(reserved.nodes, 'node')} and this line uses {used:,}: "
            f"{plural(reserved.nodes - used, 'node')} paid and idle, unless another line runs there at the same time."
        )
        yield Advice(code="reservation-larger", level="advice", message=text)
    names = [name for name, _ in reserved.options]
    plain = "mppwidth" in names and "mppnppn" not in names and "mppdepth" not in names
    if plain and reserved.tasks is not None and reserved.tasks % cores:
        text = (
            f"mppwidth={reserved.tasks} is no multiple of {cores}, the cores of a node: whole nodes are reserved "
            f"and paid, so mppwidth={-(-reserved.tasks // cores) * cores} costs the same."
        )
        yield Advice(code="width-not-whole-nodes", level="note", message=text)


def advise(placement: Placement, cost: Cost) -> tuple[Advice, ...]:
    """Return what to know about a placement, worst first.

    Parameters
    ----------
    placement : Placement
    cost : Cost
        What `hopperlib.node.review.slowdown.placement_cost` says of it; carries the memory of a task.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> from hopperlib.node.launch.reader import read_launch
    >>> from hopperlib.node.placement import place_tasks
    >>> from hopperlib.node.review.slowdown import placement_cost
    >>> hopper = Machine.load("hopper")
    >>> naive = place_tasks(read_launch("aprun -n 384 -N 12 vasp", hopper), hopper)
    >>> [(one.code, one.level) for one in advise(naive, placement_cost(naive))]
    [('idle-numa-nodes', 'problem'), ('cores-idle', 'note')]
    >>> better = place_tasks(read_launch("aprun -n 384 -N 12 -S 3 vasp", hopper), hopper)
    >>> [one.code for one in advise(better, placement_cost(better))]
    ['cores-idle']
    """
    found: list[Advice] = []
    several = len(placement.launch.components) > 1
    for number, component in enumerate(placement.launch.components):
        view = view_of(placement, cost, number)
        program = component.command[0] if component.command else "no name"
        before = f"Program {number + 1} ({program}): " if several else ""
        for rule in RULES:
            found += [Advice(code=one.code, level=one.level, message=before + one.message) for one in rule(view)]
    found += _reservation(placement)
    found += [Advice(code="line", level="note", message=note) for note in placement.launch.notes]
    found += [Advice(code="assumed", level="note", message=f"Assumed: {text}") for text in placement.assumptions]
    return tuple(sorted(found, key=lambda one: (LEVELS.index(one.level), _ORDER.index(one.code))))
