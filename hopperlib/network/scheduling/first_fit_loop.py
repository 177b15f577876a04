"""The scheduler's loop for the plain case, written out for speed.

Plain is: first fit, one priority, no limits of a user, no downtimes, no records
over time, no feedback on run times, jobs killed at their limits. Most traces
are run like that, and long ones; here nothing is called that can be written in
place. The rules are those of `hopperlib.network.scheduling.scheduler`, and a test holds both
to the starts and the nodes of a naive one.

Two things are remembered from one look at the queue to the next:

- How far along the expected ends the head of the queue finds its nodes. An end
  or a start moves that place by a step or two.
- What was tried. While the head stays, its promised time never moves away. A
  job that could not pass it before can pass it now only if it is wider than
  what was free then, or fits in nodes that the head has since come to leave over.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from heapq import heappop, heappush

from hopperlib.network.scheduling.downtimes import FOREVER
from hopperlib.network.scheduling.schedule import FINISHED, KILLED_AT_LIMIT, Schedule

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
        As for `hopperlib.network.scheduling.scheduler.simulate`.

    Examples
    --------
    >>> from hopperlib.network.scheduling.workload import Job, Workload
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
    narrow: list[int] = []  # (width, job) of the queue, sorted; beside each its limit:
    asked: list[int] = []
    # `have` nodes are free once the first `counted` of `expected` have ended: moved along, not summed anew.
    counted, have = 0, free
    promise, spare = _UNKNOWN, 0  # the instant at which the head starts at the latest; nodes it leaves over
    tried, passed = 0, 0  # every waiting job but the head is wider than `tried`, or too long and wider than `passed`
    to_start: list[int] = []  # their nodes are off `free` already
    count, submitted, tell = len(workload), 0, 1000
    next_submit = submits[0] if count else FOREVER

    while submitted < count or ends:
        # What ends next, if it is not after the next submission.
        look = bool(ends) and ends[0] < (next_submit + 1) << _SHIFT
        now = ends[0] >> _SHIFT if look else next_submit
        if look:
            if queue and promise >= 0:
                tried, passed = free, spare
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
                width = widths[job]
                free += width
                i = bisect_left(expected, ((starts_s[job] + limits[job]) << _SHIFT) + job)
                del expected[i], freed[i]
                if i < counted:
                    counted -= 1
                else:
                    have += width
            if queue:
                promise = _UNKNOWN
                while queue and widths[queue[0]] <= free:
                    job = queue.pop(0)
                    width = widths[job]
                    i = bisect_left(narrow, (width << _SHIFT) + job)
                    del narrow[i], asked[i]
                    free -= width
                    to_start.append(job)
                    tried = passed = 0  # for another head everything is tried again
            look = easy and bool(queue)

        first = submitted
        if now == next_submit:
            while submitted < count and submits[submitted] == now:
                submitted += 1
            next_submit = submits[submitted] if submitted < count else FOREVER

        while True:
            for job in to_start:
                width, limit, run_time = widths[job], limits[job], run_times[job]
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
                if i < counted:
                    counted += 1
                else:
                    have -= width
            to_start.clear()

            # Then those that may pass the head, then each newcomer; what they start goes round once more.
            if look:
                job = _UNKNOWN
            elif first < submitted:
                job = first
                first += 1
                width = widths[job]
                if width <= free and not queue:
                    free -= width
                    to_start.append(job)
                    continue
                if width > free or not easy:
                    queue.append(job)
                    key = (width << _SHIFT) + job
                    i = bisect_left(narrow, key)
                    narrow.insert(i, key)
                    asked.insert(i, limits[job])
                    continue
            else:
                break
            if promise < 0:
                needed = widths[queue[0]]
                while have < needed:
                    have += freed[counted]
                    counted += 1
                while have - freed[counted - 1] >= needed:
                    counted -= 1
                    have -= freed[counted]
                promise = expected[counted - 1] >> _SHIFT
                # All that end by that instant count.
                same = bisect_left(expected, (promise + 1) << _SHIFT, counted)
                spare = have - needed + sum(freed[counted:same])
            left = promise - now
            if not look:
                limit = limits[job]
                if limit <= left or width <= spare:
                    spare -= 0 if limit <= left else width
                    free -= width
                    to_start.append(job)
                else:
                    queue.append(job)
                    key = (width << _SHIFT) + job
                    i = bisect_left(narrow, key)
                    narrow.insert(i, key)
                    asked.insert(i, limit)
                continue
            look = False
            i = bisect_left(narrow, (tried + 1) << _SHIFT)
            j = bisect_left(narrow, (free + 1) << _SHIFT, i)
            over = (spare + 1) << _SHIFT
            candidates = [
                key & _JOB for key, limit in zip(narrow[i:j], asked[i:j], strict=True) if limit <= left or key < over
            ]
            if spare > passed < tried:
                i = bisect_left(narrow, (passed + 1) << _SHIFT)
                j = bisect_left(narrow, (min(spare, tried) + 1) << _SHIFT, i)
                candidates += [key & _JOB for key in narrow[i:j]]
            candidates.sort()
            for job in candidates:
                width = widths[job]
                if width > free:
                    continue
                if limits[job] > left:
                    if width > spare:
                        continue
                    spare -= width
                del queue[bisect_left(queue, job)]
                i = bisect_left(narrow, (width << _SHIFT) + job)
                del narrow[i], asked[i]
                free -= width
                to_start.append(job)

        if progress is not None and submitted >= tell:
            tell = submitted + 1000
            if progress(submitted):
                schedule.stopped_s = now
                break
