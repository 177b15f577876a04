"""``hopper simulate``: a job trace through a scheduler that remembers every job's nodes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from hopperlib.cli.common import fail, print_json

if TYPE_CHECKING:
    from hopperlib.machine import Machine
    from hopperlib.network.scheduling.downtimes import Downtime
    from hopperlib.network.scheduling.queues import QueueTable
    from hopperlib.network.scheduling.schedule import Schedule
    from hopperlib.network.torus.allocation import PrefixCounts
    from hopperlib.readers.trace import Trace

__all__ = ["command"]

_HELP = """Run a job trace through a batch scheduler that remembers every job's nodes.

The trace is in the Standard Workload Format, or what `sacct --parsable2` prints; "-" reads standard
input, and compressed files (.gz, .bz2, .xz) are read too. Without --csv or --json a summary is printed.

\b
  hopper simulate --trace log.swf.gz --machine hopper --order xyz --csv > jobs.csv
  sacct -aPX -S 2024-01-01 --format=JobID,User,State,Submit,Elapsed,Timelimit,NNodes > jobs.txt
  hopper simulate --trace jobs.txt --nodes 512
  hopper simulate --trace log.swf --machine hopper --queues hopper-final --downtimes down.csv --records free.csv
"""


@click.command(name="simulate", help=_HELP, short_help="Run a job trace through a scheduler.")
@click.option("--trace", required=True, metavar="FILE", help="Trace: SWF or sacct --parsable2.")
@click.option("--format", "form", type=click.Choice(["auto", "swf", "sacct"]), default="auto", show_default=True)
@click.option("--delimiter", default="|", show_default=True, help="Between the fields of sacct output.")
@click.option("--nodes", type=int, metavar="N", help="Nodes of the machine.")
@click.option("--machine", metavar="M", help="A machine's name or file; gives the nodes, and hops if it has a torus.")
@click.option("--cores-per-node", type=int, default=1, show_default=True, help="Processors of a node in an SWF trace.")
@click.option("--policy", default="easy", show_default=True, help="easy or fcfs.")
@click.option("--allocation", default="first", show_default=True, help="first, best, contiguous or random.")
@click.option("--order", default="nid", show_default=True, help="Order of the node list: nid, xyz, xyz_by2 or hilbert.")
@click.option("--overrun", default="kill", show_default=True, help="At a job's limit: kill or keep.")
@click.option("--queues", metavar="TABLE", help="Priorities and limits: hopper-2013, hopper-final, or a TOML file.")
@click.option("--aging-hours", type=float, metavar="H", help="Hours of waiting that make up for one step of priority.")
@click.option("--downtimes", metavar="FILE", help="Outages, drains, orphans, reservations: CSV kind,start_s,end_s,...")
@click.option("--records", metavar="FILE", help="Write the machine over time here: CSV, a line every --every seconds.")
@click.option("--every", type=int, default=3600, show_default=True, metavar="S", help="Seconds between records.")
@click.option("--swf", metavar="FILE", help="Write the schedule here in the Standard Workload Format.")
@click.option(
    "--map", "map_at_s", type=int, metavar="S", help="Print who sits where at this second: a map of the cabinets."
)
@click.option("--seed", type=int, default=0, show_default=True, help="For random allocation.")
@click.option("--csv", "as_csv", is_flag=True, help="Print every job: times, nodes, runs, mean hops.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as data.")
def command(
    trace: str,
    form: str,
    delimiter: str,
    nodes: int | None,
    machine: str | None,
    cores_per_node: int,
    policy: str,
    allocation: str,
    order: str,
    overrun: str,
    queues: str | None,
    aging_hours: float | None,
    downtimes: str | None,
    records: str | None,
    every: int,
    swf: str | None,
    map_at_s: int | None,
    seed: int,
    as_csv: bool,
    as_json: bool,
) -> None:
    """Answer ``hopper simulate``."""
    import dataclasses
    import random

    from hopperlib.network.scheduling.queues import put_into_queues
    from hopperlib.network.scheduling.scheduler import simulate

    try:
        wide, counts = _machine(nodes, machine, order)
        if map_at_s is not None:
            _mappable(machine, counts, as_csv or as_json)
        planned, table = _downtimes(downtimes, wide), _queues(queues)
        if aging_hours is not None and not 0 < aging_hours < 1e6:
            raise ValueError(f"--aging-hours {aging_hours} must be above 0")
        if aging_hours is not None and table is None:
            raise ValueError("--aging-hours needs --queues: without priorities there is nothing to make up for")
        read = _read(trace, form, delimiter, cores_per_node)
        if form != "sacct" and cores_per_node == 1 and max(read.workload.nodes) > wide and not read.names:
            click.echo("hopper: if the trace counts processors, say how many a node has: --cores-per-node", err=True)
        if table is not None:
            read = dataclasses.replace(read, workload=put_into_queues(read.workload, table))
        with _progress(len(read.workload)) as progress:
            schedule = simulate(
                read.workload,
                wide,
                policy=policy,
                allocation=allocation,
                overrun=overrun,
                queues=table.queues if table else (),
                aging_s=None if aging_hours is None else max(1, round(3600 * aging_hours)),
                downtimes=planned,
                rng=random.Random(seed),
                sample_every_s=every if records else None,
                progress=progress,
            )
    except ValueError as error:
        fail(str(error), as_json=as_json)
    for message in (*read.skips.messages(), *read.notes):
        click.echo(f"hopper: {message}", err=True)
    if records:
        _write(records, _record_lines(schedule), as_json)
    if swf:
        from hopperlib.readers.swf import write_swf

        _write(swf, write_swf(schedule, cores_per_node=cores_per_node), as_json)
    if as_csv:
        _write_csv(sys.stdout, read, schedule, counts)
    else:
        _summarize(read, schedule, wide, as_json)
        if map_at_s is not None and machine is not None:
            _print_map(read, schedule, machine, order, map_at_s)
    if schedule.stopped_s is not None:
        click.echo(f"hopper: stopped at {schedule.stopped_s} s of simulated time; later jobs are left out", err=True)
        raise SystemExit(130)


def _machine(nodes: int | None, name: str | None, order: str) -> tuple[int, PrefixCounts | None]:
    """Return the nodes to schedule on, and what measures hops if there is a torus."""
    from hopperlib.network.torus.orders import ORDERS

    if order not in ORDERS:
        raise ValueError(f"--order {order} must be one of: {', '.join(ORDERS)}")
    if name is None:
        if nodes is None:
            raise ValueError("say how many nodes there are: --nodes N, or --machine M")
        return nodes, None
    from hopperlib.machine import Machine

    machine = Machine.load(name)
    if nodes is not None and nodes != machine.nodes:
        raise ValueError(
            f"--nodes {nodes} contradicts --machine {name}, which has {machine.nodes}; give one of the two"
        )
    return machine.nodes, _counts(machine, order)


def _mappable(machine: str | None, counts: PrefixCounts | None, as_data: bool) -> None:
    """Refuse a map where there are no cabinets, or where data was asked for."""
    if as_data:
        raise ValueError("--map prints a picture in text; it does not go with --csv or --json")
    if machine is None or counts is None:
        raise ValueError("--map needs --machine with a machine whose cabinets are known: one with a torus")


def _print_map(trace: Trace, schedule: Schedule, machine_name: str, order: str, time_s: int) -> None:
    """Print the cabinets with the jobs that sit there at an instant, and the list of those jobs."""
    from hopperlib.machine import Machine
    from hopperlib.network.torus.maps import cabinet_map, holders, job_letters
    from hopperlib.network.torus.orders import compute_nodes, order_nodes
    from hopperlib.network.torus.wiring import Wiring

    machine = Machine.load(machine_name)
    wiring = Wiring.of(machine)
    nodes = order_nodes(compute_nodes(machine), order)
    held = {nodes[position].nid: index for position, index in holders(schedule, time_s).items()}
    computing = {node.nid for node in nodes}
    click.echo(f"\nat {time_s} s: {len(held):,} of {len(nodes):,} nodes busy")
    click.echo(cabinet_map(wiring, held, service=[one.nid for one in wiring.addresses if one.nid not in computing]))
    for index, letter in job_letters(held).items():
        job, runs = schedule.workload.job[index], schedule.run_count[index]
        click.echo(
            f"{letter}  job {trace.names.get(job, job)}, {schedule.workload.nodes[index]:,} nodes"
            f" in {runs} run{'s' * (runs != 1)}, since {schedule.start_s[index]} s"
        )


def _queues(name: str | None) -> QueueTable | None:
    """Return the queues of a table that comes with the package, or of a file with one table."""
    from hopperlib.network.scheduling.queues import queue_table, queue_tables, read_queues

    if name is None:
        return None
    if name in queue_tables():
        return queue_table(name)
    if not name.endswith(".toml"):
        raise ValueError(f"--queues {name} must be one of: {', '.join(queue_tables())}; or a file that ends in .toml")
    with _opened(name, "queues") as file:
        text = file.read()
    try:
        tables = read_queues(text)
    except ValueError as error:
        raise ValueError(f"queues {name}: {error}") from None
    if len(tables) != 1:
        raise ValueError(f"queues {name}: one table is needed, {len(tables)} are there")
    return next(iter(tables.values()))


def _downtimes(path: str | None, nodes: int) -> list[Downtime]:
    """Return the downtimes of a file; none without one."""
    from hopperlib.network.scheduling.downtimes import read_downtimes

    if path is None:
        return []
    with _opened(path, "downtimes") as file:
        lines = file.readlines()
    try:
        found = read_downtimes(lines)
        for one in found:
            if one.last_node is not None and one.last_node > nodes:
                raise ValueError(f"last_node={one.last_node} is more than the {nodes} nodes of the machine")
    except ValueError as error:
        raise ValueError(f"downtimes {path}: {error}") from None
    return found


def _record_lines(schedule: Schedule) -> Iterator[str]:
    """Yield the machine over time as CSV."""
    from hopperlib.network.scheduling.schedule import Sample

    yield ",".join(Sample._fields) + "\n"
    for sample in schedule.samples:
        yield ",".join(map(str, sample)) + "\n"


def _write(path: str, lines: Iterable[str], as_json: bool) -> None:
    """Write lines to a file, or end with one message."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror or error}", as_json=as_json)


def _counts(machine: Machine, order: str) -> PrefixCounts | None:
    """Return the running sums of the machine's coordinates in node order; None without a torus."""
    if machine.network is None or machine.network.dimensions is None:
        return None
    from hopperlib.network.torus.allocation import PrefixCounts
    from hopperlib.network.torus.distances import Torus
    from hopperlib.network.torus.orders import compute_nodes, order_nodes

    nodes = order_nodes(compute_nodes(machine), order)
    if len(nodes) != machine.nodes:
        raise ValueError(
            f"machine {machine.name!r}: its floor holds {len(nodes)} compute nodes, its file counts {machine.nodes}"
        )
    return PrefixCounts([node.coordinates for node in nodes], Torus.of(machine))


def _read(path: str, form: str, delimiter: str, cores_per_node: int) -> Trace:
    """Return the trace of a file, its format found out by its first line."""
    from hopperlib.readers.sacct import read_sacct
    from hopperlib.readers.swf import read_swf

    with _opened(path) as file:
        first = file.readline()
        while first and not first.strip():
            first = file.readline()
        lines = _chain(first, file)
        if form == "sacct" or (form == "auto" and delimiter in first and "JobID" in first):
            return read_sacct(lines, delimiter=delimiter)
        return read_swf(lines, cores_per_node=cores_per_node)


def _chain(first: str, rest: TextIO) -> Iterator[str]:
    yield first
    yield from rest


@contextmanager
def _opened(path: str, what: str = "trace") -> Iterator[TextIO]:
    """Open a text file, compressed or not; one message if it cannot be read."""
    import bz2
    import gzip
    import lzma
    import zlib

    openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opener = next((opener for ending, opener in openers.items() if path.endswith(ending)), open)
    try:
        if path == "-":
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
            yield sys.stdin
            return
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            yield file
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"cannot read {what} {path}: {reason}") from error


@contextmanager
def _progress(jobs: int) -> Iterator[Callable[[int], bool]]:
    """Show how far the simulation is, on a terminal and for long traces; the first Ctrl-C stops it in order."""
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        if jobs < 50_000 or not sys.stderr.isatty():
            yield lambda submitted: stopped
        else:
            with click.progressbar(length=jobs, label="jobs", file=sys.stderr) as bar:

                def step(submitted: int) -> bool:
                    bar.update(submitted - bar.pos)
                    return stopped

                yield step
    finally:
        signal.signal(signal.SIGINT, before)


def _write_csv(out: TextIO, trace: Trace, schedule: Schedule, counts: PrefixCounts | None) -> None:
    """Write a line for every job that started, in order of submission."""
    out.write("job,submit_time_s,start_time_s,end_time_s,nodes,runs,mean_hops\n")
    workload, names = schedule.workload, trace.names
    for index in schedule.finished():
        if schedule.stopped_s is not None and schedule.end_s[index] > schedule.stopped_s:
            continue
        hops = "" if counts is None else f"{counts.mean_hop_distance(schedule.runs(index)):.6g}"
        job = workload.job[index]
        out.write(
            f"{names.get(job, job)},{workload.submit_time_s[index]},{schedule.start_s[index]},{schedule.end_s[index]},"
            f"{workload.nodes[index]},{schedule.run_count[index]},{hops}\n"
        )


def _summarize(trace: Trace, schedule: Schedule, nodes: int, as_json: bool) -> None:
    """Print what came out, for people or for programs."""
    from statistics import mean, median

    done = list(schedule.finished())
    waits = [schedule.wait_time_s(index) or 0 for index in done]
    runs = [schedule.run_count[index] for index in done]
    start, end = min(schedule.start_s[i] for i in done), max(schedule.end_s[i] for i in done)
    summary: dict[str, Any] = {
        "jobs": len(done),
        "skipped": trace.skips.total,
        "nodes": nodes,
        "span_s": end - start,
        "utilization": schedule.utilization(start, end) if end > start else None,
        "mean_wait_s": mean(waits),
        "median_wait_s": median(waits),
        "max_wait_s": max(waits),
        "mean_runs": mean(runs),
        "contiguous_fraction": sum(count == 1 for count in runs) / len(runs),
    }
    if as_json:
        print_json(summary)
        return
    share = "-" if summary["utilization"] is None else f"{100 * summary['utilization']:.1f} %"
    click.echo(f"{len(done):,} jobs on {nodes:,} nodes over {(end - start) / 86400:.2f} days: {share} used")
    click.echo(f"wait: mean {mean(waits):,.0f} s, median {median(waits):,.0f} s, longest {max(waits):,} s")
    click.echo(
        f"nodes of a job: {mean(runs):.2f} runs on average; {100 * summary['contiguous_fraction']:.1f} % of jobs in one run"
    )
