"""The scheduler: jobs a second against number of jobs and load, as ratios beside a naive per-node one.

    python benchmarks/bench_scheduler.py

AccaSim, the public peer that remembers nodes, does not run on Python 3.10 or
later. On a machine of the same class it was recorded at 132 jobs a second for
10,000 Hopper-like jobs, CQSim at 46 or fewer, a count-only runner in Rust at
154,000 for 100,000 jobs. Times are of the processor; best of three.
"""

from __future__ import annotations

import random
import time

from hopperlib.network.generator import draw_workload
from hopperlib.network.scheduler import simulate
from hopperlib.network.workload import Workload

NODES = 6384


def naive_seconds(workload: Workload) -> float:
    """Time of a first-come-first-served scheduler that looks at every node at every event."""
    begin = time.process_time()
    until = [0] * NODES
    now = 0
    for job in workload:
        now = max(now, job.submit_time_s)
        while True:
            free = [node for node in range(NODES) if until[node] <= now]
            if len(free) >= job.nodes:
                break
            now = min(end for end in until if end > now)
        for node in free[: job.nodes]:
            until[node] = now + min(job.run_time_s, job.requested_time_s)
    return time.process_time() - begin


def seconds(workload: Workload, policy: str = "easy") -> float:
    """Best of three."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        simulate(workload, NODES, policy=policy)
        times.append(time.process_time() - begin)
    return min(times)


def main() -> None:
    """Print both tables."""
    print("load  days    jobs  jobs/s")
    for load, days in ((0.9, 4), (0.9, 16), (0.9, 32), (0.8, 16), (0.85, 16), (0.95, 16)):
        jobs = draw_workload("production", nodes=NODES, days=days, load=load, rng=random.Random(1))
        print(f"{load:4.2f}  {days:4d}  {len(jobs):6,d}  {len(jobs) / seconds(jobs):,.0f}")
    few = draw_workload("production", nodes=NODES, days=1, load=0.9, rng=random.Random(1))
    few = Workload(list(few)[:2000])
    print(
        f"naive, first come first served, {len(few):,} jobs: {naive_seconds(few) / seconds(few, 'fcfs'):,.0f} times as long"
    )


if __name__ == "__main__":
    main()
