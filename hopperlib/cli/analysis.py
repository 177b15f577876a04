"""The commands of `hopperlib.analysis`: ``hopper fit``, ``hopper report`` and ``hopper ensemble``."""

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from io import StringIO
from pathlib import Path
from typing import Any

import click

from hopperlib.cli.common import print_json, write_page
from hopperlib.cli.question import show
from hopperlib.errors import InputError

_MOST_BYTES = 64_000_000


def fit(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Read run times, say what they have in common, and write the page."""
    from hopperlib.readers.run_times import read_run_times
    from hopperlib.readers.source import text_of

    file, page = values.pop("file"), values.pop("page")
    try:
        text = text_of(Path(file), max_bytes=_MOST_BYTES)
    except InputError as error:
        raise InputError(f"cannot read run times {error}") from error
    # Any line end is one, as for a file opened as text.
    lines = StringIO(text, newline=None)
    runs = read_run_times(lines, column=values["column"], group=values["group"], covariates=values["against"])
    from hopperlib.analysis.fit_answer import fit as fitted

    with _progress(len(runs.times)) as progress:
        result = fitted(runs, **values, progress=progress)
    for message in runs.skips.messages():
        click.echo(f"hopper: {message}", err=True)
    source = f"{'standard input' if file == '-' else file}: {len(runs.times):,} times in column {runs.column}"
    write_page(page, result, "Run times", source, as_json=as_json)
    if not as_json:
        click.echo(f"{source}\n")
    show("fit", result, as_json, show_all)


@contextmanager
def _progress(values: int) -> Iterator[Callable[[int, int], None] | None]:
    """Yield what shows how far the fits are, for values that take longer than a second."""
    if values < 1000 or not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label="families", file=sys.stderr) as bar:

        def step(done: int, steps: int) -> None:
            bar.length = steps
            bar.update(done - bar.pos)

        yield step


def report(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer about files of a kind, and write the page."""
    from hopperlib.analysis.reports import kind_named
    from hopperlib.analysis.reports import report as reported

    kind, paths, since = values["kind"], values["paths"], values["since"]
    title = kind_named(kind).title
    result = reported(kind, paths, since=since, **dict(map(_setting, values["set"])))
    made = datetime.now(tz=UTC).strftime("%Y-%m-%d %H:%M UTC")
    source = ", ".join(f"`{path}`" for path in paths) or "the samples of the book"
    about = f"Made {made} from {source}{f', since {since}' if since else ''}."
    write_page(values["output"], result, title, about, as_json=as_json)
    show(f"report {kind}", result, as_json, show_all)


def _setting(text: str) -> tuple[str, Any]:
    """Return name and value of a setting."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{text!r} must be NAME=VALUE", name="set", value=text)
    return name.strip().replace("-", "_"), _plain(value.strip())


def _plain(text: str) -> Any:
    """Return a value as it was meant: a number, true or false, else the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, int | float) else text


def ensemble(values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Run a question with all settings and seeds, and sum up one of its numbers."""
    from hopperlib.analysis.ensembles import EnsembleError, answer_row, intervals, parameter_sets, run_ensemble
    from hopperlib.questions.question import load

    question, seeds, folder = values["question"], values["seeds"], values["folder"] or f"ensemble-{values['question']}"
    inputs = dict(map(_varied, values["vary"]))
    asked = load(question)
    # The control says where seeds begin.
    seed = next((control for control in asked.controls if control.name == "seed"), None)
    sets = parameter_sets(inputs, seeds, int(getattr(seed, "low", 0)))
    if seeds and seed is None:
        rule = f"is for questions that draw at random; {question} gives the same answer each time"
        raise InputError(f"--seeds {seeds} {rule}", name="seeds", value=seeds, rule=rule)
    for parameters in sets:
        # Refused here, not in the middle of the night.
        asked.read(parameters)
    runs = [{"question": question, **parameters} for parameters in sets]
    try:
        rows = run_ensemble(answer_row, runs, folder, workers=values["workers"], client=values["scheduler"])
    except EnsembleError as error:
        click.echo(f"hopper: {error}", err=True)
        sys.exit(1)
    numbers = [name for name in rows.select_dtypes("number") if name not in {"question", "seed", *inputs}]
    varying = (name for name in numbers if rows[name].nunique() > 1)
    answer = values["answer"] or next(varying, numbers[0] if numbers else "")
    summary = intervals(rows, list(inputs) or ["question"], answer)
    if values["csv_path"]:
        rows.to_csv(values["csv_path"], index=False)
    if as_json:
        print_json({"question": question, "runs": len(rows), "answer": answer, "summary": summary.to_dict("records")})
    else:
        click.echo(f"{len(rows):,} runs of {question}, kept in {folder}; numbers: {', '.join(numbers[:12])}\n")
        click.echo(summary.to_string(index=False, float_format="{:.4g}".format))


def _varied(text: str) -> tuple[str, list[Any]]:
    """Return an input and the values it takes; decimal numbers, so that 0.8 + 0.05 is 0.85."""
    name, equals, values = text.partition("=")
    try:
        if not (equals and name and values):
            raise ValueError
        # Two numbers without a step are a slip; module:function is a value.
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
