"""Original bytes of a compressed file, and the encoding of a text."""

import codecs
import io
from typing import Any

# Byte order marks of wide encodings, the longer first: UTF-16's is a prefix of UTF-32's.
_WIDE = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# A text may begin with "BZh" too, but not followed by the mark of the first block or of the end.
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")


def encoding_of(head: bytes) -> str:
    """Return the encoding implied by the first bytes of a text: a byte order mark, or the zero bytes of wide
    characters.

    Parameters
    ----------
    head : bytes
        First bytes of the text.

    Examples
    --------
    >>> encoding_of("Fehler".encode("utf-16-le")), encoding_of(b"Fehler")
    ('utf-16-le', 'utf-8')
    """
    marked = next((name for mark, name in _WIDE if head.startswith(mark)), None)
    if marked or b"\0" not in head[:64]:
        return marked or "utf-8"
    zeros = [head[start:64:2].count(0) for start in (0, 1)]
    most = max(zeros)
    # Text in one alphabet has a zero in every pair of bytes, always on the same side.
    return "utf-8" if most < 0.8 * len(head[:64:2]) or min(zeros) > 0 else ("utf-16-be", "utf-16-le")[zeros.index(most)]


def decompress(stream: io.BufferedReader) -> Any:
    """Return a stream of decompressed bytes: the same one if it is not compressed with gzip, bzip2 or xz.

    Parameters
    ----------
    stream : BufferedReader
        Binary stream at its start.

    Raises
    ------
    ValueError
        If it is compressed with zstd.
    ImportError
        If this Python, or this browser, lacks the decompression module.

    Examples
    --------
    >>> import gzip
    >>> decompress(io.BufferedReader(io.BytesIO(gzip.compress(b"text")))).read()
    b'text'
    """
    head = stream.peek(10)
    if head.startswith(b"\x1f\x8b"):
        import gzip

        return gzip.GzipFile(fileobj=stream)
    if head.startswith(b"BZh") and head[4:10] in _BZIP2:
        import bz2

        return bz2.BZ2File(stream)
    if head.startswith(b"\xfd7zXZ\x00"):
        import lzma

        return lzma.LZMAFile(stream)
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        raise ValueError(
            "the file is compressed with zstd, which the standard library does not support; decompress it with zstd -d"
        )
    return stream
