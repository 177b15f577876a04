"""Shared parts of the commands: reading input, printing data, exiting with one message."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from hopperlib.errors import InputError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from hopperkit.questions.result import Result

T = TypeVar("T")

# Options of several commands.
json_option = click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
all_option = click.option(
    "--all", "--verbose", "show_all", is_flag=True, help="Print everything: numbers, charts as text, tables."
)
page_option = click.option(
    "--html", "page", metavar="PAGE", help="Write one self-contained page without scripts to this file."
)


def refusing(run: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command to exit with one message if the input cannot be used.

    Place it below click's decorators; the argument ``as_json`` selects the format.

    Parameters
    ----------
    run : callable
        Function of the command.
    """

    @wraps(run)
    def reporting_errors(**values: Any) -> None:
        try:
            run(**values)
        except ValueError as error:
            problems = getattr(error, "problems", ())
            flags = {flag for parameter in click.get_current_context().command.params for flag in parameter.opts}
            option = f"--{getattr(error, 'name', None)}"
            message = error.message_for(option) if isinstance(error, InputError) and option in flags else str(error)
            details = {"problems": list(problems)} if problems else {}
            fail(message, as_json=bool(values.get("as_json")), details=details)

    return reporting_errors


def complete(
    names: Callable[[], Iterable[str]] = tuple, *, files: bool = True
) -> "Callable[..., list[CompletionItem]]":
    """Return a shell completion function: matching names, optionally `files`.

    Parameters
    ----------
    names : callable, default tuple
        Returns the possible names.
    files : bool, default True
        Whether file names are completed too.

    Examples
    --------
    >>> [item.value for item in complete(machine_names)(None, None, 'perl')]
    ['perlmutter']
    """

    def items(_context: click.Context, _parameter: click.Parameter, begun: str) -> "list[CompletionItem]":
        """Return the candidates."""
        from click.shell_completion import CompletionItem

        fitting = [CompletionItem(name) for name in names() if name.startswith(begun)]
        return fitting or ([CompletionItem(begun, type="file")] if files else [])

    return items


def machine_names() -> Iterable[str]:
    """Return the names of the machines included in the library.

    Examples
    --------
    >>> 'hopper' in machine_names()
    True
    """
    from hopperlib.machine import Machine

    return Machine.names()


def watched(items: Iterable[T], count: int, label: str, *, least: int = 0) -> AbstractContextManager[Iterable[T]]:
    """Return items, with a progress bar if there are many and a terminal is attached.

    Parameters
    ----------
    items : iterable of T
        Items to pass on.
    count : int
        Number of items.
    label : str
        Text in front of the bar.
    least : int, default 0
        Smallest number of items that gets a bar.

    Examples
    --------
    >>> with watched([1, 2], 2, 'runs', least=10) as items:
    ...     sum(items)
    3
    """
    if count < least or not sys.stderr.isatty():
        return nullcontext(items)
    return click.progressbar(items, length=count, label=label, file=sys.stderr)


def print_json(data: Any) -> None:
    """Print data as indented JSON; control characters are escaped, which changes no value.

    Parameters
    ----------
    data : Any
        Plain data.

    Examples
    --------
    >>> print_json({'nodes': 2})
    {
      "nodes": 2
    }
    """
    import json

    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
    click.echo(
        re.sub("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", lambda sign: f"\\u{ord(sign[0]):04x}", text)
    )


def fail(message: str, *, as_json: bool = False, details: Mapping[str, Any] | None = None) -> NoReturn:
    """End with exit status 2 and one message: as text on stderr, or as ``{"error": ...}``.

    Parameters
    ----------
    message : str
        Value, rule and origin of the bound, in one sentence.
    as_json : bool
        Whether the caller used ``--json``: the error then goes to stdout as JSON.
    details : mapping
        Additional keys of the JSON error.

    Raises
    ------
    SystemExit
        Always, with status 2.

    Examples
    --------
    >>> fail('nodes=0 must be at least 1', as_json=True)
    Traceback (most recent call last):
    SystemExit: 2
    """
    if as_json:
        print_json({"error": {**(details or {}), "message": message}})
    else:
        from hopperkit.render.text import printable

        click.echo(f"hopper: {printable(message)}", err=True)
    raise SystemExit(2)


def read_source(source: str, *, what: str, as_json: bool = False, max_bytes: int = 64_000_000) -> str:
    """Return the text of a file, compressed or not, or of standard input for ``-``.

    Ends the command with one message if it cannot be read, or is larger.

    Parameters
    ----------
    source : str
        Path, or ``-`` for standard input.
    what : str
        What it is, for messages.
    as_json : bool, default False
        Whether an error is printed as JSON.
    max_bytes : int, default 64000000
        Limit on the uncompressed size. [bytes]

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b'job ended')
    ...     file.flush()
    ...     read_source(file.name, what='output')
    'job ended'
    """
    from pathlib import Path

    from hopperkit.readers.source import text_of

    try:
        return text_of(Path(source), max_bytes=max_bytes)
    except InputError as error:
        rule = str(error).removeprefix(f"{source}: ")
        details = {"flag": what, "value": source, "rule": rule}
        fail(f"cannot read {what} {source}: {rule}", as_json=as_json, details=details)


def write_lines(path: str, lines: Iterable[str], *, what: str = "", as_json: bool = False) -> None:
    r"""Write lines to a file; end the command with one message if that fails.

    Parameters
    ----------
    path : str
        File to write.
    lines : iterable of str
        Its lines.
    what : str, default ""
        What it is, for messages.
    as_json : bool, default False
        Whether an error is printed as JSON.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_lines(os.path.join(folder, 'ranks'), ['0,1\n', '2,3\n'], what='ranks')
    ...     os.listdir(folder)
    ['ranks']
    """
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        fail(f"cannot write {what} {path}: {error.strerror or error}".replace("  ", " "), as_json=as_json)


def write_page(path: str | None, result: "Result", title: str, source: str, *, as_json: bool = False) -> None:
    """Write an answer as one page to a file, if one is given; end the command with one message if that fails.

    Parameters
    ----------
    path : str or None
        File to write; None writes nothing.
    result : Result
        Answer.
    title : str
        Title of the page.
    source : str
        Origin of the data, shown on the page.
    as_json : bool, default False
        Whether an error is printed as JSON.
    """
    if path is not None:
        from hopperkit.render.page import page_html

        write_lines(path, [page_html(result, title, source)], what="the page", as_json=as_json)
