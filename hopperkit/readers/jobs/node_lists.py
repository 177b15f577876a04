"""Read the nodes that jobs ran on from ``sacct`` output."""

import csv

from hopperkit.readers.source import Source, lines_of
from hopperkit.traces.cluster import node_names
from hopperlib.errors import InputError

_COLUMNS = ("JobIDRaw", "JobID")


def read_node_lists(source: Source, *, file: str = "-") -> dict[int, tuple[str, ...]]:
    r"""Return the nodes of each job by its number, from ``sacct -aXP --format=JobIDRaw,NodeList``.

    Steps and array elements, whose names are not numbers, are skipped: JobIDRaw has a number for every job.

    Parameters
    ----------
    source : str, bytes, path-like, binary file or iterable of str
        See `hopperkit.readers.source.text_of`.
    file : str
        Name for messages.

    Raises
    ------
    InputError
        If it lacks the job column or the node column.

    Examples
    --------
    >>> read_node_lists("JobIDRaw|NodeList\n7|nid[001-003]\n7.batch|nid001\n8|None assigned\n")
    {7: ('nid001', 'nid002', 'nid003')}
    """
    rows = csv.DictReader(lines_of(source), delimiter="|", restval="", quoting=csv.QUOTE_NONE)
    columns = rows.fieldnames or ()
    job = next((name for name in _COLUMNS if name in columns), None)
    if job is None or "NodeList" not in columns:
        raise InputError(
            f"{file}: it lacks the columns JobIDRaw (or JobID) and NodeList; print them with "
            "sacct -aXP --format=JobIDRaw,NodeList"
        )
    named = {int(row[job]): row["NodeList"] for row in rows if (row[job] or "").isdecimal()}
    return {number: tuple(node_names(nodes)) for number, nodes in named.items() if nodes and "None" not in nodes}
