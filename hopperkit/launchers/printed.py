"""A program's report of its binding, compared with the answer."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from hopperkit.launchers.option_values import hex_mask, number_list
from hopperkit.launchers.placing import Placement
from hopperkit.launchers.ranges import as_ranges
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import NodeKind

_CPUS = r"(?P<cpus>\d+(?:[-:]\d+)?(?:,\d+(?:[-:]\d+)?)*)"
# hello_jobstep and hello_mpi_omp; xthi and check-mpi; ALCF's hello_affinity; lumi-CPEtools; taskset -cp; affinity; srun -v; Open MPI's --report-bindings.
_FORMS = tuple(
    re.compile(form)
    for form in (
        rf"MPI (?P<task>\d+) - OMP \d+ - HWT {_CPUS}\b(?:.*?GPU_ID (?P<gpus>[\d,.]+) - Bus_ID (?P<buses>\S+))?",
        rf"rank\s+(?P<task>\d+),.*affinity\s*=\s*{_CPUS}",
        rf"rnk=\s*(?P<task>\d+)\s+list_cores=\s*\({_CPUS}\)",
        rf"MPI rank\s+(?P<task>\d+)/.*mask \(?{_CPUS}",
        rf"task (?P<task>\d+)\b.*affinity list: {_CPUS}",
        r"rank\s+(?P<task>\d+) @ .*cores \[\s*(?P<ranges>[\d:,\s]+)\]",
        r"cpu-bind=\w+ - \S+, task\s+(?P<task>\d+)\s+\d+ \[\d+\]: mask (?P<mask>0x[0-9a-fA-F]+)",
        r"MCW rank (?P<task>\d+) bound to .*: \[(?P<map>[B./]+(?:\]\[[B./]+)*)\]",
    )
)


class Printed(NamedTuple):
    """CPUs and GPUs that a program printed for one task; `exact` where they are all that it may use."""

    cpus: frozenset[int]
    gpus: frozenset[str]
    exact: bool


def read_printed(text: str, kind: NodeKind) -> dict[int, Printed]:
    """Parse the binding that a program printed for each task.

    Parameters
    ----------
    text : str
        The text.
    kind : NodeKind
        Kind of node.

    Raises
    ------
    InputError
        If no line is of a form that is known.

    Examples
    --------
    >>> from hopperlib.machine import Machine
    >>> kind = Machine.load("cluster").node()
    >>> read_printed("Hello from rank 0, thread 0, on n1. (core affinity = 0-3)", kind)[0].cpus == {0, 1, 2, 3}
    True
    """
    tasks: dict[int, Printed] = {}
    buses: dict[int, dict[str, str]] = {}
    # affinity prints the cores of a rank with GPUs on a separate line.
    for line in re.sub(r"(rank\s+\d+ @ \S+)\s*\n\s*cores\s*:", r"\1 cores", text).splitlines():
        match = next((form_match for form in _FORMS if (form_match := form.search(line))), None)
        if match is None:
            continue
        parts, task = match.groupdict(default=""), int(match["task"])
        cpus = _printed_cpus(parts, kind)
        before = tasks.get(task, Printed(frozenset(), frozenset(), True))
        # A thread that prints one CPU shows where it ran, not where it may run.
        exact = before.exact and not (line.lstrip().startswith("MPI ") and "HWT" in line and len(cpus) == 1)
        gpus = list(filter(None, parts.get("gpus", "").split(",")))
        printed_buses = re.sub(r"\([^)]*\)", "", parts.get("buses", "")).split(",")
        buses.setdefault(task, {}).update(zip(gpus, printed_buses, strict=False))
        tasks[task] = Printed(before.cpus | frozenset(cpus), before.gpus | frozenset(gpus), exact)
    for task, gpu_ids in _by_bus(buses, kind).items():
        tasks[task] = tasks[task]._replace(gpus=gpu_ids)
    if not tasks:
        forms = "hello_jobstep, xthi, taskset -cp, srun --cpu-bind=verbose, mpirun --report-bindings"
        raise InputError(f"the output to check holds no line as of {forms}", name="check")
    return tasks


def _printed_cpus(parts: Mapping[str, str], kind: NodeKind) -> tuple[int, ...]:
    """Return the CPUs of a printed line: from a mask, a map of B and dots, or a list."""
    if parts.get("mask"):
        return hex_mask("mask", parts["mask"])
    if parts.get("map"):
        cores = enumerate(parts["map"].replace("][", "/").split("/"))
        return tuple(
            kind.cpu(core, thread) for core, marks in cores for thread, mark in enumerate(marks) if mark == "B"
        )
    typed = re.sub(r"\s", "", parts.get("ranges") or parts["cpus"]).replace(":", "-")
    return number_list("--check", typed, what="CPUs")


def _by_bus(buses: dict[int, dict[str, str]], kind: NodeKind) -> dict[int, frozenset[str]]:
    """Return the GPUs of tasks that number theirs from 0 (one number, several buses), by bus order."""
    pairs = {pair for gpus in buses.values() for pair in gpus.items() if pair[1]}
    # A number with only one bus is the node's number of the GPU.
    if len(pairs) == len({number for number, _ in pairs}):
        return {}
    known = sorted({bus for _, bus in pairs})
    # All GPUs of a node are needed to identify each.
    number_of = {bus: str(number) for number, bus in enumerate(known)} if len(known) == kind.gpus else {}
    return {
        task: frozenset(number_of[bus] for bus in gpus.values() if bus in number_of) for task, gpus in buses.items()
    }


def _differences(placement: Placement, printed: dict[int, Printed]) -> list[tuple[int, str, str]]:
    """Return task, printed and answered where they differ."""
    numbering = placement.node_kind.gpu_numbering or tuple(map(str, range(placement.node_kind.gpus)))
    answered = {task.task: task for node in placement.nodes for task in node.tasks}
    differences = []
    for number, real in sorted(printed.items()):
        task = answered.get(number)
        cpus = frozenset(task.cpus) if task else frozenset()
        if not (real.cpus == cpus if real.exact else real.cpus <= cpus):
            shown = as_ranges(sorted(cpus)) or "none"
            differences.append((number, f"CPUs {as_ranges(sorted(real.cpus))}", f"CPUs {shown}"))
        elif real.gpus and task and task.gpus is not None:
            gpus = [numbering[gpu] for gpu in task.gpus]
            if real.gpus != set(gpus):
                differences.append((number, f"GPUs {','.join(sorted(real.gpus))}", f"GPUs {','.join(gpus)}"))
    return differences


def check_printed(placement: Placement, printed_text: str) -> Finding:
    r"""Return whether the printed binding matches the answer.

    Parameters
    ----------
    placement : Placement
        The placement.
    printed_text : str
        Output of the program.

    Raises
    ------
    InputError
        If the format of the output is unknown.

    Examples
    --------
    >>> from hopperkit.launchers.reader import read_launch
    >>> from hopperlib.machine import Machine
    >>> from hopperkit.launchers.placing import place_tasks
    >>> eiger = Machine.load("eiger")
    >>> placement = place_tasks(read_launch("srun -n 2 -c 2 --hint=nomultithread ./a", eiger), eiger)
    >>> real = "\n".join(f"rank {task}, thread 0, (affinity = {cpus})" for task, cpus in enumerate(("0-1", "16-17")))
    >>> print(check_printed(placement, real).message)
    1 of 2 tasks ran elsewhere: task 1 printed CPUs 16,17, and the answer is CPUs 64,65.
    """
    printed = read_printed(printed_text, placement.node_kind)
    differing = _differences(placement, printed)
    if not differing:
        return Finding(code="check", message=f"The output of {len(printed)} tasks is as answered.", level="ok")
    task, real, answered = differing[0]
    message = f"{len(differing)} of {len(printed)} tasks ran elsewhere: task {task} printed {real}, and the answer is {answered}."
    advice = "Is it the output of this line, in a job with these options? If so, the machine file is wrong about srun."
    return Finding(code="check", message=message, advice=advice, level="problem")
