"""Question: run times of MILC placed again and again, their distribution, and what explains them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev

from hopperlib.documented import printed
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.network.runtime.causes import (
    CAUSES,
    TimesByCause,
    correlations,
    lognormal_quantiles,
    run_times_by_cause,
    straightness,
)
from hopperlib.network.runtime.milc import model
from hopperlib.network.runtime.placed_jobs import METRICS, PlacedJob, selected
from hopperlib.questions.figures import Axis, Reference, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Badge, Column, Figure, Result, Table, Value
from hopperlib.questions.run_time_figures import histogram_figure, quantile_figure

__all__ = ["QUESTION"]

_FITTED = "fitted to the printed least and mean"
_PRINTED = {
    "least": "variability.table-total-minimum",
    "mean": "variability.table-total-mean",
    "most": "variability.table-total-maximum",
}
_STEP_S = 50
_MOST_POINTS = 84
_MOST_JOBS = 112
_TRAFFIC = {
    "none": "none",
    "stencils": "on grids only",
    "assumed": "on grids, some to all their nodes, some to files",
    "double": "the same, twice as much",
}
_PLACINGS = {
    "first": ("xyz_by2", "first", "first free nodes of the xyz-by2 list"),
    "contiguous": ("xyz_by2", "contiguous", "one run of that list, or wait"),
    "nid": ("nid", "first", "first free nodes of the NID list"),
}
_AGES = {
    "any": (0, 99, "any of ten days"),
    "first": (0, 2, "the first two days"),
    "week": (2, 7, "the rest of the first week"),
    "later": (7, 99, "after the first week"),
}


def _histogram(runs: Sequence[float]) -> Figure:
    """Return how many runs take how long, in steps of the run time."""
    first, last = int(runs[0] // _STEP_S), int(runs[-1] // _STEP_S)
    steps = [int(time // _STEP_S) for time in runs]
    counts = [steps.count(step) for step in range(first, last + 1)]
    marks = {f"printed {word}, {printed(id):,.0f} s": printed(id) for word, id in _PRINTED.items()}
    return histogram_figure([step * _STEP_S for step in range(first, last + 2)], counts, {}, marks=marks)


def _quantiles(runs: Sequence[float], expected: Sequence[float]) -> Figure:
    """Return observed against expected times: one of every so many, and the last at each end."""
    last = len(runs) - 1
    kept = sorted({*range(0, last + 1, max(1, len(runs) // _MOST_POINTS)), 1, last - 1, last})
    x, y = ([round(values[place], 1) for place in kept] for values in (expected, runs))
    return quantile_figure(x, y, "lognormal")


def _scatter(jobs: Sequence[PlacedJob], times: Sequence[float], metric: str, r2: float | None) -> Figure:
    """Return the least time of each job against a metric."""
    kept = range(0, len(jobs), max(1, len(jobs) // _MOST_JOBS))
    explained = "the metric does not vary" if r2 is None else f"r-squared {r2:.2f}"
    x, y = [getattr(jobs[place], metric) for place in kept], [round(times[place], 1) for place in kept]
    return chart(
        title="Least time of a job against a metric",
        alt=f"Points of {len(kept)} jobs: least run time against {METRICS[metric]}, {explained}.",
        x=Axis(title=METRICS[metric].capitalize(), decimals=2),
        y=Axis(title="Least time", unit="s", decimals=0),
        series=[Series(name="jobs", x=x, y=y, kind="points")],
        references=(Reference(name="mean", y=round(sum(times) / len(times), 1)),),
    )


# An answer is one literal in the order in which it is shown.
def _answer(
    *, tasks: str, age: str, placing: str, traffic: str, noise_percent: float, metric: str, sample: str, seed: int
) -> Result:
    """Answer for one setting."""
    order, allocation, _ = _PLACINGS[placing]
    low, high, _ = _AGES[age]
    if placing != "first" and tasks != "8192":
        raise InputError(
            f"tasks={tasks} was simulated on the first free nodes of the xyz-by2 list only; take 8192, or that list",
            name="tasks",
        )
    jobs = selected(order, allocation, int(tasks), low, high)
    fitted = model(int(sample))
    times = run_times_by_cause(jobs, fitted, traffic=traffic, noise=noise_percent / 100, seed=seed)
    by_metric = correlations(jobs, times)
    squares = {name: [None if r is None else r * r for r in row] for name, row in by_metric.items()}
    best, best_name = max((row[-1] or 0.0, name) for name, row in squares.items())
    runs = sorted(times.runs)
    expected = lognormal_quantiles(runs)
    mean_s, wait_h = fmean(runs), fmean(job.wait_h for job in jobs)
    straight = straightness(expected, runs)
    as_fitted = (tasks, age, placing, traffic) == ("8192", "any", "first", "assumed")
    badge: Badge = "calibrated" if as_fitted and noise_percent == QUESTION.defaults["noise_percent"] else "predicted"
    return Result(
        summary=(
            f"{len(jobs)} jobs took {runs[0]:.0f} to {runs[-1]:.0f} s, {mean_s:.0f} s on average. "
            f"The metric that explains most, {METRICS[best_name]}, explains {100 * best:.0f} % of the variance of the least times. "
            f"A job waited {wait_h:.1f} h for its nodes."
        ),
        findings=tuple(_findings(tasks, traffic)),
        values=(
            Value("Mean run time", mean_s, badge, "s", 0),
            *_spread_values(times, runs),
            Value("Best r-squared of a metric", best, "predicted", decimals=3, note=METRICS[best_name]),
            Value("Straightness of the quantile plot", straight, "predicted", decimals=3, note="1 for a lognormal"),
            Value("Mean wait for the nodes", wait_h, "predicted", "h", 1),
            Value("Time of a run without messages", fitted.compute_s, "calibrated", "s", 0, note=_FITTED),
            Value(
                "Neighbors' traffic",
                _TRAFFIC[traffic],
                "assumed",
                note="half a GB/s a node on average, shared max-min fair",
            ),
        ),
        figures=(
            _histogram(runs),
            _quantiles(runs, expected),
            _scatter(jobs, times.least[-1], metric, squares[metric][-1]),
        ),
        tables=(_metrics_table(squares, by_metric),),
        facts={
            "mean_s": mean_s,
            "least_s": runs[0],
            "most_s": runs[-1],
            "sd_s": pstdev(runs),
            "triplet_percent": 100 * (times.slowest_over_quickest - 1),
            "best_r2": best,
            "least_correlation": min((row[-1] for row in by_metric.values() if row[-1] is not None), default=0.0),
            "wait_h": wait_h,
            "straight": straight,
            "jobs": len(jobs),
        },
    )


def _findings(tasks: str, traffic: str) -> Iterator[Finding]:
    """Yield what to know of jobs of another size, or alone."""
    if tasks != "8192":
        message = "The line was fitted to 8,192 cores; here each core is taken to have as much work."
        yield Finding(code="other-size", message=message, level="note")
    if traffic == "none":
        message = "Without neighbors only the job's own shape is left: which of its links its own messages crowd."
        yield Finding(code="alone", message=message, level="note")


def _spread_values(times: TimesByCause, runs: Sequence[float]) -> Iterator[Value]:
    """Yield how far apart the times lie."""
    yield Value("Quickest run", runs[0], "predicted", "s", 0)
    yield Value("Slowest run", runs[-1], "predicted", "s", 0, note="the page prints 2,462")
    yield Value("Spread of all runs", pstdev(runs), "predicted", "s", 0)
    yield Value("Spread by the jobs' own shape alone", pstdev(times.least[0]), "predicted", "s", 0)
    percent = 100 * (times.slowest_over_quickest - 1)
    yield Value("Slowest over quickest run of one job", percent, "predicted", "%", 1, note="mean, with the same nodes")


def _metrics_table(squares: dict[str, list[float | None]], by_metric: dict[str, list[float | None]]) -> Table:
    """Return what each metric explains, and the sign of its correlation."""
    return Table(
        caption="Share of the variance of the least times that each metric explains, and the sign of its correlation",
        columns=(
            Column("Metric"),
            *(Column(f"r-squared, {cause}", decimals=3, badge="predicted") for cause in CAUSES),
            Column("Correlation", decimals=2, badge="predicted"),
        ),
        rows=[(METRICS[name], *squares[name], by_metric[name][-1]) for name in METRICS],
    )


QUESTION = declared(
    __name__,
    _answer,
    options={
        "traffic": list(_TRAFFIC.items()),
        "age": [(key, label) for key, (*_, label) in _AGES.items()],
        "placing": [(key, label) for key, (*_, label) in _PLACINGS.items()],
        "metric": list(METRICS.items()),
    },
)
