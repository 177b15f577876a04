"""The command for a question: options from its controls, text and JSON from its `Result`."""

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import click

from hopperkit.cli.common import all_option, complete, fail, json_option, print_json, read_source
from hopperlib.errors import InputError

if TYPE_CHECKING:
    from hopperkit.questions.controls import Control
    from hopperkit.questions.question import Question
    from hopperkit.questions.result import Result

Values = dict[str, Any]
# Replacement for answering and printing.
Run = Callable[["Question", Values, bool, bool], None]


class _Command(click.Command):
    """A command that explains how to quote a launch line if its options are mistaken for the command's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; an unknown option usually belongs to an unquoted launch line."""
        # The parser empties the list.
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if not {"aprun", "srun"} & set(words):
                raise
            hint = 'put the launch line in quotes, or "--" before it'
            raise click.UsageError(f"{error.option_name} is not an option of hopper {self.name}; {hint}", ctx) from None


# Verdicts of `diagnose` on a job that failed; `identify` passes them on.
_FAILED = ("cause", "failed")


def question_command(
    question: "Question",
    run: Run | None = None,
    *,
    starting: Mapping[str, Any] | None = None,
    left_out: Sequence[str] = (),
    parameters: Sequence[click.Parameter] = (),
    lines: str = "",
) -> click.Command:
    """Return the command for a question: its controls as options, and additional options.

    Parameters
    ----------
    question : Question
    run : callable
        ``run(question, values, as_json, show_all)`` instead of answering and printing; `values` holds all given values.
    starting : mapping
        Initial values of controls where they differ from the page's.
    left_out : sequence of str
        Controls to omit.
    parameters : sequence of click.Parameter
        Further parameters for `run`.
    lines : str
        Command lines to show in the help.
    """
    question = question.starting(**(starting or {}))
    controls = [control for control in question.controls if control.name not in (*left_out, "machine_file")]

    def callback(as_json: bool, show_all: bool, **given: Any) -> None:
        # Other controls keep their defaults.
        values = {name: value for name, value in given.items() if value is not None}
        try:
            for control in controls:
                if (
                    control.name == "machine"
                    and "machine" not in values
                    and (usual := os.environ.get("HOPPER_MACHINE", ""))
                ):
                    values[control.name] = usual
                if control.name in values:
                    values[control.name] = _text(control, values[control.name], as_json)
            (run or answer)(question, values, as_json, show_all)
        except ValueError as error:
            refuse(question, error if isinstance(error, InputError) else InputError(str(error)), as_json)

    shown = "".join(f"\n  {line}" for line in lines.strip().splitlines())
    command = _Command(
        question.name,
        params=[*map(_parameter, controls), *parameters],
        callback=callback,
        help=f"{question.question}\n\nExit status: 0 fine, 1 a problem was found, 2 bad input."
        + (f"\n\n\b{shown}" if shown else ""),
        short_help=question.question,
    )
    json_option(all_option(command))
    command.params.append(_schema_option(question))
    return command


def _schema_option(question: "Question") -> click.Option:
    """Return the option that prints the JSON schema of the answers and exits."""

    def show_schema(ctx: click.Context, parameter: click.Parameter, given: bool) -> None:
        if given and not ctx.resilient_parsing:
            from hopperkit.render.json_schema import answer_schema

            print_json(answer_schema(question))
            ctx.exit()

    text = "Print the JSON schema of the --json output, and exit."
    return click.Option(["--schema"], is_flag=True, is_eager=True, expose_value=False, callback=show_schema, help=text)


def _parameter(control: "Control") -> click.Parameter:
    """Return the option, or the argument, of a control."""
    completion = complete(
        lambda: [str(value) for value, *_ in control.to_dict().get("options", ())],
        files=control.kind != "choice" or control.name == "machine",
    )
    if control.argument:
        return click.Argument(
            [control.name], nargs=-1, required=control.required, metavar=_metavar(control), shell_complete=completion
        )
    if control.kind == "switch":
        flags = f"{control.flag}/--no-{control.flag[2:]}"
        return click.Option([flags, control.name], default=None, help=_help(control))
    return click.Option(
        [control.flag, control.name],
        help=_help(control),
        metavar=_metavar(control),
        required=control.required,
        shell_complete=completion if control.kind in ("choice", "file", "text") else None,
    )


def _metavar(control: "Control") -> str:
    """Return the placeholder for a value in the help."""
    if control.kind == "text" and control.argument:
        return f"{control.name.upper()}|FILE|-"
    return {"file": "FILE", "text": "TEXT", "choice": "NAME"}.get(control.kind, control.unit or "N")


def _help(control: "Control") -> str:
    """Return the help of an option: label, unit, options or bounds, default, and why it is assumed."""
    words = [f"{control.label}{f' [{control.unit}]' if control.unit else ''}.", control.help]
    if control.options:
        words.append(f"One of: {', '.join(value for value, _ in control.options)}.")
    elif control.kind == "choice":
        words.append("A name (see `hopper machine list`) or a file.")
    if control.assumed:
        words.append(f"Assumed: {control.assumed}")
    if control.kind not in ("file", "text") and not control.required:
        words.append(f"[default: {str(control.default).lower() if control.kind == 'switch' else control.default}]")
    return " ".join(word for word in words if word)


def _text(control: "Control", value: Any, as_json: bool) -> Any:
    """Return the value of a control: for text the argument, or the contents of the named file or standard input."""
    label = control.label
    label_text = label if label.isupper() else label[:1].lower() + label[1:]
    if control.kind == "file":
        names = value if isinstance(value, tuple) else (value,)
        texts = {name: read_source(name, what=label_text, as_json=as_json) for name in names}
        if not control.multiple:
            return "".join(texts.values())
        from hopperkit.readers.source import texts_together

        return texts_together(texts)
    if not isinstance(value, tuple):
        return value
    if value == ("-",):
        return read_source("-", what=label_text, as_json=as_json)
    if len(value) != 1:
        return shlex.join(value)
    # One word without a blank is treated as a file name, so that a missing file is reported.
    alone = bool(value[0]) and not any(char.isspace() for char in value[0])
    # A text with a blank may also be a file name, if the file exists.
    is_file = (alone and value[0] not in ("aprun", "srun")) or os.path.isfile(value[0])
    return read_source(value[0], what="script", as_json=as_json) if is_file else value[0]


def answer(question: "Question", values: Values, as_json: bool, show_all: bool) -> None:
    """Answer the question and show the answer, optionally with the sensitivity of its numbers.

    Parameters
    ----------
    question : Question
        Question to answer.
    values : Values
        Values of its controls.
    as_json : bool
        Whether the answer is printed as JSON.
    show_all : bool
        Whether everything is printed.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> answer(load('overlap'), {}, as_json=False, show_all=False)  # doctest: +ELLIPSIS
    A step of 15.00 s takes 12.00 s ...
    """
    result = question.run(**values)
    show(
        question.name, with_sensitivity(question, values, result, requested=show_all and not as_json), as_json, show_all
    )


def with_sensitivity(question: "Question", values: Values, result: "Result", *, requested: bool) -> "Result":
    """Return an answer, with its sensitivity tables if everything is requested.

    Parameters
    ----------
    question : Question
        Question that was answered.
    values : Values
        Values of its controls.
    result : Result
        Its answer.
    requested : bool
        Whether the sensitivity is requested.

    Examples
    --------
    >>> from hopperkit.questions.question import load
    >>> question = load('overlap')
    >>> found = [with_sensitivity(question, {}, question.run(), requested=wanted) for wanted in (False, True)]
    >>> [len(result.tables) for result in found]
    [0, 2]
    """
    if question.heavy or not requested:
        return result
    from hopperkit.questions.sensitivity import sensitivity, tables

    return replace(result, tables=(*result.tables, *tables(sensitivity(question, values))))


def show(name: str, result: "Result", as_json: bool, show_all: bool) -> None:
    """Print an answer; end with status 1 if a finding is a problem, or the text shows that a job failed.

    Parameters
    ----------
    name : str
        Name of the question.
    result : Result
        Answer to print.
    as_json : bool
        Whether it is printed as JSON.
    show_all : bool
        Whether everything is printed.

    Raises
    ------
    SystemExit
        With status 1, if a problem was found.

    Examples
    --------
    >>> from hopperkit.questions.result import Result
    >>> show('overlap', Result(summary='It takes 12 s.'), as_json=False, show_all=False)
    It takes 12 s.
    """
    if as_json:
        from hopperkit.render.data import result_data

        print_json(result_data(name, result))
    else:
        print_text(result, show_all)
    # Omit the large facts, which are for programs and may take seconds.
    failed = getattr(result.facts, "named", result.facts).get("verdict") in _FAILED
    if failed or any(finding.level == "problem" for finding in result.findings):
        raise SystemExit(1)


def print_text(result: "Result", show_all: bool) -> None:
    """Print an answer for people.

    Parameters
    ----------
    result : Result
        Answer to print.
    show_all : bool
        Whether everything is printed.

    Examples
    --------
    >>> from hopperkit.questions.result import Result
    >>> print_text(Result(summary='It takes 12 s.'), show_all=False)
    It takes 12 s.
    """
    from hopperkit.render.text import result_text

    click.echo(result_text(result, show_all=show_all, styled=styled(), ascii_only=not takes_boxes()), nl=False)


def styled() -> bool:
    """Whether standard output is a terminal that supports bold text."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", None)
    return sys.stdout.isatty() and not plain


def takes_boxes() -> bool:
    """Whether standard output supports box-drawing characters."""
    try:
        # By trial, because the name of an encoding does not show its range.
        "─┌·".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def refuse(question: "Question", error: InputError, as_json: bool) -> NoReturn:
    """Exit with the message for an invalid value, using the name of its option.

    Parameters
    ----------
    question : Question
        Question with the control.
    error : InputError
        Error about a value.
    as_json : bool
        Whether it is printed as JSON.

    Raises
    ------
    SystemExit
        Always, with status 2.
    """
    from hopperkit.render.data import error_data

    control = question.control_of(error)
    option = control.flag if control is not None and control.name == error.name and not control.argument else ""
    if as_json:
        print_json(error_data(error, option))
        raise SystemExit(2)
    fail(error.message_for(option) if option else error.message)
