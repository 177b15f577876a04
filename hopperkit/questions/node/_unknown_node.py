"""Answer for a script with an unknown machine: its request, the possible checks, and how to specify the node."""

from collections.abc import Sequence

from hopperkit.launchers.batch.requested import Requested, cpus_beyond_grant, requested_by_job, requested_by_line
from hopperkit.launchers.judging.pricing import priced
from hopperkit.launchers.scripts import Script
from hopperkit.questions.result import Result
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.text import count

_WHY = "unknown in the script: sized from its request"


def _largest_request(script: Script) -> tuple[int, int, int, float]:
    """Return the most cores per node, nodes, GPUs per node and memory per node [GB] that any line requests."""
    job = requested_by_job(script)
    requests = [requested_by_line(line).over(job) for line in script.lines] or [job]
    return (
        max((each.tasks_of_node or each.tasks or 1) * (each.cpus_per_task or 1) for each in requests),
        max(each.nodes or 1 for each in requests),
        max(each.gpus_of_node or each.gpus or 0 for each in requests),
        max(each.memory_per_node_gb or 0 for each in requests),
    )


def sized_machine(script: Script) -> Machine:
    r"""Return a machine whose nodes hold a script's request per node, for parsing its lines; nothing is placed on it.

    Parameters
    ----------
    script : Script

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> sized_machine(read_script("#SBATCH -N 4 --gres=gpu:8 -c 96\nsrun ./a\n")).node("gpu").gpus
    8
    """
    cores, nodes, gpus, memory = _largest_request(script)
    machine = Machine.load("cluster")
    # Two sockets, and no more than a machine file may hold.
    values: dict[str, int | float | tuple[str, ...]] = {}
    per_socket = min(-(-cores // 2), 1024)
    if per_socket > machine.node().cores_per_numa_node:
        values["node.compute.cores_per_numa_node"] = per_socket
    if nodes > 10:
        values |= dict.fromkeys(("node.compute.count", "node.gpu.count"), min(nodes, 100_000))
    if 4 < gpus <= 64:
        values["node.gpu.gpu_cores"] = ("0-15",) * gpus
    for kind in ("compute", "gpu"):
        if memory > machine.node(kind).usable_memory_gb:
            values |= {f"node.{kind}.memory_gb": memory * 1.1, f"node.{kind}.usable_memory_gb": memory}
    for path, value in values.items():
        machine = machine.with_value(path, value, assumed=_WHY)
    return machine


def unknown_node(script: Script, findings: Sequence[Finding], doubt: str) -> Result:
    r"""Return the answer for a script whose node is not known.

    Parameters
    ----------
    script : Script
    findings : sequence of Finding
        Findings without a machine.
    doubt : str
        Why the machine is not known, and how to give it.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> script = read_script("#SBATCH -N 4 --gres=gpu:8 --ntasks-per-node=1\nsrun ./train\n")
    >>> answer = unknown_node(script, (), "The text names no machine.")
    >>> answer.summary[:55], answer.facts["requested"]
    ('Where the tasks run is unknown until the node is known.', {'nodes': 4, 'tasks_per_node': 1, 'gpus_per_node': 8})
    """
    requested = _requested(script)
    worst = next((finding for finding in findings if finding.level == "problem"), None)
    advice = next((finding for finding in findings if finding.level == "advice"), None)
    others = sum(finding.level == "problem" for finding in findings) - 1
    words = requested.in_words()
    sentences = [
        f"{worst.message} {worst.advice}" if worst else "",
        f"There {'is' if others == 1 else 'are'} {count(others, 'more problem')}." if others > 0 else "",
        "Where the tasks run is unknown until the node is known.",
        doubt,
        f"Requested: {words}." if words else "",
        "" if worst or advice else "The checks that need no machine found no problem.",
        f"{advice.message} {advice.advice}" if advice and not worst else "",
    ]
    facts = {name: value for name, value in requested._asdict().items() if value is not None}
    return Result(
        summary=" ".join(filter(None, sentences)),
        findings=tuple(findings),
        facts={
            "machine": None,
            "certainty": f"cannot tell: {doubt}",
            "requested": facts,
            "problems": sum(finding.level == "problem" for finding in findings),
            "codes": [finding.code for finding in findings],
        },
    )


def without_launch_line(script: Script, findings: Sequence[Finding], machine: str | None) -> Result:
    r"""Return the answer for a job script that starts no tasks: its commands run once, on the first node.

    Parameters
    ----------
    script : Script
    findings : sequence of Finding
        Findings about the job.
    machine : str or None
        Name of the machine, where it is known.

    Examples
    --------
    >>> from hopperkit.launchers.scripts import read_script
    >>> answer = without_launch_line(read_script("#SBATCH -N 2 --gres=gpu:4\npython train.py\n"), (), None)
    >>> print(answer.summary)
    The commands of this script run once, on the first of its 2 nodes, unless one of its programs starts tasks. Requested: 2 nodes, 4 GPUs per node.
    >>> answer.findings[0].code
    'nodes-without-tasks'
    """
    requested = requested_by_job(script)
    nodes = requested.nodes or 1
    codes = {finding.code for finding in findings}
    if nodes > 1 and not codes & {"srun-missing", "directives-late"}:
        message = f"Nothing in the script starts tasks on {nodes - 1} of its {nodes} nodes, which are charged and idle unless a program does."
        idle = Finding(
            "nodes-without-tasks", message, "advice", {"times": float(nodes)}, "Start the program on each node."
        )
        findings = priced((*findings, idle), script)
    worst = next((finding for finding in findings if finding.level == "problem"), None)
    where = f"the first of its {nodes:,} nodes" if nodes > 1 else "one node"
    words = requested.in_words()
    sentences = [
        f"{worst.message} {worst.advice}" if worst else "",
        f"The commands of this script run once, on {where}, unless one of its programs starts tasks.",
        f"Requested: {words}." if words else "",
    ]
    return Result(
        summary=" ".join(filter(None, sentences)),
        findings=tuple(findings),
        facts={
            "machine": machine,
            "certainty": "cannot tell: the script has no launch line",
            "requested": {name: value for name, value in requested._asdict().items() if value is not None},
            "problems": sum(finding.level == "problem" for finding in findings),
            "codes": [finding.code for finding in findings],
        },
    )


def _requested(script: Script) -> Requested:
    """Return the request of a script's line within its job; the job's alone if its lines use parts of it."""
    job = requested_by_job(script)
    lines = [requested_by_line(line).over(job) for line in script.lines]
    whole = len(set(lines)) == 1 and not script.lines[0].background and job.nodes in (None, lines[0].nodes)
    if any(cpus_beyond_grant(script, line) for line in script.lines):
        return job
    return lines[0] if whole or (lines and job == Requested()) else job
