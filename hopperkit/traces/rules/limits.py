"""Limits on concurrent use, proposed where a log never exceeds a level although jobs wait."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from hopperkit.traces.capacity.machine import count_of
from hopperkit.traces.rules.evidence import Evidence
from hopperkit.traces.rules.site import Learned, plain_limit
from hopperlib.finding import Finding
from hopperlib.scheduling.rules import Limit
from hopperlib.text import count, share

# Fewer waiting jobs show no rules. Assumed, like the bounds below; error rates are measured on logs with known rules
# (tests/scheduling/test_learned.py, tests/traces/test_planted.py).
FEWEST = 100
# Limits: that many of the jobs that waited started as the last that was allowed; so few starts exceed it. Widths
# differ, so use seldom equals a node limit exactly: it never exceeds it, and this share of it counts as reaching it.
_AT_LIMIT, _EXCEED, _NEAR = 0.1, 0.005, 0.75
# A limit of nodes that is nearly as large as the machine is the machine.
_NEARLY_ALL = 0.9


def limit_text(limit: Limit) -> str:
    """Return a limit in words.

    Parameters
    ----------
    limit : Limit
        Learned limit.

    Examples
    --------
    >>> limit_text(Limit(per="user", jobs=1)), limit_text(Limit(per="licence", of="matlab", jobs=4))
    ('at most 1 running job of each user', 'at most 4 in use of licence matlab')
    """
    if limit.nodes is not None:
        most = count(limit.nodes, "node")
    else:
        most = f"{limit.jobs} in use" if limit.per == "licence" else count(limit.jobs or 0, "running job")
    return f"at most {most} of {f'{limit.per} {limit.of}' if limit.of else f'each {limit.per}'}"


def _at_bound(
    evidence: Evidence, levels: Sequence[tuple[int, int, int]], bound: int, reached: float
) -> tuple[int, list[int]]:
    """Return the number of waiting jobs, and the groups of those that started at a bound."""
    waited = set(evidence.waited)
    mine = [(who, level) for job, who, level in levels if job in waited]
    return len(mine), [who for who, level in mine if reached <= level <= bound]


def _limit(evidence: Evidence, limit: Limit) -> tuple[Limit, Finding] | None:
    """Return the level that concurrent use never exceeds although jobs wait at it; None if there is none."""
    machine = count_of(evidence.nodes)
    levels = list(evidence.levels(limit))
    if len(levels) < FEWEST:
        return None
    ordered = sorted(level for _, _, level in levels)
    bound = ordered[-1 if limit.nodes else min(len(ordered) - 1, int((1 - _EXCEED) * len(ordered)))]
    if limit.nodes is not None and bound >= _NEARLY_ALL * machine:
        return None
    members, at_bound = _at_bound(evidence, levels, bound, (_NEAR if limit.nodes else 1) * bound)
    if members < FEWEST or len(at_bound) < _AT_LIMIT * members or (not limit.of and len(set(at_bound)) < 2):
        return None
    exceed = sum(level > bound for level in ordered) / len(ordered)
    found = replace(limit, jobs=bound) if limit.nodes is None else replace(limit, nodes=bound)
    message = (
        f"Limit: {limit_text(found)}. {share(len(at_bound) / members)} of its jobs that waited started at that bound; "
        f"{share(exceed, 1)} of the starts contradict it"
    )
    return found, Finding(f"limit-{limit.per}", message, "note", {**plain_limit(found), "contradicting": exceed})


def _candidates(evidence: Evidence) -> Iterator[Limit]:
    """Yield the limits that are looked for, their bounds yet unknown."""
    workload = evidence.workload
    yield from (Limit(per="licence", of=name, jobs=1) for name in evidence.licences)
    if len(set(workload.user)) > 1:
        yield Limit(per="user", jobs=1)
        yield Limit(per="user", nodes=1)
    for per in ("account", "qos", "queue"):
        names = workload.words[per]
        if len(names) > 1:
            yield Limit(per=per, jobs=1)
            yield Limit(per=per, nodes=1)
            for name in names if per != "account" else ():
                yield Limit(per=per, of=name, jobs=1)


def find_limits(evidence: Evidence, rules: Learned) -> tuple[Learned, list[Finding]]:
    """Rules with the limits that explain waits, with the evidence for each.

    Parameters
    ----------
    evidence : Evidence
        Evidence from the log.
    rules : Learned
        The rules.

    Examples
    --------
    >>> from hopperkit.traces.rules.clock import Clock
    >>> from hopperlib.scheduling.workload import Workload
    >>> find_limits(Evidence(Workload(), 4, Clock(0)), Learned()) == (Learned(), [])
    True
    """
    findings = list[Finding]()
    seen = [found for candidate in _candidates(evidence) if (found := _limit(evidence, candidate))]
    while seen:
        # The limit that explains most first: one of accounts shows in their users too.
        best = max(seen, key=lambda found: evidence.fit(replace(rules, limits=(*rules.limits, found[0]))))
        seen.remove(best)
        after = replace(rules, limits=(*rules.limits, best[0]))
        if not evidence.better(rules, after):
            break
        findings.append(with_gain(best[1], evidence, rules, after))
        rules = after
    return rules, findings


def with_gain(finding: Finding, evidence: Evidence, before: Learned, after: Learned) -> Finding:
    """Finding with the gain in rank correlation from the rule.

    Parameters
    ----------
    finding : Finding
        The finding.
    evidence : Evidence
        Evidence from the log.
    before : Learned
        The rules without the new one.
    after : Learned
        The rules with the new one.

    Examples
    --------
    >>> from hopperkit.traces.rules.clock import Clock
    >>> from hopperlib.scheduling.workload import Workload
    >>> evidence = Evidence(Workload(), 4, Clock(0))
    >>> with_gain(Finding("limit-user", "Limit: 2 jobs", "note"), evidence, Learned(), Learned()).message
    'Limit: 2 jobs; with it the rank correlation of waits rises from 0.00 to 0.00.'
    """
    gain = f"{evidence.fit(before):.2f} to {evidence.fit(after):.2f}"
    return replace(finding, message=f"{finding.message}; with it the rank correlation of waits rises from {gain}.")
