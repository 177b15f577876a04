"""Diagnosis of a job from its files: the function that the command, the page and the tests call."""

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from hopperlib.failure.diagnosis._agreement import compare_with_ranker, folded
from hopperlib.failure.diagnosis._fallback import last_line_of_job
from hopperlib.failure.diagnosis._ranking import Ranking, rank
from hopperlib.failure.diagnosis._schedulers import scheduler_of
from hopperlib.failure.diagnosis.advice import advise
from hopperlib.failure.diagnosis.causes import Cause
from hopperlib.failure.diagnosis.failing_rank import first_failure, reach
from hopperlib.failure.messages._templates import is_exit_report, printed_by_successful_runs, suspicion
from hopperlib.failure.messages.evidence import Evidence, Hit
from hopperlib.failure.messages.scanner import Scanner
from hopperlib.failure.ranker.ranking import RankedLine, ranked_lines

if TYPE_CHECKING:
    from hopperlib.failure.messages._lines import LineReader

Verdict = Literal["cause", "failed", "no-cause", "succeeded"]
# Verdicts of runs that failed.
FAILED: tuple[Verdict, ...] = ("cause", "failed")
Source = tuple[str, "BinaryIO | bytes | str"]

# Lines quoted per cause, earlier runs reported, and groups of unknown lines listed.
_LINES = 8
_RUNS_TOLD = 5
_UNKNOWN = 20
# Number of ranked lines stored, and the share of the first one from which it is reported. [fraction]
_RANKED, _TELLING = 20, 0.3
# A line is worth checking if it gets this many times the share of the next one.
_LEAD = 2


_TIME_LIMITS = ("SLURM-TIME-LIMIT", "PBS-WALLTIME", "LSF-TIME", "FLUX-TIME-LIMIT")
# A task that is alone in its program.
_TASK_0_OF_1 = re.compile(
    rb"(?i)\b(?:rank|task|process|proc|pe) {0,2}[:#=]? {0,2}0 {0,2}(?:of|out of|/) {0,2}1\b(?![.\d])"
)
# A value that is not a number, as C, Fortran and Python print it; and how near the end it must still be printed [lines].
_NAN = re.compile(rb"(?i)(?:^|[\s=:,(\[])[+-]?nan(?:\(\w{0,20}\))?(?=$|[\s,;)\]])")
_STILL = 30


class AccountingRecord(Protocol):
    """The scheduler's record of the job."""

    @property
    def text(self) -> bytes:
        """The record's text as the scheduler printed it."""


class Context(Protocol):
    """Facts from sources other than the output: `hopperkit.failures.context` builds one from a launch line and the
    scheduler's record.
    """

    @property
    def record(self) -> AccountingRecord | None:
        """The scheduler's record of the job."""

    @property
    def record_failed(self) -> bool | None:
        """Whether the record reports a failure; None if unknown."""

    @property
    def refused(self) -> str:
        """Why the launcher would reject the launch line; empty if it would not."""

    def advice(self, code: str, fields: Mapping[str, str]) -> list[str]:
        """Return sentences with numbers for the cause of this code.

        Parameters
        ----------
        code : str
            Code of the cause.
        fields : mapping of str to str
            Fields of the cause.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Diagnosis of a job from its output.

    Parameters
    ----------
    verdict : {"cause", "failed", "no-cause", "succeeded"}
        Failed with a cause; failed, cause unknown; no evidence of a failure; succeeded.
    causes : tuple of Cause
        The likeliest first, then the runners-up.
    next : tuple of str
        Lines to check next if no cause was found.
    notes : tuple of str
        Anomalies of the files or the context.
    evidence : Evidence
        All messages that were found.
    set_aside : tuple of str
        Codes of messages that require others, which are missing.
    runs : tuple of mapping
        Earlier runs in the same text, the last one first: the location of each, its verdict and cause. The
        diagnosis describes the last run.
    alternative : Cause or None
        The line that the ranker puts first, if it is not quoted for the first cause.
    ranked : tuple of RankedLine
        The lines that the ranker puts first, if the run failed.
    """

    verdict: Verdict
    causes: tuple[Cause, ...]
    next: tuple[str, ...]
    notes: tuple[str, ...]
    evidence: Evidence
    set_aside: tuple[str, ...]
    runs: tuple[dict[str, Any], ...] = ()
    alternative: Cause | None = None
    ranked: tuple[RankedLine, ...] = ()

    @property
    def cause(self) -> Cause | None:
        """The likeliest cause, if there is one."""
        return self.causes[0] if self.causes else None

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain data: what ``hopper diagnose --json`` prints."""
        files = [file.name for file in self.evidence.files]
        first = first_failure(self.evidence)
        extent = reach(first, self.cause) if self.verdict != "succeeded" else None

        def line(hit: Hit | RankedLine) -> dict[str, Any]:
            return {"file": files[hit.file], "line": hit.line, "text": hit.text}

        def cause_data(cause: Cause) -> dict[str, Any]:
            return (
                _named(cause, "code title confidence explains advice fields count confirm who")
                | {"class": cause.fault, "lines": [line(hit) for hit in cause.hits[:_LINES]]}
                | {"nersc_class": cause.rule.nersc_class if cause.rule else None}
            )

        return {
            "verdict": self.verdict,
            "causes": [cause_data(cause) for cause in self.causes],
            "or": cause_data(self.alternative) if self.alternative else None,
            "candidates": [line(one) | {"count": one.occurrences, "share": round(one.share, 4)} for one in self.ranked],
            "lines_read": self.evidence.lines_read,
            "unknown": [
                {"template": group.template, "count": group.count, "reads": group.suspicion, **line(group.first)}
                for group in self.evidence.suspicious[:_UNKNOWN]
            ],
            "messages": [
                _named(message.rule, "code title role") | {"count": message.count, **line(message.first)}
                for message in self.evidence.in_order
            ],
            "runs": list(self.runs),
            "first_failure": asdict(first) | {"file": files[first.file]} if first else None,
            "reach": extent._asdict() if extent else None,
            "next": list(self.next),
            "notes": list(self.notes),
        }


def _named(record: object, names: str) -> dict[str, Any]:
    """Return some fields of a record."""
    return {name: getattr(record, name) for name in names.split()}


def diagnose(sources: Iterable[Source], *, context: "Context | None" = None) -> Diagnosis:
    """Find the cause of a failure in the output of a job.

    Parameters
    ----------
    sources : iterable of (str, binary file, bytes or str)
        Name and content of each file: stdout, stderr, the scheduler's record. Files are read once, in order, and never
        stored as a whole.
    context : Context or None
        Facts from sources other than the output (`hopperkit.failures.context`).

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> text = '''Rank 0 [Mon Mar  7 03:46:10 2011] [c6-3c1s5n1] GNI transaction error detected
    ... [NID 01323] 2011-03-07 03:46:11 Apid 1925046: OOM killer terminated this process.
    ... Application 1925046 exit signals: Killed
    ... '''
    >>> found = diagnose([("job.e1925046", text)])
    >>> found.verdict, found.cause.code, found.cause.confidence, sorted(found.cause.explains)
    ('cause', 'ALPS-OOM', 'certain', ['GNI-TRANSACTION', 'KILLED'])
    >>> found.cause.fields["nid"]
    '1323'
    >>> diagnose([("job.o7", "all is well")]).verdict
    'no-cause'
    """
    scanner = Scanner()
    for name, content in sources:
        scanner.read(name, _stream(content))
    if context and context.record:
        scanner.read("sacct", io.BytesIO(context.record.text))
    return diagnosis_of(scanner.evidence, context)


def diagnosis_of(evidence: Evidence, context: "Context | None" = None) -> Diagnosis:
    """Diagnose the result of a scan: `diagnose` without reading.

    Parameters
    ----------
    evidence : Evidence
        Evidence from the log.
    context : Context or None
        Facts besides the output.

    Examples
    --------
    >>> scanner = Scanner()
    >>> scanner.read("job.out", io.BytesIO(b"forrtl: severe (24): end-of-file during read, unit 11"))
    >>> diagnosis_of(scanner.evidence).verdict
    'cause'
    """
    ranking = rank(evidence, record_failed=context.record_failed if context else None)
    earlier = [(run, rank(run)) for run in reversed(evidence.earlier)]
    runs = [
        {"lines": run.lines, "verdict": _verdict(then), "code": then.causes[0].code if then.causes else None}
        for run, then in earlier
    ]
    if earlier and _verdict(ranking) == "no-cause" and not ranking.failed:
        # The last run ends abruptly without a message: the one before it is reported.
        ranking = earlier[0][1]
        evidence = replace(earlier[0][0], files=evidence.files, earlier=evidence.earlier)
    verdict = _verdict(ranking)
    ranked = tuple(ranked_lines(evidence.files)[:_RANKED]) if verdict in FAILED else ()
    alternative = (
        compare_with_ranker(ranking.causes, ranked, evidence, failed=ranking.failed) if verdict == "cause" else None
    )
    for cause in {id(cause): cause for cause in (*ranking.causes, *filter(None, [alternative]))}.values():
        cause.hits = folded(cause.hits)
        with_numbers = context.advice(cause.code, cause.fields) if context and cause.rule else []
        cause.advice = [*_only_nan(cause, evidence.files), *with_numbers, *advise(cause, evidence)]
    return Diagnosis(
        verdict=verdict,
        causes=ranking.causes,
        next=() if verdict in ("cause", "succeeded") else tuple(_look_next(evidence, ranking, ranked, context)),
        notes=tuple(_notes(evidence, ranking, context, runs)),
        evidence=evidence,
        runs=tuple(runs),
        alternative=alternative,
        ranked=ranked,
        set_aside=ranking.set_aside,
    )


def _verdict(ranking: Ranking) -> Verdict:
    if ranking.succeeded:
        return "succeeded"
    return "cause" if ranking.causes else "failed" if ranking.failed else "no-cause"


def _stream(content: BinaryIO | bytes | str) -> BinaryIO:
    """Return content as a binary stream."""
    if isinstance(content, str):
        content = content.encode(errors="replace")
    return io.BytesIO(content) if isinstance(content, bytes) else content


def _look_next(
    evidence: Evidence, ranking: Ranking, ranked: Sequence[RankedLine], context: "Context | None"
) -> list[str]:
    """List the next checks if the text contains no cause."""
    if not evidence.lines_read:
        return ["The text is empty: check whether the job ran at all, and where its output went."]
    known = {(hit.file, hit.line) for message in evidence.messages.values() for hit in message.hits}
    # The share of a line that only reports an end goes to the others.
    telling = [one for one in ranked if (one.file, one.line) not in known and _may_be_reason(one, evidence)]
    left = 1 - sum(one.share for one in ranked if one not in telling)
    next_best = telling[1].share if len(telling) > 1 else 0.0
    leads = telling and telling[0].share >= max(_TELLING * left, _LEAD * next_best)
    if leads and not _reports_success(telling[0].text):
        line = telling[0]
        place = f"{evidence.files[line.file].name}:{line.line}"
        return [
            f"This line is the most likely reason: {place}: {line.text.strip()}",
            *_places(evidence, ranking, context),
        ]
    return _places(evidence, ranking, context)


# Words of success at the end of a line.
_WELL = re.compile(
    r"(?i)\b(?:ok|passed|done|success(?:ful(?:ly)?)?|succeeded|converged|finished|completed?)\W{0,4}$|\ball \d{1,6} \w{1,20} passed\b"
)


def _reports_success(text: str) -> bool:
    """Whether a line reports that something succeeded."""
    return not suspicion(text.encode()) and _WELL.search(text) is not None


def _may_be_reason(one: RankedLine, evidence: Evidence) -> bool:
    """Whether a line belongs to the job, is informative, and is not printed by successful runs."""
    line = one.text.encode()
    of_site = one.line > last_line_of_job(evidence.files[one.file])
    return not (of_site or suspicion(line) == "end" or is_exit_report(line) or printed_by_successful_runs(line))


def _places(evidence: Evidence, ranking: Ranking, context: "Context | None") -> list[str]:
    """List the files, ranks and commands that can name the cause."""
    shown = [message for message in evidence.in_order if message.rule.role in ("symptom", "cascade")]
    steps = _suspected(evidence, ranking)
    scheduler = scheduler_of(evidence)
    for step in (scheduler.speak(step) for message in shown for step in message.rule.advice):
        if step not in steps:
            steps.append(step)
    if len(evidence.files) == 1:
        steps.append("Provide all files of the job: stdout, stderr and the program's log.")
    if not (context and context.record) and not any(scheduler.record in step for step in steps):
        steps.append(f"See how it ended: {scheduler.record}.")
    return steps


def _suspected(evidence: Evidence, ranking: Ranking) -> list[str]:
    """Say where to begin in a text, or why it cannot be judged."""
    left = [group for group in evidence.suspicious if group.suspicion != "hint"]
    if left:
        hit = left[0].last
        place = f"{evidence.files[hit.file].name}:{hit.line}"
        which = (
            "this suspicious line"
            if len(left) == 1
            else f"the {len(left)} kinds of suspicious lines, at this one first"
        )
        return [f"Look at {which}: {place}: {hit.text.strip()}"]
    if any(file.foreign and file.foreign.whole for file in evidence.files):
        return ["Provide the job's output: other kinds of text are not diagnosed."]
    if not ranking.failed:
        return ["Nothing in this text shows that the job failed: check its end in the scheduler's record."]
    return []


def _hung(ranking: Ranking) -> list[str]:
    """Say how to end all tasks at once if a task raised an exception and the job then ran into its time limit."""
    first = ranking.causes[0] if ranking.causes else None
    if first is None or not first.code.startswith("PY-") or not set(first.explains) & set(_TIME_LIMITS):
        return []
    return [
        "After the exception the job ran on to its time limit: the other tasks waited for this one. "
        "In an MPI program, python -m mpi4py SCRIPT instead of python SCRIPT ends all tasks when one raises."
    ]


def _only_nan(cause: Cause, files: Sequence["LineReader"]) -> list[str]:
    """Return a first step for a job that reached its time limit while it printed values that are not numbers."""
    if cause.code not in _TIME_LIMITS:
        return []
    for file in files:
        lines = list(file.window.lines())
        found = [number for number, line in lines if _NAN.search(line)]
        if len(found) > 1 and found[-1] > lines[-1][0] - _STILL:
            return [
                f"{file.name}:{found[0]:,} is the first of {len(found):,} lines with NaN. If a result of the run is meant, more "
                "time would not help: find where the NaN comes from (the input, a time step that is too long), and resume "
                "from a checkpoint written before it."
            ]
    return []


def _alone(file: "LineReader") -> str:
    """Say that a program ran as several independent copies, if several lines report task 0 of 1; empty otherwise."""
    alone = [number for number, line in file.window.lines() if _TASK_0_OF_1.search(line)]
    if len(alone) < 2:
        return ""
    return (
        f"{file.name}:{alone[0]:,}: {len(alone):,} lines report task 0 of 1. If one launch printed them, the program ran "
        "as independent copies, each with one task: it was built without MPI, or with another MPI than the launcher's. "
        "Compare ldd PROGRAM | grep -i mpi with the loaded MPI, and srun --mpi=list with the type that it needs."
    )


def _odd(file: "LineReader") -> list[str]:
    """Describe the anomalies of a file."""
    notes = [f"{file.name}: {file.note}"] if file.note else []
    if file.shortened:
        what = "1 line is" if file.shortened == 1 else f"{file.shortened:,} lines are"
        notes.append(f"{file.name}: {what} longer than 64 KiB: the rest was not read")
    return notes


def _notes(
    evidence: Evidence, ranking: Ranking, context: "Context | None", runs: Sequence[dict[str, Any]]
) -> list[str]:
    """Describe anomalies of the files and the context, and the outcomes of earlier runs."""
    notes = []
    if runs:
        said = (
            f"lines {run['lines'][0]:,} to {run['lines'][1]:,}: {run['code'] or run['verdict']}"
            for run in runs[:_RUNS_TOLD]
        )
        notes.append(
            f"{len(runs) + 1} runs in this text; the answer is for the last one. Before it, latest first: {'; '.join(said)}"
        )
    notes += [
        f"{code} (line {evidence.messages[code].hits[-1].line:,}) did not end the job, which was still running at line {life:,}, "
        "and the answer is for what came later."
        for code, life in ranking.superseded.items()
    ]
    notes += _hung(ranking)
    notes += [note for file in evidence.files for note in _odd(file)]
    notes += [note for note in map(_alone, evidence.files) if note]
    if left_out := evidence.unknown_left_out:
        notes.append(f"{left_out:,} more suspicious line{' was' if left_out == 1 else 's were'} not grouped")
    advised = " ".join(step for cause in ranking.causes for step in cause.advice)
    if context and context.refused and context.refused not in advised:
        notes.append(f"The launch line would be rejected: {context.refused}.")
    return notes
