"""``hopper simulate``: the question, for traces of any size, with additional output files."""

import csv
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click

from hopperkit.cli.common import page_option, read_source, write_page
from hopperkit.cli.question import question_command, show
from hopperkit.questions.network.simulate import Simulation, simulated
from hopperkit.questions.network.traces.answer import ADVICE_CODES, Simulated, result_of
from hopperkit.questions.question import Question, load
from hopperlib.errors import InputError, refusal
from hopperlib.scheduling.rules import queue_tables

if TYPE_CHECKING:
    from hopperkit.readers.jobs.trace import Trace
    from hopperlib.network.fabrics.allocation_spread import AllocationSpread
    from hopperlib.network.fabrics.fabric import Fabric

# Shorter traces finish before a progress bar is useful.
_WORTH_A_BAR = 50_000
_POLICY_HELP = (
    "auto (what the log shows), slurm (Slurm's backfill), fcfs, easy or conservative; how many blocked jobs have a "
    "reserved start; or a custom function."
)
# Columns of --csv that come from the trace's jobs, by their field names.
_OWN_COLUMNS = {
    "requested_time_s": "requested_time_s",
    "queue": "queue",
    "user": "user",
    "account": "account",
    "qos": "qos",
    "eligible_time_s": "eligible_time_s",
    "observed_start_time_s": "observed_start_s",
    "cores": "cores",
    "gpus": "gpus",
    "memory_mb": "memory_mb",
}
# The first seven are stable; node_list has positions in the list of nodes.
_COLUMNS = (
    *("job", "submit_time_s", "start_time_s", "end_time_s", "nodes", "runs", "mean_hops", "status"),
    *_OWN_COLUMNS,
    "node_list",
    *("groups", "fewest_groups", "switches", "inside_group", "bisection_share"),
)


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Read the trace line by line, simulate it, and print or write the requested output."""
    path, as_csv = values.pop("trace"), values.pop("as_csv")
    page = values.pop("page", None)
    if ":" in values.get("policy", ""):
        values["policy"] = _function(values["policy"])
    setting = Simulation(**question.read(_with_queues(values)))
    trace = _trace(path, setting.reading)
    with _progress(len(trace.workload)) as progress:
        outcome = simulated(trace, setting, progress=progress)
    _warn(outcome, as_csv=as_csv, in_answer=as_json or show_all)
    if as_csv:
        csv.writer(sys.stdout, lineterminator="\n").writerows(_job_rows(outcome))
    if page or not as_csv:
        result = result_of(outcome)
        write_page(page, result, "A job trace, observed and simulated", f"From `{path}`.", as_json=as_json)
        if not as_csv:
            show(question.name, result, as_json, show_all)


def _with_queues(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values, with a queue file replaced by its text; names are kept."""
    name = values.get("queues")
    if name is None or name in queue_tables():
        return values
    if not name.endswith(".toml"):
        raise refusal("queues", name, f"must be one of: {', '.join(queue_tables())}; or a file that ends in .toml")
    return values | {"queues": "none", "queue_file": read_source(name, what="queues")}


@contextmanager
def _progress(jobs: int) -> Iterator[Callable[[int], object] | None]:
    """Show progress of the simulation, on a terminal and for long traces."""
    if jobs < _WORTH_A_BAR or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=jobs, label="jobs", file=sys.stderr) as bar:
        yield lambda submitted: bar.update(submitted - bar.pos)


def _warn(outcome: Simulated, *, as_csv: bool, in_answer: bool) -> None:
    """Report omissions and guesses on stderr, unless the answer includes them."""
    for note in outcome.account:
        if as_csv or not (in_answer or note.code in ADVICE_CODES):
            click.echo(f"hopper: {note.message}", err=True)


def _trace(path: str, reading: dict[str, Any]) -> "Trace":
    """Return the trace of a file, or of standard input."""
    from pathlib import Path

    from hopperkit.readers.jobs import read_job_trace

    try:
        return read_job_trace(Path(path), **reading)
    except InputError as error:
        if str(error).startswith((path, "the input")):
            raise InputError(f"cannot read trace {error}") from error
        raise


def _function(text: str) -> Any:
    """Return the function named by ``module:function``; the module may be in the current folder."""
    import importlib

    module, _, function = text.partition(":")
    # As for ``python -m``, and only for this import.
    sys.path.insert(0, "")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise refusal("policy", text, f"must be module:function with an importable module: {error}") from None
    finally:
        sys.path.pop(0)


def _job_rows(outcome: Simulated) -> Iterator[tuple[Any, ...]]:
    """Yield a header and every job, in order of submission."""
    from hopperlib.scheduling.schedule import STATUS

    schedule, names = outcome.schedule, outcome.trace.names
    distances, spread = outcome.hops(), outcome.spread(rates=True)
    yield _COLUMNS
    own_of = attrgetter(*_OWN_COLUMNS.values())
    for index, job in enumerate(schedule.workload):
        state = STATUS[schedule.status[index]]
        ran = bool(schedule.status[index])
        nodes = ",".join(str(low) if high == low + 1 else f"{low}-{high - 1}" for low, high in schedule.runs(index))
        distance = None if distances is None or not ran else float(f"{distances[index]:.6g}")
        times = (schedule.start_s[index], schedule.end_s[index]) if ran else (None, None)
        placed = (job.nodes, schedule.run_count[index], distance, state)
        named = job._replace(user=outcome.trace.users.get(job.user, job.user))  # type: ignore[arg-type]
        yield (
            names.get(job.job, job.job),
            job.submit_time_s,
            *times,
            *placed,
            *own_of(named),
            nodes,
            *_place(spread.get(index), outcome.fabric),
        )


def _place(spread: "AllocationSpread | None", fabric: "Fabric | None") -> tuple[float | None, ...]:
    """Return a job's location in a dragonfly or fat tree: the last columns."""
    if spread is None or fabric is None:
        return (None,) * 5
    # A single node keeps its full rate.
    full_gb_s = spread.nodes // 2 * fabric.node_gb_s
    share = spread.bisection_gb_s / full_gb_s if spread.bisection_gb_s is not None else 1.0
    return spread.groups, spread.fewest_groups, spread.switches, round(spread.inside_group, 4), round(share, 4)


simulate = page_option(
    question_command(
        load("simulate"),
        _run,
        left_out=("trace", "queues", "queue_file", "policy"),
        parameters=[
            click.Option(
                ["--trace"], required=True, metavar="FILE", help="Trace, compressed or not; - for standard input."
            ),
            click.Option(["--queues"], metavar="TABLE", help=f"{', '.join(queue_tables())}, or a TOML file of queues."),
            click.Option(
                ["--csv", "as_csv"], is_flag=True, help="Print every job: times, status, queue, nodes, location."
            ),
            click.Option(["--policy"], metavar="NAME|N|MODULE:FUNCTION", help=_POLICY_HELP),
        ],
        lines="""
hopper simulate --trace log.swf.gz --machine hopper --order xyz --csv > jobs.csv
sacct -aPX -S 2024-01-01 --format=JobID,User,Account,Partition,QOS,State,Submit,Eligible,Start,Elapsed,Timelimit,NNodes,AllocCPUS,AllocTRES,NodeList > jobs.txt
scontrol show node > cluster.txt; scontrol show partition >> cluster.txt
hopper simulate --trace jobs.txt --cluster cluster.txt --html report.html
hopper simulate --trace log.swf --machine hopper --queues hopper-final --downtimes down.csv
""",
    )
)
