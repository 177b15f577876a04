"""The commands of `hopperkit.analysis`: ``hopper fit``, ``hopper report`` and ``hopper ensemble``."""

import ast
import sys
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import partial
from io import StringIO
from typing import Any

import click

from hopperkit.cli.common import all_option, json_option, page_option, print_json, read_source, refusing, write_page
from hopperkit.cli.question import show
from hopperlib.errors import InputError


@click.command()
@click.argument("file")
@click.option("--column", metavar="NAME", help="Time column. [default: run_time_s]")
@click.option("--group", metavar="NAME", help="Group column. [default: job, if present]")
@click.option(
    "--against",
    metavar="NAME",
    multiple=True,
    help="Column of numbers or categories to regress the times on; may be repeated.",
)
@click.option("--minimum", is_flag=True, help="Fit the families to the smallest time of each group.")
@click.option("--change", default=5.0, show_default=True, metavar="PERCENT", help="Change to detect.")
@click.option("--power", default=80.0, show_default=True, metavar="PERCENT", help="Probability of detecting it.")
@click.option("--resamples", type=int, metavar="N", help="Samples for p-values.  [default: by size]")
@click.option("--seed", default=0, show_default=True, help="Seed of these samples.")
@page_option
@all_option
@json_option
@refusing
def fit(file: str, page: str | None, as_json: bool, show_all: bool, **settings: Any) -> None:
    """Print the distribution of run times, their spread, and the repeats needed to show a change.

    FILE is CSV with column names in its first line, optionally compressed (gzip, bzip2, xz), or - for standard input.
    The times are in the column run_time_s, or in that given with --column. Runs that belong together (from one job,
    day, or node list) share a value in the --group column.

    \b
      hopper fit runs.csv
      hopper fit runs.csv --column seconds --group jobid --change 2
      hopper fit runs.csv --against hops --against io_gb
      hopper fit runs.csv --minimum --html report.html

    Six families are fitted by maximum likelihood; the p-values account for the fit, but do not prove that a family is
    right. Runs in one group are often correlated; in this case, test families with --minimum, which uses one time per
    group. Rows without a time (empty, nan, NA) are counted and left out; an invalid time is an error that names its
    line.

    Exit status: 0 fine, 2 bad input.
    """  # noqa: D301 - click reads the sign, not the letters
    from hopperkit.readers.run_times import read_run_times

    # Any line ending counts, as for a file opened in text mode.
    lines = StringIO(read_source(file, what="run times", as_json=as_json), newline=None)
    runs = read_run_times(lines, column=settings["column"], group=settings["group"], covariates=settings["against"])
    # Unreadable input is rejected before the statistics are loaded.
    from hopperkit.analysis.fit_answer import fit as fitted

    result = fitted(runs, **settings)
    for message in runs.skips.messages():
        click.echo(f"hopper: {message}", err=True)
    source = f"{'standard input' if file == '-' else file}: {runs.understood}"
    write_page(page, result, "Run times", source, as_json=as_json)
    if not as_json:
        click.echo(f"{source}\n")
    show("fit", result, as_json, show_all)


@click.command()
@click.argument("kind")
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("-o", "--output", metavar="PAGE", help="Write the page to this file.")
@click.option(
    "--since",
    default="",
    metavar="DATE|SPAN",
    help="Only runs or files since this date or span, such as 2026-11-01 or 7d.",
)
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the report; may be repeated."
)
@all_option
@json_option
@refusing
def report(
    kind: str,
    paths: tuple[str, ...],
    output: str | None,
    since: str,
    settings: tuple[str, ...],
    as_json: bool,
    show_all: bool,
) -> None:
    """Write a report on your files: the numbers of the notebooks in notebooks/own, without Jupyter.

    KIND is jobs, runs, history, io, errors or launch. A path may be a folder to search; without paths, the report uses
    the samples of the book. The page is self-contained and has no scripts.

    \b
      hopper report runs times.csv --set column=seconds -o report.html
      hopper report history perflogs/ --since 30d -o /var/www/benchmarks.html
      hopper report jobs jobs.txt --set nodes=512 --json
      hopper report errors logs/ --since 2026-11-01

    Exit status: 0 fine, 1 a problem was found, 2 bad input.
    """  # noqa: D301 - click reads the sign, not the letters
    from hopperkit.analysis.reports import kind_named
    from hopperkit.analysis.reports import report as reported

    title = kind_named(kind).title
    result = reported(kind, paths, since=since, **dict(map(_setting, settings)))
    made = datetime.now(tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
    source = ", ".join(f"`{path}`" for path in paths) or "the samples of the book"
    about = f"Made {made} from {source}{f', since {since}' if since else ''}."
    write_page(output, result, title, about, as_json=as_json)
    show(f"report {kind}", result, as_json, show_all)


def _setting(text: str) -> tuple[str, Any]:
    """Return the name and value of a setting."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{text!r} must be NAME=VALUE", name="set", value=text)
    return name.strip().replace("-", "_"), _plain(value.strip())


def _plain(text: str) -> Any:
    """Return a value as a number or a boolean if possible, otherwise as text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


@click.command()
@click.argument("question")
@click.option("--vary", multiple=True, metavar="NAME=VALUES", help="NAME=LOW:HIGH:STEP, or values separated by commas.")
@click.option("--seeds", default=0, metavar="N", help="Run each setting with N seeds.")
@click.option("--answer", metavar="COLUMN", help="Number to summarize. [default: the first that varies]")
@click.option("--folder", metavar="FOLDER", help="Folder for the runs. [default: ensemble-QUESTION]")
@click.option("--workers", type=int, metavar="N", help="Processes on this machine. [default: one per core]")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://..., to use its workers instead.")
@click.option("--csv", "csv_path", metavar="TABLE", help="Write one row per run to this file.")
@json_option
@refusing
def ensemble(
    question: str,
    vary: tuple[str, ...],
    seeds: int,
    answer: str | None,
    folder: str | None,
    workers: int | None,
    scheduler: str | None,
    csv_path: str | None,
    as_json: bool,
) -> None:
    """Run a question with many settings and seeds, and summarize its numbers.

    Each run is stored in the folder as it finishes, so an interrupted ensemble resumes where it stopped. Workers are
    processes on this machine, or those of a Dask scheduler.

    \b
      hopper ensemble fragmentation --vary load=0.8:1.0:0.05 --seeds 200
      hopper ensemble memory --vary need_gb=0.5,1,2,4 --vary machine=hopper,franklin --csv rows.csv
      hopper ensemble fragmentation --vary load=0.9 --seeds 1000 --scheduler tcp://head:8786

    The output has means over the seeds and, from five seeds on, 95 % intervals by Student's t; --answer selects the
    column.

    Exit status: 0 fine, 1 a run failed, 2 bad input.
    """  # noqa: D301 - click reads the sign, not the letters
    from hopperkit.analysis.ensembles import EnsembleError, intervals, run_ensemble
    from hopperkit.questions.question import answer_of, load

    inputs = dict(map(_varied, vary))
    runs = _runs(question, inputs, seeds)
    folder = folder or f"ensemble-{question}"
    function = partial(answer_of, load(question).name)
    try:
        with click.progressbar(length=len(runs), label="runs", file=sys.stderr) as bar:
            rows = run_ensemble(
                function,
                runs,
                folder,
                workers=workers,
                client=scheduler,
                progress=lambda done, _: bar.update(done - bar.pos),
            )
    except EnsembleError as error:
        click.echo(f"hopper: {error}", err=True)
        sys.exit(1)
    rows.insert(0, "question", question)
    numbers = [name for name in rows.select_dtypes("number") if name not in {"seed", *inputs}]
    if answer is None:
        varying = (name for name in numbers if rows[name].nunique() > 1)
        answer = next(varying, numbers[0] if numbers else "")
    summary = intervals(rows, list(inputs) or ["question"], answer)
    if csv_path:
        rows.to_csv(csv_path, index=False)
    if as_json:
        # Too few runs have no interval, which JSON calls null.
        records = summary.astype(object).where(summary.notna(), None).to_dict("records")
        print_json({"question": question, "runs": len(rows), "answer": answer, "summary": records})
    else:
        click.echo(f"{len(rows):,} runs of {question}, kept in {folder}; numbers: {', '.join(numbers[:12])}\n")
        click.echo(summary.to_string(index=False, float_format="{:.4g}".format))


def _runs(question: str, inputs: dict[str, list[Any]], seeds: int) -> list[dict[str, Any]]:
    """Return the settings of all runs, each validated once: errors are reported here, before the first run."""
    from hopperkit.analysis.ensembles import parameter_sets
    from hopperkit.questions.question import load

    question_ = load(question)
    # The control defines the first seed.
    seed = next((control for control in question_.controls if control.name == "seed"), None)
    if seeds and seed is None:
        rule = f"is for questions that use random numbers; {question} always gives the same answer"
        raise InputError(f"--seeds {seeds} {rule}", name="seeds", value=seeds, rule=rule)
    sets = parameter_sets(inputs, seeds, int(getattr(seed, "low", 0)))
    for parameters in sets:
        question_.read(parameters)
    return sets


def _varied(text: str) -> tuple[str, list[Any]]:
    """Return an input and its values; decimal arithmetic, so that 0.8 + 0.05 is 0.85."""
    name, equals, values = text.partition("=")
    try:
        if not (equals and name and values):
            raise ValueError
        # Two numbers without a step are a mistake; module:function is a value.
        if values.count(":") == 1 and not any(sign.isalpha() for sign in values):
            raise ValueError
        if values.count(":") != 2:
            return name.replace("-", "_"), [_plain(word.strip()) for word in values.split(",")]
        low, high, step = (Decimal(word) for word in values.split(":"))
        count = int((high - low) / step) + 1 if step > 0 else 0
        if not 1 <= count <= 1_000_000:
            raise ValueError
    except (ValueError, InvalidOperation):
        rule = "must be NAME=LOW:HIGH:STEP or NAME=VALUE,VALUE"
        raise InputError(f"--vary {text} {rule}", name="vary", value=text, rule=rule) from None
    return name.replace("-", "_"), [_plain(str(low + step * place)) for place in range(count)]
