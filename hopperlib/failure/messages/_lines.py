"""Clean lines of any input given as a log.

Any input becomes blocks of clean UTF-8 lines: gzip, bzip2 and xz are decompressed, UTF-16 and UTF-32 recoded, NUL bytes
and terminal colors removed. A lone carriage return ends a piece of text but not a numbered line, as in an editor:
progress bars are one line of many pieces. Only the current block is stored, so files of any size can be read.

==============  ==============================================================
`LINE_LIMIT`    bytes of a line that are kept; the rest is dropped unread
`BLOCK_SIZE`    bytes read at a time
==============  ==============================================================
"""

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, BinaryIO

from hopperlib.failure.messages._quotations import Foreign, foreign
from hopperlib.failure.messages._relayed import relayed_prefix
from hopperlib.failure.messages._window import Window
from hopperlib.packed import decompress, encoding_of

LINE_LIMIT = 65_536
BLOCK_SIZE = 524_288
# Part at the end of a block that is searched for blank lines. [bytes]
_BLANKS = 4096
# Part at the end of a text that is searched for ordinary output. [bytes]
_TAIL = 8192

# Terminal sequences: colors and cursor movements, titles, two-character ones. Each
# class excludes the escape character, so that a search never scans a text twice.
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_=>])")


class Block:
    r"""Some whole lines.

    Parameters
    ----------
    first_line : int
        Number of the line that the first piece belongs to.
    data : bytes
        Segments separated by newlines, or by carriage returns within a line.
    """

    __slots__ = ("_numbers", "_returns", "data", "first_line")

    def __init__(self, first_line: int, data: bytes) -> None:
        self.first_line = first_line
        self.data = data
        self._returns = b"\r" in data
        self._numbers: list[int] = []

    def pieces(self, data: bytes | None = None) -> list[bytes]:
        """Return the pieces of the block, or of another text with the same separators."""
        data = self.data if data is None else data
        return (data.replace(b"\r", b"\n") if self._returns else data).split(b"\n")

    def line_of(self, index: int) -> int:
        """Return the number of the line that a piece belongs to."""
        if not self._returns:
            return self.first_line + index
        if not self._numbers:
            for number, line in enumerate(self.data.split(b"\n"), self.first_line):
                # A progress bar prints segments on one line, each after a carriage return.
                self._numbers += [number] * (line.count(b"\r") + 1)
        return self._numbers[index]


class LineReader:
    r"""Blocks of lines from a binary stream.

    Parameters
    ----------
    stream : binary file
        The input stream; it need not be seekable.

    Attributes
    ----------
    lines, bytes : int
        Lines and uncompressed bytes read.
    filled : int
        Number of the last line that is not blank.
    shortened : int
        Lines of which only the first `LINE_LIMIT` bytes were kept.
    foreign : Foreign or None
        Parts of the beginning that are not a job's output.
    tail : bytes
        The current end of the text.
    window : Window
        Its first and last lines.
    note : str
        Anomalies of the stream, such as truncated compressed data.
    """

    def __init__(self, stream: BinaryIO, name: str = "") -> None:
        self._stream = stream
        self.name = name
        self.lines = self.filled = 0
        self.bytes = 0
        self.shortened = 0
        self.note = ""
        self.foreign: Foreign | None = None
        self.tail = b""
        self.window = Window()
        self._relayed: re.Pattern[bytes] | None = None
        self._decoder: codecs.IncrementalDecoder | None = None

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks."""
        line, carry, skipping = 1, b"", False
        for piece in self._texts():
            data = piece
            if skipping:
                # The rest of an overlong line: drop it up to its end.
                end = _first_separator(data)
                if end < 0:
                    continue
                data, skipping = data[end:], False
            data = carry + data
            # A carriage return at the very end may be half of a line end.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1))
            if cut >= 0:
                body, separator, carry = data[:cut], data[cut : cut + 1], data[cut + 1 :]
                if b"\r" in body:
                    body = body.replace(b"\r\n", b"\n")
                    if separator == b"\n":
                        body = body.removesuffix(b"\r")
                last = line + body.count(b"\n")
                yield self._block(line, last, body)
                line = last + (separator == b"\n")
                self.lines = line - 1
            else:
                carry = data
            if len(carry) > LINE_LIMIT:
                carry, skipping = carry[:LINE_LIMIT], True
                self.shortened += 1
        if carry:
            carry = carry.removesuffix(b"\r")
            yield self._block(line, line + carry.count(b"\n"), carry)
            self.lines = line

    def _texts(self) -> Iterator[bytes]:
        """Yield decompressed, recoded bytes without NULs; note where the data break off."""
        with ExitStack() as stack:
            given: Any = self._stream
            buffered: io.BufferedReader = given
            if not isinstance(given, io.BufferedReader):
                buffered = io.BufferedReader(given, BLOCK_SIZE)
                # Whoever opened the stream closes it.
                stack.callback(buffered.detach)
            try:
                stream = decompress(buffered)
            except (ImportError, ValueError) as error:
                self.note = str(error)
                return
            try:
                while data := stream.read(BLOCK_SIZE):
                    yield self._recoded(data)
                    self.bytes += len(data)
            except Exception as error:  # the system and four compression formats each raise a different error
                self.note = f"the data break off after {self.bytes:,} bytes: {error}"

    def _recoded(self, data: bytes) -> bytes:
        """Return text of any encoding as UTF-8, without NULs."""
        if not self.bytes:
            encoding = encoding_of(data)
            self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace") if encoding != "utf-8" else None
            data = data.removeprefix(codecs.BOM_UTF8)
        if self._decoder:
            data = self._decoder.decode(data).encode(errors="replace")
        return data.translate(None, b"\0") if b"\0" in data else data

    def _block(self, line: int, last: int, body: bytes) -> Block:
        """Return clean lines without a logger's prefix, which is recognized in the first block."""
        body = self._clean(body)
        if line == 1:
            self._relayed = relayed_prefix(body)
        if self._relayed:
            body = self._relayed.sub(b"", body)
        if line == 1 and (part := foreign(body)):
            self.foreign, lines = part, body.split(b"\n")
            body = b"\n".join([*lines[: part.start], *[b""] * (part.end - part.start), *lines[part.end :]])
            where = "" if part.whole else f"lines {part.start + 1:,} to {part.end:,} "
            verb = "reads as" if part.whole else "read as"
            self.note = f"{where}{verb} {part.form}, not as a job's output: messages in it were ignored"
        end = body[-_BLANKS:]
        if filled := end.rstrip():
            self.filled = last - end.count(b"\n", len(filled))
        self.tail = (self.tail + b"\n" + body[-_TAIL:])[-_TAIL:]
        self.window.add(line, body)
        return Block(line, body)

    def _clean(self, body: bytes) -> bytes:
        """Remove terminal sequences and shorten overlong lines."""
        if b"\x1b" in body:
            body = _ESCAPES.sub(b"", body)
        start = 0
        while len(body) - start > LINE_LIMIT:
            limit = start + LINE_LIMIT
            end = max(body.rfind(b"\n", start, limit + 1), body.rfind(b"\r", start, limit + 1))
            if end < 0:
                end = _first_separator(body, limit)
                body, end = body[:limit] + (body[end:] if end >= 0 else b""), limit
                self.shortened += 1
            start = end + 1
        return body


def _first_separator(data: bytes, start: int = 0) -> int:
    """Return the place of the first newline or carriage return, or -1."""
    places = [place for place in (data.find(b"\n", start), data.find(b"\r", start)) if place >= 0]
    return min(places, default=-1)
