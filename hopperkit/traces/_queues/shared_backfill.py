"""The queue of shared nodes at depth 0 and 1: a promise is a time and a count, and does not name its nodes.

It remains valid while enough of the candidate nodes are left: a job that passes may share these nodes, or use as many
of them as the promised job can spare. Partitions do not count each other's promises.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from hopperkit.traces._queues.named import ReservationQueue, bits_of, runs_in
from hopperlib.scheduling._free_nodes import FirstFit, positions_in
from hopperlib.scheduling._simulation.pool_queue import FOREVER, Wanted
from hopperlib.scheduling._simulation.profile import GUARD, packed
from hopperlib.scheduling._simulation.waiting import JOB


@dataclass(slots=True)
class _Promise:
    """Planned start and end of a blocked job, the nodes where it could run then, and the number of them that it can
    spare.
    """

    at: int
    end: int
    wanted: Wanted
    nodes: int
    spare: int


class SharedBackfillQueue(ReservationQueue):
    """A pool in which each partition promises a time to its first blocked job."""

    def schedule_pass(self, now: int) -> Iterator[int]:
        self.promised: list[_Promise] = []
        return super().schedule_pass(now)

    def try_to_start(self, key: int, now: int) -> bool:
        job = key & JOB
        idle = self.idle(job, now)
        if idle.bit_count() < self.widths[job]:
            return False
        # Without promises, later jobs cannot pass; only they need promises.
        while self.unplanned:
            self.plan(self.unplanned.popleft(), now)
        if self.patient and self.waits_for_near(job, self.free(runs_in(idle)), now):
            return self.depth > 0
        taken = self.choose(job, idle, now)
        if taken:
            self.start(key, runs_in(taken), now)
        return bool(taken)

    def plan(self, job: int, now: int) -> int:
        """Promise a blocked job the earliest time at which enough nodes have room by the limits of those that run."""
        wanted, width, span = self.run.wanted[job], self.widths[job], max(1, self.limits[job])
        times, by_then = self.kind(wanted).steps()
        # The earliest time at which enough nodes have room, given the running jobs.
        first = bisect_left(by_then, width, key=int.bit_count)
        if first == len(times) or times[first] == FOREVER:
            return 0
        soonest = max(now, times[first])
        later = [each.end_s for each, _ in self.known] + [each.start_s for each, _ in self.known if each.queue]
        instants = sorted({soonest, *(time for time in (*times[first:], *later) if soonest < time < FOREVER)})

        def free_at(at: int) -> int:
            return self.free_for(job, by_then[bisect_right(times, at) - 1], at, at + span)

        # Nodes only become more, unless some are known to go: then the first instant is looked for one by one.
        place = 0 if self.known else bisect_left(instants, 1, key=lambda at: bool(self.pick(free_at(at), width)))
        for at in instants[place:]:
            nodes = free_at(at)
            if taken := self.pick(nodes, width):
                # Jobs that need neighboring nodes keep those they found.
                nodes = taken if self.together else nodes
                self.promised.append(_Promise(at, at + span, wanted, nodes, nodes.bit_count() - width))
                break
        return 0

    def choose(self, job: int, nodes: int, at: int) -> int:
        """Return the nodes that a job takes of some, from an instant on; 0 if there are too few that no promise needs."""
        end = at + self.limits[job]
        harms = [
            (promise, harm)
            for promise in self.promised
            if at < promise.end and promise.at < end and (harm := self.harmed(nodes, self.run.wanted[job], at, promise))
        ]
        harmful = 0
        for _, harm in harms:
            harmful |= harm
        taken = self.pick(nodes & ~harmful | _spared(harmful, harms), self.widths[job])
        for promise, harm in harms if taken else ():
            lost = taken & harm
            promise.spare -= lost.bit_count()
            promise.nodes &= ~lost
        return taken

    def harmed(self, nodes: int, wanted: Wanted, at: int, promise: _Promise) -> int:
        """Return the nodes on which a job that starts at an instant leaves too little for the promised one."""
        both = nodes & promise.nodes
        if not wanted[1]:
            return both
        instant, share = max(at, promise.at), packed(wanted[1:])
        return sum(1 << node for node in positions_in(runs_in(both)) if self.is_full(node, share, instant, promise))

    def is_full(self, node: int, share: int, instant: int, promise: _Promise) -> bool:
        """Whether a share next to a promised job exceeds a node's capacity at any instant."""
        later = sum(held for end, held in self.jobs[node].values() if end > instant)
        left = self.whole[node] + GUARD - share - self.share(promise.wanted, node) - later
        return left & GUARD != GUARD


def _spared(harmful: int, harms: list[tuple[_Promise, int]]) -> int:
    """Return the first of the harmful nodes that all whom their loss harms can spare."""
    if len(harms) == 1:
        spare = min(harms[0][0].spare, harmful.bit_count())
        return bits_of(FirstFit(runs_in(harmful)).take(spare)) if spare else 0
    left, spared = [promise.spare for promise, _ in harms], 0
    for node in positions_in(runs_in(harmful)):
        loses = [number for number, (_, harm) in enumerate(harms) if harm >> node & 1]
        if all(left[number] for number in loses):
            spared |= 1 << node
            for number in loses:
                left[number] -= 1
    return spared
