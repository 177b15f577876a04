"""Unknown messages: the likeliest cause if no rule matches.

Suspicious lines are weighted by their content and by their distance from the failure. For a line that reports only an
end, the reason is searched above it, with or without a frame. The result is a guess, and labeled as one.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.messages._expressions import matches_words
from hopperlib.failure.messages._lines import LineReader
from hopperlib.failure.messages._templates import is_exit_report, suspicion, template, words_of
from hopperlib.failure.messages.evidence import Evidence, Hit, MessageHits, Unknown
from hopperlib.failure.messages.rules import Actor, Fault
from hopperlib.package_data import load_toml_resource
from hopperlib.schema import key, read_record

# Largest distance from error words to the failure that follows: near words, words that may belong to it, and words
# before the end of a text that shows no failure. [lines]
_NEAR = 40
_FAR = 200
_END_REACH = 3
# Largest distance between two lines of one message. [lines]
_BLOCK_GAP = 8
# A message that recurs this often did not end the run. [lines]
_MANY = 100
_FEW = 3
# Harmless lines that may follow an error at the end of a text: a footer, or whom to contact. [lines]
_FOOT = 4
# A longer line is data that happen to contain error words. [characters]
_LONG = 300
_SAYS = re.compile(r"\w")
# Words of an end this close below the last sign of failure belong to it: a launcher's help text may separate them.
# [lines]
_BELOW = 8
# A YAML key with a one-word value, or with the mark of a block that follows.
_PAIR = re.compile(r"\s{0,8}\w{1,40}: {0,4}\S{0,80}")
# A line that gives the reason of the end above it.
_STATED = re.compile(r"\s{0,8}(?:Reason|Cause|Message|Details?) {0,2}: \S")
# A line of a stack trace in any language, or the output of the shell's ``time`` below it.
_STACK = re.compile(
    r"\s*(?:$|#\d|at |from |in |File \"|\.{3} \d+ more|\[[\w.:-]{1,60}\] ?\[ ?\d+\]|\[?0x[0-9a-f]|Image {3,}PC|\S+ +[0-9A-F]{16} "
    r"|(?:real|user|sys)\s+\d)"
)
# A line of MPI's error stack with text after its location.
_STACK_SAYS = re.compile(r"\)\.{0,60}: {0,4}\S")
# A program that misses its goal may still finish normally.
_STOPS = re.compile(r"\bstopping\b")
# First line of a site's report after a job, and the longest such report. [lines]
_EPILOGUE = re.compile(
    r"(?i)\bresource usage\b|\bjob (?:statistics|summary|efficiency|accounting)\b|\b(?:begin|slurm|pbs|job|torque) (?:pro|epi)logue\b|^\W{0,12}(?:job (?:id|ended|finished|completed)|sender: lsf system\b|end of job|finished at)\b"
)
_FOOTER = 40
# The user pressed Ctrl-C.
_INTERRUPT = re.compile(r"\^C|(?i:\bsending ctrl-c\b|\bpress ctrl-c again\b)")
# A version or a place in brackets at the end of a header, and the source line that speaks.
_TAG = re.compile(r"\([\w.: -]{1,40}\)\s{0,8}$|\bIn [\w./-]{1,120}, line \d{1,6}:?\s{0,8}$")
# Longest header. [words]
_HEADER = 3
# A value at the end of a line.
_CODE = re.compile(r"[:=]\s*-?\d+\W*$")

# Symptoms that introduce a message: the report follows below them.
_BEGINNINGS = ("PY-TRACEBACK", "CRAY-ATP")


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """One part of the system that prints messages: how to recognize its lines, and who acts on them."""

    code: str
    name: str
    fault: Fault = key(name="class")
    who: Actor
    regex: tuple[str, ...] = key(single=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Voices:
    """Contents of ``speakers.toml``: the speakers in the order in which they are tried."""

    speaker: tuple[Speaker, ...]


@cache
def _voices() -> Voices:
    return read_record(Voices, load_toml_resource(__file__, "speakers.toml"), name="speakers.toml")


def final_message(evidence: Evidence, signs: Sequence[MessageHits], *, failed: bool) -> Cause | None:
    """Return the lines before a failure that report it, if there are any."""
    group = _nearest(evidence, signs, failed)
    return _message(group, evidence) if group else None


def stack_words(evidence: Evidence, signs: Sequence[MessageHits]) -> Cause | None:
    """Return the innermost informative line of MPI's error stack below the first sign of failure that has one."""
    for end in sorted((message.hits[0] for message in signs), key=lambda hit: (hit.file, hit.line)):
        said = [hit for hit in reversed(stack_below(end, evidence)) if _STACK_SAYS.search(hit.text)]
        if said:
            return _cause(said[0], said[1:], Unknown(template="", suspicion="hint", count=1, first=end, last=said[0]))
    return None


def stack_below(head: Hit, evidence: Evidence) -> list[Hit]:
    """Return the lines of MPI's error stack right below a line."""
    stack = evidence.messages.get("MPI-STACK")
    below = [hit for hit in stack.hits if hit.file == head.file and hit.line > head.line] if stack else []
    # The stack continues over consecutive lines, with gaps of one line.
    return [hit for place, hit in enumerate(below, start=1) if hit.line <= head.line + place + 1]


def missed_goal(evidence: Evidence) -> Cause | None:
    """Return the last report of a missed goal after which the program did not continue."""
    missed = [
        group
        for group in evidence.unknown
        if group.missed and (evidence.progress_after(group.last) is None or _STOPS.search(group.last.text))
    ]
    if not missed:
        return None
    group = max(missed, key=lambda group: (group.last.file, group.last.line))
    made = _cause(group.last, [other.last for other in missed if other is not group], group)
    return replace(made, code="GOAL-MISSED", title="The program reports that it missed its goal")


def reasons_above(message: MessageHits, evidence: Evidence) -> Cause | None:
    """Return the errors logged before an exception that reports only a failure."""
    head = message.hits[0]
    if message.rule.code != "PY-EXCEPTION" or not _says("hollow", head):
        return None
    above = [
        group
        for group in evidence.unknown
        if group.suspicion == "fatal"
        and group.last.file == head.file
        and 0 < head.line - group.last.line <= _NEAR
        and not (
            _says("hollow", group.last)
            or _says("points_above", group.last)
            or is_exit_report(group.last.text.encode(), ())
        )
    ]
    if not above:
        return None
    group = max(above, key=lambda group: (group.count, -group.last.line))
    others = [other.last for other in above if other is not group]
    return _cause(group.first, [*others, head], group)


def _says(table: str, hit: Hit) -> bool:
    """Whether a line matches the expressions of a table of words."""
    line = hit.text.encode()
    return matches_words(table, line, line.lower())


def _offered(group: Unknown, evidence: Evidence) -> bool:
    """Whether the last line of a group may be proposed as a cause: it is informative, or leads to an informative
    line.
    """
    if group.suspicion == "hint":
        return False
    if not is_exit_report(group.last.text.encode(), [text.encode() for text in group.following]):
        return True
    return not _says("is_exit_report", group.last) and bool(_reasons(group, evidence))


def _nearest(evidence: Evidence, signs: Sequence[MessageHits], failed: bool) -> Unknown | None:
    """Return the most informative suspicious lines nearest before a failure; None if none qualifies."""
    ends = [hit for message in signs if message.rule.code not in _BEGINNINGS for hit in message.hits]
    terminators = [group.last for group in evidence.unknown if group.suspicion == "end"]
    failed = failed or bool(terminators)
    scored = [
        ((weight, group.count < _MANY, -reach), group)
        for group, reach in _reached(evidence, ends, terminators, failed)
        if (weight := _weight(group, reach, failed, evidence)) and _offered(group, evidence)
    ]
    return max(scored, key=lambda one: one[0])[1] if scored else None


def _reached(
    evidence: Evidence, ends: list[Hit], terminators: list[Hit], failed: bool
) -> Iterator[tuple[Unknown, int]]:
    """Yield the groups that may explain a failure, with the number of lines between them and it."""
    bottoms = [last_line_of_job(file) for file in evidence.files]
    for group in _before_interrupt(evidence.unknown):
        # In a text that shows no failure, a program that continued did not end there.
        superseded = not failed and evidence.progress_after(group.last) is not None
        reach = None if superseded else _reach(group, ends, terminators, bottoms)
        if reach is not None:
            yield group, reach


def _before_interrupt(groups: Sequence[Unknown]) -> list[Unknown]:
    """Return the groups before a manual interrupt: after it, launchers print errors as they clean up."""
    stopped = [group.first for group in groups if _INTERRUPT.search(group.first.text)]
    return [
        group
        for group in groups
        if not any(hit.file == group.first.file and hit.line < group.first.line for hit in stopped)
    ]


def _weight(group: Unknown, reach: int, failed: bool, evidence: Evidence) -> int:
    """Weight of a line: words of an end near the failure rank first, then a bare end, then distant words; 0 means no
    evidence.
    """
    if group.suspicion == "fatal":
        near = 3 if _says("hollow", group.last) else 5
        return near if reach <= _FAR else 2 if failed else 0
    if group.suspicion == "error":
        if not failed:
            return 4 if _ends_alone(group, reach, evidence) else 0
        return 4 if reach <= _NEAR else 2 if reach <= _FAR else 0
    return 3


def _ends_alone(group: Unknown, reach: int, evidence: Evidence) -> bool:
    """Whether an error ended a run without other evidence of a failure: it is at the very end and is not repeated."""
    at_once = group.count <= _FEW or group.last_line - group.first.line <= _NEAR
    read = evidence.files[group.last.file]
    behind = read.tail.decode(errors="replace").rstrip().split("\n")[-reach:]
    # A text may also end with a stack trace, the shell's timing, or a few lines of a footer.
    work = [line for line in behind if _SAYS.search(line) and not _STACK.match(line) and not suspicion(line.encode())]
    # Lines that repeat except for numbers are ordinary output.
    distinct = len({template(line.encode()) for line in work}) == len(work) <= _FOOT
    footer = len(behind) == reach <= _NEAR and distinct and len(group.last.text) < _LONG
    at_end = reach <= _END_REACH or footer
    return at_end and at_once


def _reach(group: Unknown, ends: list[Hit], terminators: list[Hit], bottoms: Sequence[int]) -> int | None:
    """Return the lines from a group's last line to the nearest sign of failure after it, or to the end of its file."""
    hit = group.last
    own = [end.line - hit.line for end in ends if end.file == hit.file]
    # Lines after the last sign of failure are its aftermath, except words of an end directly below it, and distant
    # lines.
    if own and -_FAR <= max(own) < (-_BELOW if group.suspicion == "fatal" else 0):
        return None
    behind = [end.line - group.last_line for end in (*ends, *terminators) if end.file == hit.file]
    return min((lines for lines in behind if lines >= 0), default=bottoms[hit.file] - group.last_line)


def last_line_of_job(file: LineReader) -> int:
    """Return the number of the last line of a file before the site's job epilogue."""
    lines = file.tail.decode(errors="replace").rstrip().split("\n")
    below = [place for place, line in enumerate(lines) if _EPILOGUE.search(line)]
    if not below or len(lines) - below[0] > _FOOTER:
        return file.filled
    above = [line for line in lines[: below[0]] if words_of(line)]
    return file.filled - len(lines) + lines.index(above[-1]) + 1 if above else file.filled


def _message(group: Unknown, evidence: Evidence) -> Cause:
    """Build a cause from a group's last line and the lines around it."""
    chain = _chain(group, evidence)
    around = [*_following(group), *filter(None, map(_headed, chain[1:]))]
    main, beside = _main(chain, around, evidence)
    lines = {hit.line: hit for hit in (*beside, *(other.last for other in chain))}
    return _cause(main, [lines[line] for line in sorted(lines) if line != main.line], group)


def _main(chain: Sequence[Unknown], around: list[Hit], evidence: Evidence) -> tuple[Hit, list[Hit]]:
    """Return the most informative line of a chain of errors, and the lines to quote with it."""
    group, top = chain[-1], chain[0].last
    stated = [hit for hit in around if group.suspicion == "end" and _STATED.match(hit.text)]
    if stated:
        return stated[0], around
    alone = len(chain) == 1
    if below := _headed(chain[0]):
        return below, around
    above = _reasons(group, evidence) if alone or _says("points_above", top) else []
    return (above[0] if above else top), [*around, *above[:3]]


def _headed(group: Unknown) -> Hit | None:
    """Return the line below a group's last line if that is only a header; otherwise None."""
    said = _TAG.sub("", group.last.text)
    return _below(group) if words_of(said) <= _HEADER and not _CODE.search(said) else None


def _chain(group: Unknown, evidence: Evidence) -> list[Unknown]:
    """Return the lines of trouble above a group's last one, each near the next, and the group itself at the end."""
    chain = [group]
    for other in sorted(evidence.unknown, key=lambda unknown: -unknown.last.line):
        hit, below = other.last, chain[0].last
        near = (
            hit.file == below.file and 0 < below.line - hit.line <= _BLOCK_GAP and not is_exit_report(hit.text.encode())
        )
        telling = other.suspicion in ("fatal", "error") or other.missed
        if near and telling:
            chain.insert(0, other)
    return chain


def _reasons(group: Unknown, evidence: Evidence) -> list[Hit]:
    """Return possible reasons for an uninformative line: errors or error-like lines shortly before it, errors
    earlier.
    """
    points = _says("points_above", group.last)
    if group.suspicion != "end" and not points:
        return []
    near = [hit for hit in _above(group.last) if not is_exit_report(hit.text.encode(), ())]
    return [hit for hit in near if not _says("points_above", hit)] or _far_above(group.last, evidence)


def _far_above(end: Hit, evidence: Evidence) -> list[Hit]:
    """Return the error lines above an end, and the reports of missed goals, nearest first."""
    reasons = [
        group.last
        for group in evidence.unknown
        if group.last.file == end.file
        and group.last.line < end.line
        and (group.suspicion in ("fatal", "error") or group.missed)
        and not (_says("points_above", group.last) or is_exit_report(group.last.text.encode(), ()))
    ]
    return sorted(reasons, key=lambda hit: -hit.line)


def _following(group: Unknown) -> list[Hit]:
    """Return the text lines directly after a group's last line that say more than that something ended."""
    end = group.last
    return [
        Hit(file=end.file, line=end.line + distance, text=text, fields={})
        for distance, text in enumerate(group.following, start=1)
        if words_of(text) and not is_exit_report(text.encode())
    ]


def _below(header: Unknown) -> Hit | None:
    """Return the line below a header, skipping keys with one-word values as in a YAML block."""
    expected = header.last.line + 1
    for hit in _following(header):
        if not _PAIR.fullmatch(hit.text):
            return hit if hit.line == expected and not is_exit_report(hit.text.encode(), ()) else None
        expected = hit.line + 1
    return None


def _above(end: Hit) -> list[Hit]:
    """Return the lines above an end that may be its reason, likeliest first: errors, then error-like lines."""
    reasons = []
    for distance, text in enumerate(reversed(end.before), start=1):
        kind = suspicion(text.encode())
        if not words_of(text) or kind == "end" or text.strip() == end.text.strip():
            continue
        if kind:
            reasons.append((kind == "hint", Hit(file=end.file, line=end.line - distance, text=text, fields={})))
    return [hit for _, hit in sorted(reasons, key=lambda reason: reason[0])]


def _cause(main: Hit, others: list[Hit], group: Unknown) -> Cause:
    """Build a cause from the lines of a message: the speaker determines its class and who acts."""
    who = next(who for who in _voices().speaker if any(re.search(text, main.text) for text in who.regex))
    ends_only = group.suspicion == "end" and main is group.last
    return Cause(
        code=f"{who.code}-MESSAGE",
        title=f"The {who.name} ended without more information" if ends_only else f"The {who.name}'s own message",
        fault=who.fault,
        who=who.who,
        confidence="guess",
        rule=None,
        count=group.count,
        hits=[replace(main, before=()), *others],
        fields=dict(group.last.fields),
        confirm="",
    )


def message_of(hit: Hit, count: int) -> Cause:
    """Turn an unmatched line into a cause; the speaker in the line shows who must act."""
    return _cause(hit, [], Unknown(template="", suspicion="error", count=count, first=hit, last=hit))
