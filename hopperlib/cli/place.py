"""``hopper place``: the question, for every launch line of a script, and the lists that launchers take."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hopperlib.cli.common import fail, read_source, write_lines
from hopperlib.cli.question import show, styled, takes_boxes
from hopperlib.errors import refusal

if TYPE_CHECKING:
    from hopperlib.node.review.review import Review
    from hopperlib.questions.question import Question


def _listed(review: "Review", form: str) -> str:
    """Return the placement in one of the forms that launchers and MPI libraries take."""
    from hopperlib.node.review import binding_lists
    from hopperlib.node.review.as_data import task_rows

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


def _tell_of_others(reviews: "Sequence[Review]") -> None:
    """Say on stderr which of the launch lines after the first have a problem."""
    for number, review in enumerate(reviews, start=2):
        if review.problems:
            codes = ", ".join(dict.fromkeys(finding.code for finding in review.problems))
            click.echo(f"hopper: launch line {number} has a problem too: {codes}; --launch {number} tells", err=True)


def place(question: "Question", values: dict[str, Any], as_json: bool, show_all: bool) -> None:
    """Answer for each launch line as text; as data, and as lists, for the first or the one that --launch says."""
    from hopperlib.questions.machine_choice import machine_of_text
    from hopperlib.questions.node.place import answers
    from hopperlib.render.text import printable, result_text

    guessed = ""
    if "machine" not in values and "machine_file" not in values:
        machine, guessed = machine_of_text(str(values.get("line", "")))
        values |= {"machine": machine} if guessed else {}
    svg, form, bounds = values.pop("svg", None), values.pop("form"), values.pop("memory_bound", None)
    check, broken = values.pop("check", None), False
    if bounds is not None and bounds[0] > bounds[1]:
        raise refusal("--memory-bound", "{:g} {:g}".format(*bounds), "has its first end above its second")
    values |= dict(zip(("memory_bound_low", "memory_bound_high"), bounds or (), strict=False))
    answered = answers(**question.read(values))
    # The machine that was guessed is named only where it is not the one that is taken anyway.
    usual = next(control.default for control in question.controls if control.name == "machine")
    if guessed and values["machine"] != usual:
        said = f"hopper: machine {values['machine']}, as the text has {guessed!r}; --machine names another"
        click.echo(said, err=True)
    review, result = answered[0]
    if check:
        from hopperlib.node.review.printed import check_printed

        typed = str(values["line"])
        finding = check_printed(review.placement, typed, read_source(check, what="output", as_json=as_json))
        result = replace(result, findings=(finding, *result.findings))
        answered, broken = ((review, result), *answered[1:]), finding.level == "problem"
    if svg:
        drawing = next(download.text for download in result.downloads if download.name == "node.svg")
        write_lines(svg, [drawing], what="drawing", as_json=as_json)
    if form not in ("text", "ascii"):
        click.echo(_listed(review, form), nl=False)
    elif not as_json:
        for number, (shown_review, shown_result) in enumerate(answered):
            if len(answered) > 1:
                click.echo(f"{chr(10) if number else ''}== {printable(shown_review.placement.launch.text)}")
            ascii_only = form == "ascii" or not takes_boxes()
            text = result_text(shown_result, show_all=show_all, styled=styled(), ascii_only=ascii_only)
            click.echo(text, nl=False)
    if as_json or form not in ("text", "ascii"):
        _tell_of_others([other for other, _ in answered[1:]])
    if as_json and form in ("text", "ascii"):
        show(question.name, result, as_json, show_all)
    if broken or any(other.problems for other, _ in answered):
        raise SystemExit(1)
