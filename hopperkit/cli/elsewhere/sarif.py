"""Findings for the lines of many scripts: as SARIF for tools, or as ``file:line: level: message [code]`` for people.

References
----------
OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, 2020: 3.19 tool, 3.27 result, 3.35 suppression.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote

from hopperkit.launchers.scripts import read_script
from hopperkit.questions.node.place import Lines, answers
from hopperlib import __version__
from hopperlib.errors import InputError
from hopperlib.finding import Finding

# Findings that a reader of a repository should act on; notes and unknowns are only shown by the command.
_LEVELS = {"problem": "error", "advice": "warning"}
_IGNORE = re.compile(r"#\s*hopper:\s*ignore\b[\s:,-]*(?P<reason>.*)")


class Annotation(NamedTuple):
    """One finding on one line of a script.

    Parameters
    ----------
    file : str
    line : int
        From 1.
    finding : Finding
    ignored : str
        The reason in the script's comment ``# hopper: ignore``, on the line or alone on the line before; empty if there
        is none.
    """

    file: str
    line: int
    finding: Finding
    ignored: str = ""

    @property
    def fails(self) -> bool:
        """Whether it is a problem that was not accepted."""
        return self.finding.level == "problem" and not self.ignored

    def __str__(self) -> str:
        message = " ".join(f"{self.finding.message} {self.finding.advice}".split())
        return f"{self.file}:{self.line}: {_LEVELS[self.finding.level]}: {message} [{self.finding.code}]"


def annotations(file: str, settings: Lines) -> Iterator[Annotation]:
    r"""Yield the findings of `hopper place` for a script, problems and advice, each on its line.

    Parameters
    ----------
    file : str
        Name of the script.
    settings : Lines
        Settings of `hopper place` for it.

    Examples
    --------
    >>> from hopperkit.questions.node.place import QUESTION
    >>> text = "#PBS -l mppwidth=48\naprun -n 24 -N 12 a  # hopper: ignore needs the memory\n"
    >>> for each in annotations("job.pbs", Lines(**QUESTION.read({"line": text}))):
    ...     print(each.line, each.finding.code, each.ignored)
    2 idle-numa-nodes needs the memory
    2 better-line needs the memory
    """
    lines = settings.line.split("\n")
    for number, text in enumerate(lines, start=1):
        if (match := _IGNORE.search(text)) and not match["reason"].strip():
            message = "A reason is required: write it after `# hopper: ignore`."
            yield Annotation(file, number, Finding("ignore-without-reason", message))
    for line, finding in _findings(settings):
        if finding.level in _LEVELS:
            yield Annotation(file, line, finding, _reason(lines, line))


def _findings(settings: Lines) -> Iterator[tuple[int, Finding]]:
    """Yield the findings for a script with their lines; an invalid line is a finding too."""
    if settings.doubt:
        with suppress(InputError):
            result = settings.answer_without_node()
            yield from ((int(each.evidence.get("line") or 1), each) for each in result.findings)
            return
    try:
        reviews, results = settings.reviews, answers(settings)
    except InputError as error:
        script = read_script(settings.line)
        # Without a launch line there is nothing to place.
        if script.lines:
            typed = str(error.name or "")
            lines = [number for number, text in enumerate(script.raw, start=1) if typed and typed in text]
            yield next(iter(lines), script.lines[0].line), Finding("refused", str(error), "problem")
        yield from ((int(each.evidence["line"]), each) for each in settings.job_findings)
        return
    for review, result in zip(reviews, results, strict=True):
        yield from ((int(each.evidence.get("line") or review.line.line), each) for each in result.findings)


def _reason(lines: Sequence[str], line: int) -> str:
    """Return the reason for ignoring findings on a line; empty if they are not ignored."""
    above = lines[line - 2] if line > 1 and lines[line - 2].lstrip().startswith("#") else ""
    match = _IGNORE.search(lines[line - 1]) or _IGNORE.search(above)
    return match["reason"].strip() if match else ""


def sarif_log(found: Sequence[Annotation], unread: Sequence[str] = ()) -> dict[str, Any]:
    """Return a SARIF log of one run: a rule for each code, a result for each annotation, and unreadable files.

    Parameters
    ----------
    found : sequence of Annotation
        Findings on lines of scripts.
    unread : sequence of str, default ()
        Unreadable files, with reasons.

    Examples
    --------
    >>> log = sarif_log([Annotation("a b.sh", 3, Finding("cores-idle", "Half of the cores are idle."))])
    >>> log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    'a%20b.sh'
    """
    codes = list(dict.fromkeys(each.finding.code for each in found))
    rules = [{"id": code, "shortDescription": {"text": code.replace("-", " ")}} for code in codes]
    notices = [{"level": "error", "message": {"text": message}} for message in unread]
    run = {
        "tool": {"driver": {"name": "hopper", "version": __version__, "rules": rules}},
        "invocations": [{"executionSuccessful": not unread, "toolExecutionNotifications": notices}],
        "results": [_result(each, codes.index(each.finding.code)) for each in found],
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _result(each: Annotation, rule: int) -> dict[str, Any]:
    """Return one result."""
    place = {"artifactLocation": {"uri": quote(each.file.replace("\\", "/"))}, "region": {"startLine": each.line}}
    result = {
        "ruleId": each.finding.code,
        "ruleIndex": rule,
        "level": _LEVELS[each.finding.level],
        "message": {"text": f"{each.finding.message} {each.finding.advice}".strip()},
        "locations": [{"physicalLocation": place}],
    }
    return result | ({"suppressions": [{"kind": "inSource", "justification": each.ignored}]} if each.ignored else {})
