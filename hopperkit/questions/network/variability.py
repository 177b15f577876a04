"""Question: run times of MILC placed again and again, their distribution, and what explains them."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from statistics import fmean
from typing import Any, Literal

from hopperkit.questions import ask
from hopperkit.questions.network.recording import Recorder, histories
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperkit.questions.run_time_figures import histogram_figure
from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.machine import Machine
from hopperlib.network.runtime import causes
from hopperlib.network.runtime.milc import PRINTED_LEAST_S, PRINTED_MEAN_S, PRINTED_MOST_S, model, sampled_conditions
from hopperlib.network.runtime.placed_jobs import FIRST_MILC, METRICS, PlacedJob, selected
from hopperlib.text import count, share

_PRINTED = {"least": PRINTED_LEAST_S, "mean": PRINTED_MEAN_S, "most": PRINTED_MOST_S}
_STEP_S = 50
# Order of the list and allocation.
_PLACINGS = {"first": ("xyz-by2", "first"), "contiguous": ("xyz-by2", "contiguous"), "nid": ("nid", "first")}
# How many of the chosen days are there to watch: to simulate more takes a browser long.
_WATCHED_DAYS = 3
# Values that the model was fitted to.
_FITTED_TASKS = "8192"
# Of two hundred histories at the settings to which the model was fitted: jobs, runs, and the slowest run. A test makes them
# again from data/placed-jobs-population.csv, which is too large for a page.
_ALL_JOBS, _ALL_RUNS, _ALL_MOST_S = 2600, 7800, 2255
# Assumed: the size of the sample is not printed.
_SAMPLE = 100
_FITTED_NOISE = 0.5


class Study(ask.Setting):
    """One setting of the study, and the run times that it gives."""

    tasks: str = ask.choice(
        "Size of the job",
        _FITTED_TASKS,
        {"4096": "4,096 cores", _FITTED_TASKS: "8,192 cores", "16384": "16,384 cores"},
        help="Jobs on Hopper, whose run times are printed, so that the model could be fitted to them.",
    )
    noise_percent: float = ask.slider(
        "Run-to-run noise",
        _FITTED_NOISE,
        (0.0, 20.0, 0.1),
        unit="%",
        help="Mean additional run time from noise. NERSC's page says that runs on the same nodes varied very little.",
    )
    traffic: str = ask.choice(
        "Neighbors' traffic",
        "assumed",
        {
            "none": "none",
            "stencils": "on grids only",
            "assumed": "on grids, some to all their nodes, some to files",
            "double": "the same, twice as much",
        },
        help="Tasks of the other jobs send to their neighbors on grids of one to three dimensions; in some jobs all "
        "send to all.",
        assumed="No source prints what other jobs sent.",
    )
    placing: str = ask.choice(
        "Placement",
        "first",
        {
            "first": "first free nodes of the xyz-by2 list",
            "contiguous": "one run of that list, or wait",
            "nid": "first free nodes of the NID list",
        },
        assumed="The definition of xyz-by2 is not printed.",
    )

    def check(self) -> None:
        """Reject sizes that were not simulated."""
        if self.placing != "first" and self.tasks != _FITTED_TASKS:
            raise InputError(
                f"tasks={self.tasks} was simulated on the first free nodes of the xyz-by2 list only; take 8192, or that list",
                name="tasks",
            )

    @cached_property
    def jobs(self) -> Sequence[PlacedJob]:
        """The placed jobs."""
        return selected(*_PLACINGS[self.placing], int(self.tasks))

    @cached_property
    def times(self) -> causes.TimesByCause:
        """Their run times."""
        fitted = model(_SAMPLE)
        noise = self.noise_percent / 100
        return causes.run_times_by_cause(self.jobs, fitted, traffic=self.traffic, noise=noise, seed=1)

    @cached_property
    def correlations(self) -> dict[str, list[float | None]]:
        """Correlation of each metric with the least times, one a cause; None where nothing varies."""
        return causes.correlations(self.jobs, self.times)

    def squares(self, metric: str) -> list[float | None]:
        """Share of the variance of the least times that a metric explains, one a cause."""
        return [None if r is None else r * r for r in self.correlations[metric]]

    @property
    def best(self) -> tuple[float, str]:
        """The largest of these shares with all causes, and its metric."""
        return max((self.squares(name)[-1] or 0.0, name) for name in METRICS)

    @property
    def as_fitted(self) -> bool:
        """Whether everything except the noise is as it was when the model was fitted."""
        return (self.tasks, self.placing, self.traffic) == (_FITTED_TASKS, "first", "assumed")

    @property
    def badge(self) -> Literal["calibrated", "predicted"]:
        """Badge of the mean: at the defaults the noise was fitted too."""
        return "calibrated" if self.as_fitted and self.noise_percent == _FITTED_NOISE else "predicted"

    @cached_property
    def slowest(self) -> PlacedJob:
        """The job to follow: of those that begin in the days to watch, the one whose slowest run takes longest."""
        watched = [job for job in self.jobs if job.day < _WATCHED_DAYS]
        return max(watched, key=lambda job: max(self.run_times_s(job)))

    def run_times_s(self, job: PlacedJob) -> tuple[float, ...]:
        """Run times of a job alone and of its three runs, without noise. [s]"""
        runs = [*sampled_conditions([job], "none")[0][:1], *sampled_conditions([job], self.traffic)[0]]
        return tuple(map(model(_SAMPLE).run_time_s, runs))

    def watched(self, seed: int = 0) -> Recorder:
        """Return the history of the slowest job to watch, or that of a seed, and its MILC jobs with their run times."""
        order, allocation = _PLACINGS[self.placing]
        hopper, known = Machine.load("hopper"), histories(Machine.load("hopper"))
        assert known is not None
        seed = seed or self.slowest.seed
        schedule = known.schedule(seed, allocation, until_day=_WATCHED_DAYS)
        width = -(-int(self.tasks) // known.cores)
        jobs = zip(schedule.workload.job, schedule.workload.nodes, strict=True)
        numbers = (number for number, nodes in jobs if number >= FIRST_MILC and nodes == width)
        placed = (job for job in selected(order, allocation, int(self.tasks)) if job.seed == seed)
        milc = [(number, *map(round, self.run_times_s(job))) for number, job in zip(numbers, placed, strict=False)]
        more = {"milc": milc, "mean_s": round(self.times.mean_s)}
        return Recorder(hopper, schedule, _WATCHED_DAYS * 86_400, order=order, traffic=self.traffic, more=more)


def answer(study: Study) -> Result:
    """Return the answer.

    Parameters
    ----------
    study : Study
        One setting of the study, and the run times that it gives.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Study()).facts['mean_s'])
    1115
    """
    facts = _facts(study)
    return Result(
        summary=_summary(study, facts),
        findings=tuple(_findings(study)),
        values=tuple(_values(study, facts)),
        figures=(_histogram(sorted(study.times.runs), _marks(study)),),
        tables=(_metrics(study),),
        facts=facts,
        watched=study.watched,
    )


def _facts(study: Study) -> dict[str, Any]:
    runs = sorted(study.times.runs)
    strongest = [row[-1] for row in study.correlations.values() if row[-1] is not None]
    return {
        "mean_s": study.times.mean_s,
        "least_s": runs[0],
        "most_s": runs[-1],
        "sd_s": study.times.sd_s,
        "triplet_percent": 100 * (study.times.slowest_over_fastest - 1),
        "best_r2": study.best[0],
        "least_correlation": min(strongest, default=0.0),
        "wait_h": fmean(job.wait_h for job in study.jobs),
        "jobs": len(study.jobs),
    }


def _summary(study: Study, facts: dict[str, Any]) -> str:
    best, metric = study.best
    short = f" None comes near the printed {PRINTED_MOST_S:,.0f} s." if facts["most_s"] < 0.9 * PRINTED_MOST_S else ""
    return (
        f"{count(facts['jobs'], 'job')} took {facts['least_s']:,.0f} to {facts['most_s']:,.0f} s, {facts['mean_s']:,.0f} s "
        f"on average.{short} The metric that explains most, {METRICS[metric]}, explains {share(best)} of the variance of the "
        f"least times. A job waited {facts['wait_h']:.1f} h for its nodes."
    )


def _findings(study: Study) -> Iterator[Finding]:
    if study.tasks != _FITTED_TASKS:
        message = "The model was fitted to 8,192 cores; here each core is taken to have as much work."
        yield Finding("other-size", message, "note")
    if study.as_fitted:
        message = (
            f"Of {_ALL_RUNS:,} runs of {_ALL_JOBS:,} jobs, simulated in the same way, the slowest takes {_ALL_MOST_S:,} s. "
            f"So a run nearly as slow as the printed one is possible in the model, but only for one job in {_ALL_JOBS:,}."
        )
        yield Finding("far-out", message, "note")


def _values(study: Study, facts: dict[str, Any]) -> Iterator[Value]:
    yield Value("Mean run time", facts["mean_s"], study.badge, "s", 0)
    yield Value("Slowest run", facts["most_s"], "predicted", "s", 0, note=f"the page prints {PRINTED_MOST_S:,.0f}")
    label = "Slowest over fastest run of one job"
    yield Value(label, facts["triplet_percent"], "predicted", "%", 1, note="mean, with the same nodes")


def _marks(study: Study) -> dict[str, float]:
    """Return the times to mark: the printed ones, and the slowest that thousands of simulated runs hold."""
    marks = {f"printed {word}, {time:,.0f} s": time for word, time in _PRINTED.items()}
    if study.as_fitted:
        marks[f"slowest of {_ALL_RUNS:,} simulated, {_ALL_MOST_S:,} s"] = _ALL_MOST_S
    return marks


def _histogram(runs: Sequence[float], marks: dict[str, float]) -> Figure:
    """Return the number of runs per bin of run time."""
    steps = [int(time // _STEP_S) for time in runs]
    counts = [steps.count(step) for step in range(steps[0], steps[-1] + 1)]
    return histogram_figure([step * _STEP_S for step in range(steps[0], steps[-1] + 2)], counts, {}, marks=marks)


def _metrics(study: Study) -> Table:
    shape, neighbors, noise = causes.CAUSES
    return table(
        "Share of the variance of the least times that each metric explains, and the sign of its correlation",
        list(METRICS),
        {
            "Metric": lambda name: METRICS[name],
            Column(f"r-squared, {shape}", decimals=3, badge="predicted"): lambda name: study.squares(name)[0],
            Column(f"r-squared, {neighbors}", decimals=3, badge="predicted"): lambda name: study.squares(name)[1],
            Column(f"r-squared, {noise}", decimals=3, badge="predicted"): lambda name: study.squares(name)[2],
            Column("Correlation", decimals=2, badge="predicted"): lambda name: study.correlations[name][-1],
        },
    )


QUESTION = ask.declared(
    Study,
    answer,
    title="Why do run times vary?",
    examples={
        "Alone on the machine": {"traffic": "none", "noise_percent": 0.0},
        "Kept in one piece": {"placing": "contiguous"},
        "The order lost": {"placing": "nid"},
    },
)
