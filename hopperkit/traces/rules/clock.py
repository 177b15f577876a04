"""Hours of the week by a site's clock, and those in which no job of a class starts."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from hopperlib.scheduling.rules import Closure
from hopperlib.units import SECONDS_PER_HOUR

HOURS, WEEK = 24, 168
DAYS = {"weekdays": range(5), "weekends": range(5, 7), "all days": range(7)}


class ClosedHours(NamedTuple):
    """Hours of the day, from and to (not included, and perhaps the next day's), in which no job with a longer limit starts."""

    days: str
    first_hour: int
    last_hour: int
    over_hours: int

    def holds(self, hour_of_week: int) -> bool:
        """Whether an hour of the week, counted from Monday, is closed."""
        day, hour = divmod(hour_of_week, HOURS)
        inside = (hour - self.first_hour) % HOURS < (self.last_hour - self.first_hour) % HOURS
        return inside and day in DAYS[self.days]

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
        """Return the local date of an instant; for a log without a start date, the number of days since its beginning."""
        if not self._epoch_s:
            return f"day {time_s // (HOURS * SECONDS_PER_HOUR)} of the log"
        return datetime.fromtimestamp(self._epoch_s + time_s, self._zone).date().isoformat()

    def of_week(self, hour: int) -> int:
        """Return the hour of the week, from Monday 0:00 local time, of an hour since 1970."""
        if hour not in self._known:
            moment = datetime.fromtimestamp(hour * SECONDS_PER_HOUR, self._zone)
            self._known[hour] = moment.weekday() * HOURS + moment.hour
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
