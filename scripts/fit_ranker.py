"""Fit the weights of the ranker of lines on the table of candidate lines: `python scripts/fit_ranker.py`.

A listwise logistic model: of the candidates of one output, the probability that one is true is its exponential score's
share; the fit maximizes the probability of the true ones over all outputs with a cause, with a small penalty of squares.
Prints how often the top line is true for repositories left out in turn, and a learning curve; writes the weights.
"""

import csv
import math
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from candidate_lines import read_table
from scipy.optimize import minimize

WEIGHTS = Path(__file__).parent.parent / "hopperlib" / "failure" / "ranker" / "weights.csv"
CURVE = WEIGHTS.with_name("learning_curve.csv")
# Penalty of the squares of the weights: 0.001 to 0.01 give the same share within two outputs.
PENALTY = 0.003
FOLDS = 5
_HEAD = 5
Output = tuple[int, Any, Any]


def outputs() -> tuple[list[str], list[Output]]:
    """Return the names of the features, and of each output with a cause its repository, features and true lines."""
    rows = read_table()
    names = list(rows[0])[_HEAD:]
    grouped = defaultdict(list)
    for row in rows:
        if row["expect"] == "cause":
            grouped[row["set"], row["output"]].append(row)
    found = []
    for group in grouped.values():
        features = np.array([[int(row[name]) for name in names] for row in group]) / 100
        true = np.array([row["true"] == "1" for row in group])
        if true.any():
            found.append((int(group[0]["repository"]), features, true))
    return names, found


def fitted(sample: list[Output], size: int) -> Any:
    """Return the weights that fit a sample best."""

    def loss(weights: Any) -> tuple[float, Any]:
        total, slope = 0.0, np.zeros(size)
        for _, features, true in sample:
            scores = features @ weights
            shares = np.exp(scores - scores.max())
            wanted = shares * true
            total -= math.log(wanted.sum() / shares.sum() + 1e-300)
            slope -= features.T @ (wanted / wanted.sum() - shares / shares.sum())
        count = len(sample)
        return total / count + PENALTY / 2 * float(weights @ weights), slope / count + PENALTY * weights

    return minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x


def right(weights: Any, sample: list[Output]) -> int:
    """Return the number of outputs whose top line is true."""
    return sum(bool(true[np.argmax(features @ weights)]) for _, features, true in sample)


def left_out(found: list[Output], size: int, share: float) -> int:
    """Return the number of correct top lines in held-out repositories, for fits on a share of the others."""
    repositories = sorted({repository for repository, _, _ in found})
    random.Random(1).shuffle(repositories)
    fold = {repository: place % FOLDS for place, repository in enumerate(repositories)}
    total = 0
    for number in range(FOLDS):
        rest = [output for output in found if fold[output[0]] != number]
        random.Random(number).shuffle(rest)
        weights = fitted(rest[: round(share * len(rest))], size)
        total += right(weights, [output for output in found if fold[output[0]] == number])
    return total


def main(*, curve: bool) -> int:
    """Fit, report and write."""
    names, found = outputs()
    if curve:
        with CURVE.open("w", encoding="ascii", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["outputs_fitted", "top_line_true", "outputs_judged"])
            for share in (0.15, 0.3, 0.6, 1.0):
                fitted_on = round(share * len(found) * (FOLDS - 1) / FOLDS)
                writer.writerow(row := [fitted_on, left_out(found, len(names), share), len(found)])
                print(*row)
    weights = fitted(found, len(names))
    with WEIGHTS.open("w", encoding="ascii", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["feature", "weight"])
        table.writerows([name, f"{weight:.3f}"] for name, weight in zip(names, weights, strict=True))
    print(f"{right(weights, found)} of {len(found)} top lines are true where they were fitted")
    return 0


if __name__ == "__main__":
    sys.exit(main(curve="--curve" in sys.argv))
