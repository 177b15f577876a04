"""Question: a job trace through a scheduler that remembers every job's nodes."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.network.traces.answer import Simulated, result_of
from hopperkit.questions.question import is_sample
from hopperkit.questions.result import Result
from hopperkit.readers.hardware.cluster import read_cluster
from hopperkit.readers.jobs import read_job_trace
from hopperkit.readers.jobs.slurm_config import read_slurm_config
from hopperkit.readers.jobs.trace import Note, Trace
from hopperkit.traces.capacity.machine import cause_of, count_of, describe, excesses, scheduled_on
from hopperkit.traces.cluster import Cluster
from hopperkit.traces.policies import policy_of
from hopperkit.traces.rules.clock import Clock
from hopperkit.traces.rules.learn import learn
from hopperkit.traces.scheduler import NodeChoice, Policy, infeasible_jobs, simulate
from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.network.fabrics.choices import node_choice
from hopperlib.network.fabrics.fabric import Fabric
from hopperlib.network.fabrics.of_machine import fabric_of
from hopperlib.network.torus.orders import ORDER_TITLES, compute_nodes, order_nodes
from hopperlib.network.torus.wiring import NodeAddress
from hopperlib.package_data import load_text_resource
from hopperlib.scheduling import rules
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.downtimes import Downtime, read_downtimes
from hopperlib.scheduling.schedule import NOT_STARTED
from hopperlib.scheduling.workload import Workload
from hopperlib.text import count, listed
from hopperlib.units import duration_s

_RECORDS = 100
_MAX_TIMES = 3
_SWF_FIELDS = 18
_POLICIES = {
    "auto": "that of the log's scheduler",
    "slurm": "Slurm's backfill: every 30 s, 500 jobs",
    "easy": "EASY backfill: depth 1",
    "fcfs": "first come, first served: depth 0",
    "conservative": "conservative backfill: depth all",
}


class Simulation(ask.Setting):
    """How a trace is to be simulated."""

    trace: str = ask.file(
        "Job trace",
        load_text_resource(__file__, "samples/small-trace.txt"),
        rows=8,
        max_length=64_000_000,
        placeholder="Paste a trace in the Standard Workload Format, or what sacct --parsable2 or --json printed",
        help="A trace in the Standard Workload Format, the output of sacct --parsable2 or --json, or the export of Open "
        "XDMoD. The trace at the start is made up.",
    )
    machine: Machine | None = ask.machine(
        "Machine",
        "none",
        none="No machine: the nodes below",
        help="Gives the nodes, and each job's hops, groups or switches.",
    )
    nodes: int = ask.whole("Nodes of the machine", 0, (0, 200_000), help="0 = those of the machine, or of the trace.")
    policy: str | Policy = ask.choice(
        "Policy",
        "auto",
        _POLICIES,
        functions=True,
        numbers=True,
        help="Default: Slurm's for Slurm logs; for other logs EASY, or the policy that orders their waits clearly "
        "better. The depth is the number of blocked jobs with a reserved start, which no later job may delay.",
    )
    wide: str = ask.choice(
        "Jobs that are too wide",
        "skip",
        {"skip": "left out and counted", "refuse": "refuse the trace"},
        advanced=True,
    )
    cluster: str = ask.file(
        "Cluster",
        rows=4,
        help="The output of scontrol show node, followed by that of scontrol show partition. It gives partitions, cores, "
        "GPUs and memory.",
        advanced=True,
    )
    requeue: bool = ask.switch("Requeue jobs that an outage ends", False, advanced=True)
    allocation: str = ask.choice(
        "Allocation",
        "first",
        {
            "first": "first free nodes of the list",
            "best": "smallest hole that holds the job",
            "contiguous": "one run or wait",
            "random": "at random",
            "switch": "as few switches as can be",
            "group": "as few groups as can be",
        },
    )
    switches: str = ask.text(
        "Wait for few switches",
        max_length=40,
        help="As Slurm's --switches=count@time, such as 1@2:00:00: a job that could run under this many switches (groups, "
        "if nodes are chosen by group) waits up to this time for them, and lets others pass.",
        advanced=True,
    )
    order: str = ask.choice(
        "Order of the node list", "nid", ORDER_TITLES, help="Matters only if the machine has a torus."
    )
    overrun: str = ask.choice("At a job's limit", "kill", {"kill": "the job ends", "keep": "the job continues"})
    queues: str = ask.choice(
        "Queues",
        "none",
        {"none": "none: as the jobs came", **{name: name for name in rules.queue_tables()}},
        help="Queues, order and limits.",
    )
    queue_file: str = ask.file(
        "Custom queues",
        rows=4,
        help="TOML with one table, which takes the place of the queues above: queue or like, order (submission, size, "
        "length, multifactor), and rules: weights (age, size, queue, qos, fair_share), half_life_days, "
        "qos_factors, limit (per, of, jobs, nodes).",
        advanced=True,
    )
    learned: bool = ask.switch(
        "Rules that the trace shows",
        False,
        help="Closed hours, limits, order and depth as the observed starts show them, for whole nodes of one pool.",
        advanced=True,
    )
    slurm_config: str = ask.file(
        "Slurm's settings",
        rows=4,
        max_length=1_000_000,
        help="The output of scontrol show config, or slurm.conf: backfill interval, window and depth, and the weights of "
        "priorities. They take the place of policy, order and rules.",
        advanced=True,
    )
    downtimes: str = ask.file(
        "Downtimes",
        rows=4,
        max_length=1_000_000,
        help="Outages, drains, orphans, reservations: CSV with kind,start_s,end_s,...",
        advanced=True,
    )
    cores_per_node: int = ask.whole(
        "Processors of a node in an SWF trace", 0, (0, 100_000), help="0 = from its header, or 1.", advanced=True
    )
    timezone: str = ask.text(
        "Time zone of sacct output",
        max_length=60,
        help="Of the clock that printed it, such as Europe/Berlin; empty for universal time.",
        advanced=True,
    )
    columns: str = ask.text(
        "Columns of sacct output without a header",
        max_length=4000,
        help="The list that was given to sacct --format. The columns of Open XDMoD's export are known.",
        advanced=True,
    )
    seed: int = ask.whole("Seed", 0, (0, 2**31 - 1), help="For random allocation.", advanced=True)
    machine_file: str = ask.machine_file()

    @property
    def reading(self) -> dict[str, Any]:
        """How a trace is read."""
        return {
            "columns": self.columns,
            "timezone": self.timezone,
            "cores_per_node": self.cores_per_node,
        }

    def read(self) -> Trace:
        """Return the trace of the text, or of the file that a single word names."""
        text = self.trace
        if not text.strip():
            raise InputError("trace is empty: give a trace, or the path of a file", name="trace")
        # Shorter lines are not part of a trace, which has more fields or a header.
        is_path = "\n" not in text.strip() and len(text.split()) < _SWF_FIELDS and not text.lstrip().startswith("{")
        try:
            return read_job_trace(Path(text.strip()) if is_path else text, **self.reading)
        except (ValueError, OSError) as error:
            raise InputError(f"cannot read trace {error}" if is_path else str(error), name="trace") from error

    @cached_property
    def table(self) -> rules.QueueTable | None:
        """The queues of a table that comes with the package, or of a text with one table."""
        if not self.queue_file.strip():
            return None if self.queues == "none" else rules.queue_table(self.queues)
        tables = list(_read_part("queues", self.queue_file, rules.read_queues).values())
        if len(tables) != 1:
            raise InputError(f"queues: one table is needed, {len(tables)} are there", name="queue_file")
        table: rules.QueueTable = tables[0]
        return table

    @property
    def addresses(self) -> tuple[NodeAddress, ...]:
        """The compute nodes in their order, for a machine with a torus; none for other machines."""
        machine = self.machine
        if machine is None or machine.network is None or machine.network.dimensions is None:
            return ()
        addresses = order_nodes(compute_nodes(machine), self.order)
        if len(addresses) != machine.nodes:
            raise InputError(
                f"machine {machine.name!r}: its floor holds {len(addresses)} compute nodes, its file counts {machine.nodes}",
                name="machine",
            )
        return addresses

    @cached_property
    def fabric(self) -> Fabric | None:
        """The dragonfly or fat tree of the machine; None without one, or where it joins only some of the nodes."""
        machine = self.machine
        if machine is None or machine.network is None or not (machine.network.dragonfly or machine.network.fat_tree):
            return None
        fabric = fabric_of(machine)
        return fabric if fabric.nodes >= machine.nodes else None

    def choice(self, nodes: int) -> str | NodeChoice:
        """Return the node choice for a machine of this size, in the scheduler's form."""
        by_place = self.allocation in ("switch", "group")
        if self.switches.strip() and not by_place:
            raise refusal(
                "switches", self.switches, "requires nodes on as few switches, or in as few groups, as possible"
            )
        if not by_place:
            return self.allocation
        if self.fabric is None:
            rule = "needs a machine whose file has a dragonfly or a fat tree that joins all its nodes, not only some"
            raise refusal("allocation", self.allocation, rule)
        wanted, _, wait = self.switches.strip().partition("@")
        if wanted and not wanted.isdecimal():
            raise refusal("switches", self.switches, "must be a count, or count@time such as 1@2:00:00")
        return node_choice(
            self.fabric,
            self.allocation,
            random.Random(self.seed),
            nodes=nodes,
            count=int(wanted or 1),
            wait_s=duration_s(wait, unit="m") if wait else 0,
        )

    def whole_nodes(self, trace: Trace) -> int:
        """Return the number of nodes from the setting, the machine or the trace's header; 0 if unknown."""
        machine, nodes = self.machine, self.nodes
        if machine and nodes not in (0, machine.nodes):
            raise refusal(
                "nodes", nodes, f"contradicts machine {machine.name}, which has {machine.nodes}; give one of the two"
            )
        if machine or nodes:
            return machine.nodes if machine else nodes
        return trace.nodes

    def room(self, trace: Trace) -> tuple[int | Cluster, list[Note]]:
        """Return the machine for the simulation: as set, from the machine file, from the trace, or estimated from it;
        with notes.
        """
        if self.cluster.strip():
            if self.machine or self.nodes:
                raise InputError("the cluster defines the nodes: leave out nodes and machine", name="cluster")
            return _read_part("cluster", self.cluster, read_cluster), []
        if nodes := self.whole_nodes(trace):
            return nodes, list(_pooled(trace.workload, nodes))
        room = scheduled_on(trace.workload)
        if room is None:
            raise InputError("give the number of nodes, such as nodes=512, or name a machine", name="nodes")
        return room, [Note("capacity-estimated", count_of(room), describe(room)), *_repeated(trace, room)]

    def outages(self, room: int | Cluster) -> list[Downtime]:
        """Return the downtimes of that many nodes."""
        if not self.downtimes.strip():
            return []
        nodes = room if isinstance(room, int) else len(room.nodes)
        downtimes: list[Downtime] = list(
            _read_part("downtimes", self.downtimes, lambda text: read_downtimes(text.splitlines()))
        )
        last = max((downtime.last_node or 0 for downtime in downtimes), default=0)
        if last > nodes:
            raise InputError(
                f"downtimes: last_node={last} is more than the {nodes} nodes of the machine", name="downtimes"
            )
        return downtimes


def _read_part(name: str, text: str, reader: Callable[[str], Any]) -> Any:
    """Return a reader's result for the text of a control."""
    try:
        return reader(text)
    except ValueError as error:
        raise InputError(f"{name}: {error}", name="queue_file" if name == "queues" else name) from None


def _repeated(trace: Trace, room: int | Cluster) -> Iterator[Note]:
    """Yield the times in which the log has more nodes in use than the machine, as where a clock repeats an hour."""
    found = excesses(trace.workload, count_of(room)) if isinstance(room, int) else []
    if found:
        jobs = sum(each.jobs for each in found)
        clock = Clock(trace.epoch_s, trace.timezone)
        when = listed([clock.date(each.start_s) for each in found[:_MAX_TIMES]], "and")
        yield Note(
            "repeated-hour",
            jobs,
            f"{count(len(found), 'time')} of up to 3 h ({when}) with more nodes in use than the machine has, in which "
            f"{count(jobs, 'job')} started: {cause_of(found)}. They do not count for the size",
        )


def _pooled(workload: Workload, nodes: int) -> Iterator[Note]:
    """Yield that partitions are one pool here: sacct names them, and its states are words."""
    partitions = len(set(workload.queues))
    if partitions > 1 and workload.words["state"] and workload.word("state", 0).isalpha():
        yield Note(
            "partitions-pooled",
            partitions,
            f"{partitions} partitions are one pool of {nodes:,} whole nodes here: give what scontrol show node prints, or "
            "leave out the nodes, to keep them apart",
        )


def simulated(trace: Trace, setting: Simulation, *, progress: Callable[[int], object] | None = None) -> Simulated:
    """Return a trace as the scheduler runs it.

    Parameters
    ----------
    trace : Trace
    setting : Simulation
    progress : callable or None
        As for `hopperkit.traces.scheduler.simulate`.

    Raises
    ------
    InputError
        If settings do not fit together, or no job fits the machine or its queues.

    Examples
    --------
    >>> trace = read_job_trace(["1 0 -1 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> simulated(trace, Simulation(nodes=4)).schedule.runs(0)
    [(0, 3)]
    """
    room, notes = setting.room(trace)
    table, workload = setting.table or rules.QueueTable(), trace.workload
    refused: list[int] = []
    if table.queues:
        workload, given, refused = rules.put_into_queues(workload, table)
        notes += _counted(
            "queue-given", given, f"without a queue of '{table.name}': each goes to the first regular one that takes it"
        )
    workload, more = _fitting(workload, sorted({*infeasible_jobs(workload, room), *refused}), setting.wide, room)
    policy: str | Backfill | Policy = setting.policy
    shown = ""
    given_rules: dict[str, Any] = {"queue_order": table.order, "rules": table.rules}
    if setting.slurm_config.strip():
        settings = _read_part("slurm_config", setting.slurm_config, read_slurm_config)
        policy, given_rules = settings.policy, {"queue_order": settings.order, "rules": settings.rules}
    elif policy == "auto":
        policy, reason, shown = policy_of(trace.scheduler, workload, room, Clock(trace.epoch_s, trace.timezone))
        notes += [Note("policy", len(workload), f"policy: {reason}")] if trace.has_waits else []
    if setting.learned:
        given_rules, learned_notes = _learned(trace, workload, room, table)
        learned = given_rules.pop("policy")
        policy, shown = (learned, "") if setting.policy in ("auto", "easy") else (policy, shown)
        notes += learned_notes
    away = given_rules.pop("downtimes", ())
    schedule = simulate(
        workload,
        room,
        policy=policy,
        **given_rules,
        allocation=setting.choice(room if isinstance(room, int) else len(room.nodes)),
        overrun=setting.overrun,
        queues=table.queues,
        downtimes=[*setting.outages(room), *away],
        rng=random.Random(setting.seed),
        requeue=setting.requeue,
        sample_every_s=max(60, _span_s(workload) // _RECORDS),
        progress=progress,
    )
    notes += _counted(
        "never-started", schedule.status.count(NOT_STARTED), "never started under this policy and these limits"
    )
    return Simulated(
        trace=trace,
        schedule=schedule,
        machine=setting.machine,
        addresses=setting.addresses,
        fabric=setting.fabric,
        cluster=room if isinstance(room, Cluster) else None,
        notes=(*notes, *more),
        shown=shown,
    )


def _span_s(workload: Workload) -> int:
    """Return the time from the first submission to when the longest job could have run after the last. [s]"""
    arrival_s = workload.arrival_s
    return max(arrival_s) - min(arrival_s) + max(workload.run_time_s)


def _learned(
    trace: Trace, workload: Workload, room: int | Cluster, table: rules.QueueTable
) -> tuple[dict[str, Any], list[Note]]:
    """Return the rules that the trace shows, in the form of the scheduler, with the evidence for each."""
    if not isinstance(room, int) or table != rules.QueueTable():
        raise InputError("learned rules require whole nodes of one pool, without a cluster or queues", name="learned")
    clock = Clock(trace.epoch_s, trace.timezone)
    found, findings = learn(workload, room, clock)
    notes = [Note(f"learned-{finding.code}", len(workload), finding.message.rstrip(".")) for finding in findings]
    return found.settings(workload, room, clock), notes


def _counted(code: str, jobs: int, what: str) -> list[Note]:
    """Return a note about some jobs, if there are any."""
    return [Note(code, jobs, f"{count(jobs, 'job')} {what}")] if jobs else []


def _fitting(workload: Workload, wide: list[int], treatment: str, room: int | Cluster) -> tuple[Workload, list[Note]]:
    """Return the jobs that can start at all: those that cannot are left out, made narrower, or refused."""
    if not wide:
        return workload, []
    message = _why_infeasible(workload, wide[0], room)
    if treatment == "refuse" or len(wide) == len(workload):
        hint = "; if the trace counts processors, give the number per node" if isinstance(room, int) else ""
        raise InputError(message + hint, name="cores_per_node" if hint else "wide")
    left_out = set(wide)
    kept = workload.of([index for index in range(len(workload)) if index not in left_out])
    hint = "(does the trace count processors? then set --cores-per-node)"
    return kept, _counted("too-wide", len(wide), f"left out: {message} {hint}")


def _why_infeasible(workload: Workload, index: int, room: int | Cluster) -> str:
    """Return why a job can never start."""
    job = workload[index]
    where = f"the {room:,} of the machine" if isinstance(room, int) else f"partition {job.queue!r} can give"
    try:
        _ = isinstance(room, int) or room.partition(job.queue)
    except InputError as error:
        return f"job {job.job}: {error}"
    return f"job {job.job} requests nodes={job.nodes}, more than {where}, or its queue does not accept it"


def answer(setting: Simulation) -> Result:
    """Return the answer.

    Parameters
    ----------
    setting : Simulation
        How a trace is to be simulated.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Simulation()).facts['utilization'], 3)
    0.816
    """
    result = result_of(simulated(setting.read(), setting))
    if not is_sample(QUESTION, "trace", setting.trace):
        return result
    made_up = Finding("made-up", "This trace is made up. Paste or drop yours.", "note")
    return replace(result, findings=(*result.findings, made_up))


QUESTION = ask.declared(
    Simulation,
    answer,
    title="What would a scheduler make of this trace?",
    heavy=True,
    examples={
        "Without backfill": {"policy": "fcfs"},
        "One run or wait": {"allocation": "contiguous"},
        "Nodes at random": {"allocation": "random"},
        "Few groups of a dragonfly": {"machine": "lumi-c", "allocation": "group"},
    },
)
