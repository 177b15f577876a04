"""Requested changes of a machine, and their effect on the waits of a log, in words."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from hopperkit.questions.network.traces.rules import backtest_verdict
from hopperkit.questions.result import Column, Result, Table, table
from hopperkit.readers.jobs.trace import Trace
from hopperkit.traces.backtest import PREDICTORS, Backtest
from hopperkit.traces.changes.intervals import MIN_WEEKS
from hopperkit.traces.changes.scenario import Scenario, largest_share
from hopperkit.traces.changes.what_if import Effect, WhatIf
from hopperkit.traces.cluster import node_names
from hopperlib.errors import InputError, refusal
from hopperlib.finding import Finding
from hopperlib.scheduling.downtimes import Downtime
from hopperlib.text import count, duration, share
from hopperlib.units import duration_s

_SPLIT = re.compile(r"split:([^:]+):([^:]+)")
_DRAIN = re.compile(r"([0-9T:-]{10,19})/([^:]+)(?::(.+))?")
_MOST_NODES = 200_000


def changed_nodes(text: str, nodes: int) -> int:
    """Return a number of nodes from the text: +10%, -64, or a new total.

    Parameters
    ----------
    text : str
        Number of nodes, or a change such as +10%.
    nodes : int
        Current number of nodes.

    Raises
    ------
    InputError
        If the text cannot be read, or the number of nodes is out of range.

    Examples
    --------
    >>> changed_nodes("+10%", 100), changed_nodes("-4", 100), changed_nodes("128", 100)
    (110, 96, 128)
    """
    found = re.fullmatch(r"([+-]?)(\d{1,6}(?:\.\d{1,6})?)(%?)", text.strip())
    if not found:
        raise refusal("nodes", text[:40], "must be like +10%, -64, or a number of nodes")
    sign, percent = {"+": 1, "-": -1, "": 0}[found[1]], bool(found[3])
    amount = float(found[2])
    step = round(nodes * amount / 100) if percent else round(amount)
    wanted = nodes + sign * step if sign else step
    if not 1 <= wanted <= _MOST_NODES:
        raise refusal(
            "nodes", text[:40], f"must leave from 1 to {_MOST_NODES:,} nodes; it gives {wanted:,} of {nodes:,}"
        )
    return wanted


def split_of(text: str, nodes: int) -> tuple[int, int]:
    """Return the longest limit of the short jobs and their nodes. [s, nodes]

    Parameters
    ----------
    text : str
        Partition for short jobs, such as ``split:4h:25%``.
    nodes : int
        Number of nodes.

    Raises
    ------
    InputError
        If the text cannot be read.

    Examples
    --------
    >>> split_of("split:4h:25%", 64)
    (14400, 16)
    """
    found = _SPLIT.fullmatch(text.strip())
    if not found:
        raise refusal(
            "partition", text[:60], "must be like split:4h:25%: jobs with limits up to 4 h have 25 % of the nodes"
        )
    return duration_s(found[1]), changed_nodes(found[2], nodes)


def drain_of(text: str, log: Trace, nodes: int) -> Downtime:
    """Return a drain, as 2026-12-01T08:00/12h:node[1-64]: when, for how long, and which nodes; all of them without.

    Nodes are taken by their numbers, node 1 as the first of the list. A drain of the whole machine is known in advance;
    a drain of some nodes takes them as they become free.

    Parameters
    ----------
    text : str
        Drain, such as ``2026-12-01T08:00/12h:node[1-64]``.
    log : Trace
        Job log with its clock.
    nodes : int
        Number of nodes.

    Raises
    ------
    InputError
        If it cannot be read, is outside the log, or names nodes that do not exist.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> log = read_job_trace(["1 0 0 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> drain = drain_of("1970-01-01T00:00/12h:node[1-2]", log, 4)
    >>> drain.end_s, drain.last_node, drain.kind
    (43200, 2, 'drain')
    """
    found = _DRAIN.fullmatch(text.strip())
    if not found:
        raise refusal("drain", text[:80], "must be like 2026-12-01T08:00/12h:node[1-64]: when, how long, which nodes")
    try:
        moment = datetime.fromisoformat(found[1])
    except ValueError:
        raise refusal("drain", found[1], "must begin with a time such as 2026-12-01T08:00") from None
    zone = ZoneInfo(log.timezone) if log.timezone else UTC
    start_s = int(moment.replace(tzinfo=zone).timestamp()) - log.epoch_s
    first_s, last_s = log.workload.arrival_s[0], log.workload.arrival_s[-1]
    if not first_s <= start_s <= last_s:
        span = " to ".join(datetime.fromtimestamp(log.epoch_s + at, zone).isoformat()[:16] for at in (first_s, last_s))
        raise refusal("drain", found[1], f"must be in the log, which has submissions from {span}")
    end_s = start_s + duration_s(found[2])
    if not found[3]:
        return Downtime(start_s=start_s, end_s=end_s, drained=True)
    numbers = sorted(int(digits[-1]) for name in node_names(found[3]) if (digits := re.findall(r"\d{1,9}", name)))
    if not numbers or numbers[0] < 1 or numbers[-1] > nodes:
        raise refusal(
            "drain", found[3][:60], f"must name nodes by their numbers, from 1 to {nodes:,}, as node[1-64] does"
        )
    if numbers[-1] - numbers[0] + 1 != len(numbers):
        raise refusal("drain", found[3][:60], "must name nodes in a row; give another --drain for others")
    return Downtime(start_s=start_s, end_s=end_s, first_node=numbers[0] - 1, last_node=numbers[-1], kind="drain")


def scenarios_of(
    log: Trace,
    nodes: int,
    *,
    more_nodes: Sequence[str] = (),
    max_walltime: Sequence[str] = (),
    partition: Sequence[str] = (),
    drain: Sequence[str] = (),
    depth: Sequence[str] = (),
    shared: bool = False,
    first: Sequence[str] = (),
    merge: bool = False,
) -> list[Scenario]:
    """Return each requested change.

    Parameters
    ----------
    log : Trace
        The job log.
    nodes : int
        Number of nodes.
    more_nodes : sequence of str, default ()
        Values of ``--nodes``.
    max_walltime : sequence of str, default ()
        Values of ``--max-walltime``.
    partition : sequence of str, default ()
        Values of ``--partition``.
    drain : sequence of str, default ()
        Values of ``--drain``.
    depth : sequence of str, default ()
        Values of ``--depth``.
    shared : bool, default False
        Whether jobs may share nodes.
    first : sequence of str, default ()
        Values of ``--first``.
    merge : bool, default False
        Whether partitions are merged.

    Raises
    ------
    InputError
        If there are none, or one cannot be read.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> log = read_job_trace(["1 0 0 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> [change.name for change in scenarios_of(log, 4, more_nodes=["+1"], depth=["100"])]
    ['nodes +1', 'backfill depth 100']
    """
    found = [Scenario(name=f"nodes {text}", nodes=changed_nodes(text, nodes)) for text in more_nodes]
    found += [Scenario(name=f"longest walltime {text}", max_walltime_s=_walltime(text)) for text in max_walltime]
    found += [Scenario(name=f"partition {text}", split=split_of(text, nodes)) for text in partition]
    if drain:
        found.append(
            Scenario(name=f"drain {', '.join(drain)}", downtimes=tuple(drain_of(text, log, nodes) for text in drain))
        )
    found += [Scenario(name=f"backfill depth {text}", depth=_depth(text)) for text in depth]
    if shared:
        cores = largest_share(log.workload)
        if cores < 2:
            raise InputError("needs a log with the cores of its jobs (sacct: AllocCPUS)", name="shared")
        found.append(Scenario(name=f"nodes of {cores} cores shared", shared_cores=cores))
    found += [Scenario(name=f"{text} first", preferred=_group_of(text, log)) for text in first]
    if merge:
        found.append(Scenario(name="partitions merged", merged=True))
    if not found:
        raise InputError(
            "choose a change: --nodes, --max-walltime, --partition, --drain, --depth, --shared, --first or --merge"
        )
    return found


def _group_of(text: str, log: Trace) -> tuple[str, str]:
    """Return the account whose jobs have priority, as account:NAME."""
    per, _, name = text.partition(":")
    if per not in ("user", "account", "qos", "queue") or not name:
        raise refusal("first", text[:60], "must be like account:NAME; user, qos and queue have names too")
    column, number = log.workload.group(per, name)
    if number not in column:
        raise refusal("first", text[:60], f"names no {per} of this log")
    return per, name


def _walltime(text: str) -> int:
    seconds = duration_s(text)
    if seconds < 60:
        raise refusal("max_walltime", text, "must be at least a minute")
    return seconds


def _depth(text: str) -> int:
    if text != "all" and not text.isdecimal():
        raise refusal("depth", text[:40], "must be a number of blocked jobs, or all")
    return 1 << 30 if text == "all" else min(int(text), 1 << 30)


def what_if_result(test: Backtest, found: WhatIf) -> Result:
    """Return the effect of changes, as an answer: first how well the log is reproduced, then a comparison of the
    changes.

    Parameters
    ----------
    test : Backtest
        The back-test.
    found : WhatIf
        Effect of the changes.

    Examples
    --------
    >>> from hopperkit.traces.backtest import Judged
    >>> from hopperkit.traces.rules.site import Learned
    >>> judged = tuple(Judged(name, 0.5, 60.0, 0.95) for name in PREDICTORS)
    >>> found = WhatIf(60.0, 60.0, 0.5, 1.0, 2, ())
    >>> what_if_result(Backtest(Learned(), (), 120, 80, judged), found).findings[0].code
    'no-better-than-null'
    """
    best = test.best
    off = found.simulated_s / found.observed_s - 1 if found.observed_s else 0.0
    apart = "as in" if abs(off) < 0.005 else f"{share(off, signed=True)} from"
    reproduced = (
        f"Simulated unchanged, with the rules learned from it, this log waits {duration(found.simulated_s)} per job on average, "
        f"{apart} the {duration(found.observed_s)} observed; submissions that come up to 5 s later move "
        f"that mean by {share(found.wait_noise, 1)} (standard deviation). "
    )
    if test.whole_log:
        reproduced += "Its rules are those of all jobs, so no later jobs test them."
    else:
        reproduced += f"The rank correlation with later waits is {best.rank_correlation:.2f} ({PREDICTORS[best.name]})."
    effects = " ".join(_sentence(effect, found.weeks) for effect in found.effects)
    return Result(
        summary=f"{reproduced} {effects}",
        findings=tuple(_findings(test, found)),
        tables=(_side_by_side(found), _by_class(found.effects)),
        facts=_facts(test, found),
    )


def _sentence(effect: Effect, weeks: int) -> str:
    text = f"{effect.scenario.name}: {share(effect.difference, signed=True)} waiting"
    if not effect.is_seen:
        low, high = (share(bound, signed=True) for bound in effect.chaos)
        return f"{effect.scenario.name}: an effect cannot be seen; it is inside the noise of the schedule, {low} to {high}."
    if effect.low is None or effect.high is None:
        low, high = (share(bound, signed=True) for bound in effect.chaos)
        noise = f" (95 % of simulations: {low} to {high})" if low != high else ""
        return f"{text}{noise}. How much that varies from week to week is unknown: {count(weeks, 'week')} {'is' if weeks == 1 else 'are'} too few, {MIN_WEEKS} are needed."
    return f"{text} (95 %: {share(effect.low, signed=True)} to {share(effect.high, signed=True)})."


def _findings(test: Backtest, found: WhatIf) -> Iterator[Finding]:
    if test.whole_log:
        message = (
            f"The first {test.learned_from:,} jobs show too little of the rules: simulated with what they show, the waits of the "
            "log are farther from the observed ones than with the rules of all jobs, which are used here untested."
        )
        yield Finding("rules-of-all-jobs", message, "unknown")
    else:
        yield backtest_verdict(test)
    for effect in found.effects:
        if not effect.is_seen:
            message = (
                f"{effect.scenario.name}: the difference is smaller than what submissions that come up to 5 s later make of "
                f"it, {share(effect.noise, 1)} (standard deviation of {count(found.runs, 'run')})."
            )
            yield Finding("inside-noise", message, "unknown")
        elif effect.low is not None and effect.high is not None and effect.low <= 0 <= effect.high:
            message = f"{effect.scenario.name}: whether jobs wait longer or shorter is unknown."
            yield Finding("cannot-tell-side", message, "unknown")
    if any(effect.scenario.max_walltime_s for effect in found.effects):
        message = (
            "Jobs beyond the longest walltime run as several parts, each of which queues when the one before has ended."
        )
        yield Finding("pieces", message, "note")
    yield from test.findings


def _side_by_side(found: WhatIf) -> Table:
    now: list[tuple[Any, ...]] = [("as it is", found.simulated_s, None, found.use, found.fairness)]
    rows = now + [
        (effect.scenario.name, effect.wait_s, effect, effect.use, effect.fairness) for effect in found.effects[:11]
    ]
    return table(
        "Changes side by side",
        rows,
        {
            "Change": lambda row: row[0],
            Column("Mean wait", "s", 0): lambda row: row[1],
            "Difference": lambda row: share(row[2].difference, signed=True) if row[2] else "-",
            "Noise": lambda row: share(row[2].noise, 1) if row[2] else share(found.wait_noise, 1),
            "95 %": lambda row: _range(row[2]),
            "Used": lambda row: share(row[3], 1),
            Column("Fairness over users", decimals=2): lambda row: row[4],
        },
    )


def _range(effect: Effect | None) -> str:
    if effect is None:
        return "-"
    if effect.low is None or effect.high is None:
        return "too few weeks"
    return f"{share(effect.low, signed=True)} to {share(effect.high, signed=True)}"


def _by_class(effects: Sequence[Effect]) -> Table:
    rows = [(effect.scenario.name, each) for effect in effects for each in effect.classes]
    return table(
        "By class of job",
        rows[:12],
        {
            "Change": lambda row: row[0],
            "Jobs with a": lambda row: row[1].name,
            "Jobs": lambda row: row[1].jobs,
            Column("Wait before", "s", 0): lambda row: row[1].before_s,
            Column("Wait after", "s", 0): lambda row: row[1].after_s,
        },
    )


def _facts(test: Backtest, found: WhatIf) -> dict[str, Any]:
    return {
        "rules": test.rules.to_dict(),
        "rank_correlation": test.best.rank_correlation,
        "best_null_rank_correlation": test.best_null.rank_correlation,
        "single_jobs": backtest_verdict(test).level == "ok" and not test.whole_log,
        "rules_of_all_jobs": test.whole_log,
        "observed_wait_s": found.observed_s,
        "simulated_wait_s": found.simulated_s,
        "use": found.use,
        "fairness": found.fairness,
        "weeks": found.weeks,
        "changes": [
            {
                "change": effect.scenario.name,
                **dict(zip(effect._fields[1:-1], effect[1:-1], strict=True)),
                "classes": [each._asdict() for each in effect.classes],
            }
            for effect in found.effects
        ],
    }
