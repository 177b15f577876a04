"""Question: how many runs show a gain, and what a few runs can show at all."""

from collections import defaultdict
from statistics import fmean, stdev, variance

from hopperlib.errors import InputError
from hopperlib.network.runtime.power import gain_shown, power, runs_needed
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result
from hopperlib.readers.run_times import RunTimes, read_run_times

_RUNS = (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100, 200)
_GAINS = (1, 2, 3, 5, 10, 20)


def _spreads(table: RunTimes) -> tuple[float, float | None]:
    """Return the spread of run times, and that within their groups if it can be told. [fraction of the mean]"""
    if len(table.times) < 2 or min(table.times) == max(table.times):
        raise InputError("two run times or more that differ are needed to tell their spread", name="times")
    groups: dict[str, list[float]] = defaultdict(list)
    for group, time in zip(table.groups, table.times, strict=False):
        groups[group].append(time)
    repeated = [times for times in groups.values() if len(times) > 1]
    freedom = sum(len(times) - 1 for times in repeated)
    within = sum((len(times) - 1) * variance(times) for times in repeated) / freedom if freedom else 0.0
    mean = fmean(table.times)
    return stdev(table.times) / mean, within**0.5 / mean or None


class _Test(Asked):
    """One gain, and one noise."""

    def result(self) -> Result:
        """Return the answer."""
        gain, noise, alpha = (part / 100 for part in (self.gain_percent, self.noise_percent, self.alarm_percent))
        own, within = 0, None
        if self.times.strip():
            table = read_run_times(self.times.splitlines())
            (noise, within), own = _spreads(table), len(table.times)
        wanted = {"chance": self.chance_percent / 100, "alpha": alpha}
        needed, here = runs_needed(gain, noise, **wanted), power(gain, noise, self.runs, alpha=alpha)
        places = sorted({*_RUNS, self.runs})
        return self.said(
            own_runs=own,
            noise_percent=100 * noise,
            within_percent=within and 100 * within,
            needed_within=within and runs_needed(gain, within, **wanted),
            wanted=wanted["chance"],
            needed=needed,
            here=here,
            too_few=here < wanted["chance"],
            least_gain_percent=100 * gain_shown(noise, self.runs, **wanted),
            places=places,
            chances=[power(gain, noise, count, alpha=alpha) for count in places],
            own=([self.runs], [here]),
            by_gain=[(percent, runs_needed(percent / 100, noise, **wanted)) for percent in _GAINS],
        ).result()


QUESTION = declared(__name__, _Test.answer)
