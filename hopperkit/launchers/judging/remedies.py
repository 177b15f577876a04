"""Remedies for a finding: changes of the script, each applied, read and judged before it is proposed.

A check yields a `Draft`: the finding, and possible changes, simplest first. Only the first change that the launcher and
the batch system accept, that ends the finding and that causes no new problem becomes its advice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from hopperkit.launchers.scripts import Script, read_script
from hopperkit.launchers.words.shell import Edit, apply_edits
from hopperlib.finding import Finding
from hopperlib.placement.components import LaunchError


class Remedy(NamedTuple):
    """A change that may cure a finding: what to do in words, and the edits of the script that do it."""

    words: str
    edits: tuple[Edit, ...]


class Draft(NamedTuple):
    """A finding with advice but no command, and the changes to try for it."""

    finding: Finding
    remedies: tuple[Remedy, ...] = ()


class Judged(NamedTuple):
    """How a script is judged: how often each finding is there, its problems, and why it is refused, if it is."""

    codes: Counter[str]
    problems: Counter[str]
    refusal: str = ""

    def cured(self, code: str, before: "Judged") -> bool:
        """Whether an earlier finding is gone and nothing is worse."""
        same = self.refusal in ("", before.refusal)
        return same and self.codes[code] < before.codes[code] and self.problems <= before.problems + Counter()

    @classmethod
    def of(cls, findings: Iterable[Finding], refusal: str = "") -> "Judged":
        """Return the judgment that findings are."""
        found = list(findings)
        problems = Counter(each.code for each in found if each.level == "problem")
        return cls(Counter(each.code for each in found), problems, refusal)


def with_tried_advice(
    drafts: Sequence[Draft], script: Script, judge: Callable[[Script], Judged], before: Judged
) -> Iterator[Finding]:
    r"""Yield the findings with the first change that cures each as advice, and the lines that it changes as evidence.

    Parameters
    ----------
    drafts : sequence of Draft
    script : Script
        The script that they are about.
    judge : callable
        How a changed script is judged.
    before : Judged
        How the script itself is judged.

    Examples
    --------
    >>> script = read_script("#SBATCH -q batch\nsrun ./a")
    >>> def judge(changed):
    ...     wrong = "batch" in changed.text
    ...     return Judged.of([Finding("unknown", "no such QOS", "problem")] if wrong else [])
    >>> draft = Draft(Finding("unknown", "no such QOS", "problem"), (Remedy("Write debug.", (Edit(11, 16, "debug"),)),))
    >>> (finding,) = with_tried_advice([draft], script, judge, judge(script))
    >>> finding.advice, finding.evidence["change"]
    ('Write debug.', [[1, 1, ['#SBATCH -q debug']]])
    """
    for finding, remedies in drafts:
        tried = (_tried(finding, remedy, script, judge, before) for remedy in remedies)
        yield next(filter(None, tried), finding)


def _tried(
    finding: Finding, remedy: Remedy, script: Script, judge: Callable[[Script], Judged], before: Judged
) -> Finding | None:
    """Return a finding with a remedy as its advice; None where the remedy is refused or does not cure it."""
    text = apply_edits(script.text, sorted(remedy.edits))
    try:
        if text == script.text or not judge(read_script(text)).cured(finding.code, before):
            return None
    except LaunchError:
        return None
    evidence = {**finding.evidence, "change": changed_lines(script.text, text)}
    return replace(finding, advice=remedy.words, evidence=evidence)


def changed_lines(before: str, after: str) -> list[list[object]]:
    r"""Return the lines that differ between two texts: first line (from 1), number of lines replaced, new lines.

    Parameters
    ----------
    before : str
        The text before the change.
    after : str
        The text after the change.

    Examples
    --------
    >>> changed_lines("a\nb\nc", "a\nB\nb2\nc"), changed_lines("a\nb", "b")
    ([[2, 1, ['B', 'b2']]], [[1, 1, []]])
    """
    import difflib

    old, new = before.split("\n"), after.split("\n")
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [[start + 1, end - start, new[begin:stop]] for tag, start, end, begin, stop in steps if tag != "equal"]
