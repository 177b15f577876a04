"""Question: which nodes have too little free memory before a run."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.failures.preflight import NodeMemory, Report, node_list, read_buddyinfo, report
from hopperkit.questions import ask
from hopperkit.questions.question import is_sample
from hopperkit.questions.result import Column, Facts, Result, Snippet, Table, Value, table
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.text import count

_MAX_ROWS = 12
_SAMPLE = """\
nid00012: Node 0, zone Normal 12 9 7 4 3 2 1 1 0 2 7600
nid00013: Node 0, zone Normal 8 4 9 2 1 0 3 1 1 0 7690
nid00014: Node 0, zone Normal 410 302 211 98 51 40 22 9 4 2 5210
nid00015: Node 0, zone Normal 3 2 9 1 0 2 1 1 0 1 7680
"""


class Copies(ask.Setting):
    """Copies of /proc/buddyinfo of some nodes, and a job's need on each; zero means no need."""

    buddyinfo: str = ask.file(
        "Copies of /proc/buddyinfo",
        _SAMPLE,
        argument=True,
        rows=6,
        help="One line for each zone, beginning with the name of its node, "
        "as `srun ... /proc/buddyinfo` collects them.",
    )
    need_gb: float = ask.number(
        "Free memory that a node must have",
        0.0,
        (0.0, 100_000.0, 0.5),
        unit="GB",
        binary=True,
        option="need",
        help="0: no limit; only nodes that differ from the others are named.",
    )
    need_huge_pages: int = ask.whole("Huge pages that a node must have", 0, (0, 10_000_000))
    huge_page_mb: float = ask.number(
        "Size of a huge page",
        2.0,
        (0.0625, 1_048_576.0, 1.0),
        unit="MB",
        binary=True,
        option="huge_page",
        advanced=True,
    )
    page_bytes: int = ask.whole("Size of a base page", 4096, (1, 1 << 30), option="page", advanced=True)

    def check(self) -> None:
        """Read the copies."""
        try:
            nodes, self.unread = read_buddyinfo(self.buddyinfo.splitlines(), page_bytes=self.page_bytes)
            self.found: Report = report(
                nodes,
                need_gb=self.need_gb or None,
                need_huge_pages=self.need_huge_pages,
                huge_page_bytes=self.huge_page_bytes,
            )
            self.found.nodes[0].huge_pages(self.huge_page_bytes)
        except ValueError as error:
            raise InputError(str(error), name="buddyinfo") from error

    @property
    def huge_page_bytes(self) -> int:
        """Size of a huge page. [bytes]"""
        return round(self.huge_page_mb * 2**20)

    @property
    def fewest(self) -> NodeMemory:
        """The node with the least free memory."""
        return self.found.nodes[0]

    @cached_property
    def short_names(self) -> str:
        """The nodes to exclude, as a list for the batch system."""
        return node_list(node.name for node in self.found.short)


def answer(copies: Copies) -> Result:
    """Return the answer.

    Parameters
    ----------
    copies : Copies
        Copies of /proc/buddyinfo of some nodes, and a job's need on each.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> print(answer(Copies()).summary)
    4 nodes, median 29.85 GB free, least 20.39 GB on nid00014.
    """
    return Result(
        summary=_summary(copies),
        findings=tuple(_findings(copies)),
        values=tuple(_values(copies)),
        copyables=(Snippet("Nodes to leave out", copies.short_names),) if copies.found.short else (),
        tables=(_nodes(copies),),
        facts=Facts(
            {"count": len(copies.found.nodes), "short": len(copies.found.short)}, rest=lambda: _contract(copies)
        ),
    )


def _summary(copies: Copies) -> str:
    found, fewest = copies.found, copies.fewest
    text = (
        f"{count(len(found.nodes), 'node')}, median {found.median_gb:.2f} GB free, "
        f"least {fewest.free_gb:.2f} GB on {fewest.name}."
    )
    return f"{text} {len(found.short):,} below the job's need." if found.short else text


def _findings(copies: Copies) -> Iterator[Finding]:
    short = copies.found.short
    if short:
        leave = "node is short; leave it out" if len(short) == 1 else "nodes are short; leave them out"
        yield Finding("short", f"{len(short):,} {leave} with: {copies.short_names}", "problem")
    if any(node.name.isdigit() for node in short):
        yield Finding("task-numbers", "These are task numbers, as srun --label writes them, not names of nodes.")
    if copies.found.outliers:
        names = node_list(node.name for node in copies.found.outliers)
        text = f"Much less free memory than the others: {names}"
        yield Finding("outliers", text, advice="Exclude them, or have them checked.")
    if copies.unread:
        lines = count(len(copies.unread), "line")
        yield Finding("unread", f"{lines} could not be read, the first is {copies.unread[0]}")
    if is_sample(QUESTION, "buddyinfo", copies.buddyinfo):
        yield Finding("made-up", "This text is made up: paste or drop yours.", "note")


def _values(copies: Copies) -> Iterator[Value]:
    note = "counted in your text"
    yield Value("Median free memory", copies.found.median_gb, "documented", "GB", 2, note=note)
    fewest = copies.fewest
    yield Value("Smallest free memory of a node", fewest.free_gb, "documented", "GB", 2, note=f"on {fewest.name}")


def _nodes(copies: Copies) -> Table:
    found, shown = copies.found, copies.found.nodes[:_MAX_ROWS]
    more = f"; {len(shown)} of {len(found.nodes):,}" if len(shown) < len(found.nodes) else ""
    return table(
        f"Nodes, least memory first{more}",
        shown,
        {
            "Node": lambda node: node.name,
            Column("Free", "GB", 2, "documented"): lambda node: node.free_gb,
            "Largest order": lambda node: node.largest_order,
            "Huge pages": lambda node: node.huge_pages(copies.huge_page_bytes),
            "Outlier": lambda node: node in found.outliers,
        },
        marked=tuple(at for at, node in enumerate(shown) if node in found.short),
        marked_label="short",
    )


def _contract(copies: Copies) -> dict[str, Any]:
    """Return the additional output of `hopper preflight --json`; its keys are stable."""
    found = copies.found
    return {
        "median_free_gb": round(found.median_gb, 3),
        "need_gb": copies.need_gb or None,
        "unread": copies.unread,
        "nodes": [
            {
                "node": node.name,
                "free_gb": round(node.free_gb, 3),
                "largest_order": node.largest_order,
                "huge_pages": node.huge_pages(copies.huge_page_bytes),
                "short": node in found.short,
                "outlier": node in found.outliers,
            }
            for node in found.nodes
        ],
    }


QUESTION = ask.declared(
    Copies,
    answer,
    title="Do the nodes have enough free memory?",
    examples={"A job that needs 29 GB": {"need_gb": 29.0}},
)
