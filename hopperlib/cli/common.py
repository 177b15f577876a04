"""What the commands share: reading input, printing data, ending with one message."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import click

__all__ = ["fail", "print_json", "read_source"]


def print_json(data: Any) -> None:
    """Print data as indented JSON."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))


def fail(message: str, *, as_json: bool = False, details: Mapping[str, Any] | None = None) -> NoReturn:
    """End with exit status 2 and one message: as text on stderr, or as ``{"error": ...}``.

    Parameters
    ----------
    message : str
        Value, rule and where the bound comes from, in one sentence.
    as_json : bool
        Whether the caller asked for ``--json``: the error then goes to stdout as data.
    details : mapping
        Further keys of the JSON error.
    """
    if as_json:
        print_json({"error": {**(details or {}), "message": message}})
    else:
        click.echo(f"hopper: {message}", err=True)
    raise SystemExit(2)


def read_source(source: str, *, what: str, max_bytes: int = 64_000_000) -> str:
    """Return the text of a file, or of standard input for ``-``.

    Bytes that are not UTF-8 are replaced, not refused: logs hold anything.
    Ends the command with one message if the file cannot be read.
    """
    try:
        if source == "-":
            data = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with Path(source).open("rb") as file:
                data = file.read(max_bytes + 1)
    except OSError as error:
        fail(f"cannot read {what} {source}: {error.strerror or error}")
    if len(data) > max_bytes:
        fail(f"{what} {source} is larger than {max_bytes:,} bytes, the most this command reads")
    return data.decode("utf-8", errors="replace")
