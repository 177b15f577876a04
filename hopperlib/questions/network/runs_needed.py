"""Question: how many runs show a gain, and what a few runs can show at all."""

from hopperlib.network.runtime.power import gain_shown, power, runs_needed
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result

_RUNS = (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100, 200)
_GAINS = (1, 2, 3, 5, 10, 20)


class _Test(Asked):
    """One gain, and one noise."""

    def result(self) -> Result:
        """Return the answer."""
        gain, noise, alpha = (part / 100 for part in (self.gain_percent, self.noise_percent, self.alarm_percent))
        wanted = {"chance": self.chance_percent / 100, "alpha": alpha}
        needed, here = runs_needed(gain, noise, **wanted), power(gain, noise, self.runs, alpha=alpha)
        places = sorted({*_RUNS, self.runs})
        return self.said(
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
