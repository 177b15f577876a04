"""What mdtest prints: rates of metadata operations, as rows beside those of IOR.

Versions 1.9 and 3.x put a colon behind the operation, 4.x does not. A phase that
was left out is printed as four zeros; it is a row without a rate here.
"""

import re
from dataclasses import replace
from typing import Any

from hopperlib.readers.ior.results import IoResult, Status
from hopperlib.readers.ior.tokens import count, error_in, number, worst
from hopperlib.readers.source import Source, text_of

_BANNER = re.compile(r"\b(mdtest-\S{1,40}) was launched with (\d+) total task\(s\) on (\d+) node")
_SUMMARY = re.compile(r"\bSUMMARY(?: (rate|time))?:?\s*(?:\(of (\d+) iterations?\))?")
_ROW = re.compile(
    r"((?:Directory|File|Tree) (?:creation|stat|read|rename|removal|write))\s{0,40}(?::|\s)\s{0,40}((?:[-\d.]|nan|inf).*)"
)


def read_mdtest(source: Source, *, file: str = "-") -> list[IoResult]:
    """Return the operations of one run of mdtest as rows, with their rates in `operations_s`. [1/s]

    Parameters
    ----------
    source : str, bytes, path-like or binary file
        From the banner of one run to the next.
    file : str
        What the rows are to say.

    Examples
    --------
    >>> text = '''mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)
    ... SUMMARY rate: (of 1 iterations)
    ...    File creation   2568.636   2568.636   2568.636   0.000
    ...    File stat   0.000   0.000   0.000   0.000'''
    >>> [(row.access, row.operations_s, row.status) for row in read_mdtest(text, file="a.txt")]
    [('file creation', 2568.636, 'ok'), ('file stat', None, 'not-run')]
    """
    version, tasks, nodes, iterations = None, None, None, None
    rows: dict[str, tuple[str, ...]] = {}
    errors: list[tuple[bool, str]] = []
    in_rates = False
    for full in text_of(source, name=file).splitlines():
        line = full[:2000]
        banner, summary, row = _BANNER.search(line), _SUMMARY.search(line), _ROW.search(line)
        if banner:
            version, tasks, nodes = banner[1], count(banner[2]), count(banner[3])
        elif summary:
            in_rates = summary[1] != "time"
            iterations = count(summary[2] or "") or iterations
        elif row and in_rates:
            # Of a torn row, without its deviation, not even the mean is sure to be whole.
            words = row[2].split()
            rows.setdefault(row[1].lower(), tuple(words[:3]) if len(words) > 3 else ())
        elif (error := error_in(line)) and len(errors) < 50:
            errors.append(error)
    status, reason = _status(errors, bool(rows))
    # A file says how many tasks run on how many nodes, not how they are spread; even is what divides.
    per_node = tasks // nodes if tasks and nodes and tasks % nodes == 0 else None
    run: dict[str, Any] = {"file": file, "version": version, "tasks": tasks, "nodes": nodes, "tasks_per_node": per_node}
    blank = IoResult(**run, status=status, reason=reason)
    results = []
    for access, words in rows.items():
        result = replace(blank, access=access, repetition=0 if iterations == 1 else None)
        rates = {name: number(word) for name, word in zip(("max", "min", "mean"), words, strict=False)}
        if not rates or None in rates.values():
            torn = "its row is torn, or a rate is printed as no number"
            results.append(replace(result, status="incomplete", reason=torn))
        elif not all(rates.values()):
            results.append(replace(result, status="not-run", reason="its rates are printed as zero"))
        elif iterations == 1:
            results.append(replace(result, operations_s=rates["mean"]))
        else:
            results += [replace(result, statistic=name, operations_s=rate) for name, rate in rates.items()]
    return results or [replace(blank, repetition=0 if iterations == 1 else None)]


def _status(errors: list[tuple[bool, str]], any_rows: bool) -> tuple[Status, str | None]:
    """Return how the run ended, and why."""
    hard, reason = worst(errors)
    if hard or (errors and not any_rows):
        return "failed", reason
    return ("ok", None) if any_rows else ("incomplete", "the output ends before the summary")
