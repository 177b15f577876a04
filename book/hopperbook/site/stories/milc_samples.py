"""The second half of the story on variability: a growing sample, all runs of the model, a rival, and the reader's times."""

import random
from collections.abc import Sequence
from functools import cache
from math import exp, log, log10

from hopperbook.documented import printed
from hopperbook.site.stories.drawing import Axis, Drawing
from hopperbook.site.stories.story import Step
from hopperbook.studies.network.fragmentation import population
from hopperlib.data_files import rows
from hopperlib.network.runtime.milc import run_times

#: The run times of all pictures. [s]
TIME_AXIS = Axis(700, 2500, 36, 424)
_TICKS = (800, 1200, 1600, 2000, 2400)
# : Position of the axis in a picture, and the upper end of its content. [units]
BASE, TOP = 288, 70
_STEP_S = 50
#: Runs of the samples that are shown growing: one seed, each a part of the next.
SAMPLES = (12, 100, 300)
_SEED = 1


def named(name: str) -> float:
    """Return a printed number of the study.

    Examples
    --------
    >>> named("red")
    2462.33
    """
    return printed(f"variability.{name}")


@cache
def sample() -> tuple[float, ...]:
    """Return the run times of a random sample of jobs, one run of each, in the order in which they are drawn. [s]

    Examples
    --------
    >>> len(sample())
    300
    """
    rng, times = random.Random(_SEED), run_times(jobs=population())
    return tuple(times[int(rng.random() * len(times))][0] for _ in range(SAMPLES[-1]))


@cache
def all_runs() -> tuple[float, ...]:
    """Return the time of every run of every job of the histories, the quickest first. [s]

    Examples
    --------
    >>> len(all_runs()) == 3 * len(population())
    True
    """
    return tuple(sorted(time for job in run_times(jobs=population()) for time in job))


def rival_tail(time_s: float, runs: int = 100) -> float:
    """Return the share of runs that take longer, for a distribution without the network. [fraction]

    It is an exponential above a floor, through the least and the mean of the printed table: the median of the least
    of some exponential draws is log(2) over their number, in units of their mean.

    Examples
    --------
    >>> round(rival_tail(printed("variability.table-total-mean")), 2)
    0.37
    """
    least_s, mean_s = named("table-total-minimum"), named("table-total-mean")
    above_s = (mean_s - least_s) / (1 - log(2) / runs)
    return exp(-max(0.0, time_s - (mean_s - above_s)) / above_s)


def interval() -> tuple[float, float]:
    """Return the interval of the scorecard for the greatest time of a sample. [s]

    Examples
    --------
    >>> interval()[1] < printed("variability.table-total-maximum")
    True
    """
    row = next(row for row in rows("scorecard.csv") if row["id"] == "variability.table-total-maximum")
    return float(row["low"]), float(row["high"])


def time_axis(drawing: Drawing) -> None:
    """Draw the axis of the run times along the bottom of a picture."""
    TIME_AXIS.along_the_bottom(drawing, BASE, _TICKS, "run time [s]")


def _mark(drawing: Drawing, time_s: float, text: str, y: float, *, anchor: str = "middle") -> None:
    """Mark a printed time with a line and its words."""
    drawing.line(TIME_AXIS.at(time_s), BASE, TIME_AXIS.at(time_s), y + 6, "printed")
    drawing.words(TIME_AXIS.at(time_s) + (4 if anchor == "end" else 0), y, text, "printed-words", anchor=anchor)


def _steps_of(times: Sequence[float], width: float = _STEP_S) -> dict[int, int]:
    """Return the counts per bin of run time."""
    counts: dict[int, int] = {}
    for time in times:
        counts[int(time // width)] = counts.get(int(time // width), 0) + 1
    return counts


def _bars(drawing: Drawing, times: Sequence[float], up: Axis) -> None:
    for step, count in sorted(_steps_of(times).items()):
        left = TIME_AXIS.at(step * _STEP_S)
        drawing.box(left, up.at(count), TIME_AXIS.at((step + 1) * _STEP_S) - left - 1, up.first - up.at(count), "job")


def _sample(runs: int, title: str, text: str, *, far: bool = False) -> Step:
    """Return the histogram of the first runs of the sample; the heights of all samples have one scale."""
    times, drawing = sample()[:runs], Drawing()
    tallest = max(_steps_of(sample()).values())
    up = Axis(0, tallest, BASE, TOP)
    up.up_the_side(
        drawing, 36, [(tick, str(tick)) for tick in range(0, tallest + 1, 20)], f"runs in steps of {_STEP_S} s"
    )
    _bars(drawing, times, up)
    time_axis(drawing)
    drawing.words(150, 50, f"{runs} runs: {min(times):,.0f} to {max(times):,.0f} s", "strong")
    alt = f"A histogram of {runs} simulated runs, from {min(times):,.0f} to {max(times):,.0f} s."
    if far:
        low, high = interval()
        red = named("table-total-maximum")
        drawing.box(TIME_AXIS.at(low), 118, TIME_AXIS.at(high) - TIME_AXIS.at(low), 10, "range")
        drawing.words(TIME_AXIS.at(low), 110, "slowest run: nine samples of ten")
        _mark(drawing, red, f"printed, {red:,.0f} s", 160, anchor="end")
        alt += f" The slowest of nine samples in ten is between {low:,.0f} and {high:,.0f} s; the printed {red:,.0f} s is far to the right."
    return Step(title, text, drawing.svg(title, alt), ("predicted", "documented") if far else ("predicted",))


def _samples() -> list[Step]:
    few, many, most = SAMPLES
    low, high = interval()
    first = f"Draw {few} jobs at random and time one run of each. They take {min(sample()[:few]):,.0f} to {max(sample()[:few]):,.0f} s: nothing yet of a run that takes almost three times as long as another."
    second = f"Of {many} runs the slowest takes {max(sample()[:many]):,.0f} s. A tail grows to the right: few jobs meet a link as full as B's. NERSC's page does not print how many runs its table sums up; 100 is assumed here."
    third = (
        f"Of {most} runs the slowest takes {max(sample()):,.0f} s. Draw such samples again and again, with everything that is assumed drawn as "
        f"well: in nine of ten the slowest run takes {low:,.0f} to {high:,.0f} s.\n\n"
        f"The printed {named('table-total-maximum'):,.0f} s is outside. The model misses the very number that makes the story."
    )
    return [
        _sample(few, f"A sample of {few}", first),
        _sample(many, f"A sample of {many}", second),
        _sample(most, f"A sample of {most}, and the printed time far out", third, far=True),
    ]


def _logarithm(drawing: Drawing, low: int, title: str, ticks: Sequence[tuple[int, str]]) -> Axis:
    """Draw an axis of powers of ten."""
    up = Axis(low, ticks[-1][0], BASE, TOP)
    up.up_the_side(drawing, 52, ticks, title)
    return up


def _thousands() -> Step:
    runs, red = all_runs(), named("table-total-maximum")
    drawing = Drawing()
    # One run is half a step above the axis, so that it can be seen.
    up = _logarithm(
        drawing,
        -1,
        f"runs in steps of {_STEP_S} s, logarithmic",
        [(0, "1"), (1, "10"), (2, "100"), (3, "1,000")],
    )
    for step, count in sorted(_steps_of(runs).items()):
        left = max(52.0, TIME_AXIS.at(step * _STEP_S))
        drawing.box(
            left, up.at(log10(count)), TIME_AXIS.at((step + 1) * _STEP_S) - left - 1, BASE - up.at(log10(count)), "job"
        )
    time_axis(drawing)
    far = [time for time in runs if time > 2000]
    drawing.words(TIME_AXIS.at(max(runs)) + 4, 196, "job B", "strong", anchor="end")
    _mark(drawing, red, f"printed, {red:,.0f} s", 120, anchor="end")
    alt = f"A histogram of {len(runs):,} runs with a logarithmic height. It thins out to {runs[-len(far) - 1]:,.0f} s; job B stands alone at {max(runs):,.0f} s, and the printed {red:,.0f} s is beyond it."
    text = (
        f"Here are all {len(runs):,} runs of {len(population()):,} jobs. Only the runs of B take longer than 2,000 s; its slowest takes {max(runs):,.0f} s, "
        f"{100 * (1 - max(runs) / red):.0f} % less than the printed one.\n\n"
        f"So a run nearly as slow as NERSC's is possible in the model, but only for one job in {len(population()):,}: a sample of some hundred seldom holds it. "
        "What happened to the printed run, no source says."
    )
    return Step(
        "What thousands of jobs hold", text, drawing.svg("All runs of the model", alt), ("predicted", "documented")
    )


def _rival() -> Step:
    runs, red = all_runs(), named("table-total-maximum")
    drawing = Drawing()
    up = _logarithm(
        drawing,
        -4,
        "share of runs that take longer",
        [(-4, "1/10⁴"), (-3, "1/1000"), (-2, "1 %"), (-1, "10 %"), (0, "all")],
    )
    every = range(0, len(runs) - 1, 40)
    tail = [
        (TIME_AXIS.at(runs[at]), up.at(log10(1 - at / len(runs)))) for at in (*every, *range(len(runs) - 40, len(runs)))
    ]
    drawing.path([(x, y) for x, y in tail if x >= 52], "curve")
    drawing.path([(TIME_AXIS.at(time), up.at(log10(rival_tail(time)))) for time in range(850, 2500, 50)], "rival-curve")
    time_axis(drawing)
    drawing.words(TIME_AXIS.at(1460), up.at(-2.75), "model", "job-words", anchor="end")
    drawing.words(TIME_AXIS.at(1620), up.at(-1.3), "a curve without a network")
    _mark(drawing, red, f"printed, {red:,.0f} s", 100, anchor="end")
    chance = 1 - (1 - rival_tail(red)) ** 100
    alt = f"Two falling curves of the share of runs that take longer. The model's falls faster; the curve without a network still has {100 * rival_tail(red):.1f} percent at {red:,.0f} s."
    text = (
        "How good is an explanation that misses the slowest run? Compare it with a curve that knows no network: an exponential above a floor, through the "
        "same two printed numbers to which the model was fitted.\n\n"
        f"One sample of 100 runs in {1 / chance:.0f} would hold a run of {red:,.0f} s or more by that curve, so it describes the table better than the model does. But it names no cause. "
        "The model names one, which can be checked: the busiest link, filled by the job itself or by others."
    )
    return Step(
        "A curve that knows no network",
        text,
        drawing.svg("Model and curve", alt),
        ("predicted", "calibrated", "documented"),
    )


_FORM = (
    '<div class="hopper-story-times hopper-live-only"><label for="{id}">Your run times of one program, three or more</label>'
    '<textarea id="{id}" rows="2" spellcheck="false" autocomplete="off" placeholder="412.7 398.2 455.0"></textarea>'
    '<p role="status"></p></div>'
)


def _readers() -> Step:
    times, drawing = sample()[: SAMPLES[1]], Drawing()
    least, printed_most = min(times), named("table-total-maximum") / named("table-total-minimum")
    across = Axis(1, 3, 36, 424)
    counts = _steps_of([20 * time / least for time in times], 1)
    up = Axis(0, max(counts.values()), BASE, 130)
    for step, count in sorted(counts.items()):
        drawing.box(across.at(step / 20), up.at(count), across.at(1.05) - across.at(1) - 1, BASE - up.at(count), "job")
    across.along_the_bottom(drawing, BASE, (1, 1.5, 2, 2.5, 3), "run time over the quickest of the sample", form="g")
    drawing.words(60, 120, f"{len(times)} runs of the model")
    x = across.at(printed_most)
    drawing.line(x, BASE, x, 156, "printed")
    drawing.words(x + 4, 150, f"MILC, {printed_most:.1f}", "printed-words", anchor="end")
    drawing.words(36, 40, "your runs appear here", "muted hopper-live-only readers-none")
    drawing.add("g", "readers", "<title>Your run times</title>")
    alt = f"The model's sample over its quickest run, from 1 to {max(times) / least:.1f}; the printed greatest time of MILC is {printed_most:.1f} times the least."
    svg = drawing.svg(
        "Run times over the quickest", alt, low=across.low, high=across.high, first=across.first, last=across.last
    )
    text = (
        f"What do your jobs do? Divide each time by the quickest. In the model the slowest of {len(times)} runs takes {max(times) / least:.1f} times as long as the quickest; "
        f"NERSC's table has {printed_most:.1f}.\n\n"
        "Runs of one job on the same nodes show noise. Only different jobs show the nodes and the neighbors."
    )
    return Step("Your times", text, svg, ("predicted", "documented"), _FORM.format(id="story-milc-times"))


def second_half() -> tuple[Step, ...]:
    """Return the steps from the first sample on.

    Examples
    --------
    >>> second_half()[-1].title
    'Your times'
    """
    return (*_samples(), _thousands(), _rival(), _readers())
