"""First failing task of a job: its node, how many tasks followed, and whether one node or the whole job is affected."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.messages.evidence import Evidence
from hopperlib.text import count


class Reach(NamedTuple):
    """Scope of a failure, with the evidence for it."""

    extent: Literal["node-local", "job-wide", "machine-wide"]
    reason: str


# Messages about resources shared by all nodes of a machine, and about the hardware of one node.
_SHARED = ("IO-LUSTRE", "IO-STALE", "IO-SHUTDOWN", "SLURM-CONTROLLER", "LICENSE")
_ONE_NODE = ("ALPS-NODE-FAILED", "SLURM-NODE-FAIL", "PBS-NODE", "CUDA-ECC", "SLURM-SCRIPT-LOST")


@dataclass(frozen=True, slots=True)
class FirstFailure:
    """The task that the launcher names first.

    Parameters
    ----------
    task : int
    node : str
    file, line : int
        The line of evidence.
    tasks, nodes : int
        Total numbers of tasks and nodes that failed.
    others : int
        Other nodes of the job that the text names.
    """

    task: int
    node: str
    file: int
    line: int
    tasks: int
    nodes: int
    others: int = 0

    @property
    def followed(self) -> int:
        """Number of tasks named after it."""
        return self.tasks - 1

    @property
    def sentence(self) -> str:
        """The result as a sentence.

        Examples
        --------
        >>> print(FirstFailure(4504, "co5112", 0, 1, 20_000, 500).sentence)
        Task 4504 on co5112 is named first; 19,999 tasks followed, on 500 nodes in all: begin with the messages of that task.
        """
        if not self.followed:
            return f"Only task {self.task} on {self.node} is named: no launcher reports another failure."
        if self.nodes == 1:
            return f"Task {self.task} on {self.node} is named first; {count(self.followed, 'task')} followed there."
        return (
            f"Task {self.task} on {self.node} is named first; {count(self.followed, 'task')} followed, "
            f"on {count(self.nodes, 'node')} in all: begin with the messages of that task."
        )


def first_failure(evidence: Evidence) -> FirstFailure | None:
    r"""Return the task that a launcher names first, of all files in their order; None if no launcher names a task.

    Parameters
    ----------
    evidence : Evidence
        Evidence from the log.

    Examples
    --------
    >>> from hopperlib.failure.diagnosis.diagnosis import diagnose
    >>> text = "srun: error: co5112: task 4504: Exited with exit code 1\nsrun: error: co5118: tasks 4720-4759: Exited with exit code 1"
    >>> first = first_failure(diagnose([("job.err", text)]).evidence)
    >>> first.task, first.node, first.followed, first.nodes
    (4504, 'co5112', 40, 2)
    """
    with_first = [(file, ends) for file, ends in sorted(evidence.ends.items()) if ends.first]
    if not with_first:
        return None
    file, ends = with_first[0]
    assert ends.first is not None
    tasks = set().union(*(other.tasks for _, other in with_first))
    nodes = set().union(*(other.nodes for _, other in with_first))
    # Launchers and schedulers may print the same node with and without its domain.
    others = {_host(node) for other in evidence.ends.values() for node in other.others} - set(map(_host, nodes))
    return FirstFailure(*ends.first, file=file, line=ends.line, tasks=len(tasks), nodes=len(nodes), others=len(others))


def _host(node: str) -> str:
    """Return the name of a node without its domain."""
    return node.partition(".")[0]


def reach(first: FirstFailure | None, cause: Cause | None) -> Reach | None:
    """Return the scope of a failure with its reason; None if the text does not show it.

    The source of the cause's message decides first: a file system or a scheduler serves the whole machine, a broken
    device belongs to one node. Otherwise the nodes that launchers name decide: one node is a finding only if the text
    names another one of the job, on which no task failed.

    Parameters
    ----------
    first : FirstFailure or None
    cause : Cause or None

    Examples
    --------
    >>> reach(FirstFailure(4504, "co5112", 0, 1, tasks=20_000, nodes=500), None).extent
    'job-wide'
    >>> reach(FirstFailure(3, "n12", 0, 1, tasks=2, nodes=1, others=3), None).reason
    'all 2 tasks that failed ran on n12, and no task failed on 3 other nodes that the text names'
    >>> reach(FirstFailure(3, "n12", 0, 1, tasks=2, nodes=1), None) is None
    True
    """
    if cause and cause.code.startswith(_SHARED):
        return Reach("machine-wide", f"{cause.code} comes from a service that all nodes share")
    if cause and cause.code.startswith(_ONE_NODE):
        return Reach("node-local", f"{cause.code} names one node, and no other one is at fault")
    if first is None or not first.followed:
        return None
    if first.nodes > 1:
        return Reach("job-wide", f"tasks on {count(first.nodes, 'node')} ended")
    if not first.others:
        return None
    return Reach(
        "node-local",
        f"all {count(first.tasks, 'task')} that failed ran on {first.node}, and no task failed on "
        f"{count(first.others, 'other node')} that the text names",
    )
