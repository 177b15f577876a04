"""Waits before and after a date, in words."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from hopperkit.questions.network.traces.rules import policy_text
from hopperkit.questions.result import Column, Result, table
from hopperkit.readers.jobs.trace import Trace
from hopperkit.traces.changes.before_after import FEWEST_WEEKS, BeforeAfter
from hopperlib.errors import refusal
from hopperlib.finding import Finding
from hopperlib.text import count, duration, share


def second_of(text: str, log: Trace) -> int:
    """Second of a log at a date such as 2026-03-01 or 2026-03-01T08:00, by the log's clock.

    Parameters
    ----------
    text : str
        Date or time of the change.
    log : Trace
        Job log with its clock.

    Raises
    ------
    InputError
        If it is not a date, or outside the log.

    Examples
    --------
    >>> from hopperkit.readers.jobs import read_job_trace
    >>> log = read_job_trace(["1 0 0 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1", "2 9999 0 60 3 -1 -1 3 90 -1 1 1 -1 -1 -1 -1 -1 -1"])
    >>> second_of("1970-01-01T01:00", log)
    3600
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise refusal("date", text[:40], "must be a date such as 2026-03-01 or 2026-03-01T08:00") from None
    zone = ZoneInfo(log.timezone) if log.timezone else UTC
    moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    at_s = int(moment.timestamp()) - log.epoch_s
    first_s, last_s = log.workload.arrival_s[0], log.workload.arrival_s[-1]
    if not first_s < at_s <= last_s:
        span = " to ".join(datetime.fromtimestamp(log.epoch_s + at, zone).isoformat()[:16] for at in (first_s, last_s))
        raise refusal("date", text[:40], f"must be in the log, which has submissions from {span}")
    return at_s


def change_result(date: str, found: BeforeAfter) -> Result:
    """Effect of a change at a date, as an answer.

    Parameters
    ----------
    date : str
    found : BeforeAfter

    Examples
    --------
    >>> from hopperkit.traces.changes.before_after import Side
    >>> from hopperkit.traces.rules.site import Learned
    >>> sides = Side(200, 5, 600, 600), Side(300, 6, 300, 900)
    >>> change_result("2026-03-01", BeforeAfter(*sides, -0.5, -0.6, -0.4, 0.01, Learned())).summary
    'Jobs submitted from 2026-03-01 on wait 5 min on average, those before 10 min. Under the rules from before the same jobs would wait 15 min: the change shortens waits by 50 % (95 %: -60 % to -40 %).'
    """
    before, after = found.before, found.after
    seen = (
        f"Jobs submitted from {date} on wait {duration(after.wait_s)} on average, those before {duration(before.wait_s)}. "
        f"Under the rules from before the same jobs would wait {duration(after.simulated_s)}"
    )
    size, interval = share(abs(found.change)), ""
    if found.low is None or found.high is None:
        verdict = f"weeks on each side are too few to separate a change from the variation of weeks ({FEWEST_WEEKS} are needed)"
    else:
        interval = f" (95 %: {share(found.low, signed=True)} to {share(found.high, signed=True)})"
        if found.low <= 0 <= found.high:
            verdict = f"no change can be shown{interval}"
        else:
            verdict = f"the change {'lengthens' if found.change > 0 else 'shortens'} waits by {size}{interval}"
    sides = [("before", before), ("after", after)]
    return Result(
        summary=f"{seen}: {verdict}.",
        findings=(
            Finding(
                "misfit-before",
                f"Before the date the simulation waits {duration(before.simulated_s)} where {duration(before.wait_s)} was observed "
                f"({policy_text(found.rules.policy)}, rules learned there); the change is what differs from that. Submissions up to "
                f"5 s later move it by {share(found.noise, 1)} (standard deviation).",
                "note",
            ),
        ),
        tables=(
            table(
                "Waits before and after, and simulated under the rules from before",
                sides,
                {
                    "Side": lambda row: row[0],
                    "Jobs": lambda row: count(row[1].jobs, "job"),
                    "Weeks": lambda row: row[1].weeks,
                    Column("Mean wait", "s", 0): lambda row: row[1].wait_s,
                    Column("Simulated", "s", 0): lambda row: row[1].simulated_s,
                },
            ),
        ),
        facts={
            "date": date,
            "before": before._asdict(),
            "after": after._asdict(),
            "change": found.change,
            "interval": None if found.low is None else [found.low, found.high],
            "noise": found.noise,
            "rules": found.rules.to_dict(),
        },
    )
