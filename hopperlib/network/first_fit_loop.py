"""The scheduler's loop for the plain case, written out for speed.

Plain is: first fit, one priority, no limits of a user, no downtimes, no records
over time, no feedback on run times, jobs killed at their limits. Most traces
are run like that, and long ones; here nothing is called that can be written in
place, which makes it a third faster than `hopperlib.network.scheduler`. The rules are the same,
and a test holds the two to the same starts and the same nodes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable
from heapq import heappop, heappush

from hopperlib.network.downtimes import FOREVER
from hopperlib.network.schedule import FINISHED, KILLED_AT_LIMIT, Schedule

__all__ = ["run_first_fit"]

_SHIFT = 32
_JOB = (1 << _SHIFT) - 1
_UNKNOWN = -1


def run_first_fit(schedule: Schedule, *, easy: bool, progress: Callable[[int], object] | None = None) -> None:
    """Fill in a schedule.

    Parameters
    ----------
    schedule : Schedule
        An empty one; its workload must fit on its nodes.
    easy : bool
        Whether jobs may pass the head of the queue without delaying it.
    progress : callable or None
        As for `hopperlib.network.scheduler.simulate`.

    Examples
    --------
    >>> from hopperlib.network.workload import Job, Workload
    >>> schedule = Schedule(Workload([Job(1, 0, 6, 100, 100), Job(2, 1, 8, 50, 50), Job(3, 2, 4, 90, 90)]), 10)
    >>> run_first_fit(schedule, easy=True)
    >>> list(schedule.start_s)
    [0, 100, 2]
    """
    workload = schedule.workload
    submits, widths = workload.submit_time_s, workload.nodes
    limits, run_times = workload.requested_time_s, workload.run_time_s
    starts_s, ends_s, status = schedule.start_s, schedule.end_s, schedule.status
    first_bound, run_count, all_bounds = schedule.first_bound, schedule.run_count, schedule.bounds
    free = schedule.nodes
    bounds = [0, free]  # of the free runs, as in `free_nodes`
    ends: list[int] = []  # heap of (end, job)
    expected: list[int] = []  # (expected end, job), sorted; beside each its nodes:
    freed: list[int] = []
    held: dict[int, list[int]] = {}
    queue: list[int] = []
    narrow: list[tuple[int, int, int]] = []  # (width, job, limit) of the queue, sorted
    promise, spare = _UNKNOWN, 0  # the instant at which the head starts at the latest; nodes it leaves over
    to_start: list[tuple[int, int, int]] = []  # (job, width, limit); their nodes are off `free` already
    count, submitted, tell = len(workload), 0, 1000
    next_submit = submits[0] if count else FOREVER

    while submitted < count or ends:
        # What ends next, if it is not after the next submission.
        look = bool(ends) and ends[0] < (next_submit + 1) << _SHIFT
        now = ends[0] >> _SHIFT if look else next_submit
        until = (now + 1) << _SHIFT
        while ends and ends[0] < until:
            job = heappop(ends) & _JOB
            size = len(bounds)
            bounds.append(-1)
            i = 0
            taken = iter(held.pop(job))
            for low, high in zip(taken, taken, strict=True):
                i = bisect_left(bounds, low, i, size)
                if bounds[i] == low:
                    if bounds[i + 1] == high:
                        del bounds[i : i + 2]
                        size -= 2
                    else:
                        bounds[i] = high
                elif bounds[i] == high:
                    bounds[i] = low
                else:
                    bounds[i:i] = (low, high)
                    size += 2
            bounds.pop()
            free += widths[job]
            i = bisect_left(expected, ((starts_s[job] + limits[job]) << _SHIFT) + job)
            del expected[i], freed[i]

        first = submitted
        if now == next_submit:
            while submitted < count and submits[submitted] == now:
                submitted += 1
            next_submit = submits[submitted] if submitted < count else FOREVER
            if look and queue:
                for job in range(first, submitted):
                    queue.append(job)
                    insort(narrow, (widths[job], job, limits[job]))
                first = submitted
        if look:
            promise = _UNKNOWN
            while queue and widths[queue[0]] <= free:
                job = queue.pop(0)
                width, limit = widths[job], limits[job]
                del narrow[bisect_left(narrow, (width, job, limit))]
                free -= width
                to_start.append((job, width, limit))
            look = easy

        while True:
            for job, width, limit in to_start:
                low = bounds[0]
                split = low + width
                if split < bounds[1]:
                    bounds[0] = split
                    runs = [low, split]
                else:
                    i, left = 0, width
                    while left > 0:
                        left -= bounds[i + 1] - bounds[i]
                        i += 2
                    runs = bounds[:i]
                    if left:
                        split = runs[-1] + left
                        runs[-1] = split
                        i -= 2
                        bounds[i] = split
                    del bounds[:i]
                run_time = run_times[job]
                if run_time > limit:
                    run_time = limit
                    status[job] = KILLED_AT_LIMIT
                else:
                    status[job] = FINISHED
                end = now + run_time
                starts_s[job] = now
                ends_s[job] = end
                first_bound[job] = len(all_bounds)
                run_count[job] = len(runs) >> 1
                all_bounds.fromlist(runs)
                held[job] = runs
                heappush(ends, (end << _SHIFT) + job)
                believed = ((now + limit) << _SHIFT) + job
                i = bisect_left(expected, believed)
                expected.insert(i, believed)
                freed.insert(i, width)
            to_start.clear()

            # Then those that may pass the head, then each newcomer; what they start goes round once more.
            if not look and first == submitted:
                break
            job = _UNKNOWN if look else first
            if look:
                look = False
                if not queue or narrow[0][0] > free:
                    continue
            else:
                first += 1
                width, limit = widths[job], limits[job]
                if width <= free and not queue:
                    free -= width
                    to_start.append((job, width, limit))
                    continue
                if width > free or not easy:
                    queue.append(job)
                    insort(narrow, (width, job, limit))
                    continue
            if promise < 0:
                spare = free - widths[queue[0]]
                for i, nodes in enumerate(freed):  # noqa: B007
                    spare += nodes
                    if spare >= 0:
                        break
                promise = expected[i] >> _SHIFT
                # All that end by that instant count.
                spare += sum(freed[i + 1 : bisect_left(expected, (promise + 1) << _SHIFT, i + 1)])
            left = promise - now
            if job >= 0:
                if limit <= left or width <= spare:
                    spare -= 0 if limit <= left else width
                    free -= width
                    to_start.append((job, width, limit))
                else:
                    queue.append(job)
                    insort(narrow, (width, job, limit))
                continue
            head = queue[0]
            candidates = [
                (job, width, limit)
                for width, job, limit in narrow[: bisect_left(narrow, (free + 1,))]
                if limit <= left or width <= spare
            ]
            candidates.sort()
            for job, width, limit in candidates:
                if width > free or job == head:
                    continue
                if limit > left:
                    if width > spare:
                        continue
                    spare -= width
                del queue[bisect_left(queue, job)], narrow[bisect_left(narrow, (width, job, limit))]
                free -= width
                to_start.append((job, width, limit))

        if progress is not None and submitted >= tell:
            tell = submitted + 1000
            if progress(submitted):
                schedule.stopped_s = now
                break
