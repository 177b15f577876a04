"""Lines from any input given as a log."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopperlib.failure.messages import _lines as lines_module
from hopperlib.failure.messages._lines import LineReader

# The limit that messages give for a line: "longer than 64 KiB: the rest was not read". [bytes]
KIB_64 = 64 * 1024


def read(data):
    """Every piece with its number, and the reader."""
    reader = LineReader(io.BytesIO(data))
    found = []
    for block in reader:
        pieces = block.pieces()
        found += [(block.line_of(index), piece) for index, piece in enumerate(pieces)]
    return found, reader


def reference(data):
    """A plain implementation: lines end at LF or CRLF, a lone CR separates pieces."""
    numbered = []
    lines = data.replace(b"\0", b"").replace(b"\r\n", b"\n").split(b"\n")
    if not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, 1):
        numbered += [(number, piece) for piece in line.split(b"\r")]
    return numbered


class Dribble(io.RawIOBase):
    """A stream that returns a few bytes at a time, like a pipe."""

    def __init__(self, data, step):
        self.data, self.step = data, step

    def readable(self):
        return True

    def readinto(self, buffer):
        count = min(self.step, len(buffer))
        part, self.data = self.data[:count], self.data[count:]
        buffer[: len(part)] = part
        return len(part)


LOG = b"first\nsecond line\n\nfourth, no end"


def test_numbers_lines_from_one():
    found, reader = read(LOG)
    assert found == [(1, b"first"), (2, b"second line"), (3, b""), (4, b"fourth, no end")]
    assert reader.lines == 4


@pytest.mark.parametrize(
    ("data", "lines"), [(b"", 0), (b"\n", 1), (b"a", 1), (b"a\n", 1), (b"a\nb", 2), (b"a\r", 1), (b"\n\n", 2)]
)
def test_counts_lines_as_an_editor_does(data, lines):
    assert read(data)[1].lines == lines


def test_windows_line_ends_are_line_ends():
    assert read(b"one\r\ntwo\r\n")[0] == [(1, b"one"), (2, b"two")]


def test_a_progress_bar_is_one_line_of_many_pieces():
    found, reader = read(b"start\n 10%\r 50%\r100%\nError\n")
    assert found == [(1, b"start"), (2, b" 10%"), (2, b" 50%"), (2, b"100%"), (3, b"Error")]
    assert reader.lines == 3


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_unpacks(pack):
    found, reader = read(pack(LOG))
    assert found == read(LOG)[0]
    assert reader.note == ""


def test_unpacks_several_parts_in_one_file():
    assert read(gzip.compress(b"one\n") + gzip.compress(b"two\n"))[0] == [(1, b"one"), (2, b"two")]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"])
def test_packed_data_that_break_off_are_read_as_far_as_they_go(pack):
    data = b"".join(b"line %d\n" % number for number in range(20_000))
    packed = pack(data)
    found, reader = read(packed[: len(packed) // 2])
    assert found == reference(data)[: len(found)] or found[:-1] == reference(data)[: len(found) - 1]
    assert "break off after" in reader.note


def test_damaged_data_end_with_a_note():
    packed = bytearray(gzip.compress(b"x" * 100_000))
    packed[20:40] = b"\xff" * 20
    assert "break off" in read(bytes(packed))[1].note


def test_zstd_is_named():
    assert "zstd -d" in read(b"\x28\xb5\x2f\xfd\x00\x00")[1].note


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_recodes(encoding):
    text = "Fehler: Datei \u00fcber Quote\nSpeicher \u2713 voll, Ende des Laufs mit Fehlern\n"
    assert read(text.encode(encoding))[0] == [
        (number, line.encode()) for number, line in enumerate(text.splitlines(), 1)
    ]


def test_nul_bytes_are_taken_out():
    """A sparse file is full of them."""
    assert read(b"\0" * 2_000_000 + b"Killed\n\0\0ok\n")[0] == [(1, b"Killed"), (2, b"ok")]


def test_colors_and_titles_are_taken_out():
    assert read(b"\x1b[1;31mError\x1b[0m in \x1b]0;title\x07\x1b[38;5;9mline\x1b[K 7\n")[0] == [(1, b"Error in line 7")]


def test_a_line_that_is_too_long_is_cut():
    found, reader = read(b"short\n" + b"x" * (KIB_64 + 5) + b"\nend\n")
    assert [len(piece) for _, piece in found] == [5, KIB_64, 3]
    assert (reader.shortened, reader.lines) == (1, 3)


def test_a_line_of_many_megabytes_is_never_held():
    """It spans many blocks; only its beginning is kept, and the numbers after it are right."""
    found, reader = read(b"a\n" + b"y" * 30_000_000 + b"\nend\n")
    assert [(number, len(piece)) for number, piece in found] == [(1, 1), (2, KIB_64), (3, 3)]
    assert reader.shortened == 1


def test_a_progress_bar_of_megabytes_is_read_to_its_end():
    bar = b"\r".join(b"%7d of 200000" % done for done in range(20_000))
    found, reader = read(bar + b"\rFatal: no more\nend\n")
    assert found[-2:] == [(1, b"Fatal: no more"), (2, b"end")]
    assert reader.shortened == 0


@given(
    st.lists(st.sampled_from([b"a", b"bc", b"\n", b"\r", b"\r\n", b"Error 7"]), max_size=60).map(b"".join),
    st.integers(1, 9),
)
def test_reads_the_same_whatever_the_blocks(data, step):
    """Law: neither the size of a block nor that of a piece of a pipe changes what is read."""
    reader = LineReader(Dribble(data, step))
    found = []
    for block in reader:
        pieces = block.pieces()
        found += [(block.line_of(index), piece) for index, piece in enumerate(pieces)]
    plain = reference(data)
    # A carriage return before the end of the text leaves an empty piece or none.
    strip = [entry for entry in found if entry[1]]
    assert strip == [entry for entry in plain if entry[1]]
    assert reader.lines == (plain[-1][0] if plain else 0)


@given(st.binary(max_size=4000))
def test_any_bytes_are_read(data):
    found, reader = read(data)
    assert reader.lines >= max((number for number, _ in found), default=0) or reader.note
    assert all(b"\n" not in piece and b"\r" not in piece for _, piece in found)


def test_blocks_are_small(monkeypatch):
    """Only the current block is stored: no block is larger than one read plus one line."""
    monkeypatch.setattr(lines_module, "BLOCK_SIZE", 10_000)
    data = b"some text of a line\n" * 50_000
    assert max(len(block.data) for block in LineReader(io.BytesIO(data))) <= 10_000 + KIB_64
