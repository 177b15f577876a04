"""One way in for every reader: text, bytes, files and streams, compressed or not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path

import pytest

from hopperkit.readers.source import lines_of, text_of
from hopperlib.errors import InputError

TEXT = "one\nzw\u00f6lf\n"
PACKERS = (bytes, gzip.compress, bz2.compress, lzma.compress)


@pytest.mark.parametrize("pack", PACKERS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_packed_and_encoded(pack, encoding, tmp_path):
    data = pack(TEXT.encode(encoding))
    path = tmp_path / "named-as-nothing"
    path.write_bytes(data)
    for source in (data, path, io.BytesIO(data)):
        assert text_of(source) == TEXT
    for source in (data, path, io.BytesIO(data)):
        assert list(lines_of(source)) == TEXT.splitlines(keepends=True)


def test_text_and_lines_are_taken_as_they_are():
    assert text_of(TEXT) == TEXT
    assert text_of(["one\n", "two"]) == "one\ntwo\n"
    assert list(lines_of("one\r\ntwo\r")) == ["one\n", "two\n"]
    assert list(lines_of(io.StringIO("one\ntwo"))) == ["one\n", "two"]


def test_text_that_only_begins_like_bzip2():
    assert text_of(b"BZh1 is no archive") == "BZh1 is no archive"


def test_bytes_of_no_encoding_are_replaced():
    assert text_of(b"caf\xe9") == "caf\ufffd"


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"one"))))
    assert text_of(Path("-")) == "one"
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="-: standard input is closed"):
        text_of(Path("-"))


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere: No such file or directory"):
        text_of(tmp_path / "nowhere")
    with pytest.raises(InputError, match="Is a directory"):
        next(lines_of(tmp_path))
    with pytest.raises(InputError, match="null"):
        text_of(Path("a\0b"))


@pytest.mark.parametrize("pack", PACKERS[1:])
def test_packed_data_that_break_off(pack):
    data = pack(bytes(range(256)) * 500)
    for read in (text_of, lambda source: list(lines_of(source))):
        with pytest.raises(InputError, match="the input: "):
            read(data[:-20])


def test_a_bound_holds_for_what_is_unpacked():
    packed = gzip.compress(b"x" * 1000)
    assert len(text_of(packed, max_bytes=1000)) == 1000
    with pytest.raises(InputError, match="is larger than the limit of 999 bytes"):
        text_of(packed, max_bytes=999)
