"""Lines out of anything that calls itself a log.

Whatever comes is turned into blocks of clean UTF-8 lines: gzip, bzip2 and xz
are unpacked, UTF-16 and UTF-32 recoded, NUL bytes and terminal colors taken
out. A lone carriage return ends a piece of text but not a numbered line, as
in an editor: progress bars are one line of many pieces. Nothing is held but
the block in hand, so a file of any size passes through.

==============  ==============================================================
`LINE_LIMIT`    bytes of a line that are kept; the rest is dropped unread
`BLOCK_SIZE`    bytes read at a time
==============  ==============================================================
"""

from __future__ import annotations

import codecs
import io
import re
import zlib
from collections.abc import Iterator
from typing import IO, BinaryIO

__all__ = ["BLOCK_SIZE", "LINE_LIMIT", "Block", "LineReader"]

LINE_LIMIT = 65_536
BLOCK_SIZE = 524_288

# Terminal sequences: colors and cursor movements, titles, two-character ones. Each
# class excludes the escape character, so that a search never goes over a text twice.
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_=>])")

# The mark of bzip2, its block size, and the mark of the first block or, in an empty file, of the
# end: a text may begin with "BZh" too.
_BZIP2 = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")

# Share of NUL bytes at odd or even places from which a text is taken for UTF-16.
_UTF16_SHARE = 0.3
_UTF16_SAMPLE = 16


class Block:
    r"""Some whole lines.

    Parameters
    ----------
    first_line : int
        Number of the line that the first piece belongs to.
    data : bytes
        Pieces, parted by newlines, or by carriage returns within a line.
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
                self._numbers += [number] * (line.count(b"\r") + 1)
        return self._numbers[index]


class _Rewound(io.RawIOBase):
    """A stream whose first bytes were read already and come again."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head, self._stream = head, stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if self._head:
            part, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        else:
            part = self._stream.read(len(buffer)) or b""
        buffer[: len(part)] = part
        return len(part)


def _unpacked(head: bytes, stream: BinaryIO) -> tuple[IO[bytes], str]:
    """Return a stream of unpacked bytes and the name of the packing, if any.

    The modules are imported when they are needed: not every browser has them all.
    """
    rewound = io.BufferedReader(_Rewound(head, stream), BLOCK_SIZE)
    if head.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.GzipFile(fileobj=rewound), "gzip"  # type: ignore[return-value]
    if _BZIP2.match(head):
        import bz2

        return bz2.BZ2File(rewound), "bzip2"
    if head.startswith(b"\xfd7zXZ\x00"):
        import lzma

        return lzma.LZMAFile(rewound), "xz"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        raise ValueError(
            "the file is packed with zstd, which the standard library does not unpack; unpack it with zstd -d"
        )
    return rewound, ""


def _encoding(head: bytes) -> str | None:
    """Name the wide encoding of a text by its mark, or by where its NUL bytes stand."""
    for mark, name in (
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if head.startswith(mark):
            return name
    sample = head[:4096]
    if len(sample) < _UTF16_SAMPLE:
        return None
    even, odd = sample[0::2].count(0) / len(sample[0::2]), sample[1::2].count(0) / len(sample[1::2])
    if odd > _UTF16_SHARE and even < _UTF16_SHARE / 10:
        return "utf-16-le"
    return "utf-16-be" if even > _UTF16_SHARE and odd < _UTF16_SHARE / 10 else None


class LineReader:
    r"""Blocks of lines out of a binary stream.

    Parameters
    ----------
    stream : binary file
        What to read; it need not be seekable.

    Attributes
    ----------
    lines, bytes : int
        Lines and unpacked bytes read so far.
    shortened : int
        Lines of which only the first `LINE_LIMIT` bytes were kept.
    note : str
        What was odd about the stream, such as packed data that break off.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.lines = 0
        self.bytes = 0
        self.shortened = 0
        self.note = ""

    def __iter__(self) -> Iterator[Block]:
        """Yield the blocks."""
        line, carry, skipping = 1, b"", False
        for piece in self._texts():
            data = piece
            if skipping:
                # The rest of a line that is too long: drop it up to its end.
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
                yield Block(line, self._clean(body))
                line += body.count(b"\n") + (separator == b"\n")
                self.lines = line - 1
            else:
                carry = data
            if len(carry) > LINE_LIMIT:
                carry, skipping = carry[:LINE_LIMIT], True
                self.shortened += 1
        if carry:
            carry = carry.removesuffix(b"\r")
            yield Block(line, self._clean(carry))
            self.lines = line

    def _texts(self) -> Iterator[bytes]:
        """Yield unpacked, recoded bytes without NULs; note what breaks off."""
        head = self._stream.read(BLOCK_SIZE) or b""
        try:
            stream, packing = _unpacked(head, self._stream)
        except (ImportError, ValueError) as error:
            self.note = str(error)
            return
        decoder = None
        first = True
        while True:
            try:
                data = stream.read(BLOCK_SIZE)
            except (OSError, EOFError, zlib.error, ValueError) as error:
                # lzma's own error is none of these, but a LZMAError of an absent module cannot be named.
                self.note = f"the {packing or 'input'} data break off after {self.bytes:,} bytes: {error}"
                return
            except Exception as error:
                if type(error).__name__ != "LZMAError":
                    raise
                self.note = f"the xz data break off after {self.bytes:,} bytes: {error}"
                return
            self.bytes += len(data)
            if first:
                first = False
                encoding = _encoding(data)
                if encoding:
                    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
                data = data.removeprefix(codecs.BOM_UTF8)
            if decoder:
                text = decoder.decode(data, final=not data)
                recoded = text.replace("\ufeff", "").replace("\0", "").encode(errors="replace")
                if recoded:
                    yield recoded
            elif data:
                yield data.translate(None, b"\0") if b"\0" in data else data
            if not data:
                return

    def _clean(self, body: bytes) -> bytes:
        """Take out terminal sequences and shorten lines that are too long."""
        if b"\x1b" in body:
            body = _ESCAPES.sub(b"", body)
        start = 0
        while len(body) - start > LINE_LIMIT:
            end = max(
                body.rfind(b"\n", start, start + LINE_LIMIT + 1), body.rfind(b"\r", start, start + LINE_LIMIT + 1)
            )
            if end < 0:
                return self._shorten(body)
            start = end + 1
        return body

    def _shorten(self, body: bytes) -> bytes:
        """Keep the first bytes of every line; separators stay as they are."""
        parts = []
        for line in body.split(b"\n"):
            pieces = line.split(b"\r")
            self.shortened += sum(len(piece) > LINE_LIMIT for piece in pieces)
            parts.append(b"\r".join(piece[:LINE_LIMIT] for piece in pieces))
        return b"\n".join(parts)


def _first_separator(data: bytes) -> int:
    """Return the place of the first newline or carriage return, or -1."""
    found = [place for place in (data.find(b"\n"), data.find(b"\r")) if place >= 0]
    return min(found, default=-1)
