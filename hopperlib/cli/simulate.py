"""``hopper simulate``: the question, for traces of any size, and what it writes beside the answer."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import read_source, write_lines, write_page
from hopperlib.cli.question import show
from hopperlib.errors import InputError, refusal

if TYPE_CHECKING:
    from hopperlib.network.scheduling.schedule import Schedule
    from hopperlib.questions.network.simulate import Simulated
    from hopperlib.questions.question import Question
    from hopperlib.readers.jobs.trace import Trace

# Shorter traces are done before anybody looks.
_WORTH_A_BAR = 50_000
_INTERRUPTED = 130
_RECORDS = 100


def simulate(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Read the trace line by line, simulate it, and print or write what was asked for."""
    from hopperlib.questions.network.simulate import LOUD, reading_of, result_of, simulated

    names = ("trace", "records", "every", "swf", "map_at_s", "as_csv", "parquet", "page")
    path, records, every, swf, map_at_s, as_csv, parquet, page = (values.pop(name, None) for name in names)
    if map_at_s is not None and (as_csv or as_json):
        raise InputError("--map prints a picture in text; it does not go with --csv or --json")
    for name in ("policy", "against"):
        if ":" in values.get(name, ""):
            values[name] = _function(name, values[name])
    settings = question.read(values | _queues(values.pop("queues", None)))
    trace = _trace(path, reading_of(settings))
    span_s = max(trace.workload.arrival_s) - min(trace.workload.arrival_s) + max(trace.workload.run_time_s)
    with _progress(len(trace.workload)) as progress:
        sampled = every if records else max(60, span_s // _RECORDS) if page else None
        outcome = simulated(trace, settings, every_s=sampled, progress=progress)
        other = None
        if settings["against"] != "none":
            other = simulated(trace, {**settings, "policy": settings["against"]}, progress=progress)
    if map_at_s is not None and not outcome.addresses:
        raise InputError("--map needs --machine with a machine whose cabinets are known: one with a torus")
    # What the answer says already is not said again.
    is_told = as_json or show_all
    for note in filter(lambda note: as_csv or not (is_told or note.code in LOUD), (*trace.account(), *outcome.notes)):
        click.echo(f"hopper: {note.message}", err=True)
    schedule = outcome.schedule
    if records:
        write_lines(records, _record_lines(schedule), as_json=as_json)
    if swf:
        from hopperlib.readers.jobs.swf import write_swf

        write_lines(swf, write_swf(schedule, cores_per_node=settings["cores_per_node"]), as_json=as_json)
    if parquet:
        _write_parquet(parquet, outcome)
    if as_csv:
        import csv

        csv.writer(sys.stdout, lineterminator="\n").writerows(_job_rows(outcome))
    if page or not as_csv:
        result = result_of(outcome, other)
        write_page(page, result, "A job trace, observed and simulated", f"From `{path}`.", as_json=as_json)
        if not as_csv:
            show(question.name, result, as_json, show_all)
        if map_at_s is not None:
            _print_map(outcome, map_at_s)
    if schedule.stopped_s is not None:
        click.echo(f"hopper: stopped at {schedule.stopped_s} s of simulated time; later jobs are left out", err=True)
        raise SystemExit(_INTERRUPTED)


def _trace(path: str, reading: dict[str, Any]) -> "Trace":
    """Return the trace of a file, or of standard input."""
    from pathlib import Path

    from hopperlib.readers.jobs import read_job_trace

    try:
        return read_job_trace(Path(path), **reading)
    except InputError as error:
        if str(error).startswith((path, "the input")):
            raise InputError(f"cannot read trace {error}") from error
        raise


def _function(name: str, text: str) -> Any:
    """Return the function that ``module:function`` names; the module may lie in the current folder."""
    import importlib

    module, _, function = text.partition(":")
    # As for ``python -m``, and for this import alone.
    sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise refusal(name, text, f"must be module:function of a module that can be imported: {error}") from None
    finally:
        sys.path.pop(0)


def _queues(name: str | None) -> dict[str, str]:
    """Return the controls that a table of queues sets: one of the package by its name, or a file."""
    from hopperlib.network.scheduling.rules import queue_tables

    if name is None or name in queue_tables():
        return {} if name is None else {"queues": name}
    if not name.endswith(".toml"):
        raise refusal("queues", name, f"must be one of: {', '.join(queue_tables())}; or a file that ends in .toml")
    return {"queue_file": read_source(name, what="queues")}


@contextmanager
def _progress(jobs: int) -> Iterator[Callable[[int], bool]]:
    """Show how far the simulation is, on a terminal and for long traces; the first Ctrl-C stops it in order."""
    stopped = False

    def stop(*_: object) -> None:
        nonlocal stopped
        stopped = True

    # No exception in the middle of the loop: the simulation asks between two steps whether to stop, and what it has
    # is shown.
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


def _record_lines(schedule: "Schedule") -> Iterator[str]:
    """Yield the machine over time as CSV."""
    from hopperlib.network.scheduling.schedule import Sample

    yield ",".join(Sample._fields) + "\n"
    for sample in schedule.samples:
        yield ",".join(map(str, sample)) + "\n"


def _job_rows(outcome: "Simulated") -> Iterator[tuple[Any, ...]]:
    """Yield a header and every job, in order of submission; after an interrupt, those that had ended."""
    from hopperlib.network.scheduling.schedule import STATUS
    from hopperlib.questions.wording import record_of

    schedule, names = outcome.schedule, outcome.trace.names
    distances = outcome.hops()
    stated = record_of("hopperlib.questions.network.simulate")["command"]
    yield tuple(stated["columns"])
    own_of = attrgetter(*stated["own_columns"])
    for index, job in enumerate(schedule.workload):
        state = STATUS[schedule.status[index]]
        if schedule.stopped_s is not None and (
            not schedule.status[index] or schedule.end_s[index] > schedule.stopped_s
        ):
            continue
        ran = bool(schedule.status[index])
        nodes = ",".join(str(low) if high == low + 1 else f"{low}-{high - 1}" for low, high in schedule.runs(index))
        distance = None if distances is None or not ran else float(f"{distances[index]:.6g}")
        times = (schedule.start_s[index], schedule.end_s[index]) if ran else (None, None)
        placed = (job.nodes, schedule.run_count[index], distance, state)
        named = job._replace(user=outcome.trace.users.get(job.user, job.user))  # type: ignore[arg-type]
        yield names.get(job.job, job.job), job.submit_time_s, *times, *placed, *own_of(named), nodes


def _write_parquet(path: str, outcome: "Simulated") -> None:
    """Write every job as Parquet."""
    try:
        import pandas as pd
    except ImportError:
        raise InputError("--parquet needs pandas and pyarrow: pip install 'hopper-book[analysis]'") from None
    header, *rows = _job_rows(outcome)
    table = pd.DataFrame(rows, columns=list(header)).convert_dtypes()
    try:
        table.astype({"job": "string"}).to_parquet(path, index=False)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def _print_map(outcome: "Simulated", time_s: int) -> None:
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
