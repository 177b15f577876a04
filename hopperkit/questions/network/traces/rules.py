"""A trace's scheduler, in words: learned rules, their back-test, why a job waited and when one starts."""

from collections.abc import Iterator
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hopperkit.questions.result import Result, Table, table
from hopperkit.readers.jobs.trace import Trace
from hopperkit.traces.backtest import PREDICTORS, Backtest
from hopperkit.traces.pending import Expected
from hopperkit.traces.rules.limits import limit_text
from hopperkit.traces.rules.site import Learned
from hopperkit.traces.smaller_request import Request
from hopperkit.traces.why import CAUSES, Wait
from hopperlib.finding import Finding
from hopperlib.scheduling.backfill import Backfill
from hopperlib.text import capital, count, duration, listed, share

# Within this distance of a null model in rank correlation, the rules are no better.
NO_BETTER = 0.01
_EXPLAINED = 0.05
_MOST_NAMED, _MOST_AHEAD = 3, 50
# Share of a wait below which a part of it is left to the table. [fraction]
_LEAST_PART = 0.005
# A rule that only this many starts contradict is reported without qualification.
_OBEYED = 0.01
# A simulated wait this far from the observed one gives a direction only. [fraction]
_MISFIT = 0.2


_ORDERS = {
    "submission": "jobs start in the order of submission",
    "size": "the widest jobs go first",
    "length": "jobs with the shortest limits go first",
    "fair share": "users who used little go first (fair share)",
}
_POLICIES = {
    "easy": "EASY backfill (depth 1)",
    "fcfs": "no backfill",
    "conservative": "backfill that delays nobody (depth all)",
}


def policy_text(policy: str | Backfill) -> str:
    """Policy in words.

    Parameters
    ----------
    policy : str or Backfill
        Scheduling policy.

    Examples
    --------
    >>> policy_text("10"), policy_text(Backfill())
    ('backfill of depth 10', "Slurm's backfill (500 jobs every 30 s)")
    """
    if isinstance(policy, Backfill):
        return f"Slurm's backfill ({count(policy.depth, 'job')} every {policy.interval_s} s)"
    return _POLICIES.get(policy, f"backfill of depth {policy}")


def learned_result(rules: Learned, findings: list[Finding], jobs: int, machine: str = "") -> Result:
    """Return the rules that a log shows, as an answer.

    Parameters
    ----------
    rules : Learned
    findings : list of Finding
        Evidence for each.
    jobs : int
        How many they were learned from.
    machine : str
        Its partitions in words, where there are several.

    Examples
    --------
    >>> learned_result(Learned(order="size"), [], 300).summary.split(".")[0]
    'The widest jobs go first, with EASY backfill (depth 1); no closed hours and no limits show in this log'
    """
    codes = {finding.code for finding in findings}
    facts = {"rules": rules.to_dict(), "jobs": jobs, "machine": machine}
    if "too-few-waits" in codes:
        return Result(
            summary=f"Too few jobs waited to learn rules from this log: {findings[0].message}.",
            findings=tuple(findings),
            facts=facts,
        )
    order = f"jobs of {' '.join(rules.preferred)} go first" if rules.preferred else _ORDERS[rules.order]
    unsure = [
        subject
        for subject, code in (("the order", "order-unknown"), ("the backfill", "backfill-depth-unknown"))
        if code in codes
    ]
    doubt = f" ({' and '.join(unsure)} cannot be separated from others, see --all)" if unsure else ""
    phrases = [rule.text for rule in rules.closed]
    for finding in findings:
        if finding.code == "closed-hours" and finding.evidence["contradicting"] > _OBEYED:
            phrases[0] += f", except for {share(finding.evidence['contradicting'])} of their starts"
    phrases += map(limit_text, rules.limits)
    phrases += [f"{count(each.nodes, 'node')} absent for a time" for each in rules.absent]
    others = listed(phrases) if phrases else "no closed hours and no limits show in this log"
    place = f" On {machine}." if machine else ""
    return Result(
        summary=(
            f"{capital(order)}, with {policy_text(rules.policy)}{doubt}; {others}.{place} Learned from "
            f"{count(jobs, 'job')}; `hopper trace backtest` tests them on later ones."
        ),
        findings=tuple(findings),
        facts=facts,
    )


def backtest_result(test: Backtest) -> Result:
    """Return the prediction of later waits by learned rules, as an answer.

    Parameters
    ----------
    test : Backtest
        Result of a back-test.

    Examples
    --------
    >>> from hopperkit.traces.backtest import Judged
    >>> judged = [Judged(name, 0.5, 60.0, 0.95) for name in PREDICTORS]
    >>> backtest_result(Backtest(Learned(), (), 120, 80, tuple(judged))).findings[0].code
    'no-better-than-null'
    """
    best, null = test.best, test.best_null
    finding = backtest_verdict(test)
    return Result(
        summary=(
            f"Rules from the first {count(test.learned_from, 'job')}, tested on the next {test.judged_on:,}: "
            f"rank correlation with the observed waits {best.rank_correlation:.2f} ({PREDICTORS[best.name]}), where two "
            f"simulations whose submissions differ by up to 5 s agree with {test.ceiling:.2f}; the best of three null models has {null.rank_correlation:.2f} ({PREDICTORS[null.name]})."
        ),
        findings=(finding, *test.findings),
        tables=(_judged_table(test), _class_table(test)),
        facts={
            "rules": test.rules.to_dict(),
            "learned_from": test.learned_from,
            "judged_on": test.judged_on,
            "ceiling": test.ceiling,
            "judged": [judged._asdict() for judged in test.judged],
            "classes": [judged._asdict() for judged in test.classes],
        },
    )


def backtest_verdict(test: Backtest) -> Finding:
    """Return whether learned rules predict better than null models.

    Parameters
    ----------
    test : Backtest
        Result of a back-test.

    Examples
    --------
    >>> from hopperkit.traces.backtest import Judged
    >>> judged = [Judged(name, 0.5 + (name == "learned") / 10, 60.0, 0.95) for name in PREDICTORS]
    >>> backtest_verdict(Backtest(Learned(), (), 120, 80, tuple(judged))).code
    'better-than-null'
    """
    best, null = test.best, test.best_null
    if best.rank_correlation > null.rank_correlation + NO_BETTER:
        return Finding("better-than-null", "The learned rules order later waits better than each null model.", "ok")
    others = [judged.rank_correlation for judged in test.judged if judged.name in ("constant", "alike")]
    if null.name == "easy" and null.rank_correlation > max(others) + NO_BETTER:
        message = (
            "Plain EASY predicts later waits as well as the learned rules, and better than models without a scheduler."
        )
        return Finding("as-plain-easy", message, "ok")
    return Finding(
        "no-better-than-null",
        f"The learned rules predict no better than a null model ({PREDICTORS[null.name]}): do not use a simulation of "
        "this log for single jobs.",
        "advice",
    )


def _judged_table(test: Backtest) -> Table:
    return table(
        "Predictions of the later waits",
        test.judged,
        {
            "Prediction": lambda judged: PREDICTORS[judged.name],
            "Rank correlation": lambda judged: round(judged.rank_correlation, 3),
            "Mean error (s)": lambda judged: round(judged.mean_error_s),
        },
    )


def _class_table(test: Backtest) -> Table:
    return table(
        f"By class of job: {PREDICTORS[test.best.name]}, compared with {PREDICTORS[test.best_null.name]}",
        test.classes,
        {
            "Jobs with a": lambda judged: judged.name,
            "Jobs": lambda judged: judged.jobs,
            "Rank correlation": lambda judged: round(judged.rank_correlation, 3),
            "Null model": lambda judged: round(judged.null_rank_correlation, 3),
            "Mean error (s)": lambda judged: round(judged.mean_error_s),
            "Null model (s)": lambda judged: round(judged.null_mean_error_s),
        },
    )


def why_result(
    trace: Trace, wait: Wait, rules: Learned, nodes: int, unit: str = "node", request: Request | None = None
) -> Result:
    """Return why a job waited, as an answer; cores are counted if jobs share nodes.

    Parameters
    ----------
    trace : Trace
    wait : Wait
    rules : Learned
    nodes : int
        Of the machine.
    unit : str
        Unit of the counts.
    request : Request or None
        Request that would have started it earlier.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> trace = read_job_trace(["1 0 60 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> why_result(trace, Wait(0, 60, {"full": 60}, 0), Learned(), 4).summary
    'Job 1 (3 nodes of 4, limit 1.5 min) waited 1 min: no node was idle (1 min).'
    """
    workload, job = trace.workload, wait.job
    name = trace.names.get(workload.job[job], str(workload.job[job]))
    parts = sorted(wait.parts.items(), key=lambda part: -part[1])
    subject = f"Job {name} ({count(workload.nodes[job], unit)} of {nodes:,}, limit {duration(workload.requested_time_s[job])})"
    # The seconds that a scheduler takes to start a job are no cause of a wait of minutes.
    shown = [part for part in parts if part[1] > _LEAST_PART * wait.wait_s] or parts
    reasons = "; ".join(f"{CAUSES[cause].replace('node', unit)} ({duration(seconds)})" for cause, seconds in shown)
    holders = _holders_text(trace, wait, unit) if parts else ""
    return Result(
        summary=f"{subject} waited {duration(wait.wait_s)}: {reasons}.{holders}{_earlier_text(wait, request)}"
        if parts
        else f"{subject} did not wait.",
        findings=tuple(_why_findings(wait, rules)),
        tables=(_parts_table(wait, unit), _holders_table(trace, wait, unit)) if parts else (),
        facts={
            "job": name,
            "wait_s": wait.wait_s,
            "parts_s": wait.parts,
            "most_idle_nodes": wait.idle,
            "held_by": [_name(trace, each.job) for each in wait.holders],
            "ahead": [_name(trace, job) for job in wait.ahead[:_MOST_AHEAD]],
            "earlier_with": request._asdict() if request else None,
            "rules": rules.to_dict(),
        },
    )


def _earlier_text(wait: Wait, request: Request | None) -> str:
    """Return which request would have started a job earlier, as a sentence, and whether the time can be relied on."""
    if request is None:
        return ""
    sentence = (
        f" With {request.text.replace(', for as long', ' for the same time')}, it would wait {duration(request.wait_s)}"
    )
    before = duration(request.wait_before_s)
    if abs(request.wait_before_s - wait.wait_s) <= _MISFIT * wait.wait_s:
        return f"{sentence}, not {before} (simulated)."
    return (
        f"{sentence} in a simulation that lets it wait {before} without the change: take the direction, not the time."
    )


def _name(trace: Trace, job: int) -> str:
    """Return the name of a job."""
    number = trace.workload.job[job]
    return trace.names.get(number, str(number))


def _holders_text(trace: Trace, wait: Wait, unit: str) -> str:
    """Return who held the nodes and who was ahead, as sentences."""
    workload = trace.workload
    phrases = [
        f"{_name(trace, each.job)} ({count(workload.nodes[each.job], unit)}, limit {duration(workload.requested_time_s[each.job])}, "
        f"ran {duration(workload.run_time_s[each.job])})"
        for each in wait.holders[:_MOST_NAMED]
    ]
    held = f" Most {unit}s were held by {listed(phrases, 'and')}." if phrases else ""
    if not wait.ahead:
        return held
    first = listed([_name(trace, job) for job in wait.ahead[:_MOST_NAMED]], "and")
    more = len(wait.ahead) - _MOST_NAMED
    return f"{held} {count(len(wait.ahead), 'job')} ahead in the queue when it came: {first}{f' and {more:,} more' if more > 0 else ''}."


def _holders_table(trace: Trace, wait: Wait, unit: str) -> Table:
    """Return who held nodes during the wait."""
    workload = trace.workload
    return table(
        f"Jobs that held most {unit}s during the wait",
        list(wait.holders),
        {
            "Job": lambda each: _name(trace, each.job),
            f"{capital(unit)}s": lambda each: workload.nodes[each.job],
            "Limit": lambda each: duration(workload.requested_time_s[each.job]),
            "Ran": lambda each: duration(workload.run_time_s[each.job]),
            f"Held, {unit}-hours": lambda each: round(each.node_seconds / 3600, 1),
            "Came later": lambda each: "yes" if each.had_passed else "no",
        },
    )


def _parts_table(wait: Wait, unit: str) -> Table:
    """Return the parts of a wait, which add up to it."""
    return table(
        "The wait, by what kept the job",
        list(wait.parts.items()),
        {
            "Cause": lambda part: CAUSES[part[0]].replace("node", unit),
            "Seconds": lambda part: part[1],
            "Share": lambda part: share(part[1] / wait.wait_s),
        },
    )


def _why_findings(wait: Wait, rules: Learned) -> Iterator[Finding]:
    unexplained = wait.parts.get("unexplained", 0)
    if wait.wait_s and unexplained > _EXPLAINED * wait.wait_s:
        message = (
            f"{share(unexplained / wait.wait_s)} of the wait is not explained: a reservation, drained nodes, a priority or "
            "a limit that this log does not show."
        )
        yield Finding("unexplained", message, "unknown")
    if not rules.closed and not rules.limits:
        yield Finding("no-rules", "No closed hours and no limits are known of this log, so none can be named.", "note")


def when_result(trace: Trace, name: str, found: Expected, test: Backtest) -> Result:
    """Return when a waiting job starts, as an answer.

    Parameters
    ----------
    trace : Trace
        The job trace.
    name : str
        The name.
    found : Expected
        Expected start of the job.
    test : Backtest
        The back-test.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> trace = read_job_trace(["1 0 60 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> from hopperkit.traces.backtest import Judged
    >>> judged = tuple(Judged(name, 0.5, 60.0, 0.95) for name in PREDICTORS)
    >>> when_result(trace, "7", Expected(0, 0, 60, None, None, 3), Backtest(Learned(), (), 120, 80, judged)).summary
    'Job 7 has waited 0 s. Its start is unknown: 3 past jobs that waited as long are too few.'
    """
    learned = next(judged for judged in test.judged if judged.name == "learned")
    facts = found._asdict() | {"job": name, "coverage": learned.coverage, "rules": test.rules.to_dict()}
    waited = f"Job {name} has waited {duration(found.waited_s)}."
    if found.low_s is None or found.high_s is None:
        few = f"Its start is unknown: {count(found.past, 'past job')} that waited as long are too few."
        return Result(summary=f"{waited} {few}", facts=facts)
    low, high = _moment(trace, found.low_s), _moment(trace, found.high_s)
    tested = (
        f"Intervals made like this held {share(learned.coverage)} of the waits of the log's later {count(test.judged_on, 'job')}; "
        "95 % were promised."
    )
    span = f"It starts between {low} and {high}, as did 95 % of the past jobs with a similar simulated wait."
    verdict = backtest_verdict(test)
    # Who predicts single jobs no better than a null model gives no number for one: the interval only.
    single = f" By the simulation it starts at {_moment(trace, found.start_s)}." if verdict.level == "ok" else ""
    return Result(
        summary=f"{waited} {span}{single}",
        findings=(Finding("tested-on-past-weeks", tested, "note"), verdict),
        facts=facts,
    )


def _moment(trace: Trace, time_s: int) -> str:
    """Return a time of a trace by its clock."""
    zone = ZoneInfo(trace.timezone) if trace.timezone else UTC
    return datetime.fromtimestamp(trace.epoch_s + time_s, zone).strftime("%Y-%m-%d %H:%M")
