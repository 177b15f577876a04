"""Question: the number of runs that show a gain, and the gain that a few runs can show."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Reference, Series, chart
from hopperkit.questions.result import Figure, Result
from hopperkit.readers.run_times import RunTimes, read_run_times
from hopperlib.finding import Finding
from hopperlib.network.runtime.power import Spread, detectable_gain, power, runs_needed, spread_of
from hopperlib.text import capital, count, digits, share

_RUNS = (2, 3, 4, 5, 7, 10, 14, 20, 30, 50, 100, 200)


class Comparison(ask.Setting):
    """Two variants of a program, the gain of one, and the noise of their runs."""

    gain_percent: float = ask.number("Gain to be shown", 5.0, (0.01, 90.0, 0.5), unit="%", option="gain")
    noise_percent: float = ask.number(
        "Coefficient of variation of the run time",
        5.0,
        (0.01, 200.0, 0.5),
        unit="%",
        option="noise",
        help="Standard deviation over mean; `hopper fit` computes it from your run times.",
        assumed="No source prints the noise of the tests with huge pages.",
    )
    times: str = ask.file(
        "Your run times",
        help="A CSV file whose first line names the columns: `run_time_s`, and `job` for runs on the same nodes. "
        "Their spread is then used instead of the number above.",
    )
    runs: int = ask.whole("Runs of each variant that you can afford", 3, (2, 10_000))
    chance_percent: int = ask.slider(
        "Probability that the gain shows", 80, (50, 99, 1), unit="%", option="chance", advanced=True
    )

    @property
    def gain(self) -> float:
        """The gain, as a fraction."""
        return self.gain_percent / 100

    @cached_property
    def own(self) -> RunTimes | None:
        """The reader's run times."""
        return read_run_times(self.times.splitlines()) if self.times.strip() else None

    @cached_property
    def spread(self) -> Spread:
        """The noise of the runs: that of the reader's runs if there are any."""
        return spread_of(self.own.times, self.own.groups) if self.own else Spread(self.noise_percent / 100, None)

    @property
    def wanted(self) -> float:
        """Probability that the gain shows."""
        return self.chance_percent / 100

    def needed(self, noise: float) -> int | None:
        """Runs of each variant that show the gain in some noise; None for more than 100,000."""
        return runs_needed(self.gain, noise, chance=self.wanted)

    def chance(self, runs: int) -> float:
        """Probability that this many runs of each variant show the gain."""
        return power(self.gain, self.spread.whole, runs)

    @property
    def noise_text(self) -> str:
        """The noise in words."""
        return f"{digits(100 * self.spread.whole, 3)} %"


def answer(comparison: Comparison) -> Result:
    """Return the answer.

    Parameters
    ----------
    comparison : Comparison
        Two variants of a program, the gain of one, and the noise of their runs.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Comparison()).facts['runs_needed']
    17
    """
    facts = _facts(comparison)
    return Result(
        summary=_summary(comparison, facts),
        findings=tuple(_findings(comparison, facts["chance"])),
        figures=(_chances(comparison, facts),),
        facts=facts,
    )


def _facts(comparison: Comparison) -> dict[str, Any]:
    noise = comparison.spread.whole
    return {
        "runs_needed": comparison.needed(noise),
        "chance": comparison.chance(comparison.runs),
        "gain_shown_percent": 100 * detectable_gain(noise, comparison.runs, chance=comparison.wanted),
        "runs": comparison.runs,
        "noise_percent": 100 * noise,
    }


def _number(runs: int | None) -> str:
    return "not even 100,000" if runs is None else f"{runs:,}"


def _summary(comparison: Comparison, facts: dict[str, Any]) -> str:
    return (
        f"{capital(_number(facts['runs_needed']))} runs of each variant show a gain of {comparison.gain_percent:g} % in "
        f"noise of {comparison.noise_text} with a probability of {comparison.chance_percent} %. With {comparison.runs:,} "
        f"runs of each it shows in {share(facts['chance'])} of such tests; they show only gains of "
        f"{digits(facts['gain_shown_percent'], 2)} % or more with that probability."
    )


def _findings(comparison: Comparison, chance: float) -> Iterator[Finding]:
    user_times, within = comparison.own, comparison.spread.within
    if chance < comparison.wanted:
        yield Finding(
            "too-few",
            f"If {comparison.runs} runs of each variant show no difference, "
            f"there may still be a gain of {comparison.gain_percent:g} %.",
        )
    if user_times is None:
        return
    spread = f"Your {len(user_times.times):,} run times spread by {comparison.noise_text} of their mean: that is the noise here."
    if within:
        needed = _number(comparison.needed(within))
        yield Finding(
            "own-groups",
            f"{spread} Within a group they spread by {digits(100 * within, 3)} %: "
            f"put both variants into the same jobs, and {needed} runs of each show the gain.",
            "note",
        )
    else:
        alone = "No group of them has two runs, so the common part of runs on the same nodes is unknown."
        yield Finding("own-spread", f"{spread} {alone}", "note")


def _chances(comparison: Comparison, facts: dict[str, Any]) -> Figure:
    """Return the chart of the probability against the number of runs."""
    runs = sorted({*_RUNS, comparison.runs})
    chances = [comparison.chance(each) for each in runs]
    return chart(
        title="Probability of showing the gain, by number of runs",
        alt=f"The probability rises from {share(chances[0])} with {count(runs[0], 'run')} to {share(chances[-1])} with "
        f"{runs[-1]:,}; {_number(facts['runs_needed'])} pass {comparison.chance_percent} %.",
        x=Axis(title="Runs of each variant", log=True),
        y=Axis(title="Probability that the gain shows", low=0, high=1, decimals=3),
        series=[
            Series(name=f"gain of {comparison.gain_percent:g} %", x=runs, y=chances),
            Series(name="your runs", x=[comparison.runs], y=[facts["chance"]], kind="points"),
        ],
        references=[Reference("wanted", comparison.wanted)],
    )


QUESTION = ask.declared(
    Comparison,
    answer,
    title="How many runs show a gain?",
    examples={
        "Noise of one placement: 2 %": {"noise_percent": 2.0},
        "Noise of production: 20 %": {"noise_percent": 20.0},
    },
)
