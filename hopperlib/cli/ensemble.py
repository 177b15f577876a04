"""``hopper ensemble``: a question over many settings and seeds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from hopperlib.cli.common import fail, print_json
from hopperlib.cli.report import plain
from hopperlib.errors import InputError

__all__ = ["command"]

_HELP = """Ask a question with many settings and seeds, and sum up its numbers.

Each run is kept in the folder as it finishes, so that what was interrupted goes on where it stopped. Workers
are processes of this machine, or those of a Dask scheduler.

\b
  hopper ensemble fragmentation --vary load=0.8:1.0:0.05 --seeds 200
  hopper ensemble memory --vary need_gb=0.5,1,2,4 --vary machine=hopper,franklin --csv rows.csv
  hopper ensemble fragmentation --vary load=0.9 --seeds 1000 --scheduler tcp://head:8786

Printed are means over the seeds with 95 % intervals by bootstrap; --answer names the column.
Exit status: 0 fine, 1 a run failed, 2 bad input.
"""


def _values(text: str) -> tuple[str, list[Any]]:
    """Return an input with its values: LOW:HIGH:STEP, or words parted by commas."""
    name, equals, values = text.partition("=")
    try:
        if not (equals and name and values):
            raise ValueError
        if values.count(":") == 1 and not any(sign.isalpha() for sign in values):
            raise ValueError
        if values.count(":") != 2:
            return name.replace("-", "_"), [plain(word.strip()) for word in values.split(",")]
        low, high, step = (Decimal(word) for word in values.split(":"))
        count = int((high - low) / step) + 1 if step > 0 else 0
        if not 1 <= count <= 1_000_000:
            raise ValueError
    except (ValueError, InvalidOperation):
        rule = "must be NAME=LOW:HIGH:STEP or NAME=VALUE,VALUE"
        raise InputError(f"--vary {text} {rule}", name="vary", value=text, rule=rule) from None
    return name.replace("-", "_"), [plain(str(low + step * place)) for place in range(count)]


@click.command(name="ensemble", help=_HELP, short_help="A question over many settings and seeds.")
@click.argument("question")
@click.option("--vary", multiple=True, metavar="NAME=VALUES", help="LOW:HIGH:STEP, or values parted by commas.")
@click.option("--seeds", type=int, default=0, metavar="N", help="Run each setting with so many seeds.")
@click.option("--answer", metavar="COLUMN", help="Number to sum up.  [default: the first that varies]")
@click.option("--folder", metavar="FOLDER", help="Where runs are kept.  [default: ensemble-QUESTION]")
@click.option("--workers", type=int, metavar="N", help="Processes on this machine.  [default: one a core]")
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler, tcp://..., whose workers run instead.")
@click.option("--csv", "csv_path", metavar="TABLE", help="Write a row for each run to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as data.")
def command(
    question: str,
    vary: Sequence[str],
    seeds: int,
    answer: str | None,
    folder: str | None,
    workers: int | None,
    scheduler: str | None,
    csv_path: str | None,
    as_json: bool,
) -> None:
    """Answer ``hopper ensemble``."""
    from hopperlib.analysis.ensembles import EnsembleError, answer_row, intervals, parameter_sets, run_ensemble
    from hopperlib.questions.question import load

    try:
        inputs = dict(_values(text) for text in vary)
        sets = parameter_sets(inputs, seeds)
        asked = load(question)
        if seeds and not any(control.name == "seed" for control in asked.controls):
            rule = f"is for questions that draw at random; {question} gives the same answer each time"
            raise InputError(f"--seeds {seeds} {rule}", name="seeds", value=seeds, rule=rule)
        for parameters in sets:
            # Refused here, not in the middle of the night.
            asked.read(parameters)
        place = Path(folder or f"ensemble-{question}")
        rows = run_ensemble(
            answer_row, [{"question": question, **each} for each in sets], place, workers=workers, client=scheduler
        )
        known = {"question", "seed", *inputs}
        numbers = [name for name in rows.select_dtypes("number") if name not in known]
        answer = answer or next((name for name in numbers if rows[name].nunique() > 1), numbers[0] if numbers else "")
        summary = intervals(rows, list(inputs) or ["question"], answer)
    except InputError as error:
        fail(
            error.told_of(f"--{error.name}") if error.name in ("seeds", "workers", "vary") else str(error),
            as_json=as_json,
        )
    except ValueError as error:
        fail(str(error), as_json=as_json)
    except EnsembleError as error:
        click.echo(f"hopper: {error}", err=True)
        sys.exit(1)
    if csv_path:
        rows.to_csv(csv_path, index=False)
    if as_json:
        print_json({"question": question, "runs": len(rows), "answer": answer, "summary": summary.to_dict("records")})
    else:
        click.echo(f"{len(rows):,} runs of {question}, kept in {place}; numbers: {', '.join(numbers[:12])}\n")
        click.echo(summary.to_string(index=False, float_format="{:.4g}".format))
