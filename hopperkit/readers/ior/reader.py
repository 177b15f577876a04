"""Recognize and read a file: IOR in any format or mdtest, with one or more runs."""

from dataclasses import replace

from hopperkit.readers.ior._data import is_csv, is_glued, is_json, read_csv, read_glued, read_json
from hopperkit.readers.ior._runs import Test
from hopperkit.readers.ior._text import read_text
from hopperkit.readers.ior.mdtest import read_mdtest
from hopperkit.readers.ior.other_benchmarks import other_benchmark
from hopperkit.readers.ior.results import IoResult, start_in
from hopperkit.readers.ior.tokens import Marks
from hopperkit.readers.source import Source, text_of
from hopperlib.errors import InputError

_BANNER = Marks(
    r"\b(IOR-\d\S{0,60}): MPI Coordinated Test|\b(mdtest-\d\S{0,60}) was launched with",
    needs=("MPI Coordinated Test", "was launched with"),
)
_TABLE = Marks(
    r"^.{0,200}?(?:\baccess\s+bw\(|\bOperation\s+Max ?\(Mi?B\)|\bMax (?:Write|Read):\s)",
    needs=("bw(", "Operation", "Max Write:", "Max Read:"),
)
_METADATA = Marks(r"\bSUMMARY(?: rate)?: \(of \d+ iterations?\)", needs=("SUMMARY",))


def read_ior(source: Source, *, file: str = "-") -> list[IoResult]:
    """Return every rate in the output of IOR or mdtest as a row.

    Removal of files is left out: it moves no data. Rows of a run that failed, ended early or printed no rate have a
    `status`.

    Parameters
    ----------
    source : str, bytes, path-like or binary file
        One file: text, JSON or CSV, of one run or of several; see `hopperkit.readers.source.text_of`.
    file : str
        Fields to set in the rows.

    Raises
    ------
    InputError
        If nothing in the text is from IOR or mdtest.

    Examples
    --------
    >>> rows = read_ior('''IOR-3.2.1: MPI Coordinated Test of Parallel I/O
    ... Command line        : ./ior -w -t 1m -b 16m -s 16 -F
    ... access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
    ... write     115.02     16384      1024.00    0.324555   141.74     0.215958   142.45     0''')
    >>> rows[0].rate_mib_s, rows[0].seconds, rows[0].type, rows[0].transfer_bytes
    (115.02, 142.45, 'file per process', 1048576)
    """
    text = text_of(source, name=file)
    results: list[IoResult] = []
    for tool, part in _parts(text):
        if tool.startswith("mdtest") or (not tool and _METADATA.search(part)):
            results += read_mdtest(part, file=file)
            continue
        tests, start = _tests(tool, part, file), start_in(part)
        # An empty test among others is only text between two tests.
        speaking = [test for test in tests if not test.empty or test.options or test.errors or test.no_rates]
        results += [replace(row, start=start) for test in speaking or tests for row in test.rows()]
    if not results:
        if other := other_benchmark(text):
            raise InputError(f"{file}: {other}")
        raise InputError(f"{file}: it contains no output of IOR or mdtest" if text.strip() else f"{file}: is empty")
    return results


def _tests(tool: str, part: str, file: str) -> list[Test]:
    """Return the tests in a part, using the first format that matches."""
    version = tool or None
    if is_json(part):
        return read_json(part, file=file, version=version)
    if is_csv(part):
        return read_csv(part, file=file, version=version)
    if tool and is_glued(part):
        return read_glued(part, file=file, version=version)
    return read_text(part, file=file, version=version) if tool or _TABLE.search(part) else []


def _parts(text: str) -> list[tuple[str, str]]:
    """Split the text at the banners into tool and version, and the following text. Text before the first banner is a
    separate part if it has results; otherwise it belongs to the first run, because MPI messages may precede the banner.
    """
    starts = [(match.start(), match[1] or match[2]) for match in _BANNER.all(text)]
    if not starts:
        return [("", text)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    parts = [(tool, text[start:end]) for (start, tool), end in zip(starts, ends, strict=True)]
    before = text[: starts[0][0]]
    if is_json(before) or is_csv(before) or _TABLE.search(before) or _METADATA.search(before):
        return [("", before), *parts]
    return [(parts[0][0], before + parts[0][1]), *parts[1:]]
