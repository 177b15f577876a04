"""Read mdtest output: rates of metadata operations, as rows like IOR's.

Versions 1.9 and 3.x print a colon after the operation, 4.x does not. A skipped phase is printed as four zeros; here it
becomes a row without a rate.
"""

import re
from dataclasses import replace
from typing import Any

from hopperkit.readers.ior.results import IoResult, Status, start_in
from hopperkit.readers.ior.tokens import count, error_in, number, read_command, worst
from hopperkit.readers.source import Source, text_of

_BANNER = re.compile(r"\b(mdtest-\S{1,40}) was launched with (\d+) total task\(s\) on (\d+) node")
_COMMAND = re.compile(r"[Cc]ommand line used:\s*(.*)")
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
        Fields to set in the rows.

    Examples
    --------
    >>> text = '''mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)
    ... SUMMARY rate: (of 1 iterations)
    ...    File creation   2568.636   2568.636   2568.636   0.000
    ...    File stat   0.000   0.000   0.000   0.000'''
    >>> [(row.access, row.operations_s, row.status) for row in read_mdtest(text, file="a.txt")]
    [('file creation', 2568.636, 'ok'), ('file stat', None, 'not-run')]
    """
    text = text_of(source, name=file)
    run: dict[str, Any] = {"file": file, "start": start_in(text)}
    iterations = None
    rows: dict[str, list[str]] = {}
    errors: list[tuple[bool, str]] = []
    in_rates = False
    # In one piece: a line's meaning depends on the lines before it, and the first expression that matches decides.
    for full in text.splitlines():
        line = full[:2000]
        if banner := _BANNER.search(line):
            run |= _size(count(banner[2]), count(banner[3])) | {"version": banner[1]}
        elif "flags" not in run and (command := _COMMAND.search(line)):
            run["flags"] = read_command(command[1].replace("'", "").replace('"', ""))["flags"]
        elif summary := _SUMMARY.search(line):
            in_rates = summary[1] != "time"
            iterations = count(summary[2] or "") or iterations
        elif in_rates and (row := _ROW.search(line)):
            rows.setdefault(row[1].lower(), row[2].split())
        elif (error := error_in(line)) and len(errors) < 50:
            errors.append(error)
    status, reason = _status(errors, bool(rows))
    blank = IoResult(**run, status=status, reason=reason, repetition=0 if iterations == 1 else None)
    return [each for access, words in rows.items() for each in _rates(replace(blank, access=access), words)] or [blank]


def _size(tasks: int | None, nodes: int | None) -> dict[str, int | None]:
    """Return the size of a run; the output does not show how tasks are distributed over nodes; an even distribution is
    assumed if possible.
    """
    per_node = tasks // nodes if tasks and nodes and tasks % nodes == 0 else None
    return {"tasks": tasks, "nodes": nodes, "tasks_per_node": per_node}


def _rates(result: IoResult, words: list[str]) -> list[IoResult]:
    """Return the rows of one operation: the rate of a single iteration, or the maximum, minimum and mean."""
    rates = {name: number(word) for name, word in zip(("max", "min", "mean"), words, strict=False)}
    # In a truncated row, without its deviation, even the mean may be incomplete.
    if len(words) < 4 or None in rates.values():
        return [replace(result, status="incomplete", reason="its row is truncated, or a rate is not a number")]
    if not all(rates.values()):
        return [replace(result, status="not-run", reason="its rates are printed as zero")]
    if result.repetition == 0:
        return [replace(result, operations_s=rates["mean"])]
    return [replace(result, statistic=name, operations_s=rate) for name, rate in rates.items()]


def _status(errors: list[tuple[bool, str]], any_rows: bool) -> tuple[Status, str | None]:
    """Return the final status of the run, with the reason."""
    hard, reason = worst(errors)
    if hard or (errors and not any_rows):
        return "failed", reason
    return ("ok", None) if any_rows else ("incomplete", "the output ends before the summary")
