"""Question: orphaned nodes and a debug queue, and what they do to utilization and to the largest jobs."""

from collections.abc import Iterator
from functools import lru_cache, partial
from statistics import mean

from hopperlib.network.scheduling.aging import large_jobs, troubled_machine
from hopperlib.network.scheduling.schedule import Sample, Schedule
from hopperlib.network.scheduling.workload import Workload
from hopperlib.questions.network.recording import Recorder
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result
from hopperlib.questions.wording import Said

_DAY = 86_400
_HOURS_A_WEEK = 168
# The least of the first day is that of a machine that fills.
_SAMPLES_A_DAY = 8


# The last are kept, since the hours without service change nothing in them.
_schedule = lru_cache(maxsize=8)(troubled_machine)


class _Machine(Asked):
    """One machine in trouble."""

    def check(self) -> None:
        """Cut the largest jobs to the machine, as the others are."""
        vars(self)["full_nodes"] = min(self.full_nodes, self.on.nodes)

    def schedule(self, days: int) -> Schedule:
        """Return at least the first of the days."""
        names = ("orphans_a_day", "cleared_after_days", "debug_share", "full_nodes")
        settings = {name: getattr(self, name) for name in names} | {"debug_first": self.debug_first == "first"}
        schedule = _schedule(self.on.nodes, self.days, until_s=0, **settings)
        schedule.go_on(days * _DAY)
        return schedule

    def over_time(self, schedule: Schedule, end_s: int) -> Said:
        """Return the words on the machine over time."""
        samples = [sample for sample in schedule.samples if sample.time_s < end_s]
        busy, gone = (
            [100 * getattr(sample, name) / self.on.nodes for sample in samples]
            for name in ("busy_nodes", "unavailable_nodes")
        )
        return self.said(
            used=schedule.utilization(_DAY, end_s),
            lost=mean(sample.unavailable_nodes for sample in samples) / self.on.nodes,
            queue_full=mean(sample.waiting_jobs > 0 for sample in samples),
            time_d=[round(sample.time_s / _DAY, 3) for sample in samples],
            busy=busy,
            least_busy=min(busy[_SAMPLES_A_DAY:] or busy),
            gone=gone,
        )

    def partials(self) -> Iterator[Result]:
        """Yield the machine as it begins, and over the first two days."""
        begins = Schedule(Workload(), self.on.nodes)
        begins.samples.append(Sample(0, self.on.nodes, self.on.nodes, 1, 0, 0, 0, 0))
        said = self.over_time(begins, 2 * _DAY).also(so_far=0)
        yield Result(summary=said.text("so_far"), figures=(said.chart("machine"),))
        schedule = self.schedule(2)
        said, watched = self.over_time(schedule, 2 * _DAY).also(so_far=2), partial(self.watched, schedule, 2)
        yield Result(summary=said.text("so_far"), figures=(said.chart("machine"),), watched=watched)

    def watched(self, schedule: Schedule, days: int) -> Recorder:
        """Return the first days to watch, with the largest jobs to follow."""
        followed = {"follow": [job.job for job in schedule.workload if job.queue == "full"]}
        return Recorder(self.on, schedule, days * _DAY, more=followed)

    def result(self) -> Result:
        """Return the answer."""
        schedule, end_s = self.schedule(self.days), self.days * _DAY
        said, jobs = self.over_time(schedule, end_s), large_jobs(schedule, end_s)
        return said.also(
            of_all=said["used"] * (1 - self.down_hours / _HOURS_A_WEEK),
            simulated=len(schedule),
            jobs=jobs,
            count=len(jobs),
            wait_h=mean(job.wait_h for job in jobs),
            waiting=sum(not job.started for job in jobs),
        ).result(watched=partial(self.watched, schedule, self.days))


QUESTION = declared(__name__, _Machine.answer, so_far=_Machine.so_far)
