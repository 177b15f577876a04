"""Question: what a suite of benchmarks sustains, and whether each keeps its commitment."""

import csv
from typing import Any

from hopperlib.errors import InputError
from hopperlib.monitoring.ssp import Rate, Suite, improvement, rate, speedup_term
from hopperlib.questions.question import Asked, declared
from hopperlib.questions.result import Result
from hopperlib.questions.wording import record_of

_WAYS = ({"rate"}, {"operations", "time_s", "processors"}, {"speedup", "processors", "nodes_reference"})


def _rows(text: str) -> list[dict[str, Any]]:
    """Return the benchmarks of a table by what its columns hold; of several rows of one the last, as in a log."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("the suite holds nothing", name="suite")
    # Whatever parts the columns stands in the header most often.
    delimiter = max(",;\t|", key=lines[0].count)
    table = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    header = [cell.lower() for cell in table[0]]
    places = {
        what: header.index(name)
        for what, names in record_of(__name__)["columns"].items()
        for name in names[::-1]
        if name in header
    }
    figure = next((place for place, name in enumerate(header) if name.endswith("_value")), None)
    if "rate" not in places and figure is not None:
        places["rate"] = figure
        named = [place for place, name in enumerate(header) if name.endswith("_ref")]
        places |= {"commitment": named[0]} if named else {}
    if "name" not in places or not any(way <= places.keys() for way in _WAYS):
        raise InputError(
            "a suite needs a column benchmark, and rate, or operations, time_s and processors, or speedup, nodes and "
            f"nodes_reference; the columns are: {', '.join(table[0])}",
            name="suite",
        )
    benchmarks: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(table[1:], 2):
        if len(row) != len(header):
            raise InputError(f"line {number} has {len(row)} cells for {len(header)} columns", name="suite")
        cells = {what: _number(row[place], number) for what, place in places.items() if what != "name"}
        name = row[places["name"]]
        benchmarks[name] = cells | {"name": name, "rows": benchmarks.get(name, {"rows": 0})["rows"] + 1}
    if not benchmarks:
        raise InputError("a suite needs at least one benchmark", name="suite")
    return list(benchmarks.values())


def _need(row: dict[str, Any], *names: str) -> None:
    """Refuse a benchmark that has no value for one of some columns."""
    for name in names:
        if not row.get(name):
            raise InputError(f"{row['name']} has no value above 0 for {name}", name="suite")


def _number(text: str, line: int) -> float | None:
    """Return a cell as a number, None if it is empty; zero, as ReFrame writes no reference, is none."""
    if text.lower() in ("", "null", "none", "-"):
        return None
    try:
        return float(text) or None
    except ValueError:
        raise InputError(f"line {line}: {text!r} is no number", name="suite") from None


class _Suite(Asked):
    """One suite, and the processors of the machine."""

    def result(self) -> Result:
        """Return the answer: of a suite with speed-ups over another machine by the later definition."""
        rows = _rows(self.suite)
        return self.improved(rows) if "speedup" in rows[0] else self.sustained(rows)

    def sustained(self, rows: list[dict[str, Any]]) -> Result:
        """Return Sustained System Performance and what was committed."""
        rates = []
        for row in rows:
            parts = ("operations", "time_s", "processors")
            _need(row, *(parts if "operations" in row and not row.get("rate") else ("rate",)))
            value = row.get("rate") or rate(*(row[part] for part in parts))
            given = {what: row.get(what) for what in ("commitment", "reference")}
            rates.append(Rate(name=row["name"], rate=value, **given))
        suite = Suite(rates=tuple(rates), processors=self.processors)
        said = self.said()
        return said.also(
            found=suite,
            verdict=said.text({None: "none", True: "passes", False: "fails"}[suite.passes]),
            total=None,
            rates=[
                {
                    "of": each,
                    "short": each in suite.short,
                    "times": each.rate / each.reference if each.reference else None,
                }
                for each in rates
            ],
            repeated=[row["name"] for row in rows if row["rows"] > 1],
            machine=self.processors > 1,
            margin=suite.ssp / suite.committed - 1 if suite.committed else None,
            mean_short=suite.committed is not None and suite.ssp < suite.committed,
            judged=suite.passes is not None,
            no_mean=suite.passes is not None and suite.committed is None,
            times=suite.ssp / suite.reference if suite.reference else None,
            committed=[{"name": each.name, "over": each.rate / each.commitment} for each in rates if each.commitment],
            margins={each.name: each.margin for each in rates},
        ).result()

    def improved(self, rows: list[dict[str, Any]]) -> Result:
        """Return Scalable System Improvement: capability, utilization and speed-up over a reference machine."""
        for row in rows:
            _need(row, "speedup", "processors", "nodes_reference")
            row["term"] = speedup_term(
                speedup=row["speedup"],
                nodes=row["processors"],
                nodes_reference=row["nodes_reference"],
                machine=self.processors,
                machine_reference=self.processors_reference,
                capability=row.get("capability") or 1.0,
            )
        total = improvement([row["term"] for row in rows], [row.get("weight") or 1.0 for row in rows])
        said = self.said(found=None, times=None, total=total, rows=rows)
        return Result(
            summary=said.text("improvement"),
            values=said.values,
            tables=(said.table("terms"),),
            facts={"ssi": total, "terms": {row["name"]: row["term"] for row in rows}},
        )


QUESTION = declared(__name__, _Suite.answer)
