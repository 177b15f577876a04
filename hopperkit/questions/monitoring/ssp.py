"""Question: the sustained performance of a suite of benchmarks, and whether each meets its commitment."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from hopperkit.questions import ask
from hopperkit.questions.figures import Axis, Series, chart
from hopperkit.questions.result import Column, Figure, Result, Table, Value, table
from hopperkit.readers.benchmark_suite import SuiteRow, read_suite
from hopperlib.finding import Finding
from hopperlib.monitoring.ssp import Rate, Suite, rate
from hopperlib.text import count, share

_MAX_ROWS = 12
_BASSI = """\
benchmark,rate,commitment,reference
NPB FT,822,670,91.8
NPB MG,1345,800,151.8
NPB SP,572,480,59.8
CAM,554,493,114.2
GTC,753,650,145.1
PARATEC,4794,4400,848.5
"""
_HOPPER = """\
benchmark,tflop,time_s,nodes
MiniFE,1065,92.4,2048
MiniGhost,3350,96.0,2048
AMG,1365,151,2048
UMT,18409,1263,2048
"""
_SHORT = """\
benchmark,rate,commitment
NPB FT,900,670
CAM,480,493
"""


class Given(ask.Setting):
    """One suite, and the processors of the machine."""

    suite: str = ask.file(
        "Rates of the suite",
        _BASSI,
        argument=True,
        required=True,
        rows=8,
        accept=".csv,.log,.txt",
        help="CSV with benchmark and rate, or operations, time_s and processors; and commitment and reference if available. A ReFrame performance log works too: its reference is the commitment. It stays on this page.",
    )
    processors: int = ask.whole(
        "Processors, or nodes, of the machine",
        1,
        (1, 10_000_000),
        help="The mean is multiplied by this number; 1 gives the value for one processor.",
    )

    @cached_property
    def rows(self) -> list[SuiteRow]:
        """The benchmarks as given."""
        return read_suite(self.suite)

    @cached_property
    def judged(self) -> Suite:
        """The benchmarks with their rates."""
        return Suite(rates=tuple(map(_rate, self.rows)), processors=self.processors)


def _rate(row: SuiteRow) -> Rate:
    """Return a benchmark with its rate, computed if only operations and times are given."""
    value = row.values.get("rate")
    if not value and "operations" in row.values:
        value = rate(row.need("operations"), row.need("time_s"), row.need("processors"))
    return Rate(
        name=row.name,
        rate=value or row.need("rate"),
        commitment=row.values.get("commitment"),
        reference=row.values.get("reference"),
    )


def _shown(given: Given) -> str:
    """State how many rows a table shows if it does not show all."""
    return f", {_MAX_ROWS} of {len(given.rows):,}" if len(given.rows) > _MAX_ROWS else ""


def answer(given: Given) -> Result:
    """Return the answer.

    Parameters
    ----------
    given : Given
        One suite, and the processors of the machine.

    Returns
    -------
    Result
        The answer.

    Examples
    --------
    >>> round(answer(Given()).facts['ssp'], 2)
    1039.92
    """
    return Result(
        summary=_summary(given),
        findings=tuple(_findings(given)),
        values=tuple(_values(given.judged)),
        figures=(_commitments(given.judged),) if given.judged.passes is not None else (),
        tables=(_suite(given),),
        facts=_facts(given.judged),
    )


def _verdict(suite: Suite) -> str:
    return {None: "No commitment is given.", True: "It passes.", False: "It fails."}[suite.passes]


def _summary(given: Given) -> str:
    suite = given.judged
    committed = ""
    if suite.committed:
        margin = share(suite.ssp / suite.committed - 1, 1, signed=True)
        committed = f", committed {suite.committed:,.6g} ({margin})"
    of = f"times {given.processors:,}" if given.processors > 1 else "of one processor"
    mean = f"the geometric mean of {count(len(suite.rates), 'rate')} {of}"
    return f"{_verdict(suite)} Sustained: {suite.ssp:,.6g}{committed}, {mean}."


def _findings(given: Given) -> Iterator[Finding]:
    suite = given.judged
    for code in suite.short:
        assert code.commitment is not None
        assert code.margin is not None
        text = f"{code.name} gives {code.rate:,.6g} of {code.commitment:,.6g} committed"
        yield Finding("short", f"{text} ({share(code.margin, 1, signed=True)}).", "problem")
    if suite.committed is not None and suite.ssp < suite.committed:
        yield Finding("mean-short", "The geometric mean is below that of the commitments.", "problem")
    if suite.passes is not None and suite.committed is None:
        yield Finding("no-mean", "Not every benchmark has a commitment: the means are not compared.", "unknown")
    if repeated := [row.name for row in given.rows if row.rows > 1]:
        text = f"More than one row of {', '.join(repeated)}: the last is taken, as of a log."
        yield Finding("repeated", text, "note")


def _values(suite: Suite) -> Iterator[Value]:
    note = "geometric mean of the rates given, times the processors"
    yield Value("Sustained performance", suite.ssp, "documented", "", 1, note=note)
    if suite.committed is not None:
        yield Value("Committed", suite.committed, "documented", "", 1, note=note)
    if suite.reference is not None:
        yield Value("Times the reference machine", suite.ssp / suite.reference, "documented", "", 2, note=note)


def _commitments(suite: Suite) -> Figure:
    """Return the chart of the rates over their commitments."""
    over = {each.name: each.rate / each.commitment for each in suite.rates if each.commitment}
    return chart(
        title="Rates over their commitments",
        alt=f"Bars of each rate over its commitment: {_verdict(suite)}",
        x=Axis(title="Benchmark"),
        y=Axis(title="Rate over commitment", low=0, decimals=2),
        series=[Series(name="rate", x=list(over), y=list(over.values()), kind="bars")],
    )


def _suite(given: Given) -> Table:
    suite = given.judged
    # Missed commitments are always shown, however long the suite is.
    shown = sorted(suite.rates, key=lambda each: each not in suite.short)[:_MAX_ROWS] if _shown(given) else suite.rates
    return table(
        f"The suite{_shown(given)}",
        shown,
        {
            "Benchmark": lambda each: each.name,
            Column("Rate"): lambda each: each.rate,
            Column("Commitment"): lambda each: each.commitment,
            Column("Margin", "%", 1): lambda each: None if each.margin is None else 100 * each.margin,
            Column("Times the reference", "", 2): lambda each: each.rate / each.reference if each.reference else None,
        },
        marked=tuple(at for at, each in enumerate(shown) if each in suite.short),
        marked_label="below its commitment",
    )


def _facts(suite: Suite) -> dict[str, Any]:
    return {
        "ssp": suite.ssp,
        "committed": suite.committed,
        "reference": suite.reference,
        "passes": suite.passes,
        "margins": {each.name: each.margin for each in suite.rates},
        "short": [each.name for each in suite.short],
    }


QUESTION = ask.declared(
    Given,
    answer,
    title="Is the machine as fast as promised?",
    examples={
        "Bassi in 2006, per task": {"processors": 1},
        "Hopper's reference run for its successor": {"processors": 6384, "suite": _HOPPER},
        "One code falls short": {"suite": _SHORT},
    },
)
