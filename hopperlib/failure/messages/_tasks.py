r"""Tasks of a job that ended, in the order of the launchers' reports, and their nodes.

A job of ten thousand tasks ends in thousands of lines, of which the scan examines a few; this module reads all lines of
launchers, and only those.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

# srun, ALPS, PALS and Open MPI: the node, the tasks, and the failure; a line that names the first task that ended.
_ENDS = re.compile(
    rb"^[^\n]{0,60}?srun: error: (?P<srun_node>[\w.\[\],-]{1,400}): tasks? (?P<srun>[\d,-]{1,4000}): "
    rb"(?!running|[Tt]erminated|unknown)"
    rb"|\[NID 0{0,5}(?P<nid>\d{1,6})\][^\n]{0,80}\bPE (?:RANK )?(?P<alps>\d{1,7}) exit "
    rb"|^(?P<pals_node>[\w.-]{1,80}): rank (?P<pals>\d{1,7}) (?:died from|exited with) "
    rb"|(?:process rank|noticed that process rank) (?P<ompi>\d{1,7}) with PID \d{1,9} on node (?P<ompi_node>[\w.-]{1,80}) exited",
    re.MULTILINE,
)
# A node of the job in a line about tasks that did not fail by themselves, or about the job.
_NAMED = re.compile(
    rb"^[^\n]{0,60}?srun: error: (?P<srun_node>[\w.\[\],-]{1,400}): tasks? [\d,-]{1,4000}: (?:running|[Tt]erminated|unknown)"
    rb"|\*\*\* (?:STEP|JOB) [\w.+]{1,40} ON (?P<on>[\w.-]{1,80}) "
    rb"|^(?P<pals_node>[\w.-]{1,80}): rank \d{1,7} died from signal 15\b",
    re.MULTILINE,
)
_PIECES = (b"srun: error: ", b"*** STEP ", b"*** JOB ", b" exit", b"died from")
# Most tasks and nodes that are stored.
_MOST = 2_000_000


@dataclass(slots=True)
class TaskEnds:
    """Tasks that launchers report as failed.

    Attributes
    ----------
    first : tuple of (int, str) or None
        The task that is reported first, and its node.
    line : int
        The line of that report. The order is that of the messages: launchers collect them, and they rarely have times.
    tasks : set of int
    nodes : set of str
    others : set of str
        Nodes of the job that lines about its other tasks, or about the job, name.
    """

    first: tuple[int, str] | None = None
    line: int = 0
    tasks: set[int] = field(default_factory=set)
    nodes: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)

    def read(self, first_line: int, data: bytes) -> None:
        """Read the lines of a block."""
        if not any(piece in data for piece in _PIECES) or len(self.tasks) > _MOST:
            return
        for match in _NAMED.finditer(data):
            self.others.update(expanded(next(filter(None, match.groups())).decode()))
        for match in _ENDS.finditer(data):
            named = match.groupdict(b"")
            node = (named["srun_node"] or named["pals_node"] or named["ompi_node"]).decode()
            if named["nid"]:
                node = f"nid{int(named['nid']):05d}"
            tasks = list(numbers_of((named["srun"] or named["alps"] or named["pals"] or named["ompi"]).decode()))
            nodes = list(expanded(node))
            if self.first is None and tasks and nodes:
                self.first = (tasks[0], nodes[0])
                self.line = first_line + data.count(b"\n", 0, match.start())
            self.tasks.update(tasks)
            self.nodes.update(nodes)


def numbers_of(ranges: str) -> Iterator[int]:
    """Yield the numbers in a list of ranges.

    Examples
    --------
    >>> list(numbers_of("0-2,7"))
    [0, 1, 2, 7]
    """
    for part in ranges.split(","):
        low, _, high = part.partition("-")
        if low.isdigit() and (not high or high.isdigit()):
            yield from range(int(low), min(int(high or low), int(low) + _MOST) + 1)


def expanded(nodes: str) -> Iterator[str]:
    """Yield the names of a list of nodes as Slurm writes it.

    Examples
    --------
    >>> list(expanded("nid[0009-0011,0020],login1"))
    ['nid0009', 'nid0010', 'nid0011', 'nid0020', 'login1']
    """
    for part in re.findall(r"[^,\[]{1,80}(?:\[[\d,-]{1,400}\])?", nodes):
        head, bracket, inside = part.partition("[")
        if not bracket:
            yield head
            continue
        for numbers in inside.rstrip("]").split(","):
            width = len(numbers.partition("-")[0])
            yield from (f"{head}{number:0{width}d}" for number in numbers_of(numbers))
