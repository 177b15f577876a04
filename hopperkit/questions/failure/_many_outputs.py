"""Answer for many outputs: their causes, their nodes, and nodes that fail more often than chance allows."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO

from hopperkit.failures.outputs import OutputRow
from hopperkit.failures.suspects import LEVEL, Job, Suspect, suspects
from hopperkit.questions.result import Download, Facts, Result, Table, table
from hopperlib.failure.diagnosis.diagnosis import FAILED
from hopperlib.finding import Finding
from hopperlib.text import count, share

_MAX_NODES = 40


def many_outputs(rows: Sequence[OutputRow], unread: Sequence[str] = ()) -> Result:
    """Return the answer for the outputs of many jobs.

    Parameters
    ----------
    rows : sequence of OutputRow
    unread : sequence of str
        Texts that could not be read, with reasons.

    Examples
    --------
    >>> many_outputs([]).summary
    'No output was read.'
    """
    kept = _without_copies(rows)
    bad = suspects([Job(row.node or None, frozenset(row.nodes)) for row in kept])
    failed = [row for row in rows if row.verdict in FAILED]
    return Result(
        summary=_summary(rows, failed, bad),
        findings=(
            *_findings(bad, len(rows) - len(kept)),
            *(Finding("unread", message, "problem") for message in unread),
        ),
        tables=(_causes(rows), _nodes(rows), _rows(rows)),
        downloads=(Download(name="outputs.csv", text=csv_of(rows), media_type="text/csv"),),
        facts=Facts(
            {
                "outputs": len(rows),
                "failed": len(failed),
                "succeeded": sum(row.verdict == "succeeded" for row in rows),
                "suspects": [suspect._asdict() for suspect in bad],
            },
            rest=lambda: {"rows": [row.to_dict() for row in rows]},
        ),
    )


def csv_of(rows: Sequence[OutputRow]) -> str:
    """Return the rows as CSV."""
    text = StringIO()
    writer = csv.DictWriter(
        text, ["file", "verdict", "code", "confidence", "who", "node", "task", "followed", "title", "text"]
    )
    writer.writeheader()
    writer.writerows(row.to_dict() for row in rows)
    return text.getvalue()


def _summary(rows: Sequence[OutputRow], failed: Sequence[OutputRow], bad: Sequence[Suspect]) -> str:
    if not rows:
        return "No output was read."
    succeeded = sum(row.verdict == "succeeded" for row in rows)
    named = [row for row in failed if row.code]
    most = Counter(row.code for row in named).most_common(1)
    often = f", {most[0][0]} most often ({count(most[0][1], 'time')})" if most else ""
    nodes = f" Look at {', '.join(suspect.node for suspect in bad[:3])} first." if bad else ""
    unknown = len(failed) - len(named)
    without = f", {unknown:,} failed for an unknown reason" if unknown else ""
    return (
        f"{count(len(rows), 'output')}: {count(len(named), 'has', 'have')} a cause of failure{often}{without}, "
        f"{succeeded:,} succeeded, {len(rows) - len(failed) - succeeded:,} are unclear.{nodes}"
    )


def _without_copies(rows: Sequence[OutputRow]) -> list[OutputRow]:
    """Return the rows of jobs without copies: of outputs with the same end on one node, only the first; if others end
    the same way, time and number are not compared.
    """
    nodes: dict[str, set[str]] = {}
    for row in rows:
        nodes.setdefault(row.ending, set()).add(row.node)
    first = {row.ending: row for row in reversed(rows)}
    return [row for row in rows if not row.ending or len(nodes[row.ending]) > 1 or row is first[row.ending]]


def _findings(bad: Sequence[Suspect], copies: int) -> Iterator[Finding]:
    if copies:
        yield Finding(
            "copies",
            f"Same end as another output, including times and numbers: {count(copies, 'output')}. These are not used for judging nodes.",
            "note",
        )
    for suspect in bad:
        yield Finding(
            "bad-node",
            f"{suspect.node} failed first in {count(suspect.failures, 'job')}; {suspect.expected:.2g} were expected. If no node were bad, some node would stand out like this in one of {1 / max(suspect.chance, 1e-300):,.3g} such folders.",
            "problem",
        )
    if bad:
        yield Finding(
            "chance-only",
            f"A node is reported if chance explains it in less than {share(LEVEL, 1)} of such folders. A user's jobs that always begin on the same node have the same effect: compare users and programs before you drain it.",
            "note",
        )


def _causes(rows: Sequence[OutputRow]) -> Table:
    groups: dict[tuple[str, str], list[OutputRow]] = {}
    for row in rows:
        groups.setdefault((row.verdict, row.code), []).append(row)
    listed = sorted(groups.values(), key=lambda group: (-len(group), group[0].code))
    return table(
        "By cause",
        listed,
        {
            "Outputs": len,
            "Cause": lambda group: group[0].code or group[0].verdict,
            "Message": lambda group: group[0].title,
            "Confidence": lambda group: ", ".join(f"{n:,} {word}" for word, n in _confidences(group)),
            "Nodes": lambda group: len({row.node for row in group} - {""}),
            "For example": lambda group: group[0].file,
        },
    )


def _confidences(group: Sequence[OutputRow]) -> list[tuple[str, int]]:
    """Return the number of rows of each confidence in a group."""
    return Counter(row.confidence for row in group if row.confidence).most_common()


def _nodes(rows: Sequence[OutputRow]) -> Table:
    groups: dict[str, list[OutputRow]] = {}
    for row in rows:
        if row.node:
            groups.setdefault(row.node, []).append(row)
    listed = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    of = f", {_MAX_NODES} of {len(listed):,}" if len(listed) > _MAX_NODES else ""
    return table(
        f"By the node that failed first{of}",
        listed[:_MAX_NODES],
        {
            "Node": lambda item: item[0],
            "Outputs": lambda item: len(item[1]),
            "Causes": lambda item: ", ".join(code for code, _ in Counter(row.code for row in item[1]).most_common(3)),
            "For example": lambda item: item[1][0].file,
        },
    )


def _rows(rows: Sequence[OutputRow]) -> Table:
    return table(
        "All outputs",
        rows,
        {
            "File": lambda row: row.file,
            "Cause": lambda row: row.code or row.verdict,
            "Confidence": lambda row: row.confidence,
            "First node": lambda row: row.node,
            "Task": lambda row: row.task,
            "Followed": lambda row: row.followed,
        },
    )
