"""``hopper trace``: the scheduler of a job log."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from hopperkit.cli.common import all_option, json_option, read_source, refusing
from hopperkit.cli.question import show
from hopperlib.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from hopperkit.questions.result import Result
    from hopperkit.readers.jobs.trace import Trace
    from hopperkit.traces.cluster import Cluster
    from hopperkit.traces.rules.clock import Clock
    from hopperkit.traces.rules.site import Learned
    from hopperlib.scheduling.workload import Workload


@click.group()
def trace() -> None:
    """Learn a scheduler's rules from a job log, test them, explain a job's wait, and predict changes.

    FILE is a trace in the Standard Workload Format, output of sacct --parsable2 or --json, jobs from Slurm's
    jobcomp/filetxt, accounting of PBS or LSF, or a table; - is standard input. Nodes are taken as shared if the log
    names them (sacct's NodeList) and more jobs ran on them than whole nodes could hold, or if some jobs use fewer cores
    of a node than others (AllocCPUS); otherwise one pool of whole nodes is assumed, or processors with --cores-per-node
    1.
    """


class _Log(NamedTuple):
    """A log, the number of nodes of its machine, its clock, and its shared nodes."""

    trace: "Trace"
    nodes: int
    clock: "Clock"
    cluster: "Cluster | None"
    base: "Learned"

    @property
    def settings(self) -> "tuple[Workload, int | Cluster, Clock]":
        """Settings for learning rules and for simulation."""
        return self.trace.workload, self.cluster or self.nodes, self.clock

    @property
    def shared(self) -> "Cluster | None":
        """The nodes, if jobs share them."""
        cluster = self.cluster
        return cluster if cluster and not all(each.exclusive for each in cluster.partitions.values()) else None

    @property
    def partitions(self) -> str:
        """Description of the partitions, if there are several."""
        from hopperkit.traces.capacity.machine import describe

        return describe(self.cluster).rpartition(",")[0] if self.cluster and len(self.cluster.partitions) > 1 else ""


def _read(file: str, nodes: int | None, cores_per_node: int, timezone: str, config: str | None = None) -> _Log:
    """Return the log, without jobs wider than the machine."""
    from hopperkit.readers.jobs import read_job_trace
    from hopperkit.traces.capacity.machine import count_of, scheduled_on
    from hopperkit.traces.rules.clock import Clock
    from hopperkit.traces.scheduler import infeasible_jobs

    try:
        log = read_job_trace(Path(file), cores_per_node=cores_per_node, timezone=timezone)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None
    if not log.has_waits:
        raise InputError(
            "this log has no submission times, so it has no waits from which rules could be learned; `hopper simulate --trace` reports use and run times"
        )
    room = nodes or log.nodes or scheduled_on(log.workload)
    if not room:
        raise InputError("this log has no start times, so nothing can be learned from it")
    wide = set(infeasible_jobs(log.workload, room))
    workload = log.workload.of([job for job in range(len(log.workload)) if job not in wide]) if wide else log.workload
    cluster = None if isinstance(room, int) else room
    return _Log(
        replace(log, workload=workload),
        count_of(room),
        Clock(log.epoch_s, log.timezone),
        cluster,
        _base(log, config),
    )


def _base(log: "Trace", config: str | None) -> "Learned":
    """Return the known scheduler: from its settings, or Slurm's defaults."""
    from hopperkit.readers.jobs.slurm_config import read_slurm_config
    from hopperkit.traces.policies import SLURM
    from hopperkit.traces.rules.site import Learned

    if config:
        settings = read_slurm_config(read_source(config, what="config"))
        if settings.order == "submission":
            return Learned(policy=settings.policy)
        # The largest weight decides, because orders here have only one.
        rules = settings.rules
        weights = {"size": rules.size, "fair share": rules.fair_share}
        heaviest = max(weights, key=lambda name: weights[name])
        order = heaviest if weights[heaviest] > max(rules.age, rules.queue, rules.qos) else "submission"
        return Learned(policy=settings.policy, order=order)
    return Learned(policy=SLURM) if log.scheduler == "slurm" else Learned()


def _command(answer: "Callable[..., Result]", *parameters: click.Parameter, nodes: str = "--nodes") -> None:
    """Add a command that reads a log and answers from it; it takes its name and help from the function."""
    name = answer.__name__.strip("_").replace("_", "-")

    @refusing
    def run(
        file: str,
        machine_nodes: int | None,
        cores_per_node: int,
        timezone: str,
        config: str | None,
        as_json: bool,
        show_all: bool,
        **own: Any,
    ) -> None:
        result = answer(_read(file, machine_nodes, cores_per_node, timezone, config), **own)
        show(f"trace-{name}", result, as_json, show_all)

    options: Sequence[click.Parameter] = (
        click.Argument(["file"]),
        *parameters,
        click.Option([nodes, "machine_nodes"], type=click.IntRange(1), help="Nodes. [default: from the log]"),
        click.Option(["--cores-per-node"], type=click.IntRange(0), default=0, help="For SWF; 0 = from its header."),
        click.Option(["--config"], metavar="FILE", help="Slurm's settings: scontrol show config, or slurm.conf."),
        click.Option(["--timezone"], default="", help="Time zone of the clock in the log, such as Europe/Berlin."),
    )
    command = click.Command(name, params=list(options), help=answer.__doc__, callback=run)
    trace.add_command(all_option(json_option(command)))


def _learn(log: _Log) -> "Result":
    """Learn closed hours, limits, absent nodes, queue order and backfill depth from FILE."""
    from hopperkit.questions.network.traces.rules import learned_result
    from hopperkit.traces.rules.evidence import learned_from
    from hopperkit.traces.rules.learn import learn

    workload, nodes, _ = log.settings
    return learned_result(*learn(*log.settings, base=log.base), learned_from(workload, nodes), log.partitions)


def _backtest(log: _Log) -> "Result":
    """Learn rules from the first 60 % of FILE, and test them on later jobs against three null models."""
    from hopperkit.questions.network.traces.rules import backtest_result
    from hopperkit.traces.backtest import backtest

    return backtest_result(backtest(*log.settings, base=log.base))


def _what_if(log: _Log, **changes: Any) -> "Result":
    """Compare changes to the machine: their effect on the waits in FILE, with its uncertainty.

    Each change is simulated alone; several are also simulated together.
    """
    from hopperkit.questions.network.traces.what_if import scenarios_of, what_if_result
    from hopperkit.traces.backtest import backtest, with_rules_of_all_jobs
    from hopperkit.traces.changes.scenario import together
    from hopperkit.traces.changes.what_if import what_if
    from hopperkit.traces.twin import twin

    if log.shared and changes["shared"]:
        raise InputError("jobs already share nodes in this log", name="shared")
    scenarios = scenarios_of(log.trace, log.nodes, **changes)
    if len(scenarios) > 1:
        scenarios.append(together(scenarios))
    test = backtest(*log.settings, base=log.base, with_ceiling=False)
    test = with_rules_of_all_jobs(test, *log.settings, base=log.base)
    result = what_if_result(test, what_if(*log.settings, test.rules, scenarios))
    return replace(
        result, findings=(*twin(*log.settings, test.rules, schedule=test.schedule).findings, *result.findings)
    )


def _since(log: _Log, date: str) -> "Result":
    """Estimate the effect of a change at DATE, such as 2026-03-01: waits before and after it, compared with the earlier
    rules.

    The jobs after DATE are simulated as if nothing had changed, so that different jobs are not mistaken for different
    rules.
    """
    from hopperkit.questions.network.traces.change import change_result, second_of
    from hopperkit.traces.changes.before_after import before_after

    return change_result(date, before_after(*log.settings, second_of(date, log.trace), base=log.base))


def _why(log: _Log, job: str, downtimes: str | None) -> "Result":
    """Explain why JOB in FILE waited: its wait, divided among causes."""
    from hopperkit.questions.network.traces.rules import why_result
    from hopperkit.traces.rules.learn import learn
    from hopperkit.traces.smaller_request import smaller_request
    from hopperkit.traces.why import explain_wait
    from hopperlib.scheduling.downtimes import read_downtimes

    down = read_downtimes(read_source(downtimes, what="downtimes").splitlines()) if downtimes else []
    index = _index(log.trace, job)
    rules, _ = learn(*log.settings, base=log.base)
    # If partitions are separate, only those sharing nodes with the job's partition count.
    queue = log.trace.workload.word("queue", index)
    queues: list[str] = []
    trace, nodes, unit = log.trace, log.nodes, "node"
    if log.cluster:
        partition = log.cluster.partition(queue)
        queues = next(group for group in log.cluster.parts() if partition in group)
        members = {node for name in queues for node in log.cluster.partitions[name].nodes}
        nodes = len(members)
        if log.shared:
            trace, nodes, unit = in_cores(log.trace), sum(log.shared.nodes[node].cores for node in members), "core"
        queues = [] if "" in queues else queues
    wait = explain_wait(trace.workload, index, nodes, log.clock, rules, down, queues)
    request = (
        smaller_request(log.trace.workload, index, log.cluster or log.nodes, log.clock, rules)
        if wait.wait_s >= 60
        else None
    )
    return why_result(trace, wait, rules, nodes, unit=unit, request=request)


def in_cores(trace: "Trace") -> "Trace":
    """Return a trace with job sizes in cores, wherever they are.

    Parameters
    ----------
    trace : Trace
        Job trace with cores.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> trace = read_job_trace('1 0 0 60 48 -1 -1 48 60 -1 1 1 1 1 1 1 -1 -1', form='swf', cores_per_node=24)
    >>> [job.nodes for job in trace.workload], [job.nodes for job in in_cores(trace).workload]
    ([2], [48])
    """
    from hopperlib.scheduling.workload import Workload

    jobs = Workload(job._replace(nodes=job.cores or job.nodes) for job in trace.workload)
    jobs.users = trace.workload.users
    return replace(trace, workload=jobs)


def _when(log: _Log, job: str) -> "Result":
    """Estimate when the pending JOB will start: FILE has running and pending jobs, and some weeks of past ones.

    Rules are learned from the last 5,000 started jobs (2,000 if they share nodes), and tested on the later ones.
    """
    from hopperkit.questions.network.traces.rules import when_result
    from hopperkit.traces.backtest import backtest
    from hopperkit.traces.pending import expected_start, last_started

    names = [name for name, _ in log.trace.unfinished]
    if job not in names:
        raise InputError(
            f"job {job!r} is not among the {len(names):,} running or waiting jobs in this log{did_you_mean(job, names)}"
        )
    workload, nodes, clock = log.settings
    recent = last_started(workload, nodes)
    test = backtest(recent, nodes, clock, base=log.base, with_ceiling=False)
    unfinished = [each for _, each in log.trace.unfinished]
    found = expected_start(recent, unfinished, names.index(job), nodes, clock, test.rules)
    return when_result(log.trace, job, found, test)


def _index(log: "Trace", job: str) -> int:
    """Return the index of a job by its name in the log."""
    names = {log.names.get(number, str(number)): index for index, number in enumerate(log.workload.job)}
    if any(job == name for name, _ in log.unfinished):
        raise InputError(
            f"job {job!r} is still running or waiting: `hopper trace when` estimates the start of a waiting job"
        )
    if job not in names:
        near = did_you_mean(job, names) if len(names) < 20_000 else ""
        raise InputError(f"job {job!r} is not among the {len(names):,} usable jobs{near}")
    return names[job]


@trace.command("places")
@click.argument("file")
@click.option(
    "--network", required=True, metavar="FILE", help="topology.conf or .yaml, output of ibnetdiscover, or node names."
)
@refusing
def places_of_jobs(file: str, network: str) -> None:
    """Print as CSV the location of each job of FILE in the site's network; `hopper locality` estimates its cost."""
    from hopperkit.readers.networks import jobs_in_network

    placements = jobs_in_network(read_source(file, what="job log"), read_source(network, what="network"))
    click.echo(placements.csv(), nl=False)


_command(_learn)
_command(_backtest)
_command(
    _what_if,
    click.Option(["--nodes", "more_nodes"], multiple=True, metavar="+10%|-64|N", help="More nodes, fewer, or N."),
    click.Option(["--max-walltime"], multiple=True, metavar="24h", help="Longest time limit that a job may request."),
    click.Option(
        ["--partition"],
        multiple=True,
        metavar="split:4h:25%",
        help="Reserve nodes for short jobs: 25 % for limits up to 4 h.",
    ),
    click.Option(["--drain"], multiple=True, metavar="WHEN/HOURS[:NODES]", help="As 2026-12-01T08:00/12h:node[1-64]."),
    click.Option(
        ["--depth"],
        multiple=True,
        metavar="0|1|N|all",
        help="Blocked jobs with a reserved start (1: EASY); of a Slurm log, jobs that a backfill pass tests (bf_max_job_test).",
    ),
    click.Option(
        ["--first"], multiple=True, metavar="account:NAME", help="Jobs that go first: account, user, qos or queue."
    ),
    click.Option(["--merge"], is_flag=True, help="All partitions become one."),
    click.Option(["--shared"], is_flag=True, help="Jobs share nodes by cores."),
    nodes="--machine-nodes",
)
_command(
    _why,
    click.Argument(["job"]),
    click.Option(["--downtimes"], metavar="CSV", help="Of nodes: kind,start_s,end_s,first_node,last_node"),
)
_command(_since, click.Argument(["date"]))
_command(_when, click.Argument(["job"]))
