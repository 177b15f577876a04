"""Benchmark outputs that are recognized but not supported, each with a supported alternative."""

import re

# Name, pattern of its output, and advice.
_OTHERS = (
    (
        "fio",
        r"^fio-\d|^\S+: \(g=\d+\): rw=|\"fio version\"|^Run status group \d",
        "the same pattern in IOR is -t BLOCKSIZE -b SIZE -F -e (and --posix.odirect for direct=1); fio's numbers are bw of "
        "READ and WRITE in its last lines",
    ),
    (
        "elbencho",
        r"^OPERATION\s+RESULT TYPE\s+FIRST DONE|\belbencho\b.*\bphase\b|^COMMAND LINE:.*\belbencho\b",
        "the same pattern in IOR is -t BLOCK -b SIZE -F -e; in elbencho's table LAST DONE is the total rate",
    ),
    (
        "h5bench",
        r"^=+ *Performance Results *=+|\bh5bench(?:_write|_read)?\b|Observed completion time|Raw (?:write|read) rate",
        "run it with Darshan (LD_PRELOAD=libdarshan.so) and give that log to hopper io",
    ),
    (
        "DLIO",
        r"\bdlio_benchmark\b|^\[METRIC\]|\[OUTPUT\].*(?:Starting epoch|Averaged metric)|\bDLIO\b",
        "run it with Darshan (LD_PRELOAD=libdarshan.so, DARSHAN_ENABLE_NONMPI=1) and give that log to hopper io",
    ),
    (
        "MD-Workbench",
        r"\b[Mm][Dd]-?[Ww]orkbench\b",
        "mdtest measures creates, stats, reads and removals one after the other, and its output is read",
    ),
)
_PATTERNS = [(name, re.compile(pattern, re.MULTILINE), advice) for name, pattern, advice in _OTHERS]
# Tools print their names at the beginning and their results at the end.
_LOOKED_AT = 65_536


def other_benchmark(text: str) -> str | None:
    r"""Return which unsupported benchmark wrote a text, with advice; None if unknown.

    Parameters
    ----------
    text : str
        Output of a benchmark.

    Examples
    --------
    >>> other_benchmark("fio-3.35\nStarting 1 process").partition(":")[0]
    'this is output of fio, which is not supported'
    >>> other_benchmark("milk") is None
    True
    """
    looked_at = text[:_LOOKED_AT] + text[-_LOOKED_AT:]
    for name, pattern, advice in _PATTERNS:
        if pattern.search(looked_at):
            return f"this is output of {name}, which is not supported: {advice}"
    return None
