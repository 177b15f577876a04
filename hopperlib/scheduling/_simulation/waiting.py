"""The waiting jobs: their order, the queue of a pool, and the limits that block a job."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hopperlib.scheduling.rules import Queue, Rules
from hopperlib.scheduling.workload import Workload
from hopperlib.units import HOURS_PER_DAY, SECONDS_PER_HOUR

# Two whole numbers in one, which sorts by the first, then by the second: (first << SHIFT) + second.
SHIFT = 32
JOB = (1 << SHIFT) - 1
_DAY = HOURS_PER_DAY * SECONDS_PER_HOUR
# Priorities that change are kept in steps of 2**-30 below this number, so that keys are never negative.
_STEP, _HIGHEST, _BOUND = float(1 << 30), 1 << 120, 1e20


class Order:
    """The order of the queue: a key for each job, the lesser the earlier, whose last 32 bits are the job's index.

    If priorities are fixed, keys are known before the run. An order goes within priority, the larger first. Changing
    priorities are recomputed when a job arrives and from time to time, by `rules`.
    """

    def __init__(
        self,
        workload: Workload,
        queues: Sequence[Queue] = (),
        fixed: Sequence[float] | None = None,
        rules: Rules | None = None,
    ) -> None:
        self.workload, self.rules = workload, rules or Rules()
        self.oldest_s = max(1, round(_DAY * self.rules.max_age_days))
        self.changes = bool(self.rules.age or self.rules.fair_share)
        by_name = {queue.name: queue.priority for queue in queues}
        priorities = [by_name.get(name, 0) for name in workload.queues]
        #: Whether a newcomer always goes to the end of the queue.
        self.simple = len(set(priorities)) < 2 and fixed is None and not self.changes
        self._keys: Sequence[int] = range(len(workload))
        if self.rules.fair_share:
            self._share_usage()
        if not self.simple:
            self._keys = self._sorted_keys(priorities, fixed)

    def _share_usage(self) -> None:
        """Begin to count who used how much: the job's account if accounts have shares, else its user."""
        workload, shares = self.workload, self.rules.shares
        column = workload.user if shares is None else workload.account_number
        places = {who: place for place, who in enumerate(dict.fromkeys(column))}
        self._sharer = [places[who] for who in column]
        self._shares = [1.0] * len(places)
        if shares is not None:
            self._shares = [shares.get(workload.words["account"][who], 0.0) for who in places]
        self._all_shares = len(places) if shares is None else sum(shares.values()) or 1.0
        # Usage of each up to an instant, new usage since then, and the value in effect until usage is recomputed.
        self._usage, self._load, self._used_until = [0.0] * len(places), [0] * len(places), 0
        self._counting, self._power = self._usage.copy(), float(self._all_shares)

    def _sorted_keys(self, priorities: Sequence[float], fixed: Sequence[float] | None) -> Sequence[int]:
        """Return the key of each job by its priority and its additions."""
        levels = [priorities[number] for number in self.workload.queue_number]
        if self.changes:
            ranks = {level: (rank << 5 * SHIFT) + (_HIGHEST << SHIFT) for rank, level in enumerate(sorted(set(levels)))}
            self._fixed = [max(-_BOUND, min(value, _BOUND)) for value in fixed or [0.0] * len(levels)]
            return [ranks[level] + job for job, level in enumerate(levels)]
        # The sort keeps the order of submission among equals.
        jobs = sorted(range(len(levels)), key=lambda job: (levels[job], -fixed[job] if fixed else 0))
        keys = [0] * len(levels)
        for rank, job in enumerate(jobs):
            keys[job] = (rank << SHIFT) + job
        return keys

    def keys(self, jobs: Sequence[int], now: int) -> list[int]:
        """Return the keys of some jobs, sorted."""
        keys = self._keys
        if not self.changes:
            return sorted(map(keys.__getitem__, jobs))
        rules, fixed, arrivals, grown = self.rules, self._fixed, self.workload.arrival_s, now - self.oldest_s
        # A priority less what its age would add had the job been eligible at time 0: that is alike for all.
        slope = rules.age / self.oldest_s
        values = [fixed[job] - slope * (arrivals[job] if arrivals[job] > grown else grown) for job in jobs]
        if rules.fair_share:
            sharers = [self._sharer[job] for job in jobs]
            factors = {who: self._factor(who) for who in set(sharers)}
            values = [value + factors[who] for who, value in zip(sharers, values, strict=True)]
        return sorted([keys[job] - (int(_STEP * value) << SHIFT) for job, value in zip(jobs, values, strict=True)])

    def use(self, now: int) -> None:
        """Decay usage up to now, and add recent runs."""
        if not self.rules.fair_share or now == self._used_until:
            return
        span, self._used_until = now - self._used_until, now
        # Past usage is halved in each half-life; later runs count fully, as if all had run just now.
        fade = 0.5 ** (span / (_DAY * self.rules.half_life_days))
        self._usage = [used * fade + load * span for used, load in zip(self._usage, self._load, strict=True)]
        self._counting, self._power = self._usage.copy(), self._all_shares / (sum(self._usage) or 1.0)

    def _factor(self, who: int) -> float:
        """Return the fair-share part of a job's priority."""
        share = self._shares[who]
        return self.rules.fair_share * 0.5 ** (self._power * self._counting[who] / share) if share else 0.0

    def load_with(self, job: int, sign: int, now: int) -> None:
        """Count a job that starts (sign 1) or ends (-1) as running, or not, from here on."""
        who, workload = self._sharer[job], self.workload
        cost = sign * max(workload.cores[job], workload.nodes[job])
        self._load[who] += cost
        # As if it had run, or not, since usage was last worked out.
        self._usage[who] -= cost * (now - self._used_until)


class _Bound(NamedTuple):
    """A limit: who and which jobs it applies to, the most jobs and nodes; for a license, the number per job."""

    who: Sequence[int]
    column: Sequence[int]
    of: int | None
    jobs: int | None
    nodes: int | None = None
    held: Mapping[int, int] | None = None

    def whom(self, job: int) -> int | None:
        """Return whom a job counts for; None if it does not."""
        if self.held is not None:
            return 0 if job in self.held else None
        return self.who[job] if self.of is None or self.column[job] == self.of else None

    def tokens(self, job: int) -> int:
        """Return the number of licenses, besides nodes, that a job counts for."""
        return 1 if self.held is None else self.held[job]


class Limits:
    """How much of a user, an account, a QOS or a queue may run, and which queues are closed for now."""

    def __init__(
        self,
        workload: Workload,
        queues: Sequence[Queue] = (),
        rules: Rules | None = None,
        reserved: Iterable[str] = (),
        closures: bool = False,
    ) -> None:
        self._workload, self._closures = workload, closures
        # Limits above which no job starts now, each as often as there are closures with it.
        self._shut: list[int] = []
        numbers = {name: number for number, name in enumerate(workload.queues)}
        self._reserved = {numbers[name] for name in reserved if name in numbers}
        self._closed = set(self._reserved)
        self._limits = [
            _Bound(workload.user, workload.queue_number, numbers[queue.name], queue.run_limit)
            for queue in queues
            if queue.run_limit is not None and queue.name in numbers
        ]
        limits = rules.limits if rules else ()
        licences = workload.licences() if any(limit.per == "licence" for limit in limits) else {}
        for limit in limits:
            if limit.per == "licence":
                self._limits.append(_Bound((), (), None, limit.jobs, None, licences.get(limit.of, {})))
            else:
                column, of = workload.group(limit.per, limit.of)
                self._limits.append(_Bound(column, column, of, limit.jobs, limit.nodes))
        self._running = [dict[int, list[int]]() for _ in self._limits]

    def __bool__(self) -> bool:
        return bool(self._limits or self._reserved or self._closures)

    def _counts(self, job: int) -> list[tuple[int, int]]:
        """Return the limits that a job counts for, each with whom it counts."""
        whom = ((number, bound.whom(job)) for number, bound in enumerate(self._limits))
        return [(number, who) for number, who in whom if who is not None]

    def reason_blocked(self, job: int) -> tuple[int, int] | None:
        """Return the reason why a job cannot run now; None if it can.

        It is a limit and whom it counts, or -1 and the closed queue, or -2 and the limit above which none starts now.
        """
        queue, nodes = self._workload.queue_number[job], self._workload.nodes[job]
        if queue in self._closed:
            return -1, queue
        if self._shut and self._workload.requested_time_s[job] > (over := min(self._shut)):
            return -2, over
        for number, who in self._counts(job):
            running, width = self._running[number].get(who, (0, 0))
            bound = self._limits[number]
            if (bound.jobs is not None and running + bound.tokens(job) > bound.jobs) or (
                bound.nodes is not None and width + nodes > bound.nodes
            ):
                return number, who
        return None

    def count(self, job: int, sign: int) -> list[tuple[int, int]]:
        """Count a job that starts (sign 1) or ends (-1); return its license count."""
        counts = self._counts(job)
        for number, who in counts:
            running = self._running[number].setdefault(who, [0, 0])
            running[0] += sign * self._limits[number].tokens(job)
            running[1] += sign * self._workload.nodes[job]
        return counts

    def close(self, over_s: int, sign: int) -> list[tuple[int, int]]:
        """Block starts of jobs with a longer limit (sign 1), or unblock them (-1); return which may start again."""
        if sign > 0:
            self._shut.append(over_s)
            return []
        self._shut.remove(over_s)
        return [(-2, over_s)]

    def reserve(self, queue: str, *, alone: bool = True) -> list[tuple[int, int]]:
        """Open one queue, exclusively or with the others; without a name, open all except those outside their hours.
        Return the queues that were closed.
        """
        before, names = self._closed, self._workload.queues
        others = range(len(names)) if queue and alone else self._reserved
        self._closed = {number for number in others if names[number] != queue}
        return [(-1, number) for number in before]


class Waiting:
    """The waiting jobs of a pool: in the order of the queue, the same by width, and those that a limit keeps aside."""

    def __init__(self, order: Order) -> None:
        self._widths, self.order = order.workload.nodes, order
        # : Keys of waiting jobs, sorted; those of each width, sorted; and the widths.
        self.queue: list[int] = []
        self.of_width: dict[int, list[int]] = {}
        self.widths: list[int] = []
        self._aside: dict[tuple[int, int], list[int]] = {}
        # When priorities that change were last worked out.
        self._counted_s = -(1 << 62)
        # Before this no job in the queue has reached the greatest age.
        self._grown_s = 0

    def __bool__(self) -> bool:
        return bool(self.queue or self._aside)

    def add(self, key: int) -> None:
        """Put a job into the queue."""
        width = self._widths[key & JOB]
        insort(self.queue, key)
        if self.order.changes:
            self._grown_s = min(self._grown_s, self.order.workload.arrival_s[key & JOB] + self.order.oldest_s)
        if width in self.of_width:
            insort(self.of_width[width], key)
        else:
            self.of_width[width] = [key]
            insort(self.widths, width)

    def remove(self, key: int) -> None:
        """Take a job out of the queue."""
        width = self._widths[key & JOB]
        del self.queue[bisect_left(self.queue, key)]
        alike = self.of_width[width]
        del alike[bisect_left(alike, key)]
        if not alike:
            del self.of_width[width], self.widths[bisect_left(self.widths, width)]

    def hold(self, key: int, reason: tuple[int, int]) -> None:
        """Hold a job outside the queue until the reason is gone."""
        self._aside.setdefault(reason, []).append(key)

    def release(self, reasons: Iterable[tuple[int, int]]) -> bool:
        """Put those into the queue that were put aside for these reasons; return whether there were any."""
        back = [key for reason in reasons for key in self._aside.pop(reason, ())]
        if back:
            self._fill(sorted([*self.queue, *back]))
        return bool(back)

    def is_stale(self, now: int) -> bool:
        """Whether the order of the queue must be recomputed, as its priorities change."""
        order = self.order
        if not order.changes or now - self._counted_s < order.rules.period_s:
            return False
        if order.rules.fair_share:
            return True
        # While no job has reached the greatest age, all grow older alike.
        if now >= self._grown_s:
            arrivals, grown = order.workload.arrival_s, now - order.oldest_s
            if any(arrivals[key & JOB] <= grown for key in self.queue):
                return True
            self._grown_s = order.oldest_s + min((arrivals[key & JOB] for key in self.queue), default=now)
        return False

    def sort(self, now: int) -> None:
        """Recompute the order of the queue."""
        self._counted_s = now
        self.order.use(now)
        self._aside = {
            reason: self.order.keys([key & JOB for key in keys], now) for reason, keys in self._aside.items()
        }
        self._fill(self.order.keys([key & JOB for key in self.queue], now))

    def _fill(self, keys: list[int]) -> None:
        """Let these keys, which are sorted, be the queue."""
        self.queue, self.of_width, self._grown_s, widths = keys, {}, 0, self._widths
        for key in keys:
            self.of_width.setdefault(widths[key & JOB], []).append(key)
        self.widths = sorted(self.of_width)

    def totals(self) -> tuple[int, int]:
        """Return the number of waiting jobs, and of nodes they request."""
        keys = [*self.queue, *(key for aside in self._aside.values() for key in aside)]
        return len(keys), sum(self._widths[key & JOB] for key in keys)
