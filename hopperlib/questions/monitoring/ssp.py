"""Question: what a suite of benchmarks sustains, and whether each keeps its commitment."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from hopperlib.errors import InputError
from hopperlib.finding import Finding
from hopperlib.monitoring.ssp import Rate, Suite, improvement, rate, speedup_term
from hopperlib.questions.figures import Axis, Series, chart
from hopperlib.questions.question import declared
from hopperlib.questions.result import Column, Figure, Result, Table, Value

__all__ = ["QUESTION"]

# Columns of a suite by what they hold; the second of some are those of a performance log of ReFrame.
_COLUMNS = {
    "name": ("benchmark", "name", "code", "test", "display_name"),
    "rate": ("rate", "value", "current", "rate_value", "perf_value"),
    "commitment": ("commitment", "committed", "rate_ref", "reference_value", "required"),
    "reference": ("reference", "baseline"),
    "operations": ("operations", "flop", "tflop", "gflop", "count"),
    "time_s": ("time_s", "time", "seconds", "elapsed_s"),
    "processors": ("processors", "nodes", "tasks", "cores", "num_tasks"),
    "speedup": ("speedup",),
    "nodes_reference": ("nodes_reference", "processors_reference"),
    "capability": ("capability",),
    "weight": ("weight",),
}


def _rows(text: str) -> list[dict[str, Any]]:
    """Return the benchmarks of a table by what its columns hold; of several rows of one the last, as in a log."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("the suite holds nothing", name="suite")
    delimiter = max(",;\t|", key=lines[0].count)
    table = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    header = [cell.lower() for cell in table[0]]
    places = {what: header.index(name) for what, names in _COLUMNS.items() for name in names[::-1] if name in header}
    figure = next((place for place, name in enumerate(header) if name.endswith("_value")), None)
    if "rate" not in places and figure is not None:
        places["rate"] = figure
        named = [place for place, name in enumerate(header) if name.endswith("_ref")]
        places |= {"commitment": named[0]} if named else {}
    ways = ({"rate"}, {"operations", "time_s", "processors"}, {"speedup", "processors", "nodes_reference"})
    if "name" not in places or not any(way <= places.keys() for way in ways):
        raise InputError(
            "a suite needs a column benchmark, and rate, or operations, time_s and processors, or speedup, nodes and "
            f"nodes_reference; the columns are: {', '.join(table[0])}",
            name="suite",
        )
    found = {}
    for number, row in enumerate(table[1:], 2):
        if len(row) != len(header):
            raise InputError(f"line {number} has {len(row)} cells for {len(header)} columns", name="suite")
        cells = {what: _number(row[place], number) for what, place in places.items() if what != "name"}
        found[row[places["name"]]] = cells | {"name": row[places["name"]]}
    if not found:
        raise InputError("a suite needs at least one benchmark", name="suite")
    return list(found.values())


def _number(text: str, line: int) -> float | None:
    """Return a cell as a number, None if it is empty; zero, as ReFrame writes no reference, is none."""
    if text.lower() in ("", "null", "none", "-"):
        return None
    try:
        return float(text) or None
    except ValueError:
        raise InputError(f"line {line}: {text!r} is no number", name="suite") from None


def _answer(*, suite: str, processors: int, processors_reference: int) -> Result:
    """Answer for one suite: with speed-ups over another machine by the later definition."""
    rows = _rows(suite)
    if "speedup" in rows[0]:
        return _improved(rows, processors, processors_reference)
    rates = []
    for row in rows:
        value = row.get("rate") or rate(*(row.get(what) or 0 for what in ("operations", "time_s", "processors")))
        rates.append(
            Rate(name=row["name"], rate=value, **{what: row.get(what) for what in ("commitment", "reference")})
        )
    found = Suite(rates=tuple(rates), processors=processors)
    verdict = {None: "No commitment is given.", True: "It passes.", False: "It fails."}[found.passes]
    promised = f", committed {found.committed:,.6g} ({found.ssp / found.committed - 1:+.1%})" if found.committed else ""
    return Result(
        summary=f"{verdict} Sustained: {found.ssp:,.6g}{promised}, the geometric mean of {len(rates)} rates"
        f"{f' times {processors:,}' if processors > 1 else ' of one processor'}.",
        findings=tuple(_findings(found)),
        values=tuple(_values(found)),
        figures=() if found.passes is None else (_figure(found, verdict),),
        tables=(_table(found),),
        facts={
            "ssp": found.ssp,
            "committed": found.committed,
            "reference": found.reference,
            "passes": found.passes,
            "margins": {one.name: one.margin for one in rates},
            "short": [one.name for one in found.short],
        },
    )


def _improved(rows: list[dict[str, Any]], machine: int, machine_reference: int) -> Result:
    """Answer by Scalable System Improvement: capability, utilization and speed-up over a reference machine."""
    terms = []
    for row in rows:
        missing = [what for what in ("speedup", "processors", "nodes_reference") if not row.get(what)]
        if missing:
            raise InputError(f"{row['name']} has no value above 0 for {missing[0]}", name="suite")
        terms.append(
            speedup_term(
                speedup=row["speedup"],
                nodes=row["processors"],
                nodes_reference=row["nodes_reference"],
                machine=machine,
                machine_reference=machine_reference,
                capability=row.get("capability") or 1.0,
            )
        )
    total = improvement(terms, [row.get("weight") or 1.0 for row in rows])
    names = [row["name"] for row in rows]
    return Result(
        summary=f"Scalable System Improvement: {total:,.3g} times the reference machine, the geometric mean of {len(rows)} terms.",
        values=(Value("Scalable System Improvement", total, "documented", decimals=2, note="NERSC, APEX benchmarks"),),
        tables=(
            Table(
                caption="Capability times utilization times speed-up",
                columns=(Column("Benchmark"), Column("Speed-up", decimals=2), Column("Term", decimals=2)),
                rows=[(row["name"], row["speedup"], term) for row, term in zip(rows, terms, strict=True)],
            ),
        ),
        facts={"ssi": total, "terms": dict(zip(names, terms, strict=True))},
    )


def _findings(suite: Suite) -> Iterator[Finding]:
    """Yield the benchmarks that fall short, and a mean that does."""
    for one in suite.short:
        message = f"{one.name} gives {one.rate:,.6g} of {one.commitment:,.6g} committed ({one.margin:+.1%})."
        yield Finding("short", message, "problem")
    if suite.committed is not None and suite.ssp < suite.committed:
        yield Finding("mean-short", "The geometric mean is below that of the commitments.", "problem")
    if suite.passes is not None and suite.committed is None:
        yield Finding("no-mean", "Not every benchmark has a commitment: the means are not compared.", "unknown")


def _values(suite: Suite) -> Iterator[Value]:
    """Yield the means."""
    note = "geometric mean of the rates given, times the processors"
    yield Value("Sustained performance", suite.ssp, "documented", decimals=1, note=note)
    if suite.committed is not None:
        yield Value("Committed", suite.committed, "documented", decimals=1, note=note)
    if suite.reference is not None:
        yield Value("Times the reference machine", suite.ssp / suite.reference, "documented", decimals=2, note=note)


def _figure(suite: Suite, verdict: str) -> Figure:
    """Return the rates as bars over their commitments."""
    committed = [one for one in suite.rates if one.commitment]
    over = [one.rate / (one.commitment or 1) for one in committed]
    return chart(
        title="Rates over their commitments",
        alt=f"Bars of each rate over its commitment: {verdict}",
        x=Axis(title="Benchmark"),
        y=Axis(title="Rate over commitment", low=0, decimals=2),
        series=[Series(name="rate", x=[one.name for one in committed], y=over, kind="bars")],
    )


def _table(suite: Suite) -> Table:
    """Return the benchmarks with their margins."""
    over = Column("Times the reference", decimals=2)
    return Table(
        caption="The suite",
        columns=(Column("Benchmark"), Column("Rate"), Column("Commitment"), Column("Margin", "%", 1), over),
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
