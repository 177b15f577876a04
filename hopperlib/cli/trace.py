"""``hopper trace``: what a job log says of its own scheduler."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import all_option, json_option, read_source, refusing
from hopperlib.cli.question import show
from hopperlib.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from hopperlib.readers.jobs.trace import Trace


@click.group()
def trace() -> None:
    """Learn a scheduler's rules from a job log, test them, say why a job waited, and what a change would do.

    FILE is a trace in the Standard Workload Format, or what sacct --parsable2 or --json printed; - is standard input.
    Whole nodes of one pool are taken; where nodes are shared, give --cores-per-node 1 to count processors.
    """


_nodes_option = click.option("--nodes", type=click.IntRange(1), help="Nodes of the machine. [default: as the log says]")


def _options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how a log is read."""
    options: list[Callable[[Callable[..., None]], Callable[..., None]]] = [
        click.option("--cores-per-node", type=click.IntRange(0), default=0, help="For SWF; 0 = as its header says."),
        click.option("--timezone", default="", help="Of the clock that printed the log, such as Europe/Berlin."),
        all_option,
        json_option,
    ]
    for option in options:
        command = option(command)
    return command


def _read(file: str, nodes: int | None, cores_per_node: int, timezone: str) -> "tuple[Trace, int, Any]":
    """Return the log, the nodes of the machine and the clock; jobs wider than the machine are left out."""
    from dataclasses import replace

    from hopperlib.readers.jobs import read_job_trace
    from hopperlib.scheduling.cluster import most_at_once
    from hopperlib.scheduling.logs.learned import Clock

    try:
        log = read_job_trace(Path(file), cores_per_node=cores_per_node, timezone=timezone)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None
    room = nodes or log.nodes or most_at_once(log.workload)
    if not room:
        raise InputError("this log tells no starts: nothing can be learned from it")
    fitting = [job for job, width in enumerate(log.workload.nodes) if width <= room]
    workload = log.workload if len(fitting) == len(log.workload) else log.workload.of(fitting)
    return replace(log, workload=workload), room, Clock(log.epoch_s, log.timezone)


@trace.command("learn")
@click.argument("file")
@_nodes_option
@_options
@refusing
def learn_rules(
    file: str, nodes: int | None, cores_per_node: int, timezone: str, as_json: bool, show_all: bool
) -> None:
    """Closed hours, limits, absent nodes, the order of the queue and the depth of backfill, as FILE shows them."""
    from hopperlib.questions.network.traces.rules import learned_result
    from hopperlib.scheduling.logs.learned import learn

    log, room, clock = _read(file, nodes, cores_per_node, timezone)
    rules, findings = learn(log.workload, room, clock)
    show("trace-learn", learned_result(rules, findings, len(log.workload)), as_json, show_all)


@trace.command("backtest")
@click.argument("file")
@_nodes_option
@_options
@refusing
def backtest_rules(
    file: str, nodes: int | None, cores_per_node: int, timezone: str, as_json: bool, show_all: bool
) -> None:
    """Rules from the first 60 % of FILE, held against its later jobs and three null models."""
    from hopperlib.questions.network.traces.rules import backtest_result
    from hopperlib.scheduling.logs.backtest import backtest

    log, room, clock = _read(file, nodes, cores_per_node, timezone)
    show("trace-backtest", backtest_result(backtest(log.workload, room, clock)), as_json, show_all)


@trace.command("what-if")
@click.argument("file")
@click.option("--nodes", "more_nodes", multiple=True, metavar="+10%|-64|N", help="More, fewer, or that many nodes.")
@click.option("--max-walltime", multiple=True, metavar="24h", help="The longest limit that a job may ask for.")
@click.option(
    "--partition", multiple=True, metavar="split:4h:25%", help="Limits up to 4 h get 25 % of the nodes alone."
)
@click.option("--drain", multiple=True, metavar="WHEN/HOURS[:NODES]", help="As 2026-12-01T08:00/12h:node[1-64].")
@click.option("--depth", multiple=True, metavar="0|1|N|all", help="Backfill depth: blocked jobs with a reserved start.")
@click.option("--shared", is_flag=True, help="Jobs share nodes by cores.")
@click.option("--machine-nodes", type=click.IntRange(1), help="Nodes that there are. [default: as the log says]")
@_options
@refusing
def what_if_changed(
    file: str,
    machine_nodes: int | None,
    cores_per_node: int,
    timezone: str,
    as_json: bool,
    show_all: bool,
    **changes: Any,
) -> None:
    """Changes of the machine, side by side: what they would do to the waits of FILE, and how sure that is.

    Each change is simulated alone, and all together where there are several.
    """
    from hopperlib.questions.network.traces.what_if import scenarios_of, what_if_result
    from hopperlib.scheduling.logs.backtest import backtest
    from hopperlib.scheduling.logs.whatif import together, what_if

    log, room, clock = _read(file, machine_nodes, cores_per_node, timezone)
    scenarios = scenarios_of(log, room, **changes)
    if len(scenarios) > 1:
        scenarios.append(together(scenarios))
    test = backtest(log.workload, room, clock)
    found = what_if(log.workload, room, clock, test.rules, scenarios)
    show("trace-what-if", what_if_result(test, found), as_json, show_all)


@trace.command("why")
@click.argument("file")
@click.argument("job")
@click.option(
    "--downtimes", metavar="CSV", help="When nodes were drained or down: kind,start_s,end_s,first_node,last_node"
)
@_nodes_option
@_options
@refusing
def why_job(
    file: str,
    job: str,
    downtimes: str | None,
    nodes: int | None,
    cores_per_node: int,
    timezone: str,
    as_json: bool,
    show_all: bool,
) -> None:
    """Why JOB of FILE waited: its wait by causes, which add up."""
    from hopperlib.questions.network.traces.rules import why_result
    from hopperlib.scheduling.downtimes import read_downtimes
    from hopperlib.scheduling.logs.learned import learn
    from hopperlib.scheduling.logs.why import explain_wait

    log, room, clock = _read(file, nodes, cores_per_node, timezone)
    down = read_downtimes(read_source(downtimes, what="downtimes").splitlines()) if downtimes else []
    index = _index(log, job)
    rules, _ = learn(log.workload, room, clock)
    wait = explain_wait(log.workload, index, room, clock, rules, down)
    show("trace-why", why_result(log, wait, rules, room), as_json, show_all)


@trace.command("when")
@click.argument("file")
@click.argument("job")
@_nodes_option
@_options
@refusing
def when_job(
    file: str, job: str, nodes: int | None, cores_per_node: int, timezone: str, as_json: bool, show_all: bool
) -> None:
    """When JOB will start, which waits still: FILE holds running and pending jobs and some weeks of past ones."""
    from hopperlib.questions.network.traces.rules import when_result
    from hopperlib.scheduling.logs.backtest import backtest
    from hopperlib.scheduling.logs.pending import expected_start

    log, room, clock = _read(file, nodes, cores_per_node, timezone)
    names = [name for name, _ in log.unfinished]
    if job not in names:
        raise InputError(
            f"job {job!r} is not among the {len(names):,} jobs that run or wait in this log{did_you_mean(job, names)}"
        )
    test = backtest(log.workload, room, clock)
    unfinished = [each for _, each in log.unfinished]
    found = expected_start(log.workload, unfinished, names.index(job), room, clock, test.rules)
    show("trace-when", when_result(log, job, found, test), as_json, show_all)


@trace.command("places")
@click.argument("file")
@click.option("--network", required=True, metavar="FILE", help="topology.conf or .yaml, ibnetdiscover, names of nodes.")
@refusing
def places_of_jobs(file: str, network: str) -> None:
    """Print as CSV where each job of FILE lay in the site's network: `hopper where` says what that cost."""
    from hopperlib.readers.networks import read_placements

    placements = read_placements(read_source(file, what="job log"), read_source(network, what="network"))
    click.echo(placements.csv(), nl=False)


def _index(log: "Trace", job: str) -> int:
    """Return the index of a job by its name in the log."""
    names = {log.names.get(number, str(number)): index for index, number in enumerate(log.workload.job)}
    if any(job == name for name, _ in log.unfinished):
        raise InputError(f"job {job!r} runs or waits still: `hopper trace when` says when one that waits starts")
    if job not in names:
        near = did_you_mean(job, names) if len(names) < 20_000 else ""
        raise InputError(f"job {job!r} is not among the {len(names):,} jobs that can be taken{near}")
    return names[job]
