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

from hopperlib.finding import LEVELS, Finding
from hopperlib.node.placement import Placement
from hopperlib.node.review._advice_rules import CODE_LEVELS, RULES, View, finding
from hopperlib.node.review.slowdown import Cost
from hopperlib.node.review.text_drawing import counted

__all__ = ["advise"]


def _reservation(placement: Placement) -> Iterator[Finding]:
    """What a batch script reserves against what the line uses."""
    reserved = placement.launch.reservation
    if reserved is None:
        return
    used, cores = len(placement.nodes), placement.node_kind.cores
    if reserved.nodes > used:
        text = (
            f"The script reserves {counted(reserved.nodes, 'node')} and this line uses {used:,}: "
            f"{counted(reserved.nodes - used, 'node')} paid and idle, unless another line runs there at the same time."
        )
        yield finding("reservation-larger", text)
    names = [name for name, _ in reserved.options]
    plain = "mppwidth" in names and "mppnppn" not in names and "mppdepth" not in names
    if plain and reserved.tasks is not None and reserved.tasks % cores:
        text = (
            f"mppwidth={reserved.tasks} is no multiple of {cores}, the cores of a node: whole nodes are reserved "
            f"and paid, so mppwidth={-(-reserved.tasks // cores) * cores} costs the same."
        )
        yield finding("width-not-whole-nodes", text)


def advise(placement: Placement, cost: Cost) -> tuple[Finding, ...]:
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
    >>> [(finding.code, finding.level) for finding in advise(naive, placement_cost(naive))]
    [('idle-numa-nodes', 'problem'), ('cores-idle', 'note')]
    >>> better = place_tasks(read_launch("aprun -n 384 -N 12 -S 3 vasp", hopper), hopper)
    >>> [finding.code for finding in advise(better, placement_cost(better))]
    ['cores-idle']
    """
    findings: list[Finding] = []
    components = placement.launch.components
    for number, component in enumerate(components):
        view = View(
            placement, component, placement.nodes_of(number), cost.components[number], cost.memory_per_task_gb[number]
        )
        program = component.command[0] if component.command else "no name"
        before = f"Program {number + 1} ({program}): " if len(components) > 1 else ""
        ruled = [each for rule in RULES for each in rule(view)]
        findings += [finding(each.code, before + each.message, each.level) for each in ruled]
    findings += _reservation(placement)
    findings += [finding("line", note) for note in placement.launch.notes]
    findings += [finding("assumed", f"Assumed: {text}") for text in placement.assumptions]
    order = list(CODE_LEVELS)
    return tuple(sorted(findings, key=lambda each: (LEVELS.index(each.level), order.index(each.code))))
