"""Question: what a suite of benchmarks sustains, and whether each keeps its commitment."""

from __future__ import annotations

import csv
from collections.abc import Iterator

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.monitoring.ssp import Rate, Suite, rate
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Result, Table, Value

__all__ = ["QUESTION", "read_suite"]

# Columns of a suite by what they hold; the second of some are those of a performance log of ReFrame.
_COLUMNS = {
    "name": ("benchmark", "name", "code", "test", "display_name"),
    "rate": ("rate", "value", "current", "rate_value", "perf_value"),
    "commitment": ("commitment", "committed", "rate_ref", "reference_value", "required"),
    "reference": ("reference", "baseline"),
    "operations": ("operations", "flop", "tflop", "gflop", "count"),
    "time_s": ("time_s", "time", "seconds", "elapsed_s"),
    "processors": ("processors", "nodes", "tasks", "cores", "num_tasks"),
}


def read_suite(text: str) -> tuple[Rate, ...]:
    r"""Return the rates of a table: benchmark and rate, or operations, time and processors; commitment and reference if there.

    Of a benchmark with several rows the last counts, so that a log may be given as it is.

    Examples
    --------
    >>> read_suite("benchmark,rate,commitment\nFT,822,670\n")[0].margin > 0.2
    True
    >>> round(read_suite("code,tflop,time_s,nodes\nMiniFE,1065,92.4,2048\n")[0].rate, 5)
    0.00563
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("the suite holds nothing", name="suite")
    delimiter = max(",;\t|", key=lines[0].count)
    table = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    header = [cell.lower() for cell in table[0]]
    places = {
        what: next((header.index(name) for name in names if name in header), None) for what, names in _COLUMNS.items()
    }
    figure = next((place for place, name in enumerate(header) if name.endswith("_value")), None)
    if places["rate"] is None and figure is not None:
        places["rate"] = figure
        places["commitment"] = next((place for place, name in enumerate(header) if name.endswith("_ref")), None)
    told = places["rate"] is not None or None not in (places["operations"], places["time_s"], places["processors"])
    if places["name"] is None or not told:
        raise InputError(
            "a suite needs a column benchmark, and rate, or operations, time_s and processors; "
            f"the columns are: {', '.join(table[0])}",
            name="suite",
        )
    rates = {}
    for number, row in enumerate(table[1:], 2):
        if len(row) != len(header):
            raise InputError(f"line {number} has {len(row)} cells for {len(header)} columns", name="suite")
        cells = {
            what: _number(row[place], number) for what, place in places.items() if place is not None and what != "name"
        }
        value = cells.get("rate") or rate(cells["operations"] or 0, cells["time_s"] or 0, cells["processors"] or 0)
        name = row[places["name"]]
        rates[name] = Rate(name=name, rate=value, commitment=cells.get("commitment"), reference=cells.get("reference"))
    return tuple(rates.values())


def _number(text: str, line: int) -> float | None:
    """Return a cell as a number, None if it is empty; zero, as ReFrame writes no reference, is none."""
    if text.lower() in ("", "null", "none", "-"):
        return None
    try:
        return float(text) or None
    except ValueError:
        raise InputError(f"line {line}: {text!r} is no number", name="suite") from None


def _answer(*, suite: str, processors: int) -> Result:
    """Answer for one suite."""
    rates = Suite(rates=read_suite(suite), processors=processors)
    passes = rates.passes
    verdict = "No commitment is given." if passes is None else "It passes." if passes else "It fails."
    promised = f", committed {rates.committed:,.6g} ({rates.ssp / rates.committed - 1:+.1%})" if rates.committed else ""
    return Result(
        summary=f"{verdict} Sustained: {rates.ssp:,.6g}{promised}, the geometric mean of {len(rates.rates)} rates"
        f"{f' times {processors:,}' if processors > 1 else ' of one processor'}.",
        findings=tuple(_findings(rates)),
        values=tuple(_values(rates)),
        figures=(
            chart(
                title="Rates over their commitments",
                alt=f"Bars of each rate over its commitment: {verdict}",
                x=Axis(title="Benchmark"),
                y=Axis(title="Rate over commitment", low=0, decimals=2),
                series=[
                    Series(
                        name="rate",
                        x=[one.name for one in rates.rates if one.commitment],
                        y=[one.rate / one.commitment for one in rates.rates if one.commitment],
                        kind="bars",
                    )
                ],
            ),
        )
        if passes is not None
        else (),
        tables=(_table(rates),),
        facts={
            "ssp": rates.ssp,
            "committed": rates.committed,
            "reference": rates.reference,
            "passes": passes,
            "margins": {one.name: one.margin for one in rates.rates},
            "short": [one.name for one in rates.short],
        },
    )


def _findings(suite: Suite) -> Iterator[Finding]:
    """Yield the benchmarks that fall short, and a mean that does."""
    for one in suite.short:
        yield Finding(
            code="short",
            message=f"{one.name} gives {one.rate:,.6g} of {one.commitment:,.6g} committed ({one.margin:+.1%}).",
            level="problem",
        )
    if suite.committed is not None and suite.ssp < suite.committed:
        yield Finding(
            code="mean-short", message="The geometric mean is below that of the commitments.", level="problem"
        )
    if suite.passes is not None and suite.committed is None:
        yield Finding(
            code="no-mean", message="Not every benchmark has a commitment: the means are not compared.", level="unknown"
        )


def _values(suite: Suite) -> Iterator[Value]:
    """Yield the means."""
    note = "geometric mean of the rates given, times the processors"
    yield Value("Sustained performance", suite.ssp, "documented", decimals=1, note=note)
    if suite.committed is not None:
        yield Value("Committed", suite.committed, "documented", decimals=1, note=note)
    if suite.reference is not None:
        yield Value("Times the reference machine", suite.ssp / suite.reference, "documented", decimals=2, note=note)


def _table(suite: Suite) -> Table:
    """Return the benchmarks with their margins."""
    return Table(
        caption="The suite",
        columns=(
            Column(title="Benchmark"),
            Column(title="Rate"),
            Column(title="Commitment"),
            Column(title="Margin", unit="%", decimals=1),
            Column(title="Times the reference", decimals=2),
        ),
        rows=[
            (
                one.name,
                one.rate,
                one.commitment,
                None if one.margin is None else 100 * one.margin,
                one.rate / one.reference if one.reference else None,
            )
            for one in suite.rates
        ],
        marked=tuple(place for place, one in enumerate(suite.rates) if one in suite.short),
        marked_label="below its commitment",
    )


QUESTION = declared(__name__, _answer)
