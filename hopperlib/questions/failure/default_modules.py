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
        cheapest = [each.option for each in costs if each.cost - least < 1e-12]
        touched = [each.option for each in costs if each.broken_fraction - fewest < 1e-12]
        high = max(10.0, 2 * weights.run, min(1.5 * (flip or 0), 100.0))
        runs = [high * step / _STEPS for step in range(_STEPS + 1)]
        curves = [troubles(shares, weights._replace(run=run)) for run in runs]
        breaks = {option: outcomes(option) for option in OPTIONS}
        said = self.said(names={option: f"{option}: {' and '.join(OPTIONS[option])}" for option in OPTIONS})
        return said.also(
            costs={each.option.lower(): each.cost for each in costs},
            flip=flip,
            chosen="C",
            # What a change of the weight of failures would do: nothing, nothing for C, undo it, or bring C.
            fixed=flip is None,
            hopeless=flip is not None and flip <= 0,
            crosses=flip is not None and flip > 0,
            held=flip is not None and flip > 0 and "C" in cheapest,
            missed=flip is not None and flip > 0 and "C" not in cheapest,
            several=len(cheapest) > 1,
            apart=touched != cheapest,
            cheapest=" and ".join(cheapest),
            touched=" and ".join(touched),
            cheapest_options="".join(cheapest),
            touched_options="".join(touched),
            high=high,
            least=100 * least,
            curves=[
                Series(name=said["names"][option], x=runs, y=[100 * row[place].cost for row in curves])
                for place, option in enumerate(OPTIONS)
            ],
            breaks=[(program, *(said.text(breaks[option][program]) for option in OPTIONS)) for program in PROGRAMS],
            rows=[
                (
                    said["names"][each.option],
                    *(100 * part for part in (each.broken_fraction, each.contacted_fraction, each.cost)),
                )
                for each in costs
            ],
            best=[place for place, each in enumerate(costs) if each.cost == least],
            as_given=all(getattr(self, name) == QUESTION.defaults[name] for name in _WEIGHTS),
        ).result()


QUESTION = declared(__name__, _Users.answer)
