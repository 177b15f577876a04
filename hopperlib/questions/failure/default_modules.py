"""Question: which modules everybody gets at login, weighed by whom each choice breaks."""

from hopperlib.failure.builds.default_modules import OPTIONS, PROGRAMS, Shares, Weights, flip_weight, outcomes, troubles
from hopperlib.questions.figures import Series
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result

_STEPS = 20
_SHARES = ("dynamic", "shmem", "hit", "pinned")
_WEIGHTS = ("told", "fails", "run", "contacted")


class _Users(Asked):
    """Shares of users and programs, and how much each kind of trouble counts."""

    def result(self) -> Result:
        """Return the answer."""
        shares = Shares(**{name: getattr(self, name) / 100 for name in _SHARES})
        weights = Weights(**{name: getattr(self, name) for name in _WEIGHTS})
        costs, flip = troubles(shares, weights), flip_weight(shares, weights)
        least, fewest = min(each.cost for each in costs), min(each.broken_fraction for each in costs)
        # Two defaults may cost the same, but for the rounding of their sums.
        cheapest = [each.option for each in costs if each.cost - least < 1e-12]
        touched = [each.option for each in costs if each.broken_fraction - fewest < 1e-12]
        high = max(10.0, 2 * weights.run, min(1.5 * (flip or 0), 100.0))
        runs = [high * step / _STEPS for step in range(_STEPS + 1)]
        curves = [troubles(shares, weights._replace(run=run)) for run in runs]
        said = self.said(names={option: f"{option}: {' and '.join(OPTIONS[option])}" for option in OPTIONS})
        breaks, crosses = {option: outcomes(option) for option in OPTIONS}, flip is not None and flip > 0
        return said.also(
            costs=[{"of": each, "name": said["names"][each.option], "best": each.cost == least} for each in costs],
            flip=flip,
            chosen="C",
            # What a change of the weight of failures would do: nothing, nothing for C, undo it, or bring C.
            fixed=flip is None,
            crosses=crosses,
            kept="C" in cheapest,
            apart=touched != cheapest,
            cheapest=cheapest,
            touched=touched,
            high=high,
            least=least,
            curves=[
                Series(name=said["names"][option], x=runs, y=[100 * row[place].cost for row in curves])
                for place, option in enumerate(OPTIONS)
            ],
            breaks=[(program, *(said.text(breaks[option][program]) for option in OPTIONS)) for program in PROGRAMS],
            options=["".join(cheapest), "".join(touched)],
            as_given=all(getattr(self, name) == QUESTION.defaults[name] for name in _WEIGHTS),
        ).result()


QUESTION = declared(__name__, _Users.answer)
