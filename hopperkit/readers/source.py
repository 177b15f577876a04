"""Open the input of readers: a file, bytes, a stream, or text; compressed or not."""

import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache, partial, wraps
from pathlib import Path
from typing import IO, Any, BinaryIO

from hopperkit.frames import Rows, frame_text
from hopperlib.errors import InputError
from hopperlib.packed import decompress, encoding_of

Source = str | bytes | os.PathLike[str] | BinaryIO | Iterable[str]

_LONGEST = 1 << 20
# A binary file is recognized within this many bytes. [bytes]
_HEAD = 8192
# A line with its line ending, or the last one without.
_LINE = re.compile(r"([^\r\n]*)(\r\n?|\n|\Z)")


def text_of(source: Source, *, name: str = "", max_bytes: int | None = None, text_only: bool = False) -> str:
    r"""Return the contents of a source as text; bytes outside its encoding are replaced.

    Parameters
    ----------
    source : str, bytes, path-like, file or iterable of str
        Text or lines, used as they are; or a path, bytes, or an open file, optionally compressed with gzip, bzip2 or
        xz. A path ``-`` is standard input.
    name : str
        Name for messages; default: its path.
    max_bytes : int or None
        Limit on the uncompressed size; None for no limit.
    text_only : bool
        Whether data with zero bytes near the beginning are rejected: an archive, a program, a core dump.

    Raises
    ------
    InputError
        If it cannot be read, is too large, or is not text.

    Examples
    --------
    >>> text_of("access"), text_of("access".encode("utf-16")), text_of(b"caf\xe9")
    ('access', 'access', 'caf�')
    >>> import gzip
    >>> text_of(gzip.compress(b"access"))
    'access'
    """
    if isinstance(source, str):
        return source
    if (table := frame_text(source)) is not None:
        return table
    if not _is_binary(source):
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines_of(source))
    name = name or _name(source)
    with _opened(source, name) as stream:
        data = stream.read(-1 if max_bytes is None else max_bytes + 1)
    if max_bytes is not None and len(data) > max_bytes:
        raise InputError(f"{name}: is larger than the limit of {max_bytes:,} bytes")
    encoding = encoding_of(data)
    if text_only and b"\0" in data[:_HEAD] and "16" not in encoding:
        raise InputError(f"{name}: is not text")
    return data.decode(encoding, errors="replace")


def lines_of(source: Source, *, cut: bool = True) -> Iterator[str]:
    r"""Yield the lines of a source one at a time; at most one line of a file is held in memory, and at most one MiB of
    it.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        As for `text_of`.
    cut : bool
        Whether only the first MiB of a longer line is returned; otherwise it is split into pieces.

    Raises
    ------
    InputError
        If it cannot be read, at the first line or at a later point.

    Examples
    --------
    >>> list(lines_of(b"one\r\ntwo")), list(lines_of("one\ntwo")), list(lines_of(["one", "two"]))
    (['one\n', 'two'], ['one\n', 'two'], ['one', 'two'])
    """
    if (table := frame_text(source)) is not None:
        source = table
    if isinstance(source, str):
        # This avoids a copy of the whole text: a text stream would use four bytes per character.
        for match in _LINE.finditer(source):
            if match[0]:
                yield match[1] + "\n" if match[2] else match[1]
    elif _is_binary(source):
        with _opened(source, _name(source)) as stream:
            text = io.TextIOWrapper(stream, encoding_of(stream.peek(64)), errors="replace")
            try:
                pieces = iter(partial(text.readline, _LONGEST), "")
                yield from first_pieces(pieces) if cut else pieces
            finally:
                # The stream is closed by its owner.
                text.detach()
    else:
        yield from source  # type: ignore[misc]


def texts_together(texts: Mapping[str, str]) -> str:
    r"""Join texts into the form that `texts_of` splits; a single text is unchanged.

    Parameters
    ----------
    texts : mapping of str to str
        Texts by name.

    Examples
    --------
    >>> texts_together({"a": "one", "b": "two"})
    '==> a <==\none\n==> b <==\ntwo\n'
    """
    led = [f"==> {name} <==\n{text}\n" for name, text in texts.items()]
    return "".join(led if len(texts) > 1 else texts.values())


def texts_of(text: str, name: str) -> dict[str, str]:
    r"""Split concatenated texts, each under its name as printed by ``tail -n +1 FILE...``.

    Parameters
    ----------
    text : str
    name : str
        Name of a single text.

    Examples
    --------
    >>> texts_of("==> a <==\none\n\n==> b <==\ntwo", "input"), texts_of("one", "input")
    ({'a': 'one\n\n', 'b': 'two'}, {'input': 'one'})
    """
    before, *parts = re.split(r"^==> (\S.{0,400}) <==\r?\n", text, flags=re.MULTILINE)
    texts = {name: before} if before.strip() or not parts else {}
    return texts | dict(zip(parts[::2], parts[1::2], strict=True))


def first_pieces(pieces: Iterable[str]) -> Iterator[str]:
    r"""Yield the first piece of each line; lines longer than one MiB come in pieces.

    Parameters
    ----------
    pieces : iterable of str
        Pieces of the text.

    Examples
    --------
    >>> [len(piece) for piece in first_pieces(["a" * (1 << 20), "and more\n", "next\n"])]
    [1048576, 5]
    """
    whole = True
    for piece in pieces:
        if whole:
            yield piece
        # Text given as lines has no line endings; only lines of files come in pieces, and those are long.
        whole = piece.endswith("\n") or len(piece) < _LONGEST


@cache
def by_path(reader: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reader that treats a str as a file path, never as text; rows that name a file name this one.

    Parameters
    ----------
    reader : Callable[..., Any]
        Reader of one source.

    Examples
    --------
    >>> by_path(text_of)("no/such.txt")
    Traceback (most recent call last):
    hopperlib.errors.InputError: no/such.txt: No such file or directory
    """
    import inspect

    names_file = "file" in inspect.signature(reader).parameters

    @wraps(reader)
    def read(source: Source, **options: Any) -> Any:
        source = Path(source) if isinstance(source, str) else source
        if names_file and isinstance(source, os.PathLike):
            options.setdefault("file", os.fspath(source))
        records = reader(source, **options)
        return Rows(records) if type(records) in (list, tuple) else records

    read.__doc__ = f"{reader.__doc__}\n    A str is the path of a file here; give text as ``io.StringIO(text)``. A DataFrame or Series is read as its CSV.\n"
    return read


def _is_binary(source: object) -> bool:
    """Whether a source must be opened, decompressed and decoded; otherwise, it is lines."""
    return isinstance(source, bytes | os.PathLike) or (
        hasattr(source, "read") and not isinstance(source, io.TextIOBase)
    )


def _name(source: object) -> str:
    """Return the name of a source for messages."""
    return os.fspath(source) if isinstance(source, os.PathLike) else "the input"


@contextmanager
def _opened(source: Any, name: str) -> Iterator[io.BufferedReader]:
    """Open a source other than text, decompressed."""
    with ExitStack() as stack:
        try:
            if isinstance(source, bytes):
                raw: IO[bytes] = io.BytesIO(source)
            elif not isinstance(source, os.PathLike):
                raw = source
            elif os.fspath(source) != "-":
                # Opening a FIFO in a folder blocks; those created by the shell, <(command), are in /dev.
                if Path(source).is_fifo() and not os.fspath(source).startswith("/dev/"):
                    raise OSError("is a named pipe, which may never end; read it with - as standard input")
                raw = stack.enter_context(open(source, "rb"))
            elif sys.stdin is None:
                raise OSError("standard input is closed")
            else:
                raw = sys.stdin.buffer
            if isinstance(raw, io.BufferedReader):
                stream = raw
            else:
                stream = io.BufferedReader(raw)
                stack.callback(stream.detach)
            plain = decompress(stream)
            yield stream if plain is stream else stack.enter_context(io.BufferedReader(plain))
        except Exception as error:  # the system, four compression formats and paths each raise a different one
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            raise InputError(f"{name}: {reason}") from error
