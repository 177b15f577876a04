"""The rules of a site as its job log shows them: closed hours, limits, the order of the queue, who passes whom.

Candidate rules come from the log and are kept only if simulating with them brings the order of waits closer to the
observed order: a pattern that explains no waits is not a rule. Prediction accuracy is measured separately on later
weeks (`hopperkit.traces.backtest`).
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hopperkit.traces.cluster import Cluster
from hopperkit.traces.rules.absences import Absence, absences
from hopperkit.traces.rules.clock import HOURS, Clock
from hopperkit.traces.rules.evidence import Evidence
from hopperkit.traces.rules.hours import best_closed_hours
from hopperkit.traces.rules.limits import FEWEST, find_limits, with_gain
from hopperkit.traces.rules.preferred import preferred_groups
from hopperkit.traces.rules.site import Learned
from hopperlib.finding import Finding
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.workload import Workload
from hopperlib.text import capital, count, listed, share
from hopperlib.units import SECONDS_PER_HOUR, plain_number

SLURM_TITLE = "Slurm's backfill"
_ORDERS = {
    "submission": "the order of submission",
    "size": "the widest first",
    "length": "the shortest limit first",
    "fair share": "users who used little first (fair share)",
}
_DEPTHS: dict[str | Backfill, str] = {
    "easy": "backfill depth 1 (EASY)",
    "fcfs": "no backfill (depth 0)",
    "10": "backfill depth 10",
    "conservative": "backfill that delays nobody (depth all)",
}
_SHALLOW = (10, 3)
# A Slurm that is not at its defaults is learned only from a gain beyond the noise of the schedule of a few hundred jobs.
_SURE_DEPTH = 0.05
# A person, QOS or queue is named as preferred only if the simulation with it orders the waits that well.
_NAMED_FIT = 0.7
# Largest number of candidate absences: each needs a simulation.
_TRIED = 3


def learn(
    workload: Workload,
    nodes: int | Cluster,
    clock: Clock,
    *,
    base: Learned | None = None,
    progress: Callable[[str], object] = lambda what: None,
) -> tuple[Learned, list[Finding]]:
    """Return the rules that a log shows, with the evidence for each.

    Parameters
    ----------
    workload : Workload
        With observed starts.
    nodes : int or Cluster
        Of the machine; where they are shared, absent ones are not looked for.
    clock : Clock
        Which hour of the week it was.
    base : Learned or None
        Known settings, such as Slurm's backfill; default: EASY in order of submission.
    progress : callable
        Called with a description of the next step.

    Examples
    --------
    >>> learn(Workload(), 4, Clock(0))[1][0].code
    'too-few-waits'
    """
    nodes = plain_number(nodes)
    evidence = Evidence(workload, nodes, clock)
    if len(evidence.waited) < FEWEST:
        message = f"{count(len(evidence.waited), 'job')} waited a minute or more: {FEWEST} are needed to learn rules"
        return base or Learned(), [Finding("too-few-waits", message, "unknown")]
    progress("limits")
    rules, findings = find_limits(evidence, base or Learned())
    progress("closed hours")
    hours = best_closed_hours(evidence, rules)
    if hours and evidence.better(rules, after := replace(rules, closed=(hours,))):
        wrong = evidence.contradicting(hours)
        message = f"{capital(hours.text)}; {share(wrong, 1)} of these jobs' starts contradict it"
        found_hours = Finding("closed-hours", message, "note", {**hours._asdict(), "contradicting": wrong})
        findings.append(with_gain(found_hours, evidence, rules, after))
        rules = after
    progress("absent nodes")
    for absence in absences(evidence.workload, nodes)[:_TRIED] if isinstance(nodes, int) else ():
        after = replace(rules, absent=(*rules.absent, absence))
        if evidence.kept(rules, after):
            findings.append(with_gain(_absence(absence, clock), evidence, rules, after))
            rules = after
    progress("order and backfill")
    # Which comes first matters, as each hides the other: the way that ends better is taken.
    ways = [_two_choices(evidence, rules, depth_first=depth_first) for depth_first in (True, False)]
    rules, chosen = max(ways, key=lambda way: evidence.fit(way[0]))
    # Apparent closed hours or absent nodes may be an effect of queue order or depth.
    nothing: list[tuple[str, dict[str, Any]]] = [("closed-hours", {"closed": ()}), ("absent-nodes", {"absent": ()})]
    for code, none in nothing:
        without = replace(rules, **none)
        if without != rules and not evidence.kept(without, rules):
            rules, findings = without, [finding for finding in findings if finding.code != code]
    return rules, [*findings, *chosen]


def _depths_of_slurm(policy: Backfill) -> dict[str | Backfill, str]:
    """Return the policies that Slurm can have: it plans a start for every job that it tests, however few, or lets no job pass."""
    shallow: dict[str | Backfill, str] = {
        policy._replace(depth=depth): f"{SLURM_TITLE} of the first {depth} jobs"
        for depth in _SHALLOW
        if depth < policy.depth
    }
    return {policy: SLURM_TITLE, **shallow, "fcfs": _DEPTHS["fcfs"]}


def _two_choices(evidence: Evidence, rules: Learned, *, depth_first: bool) -> tuple[Learned, list[Finding]]:
    """Return the rules with the depth and the order that fit best, chosen one after the other."""
    findings = []
    for is_depth in (depth_first, not depth_first):
        if is_depth:
            # Of policies that are as likely the one that is known beforehand is taken.
            policies = _depths_of_slurm(rules.policy) if isinstance(rules.policy, Backfill) else _DEPTHS
            tried = {title: replace(rules, policy=name) for name, title in policies.items()}
            sure = _SURE_DEPTH if isinstance(rules.policy, Backfill) else 0.0
            rules, finding = _chosen(evidence, tried, "backfill-depth", "Backfill depth", sure)
        else:
            tried = {title: replace(rules, order=name) for name, title in _ORDERS.items()}
            tried |= {
                f"jobs of {' '.join(each)} first": replace(rules, preferred=each) for each in preferred_groups(evidence)
            }
            rules, finding = _chosen(evidence, tried, "order", "Order of the queue")
        findings.append(finding)
    return rules, findings


def _chosen(
    evidence: Evidence, tried: dict[str, Learned], code: str, what: str, sure: float = 0.0
) -> tuple[Learned, Finding]:
    """Return the rules that fit best of some, if they do so clearly (by a gain in correlation), with the evidence."""
    fits = {name: evidence.fit(rules) for name, rules in tried.items()}
    first, *others = sorted(fits, key=lambda name: -fits[name])
    numbers = {"rank_correlations": fits}
    if tried[first].preferred and fits[first] < _NAMED_FIT:
        # Nobody is named by a simulation that explains little.
        del fits[first]
        return _chosen(evidence, {name: rules for name, rules in tried.items() if name in fits}, code, what, sure)
    alike = [
        name for name in others if fits[first] - fits[name] < sure or not evidence.better(tried[name], tried[first])
    ]
    if alike:
        # Of equally likely rules the simplest is chosen; the first candidate is the default, without a rule.
        taken = next(name for name in tried if name in (first, *alike))
        message = (
            f"{what}: cannot tell {first} from {listed(alike, 'and')} (rank correlations {fits[first]:.2f} and "
            f"{listed([f'{fits[name]:.2f}' for name in alike], 'and')}); {taken} is taken."
        )
        return tried[taken], Finding(f"{code}-unknown", message, "unknown", numbers)
    message = f"{what}: {first} (rank correlation {fits[first]:.2f}; next {others[0]}, {fits[others[0]]:.2f})."
    return tried[first], Finding(code, message, "note", numbers)


def _absence(absence: Absence, clock: Clock) -> Finding:
    """Return the evidence for absent nodes."""
    days = (absence.end_s - absence.start_s) / (HOURS * SECONDS_PER_HOUR)
    message = (
        f"{count(absence.nodes, 'node')} absent for {count(round(days), 'day')} from {clock.date(absence.start_s)}: on "
        "each of them somebody waited for half of the day or longer whom idle nodes would have held"
    )
    return Finding("absent-nodes", message, "note", absence._asdict())
