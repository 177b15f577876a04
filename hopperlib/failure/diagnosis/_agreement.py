"""Two independent methods for one failure: the rules, and a ranker of all lines.

The ranker uses no rules and the rules no weights, but both read the same words, so their errors are correlated: the
value of agreement was measured, not computed from the two rates.

===========  ====================================================================================
agreement    the ranker's first line is the first that the rules quote: a guess about a run that failed
             becomes ``possible``, and ``possible`` becomes ``likely``
same block   it is another one of the quoted lines: nothing changes
disagreement another line: it is shown as "or", and ``likely`` becomes ``possible``
===========  ====================================================================================
"""

from collections.abc import Sequence

from hopperlib.failure.diagnosis._fallback import message_of
from hopperlib.failure.diagnosis._following_lines import BARE
from hopperlib.failure.diagnosis.causes import Cause, Confidence
from hopperlib.failure.messages._templates import is_exit_report, printed_by_successful_runs, suspicion, template
from hopperlib.failure.messages.evidence import Evidence, Hit
from hopperlib.failure.ranker.ranking import RankedLine

# Lines quoted for a cause.
_QUOTED = 8
# Reports of a scheduler that it ended the job or the step.
_ENDED_BY_OTHERS = ("SLURM-STEP-CANCELLED", "SLURM-STEP-ENDS", "SLURM-TIME-LIMIT", "SLURM-JOB-CANCELLED")
_RAISED: dict[Confidence, Confidence] = {"guess": "possible", "possible": "likely"}


def compare_with_ranker(
    causes: Sequence[Cause], ranked: Sequence[RankedLine], evidence: Evidence, *, failed: bool
) -> Cause | None:
    """Compare the first cause with the ranker's first line; return the alternative, None if both agree.

    Parameters
    ----------
    causes : sequence of Cause
        By the rules; the confidence of the first one is changed.
    ranked : sequence of RankedLine
    evidence : Evidence
    failed : bool
        Whether anything shows that the run failed: agreement on a line of a run that may have succeeded does not raise
        the confidence.
    """
    first = causes[0]
    if first.confidence == "certain" or not ranked:
        return None
    head = first.hits[0]
    quoted = {(hit.file, hit.line) for hit in first.hits[:_QUOTED]}
    # Lines that successful runs print too are not a reason, unless the rules found that the end names them.
    top = next(
        (one for one in ranked if (one.file, one.line) in quoted or not printed_by_successful_runs(one.text.encode())),
        None,
    )
    if top is None:
        return None
    if _same(top, head):
        if failed and _is_reason(first, evidence):
            first.confidence = _RAISED.get(first.confidence, first.confidence)
        return None
    if any(_same(top, hit) for hit in first.hits[:_QUOTED]):
        return None
    if first.confidence == "likely":
        first.confidence = "possible"
    # A consequence of the cause disagrees without being another cause.
    return None if _is_consequence(top, first, evidence) else _as_cause(top, causes[1:], evidence)


def _is_consequence(top: RankedLine, first: Cause, evidence: Evidence) -> bool:
    """Whether a line reports only a consequence: a message that the first cause explains, or the end of other tasks."""
    return any(
        hit.file == top.file and hit.line == top.line
        for code, message in evidence.messages.items()
        if code in _ENDED_BY_OTHERS
        or (
            message.rule.role in ("symptom", "cascade")
            and (code in first.explains or is_exit_report(top.text.encode()))
        )
        for hit in message.hits
    )


def folded(hits: Sequence[Hit]) -> list[Hit]:
    """Return the lines that differ from all earlier ones in more than numbers, names and quoted words."""
    kept: dict[bytes, Hit] = {}
    for hit in hits:
        kept.setdefault(template(hit.text.encode()), hit)
    return list(kept.values())


def _same(top: RankedLine, hit: Hit) -> bool:
    """Whether two lines are the same line, or have the same text."""
    return (hit.file, hit.line) == (top.file, top.line) or top.text.split() == hit.text.split()


def _is_reason(cause: Cause, evidence: Evidence) -> bool:
    """Whether the first line of a cause gives a reason for the end of the run.

    If both methods point at a report of an end, neither has found a reason; a message that counts only next to others
    is not a complete one.
    """
    if cause.rule is not None and cause.rule.requires:
        return False
    head = cause.hits[0]
    line = head.text.encode()
    if evidence.progress_after(head) is not None or BARE.match(head.text):
        return False
    return suspicion(line) != "end" and not is_exit_report(line)


def _as_cause(top: RankedLine, others: Sequence[Cause], evidence: Evidence) -> Cause:
    """Return the ranker's line as a cause: a runner-up of the rules, or a message without a rule."""
    for other in others:
        if any((hit.file, hit.line) == (top.file, top.line) for hit in other.hits):
            return other
    known = next(
        (
            hit
            for message in evidence.messages.values()
            for hit in message.hits
            if (hit.file, hit.line) == (top.file, top.line)
        ),
        None,
    )
    return message_of(known or Hit(file=top.file, line=top.line, text=top.text, fields={}), top.occurrences)
