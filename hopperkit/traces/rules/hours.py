"""Closed hours, proposed by the hours of the week in which hardly any job started although many waited."""

from dataclasses import replace
from itertools import product

from hopperkit.traces.rules.clock import DAYS, HOURS, ClosedHours
from hopperkit.traces.rules.evidence import Evidence
from hopperkit.traces.rules.site import Learned
from hopperlib.units import SECONDS_PER_HOUR

_CLASSES_H = (0, 1, 2, 4, 8, 12, 24)
# Hours of the week repeat only in a log of more than one.
_LEAST_S = 10 * HOURS * SECONDS_PER_HOUR
# Closed hours: the minimum number of expected starts, and the maximum share of these that occurred; the latter allows
# for exceptions at a site.
_EXPECTED, _CAME = 20.0, (0.1, 0.4)


def _closed_hours(evidence: Evidence, over: int, most: float) -> ClosedHours | None:
    """Return the hours in which fewest of the jobs that waited started, given how many waited then; None without any."""
    best: tuple[float, ClosedHours | None] = 0.0, None
    begun, waiting = evidence.rhythm(over)
    for days, numbers in DAYS.items():
        of_day, exposed = (
            [sum(each[day * HOURS + hour] for day in numbers) for hour in range(HOURS)] for each in (begun, waiting)
        )
        rate = sum(of_day) / (sum(exposed) or 1.0)
        for first, length in product(range(HOURS), range(1, HOURS - 1)):
            inside = [(first + hour) % HOURS for hour in range(length)]
            expected = rate * sum(exposed[hour] for hour in inside)
            score = expected - sum(of_day[hour] for hour in inside) / most
            if expected >= _EXPECTED and score > best[0]:
                best = score, ClosedHours(days, first, (first + length) % HOURS, over)
    return best[1]


def best_closed_hours(evidence: Evidence, rules: Learned) -> ClosedHours | None:
    """Closed hours that fit best, from when it fits best: early in the morning few jobs start anyway; None without any, or in a log
    of less than ten days.

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
    >>> best_closed_hours(Evidence(Workload(), 4, Clock(0)), Learned()) is None
    True
    """

    def fit(hours: ClosedHours) -> tuple[float, ClosedHours]:
        return evidence.fit(replace(rules, closed=(hours,))), hours

    arrivals = evidence.workload.arrival_s
    if not arrivals or arrivals[-1] - arrivals[0] < _LEAST_S:
        return None
    proposed = {_closed_hours(evidence, over, most) for over in _CLASSES_H for most in _CAME}
    best = max((hours for hours in proposed if hours), key=fit, default=None)
    if best is None:
        return None
    length = (best.last_hour - best.first_hour) % HOURS
    return max((best._replace(first_hour=(best.first_hour + by) % HOURS) for by in range(0, length, 2)), key=fit)
