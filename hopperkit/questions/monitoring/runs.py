"""Question: why runs of one program differ, which column separates them, and which run to make next."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from statistics import median
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.monitoring._runs_next import next_run
from hopperkit.questions.monitoring._runs_words import findings, headline
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperkit.readers.runs_table import read_runs
from hopperkit.variation.explanation import Explanation, explain
from hopperkit.variation.robust import spread_of
from hopperkit.variation.table import RunsTable
from hopperlib.errors import InputError
from hopperlib.network.runtime.power import runs_needed
from hopperlib.package_data import load_text_resource
from hopperlib.text import count, share

_MAX_ROWS = 12
# Runs farther from the median than this are drawn at the edge of the chart. [interquartile ranges]
_FARTHEST = 12.0
_NODE_RUNS, _DATED_RUNS = (
    load_text_resource(__file__, f"samples/{name}.csv") for name in ("runs-by-node", "runs-by-day")
)


class Given(ask.Setting):
    """Run times with their known attributes, and the accounting of their jobs."""

    runs: str = ask.file(
        "Run times",
        _NODE_RUNS,
        argument=True,
        required=True,
        rows=10,
        max_length=2_000_000,
        accept=".csv,.txt,.log",
        placeholder="Times alone, or a table: run_time_s, and nodes, date, partition, build, counters ...",
        help="Times alone, one per line, or a table with headings: every other column (node list, date, partition, build, counters) may explain the times. Output of `sacct -P` works too. The file stays on this page.",
    )
    jobs: str = ask.file(
        "Accounting of the jobs",
        help="Output of `sacct -aXP -o JobID,Partition,NodeList,Start`: its columns are joined by the column `job`.",
        rows=4,
        advanced=True,
    )
    column: str = ask.text(
        "Column of the times",
        max_length=200,
        help="If empty, it is found by name, such as run_time_s or Elapsed.",
        advanced=True,
    )
    group: str = ask.text(
        "Column of the jobs",
        max_length=200,
        help="Runs with the same value belong to one job. If empty: `job` or `jobid`.",
        advanced=True,
    )
    change_percent: float = ask.number(
        "Change that matters",
        5.0,
        (0.1, 90.0, 0.5),
        unit="%",
        option="change",
        help="Used for the number of runs that would show it.",
    )

    @cached_property
    def table(self) -> RunsTable:
        """The runs."""
        if not self.runs.strip():
            raise InputError("paste or drop run times: one per line, or a table with headings", name="runs")
        return read_runs(self.runs, jobs=self.jobs, column=self.column or None, group=self.group or None)


def answer(given: Given) -> Result:
    """Return the answer for one table.

    Parameters
    ----------
    given : Given
        Run times with their known attributes, and the accounting of their jobs.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> answer(Given()).facts['kind']
    'few slow'
    """
    found = explain(given.table)
    needed = _needed(found, given.change_percent / 100)
    return Result(
        summary=headline(found),
        findings=tuple(findings(found)),
        values=tuple(_values(found, needed, given.change_percent)),
        figures=(_in_order(found),),
        tables=tuple(_tables(found)),
        facts=_facts(found, needed),
    )


def _needed(found: Explanation, change: float) -> int | None:
    """Runs of each of two variants that show a change in the spread of ordinary runs; None for over 100,000."""
    return runs_needed(change, found.shape.spread) if found.shape.spread > 0 else 2


def _values(found: Explanation, needed: int | None, change: float) -> Iterator[Value]:
    runs, unit = found.table.values, found.table.unit
    yield Value(
        "Median", median(runs), None, unit, note=f"of {count(len(runs), 'run')}, {min(runs):,.6g} to {max(runs):,.6g}"
    )
    yield Value(
        "Spread of ordinary runs", 100 * found.shape.spread, "calibrated", "%", 2, note="robust standard deviation"
    )
    runs_text = "over 100,000" if needed is None else needed
    yield Value(
        f"Runs of each variant for a change of {change:g} %",
        runs_text,
        "predicted",
        note="ordinary runs, power 80 %, t-test",
    )


def _in_order(found: Explanation) -> Figure:
    """Return the runs in order, by date if known; distant runs are drawn at the edge."""
    runs = found.table
    low, high = _edges(runs.values)
    inside = [min(max(value, low), high) for value in runs.values]
    places: Sequence[Any] = runs.when or range(1, len(inside) + 1)
    apart = set(found.shape.slow)
    named = {"two groups": "slow group", "step": "slower side", "few slow": "slow runs", "few fast": "fast runs"}
    sides = {"runs": [place for place in range(len(inside)) if place not in apart]}
    if apart:
        sides[named[found.shape.kind]] = sorted(apart)
    series = [
        Series(name=name, x=[places[at] for at in members], y=[inside[at] for at in members], kind="points")
        for name, members in sides.items()
        if members
    ]
    beyond = [place for place, value in enumerate(runs.values) if not low <= value <= high]
    if beyond:
        series.append(
            Series(
                name="beyond the edge",
                x=[places[at] for at in beyond],
                y=[inside[at] for at in beyond],
                kind="points",
                style=4,
            )
        )
    off = (
        f" {count(len(beyond), 'run')} beyond the edge, up to {max(runs.values):,.5g} {runs.unit}".rstrip()
        if beyond
        else ""
    )
    return chart(
        title="Runs in order",
        alt=f"{count(len(inside), 'run')} from {min(runs.values):,.5g} to {max(runs.values):,.5g} {runs.unit}".rstrip()
        + f": {found.shape.kind}.{off}",
        x=Axis(title="Date" if runs.when else "Run"),
        y=Axis(title=runs.name if runs.rate else "Run time", unit=runs.unit),
        series=series,
    )


def _edges(values: Sequence[float]) -> tuple[float, float]:
    """Return the plotted range: all runs, or those within this many spreads if a few are far beyond."""
    middle, spread = median(values), spread_of(values)
    low, high = middle - _FARTHEST * spread, middle + _FARTHEST * spread
    outside = sum(not low <= value <= high for value in values)
    if not spread or not outside or outside > max(1, 0.1 * len(values)):
        return min(values), max(values)
    return max(low, min(values)), min(high, max(values))


def _tables(found: Explanation) -> Iterator[Table]:
    """Yield the comparisons, and the joint effects of all columns."""
    rows = found.separated.rows
    if rows:
        of = f", {_MAX_ROWS} of {len(rows):,}" if len(rows) > _MAX_ROWS else ""
        yield table(
            f"Columns and nodes, each alone{of}, best first; the probability is that of the best one with shuffled times",
            rows[:_MAX_ROWS],
            {
                "Column or node": lambda row: row.factor.name,
                Column("Deviation from chance", "standard deviations", 1): lambda row: row.z,
                Column("Chance", "%", 1): lambda row: 100 * row.chance,
                "Without overlap": lambda row: row.exact,
            },
        )
    if found.effects:
        yield table(
            f"All columns together, by Huber's M-estimator on the logarithm; they explain {share(found.effects.explained)} of "
            "the variance of ordinary runs; p corrected by Holm",
            found.effects.rows[:_MAX_ROWS],
            {
                "Column": lambda row: row.factor.name,
                "From": lambda row: row.between[0],
                "To": lambda row: row.between[1],
                Column("Change", "%", 1): lambda row: row.percents[1],
                Column("Low", "%", 1): lambda row: row.percents[0],
                Column("High", "%", 1): lambda row: row.percents[2],
                "p corrected": lambda row: float(f"{row.p_corrected:.2g}"),
            },
        )
    if found.unseen:
        yield table(
            "Effects not found, with the size that 80 of 100 data sets like this one would show",
            found.unseen[:_MAX_ROWS],
            {
                "What": lambda row: row.what,
                Column("Size", "%", 1): lambda row: None if row.ratio is None else 100 * (row.ratio - 1),
            },
        )


def _facts(found: Explanation, needed: int | None) -> dict[str, Any]:
    """Return the output of `hopper runs --json`; its keys are stable."""
    best, parts = found.best, found.components
    return {
        "runs": len(found.table.values),
        "kind": found.shape.kind,
        "tested": found.shape.tested,
        "ratio": found.shape.ratio,
        "apart": list(found.shape.slow),
        "chances": found.shape.chances,
        "spread": found.shape.spread,
        "separated_by": best and best.factor.name,
        "chance": best and best.chance,
        "without_overlap": bool(best and best.exact),
        "found": list(found.found),
        "shared": found.shared and found.shared.factor.name,
        "with_order": list(found.with_order),
        "effects": [
            {
                "name": row.factor.name,
                "between": list(row.between),
                "low": row.low,
                "change": row.change,
                "high": row.high,
                "p_corrected": row.p_corrected,
            }
            for row in (found.effects.rows if found.effects else ())
        ],
        "explained": found.effects and found.effects.explained,
        "between_jobs": parts and {"low": parts.low, "share": parts.share, "high": parts.high},
        "unseen": {row.what: row.ratio for row in found.unseen},
        "runs_needed": needed,
        "next_run": next_run(found),
    }


QUESTION = ask.declared(
    Given,
    answer,
    title="Why do my runs differ?",
    examples={
        "A slow node": {"runs": _NODE_RUNS},
        "Two slow days": {"runs": _DATED_RUNS},
        "Times alone, in two groups": {
            "runs": "run_time_s\n1127.2\n1122.4\n369.2\n365.1\n370.8\n1119.4\n372.0\n368.9\n"
        },
    },
)
