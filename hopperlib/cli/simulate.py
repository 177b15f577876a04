"""``hopper simulate``: the question, for traces of any size, and what it writes beside the answer."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail
from hopperlib.cli.question import question_command, show
from hopperlib.errors import InputError, refusal
from hopperlib.questions.question import load

if TYPE_CHECKING:
    from hopperlib.network.scheduling.schedule import Schedule
    from hopperlib.questions.network.simulate import Simulated
    from hopperlib.questions.question import Question

__all__ = ["command"]

# Shorter traces are done before anybody looks.
_WORTH_A_BAR = 50_000
_INTERRUPTED = 130

_EXAMPLES = """hopper simulate --trace log.swf.gz --machine hopper --order xyz --csv > jobs.csv
sacct -aPX -S 2024-01-01 --format=JobID,User,State,Submit,Elapsed,Timelimit,NNodes > jobs.txt
hopper simulate --trace jobs.txt --nodes 512
hopper simulate --trace log.swf --machine hopper --queues hopper-final --downtimes down.csv --records free.csv"""


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Read the trace line by line, simulate it, and print or write what was asked for."""
    from hopperlib.questions.network.simulate import result_of, simulated
    from hopperlib.readers.job_trace import opened, read_job_trace

    names = ("trace", "records", "every", "swf", "map_at_s", "as_csv")
    path, records, every, swf, map_at_s, as_csv = (values.pop(name, None) for name in names)
    if map_at_s is not None and (as_csv or as_json):
        raise InputError("--map prints a picture in text; it does not go with --csv or --json")
    settings = question.read(values | _queues(values.pop("queues", None)))
    del settings["trace"]
    reading = {name: settings.pop(name) for name in ("form", "delimiter", "cores_per_node")}
    with opened(path) as file:
        trace = read_job_trace(file, **reading)
    with _progress(len(trace.workload)) as progress:
        outcome = simulated(trace, **settings, every_s=every if records else None, progress=progress)
    if map_at_s is not None and not outcome.addresses:
        raise InputError("--map needs --machine with a machine whose cabinets are known: one with a torus")
    for message in (*trace.skips.messages(), *trace.notes):
        click.echo(f"hopper: {message}", err=True)
    schedule = outcome.schedule
    if records:
        _write(records, _record_lines(schedule), as_json)
    if swf:
        from hopperlib.readers.swf import write_swf

        _write(swf, write_swf(schedule, cores_per_node=reading["cores_per_node"]), as_json)
    if as_csv:
        sys.stdout.writelines(_job_lines(outcome))
    else:
        show(question, result_of(outcome), as_json, show_all)
        if map_at_s is not None:
            _print_map(outcome, map_at_s)
    if schedule.stopped_s is not None:
        click.echo(f"hopper: stopped at {schedule.stopped_s} s of simulated time; later jobs are left out", err=True)
        raise SystemExit(_INTERRUPTED)


def _queues(name: str | None) -> dict[str, str]:
    """Return the controls that a table of queues sets: one of the package by its name, or a file."""
    from hopperlib.network.scheduling.queues import queue_tables
    from hopperlib.readers.job_trace import opened

    if name is None or name in queue_tables():
        return {} if name is None else {"queues": name}
    if not name.endswith(".toml"):
        raise refusal("queues", name, f"must be one of: {', '.join(queue_tables())}; or a file that ends in .toml")
    with opened(name, "queues") as file:
        return {"queue_file": file.read()}


@contextmanager
def _progress(jobs: int) -> Iterator[Callable[[int], bool]]:
    """Show how far the simulation is, on a terminal and for long traces; the first Ctrl-C stops it in order."""
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    before = signal.signal(signal.SIGINT, stop)
    try:
        if jobs < _WORTH_A_BAR or not sys.stderr.isatty():
            yield lambda submitted: stopped
        else:
            with click.progressbar(length=jobs, label="jobs", file=sys.stderr) as bar:

                def step(submitted: int) -> bool:
                    bar.update(submitted - bar.pos)
                    return stopped

                yield step
    finally:
        signal.signal(signal.SIGINT, before)


def _write(path: str, lines: Iterable[str], as_json: bool) -> None:
    """Write lines to a file, or end with one message."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        fail(f"cannot write {path}: {error.strerror or error}", as_json=as_json)


def _record_lines(schedule: Schedule) -> Iterator[str]:
    """Yield the machine over time as CSV."""
    from hopperlib.network.scheduling.schedule import Sample

    yield ",".join(Sample._fields) + "\n"
    for sample in schedule.samples:
        yield ",".join(map(str, sample)) + "\n"


def _job_lines(outcome: Simulated) -> Iterator[str]:
    """Yield every job that started as CSV, in order of submission; after an interrupt, those that had ended."""
    schedule, workload, names = outcome.schedule, outcome.schedule.workload, outcome.trace.names
    distances = outcome.hops()
    yield "job,submit_time_s,start_time_s,end_time_s,nodes,runs,mean_hops\n"
    for index in schedule.finished():
        if schedule.stopped_s is not None and schedule.end_s[index] > schedule.stopped_s:
            continue
        job, hops = workload.job[index], "" if distances is None else f"{distances[index]:.6g}"
        yield (
            f"{names.get(job, job)},{workload.submit_time_s[index]},{schedule.start_s[index]},{schedule.end_s[index]},"
            f"{workload.nodes[index]},{schedule.run_count[index]},{hops}\n"
        )


def _print_map(outcome: Simulated, time_s: int) -> None:
    """Print the cabinets with the jobs that sit there at an instant, and the list of those jobs."""
    from hopperlib.network.torus.maps import cabinet_map, holders, job_letters
    from hopperlib.network.torus.wiring import Wiring

    assert outcome.machine is not None
    schedule, nodes, wiring = outcome.schedule, outcome.addresses, Wiring.of(outcome.machine)
    held = {nodes[position].nid: index for position, index in holders(schedule, time_s).items()}
    service = {node.nid for node in wiring.addresses} - {node.nid for node in nodes}
    click.echo(f"\nat {time_s} s: {len(held):,} of {len(nodes):,} nodes busy")
    click.echo(cabinet_map(wiring, held, service=service))
    for index, letter in job_letters(held).items():
        job, runs = schedule.workload.job[index], schedule.run_count[index]
        click.echo(
            f"{letter}  job {outcome.trace.names.get(job, job)}, {schedule.workload.nodes[index]:,} nodes"
            f" in {runs} run{'s' * (runs != 1)}, since {schedule.start_s[index]} s"
        )


command = question_command(
    load("simulate"),
    extra=(
        click.Option(
            ["--trace"], required=True, metavar="FILE", help="Trace, compressed (.gz, .bz2, .xz) or not; or -."
        ),
        click.Option(
            ["--queues"], metavar="TABLE", help="Priorities and limits: hopper-2013, hopper-final, or a TOML file."
        ),
        click.Option(
            ["--records"], metavar="FILE", help="Write the machine over time here: CSV, a line every --every s."
        ),
        click.Option(
            ["--every"], type=int, default=3600, show_default=True, metavar="S", help="Seconds between records."
        ),
        click.Option(["--swf"], metavar="FILE", help="Write the schedule here in the Standard Workload Format."),
        click.Option(["--map", "map_at_s"], type=int, metavar="S", help="Print who sits where at this second."),
        click.Option(["--csv", "as_csv"], is_flag=True, help="Print every job: times, nodes, runs, mean hops."),
    ),
    run=_run,
    left_out=("trace", "queues", "queue_file"),
    examples=_EXAMPLES,
)
