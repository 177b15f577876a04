"""``hopper place``: the question, for every launch line of a script."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hopperkit.cli.common import read_source, write_lines
from hopperkit.cli.question import print_text, question_command, show, with_sensitivity
from hopperkit.questions.question import Question, load
from hopperlib.errors import InputError

if TYPE_CHECKING:
    from hopperkit.launchers.review import Review
    from hopperkit.questions.machine_choice import Guess
    from hopperkit.questions.node.place import Lines
    from hopperkit.questions.result import Result
    from hopperlib.finding import Finding


def _warn_of_other_lines(reviews: "Sequence[Review]") -> None:
    """Report on stderr which of the later launch lines have a problem."""
    for number, review in enumerate(reviews[1:], start=2):
        if review.problems:
            codes = ", ".join(dict.fromkeys(finding.code for finding in review.problems))
            click.echo(f"hopper: launch line {number} also has a problem: {codes}; see --launch {number}", err=True)


def _guess_machine(question: Question, values: dict[str, Any]) -> "Guess":
    """Set the machine from the text, and report it on stderr."""
    from hopperkit.questions.machine_choice import guess_machine

    text = str(values.get("line", ""))
    guess = guess_machine(text)
    values["machine"] = guess.machine
    if guess.sign and guess.machine != question.defaults["machine"]:
        click.echo(
            f"hopper: machine {guess.machine}, because the text has {guess.sign!r}; use --machine for another", err=True
        )
    elif not guess.sign and not guess.doubt and "#PBS" in text:
        click.echo("hopper: machine hopper, the only known one with aprun; use --machine for another", err=True)
    return guess


def _print(lines: "Sequence[tuple[Review, Result]]", show_all: bool) -> None:
    """Print the answer for each launch line as text."""
    from hopperkit.render.text import printable

    for number, (review, result) in enumerate(lines):
        if len(lines) > 1:
            text = printable(" ".join(review.placement.launch.text.split()))
            click.echo(f"{chr(10) if number else ''}== {text if len(text) <= 160 else text[:157] + '...'}")
        print_text(result, show_all)


def _parsed(question: Question, values: dict[str, Any]) -> "Lines":
    """Return the settings, for the given machine or the one named in the text."""
    from hopperkit.questions.node.place import Lines

    guess = None if {"machine", "machine_file"} & set(values) else _guess_machine(question, values)
    settings = Lines(**question.read(values))
    if guess:
        settings.doubt, settings.evidence = guess.doubt, guess.sign
    return settings


def _answers(lines: "Lines", as_json: bool) -> "tuple[tuple[Review, ...], list[Result]]":
    """Return the reviews and answers of all launch lines; findings about the job are included even for a rejected line."""
    from hopperkit.questions.node.place import answers

    if lines.doubt or lines.runs_by_itself:
        return (), answers(lines)
    try:
        return lines.reviews, answers(lines)
    except InputError:
        if not as_json:
            for finding in lines.job_findings:
                click.echo(f"hopper: {finding.message} {finding.advice}", err=True)
        raise


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Print the answer for each launch line as text; as JSON, for the first or the one selected by --launch."""
    check, here = values.pop("check", None), values.pop("here", False)
    if here:
        from hopperkit.cli.node.here import machine_here

        values["machine"] = str(machine_here())
    settings = _parsed(question, values)
    reviews, results = _answers(settings, as_json)
    found = [each for result in results for each in result.findings]
    if check:
        if not reviews:
            raise InputError(f"cannot compare: {settings.doubt or 'the script has no launch line'}", name="check")
        found.append(_compared(reviews[0], check, as_json))
        results[0] = replace(results[0], findings=(found[-1], *results[0].findings))
    if as_json:
        _warn_of_other_lines(reviews)
        show(question.name, results[0], as_json, show_all)
    else:
        results[0] = with_sensitivity(question, values, results[0], requested=show_all and not settings.doubt)
        if not reviews:
            print_text(results[0], show_all)
        else:
            _print(list(zip(reviews, results, strict=True)), show_all)
    if here and reviews and not check:
        _print_probe(reviews[0])
    if any(finding.level == "problem" for finding in found):
        raise SystemExit(1)


def _compared(review: "Review", check: str, as_json: bool) -> "Finding":
    """Return the finding of a comparison with the printed placement of a run."""
    from hopperkit.launchers.printed import check_printed

    return check_printed(review.placement, read_source(check, what="output", as_json=as_json))


def _print_probe(review: "Review") -> None:
    """Print on stderr a line that shows the cluster's binding of the tasks, and what to do with its output."""
    from hopperkit.cli.node.here import probe_line

    if probe := probe_line(review.placement.launch):
        advice = "to compare with this machine, run in such a job, and give its output to hopper place --here --check"
        click.echo(f"hopper: {advice}:\n  {probe}", err=True)


def _annotate(question: Question, values: dict[str, Any], files: Sequence[str], target: str) -> None:
    """Write findings of several scripts as SARIF; print a summary unless SARIF goes to the terminal."""
    import json

    from hopperkit.cli.elsewhere.sarif import Annotation, annotations, sarif_log
    from hopperkit.render.text import printable

    found: list[Annotation] = []
    unread: list[str] = []
    for file in files:
        given = {**values, "line": read_source(file, what="script")}
        try:
            found += annotations(file, _parsed(question, given))
        except InputError as error:
            unread.append(f"{file}: {error}")
    write_lines(target, [json.dumps(sarif_log(found, unread), indent=1), "\n"], what="SARIF")
    lines = [*(str(each) for each in found if not each.ignored), *unread]
    if target != "/dev/stdout":
        click.echo("".join(f"{printable(line)}\n" for line in lines), nl=False)
    if unread or any(each.fails for each in found):
        raise SystemExit(1)


def _run_any(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Check many scripts, or answer for one."""
    if sarif := values.pop("sarif", None):
        files = click.get_current_context().params["line"]
        _annotate(question, {name: each for name, each in values.items() if name in question.defaults}, files, sarif)
    else:
        _run(question, values, as_json, show_all)


place = question_command(
    load("place"),
    _run_any,
    parameters=[
        click.Option(
            ["--sarif"], metavar="FILE", help="Check many scripts: write SARIF, or print one line per finding."
        ),
        click.Option(["--here"], is_flag=True, help="Use the cluster of this login node, from scontrol."),
        click.Option(["--check"], metavar="OUTPUT", help="Compare with the output of xthi, hello_jobstep or the like."),
    ],
    lines="""
hopper place "aprun -n 384 -N 12 vasp"
hopper place --machine perlmutter -- srun -N 2 -n 16 -c 32 ./a.out
hopper place --json job.pbs
hopper place --here job.sh
hopper place --sarif found.sarif jobs/*.sh
hopper place --from-slurm-json - < options.json    for a cli_filter: advice of two lines at most
""",
)
