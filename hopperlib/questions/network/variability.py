"""Question: run times of MILC placed again and again, their distribution, and what explains them."""

from collections.abc import Sequence
from statistics import fmean, pstdev

from hopperlib.documented import printed
from hopperlib.errors import InputError
from hopperlib.machine import Machine
from hopperlib.network.runtime import causes
from hopperlib.network.runtime.milc import model
from hopperlib.network.runtime.placed_jobs import FIRST_MILC, METRICS, SEEDS, selected
from hopperlib.questions.network.recording import Recorder, histories
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Column, Figure, Result, Table
from hopperlib.questions.run_time_figures import histogram_figure, quantile_figure

_PRINTED = {
    "least": "variability.table-total-minimum",
    "mean": "variability.table-total-mean",
    "most": "variability.table-total-maximum",
}
_STEP_S = 50
_MOST_POINTS = 84
_MOST_JOBS = 112
# Order of the list and allocation; first and last day.
_PLACINGS = {"first": ("xyz-by2", "first"), "contiguous": ("xyz-by2", "contiguous"), "nid": ("nid", "first")}
_AGES = {"any": (0, 99), "first": (0, 2), "week": (2, 7), "later": (7, 99)}
# How many of the chosen days are there to watch: to simulate more takes a browser long.
_WATCHED_DAYS = 2
_AS_FITTED = {"tasks": "8192", "age": "any", "placing": "first", "traffic": "assumed"}


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


class _Study(Asked):
    """One setting."""

    def check(self) -> None:
        """Refuse sizes that were not simulated."""
        if self.placing != "first" and self.tasks != _AS_FITTED["tasks"]:
            raise InputError(
                f"tasks={self.tasks} was simulated on the first free nodes of the xyz-by2 list only; take 8192, or that list",
                name="tasks",
            )

    @property
    def badge(self) -> str:
        """What is known of the mean: the noise, too, was fitted as it stands at the start."""
        fitted = _AS_FITTED | {"noise_percent": QUESTION.defaults["noise_percent"]}
        return "calibrated" if all(getattr(self, name) == value for name, value in fitted.items()) else "predicted"

    def watched(self) -> Recorder:
        """Return the first of the histories to watch, until some of the chosen days have passed, and its MILC jobs."""
        (order, allocation), days = _PLACINGS[self.placing], _AGES[self.age][0] + _WATCHED_DAYS
        hopper, known = Machine.load("hopper"), histories(Machine.load("hopper"))
        assert known is not None
        schedule = known.schedule(SEEDS[0], allocation, until_day=days)
        width = -(-int(self.tasks) // known.cores)
        jobs = zip(schedule.workload.job, schedule.workload.nodes, strict=True)
        numbers = (number for number, nodes in jobs if number >= FIRST_MILC and nodes == width)
        measured = (job for job in selected(order, allocation, int(self.tasks)) if job.seed == SEEDS[0])
        milc = [(number, job.own, *job.slowness(self.traffic)) for number, job in zip(numbers, measured, strict=False)]
        how = {"order": order, "allocation": allocation, "traffic": self.traffic}
        return Recorder(hopper, schedule, days * 86_400, probe_nodes=width, more={"milc": milc}, **how)

    def result(self) -> Result:
        """Return the answer."""
        jobs = selected(*_PLACINGS[self.placing], int(self.tasks), *_AGES[self.age])
        fitted = model(int(self.sample))
        times = causes.run_times_by_cause(
            jobs, fitted, traffic=self.traffic, noise=self.noise_percent / 100, seed=self.seed
        )
        signs = causes.correlations(jobs, times)
        squares = {name: [None if r is None else r * r for r in row] for name, row in signs.items()}
        best, best_name = max((row[-1] or 0.0, name) for name, row in squares.items())
        runs, least, square = sorted(times.runs), times.least[-1], squares[self.metric][-1]
        expected = causes.lognormal_quantiles(runs)
        drawn = range(0, len(jobs), max(1, len(jobs) // _MOST_JOBS))
        said = self.said(
            jobs=len(jobs),
            runs=runs,
            mean_s=fmean(runs),
            sd_s=pstdev(runs),
            shape_sd_s=pstdev(times.least[0]),
            triplet_percent=100 * (times.slowest_over_quickest - 1),
            best=best,
            best_metric=METRICS[best_name],
            least_correlation=min((row[-1] for row in signs.values() if row[-1] is not None), default=0.0),
            wait_h=fmean(job.wait_h for job in jobs),
            straight=causes.straightness(expected, runs),
            compute_s=fitted.compute_s,
            traffic_label=self.label("traffic"),
            other_size=self.tasks != _AS_FITTED["tasks"],
            alone=self.traffic == "none",
            drawn=len(drawn),
            metric_label=METRICS[self.metric],
            metric_title=METRICS[self.metric].capitalize(),
            explained="the metric does not vary" if square is None else f"r-squared {square:.2f}",
            x=[getattr(jobs[place], self.metric) for place in drawn],
            y=[round(least[place], 1) for place in drawn],
            mean_least_s=round(fmean(least), 1),
        )
        explained = (Column(f"r-squared, {cause}", decimals=3, badge="predicted") for cause in causes.CAUSES)
        columns = (Column("Metric"), *explained, Column("Correlation", decimals=2, badge="predicted"))
        rows = [(METRICS[name], *squares[name], signs[name][-1]) for name in METRICS]
        return said.result(
            watched=self.watched,
            figures=(_histogram(runs), _quantiles(runs, expected), said.chart("metric")),
            tables=(Table(caption=said.text("metrics"), columns=columns, rows=rows),),
        )


QUESTION = declared(__name__, _Study.answer, options={"metric": list(METRICS.items())})
