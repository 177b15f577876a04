"""Question: what is loaded and a link line in, known problems and the repaired line out. Both stay on the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hopperlib.errors import InputError
from hopperlib.failure.builds.known_problems import Build, KnownProblem, Repaired, check_build, read_build, repaired
from hopperlib.failure.builds.rules import BuildRule
from hopperlib.finding import Finding, Level
from hopperlib.questions.question import declared, is_sample
from hopperlib.questions.result import Badge, Column, Copyable, Download, Facts, Result, Table, Value

__all__ = ["QUESTION"]

_SHOWS = {"build": "It shows when you build", "run": "It shows when the program runs"}
_TOLD = {"line": None, "yes": True, "no": False}
_LONGEST_UNREAD = 60


def _dates(rule: BuildRule) -> str:
    """Return bug number, report and fix in a few words."""
    parts = [f"bug {rule.bug}"] if rule.bug else []
    parts += [f"reported {rule.reported}"] if rule.reported else []
    parts += [f"fixed in {rule.fixed_in}" + (f" of {rule.fixed}" if rule.fixed else "")] if rule.fixed_in else []
    return ", ".join(parts)


def _finding(problem: KnownProblem) -> Finding:
    """Say one finding: what, how it shows, what to do."""
    rule = problem.rule
    text = f"{rule.title}. {_SHOWS[rule.stage]}: {rule.symptom.removesuffix('.')}."
    if problem.certainty == "possible":
        text = f"Possible: {text} It cannot be told, because {'; '.join(problem.doubts)}."
    dates = _dates(rule)
    text += f" {' '.join(rule.advice)}" + (f" ({dates[0].upper()}{dates[1:]}.)" if dates else "")
    level: Level = "note" if problem.certainty == "possible" else rule.level
    return Finding(rule.code.lower(), text, level)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _summary(build: Build, problems: tuple[KnownProblem, ...], done: Repaired) -> str:
    """Say in a sentence or two what is wrong and what mends it."""
    if not build.environment.modules and not build.line.command:
        return "Nothing to judge yet: give what is loaded, a link line, or both."
    known = [problem for problem in problems if problem.certainty == "known" and problem.rule.level == "problem"]
    possible = [problem for problem in problems if problem.certainty == "possible"]
    perhaps = f" {len(possible)} more may be." if possible else ""
    if not known:
        open_ones = f"; {_count(len(possible), 'possible one')}" if possible else ""
        return f"No known problem{open_ones}. That is no promise: only what somebody reported can be known."
    first = f"{_count(len(known), 'known problem')}: {known[0].rule.title}."
    if done.left:
        return f"{first}{perhaps} What to do about {' and '.join(done.left)} is yours to choose; see below."
    steps = f"Type {', then '.join(done.commands)}" if done.commands else "Take the line below"
    return f"{first}{perhaps} {steps}, and build anew."


def _values(build: Build, problems: tuple[KnownProblem, ...]) -> Iterator[Value]:
    """Yield what was read, and what is printed of the first problem."""
    read: Badge = "documented"
    yield Value("Compiler", build.compiler or "not given", read, note="as your text says")
    yield Value("Linking", build.linking or "not said", read, note="as your text says")
    known = [problem for problem in problems if problem.certainty == "known"]
    yield Value(
        "Known problems",
        sum(problem.rule.level == "problem" for problem in known),
        "predicted",
        note="by the rules on your text",
    )
    rule = next((problem.rule for problem in known if problem.rule.bug), None)
    if rule is None:
        return
    yield Value("Vendor's bug number", str(rule.bug), "documented", note=rule.source)
    if rule.fixed_in:
        yield Value("Fixed in", rule.fixed_in, "documented", note=str(rule.fixed or "day not printed"))
    if rule.days_open is not None:
        yield Value("From report to release", rule.days_open, unit="days", badge="documented", note="printed dates")


def _repair_texts(build: Build, done: Repaired) -> Iterator[Copyable]:
    """Yield the commands and the line after repair, if anything changed."""
    line = done.build.line.text
    if not done.commands and line == build.line.text:
        return
    text = "\n".join([*done.commands, *([line] if line else [])])
    ours = "Steps that the report does not print are ours; the table says whose each rule is."
    yield Copyable("The repaired build", text, " ".join([*done.notes, ours]))


def _table(problems: tuple[KnownProblem, ...]) -> Table:
    """Return all findings with what is known of each."""
    columns = ("Code", "Certainty", "Bug", "Reported", "Fixed in", "Rule from")
    rows: list[tuple[Any, ...]] = [
        (
            problem.rule.code,
            problem.certainty if problem.rule.level == "problem" else "advice",
            str(problem.rule.bug) if problem.rule.bug else None,
            str(problem.rule.reported) if problem.rule.reported else None,
            problem.rule.fixed_in or None,
            problem.rule.source
            if problem.rule.era == "report"
            else f"ours, for today; {problem.rule.source.removeprefix('ours: ')}",
        )
        for problem in problems
    ]
    known = tuple(place for place, row in enumerate(rows) if row[1] == "known")
    return Table(
        caption="What the rules find",
        columns=tuple(Column(title) for title in columns),
        rows=rows,
        marked=known,
        marked_label="known to fail" if known else "",
    )


def _unread(build: Build) -> Iterator[Finding]:
    """Say which lines of the module list said nothing."""
    unread = build.environment.unread
    if unread:
        first = unread[0][:_LONGEST_UNREAD]
        yield Finding(
            "unread",
            f"{_count(len(unread), 'line')} named no module and set no variable; the first is: {first}",
            "note",
        )


def _answer(*, modules: str, line: str, mixed: str, shmem: str, era: str) -> Result:
    """Answer for one build."""
    try:
        build = read_build(modules, line, mixed=_TOLD[mixed], shmem=_TOLD[shmem])
    except ValueError as error:
        raise InputError(str(error), name="line") from error
    problems = tuple(problem for problem in check_build(build) if era in ("both", problem.rule.era))
    done = repaired(build, tuple(problem.rule for problem in problems))
    made_up = Finding("made-up", "This example is made up around printed versions: put your own in its place.", "note")
    report = {
        "findings": [problem.to_dict() for problem in problems],
        "commands": list(done.commands),
        "line": done.build.line.text,
    }
    return Result(
        summary=_summary(build, problems, done),
        findings=(
            *map(_finding, problems),
            *_unread(build),
            *((made_up,) if is_sample(QUESTION, "modules", modules) else ()),
        ),
        values=tuple(_values(build, problems)),
        copyables=tuple(_repair_texts(build, done)),
        tables=(
            *((_table(problems),) if problems else ()),
            Table(
                caption="Modules as read",
                columns=(Column("Module"), Column("Version")),
                rows=[(module.name, module.version or None) for module in build.environment.modules],
            ),
        ),
        downloads=(Download(name="build.json", text=json.dumps(report, indent=2), media_type="application/json"),),
        facts=_facts(build, problems, done),
    )


def _facts(build: Build, problems: tuple[KnownProblem, ...], done: Repaired) -> Facts:
    """Return the codes for self-checks, and all that programs read."""
    certain = [problem.rule for problem in problems if problem.certainty == "known"]
    known = [rule.code for rule in certain if rule.level == "problem"]
    return Facts(
        {
            "known": known,
            "possible": [problem.rule.code for problem in problems if problem.certainty == "possible"],
            "advice": [rule.code for rule in certain if rule.level == "advice"],
            "problems": len(known),
            "repaired_line": done.build.line.text,
            "commands": list(done.commands),
            "left": list(done.left),
            "modules": [module.text for module in build.environment.modules],
        },
        rest=lambda: {
            "compiler": build.compiler,
            "linking": build.linking,
            "findings": [problem.to_dict() for problem in problems],
            "repair": {"commands": list(done.commands), "line": done.build.line.text, "left": list(done.left)},
            "unread": list(build.environment.unread),
        },
    )


QUESTION = declared(__name__, _answer)
