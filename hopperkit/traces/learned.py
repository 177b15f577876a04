"""The rules of a site as its job log shows them: closed hours, limits, the order of the queue, who passes whom.

What is looked for is proposed by what the log shows of itself, and kept only
if the simulation with it puts the waits of the same log in an order nearer to
the observed one: a pattern that explains no wait is none of the scheduler's
rules. How well that predicts is another matter, which later weeks tell
(`hopperkit.traces.backtest`).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import accumulate, product
from operator import ge
from statistics import fmean, stdev
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hopperkit.traces.absences import Absence, absences
from hopperkit.traces.capacity.machine import count_of
from hopperkit.traces.cluster import Cluster
from hopperkit.traces.scheduler import simulate
from hopperlib.finding import Finding
from hopperlib.scheduling.backfill import Backfill
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.scheduling.rules import Closure, Limit, Rules
from hopperlib.scheduling.schedule import Schedule
from hopperlib.scheduling.workload import Workload
from hopperlib.text import capital, count, listed, share
from hopperlib.units import SECONDS_PER_HOUR, plain_number

# A job that waited less did not wait: schedulers run no more often.
NO_WAIT_S = 60
# Fewer jobs that waited tell no rules: assumed, as are the bounds below; logs of known rules say how often they err
# (tests/scheduling/test_learned.py).
_FEWEST = 100
# More jobs than that number of the last are not looked at: a site's rules change, and the simulations take time.
_MOST, _MOST_SHARING = 8_000, 2_000
# So many jobs of a group waited, if it is to be tried as preferred.
_GROUP = 20
_HOURS, _WEEK = 24, 168
_DAY_S = _HOURS * SECONDS_PER_HOUR
SLURM_TITLE = "Slurm's backfill"
_DAYS = {"weekdays": range(5), "weekends": range(5, 7), "all days": range(7)}
_CLASSES_H = (0, 1, 2, 4, 8, 12, 24)
# Closed hours: that many starts were to be expected in them, and at most so large a part of these came; the second is
# for sites that let some jobs start all the same.
_EXPECTED, _CAME = 20.0, (0.1, 0.4)
# Limits: that many of the jobs that waited started as the last that was allowed; so few starts exceed it. Widths differ,
# so that a limit of nodes is seldom reached to the node: none exceeds it, and so much of it counts as reached.
_AT_LIMIT, _EXCEED, _NEAR = 0.1, 0.005, 0.75
# A rule is kept if the rank correlation with the observed waits rises by so much, and falls in neither half of the log;
# where it is lower than the second, the simulation says nothing of these waits.
_GAIN, _LEAST = 0.01, 0.1
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
# A limit of nodes that is nearly as large as the machine is the machine.
_NEARLY_ALL = 0.9
# A person, QOS or queue is named as preferred only if the simulation with it orders the waits that well, and if in a test of
# its waits against those of others on the same days, of like jobs, Student's t falls below this; days with both are needed.
_NAMED_FIT, _NAMED_T, _NAMED_DAYS = 0.7, -4.0, 8
# At most so many times of absent nodes, and so many groups that may be preferred, are tried: each takes a simulation.
_TRIED = 3


class ClosedHours(NamedTuple):
    """Hours of the day, from and to (not included, and perhaps the next day's), in which no job with a longer limit starts."""

    days: str
    first_hour: int
    last_hour: int
    over_hours: int

    def holds(self, hour_of_week: int) -> bool:
        """Whether an hour of the week, counted from Monday, is closed."""
        day, hour = divmod(hour_of_week, _HOURS)
        inside = (hour - self.first_hour) % _HOURS < (self.last_hour - self.first_hour) % _HOURS
        return inside and day in _DAYS[self.days]

    @property
    def text(self) -> str:
        """The hours in words."""
        what = f"jobs with limits above {self.over_hours} h" if self.over_hours else "all jobs"
        return f"closed to {what} from {self.first_hour}:00 to {self.last_hour}:00 on {self.days}"


class Clock:
    """The local hour of the week at any second of a trace."""

    def __init__(self, epoch_s: int, timezone: str = "") -> None:
        self._epoch_s = epoch_s
        try:
            self._zone = ZoneInfo(timezone) if timezone else UTC
        except (ZoneInfoNotFoundError, ValueError, OSError):
            self._zone = UTC
        self._known: dict[int, int] = {}

    def hour(self, time_s: int) -> int:
        """Return the number of the hour since 1970."""
        return (self._epoch_s + time_s) // SECONDS_PER_HOUR

    def date(self, time_s: int) -> str:
        """Return the local date of an instant; of a log that does not say when it begins, how many days in."""
        if not self._epoch_s:
            return f"day {time_s // (_HOURS * SECONDS_PER_HOUR)} of the log"
        return datetime.fromtimestamp(self._epoch_s + time_s, self._zone).date().isoformat()

    def of_week(self, hour: int) -> int:
        """Return the hour of the week, from Monday 0:00 local time, of an hour since 1970."""
        if hour not in self._known:
            moment = datetime.fromtimestamp(hour * SECONDS_PER_HOUR, self._zone)
            self._known[hour] = moment.weekday() * _HOURS + moment.hour
        return self._known[hour]

    def closures(self, closed: Sequence[ClosedHours], first_s: int, last_s: int) -> list[Closure]:
        """Return the times between two instants in which jobs do not start."""
        found = []
        for rule in closed:
            since = None
            for hour in range(self.hour(first_s), self.hour(last_s) + 2):
                begin_s = max(0, hour * SECONDS_PER_HOUR - self._epoch_s)
                if rule.holds(self.of_week(hour)):
                    since = begin_s if since is None else since
                elif since is not None:
                    found += [Closure(since, begin_s, rule.over_hours * SECONDS_PER_HOUR)] if begin_s > since else []
                    since = None
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """Rules of a site, as a log shows them.

    Parameters
    ----------
    closed : tuple of ClosedHours
    limits : tuple of Limit
    order : str
        "submission", "size", "length" or "fair share".
    policy : str or Backfill
        As `hopperkit.traces.scheduler.simulate` takes them.
    absent : tuple of Absence
        Nodes that were away.
    preferred : (str, str) or None
        "qos", "queue" or "user", and the one whose jobs go before all others.
    """

    closed: tuple[ClosedHours, ...] = ()
    limits: tuple[Limit, ...] = ()
    order: str = "submission"
    policy: str | Backfill = "easy"
    absent: tuple[Absence, ...] = ()
    preferred: tuple[str, str] | None = None

    def settings(self, workload: Workload, nodes: int, clock: Clock) -> dict[str, Any]:
        """Return what `hopperkit.traces.scheduler.simulate` takes for these rules on that many nodes."""
        fair = self.order == "fair share"
        last_s = max(workload.arrival_s) + 8 * _WEEK * SECONDS_PER_HOUR if len(workload) else 0
        first_s = min(workload.arrival_s) if len(workload) else 0
        away = [
            Downtime(
                start_s=each.start_s, end_s=each.end_s, first_node=nodes - each.nodes, last_node=nodes, kind="drain"
            )
            for each in self.absent
        ]
        return {
            "policy": self.policy,
            "queue_order": "multifactor" if fair else self.order,
            "rules": Rules(limits=self.limits, fair_share=1000.0 if fair else 0.0, first=self.preferred or ()),
            "closures": clock.closures(self.closed, first_s, last_s),
            "downtimes": away,
        }

    def run(self, workload: Workload, nodes: int | Cluster, clock: Clock) -> Schedule:
        """Return the workload as these rules schedule it."""
        count = nodes if isinstance(nodes, int) else len(nodes.nodes)
        return simulate(workload, nodes, **self.settings(workload, count, clock))

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain data."""
        closed = [each._asdict() for each in self.closed]
        return {
            "closed_hours": closed,
            "limits": [_plain(each) for each in self.limits],
            "order": self.order,
            "policy": self.policy if isinstance(self.policy, str) else self.policy._asdict(),
            "absent": [each._asdict() for each in self.absent],
            "preferred": dict([self.preferred]) if self.preferred else {},
        }


def ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value from 1, equal ones their mean rank.

    Examples
    --------
    >>> ranks([30, 10, 10])
    [3.0, 1.5, 1.5]
    """
    first: dict[float, int] = {}
    times = Counter(values)
    seen = 0
    for value in sorted(times):
        first[value] = seen
        seen += times[value]
    return [first[value] + (times[value] + 1) / 2 for value in values]


def rank_correlation(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Return Spearman's rank correlation; 0 where one side does not vary.

    Examples
    --------
    >>> rank_correlation([1, 2, 9], [10, 20, 30]), rank_correlation([1, 1], [1, 2])
    (1.0, 0.0)
    """
    if len(ours) < 2:
        return 0.0
    left, right = ranks(ours), ranks(theirs)
    middle = (len(ours) + 1) / 2
    products = sum((a - middle) * (b - middle) for a, b in zip(left, right, strict=True))
    squares = sum((a - middle) ** 2 for a in left) * sum((b - middle) ** 2 for b in right)
    return products / squares**0.5 if squares else 0.0


def learned_from(workload: Workload, nodes: int | Cluster) -> int:
    """Number of jobs that rules are learned from: the last ones, as a site's rules change.

    Examples
    --------
    >>> learned_from(Workload(), 4)
    0
    """
    return min(len(workload), _MOST if isinstance(nodes, int) else _MOST_SHARING)


class Evidence:
    """What a log says about its scheduler, and how well given rules put its waits in order."""

    def __init__(self, workload: Workload, nodes: int | Cluster, clock: Clock) -> None:
        most = _MOST if isinstance(nodes, int) else _MOST_SHARING
        rows = [job for job, start in enumerate(workload.observed_start_s) if start >= 0][-most:]
        self.workload, self.nodes, self.clock = workload.of(rows), nodes, clock
        arrivals, starts = self.workload.arrival_s, self.workload.observed_start_s
        self.waits = [max(0, start - arrival) for start, arrival in zip(starts, arrivals, strict=True)]
        self.waited = [job for job, wait in enumerate(self.waits) if wait >= NO_WAIT_S]
        self._fits: dict[Learned, list[float]] = {}

    def fits(self, rules: Learned) -> list[float]:
        """Return the rank correlation of simulated with observed waits: of all jobs, and of the first and second half."""
        if rules not in self._fits:
            schedule = rules.run(self.workload, self.nodes, self.clock)
            arrivals, half = self.workload.arrival_s, len(self.workload) // 2
            simulated = [max(0, start - at) for start, at in zip(schedule.start_s, arrivals, strict=True)]
            parts = (slice(None), slice(half), slice(half, None))
            self._fits[rules] = [rank_correlation(simulated[part], self.waits[part]) for part in parts]
        return self._fits[rules]

    def fit(self, rules: Learned) -> float:
        """Return the rank correlation of simulated with observed waits."""
        return self.fits(rules)[0]

    def kept(self, before: Learned, after: Learned) -> bool:
        """Whether rules explain the waits better than those before."""
        return self.fit(after) >= max(_LEAST, self.fit(before) + _GAIN)

    def better(self, before: Learned, after: Learned) -> bool:
        """Whether they do so in both halves of the log too."""
        return self.kept(before, after) and all(map(ge, self.fits(after), self.fits(before)))

    @cached_property
    def licences(self) -> dict[str, dict[int, int]]:
        """How many of each licence jobs hold."""
        return self.workload.licences()

    @cached_property
    def start_hours(self) -> list[int]:
        """The hour of the week in which each job started."""
        return [self.clock.of_week(self.clock.hour(start)) for start in self.workload.observed_start_s]

    def rhythm(self, over_hours: int) -> tuple[list[float], list[float]]:
        """Return for each hour of the week the starts of those that waited, and for how many hours jobs waited in it."""
        limits, starts, hour = self.workload.requested_time_s, self.workload.observed_start_s, self.clock.hour
        members = [job for job in self.waited if limits[job] > over_hours * SECONDS_PER_HOUR]
        begun, waiting = [0.0] * _WEEK, [0.0] * _WEEK
        changes: Counter[int] = Counter()
        for job in members:
            begun[self.start_hours[job]] += 1
            changes[hour(self.workload.arrival_s[job])] += 1
            changes[hour(starts[job]) + 1] -= 1
        if changes:
            first, last = min(changes), max(changes)
            for at, jobs in enumerate(accumulate(changes[n] for n in range(first, last + 1)), start=first):
                waiting[self.clock.of_week(at)] += jobs
        return begun, waiting

    def contradicting(self, rule: ClosedHours) -> float:
        """Return the share of the starts of a class that lie in hours that are closed to it."""
        limits = self.workload.requested_time_s
        members = [job for job in range(len(limits)) if limits[job] > rule.over_hours * SECONDS_PER_HOUR]
        return sum(rule.holds(self.start_hours[job]) for job in members) / max(1, len(members))

    def levels(self, limit: Limit) -> Iterator[tuple[int, int, int]]:
        """Yield of each job that a limit may hold for: the job, whom it counts for, and what of it runs once it has started."""
        workload = self.workload
        starts, runs = workload.observed_start_s, workload.run_time_s
        amount: Sequence[int] | dict[int, int] = workload.nodes if limit.nodes is not None else [1] * len(workload)
        column: Sequence[int] = [0] * len(workload)
        if limit.per == "licence":
            amount = self.licences[limit.of]
            members = set(amount)
        else:
            column, of = workload.group(limit.per, limit.of)
            members = {job for job, who in enumerate(column) if of is None or who == of}
        # Ends before starts at one instant.
        events = sorted(
            event for job in members for event in ((starts[job] + runs[job], 0, job), (starts[job], 1, job))
        )
        running: Counter[int] = Counter()
        for _, begins, job in events:
            if runs[job]:
                running[column[job]] += amount[job] if begins else -amount[job]
            if begins:
                yield job, column[job], running[column[job]]


def _closed_hours(evidence: Evidence, over: int, most: float) -> ClosedHours | None:
    """Return the hours in which fewest of the jobs that waited started, given how many waited then; None without any."""
    best: tuple[float, ClosedHours | None] = 0.0, None
    begun, waiting = evidence.rhythm(over)
    for days, numbers in _DAYS.items():
        of_day, exposed = (
            [sum(each[day * _HOURS + hour] for day in numbers) for hour in range(_HOURS)] for each in (begun, waiting)
        )
        rate = sum(of_day) / (sum(exposed) or 1.0)
        for first, length in product(range(_HOURS), range(1, _HOURS - 1)):
            inside = [(first + hour) % _HOURS for hour in range(length)]
            expected = rate * sum(exposed[hour] for hour in inside)
            score = expected - sum(of_day[hour] for hour in inside) / most
            if expected >= _EXPECTED and score > best[0]:
                best = score, ClosedHours(days, first, (first + length) % _HOURS, over)
    return best[1]


def _best_closed_hours(evidence: Evidence, rules: Learned) -> ClosedHours | None:
    """Return the closed hours that fit best, from when it fits best: early in the morning few jobs start anyway."""

    def fit(hours: ClosedHours) -> tuple[float, ClosedHours]:
        return evidence.fit(replace(rules, closed=(hours,))), hours

    proposed = {_closed_hours(evidence, over, most) for over in _CLASSES_H for most in _CAME}
    best = max((hours for hours in proposed if hours), key=fit, default=None)
    if best is None:
        return None
    length = (best.last_hour - best.first_hour) % _HOURS
    return max((best._replace(first_hour=(best.first_hour + by) % _HOURS) for by in range(0, length, 2)), key=fit)


def _limit(evidence: Evidence, limit: Limit) -> tuple[Limit, Finding] | None:
    """Return the bound that what runs at a time never exceeds although jobs wait at it; None if there is none."""
    machine = count_of(evidence.nodes)
    levels = list(evidence.levels(limit))
    if len(levels) < _FEWEST:
        return None
    ordered = sorted(level for _, _, level in levels)
    bound = ordered[-1 if limit.nodes else min(len(ordered) - 1, int((1 - _EXCEED) * len(ordered)))]
    waited, reached = set(evidence.waited), (_NEAR if limit.nodes else 1) * bound
    at_bound = [who for job, who, level in levels if job in waited and reached <= level <= bound]
    mine = sum(job in waited for job, _, _ in levels)
    if limit.nodes is not None and bound >= _NEARLY_ALL * machine:
        return None
    if mine < _FEWEST or len(at_bound) < _AT_LIMIT * mine or (not limit.of and len(set(at_bound)) < 2):
        return None
    exceed = sum(level > bound for level in ordered) / len(ordered)
    found = replace(limit, jobs=bound) if limit.nodes is None else replace(limit, nodes=bound)
    message = (
        f"Limit: {limit_text(found)}. {share(len(at_bound) / mine)} of its jobs that waited started at that bound; "
        f"{share(exceed, 1)} of the starts contradict it"
    )
    return found, Finding(f"limit-{limit.per}", message, "note", {**_plain(found), "contradicting": exceed})


def limit_text(limit: Limit) -> str:
    """Return a limit in words.

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


def _plain(limit: Limit) -> dict[str, Any]:
    """Return a limit as plain data."""
    return {"per": limit.per, "of": limit.of, "jobs": limit.jobs, "nodes": limit.nodes}


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


def learn(
    workload: Workload,
    nodes: int | Cluster,
    clock: Clock,
    *,
    base: Learned | None = None,
    progress: Callable[[str], object] = lambda what: None,
) -> tuple[Learned, list[Finding]]:
    """Return the rules that a log shows, and what speaks for each of them.

    Parameters
    ----------
    workload : Workload
        With observed starts.
    nodes : int or Cluster
        Of the machine; where they are shared, absent ones are not looked for.
    clock : Clock
        Which hour of the week it was.
    base : Learned or None
        What is known beforehand, such as the backfill of Slurm; EASY in order of submission without it.
    progress : callable
        Called with what is looked for next.

    Examples
    --------
    >>> learn(Workload(), 4, Clock(0))[1][0].code
    'too-few-waits'
    """
    nodes = plain_number(nodes)
    evidence = Evidence(workload, nodes, clock)
    if len(evidence.waited) < _FEWEST:
        message = f"{count(len(evidence.waited), 'job')} waited a minute or more: {_FEWEST} are needed to tell rules"
        return base or Learned(), [Finding("too-few-waits", message, "unknown")]
    progress("limits")
    rules, findings = _limits(evidence, base or Learned())
    progress("closed hours")
    hours = _best_closed_hours(evidence, rules)
    if hours and evidence.better(rules, after := replace(rules, closed=(hours,))):
        wrong = evidence.contradicting(hours)
        message = f"{capital(hours.text)}; {share(wrong, 1)} of these jobs' starts contradict it"
        found_hours = Finding("closed-hours", message, "note", {**hours._asdict(), "contradicting": wrong})
        findings.append(_with_gain(found_hours, evidence, rules, after))
        rules = after
    progress("absent nodes")
    for absence in absences(evidence.workload, nodes)[:_TRIED] if isinstance(nodes, int) else ():
        after = replace(rules, absent=(*rules.absent, absence))
        if evidence.kept(rules, after):
            findings.append(_with_gain(_absence(absence, clock), evidence, rules, after))
            rules = after
    progress("order and backfill")
    # Which comes first matters, as each hides the other: the way that ends better is taken.
    ways = [_two_choices(evidence, rules, depth_first=depth_first) for depth_first in (True, False)]
    rules, chosen = max(ways, key=lambda way: evidence.fit(way[0]))
    # What seemed to be closed hours or absent nodes may be the order of the queue or its depth.
    nothing: list[tuple[str, dict[str, Any]]] = [("closed-hours", {"closed": ()}), ("absent-nodes", {"absent": ()})]
    for code, none in nothing:
        without = replace(rules, **none)
        if without != rules and not evidence.kept(without, rules):
            rules, findings = without, [finding for finding in findings if finding.code != code]
    return rules, [*findings, *chosen]


def _limits(evidence: Evidence, rules: Learned) -> tuple[Learned, list[Finding]]:
    """Return the limits that explain waits, and what speaks for each."""
    findings = list[Finding]()
    seen = [found for candidate in _candidates(evidence) if (found := _limit(evidence, candidate))]
    while seen:
        # The limit that explains most first: one of accounts shows in their users too.
        best = max(seen, key=lambda found: evidence.fit(replace(rules, limits=(*rules.limits, found[0]))))
        seen.remove(best)
        after = replace(rules, limits=(*rules.limits, best[0]))
        if not evidence.better(rules, after):
            break
        findings.append(_with_gain(best[1], evidence, rules, after))
        rules = after
    return rules, findings


def _two_choices(evidence: Evidence, rules: Learned, *, depth_first: bool) -> tuple[Learned, list[Finding]]:
    """Return the rules with the depth and the order that fit best, chosen one after the other."""
    findings = []
    for is_depth in (depth_first, not depth_first):
        if is_depth:
            # Of policies that are as likely the one that is known beforehand is taken.
            known = {rules.policy: SLURM_TITLE} if isinstance(rules.policy, Backfill) else {}
            tried = {title: replace(rules, policy=name) for name, title in (known | _DEPTHS).items()}
            rules, finding = _chosen(evidence, tried, "backfill-depth", "Backfill depth")
        else:
            tried = {title: replace(rules, order=name) for name, title in _ORDERS.items()}
            tried |= {f"jobs of {' '.join(each)} first": replace(rules, preferred=each) for each in _groups(evidence)}
            rules, finding = _chosen(evidence, tried, "order", "Order of the queue")
        findings.append(finding)
    return rules, findings


def _with_gain(finding: Finding, evidence: Evidence, before: Learned, after: Learned) -> Finding:
    """Return a finding with what the rule adds to the rank correlation."""
    gain = f"{evidence.fit(before):.2f} to {evidence.fit(after):.2f}"
    return replace(finding, message=f"{finding.message}; with it the rank correlation of waits rises from {gain}.")


def _chosen(evidence: Evidence, tried: dict[str, Learned], code: str, what: str) -> tuple[Learned, Finding]:
    """Return the rules that fit best of some, if they do so clearly, and what speaks for them."""
    fits = {name: evidence.fit(rules) for name, rules in tried.items()}
    first, *others = sorted(fits, key=lambda name: -fits[name])
    numbers = {"rank_correlations": fits}
    if tried[first].preferred and fits[first] < _NAMED_FIT:
        # Nobody is named by a simulation that explains little.
        del fits[first]
        return _chosen(evidence, {name: rules for name, rules in tried.items() if name in fits}, code, what)
    alike = [name for name in others if not evidence.better(tried[name], tried[first])]
    if alike:
        # Of those that are as likely as the best the simplest is taken; the first of all is what is usual, and no rule.
        taken = next(name for name in tried if name in (first, *alike))
        message = (
            f"{what}: cannot tell {first} from {listed(alike, 'and')} (rank correlations {fits[first]:.2f} and "
            f"{listed([f'{fits[name]:.2f}' for name in alike], 'and')}); {taken} is taken."
        )
        return tried[taken], Finding(f"{code}-unknown", message, "unknown", numbers)
    message = f"{what}: {first} (rank correlation {fits[first]:.2f}; next {others[0]}, {fits[others[0]]:.2f})."
    return tried[first], Finding(code, message, "note", numbers)


def _absence(absence: Absence, clock: Clock) -> Finding:
    """Return what speaks for absent nodes."""
    days = (absence.end_s - absence.start_s) / (_HOURS * SECONDS_PER_HOUR)
    message = (
        f"{count(absence.nodes, 'node')} absent for {count(round(days), 'day')} from {clock.date(absence.start_s)}: on "
        "each of them somebody waited for half of the day or longer whom idle nodes would have held"
    )
    return Finding("absent-nodes", message, "note", absence._asdict())


def _groups(evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Yield the QOS, queues and users that may go before others: those whose jobs waited least, as ranks of waits tell."""
    workload, waited = evidence.workload, evidence.waited
    order = ranks([evidence.waits[job] for job in waited])
    place = {job: at for at, job in enumerate(waited)}
    against = _against_others(evidence, dict(zip(waited, order, strict=True)))
    found = []
    for per in ("qos", "queue", "user"):
        of_group: dict[str, list[int]] = {}
        for job in waited:
            user = workload.user[job]
            name = workload.users.get(user, str(user)) if per == "user" else workload.word(per, job)
            of_group.setdefault(name, []).append(job)
        if len(of_group) > 1:
            found += [
                (fmean(order[place[job]] for job in mine), per, name)
                for name, mine in of_group.items()
                if name and len(mine) >= _GROUP and _waits_less(evidence, mine, against)
            ]
    for mean_rank, per, name in sorted(found)[:_TRIED]:
        if mean_rank < len(waited) / 2:
            yield per, name


def _against_others(evidence: Evidence, order: dict[int, float]) -> dict[int, float]:
    """Return how far the rank of each wait is from the mean rank of like jobs of the same day."""
    workload = evidence.workload
    like: dict[tuple[int, ...], list[int]] = {}
    for job in order:
        kind = (
            workload.arrival_s[job] // _DAY_S,
            workload.queue_number[job],
            workload.nodes[job].bit_length(),
        )
        like.setdefault(kind, []).append(job)
    return {
        job: order[job] - fmean(order[other] for other in mine)
        for mine in like.values()
        if len(mine) > 1
        for job in mine
    }


def _waits_less(evidence: Evidence, jobs: Sequence[int], against: dict[int, float]) -> bool:
    """Whether some jobs waited less than like jobs of the same day, day after day: waits of one day depend on each other."""
    of_day: dict[int, list[float]] = {}
    for job in jobs:
        if job in against:
            of_day.setdefault(evidence.workload.arrival_s[job] // _DAY_S, []).append(against[job])
    means = [fmean(mine) for mine in of_day.values()]
    if len(means) < _NAMED_DAYS:
        return False
    spread = stdev(means) / len(means) ** 0.5
    return fmean(means) < 0 and (not spread or fmean(means) / spread < _NAMED_T)
