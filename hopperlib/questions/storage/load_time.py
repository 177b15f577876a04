"""Question: how long a job takes to load its libraries or modules, four ways."""

from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result
from hopperlib.storage.loading import METHODS, load_time


class _Job(Asked):
    """The values of the controls."""

    def result(self) -> Result:
        """Return the answer."""
        asked = dict(vars(self))
        times = {method: load_time(method, **asked) for method in METHODS}
        totals = {method: time.total_s for method, time in times.items()}
        sizes = sorted({self.nodes, *(2**power for power in range(max(self.nodes, 4096).bit_length()))})
        serial, best = times["serial"], min(totals, key=totals.__getitem__)
        said = self.said()
        advice = "short" if serial.total_s < 60 else "lookups" if serial.lookups_s > serial.reads_s else "reads"
        return said.also(
            tasks=self.nodes * self.tasks_per_node,
            best=best,
            totals=totals,
            spoken={method: _spoken(seconds) for method, seconds in totals.items()},
            sizes=sizes,
            curves={
                method: [load_time(method, **asked | {"nodes": size}).total_s for size in sizes] for method in METHODS
            },
            rows=[(said.text(method), *time, time.total_s) for method, time in times.items()],
            shortest=[METHODS.index(best)],
        ).result(findings=[said.finding(advice)])


def _spoken(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.2g} seconds"


QUESTION = declared(__name__, _Job.answer)
