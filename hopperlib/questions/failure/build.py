"""Question: what is loaded and a link line in, known problems and the repaired line out. Both stay on the page."""

import json
from typing import Any

from hopperlib.errors import InputError
from hopperlib.failure.builds.known_problems import KnownProblem, check_build, read_build, repaired
from hopperlib.finding import Finding
from hopperlib.questions.question import Asked, declared, is_sample
from hopperlib.questions.result import Download, Result

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
        problems = [problem for problem in check_build(build) if self.era in ("both", problem.rule.era)]
        done = repaired(build, tuple(problem.rule for problem in problems))
        certain = [problem.rule for problem in problems if problem.certainty == "known"]
        known = [rule for rule in certain if rule.level == "problem"]
        # Only one bug has room among the numbers; the table has the others.
        known_bug = next((rule for rule in certain if rule.bug), None)
        loaded, line = build.environment.modules, done.build.line.text
        report = {
            "findings": [problem.to_dict() for problem in problems],
            "commands": list(done.commands),
            "line": line,
        }
        said = self.said(
            build=build,
            compiler=build.compiler or "not given",
            linking=build.linking or "not said",
            given=loaded or build.line.command,
            known=known,
            advised=[rule for rule in certain if rule.level == "advice"],
            possible=[problem.rule for problem in problems if problem.certainty == "possible"],
            mended=known and not done.left,
            known_bug=known_bug,
            bug=known_bug and str(known_bug.bug),
            done=done,
            line=line,
            changed=done.commands or line != build.line.text,
            lines="\n".join(filter(None, [*done.commands, line])),
            sample=is_sample(QUESTION, "modules", self.modules),
            problems=[self.row(problem) for problem in problems],
            marked=[place for place, problem in enumerate(problems) if problem.rule in known],
            loaded=[(module.name, module.version or None) for module in loaded],
            report=report,
        )
        return said.result(
            findings=(*map(self.finding, problems), *said.findings),
            downloads=(Download(name="build.json", text=json.dumps(report, indent=2), media_type="application/json"),),
        )

    def finding(self, problem: KnownProblem) -> Finding:
        """Say one problem: what, how it shows, what to do."""
        rule, possible = problem.rule, problem.certainty == "possible"
        said = self.said(
            rule=rule,
            possible=possible,
            doubts=problem.doubts,
            at_run=rule.stage == "run",
            symptom=rule.symptom.removesuffix("."),
        )
        dates = ", ".join(text for name in ("bug", "reported", "fixed_in") if (text := said.text(name)))
        return Finding(rule.code.lower(), said.text("problem", dates=dates), "note" if possible else rule.level)

    def row(self, problem: KnownProblem) -> tuple[Any, ...]:
        """Return what a table shows of a problem."""
        rule = problem.rule
        certainty = problem.certainty if rule.level == "problem" else "advice"
        printed = (str(value) if value else None for value in (rule.bug, rule.reported, rule.fixed_in))
        ours = f"ours, for today; {rule.source.removeprefix('ours: ')}"
        return rule.code, certainty, *printed, rule.source if rule.era == "report" else ours


QUESTION = declared(__name__, _Build.answer)
