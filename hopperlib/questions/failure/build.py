"""Question: what is loaded and a link line in, known problems and the repaired line out. Both stay on the page."""

import json
from typing import Any

from hopperlib.errors import InputError
from hopperlib.failure.builds.known_problems import KnownProblem, check_build, read_build, repaired
from hopperlib.finding import Finding
from hopperlib.questions.question import Asked, declared, is_sample
from hopperlib.questions.result import Download, Facts, Result

_TOLD = {"line": None, "yes": True, "no": False}
_LONGEST_UNREAD = 60


class _Build(Asked):
    """What is loaded, and a link line."""

    def result(self) -> Result:
        """Return the answer."""
        try:
            build = read_build(self.modules, self.line, mixed=_TOLD[self.mixed], shmem=_TOLD[self.shmem])
        except ValueError as error:
            raise InputError(str(error), name="line") from error
        problems = tuple(problem for problem in check_build(build) if self.era in ("both", problem.rule.era))
        done = repaired(build, tuple(problem.rule for problem in problems))
        loaded, unread, line = build.environment.modules, build.environment.unread, done.build.line.text
        certain = [problem.rule for problem in problems if problem.certainty == "known"]
        known = [rule for rule in certain if rule.level == "problem"]
        known_bug = next((rule for rule in certain if rule.bug), None)
        possible = [problem.rule.code for problem in problems if problem.certainty == "possible"]
        repair = {"commands": list(done.commands), "line": line, "left": list(done.left)}
        found = [problem.to_dict() for problem in problems]
        said = self.said(
            compiler=build.compiler or "not given",
            linking=build.linking or "not said",
            nothing=not loaded and not build.line.command,
            clean=(loaded or build.line.command) and not known,
            first=known[0] if known else None,
            known=len(known),
            codes=[rule.code for rule in known],
            advice=[rule.code for rule in certain if rule.level == "advice"],
            possible=len(possible),
            possible_codes=possible,
            left=" and ".join(done.left),
            steps=", then ".join(done.commands),
            mended=known and not done.left,
            known_bug=known_bug,
            bug=str(known_bug.bug) if known_bug else None,
            repair=repair,
            changed=done.commands or line != build.line.text,
            lines="\n".join([*done.commands, *([line] if line else [])]),
            notes="".join(f"{note} " for note in done.notes),
            unread=unread,
            unread_lines=len(unread),
            first_unread=unread[0][:_LONGEST_UNREAD] if unread else "",
            sample=is_sample(QUESTION, "modules", self.modules),
            problems=[self.row(problem) for problem in problems],
            marked=[place for place, problem in enumerate(problems) if problem.rule in known],
            loaded=[(module.name, module.version or None) for module in loaded],
            modules=[module.text for module in loaded],
        )
        report = {"findings": found, "commands": repair["commands"], "line": line}
        rest = {"findings": found, "repair": repair, "unread": list(unread)}
        return said.result(
            findings=(*map(self.finding, problems), *said.findings),
            downloads=(Download(name="build.json", text=json.dumps(report, indent=2), media_type="application/json"),),
            facts=Facts(said.facts, rest=lambda: {"compiler": build.compiler, "linking": build.linking} | rest),
        )

    def finding(self, problem: KnownProblem) -> Finding:
        """Say one problem: what, how it shows, what to do."""
        rule = problem.rule
        said = self.said(
            rule=rule,
            possible=problem.certainty == "possible",
            doubts="; ".join(problem.doubts),
            at_run=rule.stage == "run",
            symptom=rule.symptom.removesuffix("."),
            steps=" ".join(rule.advice),
        )
        dates = ", ".join(text for name in ("bug", "reported", "fixed_in") if (text := said.text(name)))
        level = "note" if problem.certainty == "possible" else rule.level
        return Finding(rule.code.lower(), said.text("problem", dates=dates[:1].upper() + dates[1:]), level)

    def row(self, problem: KnownProblem) -> tuple[Any, ...]:
        """Return what a table shows of a problem."""
        rule = problem.rule
        certainty = problem.certainty if rule.level == "problem" else "advice"
        printed = (str(value) if value else None for value in (rule.bug, rule.reported, rule.fixed_in))
        ours = f"ours, for today; {rule.source.removeprefix('ours: ')}"
        return rule.code, certainty, *printed, rule.source if rule.era == "report" else ours


QUESTION = declared(__name__, _Build.answer)
