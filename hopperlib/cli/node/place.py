"""``hopper place``: the question, for every launch line of a script, and the lists that launchers take."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, read_source, write_lines
from hopperlib.cli.question import question_command, show, styled, takes_boxes, with_basis
from hopperlib.errors import InputError, refusal
from hopperlib.questions.question import Question, load

if TYPE_CHECKING:
    from hopperlib.placement.review import Review
    from hopperlib.questions.result import Result

_FORMS = ("text", "ascii", "tasks", "cc", "map_cpu", "mask_cpu", "rank-order", "rankfile")


def _as_list(review: "Review", form: str) -> str:
    """Return the placement in one of the forms that launchers and MPI libraries take."""
    from hopperlib.placement import binding_lists
    from hopperlib.placement.as_data import task_rows

    placement = review.placement
    if form == "rank-order":
        return binding_lists.rank_order(placement)
    if form == "rankfile":
        return binding_lists.rank_file(placement)
    if form == "tasks":
        rows = [("task", "program", "node", "cores", "numa_nodes", "bound"), *task_rows(placement)]
        return "".join("\t".join(str(cell) for cell in row) + "\n" for row in rows)
    make = {"cc": binding_lists.cc_list, "map_cpu": binding_lists.map_cpu, "mask_cpu": binding_lists.mask_cpu}[form]
    components = range(len(placement.launch.components))
    try:
        return "".join(make(binding_lists.common_pattern(placement, number)) + "\n" for number in components)
    except ValueError as error:
        fail(f"--format {form}: {error}")


def _warn_of_other_lines(reviews: "Sequence[Review]") -> None:
    """Say on stderr which of the launch lines after the first have a problem."""
    for number, review in enumerate(reviews[1:], start=2):
        if review.problems:
            codes = ", ".join(dict.fromkeys(finding.code for finding in review.problems))
            click.echo(f"hopper: launch line {number} has a problem too: {codes}; --launch {number} tells", err=True)


def _guess_machine(question: Question, values: dict[str, Any]) -> str:
    """Set the machine that the text names, and say so on stderr; return why it is in doubt where none is."""
    from hopperlib.questions.machine_choice import machine_of_text, unknown_machine

    text = str(values.get("line", ""))
    machine, sign = machine_of_text(text)
    if sign:
        values["machine"] = machine
        if machine != question.defaults["machine"]:
            click.echo(f"hopper: machine {machine}, as the text has {sign!r}; --machine names another", err=True)
        return ""
    doubt = unknown_machine(text)
    if doubt:
        values["machine"] = "cluster"
    elif "#PBS" in text:
        click.echo("hopper: machine hopper, as nothing else has aprun for sure; --machine names another", err=True)
    return doubt


def _print(lines: "Sequence[tuple[Review, Result]]", form: str, show_all: bool) -> None:
    """Print the answer for each launch line as text."""
    from hopperlib.render.text import printable, result_text

    ascii_only = form == "ascii" or not takes_boxes()
    for number, (review, result) in enumerate(lines):
        if len(lines) > 1:
            text = printable(review.placement.launch.text)
            click.echo(f"{chr(10) if number else ''}== {text if len(text) <= 160 else text[:157] + '...'}")
        click.echo(result_text(result, show_all=show_all, styled=styled(), ascii_only=ascii_only), nl=False)


def _run(question: Question, values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for each launch line as text; as data, and as lists, for the first or the one that --launch says."""
    from hopperlib.questions.node.place import Lines, answers

    svg, form, bounds, check = (values.pop(name, None) for name in ("svg", "form", "memory_bound", "check"))
    here = values.pop("here", False)
    if here:
        from hopperlib.cli.node.here import machine_here

        values["machine"] = str(machine_here())
    doubt = "" if "machine" in values else _guess_machine(question, values)
    if bounds is not None:
        if bounds[0] > bounds[1]:
            raise refusal("--memory-bound", "{:g} {:g}".format(*bounds), "has its first end above its second")
        values["memory_bound_low"], values["memory_bound_high"] = bounds
    asked = Lines(**question.read(values))
    asked.doubt = doubt
    try:
        reviews, results = asked.reviews, answers(asked)
    except InputError as error:
        if not as_json:
            for finding in asked.job_findings:
                click.echo(f"hopper: {finding.message} {finding.advice}", err=True)
        if not asked.is_doubtful(error):
            raise
        reason = str(error).removeprefix(f"{getattr(error, 'words', '')}: ")
        text = f"cannot tell: {doubt} It does not fit there: {reason}"
        raise InputError(text, name=error.name, value=error.value, rule=error.rule) from error
    broken = any(finding.level == "problem" for finding in asked.job_findings)
    broken = broken or any(review.problems for review in reviews)
    if check:
        from hopperlib.placement.printed import check_printed

        printed = read_source(check, what="output", as_json=as_json)
        finding = check_printed(reviews[0].placement, printed)
        results[0] = replace(results[0], findings=(finding, *results[0].findings))
        broken = broken or finding.level == "problem"
    if svg:
        drawing = next(download.text for download in results[0].downloads if download.name == "node.svg")
        write_lines(svg, [drawing], what="drawing", as_json=as_json)
    if form not in ("text", "ascii"):
        click.echo(_as_list(reviews[0], form), nl=False)
        _warn_of_other_lines(reviews)
    elif as_json:
        _warn_of_other_lines(reviews)
        show(question.name, results[0], as_json, show_all)
    else:
        results[0] = with_basis(question, values, results[0], asked=show_all)
        _print(list(zip(reviews, results, strict=True)), form, show_all)
    if here and not check:
        from hopperlib.cli.node.here import probe_line

        probe = probe_line(reviews[0].placement.launch)
        if probe:
            advice = (
                "to hold it against this machine, run in such a job, and give its output to hopper place --here --check"
            )
            click.echo(f"hopper: {advice}:\n  {probe}", err=True)
    if broken:
        raise SystemExit(1)


def _annotate(question: Question, values: dict[str, Any], files: Sequence[str], target: str) -> None:
    """Write what is to be said of the lines of several scripts as SARIF, and print it unless that goes to the terminal."""
    import json

    from hopperlib.cli.elsewhere.sarif import Annotation, annotations, sarif_log
    from hopperlib.questions.node.place import Lines
    from hopperlib.render.text import printable

    found: list[Annotation] = []
    unread: list[str] = []
    for file in files:
        given = {**values, "line": read_source(file, what="script")}
        try:
            doubt = "" if "machine" in given else _guess_machine(question, given)
            asked = Lines(**question.read(given))
            asked.doubt = doubt
            found += annotations(file, asked)
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
    left_out=("memory_bound_low", "memory_bound_high"),
    parameters=[
        click.Option(
            ["--memory-bound"],
            type=float,
            nargs=2,
            metavar="LOW HIGH",
            help="Share of the run time, spread evenly, that waits for memory.  [default: 0 1]",
        ),
        click.Option(["--svg"], metavar="FILE", help="Write the drawing of that node."),
        click.Option(
            ["--sarif"], metavar="FILE", help="Check many scripts: write SARIF there, and print a line a finding."
        ),
        click.Option(["--here"], is_flag=True, help="Take the cluster of this login node, as scontrol tells of it."),
        click.Option(["--check"], metavar="OUTPUT", help="Compare with what xthi, hello_jobstep and the like printed."),
        click.Option(["--format", "form"], type=click.Choice(_FORMS), default="text", help="What to print."),
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
