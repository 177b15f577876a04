"""Facts in addition to the output: the launch line, the machine, the scheduler's record.

They make general advice quantitative: the memory of each task, a layout that would fit, the nodes that a launch line
needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from hopperkit.launchers.judging.proposals import line_of
from hopperkit.launchers.placing import place_tasks
from hopperkit.launchers.reader import read_launch
from hopperkit.readers.jobs.accounting import Record, memory_gb, read_record
from hopperlib.failure.messages.rules import rule
from hopperlib.machine import Machine, NodeKind
from hopperlib.placement.components import Component, Launch, LaunchError
from hopperlib.placement.layouts import Layout, cheapest, layouts, obstacle
from hopperlib.placement.models.memory import memory_per_task

_KIB_PER_GB = 1024**2

# Memory added to a task's last sample, or to its request if nothing was sampled.
_SAMPLE_MARGIN = 1.1
_STEP = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Facts in addition to the output.

    Parameters
    ----------
    machine : Machine or None
    launch : Launch or None
        The launch line, parsed for the machine.
    refused : str
        Why the launch line would be rejected; empty if it was parsed.
    record : Record or None
        The scheduler's record.
    """

    machine: Machine | None = None
    launch: Launch | None = None
    refused: str = ""
    record: Record | None = None

    @property
    def record_failed(self) -> bool | None:
        """Whether the job failed according to the scheduler's record; None if unknown."""
        return self.record.failed if self.record else None

    def advice(self, code: str, fields: Mapping[str, str]) -> list[str]:
        """Return sentences with numbers for one cause.

        Parameters
        ----------
        code : str
            Code of the cause.
        fields : mapping
            The text of the message.
        """
        short_of = rule(code).ran_out_of
        if short_of == "memory":
            return self._memory(fields)
        if short_of == "nodes":
            return self._claim()
        if short_of == "time" and self.record and self.record.elapsed and self.record.time_limit:
            return [f"Scheduler record: ran {self.record.elapsed}, limit {self.record.time_limit}."]
        return []

    def _memory(self, fields: Mapping[str, str]) -> list[str]:
        """Describe the memory of a task, and the layout that would fit."""
        need = self._need_gb(fields)
        said = []
        if self.record and self.record.max_rss_gb is not None:
            requested = f", requested {self.record.requested_memory}" if self.record.requested_memory else ""
            said.append(
                f"The record's largest task used {self.record.max_rss_gb:.2f} GB at its last sample{requested}."
            )
        if not self.launch or not self.machine:
            return said
        component = max(self.launch.components, key=lambda program: program.tasks)
        kind = self.machine.node()
        packed = _tasks_per_node(self.launch, self.machine, component)
        if packed is None or not 1 <= packed <= kind.cores:
            return said
        had = memory_per_task(kind, packed)
        said.append(
            f"With {packed} tasks on a node of {self.machine.title} each had {had:.2f} GB: "
            f"{kind.usable_memory_gb:g} GB are usable, {kind.memory_gb:g} GB installed."
        )
        said.append(_fitting(self.machine, kind, component, had, need))
        return said

    def _need_gb(self, fields: Mapping[str, str]) -> float | None:
        """Return the memory that one task needed, if known. [GB]"""
        if fields.get("rss_kb", "").isdigit():
            return int(fields["rss_kb"]) / _KIB_PER_GB
        if self.record:
            return self.record.max_rss_gb
        return memory_gb(fields["size"].replace(" ", "").removesuffix("iB")) if "size" in fields else None

    def _claim(self) -> list[str]:
        """Describe how many nodes the launch line needs, and how many were reserved."""
        if self.refused:
            return [f"The launch line requests what it cannot get: {self.refused}."]
        if not self.launch or not self.machine:
            return []
        placed = place_tasks(self.launch, self.machine)
        needed = len(placed.nodes)
        reserved = f"; the script reserves {self.launch.reservation.nodes}" if self.launch.reservation else ""
        parts = ""
        if len(self.launch.components) > 1:
            each = [len(placed.nodes_of(place)) for place in range(len(self.launch.components))]
            parts = f" ({' + '.join(map(str, each))} for its parts)"
        return [f"The launch line needs {needed} nodes{parts}{reserved}."]


def _tasks_per_node(launch: Launch, machine: Machine, component: Component) -> int | None:
    """Return the largest number of tasks that a line puts on one node."""
    place = launch.components.index(component)
    nodes = place_tasks(launch, machine).nodes_of(place)
    return max((len(node.tasks) for node in nodes), default=None)


def _fitting(machine: Machine, kind: NodeKind, component: Component, had_gb: float, need_gb: float | None) -> str:
    """Name the layout that would fit."""
    # A task that was killed had requested more than its last sample shows.
    if need_gb is not None and need_gb > had_gb:
        wanted, why = need_gb * _SAMPLE_MARGIN, f"the {need_gb:.2f} GB that it reached, plus a tenth"
    else:
        wanted, why = had_gb * _STEP, "a quarter more than it had, as a first step"
    choices = layouts(machine, need_gb=wanted, tasks=component.tasks)
    same, other = cheapest(choices, threads=1, kind=kind), cheapest(choices, threads=1)
    if other is None:
        reason = obstacle(machine, need_gb=wanted, tasks=component.tasks)
        return f"For {why} ({wanted:.2f} GB per task), no layout fits: {reason.reason}." if reason else ""
    said = [
        f"{layout.tasks_per_node} tasks on each of {layout.nodes} {layout.node_kind.name} nodes: {_line(layout, component)}"
        for layout in ([other] if same is None or same is other else [same, other])
    ]
    return f"For {why} ({wanted:.2f} GB per task): " + "; or ".join(said)


def _line(layout: Layout, component: Component) -> str:
    """Return the launch line of a layout, with the program of the given line."""
    return (line_of(layout) or "").replace("./a.out", " ".join(component.command) or "./a.out")


def read_context(
    *, launch: str | None = None, machine: Machine | None = None, sacct: str | None = None, job: str | None = None
) -> Context:
    """Read the facts given in addition to the output.

    Parameters
    ----------
    launch : str or None
        A launch line or a job script.
    machine : Machine or None
        The machine it ran on; needed for `launch`.
    sacct : str or None
        Output of sacct.
    job : str or None
        Number of the job in it; the last one by default.

    Raises
    ------
    ValueError
        If a launch line comes without a machine, or the record cannot be read.

    Examples
    --------
    >>> hopper = Machine.load("hopper")
    >>> context = read_context(launch="aprun -n 384 ./vasp", machine=hopper)
    >>> for sentence in context.advice("ALPS-OOM", {}): print(sentence)  # doctest: +ELLIPSIS
    With 24 tasks on a node of Hopper each had 1.29 GB: 31 GB are usable, 32 GB installed.
    For a quarter more than it had, as a first step (1.61 GB per task): 19 tasks ... aprun -n 384 -N 19 -S 5 ./vasp; or 24 ...
    >>> read_context(launch="aprun -n 84 ./ocean : -n 80 ./ice", machine=hopper).advice("ALPS-CLAIM-NODES", {})
    ['The launch line needs 8 nodes (4 + 4 for its parts).']
    """
    record = read_record(sacct, job=job) if sacct is not None else None
    if launch is None:
        return Context(machine=machine, record=record)
    if machine is None:
        raise ValueError("a launch line needs the machine it ran on: give --machine too")
    try:
        read = read_launch(launch, machine)
        # Placement shows whether the line fits on the nodes.
        place_tasks(read, machine)
        return Context(machine=machine, launch=read, record=record)
    except LaunchError as error:
        # The launcher's words are those of one version: only the rule is known to apply to this job.
        return Context(machine=machine, refused=str(error).removeprefix(f"{error.words}: "), record=record)
