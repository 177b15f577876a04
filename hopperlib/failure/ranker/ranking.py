"""Rank the lines of an output by how much each reads like the cause of a failure.

The score of a line is a sum of its features times weights that were fitted on labeled outputs (``weights.csv``,
``scripts/fit_ranker.py``); its share is its probability in a logistic choice among all candidates [1]_. The ranker uses
no rules of the diagnosis, and excludes no line because of its words. It ranks lines of an output that failed; it cannot
tell whether one failed.

References
----------
.. [1] D. McFadden, Conditional logit analysis of qualitative choice behavior, in: Frontiers in Econometrics, Academic
   Press, 1974, p. 105.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from hopperlib.failure.messages._lines import LineReader
from hopperlib.failure.messages._matching import quote
from hopperlib.failure.ranker.features import Line, numbers
from hopperlib.package_data import load_csv_resource


class RankedLine(NamedTuple):
    """A line, its number of occurrences (ignoring numbers), and its share of the choice. [fraction]"""

    file: int
    line: int
    text: str
    occurrences: int
    share: float


@cache
def weights() -> Mapping[str, float]:
    """Return the weight of each feature.

    Examples
    --------
    >>> weights()["segfault"] > 0 > weights()["note"]
    True
    """
    return {row["feature"]: float(row["weight"]) for row in load_csv_resource(__file__, "weights.csv")}


def learning_curve() -> list[tuple[int, int, int]]:
    """Return the number of outputs fitted, of correct top lines in held-out repositories, and of outputs judged.

    Examples
    --------
    >>> fitted, right, judged = learning_curve()[-1]
    >>> right < judged
    True
    """
    rows = load_csv_resource(__file__, "learning_curve.csv")
    return [(int(row["outputs_fitted"]), int(row["top_line_true"]), int(row["outputs_judged"])) for row in rows]


def ranked_lines(files: Sequence[LineReader]) -> list[RankedLine]:
    r"""Return the candidate lines of an output, the likeliest cause first.

    Parameters
    ----------
    files : sequence of LineReader
        Files that were read to the end.

    Examples
    --------
    >>> import io
    >>> from hopperlib.failure.messages.scanner import Scanner
    >>> scanner = Scanner()
    >>> scanner.read("a.out", io.BytesIO(b"step 1\nnegative layer thickness at cell 7\nstep aborted\n"))
    >>> ranked_lines(scanner.evidence.files)[0].line
    2
    """
    lines = [
        Line(place, number, quote(text)) for place, read in enumerate(files) for number, text in read.window.lines()
    ]
    return ranked(lines, weights())


def ranked(lines: Iterable[Line], weighted: Mapping[str, float]) -> list[RankedLine]:
    """Return lines ranked by given weights.

    Parameters
    ----------
    lines : iterable of Line
        The lines.
    weighted : mapping of str to float
        Weights of the features.

    Examples
    --------
    >>> [one.line for one in ranked([Line(0, 1, "all well"), Line(0, 2, "disk full")], {"depth": 1.0})]
    [2, 1]
    """
    listed = list(lines)
    scored = [
        (sum(weighted.get(name, 0.0) * value for name, value in found.items() if value), one)
        for one, found in numbers(listed)
    ]
    if not scored:
        return []
    best = max(score for score, _ in scored)
    total = math.fsum(math.exp(score - best) for score, _ in scored)
    scored.sort(key=lambda pair: (-pair[0], pair[1].first))
    made = []
    for score, one in scored:
        line = listed[one.first]
        made.append(RankedLine(line.file, line.number, line.text, one.count, math.exp(score - best) / total))
    return made
